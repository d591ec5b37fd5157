/* Reconstruction against generalised least squares on whole tables: every moment of every group, its noise, and the noises of the
 * integers that it is made of, for tables that the search chose and for tables chosen at random. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inference/errors.h"
#include "inference/group_sums.h"
#include "measure/controls.h"
#include "tests/base/memory_that_fails.h"
#include "tests/inference/survey_file.h"

#define MOST_CELLS 400
#define LITTLE 1e-9 /* that is added to the diagonal */
#define KNOWN 1e6   /* the weight of what is public, beside that of the tables */

static uint64_t word = 9;

static size_t compared; /* numbers */

static double uniform(void) { return (double)(next_number(&word) % 1000000) / 1e6; }

/* All cells of the axes of a schedule, and the normal equations of the tables of its main family. */
typedef struct dense {
    const tmi_schedule *s;
    tmi_weighting weighting;
    size_t axes, cells;
    long double matrix[MOST_CELLS][MOST_CELLS]; /* Cholesky's factor: what is public makes it badly conditioned */
    double right[MOST_CELLS], row[MOST_CELLS], largest;
} dense;

static size_t level_of(const dense *d, size_t cell, size_t axis)
{
    for (size_t a = d->axes; a-- > axis + 1;) cell /= d->s->workload.axes[a].levels;
    return cell % d->s->workload.axes[axis].levels;
}

/* What a number of a table adds up. */
static void set_row(dense *d, const tmi_measurement *m, size_t number)
{
    const tmi_axis *axes = d->s->workload.axes;
    for (size_t cell = 0; cell < d->cells; cell++) {
        size_t at = 0;
        for (size_t a = 0; a < m->marginal.axis_count; a++)
            at = at * axes[m->marginal.axes[a]].levels + level_of(d, cell, m->marginal.axes[a]);
        d->row[cell] = m->marginal.form == TMI_FULL ? at == number
                                                    : tmi_form_level(m->marginal.form, &axes[m->marginal.axes[0]], number,
                                                                     level_of(d, cell, m->marginal.axes[0]));
    }
}

static void add_row(dense *d, double precision, double value, bool matrix)
{
    for (size_t i = 0; i < d->cells; i++) {
        if (d->row[i] == 0) continue;
        d->right[i] += precision * d->row[i] * value;
        for (size_t j = 0; matrix && j < d->cells; j++) d->matrix[i][j] += precision * d->row[i] * d->row[j];
    }
}

/* The rows of a stratum that the design fixes, in what a family counts. */
static double rows_of(const dense *d, size_t h)
{
    const tmi_sampling *p = &d->s->sampling;
    const double n = (double)d->s->plan->design.strata[h].sample;
    return d->weighting == TMI_UNWEIGHTED ? n : n * (double)p->points[h] * tmi_number_nearest(p->step);
}

static void add_public(dense *d, size_t copy, bool matrix)
{
    const tmi_schedule *s = d->s;
    const size_t strata = s->sampling.strata;
    double all = 0;
    if (!s->effects.arrowheads[d->weighting * s->effects.domains].known) return;
    for (size_t h = 0; h < strata; h++)
        if (!s->workload.separate_strata || h == copy) all += rows_of(d, h);
    for (size_t i = 0; i < d->cells; i++) d->row[i] = 1;
    add_row(d, KNOWN * d->largest, all, matrix);
    for (size_t a = 0; a < d->axes; a++)
        for (size_t l = 0; s->workload.axes[a].counted && l < strata; l++) {
            for (size_t i = 0; i < d->cells; i++) d->row[i] = level_of(d, i, a) == l;
            add_row(d, KNOWN * d->largest, rows_of(d, l), matrix);
        }
}

static void set_tables(dense *d, const scene *c, size_t copy, bool matrix)
{
    const tmi_schedule *s = d->s;
    memset(d->right, 0, sizeof d->right);
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        const size_t each = m->cells * m->levels;
        const double precision = tmi_measurement_precision(s, m),
                     unit = tmi_measurement_unit(m, &s->workload, s->workload.separate_strata ? copy : 0);
        if (m->marginal.weighting != d->weighting) continue;
        d->largest = fmax(d->largest, precision);
        for (size_t k = 0; k < each; k++) {
            set_row(d, m, k);
            add_row(d, precision, unit * (double)c->noisy[i][copy * each + k], matrix);
        }
    }
    add_public(d, copy, matrix);
}

