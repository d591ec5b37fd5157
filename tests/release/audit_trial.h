/* The audit: many releases of a survey whose rows are known, for every design, engine, noise and family of tables. The published
 * integers less the exact ones are the noise. It has the law that the certificate declares, in each cell, in each stratum and for
 * each plan; no draw repeats another, neither in its table nor in the table before nor in the release before; and what else is
 * left to chance differs from release to release. Standard errors are exact integers of the noisy tables before them.
 *
 * The exact integers are counted twice, by the engine and by array_engine.h, which agree. audit_evidence.h says what is judged,
 * the probability of a false alarm (below 1e-10 in all), and how small a deviation is found. */
#ifndef TESTS_RELEASE_AUDIT_TRIAL_H
#define TESTS_RELEASE_AUDIT_TRIAL_H

#include <string.h>
#include <tamis/verify.h>

#include "base/value/json.h"
#include "measure/request/request.h"
#include "num/number.h"
#include "release/release.h"
#include "release/second_stage.h"
#include "tests/release/audit_evidence.h"
#include "tests/release/audit_survey.h"

#define PLAIN "{from: 10, to: 30.4, step: 0.5}" /* the last point is 30 */
#define APART "{from: 10, to: {p: 30.4, q: 20010}, step: 0.5}"
#define BOUNDED "{from: 10, to: 30.4, step: 0.5, contribution: 200}"
#define OF_UNITS "{from: 10, to: 30.4, step: 0.5, unit_contribution: 900}"
#define NUMBERS \
    "{from: 10, to: 30.4, step: 0.5, missing: none}\n  y: {from: 3, to: 9, step: 1, missing: none}\n  w: {from: 0, to: 64, " \
    "step: 1, " \
    "missing: none}"
#define LIST "psus.csv" /* of clusters: those of the rows and many others */
#define LISTED 200
#define BY_G "  - {count: units, by: [g, h]}\n  - {total: x, by: g}\n  - {mean: x, by: h}\n"
#define BY_S "  - {total: x, by: s}\n  - {mean: x, by: g}\n  - {count: units, by: [s, g]}\n"
#define STRATA(within, n) \
    "stratified: {by: s, within: " within ", strata: {p: {population: 90, sample: " n "}, q: {population: 30, sample: " n "}}}"

