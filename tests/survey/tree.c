/* The tree of coins: its numbers against plain convolution, and draws that the first digits do not decide. */
#include "tests/test.h"

#include <math.h>

#include "survey/design/pps.h"
#include "survey/design/tree.h"
#include "tests/rng/scripted_bits.h"
#include "tests/survey/frames.h"

#define COINS 40

/* Odds 1/3, 2/3, 1, 4/3, ... */
static tmi_ball *some_odds(long bits)
{
    tmi_ball *odds = tmi_balls_new(COINS);
    for (int k = 0; k < COINS; k++) {
        tmi_ball_set_int(&odds[k], k + 1);
        tmi_ball_div_int(&odds[k], &odds[k], 3, bits);
    }
    return odds;
}

/* P(m heads), and with a mark, in doubles: enough to see a wrong formula. */
static void convolve(double *a, double *b, int skip)
{
    for (int m = 0; m <= COINS; m++) a[m] = b[m] = 0;
    a[0] = 1;
    for (int k = 0; k < COINS; k++) {
        double w = (k + 1) / 3.0, p = w / (1 + w);
        if (k == skip) continue;
        for (int m = COINS; m >= 0; m--) {
            b[m] = b[m] * (1 - p) + (m > 0 ? b[m - 1] * p + a[m - 1] * p * (1 - p) : 0);
            a[m] = a[m] * (1 - p) + (m > 0 ? a[m - 1] * p : 0);
        }
    }
}

static bool holds(const tmi_ball *ball, double x)
{
    tamis_bound bound = tmi_ball_bound(ball);
    return bound.lower <= x * (1 + 1e-12) + 1e-300 && x * (1 - 1e-12) - 1e-300 <= bound.upper;
}

static void keep(void *context, size_t unit, const tmi_ball *given) { tmi_ball_set(&((tmi_ball *)context)[unit], given); }

/* With few bits the ends are cut, and the balls still hold the truth. */
static void encloses(void **state)
{
    static const long precisions[] = {20, 40, 64, 128, 300};
    double a[COINS + 1], b[COINS + 1], others[COINS + 1], ignored[COINS + 1];
    (void)state;
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++) {
        tmi_ball *odds = some_odds(precisions[i]), *given = tmi_balls_new(COINS);
        tmi_tree tree;
        assert_int_equal(tmi_tree_init(&tree, odds, COINS, true, precisions[i], NULL, NULL), TAMIS_OK);
        const tmi_tree_node *root = &tree.nodes[tree.levels - 1][0];
        assert_true((root->count < COINS + 1) == (precisions[i] < 100)); /* something is cut, or nothing */
        convolve(a, b, -1);
        double outside_a = 0, outside_b = 0;
        for (int m = 0; m <= COINS; m++) {
            int64_t at = m - root->low;
            if (at < 0 || at >= (int64_t)root->count) {
                outside_a += a[m];
                outside_b += b[m];
            } else assert_true(holds(&root->a[at], a[m]) && holds(&root->b[at], b[m]));
        }
        assert_true(outside_a <= tmi_ball_bound(&root->lost_a).upper && outside_b <= tmi_ball_bound(&root->lost_b).upper);
        for (int64_t n = root->low; n < root->low + (int64_t)root->count; n++) { /* at its ends much hangs on what was cut */
            assert_int_equal(tmi_tree_given(&tree, n, keep, given, NULL, NULL), TAMIS_OK);
            for (int k = 0; k < COINS && n > 0 && n < COINS; k++) {
                convolve(others, ignored, k);
                assert_true(holds(&given[k], (k + 1) / 3.0 * others[n - 1] / others[n]));
            }
        }
        assert_int_equal(tmi_tree_given(&tree, COINS + 1, keep, given, NULL, NULL), TAMIS_UNABLE);
        tmi_tree_clear(&tree);
        tmi_balls_free(odds, COINS);
        tmi_balls_free(given, COINS);
    }
}

/* The tree of Sampford's law, also where that would be drawn by rejection. */
static tamis_status marked_tree(tmi_tree *tree, const tamis_design *design, long bits, const tmi_watch *watch, tamis_error *err)
{
    const tmi_pps *frame = tmi_pps_of(design);
    tmi_ball *odds = tmi_balls_new(frame->open_count);
    for (size_t k = 0; k < frame->open_count; k++) {
        uint64_t out[TMI_COMMON_WORDS];
        tmi_wide_sub(out, frame->pi.denominator, tmi_open(frame, k), frame->pi.words);
        tmi_ball_set_wide(&odds[k], tmi_open(frame, k), out, frame->pi.words, bits);
    }
    tamis_status status = tmi_tree_init(tree, odds, frame->open_count, true, bits, watch, err);
    tree->own = odds;
    return status;
}

