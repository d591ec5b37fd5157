/* Squared differences of pairs of clusters (schedule/clusters/paired.h): what is released moves by no more than it
 * says, whatever the noisy tables came out as; and what is read from it is the variance. */
#include "release/squares.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inference/pair_term.h"
#include "num/number.h"
#include "tests/release/array_engine.h"
#include "tests/test.h"

#define CLUSTERS 300
#define MOST_ROWS 960

static char list[64];

static int write_list(void **state)
{
    (void)state;
    snprintf(list, sizeof list, "/tmp/tamis-squares-%d.csv", (int)getpid());
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
    tmi_asking asking;
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
    for (size_t i = 0; i < c->asking.table_count; i++)
        memset(c->asking.answers[i], 0,
               tmi_table_cells(&c->asking.tables[i]) * c->asking.tables[i].measure_count * sizeof(tmi_int128));
    assert_int_equal(engine.engine.aggregate(&engine.engine, c->asking.answers, &c->asking.request, NULL, NULL), TAMIS_OK);
}

static void scene_make_of(scene *c, const char *design, const char *privacy, const char *more, uint64_t seed)
{
    char text[2000];
    tamis_rng *rng;
    tamis_error err = {0};
    *c = (scene){.seed = seed, .count = MOST_ROWS / 2};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: {from: 10, to: 30, step: 0.5}\n  y: {from: -2, to: 3, step: 1}\n  g: {values: [a, b]}\n"
             "  h: {values: [u, v, w, i, j, k]}\nstatistics:\n  - {count: units, by: g}\n  - {mean: x, by: g}\n  - {total: y}\n  "
             "- {share: {g: a}}\n"
             "  - {ratio: {of: x, to: y}}\n%s",
             design, privacy, more);
    if (tamis_plan_read_text(&c->plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_schedule_make(&c->s, c->plan, NULL, NULL), TAMIS_OK);
    assert_true(c->s.squared);
    assert_int_equal(tmi_asking_make(&c->asking, &c->s, NULL), TAMIS_OK);
    assert_int_equal(tmi_asking_make_room(&c->asking, NULL), TAMIS_OK);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_asking_draw(&c->asking, rng, NULL), TAMIS_OK);
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
    tmi_asking_clear(&c->asking);
    tmi_schedule_clear(&c->s);
    tamis_plan_free(c->plan);
}

static bool is_squares(const scene *c, size_t i) { return c->s.measurements[i].shape.family == TMI_PAIRED; }

/* The tables, times something and with noise: anything that may come out. */
static void set_tables(scene *c, int64_t times, uint64_t noise)
{
    count_rows(c);
    for (size_t i = 0; i < c->s.measurement_count; i++)
        for (size_t k = 0; k < c->s.measurements[i].numbers && !is_squares(c, i); k++)
            c->noisy[i][k] = times * tmi_asking_truth(&c->asking, &c->s, i, k) + (noise ? (int64_t)(next(c) % noise) : 0);
}

static void set_squares(scene *c)
{
    count_rows(c);
    assert_int_equal(tmi_add_squares(c->noisy, c->none, &c->asking, &c->s, NULL), TAMIS_OK);
}

/* Distance of the squares from those that were kept, relative to the sensitivity: the largest over measurements. */
static double distance(const scene *c, tmi_int128 *const *kept)
{
    double most = 0;
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        double sum = 0;
        for (size_t k = 0; k < c->s.measurements[i].numbers && is_squares(c, i); k++)
            sum += fabs((double)(c->noisy[i][k] - kept[i][k]));
        most = fmax(most, sum / TMI_PAIRED_STEPS);
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

/* A record is replaced by any other, in any cluster of the list or none, or it is gone. Some records are all in one cluster, so
 * that differences are far beyond their bounds: there the squares are as steep as they get. */
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
        scene_make(&c, "epsilon: 8", t + 1);
        for (size_t k = 0; k < c.count / 4; k++) {
            const size_t cluster = k % 2 ? 5 : 200;
            c.rows[k] = (array_row){
                .x = 30, .y = 3, .g = "a", .h = "u", .w = 50, .s = k % 2 ? "p" : "q", .c = c.labels[cluster], .u = "1"};
        }
        set_tables(&c, tables[t].times, tables[t].noise);
        set_squares(&c);
        tmi_int128 **kept = keep(&c);
        for (int trial = 0; trial < 60; trial++) {
            const size_t row = trial % 3 ? next(&c) % (c.count / 4) : next(&c) % c.count;
            const array_row before = c.rows[row];
            c.rows[row] = any_row(&c);
            if (trial % 5 == 0) c.rows[row].w = 0;
            if (trial % 4 == 0) { /* from one of the full clusters to the other */
                c.rows[row] = before;
                c.rows[row].s = before.s[0] == 'p' ? "q" : "p";
                c.rows[row].c = c.labels[before.s[0] == 'p' ? 200 : 5];
            }
            set_squares(&c);
            worst = fmax(worst, distance(&c, kept));
            c.rows[row] = before;
        }
        drop(&c, kept);
        scene_clear(&c);
    }
    if (worst > 1 || worst < 0.9) fail_msg("%.6g of the sensitivity", worst);
}

