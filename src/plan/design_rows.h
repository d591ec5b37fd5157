/* The table of designs that a plan may name: the keys that describe a design, and the sizes that it has in each stratum.
 * Without strata both stand in one map; a stratified design has the first under `within` and the second under each
 * stratum's name.                                                                                                    */
#ifndef TMI_PLAN_DESIGN_ROWS_H
#define TMI_PLAN_DESIGN_ROWS_H

#include "plan/sections.h"

/* What is being read: a design, and the sizes of one of its strata. */
typedef struct tmi_drawn {
    tmi_plan_design *design;
    tmi_plan_stratum *stratum;
    const char *plan;  /* file */
    bool shared;       /* under `within`: sizes may be left to the strata */
} tmi_drawn;

#define TMI_DESIGN_KEYS 4 /* one more than a list has */

typedef struct tmi_design_row {
    tmi_design_kind kind; /* tmi_design_kind_name is its key */
    const char *example;
    tmi_plan_key keys[TMI_DESIGN_KEYS]; /* ends with a row without a name */
    tmi_plan_key sizes[TMI_DESIGN_KEYS];
    bool inside; /* the sizes stand in one of the keys */
} tmi_design_row;

#define TMI_DESIGN_ROWS 10
extern const tmi_design_row tmi_design_rows[TMI_DESIGN_ROWS]; /* their keys are read into a tmi_drawn */

/* What may stand beside a design, read into the plan. */
#define TMI_BESIDE_DESIGN 8
extern const tmi_plan_key tmi_beside_design[TMI_BESIDE_DESIGN];
tmi_read_value tmi_read_typical; /* one of them */

/* What the keys beside a design say together with it, after all of it was read without complaint; sets the default of
 * weight_step. */
void tmi_check_weights(tmi_reader *reader, const tmi_yaml *design, tamis_plan *plan);

#endif
