/* A cell's coverage p over R runs has the error sqrt(p (1 - p)/R). The protected interval has to cover at least 0.935 where
 * the unprotected one of the same samples covers at least 0.94, and elsewhere at least as much as that one minus 0.01.  */
#include <math.h>
#include <tamis/rng.h>
#include <tamis/study.h>

#include "base/decimal.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/table.h"
#include "engine/source.h"
#include "release/release.h"
#include "study/population.h"

#define USUAL_RUNS 2000
#define MORE_RUNS 10000
#define MOST_RUNS 1000000

/* What became of one interval. */
typedef struct tally {
    int64_t covers, given;
    double width;
} tally;

typedef struct cell {
    double truth;
    tally own, bare; /* the release's, the unprotected one */
    double noise, sampling; /* sums of the noise's standard deviations and of the unprotected standard errors */
    int64_t bounded; /* releases in which something was done to the number, such as a variance taken from the range */
    bool known;
} cell;

struct tamis_coverage {
    const tamis_plan *plan;
    int64_t population, runs;
    cell *cells;
    tmi_results places; /* statistic and cell of each; the numbers in it are not used */
};

void tamis_coverage_free(tamis_coverage *study)
{
    if (!study) return;
    tmi_results_clear(&study->places);
    tmi_free(study->cells);
    tmi_free(study);
}

/* ---- the truth ---- */

/* The estimate of everybody; the plan's own design has no part in it. */
static tamis_status find_truth(tamis_coverage *study, tmi_population *p, tamis_error *err)
{
    tmi_plan_stratum everybody = {.population = study->population, .sample = study->population};
    tamis_plan census = *study->plan;
    tamis_source *source = NULL;
    tamis_estimate *estimate = NULL;
    tamis_status status;
    census.design = (tmi_plan_design){.kind = TMI_DESIGN_CENSUS, .strata = &everybody, .stratum_count = 1,
                                      .population = study->population, .sample = study->population};
    TMI_TRY(tmi_population_source(&source, p, NULL, 0, err));
    TMI_TRY(tamis_estimate_run(&estimate, &census, &(tamis_run_options){.rows = source, .threads = 1}, err));
    const tmi_results *r = tmi_estimate_results(estimate);
    for (size_t i = 0; i < study->places.count; i++) study->cells[i].truth = r->list[i].estimate;

done:
    tamis_estimate_free(estimate);
    tamis_source_free(source);
    return status;
}

/* ---- one run ---- */

static void count(tally *t, const tmi_result *r, double truth)
{
    if (isnan(r->lower) || isnan(r->upper)) return;
    const double hair = 1e-12 * fabs(truth);
    t->given++;
    t->covers += r->lower - hair <= truth && truth <= r->upper + hair;
    t->width += r->upper - r->lower;
}

static tamis_status run_once(tamis_coverage *study, tmi_population *p, const tamis_drawn *drawn, tamis_error *err)
{
    tamis_source *source = NULL;
    tmi_engine *engine = NULL;
    tamis_release *release = NULL;
    tamis_estimate *estimate = NULL;
    tamis_status status;
    TMI_TRY(tmi_population_source(&source, p, drawn->units, drawn->count, err));
    TMI_TRY(tmi_engine_of_source(&engine, source, 1, err));
    TMI_TRY(tmi_release_with(&release, study->plan, engine, &(tmi_run){0}, err));
    TMI_TRY(tamis_estimate_run(&estimate, study->plan, &(tamis_run_options){.rows = source, .threads = 1}, err));
    const tmi_result *own = release->results.list, *bare = tmi_estimate_results(estimate)->list;
    for (size_t i = 0; i < study->places.count; i++) {
        cell *c = &study->cells[i];
        c->known = own[i].known;
        c->bounded += own[i].note_count > 0;
        if (isfinite(own[i].noise_sd) && isfinite(bare[i].se)) c->noise += own[i].noise_sd, c->sampling += bare[i].se;
        count(&c->own, &own[i], c->truth);
        count(&c->bare, &bare[i], c->truth);
    }

done:
    tamis_estimate_free(estimate);
    tamis_release_free(release);
    if (engine) engine->free(engine);
    tamis_source_free(source);
    return status;
}

/* ---- the study ---- */

static double share(const tally *t)
{
    return t->given > 0 ? (double)t->covers / (double)t->given : NAN;
}

static double error_of(const tally *t)
{
    const double p = share(t);
    return t->given > 0 ? sqrt(p * (1 - p) / (double)t->given) : NAN;
}

static bool counts(const cell *c)
{
    return !c->known && isfinite(c->truth) && c->own.given > 0;
}