/* ---- at the edges of what integers can do ---- */

/* Sets the sum of one side of one pair in a table of squares. */
static void set_side(scene *c, size_t i, size_t pair, size_t side, size_t k, tmi_int128 value)
{
    const tmi_measurement *m = &c->s.measurements[i];
    const size_t cell = (2 * pair + side) * m->cells + k / m->levels, level = k % m->levels;
    const tmi_slot *slot = &c->asking.slots[i];
    const tmi_table *table = &c->asking.tables[slot->table];
    c->asking.answers[slot->table][cell * table->measure_count + slot->measure + level] = value;
}

/* However far sums of pairs are apart, squares stay where the noise expects them: then they are within its reach, and neighbours
 * are clamped to the same end. */
static void squares_stay_in_their_range(void **state)
{
    (void)state;
    scene c;
    size_t large = 0;
    scene_make_of(&c, "cluster: {by: c, population: 900, sample: 300, smallest: 1, largest: 9}", "epsilon: 8", "", 3);
    set_tables(&c, 1, 0);
    count_rows(&c);
    for (size_t i = 0; i < c.s.measurement_count; i++)
        for (size_t pair = 0; is_squares(&c, i) && pair < c.s.measurements[i].groups; pair++)
            for (size_t k = 0; k < c.s.measurements[i].cells * c.s.measurements[i].levels; k++)
                set_side(&c, i, pair, 0, k, (tmi_int128)1 << 59);
    assert_int_equal(tmi_add_squares(c.noisy, c.none, &c.asking, &c.s, NULL), TAMIS_OK);
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        for (size_t k = 0; is_squares(&c, i) && k < m->numbers; k++) {
            assert_true(c.noisy[i][k] >= 0 && c.noisy[i][k] <= TMI_LARGEST_SQUARES);
            assert_true(m->limit + TMI_LARGEST_SQUARES <= TAMIS_NOISE_MAX);
            large += c.noisy[i][k] == TMI_LARGEST_SQUARES;
        }
    }
    assert_true(large > 0); /* the case does reach the end */
    scene_clear(&c);
}

/* A unit with several rows may move a part of what it may move in each of several numbers. Each number is rounded down by itself,
 * so that all together move by more than their quotients: what is released still moves by no more than the steps, whatever the
 * remainders are. Sums are set by hand, far beyond the bounds, where squares are steepest. */