static const struct audited {
    const char *design, *privacy, *x, *statistics;
    double arrangements; /* ways to arrange the clusters; 0: none is drawn */
} plans[] = {
    {"srs: {population: 240, sample: 24}", "", PLAIN, BY_G, 0},
    {"srs: {population: 120, sample: 12}", ", id: u, rows_per_unit: 2", PLAIN, BY_G, 479001600},
    {"srs_with_replacement: {population: 240, sample: 24}", ", id: u, rows_per_unit: 2", PLAIN, BY_G, 0},
    {"bernoulli: {rate: 1/10}", "", PLAIN, BY_G, 0},
    {"bernoulli: {rate: 1/10}", ", id: u, rows_per_unit: 2", PLAIN, BY_G, 0},
    {"poisson: {probability: w}, max_weight: 50", "", PLAIN, BY_G, 0},
    {"pps: {method: sampford, probability: w, sample: 24, population: 240}, max_weight: 50", "", PLAIN, BY_G, 0},
    {"systematic: {population: 240, sample: 24, order: public}", "", PLAIN, BY_G, 0},
    {"census: {population: 24}", "", PLAIN, BY_G, 0},
    {STRATA("srs", "12"), "", APART, BY_S, 0},
    {STRATA("srs", "12"), "", PLAIN, BY_G, 0},
    {STRATA("srs", "12"), ", protect: population, given: nothing, design_variables: protected", PLAIN, BY_G, 0},
    {STRATA("{cluster: {by: c, smallest: 1, largest: 9}}", "3"), "", PLAIN, BY_G, 36},
    {"cluster: {by: c, population: 60, sample: 6, smallest: 1, largest: 9}", "", PLAIN, BY_G, 720},
    {"two_stage: {first: {by: c, population: 60, sample: 6}, second: {population: y, sample: 4}}, max_weight: 50", "", PLAIN,
     BY_G, 720},
    {"weights: {population: 240}, weight: w, max_weight: 50", "", PLAIN, BY_G, 0},
    {"weights: {strata: s, cluster: c}, weight: w, max_weight: 50", "", PLAIN, BY_G, 0},
    {"weights: {strata: s, cluster: c}, weight: w, max_weight: 50, typical: {population: 100, sample: 50}", "", PLAIN, BY_G, 0},
    {"weights: {strata: s, cluster: c, psus: " LIST ", population: 240}, weight: w, max_weight: 50, typical: {sample: 24}", "",
     PLAIN, BY_G, 1e300},
    {"weights: {strata: s, cluster: c, psus: " LIST ", population: 240}, weight: w, max_weight: 50, typical: {sample: 24}", "",
     PLAIN, "  - {mean: x, by: g, for_change: yes}\n  - {total: x, for_change: yes}\n", 1e300},
    {"weights: {population: 240}, weight: w, max_weight: 50", "", BOUNDED, "  - {total: x}\n  - {total: x, by: g}\n", 0},
    {"weights: {population: 240}, weight: w, max_weight: 50", ", id: u, rows_per_unit: 2", OF_UNITS,
     "  - {total: x}\n  - {total: x, by: g}\n  - {mean: x}\n", 0},
    {"srs: {population: 240, sample: 24}", "", NUMBERS, "  - {regression: {of: x, on: [y, w]}}\n", 0},
    {STRATA("srs", "12"), "", NUMBERS, "  - {regression: {of: x, on: [y, w]}, by: g}\n", 0},
};
#define PLANS (sizeof plans / sizeof *plans)

/* ---- an engine that is listened to ---- */

typedef struct chance {
    int32_t codes[LISTED]; /* slots of the clusters, stratum after stratum, or as they are listed */
    size_t count;
    unsigned char key[TMI_KEY_BYTES], scatter[TMI_KEY_BYTES];
    bool keyed, scattered;
} chance;

typedef struct listener {
    tmi_engine engine, *inner;
    const char *name;
    tmi_query *truth; /* the exact integers of the last release */
    chance now;
} listener;

static tamis_status ask_inner(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch, tamis_error *err)
{
    tmi_engine *inner = ((listener *)engine)->inner;
    return inner->describe(inner, inventory, watch, err);
}

static void note_chance(chance *c, const tmi_request *request)
{
    *c = (chance){.keyed = request->unit != NULL};
    if (request->unit) memcpy(c->key, request->key, sizeof c->key);
    for (size_t t = 0; t < request->table_count; t++)
        for (size_t b = 0; b < request->tables[t].by_count && c->count == 0; b++) {
            const tmi_column *by = request->tables[t].by[b];
            c->scattered = c->scattered || by->kind == TMI_SCATTER;
            if (by->kind == TMI_SCATTER) memcpy(c->scatter, by->key, sizeof c->scatter);
            for (size_t h = 0; by->kind == TMI_GROUPS && h < (by->stratum ? by->stratum->value_count : 1); h++)
                for (int64_t k = 0; k < by->cluster_counts[h]; k++) c->codes[c->count++] = by->cell_of[h][k];
            for (size_t k = 0; by->kind == TMI_CLASSES && strcmp(by->name, "slot of clusters") == 0 && k < LISTED; k++)
                c->codes[c->count++] = by->classes[k];
        }
}

static size_t answers_of(const tmi_table *table) { return tmi_table_cells(table) * table->measure_count; }