/* A little is added to the diagonal: what the tables do not determine is not asked for. */
static void factorise(dense *d)
{
    for (size_t i = 0; i < d->cells; i++) {
        d->matrix[i][i] += LITTLE * d->largest;
        for (size_t k = 0; k < i; k++) {
            long double sum = d->matrix[i][k];
            for (size_t j = 0; j < k; j++) sum -= d->matrix[i][j] * d->matrix[k][j];
            d->matrix[i][k] = sum / d->matrix[k][k];
        }
        long double sum = d->matrix[i][i];
        for (size_t j = 0; j < i; j++) sum -= d->matrix[i][j] * d->matrix[i][j];
        assert_true(sum > 0);
        d->matrix[i][i] = sqrtl(sum);
    }
}

static void solve(const dense *d, double *x)
{
    long double y[MOST_CELLS];
    for (size_t i = 0; i < d->cells; i++) {
        y[i] = x[i];
        for (size_t j = 0; j < i; j++) y[i] -= d->matrix[i][j] * y[j];
        y[i] /= d->matrix[i][i];
    }
    for (size_t i = d->cells; i-- > 0;) {
        for (size_t j = i + 1; j < d->cells; j++) y[i] -= d->matrix[j][i] * y[j];
        y[i] /= d->matrix[i][i];
        x[i] = (double)y[i];
    }
}

static void set_combination(dense *d, const tmi_combination *c)
{
    for (size_t cell = 0; cell < d->cells; cell++) {
        d->row[cell] = 0;
        for (size_t t = 0; t < c->term_count; t++) {
            double product = c->scale[t];
            for (size_t a = 0; a < c->axis_count; a++) product *= c->vectors[a][t][level_of(d, cell, c->axes[a])];
            d->row[cell] += product;
        }
    }
}

static double dot(const double *x, const double *y, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * y[i];
    return sum;
}

/* The noise of the integers, as the parts have it. */
static double variance_of_parts(const tmi_moment_parts *p, size_t moment)
{
    double sum = 0;
    for (size_t k = 0; k < p->count; k++)
        sum += tmi_noise_part_variance(
            (tmi_noise_part){p->list[k].factor[moment], p->list[k].scale, p->gaussian, p->list[k].count});
    return sum;
}

static void compare_statistic(dense *d, scene *c, size_t i, const double *solutions, const char *where)
{
    const tmi_schedule *s = d->s;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const size_t strata = s->workload.separate_strata ? s->sampling.strata : 1;
    tmi_statistic_sums sums;
    assert_int_equal(tmi_statistic_sums_make(&sums, &c->inference, i, NULL), TAMIS_OK);
    for (size_t g = 0; g < sums.count; g++)
        for (size_t m = 0; m < TMI_MOMENTS; m++) {
            const bool of_x = m == TMI_OF_X || m == TMI_OF_XX, of_y = m > TMI_OF_X && m != TMI_OF_XX;
            double one[TMI_MOMENTS] = {0}, value = 0, variance = 0, x[MOST_CELLS];
            if ((of_x && !t->column) || (of_y && !t->second) || isinf(sums.groups[g].noise->covariance[m][m])) continue;
            one[m] = 1;
            for (size_t copy = 0; copy < strata; copy++) {
                const size_t own = tmi_group_stratum(s, i, g);
                const double w = d->weighting == TMI_UNWEIGHTED ? tmi_number_nearest(s->sampling.weight[copy]) : 1;
                tmi_moment_sum sum;
                if (s->workload.separate_strata && own != SIZE_MAX && own != copy) continue;
                assert_int_equal(tmi_moment_sum_make(&sum, &s->workload, d->weighting, i, g, copy, one, NULL, NULL), TAMIS_OK);
                set_combination(d, &sum.combination);
                tmi_moment_sum_clear(&sum);
                value += w * dot(d->row, solutions + copy * MOST_CELLS, d->cells);
                memcpy(x, d->row, sizeof x);
                solve(d, x);
                variance += w * w * dot(d->row, x, d->cells);
            }
            if (LITTLE * d->largest * variance > 1e-6) continue; /* hardly determined: what was added shows */
            compared++;
            const double found = sums.groups[g].value[m], noise = sums.groups[g].noise->covariance[m][m],
                         parts = variance_of_parts(sums.groups[g].parts, m), sd = sqrt(variance);
            if (!(fabs(found - value) <= 1e-4 * sd + 1e-6 * fabs(value) + 1e-5))
                fail_msg("%s, statistic %zu, group %zu, moment %zu: %.10g, least squares %.10g", where, i, g, m, found, value);
            if (!(fabs(noise - variance) <= 1e-5 * variance + 1e-6))
                fail_msg("%s, statistic %zu, group %zu, moment %zu: variance %.10g, least squares %.10g", where, i, g, m, noise,
                         variance);
            if (!(fabs(parts - noise) <= 1e-6 * noise + 1e-9))
                fail_msg("%s, statistic %zu, group %zu, moment %zu: variance %.10g, of the parts %.10g", where, i, g, m, noise,
                         parts);
        }
    tmi_statistic_sums_clear(&sums);
}

