/* The pivotal method (Deville and Tille 1998), in list order or in random order.
 *
 * Units fight in turn. The winner so far has probability a, the newcomer b. If a + b < 1, one of them takes a + b
 * and fights on, the other is out; if a + b = 1 the winner is in the sample; if a + b > 1 one is in the sample and
 * the other fights on with a + b - 1. The newcomer wins with probability b/(a+b) in the first two cases; in the third
 * the old one is taken with probability (1-b)/(2-a-b). Over a common denominator all of this is uniform integers.
 *
 * Joint probabilities in list order. The probability that the fighter has before unit t comes, a_t, is not random: it is the
 * fractional part of the sum of the probabilities before t; only who has it is. Let s and g be the probabilities
 * that unit k < t is already in the sample, and that it is the fighter. A unit's probability is a martingale: the
 * newcomer t gets in with probability pi_t whatever happened before it. If k is the fighter, both get in only if a_t
 * + pi_t > 1, when one of them is taken and the other goes on with a_t + pi_t - 1. So pi_kt = s pi_t + g max(0, a_t +
 * pi_t - 1), and s, g follow from one step to the next by sums of positive terms.
 *
 * In random order the next unit is any of the remaining ones; on small frames the law comes from a recursion over
 * (out or fighting, in, not yet seen) for each unit.                                                                 */
#include "rng/uniform.h"
#include "survey/design/pps.h"

/* What can happen when a newcomer meets the fighter: probabilities x / z and (z - x) / z. */
typedef struct fight {
    bool over;                    /* a + b >= 1: somebody gets in */
    uint64_t x[TMI_COMMON_WORDS]; /* over: the old one gets in; else: the old one fights on */
    uint64_t z[TMI_COMMON_WORDS];
    uint64_t left[TMI_COMMON_WORDS]; /* of the fighter afterwards; 0: there is none */
} fight;

static void meet(fight *f, const uint64_t *a, const uint64_t *b, const tmi_common *pi)
{
    size_t words = pi->words;
    const uint64_t *one = pi->denominator;
    tmi_wide_add(f->left, a, b, words);
    int order = tmi_wide_compare(f->left, one, words);
    f->over = order >= 0;
    if (order <= 0) {
        tmi_wide_set(f->x, a, words);
        tmi_wide_set(f->z, f->left, words);
    } else {
        tmi_wide_sub(f->x, one, b, words);
        tmi_wide_sub(f->z, one, a, words);
        tmi_wide_add(f->z, f->z, f->x, words);
    }
    if (order >= 0) tmi_wide_sub(f->left, f->left, one, words);
}

/* ---- drawing ---- */

static tamis_status draw_in_order(tamis_drawn *drawn, const tmi_pps *pps, const uint64_t *order, tamis_rng *rng, tamis_error *err)
{
    size_t words = pps->pi.words, fighter = 0;
    uint64_t a[TMI_COMMON_WORDS] = {0}, u[TMI_COMMON_WORDS];
    fight f;
    tamis_status status = tmi_pps_draw_certain(drawn, pps, err);
    for (size_t t = 0; t < pps->open_count && status == TAMIS_OK; t++) {
        size_t newcomer = order ? (size_t)order[t] : t;
        if (tmi_wide_is_zero(a, words)) {
            tmi_wide_set(a, tmi_open(pps, newcomer), words);
            fighter = newcomer;
            continue;
        }
        meet(&f, a, tmi_open(pps, newcomer), &pps->pi);
        if (!tmi_uniform_wide(u, f.z, words, rng)) return tmi_bits_failed(err);
        bool old = tmi_wide_compare(u, f.x, words) < 0;
        if (f.over) status = tmi_drawn_add(drawn, pps->open[old ? fighter : newcomer], err);
        if (f.over == old) fighter = newcomer;
        tmi_wide_set(a, f.left, words);
    }
    return status;
}

/* ---- pairs ---- */

