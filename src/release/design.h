/* What a design does to a release: how many rows must be there, what a row weighs, how an estimate varies from sample to
 * sample. One design is one file that fills this struct; design.c lists them.                                        */
#ifndef TMI_RELEASE_DESIGN_H
#define TMI_RELEASE_DESIGN_H

#include "base/text.h"
#include "plan/plan.h"

typedef struct tmi_design {
    const char *name;

    /* "simple random sample of 200 out of 6,194", for people. */
    void (*describe)(tmi_text *text, const tmi_plan_design *design);

    /* Rows of the file. The number is declared, public and the same for all neighbours, so it may be checked and told
     * before anything is spent. */
    int64_t (*row_count)(const tmi_plan_design *design);

    /* Units of the population that a row stands for. */
    tamis_status (*weight)(tamis_number **weight, const tmi_plan_design *design, tamis_error *err);

    /* Variance of the Horvitz-Thompson total of z, from the sum of (z - mean z)^2 over the rows of the sample. */
    double (*variance)(const tmi_plan_design *design, double squares);

    /* First-stage units minus strata. */
    int64_t (*degrees)(const tmi_plan_design *design);

    /* From the loss of a sampled unit to that of an outsider, by a theorem; NULL: there are no outsiders. */
    tamis_status (*amplify)(tamis_bound *epsilon, tamis_bound *delta, const tmi_plan_design *design,
                            const tamis_number *sampled_epsilon, const tamis_number *sampled_delta, tamis_error *err);
} tmi_design;

extern const tmi_design tmi_design_srs, tmi_design_census;

const tmi_design *tmi_design_of(const tmi_plan_design *design);

#endif
