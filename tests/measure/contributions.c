/* The sensitivity of totals whose contributions are bounded, against its definition: all pairs of neighbours of a tiny survey,
 * through an engine. A record is replaced by another one that the design could have drawn instead, with any answers and any
 * weight, however far beyond the bounds; or it is gone. The distance of the two tables, in units of their sensitivity, is never
 * above 1, and for some pair it is 1. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inference/range.h"
#include "measure/contributions.h"
#include "measure/request/request.h"
#include "num/number.h"
#include "schedule/schedule.h"
#include "tests/measure/definition.h"
#include "tests/release/array_engine.h"

static const double xs[] = {-1e9, -100, 0, 7, 19.75, 30, 1e9, NAN};
static const char *const gs[] = {"a", "b", NULL};

#define XS (sizeof xs / sizeof *xs)
#define MOST_RECORDS 4096

/* A plan in a folder of its own, where its frame is. */
typedef struct survey {
    char folder[64], path[128];
    tamis_plan *plan;
    tmi_schedule schedule;
    tmi_query query;
} survey;

static tamis_status survey_try(survey *s, const char *frame, const char *design, const char *privacy, const char *x,
                               const char *statistics, tamis_error *err)
{
    char text[4096], file[160];
    *s = (survey){.folder = "/tmp/tamis-contributions-XXXXXX"};
    assert_non_null(mkdtemp(s->folder));
    snprintf(file, sizeof file, "%s/frame.csv", s->folder);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(frame ? frame : "u,w\n", out);
    fclose(out);
    snprintf(s->path, sizeof s->path, "%s/p.yaml", s->folder);
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\n"
             "columns:\n  x: %s\n  y: {from: 0, to: 9, step: 1}\n  g: {values: [a, b]}\nstatistics:\n%s",
             design, privacy, x, statistics);
    tamis_status status = tamis_plan_read_text(&s->plan, s->path, text, strlen(text), err);
    if (status == TAMIS_OK) status = tmi_schedule_make(&s->schedule, s->plan, NULL, err);
    if (status == TAMIS_OK) status = tmi_query_make(&s->query, &s->schedule, err);
    if (status == TAMIS_OK) status = tmi_query_make_room(&s->query, err);
    unlink(file);
    rmdir(s->folder);
    return status;
}

static void survey_make(survey *s, const char *frame, const char *design, const char *privacy, const char *x,
                        const char *statistics)
{
    tamis_error err = {0};
    if (survey_try(s, frame, design, privacy, x, statistics, &err) != TAMIS_OK) fail_msg("%s: %s", design, err.message);
}

static void survey_clear(survey *s)
{
    tmi_query_clear(&s->query);
    tmi_schedule_clear(&s->schedule);
    tamis_plan_free(s->plan);
}

/* What a record adds: rows add up by themselves. */
static void add_up(double *adds, survey *s, const array_row *rows, size_t count, size_t measurement)
{
    array_engine engine = array_engine_of(rows, count);
    for (size_t i = 0; i < s->query.table_count; i++)
        memset(s->query.answers[i], 0,
               tmi_table_cells(&s->query.tables[i]) * s->query.tables[i].measure_count * sizeof(tmi_int128));
    assert_int_equal(engine.engine.aggregate(&engine.engine, s->query.answers, &s->query.request, NULL, NULL), TAMIS_OK);
    for (size_t k = 0; k < s->schedule.measurements[measurement].numbers; k++)
        adds[k] = (double)tmi_query_truth(&s->query, &s->schedule, measurement, k);
}