/* Step t, seen by the fighter and by the newcomer, as balls. */
typedef struct step {
    tmi_ball pi, both;         /* both: a + b - 1 if positive, else 0 */
    tmi_ball stays, taken;     /* the old fighter */
    tmi_ball becomes, entered; /* the newcomer becomes the fighter, is taken */
} step;

static void set_step(step *s, const uint64_t *a, const uint64_t *b, const tmi_common *pi, uint64_t *left, long bits)
{
    size_t words = pi->words;
    fight f;
    tmi_ball_set_wide(&s->pi, b, pi->denominator, words, bits);
    if (tmi_wide_is_zero(a, words)) {
        tmi_ball_set_int(&s->becomes, 1);
        tmi_wide_set(left, b, words);
        return;
    }
    meet(&f, a, b, pi);
    tmi_ball *old = f.over ? &s->taken : &s->stays, *new = f.over ? &s->entered : &s->becomes;
    tmi_ball_set_wide(old, f.x, f.z, words, bits);
    tmi_wide_sub(f.x, f.z, f.x, words);
    tmi_ball_set_wide(new, f.x, f.z, words, bits);
    if (f.over && !tmi_wide_is_zero(f.left, words)) { /* the one that is not taken fights on */
        tmi_ball_set(&s->becomes, &s->taken);
        tmi_ball_set(&s->stays, &s->entered);
        tmi_ball_set_wide(&s->both, f.left, pi->denominator, words, bits);
    }
    tmi_wide_set(left, f.left, words);
}

static void clear_steps(step *steps, size_t count)
{
    for (size_t t = 0; steps && t < count; t++) {
        step *s = &steps[t];
        tmi_ball_clears(&s->pi, &s->both, &s->stays, &s->taken, &s->becomes, &s->entered, NULL);
    }
    tmi_free(steps);
}

static step *make_steps(const tmi_pps *pps, long bits)
{
    step *steps = tmi_alloc(pps->open_count, sizeof *steps);
    uint64_t a[TMI_COMMON_WORDS] = {0}, left[TMI_COMMON_WORDS];
    for (size_t t = 0; steps && t < pps->open_count; t++) {
        step *s = &steps[t];
        tmi_ball_inits(&s->pi, &s->both, &s->stays, &s->taken, &s->becomes, &s->entered, NULL);
        set_step(s, a, tmi_open(pps, t), &pps->pi, left, bits);
        tmi_wide_set(a, left, pps->pi.words);
    }
    return steps;
}

/* pi_kt for t = k+1, ..., last into row[t]. */
static void pairs_of(tmi_ball *row, const step *steps, size_t k, size_t last, long bits)
{
    tmi_ball s, g, term;
    tmi_ball_inits(&s, &g, &term, NULL);
    tmi_ball_set(&s, &steps[k].entered);
    tmi_ball_set(&g, &steps[k].becomes);
    for (size_t t = k + 1; t <= last; t++) {
        tmi_ball_mul(&row[t], &s, &steps[t].pi, bits);
        tmi_ball_mul(&term, &g, &steps[t].both, bits);
        tmi_ball_add(&row[t], &row[t], &term, bits);
        tmi_ball_mul(&term, &g, &steps[t].taken, bits);
        tmi_ball_add(&s, &s, &term, bits);
        tmi_ball_mul(&g, &g, &steps[t].stays, bits);
    }
    tmi_ball_clears(&s, &g, &term, NULL);
}

static tamis_status open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits, tamis_error *err)
{
    step *steps = make_steps(pps, bits);
    tmi_ball *row = tmi_balls_new(pps->open_count);
    size_t last = 0;
    tamis_status status = steps && row ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) last = open[i] > last ? open[i] : last;
    for (size_t i = 0; i < count && status == TAMIS_OK; i++) {
        pairs_of(row, steps, open[i], last, bits);
        for (size_t j = 0; j < count; j++)
            if (open[j] > open[i]) tmi_ball_set(&pij[i < j ? i * count + j : j * count + i], &row[open[j]]);
    }
    tmi_balls_free(row, pps->open_count);
    clear_steps(steps, pps->open_count);
    return status;
}

