/* The parts of a plan's source as an account notes them, to recognise a second account over the same source.
 *
 * A file is named by its path from the ledger's folder, with links resolved, so that the same file is recognised however a plan
 * spells it, and a folder that holds both may be moved; a table of PostgreSQL by the SHA-256 of the connection and its name.
 * These are facts of plans: the data are not looked at. */
#ifndef TMI_RELEASE_SOURCE_PARTS_H
#define TMI_RELEASE_SOURCE_PARTS_H

#include "base/value/json.h"
#include "plan/plan.h"

/* Gives    a list of texts, which the caller frees with tmi_value_free; NULL on failure.
 * Errors   SYSTEM (memory).                                                                                          */
tamis_status tmi_source_parts(tmi_value **parts, const tmi_plan_source *source, const char *ledger, tamis_error *err);

#endif