static tamis_status answer_and_note(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                                    const tamis_watch *watch, tamis_error *err)
{
    listener *l = (listener *)engine;
    array_engine reference = array_engine_of(survey, ROWS);
    const tamis_status status = l->inner->aggregate(l->inner, answers, request, watch, err);
    note_chance(&l->now, request);
    for (size_t t = 0; status == TAMIS_OK && t < request->table_count; t++)
        memset(l->truth->answers[t], 0, answers_of(&request->tables[t]) * sizeof(tmi_int128));
    assert_int_equal(array_aggregate(&reference.engine, l->truth->answers, request, NULL, NULL), TAMIS_OK);
    for (size_t t = 0; status == TAMIS_OK && t < request->table_count; t++)
        for (size_t i = 0; i < answers_of(&request->tables[t]); i++)
            if (answers[t][i] != l->truth->answers[t][i])
                fail_msg("%s: table %zu: another integer than counted by hand", l->name, t);
    return status;
}

/* ---- what is declared and published ---- */

static const tmi_value *need(const tmi_value *object, const char *key)
{
    const tmi_value *value = tmi_value_get(object, key);
    if (!value) fail_msg("%s is missing", key);
    return value;
}

static tmi_value *text_as_json(tamis_status (*write)(char **, const tamis_release *, tamis_error *), const tamis_release *r)
{
    char *text;
    tmi_value *json;
    assert_int_equal(write(&text, r, NULL), TAMIS_OK);
    assert_int_equal(tmi_json_read(&json, text, strlen(text), NULL), TAMIS_OK);
    tamis_free(text);
    return json;
}

/* The law that the certificate declares for a number: the only one, or that of its stratum; strata follow each other. */
static noise_law declared(size_t *which, const tmi_value *measurement, size_t number, size_t numbers)
{
    const tmi_value *laws = need(measurement, "noise");
    const size_t count = tmi_value_size(laws);
    assert_true(count > 0 && numbers % count == 0);
    *which = number / (numbers / count);
    const tmi_value *law = tmi_value_at(laws, *which);
    tamis_number *scale;
    assert_int_equal(tamis_number_read(&scale, tmi_value_string(need(law, "scale")), NULL), TAMIS_OK);
    noise_law found = {.scale = tmi_number_nearest(scale)};
    assert_true(tmi_noise_of_name(&found.gaussian, tmi_value_string(need(law, "law"))));
    tamis_number_free(scale);
    return found;
}

/* ---- judging ---- */

#define MOST_CELLS 4096
#define MOST_LAWS 64

typedef struct trial {
    const struct audited *plan;
    tmi_gaussian gaussian;
    bool of_family; /* families are judged by many draws, else each cell by itself */
    evidence cells[MOST_CELLS], laws[MOST_LAWS], weightings[TMI_WEIGHTINGS], whole;
    int64_t last[MOST_CELLS];
    double repeats[MOST_LAWS], repeats_in_time, repeats_of_tables, repeats_of_chance;
    chance before;
    int releases;
} trial;

static int verdicts;

static void judge(const trial *t, double found, const char *what, size_t number, int64_t draws)
{
    if (++verdicts > MOST_VERDICTS) fail_msg("more verdicts than the probability of a false alarm allows for");
    if (found > EVIDENCE)
        fail_msg("%s%s, %s noise: %s %zu: after %lld draws the odds against what is declared are e^%.1f", t->plan->design,
                 t->plan->privacy, tmi_noise_words(t->gaussian), what, number, (long long)draws, found);
}

static void judge_trial(const trial *t, size_t cells, size_t laws)
{
    for (size_t i = 0; i < cells && !t->of_family; i++) judge(t, evidence_of(&t->cells[i]), "cell", i, t->cells[i].draws);
    for (size_t i = 0; i < laws; i++) judge(t, evidence_of(&t->laws[i]), "law", i, t->laws[i].draws);
    for (size_t i = 0; i < TMI_WEIGHTINGS && t->of_family; i++)
        judge(t, evidence_of(&t->weightings[i]), "family of tmi_weighting", i, t->weightings[i].draws);
    judge(t, evidence_of(&t->whole), "all cells of plan", (size_t)(t->plan - plans), t->whole.draws);
    for (size_t i = 0; i < laws; i++)
        judge(t, t->repeats[i], "noise that repeats that of the cell before it, law", i, t->laws[i].draws);
    judge(t, t->repeats_in_time, "noise that repeats that of the last release, plan", (size_t)(t->plan - plans), t->whole.draws);
    judge(t, t->repeats_of_tables, "noise that repeats that of another table, plan", (size_t)(t->plan - plans), t->whole.draws);
    judge(t, t->repeats_of_chance, "clusters that stay in their slots, plan", (size_t)(t->plan - plans), t->releases);
}