static void roundings_of_many_numbers_have_room(void **state)
{
    (void)state;
    scene c;
    tmi_int128 worst = 0;
    scene_make_with(&c, "epsilon: 4, id: u, rows_per_unit: 3", "  - {count: units, by: h}\n", 4);
    set_tables(&c, 1, 0);
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        const size_t entries = m->cells * m->levels, numbers = m->numbers;
        tmi_int128 before[64], sum;
        const size_t parts = 6; /* three rows leave their cells, and enter three others */
        if (!is_squares(&c, i) || m->levels > 1 || numbers < parts) continue;
        assert_true(numbers <= 64);
        for (int trial = 0; trial < 50; trial++) {
            count_rows(&c);
            for (size_t k = 0; k < entries; k++) set_side(&c, i, 0, 0, k, ((tmi_int128)1 << 45) + (tmi_int128)next(&c));
            assert_int_equal(tmi_add_squares(c.noisy, c.none, &c.asking, &c.s, NULL), TAMIS_OK);
            for (size_t k = 0; k < numbers; k++) before[k] = c.noisy[i][k];
            for (size_t k = 0; k < parts; k++) {
                const tmi_int128 now = tmi_asking_difference(&c.asking, &c.s, i, 0, k / m->levels, k % m->levels);
                set_side(&c, i, 0, 0, k, now + m->moved / (int64_t)parts);
                set_side(&c, i, 0, 1, k, 0);
            }
            assert_int_equal(tmi_add_squares(c.noisy, c.none, &c.asking, &c.s, NULL), TAMIS_OK);
            sum = 0;
            for (size_t k = 0; k < numbers; k++)
                sum += c.noisy[i][k] > before[k] ? c.noisy[i][k] - before[k] : before[k] - c.noisy[i][k];
            worst = sum > worst ? sum : worst;
        }
    }
    if (worst > TMI_PAIRED_STEPS || worst < TMI_PAIRED_STEPS - 64)
        fail_msg("%lld of %lld", (long long)worst, (long long)TMI_PAIRED_STEPS);
    scene_clear(&c);
}

/* The inequality behind it, exactly, for the terms of many tables: 2 B C moved / g, and a step for each number that a unit is in,
 * before and after, are at most the steps. */
static void divisors_leave_room_for_rounding(void **state)
{
    (void)state;
    static const char *const units[] = {"epsilon: 8", "epsilon: 4, id: u, rows_per_unit: 3",
                                        "epsilon: 4, id: u, rows_per_unit: 40"};
    for (size_t t = 0; t < 12; t++) {
        scene c;
        tmi_inference reading;
        size_t looked = 0;
        scene_make(&c, units[t % 3], t + 20);
        set_tables(&c, t % 2 ? 1 : 50, t > 5 ? UINT64_C(1) << 40 : 0);
        assert_int_equal(tmi_inference_make(&reading, &c.s, c.noisy, NULL), TAMIS_OK);
        for (size_t i = 0; i < c.s.measurement_count; i++) {
            const tmi_measurement *m = &c.s.measurements[i];
            tmi_statistic_sums z;
            if (!is_squares(&c, i)) continue;
            assert_int_equal(tmi_statistic_sums_make(&z, &reading, m->shape.statistic, NULL), TAMIS_OK);
            for (size_t g = 0; g < m->numbers; g++) {
                tmi_pair_term term;
                assert_int_equal(tmi_pair_term_make(&term, &reading, m, &z.groups[g], g, NULL), TAMIS_OK);
                const int64_t rows = c.plan->privacy.rows_per_unit > 1 ? c.plan->privacy.rows_per_unit : 1;
                const tmi_int128 slope = 2 * (tmi_int128)term.bound * term.largest, room = TMI_PAIRED_STEPS - 2 * rows;
                /* slope * moved <= room * divisor, in two parts that fit */
                const tmi_int128 whole = slope / room, rest = slope % room;
                assert_true(whole * m->moved <= term.divisor);
                assert_true(rest * m->moved <= room * (term.divisor - whole * m->moved));
                for (size_t k = 0; k < m->cells * m->levels; k++) assert_true(abs(term.coefficients[k]) <= term.largest);
                tmi_pair_term_clear(&term);
                looked++;
            }
            tmi_statistic_sums_clear(&z);
        }
        assert_true(looked > 0);
        tmi_inference_clear(&reading);
        scene_clear(&c);
    }
}

