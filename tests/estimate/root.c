/* Roots against R's uniroot: the same best point, to the last bit or nearly, after as many calls. R's numbers come from
 *     n <- 0; u <- uniroot(function(x) { n <<- n + 1; f(x) }, c(low, high), tol = tolerance)      R 4.2.2
 * which calls f twice at the ends and once at the root besides. */
#include "tests/test.h"

#include <math.h>

#include "estimate/root.h"

static double cubic(double x) { return x * x * x - 2; }
static double cosine(double x) { return cos(x) - x; }
static double jump(double x) { return x < 1.234 ? -1 : 2; }
static double stairs(double x) { return floor(x * 3) - 4.5; }
static double steep(double x) { return exp(x) - 1e6; }
static double infinite(double x) { return x > 0.3 ? INFINITY : -1; }
static double undefined(double x) { return x > 0.6 && x < 1.9 ? NAN : x * x * x - 0.2; }
static double descending(double x) { return -floor(10 * x) + 0.1; }
static double line(double x) { return x; }

typedef struct counted {
    double (*function)(double);
    int calls;
} counted;

static tamis_status call(double *value, double place, void *context, tamis_error *err)
{
    (void)err;
    counted *c = context;
    c->calls++;
    *value = c->function(place);
    return TAMIS_OK;
}

static void roots_are_those_of_r(void **state)
{
    (void)state;
    static const struct {
        double (*function)(double);
        double low, high, tolerance, root;
        int calls;
    } cases[] = {
        {cubic, 0, 3, 1e-3, 1.2599043367375089, 10},
        {cosine, 0, 2, 1e-6, 0.73908513322516611, 9},
        {jump, 0, 5, 0.01, 1.229423868312757, 13},
        {stairs, 0, 10, 0.05, 1.6379206730769231, 7},
        {steep, 0, 100, 1e-9, 13.815510557964275, 21},
        {line, 0, 1, 1e-3, 0, 3},
        {line, -1, 0, 1e-3, 0, 3},
        {infinite, -1, 1, 1e-3, 0.29989306640625013, 20},
        {undefined, -1, 2, 1e-2, 0.58550860167344809, 14},
        {descending, -7, 9, 0.001, 0.099520626704620641, 27},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        counted c = {.function = cases[i].function};
        const tmi_root_point low = {cases[i].low, c.function(cases[i].low)}, high = {cases[i].high, c.function(cases[i].high)};
        double root;
        assert_int_equal(tmi_root(&root, low, high, cases[i].tolerance, call, &c, NULL), TAMIS_OK);
        if (fabs(root - cases[i].root) > 1e-14 * fabs(root) || c.calls + 3 != cases[i].calls)
            fail_msg("case %zu: %.17g after %d calls", i, root, c.calls + 3);
    }
}

static tamis_status refuse(double *value, double place, void *context, tamis_error *err)
{
    (void)value, (void)place, (void)context, (void)err;
    return TAMIS_SYSTEM;
}

static void an_error_of_the_function_is_returned(void **state)
{
    (void)state;
    double root;
    assert_int_equal(tmi_root(&root, (tmi_root_point){0, -1}, (tmi_root_point){1, 1}, 0.1, refuse, NULL, NULL), TAMIS_SYSTEM);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(roots_are_those_of_r),
        cmocka_unit_test(an_error_of_the_function_is_returned),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