static bool some_are_low(const tamis_coverage *study)
{
    for (size_t i = 0; i < study->places.count; i++)
        if (counts(&study->cells[i]) && share(&study->cells[i].own) < 0.945) return true;
    return false;
}

static tamis_status run_all(tamis_coverage *study, tmi_population *p, const tamis_coverage_options *o, tamis_error *err)
{
    int64_t wanted = o->runs > 0 ? o->runs : USUAL_RUNS;
    tamis_sampler *sampler = NULL;
    tamis_rng *rng = NULL;
    tamis_drawn drawn = {0};
    tamis_status status;
    TMI_TRY(tamis_rng_new(&rng, err));
    TMI_TRY(tamis_sampler_new(&sampler, tmi_population_design(p), NULL, NULL, err));
    for (; study->runs < wanted; study->runs++) {
        if (o->progress && o->progress(o->context, (double)study->runs / (double)wanted, 0))
            TMI_TRY(tmi_fail(err, TAMIS_SYSTEM, "cancelled"));
        TMI_TRY(tamis_draw(&drawn, sampler, rng, NULL, NULL, err));
        TMI_TRY(run_once(study, p, &drawn, err));
        tamis_drawn_clear(&drawn);
        drawn = (tamis_drawn){0};
        if (study->runs + 1 == USUAL_RUNS && o->runs == 0 && some_are_low(study)) wanted = MORE_RUNS;
    }

done:
    tamis_drawn_clear(&drawn);
    tamis_sampler_free(sampler);
    tamis_rng_free(rng);
    return status;
}

tamis_status tamis_study_coverage(tamis_coverage **study, const tamis_plan *plan, const tamis_coverage_options *options,
                                  tamis_error *err)
{
    tmi_population *p = NULL;
    tamis_status status;
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: expected a place for the result, got NULL");
    *study = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: expected a plan, got NULL");
    if (!options || !options->population) return tmi_fail(err, TAMIS_INVALID, "population: expected the name of a file, got NULL");
    if (options->runs < 0 || options->runs > MOST_RUNS)
        return tmi_fail(err, TAMIS_INVALID, "runs: must lie between 0 and %d", MOST_RUNS);
    tamis_coverage *s = tmi_alloc(1, sizeof *s);
    if (!s) return tmi_fail_memory(err);
    s->plan = plan;
    TMI_TRY(tmi_population_read(&p, plan, options->population, options->size, err));
    s->population = tmi_population_size(p);
    TMI_TRY(tmi_results_make(&s->places, plan, NULL, err));
    s->cells = tmi_alloc(s->places.count, sizeof *s->cells);
    if (!s->cells) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(find_truth(s, p, err));
    TMI_TRY(run_all(s, p, options, err));
    *study = s;
    s = NULL;

done:
    tmi_population_free(p);
    tamis_coverage_free(s);
    return status;
}

/* ---- texts ---- */

static bool passes(const cell *c)
{
    const double own = share(&c->own), bare = share(&c->bare);
    return bare >= 0.94 || isnan(bare) ? own >= 0.935 : own >= bare - 0.01;
}

/* Why an interval is right more often than it says, as far as the plan and the runs tell. */
static const char *remark(const tamis_coverage *study, size_t i)
{
    const cell *c = &study->cells[i];
    const tmi_statistic_kind kind = study->plan->statistics[study->places.list[i].statistic].kind;
    const tmi_design_kind design = study->plan->design.kind;
    if (!passes(c)) return "too low";
    if (share(&c->own) <= 0.98) return NULL;
    if (c->bounded * 20 > study->runs) return "high: variance bounded by the range at times";
    if (design == TMI_DESIGN_CLUSTER) return "high: clusters as if with replacement";
    if (design != TMI_DESIGN_PPS && (kind == TMI_COUNT || kind == TMI_TABLE || kind == TMI_HISTOGRAM))
        return "high: whole numbers, exact interval";
    return "high: no single reason";
}

static void put_tally(tmi_json_out *out, const char *key, const tally *t)
{
    tmi_json_key(out, key);
    tmi_json_open(out, '{');
    tmi_json_key(out, "coverage");
    tmi_json_put_real(out, share(t));
    tmi_json_key(out, "error");
    tmi_json_put_real(out, error_of(t));
    tmi_json_key(out, "intervals");
    tmi_json_put_integer(out, t->given);
    tmi_json_close(out, '}');
}

