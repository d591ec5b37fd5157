#include "inference/errors.h"

#include <math.h>

#include "base/memory.h"
#include "inference/error_term.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "num/law/noise.h"
#include "num/number.h"

void tmi_errors_clear(tmi_errors *e)
{
    tmi_free(e->list);
    tmi_free(e->first);
    *e = (tmi_errors){0};
}

/* Degrees of freedom: of a statistic in strata, those of the strata that a group has on average. */
static double degrees_of(const tmi_schedule *s, size_t i)
{
    const size_t strata = s->places.layout.count;
    const double all = tmi_error_degrees(s);
    const tmi_strata_counts n = tmi_count_strata(s, i);
    if (strata <= 1 || !tmi_is_in_strata(s, i) || n.strata == 0) return fmax(all, 1);
    return fmax(all * (double)n.strata / (double)n.groups / (double)s->sampling.strata, 1);
}

/* The sampled rows of a group, where its number is made of them; infinite elsewhere. */
static double rows_of(const tmi_schedule *s, const tmi_plan_statistic *t, const tmi_group_sums *z, const tmi_form_moments *f,
                      size_t i)
{
    const bool counted = (t->by_count > 0 || t->where) && (f->x == TMI_OF_ROWS || f->y == TMI_OF_ROWS) &&
                         !tmi_is_calibrated(s, i);
    return counted && z->value[TMI_OF_ROWS] > 0 ? z->value[TMI_OF_ROWS] / tmi_mean_weight(s) : INFINITY;
}

/* Those of a contrast: of the number with the fewest. */
static double rows_of_contrast(const tmi_schedule *s, const tmi_contrast_sums *z)
{
    double rows = INFINITY;
    for (size_t k = 0; k < z->term_count; k++) {
        const tmi_contrast_term *t = &z->terms[k];
        if (t->sums) rows = fmin(rows, rows_of(s, &s->plan->statistics[t->statistic], t->sums, &t->form, t->statistic));
    }
    return rows;
}

/* Groups in different strata have the degrees of freedom of all of them. */
static double degrees_of_contrast(const tmi_schedule *s, const tmi_contrast_sums *z)
{
    const tmi_plan_contrast *c = s->plan->statistics[z->statistic].contrast;
    if (z->coefficients > 0) return fmax(tmi_error_degrees(s) - (double)z->coefficients + 1, 1);
    const bool apart = c->across && tmi_is_of_strata(&s->plan->design, c->across);
    const double own = degrees_of(s, z->terms[0].statistic);
    return apart ? fmin(own * (double)z->term_count, fmax(tmi_error_degrees(s), 1)) : own;
}

/* The part of a calibrated number's squares that its second stage has, which is about the rows of a domain: others have residuals
 * too. Noise may hide most of it. */
#define LEAST_INSIDE 0.05

static double inside_of(const tmi_error_source *source, size_t i, size_t group)
{
    const tmi_plan_statistic *t = &source->inference->schedule->plan->statistics[i];
    if (t->contrast) return 1;
    const tmi_group_sums *z = &source->sums.groups[group];
    const double r = tmi_ratio_at(t, z), all = tmi_quadratic_at(z->proxy, r), outside = tmi_quadratic_at(z->outside, r);
    return outside > 0 && all > 0 ? fmax(1 - outside / all, LEAST_INSIDE) : 1;
}

/* What was measured of a number, as one of the family that it belongs to; false: nothing. A number that does not vary needs
 * none. */
