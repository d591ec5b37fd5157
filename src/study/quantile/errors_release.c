/* The mechanisms of a release in a study of sampling: the code of mech/quantile answers imagined samples, on a grid, with noise
 * of the study's own stream (study/quantile/imagine.c). */
#include <math.h>

#include "base/memory.h"
#include "mech/quantile/several.h"
#include "num/exact.h"
#include "num/number.h"
#include "study/errors_parts.h"
#include "study/quantile/quantile.h"

#define BINS 1024                  /* of tree and prefix: with more, a study would take minutes */
#define TERMS 0x1p15               /* of a joint draw: a tenth of a second */
#define LOG_STEPS TMI_SKEWED_STEPS /* as in plans: then values that cannot be negative are taken to be skewed */

struct tmi_release_room {
    const tmi_simulation *simulation;
    void *samples;
    tamis_quantile **made; /* by size, spending and way; NULL: does not apply */
    int64_t *records, points[TMI_STUDY_LEVELS];
};

static size_t cells_of(const tmi_simulation *s) { return s->sample_count * s->spending_count * TMI_STUDY_MECHANISMS; }

void tmi_release_close(void *place)
{
    struct tmi_release_room *r = place;
    if (!r) return;
    for (size_t i = 0; r->made && i < cells_of(r->simulation); i++) tamis_quantile_free(r->made[i]);
    tmi_samples_close(r->samples);
    tmi_free(r->made);
    tmi_free(r->records);
    tmi_free(r);
}

/* The largest rho that (eps, delta) allows, by eps = rho + 2 sqrt(rho log(1/delta)). */
static double rho_of(const tmi_spending *spent)
{
    const double nats = -log(spent->delta), root = sqrt(nats + spent->eps) - sqrt(nats);
    return root * root;
}

static tamis_quantile_method method_of(tmi_study_mechanism mechanism)
{
    return mechanism == TMI_MECHANISM_THRESHOLD ? TAMIS_QUANTILE_THRESHOLD
           : mechanism == TMI_MECHANISM_JOINT   ? TAMIS_QUANTILE_JOINT
           : mechanism == TMI_MECHANISM_SPLIT   ? TAMIS_QUANTILE_SPLIT
           : mechanism == TMI_MECHANISM_TREE    ? TAMIS_QUANTILE_TREE
           : mechanism == TMI_MECHANISM_PREFIX  ? TAMIS_QUANTILE_PREFIX
                                                : TAMIS_QUANTILE_SMOOTH;
}

/* Where a row may move between groups, each group has half of epsilon or rho, for rows that are added or removed. */
static tamis_status make(tamis_quantile **made, const tmi_simulation *s, size_t size, const tmi_spending *spent,
                         tmi_study_mechanism mechanism, tamis_error *err)
{
    const tmi_levels *l = s->levels;
    const bool in_bins = mechanism == TMI_MECHANISM_TREE || mechanism == TMI_MECHANISM_PREFIX;
    const double whole = mechanism == TMI_MECHANISM_PREFIX ? rho_of(spent) : spent->eps, loss = l->moved ? whole / 2 : whole;
    tamis_quantile_setup what = {.from = l->from,
                                 .to = l->to,
                                 .step = l->step,
                                 .at = l->at,
                                 .at_count = l->count,
                                 .method = method_of(mechanism),
                                 .add_remove = l->moved,
                                 .rows = l->moved ? 0 : s->samples[size],
                                 .complete = !l->moved};
    tmi_grid grid;
    tamis_number *number = NULL;
    tamis_error reason = {0};
    tamis_status status;
    if (!(loss > 0 && loss <= 1000)) return TAMIS_OK; /* beyond what mechanisms take */
    TMI_TRY(tmi_number_double(&number, loss, err));
    TMI_TRY(tmi_grid_set(&grid, l->from, l->to, l->step, err));
    const int64_t points = grid.high - grid.low + 1;
    if (mechanism == TMI_MECHANISM_PREFIX) what.rho = number;
    else what.epsilon = number;
    if (in_bins) what.bins = points < BINS ? points : BINS;
    const bool by_log = (mechanism == TMI_MECHANISM_JOINT || mechanism == TMI_MECHANISM_SPLIT) && grid.low >= 0 &&
                        points > LOG_STEPS;
    if (by_log) what.log_unit = l->step;
    if (mechanism != TMI_MECHANISM_JOINT || tmi_joint_terms(&grid, l->count, loss, 1, s->samples[size], by_log) <= TERMS)
        status = tamis_quantile_new(made, &what, &reason);
    if (status == TAMIS_SYSTEM) status = tmi_fail_as(err, &reason);
    else status = TAMIS_OK; /* no such noise, as for an absurd epsilon: the mechanism does not apply */

done:
    tamis_number_free(number);
    return status;
}

tamis_status tmi_release_open(void **place, const tmi_simulation *s, tamis_error *err)
{
    struct tmi_release_room *r = tmi_alloc(1, sizeof *r);
    tamis_status status;
    *place = r;
    if (!r) return tmi_fail_memory(err);
    r->simulation = s;
    TMI_TRY(tmi_samples_open(&r->samples, s->population->count, err));
    if (!(s->mechanisms & TMI_RELEASE_MECHANISMS) || !s->levels) return TAMIS_OK;
    r->made = tmi_alloc(cells_of(s), sizeof *r->made);
    r->records = tmi_alloc(s->population->count, sizeof *r->records);
    if (!r->made || !r->records) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < s->sample_count * s->spending_count; i++)
        for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++)
            if (s->mechanisms & TMI_RELEASE_MECHANISMS & 1u << w)
                TMI_TRY(make(&r->made[i * TMI_STUDY_MECHANISMS + w], s, i / s->spending_count, &s->spendings[i], w, err));

done:
    return status;
}

void *tmi_release_samples(void *place) { return ((struct tmi_release_room *)place)->samples; }

bool tmi_release_applies(const void *place, size_t cell, tmi_study_mechanism mechanism)
{
    const struct tmi_release_room *r = place;
    return r->made && r->made[cell * TMI_STUDY_MECHANISMS + mechanism];
}

tamis_status tmi_release_error(double *mse, void *place, size_t cell, tmi_study_mechanism mechanism, const tmi_ordered *o,
                               const double *truths, tmi_stream *stream, tamis_error *err)
{
    struct tmi_release_room *r = place;
    const tmi_levels *l = r->simulation->levels;
    tamis_quantile *q = r->made[cell * TMI_STUDY_MECHANISMS + mechanism];
    const double step = tmi_number_nearest(l->step);
    for (uint32_t i = 0; i < o->n; i++) tmi_grid_point(&r->records[i], &q->grid, o->x[i]);
    const tamis_status status = tmi_quantile_imagine(r->points, q, r->records, o->n, stream, err);
    *mse = 0;
    for (size_t j = 0; j < l->count && status == TAMIS_OK; j++)
        *mse += pow((double)r->points[j] * step - truths[j], 2) / (double)l->count;
    return status;
}
