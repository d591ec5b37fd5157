/* One reading of a file of SPSS, Stata or SAS: the handlers that ReadStat calls with its variables, labels and cells, and what
 * they gather. */
#ifndef TMI_ENGINE_FILES_READSTAT_READING_H
#define TMI_ENGINE_FILES_READSTAT_READING_H

#include "engine/files/readstat_api.h"
#include "engine/files/readstat_class.h"
#include "engine/files/scan.h"

/* A label of a code, of all those in the file. */
typedef struct tmi_readstat_label {
    char *set;
    bool is_string;
    double number;
    char *code, *text; /* code: of strings */
} tmi_readstat_label;

/* A requested column in one file. */
typedef struct tmi_readstat_column {
    const tmi_column *column;
    const tmi_codes *codes; /* of a category */
    bool found;
    char *set;      /* of labels; NULL: none */
    size_t *labels; /* labels that are counted instead of their codes */
    size_t label_count;
    int next; /* the next column of the same variable; -1: none */

    double *numbers; /* of a piece: one of these three is set */
    int32_t *category;
    tmi_cell *cells;
    char *bytes; /* of the cells */
    size_t used, room;
    tmi_form form;
    bool is_date; /* a number that is shown as a date or time */
} tmi_readstat_column;

typedef struct tmi_readstat_reading {
    const char *given;     /* the file's name in messages */
    tmi_format_of formats; /* whose formats its variables have */
    tmi_readstat_column *list;
    size_t count;
    tmi_readstat_label *labels;
    size_t label_count;
    int *first;   /* for each variable: the first column that requests it; -1: none */
    char **names; /* of each variable; NULL: none */
    size_t variable_count;
    int64_t row_count; /* -1: not known */

    tmi_raw *raw;
    int64_t base; /* rows before this piece */
    size_t rows;  /* in it */
    size_t file, file_count;
    tmi_take_raw *take;
    void *context;
    tamis_status status; /* why we stopped */
    tamis_error *err;
} tmi_readstat_reading;

/* `codes`: one per column, NULL if it is not a category. */
tamis_status tmi_readstat_init(tmi_readstat_reading *r, const char *given, const tmi_column *const *columns,
                               tmi_codes *const *codes, size_t count, tamis_error *err);
void tmi_readstat_clear(tmi_readstat_reading *r);

/* After the variables and labels were read: finds the codes of a category that are counted as their labels. */
tamis_status tmi_readstat_choose_labels(tmi_readstat_reading *r, tamis_error *err);

/* Allocates the cells of one piece of a column; false if there is no memory. */
bool tmi_readstat_make_room(tmi_readstat_column *w);

/* Hands out the rows that were gathered and begins the next piece. */
tamis_status tmi_readstat_hand_out(tmi_readstat_reading *r, tamis_error *err);

/* ReadStat's handlers; the context is the reading. */
int tmi_readstat_metadata_handler(readstat_metadata_t *metadata, void *context);
int tmi_readstat_variable_handler(int index, readstat_variable_t *variable, const char *set, void *context);
int tmi_readstat_label_handler(const char *set, readstat_value_t value, const char *text, void *context);
int tmi_readstat_value_handler(int row, readstat_variable_t *variable, readstat_value_t value, void *context);

#endif
