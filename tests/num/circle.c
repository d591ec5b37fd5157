/* A badly chosen circle makes the enclosure wide, never wrong: few points, strong aliases, points left out. */
#include "tests/test.h"

#include "num/circle.h"
#include "num/law/law.h"
#include "tests/num/enclosure.h"
#include "tests/num/tails.h"
#include "tests/num/trials.h"

#define BITS 256

static void bad_circles_still_enclose(void **state)
{
    static const double tilts[] = {-1.5, -0.3, 0.05, 0.4, 1.5, 4}, reaches[] = {0.04, 0.3, 1.2};
    static const int64_t points[] = {3, 5, 9, 15, 31, 63}, left_out[] = {0, 1, 5};
    tamis_number *p = number("0.3"), *q = number("0.7");
    tamis_trials trials[] = {{p, 20}, {q, 10}};
    tmi_circle_group groups[] = {{.count = 20}, {.count = 10}};
    tmi_circle_law circle_law = {groups, 2, 30};
    tmi_law law;
    tmi_ball value, truth;
    int narrow = 0;
    (void)state;
    tmi_ball_init(&value);
    tmi_ball_init(&truth);
    for (int g = 0; g < 2; g++) {
        tmi_ball_init(&groups[g].success);
        tmi_ball_init(&groups[g].failure);
        tmi_ball_set_number(&groups[g].success, g == 0 ? p : q, BITS);
        tmi_ball_set_number(&groups[g].failure, g == 0 ? q : p, BITS);
    }
    assert_int_equal(law_of_trials(&law, &(tmi_trials){trials, 2}, (tmi_window){1e-300, BITS}), TAMIS_OK);
    for (int64_t k = 1; k < 30; k += 2)
        for (int tail = 0; tail < 2; tail++)
            for (size_t t = 0; t < sizeof tilts / sizeof *tilts; t++)
                for (size_t h = 0; h < sizeof reaches / sizeof *reaches; h++)
                    for (size_t m = 0; m < sizeof points / sizeof *points; m++)
                        for (size_t o = 0; o < sizeof left_out / sizeof *left_out; o++) {
                            tmi_circle c = {tilts[t], reaches[h], points[m], (points[m] - 1) / 2 - left_out[o]};
                            if (c.computed < 0 || (tail && c.reach >= c.tilt)) continue;
                            assert_int_equal(tmi_circle_part(&value, &circle_law, tail, k, &c, BITS, NULL), TAMIS_OK);
                            if (tail) law_at_least(&truth, &law, k, BITS);
                            else tmi_law_mass(&truth, &law, k, BITS);
                            assert_false(tmi_ball_is_less(&value, &truth) || tmi_ball_is_less(&truth, &value));
                            tamis_bound b = tmi_ball_bound(&value);
                            narrow += b.upper - b.lower < 1e-12 * b.upper;
                        }
    assert_true(narrow > 100);
    for (int g = 0; g < 2; g++) {
        tmi_ball_clear(&groups[g].success);
        tmi_ball_clear(&groups[g].failure);
    }
    tmi_law_clear(&law);
    tmi_ball_clear(&value);
    tmi_ball_clear(&truth);
    tamis_number_free(p);
    tamis_number_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_circles_still_enclose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
