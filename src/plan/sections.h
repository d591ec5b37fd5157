/* The sections of a plan, one file each. They are read in the order in which they need each other, wherever they stand in
 * the file: columns, the design (whose strata are a category), the ranges of numbers (which may differ by stratum),
 * statistics and totals (made of columns), and at last what must fit together.                                       */
#ifndef TMI_PLAN_SECTIONS_H
#define TMI_PLAN_SECTIONS_H

#include "plan/plan.h"
#include "plan/schema.h"

/* Each reads the value of its top-level key into the plan (`target` is the tamis_plan). Ranges are read from `columns`. */
tmi_read_value tmi_read_wave, tmi_read_source, tmi_read_privacy, tmi_read_ledger, tmi_read_budget, tmi_read_postprocess;
tmi_read_value tmi_read_columns, tmi_read_design, tmi_read_ranges, tmi_read_statistics;

/* `totals` is the tree of the file that `to` names; NULL: the list is in the plan. */
void tmi_read_calibrate(tmi_reader *reader, const tmi_value *value, const tmi_value *totals, const char *file, tamis_plan *plan);

/* What the sections must say about each other. */
void tmi_check_sections(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan);

/* ---- columns ---- */

/* Room for all columns of a plan: those made from others come from maps and lists in these trees (which may be NULL). */
void tmi_make_column_room(tmi_reader *reader, tamis_plan *plan, const tmi_value *columns, const tmi_value *statistics,
                          const tmi_value *calibrate);

/* The declared column of that name, or NULL. */
const tmi_plan_column *tmi_plan_find_column(const tamis_plan *plan, const char *name);

/* Complains that there is no column of that name, with the nearest one, or the first number or category, to choose. */
void tmi_complain_column(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, const char *name, bool number);

/* The index of a value of a category, -1 if it is none of them; read: with a complaint and the nearest value. */
int32_t tmi_code_of(const tmi_plan_column *category, const char *text);
int32_t tmi_read_code(tmi_reader *reader, const tmi_value *value, const tmi_plan_column *category);
int32_t tmi_read_key_code(tmi_reader *reader, const tmi_value *item, const tmi_plan_column *category); /* the key of a map */

/* A category with one value a stratum, at the end of the declared columns; NULL without memory. */
const tmi_plan_column *tmi_add_category(tamis_plan *plan, const char *name, const tmi_plan_stratum *values, size_t count);

/* The columns made from others: the same asked twice is one column. NULL after a complaint. */
const tmi_plan_column *tmi_read_indicator(tmi_reader *reader, const tmi_value *value, tamis_plan *plan);
const tmi_plan_column *tmi_read_cuts(tmi_reader *reader, const tmi_value *list, tamis_plan *plan, const tmi_plan_column *number);

/* The indicator of the points of a number below a cut; NULL without memory. */
const tmi_plan_column *tmi_add_below(tmi_reader *reader, tamis_plan *plan, const tmi_plan_column *number, int64_t cut);

/* A number of the file by its name; or, the second, an indicator too. NULL after a complaint. */
const tmi_plan_column *tmi_read_number(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan);
const tmi_plan_column *tmi_read_number_column(tmi_reader *reader, const tmi_value *value, tamis_plan *plan);

/* `by`: a category, cuts of a number, or a list of them, added to by[0..*count-1]. */
void tmi_read_by_columns(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, const tmi_plan_column **by, size_t *count);

/* ---- distribution functions ---- */

/* What belongs to a statistic that is read from one: at, line, method, interval, cuts. `kind` is the key that names it. */
void tmi_read_distribution(tmi_reader *reader, const tmi_value *value, const tmi_value *kind, tamis_plan *plan,
                           tmi_plan_statistic *statistic);

/* What `method: auto` is, for each quantile: "mechanism" or "distribution". */
void tmi_choose_quantile_methods(tmi_reader *reader, tamis_plan *plan);

/* The distribution functions of all statistics, and the statistics that they are made of; how many columns these need. */
void tmi_make_curves(tmi_reader *reader, const tmi_value *list, tamis_plan *plan);
size_t tmi_count_curve_columns(const tmi_value *statistics);