/* All pairs of a list of records, of which `absent` may also be gone. Returns how many tables of contributions there are. */
static size_t check_pairs(survey *s, const array_row *list, size_t records, bool absent, bool attains)
{
    size_t contributed = 0;
    for (size_t i = 0; i < s->schedule.measurement_count; i++) {
        const tmi_measurement *m = &s->schedule.measurements[i];
        const size_t all = records + absent;
        double *adds = calloc(all * m->numbers, sizeof *adds), l1 = 0, l2 = 0;
        if (m->marginal.weighting != TMI_CONTRIBUTED) {
            free(adds);
            continue;
        }
        contributed++;
        size_t kept = 0; /* many records add the same: each such addition once */
        for (size_t r = 0; r < all; r++) {
            size_t k = 0;
            add_up(adds + kept * m->numbers, s, r < records ? &list[r] : list, r < records, i);
            while (k < kept && memcmp(adds + k * m->numbers, adds + kept * m->numbers, m->numbers * sizeof *adds) != 0) k++;
            kept += k == kept;
        }
        for (size_t p = 0; p < kept; p++)
            for (size_t q = 0; q < p; q++) {
                double sum = 0, squares = 0;
                for (size_t k = 0; k < m->numbers; k++) {
                    const double change = adds[p * m->numbers + k] - adds[q * m->numbers + k];
                    const tmi_noise_law *law = &m->laws[k / (m->numbers / m->strata)];
                    sum += fabs(change) / (double)law->l1;
                    squares += change * change / tmi_number_nearest(law->l2_squared);
                }
                l1 = fmax(l1, sum);
                l2 = fmax(l2, squares);
            }
        tmi_text name;
        tmi_text_init(&name);
        tmi_measurement_name(&name, m, &s->schedule.workload);
        const double least = attains ? 1 - 1e-6 : 0;
        if (l1 > 1 + 1e-12 || l2 > 1 + 1e-12 || l1 < least || l2 < least - 1e-6)
            fail_msg("%s: L1 %.15g, L2 squared %.15g of the sensitivity", name.bytes, l1, l2);
        tmi_text_clear(&name);
        free(adds);
    }
    return contributed;
}

static size_t records_with(array_row *list, const double *weights, size_t weight_count)
{
    size_t count = 0;
    for (size_t i = 0; i < XS; i++)
        for (size_t g = 0; g < 3; g++)
            for (size_t w = 0; w < weight_count; w++)
                list[count++] = (array_row){.x = xs[i], .g = gs[g], .w = weights[w], .y = 3};
    return count;
}

#define TOTALS "  - total: x\n  - {total: x, by: g}\n  - {total: x, where: {y: {from: 2}}}\n  - {mean: x, by: g}\n"

/* ---- a number for all ---- */

static void contributions_of_weights(void **state)
{
    (void)state;
    static const double weights[] = {-1, 0.001, 7.3, 1e6, NAN}, probabilities[] = {1e-9, 0.3, 1, NAN};
    static const char *const ranges[] = {"{from: 0, to: 30, step: 0.5, contribution: 200}",
                                         "{from: 10, to: 30, step: 0.5, contribution: 200}",
                                         "{from: -20, to: 30, step: 0.5, contribution: 77.7}",
                                         "{from: 0, to: 30, step: 0.5, contribution: 200, missing: 30}",
                                         "{from: 0, to: 30, step: 0.5, contribution: 200, missing: none}"};
    array_row list[MOST_RECORDS];
    survey s;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        size_t count = records_with(list, weights, 5);
        survey_make(&s, NULL, "weights: {population: 100}, weight: w, max_weight: 50", "epsilon: 1", ranges[i], TOTALS);
        assert_true(check_pairs(&s, list, count, true, true) > 0);
        survey_clear(&s);
        if (i > 2) continue; /* missing values are no other ones there */
        count = records_with(list, probabilities, 4);
        survey_make(&s, NULL, "poisson: {probability: w}, max_weight: 50", "epsilon: 1", ranges[i], TOTALS);
        assert_true(check_pairs(&s, list, count, true, true) > 0);
        survey_clear(&s);
        survey_make(&s, NULL, "pps: {method: sampford, probability: w, sample: 3, population: 60}, max_weight: 50", "rho: 1",
                    ranges[i], TOTALS);
        assert_true(check_pairs(&s, list, count, true, true) > 0);
        survey_clear(&s);
    }
}

