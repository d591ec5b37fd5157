/* Standard errors that are measured in a second stage (schedule/standard_errors.h): what is released moves by no more than it
 * says, whatever the noisy tables came out as; and what is read from it is the textbook's standard error. */
#include "release/second_stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inference/error_term.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/release/array_engine.h"
#include "tests/test.h"

#define CLUSTERS 300
#define MOST_ROWS 960

static char list[64];

static int write_list(void **state)
{
    (void)state;
    snprintf(list, sizeof list, "/tmp/tamis-errors-%d.csv", (int)getpid());
    FILE *out = fopen(list, "w");
    if (!out) return -1;
    fputs("s,c\n", out);
    for (int k = 0; k < CLUSTERS; k++) fprintf(out, "%s,%d\n", k < CLUSTERS / 2 - 3 ? "p" : "q", k); /* both are odd */
    return fclose(out);
}

static int remove_list(void **state)
{
    (void)state;
    return unlink(list);
}

/* A survey, its question with everything drawn, and noisy tables. */
typedef struct scene {
    tamis_plan *plan;
    tmi_schedule s;
    tmi_query query;
    array_row rows[MOST_ROWS];
    char labels[CLUSTERS][8];
    size_t count;
    tmi_int128 **noisy;
    int64_t **none; /* noise */
    uint64_t seed;
} scene;

static uint64_t next(scene *c)
{
    c->seed = c->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return c->seed >> 33;
}

static array_row any_row(scene *c)
{
    static const double xs[] = {-100, 10, 15, 20, 25, 30, 1e9, NAN};
    static const char *const gs[] = {"a", "b", NULL};
    const size_t cluster = next(c) % CLUSTERS;
    return (array_row){.x = xs[next(c) % 8],
                       .y = (double)(next(c) % 6) - 2,
                       .g = gs[next(c) % 3],
                       .h = "u",
                       .w = (double)(next(c) % 60),
                       .s = cluster < CLUSTERS / 2 - 3 ? "p" : "q",
                       .c = c->labels[cluster],
                       .u = "1"};
}

static void count_rows(scene *c)
{
    array_engine engine = array_engine_of(c->rows, c->count);
    for (size_t i = 0; i < c->query.table_count; i++)
        memset(c->query.answers[i], 0,
               tmi_table_cells(&c->query.tables[i]) * c->query.tables[i].measure_count * sizeof(tmi_int128));
    assert_int_equal(engine.engine.aggregate(&engine.engine, c->query.answers, &c->query.request, NULL, NULL), TAMIS_OK);
}

static void scene_make_of(scene *c, const char *design, const char *privacy, const char *more, uint64_t seed)
{
    char text[2000];
    tamis_rng *rng;
    tamis_error err = {0};
    *c = (scene){.seed = seed, .count = MOST_ROWS / 2};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: {from: 10, to: 30, step: 0.5}\n  y: {from: -2, to: 3, step: 1%s}\n  g: {values: [a, b]}\n"
             "  h: {values: [u, v, w, i, j, k]}\nstatistics:\n  - {count: units, by: g}\n  - {mean: x, by: g}\n  - {total: y}\n  "
             "- {share: {g: a}}\n"
             "  - {ratio: {of: x, to: y}}\n%s",
             design, privacy, strstr(privacy, "rows_per_unit") ? ", unit_contribution: 300" : "", more);
    if (tamis_plan_read_text(&c->plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_schedule_make(&c->s, c->plan, NULL, NULL), TAMIS_OK);
    assert_true(c->s.places.layout.slots == (strstr(design, "cluster") ? CLUSTERS : 0));
    assert_int_equal(tmi_query_make(&c->query, &c->s, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&c->query, NULL), TAMIS_OK);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_draw(&c->query, rng, NULL), TAMIS_OK);
    tamis_rng_free(rng);
    for (size_t k = 0; k < CLUSTERS; k++) snprintf(c->labels[k], sizeof *c->labels, "%zu", k);
    for (size_t k = 0; k < c->count; k++) c->rows[k] = any_row(c);
    c->noisy = calloc(c->s.measurement_count, sizeof *c->noisy);
    c->none = calloc(c->s.measurement_count, sizeof *c->none);
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        c->noisy[i] = calloc(c->s.measurements[i].numbers, sizeof **c->noisy);
        c->none[i] = calloc(c->s.measurements[i].numbers, sizeof **c->none);
    }
}

