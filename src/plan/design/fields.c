#include "plan/design_fields.h"

#include "base/memory.h"
#include "plan/frame_facts.h"

/* ---- reading ---- */

void tmi_read_design_population(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_stratum *s = ((tmi_drawn *)target)->stratum;
    if (!tmi_read_whole(reader, value, &s->population, 1, TMI_MAX_POPULATION, "6194")) s->population = 0;
}

void tmi_read_design_sample(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_stratum *s = ((tmi_drawn *)target)->stratum;
    if (!tmi_read_whole(reader, value, &s->sample, 1, TMI_MAX_POPULATION, "200")) s->sample = 0;
}

/* At least one unit of the largest population: weights are then no larger than those that a plan can declare. */
void tmi_read_rate(tmi_reader *reader, const tmi_value *value, tamis_number **rate)
{
    tamis_number *least = NULL;
    if (!tmi_read_exact(reader, value, rate, "0.1")) return;
    if (tmi_number_ratio(&least, 1, TMI_MAX_POPULATION, NULL) != TAMIS_OK) reader->no_memory = true;
    else if (tmi_number_sign(*rate) <= 0 || tmi_number_compare_int(*rate, 1) > 0)
        tmi_complain(reader, value, "expected a rate above 0 and at most 1, e.g. 0.1");
    else if (tmi_number_compare(*rate, least) < 0)
        tmi_complain(reader, value, "expected a rate of at least 1/%lld, e.g. 0.1", (long long)TMI_MAX_POPULATION);
    tamis_number_free(least);
}

void tmi_read_design_rate(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_stratum *s = ((tmi_drawn *)target)->stratum;
    tamis_number_free(s->rate); /* of the whole design, if this stratum has its own */
    s->rate = NULL;
    tmi_read_rate(reader, value, &s->rate);
}

void tmi_read_design_probability(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->probability, "inclusion_probability");
}

void tmi_read_design_frame(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_drawn *d = target;
    tmi_read_path(reader, value, d->plan, &d->design->frame, "frame.csv");
}

void tmi_read_design_psus(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_drawn *d = target;
    tmi_read_path(reader, value, d->plan, &d->design->psus, "psus.csv");
}

void tmi_read_design_cluster(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_drawn *)target)->design->cluster, "district");
}

const tmi_plan_key tmi_no_design_keys[1] = {{0}};
const tmi_plan_key tmi_design_sizes[3] = {{TMI_KEY_POPULATION}, {TMI_KEY_SAMPLE}, {0}};

/* ---- writing ---- */

void tmi_put_design_sizes(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    if (!s) return;
    tmi_put_whole_field(out, "population", s->population);
    if (!d->kind->takes_all) tmi_put_whole_field(out, "sample", s->sample);
    tmi_put_exact_field(out, "rate", s->rate);
}

/* ---- the law ---- */

tamis_status tmi_needs_frame(const tmi_plan_design *d, const tmi_frame_facts *frame, tamis_error *err)
{
    if (frame) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "design.%s: the probabilities of units that were not drawn are not in the plan; %s",
                    d->kind->name,
                    d->frame ? "`tamis check` reads them from the frame"
                             : "give the design a frame, or a list of all probabilities, as JSON");
}
