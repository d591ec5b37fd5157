/* The numbers of Bailie and Drechsler, "settings" in docs/papers.md. Its theorem 4.1 is checked against every small
 * mechanism in tests/amplification/srs.c. */
#include "tests/test.h"

#include <stdlib.h>

#include "tests/num/enclosure.h"

static tamis_bound amplified(int64_t N, int64_t n, const char *eps)
{
    tamis_number *e = number(eps), *zero = number("0");
    tamis_bound z, delta;
    assert_int_equal(tamis_amplify_srs(&z, &delta, N, n, e, zero, NULL), TAMIS_OK);
    tamis_number_free(e);
    tamis_number_free(zero);
    return z;
}

static tamis_bound composed(int64_t N, int64_t n, const char *first, const char *second)
{
    tamis_number *e1 = number(first), *e2 = number(second);
    const tamis_number *list[] = {e1, e2};
    tamis_bound z;
    assert_int_equal(tamis_compose_srs(&z, N, n, list, 2, NULL), TAMIS_OK);
    tamis_number_free(e1);
    tamis_number_free(e2);
    return z;
}

/* Section 5.2: two releases with losses 1 and 2 from one sample of a tenth. */
static void example_of_section_5_2(void **state)
{
    (void)state;
    tamis_bound first = amplified(10, 1, "1"), second = amplified(10, 1, "2"), both = composed(10, 1, "1", "2");
    assert_true(first.lower > 0.158565 && first.upper < 0.158566);                               /* 0.16 */
    assert_true(second.lower > 0.494028 && second.upper < 0.494029);                             /* 0.49 */
    assert_true(first.lower + second.lower > 0.652593 && first.upper + second.upper < 0.652594); /* 0.65, naive */
    assert_true(both.lower > 1.067655 && both.upper < 1.067656);                                 /* 1.07 */
}

/* Figure 5.1: e^correct - e^naive = f (1-f) (e^e1 - 1)(e^e2 - 1), so the naive sum is always too small. */
static void excess_of_figure_5_1(void **state)
{
    static const char *const eps[] = {"0.001", "0.1", "0.5", "1", "3"};
    (void)state;
    for (int64_t n = 1; n <= 20; n++) {
        for (size_t i = 0; i < 5; i++) {
            for (size_t j = 0; j < 5; j++) {
                double f = (double)n / 20, e1 = strtod(eps[i], NULL), e2 = strtod(eps[j], NULL);
                double right = exp(composed(20, n, eps[i], eps[j]).upper);
                double naive = exp(amplified(20, n, eps[i]).upper + amplified(20, n, eps[j]).upper);
                double excess = f * (1 - f) * expm1(e1) * expm1(e2);
                assert_true(fabs(right - naive - excess) < 1e-13 * right);
                assert_true(excess >= 0);
            }
        }
    }
}

/* For small losses the naive sum is nearly right, whatever f is. */
static void small_losses_nearly_add_up(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 20; n++) {
        double naive = 2 * amplified(20, n, "1e-6").upper, right = composed(20, n, "1e-6", "1e-6").upper;
        assert_true(right >= naive * (1 - 1e-12) && right < naive * (1 + 1e-6));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_of_section_5_2),
        cmocka_unit_test(excess_of_figure_5_1),
        cmocka_unit_test(small_losses_nearly_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
