/* What a plan of epsilons counts as in an account of rho: table by table, quantile by quantile, by formulas that are written
 * again here. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "num/number.h"
#include "schedule/schedule.h"

static const char head[] = "tamis: 1\nsurvey: s\nsource: {file: a.csv}\nprivacy: {unit: person, epsilon: 2}\n"
                           "design: {stratified: {by: s, within: srs, strata: {small: {population: 400, sample: 40}, large: "
                           "{population: 90, sample: 30}}}}\n"
                           "columns:\n  s: {values: [small, large]}\n  g: {values: [a, b]}\n"
                           "  x: {from: 0, to: {small: 1, large: 1000}, step: 1}\n  y: {from: 0, to: 100, step: 1}\n";

/* kl(h) A/h of a law, in doubles. */
static double own(const tmi_noise_law *law)
{
    const double scale = tmi_number_nearest(law->scale), A = (double)law->l1,
                 B = fmin(tmi_number_nearest(law->l2_squared), A * A), h = B / A;
    return A / h / scale * (h + expm1(-h / scale) / sinh(1 / scale));
}

static void counted(const char *statistics, double (*choices)(const tmi_schedule *), bool differ)
{
    char text[2000];
    tamis_plan *plan;
    tmi_schedule s;
    tamis_number *rho;
    tamis_error err = {0};
    double sum = 0;
    bool found = false;
    snprintf(text, sizeof text, "%sstatistics: [%s]\n", head, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK ||
        tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK || tmi_schedule_rho(&rho, &s, &err) != TAMIS_OK)
        fail_msg("%s\n%s", text, err.message);
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        double worst = 0;
        for (size_t h = 0; h < m->strata; h++) {
            const double one = own(&m->laws[h]);
            found = found || (worst > 0 && fabs(one / worst - 1) > .01);
            worst = fmax(worst, one);
        }
        sum += worst;
    }
    if (choices) sum += choices(&s);
    assert_true(!differ || found); /* strata that count differently, or the worst would not be looked for */
    const double value = tmi_number_nearest(rho), any = 2 * tanh(1);
    if (!(value >= fmin(sum, any) * (1 - 1e-9) && value <= fmin(sum, any) * (1 + 1e-7)))
        fail_msg("%s: %.15g, not %.15g", statistics, value, fmin(sum, any));
    assert_true(value <= any * (1 + 1e-9) && value < 2);
    tamis_number_free(rho);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* 4 ln cosh(e/4) for each of m selections with e = part / m; anything else by its epsilon. */
static double selections(const tmi_schedule *s)
{
    double sum = 0;
    assert_true(s->quantile_task_count > 0);
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        const tmi_quantile_task *c = &s->quantile_tasks[i];
        const double part = tmi_number_nearest(c->part), count = (double)s->plan->statistics[c->statistic].at_count,
                     m = c->method == TAMIS_QUANTILE_JOINT   ? 1
                         : c->method == TAMIS_QUANTILE_SPLIT ? floor(log2(count)) + 1
                                                             : count;
        const bool selects = c->method == TAMIS_QUANTILE_INVERSE || c->method == TAMIS_QUANTILE_JOINT ||
                             c->method == TAMIS_QUANTILE_SPLIT;
        sum += selects ? m * 4 * log(cosh(part / m / 4)) : part * tanh(part / 2);
    }
    return sum;
}

static void each_table_by_its_own_sensitivities(void **state)
{
    (void)state;
    counted("{total: x, by: s}", NULL, true);
    counted("{mean: y}, {table: [g]}, {total: x, by: s}", NULL, false);
    counted("{mean: y, by: g}", NULL, false);
    counted("{count: units, where: {g: a}}", NULL, false);
}

static void each_chosen_quantile_by_its_mechanism(void **state)
{
    static const char *const methods[] = {"inverse", "joint", "split", "threshold", "tree"};
    char text[300];
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        snprintf(text, sizeof text, "{quantile: y, at: [0.1, 0.25, 0.5, 0.75, 0.9], by: s, method: %s}", methods[i]);
        counted(text, selections, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_table_by_its_own_sensitivities),
                                       cmocka_unit_test(each_chosen_quantile_by_its_mechanism)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
