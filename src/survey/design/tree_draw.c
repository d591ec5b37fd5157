/* From the root to the leaves. At each node one random number U in [0, 1) decides how many heads go left: the choices
 * are laid side by side on [0, 1), each as long as its probability. 64 binary digits of U are drawn; if these and the
 * balls of the tree do not tell the choice for certain, 64 more are drawn, and the tree is made again with as
 * many bits more. So the sample has exactly its law, whatever the precision of the first tree was.                  */
#include "rng/bits.h"
#include "rng/inversion.h"
#include "survey/design/pps.h"
#include "survey/design/tree.h"

#define WORDS_MAX 64 /* digits of U / 64: reached with probability 2^-4000 */

typedef struct walk {
    tamis_drawn *drawn;
    const tmi_tree *tree;
    tmi_tree finer;
    tmi_tree block; /* what is below the block that was entered; no levels: none */
    size_t entered;
    const int64_t *units;
    tmi_tree_maker *maker;
    const tamis_design *design;
    tamis_rng *rng;
    const tmi_watch *watch;
} walk;

/* j heads and perhaps the mark go left. */
typedef struct turn {
    int64_t j;
    bool mark_left;
} turn;

static tamis_status refine(walk *w, tamis_error *err)
{
    tmi_tree finer;
    tamis_status status = w->maker(&finer, w->design, w->tree->bits + 64, w->watch, err);
    if (status != TAMIS_OK) return status;
    tmi_tree_clear(&w->finer);
    w->finer = finer;
    w->tree = &w->finer;
    if (w->block.levels == 0) return TAMIS_OK;
    tmi_tree_clear(&w->block);
    return tmi_tree_block(&w->block, w->tree, w->entered, err);
}

/* The weight of the i-th choice of m heads: i = 0, 1, ... are j = from, from + 1, ...; with a mark two choices each. */
static void weigh(tmi_ball *weight, turn *t, const tmi_tree_node *left, const tmi_tree_node *right, int64_t from, size_t i,
                  int64_t m, bool marked, long bits)
{
    t->j = from + (int64_t)(marked ? i / 2 : i);
    t->mark_left = marked && i % 2 == 0;
    const tmi_ball *x = t->mark_left ? left->b : left->a, *y = marked && !t->mark_left ? right->b : right->a;
    tmi_ball_mul(weight, &x[t->j - left->low], &y[m - t->j - right->low], bits);
}

/* What the choices that were cut off weigh at most. */
static void lost_at(tmi_ball *lost, const tmi_tree_node *left, const tmi_tree_node *right, bool marked, long bits)
{
    tmi_ball term;
    tmi_ball_init(&term);
    if (!marked) tmi_ball_add(lost, &left->lost_a, &right->lost_a, bits);
    else {
        tmi_ball_add(lost, &left->lost_b, &right->lost_b, bits);
        tmi_ball_mul(&term, &left->lost_a, &right->total_b, bits);
        tmi_ball_add(lost, lost, &term, bits);
        tmi_ball_mul(&term, &right->lost_a, &left->total_b, bits);
        tmi_ball_add(lost, lost, &term, bits);
    }
    tmi_ball_clear(&term);
}

/* z = (0.words + extra 2^(-64 count)) total, where U lies between the ones for extra = 0 and 1. */
static void scale(tmi_ball *z, const uint64_t *words, size_t count, int64_t extra, const tmi_ball *total, long bits)
{
    tmi_ball_set_int(z, extra);
    for (size_t i = count; i-- > 0;) { /* exact: at most 64 count bits */
        long exact = 64 * (long)count + 64;
        tmi_ball word;
        tmi_ball_init(&word);
        tmi_ball_set_int(&word, (int64_t)(words[i] >> 32));
        tmi_ball_shift(&word, &word, 32);
        tmi_ball_add_int(&word, &word, (int64_t)(words[i] & UINT32_MAX), exact);
        tmi_ball_add(z, z, &word, exact);
        tmi_ball_shift(z, z, -64);
        tmi_ball_clear(&word);
    }
    tmi_ball_mul(z, z, total, bits);
}

/* The choice that belongs to U; false if that is not certain. */
static bool choose(turn *t, const tmi_tree_node *left, const tmi_tree_node *right, int64_t m, bool marked, const uint64_t *words,
                   size_t count, long bits)
{
    int64_t left_high = left->low + (int64_t)left->count - 1, right_high = right->low + (int64_t)right->count - 1;
    int64_t from = left->low > m - right_high ? left->low : m - right_high;
    int64_t to = left_high < m - right->low ? left_high : m - right->low;
    size_t choices = from > to ? 0 : (size_t)(to - from + 1) * (marked ? 2 : 1), last = 0;
    tmi_ball total, weight, lost, low, high;
    bool certain = false;
    tmi_ball_inits(&total, &weight, &lost, &low, &high, NULL);
    lost_at(&lost, left, right, marked, bits);
    for (size_t i = 0; i < choices; i++) {
        weigh(&weight, t, left, right, from, i, m, marked, bits);
        tmi_ball_add(&total, &total, &weight, bits);
        if (!tmi_ball_is_zero(&weight)) last = i;
    }
    bool complete = tmi_ball_is_zero(&lost);
    tmi_ball_add(&low, &total, &lost, bits);
    tmi_ball_union(&total, &total, &low, bits);
    scale(&low, words, count, 0, &total, bits);
    scale(&high, words, count, 1, &total, bits);
    tmi_ball_set_int(&total, 0);
    for (size_t i = 0; i < choices; i++) {
        weigh(&weight, t, left, right, from, i, m, marked, bits);
        tmi_ball_add(&total, &total, &weight, bits);
        tmi_ball_add(&weight, &total, &lost, bits); /* the cut choices may lie before this one */
        if (tmi_ball_is_at_most(&weight, &low)) continue;
        certain = tmi_ball_is_at_most(&high, &total) || (complete && i == last);
        break;
    }
    tmi_ball_clears(&total, &weight, &lost, &low, &high, NULL);
    return certain;
}

