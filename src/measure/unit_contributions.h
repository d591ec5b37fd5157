/* Totals whose plan bounds what a unit adds (`unit_contribution`): the sum C over its rows of the sizes of weight times value.
 *
 * Weight and value are multiplied and put on a public grid, row by row, with M <= 2^24 steps up to C. If the sizes of the points
 * k of the rows of a unit that count add up to T > M, each of them becomes k M / T, rounded towards 0: one factor for all rows
 * of a unit and one number, as if its weights had been multiplied by min(1, C/T), before anything is added. That is done in the
 * integers of the engine (engine/core/engine.h), so that the points of a unit add up to at most M in size whatever a file
 * contains.
 *
 * The rows of a table then weigh these points, and there is no axis for the number: a total is read as a count of such rows
 * would be. A row is in one cell, so that all cells together move by M if a unit comes or goes, and by 2 M if it is replaced by
 * another one, however many cells its rows are in: groups cost nothing. In the second stage the same points, of each group, are
 * added up by clusters or units, and the sampling variance is that of what the release adds up. Where values are on both sides of
 * 0, a cell may move by 2 M: what leaves and what enters may have other signs.
 *
 * Nothing else knows of this factor. Means, shares, ratios, variances and their denominators are read from tables of weights,
 * which `max_unit_weight` alone bounds: numerator and denominator have one factor for each unit, that of the weights. The weights
 * here are those of the rows, not bounded by unit first: min(1, C/T) is all that happens to them. */
#ifndef TMI_MEASURE_UNIT_CONTRIBUTIONS_H
#define TMI_MEASURE_UNIT_CONTRIBUTIONS_H

#include "measure/schedule.h"

/* Sets the grid of a domain that has a number. Errors: INVALID (a bound below one step, or far beyond all that a unit can add),
 * SYSTEM. */
tamis_status tmi_unit_contributions_make(tmi_domain *domain, const tmi_sampling *sampling, tamis_error *err);

/* REFUSED where this is not proved or not needed, with the reason. */
tamis_status tmi_refuse_unit_contributions(const tmi_schedule *schedule, const tmi_plan_statistic *statistic, tamis_error *err);

/* What a row adds at most, in steps. */
static inline int64_t tmi_largest_addition(const tmi_domain *domain)
{
    return domain->grid.high < domain->most_of_unit ? domain->grid.high : domain->most_of_unit;
}

#endif