static tamis_status measured(bool *found, tmi_measured_error *n, tmi_error_source *source, size_t i, size_t group,
                             tamis_error *err)
{
    const tmi_inference *r = source->inference;
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_measurement *m = source->measurement;
    tmi_error_term term;
    *found = false;
    *n = (tmi_measured_error){0};
    if (m->marginal.statistic != i) return TAMIS_OK;
    const tamis_status status = tmi_error_term_make(&term, source, group, err);
    if (status != TAMIS_OK) return status;
    const tmi_form_moments f = tmi_form_moments_of(t);
    const int power = tmi_method_of(m->marginal.weighting)->power;
    const double clamping = tmi_clamping_for(r, i), raised = power == 2 ? clamping : sqrt(clamping);
    *n = (tmi_measured_error){.family = tmi_effect_family_of(t),
                              .power = power,
                              .statistic = i,
                              .squares = term.squares * inside_of(source, i, group),
                              .noise = term.noise,
                              .measured = raised * term.step * (double)r->noisy[m - s->measurements][group],
                              .scale = raised * term.step * tmi_number_nearest(m->laws[0].scale),
                              .gaussian = s->gaussian,
                              .degrees = t->contrast ? degrees_of_contrast(s, &source->contrast) : degrees_of(s, i),
                              .rows = t->contrast ? rows_of_contrast(s, &source->contrast)
                                                  : rows_of(s, t, &source->sums.groups[group], &f, i),
                              .confidence = tmi_number_nearest(t->confidence)};
    *found = term.squares > 0 && isfinite(term.squares) && n->scale > 0;
    tmi_error_term_clear(&term);
    return TAMIS_OK;
}

/* ---- all numbers ---- */

typedef struct collected {
    tmi_measured_error *numbers;
    size_t *places; /* of each in the list of errors */
    size_t count;
} collected;

static tamis_status collect(collected *c, tmi_errors *e, const tmi_inference *r, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->plan->statistic_count; i++) {
        tmi_error_source source;
        const tmi_measurement *m = tmi_errors_measured(s, i);
        if (!m || m->marginal.statistic != i) continue;
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(tmi_error_source_make(&source, r, m, err));
        for (size_t g = 0; g < e->first[i + 1] - e->first[i] && status == TAMIS_OK; g++) {
            tmi_measured_error *n = &c->numbers[c->count];
            bool found;
            status = measured(&found, n, &source, i, g, err);
            if (status == TAMIS_OK && !found && n->squares == 0 && n->scale > 0) e->list[e->first[i] + g].effect = 0;
            if (status != TAMIS_OK || !found) continue;
            e->list[e->first[i] + g].known = n->scale * (s->gaussian ? 1 : sqrt(2)) / fmax(n->measured, n->scale) / n->power;
            c->places[c->count++] = e->first[i] + g;
        }
        tmi_error_source_clear(&source);
        if (status != TAMIS_OK) goto done;
    }

done:
    return status;
}

/* A number whose standard error is that of another statistic has the same design effect. */
static void borrow(tmi_errors *e, const tmi_schedule *s, size_t i)
{
    const size_t from = tmi_errors_from(s, i);
    if (from == i || !tmi_errors_measured(s, i)) return;
    for (size_t g = 0; g < e->first[i + 1] - e->first[i]; g++) {
        e->list[e->first[i] + g] = e->list[e->first[from] + g];
        e->list[e->first[i] + g].other = tmi_is_of_curve(s->plan, i);
    }
}

/* Numbers of a contrast that nobody asked for have its design effect: it is all that their own intervals serve, whose ends are
 * scaled to the contrast's error. */
static void lend(tmi_errors *e, const tmi_schedule *s, size_t contrast)
{
    const tmi_plan_statistic *t = &s->plan->statistics[contrast];
    for (size_t k = e->first[contrast]; t->contrast && !t->model && k < e->first[contrast + 1]; k++)
        for (size_t term = 0; term < t->contrast->term_count; term++) {
            const size_t of = tmi_term_statistic(t->contrast, term);
            tmi_number_error *own = &e->list[e->first[of] + tmi_term_cell(s->plan, t, term, k - e->first[contrast])];
            if (isnan(own->effect) && !tmi_errors_measured(s, of)) *own = e->list[k];
        }
}

/* A public design effect is that over a simple random sample: it is multiplied by the mean weight, from noisy sums of weights and
 * rows, the latter not below what their noise may hide. Relative to the mean weight that is guessed, as all effects here. */
