/* Conditional Poisson sampling, the design of largest entropy with given inclusion probabilities (Hajek 1964, 1981;
 * Chen, Dempster and Liu 1994): p(s) is proportional to the product of w_k over s. The odds w are found and certified
 * in max_entropy.c; samples are drawn down a tree (tree.h).                                                          */
#include "survey/design/max_entropy.h"
#include "survey/design/polynomial.h"
#include "survey/design/tree.h"

/* ---- drawing ---- */

/* Bits of the odds. The law of m heads of a node is known to about 2m times their error, so all the choices of a sample of
 * n are decided but with a probability of about 2 n log2(N) 2^-36: one in a million for a thousand of a million. Then
 * the odds are made again with more bits. A tree is made with as many bits and ROUNDING more.                        */
#define ODDS_BITS 36
#define ROUNDING 40

static tamis_status make_tree(tmi_tree *tree, const tamis_design *design, long bits, const tmi_watch *watch, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    const tmi_watch search = tmi_watch_part(watch, 0, 0.8), rest = tmi_watch_part(watch, 0.8, 1);
    tmi_ball *odds = tmi_balls_new(pps->open_count);
    *tree = (tmi_tree){0};
    if (!odds) return tmi_fail_memory(err);
    tamis_status status = tmi_max_entropy(odds, pps, bits - ROUNDING, &search, err);
    if (status == TAMIS_OK) status = tmi_tree_init(tree, odds, pps->open_count, false, bits, &rest, err);
    if (status == TAMIS_OK) tree->own = odds;
    else tmi_balls_free(odds, pps->open_count);
    return status;
}

static tamis_status prepare(void **tables, const tamis_design *design, const tmi_watch *watch, tamis_error *err)
{
    return tmi_tree_prepare(tables, design, make_tree, ODDS_BITS + ROUNDING, watch, err);
}

/* ---- pairs ---- */

static tamis_status open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits, tamis_error *err)
{
    size_t N = pps->open_count;
    tmi_ball *odds = tmi_balls_new(N);
    if (!odds) return tmi_fail_memory(err);
    tamis_status status = N > 0 ? tmi_max_entropy(odds, pps, bits, NULL, err) : TAMIS_OK;
    if (status == TAMIS_OK) status = tmi_polynomial_joint(pij, odds, NULL, N, pps->size, open, count, bits, err);
    tmi_balls_free(odds, N);
    return status;
}

/* ---- the law ---- */

typedef struct listing {
    tamis_law *law;
    const tmi_pps *pps;
    const tmi_ball *odds;
    tmi_ball total;
} listing;

/* Units from k on are to be decided, `left` of them still to be taken. */
static tamis_status list(listing *l, size_t k, int64_t left, uint32_t set, const tmi_ball *weight, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball more;
    if ((int64_t)(l->pps->open_count - k) < left) return TAMIS_OK;
    if (left == 0) {
        tmi_ball_add(&l->total, &l->total, weight, 2 * TMI_SAMPLE_LAW_BITS);
        uint32_t units = tmi_pps_units(l->pps, set);
        return tmi_sample_law_add_ball_set(l->law, units, weight, err);
    }
    tmi_ball_init(&more);
    tmi_ball_mul(&more, weight, &l->odds[k], 2 * TMI_SAMPLE_LAW_BITS);
    TMI_TRY(list(l, k + 1, left - 1, set | UINT32_C(1) << k, &more, err));
    TMI_TRY(list(l, k + 1, left, set, weight, err));
done:
    tmi_ball_clear(&more);
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    listing l = {.law = law, .pps = tmi_pps_of(design)};
    size_t N = l.pps->open_count;
    tmi_ball *odds = tmi_balls_new(N), one;
    tamis_status status = TAMIS_OK;
    tmi_ball_inits(&one, &l.total, NULL);
    l.odds = odds;
    if (!odds) TMI_TRY(tmi_fail_memory(err));
    if (N > 0) TMI_TRY(tmi_max_entropy(odds, l.pps, TMI_SAMPLE_LAW_BITS + 32, NULL, err));
    tmi_ball_set_int(&one, 1);
    TMI_TRY(list(&l, 0, l.pps->size, 0, &one, err));
    for (size_t j = 0; j < law->count; j++)
        tmi_ball_div(&law->samples[j].ball, &law->samples[j].ball, &l.total, TMI_SAMPLE_LAW_BITS);
done:
    tmi_balls_free(odds, N);
    tmi_ball_clears(&one, &l.total, NULL);
    return status;
}

/* Strongly Rayleigh: coins given their sum (Borcea, Braenden and Liggett 2009). */
const tmi_pps_method tmi_conditional_poisson = {{TMI_PPS_KIND("conditional_poisson"), .law = law_of, .joint = tmi_pps_joint,
                                                 .prepare = prepare, .dismiss = tmi_tree_dismiss, .draw = tmi_tree_draw_design},
                                                .open_joint = open_joint,
                                                .theorem = "strongly_rayleigh"};