static void scene_make_with(scene *c, const char *privacy, const char *more, uint64_t seed)
{
    char design[300];
    snprintf(design, sizeof design,
             "weights: {strata: s, cluster: c, psus: '%s', population: 12000}, weight: w, max_weight: 50, typical: {sample: %d}",
             list, MOST_ROWS / 2);
    scene_make_of(c, design, privacy, more, seed);
}

static void scene_make(scene *c, const char *privacy, uint64_t seed) { scene_make_with(c, privacy, "", seed); }

static void scene_clear(scene *c)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) free(c->noisy[i]), free(c->none[i]);
    free(c->noisy), free(c->none);
    tmi_query_clear(&c->query);
    tmi_schedule_clear(&c->s);
    tamis_plan_free(c->plan);
}

static bool is_error(const scene *c, size_t i) { return tmi_method_of(c->s.measurements[i].marginal.weighting) != NULL; }

/* The tables, times something and with noise: anything that may come out. */
static void set_tables(scene *c, int64_t times, uint64_t noise)
{
    count_rows(c);
    for (size_t i = 0; i < c->s.measurement_count; i++)
        for (size_t k = 0; k < c->s.measurements[i].numbers && !is_error(c, i); k++)
            c->noisy[i][k] = times * tmi_query_truth(&c->query, &c->s, i, k) + (noise ? (int64_t)(next(c) % noise) : 0);
}

static void set_errors(scene *c)
{
    count_rows(c);
    assert_int_equal(tmi_add_standard_errors(c->noisy, c->none, &c->query, &c->s, NULL), TAMIS_OK);
}

/* Distance of the standard errors from those that were kept, relative to the sensitivity: the largest over measurements. */
static double distance(const scene *c, tmi_int128 *const *kept)
{
    double most = 0;
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        double sum = 0;
        for (size_t k = 0; k < c->s.measurements[i].numbers && is_error(c, i); k++)
            sum += fabs((double)(c->noisy[i][k] - kept[i][k]));
        most = fmax(most, sum / TMI_ERROR_STEPS);
    }
    return most;
}

static tmi_int128 **keep(const scene *c)
{
    tmi_int128 **kept = calloc(c->s.measurement_count, sizeof *kept);
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const size_t size = c->s.measurements[i].numbers * sizeof **kept;
        kept[i] = malloc(size);
        memcpy(kept[i], c->noisy[i], size);
    }
    return kept;
}

static void drop(const scene *c, tmi_int128 **kept)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) free(kept[i]);
    free(kept);
}

/* A record is replaced by any other, in any cluster of the list or none, or it is gone. Two clusters have most of
 * the records, one with high values, the other with low ones: where a high value leaves the second for the first, a standard
 * error moves as far as it can. */
static void a_record_moves_them_by_no_more_than_the_steps(void **state)
{
    (void)state;
    static const struct {
        int64_t times;
        uint64_t noise;
    } tables[] = {{1, 0}, {0, 0}, {1, UINT64_C(1) << 30}, {-1, 0}, {100, 0}, {0, UINT64_C(1) << 45}};
    double worst = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        scene c;
        scene_make(&c, t == 0 ? "epsilon: 400" : "epsilon: 4", t + 1); /* of one block, and of several */
        for (size_t k = 0; k < c.count / 4; k++) {
            const bool first = k % 6 == 1;
            c.rows[k] = (array_row){.x = first ? 30 : 10,
                                    .y = first || k == 0 ? 3 : -2,
                                    .g = first || k == 0 ? "a" : "b",
                                    .h = "u",
                                    .w = 50,
                                    .s = first ? "p" : "q",
                                    .c = c.labels[first ? 5 : 200],
                                    .u = "1"};
        }
        for (size_t k = c.count / 4; k < c.count; k++) /* few have a: residuals of its share are far from 0 on one side alone */
            if (c.rows[k].g && c.rows[k].g[0] == 'a') c.rows[k].g = "b";
        set_tables(&c, tables[t].times, tables[t].noise);
        set_errors(&c);
        tmi_int128 **kept = keep(&c);
        for (int trial = 0; trial < 60; trial++) {
            const size_t row = trial % 4 == 0 ? 0 : trial % 3 ? next(&c) % (c.count / 4) : next(&c) % c.count;
            const array_row before = c.rows[row];
            c.rows[row] = any_row(&c);
            if (trial % 5 == 0) c.rows[row].w = 0;
            if (trial % 8 == 0) { /* from the cluster with negative values to the one with positive ones */
                c.rows[row] = before;
                c.rows[row].s = "p";
                c.rows[row].c = c.labels[5];
            }
            set_errors(&c);
            worst = fmax(worst, distance(&c, kept));
            c.rows[row] = before;
        }
        drop(&c, kept);
        scene_clear(&c);
    }
    if (worst > 1 || worst < 0.9) fail_msg("%.6g of the sensitivity", worst);
}

