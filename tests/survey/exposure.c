/* What a design tells privacy: who is drawn how likely, and how far coupled samples are apart. Where a distance is
 * claimed by a theorem, it is checked on small frames: a coupling at that distance exists if and only if (Hall,
 * Strassen) every set of samples with the unit has at least its probability among the samples without it that are
 * within the distance.                                                                                               */
#include "tests/test.h"

#include <math.h>

#include "tests/survey/frames.h"

static void covers_the_frame(const tamis_design *design, const char *name)
{
    tamis_exposure *list;
    size_t count;
    int64_t next = 0;
    assert_int_equal(tamis_design_exposures(&list, &count, design, NULL), TAMIS_OK);
    for (size_t i = 0; i < count; i++) {
        tamis_exposure *e = &list[i];
        if (e->first != next || e->count < 1) fail_msg("%s: exposures leave units out", name);
        if ((e->theorem == NULL) != (e->reason != NULL)) fail_msg("%s: theorem or reason", name);
        double missing = 0;
        for (size_t k = 0; k < e->absence_count; k++) {
            tamis_distance d = e->absences[k].distance;
            if (d.exchanges < 0 || d.additions < 0 || d.exchanges + d.additions == 0) fail_msg("%s: distance", name);
            missing += e->absences[k].probability.lower;
        }
        if (fabs(missing + e->inclusion.lower - 1) > 1e-12) fail_msg("%s: absences and presence", name);
        for (int64_t k = e->first; k < e->first + e->count; k++) {
            tamis_bound pi;
            assert_int_equal(tamis_inclusion_first(&pi, design, &k, 1, NULL), TAMIS_OK);
            if (e->inclusion.lower > pi.upper || e->inclusion.upper < pi.lower)
                fail_msg("%s: inclusion of unit %d", name, (int)k);
        }
        next += e->count;
    }
    if (next != tamis_design_population(design)) fail_msg("%s: exposures end early", name);
    tamis_free(list);
}

/* Records that must be exchanged, or added and removed, to get from one sample to the other. */
static bool within(uint32_t with, uint32_t without, const tamis_distance *e)
{
    int gone = __builtin_popcount(with & ~without), new = __builtin_popcount(without & ~with);
    int swaps = gone < new ? gone : new, more = gone + new - 2 * swaps;
    return swaps <= e->exchanges + e->additions / 2 && more <= e->additions &&
           (swaps <= e->exchanges || 2 * (swaps - e->exchanges) + more <= e->additions);
}

/* Hall's condition over all sets of samples with the unit, if they are few. */
static void couples(const tamis_law *law, int64_t unit, const tamis_distance *e, const char *name)
{
    uint32_t with[16], without[512];
    double p[16], q[512], inside = 0;
    size_t ins = 0, outs = 0;
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        uint32_t set = 0;
        for (size_t i = tamis_law_sample(&units, law, j); i-- > 0;) set |= UINT32_C(1) << units[i];
        double probability = tamis_law_probability(law, j).upper;
        if (set >> unit & 1) {
            if (ins == 16) return;
            with[ins] = set;
            p[ins++] = probability;
            inside += probability;
        } else {
            if (outs == 512) return;
            without[outs] = set;
            q[outs++] = probability;
        }
    }
    for (uint32_t some = 1; some < UINT32_C(1) << ins && outs > 0; some++) {
        double here = 0, near = 0;
        for (size_t i = 0; i < ins; i++) here += some >> i & 1 ? p[i] / inside : 0;
        for (size_t j = 0; j < outs; j++) {
            bool reached = false;
            for (size_t i = 0; i < ins && !reached; i++) reached = some >> i & 1 && within(with[i], without[j], e);
            near += reached ? q[j] / (1 - inside) : 0;
        }
        if (here > near + 1e-9) fail_msg("%s: unit %d has no coupling at the claimed distance", name, (int)unit);
    }
}

static int checked;

static void couplings_exist(const tamis_design *design, const char *name)
{
    tamis_exposure *list;
    tamis_law *law;
    size_t count;
    if (strstr(name, "replacement")) return; /* its theorem is about draws */
    assert_int_equal(tamis_design_exposures(&list, &count, design, NULL), TAMIS_OK);
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (size_t i = 0; i < count; i++)
        for (int64_t k = list[i].first; k < list[i].first + list[i].count; k++, checked++)
            if (list[i].absence_count == 1) couples(law, k, &list[i].absences[0].distance, name);
    tamis_law_free(law);
    tamis_free(list);
}

