/* Each unit is drawn by itself, all at one rate. */
#include "plan/design/fields.h"

static const tmi_plan_key sizes[] = {{TMI_KEY_RATE}, {TMI_KEY_PUBLIC_POPULATION}, {0}};

static tamis_status make_law(tamis_design **law, const tmi_plan_design *d, const tmi_plan_stratum *s, int64_t population,
                             tamis_error *err)
{
    (void)d;
    return tamis_design_bernoulli(law, population, s->rate, err);
}

static void write_law(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    (void)d;
    tmi_put_whole_field(out, "population", tmi_law_population(s));
    tmi_put_exact_field(out, "rate", s->rate);
}

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
    .make_law = make_law,
    .write_law = write_law,
};