/* What a unit adds to the total of y is bounded by 300 in size. A household of three rows that adds so much takes the place of
 * one that subtracts as much, or comes from another cluster, and nothing else varies: the standard error moves as far as it can.
 */
static void contributions_of_units_move_them_by_no_more_than_the_steps(void **state)
{
    (void)state;
    enum { ROWS = 40, OWN = 3 };
    static char units[ROWS][8];
    static const double ys[] = {-2, 3, 0, NAN}, ws[] = {0, 10, 50, 1e6};
    double worst = 0;
    scene c;
    scene_make_with(&c, "epsilon: 400, id: u, rows_per_unit: 3", "", 21);
    c.count = ROWS;
    for (size_t k = 0; k < ROWS; k++) {
        snprintf(units[k], sizeof units[k], "%zu", k < OWN ? 0 : k);
        c.rows[k] = (array_row){.x = 10, .y = 3, .g = "a", .h = "u", .w = 50, .s = "p", .c = c.labels[5], .u = units[k]};
    }
    set_tables(&c, 1, 0);
    set_errors(&c);
    tmi_int128 **kept = keep(&c);
    for (int trial = 0; trial < 60; trial++) {
        const bool away = trial % 3 == 2;
        for (size_t k = 0; k < OWN; k++) {
            c.rows[k].y = trial == 0 ? -2 : ys[next(&c) % 4];
            c.rows[k].w = trial == 0 ? 50 : ws[next(&c) % 4];
            c.rows[k].c = c.labels[away ? 200 : 5];
            c.rows[k].s = away ? "q" : "p";
        }
        set_errors(&c);
        worst = fmax(worst, distance(&c, kept));
    }
    drop(&c, kept);
    scene_clear(&c);
    if (worst > 1 || worst < 0.9) fail_msg("%.6g of the sensitivity", worst);
}

/* At their true values and without noise they are the textbook's, of totals in the strata of the list. */
static void they_are_the_textbooks(void **state)
{
    (void)state;
    static const double y[] = {-2, 0.5, 3, 0}; /* of the levels: lowest, middle, highest, missing */
    scene c;
    tmi_inference inference;
    scene_make(&c, "epsilon: 400", 9); /* so much that one block is enough */
    set_tables(&c, 1, 0);
    set_errors(&c);
    assert_int_equal(tmi_inference_make(&inference, &c.s, c.noisy, NULL), TAMIS_OK);
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        if (!is_error(&c, i) || m->marginal.statistic != 2) continue;
        const double unit = tmi_measurement_unit(m, &c.s.workload, 0);
        double squares = 0;
        size_t slot = 0;
        assert_int_equal(m->levels, 4);
        for (size_t h = 0; h < c.s.places.layout.count; h++) {
            double totals[CLUSTERS], sum = 0;
            const size_t count = (size_t)c.s.places.layout.strata[h].slots;
            for (size_t k = 0; k < count; k++) {
                totals[k] = 0;
                for (size_t l = 0; l < m->levels; l++)
                    totals[k] += y[l] * unit * (double)tmi_query_total(&c.query, &c.s, i, slot + k, 0, l);
                sum += totals[k];
            }
            for (size_t k = 0; k < count; k++)
                squares += pow(totals[k] - sum / (double)count, 2) * (double)count / (double)(count - 1);
            slot += count;
        }
        tmi_error_term term;
        tmi_error_source source;
        assert_int_equal(tmi_error_source_make(&source, &inference, m, NULL), TAMIS_OK);
        assert_int_equal(tmi_error_term_make(&term, &source, 0, NULL), TAMIS_OK);
        assert_int_equal(term.grid.blocks, 1);
        const double ratio = term.step * (double)c.noisy[i][0] / sqrt(squares);
        if (!(ratio > 0.9995 && ratio < 1.0005)) fail_msg("%.6g of the standard error", ratio);
        tmi_error_term_clear(&term);
        tmi_error_source_clear(&source);
    }
    tmi_inference_clear(&inference);
    scene_clear(&c);
}