/* The sensitivity does not know the weights, and what a row adds is min(w x, C) in steps, 0 where nothing is known. */
static void a_row_adds_its_contribution(void **state)
{
    (void)state;
    static const struct {
        double x, w, adds;
    } rows[] = {{10, 3, 30}, {20, 10, 200}, {30, 50, 200}, {30, 6.5, 195}, {1e9, 2, 60}, {-5, 4, 0}, {NAN, 5, 0}, {20, NAN, 0}};
    int64_t l1[2];
    for (size_t c = 0; c < 2; c++) {
        survey s;
        survey_make(&s, NULL,
                    c == 0 ? "weights: {population: 100}, weight: w, max_weight: 50, weight_step: 1/1048576"
                           : "weights: {population: 100}, weight: w, max_weight: 3000, weight_step: 1/1048576",
                    "epsilon: 1", "{from: 0, to: 30, step: 0.5, contribution: 200}", "  - total: x\n");
        const tmi_schedule *p = &s.schedule;
        size_t own = 0;
        while (own < p->measurement_count && p->measurements[own].marginal.weighting != TMI_CONTRIBUTED) own++;
        assert_true(own < p->measurement_count);
        const tmi_measurement *m = &p->measurements[own];
        const tmi_axis *axis = &p->workload.axes[m->marginal.axes[0]];
        const tmi_grid grid = tmi_axis_grid(&p->workload, m->marginal.axes[0], 0);
        l1[c] = m->laws[0].l1;
        assert_true(fabs(grid.to - 200) < 1e-4 && axis->degree == 2);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const array_row row = {.x = rows[i].x, .w = rows[i].w};
            double *adds = calloc(m->numbers, sizeof *adds), t = 0;
            add_up(adds, &s, &row, 1, own);
            const double unit = tmi_measurement_unit(m, &p->workload, 0);
            if (m->marginal.form == TMI_RAW) t = adds[0] * unit;
            else if (m->marginal.form == TMI_CENTRED) t = (adds[0] + adds[2]) * unit; /* t - 1/2 and 1/2 */
            else t = (adds[1] / 2 + adds[2]) * unit;
            if (fabs(t * grid.to - rows[i].adds) > 1e-3) fail_msg("row %zu adds %.9g", i, t * grid.to);
            free(adds);
        }
        survey_clear(&s);
    }
    assert_int_equal(l1[0], l1[1]);
}

/* Values below 0 contribute as far below 0 as others do above it. */
static void contributions_below_0(void **state)
{
    (void)state;
    survey s;
    size_t found = 0;
    survey_make(&s, NULL, "weights: {population: 100}, weight: w, max_weight: 50", "epsilon: 1",
                "{from: -20, to: 30, step: 0.5, contribution: 77.7}", TOTALS);
    for (size_t i = 0; i < s.schedule.workload.axis_count; i++) {
        const tmi_origin *o = &s.schedule.workload.origins[i];
        if (!o->contributed) continue;
        assert_true(o->grids[0].high > 0 && o->grids[0].low == -o->grids[0].high && o->grids[0].from == -o->grids[0].to);
        found++;
    }
    assert_true(found > 0);
    survey_clear(&s);
}

/* ---- bounds by size ---- */

/* Three of 1 + 1/2 + 1/2 + 1/4 * 4 are drawn; what 2 times the size makes of it is 2 * 2 / (1/2) at most, or 2 * 40 of the
 * certain one. */
static const char frame[] = "u,w,size\nA,1,40\nB,0.5,2\nC,0.5,1\nD,0.25,0.5\nE,0.25,0.75\nF,0.25,1\nG,0.25,0\n";
#define PPS "pps: {method: sampford, probability: w, frame: frame.csv, sample: 3}"
#define BY_SIZE "{from: 0, to: {times: 2, of: size}, step: 0.25}"

static size_t records_of(array_row *list, const char *const *units, size_t count)
{
    size_t records = 0;
    for (size_t i = 0; i < XS; i++)
        for (size_t g = 0; g < 3; g++)
            for (size_t u = 0; u < count; u++) list[records++] = (array_row){.x = xs[i], .g = gs[g], .u = units[u], .y = 3};
    return records;
}

/* Units whose probability is 1 are in every sample of a fixed size of which all answer (definition.h): their records stay theirs,
 * and all others are replaced by each other. Else any of them may be gone, and any other come. */
static void bounds_by_size(void **state)
{
    (void)state;
    static const char *const all[] = {"A", "B", "C", "D", "E", "F", "G", "nobody", NULL};
    static const char *const ranges[] = {BY_SIZE, "{from: -1, to: {times: 2, of: size}, step: 0.25}",
                                         "{from: -30, to: {times: 2, of: size}, step: 0.25}",
                                         "{from: -100, to: {times: 2, of: size}, step: 0.25}"};
    static const char *const losses[] = {"id: u, epsilon: 1", "id: u, rho: 1", "id: u, epsilon: 1, protect: respondents",
                                         "id: u, rho: 1, protect: respondents"};
    static const char *const designs[] = {PPS, PPS ", max_weight: 3", "poisson: {probability: w, frame: frame.csv}"};
    array_row list[MOST_RECORDS];
    for (size_t i = 0; i < 48; i++) {
        survey s;
        tamis_error err = {0};
        if (survey_try(&s, frame, designs[i / 16], losses[i % 4], ranges[i / 4 % 4], "  - total: x\n  - {total: x, by: g}\n",
                       &err) != TAMIS_OK)
            fail_msg("%s: %s", designs[i / 16], err.message);
        const bool certain = definition_of(s.plan).fixed, attains = i / 4 % 4 == 0 && i / 16 != 1;
        if (certain) {
            assert_true(check_pairs(&s, list, records_of(list, all + 1, 8), true, attains) > 0);
            assert_true(check_pairs(&s, list, records_of(list, all, 1), false, attains) > 0);
        } else {
            assert_true(check_pairs(&s, list, records_of(list, all, 9), true, attains) > 0);
        }
        survey_clear(&s);
    }
}

