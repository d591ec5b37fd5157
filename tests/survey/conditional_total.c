/* Means and variances of the Horvitz-Thompson total given a unit: against the samples themselves, in exact numbers, for
 * every design on every small frame.                                                                                */
#include "tests/test.h"

#include <math.h>

#include "survey/design/design.h"
#include "tests/base/memory_that_fails.h"
#include "tests/survey/frames.h"

static const char *const values[] = {"3", "-1/2", "0", "7/3", "1", "1", "-4", "100"};

static void read_values(tamis_number *x[FRAME_UNITS], size_t N)
{
    for (size_t i = 0; i < N; i++) assert_int_equal(tamis_number_read(&x[i], values[i % 8], NULL), TAMIS_OK);
}

static void free_values(tamis_number *x[FRAME_UNITS], size_t N)
{
    for (size_t i = 0; i < N; i++) tamis_number_free(x[i]);
}

/* The totals of all samples. */
static tmi_ball *totals(const tamis_law *law, tamis_number *const *x)
{
    tmi_ball y[FRAME_UNITS], *t = tmi_balls_new(tamis_law_count(law)), pi;
    size_t N = (size_t)tamis_law_population(law);
    tmi_ball_init(&pi);
    for (size_t i = 0; i < N; i++) {
        tmi_ball_init(&y[i]);
        tmi_ball_set_number(&y[i], x[i], 256);
        tmi_sample_law_set_ball(&pi, law, UINT32_C(1) << i, 256);
        tmi_ball_div(&y[i], &y[i], &pi, 256);
    }
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        size_t size = tamis_law_sample(&units, law, j);
        for (size_t i = 0; i < size; i++)
            if (i == 0 || units[i] != units[i - 1]) tmi_ball_add(&t[j], &t[j], &y[units[i]], 256);
    }
    for (size_t i = 0; i < N; i++) tmi_ball_clear(&y[i]);
    tmi_ball_clear(&pi);
    return t;
}

static bool holds(const tamis_law *law, size_t j, int64_t unit)
{
    const uint8_t *units;
    size_t size = tamis_law_sample(&units, law, j);
    for (size_t i = 0; i < size; i++)
        if (units[i] == unit) return true;
    return false;
}

/* Sum of p(s) (t(s) - centre)^power over the samples with the unit, or without; divided by sum of p(s). */
static void moment(tmi_ball *m, const tamis_law *law, const tmi_ball *t, int64_t unit, bool with, const tmi_ball *centre,
                   int power)
{
    tmi_ball p, gap, all;
    tmi_ball_init(&p);
    tmi_ball_init(&gap);
    tmi_ball_init(&all);
    tmi_ball_set_int(m, 0);
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        if (holds(law, j, unit) != with) continue;
        tmi_sample_law_ball(&p, law, j, 256);
        tmi_ball_add(&all, &all, &p, 256);
        tmi_ball_sub(&gap, &t[j], centre, 256);
        for (int k = 0; k < power; k++) tmi_ball_mul(&p, &p, &gap, 256);
        tmi_ball_add(m, m, &p, 256);
    }
    tmi_ball_div(m, m, &all, 256);
    tmi_ball_clear(&p);
    tmi_ball_clear(&gap);
    tmi_ball_clear(&all);
}

static bool agrees(tamis_bound told, const tmi_ball *known)
{
    tamis_bound b = tmi_ball_bound(known);
    return told.lower <= b.upper && b.lower <= told.upper &&
           told.upper - told.lower <= fmax(1e-12 * fmax(fabs(told.lower), fabs(told.upper)), 1e-35);
}

