/* The noise that is reported for sums is the noise that they have: all of them are read again with each noisy integer moved,
 * which shows how much of that integer's noise they carry. */
#include "tests/test.h"

#include <math.h>

#include "inference/noise_parts.h"
#include "tests/inference/survey_file.h"

static const char *const designs[] = {
    "srs: {population: 600, sample: 120}",
    "stratified: {by: s, within: srs, strata: {p: {population: 300, sample: 48}, q: {population: 300, sample: 72}}}",
    "weights: {population: 600}, weight: w, max_weight: 9, typical: {sample: 120}",
};

static const char *const statistics[] = {
    "  - {total: z}\n  - {total: z, by: g}\n",
    "  - {count: units, by: g}\n  - {count: units, by: h}\n  - {table: [g, h]}\n",
    "  - {total: x}\n  - {total: z, by: h}\n  - {count: units, by: [g, h]}\n",
    "  - {total: z, where: {h: u}}\n  - {count: units, where: {g: a}}\n  - {total: x, by: h}\n",
    "  - {total: x}\n  - {mean: x}\n  - {mean: z}\n",
};

/* The moments of all groups of all statistics, one after the other. */
static void read_moments(double *moments, scene *c)
{
    scene_prepare(c);
    for (size_t i = 0; i < c->plan->statistic_count; i++) {
        tmi_statistic_sums sums;
        assert_int_equal(tmi_statistic_sums_make(&sums, &c->inference, i, NULL), TAMIS_OK);
        for (size_t g = 0; g < sums.count; g++, moments += TMI_MOMENTS)
            memcpy(moments, sums.groups[g].value, TMI_MOMENTS * sizeof *moments);
        tmi_statistic_sums_clear(&sums);
    }
}

static double told_variance(const tmi_moment_parts *p, size_t moment)
{
    double sum = 0;
    for (size_t k = 0; k < p->count; k++)
        sum += tmi_noise_part_variance(
            (tmi_noise_part){p->list[k].factor[moment], p->list[k].scale, p->gaussian, p->list[k].count});
    return sum;
}

static size_t compare(scene *c, const char *design)
{
    const size_t all = (scene_first(c, c->plan->statistic_count)) * TMI_MOMENTS;
    double *before = calloc(all, sizeof *before), *after = calloc(all, sizeof *after),
           *variances = calloc(all, sizeof *variances);
    size_t compared = 0;
    read_moments(before, c);
    for (size_t k = 0; k < c->s.measurement_count; k++) {
        const tmi_measurement *m = &c->s.measurements[k];
        const double unit = tmi_measurement_unit(m, &c->s.workload, 0),
                     variance = 1 / tmi_measurement_precision(&c->s, m) / (unit * unit);
        const int64_t step = (int64_t)fmax(1, sqrt(variance)); /* large beside the rounding of doubles */
        for (size_t n = 0; n < m->numbers; n++) {
            c->noisy[k][n] += step;
            read_moments(after, c);
            c->noisy[k][n] -= step;
            for (size_t v = 0; v < all; v++) variances[v] += pow((after[v] - before[v]) / (double)step, 2) * variance;
        }
    }
    size_t v = 0;
    for (size_t i = 0; i < c->plan->statistic_count; i++)
        for (size_t g = 0; g < (size_t)tmi_statistic_cells(&c->plan->statistics[i]); g++) {
            tmi_moment_parts parts;
            assert_int_equal(tmi_moment_parts_of_group(&parts, &c->s, i, g, NULL), TAMIS_OK);
            for (size_t m = 0; m < TMI_MOMENTS; m++, v++) {
                const double told = sqrt(told_variance(&parts, m)), is = sqrt(variances[v]);
                if (told == 0) continue; /* the statistic does not need this moment */
                if (!(fabs(told - is) <= 1e-6 * is))
                    fail_msg("%s, %zu, %zu, moment %zu: told %g, is %g", design, i, g, m, told, is);
                compared++;
            }
            tmi_moment_parts_clear(&parts);
        }
    free(before);
    free(after);
    free(variances);
    return compared;
}

static void noise_is_as_told(void **state)
{
    (void)state;
    size_t compared = 0;
    for (size_t i = 0; i < 3 * 5 * 2; i++) {
        scene c;
        scene_begin(&c, survey_plan(designs[i % 3], i / 15 ? "epsilon: 2, delta: 1e-6" : "epsilon: 2", SURVEY_X,
                                    statistics[i / 3 % 5]));
        survey_count(&c);
        compared += compare(&c, designs[i % 3]);
        scene_end(&c);
    }
    assert_true(compared > 200);
}

/* Of a census the error of a group is its noise alone. What the results say of the fit, the weight g and the bias (1 - g)
 * sqrt(A), is solved for the variances V of the groups, which must be those of their noise; and the errors must be those that
 * are made of them (src/inference/fay_herriot.h). */