/* What is added up for a ratio, a mean, a share or a variance is a residual: at the true tables it adds up to nothing. */
static void residuals_add_up_to_nothing(void **state)
{
    (void)state;
    scene c;
    tmi_inference inference;
    int checked = 0;
    scene_make_with(&c, "epsilon: 4", "  - {variance: x}\n", 5);
    for (size_t k = 0; k < c.count; k++) c.rows[k].w = 2; /* no weight is clamped */
    set_tables(&c, 1, 0);
    assert_int_equal(tmi_inference_make(&inference, &c.s, c.noisy, NULL), TAMIS_OK);
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        tmi_error_source source;
        if (!is_error(&c, i) || tmi_is_sum(&c.plan->statistics[m->marginal.statistic])) continue;
        assert_int_equal(tmi_error_source_make(&source, &inference, m, NULL), TAMIS_OK);
        for (size_t g = 0; g < m->numbers; g++) {
            tmi_error_term term;
            double sum = 0, all = 0;
            assert_int_equal(tmi_error_term_make(&term, &source, g, NULL), TAMIS_OK);
            for (size_t slot = 0; slot < m->slots; slot++)
                for (size_t k = 0; k < m->cells * m->levels; k++) {
                    const double each = term.coefficients[k] *
                                        (double)tmi_query_total(&c.query, &c.s, i, slot, k / m->levels, k % m->levels);
                    sum += each;
                    all += fabs(each);
                }
            if (!(fabs(sum) < 1e-3 * all)) fail_msg("statistic %zu, number %zu: %g of %g", m->marginal.statistic, g, sum, all);
            checked++;
            tmi_error_term_clear(&term);
        }
        tmi_error_source_clear(&source);
    }
    assert_true(checked >= 5);
    tmi_inference_clear(&inference);
    scene_clear(&c);
}

/* Steps are never so coarse that rounding takes more than what is spared for it. */
static void a_step_is_some_totals(void **state)
{
    (void)state;
    scene c;
    scene_make(&c, "epsilon: 4", 3);
    const tmi_psu_layout *layout = &c.s.places.layout;
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        if (!is_error(&c, i)) continue;
        const tmi_error_moves moves = tmi_errors_moves(&c.s, m);
        const int64_t spare = tmi_psu_errors.spare(&moves, layout->slots);
        for (int64_t blocks = 1; blocks <= 8; blocks *= 2) {
            tmi_error_grid g = {.range = 2 << 16, .blocks = blocks};
            tmi_psu_errors.settle(&g, &moves, layout);
            /* coefficients are 2^16, and a record moves the table by half of `moved` in each of two places */
            const double gain = 2 * (double)tmi_one_slot_gain(layout, blocks) / (1 << TMI_GAIN_BITS),
                         totals = ldexp(ceil(gain * 0x1p15 * (double)moves.moved * (double)moves.overlap), -g.shift);
            assert_true(totals > 0x1p23 && totals <= 0x1p24);
            assert_true(g.divisor >= 8 * TMI_STANDARD_ERROR_STEP);
            /* a unit is in one number before and one after: its total, the mean and the root are rounded, and then S */
            const double rounding = (double)tmi_standard_error_rounding(layout, blocks);
            assert_true((double)spare >= 2 * (1 + (1.5 + 2 * rounding) / 8));
            assert_true(TMI_STANDARD_ERROR_STEP * totals <= (double)g.divisor * (double)(TMI_ERROR_STEPS - spare));
        }
    }
    for (int64_t moved = 1; moved < INT64_C(1) << 40; moved = 5 * moved + 2) { /* however few */
        tmi_error_grid g = {.range = 2 << 16, .blocks = 2};
        tmi_psu_errors.settle(&g, &(tmi_error_moves){.moved = moved, .overlap = 1, .touched = 2}, layout);
        const double gain = 2 * (double)tmi_one_slot_gain(layout, 2) / (1 << TMI_GAIN_BITS);
        const double totals = ldexp(ceil(gain * 0x1p15 * (double)moved), -g.shift);
        assert_true(totals > 0x1p23 && totals <= 0x1p24);
    }
    for (int64_t k = 0; k < 2000; k++) { /* a divisor is the next whole number: some are just large enough */
        const tmi_error_moves moves = {.moved = (INT64_C(1) << 30) + 123457 * k, .overlap = 1, .touched = 2};
        const int64_t spare = tmi_psu_errors.spare(&moves, layout->slots);
        tmi_error_grid g = {.range = 2 << 16, .blocks = 1};
        tmi_psu_errors.settle(&g, &moves, layout);
        const double gain = 2 * (double)tmi_one_slot_gain(layout, 1) / (1 << TMI_GAIN_BITS),
                     totals = ldexp(ceil(gain * 0x1p15 * (double)moves.moved), -g.shift);
        assert_true(TMI_STANDARD_ERROR_STEP * totals <= (double)g.divisor * (double)(TMI_ERROR_STEPS - spare));
        assert_true(TMI_STANDARD_ERROR_STEP * totals > (double)(g.divisor - 2) * (double)(TMI_ERROR_STEPS - spare));
    }
    scene_clear(&c);
}