static void every_design(void **state)
{
    (void)state;
    each_design(covers_the_frame);
    each_design(couplings_exist);
    assert_true(checked > 500);
}

/* Systematic sampling is not at distance 1, and the check sees it. */
static void knows_what_it_claims(void **state)
{
    tamis_design *d = systematic(9, 3, 0), *two = stages(srs(3, 1), srs(4, 2), srs(4, 2), srs(4, 2)),
                 *brewer = pps("brewer", frames[6]), *census_too = pps("sampford", "1 0.5 0.5");
    tamis_exposure *list;
    size_t count;
    (void)state;
    assert_int_equal(tamis_design_exposures(&list, &count, d, NULL), TAMIS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].absences[0].distance.exchanges, 3);
    assert_string_equal(list[0].theorem, "systematic");
    tamis_free(list);
    assert_int_equal(tamis_design_exposures(&list, &count, two, NULL), TAMIS_OK);
    assert_string_equal(list[0].theorem, "two_stage");
    assert_int_equal(list[0].absence_count, 2);
    assert_int_equal(list[0].absences[0].distance.exchanges, 1); /* another unit of the cluster */
    assert_int_equal(list[0].absences[1].distance.exchanges, 2); /* another cluster */
    assert_true(fabs(list[0].inclusion.lower - 1. / 6) < 1e-15);
    assert_true(fabs(list[0].absences[0].probability.lower - 1. / 6) < 1e-15);
    assert_true(fabs(list[0].absences[1].probability.upper - 2. / 3) < 1e-15);
    tamis_free(list);
    assert_int_equal(tamis_design_exposures(&list, &count, brewer, NULL), TAMIS_OK);
    assert_null(list[0].theorem);
    assert_int_equal(list[0].absences[0].distance.exchanges, 3);
    tamis_free(list);
    assert_int_equal(tamis_design_exposures(&list, &count, census_too, NULL), TAMIS_OK);
    assert_string_equal(list[0].theorem, "census");
    assert_string_equal(list[1].theorem, "strongly_rayleigh");
    tamis_free(list);
    tamis_design_free(d);
    tamis_design_free(two);
    tamis_design_free(brewer);
    tamis_design_free(census_too);
}

/* Clusters of one, ten and ten: two of them differ on each side, and one of those with the unit may be small. */
static void unequal_clusters_are_far_apart(void **state)
{
    tamis_design *d = stages(systematic(3, 2, 0), census(1), census(10), census(10));
    tamis_exposure *list;
    size_t count;
    (void)state;
    assert_int_equal(tamis_design_exposures(&list, &count, d, NULL), TAMIS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(list[0].absences[0].distance.additions, 1 + 3 * 10);
    assert_int_equal(list[1].absences[0].distance.additions, 10 + 3 * 10);
    assert_int_equal(list[0].absences[0].distance.exchanges, 0);
    tamis_free(list);
    tamis_design_free(d);
}

/* Pupils of classes of schools, and one stage more than are told apart. */
static void stages_of_stages(void **state)
{
    tamis_design *two = stages(srs(3, 1), srs(4, 2), srs(4, 2), srs(4, 2)), *three, *four;
    tamis_exposure *list;
    size_t count;
    (void)state;
    assert_int_equal(tamis_design_take_stages(&three, srs(1, 1), &two, 1, NULL), TAMIS_OK);
    covers_the_frame(three, "three stages");
    assert_int_equal(tamis_design_exposures(&list, &count, three, NULL), TAMIS_OK);
    assert_int_equal(list[0].absence_count, 3);
    assert_string_equal(list[0].theorem, "two_stage");
    tamis_free(list);
    assert_int_equal(tamis_design_take_stages(&four, srs(1, 1), &three, 1, NULL), TAMIS_OK);
    covers_the_frame(four, "four stages");
    tamis_design_free(four);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_design),
        cmocka_unit_test(unequal_clusters_are_far_apart),
        cmocka_unit_test(stages_of_stages),
        cmocka_unit_test(knows_what_it_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
