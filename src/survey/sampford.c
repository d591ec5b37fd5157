/* Sampford's method (Sampford 1967): p(s) is proportional to prod over s of w_k times sum over s of (1 - pi_k), with
 * w_k = pi_k / (1 - pi_k). The inclusion probabilities are exactly the pi_k. Written as a sum over one marked unit it
 * is a marked sample of coins (tree.h), from which it is drawn without rejection.                                    */
#include "survey/polynomial.h"
#include "survey/tree.h"

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

static tamis_status make_tree(tmi_tree *tree, const tamis_design *design, long bits, const tmi_watch *watch,
                              tamis_error *err)
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

static tamis_status prepare(void **tables, const tamis_design *design, const tmi_watch *watch, tamis_error *err)
{
    return tmi_tree_prepare(tables, design, make_tree, TREE_BITS, watch, err);
}

/* ---- pairs ---- */

static tamis_status open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits,
                               tamis_error *err)
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

static tamis_status joint(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                          tamis_error *err)
{
    return tmi_pps_joint(pij, design, units, count, open_joint, bits, err);
}

/* ---- the law ---- */

typedef struct listing {
    tamis_law *law;
    const tmi_pps *pps;
    tamis_number *pi[TAMIS_LAW_UNITS], *out[TAMIS_LAW_UNITS], *total; /* out: 1 - pi */
} listing;

/* Units from k on are to be decided; `left` are still to be taken. weight: prod of pi over s, of 1 - pi over the
 * others; slack: the sum of 1 - pi over s. */
static tamis_status list(listing *l, size_t k, int64_t left, uint32_t set, const tamis_number *weight,
                         const tamis_number *slack, tamis_error *err)
{
    tamis_number *in = NULL, *out = NULL, *more = NULL, *p = NULL, *copy = NULL;
    tamis_status status = TAMIS_OK;
    if ((int64_t)(l->pps->open_count - k) < left) return TAMIS_OK;
    if (k == l->pps->open_count) {
        TMI_TRY(tmi_number_mul(&p, weight, slack, err));
        TMI_TRY(tmi_number_copy(&copy, p, err));
        TMI_TRY(tmi_sum_take(&l->total, copy, err));
        status = tmi_sample_law_take_set(l->law, tmi_pps_open_set(l->pps, set) | tmi_pps_certain_set(l->pps), p, err);
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
        TMI_TRY(tmi_sample_law_take_set(law, tmi_pps_certain_set(l.pps), p, err));
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
static tamis_status expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    return tmi_pps_expose(exposures, design, 1, "strongly_rayleigh", NULL, err);
}

const tmi_design_kind tmi_sampford = {.name = "sampford", .clear = tmi_pps_clear, .first = tmi_pps_first,
    .exact = tmi_pps_exact, .joint = joint, .law = law_of, .prepare = prepare, .dismiss = tmi_tree_dismiss,
    .draw = tmi_tree_draw_design, .expose = expose};
