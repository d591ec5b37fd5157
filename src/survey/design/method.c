#include "survey/design/method.h"

#include <string.h>

static tamis_status srs(tamis_design **design, int64_t population, int64_t sample, const tamis_number *rate, tamis_error *err)
{
    (void)rate;
    return tamis_design_srs(design, population, sample, err);
}

static tamis_status srs_with_replacement(tamis_design **design, int64_t population, int64_t sample, const tamis_number *rate,
                                         tamis_error *err)
{
    (void)rate;
    return tamis_design_srs_with_replacement(design, population, sample, err);
}

static tamis_status bernoulli(tamis_design **design, int64_t population, int64_t sample, const tamis_number *rate,
                              tamis_error *err)
{
    (void)sample;
    return tamis_design_bernoulli(design, population, rate, err);
}

static tamis_status systematic(tamis_design **design, int64_t population, int64_t sample, const tamis_number *rate,
                               tamis_error *err)
{
    (void)rate;
    return tamis_design_systematic(design, population, sample, false, err);
}

static const tmi_method methods[] = {
    [TAMIS_METHOD_SRS] = {.name = "srs", .equal = srs},
    [TAMIS_METHOD_SRS_WITH_REPLACEMENT] = {.name = "srs_with_replacement",
                                           .equal = srs_with_replacement,
                                           .with_replacement = true},
    [TAMIS_METHOD_BERNOULLI] = {.name = "bernoulli", .equal = bernoulli, .by_rate = true},
    [TAMIS_METHOD_POISSON] = {.name = "poisson", .unequal = &tmi_poisson},
    [TAMIS_METHOD_CONDITIONAL_POISSON] = {.name = "conditional_poisson",
                                          .unequal = &tmi_conditional_poisson,
                                          .slow = true,
                                          .joint_by_list = true},
    [TAMIS_METHOD_SAMPFORD] = {.name = "sampford", .unequal = &tmi_sampford, .slow = true, .joint_by_list = true},
    [TAMIS_METHOD_PIVOTAL] = {.name = "pivotal", .unequal = &tmi_pivotal},
    [TAMIS_METHOD_PIVOTAL_RANDOM] = {.name = "pivotal_random", .unequal = &tmi_pivotal_random},
    [TAMIS_METHOD_SYSTEMATIC] = {.name = "systematic", .equal = systematic, .unequal = &tmi_systematic_pps},
    [TAMIS_METHOD_SYSTEMATIC_RANDOM] = {.name = "systematic_random", .equal = srs, .unequal = &tmi_systematic_random},
    [TAMIS_METHOD_BREWER] = {.name = "brewer", .unequal = &tmi_brewer, .slow = true, .joint_by_list = true},
    [TAMIS_METHOD_TILLE] = {.name = "tille", .unequal = &tmi_tille, .joint_by_list = true},
};
#define METHODS (sizeof methods / sizeof *methods)
_Static_assert(METHODS == TAMIS_METHOD_CONDITIONAL_POISSON + TMI_PPS_METHODS, "pps methods are the last ones");

const tmi_method *tmi_method_row(tamis_method method)
{
    return method != TAMIS_METHOD_NONE && (size_t)method < METHODS ? &methods[method] : NULL;
}

tamis_method tmi_method_pps(size_t i) { return (tamis_method)(TAMIS_METHOD_CONDITIONAL_POISSON + i); }

const char *tamis_method_name(tamis_method method)
{
    const tmi_method *row = tmi_method_row(method);
    return row ? row->name : NULL;
}

tamis_status tamis_method_of_name(tamis_method *method, const char *name, tamis_error *err)
{
    if (!method) return tmi_fail(err, TAMIS_INVALID, "method: NULL");
    *method = TAMIS_METHOD_NONE;
    if (!name) return tmi_fail(err, TAMIS_INVALID, "name: NULL");
    for (size_t i = TAMIS_METHOD_SRS; i < METHODS; i++)
        if (strcmp(name, methods[i].name) == 0) {
            *method = (tamis_method)i;
            return TAMIS_OK;
        }
    if (strcmp(name, "midzuno") == 0)
        return tmi_fail(err, TAMIS_REFUSED,
                        "method: Midzuno's sampling is not supported: no coupling is proved for it, so an outsider would have "
                        "the guarantee of a sampled person; use sampford or conditional_poisson");
    return tmi_fail(err, TAMIS_INVALID,
                    "method: must be srs, srs_with_replacement, bernoulli, systematic, systematic_random, poisson, pivotal, "
                    "pivotal_random, conditional_poisson, sampford, brewer or tille");
}
