/* The Laplace mechanism on finite specifications: the definition, the paper's two failures, bad input. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

/* A small specification in integers; distance -1: infinite. */
typedef struct plain {
    size_t datasets, universes;
    int q[6], distance[36];
    size_t members[3][6], sizes[3];
    int epsilon[3];
} plain;

static tamis_status scales_of(tamis_number **scales, const plain *p, tamis_error *err)
{
    tamis_number *q[6], *distance[36], *epsilon[3];
    tamis_universe universes[3];
    for (size_t i = 0; i < p->datasets; i++) assert_int_equal(tmi_number_ratio(&q[i], p->q[i], 1, NULL), TAMIS_OK);
    for (size_t i = 0; i < p->datasets * p->datasets; i++) {
        distance[i] = NULL;
        if (p->distance[i] >= 0) assert_int_equal(tmi_number_ratio(&distance[i], p->distance[i], 1, NULL), TAMIS_OK);
    }
    for (size_t u = 0; u < p->universes; u++) {
        assert_int_equal(tmi_number_ratio(&epsilon[u], p->epsilon[u], 1, NULL), TAMIS_OK);
        universes[u] = (tamis_universe){p->members[u], p->sizes[u], epsilon[u]};
    }
    tamis_finite f = {p->datasets, 1,           (const tamis_number *const *)q, (const tamis_number *const *)distance,
                      universes,   p->universes};
    tamis_status status = tamis_laplace_scales(scales, &f, err);
    for (size_t i = 0; i < p->datasets; i++) tamis_number_free(q[i]);
    for (size_t i = 0; i < p->datasets * p->datasets; i++) tamis_number_free(distance[i]);
    for (size_t u = 0; u < p->universes; u++) tamis_number_free(epsilon[u]);
    return status;
}

/* Overlapping universes {0, 1} and {1, 2}, q = 0, 0, 1: the printed scale is 0 at 0 (its component {0, 1} holds one
 * universe, without a difference) and 1 at 1 (all three): a point against a density, no finite loss. */
static void overlapping_universes_are_refused(void **state)
{
    plain p = {.datasets = 3,
               .universes = 2,
               .q = {0, 0, 1},
               .distance = {0, 1, 2, 1, 0, 1, 2, 1, 0},
               .members = {{0, 1}, {1, 2}},
               .sizes = {2, 2},
               .epsilon = {1, 1}};
    tamis_number *scales[3];
    tamis_error err;
    (void)state;
    assert_int_equal(scales_of(scales, &p, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "universes 0 and 1 overlap"));
    assert_true(!scales[0] && !scales[1] && !scales[2]);
    plain joined = {.datasets = 3,
                    .universes = 1,
                    .q = {0, 0, 1},
                    .distance = {0, 1, 2, 1, 0, 1, 2, 1, 0},
                    .members = {{0, 1, 2}},
                    .sizes = {3},
                    .epsilon = {1}}; /* what the message advises */
    assert_int_equal(scales_of(scales, &joined, &err), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tmi_number_compare_int(scales[i], 1), 0);
        tamis_number_free(scales[i]);
    }
}

/* One universe {a, b, c} with a and c infinitely far apart: no universe lies within what is connected to a, and the
 * printed supremum over none is 0: no noise at all, though b is one step from a. */
static void incomplete_universes_are_refused(void **state)
{
    plain p = {.datasets = 3,
               .universes = 1,
               .q = {0, 1, 2},
               .distance = {0, 1, -1, 1, 0, 1, -1, 1, 0},
               .members = {{0, 1, 2}},
               .sizes = {3},
               .epsilon = {1}};
    tamis_number *scales[3];
    tamis_error err;
    (void)state;
    assert_int_equal(scales_of(scales, &p, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "not complete"));
}

/* Random disjoint, complete specifications: at every point of a fine grid the densities of two members differ by at most
 * exp(epsilon distance), and for the worst pair they reach it. */
