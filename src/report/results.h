/* The results of a release or of an estimate as texts. The writers get the plan and the results, nothing of the data. */
#ifndef TMI_REPORT_RESULTS_H
#define TMI_REPORT_RESULTS_H

#include <tamis/engine.h>

#include "base/value/json.h"
#include "schedule/result.h"

tamis_status tmi_results_json(char **text, const tmi_results *results, tamis_error *err);
tamis_status tmi_results_tree(tmi_value **tree, const tmi_results *results, tamis_error *err); /* the same, not yet written */
tamis_status tmi_results_csv(char **text, const tmi_results *results, tamis_error *err);

/* Writes a field of CSV, quoted only where needed, with `before` in front of its text. */
void tmi_csv_field(tmi_text *csv, const char *before, const char *text, size_t length);

/* For exchange: SDMX-CSV; and for spreadsheets, whose bytes are no text. Of releases only. More numbers than
 * TMI_MOST_IN_SPREADSHEET are for other programs, and have no spreadsheet. */
#define TMI_MOST_IN_SPREADSHEET 100000
tamis_status tmi_results_sdmx_csv(char **text, const tmi_results *results, tamis_error *err);
tamis_status tmi_results_xlsx(char **bytes, size_t *length, const tmi_results *results, tamis_error *err);

void tmi_results_table(tmi_text *text, const tmi_results *results);
tamis_status tmi_results_shown_json(char **text, const tmi_results *results, tamis_error *err); /* as people read them */

/* The same as one record batch; the caller releases both. On failure both are zero. */
tamis_status tmi_results_arrow(struct ArrowSchema *schema, struct ArrowArray *array, const tmi_results *results,
                               tamis_error *err);

/* The names by which any statistic is grouped; their number (groups NULL: at most). The name of such a column in a table: one
 * that the table has itself gets by_ before it. And the column of a statistic, A/B of a ratio; empty: none. */
size_t tmi_group_columns(const char **groups, const tamis_plan *plan);
void tmi_group_column_name(tmi_text *text, const char *const *groups, size_t group_count, size_t which);
void tmi_result_column(tmi_text *text, const tmi_plan_statistic *statistic);

/* What a contrast compares, "mean, sex: m minus f"; nothing of other statistics. */
void tmi_contrast_text(tmi_text *text, const tmi_plan_statistic *statistic);
bool tmi_has_contrasts(const tamis_plan *plan);

/* The whole text of an estimate; `note` says how variances were approximated, or is NULL. */
tamis_status tmi_estimate_text(char **text, const tmi_results *results, const char *note, tamis_error *err);

/* The last three of the cells of a row for people: estimate, standard error, interval; the first is the group. */
#define TMI_RESULT_CELLS 4
void tmi_result_words(tmi_text cells[TMI_RESULT_CELLS], const tmi_results *results, const tmi_result *result);

/* Decimals that write every multiple of the unit: 0.5 -> 1, 20 -> 0; 9 if it has more. */
int tmi_unit_decimals(double unit);

/* "count", "total", ... */
const char *tmi_statistic_name(const tmi_plan_statistic *statistic);

/* "total of enroll by stype", of one of the plan's statistics; "quantile of income" of several quantiles */
void tmi_statistic_title(tmi_text *text, const tamis_plan *plan, size_t statistic);

/* The same of one result: "quantile 0.25 of income". */
void tmi_result_title(tmi_text *text, const tamis_plan *plan, const tmi_result *result);

/* The group of a cell, and the position of its quantile; NaN: it is none. */
size_t tmi_group_of(const tmi_plan_statistic *statistic, size_t cell);
double tmi_at_of(const tmi_plan_statistic *statistic, size_t cell);

/* The term of a model that a cell is of, "sex=f"; nothing of other statistics. */
void tmi_term_text(tmi_text *text, const tmi_plan_statistic *statistic, size_t cell);
bool tmi_has_models(const tamis_plan *plan);

/* The probability of a test as people read it, "< .0001" or ".03". */
void tmi_p_text(tmi_text *text, double p);

/* What a model has beside its coefficients, from those of one group: "R2 0.68; all terms of stype: p < .0001"; or nothing. */
void tmi_model_text(tmi_text *text, const tmi_plan_statistic *statistic, const tmi_result *terms);

/* Which tables each statistic rests on: lists that are numbered in the order of the statistics, equal ones once. */
typedef struct tmi_measured_in {
    const tmi_schedule *schedule;
    size_t *list_of; /* of a statistic, from 1; 0: nothing was measured */
    bool *tables;    /* of a list, one per measurement */
    size_t count;
} tmi_measured_in;

/* False, and nothing to clear, if there is no memory. */
bool tmi_measured_in_init(tmi_measured_in *measured_in, const tmi_schedule *schedule);
void tmi_measured_in_clear(tmi_measured_in *measured_in);

/* "measured_in" of a result, the number of its list or null; and of the release, the lists by their numbers. */
void tmi_put_measured_in(tmi_json_out *out, const tmi_measured_in *measured_in, size_t statistic);
void tmi_put_tables_measured_in(tmi_json_out *out, const tmi_measured_in *measured_in);

/* {"stype": "E"} */
void tmi_put_group(tmi_json_out *out, const tmi_plan_column *const *by, size_t by_count, size_t cell);

#endif
