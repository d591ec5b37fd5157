/* Every k-th unit of the list, from a random start. */
#include "plan/design/fields.h"

static void read_order(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    static const char *const orders[] = {"public", "random"};
    size_t i;
    if (tmi_read_word(reader, value, &i, orders, 2)) ((tmi_drawn *)target)->design->random_order = i == 1;
}

static const tmi_plan_key keys[] = {{.name = "order", .read = read_order, .required = "order: public"}, {0}};

static const char *order_of(const tmi_plan_design *d) { return d->random_order ? "random" : "public"; }

static void write(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_put_text_field(out, "order", order_of(d));
    tmi_put_design_sizes(out, d, s);
}

static tamis_status make_law(tamis_design **law, const tmi_plan_design *d, const tmi_plan_stratum *s, int64_t population,
                             tamis_error *err)
{
    return tamis_design_systematic(law, population, s->sample, d->random_order, err);
}

static void write_law(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_write_law_sizes(out, d, s);
    tmi_put_text_field(out, "order", order_of(d));
}

const tmi_plan_kind tmi_plan_kind_systematic = {
    .name = "systematic",
    .words = "systematic sample",
    .example = "{population: 6194, sample: 200, order: public}",
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = keys,
    .sizes = tmi_design_sizes,
    .write = write,
    .fixed_size = true,
    .equal = true,
    .in_order = true,
    .make_law = make_law,
    .write_law = write_law,
};
