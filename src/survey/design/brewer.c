/* Brewer's method for any sample size (Brewer 1975): n draws; with the sum A of the probabilities of the units drawn so
 * far and m draws to go, unit k is drawn next with probability proportional to
 *     pi_k (n - A - pi_k) / (n - A - m pi_k).
 * Denominators are positive: the n - m drawn units have probabilities below 1, so n - A > m > m pi_k (and for m = 1 the
 * two brackets cancel). No formula for pi_kl is known; on small frames it comes from the law.                        */
#include "rng/choice.h"
#include "survey/design/pps.h"

/* ---- the law ---- */

/* The weight of unit k when `rest` = n - A and m draws are to come. */
static tamis_status weight_of(tamis_number **weight, const tamis_number *pi, const tamis_number *rest, int64_t m,
                              tamis_error *err)
{
    tamis_number *above = NULL, *below = NULL, *times = NULL, *many = NULL, *ratio = NULL;
    tamis_status status = TAMIS_OK;
    *weight = NULL;
    if (m == 1) return tmi_number_copy(weight, pi, err);
    TMI_TRY(tmi_number_sub(&above, rest, pi, err));
    TMI_TRY(tmi_number_ratio(&many, m, 1, err));
    TMI_TRY(tmi_number_mul(&times, pi, many, err));
    TMI_TRY(tmi_number_sub(&below, rest, times, err));
    TMI_TRY(tmi_number_div(&ratio, above, below, err));
    TMI_TRY(tmi_number_mul(weight, pi, ratio, err));
done:
    tamis_number_free(above);
    tamis_number_free(below);
    tamis_number_free(times);
    tamis_number_free(many);
    tamis_number_free(ratio);
    return status;
}

/* n - A for a set of drawn units. */
static tamis_status rest_of(tamis_number **rest, tamis_number *const *pi, uint32_t set, int64_t size, tamis_error *err)
{
    tamis_status status = tmi_number_ratio(rest, size, 1, err);
    for (uint32_t in = set; in && status == TAMIS_OK; in &= in - 1) {
        tamis_number *less = NULL;
        status = tmi_number_sub(&less, *rest, pi[__builtin_ctz(in)], err);
        tamis_number_free(*rest);
        *rest = less;
    }
    return status;
}

/* From the probability of a set to those of the sets with one more unit. */
static tamis_status draw_next(tamis_number **p, uint32_t set, const tmi_pps *pps, tamis_number *const *pi, tamis_error *err)
{
    tamis_number *weights[TAMIS_LAW_UNITS] = {0}, *sum = NULL, *rest = NULL, *share = NULL, *copy = NULL;
    int64_t m = pps->size - __builtin_popcount(set);
    tamis_status status = TAMIS_OK;
    TMI_TRY(rest_of(&rest, pi, set, pps->size, err));
    for (size_t k = 0; k < pps->open_count; k++) {
        if (set >> k & 1) continue;
        TMI_TRY(weight_of(&weights[k], pi[k], rest, m, err));
        TMI_TRY(tmi_number_copy(&copy, weights[k], err));
        TMI_TRY(tmi_sum_take(&sum, copy, err));
    }
    TMI_TRY(tmi_number_div(&share, p[set], sum, err));
    for (size_t k = 0; k < pps->open_count; k++) {
        if (set >> k & 1) continue;
        TMI_TRY(tmi_number_mul(&copy, share, weights[k], err));
        TMI_TRY(tmi_sum_take(&p[set | UINT32_C(1) << k], copy, err));
    }
done:
    for (size_t k = 0; k < TAMIS_LAW_UNITS; k++) tamis_number_free(weights[k]);
    tamis_number_free(sum);
    tamis_number_free(rest);
    tamis_number_free(share);
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    size_t sets = (size_t)1 << pps->open_count;
    tamis_number **p = tmi_alloc(sets, sizeof *p), *pi[TAMIS_LAW_UNITS] = {0};
    tamis_status status = TAMIS_OK;
    if (!p) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < pps->open_count; k++) TMI_TRY(tmi_pps_number(&pi[k], pps, k, err));
    TMI_TRY(tmi_number_ratio(&p[0], 1, 1, err));
    for (uint32_t set = 0; set < sets; set++) {
        if (!p[set]) continue;
        if (__builtin_popcount(set) < pps->size) {
            TMI_TRY(draw_next(p, set, pps, pi, err));
            tamis_number_free(p[set]);
        } else {
            status = tmi_sample_law_take_set(law, tmi_pps_units(pps, set), p[set], err);
        }
        p[set] = NULL;
        if (status != TAMIS_OK) goto done;
    }