static void shrunk_groups_have_the_variance_of_their_noise(void **state)
{
    (void)state;
    enum { GROUPS = 6 };
    scene c;
    double moments[GROUPS * TMI_MOMENTS], after[GROUPS * TMI_MOMENTS], variances[GROUPS] = {0}, sizes[GROUPS], x = 0, all = 0;
    scene_begin(&c,
                survey_plan("census: {population: 120}", "epsilon: 20", SURVEY_X, "  - {mean: z, by: [g, h], shrink: yes}\n"));
    survey_count(&c);
    read_moments(moments, &c);
    for (size_t i = 0; i < GROUPS; i++) {
        x += moments[i * TMI_MOMENTS + TMI_OF_X];
        all += moments[i * TMI_MOMENTS + TMI_OF_ROWS];
    }
    double size_variances[GROUPS] = {0};
    for (size_t k = 0; k < c.s.measurement_count; k++) {
        const tmi_measurement *m = &c.s.measurements[k];
        const double unit = tmi_measurement_unit(m, &c.s.workload, 0),
                     variance = 1 / tmi_measurement_precision(&c.s, m) / (unit * unit);
        for (size_t n = 0; n < m->numbers; n++) {
            c.noisy[k][n] += 1;
            read_moments(after, &c);
            c.noisy[k][n] -= 1;
            for (size_t i = 0; i < GROUPS; i++) {
                const size_t at = i * TMI_MOMENTS;
                const double size = after[at + TMI_OF_ROWS] - moments[at + TMI_OF_ROWS],
                             d = after[at + TMI_OF_X] - moments[at + TMI_OF_X] - x / all * size;
                variances[i] += d * d * variance;
                size_variances[i] += size * size * variance;
            }
        }
    }
    double margin = 0, squares = 0, between = 0, g[GROUPS], v[GROUPS];
    scene_read(&c);
    for (size_t i = 0; i < GROUPS; i++) {
        const tmi_result *r = scene_result(&c, 0, i);
        const double y = moments[i * TMI_MOMENTS + TMI_OF_ROWS];
        sizes[i] = sqrt(y * y - size_variances[i]);
        assert_true(r->shrunk.weight > 0 && r->shrunk.weight < 1);
        g[i] = r->shrunk.weight;
        between = pow(r->shrunk.bias / (1 - g[i]), 2);
        v[i] = between * (1 - g[i]) / g[i];
        if (!(fabs(v[i] * sizes[i] * sizes[i] / variances[i] - 1) < 0.01))
            fail_msg("group %zu: a variance of %g, and the noise has %g", i, v[i], variances[i] / (sizes[i] * sizes[i]));
        margin += variances[i] / (all * all);
        squares += 1 / pow(between + v[i], 2);
    }
    for (size_t i = 0; i < GROUPS; i++) {
        const double mse = g[i] * v[i] + pow(1 - g[i], 2) * margin + 2 * v[i] * v[i] / pow(between + v[i], 3) * 2 / squares,
                     se = scene_result(&c, 0, i)->se;
        if (!(fabs(se * se / mse - 1) < 0.01)) fail_msg("group %zu: %g, expected %g", i, se, sqrt(mse));
    }
    scene_end(&c);
}

/* A count whose noise is that of one integer has the interval of the test of that integer, in the population of its own
 * stratum. */
static void counts_are_inverted_in_their_stratum(void **state)
{
    (void)state;
    static const int64_t populations[] = {300, 2000}, samples[] = {48, 72};
    scene c;
    scene_begin(&c, survey_plan("stratified: {by: s, within: srs, strata: {p: {population: 300, sample: 48}, "
                                "q: {population: 2000, sample: 72}}}",
                                "epsilon: 2", SURVEY_X, "  - {count: units, by: s, where: {h: u}}\n"));
    survey_count(&c);
    scene_read(&c);
    for (size_t h = 0; h < 2; h++) {
        const tmi_result *r = scene_result(&c, 0, h);
        const double weight = (double)populations[h] / (double)samples[h];
        const tmi_measurement *m = &c.s.measurements[0];
        int64_t lower, upper;
        assert_int_equal(tamis_interval_count(&lower, &upper, populations[h], samples[h], llround(r->estimate / weight),
                                              tmi_law_in_stratum(m, h)->scale, c.plan->statistics[0].confidence, NULL),
                         TAMIS_OK);
        if (!r->exact || r->lower != (double)lower || r->upper != (double)upper)
            fail_msg("stratum %zu, %d: %g to %g, expected %lld to %lld", h, (int)r->exact, r->lower, r->upper, (long long)lower,
                     (long long)upper);
    }
    scene_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(noise_is_as_told),
                                       cmocka_unit_test(shrunk_groups_have_the_variance_of_their_noise),
                                       cmocka_unit_test(counts_are_inverted_in_their_stratum)};
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
