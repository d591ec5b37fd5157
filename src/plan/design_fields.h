/* What kinds of design share: keys of their maps, and the fields that they write. */
#ifndef TMI_PLAN_DESIGN_FIELDS_H
#define TMI_PLAN_DESIGN_FIELDS_H

#include "plan/json_fields.h"
#include "plan/sections.h"

/* What is being read: a design, and the sizes of one of its strata. */
typedef struct tmi_drawn {
    tmi_plan_design *design;
    tmi_plan_stratum *stratum;
    const char *plan; /* file */
    bool shared;      /* under `within`: sizes may be left to the strata */
} tmi_drawn;

#define TMI_DESIGN_KEYS 4 /* in a list, with the row that ends it */

/* ---- reading; the target is a tmi_drawn ---- */

tmi_read_value tmi_read_design_population, tmi_read_design_sample, tmi_read_design_rate, tmi_read_design_probability,
    tmi_read_design_frame, tmi_read_design_psus, tmi_read_design_cluster;

void tmi_read_rate(tmi_reader *reader, const tmi_value *value, tamis_number **rate);

#define TMI_KEY_POPULATION "population", .read = tmi_read_design_population, .required = "population: 6194"
#define TMI_KEY_SAMPLE "sample", .read = tmi_read_design_sample, .required = "sample: 200"
#define TMI_KEY_RATE "rate", .read = tmi_read_design_rate, .required = "rate: 0.1"
#define TMI_KEY_PUBLIC_POPULATION "population", .read = tmi_read_design_population
#define TMI_KEY_PROBABILITY "probability", .read = tmi_read_design_probability, .required = "probability: inclusion_probability"
#define TMI_KEY_FRAME "frame", .read = tmi_read_design_frame

extern const tmi_plan_key tmi_no_design_keys[1];
extern const tmi_plan_key tmi_design_sizes[3]; /* population and sample */

#define TMI_EXAMPLE_SIZES "{population: 6194, sample: 200}"
#define TMI_EXAMPLE_STRATUM "{population: 4421, sample: 100}"

/* What may be beside a design, read into the plan. */
#define TMI_BESIDE_DESIGN 10
extern const tmi_plan_key tmi_beside_design[TMI_BESIDE_DESIGN];
tmi_read_value tmi_read_typical, tmi_read_replicates; /* two of them */

/* The key `replicates`, if there are any. */
void tmi_put_replicates(tmi_json_out *out, const tmi_plan_replicates *replicates);
void tmi_replicates_clear(const tmi_plan_replicates *replicates);

/* What the keys beside a design say together with it, after all of it was read without complaint; sets the default of
 * weight_step. */
void tmi_check_weights(tmi_reader *reader, const tmi_value *design, tamis_plan *plan);

/* ---- writing ---- */

/* population, sample and rate of a stratum, as far as they are public; NULL: nothing. */
void tmi_put_design_sizes(tmi_json_out *out, const tmi_plan_design *design, const tmi_plan_stratum *stratum);

/* REFUSED without the frame, which has the probabilities of units that were not drawn. */
tamis_status tmi_needs_frame(const tmi_plan_design *design, const struct tmi_frame_facts *frame, tamis_error *err);

#endif
