/* A survey of which only the weights are known, perhaps with strata and clusters, or a design effect. */
#include "plan/design/fields.h"

static void read_strata_label(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->strata_label, "stratum");
}

static void read_deff(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_design *design = ((tmi_drawn *)target)->design;
    if (tmi_read_exact(reader, value, &design->deff, "1.8") && tmi_number_sign(design->deff) <= 0)
        tmi_complain(reader, value, "expected a design effect above 0, e.g. 1.8");
}

static const tmi_plan_key keys[] = {
    {.name = "strata", .read = read_strata_label},
    {.name = "cluster", .read = tmi_read_design_cluster},
    {.name = "psus", .read = tmi_read_design_psus},
    {.name = "deff", .read = read_deff},
    {0},
};
static const tmi_plan_key sizes[] = {{TMI_KEY_PUBLIC_POPULATION}, {0}};

static void check(tmi_reader *reader, const tmi_value *map, const tmi_plan_design *d)
{
    const tmi_value *deff = tmi_value_get(map, "deff"), *psus = tmi_value_get(map, "psus");
    if (deff && (d->strata_label || d->cluster))
        tmi_complain_key(reader, deff, "expected either deff or the columns strata and cluster, not both");
    if (psus && !d->cluster) tmi_complain_key(reader, psus, "expected the column of its clusters beside it, e.g. cluster: psu");
    if (psus && d->by)
        tmi_complain_key(reader, psus, "a list of clusters goes with the key strata of `weights`, not with `stratified`");
}

static void write(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_put_text_field(out, "cluster", d->cluster);
    tmi_put_design_sizes(out, d, s);
    tmi_put_text_field(out, "strata", d->strata_label);
    tmi_put_text_field(out, "psus", tmi_last_name(d->psus));
    tmi_put_exact_field(out, "deff", d->deff);
}

static tamis_status knows_law(const tmi_plan_design *d, const struct tmi_frame_facts *frame, tamis_error *err)
{
    (void)d, (void)frame;
    return tmi_fail(err, TAMIS_REFUSED,
                    "design.weights: only weights are known, not how the sample was drawn, and no theorem covers that");
}

const tmi_plan_kind tmi_plan_kind_weights = {
    .name = "weights",
    .words = "survey with a weights-only design",
    .example = "{strata: stratum, cluster: psu}",
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = keys,
    .sizes = sizes,
    .check = check,
    .write = write,
    .only_weights = true,
    .knows_law = knows_law,
};
