/* A plan whose target is the epsilon of outsiders, people of the frame of whom nobody knows whether they were sampled:
 *
 *     privacy: {outsider: 0.5, insider: 5, ...}        budget: {outsider: 1, insider: 8}
 *
 * Every stratum h has an epsilon of its own, the largest B_h <= insider at which its outsiders lose no more than the target,
 * rounded down to ten digits (amplification/budgets.c). That is sound where strata are public, fixed for every unit of the frame
 * and sampled independently of each other, and the sample is secret. Fix the draws of the other strata: all samples that are
 * compared differ in records of h alone, so a sampled person of h loses what measurements say about exchanging one record of h
 * for another unit's, added up, whatever they say about other strata; and the sampling in h hides that, once, from outsiders
 * of h. It fails if a record may change its stratum.
 *
 * Refused: strata that are protected, no strata, a sample that is not secret, clusters and draws with replacement, units of
 * several rows (they may be in several strata), waves (an outsider's budget is one of one sample), quantiles that a mechanism
 * chooses (it has one epsilon for all strata).                                                                          */
#ifndef TMI_PLAN_OUTSIDERS_H
#define TMI_PLAN_OUTSIDERS_H

#include "plan/plan.h"
#include "plan/schema.h"

/* Strata of such a plan: the ledger keeps a sum for each. */
#define TMI_MAX_TARGET_STRATA 1000

/* Whether `epsilons`, one per stratum of the plan (the caller counted them), follow from a target for outsiders: a theorem covers
 * the plan, no outsider loses more than the target, and each is the largest such epsilon but for about its last digit, which
 * depends on how far logarithms are computed. Of a plan that was read from a certificate nothing is taken for granted.
 *
 * Errors   SYSTEM. */
tamis_status tmi_target_follows(bool *follows, const tamis_plan *plan, tamis_number *const *epsilons,
                                const tamis_number *outsider, const tamis_number *insider, tamis_error *err);

/* Sets `epsilon` and `by_stratum` of the privacy and of the budget, where they have a target; complains where no theorem covers
 * the plan. The design was read. */
void tmi_read_targets(tmi_reader *reader, const tmi_value *root, tamis_plan *plan);

/* The rest of the plan does what such a target needs. */
void tmi_check_targets(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan);

#endif
