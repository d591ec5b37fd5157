/* A plan as JSON, for the account and the certificate: a tree of values, numbers as exact texts; equal plans have equal trees.
 * Its canonical text is again a plan (JSON is YAML), but for what is left out because it is nobody's business: folders, and how
 * to connect to a database. */
#ifndef TMI_PLAN_JSON_H
#define TMI_PLAN_JSON_H

#include "base/value/json.h"
#include "plan/frame_facts.h"
#include "plan/plan.h"

/* All of the plan but its ledger.
 *
 * Gives    a tree that the caller frees with tmi_value_free; NULL on failure.
 * Errors   SYSTEM (memory).                                                                                          */
tamis_status tmi_plan_json(tmi_value **json, const tamis_plan *plan, tamis_error *err);

/* What the first release of a survey and wave fixes: design, unit, id, rows_per_unit, protect, given, design_variables,
 * secret_sample; the source, which the ledger compares with those of other accounts and does not keep; connections and the
 * frame as SHA-256. `frame`: what it says, NULL without one. And `outsider`, what sampling adds: {"design": ...} as
 * tamis_design_read takes it, or the reason why nothing is claimed.
 *
 * Gives    as above. */
tamis_status tmi_plan_frozen_json(tmi_value **json, const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err);

/* {"name": ..., "groups"?: [...], "same_sample"?: true}; needs a name. */
void tmi_put_wave(tmi_json_out *out, const tmi_plan_wave *wave);

/* The keys "design" and "privacy" of an object: how the rows were drawn and are weighed, and who is protected; without the loss,
 * and without what serves `tamis estimate` alone. */
void tmi_put_drawing(tmi_json_out *out, const tamis_plan *plan);

/* What a column is, declared or made from others, as an object: two columns have the same text only if every row means the same
 * in both. `typical` does not enter. */
void tmi_put_column(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_column *column);

/* What a statistic asks for, and its share of the budget, as keys of an object: without what only shapes the answer. */
void tmi_put_asked(tmi_json_out *out, const tmi_plan_statistic *statistic);

/* The values that a difference, quotient or contrast is between, as the key "between". */
void tmi_put_between(tmi_json_out *out, const tmi_plan_contrast *contrast);

/* A declared column as a plan writes it; cuts of a number; what a statistic is about and its groups, with keys
 * (json_columns.c). */
void tmi_put_declared_column(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_column *column);
void tmi_put_grid_point(tmi_json_out *out, const tmi_plan_column *column, int64_t point); /* its value */
void tmi_put_cuts(tmi_json_out *out, const tmi_plan_column *column);
void tmi_put_about(tmi_json_out *out, const char *key, const tmi_plan_column *column);
void tmi_put_by(tmi_json_out *out, const char *key, const tmi_plan_column *const *by, size_t count);

#endif