/* Totals are rounded down, and count up to a largest size. */
static void totals_are_on_a_grid(void **state)
{
    (void)state;
    tmi_psu_stratum two = {2, 2, 0}; /* S is the difference of their totals, whose mean is 0 here */
    const tmi_psu_layout layout = {&two, 1, 2};
    const struct {
        tmi_int128 totals[2];
        int shift;
        int64_t size;
    } cases[] = {{{(tmi_int128)1 << 90, -((tmi_int128)1 << 90)}, 3, TMI_LARGEST_TOTAL}, {{-5, 6}, 1, 3}, {{5, -5}, -2, 20}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int64_t room[2];
        const tmi_error_grid g = {.blocks = 1, .shift = cases[k].shift, .divisor = 1};
        assert_true(tmi_psu_errors.value(cases[k].totals, room, &g, &layout) == 2 * cases[k].size * TMI_STANDARD_ERROR_STEP);
    }
}

/* ---- groups of clusters ---- */

#define FOR_CHANGES \
    "  - {mean: y, by: g, for_change: yes}\n  - {total: x, for_change: yes}\n  - {ratio: {of: y, to: x}, by: h, for_change: " \
    "yes}\n"

/* As above, with totals of groups, where a record that goes to another cluster moves two of them. */
static void a_record_moves_groups_by_no_more_than_the_steps(void **state)
{
    (void)state;
    double worst = 0;
    for (size_t t = 0; t < 4; t++) {
        scene c;
        size_t groups = 0;
        scene_make_with(&c, "epsilon: 4", FOR_CHANGES, t + 1);
        set_tables(&c, t == 3 ? 0 : 1, t == 2 ? UINT64_C(1) << 45 : 0);
        c.rows[0] = (array_row){.x = 30, .y = 3, .g = "a", .h = "u", .w = 60, .s = "p", .c = c.labels[8], .u = "1"};
        set_errors(&c);
        tmi_int128 **kept = keep(&c);
        for (int trial = 0; trial < 60; trial++) {
            const size_t row = trial % 2 ? 0 : next(&c) % c.count;
            const array_row before = c.rows[row];
            c.rows[row] = any_row(&c);
            if (trial % 3 == 0) c.rows[row].w = 60, c.rows[row].x = 30, c.rows[row].y = 3, c.rows[row].g = "a";
            set_errors(&c);
            for (size_t i = 0; i < c.s.measurement_count; i++) {
                const tmi_measurement *m = &c.s.measurements[i];
                double sum = 0;
                if (m->marginal.weighting != TMI_GROUP_TOTALS) continue;
                assert_int_equal(m->numbers, TMI_CHANGE_GROUPS * tmi_statistic_cells(&c.plan->statistics[m->marginal.statistic]));
                for (size_t k = 0; k < m->numbers; k++) sum += fabs((double)(c.noisy[i][k] - kept[i][k]));
                worst = fmax(worst, sum / TMI_ERROR_STEPS);
                groups++;
            }
            c.rows[row] = before;
        }
        assert_int_equal(groups, 3 * 60);
        drop(&c, kept);
        scene_clear(&c);
    }
    if (worst > 1 || worst < 0.9) fail_msg("%.6g of the sensitivity", worst);
}

/* Without noise they are the totals of their clusters, by hand from the rows: every cluster counts as its label says, in whatever
 * slot it is. */
