/* The sensitivity of every measurement against its definition: all pairs of neighbours of a tiny survey, through an engine.
 *
 * A record of the survey is replaced by another one that the design could have drawn instead: any answers, any weight that the
 * plan allows, the same stratum, the same cluster; where these are not fixed, in another one too; or it is gone (definition.h).
 * The distance of the two tables, each number in units of its own law's sensitivity, is never above 1, and for some pair it is 1.
 * What is looked at before the charge is the same for all of them. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "measure/request/inventory.h"
#include "measure/request/request.h"
#include "num/number.h"
#include "schedule/schedule.h"
#include "tests/measure/definition.h"
#include "tests/release/array_engine.h"

static const double xs[] = {-100, 10, 19.75, 30, 1e9, NAN};
static const double ys[] = {-5, 0, 3, NAN};
static const char *const gs[] = {"a", "b", NULL}, *const hs[] = {"u", "w", "other"};

#define MOST_RECORDS 4096

/* Where a record may move: few answers, all places. */
static size_t movers(array_row *list, const array_row *row, double weight, const definition *d)
{
    static const char *const strata[] = {"p", "q", NULL}, *const clusters[] = {"1", "2", NULL};
    size_t count = 0;
    for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
        for (size_t j = 0; j < sizeof ys / sizeof *ys; j++)
            for (size_t g = 0; g < 3; g++)
                for (size_t place = 0; place < 9; place++) {
                    array_row r = *row;
                    r.x = xs[i], r.y = ys[j], r.g = gs[g], r.w = weight;
                    if (d->any_stratum) r.s = strata[place / 3];
                    if (d->any_cluster) r.c = clusters[place % 3];
                    list[count++] = r;
                }
    return count;
}

/* Every record that could stand in the place of `row`. */
static size_t alternatives(array_row *list, const array_row *row, const double *weights, size_t weight_count, const definition *d)
{
    size_t count = d->any_stratum || d->any_cluster ? movers(list, row, weights[weight_count - 1], d) : 0;
    for (size_t i = 0; i < sizeof xs / sizeof *xs; i++)
        for (size_t j = 0; j < sizeof ys / sizeof *ys; j++)
            for (size_t g = 0; g < 3; g++)
                for (size_t h = 0; h < 3; h++)
                    for (size_t w = 0; w < weight_count; w++) {
                        array_row r = *row;
                        r.x = xs[i], r.y = ys[j], r.g = gs[g], r.h = hs[h], r.w = weights[w];
                        assert_true(count < MOST_RECORDS);
                        list[count++] = r;
                    }
    return count;
}

static tamis_plan *plan_with(const char *design, const char *privacy, const char *x, const char *statistics)
{
    char text[4096];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: %s%s\n  g: {values: [a, b]}\n  h: {values: [u, v, w]}\n  part: {of: h, "
             "parts: {k: [u, w], l: v}}\n"
             "statistics:\n%s",
             design, privacy, x, strstr(x, "\n  y:") ? "" : "\n  y: {from: -2, to: 3, step: 1}", statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s\n%s", text, err.message);
    return plan;
}

typedef struct tables {
    tmi_query *query;
} tables;

/* What one row adds to all tables, the others being as they are: the tables of a survey in which it stands alone would lose
 * the ranks of clusters, so the whole survey is counted. */
static void count(tables *t, const array_row *rows, size_t row_count)
{
    array_engine engine = array_engine_of(rows, row_count);
    for (size_t i = 0; i < t->query->table_count; i++)
        memset(t->query->answers[i], 0,
               tmi_table_cells(&t->query->tables[i]) * t->query->tables[i].measure_count * sizeof(tmi_int128));
    assert_int_equal(engine.engine.aggregate(&engine.engine, t->query->answers, &t->query->request, NULL, NULL), TAMIS_OK);
}

/* Of the second stage the table of secret totals: what it moves by is what its numbers rest on (release/second_stage has the
 * rest). */
static bool is_of_totals(const tmi_measurement *m) { return tmi_method_of(m->marginal.weighting) != NULL; }

static size_t numbers_of(const tmi_measurement *m) { return is_of_totals(m) ? m->slots * m->cells * m->levels : m->numbers; }

static double truth_of(const tmi_query *query, const tmi_schedule *s, size_t i, size_t k)
{
    const tmi_measurement *m = &s->measurements[i];
    const size_t cell = k / m->levels;
    return (double)(is_of_totals(m) ? tmi_query_total(query, s, i, cell / m->cells, cell % m->cells, k % m->levels)
                                    : tmi_query_truth(query, s, i, k));
}

typedef struct worst {
    double l1, l2;
} worst;

/* Many records add the same to a table: each such addition once, at the front. */
static size_t distinct(double *adds, size_t records, size_t numbers)
{
    size_t count = 0;
    for (size_t r = 0; r < records; r++) {
        size_t k = 0;
        while (k < count && memcmp(adds + k * numbers, adds + r * numbers, numbers * sizeof *adds) != 0) k++;
        if (k == count) memmove(adds + count++ * numbers, adds + r * numbers, numbers * sizeof *adds);
    }
    return count;
}

/* Each distance is a sum over numbers of convex functions of two records' own contributions, so that it is enough to look at
 * all records' contributions once and at all pairs of those. */
static void compare(worst *worst, double *const *adds, size_t all_records, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        const size_t numbers = numbers_of(m), records = distinct(adds[i], all_records, numbers);
        const bool signs = s->workload.domains[m->marginal.domain].grid.low < 0; /* one place may move by all of it */
        double *l1_of = calloc(numbers, sizeof *l1_of), *l2_of = calloc(numbers, sizeof *l2_of);
        for (size_t k = 0; k < numbers; k++) {
            const tmi_noise_law *law = is_of_totals(m) ? NULL : &m->laws[k / (m->numbers / m->strata)];
            l1_of[k] = law ? (double)law->l1 : (double)m->moved;
            l2_of[k] = law ? tmi_number_nearest(law->l2_squared) : l1_of[k] * l1_of[k] / (signs ? 1 : 2);
        }
        for (size_t p = 0; p < records; p++)
            for (size_t q = 0; q < p; q++) {
                double l1 = 0, l2 = 0;
                for (size_t k = 0; k < numbers; k++) {
                    double change = fabs(adds[i][p * numbers + k] - adds[i][q * numbers + k]);
                    l1 += change / l1_of[k];
                    l2 += change * change / l2_of[k];
                }
                worst[i].l1 = fmax(worst[i].l1, l1);
                worst[i].l2 = fmax(worst[i].l2, l2);
            }
        free(l1_of), free(l2_of);
    }
}

/* How much of the sensitivity some pair attains: all of it, but for what is kept for the rounding of products. A record that
 * stays in its cluster cannot leave the only cell of a group. */
static double attained(const definition *d, const tmi_measurement *m)
{
    const bool placed = is_of_totals(m) && tmi_method_of(m->marginal.weighting)->slots && d->any_cluster;
    if (is_of_totals(m) && m->cells * m->levels == 1 && !placed) return 0;
    return m->rounded ? 1 - 1e-6 : 1 - 1e-12;
}

/* What is looked at before the charge. */
static tamis_status look(const tmi_schedule *s, const tmi_query *query, const array_row *rows, size_t n)
{
    array_engine engine = array_engine_of(rows, n);
    return tmi_check_inventory(&engine.engine, s, query, NULL, NULL);
}

static void check(const char *design, const char *privacy, const char *x, const char *statistics, const array_row *rows, size_t n,
                  const double *weights, size_t weight_count)
{
    tamis_plan *plan = plan_with(design, privacy, x, statistics);
    const definition d = definition_of(plan);
    tmi_schedule s;
    tmi_query query;
    tamis_error err = {0};
    tamis_rng *rng;
    if (tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_query_make(&query, &s, &err), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, &err), TAMIS_OK);
    bits_from_seed(11);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_draw(&query, rng, NULL), TAMIS_OK);
    tamis_rng_free(rng);

    array_row *list = calloc(MOST_RECORDS, sizeof *list), *survey = calloc(n, sizeof *survey);
    worst *found = calloc(s.measurement_count, sizeof *found);
    double **adds = calloc(s.measurement_count, sizeof *adds);
    tables t = {&query};
    if (look(&s, &query, rows, n) != TAMIS_OK)
        fail_msg("%s, %s: what is looked at before the charge is refused", design, privacy);
    for (size_t row = 0; row < n; row++) {
        memcpy(survey, rows, n * sizeof *survey);
        size_t records = alternatives(list, &rows[row], weights, weight_count, &d);
        /* gone, or kept without its stratum; of counted clusters the ranks would change, which are drawn at random */
        const bool absent = !d.counted && (!d.fixed || d.astray);
        for (size_t i = 0; i < s.measurement_count; i++)
            adds[i] = calloc((records + 1) * numbers_of(&s.measurements[i]), sizeof **adds);
        for (size_t r = 0; r < records + absent; r++) {
            survey[row] = r < records ? list[r] : rows[n - 1];
            count(&t, survey, r < records ? n : n - 1);
            if ((r < records || !d.fixed) && look(&s, &query, survey, r < records ? n : n - 1) != TAMIS_OK)
                fail_msg("%s, %s: what is looked at before the charge differs between neighbours", design, privacy);
            for (size_t i = 0; i < s.measurement_count; i++)
                for (size_t k = 0; k < numbers_of(&s.measurements[i]); k++)
                    adds[i][r * numbers_of(&s.measurements[i]) + k] = truth_of(&query, &s, i, k);
        }
        compare(found, adds, records + absent, &s);
        for (size_t i = 0; i < s.measurement_count; i++) free(adds[i]);
    }
    for (size_t i = 0; i < s.measurement_count; i++) {
        tmi_text name;
        tmi_text_init(&name);
        tmi_measurement_name(&name, &s.measurements[i], &s.workload);
        const double least = attained(&d, &s.measurements[i]);
        const bool gram = tmi_is_gram(s.measurements[i].marginal.form); /* lengths are attained, sums with k = 1/2 alone */
        if (found[i].l1 > 1 + 1e-12 || found[i].l2 > 1 + 1e-12 || found[i].l1 < (gram ? 0.85 : least) ||
            found[i].l2 < least - (gram ? 1e-3 : 1e-6))
            fail_msg("%s: %s: L1 %.15g, L2 squared %.15g of the sensitivity", design, name.bytes, found[i].l1, found[i].l2);
        tmi_text_clear(&name);
    }
    free(list), free(survey), free(found), free(adds);
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

