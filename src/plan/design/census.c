/* Everybody: nothing is drawn. */
#include "plan/design/fields.h"

static const tmi_plan_key sizes[] = {{TMI_KEY_POPULATION}, {0}};

static tamis_status make_law(tamis_design **law, const tmi_plan_design *d, const tmi_plan_stratum *s, int64_t population,
                             tamis_error *err)
{
    (void)d, (void)s;
    return tamis_design_census(law, population, err);
}

static void write_law(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    (void)d;
    tmi_put_whole_field(out, "population", s->population);
}

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
    .make_law = make_law,
    .write_law = write_law,
};
