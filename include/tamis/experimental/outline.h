/* What a plan says about its sample: the design by itself, for the calculators of designs.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_OUTLINE_H
#define TAMIS_EXPERIMENTAL_OUTLINE_H

#include <tamis/experimental/amplification.h>
#include <tamis/plan.h>

TAMIS_BEGIN

/* What the plan says about its sample: the design, whether the sample is secret, and the epsilon and delta that it spends
 * (which live as long as the plan; NULL where it has none: delta is then 0, and without an epsilon the plan counts rho).
 *
 * Gives    a design that the caller frees with tamis_design_free; NULL on failure.
 * Errors   REFUSED (final weights; a design whose law the plan does not give: probabilities or sizes of units that were not
 *          drawn, weights only), INVALID, SYSTEM (memory).                                                            */
TAMIS_USE tamis_status tamis_plan_sampling(tamis_design **design, tamis_sampling_facts *facts, const tamis_number **eps,
                                           const tamis_number **delta, const tamis_plan *plan, tamis_error *err);

/* The name of the stratum with this number, from 0; NULL if there is none, or for NULL. Lives as long as the plan. */
TAMIS_API const char *tamis_plan_stratum(const tamis_plan *plan, size_t stratum);

/* ---- what a plan says about its design, before there is anything to release ----
 *
 * A design can be judged that no release is made by yet. An outline looks at `design` and at the bounds under `columns`
 * alone; the file may also hold nothing but a design. Columns of a frame are not read: where a design needs numbers for
 * every unit, the file has them as lists, as docs/compute.md describes.                                         */
typedef struct tamis_outline tamis_outline;

/* Gives    an outline that the caller frees with tamis_outline_free; NULL on failure.
 * Errors   INVALID (no YAML or JSON, no design, a column where a list is needed), SYSTEM (the file cannot be read,
 *          memory).                                                                                                  */
TAMIS_USE tamis_status tamis_outline_read(tamis_outline **outline, const char *path, tamis_error *err);
TAMIS_API void tamis_outline_free(tamis_outline *outline);

/* The design, new, as tamis_design_read would read it; the caller frees it with tamis_design_free.
 *
 * Errors   INVALID, REFUSED (balanced sampling), SYSTEM (memory). *design is NULL then. */
TAMIS_USE tamis_status tamis_outline_sampling(tamis_design **design, const tamis_outline *outline, tamis_error *err);

/* The same as text, as tamis_design_read takes it; NULL for NULL. */
TAMIS_API const char *tamis_outline_design(const tamis_outline *outline);

/* The name of the stratum with this number, from 0; NULL if it has none. */
TAMIS_API const char *tamis_outline_stratum(const tamis_outline *outline, size_t stratum);

/* The values of a column: from, to and step of a number; 0, 1 and 1 of a category, which is counted.
 *
 * Gives    new numbers that the caller frees; NULL on failure, and *step is NULL if the column has none.
 * Errors   INVALID (no such column, no bounds, one for each stratum), SYSTEM (memory).                               */
TAMIS_USE tamis_status tamis_outline_range(tamis_number **from, tamis_number **to, tamis_number **step,
                                           const tamis_outline *outline, const char *column, tamis_error *err);

TAMIS_END

#endif
