/* What a plan holds once it has been read: checked values, exact numbers, indices instead of names.
 *
 * Invariants of a plan that was read without error:
 *  1  1 <= sample <= population <= 2^40; sample == population for a census.
 *  2  A number has at least two grid points, all below 2^52 in size; a category has at least one value, all different.
 *  3  Statistics refer to columns of this plan; `by` columns are categories, all different within a statistic.
 *  4  epsilon > 0, shares > 0, 0 < confidence < 1; the cells of all statistics together are at most 2^20.            */
#ifndef TMI_PLAN_H
#define TMI_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tamis/num.h>
#include <tamis/plan.h>
#include <tamis/setting.h>

#include "num/grid.h"

/* Populations: 2^40 is a thousand billion. The engine's bound of int128 sums starts from the same number. */
#define TMI_MAX_POPULATION (INT64_C(1) << 40)
#define TMI_MAX_PLAN_CELLS (INT64_C(1) << 20)
#define TMI_MAX_STATISTICS 1000
#define TMI_MAX_COLUMNS 1000
#define TMI_MAX_FILES 1000
#define TMI_MAX_BY 8
#define TMI_MAX_MISSING_CODES 100

typedef struct tmi_plan_column {
    char *name;
    bool is_number, is_category; /* exactly one of them */

    tamis_number *from, *to, *step; /* a number */
    tamis_number *typical;          /* a public guess, used only for previews; NULL if not given */
    tmi_grid grid;                  /* the same three as doubles, and the ends of the grid as integers */
    double *missing_codes;
    size_t missing_code_count;

    char **values; /* a category */
    size_t value_count;
} tmi_plan_column;

typedef enum tmi_design_kind { TMI_DESIGN_SRS, TMI_DESIGN_CENSUS } tmi_design_kind;

typedef struct tmi_plan_design {
    tmi_design_kind kind;
    int64_t population, sample;
} tmi_plan_design;

typedef enum tmi_statistic_kind { TMI_COUNT, TMI_TOTAL, TMI_MEAN } tmi_statistic_kind;

typedef struct tmi_plan_statistic {
    tmi_statistic_kind kind;
    const tmi_plan_column *column; /* NULL for a count */
    const tmi_plan_column *by[TMI_MAX_BY];
    size_t by_count;
    tamis_number *share;      /* of the budget, relative to the others */
    tamis_number *confidence;
} tmi_plan_statistic;

typedef struct tmi_plan_privacy {
    char *unit; /* "school": one of those whom the promise is about */
    const tamis_setting *setting;
    bool secret_sample, design_protected;
    int design_line, design_column; /* where design_variables stands: the setting may forbid it */
    tamis_number *epsilon;
    int epsilon_line, epsilon_column; /* where it stands: how large it may be is known only with all statistics */
} tmi_plan_privacy;

struct tamis_plan {
    atomic_int holders; /* who still needs it: the caller, previews, releases */
    char *name; /* of the file, as the caller gave it */
    char *survey;
    char **files;
    size_t file_count;
    tmi_plan_design design;
    tmi_plan_privacy privacy;
    tmi_plan_column *columns;
    size_t column_count;
    tmi_plan_statistic *statistics;
    size_t statistic_count;
};

/* One more holder, one holder less; the last one frees. A plan does not change once it was read. Drop of NULL is fine. */
const tamis_plan *tmi_plan_hold(const tamis_plan *plan);
void tmi_plan_drop(const tamis_plan *plan);

/* Cells of a statistic: the product of the numbers of values of its `by` columns. */
int64_t tmi_statistic_cells(const tmi_plan_statistic *statistic);

/* The file of a plan, at most one byte more than a plan may have; the caller frees it with tmi_free. */
tamis_status tmi_plan_bytes(char **bytes, size_t *length, const char *path, tamis_error *err);

#endif
