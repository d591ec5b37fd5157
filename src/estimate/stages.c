#include "estimate/stages.h"

#include "base/memory.h"

/* Labels are numbered in the whole sample, and count within their stratum. */
typedef struct cluster {
    size_t row; /* the first */
    int64_t rows;
    bool sizes, probabilities; /* they differ within it */
} cluster;

/* The units of a cluster in the sample: its rows, or the distinct units where units may have several. */
static bool counts_rows(const tmi_sample *s) { return s->plan->privacy.rows_per_unit == 1; }

static bool differ(double x, double y) { return x != y && !(x != x && y != y); }

static void see(cluster *c, const tmi_sample *s, size_t row)
{
    c->rows++;
    c->sizes = c->sizes || differ(s->second_population[row], s->second_population[c->row]) ||
               (s->second_sample && differ(s->second_sample[row], s->second_sample[c->row]));
    c->probabilities = c->probabilities || (s->probabilities && differ(s->probabilities[row], s->probabilities[c->row]));
}

/* How many rows a cluster has is compared where the file has all sampled units, one row each. */
static void judge(tmi_stage_misfits *m, const cluster *c, const tmi_sample *s)
{
    const tmi_plan_design *d = &s->plan->design;
    const double size = s->second_population[c->row], take = (double)d->second_take;
    const double wanted = s->second_sample ? s->second_sample[c->row] : take < size ? take : size;
    m->mixed += c->sizes || c->probabilities;
    m->small += d->second_smallest > 0 && size < (double)d->second_smallest;
    m->other_sample += counts_rows(s) && (d->nonresponse ? (double)c->rows > wanted : (double)c->rows != wanted);
}

tamis_status tmi_stages_compare(tmi_stage_misfits *m, const tmi_sample *s, tamis_error *err)
{
    const size_t strata = s->plan->design.stratum_count;
    size_t labels = 0;
    *m = (tmi_stage_misfits){.compared = s->plan->design.kind->staged && s->second_population && s->clusters};
    if (!m->compared) return TAMIS_OK;
    for (size_t row = 0; row < s->count; row++)
        if ((size_t)s->clusters[row] >= labels) labels = (size_t)s->clusters[row] + 1;
    cluster *list = tmi_alloc(labels, strata * sizeof *list);
    if (!list) return tmi_fail_memory(err);
    for (size_t row = 0; row < s->count; row++) {
        cluster *c = &list[(size_t)s->clusters[row] * strata + tmi_sample_stratum(s, row)];
        if (c->rows == 0) c->row = row;
        see(c, s, row);
    }
    for (size_t i = 0; i < labels * strata; i++)
        if (list[i].rows > 0) judge(m, &list[i], s);
    tmi_free(list);
    return TAMIS_OK;
}