done:
    for (size_t set = 0; p && set < sets; set++) tamis_number_free(p[set]);
    for (size_t k = 0; k < TAMIS_LAW_UNITS; k++) tamis_number_free(pi[k]);
    tmi_free(p);
    return status;
}

/* ---- drawing ---- */

typedef struct turn {
    const tmi_pps *pps;
    const size_t *left;              /* open numbers of the units not yet drawn */
    uint64_t rest[TMI_COMMON_WORDS]; /* n - A, over D */
    int64_t m;
    const tmi_watch *watch;
} turn;

#define UNITS_A_LOOK 65536

static tamis_status ball_weight(tmi_ball *weight, const void *context, size_t j, long bits, tamis_error *err)
{
    const turn *t = context;
    const uint64_t *pi = tmi_open(t->pps, t->left[j]);
    size_t words = t->pps->pi.words;
    uint64_t above[TMI_COMMON_WORDS], below[TMI_COMMON_WORDS];
    tmi_ball ratio;
    const double turns = (double)t->pps->size;
    if (j % UNITS_A_LOOK == 0 && tmi_watch_tell(t->watch, 1 - (double)t->m / turns, err) != TAMIS_OK) return TAMIS_SYSTEM;
    tmi_pps_ball(weight, t->pps, t->left[j], bits);
    if (t->m == 1) return TAMIS_OK;
    tmi_wide_sub(above, t->rest, pi, words);
    tmi_wide_mul(below, pi, (uint64_t)t->m, words);
    tmi_wide_sub(below, t->rest, below, words);
    tmi_ball_init(&ratio);
    tmi_ball_set_wide(&ratio, above, below, words, bits);
    tmi_ball_mul(weight, weight, &ratio, bits);
    tmi_ball_clear(&ratio);
    return TAMIS_OK;
}

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         const tmi_watch *watch, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    size_t count = pps->open_count, *left = tmi_alloc(count, sizeof *left), j;
    tamis_choice *choice = NULL;
    tamis_status status = TAMIS_OK;
    turn t = {.pps = pps, .left = left, .m = pps->size, .watch = watch};
    (void)tables;
    if (!left) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < count; k++) left[k] = k;
    TMI_TRY(tmi_pps_draw_certain(drawn, pps, err));
    tmi_wide_mul(t.rest, pps->pi.denominator, (uint64_t)pps->size, pps->pi.words);
    for (; t.m > 0; t.m--) {
        TMI_TRY(tmi_choice_new(&choice, ball_weight, &t, count, err));
        TMI_TRY(tamis_choice_draw(&j, choice, rng, err));
        tamis_choice_free(choice);
        choice = NULL;
        TMI_TRY(tmi_drawn_add(drawn, pps->open[left[j]], err));
        tmi_wide_sub(t.rest, t.rest, tmi_open(pps, left[j]), pps->pi.words);
        left[j] = left[--count];
    }
done:
    tamis_choice_free(choice);
    tmi_free(left);
    return status;
}

const tmi_pps_method tmi_brewer = {{TMI_PPS_KIND("brewer"), .law = law_of, .draw = draw},
                                   .reason = "Brewer's method has no proved coupling"};
