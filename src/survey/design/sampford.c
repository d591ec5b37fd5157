/* Sampford's method (Sampford 1967): p(s) is proportional to prod over s of w_k times sum over s of (1 - pi_k), with
 * w_k = pi_k / (1 - pi_k). The inclusion probabilities are exactly the pi_k.
 *
 * A sample is drawn in one of two ways. By rejection, Sampford's own: one unit with probability pi_k / n, then n - 1 with
 * replacement, each with probability proportional to w_k; the trial counts if all are different. It gives s with probability
 * proportional to
 *
 *     sum over l in s of pi_l prod over the others of w_k  =  prod over s of w_k  sum over l in s of (1 - pi_l).
 *
 * Where too many trials would fail: written as a sum over one marked unit, the law is that of a marked sample of coins
 * (tree.h), which is drawn without rejection.                                                                        */
#include <math.h>

#include "rng/uniform.h"
#include "survey/design/polynomial.h"
#include "survey/design/tree.h"

/* w_k = a / (D - a). */
static tmi_ball *odds_of(const tmi_pps *pps, long bits)
{
    tmi_ball *odds = tmi_balls_new(pps->open_count);
    uint64_t out[TMI_COMMON_WORDS];
    for (size_t k = 0; odds && k < pps->open_count; k++) {
        tmi_wide_sub(out, pps->pi.denominator, tmi_open(pps, k), pps->pi.words);
        tmi_ball_set_wide(&odds[k], tmi_open(pps, k), out, pps->pi.words, bits);
    }
    return odds;
}

/* ---- drawing ---- */

#define TREE_BITS 112 /* decides all choices of a sample but with a probability of about 2^-60 */

static tamis_status make_tree(tmi_tree *tree, const tamis_design *design, long bits, const tmi_watch *watch, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    tmi_ball *odds = odds_of(pps, bits);
    *tree = (tmi_tree){0};
    if (!odds) return tmi_fail_memory(err);
    tamis_status status = tmi_tree_init(tree, odds, pps->open_count, true, bits, watch, err);
    if (status == TAMIS_OK) tree->own = odds;
    else tmi_balls_free(odds, pps->open_count);
    return status;
}

/* In whole numbers: pi_k = a_k / D, A is the largest a. */
typedef struct tables {
    void *tree;                           /* NULL: samples are drawn by rejection, with the following */
    uint64_t *sums;                       /* sums[k] = a_0 + ... + a_k */
    uint64_t least_out[TMI_COMMON_WORDS]; /* D - A */
} tables;

/* Draws of a unit that rejection is expected to need, about; it decides about time only, never about the law. As many trials
 * fail as there are birthdays in common: the j-th unit is a new one with probability 1 - j s, where s is the sum of the
 * squared probabilities of a draw. A failed trial ends at its first repetition. */
static double expected_draws(const tmi_pps *pps)
{
    double odds = 0, squares = 0, largest = 0, distinct = 0;
    for (size_t k = 0; k < pps->open_count; k++) {
        double pi = tmi_wide_ratio(tmi_open(pps, k), pps->pi.denominator, pps->pi.words), w = pi / (1 - pi);
        odds += w;
        squares += w * w;
        largest = fmax(largest, pi);
    }
    const double s = squares / (odds * odds), n = (double)pps->size;
    if ((n - 1) * s >= 1) return INFINITY;
    for (int64_t j = 1; j < pps->size; j++) distinct += log1p(-(double)j * s);
    const double kept = (1 - largest) * odds / n; /* of the units drawn in proportion to a */
    return exp(-distinct) * fmin(n, 1 + 1.25 / sqrt(s)) / kept;
}

/* A tree costs about as much as this many draws for each unit of the frame. */
#define DRAWS_OF_A_TREE 20

static void dismiss(void *made, const tamis_design *design)
{
    tables *t = made;
    if (t->tree) tmi_tree_dismiss(t->tree, design);
    tmi_free(t->sums);
    tmi_free(t);
}

