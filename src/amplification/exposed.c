#include "amplification/exposed.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/bound.h"
#include "num/number.h"

/* Beyond this, e^eps is not written out. */
#define MOST_EPS 1000000
#define MOST_RELEASES 1000000

static bool is_neighbours(tamis_neighbours n) { return n == TAMIS_REPLACE || n == TAMIS_ADD_REMOVE; }

tamis_status tmi_check_eps_delta(const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    if (tmi_number_compare_int(eps, MOST_EPS) > 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not exceed 10^6");
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (tmi_number_sign(delta) < 0 || tmi_number_compare_int(delta, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "delta: must be between 0 and 1");
    return TAMIS_OK;
}

static tamis_status check_promise(const tamis_design *design, const tamis_sample_promise *p, tamis_error *err)
{
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    if (!p) return tmi_fail(err, TAMIS_INVALID, "promise: NULL");
    tamis_status status = tmi_check_eps_delta(p->eps, p->delta, err);
    if (status != TAMIS_OK) return status;
    if (!is_neighbours(p->neighbours)) return tmi_fail(err, TAMIS_INVALID, "neighbours: must be replace, or add and remove");
    if (p->releases < 0 || p->releases > MOST_RELEASES)
        return tmi_fail(err, TAMIS_INVALID, "releases: must be between 0 and 10^6");
    if (!is_neighbours(p->mechanism) && p->mechanism != TAMIS_ANY_ONE)
        return tmi_fail(err, TAMIS_INVALID, "mechanism: must be replace, add and remove, or either");
    return TAMIS_OK;
}

static tamis_status check_part(const tamis_number *x, const char *name, tamis_error *err)
{
    if (x && (tmi_number_sign(x) < 0 || tmi_number_compare_int(x, MOST_EPS) > 0))
        return tmi_fail(err, TAMIS_INVALID, "%s: must be between 0 and 10^6", name);
    return TAMIS_OK;
}

static tamis_status check_profile(const tamis_sample_promise *p, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!p->pure && !p->mu_squared && !p->rho) return TAMIS_OK;
    if (!p->pure || !p->mu_squared == !p->rho)
        return tmi_fail(err, TAMIS_INVALID, "pure: is needed with mu_squared or with rho, not with both");
    if (p->neighbours != TAMIS_REPLACE || p->releases > 1)
        return tmi_fail(err, TAMIS_INVALID, "pure: must be that of all releases together, of replaced records");
    TMI_TRY(check_part(p->pure, "pure", err));
    TMI_TRY(check_part(p->mu_squared, "mu_squared", err));
    TMI_TRY(check_part(p->rho, "rho", err));

done:
    return status;
}

/* ---- forward ---- */

static tamis_status certify(tamis_bound *bound, double most, tmi_formula *formula, const tmi_unit_loss *unit, tamis_error *err)
{
    tamis_bound b;
    tamis_status status = tmi_certify(&b, TMI_DESIGN_WIDTH, formula, unit, err);
    if (status == TAMIS_OK) *bound = (tamis_bound){fmin(b.lower, most), fmin(b.upper, most)};
    return status;
}

static tamis_bound larger(tamis_bound x, tamis_bound y) { return (tamis_bound){fmax(x.lower, y.lower), fmax(x.upper, y.upper)}; }

/* Whether a change of the unit's record, or a sample without the unit, is more than one step away: nearer ones are one point of
 * the profile. */
static bool has_steps(const tamis_exposure *e, const tamis_sample_promise *promise)
{
    bool found = tmi_steps_of_change(e, promise) > 1;
    for (size_t k = 0; k < e->absence_count; k++) found = found || tmi_steps_of_absence(&e->absences[k], promise) > 1;
    return found;
}

/* The smaller eps at the same delta that the profile gives, if it is known. What cannot be certified is left as it was. */
static tamis_status use_profile(tamis_amplified_part *part, const tamis_exposure *e, const tamis_sample_promise *promise,
                                tamis_error *err)
{
    const tamis_number *loss = promise->mu_squared ? promise->mu_squared : promise->rho;
    tamis_number *delta = NULL;
    tamis_bound eps;
    tamis_error reason;
    if (!loss || tmi_number_sign(loss) == 0 || !(part->delta.upper > 0 && part->delta.upper < 1)) return TAMIS_OK;
    if (strcmp(e->theorem, "srs_with_replacement") == 0 || !has_steps(e, promise)) return TAMIS_OK;
    tamis_status status = tmi_number_double(&delta, part->delta.upper, err);
    if (status != TAMIS_OK) return status;
    status = tmi_split_epsilon(&eps, e, promise, delta, &reason);
    tamis_number_free(delta);
    if (status == TAMIS_SYSTEM) return tmi_fail_as(err, &reason);
    if (status != TAMIS_OK || eps.upper >= part->eps.upper) return TAMIS_OK;
    part->eps = eps;
    part->by_profile = 1;
    return TAMIS_OK;
}

/* Joins units to the part that is being written, or begins a new one. */
static tamis_status add(tamis_amplified *amplified, const tmi_exposed *unit, const tamis_sample_promise *promise,
                        tamis_error *err)
{
    const tamis_exposure *e = &unit->exposure;
    tmi_unit_loss loss = {.exposure = e, .promise = promise};
    tamis_amplified_part new = {.stratum = e->stratum, .take_all = unit->take_all, .worst = e->first, .theorem = e->theorem};
    tamis_amplified_part *part = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(certify(&new.eps, INFINITY, tmi_unit_eps, &loss, err));
    TMI_TRY(certify(&new.delta, 1, tmi_unit_delta, &loss, err));
    TMI_TRY(use_profile(&new, e, promise, err));
    for (size_t i = amplified->count; i-- > 0 && !part && amplified->parts[i].stratum == e->stratum;)
        if (amplified->parts[i].take_all == unit->take_all) part = &amplified->parts[i];
    if (!part) {
        part = &amplified->parts[amplified->count++];
        *part = new;
    } else if (new.eps.upper > part->eps.upper) part->worst = new.worst;
    part->units += unit->units;
    part->by_profile = part->by_profile || new.by_profile;
    amplified->by_profile = amplified->by_profile || new.by_profile;
    part->eps = larger(part->eps, new.eps);
    part->delta = larger(part->delta, new.delta);
    if (amplified->count == 1 || new.eps.upper > amplified->eps.upper) amplified->worst = new.worst;
    amplified->eps = larger(amplified->eps, new.eps);
    amplified->delta = larger(amplified->delta, new.delta);
done:
    return status;
}

tamis_status tamis_amplify_design(tamis_amplified *amplified, const tamis_design *design, const tamis_sample_promise *promise,
                                  tamis_error *err)
{
    tmi_exposed_list units = {0};
    tamis_status status = TAMIS_OK;
    if (!amplified) return tmi_fail(err, TAMIS_INVALID, "amplified: NULL");
    *amplified = (tamis_amplified){.eps = {0, INFINITY}, .delta = {0, 1}};
    TMI_TRY(check_promise(design, promise, err));
    TMI_TRY(check_profile(promise, err));
    TMI_TRY(tmi_expose(&units, design, promise->neighbours, promise->mechanism, err));
    if (!(amplified->parts = tmi_alloc(units.count, sizeof *amplified->parts))) TMI_TRY(tmi_fail_memory(err));
    amplified->eps = amplified->delta = (tamis_bound){0, 0};
    for (size_t i = 0; i < units.count; i++) TMI_TRY(add(amplified, &units.list[i], promise, err));
    amplified->theorem = units.theorem;
done:
    tmi_exposed_clear(&units);
    if (status != TAMIS_OK) tamis_amplified_clear(amplified);
    return status;
}

void tamis_amplified_clear(tamis_amplified *amplified)
{
    if (!amplified) return;
    tmi_free(amplified->parts);
    *amplified = (tamis_amplified){.eps = {0, INFINITY}, .delta = {0, 1}};
}

/* ---- inverse ---- */

/* The sample's eps at which one unit loses exactly the target lies between low and high: at low the unit certainly loses at
 * most the target, at high at least the target. */
typedef struct bracket {
    double low, high;
} bracket;

#define NARROW 4e-11 /* relative width of the bracket: below TMI_DESIGN_WIDTH */

/* -1: loses at most the target at eps, 1: at least, 0: too close to decide. */
static tamis_status compare(int *order, tamis_bound *lost, const tmi_exposed *unit, const tamis_sample_promise *target,
                            double eps, tamis_error *err)
{
    tmi_unit_loss loss = {.exposure = &unit->exposure, .promise = target, .eps = &eps};
    tamis_status status = certify(lost, INFINITY, tmi_unit_eps, &loss, err);
    if (status != TAMIS_OK) return status;
    *order = lost->upper <= tmi_number_down(target->eps) ? -1 : lost->lower >= tmi_number_up(target->eps) ? 1 : 0;
    return TAMIS_OK;
}

/* Moves one end to eps if that is certain. */
static tamis_status move(bracket *b, const tmi_exposed *unit, const tamis_sample_promise *target, double eps, int *order,
                         tamis_error *err)
{
    tamis_bound lost;
    tamis_status status = compare(order, &lost, unit, target, eps, err);
    if (status == TAMIS_OK && *order < 0) b->low = fmax(b->low, eps);
    if (status == TAMIS_OK && *order > 0) b->high = fmin(b->high, eps);
    return status;
}

static tamis_status solve(bracket *b, const tmi_exposed *unit, const tamis_sample_promise *target, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double start = tmi_number_up(target->eps);
    int order = 1;
    *b = (bracket){0, INFINITY};
    for (double eps = start; order >= 0; eps /= 2) /* it ends at 0 */
        TMI_TRY(move(b, unit, target, eps, &order, err));
    for (double eps = start; order <= 0; eps *= 2) TMI_TRY(move(b, unit, target, eps, &order, err));
    while (b->high - b->low > NARROW * b->high) {
        double middle = b->low + (b->high - b->low) / 2;
        if (middle == b->low || middle == b->high) break; /* the smallest doubles */
        TMI_TRY(move(b, unit, target, middle, &order, err));
        if (order != 0) continue;
        TMI_TRY(move(b, unit, target, middle * (1 - NARROW / 4), &order, err)); /* the truth is very near */
        TMI_TRY(move(b, unit, target, middle * (1 + NARROW / 4), &order, err));
        if (b->high - b->low > NARROW * b->high)
            TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "the budget of the sample could not be certified"));
    }
