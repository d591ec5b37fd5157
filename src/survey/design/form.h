/* How a design is written as JSON: one key, its kind, and an object with the fields of that kind, as
 * {"srs": {"population": 1000, "sample": 10}}. A kind is a tmi_design_form in the file that draws it.                */
#ifndef TMI_SURVEY_DESIGN_FORM_H
#define TMI_SURVEY_DESIGN_FORM_H

#include "num/json_number.h"
#include "survey/design/design.h"

/* Where fields are looked up: in the design's own object, then in one that all strata share. */
typedef struct tmi_design_fields {
    const tmi_value *own, *shared;
    bool worst; /* sizes that are not given one by one are chosen such that privacy is least */
} tmi_design_fields;

typedef struct tmi_design_form {
    const char *name;
    bool has_parts;      /* it is made of other designs, and is none within strata */
    const char *keys[5]; /* ends with NULL */
    tamis_status (*read)(tamis_design **design, const tmi_design_fields *fields, tamis_error *err);
} tmi_design_form;

extern const tmi_design_form tmi_srs_form, tmi_with_replacement_form, tmi_bernoulli_form, tmi_poisson_form, tmi_pps_form,
    tmi_systematic_form, tmi_census_form, tmi_cluster_form, tmi_strata_form, tmi_two_stage_form;

/* A design, new; the caller frees it. `worst`: of clusters of different sizes a frame that loses most.
 *
 * Errors   INVALID (with the field's name), REFUSED (balanced sampling), SYSTEM (memory). */
tamis_status tmi_design_from_value(tamis_design **design, const tmi_value *json, bool worst, tamis_error *err);

/* ---- for the kinds ---- */

/* "name: message" where the status is not OK. */
tamis_status tmi_design_field_failed(tamis_status status, const char *name, const tamis_error *inner, tamis_error *err);

tamis_status tmi_design_get(const tmi_value **json, const tmi_design_fields *f, const char *name, tamis_error *err);
tamis_status tmi_design_integer(int64_t *integer, const tmi_design_fields *f, const char *name, tamis_error *err);
tamis_status tmi_design_number(tamis_number **number, const tmi_design_fields *f, const char *name, tamis_error *err);
tamis_status tmi_design_string(const char **string, const tmi_design_fields *f, const char *name, tamis_error *err);
tamis_status tmi_design_object(tmi_design_fields *inside, const tmi_design_fields *f, const char *name, const char *const *keys,
                               size_t count, tamis_error *err);

/* Free them with tmi_numbers_free in any case. */
tamis_status tmi_design_numbers(tamis_number ***numbers, size_t *count, const tmi_design_fields *f, const char *name,
                                tamis_error *err);

/* The fields "population" and "sample". */
tamis_status tmi_design_sizes_of(int64_t *population, int64_t *sample, const tmi_design_fields *f, tamis_error *err);

/* Whether the value is an object with fields of this kind only. */
tamis_status tmi_design_check_keys(const tmi_value *json, const tmi_design_form *form, tamis_error *err);

/* The field "within": a name, or a design whose fields all strata share. */
tamis_status tmi_design_within(const tmi_design_form **within, const tmi_value **shared, const tmi_design_fields *f,
                               tamis_error *err);

#endif