static void groups_have_the_totals_of_their_clusters(void **state)
{
    (void)state;
    scene c;
    tmi_inference inference;
    size_t checked = 0;
    scene_make_with(&c, "epsilon: 4", FOR_CHANGES, 7);
    set_tables(&c, 1, 0);
    set_errors(&c);
    assert_int_equal(tmi_inference_make(&inference, &c.s, c.noisy, NULL), TAMIS_OK);
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        tmi_error_source source;
        tmi_error_term term;
        double groups[TMI_CHANGE_GROUPS] = {0}, largest = 0;
        if (m->marginal.weighting != TMI_GROUP_TOTALS || c.plan->statistics[m->marginal.statistic].kind != TMI_TOTAL) continue;
        assert_int_equal(tmi_error_source_make(&source, &inference, m, NULL), TAMIS_OK);
        assert_int_equal(tmi_error_term_make(&term, &source, 0, NULL), TAMIS_OK);
        for (size_t r = 0; r < c.count; r++) {
            const array_row *row = &c.rows[r];
            const double x = isnan(row->x) ? 0 : fmin(fmax(row->x, 10), 30),
                         most = (double)c.s.sampling.most_clamped * tmi_number_nearest(c.s.sampling.step);
            size_t psu = 0, at = 0;
            for (size_t h = 0; h < c.s.psus.facts.strata; at += (size_t)c.s.psus.facts.clusters[h++])
                for (size_t k = at; k < at + (size_t)c.s.psus.facts.clusters[h]; k++)
                    if (strcmp(c.s.psus.labels[c.s.psus.label_of[k]], row->c) == 0) psu = k;
            const tmi_slot_sign *sign = &c.s.places.signs[psu];
            if (sign->group >= 0) groups[sign->group] += sign->factor / 1024.0 * x * fmin(row->w, most);
        }
        for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++) largest = fmax(largest, fabs(groups[g]));
        for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++)
            if (!(fabs(groups[g] - term.step * (double)c.noisy[i][g]) < 2e-4 * largest))
                fail_msg("group %zu: %g instead of %g", g, term.step * (double)c.noisy[i][g], groups[g]);
        tmi_error_term_clear(&term);
        tmi_error_source_clear(&source);
        checked++;
    }
    assert_int_equal(checked, 1);
    tmi_inference_clear(&inference);
    scene_clear(&c);
}

static void memory_for_groups_may_fail(void **state)
{
    (void)state;
    scene c;
    scene_make_with(&c, "epsilon: 4", FOR_CHANGES, 7);
    set_tables(&c, 1, 0);
    EVERY_ALLOCATION_FAILS(tmi_add_standard_errors(c.noisy, c.none, &c.query, &c.s, NULL), {});
    tmi_schedule again;
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 8, tmi_schedule_make(&again, c.plan, NULL, NULL), { assert_null(again.places.signs); });
    assert_true(again.psus.facts.paired);
    tmi_schedule_clear(&again);
    scene_clear(&c);
}

/* ---- squares of units ---- */

static const char of_units[] = "weights: {population: 12000}, weight: w, max_weight: 100, typical: {sample: 480}";

/* Without clusters: any record is replaced by any other, or is gone, and the tables are anything that may come out. */
static void a_record_moves_squares_by_no_more_than_the_steps(void **state)
{
    (void)state;
    static const struct {
        int64_t times;
        uint64_t noise;
    } tables[] = {{1, 0}, {0, 0}, {1, UINT64_C(1) << 30}, {-1, 0}, {100, 0}, {0, UINT64_C(1) << 45}};
    double worst = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        scene c;
        scene_make_of(&c, of_units, "epsilon: 4", "  - {variance: x}\n  - {total: x, by: {y: [0, 2]}}\n", t + 1);
        assert_true(c.s.sampling.most_clamped < c.s.sampling.most);
        set_tables(&c, tables[t].times, tables[t].noise);
        c.rows[0] = (array_row){.x = 30, .y = 3, .g = "a", .h = "u", .w = 90, .s = "p", .c = c.labels[0], .u = "1"};
        set_errors(&c);
        tmi_int128 **kept = keep(&c);
        for (int trial = 0; trial < 80; trial++) {
            const size_t row = trial % 2 ? 0 : next(&c) % c.count;
            const array_row before = c.rows[row];
            c.rows[row] = any_row(&c);
            c.rows[row].w = trial % 5 == 0 ? 0 : trial % 3 == 0 ? c.rows[row].w : 1e6;
            set_errors(&c);
            worst = fmax(worst, distance(&c, kept));
            c.rows[row] = before;
        }
        drop(&c, kept);
        scene_clear(&c);
    }
    if (worst > 1 || worst < 0.9) fail_msg("%.6g of the sensitivity", worst);
}

/* ---- contrasts ---- */

#define CONTRASTS \
    "  - {difference: {mean: x, between: {g: [a, b]}}}\n  - {difference: {total: y, between: {g: [a, b]}}, by: {x: [20]}}\n" \
    "  - {quotient: {mean: x, between: {g: [b, a]}}}\n  - {contrast: {mean: y, by: h, weights: [1, 1, 1, -1, -1, -1]}}\n" \
    "  - {difference: {mean: x, minus: {mean: y}}}\n  - {difference: {share: {g: a}, minus: {share: {h: u}}}}\n" \
    "  - {difference: {ratio: {of: x, to: y}, between: {g: [a, b]}}}\n"

