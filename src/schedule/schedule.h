/* Makes the schedule of a plan (measure/schedule.h): reads the frame, chooses the tables or takes those of a certificate, and
 * settles sensitivities, scales and the loss. Nothing of the data is read.
 *
 * A schedule is all that a release will do, before a value is known: the noisy tables, each with its part of the budget and the
 * law of its noise; how every statistic is read from them; and which quantiles a mechanism chooses. The tables are measured in
 * two stages. Those of the first have the rows and sums that estimates are made of, and in simple designs the squares that
 * sampling errors are made of. With clusters or unequal weights sampling errors are integers of the second stage, whose
 * coefficients follow from the noisy tables of the first (standard_errors.h); their noise is fixed and drawn as early as all
 * other. */
#ifndef TMI_SCHEDULE_SCHEDULE_H
#define TMI_SCHEDULE_SCHEDULE_H

#include "measure/schedule.h"

/* The tables that were chosen, and the facts of the frame, as they are in a certificate. */
typedef struct tmi_certified_tables {
    tmi_gaussian gaussian; /* the noise of the tables; the parts are rhos if it is Gaussian, else epsilons */
    bool separate_strata;  /* strata are measured apart */
    bool shared_classes;   /* statistics share the classes of a column (workload.h) */
    int64_t clamped;       /* the bound of weights in totals of PSUs, in points of their grid; 0 if the certificate has none */
    tmi_marginal *marginals;
    tamis_number **parts; /* one per table */
    size_t count;
    const tmi_frame_facts *frame; /* NULL if the plan has no frame */
    const tmi_psu_facts *psus;    /* NULL if it has no list of clusters */
} tmi_certified_tables;

/* Makes a schedule. Without `certified` tables they are chosen now, and the frame is read from its file. Otherwise their parts
 * must add up to no more than the plan allows, and they must determine all statistics.
 *
 * Errors   INVALID (a scale out of range: names statistic and reason), REFUSED (the setting), UNABLE, SYSTEM; the schedule
 *          is then empty. */
tamis_status tmi_schedule_make(tmi_schedule *schedule, const tamis_plan *plan, const tmi_certified_tables *certified,
                               tamis_error *err);

/* The same with a watch, which the schedule keeps. */
tamis_status tmi_schedule_make_watched(tmi_schedule *schedule, const tamis_plan *plan, const tmi_certified_tables *certified,
                                       tmi_watch *watch, tamis_error *err);
void tmi_schedule_clear(tmi_schedule *schedule);

/* The invariants of a schedule that was made (base/check.h): every table has cells, a part of the budget and laws with scales;
 * every statistic is known or read from tables of the list; the parts, with those of the quantile tasks, add up to what is
 * spent. */
bool tmi_schedule_is_sound(const tmi_schedule *schedule);

/* Chooses the tables: `measurements` with their marginals and parts of the budget, `workload`, `gaussian` (choose.c). Errors: as
 * above. */
tamis_status tmi_schedule_choose(tmi_schedule *schedule, const bool *known, tamis_error *err);

/* INVALID if some statistic cannot be read from the measurements (determined.c). */
tamis_status tmi_schedule_check_determined(const tmi_schedule *schedule, tamis_error *err);

#endif
