/* The results of a release or of an estimate as texts. The writers get the plan and the results, nothing of the data. */
#ifndef TMI_RESULTS_H
#define TMI_RESULTS_H

#include "base/json.h"
#include "inference/result.h"
#include "release/account.h"

/* Rows in which a column is not what the plan says; told inside the agency only. */
typedef struct tmi_column_facts {
    bool used;       /* by a statistic; the others are not read */
    int64_t missing; /* of a category: or not among its values */
    int64_t outside_bounds;
} tmi_column_facts;

typedef struct tmi_results {
    const tamis_plan *plan;
    const tmi_schedule *schedule; /* NULL: not protected */
    const tmi_account *account;   /* of a release */
    tmi_result *list; /* statistic by statistic, cell by cell */
    size_t count;
    tmi_column_facts *facts; /* estimate only: one a column of the plan */
    int64_t rows_beyond, weights_above; /* estimate only: what a release would leave out or clamp */
} tmi_results;

/* Room for every cell of every statistic. */
tamis_status tmi_results_make(tmi_results *results, const tamis_plan *plan, const tmi_schedule *schedule, tamis_error *err);
void tmi_results_clear(tmi_results *results);

/* An infinite estimate or end becomes null, with the reason. */
void tmi_result_bound(tmi_result *result);

tamis_status tmi_results_json(char **text, const tmi_results *results, tamis_error *err);
tamis_status tmi_results_csv(char **text, const tmi_results *results, tamis_error *err);
void tmi_results_table(tmi_text *text, const tmi_results *results);

/* The last three of the cells of a row for people: estimate, standard error, interval; the first is the group. */
#define TMI_RESULT_CELLS 4
void tmi_result_words(tmi_text cells[TMI_RESULT_CELLS], const tmi_results *results, const tmi_result *result);

/* Decimals that write every multiple of the unit: 0.5 -> 1, 20 -> 0; 9 if it has more. */
int tmi_unit_decimals(double unit);

/* "count", "total", ... */
const char *tmi_statistic_name(const tmi_plan_statistic *statistic);

/* "total of enroll by stype", of one of the plan's statistics */
void tmi_statistic_title(tmi_text *text, const tamis_plan *plan, size_t statistic);

/* {"stype": "E"} */
void tmi_put_group(tmi_json_out *out, const tmi_plan_column *const *by, size_t by_count, size_t cell);

#endif