/* Whether keys differ from the last release's, and how often clusters are arranged as they were. */
static void judge_chance(trial *t, const chance *now)
{
    const chance *before = &t->before;
    const bool arranged = t->plan->arrangements > 0;
    assert_int_equal(now->count > 0, arranged);
    if (t->releases > 0) {
        if (now->keyed && memcmp(now->key, before->key, TMI_KEY_BYTES) == 0)
            fail_msg("%s: the key of a unit's rows is used again", t->plan->design);
        if (now->scattered && memcmp(now->scatter, before->scatter, TMI_KEY_BYTES) == 0)
            fail_msg("%s: the key of clusters is used again", t->plan->design);
        const bool same = arranged && memcmp(now->codes, before->codes, sizeof now->codes) == 0;
        if (arranged) t->repeats_of_chance += log(same ? 0.5 + 0.5 * t->plan->arrangements : 0.5);
    }
    t->before = *now;
    t->releases++;
}

/* The exact integers of one release, in the order of its measurements. Standard errors follow from the exact totals of
 * clusters and from the tables that were published before them. */
static tmi_int128 **truths(const tmi_value *tables, const tmi_schedule *s, const tmi_query *query)
{
    tmi_int128 **truth = calloc(s->measurement_count, sizeof *truth), **known = calloc(s->measurement_count, sizeof *known);
    int64_t **none = calloc(s->measurement_count, sizeof *none);
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        const tmi_value *values = need(tmi_value_at(tables, i), "values");
        assert_int_equal(tmi_value_size(values), m->numbers);
        truth[i] = calloc(m->numbers, sizeof **truth);
        known[i] = calloc(m->numbers, sizeof **known);
        none[i] = calloc(m->numbers, sizeof **none);
        for (size_t k = 0; k < m->numbers && !tmi_method_of(m->marginal.weighting); k++) {
            truth[i][k] = tmi_query_truth(query, s, i, k);
            known[i][k] = tmi_value_integer(tmi_value_at(values, k));
        }
    }
    assert_int_equal(tmi_add_standard_errors(known, none, query, s, NULL), TAMIS_OK);
    for (size_t i = 0; i < s->measurement_count; i++) {
        for (size_t k = 0; k < s->measurements[i].numbers && tmi_method_of(s->measurements[i].marginal.weighting); k++)
            truth[i][k] = known[i][k];
        free(known[i]), free(none[i]);
    }
    free(known), free(none);
    return truth;
}

