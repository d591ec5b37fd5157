/* The number of ones among independent trials, group i having n_i trials of probability p_i.
 *
 * Each probability is an integral over a circle (circle.h). Its radius is a guess at the saddle point, made in
 * doubles; the number of points and the like follow from it. A bad guess makes the enclosure wide, never wrong.
 * Around sixty points are computed whatever the number of units is.                                                  */
#include <math.h>
#include <tamis/experimental/bound.h>

#include "base/memory.h"
#include "num/circle.h"
#include "num/law/certify.h"
#include "num/law/laws.h"

#define MAX_POINTS 0x1p20

/* The groups with 0 < p < 1, of ones or (mirrored) of zeros, at one precision. */
typedef struct setup {
    tmi_circle_law law;
    int64_t certain; /* trials with p = 1 */
} setup;

static void setup_clear(setup *s)
{
    for (size_t i = 0; i < s->law.count; i++) { tmi_ball_clears(&s->law.groups[i].success, &s->law.groups[i].failure, NULL); }
    tmi_free(s->law.groups);
    *s = (setup){0};
}

static tamis_status setup_new(setup *s, const tmi_trials *law, bool mirrored, slong prec, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *failure = NULL;
    arb_t odds;
    *s = (setup){0};
    arb_init(odds);
    if (!(s->law.groups = tmi_alloc(law->count, sizeof *s->law.groups))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    for (size_t i = 0; i < law->count; i++) {
        const tamis_trials *t = &law->groups[i];
        if (t->count == 0) continue;
        bool never = tmi_number_sign(t->probability) == 0, always = tmi_number_compare_int(t->probability, 1) == 0;
        if (never || always) {
            if (always) s->certain += t->count;
            continue;
        }
        TMI_TRY(tmi_number_sub(&failure, one, t->probability, err));
        tmi_circle_group *g = &s->law.groups[s->law.count++];
        tmi_ball_inits(&g->success, &g->failure, NULL);
        tmi_ball_set_number(mirrored ? &g->failure : &g->success, t->probability, prec);
        tmi_ball_set_number(mirrored ? &g->success : &g->failure, failure, prec);
        arb_div(odds, tmi_arb(&g->success), tmi_arb(&g->failure), 64);
        arb_log(odds, odds, 64);
        g->odds_log = arf_get_d(arb_midref(odds), ARF_RND_NEAR);
        g->count = t->count;
        s->law.trials += t->count;
        tamis_number_free(failure);
        failure = NULL;
    }
done:
    arb_clear(odds);
    tmi_number_frees(&one, &failure, NULL);
    return status;
}

/* ---- guesses, in doubles ---- */

typedef struct shape {
    double mean, variance;
} shape;

/* Mean and variance of the law tilted by e^t. */
static shape tilted(const tmi_circle_law *law, double t)
{
    shape z = {0, 0};
    for (size_t i = 0; i < law->count; i++) {
        double x = law->groups[i].odds_log + t, small = 1 / (1 + exp(fabs(x))), n = (double)law->groups[i].count;
        z.mean += n * (x > 0 ? 1 - small : small);
        z.variance += n * small * (1 - small);
    }
    return z;
}

/* The tilt whose mean is k, 0 < k < trials. */
static double saddle(const tmi_circle_law *law, double k)
{
    double smallest = INFINITY, largest = -INFINITY, level = log(k / ((double)law->trials - k));
    for (size_t i = 0; i < law->count; i++) {
        smallest = fmin(smallest, law->groups[i].odds_log);
        largest = fmax(largest, law->groups[i].odds_log);
    }
    double low = level - largest, high = level - smallest;
    for (int i = 0; i < 80 && high - low > 1e-9 * (1 + fabs(low)); i++) {
        double middle = low + (high - low) / 2;
        if (tilted(law, middle).mean < k) low = middle;
        else high = middle;
    }
    return low + (high - low) / 2;
}

/* P(X = k), or P(X >= k) if tail, for 0 < k < trials, to about `bits` bits. */
static tamis_status contour(tmi_ball *z, const tmi_circle_law *law, bool tail, int64_t k, long bits, slong prec, tamis_error *err)
{
    tmi_circle circle = {.tilt = saddle(law, (double)k)};
    if (tail) circle.tilt = fmax(circle.tilt, fmin(4 / sqrt(tilted(law, fmax(circle.tilt, 0)).variance), 2));
    double sd = fmax(sqrt(tilted(law, circle.tilt).variance), 1e-3);
    circle.reach = fmin(8 / sd, 2);
    if (tail) circle.reach = fmin(circle.reach, 0.999 * circle.tilt); /* so that r e^-h > 1 */
    double nats = 0.7 * (double)bits + log1p(sd) + 10;                /* what is left out is about e^-nats */
    double points = (nats + 0.6 * sd * sd * circle.reach * circle.reach + 3) / circle.reach;
    if (!tail) points = fmin(points, (double)law->trials + 1); /* then nothing is aliased */
    double angle = 1.1 * sqrt(2 * nats) / sd, computed = angle < 3 ? angle * points / 6.2 + 1 : points / 2;
    if (!(computed < MAX_POINTS))
        return tmi_fail(err, TAMIS_UNABLE, "a distribution with unequal probabilities needs too many points");
    circle.points = (int64_t)points | 1;
    circle.computed = (circle.points - 1) / 2;
    if (computed < (double)circle.computed) circle.computed = (int64_t)computed;
    return tmi_circle_part(z, law, tail, k, &circle, prec, err);
}

/* All trials succeed, or all fail. */
static void all_equal(tmi_ball *z, const tmi_circle_law *law, bool success, slong prec)
{
    arb_t x;
    arb_init(x);
    arb_zero(tmi_arb(z));
    for (size_t i = 0; i < law->count; i++) {
        arb_log(x, tmi_arb_const(success ? &law->groups[i].success : &law->groups[i].failure), prec);
        arb_addmul_si(tmi_arb(z), x, law->groups[i].count, prec);
    }
    arb_exp(tmi_arb(z), tmi_arb(z), prec);
    arb_clear(x);
}

/* P(X >= k) of the law or, mirrored, of the number of zeros; the mass at k if not tail. */
static tamis_status upper_part(tmi_ball *z, const tmi_circle_law *law, bool tail, int64_t k, long bits, slong prec,
                               tamis_error *err)
{
    if (k > law->trials || (!tail && k < 0)) tmi_ball_set_int(z, 0);
    else if (tail ? k <= 0 : law->trials == 0) tmi_ball_set_int(z, 1);
    else if (k == 0 || k == law->trials) all_equal(z, law, k > 0, prec);
    else return contour(z, law, tail, k, bits, prec, err);
    return TAMIS_OK;
}

tamis_status tmi_trials_part(tmi_ball *z, const tmi_trials *law, tmi_law_part part, int64_t k, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    setup ones, zeros = {0};
    int64_t units = 1;
    for (size_t i = 0; i < law->count; i++) units += law->groups[i].count;
    slong prec = (bits < 64 ? 64 : bits) + 32 + (slong)ceil(log2((double)units)); /* units multiply logarithms */
    tmi_ball_set_unknown(z);
    TMI_TRY(setup_new(&ones, law, false, prec, err));
    int64_t low = ones.certain, high = low + ones.law.trials; /* the support */
    if (part == TMI_MASS) {
        if (k < low || k > high) tmi_ball_set_int(z, 0);
        else TMI_TRY(upper_part(z, &ones.law, false, k - low, bits, prec, err));
        goto done;
    }
    bool up = part == TMI_AT_LEAST;
    if (up ? k <= low : k >= high) {
        tmi_ball_set_int(z, 1);
        goto done;
    }
    if (up ? k > high : k < low) {
        tmi_ball_set_int(z, 0);
        goto done;
    }
    /* The side away from the mean is computed; the other one is one minus it. */
    double distance = (double)(k - low) - tilted(&ones.law, 0).mean;
    bool other = up ? distance < 0 : distance > 0, above = up != other;
    int64_t from = k - low;
    if (other) from += up ? -1 : 1;
    if (above) {
        TMI_TRY(upper_part(z, &ones.law, true, from, bits, prec, err));
    } else {
        TMI_TRY(setup_new(&zeros, law, true, prec, err));
        TMI_TRY(upper_part(z, &zeros.law, true, ones.law.trials - from, bits, prec, err));
    }
    if (other) {
        tmi_ball_neg(z, z);
        tmi_ball_add_int(z, z, 1, prec);
    }
done:
    setup_clear(&ones);
    setup_clear(&zeros);
    return status;
}

tamis_status tmi_check_trials(const tmi_trials *law, tamis_error *err)
{
    int64_t units = 0;
    if (!law->groups && law->count > 0) return tmi_fail(err, TAMIS_INVALID, "groups: NULL");
    for (size_t i = 0; i < law->count; i++) {
        const tamis_trials *t = &law->groups[i];
        if (!t->probability) return tmi_fail(err, TAMIS_INVALID, "probability of group %zu: NULL", i);
        if (tmi_number_sign(t->probability) < 0 || tmi_number_compare_int(t->probability, 1) > 0)
            return tmi_fail(err, TAMIS_INVALID, "probability of group %zu must be between 0 and 1", i);
        if (t->count < 0 || t->count > TAMIS_MAX_UNITS || (units += t->count) > TAMIS_MAX_UNITS)
            return tmi_fail(err, TAMIS_INVALID, "count of group %zu: must be between 0 and 2^40 trials in all", i);
    }
    if (law->count > TAMIS_MAX_GROUPS) return tmi_fail(err, TAMIS_UNABLE, "more than %d groups of trials", TAMIS_MAX_GROUPS);
    return TAMIS_OK;
}

/* ---- public ---- */

static tamis_status part_of(tmi_ball *z, const void *law, tmi_law_part part, int64_t k, long bits, tamis_error *err)
{
    return tmi_trials_part(z, law, part, k, bits, err);
}

static tamis_status certified(tamis_bound *bound, tmi_trials law, tmi_law_part part, int64_t k, tamis_error *err)
{
    tamis_status status = tmi_begin_probability(bound, err);
    if (status == TAMIS_OK) status = tmi_check_trials(&law, err);
    return status == TAMIS_OK ? tmi_certify_part(bound, part_of, &law, part, k, err) : status;
}

tamis_status tamis_poisson_binomial_mass(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                         tamis_error *err)
{
    return certified(p, (tmi_trials){groups, group_count}, TMI_MASS, k, err);
}

tamis_status tamis_poisson_binomial_at_least(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                             tamis_error *err)
{
    return certified(p, (tmi_trials){groups, group_count}, TMI_AT_LEAST, k, err);
}

tamis_status tamis_poisson_binomial_at_most(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                            tamis_error *err)
{
    return certified(p, (tmi_trials){groups, group_count}, TMI_AT_MOST, k, err);
}
