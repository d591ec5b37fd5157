/* A simple random sample: n of N units, every subset as likely. */
#include "plan/design_fields.h"

const tmi_plan_kind tmi_plan_kind_srs = {
    .name = "srs",
    .words = "simple random sample",
    .example = TMI_EXAMPLE_SIZES,
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = tmi_no_design_keys,
    .sizes = tmi_design_sizes,
    .write = tmi_put_design_sizes,
    .fixed_size = true,
    .equal = true,
    .known_count = true,
    .law = &tmi_srs_form,
};