/* At their true values and without noise, squares say what the differences of clusters say, up to what lies beyond the bounds. */
static void squares_say_the_variance(void **state)
{
    (void)state;
    static const double y[] = {-2, 0.5, 3, 0}; /* of the levels: lowest, middle, highest, missing */
    scene c;
    double sum = 0;
    scene_make(&c, "epsilon: 8", 9);
    set_tables(&c, 1, 0);
    set_squares(&c);
    tmi_inference reading;
    tmi_statistic_sums z;
    assert_int_equal(tmi_inference_make(&reading, &c.s, c.noisy, NULL), TAMIS_OK);
    assert_int_equal(tmi_statistic_sums_make(&z, &reading, 2, NULL), TAMIS_OK); /* the total of y */
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        if (m->shape.family != TMI_PAIRED || m->shape.statistic != 2) continue;
        const double unit = tmi_measurement_unit(m, &c.s.workload, 0);
        assert_int_equal(m->levels, 4);
        for (size_t pair = 0; pair < m->groups; pair++) {
            double d = 0;
            for (size_t l = 0; l < m->levels; l++) {
                const double t = (double)tmi_asking_difference(&c.asking, &c.s, i, pair, 0, l) * unit;
                d += y[l] * t;
            }
            sum += d * d;
        }
    }
    assert_true(sum > 0);
    const double ratio = z.groups[0].pair_variance / reading.clamping / sum;
    if (!(ratio > 0.97 && ratio < 1.03)) fail_msg("%.6g of the squares", ratio);
    tmi_statistic_sums_clear(&z);
    tmi_inference_clear(&reading);
    scene_clear(&c);
}

/* Of a mean the differences are those of x - r, r the mean of the noisy tables: here the weighted mean of the rows. */
static void squares_of_a_mean_are_about_its_residuals(void **state)
{
    (void)state;
    static const double x[] = {10, 20, 30, 0}, there[] = {1, 1, 1, 0}; /* of the levels: lowest, middle, highest, missing */
    scene c;
    double sum = 0, top = 0, bottom = 0;
    scene_make(&c, "epsilon: 8", 12);
    set_tables(&c, 1, 0);
    set_squares(&c);
    for (size_t k = 0; k < c.count; k++) {
        const array_row *r = &c.rows[k];
        if (!r->g || r->g[0] != 'a' || isnan(r->x)) continue;
        top += fmin(r->w, 50) * fmin(fmax(r->x, 10), 30);
        bottom += fmin(r->w, 50);
    }
    tmi_inference reading;
    tmi_statistic_sums z;
    assert_int_equal(tmi_inference_make(&reading, &c.s, c.noisy, NULL), TAMIS_OK);
    assert_int_equal(tmi_statistic_sums_make(&z, &reading, 1, NULL), TAMIS_OK); /* the means of x, the first of them */
    for (size_t i = 0; i < c.s.measurement_count; i++) {
        const tmi_measurement *m = &c.s.measurements[i];
        if (m->shape.family != TMI_PAIRED || m->shape.statistic != 1) continue;
        const double unit = tmi_measurement_unit(m, &c.s.workload, 0);
        assert_int_equal(m->levels, 4);
        for (size_t pair = 0; pair < m->groups; pair++) {
            double d = 0;
            for (size_t l = 0; l < m->levels; l++)
                d += (x[l] - top / bottom * there[l]) * (double)tmi_asking_difference(&c.asking, &c.s, i, pair, 0, l) * unit;
            sum += d * d;
        }
    }
    assert_true(sum > 0);
    const double ratio = z.groups[0].pair_variance / reading.clamping / sum;
    if (!(ratio > 0.97 && ratio < 1.03)) fail_msg("%.6g of the squares", ratio);
    tmi_statistic_sums_clear(&z);
    tmi_inference_clear(&reading);
    scene_clear(&c);
}

static void hubers_square(void **state)
{
    (void)state;
    assert_true(tmi_huber_square(0, 5) == 0 && tmi_huber_square(-4, 5) == 16 && tmi_huber_square(5, 5) == 25);
    assert_true(tmi_huber_square(6, 5) == 35 && tmi_huber_square(-7, 5) == 45);
    const tmi_int128 end = (tmi_int128)1 << 58;
    assert_true(tmi_huber_square(2 * end, INT64_C(1) << 50) == tmi_huber_square(-end, INT64_C(1) << 50));
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(a_record_moves_squares_by_no_more_than_the_steps),
                                       cmocka_unit_test(squares_stay_in_their_range),
                                       cmocka_unit_test(roundings_of_many_numbers_have_room),
                                       cmocka_unit_test(divisors_leave_room_for_rounding),
                                       cmocka_unit_test(squares_say_the_variance),
                                       cmocka_unit_test(squares_of_a_mean_are_about_its_residuals),
                                       cmocka_unit_test(hubers_square)};
    return cmocka_run_group_tests(cases, write_list, remove_list);
}