/* The largest distance of the standard errors of contrasts from those that were kept, relative to the sensitivity. */
static double contrast_distance(const scene *c, tmi_int128 *const *kept)
{
    double most = 0;
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const bool own = is_error(c, i) && c->plan->statistics[c->s.measurements[i].marginal.statistic].contrast;
        double sum = 0;
        for (size_t k = 0; own && k < c->s.measurements[i].numbers; k++) sum += fabs((double)(c->noisy[i][k] - kept[i][k]));
        most = fmax(most, sum / TMI_ERROR_STEPS);
    }
    return most;
}

/* The largest part of the sensitivity that a record used, of clusters or of units. */
static double part_that_a_record_moves(const char *statistics, bool units)
{
    static const struct {
        int64_t times;
        uint64_t noise;
    } tables[] = {{1, 0}, {0, 0}, {1, UINT64_C(1) << 30}, {-1, 0}, {100, 0}, {0, UINT64_C(1) << 45}};
    double worst = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        scene c;
        if (units) scene_make_of(&c, of_units, "epsilon: 4", statistics, t + 1);
        else scene_make_with(&c, t == 0 ? "epsilon: 400" : "epsilon: 4", statistics, t + 1);
        for (size_t k = 0; k < c.count / 4 && !units; k++) { /* two clusters with most of the records, far from each other */
            const bool first = k % 6 == 1;
            c.rows[k] = (array_row){.x = first ? 30 : 10,
                                    .y = first ? 3 : -2,
                                    .g = first ? "a" : "b",
                                    .h = first ? "u" : "k",
                                    .w = 50,
                                    .s = first ? "p" : "q",
                                    .c = c.labels[first ? 5 : 200],
                                    .u = "1"};
        }
        set_tables(&c, tables[t].times, tables[t].noise);
        c.rows[0] = (array_row){.x = 30, .y = 3, .g = "a", .h = "u", .w = 90, .s = "p", .c = c.labels[5], .u = "1"};
        set_errors(&c);
        tmi_int128 **kept = keep(&c);
        for (int trial = 0; trial < 60; trial++) {
            const size_t row = trial % 2 ? 0 : next(&c) % (c.count / (trial % 3 ? 4 : 1));
            const array_row before = c.rows[row];
            c.rows[row] = any_row(&c);
            c.rows[row].w = trial % 5 == 0 ? 0 : trial % 3 == 0 ? c.rows[row].w : 1e6;
            if (trial % 8 == 0) {
                c.rows[row] = before;
                c.rows[row].s = "p";
                c.rows[row].c = c.labels[5];
            }
            set_errors(&c);
            worst = fmax(worst, contrast_distance(&c, kept));
            c.rows[row] = before;
        }
        drop(&c, kept);
        scene_clear(&c);
    }
    return worst;
}

/* The linearised variable of a contrast has all of its numbers in it, which no other measurement has: a record that leaves one
 * group for the other moves both. */
static void a_record_moves_contrasts_by_no_more_than_the_steps(void **state)
{
    (void)state;
    for (int units = 0; units < 2; units++) {
        const double worst = part_that_a_record_moves(CONTRASTS, units);
        if (worst > 1 || worst < 0.5) fail_msg("units %d: %.6g of the sensitivity", units, worst);
        print_message("# units %d: %.3g of the sensitivity\n", units, worst);
    }
}

/* A row is in all coefficients of a model at once. Its overlap counts each of them as if its own coefficients were the largest
 * where the row is, and a record may leave one place and enter another: half of that is attained, four times what one number
 * may move by. */
static void a_record_moves_models_by_no_more_than_the_steps(void **state)
{
    (void)state;
#define CROSSED(more) "  - {regression: {of: y, on: [g, {x: [20]}], interactions: [[g, x]]}" more "}\n"
    static const char models[] = /* one of them compares with the smallest cell, where all four coefficients are largest */
        CROSSED("") CROSSED(", baseline: {g: b}") CROSSED(", baseline: {x: '[20,30]'}")
            CROSSED(", baseline: {g: b, x: '[20,30]'}");
    for (int units = 0; units < 2; units++) {
        const double worst = part_that_a_record_moves(models, units);
        if (worst > 1 || worst <= (units ? 0.26 : 0.2)) fail_msg("units %d: %.6g of the sensitivity", units, worst);
        print_message("# units %d: %.3g of the sensitivity\n", units, worst);
    }
}

/* The linearised variable of a slope is quadratic in its predictor: squares of it are read from a table that has the predictor
 * twice, and their range is that of its control points, which rows may not reach. */