static tamis_status choose_at(turn *t, walk *w, size_t level, size_t index, int64_t m, bool marked, tamis_error *err)
{
    uint64_t words[WORDS_MAX];
    tamis_status status = TAMIS_OK;
    for (size_t count = 1; count <= WORDS_MAX; count++) {
        const uint8_t *random = tmi_bits_take(w->rng, sizeof *words);
        if (!random) return tmi_bits_failed(err);
        words[count - 1] = tmi_load64(random);
        const tmi_tree_node *children = (w->block.levels > 0 ? &w->block : w->tree)->nodes[level - 1];
        if (choose(t, &children[2 * index], &children[2 * index + 1], m, marked, words, count, w->tree->bits)) goto done;
        TMI_TRY(refine(w, err));
    }
    status = tmi_fail(err, TAMIS_UNABLE, "a random choice could not be decided");
done:
    tmi_wipe(words, sizeof words);
    return status;
}

static tamis_status enter(walk *w, size_t index, int64_t m, bool marked, tamis_error *err);

static tamis_status descend(walk *w, size_t level, size_t index, int64_t m, bool marked, tamis_error *err)
{
    const bool inside = w->block.levels > 0;
    const tmi_tree *tree = inside ? &w->block : w->tree;
    tamis_status status = TAMIS_OK;
    turn t;
    if (m == 0) return TAMIS_OK;
    if (level == 0 && !inside) return enter(w, index, m, marked, err);
    if (level == 0) return tmi_drawn_add(w->drawn, w->units[w->entered * TMI_TREE_BLOCK + index], err);
    if (2 * index + 1 == tree->counts[level - 1]) return descend(w, level - 1, 2 * index, m, marked, err);
    TMI_TRY(choose_at(&t, w, level, index, m, marked, err));
    TMI_TRY(descend(w, level - 1, 2 * index, t.j, marked && t.mark_left, err));
    TMI_TRY(descend(w, level - 1, 2 * index + 1, m - t.j, marked && !t.mark_left, err));
done:
    return status;
}

#define BLOCKS_A_LOOK 64

static tamis_status enter(walk *w, size_t index, int64_t m, bool marked, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (index % BLOCKS_A_LOOK == 0) TMI_TRY(tmi_watch_tell(w->watch, (double)index / (double)w->tree->counts[0], err));
    TMI_TRY(tmi_tree_block(&w->block, w->tree, index, err));
    w->entered = index;
    status = descend(w, w->block.levels - 1, 0, m, marked, err);
    tmi_tree_clear(&w->block);
done:
    return status;
}

tamis_status tmi_tree_draw(tamis_drawn *drawn, const tmi_tree *tree, int64_t n, const int64_t *units, tmi_tree_maker *maker,
                           const tamis_design *design, tamis_rng *rng, const tmi_watch *watch, tamis_error *err)
{
    walk w = {.drawn = drawn, .tree = tree, .units = units, .maker = maker, .design = design, .rng = rng, .watch = watch};
    tamis_status status = descend(&w, tree->levels - 1, 0, n, tree->marked, err);
    tmi_tree_clear(&w.finer);
    return status;
}

/* ---- as a kind of design ---- */

typedef struct tables {
    tmi_tree tree;
    tmi_tree_maker *maker;
} tables;

tamis_status tmi_tree_prepare(void **made, const tamis_design *design, tmi_tree_maker *maker, long bits, const tmi_watch *watch,
                              tamis_error *err)
{
    tables *t = tmi_alloc(1, sizeof *t);
    tamis_status status = TAMIS_OK;
    if (!t) return tmi_fail_memory(err);
    t->maker = maker;
    if (tmi_pps_of(design)->open_count > 0) status = maker(&t->tree, design, bits, watch, err);
    if (status == TAMIS_OK) *made = t;
    else tmi_free(t);
    return status;
}

void tmi_tree_dismiss(void *made, const tamis_design *design)
{
    tables *t = made;
    (void)design;
    tmi_tree_clear(&t->tree);
    tmi_free(t);
}

tamis_status tmi_tree_draw_design(tamis_drawn *drawn, const tamis_design *design, const void *made, tamis_rng *rng,
                                  const tmi_watch *watch, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    const tables *t = made;
    tamis_status status = tmi_pps_draw_certain(drawn, pps, err);
    if (status == TAMIS_OK && pps->open_count > 0)
        status = tmi_tree_draw(drawn, &t->tree, pps->size, pps->open, t->maker, design, rng, watch, err);
    return status;
}
