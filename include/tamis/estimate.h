/* The statistics of a plan without protection, for use inside the agency only.
 *
 * The ordinary design-based estimates: values as they are, no clamping, no grid, no noise; standard errors by linearisation,
 * intervals by Student's t, as R's package survey computes them. <tamis/experimental/estimator.h> has the estimators for lists
 * of one's own. */
#ifndef TAMIS_ESTIMATE_H
#define TAMIS_ESTIMATE_H

#include <tamis/base.h>
#include <tamis/engine.h>
#include <tamis/plan.h>

TAMIS_BEGIN

/* How rows are read; all zero but the size is the usual way. The fields are those of tamis_release_options. */
typedef struct tamis_estimate_options {
    size_t size; /* sizeof(tamis_estimate_options) */
    tamis_engine engine;
    unsigned threads;
    const tamis_source *rows;
    tamis_watch watch;
    uint64_t memory;
} tamis_estimate_options;

typedef struct tamis_estimate tamis_estimate;

/* Needs    a plan; options may be NULL. No ledger is read or charged.
 * Gives    an estimate that the caller frees with tamis_estimate_free; NULL on failure. It must not leave the agency. It may
 *          outlive the plan.
 * Errors   INVALID (a column or file is missing, the rows contradict the design), REFUSED (the engine gives no rows),
 *          SYSTEM (engine, disk, memory, cancelled by the watch).                                                      */
TAMIS_USE tamis_status tamis_estimate_new(tamis_estimate **estimate, const tamis_plan *plan,
                                          const tamis_estimate_options *options, tamis_error *err);
TAMIS_API void tamis_estimate_free(tamis_estimate *estimate); /* NULL is fine */

/* Texts; the caller frees each with tamis_free. NULL on failure. */
TAMIS_USE tamis_status tamis_estimate_json(char **json, const tamis_estimate *estimate, tamis_error *err);
TAMIS_USE tamis_status tamis_estimate_csv(char **csv, const tamis_estimate *estimate, tamis_error *err);
TAMIS_USE tamis_status tamis_estimate_text(char **text, const tamis_estimate *estimate, tamis_error *err);

/* As tamis_release_arrow. */
TAMIS_USE tamis_status tamis_estimate_arrow(struct ArrowSchema *schema, struct ArrowArray *array, const tamis_estimate *estimate,
                                            tamis_error *err);

TAMIS_END

#endif
