/* n draws from N units, each draw from all of them. */
#include "plan/design_fields.h"

const tmi_plan_kind tmi_plan_kind_srs_with_replacement = {
    .name = "srs_with_replacement",
    .words = "simple random sample with replacement",
    .example = TMI_EXAMPLE_SIZES,
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = tmi_no_design_keys,
    .sizes = tmi_design_sizes,
    .write = tmi_put_design_sizes,
    .with_replacement = true,
    .fixed_size = true,
    .known_count = true,
    .law = &tmi_with_replacement_form,
};