static void the_corrected_theorem_holds(void **state)
{
    unsigned seed = 20240513;
    (void)state;
    for (int round = 0; round < 300; round++) {
        plain p = {.datasets = 5, .universes = 2, .members = {{0, 1, 2}, {3, 4}}, .sizes = {3, 2}, .epsilon = {1 + round % 3, 2}};
        for (int i = 0; i < 5; i++) {
            seed = seed * 1664525u + 1013904223u;
            p.q[i] = (int)(seed >> 24) % 7;
        }
        int place[5];
        for (int i = 0; i < 5; i++) {
            seed = seed * 1664525u + 1013904223u;
            place[i] = 10 * i + (int)(seed >> 24) % 9; /* all different */
        }
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++) p.distance[5 * i + j] = (i < 3) == (j < 3) ? abs(place[i] - place[j]) : -1;
        tamis_number *scales[5];
        assert_int_equal(scales_of(scales, &p, NULL), TAMIS_OK);
        for (int i = 0; i < 5; i++) {
            for (int j = 0; j < 5; j++) {
                if ((i < 3) != (j < 3) || i == j) continue;
                double s = tmi_number_nearest(scales[i]), allowed = p.epsilon[i >= 3] * p.distance[5 * i + j];
                assert_int_equal(tmi_number_compare(scales[i], scales[j]), 0);
                if (s == 0) assert_int_equal(p.q[i], p.q[j]);
                else assert_true(fabs((double)p.q[i] - p.q[j]) / s <= allowed * (1 + 1e-15)); /* sup of the log ratio */
            }
        }
        double worst = 0, s = tmi_number_nearest(scales[0]); /* some pair reaches it */
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++)
                worst = fmax(worst, fabs((double)p.q[i] - p.q[j]) / (p.epsilon[0] * (double)p.distance[5 * i + j]));
        assert_true(fabs(worst - s) <= 1e-15 * s);
        for (int i = 0; i < 5; i++) tamis_number_free(scales[i]);
    }
}

static void a_lonely_dataset_needs_no_noise(void **state)
{
    plain p = {
        .datasets = 2, .universes = 1, .q = {5, 9}, .distance = {0, 1, 1, 0}, .members = {{1}}, .sizes = {1}, .epsilon = {1}};
    tamis_number *scales[2];
    (void)state;
    assert_int_equal(scales_of(scales, &p, NULL), TAMIS_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tmi_number_sign(scales[i]), 0);
        tamis_number_free(scales[i]);
    }
    plain twins = {
        .datasets = 2, .universes = 1, .q = {5, 9}, .distance = {0, 0, 0, 0}, .members = {{0, 1}}, .sizes = {2}, .epsilon = {1}};
    assert_int_equal(scales_of(scales, &twins, NULL), TAMIS_REFUSED);
}

static void refuses_bad_input(void **state)
{
    const plain good = {
        .datasets = 2, .universes = 1, .q = {0, 1}, .distance = {0, 1, 1, 0}, .members = {{0, 1}}, .sizes = {2}, .epsilon = {1}};
    static tamis_number *many[4096];
    tamis_number *scales[6];
    tamis_error err;
    (void)state;
    plain bad[7];
    for (size_t i = 0; i < 7; i++) bad[i] = good;
    bad[0].datasets = 0;
    bad[1].distance[1] = 2;
    bad[2].distance[0] = 1;
    bad[3].members[0][1] = 0;
    bad[4].members[0][1] = 7;
    bad[5].epsilon[0] = 0;
    bad[6].distance[1] = -1;
    static const char *const names[] = {
        "datasets", "distance", "distance", "universes[0].members", "universes[0].members", "universes[0].epsilon", "distance"};
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(scales_of(scales, &bad[i], &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, names[i], strlen(names[i])), 0);
    }
    tamis_finite none = {.datasets = 2, .outputs = 1};
    assert_int_equal(tamis_laplace_scales(NULL, &none, &err), TAMIS_INVALID);
    assert_int_equal(tamis_laplace_scales(scales, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_laplace_scales(scales, &none, &err), TAMIS_INVALID);
    static const size_t sizes[] = {0, SIZE_MAX};
    for (size_t i = 0; i < 2; i++) { /* too few and too many */
        assert_int_equal(tamis_laplace_scales(scales, &(tamis_finite){.datasets = 2, .outputs = sizes[i]}, &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, "outputs:", 8), 0);
    }
    for (size_t more = 0; more < 2; more++) { /* as many as are offered, and one more */
        const size_t most = 4096 + more;
        assert_int_equal(tamis_laplace_scales(many, &(tamis_finite){.datasets = most, .outputs = 1}, &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, more ? "datasets:" : "q:", more ? 9 : 2), 0);
        assert_int_equal(tamis_laplace_scales(many, &(tamis_finite){.datasets = 1, .outputs = most}, &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, more ? "outputs:" : "q:", more ? 8 : 2), 0);
    }
    tamis_number *one = number("1"), *zero = number("0");
    const tamis_number *q[] = {zero, one}, *distance[] = {zero, one, one, zero};
    const size_t members[] = {0, 1};
    tamis_universe universe = {members, 2, one};
    tamis_finite f = {2, 1, q, distance, &universe, 1};
    EVERY_ALLOCATION_FAILS(tamis_laplace_scales(scales, &f, NULL), assert_true(!scales[0] && !scales[1]));
    tamis_number_free(scales[0]);
    tamis_number_free(scales[1]);
    tamis_number_free(one);
    tamis_number_free(zero);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_universes_are_refused),
        cmocka_unit_test(incomplete_universes_are_refused),
        cmocka_unit_test(the_corrected_theorem_holds),
        cmocka_unit_test(a_lonely_dataset_needs_no_noise),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
