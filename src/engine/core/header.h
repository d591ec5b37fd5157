/* What a file says about itself before its first row: column names and types and, in files of SPSS, Stata and SAS, labels of
 * variables and of codes. No row is read, so a file that is cut off after its header works as well. Used to write a plan
 * (tamis_init_yaml), not for a release: labels may depend on the data. */
#ifndef TMI_ENGINE_CORE_HEADER_H
#define TMI_ENGINE_CORE_HEADER_H

#include "engine/core/engine.h"

typedef enum tmi_header_type {
    TMI_HEADER_UNKNOWN, /* CSV: only the cells would show it */
    TMI_HEADER_NUMBER,
    TMI_HEADER_TEXT,
    TMI_HEADER_DATE,
    TMI_HEADER_OTHER
} tmi_header_type;

typedef struct tmi_header_code {
    char *code, *label; /* the code as a plan writes it */
    double number;      /* NaN: a text */
} tmi_header_code;

#define TMI_HEADER_MISSING 3 /* values or ranges that SPSS can declare missing */

typedef struct tmi_header_column {
    char *name, *label; /* label NULL: none */
    tmi_header_type type;
    char *set;                             /* the set of labels of its codes; NULL: none */
    double missing[TMI_HEADER_MISSING][2]; /* ranges of numbers that the file declares missing, ends included */
    size_t missing_count;
} tmi_header_column;

/* A set of labels, which several columns may share. */
typedef struct tmi_header_set {
    char *name;
    tmi_header_code *codes;
    size_t count;
} tmi_header_set;

typedef struct tmi_header {
    char *label; /* of the file; NULL: none */
    tmi_header_column *columns;
    size_t count;
    tmi_header_set *sets;
    size_t set_count;
} tmi_header;

/* At most this many labels of one set are kept: nobody lists more by hand in a plan. */
#define TMI_HEADER_CODES 100

/* The header of one file. `table` is for DuckDB files; NULL for others, or if there is only one table. Empty on failure.
 *
 * Errors   INVALID (not there, not readable, no header), SYSTEM (memory; DuckDB is not installed). */
tamis_status tmi_header_read(tmi_header *header, const char *file, const char *table, tamis_error *err);
void tmi_header_clear(tmi_header *header);

/* The same of a table in PostgreSQL; comments on columns are labels. SYSTEM also if the server cannot be reached. */
tamis_status tmi_header_postgres(tmi_header *header, const char *connection, const char *table, tamis_error *err);

/* The same of rows in memory, by their Arrow schema. */
struct ArrowSchema;
tamis_status tmi_header_arrow(tmi_header *header, const struct ArrowSchema *schema, tamis_error *err);

/* The labels of a column's codes; NULL: none. */
const tmi_header_set *tmi_header_set_of(const tmi_header *header, const tmi_header_column *column);

/* Whether a code means that the value of the column is missing. */
bool tmi_header_is_missing(const tmi_header_column *column, const tmi_header_code *code);

/* For the readers: adds a column and copies its texts. SYSTEM if memory runs out. */
tamis_status tmi_header_add(tmi_header *header, const char *name, const char *label, tmi_header_type type, tamis_error *err);

/* One reader per kind of file. */
tamis_status tmi_header_readstat(tmi_header *header, const char *file, tamis_error *err);
tamis_status tmi_header_duckdb(tmi_header *header, const char *file, const char *table, tamis_error *err);

#endif