#define ALL \
    "  - {count: units, by: g}\n  - total: x\n  - {total: y, by: g}\n  - {mean: x, by: g}\n  - {mean: y}\n" \
    "  - {ratio: {of: x, to: y}}\n  - {variance: y}\n  - {share: {g: a}}\n  - {total: y, where: {h: [u, w]}}\n" \
    "  - {table: [g, h]}\n  - {histogram: x, cuts: [20]}\n"
/* What contrasts are made of is measured although nobody asked for it, and so are their sampling errors. */
#define CONTRASTS \
    "  - {difference: {mean: x, between: {g: [a, b]}}, by: h}\n  - {difference: {total: y, between: {g: [b, a]}}}\n" \
    "  - {difference: {share: {g: a}, minus: {share: {h: u}}}}\n  - {quotient: {mean: x, between: {h: [u, w]}}}\n" \
    "  - {contrast: {mean: y, by: {x: [15, 22]}, weights: [-1, 2, -1]}, where: {h: [u, w]}}\n"
/* The cells of models. */
#define MODELS \
    "  - {regression: {of: x, on: [g, h]}}\n  - {regression: {of: {g: a}, on: [{x: [15, 22]}], family: logistic}}\n" \
    "  - {regression: {of: y, on: [g]}, by: h}\n"
/* Models with numbers: tables of products, and of squares of residuals, in which a predictor is twice. */
#define LINES \
    "  - {regression: {of: x, on: [y]}}\n  - {regression: {of: {g: a}, on: [x, y]}}\n" \
    "  - {regression: {of: y, on: [x, g]}, where: {h: [u, w]}}\n  - {correlation: [x, y]}\n"
#define X "{from: 10, to: 30, step: 0.5}"

/* Three numbers that every row has, whatever the file contains: their products are a table. */
#define NUMBERS \
    "{from: 10, to: 30, step: 0.5, missing: none}\n  y: {from: -2, to: 3, step: 1, missing: none}\n  w: {from: 0, to: 8, step: " \
    "1, " \
    "missing: none}"
#define PRODUCTS "  - {regression: {of: x, on: [y, w]}}\n  - {regression: {of: y, on: [x, w, g]}, where: {h: [u, w]}}\n"

static const double ones[] = {1}, others[] = {-1, 0, 3, 8};
static const array_row four[] = {{.x = 10, .g = "a", .h = "u", .s = "p"},
                                 {.x = 12, .g = "b", .s = "p"},
                                 {.x = 20, .g = "b", .h = "w", .s = "q"},
                                 {.x = 25, .g = "a", .h = "u", .s = "q"}};
static const array_row two[] = {{.x = 10, .g = "a", .h = "u", .s = "p", .c = "1"},
                                {.x = 20, .g = "b", .h = "w", .s = "q", .c = "2"}};

#define STRATIFIED(p, q) \
    "stratified: {by: s, within: srs, strata: {p: {population: " p ", sample: 2}, q: {population: " q ", sample: 2}}}"

static void simple_random_samples(void **state)
{
    (void)state;
    check("srs: {population: 20, sample: 2}", "epsilon: 1", X, ALL, two, 2, ones, 1);
    check("bernoulli: {rate: 1/10, population: 20}", "epsilon: 1", X, ALL, two, 2, ones, 1);
    check("srs: {population: 20, sample: 2}", "epsilon: 1", X, CONTRASTS, two, 2, ones, 1);
    check("srs: {population: 20, sample: 2}", "rho: 1", X, CONTRASTS, two, 2, ones, 1);
    check("srs: {population: 20, sample: 2}", "epsilon: 1", X, MODELS, two, 2, ones, 1);
    check(STRATIFIED("9", "7"), "rho: 1", X, MODELS, four, 4, ones, 1);
    check("srs: {population: 20, sample: 2}", "epsilon: 1", X, LINES, two, 2, ones, 1);
    check("srs: {population: 20, sample: 2}", "rho: 1", X, LINES, two, 2, ones, 1);
    check(STRATIFIED("900", "6"), "epsilon: 1", X, LINES, four, 4, ones, 1);
    check(STRATIFIED("9", "7"), "epsilon: 1", X, CONTRASTS, four, 4, ones, 1);
    check("bernoulli: {rate: 1/10, population: 20}", "epsilon: 1", X, CONTRASTS, two, 2, ones, 1);
}