static tamis_status prepare(void **made, const tamis_design *design, const tmi_watch *watch, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    const size_t words = pps->pi.words;
    tamis_status status = TAMIS_OK;
    tables *t = tmi_alloc(1, sizeof *t);
    if (!t) return tmi_fail_memory(err);
    if (pps->open_count == 0 || !(expected_draws(pps) <= DRAWS_OF_A_TREE * (double)pps->open_count)) {
        TMI_TRY(tmi_tree_prepare(&t->tree, design, make_tree, TREE_BITS, watch, err));
        goto done;
    }
    t->sums = tmi_alloc(pps->open_count * words, sizeof *t->sums);
    if (!t->sums) TMI_TRY(tmi_fail_memory(err));
    tmi_wide_set(t->least_out, pps->pi.denominator, words);
    for (size_t k = 0; k < pps->open_count; k++) {
        uint64_t *sum = t->sums + k * words, out[TMI_COMMON_WORDS];
        if (k > 0) tmi_wide_set(sum, sum - words, words);
        tmi_wide_add(sum, sum, tmi_open(pps, k), words);
        tmi_wide_sub(out, pps->pi.denominator, tmi_open(pps, k), words);
        if (tmi_wide_compare(out, t->least_out, words) < 0) tmi_wide_set(t->least_out, out, words);
    }
done:
    if (status == TAMIS_OK) *made = t;
    else dismiss(t, design);
    return status;
}

/* An open unit with probability proportional to a_k. False if the bits failed. */
static bool pick(size_t *unit, const tmi_pps *pps, const tables *t, tamis_rng *rng)
{
    const size_t words = pps->pi.words;
    size_t low = 0, high = pps->open_count - 1;
    uint64_t u[TMI_COMMON_WORDS];
    if (!tmi_uniform_wide(u, t->sums + high * words, words, rng)) return false;
    while (low < high) { /* the first whose sum is above u */
        size_t middle = low + (high - low) / 2;
        if (tmi_wide_compare(u, t->sums + middle * words, words) < 0) high = middle;
        else low = middle + 1;
    }
    *unit = low;
    return true;
}

/* The same with probability proportional to w_k = a_k / (D - a_k): what is picked is kept with probability (D - A) / (D -
 * a_k). */
static bool pick_by_odds(size_t *unit, const tmi_pps *pps, const tables *t, tamis_rng *rng)
{
    uint64_t out[TMI_COMMON_WORDS], u[TMI_COMMON_WORDS];
    do {
        if (!pick(unit, pps, t, rng)) return false;
        tmi_wide_sub(out, pps->pi.denominator, tmi_open(pps, *unit), pps->pi.words);
        if (!tmi_uniform_wide(u, out, pps->pi.words, rng)) return false;
    } while (tmi_wide_compare(u, t->least_out, pps->pi.words) >= 0);
    return true;
}

#define TRIALS_A_LOOK 256

/* seen[k] is the number of the last trial that drew unit k. */
static tamis_status draw_by_rejection(tamis_drawn *drawn, const tmi_pps *pps, const tables *t, tamis_rng *rng,
                                      const tmi_watch *watch, tamis_error *err)
{
    const size_t n = (size_t)pps->size;
    tamis_status status = TAMIS_OK;
    uint64_t *seen = tmi_alloc(pps->open_count, sizeof *seen), trial = 0;
    size_t *taken = tmi_alloc(n, sizeof *taken);
    if (!seen || !taken) TMI_TRY(tmi_fail_memory(err));
    for (size_t count = 0; count < n;) {
        if (count == 0 && ++trial % TRIALS_A_LOOK == 0) TMI_TRY(tmi_watch_tell(watch, 0, err));
        size_t unit;
        if (!(count == 0 ? pick : pick_by_odds)(&unit, pps, t, rng)) TMI_TRY(tmi_bits_failed(err));
        const bool again = seen[unit] == trial;
        seen[unit] = trial;
        taken[count] = unit;
        count = again ? 0 : count + 1;
    }
    for (size_t i = 0; i < n; i++) TMI_TRY(tmi_drawn_add(drawn, pps->open[taken[i]], err));
done:
    if (seen) tmi_wipe(seen, pps->open_count * sizeof *seen);
    if (taken) tmi_wipe(taken, n * sizeof *taken);
    tmi_free(seen);
    tmi_free(taken);
    return status;
}

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *made, tamis_rng *rng, const tmi_watch *watch,
                         tamis_error *err)
{
    const tables *t = made;
    if (t->tree) return tmi_tree_draw_design(drawn, design, t->tree, rng, watch, err);
    tamis_status status = tmi_pps_draw_certain(drawn, tmi_pps_of(design), err);
    return status == TAMIS_OK ? draw_by_rejection(drawn, tmi_pps_of(design), t, rng, watch, err) : status;
}

