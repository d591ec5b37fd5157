/* What is claimed for a design, and a few designs more; for the tests of this folder. */
#ifndef TESTS_AMPLIFICATION_CLAIMS_H
#define TESTS_AMPLIFICATION_CLAIMS_H

#include <math.h>
#include <tamis/experimental/amplification.h>

#include "tests/survey/frames.h"

static inline tamis_status claim(tamis_amplified *a, const tamis_design *design, const char *eps, const char *delta,
                                 tamis_neighbours neighbours, tamis_neighbours mechanism, tamis_error *err)
{
    tamis_number *e, *d;
    assert_int_equal(tamis_number_read(&e, eps, NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&d, delta, NULL), TAMIS_OK);
    tamis_status status = tamis_amplify_design(
        a, design, &(tamis_sample_promise){.eps = e, .delta = d, .neighbours = neighbours, .mechanism = mechanism}, err);
    tamis_number_free(e);
    tamis_number_free(d);
    return status;
}

static inline double claimed(const tamis_design *design, const char *eps, tamis_neighbours neighbours, tamis_neighbours mechanism)
{
    tamis_amplified a;
    tamis_error err;
    if (claim(&a, design, eps, "0", neighbours, mechanism, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_true(a.eps.upper - a.eps.lower <= 1e-9 * a.eps.upper && a.delta.upper == 0);
    double upper = a.eps.upper;
    tamis_amplified_clear(&a);
    return upper;
}

static inline tamis_design *clusters(tamis_design *first, int64_t x, int64_t y)
{
    tamis_design *design = NULL;
    assert_int_equal(tamis_design_take_stages(&design, first, (tamis_design *[]){census(x), census(y)}, 2, NULL), TAMIS_OK);
    return design;
}

/* Two clusters, and the same sample in each. */
static inline tamis_design *two_of(tamis_design *first, int64_t units, int64_t taken)
{
    tamis_design *design = NULL;
    tamis_design *second[] = {srs(units, taken), srs(units, taken)};
    assert_int_equal(tamis_design_take_stages(&design, first, second, 2, NULL), TAMIS_OK);
    return design;
}

/* The same with a systematic sample in each, in a public order. */
static inline tamis_design *two_of_systematic(tamis_design *first, int64_t units, int64_t taken)
{
    tamis_design *design = NULL;
    tamis_design *second[] = {systematic(units, taken, 0), systematic(units, taken, 0)};
    assert_int_equal(tamis_design_take_stages(&design, first, second, 2, NULL), TAMIS_OK);
    return design;
}

#endif