/* One of two equal units: U < 1/2 takes the right one, which 64 digits next to 1/2 do not tell. */
static void draws_on_the_edge(void **state)
{
    static const struct {
        uint64_t words[3];
        size_t taken;
        int64_t unit;
    } cases[] = {
        {{UINT64_C(0x7ffffffffffffffe), 0, 0}, 8, 1},
        {{UINT64_C(0x8000000000000001), 0, 0}, 8, 0},
        {{UINT64_C(0x7fffffffffffffff), UINT64_MAX - 1, 0}, 16, 1},
        {{UINT64_C(0x8000000000000000), 2, 0}, 16, 0},
    };
    tamis_rng *rng;
    (void)state;
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    for (int m = 0; m < 2; m++) {
        tamis_design *design = pps(m == 0 ? "conditional_poisson" : "sampford", "1/2 1/2");
        void *tables;
        assert_int_equal(m == 0 ? tmi_design_prepare(&tables, design, NULL, NULL)
                                : tmi_tree_prepare(&tables, design, marked_tree, 112, NULL, NULL),
                         TAMIS_OK);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            tamis_drawn drawn = {0};
            bits_from_bytes(cases[i].words, sizeof cases[i].words);
            assert_int_equal(tmi_tree_draw_design(&drawn, design, tables, rng, NULL, NULL), TAMIS_OK);
            assert_int_equal(drawn.count, 1);
            assert_int_equal(drawn.units[0], cases[i].unit);
            assert_true(bits_taken() <= cases[i].taken || m == 0); /* balls around odds may need one more */
            tamis_drawn_clear(&drawn);
        }
        tmi_tree_dismiss(tables, design);
        tamis_design_free(design);
    }
    tamis_rng_free(rng);
}

/* Units whose probabilities differ by 10^-30 are told apart where 64 digits can not. */
static void needs_a_finer_tree(void **state)
{
    tamis_rng *rng;
    tamis_drawn drawn = {0};
    void *tables;
    /* P(left unit) = 1/2 + 10^-30, so the right one is taken for U < 1/2 - 10^-30: 10^-30 is 2^-99.66. */
    static const uint64_t below[] = {UINT64_C(0x7fffffffffffffff), UINT64_C(0xffffffffe0000000), 0, 0, 0};
    static const uint64_t above[] = {UINT64_C(0x7fffffffffffffff), UINT64_C(0xfffffffff0000000), 0, 0, 0};
    tamis_design *design = pps("sampford", "0.500000000000000000000000000001 0.499999999999999999999999999999");
    (void)state;
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_tree_prepare(&tables, design, marked_tree, 112, NULL, NULL), TAMIS_OK);
    bits_from_bytes(below, sizeof below);
    assert_int_equal(tmi_tree_draw_design(&drawn, design, tables, rng, NULL, NULL), TAMIS_OK);
    assert_int_equal(drawn.units[0], 1);
    tamis_drawn_clear(&drawn);
    bits_from_bytes(above, sizeof above);
    assert_int_equal(tmi_tree_draw_design(&drawn, design, tables, rng, NULL, NULL), TAMIS_OK);
    assert_int_equal(drawn.units[0], 0);
    assert_int_equal(bits_taken(), 16);
    tamis_drawn_clear(&drawn);
    tmi_tree_dismiss(tables, design);
    tamis_design_free(design);
    tamis_rng_free(rng);
}

static int refined;

static tamis_status refine(tmi_tree *finer, const tamis_design *design, long bits, const tmi_watch *watch, tamis_error *err)
{
    tmi_ball *odds = some_odds(bits);
    (void)design;
    refined++;
    tamis_status status = tmi_tree_init(finer, odds, COINS, true, bits, watch, err);
    finer->own = odds;
    return status;
}

/* U next to 1 means: as many heads to the left as there can be. The first tree has cut those choices off and must not take
 * the last one that is left. */
static void remembers_what_was_cut(void **state)
{
    uint64_t ones[1000];
    tmi_ball *odds = some_odds(20);
    tmi_tree tree;
    int64_t units[COINS];
    tamis_drawn drawn = {0};
    tamis_rng *rng;
    (void)state;
    memset(ones, 255, sizeof ones);
    for (int64_t k = 0; k < COINS; k++) units[k] = k;
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_tree_init(&tree, odds, COINS, true, 20, NULL, NULL), TAMIS_OK);
    bits_from_bytes(ones, sizeof ones);
    assert_int_equal(tmi_tree_draw(&drawn, &tree, 32, units, refine, NULL, rng, NULL, NULL), TAMIS_OK);
    assert_true(refined > 0);
    assert_int_equal(drawn.count, 32);
    for (int64_t k = 0; k < 32; k++) assert_int_equal(drawn.units[k], k);
    tamis_drawn_clear(&drawn);
    tmi_tree_clear(&tree);
    tmi_balls_free(odds, COINS);
    bits_from_seed(1);
    tamis_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encloses),
        cmocka_unit_test(draws_on_the_edge),
        cmocka_unit_test(needs_a_finer_tree),
        cmocka_unit_test(remembers_what_was_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