/* Adds the noise of one release. *cells and *laws: how many there are. */
static void add_release(trial *t, size_t *cells, size_t *laws, const tamis_release *r, const listener *l)
{
    tmi_value *certificate = text_as_json(tamis_release_certificate_json, r),
              *published = text_as_json(tamis_release_measurements_json, r);
    const tmi_value *declarations = need(certificate, "measurements"), *tables = need(published, "measurements");
    *cells = *laws = 0;
    assert_int_equal(tmi_value_size(declarations), tmi_value_size(tables));
    tmi_int128 **truth = truths(tables, &r->schedule, l->truth);
    int64_t other[MOST_CELLS]; /* the noise of the table before */
    size_t others = 0;
    for (size_t i = 0; i < tmi_value_size(tables); i++) {
        const tmi_value *values = need(tmi_value_at(tables, i), "values");
        int64_t before[MOST_LAWS];
        bool any[MOST_LAWS] = {false};
        for (size_t cell = 0; cell < tmi_value_size(values); cell++, ++*cells) {
            size_t which;
            const noise_law law = declared(&which, tmi_value_at(declarations, i), cell, tmi_value_size(values));
            const int64_t noise = (int64_t)(tmi_value_integer(tmi_value_at(values, cell)) - truth[i][cell]);
            assert_true(*cells < MOST_CELLS && *laws + which < MOST_LAWS);
            assert_int_equal(law.gaussian, t->gaussian);
            evidence_add(&t->cells[*cells], &law, noise);
            evidence_add(&t->laws[*laws + which], &law, noise);
            evidence_add(&t->weightings[r->schedule.measurements[i].marginal.weighting], &law, noise);
            evidence_add(&t->whole, &law, noise);
            if (any[which]) t->repeats[*laws + which] += evidence_of_repeat(&law, noise, before[which]);
            if (t->releases > 0) t->repeats_in_time += evidence_of_repeat(&law, noise, t->last[*cells]);
            if (cell < others) t->repeats_of_tables += evidence_of_repeat(&law, noise, other[cell]);
            t->last[*cells] = before[which] = noise;
            any[which] = true;
        }
        others = tmi_value_size(values);
        memcpy(other, &t->last[*cells - others], others * sizeof *other);
        free(truth[i]);
        *laws += tmi_value_size(need(tmi_value_at(declarations, i), "noise"));
    }
    free(truth);
    judge_chance(t, &l->now);
    tmi_value_free(certificate);
    tmi_value_free(published);
}

/* ---- releasing ---- */

static uint64_t seed;

static tamis_release *release(const tamis_plan *plan, listener *l, const char *out, const char *ledger)
{
    const tmi_run run = {.folder = out, .ledger = ledger};
    tamis_release *r;
    tamis_error err = {0};
    bits_from_seed(++seed);
    if (tmi_release_with(&r, plan, &l->engine, &run, &err) != TAMIS_OK) fail_msg("%s: %s", l->name, err.message);
    return r;
}

/* The certificate of a release that was charged verifies. */
static void verify_one(const tamis_plan *plan, listener *l)
{
    char out[128], ledger[128], path[192], *problems, line[400];
    int ok;
    snprintf(out, sizeof out, "%s", in_folder("out"));
    snprintf(ledger, sizeof ledger, "%s", in_folder("a.ledger"));
    snprintf(path, sizeof path, "%s/certificate.json", out);
    tamis_release_free(release(plan, l, out, ledger));
    assert_int_equal(tamis_verify_text(&ok, &problems, path, NULL, NULL), TAMIS_OK);
    if (!ok) fail_msg("%s", problems);
    tamis_free(problems);
    snprintf(line, sizeof line, "rm -r '%s' '%s'*", out, ledger);
    assert_int_equal(system(line), 0);
}