/* ---- the law in list order ---- */

/* x / z and 1 - x / z, each times p. */
static tamis_status branch(tamis_number **old, tamis_number **new, const fight *f, const tamis_number *p, size_t words,
                           tamis_error *err)
{
    tamis_number *share = NULL;
    tamis_status status = TAMIS_OK;
    *old = *new = NULL;
    TMI_TRY(tmi_number_wide(&share, f->x, f->z, words, err));
    TMI_TRY(tmi_number_mul(old, p, share, err));
    TMI_TRY(tmi_number_sub(new, p, *old, err));
done:
    tamis_number_free(share);
    return status;
}

static tamis_status fight_on(tamis_law *law, const tmi_pps *pps, size_t t, size_t fighter, const uint64_t *a, uint32_t set,
                             const tamis_number *p, tamis_error *err)
{
    tamis_number *old = NULL, *new = NULL;
    tamis_status status = TAMIS_OK;
    fight f;
    if (t == pps->open_count) {
        TMI_TRY(tmi_number_copy(&old, p, err));
        return tmi_sample_law_take_set(law, tmi_pps_units(pps, set), old, err);
    }
    if (tmi_wide_is_zero(a, pps->pi.words)) return fight_on(law, pps, t + 1, t, tmi_open(pps, t), set, p, err);
    meet(&f, a, tmi_open(pps, t), &pps->pi);
    TMI_TRY(branch(&old, &new, &f, p, pps->pi.words, err));
    uint32_t with_old = f.over ? set | UINT32_C(1) << fighter : set, with_new = f.over ? set | UINT32_C(1) << t : set;
    TMI_TRY(fight_on(law, pps, t + 1, f.over ? t : fighter, f.left, with_old, old, err));
    TMI_TRY(fight_on(law, pps, t + 1, f.over ? fighter : t, f.left, with_new, new, err));
done:
    tmi_number_frees(&old, &new, NULL);
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    static const uint64_t nothing[TMI_COMMON_WORDS] = {0};
    tamis_number *one;
    tamis_status status = tmi_number_ratio(&one, 1, 1, err);
    if (status == TAMIS_OK) status = fight_on(law, tmi_pps_of(design), 0, 0, nothing, 0, one, err);
    tamis_number_free(one);
    return status;
}

/* ---- the law in random order ---- */

#define RANDOM_UNITS 10 /* 3^10 * 11 states */

/* The digits of a state in base 3, unit by unit: 0 not yet seen, 1 out or the fighter, 2 in. Every step makes the
 * number larger, so states are final when their turn comes. p[state * (units + 1) + fighter]; fighter = units:
 * nobody.                                                                                                            */
typedef struct states {
    tamis_number **p;
    size_t units, count, power[RANDOM_UNITS + 1];
} states;

/* The fighter meets unit t, whose turn it is with probability 1 / unseen. */
static tamis_status meet_unit(states *s, const tmi_pps *pps, size_t state, size_t fighter, const uint64_t *a, size_t t,
                              const tamis_number *share, tamis_error *err)
{
    size_t row = s->units + 1, seen = state + s->power[t];
    tamis_number *old = NULL, *new = NULL;
    tamis_status status = TAMIS_OK;
    fight f;
    if (fighter == s->units) {
        TMI_TRY(tmi_number_copy(&old, share, err));
        return tmi_sum_take(&s->p[seen * row + t], old, err);
    }
    meet(&f, a, tmi_open(pps, t), &pps->pi);
    TMI_TRY(branch(&old, &new, &f, share, pps->pi.words, err));
    bool none = tmi_wide_is_zero(f.left, pps->pi.words);
    size_t in_old = f.over ? seen + s->power[fighter] : seen, in_new = f.over ? seen + s->power[t] : seen;
    size_t after_old = none ? s->units : f.over ? t : fighter, after_new = none ? s->units : f.over ? fighter : t;
    status = tmi_sum_take(&s->p[in_old * row + after_old], old, err);
    old = NULL;
    if (status != TAMIS_OK) goto done;
    status = tmi_sum_take(&s->p[in_new * row + after_new], new, err);
    new = NULL;
done:
    tmi_number_frees(&old, &new, NULL);
    return status;
}

