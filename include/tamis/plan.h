/* A plan: what is released, about whom, with how much privacy. One YAML file that a survey statistician can read aloud;
 * everything that shapes the guarantee is in it, nothing is guessed from the data. docs/plan.md describes the keys.
 *
 * Reading a plan reads no data: a plan is public, and its errors may quote it.                                       */
#ifndef TAMIS_PLAN_H
#define TAMIS_PLAN_H

#include <tamis/num.h>

TAMIS_BEGIN

typedef struct tamis_plan tamis_plan;

/* Reads a plan from a file. Source files are taken relative to the folder of the plan.
 *
 * Gives    a plan that the caller frees with tamis_plan_free; NULL on failure.
 * Errors   INVALID with all errors at once, one per line: path:line:column: key: what was expected, with an example;
 *          SYSTEM (the file cannot be read, memory).                                                                 */
TAMIS_USE tamis_status tamis_plan_read(tamis_plan **plan, const char *path, tamis_error *err);

/* The same from bytes in memory. `name` opens the error messages and, as a path, says what source files are relative
 * to; at most 1 MB. */
TAMIS_USE tamis_status tamis_plan_read_text(tamis_plan **plan, const char *name, const char *bytes, size_t length,
                                            tamis_error *err);

/* How the text of a plan is read; all zero but the size is the usual way. */
typedef struct tamis_plan_options {
    size_t size;      /* sizeof(tamis_plan_options) */
    const char *root; /* no file outside of this folder is opened, wherever links lead, and a plan that names one (source, frame,
                         psus, ledger, calibrate.to, a list of values) is INVALID, as is one that names a pipe or a device,
                         or a connection that could send a password to another server; NULL: anywhere */
    const char *const *also; /* with root: further files and folders that may be opened; ends with NULL. NULL: none */
} tamis_plan_options;

TAMIS_USE tamis_status tamis_plan_read_with(tamis_plan **plan, const char *name, const char *bytes, size_t length,
                                            const tamis_plan_options *options, tamis_error *err);

/* Puts another ledger in place of the one that the plan names, or that is beside it: `path` as it is, relative to the current
 * folder. `existing: yes` in the plan holds for it too. */
TAMIS_USE tamis_status tamis_plan_set_ledger(tamis_plan *plan, const char *path, tamis_error *err);

TAMIS_API void tamis_plan_free(tamis_plan *plan);

/* The plan as JSON, as a certificate contains it: numbers are exact texts and keys are in alphabetical order, so that equal plans
 * have equal texts. The ledger, the folders of files and the connections of a database are left out. tamis_plan_read_text
 * reads the text again, since JSON is YAML; a plan that names a database needs its connection first.
 *
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   INVALID (NULL), SYSTEM (memory).                                                                          */
TAMIS_USE tamis_status tamis_plan_json(char **json, const tamis_plan *plan, tamis_error *err);

/* The columns of the source that the plan reads, for a caller that selects them: [{"name", "as"}], `as` being number, category,
 * stratum, cluster, id, weight, probability or size. A column with several uses is there for each.
 *
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   INVALID (NULL), SYSTEM (memory).                                                                          */
TAMIS_USE tamis_status tamis_plan_columns_json(char **json, const tamis_plan *plan, tamis_error *err);

/* The folder that `tamis release` writes to by default: the plan's file name without .yaml or .yml, and
 * "-release", in the current folder. The caller frees the text with tamis_free. */
TAMIS_USE tamis_status tamis_plan_release_folder(char **folder, const tamis_plan *plan, tamis_error *err);

TAMIS_END

#endif