/* The bound of a part is the largest size of a contribution that any of its units can have, no less and no more. A frame of
 * certain units alone has one part; so has a setting in which certain units may be gone. */
static void bounds_are_the_largest_contributions(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        double p, size;
    } units[] = {{"A", 1, 40}, {"B", 0.5, 2}, {"C", 0.5, 1}, {"D", 0.25, 0.5}, {"E", 0.25, 0.75}, {"F", 0.25, 1}, {"G", 0.25, 0}};
    static const double froms[] = {0, -1, -30, -100};
    static const char all_certain[] = "u,w,size\nA,1,40\nB,1,2\nC,1,3\n";
    for (size_t i = 0; i < 8; i++) {
        char range[80];
        survey s;
        double most[2] = {0}, factor = 0;
        const bool apart = i < 4;
        snprintf(range, sizeof range, "{from: %g, to: {times: 2, of: size}, step: 0.25}", froms[i % 4]);
        survey_make(&s, frame, PPS, apart ? "id: u, epsilon: 1" : "id: u, epsilon: 1, protect: respondents", range,
                    "  - total: x\n");
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            double *part = &most[apart && units[u].p == 1];
            *part = fmax(*part, fmax(2 * units[u].size, -froms[i % 4]) / units[u].p);
        }
        const tmi_measurement *m = &s.schedule.measurements[0];
        assert_int_equal(m->marginal.weighting, TMI_CONTRIBUTED);
        assert_int_equal(m->strata, apart ? 2 : 1);
        for (size_t part = 0; part < m->strata; part++) {
            const tmi_grid grid = tmi_axis_grid(&s.schedule.workload, m->marginal.axes[0], part);
            if (fabs(grid.to - most[part]) > 1e-9 || fabs(grid.from + (froms[i % 4] < 0 ? most[part] : 0)) > 1e-9)
                fail_msg("%s: part %zu reaches from %g to %g, not to %g", range, part, grid.from, grid.to, most[part]);
            const double weight = apart && part == 1 ? 1 : 4; /* the largest: one over the least probability */
            factor = fmax(factor, weight * 0.25 / grid.step);
        }
        /* What a step of x adds, in steps of its part and 2^-shift of them: as fine as 40 bits are. */
        factor = ldexp(factor, s.schedule.workload.origins[m->marginal.axes[0]].shift);
        assert_true(factor >= 0x1p39 && factor < 0x1p40);
        survey_clear(&s);
    }
    survey s;
    array_row list[MOST_RECORDS];
    static const char *const three[] = {"A", "B", "C"};
    survey_make(&s, all_certain, PPS, "id: u, epsilon: 1", BY_SIZE, "  - total: x\n");
    assert_true(check_pairs(&s, list, records_of(list, three, 1), false, true) > 0);
    assert_true(check_pairs(&s, list, records_of(list, three + 1, 2), false, false) > 0);
    survey_clear(&s);
}

/* With equal probabilities the factor of a variance is that of simple random sampling: (1 - n/N) n/(n-1). Certain units have
 * none, and the others are a sample of the rest. */
static void equal_probabilities_are_a_simple_random_sample(void **state)
{
    (void)state;
    survey s;
    survey_make(&s, "u,w,size\nA,0.5,4\nB,0.5,2\nC,0.5,1\nD,0.5,2\nE,0.5,3\nF,0.5,1\nG,0.5,1\nH,0.5,1\n",
                "pps: {method: sampford, probability: w, frame: frame.csv, sample: 4}", "id: u, epsilon: 1", BY_SIZE,
                "  - total: x\n");
    assert_true(fabs(tmi_contribution_spread(&s.schedule.sampling, 0) - 0.5 * 4 / 3) < 1e-12);
    assert_int_equal(tmi_contribution_rows(&s.schedule.sampling, 0), 4);
    survey_clear(&s);
    survey_make(&s, "u,w,size\nA,1,40\nB,0.5,2\nC,0.5,1\nD,0.5,2\nE,0.5,3\nF,0.5,1\nG,0.5,1\n",
                "pps: {method: sampford, probability: w, frame: frame.csv, sample: 4}", "id: u, epsilon: 1", BY_SIZE,
                "  - total: x\n");
    assert_true(fabs(tmi_contribution_spread(&s.schedule.sampling, 0) - 0.5 * 3 / 2) < 1e-12);
    assert_true(tmi_contribution_spread(&s.schedule.sampling, 1) == 0);
    assert_int_equal(tmi_contribution_rows(&s.schedule.sampling, 0), 3);
    assert_int_equal(tmi_contribution_rows(&s.schedule.sampling, 1), 1);
    survey_clear(&s);
}