static void one_unit(const tamis_law *law, tamis_number *const *x, const tmi_ball *t, int64_t unit, const char *name)
{
    tamis_moments told[2];
    tmi_ball zero, mean, variance;
    tamis_error err = {0};
    size_t with = 0;
    for (size_t j = 0; j < tamis_law_count(law); j++) with += holds(law, j, unit);
    tamis_status status = tamis_ht_given(&told[0], &told[1], law, (const tamis_number *const *)x, unit, &err);
    if (with == tamis_law_count(law)) {
        assert_int_equal(status, TAMIS_INVALID);
        assert_string_equal(err.message, "unit: is in every sample");
        return;
    }
    if (status != TAMIS_OK) fail_msg("%s, unit %d: %s", name, (int)unit, err.message);
    tmi_ball_init(&zero);
    tmi_ball_init(&mean);
    tmi_ball_init(&variance);
    for (int side = 0; side < 2; side++) {
        moment(&mean, law, t, unit, side == 0, &zero, 1);
        moment(&variance, law, t, unit, side == 0, &mean, 2);
        if (!agrees(told[side].mean, &mean)) fail_msg("%s: mean, unit %d, side %d", name, (int)unit, side);
        if (!agrees(told[side].variance, &variance))
            fail_msg("%s: variance, unit %d, side %d: [%.17g, %.17g]", name, (int)unit, side, told[side].variance.lower,
                     told[side].variance.upper);
    }
    tmi_ball_clear(&zero);
    tmi_ball_clear(&mean);
    tmi_ball_clear(&variance);
}

static void all_units(const tamis_design *design, const char *name)
{
    int64_t N = tamis_design_population(design);
    tamis_number *x[FRAME_UNITS];
    tamis_law *law = NULL;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    read_values(x, (size_t)N);
    tmi_ball *t = totals(law, x);
    for (int64_t unit = 0; unit < N; unit++) one_unit(law, x, t, unit, name);
    tmi_balls_free(t, tamis_law_count(law));
    free_values(x, (size_t)N);
    tamis_law_free(law);
}

static void every_design(void **state)
{
    (void)state;
    each_design(all_units);
}

/* 2 of 3 units, values 1, 10, 100, weights 3/2: with unit 0 the total is 3/2 (1 + 10 or 100), without it 165. */
static void known_numbers(void **state)
{
    tamis_design *design = srs(3, 2);
    tamis_law *law;
    tamis_number *x[3];
    tamis_moments in, out;
    (void)state;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(tamis_number_read(&x[i], i == 0 ? "1" : i == 1 ? "10" : "100", NULL), TAMIS_OK);
    assert_int_equal(tamis_ht_given(&in, &out, law, (const tamis_number *const *)x, 0, NULL), TAMIS_OK);
    assert_true(in.mean.lower <= 84 && in.mean.upper >= 84 && in.mean.upper - in.mean.lower < 1e-10);
    assert_true(in.variance.lower <= 4556.25 && in.variance.upper >= 4556.25 && in.variance.upper - in.variance.lower < 1e-8);
    assert_true(out.mean.lower <= 165 && out.mean.upper >= 165 && out.mean.upper - out.mean.lower < 1e-9);
    assert_true(out.variance.lower == 0 && out.variance.upper < 1e-40);
    for (int i = 0; i < 3; i++) tamis_number_free(x[i]);
    tamis_law_free(law);
    tamis_design_free(design);
}

static void refuses_bad_input(void **state)
{
    tamis_design *design = srs(3, 2);
    tamis_law *law, *fixed;
    tamis_number *one;
    tamis_moments in, out;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_number_read(&one, "1", NULL), TAMIS_OK);
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    assert_int_equal(tamis_law_given(&fixed, 3, (int64_t[]){0}, (size_t[]){1}, (const tamis_number *const[]){one}, 1, NULL),
                     TAMIS_OK);
    const tamis_number *const x[] = {one, one, one}, *const gap[] = {one, NULL, one};
    const struct {
        const tamis_law *law;
        const tamis_number *const *x;
        int64_t unit;
        const char *word;
    } cases[] = {{NULL, x, 0, "law:"},
                 {law, NULL, 0, "x:"},
                 {law, gap, 0, "x[1]:"},
                 {law, x, -1, "unit:"},
                 {law, x, 3, "unit:"},
                 {law, x, INT64_MAX, "unit:"},
                 {fixed, x, 0, "unit: is in every"},
                 {fixed, x, 1, "unit: is in no"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tamis_ht_given(&in, &out, cases[i].law, cases[i].x, cases[i].unit, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, cases[i].word));
        assert_true(in.mean.lower == -INFINITY && out.variance.upper == INFINITY);
    }
    assert_int_equal(tamis_ht_given(NULL, &out, law, x, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_given(&in, NULL, law, x, 0, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_ht_given(&in, &out, law, x, 0, NULL), assert_true(in.mean.upper == INFINITY));
    tamis_number_free(one);
    tamis_law_free(law);
    tamis_law_free(fixed);
    tamis_design_free(design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_design),
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
