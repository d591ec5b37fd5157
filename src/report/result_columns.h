/* The results of a release or of an estimate as columns of texts and numbers: what data frames, spreadsheets and exchange files
 * are written from, so that all of them have the same columns. */
#ifndef TMI_REPORT_RESULT_COLUMNS_H
#define TMI_REPORT_RESULT_COLUMNS_H

#include "base/text.h"
#include "schedule/result.h"

/* What is in a column. A group's column has the name of the category; a column is there only if some statistic needs it. */
typedef enum tmi_column_role {
    TMI_ROLE_STATISTIC,
    TMI_ROLE_COLUMN,
    TMI_ROLE_WHERE,
    TMI_ROLE_GROUP,
    TMI_ROLE_CONTRAST,
    TMI_ROLE_TERM,
    TMI_ROLE_AT,
    TMI_ROLE_LINE,
    TMI_ROLE_ESTIMATE,
    TMI_ROLE_SE,
    TMI_ROLE_SAMPLING_SE,
    TMI_ROLE_NOISE_SD,
    TMI_ROLE_LOWER,
    TMI_ROLE_UPPER,
    TMI_ROLE_CONFIDENCE,
    TMI_ROLE_DF,
    TMI_ROLE_CV,
    TMI_ROLE_P,
    TMI_ROLE_QUALITY,
    TMI_ROLE_NOTES
} tmi_column_role;

/* One column. Its bytes are laid out as Arrow wants them: large texts, doubles, a bit per row that has a value. */
typedef struct tmi_results_column {
    tmi_column_role role;
    char *name;
    const char *group; /* of a group: the name of the category in the plan; NULL otherwise */
    bool is_text;
    uint8_t *valid;
    int64_t nulls;
    double *numbers;
    int64_t *starts;
    tmi_text bytes;
} tmi_results_column;

typedef struct tmi_result_columns {
    tmi_results_column *list;
    size_t count, rows;
} tmi_result_columns;

/* A row for each result. False if there is no memory; clear it in any case. */
bool tmi_result_columns_make(tmi_result_columns *columns, const tmi_results *results);
void tmi_result_columns_clear(tmi_result_columns *columns);

bool tmi_column_has(const tmi_results_column *column, size_t row); /* whether the row has a value there */

/* The text of a row that has one: *length bytes, which no zero ends. */
const char *tmi_column_text(size_t *length, const tmi_results_column *column, size_t row);

#endif