static double public_effect(const tmi_inference *r, size_t i)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_design *d = &s->plan->design;
    const size_t domains = s->effects.domains;
    const tmi_arrowhead *n = &s->effects.arrowheads[TMI_UNWEIGHTED * domains];
    const double weights = r->main.centres[TMI_WEIGHTED * domains], noisy = r->rows.centres[TMI_UNWEIGHTED * domains];
    const double rows = fmax(noisy, fmax(1, n->known ? 0 : 1 / sqrt(n->rest)));
    if (!(weights > 0) || !isfinite(rows)) return NAN;
    return tmi_number_nearest(d->deff) * tmi_relative_deff(d, &s->plan->statistics[i]) * weights / rows / tmi_mean_weight(s);
}

static bool has_public_effect(const tmi_schedule *s) { return tmi_variance_source_of(s) == TMI_PUBLIC_EFFECT; }

tamis_status tmi_errors_make(tmi_errors *e, const tmi_inference *r, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t count = s->plan->statistic_count;
    const tmi_cluster_guess guess = tmi_cluster_guess_of(s);
    collected c = {0};
    tmi_error_limit *limits = NULL;
    tamis_status status = TAMIS_OK;
    *e = (tmi_errors){.first = tmi_alloc(count + 1, sizeof *e->first)};
    if (!e->first) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) e->first[i + 1] = e->first[i] + (size_t)tmi_statistic_cells(&s->plan->statistics[i]);
    const size_t all = e->first[count];
    e->list = tmi_alloc(all, sizeof *e->list);
    c.numbers = tmi_alloc(all, sizeof *c.numbers);
    c.places = tmi_alloc(all, sizeof *c.places);
    limits = tmi_alloc(all, sizeof *limits);
    if (!e->list || !c.numbers || !c.places || !limits) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < all; k++) e->list[k].effect = tmi_psus_are_all_drawn(s) ? 0 : NAN;
    for (size_t i = 0; i < count && has_public_effect(s); i++)
        for (size_t k = e->first[i]; k < e->first[i + 1]; k++) e->list[k].effect = public_effect(r, i);
    TMI_TRY(collect(&c, e, r, err));
    TMI_TRY(tmi_error_limits(limits, c.numbers, c.count, &guess, err));
    for (size_t k = 0; k < c.count; k++) e->list[c.places[k]].effect = limits[k].variance / c.numbers[k].squares;
    for (size_t i = 0; i < count; i++) borrow(e, s, i);
    for (size_t i = 0; i < s->plan->asked_count; i++) lend(e, s, i);

done:
    tmi_free(c.numbers);
    tmi_free(c.places);
    tmi_free(limits);
    if (status != TAMIS_OK) tmi_errors_clear(e);
    return status;
}

const char *tmi_why_no_error(const tmi_schedule *s, size_t i)
{
    if (tmi_variance_source_for(s, i) == TMI_OWN_SQUARES || (!s->sampling.clustered && tmi_has_lonely_unit(&s->sampling)))
        return "a stratum has only one sampled unit, so its sampling error cannot be estimated";
    if (has_public_effect(s)) return "nothing is left of the weights beside the noise, so that its design effect has no unit";
    if (tmi_has_ranges_by_stratum(&s->plan->statistics[i]))
        return "the sampling error of clusters is not measured where a column has ranges by stratum";
    if (s->workload.separate_strata && tmi_errors_need_strata(s, i))
        return "the sampling error of clusters is not measured in groups of strata where some column has ranges by stratum";
    if (!tmi_errors_measured(s, i) && tmi_psus_are_too_few(s))
        return "only one cluster was drawn, so its sampling error cannot be estimated";
    if (!tmi_errors_measured(s, i))
        return "its sampling error is not measured: a unit has too many rows, or is in too many groups";
    return "nothing is left of it beside the noise, so its sampling error cannot be estimated";
}