/* ---- pairs ---- */

static tamis_status open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits, tamis_error *err)
{
    size_t N = pps->open_count;
    tmi_ball *odds = odds_of(pps, bits), *pi = tmi_balls_new(N);
    tamis_status status = odds && pi ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t k = 0; k < N && status == TAMIS_OK; k++) tmi_pps_ball(&pi[k], pps, k, bits);
    if (status == TAMIS_OK) status = tmi_polynomial_joint(pij, odds, pi, N, pps->size, open, count, bits, err);
    tmi_balls_free(odds, N);
    tmi_balls_free(pi, N);
    return status;
}

/* ---- the law ---- */

typedef struct listing {
    tamis_law *law;
    const tmi_pps *pps;
    tamis_number *pi[TAMIS_LAW_UNITS], *out[TAMIS_LAW_UNITS], *total; /* out: 1 - pi */
} listing;

/* Units from k on are to be decided; `left` are still to be taken. weight: prod of pi over s, of 1 - pi over the
 * others; slack: the sum of 1 - pi over s. */
static tamis_status list(listing *l, size_t k, int64_t left, uint32_t set, const tamis_number *weight, const tamis_number *slack,
                         tamis_error *err)
{
    tamis_number *in = NULL, *out = NULL, *more = NULL, *p = NULL, *copy = NULL;
    tamis_status status = TAMIS_OK;
    if ((int64_t)(l->pps->open_count - k) < left) return TAMIS_OK;
    if (k == l->pps->open_count) {
        TMI_TRY(tmi_number_mul(&p, weight, slack, err));
        TMI_TRY(tmi_number_copy(&copy, p, err));
        TMI_TRY(tmi_sum_take(&l->total, copy, err));
        status = tmi_sample_law_take_set(l->law, tmi_pps_units(l->pps, set), p, err);
        p = NULL;
        goto done;
    }
    TMI_TRY(tmi_number_mul(&out, weight, l->out[k], err));
    TMI_TRY(list(l, k + 1, left, set, out, slack, err));
    if (left == 0) goto done;
    TMI_TRY(tmi_number_mul(&in, weight, l->pi[k], err));
    TMI_TRY(tmi_number_add(&more, slack, l->out[k], err));
    TMI_TRY(list(l, k + 1, left - 1, set | UINT32_C(1) << k, in, more, err));
done:
    tamis_number_free(in);
    tamis_number_free(out);
    tamis_number_free(more);
    tamis_number_free(p);
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    listing l = {.law = law, .pps = tmi_pps_of(design)};
    tamis_number *one = NULL, *zero = NULL, *p = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    if (l.pps->open_count == 0) {
        TMI_TRY(tmi_number_copy(&p, one, err));
        TMI_TRY(tmi_sample_law_take_set(law, tmi_pps_units(l.pps, 0), p, err));
        goto done;
    }
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    for (size_t k = 0; k < l.pps->open_count; k++) {
        TMI_TRY(tmi_pps_number(&l.pi[k], l.pps, k, err));
        TMI_TRY(tmi_number_sub(&l.out[k], one, l.pi[k], err));
    }
    TMI_TRY(list(&l, 0, l.pps->size, 0, one, zero, err));
    for (size_t j = 0; j < law->count; j++) {
        TMI_TRY(tmi_number_div(&p, law->samples[j].exact, l.total, err));
        tamis_number_free(law->samples[j].exact);
        law->samples[j].exact = p;
    }
done:
    for (size_t k = 0; k < TAMIS_LAW_UNITS; k++) {
        tamis_number_free(l.pi[k]);
        tamis_number_free(l.out[k]);
    }
    tamis_number_free(l.total);
    tamis_number_free(one);
    tamis_number_free(zero);
    return status;
}

/* Strongly Rayleigh: Braenden and Jonasson (2012). */
const tmi_pps_method tmi_sampford = {{TMI_PPS_KIND("sampford"), .law = law_of, .joint = tmi_pps_joint, .prepare = prepare,
                                      .dismiss = dismiss, .draw = draw},
                                     .open_joint = open_joint,
                                     .theorem = "strongly_rayleigh"};