/* Their values are what a file contains, within their ranges or not. */
static void products_of_several_numbers(void **state)
{
    (void)state;
    check("srs: {population: 20, sample: 2}", "rho: 1", NUMBERS, PRODUCTS, two, 2, others, 4);
    check("bernoulli: {rate: 1/10, population: 20}", "rho: 1", NUMBERS, PRODUCTS, two, 2, others, 4);
    check(STRATIFIED("900", "6"), "rho: 1", NUMBERS, PRODUCTS, four, 4, others, 4);
    tamis_plan *plan = plan_with(STRATIFIED("9", "7"), "rho: 1, protect: population, given: nothing, design_variables: protected",
                                 NUMBERS, PRODUCTS);
    tmi_schedule s;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    for (size_t i = 0; i < s.measurement_count; i++) assert_false(tmi_is_gram(s.measurements[i].marginal.form));
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* The number that results are calibrated to is an axis of every table. */
static void calibrated_to_the_total_of_a_number(void **state)
{
    (void)state;
    static const char sums[] = "  - {count: units, by: g}\n  - {total: x, by: h}\n  - {mean: y}\n"
                               "calibrate: {to: [{count: units, by: g, totals: [9, 11]}, {total: y, totals: 20}]}\n";
    check("srs: {population: 20, sample: 2}", "epsilon: 1", X, sums, two, 2, ones, 1);
    check("bernoulli: {rate: 1/10, population: 20}", "rho: 1", X, sums, two, 2, ones, 1);
    check(STRATIFIED("900", "6"), "epsilon: 1", X, sums, four, 4, ones, 1);
}

/* Some did not answer, or who answered is protected: how many rows there are is no more public than what they contain. */
static void respondents(void **state)
{
    (void)state;
    static const char means[] = "  - {mean: x, by: g}\n  - {share: {g: a}}\n";
    static const char *const designs[] = {"srs: {population: 20, sample: 2}", "census: {population: 2}",
                                          "systematic: {population: 20, sample: 2, order: public}"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        char design[200];
        snprintf(design, sizeof design, "%s, nonresponse: yes", designs[i]);
        check(design, "epsilon: 1", X, means, two, 2, ones, 1);
        check(designs[i], "epsilon: 1, protect: respondents", X, ALL, two, 2, ones, 1);
    }
    check(STRATIFIED("9", "7") ", nonresponse: yes", "epsilon: 1", X, means, four, 4, ones, 1);
    check(STRATIFIED("9", "7"), "epsilon: 1, protect: respondents", X, ALL, four, 4, ones, 1);
    check(STRATIFIED("9", "7"), "epsilon: 1, protect: respondents", X, "  - {total: x, by: s}\n  - {count: units, by: s}\n", four,
          4, ones, 1);
}

/* Within its stratum a record costs what its own stratum's range and weight make of it. */
static void strata(void **state)
{
    (void)state;
    static const char far[] = STRATIFIED("900", "6"), near[] = STRATIFIED("9", "7");
    static const char ranges[] = "{from: 10, to: {p: 30, q: 14}, step: 0.5}";
    check(far, "epsilon: 1", X, ALL, four, 4, ones, 1);
    check(STRATIFIED("6", "900"), "epsilon: 1", X, "  - {total: x}\n", four, 4, ones, 1);
    check(STRATIFIED("7", "9"), "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", four, 4, ones, 1);
    check(near, "epsilon: 1", X, ALL, four, 4, ones, 1);
    check(near, "epsilon: 1", X, "  - {total: x, by: s}\n  - {count: units, by: [s, g]}\n", four, 4, ones, 1);
    check(near, "epsilon: 1", ranges, "  - {total: x}\n  - {mean: x, by: g}\n", four, 4, ones, 1);
}

/* ---- one epsilon per stratum ---- */

/* What the distance of two records costs: `scales` are those of the numbers. Of totals that a second stage is made of, its steps,
 * if anything moves. */
static double cost_of(const tmi_measurement *m, const double *adds, const double *scales, size_t p, size_t q)
{
    const size_t numbers = numbers_of(m);
    double sum = 0;
    for (size_t k = 0; k < numbers; k++) sum += fabs(adds[p * numbers + k] - adds[q * numbers + k]) / scales[k];
    return is_of_totals(m) ? (sum > 0 ? (double)m->laws[0].l1 / scales[0] : 0) : sum;
}

/* With a target for outsiders: all that a record of a stratum can change, in all tables together, costs no more than what is
 * charged to the stratum, which is at most its epsilon; `whole`: some record costs it all. */
static void check_target(const char *design, const char *x, const char *statistics, const array_row *rows, size_t n, bool whole)
{
    tamis_plan *plan = plan_with(design, "protect: frame, given: population, secret_sample: yes, outsider: 0.5, insider: 5", x,
                                 statistics);
    const definition d = definition_of(plan);
    tmi_schedule s;
    tmi_query query;
    tamis_error err = {0};
    tamis_number **losses;
    if (tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_query_make(&query, &s, &err), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, &err), TAMIS_OK);
    assert_int_equal(tmi_losses_by_stratum(&losses, s.measurements, s.measurement_count, &s.workload, &err), TAMIS_OK);
    const tamis_number *const *caps = (const tamis_number *const *)plan->privacy.loss.by_stratum;
    array_row *list = calloc(MOST_RECORDS, sizeof *list), *survey = calloc(n, sizeof *survey);
    double **adds = calloc(s.measurement_count, sizeof *adds), **scales = calloc(s.measurement_count, sizeof *scales),
           found[2] = {0};
    tables t = {&query};
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        scales[i] = calloc(numbers_of(m), sizeof **scales);
        for (size_t k = 0; k < numbers_of(m); k++)
            scales[i][k] = tmi_number_nearest(m->laws[is_of_totals(m) ? 0 : k / (m->numbers / m->strata)].scale);
    }
    for (size_t row = 0; row < n; row++) {
        const size_t h = rows[row].s[0] == 'q';
        memcpy(survey, rows, n * sizeof *survey);
        const size_t others = alternatives(list, &rows[row], ones, 1, &d), records = others + !d.fixed;
        for (size_t i = 0; i < s.measurement_count; i++)
            adds[i] = calloc(records * numbers_of(&s.measurements[i]), sizeof **adds);
        for (size_t r = 0; r < records; r++) {
            if (r < others) survey[row] = list[r];
            else survey[row] = survey[n - 1]; /* it is not drawn: the last row takes its place, and there is one less */
            count(&t, survey, r < others ? n : n - 1);
            for (size_t i = 0; i < s.measurement_count; i++)
                for (size_t k = 0; k < numbers_of(&s.measurements[i]); k++)
                    adds[i][r * numbers_of(&s.measurements[i]) + k] = truth_of(&query, &s, i, k);
        }
        for (size_t p = 0; p < records; p++)
            for (size_t q = 0; q < p; q++) {
                double sum = 0;
                for (size_t i = 0; i < s.measurement_count; i++) sum += cost_of(&s.measurements[i], adds[i], scales[i], p, q);
                found[h] = fmax(found[h], sum);
            }
        for (size_t i = 0; i < s.measurement_count; i++) free(adds[i]);
    }
    bool binds = false;
    for (size_t h = 0; h < 2; h++) {
        const double most = tmi_number_nearest(losses[h]);
        if (found[h] > most * (1 + 1e-9) || tmi_number_compare(losses[h], caps[h]) > 0 || (whole && found[h] < most * (1 - 1e-6)))
            fail_msg("%s, %s: stratum %zu loses %.12g, charged %.12g of %.12g", design, statistics, h, found[h], most,
                     tmi_number_nearest(caps[h]));
        binds = binds || most > (1 - 1e-9) * tmi_number_nearest(caps[h]);
        tamis_number_free(losses[h]);
    }
    if (whole && !binds)
        fail_msg("%s, %s: no stratum spends its epsilon", design, statistics); /* so that noise would be too large */
    tmi_free(losses);
    for (size_t i = 0; i < s.measurement_count; i++) free(scales[i]);
    free(list), free(survey), free(adds), free(scales);
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

static void strata_lose_their_epsilons(void **state)
{
    (void)state;
    static const char ranges[] = "{from: 10, to: {p: 30, q: 14}, step: 0.5}";
    static const char *const designs[] = {STRATIFIED("900", "6"), STRATIFIED("6", "900"), STRATIFIED("9", "7"),
                                          STRATIFIED("2", "400")}; /* the last: everybody of p is in the sample */
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        check_target(designs[i], X, "  - {total: x}\n", four, 4, true);
        check_target(designs[i], X, "  - {count: units, by: g}\n", four, 4, true);
        check_target(designs[i], X, "  - {total: x, by: s}\n", four, 4, true);
        check_target(designs[i], ranges, "  - {total: x}\n", four, 4, true);
        check_target(designs[i], X, "  - {total: y, by: g}\n  - {mean: x}\n", four, 4, false);
        check_target(designs[i], X, MODELS, four, 4, false);
    }
    static const char *const random_sizes[] = {
        "stratified: {by: s, within: bernoulli, strata: {p: {rate: 1/450, population: 900}, q: {rate: 1/3, population: 6}}}",
        "stratified: {by: s, within: bernoulli, strata: {p: {rate: 1/4}, q: {rate: 1/3}}}"};
    for (size_t i = 0; i < 2; i++) {
        check_target(random_sizes[i], X, "  - {total: x}\n", four, 4, i == 0);
        check_target(random_sizes[i], "{from: -30, to: -10, step: 1}", "  - {total: x, where: {h: u}}\n", four, 4, i == 0);
        check_target(random_sizes[i], X, "  - {count: units, by: g}\n  - {mean: x}\n", four, 4, false);
    }
    check_target(designs[2], "{from: 10, to: 30, step: 1}", "  - {total: x, where: {h: u}}\n", four, 4, true);
    check_target(designs[0], X, ALL, four, 4, false);
    check_target(designs[2], ranges, "  - {mean: x, by: g}\n  - {count: units, by: [s, h]}\n", four, 4, false);
}

/* Results by a recode of the strata, and conditions on strata, are read from tables of strata, apart or together; the file's own
 * column of the recode's name is not looked at. */
static void recodes_of_strata(void **state)
{
    (void)state;
    static const char recoded[] = X "\n  r: {strata: {north: [p], south: [q]}}\n  all: {strata: {all: [q, p]}}";
    static const char *const designs[] = {STRATIFIED("900", "6"), STRATIFIED("9", "7"), STRATIFIED("8", "8")};
    static const char *const statistics[] = {"  - {total: x, by: r}\n  - {mean: y, by: [all, g]}\n",
                                             "  - {mean: x, where: {s: p}}\n",
                                             "  - {total: y, where: {r: south}}\n  - {share: {g: a}, where: {r: north}}\n",
                                             "  - {mean: x, where: {s: p, h: [u, w]}}\n  - {table: [g], by: [s, r]}\n"};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++) {
            check(designs[i], "epsilon: 1", recoded, statistics[k], four, 4, ones, 1);
            check(designs[i], "epsilon: 1, protect: respondents", recoded, statistics[k], four, 4, ones, 1);
        }
    check(STRATIFIED("9", "7") ", nonresponse: yes", "epsilon: 1", recoded, "  - {mean: x, by: r}\n", four, 4, ones, 1);
}

static void weights_of_rows(void **state)
{
    (void)state;
    static const double weights[] = {-1, 0.001, 1, 7.3, 50, 1e6, NAN};
    check("weights: {population: 100}, weight: w, max_weight: 50", "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", two,
          2, weights, 7);
    static const double probabilities[] = {0, 1e-9, 0.02, 0.3, 1, NAN};
    check("poisson: {probability: w}, max_weight: 50", "epsilon: 1", X, "  - {total: x}\n  - {share: {g: a}}\n", two, 2,
          probabilities, 6);
}

/* A record stays in its cluster. */
static void clusters(void **state)
{
    (void)state;
    check("cluster: {by: c, population: 9, sample: 2, smallest: 1, largest: 4}", "epsilon: 1", X,
          "  - {total: x}\n  - {mean: y, by: g}\n  - {variance: y}\n", two, 2, ones, 1);
}