/* The largest total that a sample can have: of the certain unit twice its size, 80, and of two others, whose weighted sizes
 * are at most 4, twice that. */
static void the_largest_total_is_that_of_all_parts(void **state)
{
    (void)state;
    survey s;
    survey_make(&s, frame, PPS, "id: u, epsilon: 1", BY_SIZE, "  - total: x\n");
    const tmi_range range = tmi_result_range(&s.schedule, &(tmi_result){.statistic = 0});
    if (range.low != 0 || !(fabs(range.high - (80 + 2 * 8)) < 0.1)) fail_msg("%g to %g", range.low, range.high);
    survey_clear(&s);
}

/* Weights from a frame are one over the probability of the row's unit, to half a step, and 0 without a unit. */
/* For sampling variances the weight of each unit of a frame counts up to a bound. */
static void weights_of_a_frame_are_bounded(void **state)
{
    (void)state;
    static const char uneven[] = "u,w\nA,0.9\nB,0.9\nC,0.9\nD,0.03\nE,0.03\nF,0.03\nG,0.03\nH,0.03\nI,0.03\nJ,0.03\nK,0.03\n"
                                 "L,0.03\nM,0.03\n";
    survey s;
    int64_t bounded = 0;
    survey_make(&s, uneven, PPS, "epsilon: 1, id: u, given: frame", "{from: 0, to: 9, step: 1}", "  - {mean: x, by: g}\n");
    const tmi_sampling *p = &s.schedule.sampling;
    assert_true(p->most_clamped < p->most && s.query.clamped != s.query.weight && s.schedule.frame.count == 13);
    for (size_t i = 0; i < s.schedule.frame.count; i++) {
        const int64_t own = s.query.frame_points[i];
        assert_true(own > 0 && s.query.frame_clamped[i] == (own < p->most_clamped ? own : p->most_clamped));
        bounded += own > p->most_clamped;
    }
    assert_int_equal(bounded, 10);
    survey_clear(&s);
}

/* Where one unit is left to chance no mean can be taken off: its sampling variance is that of its square. */
static void one_unit_left_to_chance(void **state)
{
    (void)state;
    static const char two_certain[] = "u,w,size\nA,1,40\nB,1,20\nC,0.25,2\nD,0.25,1\nE,0.25,1\nF,0.25,1\n";
    survey s;
    survey_make(&s, two_certain, PPS, "epsilon: 1, id: u, given: frame", BY_SIZE, "  - total: x\n");
    assert_int_equal(tmi_contribution_rows(&s.schedule.sampling, 0), 1);
    assert_true(close_to(tmi_contribution_spread(&s.schedule.sampling, 0), 0.75));
    survey_clear(&s);
}

static void weights_of_a_frame_are_its_probabilities(void **state)
{
    (void)state;
    static const char odd[] = "u,w,size\nA,1,40\nB,0.3,2\nC,0.7,1\nD,0.11,0.5\nE,0.89,0.75\n";
    static const struct {
        const char *unit;
        double weight;
    } units[] = {{"A", 1}, {"B", 1 / 0.3}, {"C", 1 / 0.7}, {"D", 1 / 0.11}, {"E", 1 / 0.89}, {"nobody", 0}, {NULL, 0}};
    survey s;
    size_t looked = 0;
    survey_make(&s, odd, PPS, "id: u, epsilon: 1", "{from: 0, to: 30, step: 0.5}", "  - {mean: x, by: g}\n");
    for (size_t i = 0; i < s.schedule.measurement_count; i++) {
        const tmi_measurement *m = &s.schedule.measurements[i];
        if (m->marginal.weighting != TMI_WEIGHTED || m->marginal.form != TMI_FULL) continue;
        const double unit = tmi_measurement_unit(m, &s.schedule.workload, 0);
        for (size_t u = 0; u < sizeof units / sizeof *units; u++, looked++) {
            const array_row row = {.x = 3, .g = "a", .u = units[u].unit};
            double *adds = calloc(m->numbers, sizeof *adds), sum = 0;
            add_up(adds, &s, &row, 1, i);
            for (size_t k = 0; k < m->numbers; k++) sum += adds[k];
            const double off = (sum * unit - units[u].weight) / tmi_number_nearest(s.schedule.sampling.step);
            if (off > 0.51 || off < -1.01) /* the largest is rounded down */
                fail_msg("%s: off by %g steps", units[u].unit ? units[u].unit : "-", off);
            free(adds);
        }
    }
    assert_true(looked > 0);
    survey_clear(&s);
}

