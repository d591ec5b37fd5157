/* Profiles keep what they have built for the next question; and memory may fail while they build it. */
#include "tests/test.h"

#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/composition/profiles.h"
#include "tests/num/enclosure.h"

/* A list that only the lattice can do, of every kind of loss that it treats in a way of its own. */
static tamis_status ask_anew(tamis_bound *b, const tamis_profile *const *list, size_t count, const tamis_number *eps,
                             tamis_error *err)
{
    tamis_profile *anew = NULL;
    *b = (tamis_bound){0, 1};
    tamis_status status = tamis_profile_compose(&anew, list, NULL, count, err);
    if (status == TAMIS_OK) status = tamis_profile_delta(b, anew, eps, err);
    tamis_profile_free(anew);
    return status;
}

static tamis_status ask_outsiders(tamis_bound *b, const tamis_profile *p, const tamis_number *rate, const tamis_number *eps,
                                  tamis_error *err)
{
    tamis_outsider *one = NULL, *both = NULL;
    *b = (tamis_bound){0, 1};
    tamis_status status = tamis_outsider_new(&one, p, rate, err);
    const tamis_outsider *twice[] = {one, one};
    if (status == TAMIS_OK) status = tamis_outsider_independent(&both, twice, 2, err);
    if (status == TAMIS_OK) status = tamis_outsider_delta(b, both, eps, err);
    tamis_outsider_free(one);
    tamis_outsider_free(both);
    return status;
}

static void memory_may_fail(void **state)
{
    tamis_number *rate = number("1/4"), *large = number("1000");
    tamis_number *rest = number("3/4");
    const tamis_number *p[] = {rate, rest}, *q[] = {rest, rate};
    tamis_profile *rr = make_profile("rr", "1", "0"), *dg = make_profile("discrete_gaussian", "1", "1"), *z = NULL;
    tamis_outsider *o = NULL;
    tamis_bound b;
    tamis_error err;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_profile_pair(&z, p, q, 2, &err), assert_null(z));
    const tamis_profile *list[] = {dg, z};
    EVERY_ALLOCATION_FAILS(ask_anew(&b, list, 2, large, &err), assert_true(b.lower == 0 && b.upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_outsider_new(&o, rr, rate, &err), assert_null(o));
    EVERY_ALLOCATION_FAILS(ask_outsiders(&b, rr, rate, large, &err), assert_true(b.lower == 0 && b.upper == 1));
    tamis_outsider_free(o);
    tamis_profile *all[] = {rr, dg, z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_profile_free(all[i]);
    tamis_number_free(rest);
    tamis_number_free(rate);
    tamis_number_free(large);
}

/* What is built for one question is there for the next, and changes no answer. */
static void answers_do_not_depend_on_earlier_ones(void **state)
{
    static const release lists[][4] = {
        {{"zcdp", "0.01", "0", 2}, {"rr", "0.2", "0", 3}, {"discrete_gaussian", "9", "1", 2}, {NULL, NULL, NULL, 0}},
        {{"gaussian", "4", "1", 5}, {"laplace", "5", "1", 5}, {"rr", "0.2", "0", 3}, {NULL, NULL, NULL, 0}},
        {{"discrete_laplace", "5", "2", 5}, {"rr", "0.2", "0", 3}, {"discrete_gaussian", "9", "1", 2}, {NULL, NULL, NULL, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        tamis_profile *asked = compose_list(lists[i], 4), *fresh = compose_list(lists[i], 4);
        epsilon_at(asked, "1e-20");
        delta_at(asked, "0.1");
        tamis_bound x = delta_at(asked, "1.5"), y = delta_at(fresh, "1.5");
        assert_true(x.lower == y.lower && x.upper == y.upper);
        tamis_profile_free(asked);
        tamis_profile_free(fresh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_do_not_depend_on_earlier_ones),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
