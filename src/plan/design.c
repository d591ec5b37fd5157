/* design: how the sample was drawn. One row a design: its name and the keys it takes. What a design does to weights,
 * sensitivities and variances is release/'s business (release/design.h).                                             */
#include <string.h>

#include "base/memory.h"
#include "plan/sections.h"

static void read_population(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_design *design = target;
    if (!tmi_read_whole(reader, value, &design->population, 1, TMI_MAX_POPULATION, "6194")) design->population = 0;
}

static void read_sample(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_design *design = target;
    if (!tmi_read_whole(reader, value, &design->sample, 1, TMI_MAX_POPULATION, "200")) design->sample = 0;
}

static const tmi_key srs_keys[] = {
    {.name = "population", .read = read_population, .required = "population: 6194"},
    {.name = "sample", .read = read_sample, .required = "sample: 200"},
};

static const tmi_key census_keys[] = {
    {.name = "population", .read = read_population, .required = "population: 6194"},
};

static void read_srs(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_design *design = target;
    design->kind = TMI_DESIGN_SRS;
    tmi_read_map(reader, value, srs_keys, sizeof srs_keys / sizeof *srs_keys, "{population: 6194, sample: 200}", design);
    if (design->population > 0 && design->sample > design->population) {
        tmi_complain(reader, tmi_yaml_get(value, "sample"),
                     "expected a sample no larger than the population (%lld), e.g. 200", (long long)design->population);
    }
}

static void read_census(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_design *design = target;
    design->kind = TMI_DESIGN_CENSUS;
    tmi_read_map(reader, value, census_keys, sizeof census_keys / sizeof *census_keys, "{population: 6194}", design);
    design->sample = design->population;
}

static const tmi_key designs[] = {
    {.name = "srs", .read = read_srs},
    {.name = "census", .read = read_census},
    {.name = "srs_with_replacement"},
    {.name = "bernoulli"},
    {.name = "poisson"},
    {.name = "pps"},
    {.name = "systematic"},
    {.name = "stratified"},
    {.name = "cluster"},
    {.name = "two_stage"},
    {.name = "weights"},
    /* what may stand beside a design */
    {.name = "weight"},
    {.name = "max_weight"},
    {.name = "weight_step"},
    {.name = "weights_are"},
    {.name = "nonresponse"},
    {.name = "variance"},
};

#define EXAMPLE "srs: {population: 6194, sample: 200}"

/* A design without strata is one stratum without a name. */
static void fill_stratum(tmi_reader *reader, tmi_plan_design *design)
{
    design->strata = tmi_alloc(1, sizeof *design->strata);
    if (!design->strata) {
        reader->no_memory = true;
        return;
    }
    design->stratum_count = 1;
    design->strata[0].population = design->population;
    design->strata[0].sample = design->sample;
}

void tmi_read_design(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tamis_plan *plan = target;
    if (value->kind == TMI_YAML_MAP && value->count == 0) {
        tmi_complain(reader, value, "expected a design, e.g. " EXAMPLE);
        return;
    }
    const tmi_yaml *srs = value->kind == TMI_YAML_MAP ? tmi_yaml_get(value, "srs") : NULL;
    const tmi_yaml *census = value->kind == TMI_YAML_MAP ? tmi_yaml_get(value, "census") : NULL;
    if (srs && census) {
        const tmi_yaml *second = srs->index > census->index ? srs : census;
        tmi_complain_key(reader, second, "expected one design, not two");
    }
    tmi_read_map(reader, value, designs, sizeof designs / sizeof *designs, EXAMPLE, &plan->design);
    fill_stratum(reader, &plan->design);
}
