/* Sampling variances that are not known well by themselves, and those of other statistics that help (inference/pool.h). */
#ifndef TMI_SCHEDULE_POOLED_H
#define TMI_SCHEDULE_POOLED_H

#include "schedule/schedule.h"

/* Sampling variances of statistics of one kind serve each other where they are not known well: totals, shares, means. Of one
 * pool are those of one kind about the same column, by whatever groups: clusters are alike in a column or they are not, and
 * groups change that little. Counts have no column; of one pool are those by the same groups. */
typedef enum tmi_pooled_kind { TMI_POOLED_TOTALS, TMI_POOLED_SHARES, TMI_POOLED_MEANS } tmi_pooled_kind;

tmi_pooled_kind tmi_pooled_kind_of(const tmi_plan_statistic *statistic);
bool tmi_are_pooled(const tmi_plan_statistic *one, const tmi_plan_statistic *other);

/* The relative precision of a pool's mean that does not come from its own numbers. */
double tmi_pool_prior(const tmi_schedule *schedule);

#endif