/* Nothing is fixed but the weights' bound: a record may come from any cluster of any stratum. */
static void clusters_that_nobody_counted(void **state)
{
    (void)state;
    static const double weight[] = {50};
    check("weights: {strata: s, cluster: c}, weight: w, max_weight: 50", "epsilon: 1", X,
          "  - {total: x}\n  - {mean: y, by: g}\n", two, 2, weight, 1);
    check("weights: {cluster: c}, weight: w, max_weight: 50", "epsilon: 1", X, "  - {total: x}\n", two, 2, weight, 1);
    check("weights: {cluster: c}, weight: w, max_weight: 50", "epsilon: 1", X, CONTRASTS, two, 2, weight, 1);
    check("weights: {cluster: c}, weight: w, max_weight: 50", "epsilon: 1", X, LINES, two, 2, weight, 1);
    check("weights: {population: 100}, weight: w, max_weight: 50", "epsilon: 1", X, CONTRASTS, two, 2, weight, 1);
    check("weights: {population: 100}, weight: w, max_weight: 50", "epsilon: 1", X, LINES, two, 2, weight, 1);
}

/* Weights that a file makes larger than their bound: the sizes of two stages, and weights that are bounded in totals of PSUs. */
static void weights_beyond_their_bounds(void **state)
{
    (void)state;
    static const double far[] = {1e6};
    check("two_stage: {first: {by: c, population: 9, sample: 2}, second: {population: w, sample: 4}}, max_weight: 30",
          "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", two, 2, far, 1);
    check("two_stage: {first: {by: c, population: 9, sample: 2}, second: {population: w, sample: y}}, max_weight: 30",
          "epsilon: 1", X, "  - {mean: x, by: g}\n", two, 2, far, 1);
    check("weights: {cluster: c}, weight: w, max_weight: 50, typical: {population: 100, sample: 50}", "epsilon: 1", X,
          "  - {total: x}\n  - {count: units}\n", two, 2, far, 1);
}

/* A category that follows from another, alone, beside it and crossed with it: a row is in one group of each. */
static void nested_groups(void **state)
{
    (void)state;
    static const char *const statistics[] = {"  - {total: x, by: part}\n  - {mean: y, by: h}\n",
                                             "  - {mean: x, by: [part, h]}\n  - {count: units, where: {part: k}}\n",
                                             "  - {total: y, by: part}\n  - {count: units, by: [g, part]}\n"};
    for (size_t i = 0; i < 3; i++) {
        check("srs: {population: 9, sample: 2}", "epsilon: 1", X, statistics[i], two, 2, ones, 1);
        check("bernoulli: {rate: 1/3}", "epsilon: 1, protect: respondents", X, statistics[i], two, 2, ones, 1);
    }
}

/* Clusters with unequal probabilities: rows say the probability of their cluster and its size, and may say anything. */
static void unequal_clusters(void **state)
{
    (void)state;
    static const double small[] = {1e-6, 0.5};
    check("two_stage: {first: {by: c, pps: {method: sampford, probability: w, sample: 2}}, second: {population: y, sample: 4}}, "
          "max_weight: 30",
          "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", two, 2, small, 2);
    check(
        "two_stage: {first: {by: c, pps: {method: systematic, probability: w, sample: 2}}, second: {population: y, sample: x}}, "
        "max_weight: 30",
        "epsilon: 1", X, "  - {mean: x, by: g}\n", two, 2, small, 2);
}

/* Units that are drawn by themselves inside clusters: any of them may come or go, and its cluster with it. */
static void clusters_that_may_be_empty(void **state)
{
    (void)state;
    static const double small[] = {1e-6, 0.5};
    static const char *const inside = "second: {method: bernoulli, rate: 1/3}";
    char design[300];
    snprintf(design, sizeof design, "two_stage: {first: {by: c, population: 9, sample: 2}, %s}", inside);
    check(design, "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", two, 2, ones, 1);
    check(design, "epsilon: 1, protect: respondents", X, "  - {mean: x, by: g}\n", two, 2, ones, 1);
    snprintf(design, sizeof design,
             "two_stage: {first: {by: c, pps: {method: systematic, probability: w, sample: 2}}, %s}, "
             "max_weight: 30",
             inside);
    check(design, "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", two, 2, small, 2);
    snprintf(design, sizeof design,
             "stratified: {by: s, within: {two_stage: {first: {by: c}, %s}}, strata: {p: {population: 9, "
             "sample: 2}, q: {population: 8, sample: 3}}}",
             inside);
    check(design, "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", two, 2, ones, 1);
}

static void write_list(char *file, size_t size, const char *lines)
{
    snprintf(file, size, "/tmp/tamis-psus-%d.csv", (int)getpid());
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(lines, out);
    assert_int_equal(fclose(out), 0);
}

/* The clusters are those of a public list: the slots are drawn before, and a record may come from any of them, or from none.
 * Labels begin again in each stratum, or do not. */