tamis_status tamis_coverage_json(char **text, const tamis_coverage *study, tamis_error *err)
{
    tmi_text bytes;
    tmi_json_out out;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    tmi_text_init(&bytes);
    tmi_json_out_init(&out, &bytes, true);
    tmi_json_open(&out, '{');
    tmi_json_key(&out, "tamis");
    tmi_json_put_integer(&out, 1);
    tmi_json_key(&out, "survey");
    tmi_json_put_string(&out, study->plan->survey);
    tmi_json_key(&out, "population");
    tmi_json_put_integer(&out, study->population);
    tmi_json_key(&out, "runs");
    tmi_json_put_integer(&out, study->runs);
    tmi_json_key(&out, "results");
    tmi_json_open(&out, '[');
    for (size_t i = 0; i < study->places.count; i++) {
        const cell *c = &study->cells[i];
        const tmi_result *r = &study->places.list[i];
        const tmi_plan_statistic *s = &study->plan->statistics[r->statistic];
        if (!counts(c)) continue;
        tmi_json_open(&out, '{');
        tmi_json_key(&out, "statistic");
        tmi_json_put_string(&out, tmi_statistic_name(s));
        tmi_json_key(&out, "column");
        tmi_json_put_string(&out, s->column ? s->column->name : NULL);
        tmi_json_key(&out, "group");
        tmi_put_group(&out, s->by, s->by_count, r->cell);
        tmi_json_key(&out, "truth");
        tmi_json_put_real(&out, c->truth);
        put_tally(&out, "protected", &c->own);
        put_tally(&out, "unprotected", &c->bare);
        tmi_json_key(&out, "width_ratio");
        if (c->bare.width > 0 && c->own.given > 0)
            tmi_json_put_real(&out, c->own.width / (double)c->own.given / (c->bare.width / (double)c->bare.given));
        else tmi_json_put_null(&out);
        tmi_json_key(&out, "noise_ratio");
        if (c->sampling > 0) tmi_json_put_real(&out, hypot(c->noise, c->sampling) / c->sampling);
        else tmi_json_put_null(&out);
        tmi_json_key(&out, "passes");
        tmi_json_put_boolean(&out, passes(c));
        tmi_json_key(&out, "remark");
        tmi_json_put_string(&out, remark(study, i));
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    tmi_json_close(&out, '}');
    tmi_text_put(&bytes, "\n");
    return tmi_text_take(text, &bytes, err);
}

#define COLUMNS 4

static void put_share(tmi_text *text, const tally *t)
{
    if (t->given > 0) tmi_text_format(text, "%.4f ± %.4f", share(t), error_of(t));
}

static void put_row(tmi_text_table *table, const tamis_coverage *study, size_t i)
{
    const cell *c = &study->cells[i];
    const tmi_result *r = &study->places.list[i];
    const tmi_plan_statistic *s = &study->plan->statistics[r->statistic];
    tmi_text texts[COLUMNS - 1];
    const char *cells[COLUMNS] = {0};
    for (size_t k = 0; k < COLUMNS - 1; k++) tmi_text_init(&texts[k]);
    tmi_statistic_title(&texts[0], study->plan, r->statistic);
    for (size_t k = 0; k < s->by_count; k++)
        tmi_text_format(&texts[0], "%s%s", k ? ", " : ": ", tmi_cell_value(s->by, s->by_count, r->cell, k));
    put_share(&texts[1], &c->own);
    put_share(&texts[2], &c->bare);
    for (size_t k = 0; k < COLUMNS - 1; k++) {
        cells[k] = texts[k].bytes;
        table->failed = table->failed || texts[k].failed;
    }
    cells[COLUMNS - 1] = remark(study, i);
    tmi_table_row(table, cells);
    for (size_t k = 0; k < COLUMNS - 1; k++) tmi_text_clear(&texts[k]);
}

tamis_status tamis_coverage_text(char **text, const tamis_coverage *study, tamis_error *err)
{
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_LEFT};
    static const char *const heading[COLUMNS] = {"", "protected", "unprotected", ""};
    tmi_text bytes;
    tmi_text_table table;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    tmi_text_init(&bytes);
    tmi_table_init(&table, COLUMNS, align);
    tmi_text_format(&bytes, "%s: how often intervals hold the truth\n%lld samples of a public population of %lld, each "
                    "released and estimated\n\n", study->plan->survey, (long long)study->runs, (long long)study->population);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < study->places.count; i++)
        if (counts(&study->cells[i])) put_row(&table, study, i);
    tmi_table_write(&bytes, &table);
    if (table.failed) bytes.failed = true;
    tmi_table_clear(&table);
    tmi_text_put(&bytes, "Nothing was published and no ledger was charged: the population is public.\n");
    return tmi_text_take(text, &bytes, err);
}
