/* A simple random sample of clusters, and one of units in each of them.
 *
 * For an outsider's promise: whole clusters of as many units as are drawn in one. A unit is drawn no more likely than its
 * cluster, and a cluster that takes the place of another exchanges no more records. Where the smallest cluster of the frame is
 * declared, all clusters are as small as that one, and the second stage counts too: inside a drawn cluster a unit is drawn no
 * more likely than there, and the fewer units are drawn of a cluster, the less its units lose. */
#include "plan/design_fields.h"

static void read_second_population(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->second_population, "district_size");
}

/* A whole number is taken in every cluster; any other text names a column. */
static void read_second_sample(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_design *design = ((tmi_drawn *)target)->design;
    tamis_number *number = NULL;
    bool plain = value->kind == TMI_VALUE_TEXT && !value->quoted;
    tamis_status status = plain ? tamis_number_read(&number, value->text, NULL) : TAMIS_INVALID;
    if (status == TAMIS_SYSTEM) reader->no_memory = true;
    else if (status == TAMIS_OK) tmi_read_whole(reader, value, &design->second_take, 1, TMI_MAX_POPULATION, "5");
    else tmi_read_text(reader, value, &design->second_sample, "5");
    tamis_number_free(number);
}

static void read_first(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_drawn *d = target;
    const tmi_plan_key keys[] = {
        {.name = "by", .read = tmi_read_design_cluster, .required = "by: district"},
        {.name = "population", .read = tmi_read_design_population, .required = d->shared ? NULL : "population: 757"},
        {.name = "sample", .read = tmi_read_design_sample, .required = d->shared ? NULL : "sample: 40"},
    };
    tmi_read_map(reader, value, keys, 3, "{by: district, population: 757, sample: 40}", target);
}

/* The cluster of the frame that has the fewest units: public, and not checked. */
static void read_second_smallest(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_whole(reader, value, &((tmi_drawn *)target)->design->second_smallest, 1, TMI_MAX_POPULATION, "40");
}

static void read_second(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "population", .read = read_second_population, .required = "population: district_size"},
        {.name = "sample", .read = read_second_sample, .required = "sample: 5"},
        {.name = "smallest", .read = read_second_smallest},
    };
    tmi_read_map(reader, value, keys, 3, "{population: district_size, sample: 5}", target);
}

static const tmi_plan_key keys[] = {
    {.name = "first", .read = read_first, .required = "first: {by: district, population: 757, sample: 40}"},
    {.name = "second", .read = read_second, .required = "second: {population: district_size, sample: 5}"},
    {0},
};

static void write(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_json_add_open(out, "first", '{');
    tmi_put_text_field(out, "by", d->cluster);
    tmi_put_design_sizes(out, d, s);
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "second", '{');
    tmi_put_text_field(out, "population", d->second_population);
    tmi_put_whole_field(out, "sample", d->second_take);
    tmi_put_text_field(out, "sample", d->second_sample);
    if (d->second_smallest > 0) tmi_put_whole_field(out, "smallest", d->second_smallest);
    tmi_json_close(out, '}');
}

static tamis_status knows_law(const tmi_plan_design *d, const struct tmi_frame_facts *frame, tamis_error *err)
{
    (void)frame;
    if (d->second_take > 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED,
                    "design.two_stage: the second-stage sample size is a column, so the plan does not bound it; set "
                    "`second: {sample: NUMBER}`");
}

const tmi_plan_kind tmi_plan_kind_two_stage = {
    .name = "two_stage",
    .words = "two-stage sample",
    .example = "{first: {by: district, population: 757, sample: 40}, second: {population: district_size, sample: 5}}",
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = keys,
    .sizes = tmi_design_sizes,
    .sizes_inside = true,
    .write = write,
    .clusters = true,
    .staged = true,
    .theorem = "two_stage",
    .knows_law = knows_law,
    .law = &tmi_cluster_form,
};