/* Weights that are moved towards their mean keep the factor 1 - pi in their variance: a row adds its weight times the number of
 * steps that is nearest to its weight times that factor. */
static void the_spread_of_a_regularised_frame(void **state)
{
    (void)state;
    static const char odd[] = "u,w,size\nA,1,40\nB,0.3,2\nC,0.7,1\nD,0.11,0.5\nE,0.89,0.75\n";
    static const struct {
        const char *unit;
        double pi;
    } units[] = {{"A", 1}, {"B", 0.3}, {"C", 0.7}, {"D", 0.11}, {"E", 0.89}};
    survey s;
    survey_make(&s, odd, PPS ", regularise: 1/4, weight_step: 1/8", "id: u, epsilon: 1",
                "{from: 0, to: 1, step: 1, missing: none}", "  - {total: x, by: g}\n");
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        const array_row row = {.x = 1, .g = "a", .u = units[u].unit};
        const double moved = 1 / units[u].pi + (5.0 / 3 - 1 / units[u].pi) / 4; /* five units, of which three are drawn */
        double steps = 0, spread = -1, adds[16];
        for (size_t i = 0; i < s.schedule.measurement_count; i++) {
            const tmi_measurement *m = &s.schedule.measurements[i];
            assert_true(m->numbers <= 16 && m->shift == 0);
            add_up(adds, &s, &row, 1, i);
            if (m->marginal.weighting == TMI_WEIGHTED)
                for (size_t k = 0; k < m->numbers; k++) steps += adds[k];
            if (m->marginal.weighting == TMI_UNIT_SQUARES) { /* of weights up to a bound, in one level of one cell */
                spread = 0;
                for (size_t k = 0; k < m->cells * m->levels; k++) spread += (double)tmi_query_truth(&s.query, &s.schedule, i, k);
            }
        }
        assert_true(fabs(steps - 8 * moved) <= 1); /* the largest is rounded down */
        steps = fmin(steps, (double)s.schedule.sampling.most_clamped);
        if (fabs(spread / steps - steps * (1 - units[u].pi)) > 0.5) fail_msg("%s: %g of %g", units[u].unit, spread, steps);
    }
    survey_clear(&s);
}

/* A probability that a double cannot tell from 1 is below 1 all the same: such a unit may take the place of any other one that is
 * not certain, so it has to be among these. */
static void nearly_certain_units_are_not_certain(void **state)
{
    (void)state;
    static const char nearly[] = "u,w,size\nA,1,40\nN,0.99999999999999999,30\nB,0.5,2\nC,0.5,1\nD,0.5,0.5\nE,0.5,0.75\n";
    static const char *const open[] = {"N", "B", "C", "D", "E", "nobody", NULL};
    array_row list[MOST_RECORDS];
    survey s;
    survey_make(&s, nearly, "pps: {method: sampford, probability: w, frame: frame.csv, sample: 4}", "id: u, epsilon: 1", BY_SIZE,
                "  - total: x\n");
    assert_true(check_pairs(&s, list, records_of(list, open, 7), true, true) > 0);
    survey_clear(&s);
}

/* Each value is clamped to the bound of its own unit, and steps of certain units are larger. */
static void values_stay_within_the_size_of_their_unit(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        double x, adds;
    } rows[] = {{"A", 50, 50}, {"A", 1e9, 80}, {"B", 1e9, 8}, {"C", 1e9, 4},   {"D", 1e9, 4},
                {"E", 1, 4},   {"E", 1e9, 6},  {"G", 5, 0},   {"nobody", 5, 0}};
    survey s;
    survey_make(&s, frame, PPS, "id: u, epsilon: 1", BY_SIZE, "  - total: x\n");
    const tmi_schedule *p = &s.schedule;
    const tmi_measurement *m = &p->measurements[0];
    assert_true(p->measurement_count == 1 && m->marginal.weighting == TMI_CONTRIBUTED && m->strata == 2);
    assert_int_equal(m->laws[0].l1, m->laws[1].l1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const array_row row = {.x = rows[i].x, .u = rows[i].unit};
        const size_t part = rows[i].unit[0] == 'A';
        double *adds = calloc(m->numbers, sizeof *adds), *own = adds + part * m->levels * m->cells, t;
        add_up(adds, &s, &row, 1, 0);
        const double unit = tmi_measurement_unit(m, &p->workload, part),
                     to = tmi_axis_grid(&p->workload, m->marginal.axes[0], part).to;
        if (m->marginal.form == TMI_RAW) t = own[0] * unit;
        else if (m->marginal.form == TMI_CENTRED) t = (own[0] + own[2]) * unit;
        else t = (own[1] / 2 + own[2]) * unit;
        if (rows[i].unit[0] != 'n' && fabs(t * to - rows[i].adds) > 1e-4) fail_msg("%s adds %.9g", rows[i].unit, t * to);
        for (size_t k = 0; k < m->levels; k++) assert_true(adds[(1 - part) * m->levels * m->cells + k] == 0);
        free(adds);
    }
    survey_clear(&s);
}