static void clusters_of_a_list(void **state)
{
    (void)state;
    static const double weight[] = {50};
    static const struct {
        const char *keys, *lines;
        int64_t df, slots;
    } cases[] = {{"strata: s, cluster: c, ", "s,c\np,1\np,2\nq,1\nq,2\n", 2, 4},
                 {"strata: s, cluster: c, ", "s,c\nq,2\nq,1\np,1\np,2\np,3\n", 3, 5},
                 {"strata: s, cluster: c, ", "s,c\np,1\np,2\nq,1\nq,2\nq,3\n", 3, 5},
                 {"strata: s, cluster: c, ", "c,s\n1,p\n2,p\n3,q\n4,q\n", 2, 4},
                 {"strata: s, cluster: c, ", "s,c\np,1\np,2\nq,1\n", 1, 3},
                 {"cluster: c, ", "c\n1\n2\n", 1, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[64], design[200];
        tmi_schedule s;
        write_list(file, sizeof file, cases[i].lines);
        snprintf(design, sizeof design, "weights: {%spsus: '%s'}, weight: w, max_weight: 50", cases[i].keys, file);
        check(design, "epsilon: 1", X, "  - {total: x}\n  - {mean: y, by: g}\n", two, 2, weight, 1);
        tamis_plan *plan = plan_with(design, "epsilon: 1", X, "  - {total: x}\n");
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_true(!s.sampling.scattered && s.places.layout.slots == cases[i].slots);
        assert_int_equal(s.sampling.df, cases[i].df);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
        assert_int_equal(unlink(file), 0);
    }
}

/* Rows of a unit are drawn together: where the number of units is not fixed, a hash of their ids spreads them. */
static void rows_of_units_are_variance_units(void **state)
{
    (void)state;
    static const struct {
        const char *design, *privacy;
        bool clustered, scattered;
    } cases[] = {{"bernoulli: {rate: 1/10}", "epsilon: 1, id: u, rows_per_unit: 3", true, true},
                 {"bernoulli: {rate: 1/10}", "epsilon: 1, id: u", false, false},
                 {"weights: {}, weight: w, max_weight: 50", "epsilon: 1, id: u, rows_per_unit: 3", true, true},
                 {"weights: {deff: 2}, weight: w, max_weight: 50", "epsilon: 1, id: u, rows_per_unit: 3", false, false},
                 {"srs: {population: 9, sample: 3}", "epsilon: 1, id: u, rows_per_unit: 3", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(cases[i].design, cases[i].privacy, X, "  - {total: x}\n");
        tmi_schedule s;
        tmi_query query;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
        assert_true(s.sampling.clustered == cases[i].clustered && s.sampling.scattered == cases[i].scattered);
        assert_int_equal(query.units != NULL, cases[i].clustered);
        if (query.units) assert_true(query.units->of == query.unit);
        size_t errors = 0;
        for (size_t k = 0; k < s.measurement_count; k++) {
            const tmi_measurement *m = &s.measurements[k];
            if (!is_of_totals(m)) continue;
            errors++;
            /* three rows leave a cell, three enter another; products of this size are exact, and so nothing is rounded */
            if (!m->rounded) assert_true((double)m->moved == 2 * 3 * tmi_number_nearest(m->laws[0].most));
            else assert_true((double)m->moved > 2 * 3 * ldexp(tmi_number_nearest(m->laws[0].most), -m->shift));
            assert_int_equal(m->laws[0].l1, TMI_ERROR_STEPS);
        }
        if ((errors > 0) != cases[i].clustered) fail_msg("%s: %zu standard errors", cases[i].design, errors);
        tmi_query_clear(&query);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* ---- units of several rows whose weights are bounded together ---- */

#define UNIT_ROWS 3

/* Every household of up to three rows of a few kinds, with one of two ids, in the place of another one. `ranked`: clusters have
 * their places by the rank of their label, which another id, or none, would change for the other households. That their
 * places are drawn at random covers it, but not row by row: so these households have one id, and a row. */
static size_t households(array_row (*list)[UNIT_ROWS], bool ranked, const double weights[3], const double x[2])
{
    array_row kinds[3 * 3 + 1] = {{0}}; /* the last one: no row */
    size_t count = 0, all = 0;
    for (size_t w = 0; w < 3; w++)
        for (size_t i = 0; i < 2; i++)
            for (size_t g = 0; g <= i; g++)
                kinds[count++] = (array_row){.x = x[i], .y = 3, .g = gs[g], .h = "u", .w = weights[w], .c = "1", .u = "1"};
    for (size_t i = 0; i <= count; i++)
        for (size_t j = 0; j <= i; j++)
            for (size_t k = 0; k <= j; k++)
                for (int id = 0; id < (ranked ? 1 : 2) && (!ranked || k < count); id++, all++) {
                    const size_t own[] = {i, j, k};
                    for (size_t r = 0; r < UNIT_ROWS; r++) {
                        list[all][r] = kinds[own[r]];
                        if (list[all][r].u && id == 1) list[all][r].u = "3", list[all][r].c = "2";
                    }
                }
    return all;
}

/* `linear`, `squares`: how much of the sensitivity must be attained, in tables of weights and of their squares. */
static void check_households_with(const char *design, const char *column, const double x[2], const char *statistics,
                                  double linear, double squares)
{
    static array_row list[440][UNIT_ROWS];
    /* as probabilities of clusters of which 2 of 3 units are drawn: 150, 30 and 10 */
    static const double weights[] = {1e6, 30, 10}, chances[] = {0.01, 0.05, 0.15};
    const bool ranked = !strstr(design, "weights: "), by_chance = strstr(design, "probability: ");
    const size_t records = households(list, ranked, by_chance ? chances : weights, x);
    assert_int_equal(records, ranked ? 219 : sizeof list / sizeof *list);
    tamis_plan *plan = plan_with(design, "id: u, rows_per_unit: 3, epsilon: 1", column, statistics);
    tmi_schedule s;
    tmi_query query;
    tamis_error err = {0};
    tamis_rng *rng;
    if (tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_query_make(&query, &s, &err), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, &err), TAMIS_OK);
    bits_from_seed(13);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_draw(&query, rng, NULL), TAMIS_OK);
    tamis_rng_free(rng);
    worst *found = calloc(s.measurement_count, sizeof *found);
    double **adds = calloc(s.measurement_count, sizeof *adds);
    for (size_t i = 0; i < s.measurement_count; i++) adds[i] = calloc(records * numbers_of(&s.measurements[i]), sizeof **adds);
    for (size_t r = 0; r < records; r++) {
        array_row survey[1 + UNIT_ROWS] = {{.x = 20, .y = 3, .g = "b", .h = "w", .w = by_chance ? 0.04 : 40, .c = "2", .u = "2"}};
        memcpy(survey + 1, list[r], sizeof list[r]);
        count(&(tables){&query}, survey, 1 + UNIT_ROWS);
        for (size_t i = 0; i < s.measurement_count; i++)
            for (size_t k = 0; k < numbers_of(&s.measurements[i]); k++)
                adds[i][r * numbers_of(&s.measurements[i]) + k] = truth_of(&query, &s, i, k);
    }
    compare(found, adds, records, &s);
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        const double least = m->marginal.form != TMI_FULL ? 0.5 : tmi_weighs_squares(m->marginal.weighting) ? squares : linear;
        if (found[i].l1 > 1 + 1e-12 || found[i].l2 > 1 + 1e-12 || found[i].l1 < least - 1e-6)
            fail_msg("%s: measurement %zu, family %d: L1 %.15g, L2 squared %.15g of the sensitivity", design, i,
                     (int)m->marginal.weighting, found[i].l1, found[i].l2);
        free(adds[i]);
    }
    free(found), free(adds);
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

static void check_households(const char *design, const char *statistics, double linear, double squares)
{
    static const double x[] = {10, 30};
    check_households_with(design, X, x, statistics, linear, squares);
}

/* Weights of 50 and 30 add up to the bound of 80, so that it is attained; three of 50 become three of 26.67. With a guess of the
 * mean weight, those in totals of PSUs count up to 25: then three of them are below a bound of 80, and above one of 60, which 25,
 * 25 and 10 attain. Squares: 50 50 + 30 30 of 80 50, or 25 25 + 25 25 + 10 10 of 60 25. */
static void weights_of_units(void **state)
{
    (void)state;
    static const char both[] = "  - {total: x}\n  - {mean: x, by: g}\n", means[] = "  - {mean: x, by: g}\n";
    check_households("weights: {}, weight: w, max_weight: 50, max_unit_weight: 80", both, 1, 0.85);
    check_households("weights: {cluster: c}, weight: w, max_weight: 50, max_unit_weight: 80", means, 1, 0.85);
    check_households("weights: {deff: 2}, weight: w, max_weight: 50, max_unit_weight: 80", both, 1, 0.85);
    check_households("weights: {}, weight: w, max_weight: 50, max_unit_weight: 80, typical: {population: 100, sample: 10}", means,
                     1, 0.85);
    check_households("weights: {}, weight: w, max_weight: 50, max_unit_weight: 60, typical: {population: 100, sample: 10}", means,
                     1, 0.85);
    check_households("weights: {}, weight: w, max_weight: 50, max_unit_weight: 150", means, 1, 1); /* three largest ones fit */
    check_households("weights: {}, weight: w, max_weight: 50", means, 1, 1);
    /* weights that follow from sizes, 10 each: three rows of a third of 25 */
    check_households("srs: {population: 20, sample: 2}, max_unit_weight: 25", both, 1, 1);
    check_households("stratified: {by: h, within: srs, strata: {u: {population: 20, sample: 2}, v: {population: 12, sample: 2}, "
                     "w: {population: 8, sample: 2}}}, max_unit_weight: 25",
                     both, 1, 1);
    check_households(
        "two_stage: {first: {by: c, population: 20, sample: 2}, second: {population: w, sample: 2}}, max_weight: 50, "
        "max_unit_weight: 80",
        both, 1, 1);
    check_households("two_stage: {first: {by: c, pps: {method: systematic, probability: w, sample: 2}}, second: {population: y, "
                     "sample: 2}}, max_weight: 50, max_unit_weight: 80",
                     both, 1, 1);
}

/* What a unit adds to totals: weights of 50, 30 and 10 times 30 and 10, so that two rows of 900 attain a bound of 1800, and one
 * of 1500 is beyond one of 1200 alone; below 0 too, where a household that adds 1800 takes the place of one that subtracts as
 * much. With a bound of 9000 all three rows of 1500 fit. Other statistics of the number have the bounds of weights. */
static void contributions_of_units(void **state)
{
    (void)state;
    static const char totals[] = "  - {total: x}\n  - {total: x, by: g}\n", by[] = "  - {total: x, by: g}\n",
                      beside[] = "  - {total: x, by: g}\n  - {mean: x}\n  - {count: units, where: {g: a}}\n",
                      where[] = "  - {total: x, where: {g: a}}\n  - {total: x, by: g, where: {h: [u, w], y: {from: 0, to: 3}}}\n";
    static const char *const weights[] = {"weights: {}, weight: w, max_weight: 50",
                                          "weights: {cluster: c}, weight: w, max_weight: 50",
                                          "weights: {}, weight: w, max_weight: 50, max_unit_weight: 80"};
    static const double signs[] = {-30, 30}, values[] = {10, 30};
    for (size_t i = 0; i < 3; i++) {
        check_households_with(weights[i], "{from: 10, to: 30, step: 0.5, unit_contribution: 1800}", values, totals, 1 - 1e-6, 1);
        check_households_with(weights[i], "{from: 10, to: 30, step: 0.5, unit_contribution: 1200}", values, beside, 1 - 1e-6,
                              0.85);
        check_households_with(weights[i], "{from: 10, to: 30, step: 0.5, unit_contribution: 1800}", values, where, 1 - 1e-6, 1);
        check_households_with(weights[i], "{from: -40, to: 30, step: 0.5, unit_contribution: 1800}", signs, totals, 1 - 1e-6, 1);
        check_households_with(weights[i], "{from: -40, to: 30, step: 0.5, unit_contribution: 1200}", signs, where, 1 - 1e-6, 1);
    }
    check_households_with(weights[0], "{from: 10, to: 30, step: 0.5, unit_contribution: 9000}", values, totals, 1 - 1e-6, 1);
    /* weights that follow from sizes, 10 each */
    static const char *const sizes[] = {
        "srs: {population: 20, sample: 2}", "bernoulli: {rate: 1/10}",
        ("stratified: {by: h, within: srs, strata: {u: {population: 20, sample: 2}, v: {population: 12, sample: 2}, "
         "w: {population: 8, sample: 2}}}"),
        "two_stage: {first: {by: c, population: 20, sample: 2}, second: {population: w, sample: 2}}, max_weight: 50",
        "two_stage: {first: {by: c, pps: {method: systematic, probability: w, sample: 2}}, second: {population: y, sample: 2}}, "
        "max_weight: 50"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        /* such a household has an id and a row at least, so that only groups show all that it can move */
        check_households_with(sizes[i], "{from: 10, to: 30, step: 0.5, unit_contribution: 600}", values, by, 1 - 1e-6, 1);
        check_households_with(sizes[i], "{from: -40, to: 30, step: 0.5, unit_contribution: 600}", signs, by, 1 - 1e-6, 1);
    }
}

/* The bound is that of the plan on the grid of weights, or none where rows_per_unit of the largest weight are not above it. */
static void bounds_of_units(void **state)
{
    (void)state;
    static const struct {
        const char *bound;
        double points; /* times the step */
    } cases[] = {{"50", 50}, {"80.25", 80.25}, {"149", 149}, {"150", 0}, {"1e9", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char design[200];
        tmi_schedule s;
        snprintf(design, sizeof design, "weights: {}, weight: w, max_weight: 50, max_unit_weight: %s", cases[i].bound);
        tamis_plan *plan = plan_with(design, "id: u, rows_per_unit: 3, epsilon: 1", X, "  - total: x\n");
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_true((double)s.sampling.most_of_unit * tmi_number_nearest(s.sampling.step) == cases[i].points);
        const double rows = cases[i].points > 0 ? cases[i].points / 50 : 3;
        assert_true(fabs(tmi_largest_rows_of_unit(&s.workload, TMI_WEIGHTED, 0) - rows) < 1e-6);
        assert_true(tmi_largest_rows_of_unit(&s.workload, TMI_UNWEIGHTED, 0) == 3);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
    static const char *const too_low[] = {
        "srs: {population: 20, sample: 2}, max_unit_weight: 9.9", "bernoulli: {rate: 1/10}, max_unit_weight: 1",
        ("stratified: {by: h, within: srs, strata: {u: {population: 20, sample: 2}, v: {population: 12, sample: 2}, "
         "w: {population: 8, sample: 2}}}, max_unit_weight: 8")};
    for (size_t i = 0; i < sizeof too_low / sizeof *too_low; i++) {
        tamis_error err = {0};
        tmi_schedule s;
        tamis_plan *plan = plan_with(too_low[i], "id: u, rows_per_unit: 3, epsilon: 1", X, "  - total: x\n");
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "design.max_unit_weight: must be at least the largest weight of a row, 10"));
        tamis_plan_free(plan);
    }
}

/* The levels of one row are rounded each by itself, so that together they are above its weight: with the worst value, by so much
 * as the sensitivity has. */
static void rounding_of_levels(void **state)
{
    (void)state;
    tamis_plan *plan = plan_with("weights: {population: 100}, weight: w, max_weight: 47.3", "epsilon: 1",
                                 "{from: 0, to: 997, step: 1}", "  - {mean: x, by: g}\n");
    tmi_schedule s;
    tmi_query query;
    tables t = {&query};
    size_t looked = 0;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, NULL), TAMIS_OK);
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        double most = 0;
        if (!m->rounded || m->marginal.form != TMI_FULL || m->added < 3 || is_of_totals(m)) continue;
        for (int x = 0; x <= 997; x++) {
            const array_row row = {.x = x, .g = "a", .w = 47.3};
            double sum = 0;
            count(&t, &row, 1);
            for (size_t k = 0; k < m->numbers; k++) sum += (double)tmi_query_truth(&query, &s, i, k);
            most = fmax(most, sum);
        }
        const double weight = ldexp(tmi_number_nearest(m->laws[0].most), -m->shift);
        if (!(most > weight) || !(2 * most <= (double)m->laws[0].l1) || !((double)m->laws[0].l1 <= 2 * (weight + 8)))
            fail_msg("%.17g of %.17g, sensitivity %lld", most, weight, (long long)m->laws[0].l1);
        looked++;
    }
    assert_true(looked > 0);
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* The same of all rows of a unit, whose weights add up to their bound: each of them is rounded. */
static void rounding_of_units(void **state)
{
    (void)state;
    tamis_plan *plan = plan_with("weights: {}, weight: w, max_weight: 47.3, max_unit_weight: 3571965027/16777216",
                                 "id: u, rows_per_unit: 9, epsilon: 1", "{from: 0, to: 997, step: 1}",
                                 "  - {variance: x, by: g}\n");
    tmi_schedule s;
    tmi_query query;
    tables t = {&query};
    size_t looked = 0;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, NULL), TAMIS_OK);
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        double most = 0;
        if (!m->rounded || m->marginal.form != TMI_FULL || m->added < 3 || is_of_totals(m)) continue;
        for (int x = 0; x <= 997; x++) {
            array_row rows[9];
            double sum = 0;
            for (size_t r = 0; r < 9; r++) rows[r] = (array_row){.x = x, .g = "a", .w = 396885003.0 / 16777216, .u = "1"};
            count(&t, rows, 9);
            for (size_t k = 0; k < m->numbers; k++) sum += (double)tmi_query_truth(&query, &s, i, k);
            most = fmax(most, sum);
        }
        /* nine weights of 396885003 points add up to the bound */
        const double all = ldexp(tmi_number_nearest(m->laws[0].most), -m->shift) * 3571965027 / 16777216 / 47.3;
        if (!(most > all + 5) || !(2 * most <= (double)m->laws[0].l1) || !((double)m->laws[0].l1 <= 2 * (all + 9 * 8)))
            fail_msg("%.17g of %.17g, sensitivity %lld", most, all, (long long)m->laws[0].l1);
        looked++;
    }
    assert_true(looked > 0);
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* What a table is for: the levels of one row, all together and in their unit, are its weight, whatever its answers and also if
 * they are missing; in tables for variances, w (w - 1), or w^2 where only weights are declared, of bounded weights or of all, or
 * (1 - n/N) w^2 n/(n-1) of its stratum. */