/* ---- contrasts ---- */

/* A statistic that is compared: one of the keys count, total, mean, share, ratio of the map; what else is in it are keys of the
 * contrast. False after a complaint. */
bool tmi_read_compared(tmi_reader *reader, const tmi_value *map, tamis_plan *plan, tmi_plan_compared *compared,
                       const char *example);

/* What a difference, quotient or contrast compares, from the map that its key has; its `by` is read. */
void tmi_read_contrast(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, tmi_plan_statistic *statistic);

/* Of a change: since when, and what is known of the two samples, from the map of the statistic. */
void tmi_read_since(tmi_reader *reader, const tmi_value *map, const tamis_plan *plan, tmi_plan_contrast *change);

/* The statistics that contrasts are made of and that nobody asked for. */
void tmi_make_compared(tmi_reader *reader, const tmi_value *list, tamis_plan *plan);

/* ---- models ---- */

/* The two numbers of a correlation; its `by` is read. */
void tmi_read_correlation(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, tmi_plan_statistic *statistic);

/* What a regression explains and by what, from the map that its key has, and the keys baseline and typical beside it in `entry`;
 * its `by` is read. */
void tmi_read_regression(tmi_reader *reader, const tmi_value *value, const tmi_value *entry, tamis_plan *plan,
                         tmi_plan_statistic *statistic);

/* ---- contributions ---- */

/* `contribution`, and whether `to` is {times, of}; the range was read, but for such a `to`. */
bool tmi_is_relative_bound(const tmi_value *to);
void tmi_read_relative_bound(tmi_reader *reader, const tmi_value *to, const tmi_plan_design *design, tmi_plan_column *column);
void tmi_read_contribution(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column);
void tmi_read_unit_contribution(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column);

/* A number whose bound is another one for each unit is only added up. */
void tmi_check_relative_bounds(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan);

/* ---- public guesses ---- */

/* Of a number, whose range was read: a mean, or {mean, sd}; of a category: shares by value. */
void tmi_read_typical_number(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column);
void tmi_read_typical_shares(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column);

/* Guesses of what the plan already says, or that contradict it. `design` may be NULL. */
void tmi_check_typical(tmi_reader *reader, const tmi_value *design, const tamis_plan *plan);

/* ---- the whole ---- */

/* The plan of a tree, which the caller frees also after a failure; whether it is one the complaints say. SYSTEM (memory). */
tamis_status tmi_plan_of(tamis_plan **plan, tmi_reader *reader, const tmi_value *root, tamis_error *err);

/* Where the files of a plan must be. INVALID if the plan itself is not there. */
tamis_status tmi_plan_allowed_of(const tamis_plan_options *options, const char *name, tmi_plan_allowed *places, tamis_error *err);

/* ---- pieces ---- */

/* epsilon; epsilon and delta; rho; or a target for outsiders. `target` is the tmi_plan_loss; the last checks what was read. */
tmi_read_value tmi_read_epsilon, tmi_read_delta, tmi_read_rho, tmi_read_outsider, tmi_read_insider;
void tmi_check_loss(tmi_reader *reader, const tmi_value *map, const tmi_plan_loss *loss);

/* folder of the plan + file, unless the file is named from the root; freed with tmi_free, NULL without memory */
char *tmi_beside_plan(const char *plan, const char *file);

/* The path of a file that a plan names, as above. NULL, with a complaint, if it is outside of the folder that the reader's files
 * must be in; NULL without memory. The second reads the name too. */
char *tmi_path_of(tmi_reader *reader, const tmi_value *value, const char *plan, const char *file);
bool tmi_read_path(tmi_reader *reader, const tmi_value *value, const char *plan, char **path, const char *example);

/* Whether a path, which need not exist, is where files may be, wherever links lead, and not a pipe or a device. */
bool tmi_is_within(const tmi_plan_allowed *places, const char *path);

/* The values of a category that a public file lists; duplicates are left to the caller (values_file.c). */
void tmi_read_values_file(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column);

/* A design effect, above 0. */
void tmi_read_deff(tmi_reader *reader, const tmi_value *value, tamis_number **deff);

#endif