/* ---- engines ---- */

static const array_row sampled[] = {{.x = 55.5, .w = 0.3, .g = "a", .y = 3, .u = "A"},
                                    {.x = 1.25, .w = 0.5, .g = "b", .y = 1, .u = "B"},
                                    {.x = 1e7, .w = 0.02, .g = "a", .y = 7, .u = "C"},
                                    {.x = NAN, .w = 0.25, .g = "b", .y = 2, .u = "D"},
                                    {.x = -3, .w = 1, .g = NULL, .y = 5, .u = "E"},
                                    {.x = 0.3, .w = 0.251, .g = "a", .y = 9, .u = "F"},
                                    {.x = 7, .w = NAN, .g = "b", .y = 4, .u = "nobody"}};
#define SAMPLED (sizeof sampled / sizeof *sampled)

static void write_rows(const char *path)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("x,y,w,g,u\n", out);
    for (size_t i = 0; i < SAMPLED; i++) {
        const array_row *r = &sampled[i];
        if (isnan(r->x)) fputs(",", out);
        else fprintf(out, "%.17g,", r->x);
        fprintf(out, "%.17g,", r->y);
        if (isnan(r->w)) fputs(",", out);
        else fprintf(out, "%.17g,", r->w);
        fprintf(out, "%s,%s\n", r->g ? r->g : "", r->u);
    }
    fclose(out);
}

/* All engines give the same integers, those of the definitions. */
static void engines_agree(void **state)
{
    (void)state;
    static const struct {
        const char *design, *privacy, *x;
    } cases[] = {{PPS, "id: u, epsilon: 1", BY_SIZE},
                 {PPS, "id: u, epsilon: 1", "{from: -2, to: {times: 3, of: size}, step: 0.01}"},
                 {"poisson: {probability: w}, max_weight: 50", "epsilon: 1",
                  "{from: -2, to: 900, step: 0.01, contribution: 3000}"}};
    static const tamis_engine kinds[] = {TAMIS_ENGINE_MEMORY, TAMIS_ENGINE_DUCKDB};
    char folder[] = "/tmp/tamis-contributions-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.csv", folder);
    write_rows(path);
    const char *const files[] = {path};
    const tmi_source source = {.files = files, .file_count = 1};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        survey s;
        tamis_rng *rng;
        survey_make(&s, frame, cases[c].design, cases[c].privacy, cases[c].x, "  - total: x\n  - {total: x, by: g}\n");
        assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
        assert_int_equal(tmi_query_draw(&s.query, rng, NULL), TAMIS_OK);
        tamis_rng_free(rng);
        for (size_t k = 0; k < 2; k++) {
            tmi_engine *engine;
            tamis_error err = {0};
            if (kinds[k] == TAMIS_ENGINE_DUCKDB && !tmi_duckdb_is_there()) continue;
            assert_int_equal(tmi_engine_open(&engine, kinds[k], &source, 1, NULL), TAMIS_OK);
            for (size_t i = 0; i < s.schedule.measurement_count; i++) {
                double wanted[512];
                assert_true(s.schedule.measurements[i].numbers <= 512);
                add_up(wanted, &s, sampled, SAMPLED, i);
                if (engine->aggregate(engine, s.query.answers, &s.query.request, NULL, &err) != TAMIS_OK)
                    fail_msg("%s", err.message);
                for (size_t n = 0; n < s.schedule.measurements[i].numbers; n++)
                    if ((double)tmi_query_truth(&s.query, &s.schedule, i, n) != wanted[n])
                        fail_msg("%s, case %zu: number %zu of table %zu differs", engine->name, c, n, i);
            }
            engine->free(engine);
        }
        survey_clear(&s);
    }
    unlink(path);
    rmdir(folder);
}