static void a_row_adds_its_weight(void **state)
{
    (void)state;
    static const double some[] = {0.001, 1, 7.3, 49.9, 50, 1e6}, chances[] = {1e-9, 0.02, 0.3, 1};
    static const struct {
        const char *design, *x;
        const double *weights;
        size_t count;
        bool inverse;
        double population[2]; /* of the strata, two of each are drawn; 0: rows bring their weights, at most 50 */
    } cases[] = {{"weights: {population: 100}, weight: w, max_weight: 50", X, some, 6, false, {0}},
                 {"poisson: {probability: w}, max_weight: 50", X, chances, 4, true, {0}},
                 {STRATIFIED("900", "6"), X, some, 1, false, {900, 6}},
                 {STRATIFIED("9", "7"), X, some, 1, false, {9, 7}},
                 {STRATIFIED("9", "7"), "{from: 10, to: {p: 30, q: 14}, step: 0.5}", some, 1, false, {9, 7}},
                 {STRATIFIED("900", "6"), "{from: 10, to: {p: 30, q: 14}, step: 0.5}", some, 1, false, {900, 6}}};
    size_t looked[TMI_WEIGHTINGS] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_with(cases[i].design, "epsilon: 1", cases[i].x, "  - {mean: x, by: g}\n  - {total: x}\n");
        tmi_schedule s;
        tmi_query query;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
        assert_int_equal(tmi_query_make_room(&query, NULL), TAMIS_OK);
        for (size_t r = 0; r < cases[i].count * 2 * sizeof xs / sizeof *xs; r++) {
            const size_t stratum = r % 2;
            const array_row row = {.x = xs[r / 2 % (sizeof xs / sizeof *xs)],
                                   .g = "a",
                                   .s = stratum ? "q" : "p",
                                   .w = cases[i].weights[r / 2 / (sizeof xs / sizeof *xs)]};
            const double N = cases[i].population[stratum];
            const double w = N > 0 ? N / 2 : fmin(cases[i].inverse ? 1 / row.w : row.w, 50);
            const double bound = N > 0 ? w : fmin(w, (double)s.sampling.most_clamped * tmi_number_nearest(s.sampling.step));
            const double less = cases[i].inverse ? 1 : 0, a = N > 0 ? (1 - 2 / N) * w * w * 2 : fmax(w * (w - less), 0),
                         bounded = N > 0 ? a : fmax(bound * (bound - less), 0);
            count(&(tables){&query}, &row, 1);
            for (size_t k = 0; k < s.measurement_count; k++) {
                const tmi_measurement *m = &s.measurements[k];
                double sum = 0;
                if (m->marginal.form != TMI_FULL) continue;
                for (size_t n = 0; n < numbers_of(m); n++) sum += truth_of(&query, &s, k, n);
                sum *= tmi_measurement_unit(m, &s.workload, stratum);
                const double all[TMI_WEIGHTINGS] = {1, w, 1, a, bounded, NAN, bound, bounded},
                             wanted = all[m->marginal.weighting];
                looked[m->marginal.weighting]++;
                if (fabs(sum - wanted) > 1e-6 * (wanted + 50))
                    fail_msg("%s: x %g, w %g, stratum %s: family %d adds %g, not %g", cases[i].design, row.x, row.w, row.s,
                             (int)m->marginal.weighting, sum, wanted);
            }
        }
        tmi_query_clear(&query);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
    assert_true(looked[TMI_UNWEIGHTED] > 0 && looked[TMI_WEIGHTED] > 0 && looked[TMI_SPREAD] > 0);
}

