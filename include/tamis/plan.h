/* A plan: what is released, about whom, with how much privacy. One YAML file that a survey statistician can read aloud;
 * everything that shapes the guarantee stands in it, nothing is guessed from the data. docs/plan.md describes the keys.
 *
 * Reading a plan reads no data: a plan is public, and its errors may quote it.                                       */
#ifndef TAMIS_PLAN_H
#define TAMIS_PLAN_H

#include <tamis/amplify.h>

TAMIS_BEGIN

typedef struct tamis_plan tamis_plan;

/* Reads a plan from a file. Source files are taken relative to the folder of the plan.
 *
 * Gives    a plan that the caller frees with tamis_plan_free; NULL on failure.
 * Errors   INVALID with all errors at once, a line each: path:line:column: key: what was expected, with an example;
 *          SYSTEM (the file cannot be read, memory).                                                                 */
TAMIS_API tamis_status tamis_plan_read(tamis_plan **plan, const char *path, tamis_error *err);

/* The same from bytes in memory. `name` opens the error messages and, as a path, tells what source files are relative
 * to; at most 1 MB. */
TAMIS_API tamis_status tamis_plan_read_text(tamis_plan **plan, const char *name, const char *bytes, size_t length,
                                            tamis_error *err);

TAMIS_API void tamis_plan_free(tamis_plan *plan);

/* The name of the survey, as the plan gives it. Lives as long as the plan. NULL for NULL. */
TAMIS_API const char *tamis_plan_survey(const tamis_plan *plan);

/* What the plan says about its sample: the design, whether the sample is secret, and the epsilon that it spends (which
 * lives as long as the plan).
 *
 * Gives    a design that the caller frees with tamis_design_free; NULL on failure.
 * Errors   INVALID, SYSTEM (memory).                                                                                 */
TAMIS_API tamis_status tamis_plan_sampling(tamis_design **design, tamis_sampling_facts *facts, const tamis_number **eps,
                                           const tamis_plan *plan, tamis_error *err);

/* The folder that `tamis release` writes to unless told otherwise: the plan's file name without .yaml or .yml, and
 * "-release", in the current folder. The caller frees the text with tamis_free. */
TAMIS_API tamis_status tamis_plan_release_folder(char **folder, const tamis_plan *plan, tamis_error *err);

TAMIS_END

#endif