static void compare(scene *c, const char *where)
{
    static dense d;
    static double solutions[2 * MOST_CELLS];
    memset(&d, 0, sizeof d);
    d.s = &c->s;
    d.weighting = tmi_main_weighting(&c->s);
    d.axes = c->s.workload.axis_count;
    d.cells = 1;
    assert_int_equal(c->s.workload.domain_count, 1);
    for (size_t a = 0; a < d.axes; a++) d.cells *= c->s.workload.axes[a].levels;
    if (d.cells > MOST_CELLS) fail_msg("%s: %zu cells", where, d.cells);
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        const double unit = tmi_measurement_unit(&c->s.measurements[i], &c->s.workload, 0);
        for (size_t k = 0; k < c->s.measurements[i].numbers; k++) c->noisy[i][k] = (tmi_int128)((30 * uniform() - 10) / unit);
    }
    assert_int_equal(tmi_inference_make(&c->inference, &c->s, c->noisy, NULL), TAMIS_OK);
    for (size_t copy = 0; copy < (c->s.workload.separate_strata ? c->s.sampling.strata : 1); copy++) {
        set_tables(&d, c, copy, copy == 0);
        if (copy == 0) factorise(&d);
        memcpy(solutions + copy * MOST_CELLS, d.right, sizeof d.right);
        solve(&d, solutions + copy * MOST_CELLS);
    }
    for (size_t i = 0; i < c->s.plan->statistic_count; i++)
        if (!c->s.workload.maps[i].known) compare_statistic(&d, c, i, solutions, where);
}

static const char *const designs[] = {
    "srs: {population: 600, sample: 120}",
    "stratified: {by: s, within: srs, strata: {p: {population: 400, sample: 48}, q: {population: 150, sample: 72}}}",
    "stratified: {by: s, within: srs, strata: {p: {population: 480, sample: 48}, q: {population: 720, sample: 72}}}",
    "bernoulli: {rate: 1/5}",
    "weights: {}, weight: w, max_weight: 9",
};

static const char *const statistics[] = {
    "  - {count: units, by: g}\n  - {table: [g, h]}\n  - {total: z}\n  - {mean: z, by: g}\n",
    "  - {mean: x}\n  - {total: x}\n  - {mean: z, by: h}\n  - {share: {h: u}}\n",
    "  - {ratio: {of: x, to: z}}\n  - {variance: x}\n  - {total: z, by: s}\n",
    "  - {count: units, by: [h, s]}\n  - {mean: y, by: g}\n  - {count: units, where: {g: a, y: {from: 3}}}\n",
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void of_tables_that_were_chosen(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(designs); i++)
        for (size_t k = 0; k < COUNT(statistics); k++) {
            scene c;
            scene_begin(&c, survey_plan(designs[i], (i + k) % 2 ? "epsilon: 2" : "rho: 1", SURVEY_X, statistics[k]));
            if (c.s.workload.domain_count == 1) compare(&c, designs[i]);
            scene_end(&c);
        }
}

/* The budget of a plan, in thousandths. */
static int own_whole(const tamis_plan *plan)
{
    const tmi_plan_loss *loss = &plan->privacy.loss;
    return (int)(1000 * tmi_number_nearest(loss->rho ? loss->rho : loss->epsilon));
}

