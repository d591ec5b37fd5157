/* A survey of which only the weights are known, perhaps with strata and clusters, or a design effect. */
#include "plan/design_fields.h"

static void read_strata_label(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->strata_label, "stratum");
}

static void read_totals(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_deff(reader, value, &((tmi_drawn *)target)->design->deff_of[TMI_TOTALS]);
}

static void read_shares(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_deff(reader, value, &((tmi_drawn *)target)->design->deff_of[TMI_SHARES]);
}

static void read_means(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_deff(reader, value, &((tmi_drawn *)target)->design->deff_of[TMI_MEANS]);
}

/* One number, or one per family: the largest is that of the others. */
static void read_deff(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key families[] = {{.name = "totals", .read = read_totals},
                                            {.name = "shares", .read = read_shares},
                                            {.name = "means", .read = read_means}};
    tmi_plan_design *d = ((tmi_drawn *)target)->design;
    const tamis_number *largest = NULL;
    if (value->kind != TMI_VALUE_MAP) {
        tmi_read_deff(reader, value, &d->deff);
        return;
    }
    tmi_read_map(reader, value, families, sizeof families / sizeof *families, "{totals: 3, shares: 2, means: 1.5}", target);
    for (size_t k = 0; k < TMI_FAMILIES; k++)
        if (d->deff_of[k] && (!largest || tmi_number_compare(d->deff_of[k], largest) > 0)) largest = d->deff_of[k];
    if (!largest) tmi_complain(reader, value, "expected a design effect, or some of {totals: 3, shares: 2, means: 1.5}");
    else if (tmi_number_copy(&d->deff, largest, NULL) != TAMIS_OK) reader->no_memory = true;
}

static void put_deff(tmi_json_out *out, const tmi_plan_design *d)
{
    static const char *const names[] = {[TMI_TOTALS] = "totals", [TMI_SHARES] = "shares", [TMI_MEANS] = "means"};
    bool families = false;
    for (size_t k = 0; k < TMI_FAMILIES; k++) families = families || d->deff_of[k];
    if (!families) {
        tmi_put_exact_field(out, "deff", d->deff);
        return;
    }
    tmi_json_add_open(out, "deff", '{');
    for (size_t k = 0; k < TMI_FAMILIES; k++) tmi_put_exact_field(out, names[k], d->deff_of[k]);
    tmi_json_close(out, '}');
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
    put_deff(out, d);
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