/* ---- what is refused ---- */

static void what_is_not_proved_is_refused(void **state)
{
    (void)state;
    static const char bounded[] = "{from: 0, to: 30, step: 1, contribution: 200}";
    static const struct {
        const char *design, *privacy, *x, *more, *says;
        tamis_status status;
    } cases[] = {
        {"poisson: {probability: w}, max_weight: 50",
         "protect: population, given: nothing, design_variables: protected, epsilon: 1", bounded, "",
         "moves the weights of the others", TAMIS_REFUSED},
        {"srs: {population: 20, sample: 2}", "epsilon: 1", bounded, "", "one weight for all units", TAMIS_REFUSED},
        {"weights: {cluster: c}, weight: w, max_weight: 50", "epsilon: 1", bounded, "", "clusters", TAMIS_REFUSED},
        {"weights: {}, weight: w, max_weight: 50", "id: u, rows_per_unit: 3, epsilon: 1", bounded, "", "several rows",
         TAMIS_REFUSED},
        {"weights: {}, weight: w, max_weight: 50", "epsilon: 1", bounded,
         "calibrate: {to: [{count: units, by: g, totals: {a: 3, b: 4}}]}\n", "`calibrate`", TAMIS_REFUSED},
        {PPS ", weight: y, max_weight: 9", "id: u, epsilon: 1", BY_SIZE, "", "not from the frame", TAMIS_REFUSED},
        {"weights: {}, weight: w, max_weight: 50", "epsilon: 1", "{from: 0, to: 30, step: 1, contribution: 0}", "", "above 0",
         TAMIS_INVALID},
        {"weights: {}, weight: w, max_weight: 50", "epsilon: 1", "{from: 0, to: 30, step: 1, contribution: 1e300}", "",
         "columns.x.contribution: far beyond", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", "{from: 0, to: {times: 1e300, of: size}, step: 1}", "", "columns.x.to: far beyond",
         TAMIS_INVALID},
        {"weights: {}, weight: w, max_weight: 50", "epsilon: 1", BY_SIZE, "", "needs a frame", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", "{from: 0, to: {times: 2, of: height}, step: 1}", "", "height", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", "{from: 0, to: {times: 2}, step: 1}", "", "both keys", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", "{from: 0, to: {times: -2, of: size}, step: 1}", "", "above 0", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", "{from: 0, to: {times: 2, of: size, at: 3}, step: 1}", "", "unknown key", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", "{from: 0, to: {times: 2, of: size}, step: 1, contribution: 4}", "", "either", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", BY_SIZE, "  - {mean: x}\n", "expected a total of x", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", BY_SIZE, "  - {count: units, by: {x: [3]}}\n", "expected a total of x", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", BY_SIZE, "  - {share: {x: {from: 3}}}\n", "expected a total of x", TAMIS_INVALID},
        {PPS, "id: u, epsilon: 1", BY_SIZE, "  - {total: y, where: {x: {from: 3}}}\n", "expected a total of x", TAMIS_INVALID}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        survey s;
        tamis_error err = {0};
        char statistics[256];
        snprintf(statistics, sizeof statistics, "  - total: x\n%s", cases[i].more);
        const tamis_status status = survey_try(&s, frame, cases[i].design, cases[i].privacy, cases[i].x, statistics, &err);
        if (status != cases[i].status || !strstr(err.message, cases[i].says))
            fail_msg("case %zu: %d, %s", i, (int)status, err.message);
        survey_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(contributions_of_weights),
        cmocka_unit_test(a_row_adds_its_contribution),
        cmocka_unit_test(contributions_below_0),
        cmocka_unit_test(bounds_by_size),
        cmocka_unit_test(bounds_are_the_largest_contributions),
        cmocka_unit_test(equal_probabilities_are_a_simple_random_sample),
        cmocka_unit_test(the_largest_total_is_that_of_all_parts),
        cmocka_unit_test(the_spread_of_a_regularised_frame),
        cmocka_unit_test(weights_of_a_frame_are_its_probabilities),
        cmocka_unit_test(weights_of_a_frame_are_bounded),
        cmocka_unit_test(one_unit_left_to_chance),
        cmocka_unit_test(nearly_certain_units_are_not_certain),
        cmocka_unit_test(values_stay_within_the_size_of_their_unit),
        cmocka_unit_test(engines_agree),
        cmocka_unit_test(what_is_not_proved_is_refused),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
