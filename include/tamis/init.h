/* A plan to begin with: what the header of a data file says, and places to fill in. docs/plan.md describes the keys. */
#ifndef TAMIS_INIT_H
#define TAMIS_INIT_H

#include <tamis/base.h>
#include <tamis/engine.h>

TAMIS_BEGIN

/* What a place to fill in holds. A plan that still has one is refused by tamis_plan_read, with the places. */
#define TAMIS_FILL_IN "FILL_IN"

typedef struct tamis_init {
    size_t size;             /* sizeof(tamis_init) */
    const char *file;        /* .csv .parquet .sav .zsav .dta .sas7bdat .xpt .duckdb .db; NULL: PostgreSQL */
    const char *connection;  /* to PostgreSQL, as libpq takes it, without a password; NULL: a file */
    const char *table;       /* in PostgreSQL; of a DuckDB file, NULL: the only one */
    const char *source;      /* the file as the plan will name it, from its folder, or TAMIS_FILL_IN; NULL: as `file` */
    const char *schema;      /* where editors find plan.schema.json; NULL: no line about it */
    const char *root;        /* as in tamis_plan_options: no file outside of this folder, and no connection that could send a
                               password elsewhere; NULL: any */
    const char *const *also; /* with root: further files and folders that may be opened; ends with NULL. NULL: none */
} tamis_init;

/* Writes a commented plan for a file or table. Only the header is read: names, types, labels of variables (comments on columns in
 * PostgreSQL) and, as a comment, labels of codes; no row, no value, no bound. A CSV file has names only.
 *
 * Needs    either a `file`, or a `connection` and a `table`; texts are UTF-8.
 * Gives    YAML that the caller frees with tamis_free; NULL on failure. Columns that a plan cannot name are comments.
 * Errors   INVALID (no such file, no header, a kind of file that is not read), SYSTEM (memory, no DuckDB, no server). */
TAMIS_USE tamis_status tamis_init_yaml(char **text, const tamis_init *init, tamis_error *err);

/* The same as tamis_init_yaml for rows of the caller, from the names and types of an Arrow schema; the plan's source is
 * {caller: NAME}.
 *
 * Needs    the schema of a record batch, which is read and not released; caller: the name of the rows, or NULL: to be filled in.
 * Errors   INVALID, SYSTEM (memory).                                                                                 */
TAMIS_USE tamis_status tamis_init_columns_yaml(char **text, const struct ArrowSchema *schema, const char *caller,
                                               tamis_error *err);

TAMIS_END

#endif
