/* A sample of clusters, drawn by any design of one stage with a fixed size, and one of units in each of them: of a fixed number,
 * or each unit by itself, all at one rate (bernoulli).
 *
 * For an outsider's promise, where both are simple random samples: whole clusters of as many units as are drawn in one. A unit
 * is drawn no more likely than its cluster, and a cluster that takes the place of another exchanges no more records. Where the
 * smallest cluster of the frame is declared, all clusters are as small as that one, and the second stage counts too: inside a
 * drawn cluster a unit is drawn no more likely than there, and the fewer units are drawn of a cluster, the less its units
 * lose.
 *
 * Where clusters are drawn with unequal probabilities or systematically, only the second stage counts, as if everybody knew
 * which clusters were drawn: condition on them. The law of the rest is a simple random sample in the unit's own cluster,
 * whatever the others are, or the unit is not there at all; a mixture loses no more than its parts. The fraction that is
 * drawn of a cluster is largest in the smallest one. So the law is a simple random sample of that cluster.
 *
 * Where units are drawn by themselves, a cluster that takes the place of another may exchange as many records as the larger of
 * the two has units, and no plan says how many that are. So only the second stage counts there too, whatever drew the clusters,
 * and it is a Bernoulli sample: the same rate in every cluster, of any size. */
#include <string.h>

#include "plan/design_fields.h"

static const char *const second_methods[] = {
    [TMI_SECOND_SRS] = "srs", [TMI_SECOND_SYSTEMATIC] = "systematic", [TMI_SECOND_BERNOULLI] = "bernoulli"};

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

#define EXAMPLE_FIRST "{by: district, population: 757, sample: 40}"
#define NO_FRAME "the weights of two stages are made of the columns probability and second.population, and max_weight bounds them"

/* The key of the design that draws the clusters, with the keys and sizes that it has alone. */
static void read_inner(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_drawn *d = target;
    const tmi_plan_kind *kind = tmi_plan_kind_find(tmi_value_key(value));
    tmi_plan_key keys[2 * TMI_DESIGN_KEYS];
    size_t count = 0;
    if (d->design->first) {
        tmi_complain_key(reader, value, "expected one design of the clusters, not two");
        return;
    }
    d->design->first = kind;
    for (const tmi_plan_key *key = kind->keys; key->name; key++) {
        keys[count] = *key;
        if (strcmp(key->name, "frame") == 0) keys[count] = (tmi_plan_key){.name = key->name, .not_offered = NO_FRAME};
        count++;
    }
    for (const tmi_plan_key *key = kind->sizes; key->name; key++) {
        keys[count] = *key;
        if (d->shared) keys[count].required = NULL;
        count++;
    }
    tmi_read_map(reader, value, keys, count, kind->example, target);
}

#define RANDOM_NUMBER "a first stage draws a fixed number of clusters, as srs, systematic and pps do"
#define WHOLE_LIST "clusters that are all drawn are strata: write `stratified` by them"

static void read_first(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_drawn *d = target;
    const bool inner = value->kind == TMI_VALUE_MAP &&
                       (tmi_value_get(value, "srs") || tmi_value_get(value, "systematic") || tmi_value_get(value, "pps"));
    const tmi_plan_key keys[] = {
        {.name = "by", .read = tmi_read_design_cluster, .required = "by: district"},
        {.name = "population", .read = tmi_read_design_population, .required = d->shared || inner ? NULL : "population: 757"},
        {.name = "sample", .read = tmi_read_design_sample, .required = d->shared || inner ? NULL : "sample: 40"},
        {.name = "srs", .read = read_inner},
        {.name = "systematic", .read = read_inner},
        {.name = "pps", .read = read_inner},
        {.name = "bernoulli", .not_offered = RANDOM_NUMBER},
        {.name = "poisson", .not_offered = RANDOM_NUMBER},
        {.name = "srs_with_replacement", .not_offered = RANDOM_NUMBER},
        {.name = "census", .not_offered = WHOLE_LIST},
    };
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, EXAMPLE_FIRST, target);
    for (size_t i = 1; inner && i < 3; i++) {
        const tmi_value *size = tmi_value_get(value, keys[i].name);
        if (size) tmi_complain_key(reader, size, "expected the sizes beside the keys of the design that draws the clusters");
    }
    if (!d->design->first) d->design->first = &tmi_plan_kind_srs;
}