/* All that can follow a state; the probability of the fighter is the sum of the seen units less those that are in. */
static tamis_status follow(states *s, const tmi_pps *pps, tamis_law *law, size_t state, size_t fighter, tamis_error *err)
{
    tamis_number **p = &s->p[state * (s->units + 1) + fighter], *share = NULL, *turn = NULL;
    uint64_t a[TMI_COMMON_WORDS] = {0};
    uint32_t set = 0;
    int64_t unseen = 0;
    tamis_status status = TAMIS_OK;
    for (size_t k = 0; k < s->units; k++) {
        size_t digit = state / s->power[k] % 3;
        if (digit == 0) unseen++;
        else tmi_wide_add(a, a, tmi_open(pps, k), pps->pi.words);
        if (digit == 2) set |= UINT32_C(1) << k;
    }
    if (unseen == 0) {
        turn = *p;
        *p = NULL;
        return tmi_sample_law_take_set(law, tmi_pps_units(pps, set), turn, err);
    }
    for (uint32_t in = set; in; in &= in - 1) tmi_wide_sub(a, a, pps->pi.denominator, pps->pi.words);
    TMI_TRY(tmi_number_ratio(&turn, 1, unseen, err));
    TMI_TRY(tmi_number_mul(&share, *p, turn, err));
    for (size_t t = 0; t < s->units; t++)
        if (state / s->power[t] % 3 == 0) TMI_TRY(meet_unit(s, pps, state, fighter, a, t, share, err));
done:
    tmi_number_frees(&share, &turn, NULL);
    return status;
}

static tamis_status law_random(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    states s = {.units = pps->open_count, .count = 1};
    tamis_status status = TAMIS_OK;
    if (pps->open_count > RANDOM_UNITS)
        return tmi_fail(err, TAMIS_UNABLE,
                        "pivotal_random: samples can be listed for at most %d units with a probability below 1, since all their "
                        "orders are averaged",
                        RANDOM_UNITS);
    for (size_t k = 0; k <= s.units; k++) s.power[k] = k == 0 ? 1 : 3 * s.power[k - 1];
    s.count = s.power[s.units] * (s.units + 1);
    if (!(s.p = tmi_alloc(s.count, sizeof *s.p))) return tmi_fail_memory(err);
    TMI_TRY(tmi_number_ratio(&s.p[s.units], 1, 1, err));
    for (size_t i = 0; i < s.count; i++)
        if (s.p[i]) TMI_TRY(follow(&s, pps, law, i / (s.units + 1), i % (s.units + 1), err));
done:
    for (size_t i = 0; i < s.count; i++) tamis_number_free(s.p[i]);
    tmi_free(s.p);
    return status;
}

/* Strongly Rayleigh (Braenden and Jonasson 2012); mixing over orders keeps the coupling. */
const tmi_pps_method tmi_pivotal = {{TMI_PPS_KIND("pivotal"), .law = law_of, .joint = tmi_pps_joint, .draw = tmi_pps_draw},
                                    .open_joint = open_joint,
                                    .draw_in_order = draw_in_order,
                                    .theorem = "strongly_rayleigh"};

const tmi_pps_method tmi_pivotal_random = {{TMI_PPS_KIND("pivotal_random"), .law = law_random, .draw = tmi_pps_draw},
                                           .draw_in_order = draw_in_order,
                                           .shuffled = true,
                                           .theorem = "strongly_rayleigh"};
