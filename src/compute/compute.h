/* The calculator's tables. An area is a file with a table of kinds; a kind declares its fields and has a function. The
 * frame (line.c, fields.c) reads and checks the fields, so that a function sees only values of the right type, and a new
 * kind is a function and a row.                                                                                     */
#ifndef TMI_COMPUTE_COMPUTE_H
#define TMI_COMPUTE_COMPUTE_H

#include <tamis/experimental/profile.h>
#include <tamis/experimental/survey.h>

#include "base/value/json.h"
#include "num/bound.h"
#include "num/number.h"

typedef enum tmi_field_type {
    TMI_FIELD_INTEGER,
    TMI_FIELD_NUMBER,
    TMI_FIELD_NUMBERS,
    TMI_FIELD_NUMBER_OR_NULL,
    TMI_FIELD_TEXT,
    TMI_FIELD_SAMPLES,      /* [[units, probability], ...]; the population has as many units as the field "x": samples.c */
    TMI_FIELD_DESIGN,       /* {"srs": {"population": 1000, "sample": 10}} and so on: survey/design/form.h */
    TMI_FIELD_RELEASES,     /* [{"law": ..., "scale": ...}, ...]: releases.c */
    TMI_FIELD_WORST_DESIGN, /* the same; of clusters of different sizes a frame that loses most */
} tmi_field_type;

typedef struct tmi_field {
    const char *name;
    unsigned type; /* a tmi_field_type, with TMI_FIELD_IF_GIVEN added if it may be left out; the value is then zero */
} tmi_field;

#define TMI_FIELD_IF_GIVEN 64u

typedef struct tmi_field_value {
    int64_t integer;
    tamis_number *number;
    tamis_number **numbers;
    size_t count;
    tamis_design *design;
    tamis_law *law;
    tamis_profile *profile;
    const char *text; /* lives as long as the request */
} tmi_field_value;

#define TMI_FIELDS 8 /* of one kind, at most */

/* Computes, then writes the answer's fields; the braces around them are the frame's. `in` holds the values in the order
 * of the kind's fields. On failure what was written is thrown away. */
typedef tamis_status tmi_compute(tmi_json_out *out, const tmi_field_value *in, tamis_error *err);

typedef struct tmi_kind {
    const char *name;
    tmi_compute *compute;
    tmi_field fields[TMI_FIELDS + 1]; /* ends with a NULL name */
} tmi_kind;

typedef struct tmi_area {
    const char *name;
    const tmi_kind *kinds; /* ends with a NULL name */
} tmi_area;

extern const tmi_area tmi_area_above_threshold, tmi_area_accuracy_gain, tmi_area_amplification, tmi_area_composition,
    tmi_area_ht_general_enumeration, tmi_area_ht_srs_binary, tmi_area_inclusion, tmi_area_interval, tmi_area_inverse_sensitivity,
    tmi_area_k_randomization, tmi_area_smooth_sensitivity;

/* Reads the object "in" of a request into TMI_FIELDS values that are zero; clear them in any case. */
tamis_status tmi_fields_read(tmi_field_value *values, const tmi_field *fields, const tmi_value *in, tamis_error *err);
void tmi_fields_clear(tmi_field_value *values);

/* One value; messages say what it must be, the caller puts its name before them. */
tamis_status tmi_field_releases(tamis_profile **profile, const tmi_value *json, tamis_error *err);
tamis_status tmi_field_samples(tamis_law **law, const tmi_value *json, int64_t population, tamis_error *err);

/* INVALID, in the words of the request, unless there are values in the field x and the rank in the field m is one of them. */
tamis_status tmi_check_rank(const tmi_field_value *x, const tmi_field_value *m, tamis_error *err);

/* "name": [{...}, ...] */
void tmi_put_bounds(tmi_json_out *out, const char *name, const tamis_bound *bounds, size_t count);

#endif
