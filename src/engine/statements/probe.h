/* Tries an engine before the charge: rows that are made up, written as a table of literals, are asked the same as the user's,
 * and every integer must be that of the engine inside this process. What differs is refused, and nothing is spent: an
 * arithmetic that rounds or wraps, a collation, a hash, a treatment of missing values or of blanks that is not ours. The rows
 * are the same for everybody and contain nothing of the source but the types of its columns.
 *
 *     tmi_probe_engine                        requests of our own, which use everything that statements are made of, and
 *                                             sums beyond 2^53 and 2^63
 *     tmi_probe_inventory, _sums, _points     the question of a release, on hostile rows of its columns' types             */
#ifndef TMI_ENGINE_STATEMENTS_PROBE_H
#define TMI_ENGINE_STATEMENTS_PROBE_H

#include "engine/statements/statements.h"

/* All: REFUSED if the engine fails or answers otherwise; SYSTEM (memory). */
tamis_status tmi_probe_engine(const tmi_sql_road *road, tamis_error *err);
tamis_status tmi_probe_inventory(const tmi_sql_road *road, const tmi_known_columns *known, const tmi_inventory *inventory,
                                 tamis_error *err);
tamis_status tmi_probe_sums(const tmi_sql_road *road, const tmi_known_columns *known, const tmi_request *request,
                            tamis_error *err);
tamis_status tmi_probe_points(const tmi_sql_road *road, const tmi_known_columns *known, const tmi_points_request *request,
                              tamis_error *err);

#endif
