/* Totals whose rows bring weights add up contributions, weight times value, and what counts is their bound: a number that the
 * plan gives (`contribution`), or the largest weight times bound over the units of a frame (`to: {times, of}`), not the largest
 * weight times the end of the range.
 *
 * A contribution is put on a public grid of at most 2^24 steps, row by row, and clamped to its ends. From there on it is a
 * number like any other, and rows weigh nothing: a table of it has the sensitivity of a row, whatever the weights are. A row
 * without a weight or value contributes 0.
 *
 * Where bounds are relative to a size, units that are certain to be drawn (weight 1, large sizes) would set the bound for all.
 * They are measured apart, on a grid of as many steps that are larger. A certain unit is in every sample, so that a replaced
 * record stays among the certain units or among the others, and the loss of the two parts is that of one of them. They have no
 * sampling variance.
 *
 * The sampling variance of the others is n/(n-1) times their squares about the mean, times 1 - n/N: Hajek's formula, which
 * weighs each square with its own 1 - p, as if squares had nothing to do with probabilities. Large units, with small 1 - p,
 * mostly have the large squares, and then this is more than that formula says. Where the size of the sample is not fixed there
 * is no mean to take off, and no 1 - p. */
#ifndef TMI_MEASURE_CONTRIBUTIONS_H
#define TMI_MEASURE_CONTRIBUTIONS_H

#include "measure/schedule.h"

/* Whether a statistic is read from contributions. */
bool tmi_is_contributed(const tmi_plan_statistic *statistic);

/* REFUSED where contributions are not proved or not needed, with the reason. */
tamis_status tmi_refuse_contributions(const tmi_schedule *schedule, const tmi_plan_statistic *statistic, tamis_error *err);

/* Sets the grids of a contributed axis, one per part. Errors: INVALID (a bound below one step), SYSTEM. */
tamis_status tmi_contribution_grids(tmi_origin *origin, const tmi_sampling *sampling, const tmi_plan_column *column,
                                    tamis_error *err);

/* How many parts are measured apart: 2 if units that are certain to be drawn are kept from the others, else 1. */
size_t tmi_contribution_parts(const tamis_plan *plan, const tmi_sampling *sampling);

/* The weighting of the tables that a statistic is read from, and where its sampling variance comes from. */
tmi_weighting tmi_weighting_of(const tmi_schedule *schedule, size_t statistic);
tmi_variance_source tmi_variance_source_for(const tmi_schedule *schedule, size_t statistic);

/* The factor of a part's squares in the sampling variance, which is 0 for certain units; and its number of rows, 0 if that is not
 * public. */
double tmi_contribution_spread(const tmi_sampling *sampling, size_t part);
int64_t tmi_contribution_rows(const tmi_sampling *sampling, size_t part);

/* Whether the sampling variance of a contrast can be read from products of its columns (tmi_has_products): where those of its
 * numbers are read from their squares. */
bool tmi_reads_products(const tmi_schedule *schedule, size_t contrast);

/* Whether any statistic that is not known is read from contributions. */
bool tmi_has_contributed(const tmi_schedule *schedule);

/* What one step of a value of a unit of the frame adds, in steps of the contribution times 2^shift of its origin. */
int64_t tmi_contribution_factor(const tmi_schedule *schedule, const tmi_origin *origin, size_t unit);

/* Whether a unit of the frame is in the part of certain ones. */
static inline bool tmi_is_certain(const tmi_schedule *schedule, size_t unit) { return schedule->frame.pi[unit] == 1; }

#endif
