/* Each unit is drawn by itself, all at one rate. */
#include "plan/design_fields.h"

static const tmi_plan_key sizes[] = {{TMI_KEY_RATE}, {TMI_KEY_PUBLIC_POPULATION}, {0}};

const tmi_plan_kind tmi_plan_kind_bernoulli = {
    .name = "bernoulli",
    .words = "Bernoulli sample",
    .example = "{rate: 0.1}",
    .example_sizes = "{rate: 0.1}",
    .keys = tmi_no_design_keys,
    .sizes = sizes,
    .write = tmi_put_design_sizes,
    .independent = true,
    .known_count = true,
    .rate = true,
    .law = &tmi_bernoulli_form,
};