/* Each cluster of a list has the place that was drawn for it, and no two have the same. */
static void listed_clusters_have_places_of_their_own(void **state)
{
    (void)state;
    static const char *const lists[] = {"s,c\np,1\np,2\nq,1\nq,2\n", "s,c\nq,2\nq,1\np,1\np,2\np,3\n",
                                        "s,c\np,1\np,2\nq,3\nq,4\n", "s,c\np,1\np,2\np,3\np,4\nq,4\nq,1\nq,7\nq,9\n"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char file[64], design[200];
        tmi_schedule s;
        tmi_query query;
        tamis_rng *rng;
        int32_t drawn[16], found[16];
        size_t count = 0, rows = 0;
        write_list(file, sizeof file, lists[i]);
        snprintf(design, sizeof design, "weights: {strata: s, cluster: c, psus: '%s'}, weight: w, max_weight: 50", file);
        tamis_plan *plan = plan_with(design, "epsilon: 1", X, "  - {total: x}\n");
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
        bits_from_seed(15);
        assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
        assert_int_equal(tmi_query_draw(&query, rng, NULL), TAMIS_OK);
        for (size_t h = 0; h < query.psus.strata; h++)
            for (int64_t k = 0; k < s.places.psus[h]; k++) drawn[count++] = query.psus.cell_of[h][k];
        for (const char *line = strchr(lists[i], '\n') + 1; *line; line = strchr(line, '\n') + 1, rows++) {
            const char stratum[] = {line[0], '\0'}, label[] = {line[2], '\0'};
            const array_row row = {.s = stratum, .c = label};
            const array_engine engine = array_engine_of(&row, 1);
            found[rows] = (int32_t)array_value(&engine, query.units, &row);
        }
        assert_int_equal(rows, count);
        for (size_t k = 0; k < count; k++) { /* the same places, each as often */
            int wanted = 0, have = 0;
            for (size_t j = 0; j < count; j++) wanted += drawn[j] == drawn[k], have += found[j] == drawn[k];
            if (wanted != have) fail_msg("%s: place %d is taken %d times, not %d", lists[i], (int)drawn[k], have, wanted);
        }
        tamis_rng_free(rng);
        tmi_query_clear(&query);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
        assert_int_equal(unlink(file), 0);
    }
}

/* Noisy numbers are clamped so far out that all rows of a file fit below what is cut off: as many as the design draws, times
 * those that are kept of each unit. */