done:
    return status;
}

/* Solves for the unit that loses most, which may be another one where less is spent. */
static tamis_status solve_all(bracket *b, const tmi_exposed_list *units, const tamis_sample_promise *target, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t worst = 0;
    for (bool met = false; !met;) {
        double most = 0;
        TMI_TRY(solve(b, &units->list[worst], target, err));
        met = true;
        for (size_t i = 0; i < units->count; i++) {
            tamis_bound lost;
            int order;
            TMI_TRY(compare(&order, &lost, &units->list[i], target, b->low, err));
            if (order < 0) continue;
            met = false;
            if (lost.upper > most) {
                most = lost.upper;
                worst = i;
            }
        }
    }
done:
    return status;
}

/* The largest delta of the sample at eps: the target over what is left of a delta of 1. */
static tamis_status solve_delta(tamis_bound *delta_n, const tmi_exposed_list *units, const tamis_sample_promise *target,
                                double eps, tamis_error *err)
{
    tamis_bound left = {0, 0}, of_one;
    tamis_status status = TAMIS_OK;
    tmi_ball delta, share;
    tmi_ball_inits(&delta, &share, NULL);
    for (size_t i = 0; i < units->count; i++) {
        tmi_unit_loss loss = {&units->list[i].exposure, target, &eps, true};
        TMI_TRY(certify(&of_one, INFINITY, tmi_unit_delta, &loss, err));
        left = larger(left, of_one);
    }
    tmi_ball_set_number(&delta, target->delta, TMI_BITS_FIRST);
    tmi_ball_set_double(&share, left.upper);
    tmi_ball_div(&share, &delta, &share, TMI_BITS_FIRST);
    delta_n->lower = fmin(1, tmi_ball_bound(&share).lower);
    tmi_ball_set_double(&share, left.lower);
    tmi_ball_div(&share, &delta, &share, TMI_BITS_FIRST);
    delta_n->upper = fmin(1, tmi_ball_bound(&share).upper);
done:
    tmi_ball_clears(&delta, &share, NULL);
    return status;
}

tamis_status tamis_amplify_design_inverse(tamis_bound *eps_n, tamis_bound *delta_n, const tamis_design *design,
                                          const tamis_sample_promise *target, tamis_error *err)
{
    tmi_exposed_list units = {0};
    bracket b = {0, 0};
    tamis_bound delta;
    tamis_status status = TAMIS_OK;
    if (eps_n) *eps_n = (tamis_bound){0, INFINITY};
    if (delta_n) *delta_n = (tamis_bound){0, 1};
    if (!eps_n) return tmi_fail(err, TAMIS_INVALID, "eps_n: NULL");
    if (!delta_n) return tmi_fail(err, TAMIS_INVALID, "delta_n: NULL");
    TMI_TRY(check_promise(design, target, err));
    TMI_TRY(tmi_expose(&units, design, target->neighbours, target->mechanism, err));
    if (tmi_number_sign(target->eps) > 0) TMI_TRY(solve_all(&b, &units, target, err));
    TMI_TRY(solve_delta(&delta, &units, target, b.low, err));
    *eps_n = (tamis_bound){b.low, b.high};
    *delta_n = delta;
done:
    tmi_exposed_clear(&units);
    return status;
}
