/* Records as grid points by cell, with weights and counts: for mechanisms that choose a value, such as quantiles, and cannot work
 * from sums.
 *
 * Like everything that leaves an engine for a release these are integers, each made from one row by itself. The list is in a
 * canonical order and equal records are one entry, so neither the row order, threads, parts nor the kind of engine change a bit
 * of it. Nothing else of a row is handed out. */
#ifndef TMI_ENGINE_CORE_POINTS_H
#define TMI_ENGINE_CORE_POINTS_H

#include "engine/core/engine.h"

/* One list of records. A weight outside of 0 ... max_weight counts as the nearer end.
 *
 * With `unit`, the rows that count are those of tmi_points_plan's request (see tmi_request): which they are depends on the
 * columns of this list, so two lists with one key may keep different rows of a unit, each at most rows_per_unit. */
typedef struct tmi_points_request {
    const tmi_column *value;     /* with grid points */
    const tmi_column *weight;    /* with grid points; NULL: every row weighs 1 */
    int64_t max_weight;          /* with `weight`: 0 < max_weight < 2^52 */
    const tmi_column *const *by; /* with codes; the cell of a row as in tmi_table, at most TMI_MAX_CELLS of them */
    size_t by_count;
    const tmi_column *where; /* an indicator; NULL: all rows */
    const tmi_column *unit;  /* as in tmi_request; NULL: every row counts */
    int64_t rows_per_unit;
    const unsigned char *key;
    bool any_order; /* the list may be in any order, with equal records in several entries: faster where most are different */
} tmi_points_request;

/* Distinct records in the order of cell, point, weight, and how many rows have each; with any_order perhaps one entry per row,
 * without counts. Rows in which the value, the weight or a
 * `by` column is missing, or `where` is not 1, are left out. */
struct tmi_point_list {
    int32_t *cells; /* NULL if by_count is 0 */
    int64_t *points;
    int64_t *weights; /* NULL without weights */
    int64_t *counts;  /* NULL: 1 each, which is so only with any_order */
    size_t count, room;
};

/* Checks before the charge that the list can be made, as far as the request, the column types and the engine show without any
 * value. Called after `describe`. The keys of the request need not be drawn.
 *
 * Errors   INVALID (a column that does not fit; a limit), REFUSED (the engine cannot make this list), SYSTEM.            */
tamis_status tmi_engine_points_check(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                     tamis_error *err);

/* Gives    the list, which the caller clears with tmi_point_list_clear; empty on failure.
 * Cost     one pass; 20 to 28 bytes per entry, and while it is made about as much again. Where cells times points times
 *          weights are up to 2^27, and rows many, each thread has one byte for each of them as well. With any_order perhaps 8 or
 *          16 bytes per row, and as much again while the list is made.
 * Errors   INVALID (before anything is read: the request), SYSTEM (memory; cancelled; the source cannot be read to its end: after
 *          the charge that is no longer the caller's mistake), REFUSED (as above).                                      */
tamis_status tmi_engine_points(tmi_point_list *list, tmi_engine *engine, const tmi_points_request *request,
                               const tamis_watch *watch, tamis_error *err);
void tmi_point_list_clear(tmi_point_list *list); /* wipes */

/* ---- for engines ---- */

/* The request as one for sums, of which only the columns are used: so points and codes, the order of a layout and the rows of a
 * unit that count are those of tmi_request. By `by`, then value, weight and `where`. */
typedef struct tmi_points_plan {
    const tmi_points_request *asked;
    tmi_measure measure;
    tmi_table table;
    tmi_request request;
} tmi_points_plan;

/* The plan must not be moved. INVALID: a column that does not fit, a max_weight beyond its limits. The rest is checked by
 * tmi_layout_init. */
tamis_status tmi_points_plan_make(tmi_points_plan *plan, const tmi_points_request *request, tamis_error *err);

/* For an engine that only has sums: counts by cell, point and weight. INVALID if these are more than TMI_MAX_CELLS. */
tamis_status tmi_points_from_sums(tmi_point_list *list, tmi_engine *engine, const tmi_points_request *request,
                                  const tamis_watch *watch, tamis_error *err);
tamis_status tmi_points_from_sums_check(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                        tamis_error *err);

#endif
