/* Every k-th unit of the list, from a random start. */
#include "plan/design_fields.h"

static void read_order(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const char *const orders[] = {"public", "random"};
    size_t i;
    if (tmi_read_word(reader, value, &i, orders, 2)) ((tmi_drawn *)target)->design->random_order = i == 1;
}

static const tmi_plan_key keys[] = {{.name = "order", .read = read_order, .required = "order: public"}, {0}};

static void write(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_put_text_field(out, "order", d->random_order ? "random" : "public");
    tmi_put_design_sizes(out, d, s);
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
    .law = &tmi_systematic_form,
};