static void a_record_moves_lines_by_no_more_than_the_steps(void **state)
{
    (void)state;
    static const char lines[] = "  - {regression: {of: y, on: [x]}}\n  - {regression: {of: y, on: [x, g]}}\n"
                                "  - {correlation: [x, y]}\n";
    for (int units = 0; units < 2; units++) {
        const double worst = part_that_a_record_moves(lines, units);
        if (worst > 1 || worst <= 0.1) fail_msg("units %d: %.6g of the sensitivity", units, worst);
        print_message("# units %d: %.3g of the sensitivity\n", units, worst);
    }
}

/* ---- calibrated groups ---- */

/* What calibration explains is subtracted in all groups, so that a record moves all of them: together by no more than the steps,
 * whatever the tables are, of clusters and of units. */
static void move_calibrated(const char *more)
{
    static const struct {
        int64_t times;
        uint64_t noise;
    } tables[] = {{1, 0}, {1, UINT64_C(1) << 30}, {100, 0}, {0, UINT64_C(1) << 45}};
    static const char *const hs[] = {"u", "v", "w", "i", "j", "k"};
    double worst[2] = {0, 0};
    for (size_t t = 0; t < 8; t++) {
        scene c;
        if (t % 2) scene_make_of(&c, of_units, "epsilon: 4", more, t + 1);
        else scene_make_with(&c, "epsilon: 400", more, t + 1);
        for (size_t k = 0; k < c.count; k++) {
            c.rows[k].h = k < c.count / 4 && k % 2 ? "u" : hs[next(&c) % 6];
            if (!c.rows[k].g) c.rows[k].g = "b";
            if (k >= c.count / 4) continue; /* in two clusters: each group is nearly all in one of them */
            c.rows[k].s = k % 2 ? "p" : "q";
            c.rows[k].c = c.labels[k % 2 ? 5 : 200];
            c.rows[k].w = 50;
        }
        set_tables(&c, tables[t / 2].times, tables[t / 2].noise);
        set_errors(&c);
        tmi_int128 **kept = keep(&c);
        for (int trial = 0; trial < 60; trial++) {
            const size_t row = trial % 2 ? 0 : next(&c) % c.count;
            const array_row before = c.rows[row];
            c.rows[row] = any_row(&c);
            c.rows[row].h = hs[next(&c) % 6];
            c.rows[row].w = trial % 5 == 0 ? 0 : trial % 3 == 0 ? c.rows[row].w : 1e6;
            if (trial % 4 < 2) c.rows[row].s = "p", c.rows[row].c = c.labels[5];
            set_errors(&c);
            worst[t % 2] = fmax(worst[t % 2], distance(&c, kept));
            c.rows[row] = before;
        }
        drop(&c, kept);
        scene_clear(&c);
    }
    for (size_t k = 0; k < 2; k++)
        if (worst[k] > 1 || worst[k] < 0.4) fail_msg("%.6g of the sensitivity, %s", worst[k], k ? "of units" : "of clusters");
}

/* With totals of a number factors and what is explained are functions of it, and a unit's squares have it twice. */
static void a_record_moves_calibrated_groups_by_no_more_than_the_steps(void **state)
{
    (void)state;
    move_calibrated("  - {total: x, by: h}\n  - {table: [g, h]}\n"
                    "calibrate: {to: [{count: units, by: g, totals: [7000, 5000]}]}\n");
    move_calibrated("  - {total: x, by: h}\n  - {total: y, by: [g, h]}\n"
                    "calibrate: {to: [{count: units, by: g, totals: [7000, 5000]}, {total: y, totals: 6000}]}\n");
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(a_record_moves_them_by_no_more_than_the_steps),
                                       cmocka_unit_test(contributions_of_units_move_them_by_no_more_than_the_steps),
                                       cmocka_unit_test(they_are_the_textbooks),
                                       cmocka_unit_test(residuals_add_up_to_nothing),
                                       cmocka_unit_test(a_step_is_some_totals),
                                       cmocka_unit_test(a_record_moves_groups_by_no_more_than_the_steps),
                                       cmocka_unit_test(groups_have_the_totals_of_their_clusters),
                                       cmocka_unit_test(memory_for_groups_may_fail),
                                       cmocka_unit_test(totals_are_on_a_grid),
                                       cmocka_unit_test(a_record_moves_squares_by_no_more_than_the_steps),
                                       cmocka_unit_test(a_record_moves_contrasts_by_no_more_than_the_steps),
                                       cmocka_unit_test(a_record_moves_models_by_no_more_than_the_steps),
                                       cmocka_unit_test(a_record_moves_lines_by_no_more_than_the_steps),
                                       cmocka_unit_test(a_record_moves_calibrated_groups_by_no_more_than_the_steps)};
    return cmocka_run_group_tests(cases, write_list, remove_list);
}
