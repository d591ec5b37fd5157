/* A simple random sample of clusters, each taken whole.
 *
 * For an outsider's promise: all clusters as large as the largest, filled up with records that add nothing. */
#include "plan/design_fields.h"

static void read_smallest(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_whole(reader, value, &((tmi_drawn *)target)->design->smallest, 1, TMI_MAX_POPULATION, "1");
}

static void read_largest(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_design *design = ((tmi_drawn *)target)->design;
    tmi_read_whole(reader, value, &design->largest, 1, TMI_MAX_POPULATION, "30");
}

static const tmi_plan_key keys[] = {
    {.name = "by", .read = tmi_read_design_cluster, .required = "by: district"},
    {.name = "smallest", .read = read_smallest, .required = "smallest: 1"},
    {.name = "largest", .read = read_largest, .required = "largest: 30"},
    {0},
};

static void check(tmi_reader *reader, const tmi_value *map, const tmi_plan_design *d)
{
    if (d->largest > 0 && d->smallest > d->largest)
        tmi_complain(reader, tmi_value_get(map, "largest"), "expected at least `smallest` (%lld) units, e.g. %lld",
                     (long long)d->smallest, (long long)d->smallest);
}

static void write(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_put_text_field(out, "by", d->cluster);
    tmi_put_design_sizes(out, d, s);
    tmi_put_whole_field(out, "smallest", d->smallest);
    tmi_put_whole_field(out, "largest", d->largest);
}

const tmi_plan_kind tmi_plan_kind_cluster = {
    .name = "cluster",
    .words = "single-stage cluster sample",
    .example = "{by: district, population: 757, sample: 15, smallest: 1, largest: 30}",
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = keys,
    .sizes = tmi_design_sizes,
    .check = check,
    .write = write,
    .clusters = true,
    .law = &tmi_cluster_form,
};
