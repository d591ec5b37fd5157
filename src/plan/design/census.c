/* Everybody: nothing is drawn. */
#include "plan/design_fields.h"

static const tmi_plan_key sizes[] = {{TMI_KEY_POPULATION}, {0}};

const tmi_plan_kind tmi_plan_kind_census = {
    .name = "census",
    .words = "census",
    .example = "{population: 6194}",
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = tmi_no_design_keys,
    .sizes = sizes,
    .write = tmi_put_design_sizes,
    .takes_all = true,
    .fixed_size = true,
    .known_count = true,
    .law = &tmi_census_form,
};
