/* Each unit is drawn by itself, with its own probability.
 *
 * For an outsider's promise: the units that are drawn most likely, and those that always are, each of them alone. Nobody loses
 * more. */
#include "plan/design_fields.h"

static const tmi_plan_key keys[] = {{TMI_KEY_PROBABILITY}, {TMI_KEY_FRAME}, {0}};
static const tmi_plan_key sizes[] = {{TMI_KEY_PUBLIC_POPULATION}, {0}};

static void write(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_put_text_field(out, "probability", d->probability);
    tmi_put_text_field(out, "frame", tmi_last_name(d->frame));
    tmi_put_design_sizes(out, d, s);
}

const tmi_plan_kind tmi_plan_kind_poisson = {
    .name = "poisson",
    .words = "Poisson sample",
    .example = "{probability: inclusion_probability}",
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = keys,
    .sizes = sizes,
    .write = write,
    .independent = true,
    .unequal = true,
    .law = &tmi_poisson_form,
    .theorem = "poisson", /* also where everybody is certain */
    .knows_law = tmi_needs_frame,
};
