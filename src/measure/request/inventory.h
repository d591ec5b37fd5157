/* Before the charge: that the columns are there, and that the numbers which the design fixes are those of the source. Only
 * what all neighbours share is counted: rows (or distinct ids) in all and by stratum, drawn clusters, and whether units that are
 * certain to be drawn are there; and nothing where these numbers are protected themselves. */
#ifndef TMI_MEASURE_REQUEST_INVENTORY_H
#define TMI_MEASURE_REQUEST_INVENTORY_H

#include "measure/request/request.h"

/* Errors   INVALID (a column or file is missing, a number differs), SYSTEM (cancelled, memory, the engine).             */
tamis_status tmi_check_inventory(tmi_engine *engine, const tmi_schedule *schedule, const tmi_query *query,
                                 const tamis_watch *watch, tamis_error *err);

#endif
