/* The records of one number column as grid points with weights: for mechanisms that choose a value, such as quantiles, and cannot
 * work from sums.
 *
 * Like everything that leaves an engine for a release these are integers, each made from one row by itself: the row order,
 * threads and the kind of engine change nothing but the order of the list. No other cell of a row is handed out. */
#ifndef TMI_ENGINE_CORE_POINTS_H
#define TMI_ENGINE_CORE_POINTS_H

#include "engine/core/engine.h"

typedef struct tmi_points_request {
    const tmi_column *value;  /* a NUMBER with one grid */
    const tmi_column *weight; /* the same, its lowest point at least 0; NULL: every row counts 1 */
} tmi_points_request;

/* Rows in which the value or the weight is missing are left out. */
typedef struct tmi_point_list {
    int64_t *points, *weights; /* weights: NULL if the request has none */
    size_t count, room;
} tmi_point_list;

/* Gives    the list, which the caller clears with tmi_point_list_clear; empty on failure.
 * Cost     one pass; 8 or 16 bytes per row.
 * Errors   INVALID (before anything is read: a column without one grid), SYSTEM (memory; the source cannot be read to its end:
 *          after the charge that is no longer the caller's mistake), REFUSED (the engine gives no points).             */
tamis_status tmi_engine_points(tmi_point_list *list, tmi_engine *engine, const tmi_points_request *request, tamis_error *err);
void tmi_point_list_clear(tmi_point_list *list); /* wipes */

#endif