/* Any tables that determine the statistics, with any parts of the budget. */
static bool make_random(scene *c, tamis_plan *plan)
{
    tmi_schedule own;
    tmi_marginal marginals[6] = {0};
    tamis_number *parts[6];
    int thousandths = own_whole(plan);
    assert_int_equal(tmi_schedule_make(&own, plan, NULL, NULL), TAMIS_OK);
    tmi_certified_tables certified = {.gaussian = own.gaussian,
                                      .separate_strata = own.workload.separate_strata,
                                      .shared_classes = own.workload.shared_classes,
                                      .marginals = marginals,
                                      .parts = parts,
                                      .count = 2 + next_number(&word) % 5};
    for (size_t k = 0; k < certified.count; k++) {
        marginals[k] = (tmi_marginal){.weighting = tmi_main_weighting(&own)};
        for (size_t a = 0; a < own.workload.axis_count; a++)
            if (next_number(&word) % 3) marginals[k].axes[marginals[k].axis_count++] = a;
        if (marginals[k].axis_count == 1 && own.workload.axes[marginals[k].axes[0]].degree > 0)
            marginals[k].form = (tmi_table_form)(next_number(&word) % 3);
        char text[20]; /* the last one has the rest */
        const int part = k + 1 < certified.count ? 1 + (int)(next_number(&word) % 150) : thousandths;
        thousandths -= part;
        snprintf(text, sizeof text, "%d/1000", part);
        assert_int_equal(tamis_number_read(&parts[k], text, NULL), TAMIS_OK);
    }
    tmi_schedule_clear(&own);
    *c = (scene){.plan = plan};
    tamis_error err = {0};
    const bool made = tmi_schedule_make(&c->s, plan, &certified, &err) == TAMIS_OK;
    for (size_t k = 0; k < certified.count; k++) tamis_number_free(parts[k]);
    if (!made) return false;
    c->noisy = calloc(c->s.measurement_count + 1, sizeof *c->noisy);
    for (size_t i = 0; i < c->s.measurement_count; i++) c->noisy[i] = calloc(c->s.measurements[i].numbers, sizeof **c->noisy);
    return true;
}

static void of_tables_at_random(void **state)
{
    (void)state;
    compared = 0;
    for (int round = 0; round < test_size(80, 600); round++) {
        const size_t i = next_number(&word) % 4, k = next_number(&word) % COUNT(statistics); /* weights need other families */
        scene c;
        if (!make_random(&c, survey_plan(designs[i], round % 2 ? "epsilon: 2" : "rho: 1", SURVEY_X, statistics[k]))) {
            tamis_plan_free(c.plan);
            continue;
        }
        if (c.s.workload.domain_count == 1) { compare(&c, designs[i]); }
        scene_end(&c);
    }
    if (compared < 200) fail_msg("%zu numbers were compared", compared);
}

static void memory_is_not_there(void **state)
{
    (void)state;
    scene c;
    tmi_inference inference;
    tamis_error err;
    tmi_statistic_sums sums;
    scene_begin(&c, survey_plan(designs[1], "epsilon: 2", SURVEY_X, statistics[1]));
    survey_count(&c);
    EVERY_ALLOCATION_FAILS(tmi_inference_make(&inference, &c.s, c.noisy, &err), { assert_null(inference.main.effects); });
    tmi_inference_clear(&inference);
    scene_prepare(&c);
    EVERY_ALLOCATION_FAILS(tmi_statistic_sums_make(&sums, &c.inference, 2, &err), { assert_null(sums.groups); });
    tmi_statistic_sums_clear(&sums);
    scene_end(&c);
    scene_begin(&c,
                survey_plan("weights: {strata: s, cluster: c}, weight: w, max_weight: 9", "epsilon: 2", SURVEY_X, statistics[1]));
    survey_count(&c);
    EVERY_ALLOCATION_FAILS(tmi_inference_make(&inference, &c.s, c.noisy, &err), { assert_null(inference.main.effects); });
    tmi_inference_clear(&inference);
    scene_prepare(&c);
    tmi_errors errors;
    EVERY_ALLOCATION_FAILS(tmi_errors_make(&errors, &c.inference, &err), { assert_null(errors.list); });
    tmi_errors_clear(&errors);
    scene_end(&c);
    scene_begin(&c, survey_plan("weights: {population: 600}, weight: w, max_weight: 9", "epsilon: 2", SURVEY_X, statistics[1]));
    survey_count(&c);
    scene_prepare(&c);
    EVERY_ALLOCATION_FAILS(tmi_errors_make(&errors, &c.inference, &err), { assert_null(errors.list); });
    tmi_errors_clear(&errors);
    scene_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_tables_that_were_chosen),
        cmocka_unit_test(of_tables_at_random),
        cmocka_unit_test(memory_is_not_there),
    };
    return cmocka_run_group_tests(tests, survey_begin, survey_end);
}