static tamis_plan *read_plan(const struct audited *p, tmi_gaussian gaussian)
{
    /* with so small an epsilon and so large a delta Laplace noise is never better */
    static const char *const losses[] = {"epsilon: 1", "rho: 1/2", "epsilon: 1/100, delta: 0.38"};
    char text[2048];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s%s}\n"
             "columns:\n  x: %s\n  g: {values: [a, b]}\n  h: {values: [u, v, w]}\n  s: {values: [p, q]}\nstatistics:\n%sbudget: "
             "{%s}\n",
             p->design, losses[gaussian], p->privacy, p->x, p->statistics, losses[gaussian]);
    if (tamis_plan_read_text(&plan, in_folder("p.yaml"), text, strlen(text), &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
    return plan;
}

/* Releases of one plan by each of the engines. */
static void audit(const struct audited *p, tmi_gaussian gaussian, bool of_family, const survey_engine *engines,
                  size_t engine_count)
{
    tamis_plan *plan = read_plan(p, gaussian);
    tmi_schedule schedule;
    tmi_query truth;
    tamis_error err = {0};
    trial *t = calloc(1, sizeof *t);
    size_t cells, laws;
    assert_non_null(t);
    t->plan = p;
    t->gaussian = gaussian;
    t->of_family = of_family;
    if (tmi_schedule_make(&schedule, plan, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", p->design, err.message);
    assert_int_equal(tmi_query_make(&truth, &schedule, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&truth, NULL), TAMIS_OK);
    for (size_t e = 0; e < engine_count; e++) {
        const survey_engine *source = &engines[e];
        listener l = {.engine = {.name = source->name, .describe = ask_inner, .aggregate = answer_and_note},
                      .inner = source->open(),
                      .name = source->name,
                      .truth = &truth};
        if (e == 0 && source->verifies && (!gaussian || test_size(0, 1))) verify_one(plan, &l);
        for (int i = 0; i < test_size(source->thin, source->all); i++) {
            tamis_release *r = release(plan, &l, NULL, NULL);
            add_release(t, &cells, &laws, r, &l);
            tamis_release_free(r);
        }
        l.inner->free(l.inner);
    }
    judge_trial(t, cells, laws);
    tmi_query_clear(&truth);
    tmi_schedule_clear(&schedule);
    tamis_plan_free(plan);
    free(t);
}

static void audit_all(tmi_gaussian gaussian, const survey_engine *engines, size_t engine_count)
{
    for (size_t i = 0; i < PLANS; i++) audit(&plans[i], gaussian, false, engines, engine_count);
}

/* The numbers of one family that a plan measures, or of one form. */
static inline size_t numbers_of(const struct audited *p, tmi_gaussian gaussian, size_t weighting, tmi_table_form form)
{
    tamis_plan *plan = read_plan(p, gaussian);
    tmi_schedule s;
    size_t numbers = 0;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    for (size_t i = 0; i < s.measurement_count; i++)
        numbers += s.measurements[i].marginal.weighting == weighting ||
                           (form != TMI_FULL && s.measurements[i].marginal.form == form)
                       ? s.measurements[i].numbers
                       : 0;
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
    return numbers;
}

#define DRAWS 500 /* find a scale that is off by a factor of two; a family with few numbers gets as many as there is time for */

/* Every family of tables that there is, by a plan that measures it: a family without one fails. */
static inline void audit_families(tmi_gaussian gaussian)
{
    for (size_t weighting = 0; weighting < TMI_WEIGHTINGS; weighting++) {
        size_t numbers = 0, p = 0;
        while (p < PLANS && (numbers = numbers_of(&plans[p], gaussian, weighting, TMI_FULL)) == 0) p++;
        if (p == PLANS) fail_msg("no plan of the audit measures the family %zu of tmi_weighting: add one", weighting);
        const int enough = (int)(DRAWS / numbers) + 1, releases = enough < 48 ? enough : test_size(48, enough);
        const survey_engine only = {"arrays", in_arrays, releases, releases, false};
        audit(&plans[p], gaussian, true, &only, 1);
    }
    if (!gaussian) return;
    size_t p = 0; /* every plan is audited: one of them measures products of several numbers */
    while (p < PLANS && numbers_of(&plans[p], gaussian, TMI_WEIGHTINGS, TMI_GRAM_SQUARES) == 0) p++;
    assert_true(p < PLANS);
}

/* Clusters 1 to 200: of the first stratum, of the second, and k1 to k6 in the middle of both. */
static inline void make_list(void)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_put(&text, "s,c\n");
    for (int k = 1; k <= LISTED; k++) {
        const bool own = k > LISTED / 2 - 3 && k <= LISTED / 2 + 3;
        tmi_text_format(&text, "%c,%c%d\n", k <= LISTED / 2 ? 'p' : 'q', own ? 'k' : 'o', own ? k - LISTED / 2 + 3 : k);
    }
    write_text(LIST, text.bytes);
    tmi_text_clear(&text);
}

static inline int make_place(void **state)
{
    make_survey();
    if (make_folder(state) != 0) return -1;
    make_list();
    return 0;
}

static inline int remove_place(void **state)
{
    tamis_source_free(arrays);
    return remove_folder(state);
}

#endif
