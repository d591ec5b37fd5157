/* The sampling variance of a change from groups of clusters: its limits, its likelihood against an integral over the law of the
 * noise, and how often intervals cover. */
#include "variance/change.h"

#include <math.h>

#include "tests/test.h"
#include "variance/group_totals.h"

static double uniform(uint64_t *stream) { return ((double)next_number(stream) + 0.5) / 0x1p31; }

static double normal(uint64_t *stream) { return sqrt(-2 * log(uniform(stream))) * cos(2 * acos(-1) * uniform(stream)); }

static double laplace(uint64_t *stream, double scale)
{
    const double u = uniform(stream) - 0.5;
    return -scale * copysign(1, u) * log(1 - 2 * fabs(u));
}

static void set_shares(double shares[TMI_CHANGE_GROUPS])
{
    for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++) shares[g] = 1.0 / TMI_CHANGE_GROUPS;
}

/* Without noise it is the variance that the differences show, a little larger since they are few; with nothing but noise about
 * the sum of both; and it stays between its ends. */
static void it_is_between_what_is_seen_and_the_sum_of_both(void **state)
{
    (void)state;
    double shares[TMI_CHANGE_GROUPS];
    set_shares(shares);
    const tmi_group_change c = {
        .shares = shares, .count = TMI_CHANGE_GROUPS, .noise = {{1e-6, false}, {1e-6, false}}, .apart = 1, .confidence = 0.95};
    for (int k = 2; k <= 13; k++) {
        const double V = k / 10.0, found = tmi_expected_change_variance(&c, V);
        if (!(found > 0.9 * V && found < 1.25 * V + 0.02)) fail_msg("%g for %g", found, V);
    }
    assert_true(tmi_expected_change_variance(&c, 1.6) > 1.3); /* waves that vary in opposite directions are drawn to the sum */
    tmi_group_change hidden = c;
    hidden.noise[0].scale = hidden.noise[1].scale = 50;
    const double found = tmi_expected_change_variance(&hidden, 0.2);
    assert_true(found > 0.95 && found < 1.15);
    assert_true(tmi_expected_change_variance(&c, 1e-9) >= 0.05);
    assert_true(tmi_expected_change_variance(&c, 1e9) <= 1.95);
    tmi_group_change gaussian = c;
    gaussian.noise[0] = gaussian.noise[1] = (tmi_total_noise){0.05, true};
    assert_true(tmi_expected_change_variance(&gaussian, 0.4) < 0.6);
}

/* A group without clusters says nothing, whatever its noise is. */
static void empty_groups_say_nothing(void **state)
{
    (void)state;
    double shares[TMI_CHANGE_GROUPS] = {0}, differences[TMI_CHANGE_GROUPS];
    for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++) {
        shares[g] = g % 2 ? 2.0 / TMI_CHANGE_GROUPS : 0;
        differences[g] = g % 2 ? 0.1 : 1;
    }
    tmi_group_change c = {.differences = differences,
                          .shares = shares,
                          .count = TMI_CHANGE_GROUPS,
                          .noise = {{0.01, false}, {0.01, false}},
                          .apart = 1,
                          .confidence = 0.95};
    const double found = tmi_change_variance(&c);
    for (size_t g = 0; g < TMI_CHANGE_GROUPS; g += 2) differences[g] = 40;
    assert_true(tmi_change_variance(&c) == found);
}

/* ---- the law of the noise ---- */

/* The density of normal + Laplace + Laplace at x, by a sum over both. */
static double density(double x, double variance, double first, double second)
{
    const double reach = 14;
    const int cells = 160;
    double sum = 0;
    for (int i = 0; i < cells; i++)
        for (int j = 0; j < cells; j++) {
            const double u = (2 * (i + 0.5) / cells - 1) * reach, v = (2 * (j + 0.5) / cells - 1) * reach,
                         rest = x - first * u - second * v;
            sum += exp(-fabs(u) - fabs(v) - rest * rest / (2 * variance)) / 4;
        }
    return sum * pow(2 * reach / cells, 2) / sqrt(2 * acos(-1) * variance);
}

#define PARTS 39

/* The same posterior by the law itself: the variance that a release uses is near to what it says. */
static void noise_has_its_exact_law(void **state)
{
    (void)state;
    static const double scales[][2] = {{0.1, 0.1}, {0.2, 0.05}, {0.3, 0.3}};
    double shares[4] = {0.4, 0.3, 0.2, 0.1}, differences[4] = {0.5, -0.9, 0.1, 0.6};
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        const tmi_group_change c = {.differences = differences,
                                    .shares = shares,
                                    .count = 4,
                                    .noise = {{scales[k][0], false}, {scales[k][1], false}},
                                    .apart = 1,
                                    .around = 0.1,
                                    .confidence = 0.9};
        const double h = sqrt(tmi_change_variance(&c) + c.around) * 1.6448536269514722;
        double all = 0, inside = 0;
        for (int i = 1; i <= PARTS; i++) {
            const double part = 0.05 * i;
            double own = 1 - fabs(part - 1);
            for (size_t g = 0; g < 4; g++) own *= density(differences[g], part * shares[g], scales[k][0], scales[k][1]);
            all += own;
            inside += own * erf(h / sqrt(2 * (part + c.around)));
        }
        if (!(fabs(inside / all - 0.9) < 0.003)) fail_msg("scales %zu: %.5g instead of 0.9", k, inside / all);
    }
}

/* ---- coverage ---- */

/* Of 4000 changes each, with a false alarm in 10^-9 of runs below the expected coverage less 0.03. */
static void intervals_cover(void **state)
{
    (void)state;
    static const double lefts[] = {0.2, 0.5, 1}, scales[] = {0.001, 0.05, 0.12, 0.5};
    const int rounds = test_size(1000, 4000);
    uint64_t stream = 77;
    double shares[TMI_CHANGE_GROUPS];
    set_shares(shares);
    for (size_t l = 0; l < 3; l++)
        for (size_t s = 0; s < 4; s++) {
            const double V = lefts[l], b = scales[s];
            int inside = 0;
            for (int round = 0; round < rounds; round++) {
                double differences[TMI_CHANGE_GROUPS];
                for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++)
                    differences[g] = sqrt(V * shares[g]) * normal(&stream) + laplace(&stream, b) + laplace(&stream, b);
                const tmi_group_change c = {.differences = differences,
                                            .shares = shares,
                                            .count = TMI_CHANGE_GROUPS,
                                            .noise = {{b, false}, {b, false}},
                                            .apart = 1,
                                            .around = 0.02,
                                            .confidence = 0.95};
                const double h = 1.959963984540054 * sqrt(tmi_change_variance(&c) + c.around);
                inside += fabs(sqrt(V) * normal(&stream) + sqrt(0.02) * normal(&stream)) <= h;
            }
            if (inside < 0.92 * rounds) fail_msg("V %g, scale %g: %d of %d", V, b, inside, rounds);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_between_what_is_seen_and_the_sum_of_both),
        cmocka_unit_test(empty_groups_say_nothing),
        cmocka_unit_test(noise_has_its_exact_law),
        cmocka_unit_test(intervals_cover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
