#include "plan/design_rows.h"

#include "base/memory.h"

/* ---- sizes ---- */

static void read_population(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_stratum *s = ((tmi_drawn *)target)->stratum;
    if (!tmi_read_whole(reader, value, &s->population, 1, TMI_MAX_POPULATION, "6194")) s->population = 0;
}

static void read_sample(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_stratum *s = ((tmi_drawn *)target)->stratum;
    if (!tmi_read_whole(reader, value, &s->sample, 1, TMI_MAX_POPULATION, "200")) s->sample = 0;
}

static void read_rate(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_stratum *s = ((tmi_drawn *)target)->stratum;
    tamis_number_free(s->rate); /* of the whole design, if this stratum has its own */
    s->rate = NULL;
    if (!tmi_read_exact(reader, value, &s->rate, "0.1")) return;
    if (tmi_number_sign(s->rate) <= 0 || tmi_number_compare_int(s->rate, 1) > 0)
        tmi_complain(reader, value, "expected a rate above 0 and at most 1, e.g. 0.1");
}

#define POPULATION {.name = "population", .read = read_population, .required = "population: 6194"}
#define SAMPLE {.name = "sample", .read = read_sample, .required = "sample: 200"}
#define RATE {.name = "rate", .read = read_rate, .required = "rate: 0.1"}
#define POPULATION_IF_PUBLIC {.name = "population", .read = read_population}

/* ---- what describes a design ---- */

static void read_probability(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->probability, "inclusion_probability");
}

static void read_frame(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_drawn *d = target;
    char *file = NULL;
    if (!tmi_read_text(reader, value, &file, "frame.csv")) return;
    d->design->frame = tmi_beside_plan(d->plan, file);
    if (!d->design->frame) reader->no_memory = true;
    tmi_free(file);
}

static void read_method(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    static const char *const methods[] = {"conditional_poisson", "sampford", "pivotal", "pivotal_random", "systematic",
                                          "systematic_random", "brewer", "tille"};
    size_t i;
    if (tmi_read_word(reader, value, &i, methods, sizeof methods / sizeof *methods))
        ((tmi_drawn *)target)->design->method = methods[i];
}

static void read_order(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    static const char *const orders[] = {"public", "random"};
    size_t i;
    if (tmi_read_word(reader, value, &i, orders, 2)) ((tmi_drawn *)target)->design->random_order = i == 1;
}

static void read_cluster_column(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->cluster, "district");
}

static void read_smallest(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_read_whole(reader, value, &((tmi_drawn *)target)->design->smallest, 1, TMI_MAX_POPULATION, "1");
}

static void read_largest(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_design *design = ((tmi_drawn *)target)->design;
    tmi_read_whole(reader, value, &design->largest, 1, TMI_MAX_POPULATION, "30");
}

static void read_second_population(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->second_population, "district_size");
}

/* A whole number is taken in every cluster; any other text names a column. */
static void read_second_sample(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_design *design = ((tmi_drawn *)target)->design;
    tamis_number *number = NULL;
    bool plain = value->kind == TMI_YAML_TEXT && !value->quoted;
    tamis_status status = plain ? tamis_number_read(&number, value->text, NULL) : TAMIS_INVALID;
    if (status == TAMIS_SYSTEM) reader->no_memory = true;
    else if (status == TAMIS_OK)
        tmi_read_whole(reader, value, &design->second_take, 1, TMI_MAX_POPULATION, "5");
    else
        tmi_read_text(reader, value, &design->second_sample, "5");
    tamis_number_free(number);
}

static void read_first(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_drawn *d = target;
    const tmi_plan_key keys[] = {
        {.name = "by", .read = read_cluster_column, .required = "by: district"},
        {.name = "population", .read = read_population, .required = d->shared ? NULL : "population: 757"},
        {.name = "sample", .read = read_sample, .required = d->shared ? NULL : "sample: 40"},
    };
    tmi_read_map(reader, value, keys, 3, "{by: district, population: 757, sample: 40}", target);
}

static void read_second(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "population", .read = read_second_population, .required = "population: district_size"},
        {.name = "sample", .read = read_second_sample, .required = "sample: 5"},
    };
    tmi_read_map(reader, value, keys, 2, "{population: district_size, sample: 5}", target);
}

static void read_strata_label(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->strata_label, "stratum");
}

static void read_deff(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_design *design = ((tmi_drawn *)target)->design;
    if (tmi_read_exact(reader, value, &design->deff, "1.8") && tmi_number_sign(design->deff) <= 0)
        tmi_complain(reader, value, "expected a design effect above 0, e.g. 1.8");
}

/* ---- the table ---- */

#define SIZES "{population: 6194, sample: 200}"
#define PROBABILITY {.name = "probability", .read = read_probability, .required = "probability: inclusion_probability"}
#define FRAME {.name = "frame", .read = read_frame}

const tmi_design_row tmi_design_rows[TMI_DESIGN_ROWS] = {
    {TMI_DESIGN_SRS, SIZES, {{0}}, {POPULATION, SAMPLE}, false},
    {TMI_DESIGN_CENSUS, "{population: 6194}", {{0}}, {POPULATION}, false},
    {TMI_DESIGN_SRS_WITH_REPLACEMENT, SIZES, {{0}}, {POPULATION, SAMPLE}, false},
    {TMI_DESIGN_BERNOULLI, "{rate: 0.1}", {{0}}, {RATE, POPULATION_IF_PUBLIC}, false},
    {TMI_DESIGN_POISSON, "{probability: inclusion_probability}", {PROBABILITY, FRAME}, {POPULATION_IF_PUBLIC}, false},
    {TMI_DESIGN_PPS, "{method: sampford, probability: inclusion_probability, sample: 50}",
     {{.name = "method", .read = read_method, .required = "method: sampford"}, PROBABILITY, FRAME},
     {SAMPLE, POPULATION_IF_PUBLIC}, false},
    {TMI_DESIGN_SYSTEMATIC, "{population: 6194, sample: 200, order: public}",
     {{.name = "order", .read = read_order, .required = "order: public"}}, {POPULATION, SAMPLE}, false},
    {TMI_DESIGN_CLUSTER, "{by: district, population: 757, sample: 15, smallest: 1, largest: 30}",
     {{.name = "by", .read = read_cluster_column, .required = "by: district"},
      {.name = "smallest", .read = read_smallest, .required = "smallest: 1"},
      {.name = "largest", .read = read_largest, .required = "largest: 30"}},
     {POPULATION, SAMPLE}, false},
    {TMI_DESIGN_TWO_STAGE,
     "{first: {by: district, population: 757, sample: 40}, second: {population: district_size, sample: 5}}",
     {{.name = "first", .read = read_first, .required = "first: {by: district, population: 757, sample: 40}"},
      {.name = "second", .read = read_second, .required = "second: {population: district_size, sample: 5}"}},
     {POPULATION, SAMPLE}, true},
    {TMI_DESIGN_WEIGHTS, "{strata: stratum, cluster: psu}",
     {{.name = "strata", .read = read_strata_label}, {.name = "cluster", .read = read_cluster_column},
      {.name = "deff", .read = read_deff}},
     {POPULATION_IF_PUBLIC}, false},
};