static void limits_leave_room_for_all_rows(void **state)
{
    (void)state;
    static const struct {
        const char *design;
        int64_t drawn;
    } cases[] = {{"srs: {population: 2000000000, sample: 1000000000}", 1000000000},
                 {"bernoulli: {rate: 1/10, population: 30000000}", 30000000},
                 {"cluster: {by: c, population: 900000, sample: 40000, smallest: 1, largest: 900}", 40000 * 900},
                 {STRATIFIED("900", "6"), 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int rows = 1; rows <= 3; rows++) {
            char privacy[100];
            snprintf(privacy, sizeof privacy, "epsilon: 1, id: u, rows_per_unit: %d", rows);
            tamis_plan *plan = plan_with(cases[i].design, privacy, X, "  - {total: x}\n  - {mean: y, by: g}\n");
            tmi_schedule s;
            assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
            for (size_t k = 0; k < s.measurement_count; k++) {
                const tmi_measurement *m = &s.measurements[k];
                if (tmi_method_of(m->marginal.weighting)) continue;
                const tmi_int128 all = (tmi_int128)cases[i].drawn * rows * m->high;
                assert_true(m->limit > 0 && all + m->limit <= TAMIS_NOISE_MAX);
            }
            tmi_schedule_clear(&s);
            tamis_plan_free(plan);
        }
}

/* A certificate's tables must be enough: all of them are, none of them can be left out here. */
static void a_table_that_is_left_out_is_missed(void **state)
{
    (void)state;
    tamis_plan *plan = plan_with("srs: {population: 9, sample: 3}", "epsilon: 1", X,
                                 "  - {mean: x, by: g}\n  - {count: units, by: h}\n");
    tmi_schedule s, again;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_true(s.measurement_count == 2);
    tmi_marginal marginals[2] = {s.measurements[0].marginal, s.measurements[1].marginal};
    tamis_number *parts[2] = {s.measurements[0].part, s.measurements[1].part};
    tmi_certified_tables certified = {.shared_classes = s.workload.shared_classes,
                                      .marginals = marginals,
                                      .parts = parts,
                                      .count = 2};
    assert_int_equal(tmi_schedule_make(&again, plan, &certified, NULL), TAMIS_OK);
    tmi_schedule_clear(&again);
    parts[0] = s.spent;
    certified.count = 1;
    for (size_t k = 0; k < 2; k++) {
        tamis_error err = {0};
        marginals[0] = s.measurements[k].marginal;
        assert_int_equal(tmi_schedule_make(&again, plan, &certified, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "does not follow from the tables"));
    }
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* Labels that begin again in each stratum are different clusters. Every draw has another key. */
static void labels_count_in_their_stratum(void **state)
{
    (void)state;
    static const char *const designs[] = {"weights: {strata: s, cluster: c}, weight: w, max_weight: 50",
                                          "weights: {cluster: c}, weight: w, max_weight: 50"};
    for (size_t d = 0; d < 2; d++) {
        tamis_plan *plan = plan_with(designs[d], "epsilon: 1", X, "  - total: x\n");
        tmi_schedule s;
        tmi_query query;
        tamis_rng *rng;
        array_engine engine = array_engine_of(two, 2);
        unsigned char first[TMI_KEY_BYTES];
        size_t apart = 0;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
        bits_from_seed(12);
        assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
        for (size_t i = 0; i < 100; i++) {
            const array_row here = {.s = "p", .c = "1"}, there = {.s = "q", .c = "1"};
            assert_int_equal(tmi_psu_slots_draw(&query.psus, rng, NULL), TAMIS_OK);
            if (i == 0) memcpy(first, query.psus.key, sizeof first);
            else assert_true(memcmp(first, query.psus.key, sizeof first) != 0);
            apart += array_value(&engine, query.units, &here) != array_value(&engine, query.units, &there);
        }
        assert_true(d == 0 ? apart > 80 : apart == 0); /* 255/256 of them, on the average */
        tamis_rng_free(rng);
        tmi_query_clear(&query);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* Strata that are protected: one record becomes any other one, of any stratum, and the weights of the three others move too. The
 * rows add up by themselves, so each is counted alone. Attained, but where floors of a shift lie between. */
static void strata_that_are_protected(void **state)
{
    (void)state;
    static const double x[] = {10, 30, NAN}, y[] = {-2, 3, NAN};
    array_row list[2 * 3 * 3 * 2 * 2];
    size_t records = 0;
    for (size_t i = 0; i < 9; i++)
        for (size_t g = 0; g < 2; g++)
            for (size_t h = 0; h < 2; h++)
                for (size_t s = 0; s < 2; s++) /* neighbours in the list differ in their stratum alone */
                    list[records++] = (array_row){.x = x[i % 3], .y = y[i / 3], .g = gs[g], .h = hs[h], .s = s ? "q" : "p"};
    tamis_plan *plan = plan_with(
        "stratified: {by: s, within: srs, strata: {p: {population: 7, sample: 2}, q: {population: 9, sample: 2}}}",
        "protect: population, given: nothing, design_variables: protected, epsilon: 1", X,
        "  - {count: units, by: g}\n  - total: x\n  - {mean: y, by: g}\n  - {ratio: {of: x, to: y}}\n");
    tmi_schedule s;
    tmi_query query;
    tamis_error err = {0};
    if (tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, NULL), TAMIS_OK);
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        const size_t numbers = numbers_of(m);
        const double most = is_of_totals(m) ? (double)m->moved : (double)m->laws[0].l1;
        double *adds = calloc(records * numbers, sizeof *adds), l1 = 0, l2 = 0;
        for (size_t r = 0; r < records; r++) {
            count(&(tables){&query}, &list[r], 1);
            for (size_t k = 0; k < numbers; k++) adds[r * numbers + k] = truth_of(&query, &s, i, k);
        }
        for (size_t p = 0; p < records; p++)
            for (size_t q = 0; q < records; q++)
                for (size_t other = 0; other < records; other++) { /* three such ones, whose stratum changes */
                    double sum = 0, squares = 0;
                    for (size_t k = 0; k < numbers; k++) {
                        double change = adds[p * numbers + k] - adds[q * numbers + k] +
                                        3 * (adds[other * numbers + k] - adds[(other ^ 1) * numbers + k]);
                        sum += fabs(change);
                        squares += change * change;
                    }
                    l1 = fmax(l1, sum / most);
                    l2 = fmax(l2, squares / (is_of_totals(m) ? most * most : tmi_number_nearest(m->laws[0].l2_squared)));
                }
        /* a number by itself has its largest L2 by the bound of its L1, which its squares do not attain; of the second stage
         * only the L1 is used */
        const double least = is_of_totals(m) ? 0 : m->marginal.form == TMI_FULL ? 1 - 1e-3 : 0.6;
        if (l1 > 1 + 1e-12 || l2 > 1 + 1e-12 || l1 < 1 - 1e-3 || l2 < least)
            fail_msg("measurement %zu: L1 %.15g, L2 squared %.15g of the sensitivity", i, l1, l2);
        free(adds);
    }
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* A protected stratum is no cell, neither of a statistic's own nor where measuring by strata would make the noise smaller. */
static void protected_strata_are_no_cells(void **state)
{
    (void)state;
    static const char far[] = STRATIFIED("900", "6");
    static const char hidden[] = "protect: population, given: nothing, design_variables: protected, epsilon: 1";
    static const char *const statistics[] = {"  - {total: x}\n  - {mean: y, by: g}\n", "  - {count: units, by: s}\n",
                                             "  - {total: x, by: [g, s]}\n"};
    for (size_t i = 0; i < 3; i++) {
        tamis_plan *plan = plan_with(far, hidden, X, statistics[i]);
        tmi_schedule s;
        const tamis_status status = tmi_schedule_make(&s, plan, NULL, NULL);
        assert_int_equal(status, i == 0 ? TAMIS_OK : TAMIS_REFUSED);
        for (size_t m = 0; status == TAMIS_OK && m < s.measurement_count; m++) assert_int_equal(s.measurements[m].strata, 1);
        for (size_t c = 0; status == TAMIS_OK && c < s.workload.classes_count; c++)
            assert_ptr_not_equal(s.workload.classes[c].column, plan->design.by);
        if (status == TAMIS_OK) tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* A weight that moves is rounded with what it multiplies: the difference of two roundings may be the next larger integer. Here
 * the weights are 2^29 and 2^29 + 1, a value of 4001 makes a product of 41 bits, the last bits are shifted away, and the three
 * other records may move by more than the difference of the weights alone. */
static void moved_weights_are_rounded_up(void **state)
{
    (void)state;
    tamis_plan *plan = plan_with(STRATIFIED("1073741826", "1073741824"),
                                 "protect: population, given: nothing, design_variables: protected, epsilon: 1",
                                 "{from: 0, to: 4001, step: 1}", "  - total: x\n");
    tmi_schedule s;
    tmi_query query;
    bool above = false;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, NULL), TAMIS_OK);
    const tmi_measurement *m = &s.measurements[0];
    assert_true(m->shift > 0 && m->rounded && m->numbers <= 2 && m->marginal.weighting == TMI_WEIGHTED);
    const double steps = ldexp(
        m->marginal.form == TMI_FULL ? 1 : tmi_form_steps(m->marginal.form, &s.workload.axes[m->marginal.axes[0]]), -m->shift);
    for (int x = 3901; x <= 4001; x++) { /* one record goes, three change their weight */
        double change = 0;
        const array_row before[] = {{.x = 4001, .s = "p"}, {.x = x, .s = "p"}, {.x = x, .s = "p"}, {.x = x, .s = "p"}};
        const array_row after[] = {{.x = NAN, .s = NULL}, {.x = x, .s = "q"}, {.x = x, .s = "q"}, {.x = x, .s = "q"}};
        tmi_int128 was[2] = {0};
        count(&(tables){&query}, before, 4);
        for (size_t k = 0; k < m->numbers; k++) was[k] = tmi_query_truth(&query, &s, 0, k);
        count(&(tables){&query}, after, 4);
        for (size_t k = 0; k < m->numbers; k++) change += fabs((double)(was[k] - tmi_query_truth(&query, &s, 0, k)));
        assert_true(change <= (double)m->laws[0].l1);
        above = above || change > steps * (536870913.0 * 4001 + 3.0 * x);
    }
    assert_true(above); /* without the rounding of both products the sensitivity would be too small */
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* A value that is never missing is still left out by a condition, a group, another column, or a size that is not fixed. */
static void complete_values_may_be_left_out_all_the_same(void **state)
{
    (void)state;
    static const char *const complete[] = {"{from: 90, to: 100, step: 1, missing: 95}",
                                           "{from: 90, to: 100, step: 1, missing: none}"};
    static const char srs[] = "srs: {population: 20, sample: 2}";
    static const struct {
        const char *design, *privacy, *statistics;
    } cases[] = {{srs, "epsilon: 1", "  - total: x\n"},
                 {srs, "epsilon: 1", "  - {total: x, where: {h: u}}\n"},
                 {srs, "epsilon: 1", "  - {total: x, by: g}\n"},
                 {srs, "epsilon: 1", "  - {ratio: {of: x, to: y}}\n"},
                 {srs, "epsilon: 1", "  - {mean: x, where: {y: {from: 0}}}\n"},
                 {"bernoulli: {rate: 1/10, population: 20}", "epsilon: 1", "  - total: x\n"},
                 {"srs_with_replacement: {population: 50, sample: 2}", "id: u, rows_per_unit: 1, epsilon: 1", "  - total: x\n"}};
    static const array_row units[] = {{.x = 10, .g = "a", .h = "u", .s = "p", .c = "1", .u = "1"},
                                      {.x = 20, .g = "b", .h = "w", .s = "q", .c = "2", .u = "2"}};
    for (size_t c = 0; c < sizeof complete / sizeof *complete; c++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            check(cases[i].design, cases[i].privacy, complete[c], cases[i].statistics, units, 2, ones, 1);
        check(STRATIFIED("9", "7"), "epsilon: 1", complete[c], "  - {total: x, where: {h: u}}\n", four, 4, ones, 1);
    }
}

/* All arrangements of clusters are equally likely: that is what their sensitivity rests on. Of three clusters there are six; 6000
 * draws of a fair die of six faces show a face fewer than 750 or more than 1250 times with a probability below 1e-15. */
static void clusters_go_to_slots_at_random(void **state)
{
    (void)state;
    tamis_plan *plan = plan_with("cluster: {by: c, population: 9, sample: 3, smallest: 1, largest: 4}", "epsilon: 1", X,
                                 "  - {total: x}\n");
    tmi_schedule s;
    tmi_query query;
    tamis_rng *rng;
    int seen[27] = {0}, faces = 0;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make(&query, &s, NULL), TAMIS_OK);
    bits_from_seed(13);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    for (int i = 0; i < 6000; i++) {
        const int32_t *cell = query.psus.cell_of[0];
        assert_int_equal(tmi_query_draw(&query, rng, NULL), TAMIS_OK);
        assert_true(cell[0] != cell[1] && cell[1] != cell[2] && cell[0] != cell[2]);
        seen[9 * cell[0] + 3 * cell[1] + cell[2]]++;
    }
    for (size_t i = 0; i < 27; i++) {
        if (seen[i] == 0) continue;
        assert_true(seen[i] > 750 && seen[i] < 1250);
        faces++;
    }
    assert_int_equal(faces, 6);
    tamis_rng_free(rng);
    tmi_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* A unit whose rows are bounded may bring one more, of no stratum: if that is what is kept, the unit adds nothing. */
static void a_unit_may_be_kept_without_its_stratum(void **state)
{
    (void)state;
    static const array_row units[] = {{.x = 10, .s = "p", .u = "1"},
                                      {.x = 12, .s = "p", .u = "2"},
                                      {.x = 20, .s = "q", .u = "3"},
                                      {.x = 25, .s = "q", .u = "4"}};
    static const char *const privacy[] = {"epsilon: 1", "id: u, rows_per_unit: 1, epsilon: 1"};
    static const char *const statistics[] = {"  - total: x\n", "  - {total: x, by: s}\n", "  - {mean: x, by: s}\n",
                                             "  - {count: units, by: [s, g]}\n", "  - {mean: y, by: [g, s]}\n  - {total: x}\n"};
    for (size_t i = 0; i < 10; i++)
        check(STRATIFIED("9", "7"), privacy[i % 2], "{from: 10, to: 30, step: 1, missing: 10}", statistics[i / 2], units, 4, ones,
              1);
    check(STRATIFIED("9", "9"), privacy[1], "{from: 10, to: 30, step: 1, missing: 10}", statistics[2], units, 4, ones, 1);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(products_of_several_numbers),
        cmocka_unit_test(calibrated_to_the_total_of_a_number),
        cmocka_unit_test(simple_random_samples),
        cmocka_unit_test(respondents),
        cmocka_unit_test(strata),
        cmocka_unit_test(strata_lose_their_epsilons),
        cmocka_unit_test(recodes_of_strata),
        cmocka_unit_test(weights_of_rows),
        cmocka_unit_test(clusters),
        cmocka_unit_test(clusters_that_nobody_counted),
        cmocka_unit_test(weights_beyond_their_bounds),
        cmocka_unit_test(unequal_clusters),
        cmocka_unit_test(clusters_that_may_be_empty),
        cmocka_unit_test(nested_groups),
        cmocka_unit_test(clusters_of_a_list),
        cmocka_unit_test(rows_of_units_are_variance_units),
        cmocka_unit_test(weights_of_units),
        cmocka_unit_test(contributions_of_units),
        cmocka_unit_test(bounds_of_units),
        cmocka_unit_test(rounding_of_units),
        cmocka_unit_test(rounding_of_levels),
        cmocka_unit_test(a_row_adds_its_weight),
        cmocka_unit_test(listed_clusters_have_places_of_their_own),
        cmocka_unit_test(limits_leave_room_for_all_rows),
        cmocka_unit_test(a_table_that_is_left_out_is_missed),
        cmocka_unit_test(labels_count_in_their_stratum),
        cmocka_unit_test(strata_that_are_protected),
        cmocka_unit_test(protected_strata_are_no_cells),
        cmocka_unit_test(moved_weights_are_rounded_up),
        cmocka_unit_test(complete_values_may_be_left_out_all_the_same),
        cmocka_unit_test(clusters_go_to_slots_at_random),
        cmocka_unit_test(a_unit_may_be_kept_without_its_stratum),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