static void read_method(tmi_reader *reader, const tmi_value *value, void *target)
{
    size_t i;
    if (tmi_read_word(reader, value, &i, second_methods, 3)) ((tmi_drawn *)target)->design->second = (tmi_second_method)i;
}

/* The cluster of the frame that has the fewest units: public, and not checked. */
static void read_second_smallest(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_whole(reader, value, &((tmi_drawn *)target)->design->second_smallest, 1, TMI_MAX_POPULATION, "40");
}

static void read_second_rate(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_rate(reader, value, &((tmi_drawn *)target)->design->second_rate);
}

static void read_second(tmi_reader *reader, const tmi_value *value, void *target)
{
    const tmi_value *method = value->kind == TMI_VALUE_MAP ? tmi_value_get(value, "method") : NULL;
    const bool by_rate = method && method->kind == TMI_VALUE_TEXT && strcmp(method->text, "bernoulli") == 0;
    const tmi_plan_key keys[] = {
        {.name = "population", .read = read_second_population, .required = by_rate ? NULL : "population: district_size"},
        {.name = "sample", .read = read_second_sample, .required = by_rate ? NULL : "sample: 5"},
        {.name = "method", .read = read_method},
        {.name = "smallest", .read = read_second_smallest},
        {.name = "rate", .read = read_second_rate, .required = by_rate ? "rate: 0.1" : NULL},
    };
    tmi_read_map(reader, value, keys, 5, by_rate ? "{method: bernoulli, rate: 0.1}" : "{population: district_size, sample: 5}",
                 target);
    for (size_t i = 0; i < 5 && value->kind == TMI_VALUE_MAP; i++) {
        const tmi_value *key = tmi_value_get(value, keys[i].name);
        if (!key || i == 2 || by_rate == (i == 4)) continue;
        tmi_complain_key(reader, key,
                         by_rate
                             ? "not with bernoulli, which draws each unit of a cluster by itself with the same `rate`, however "
                               "many there are"
                             : "only with `method: bernoulli`; other methods draw `sample` units of `population`");
    }
}

#define PART_OF_SECOND \
    "a third stage counts as part of the second: the totals of the drawn clusters vary with all that happens inside them, and " \
    "that is what is measured; give the weights of all stages together as `weight` and `max_weight` beside the design"

static const tmi_plan_key keys[] = {
    {.name = "first", .read = read_first, .required = "first: {by: district, population: 757, sample: 40}"},
    {.name = "second", .read = read_second, .required = "second: {population: district_size, sample: 5}"},
    {.name = "third", .not_offered = PART_OF_SECOND},
    {0},
};

static void write(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_json_add_open(out, "first", '{');
    tmi_put_text_field(out, "by", d->cluster);
    if (d->first == &tmi_plan_kind_srs) {
        tmi_put_design_sizes(out, d, s);
    } else {
        tmi_json_add_open(out, d->first->name, '{');
        d->first->write(out, d, s);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "second", '{');
    tmi_put_text_field(out, "population", d->second_population);
    tmi_put_whole_field(out, "sample", d->second_take);
    tmi_put_text_field(out, "sample", d->second_sample);
    if (d->second != TMI_SECOND_SRS) tmi_put_text_field(out, "method", second_methods[d->second]);
    if (d->second_smallest > 0) tmi_put_whole_field(out, "smallest", d->second_smallest);
    tmi_put_exact_field(out, "rate", d->second_rate);
    tmi_json_close(out, '}');
}

static tamis_status knows_law(const tmi_plan_design *d, const struct tmi_frame_facts *frame, tamis_error *err)
{
    (void)frame;
    if (d->second_rate) return TAMIS_OK;
    if (d->second != TMI_SECOND_SRS)
        return tmi_fail(
            err, TAMIS_REFUSED,
            "design.two_stage: no theorem covers a systematic second stage in a plan; an outsider has the guarantee of a "
            "sampled person");
    if (d->second_take == 0)
        return tmi_fail(err, TAMIS_REFUSED,
                        "design.two_stage: the second-stage sample size is a column, so the plan does not bound it; set "
                        "`second: {sample: NUMBER}`");
    if (!tmi_hides_within_clusters(d) || d->second_smallest > d->second_take) return TAMIS_OK;
    return tmi_fail(
        err, TAMIS_REFUSED,
        "design.two_stage: where clusters are not a simple random sample only the second stage hides an outsider, and in "
        "clusters that are taken in full nobody; set `second: {smallest: NUMBER}`, the units of the smallest cluster of "
        "the frame, if that is above %lld",
        (long long)d->second_take);
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
