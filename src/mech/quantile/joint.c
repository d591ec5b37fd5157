/* From the sums to the cuts, from right to left: the gap of the last cut, how many cuts are in it, the gap of the one before
 * them.
 *
 * Each choice is an inversion by balls, as in find.c: it is made only if all numbers in the balls lead to it. Where one is not
 * certain, everything is computed again with more bits, a wider reach, and more digits of that choice's uniform number: choices
 * that were certain stay as they are, because they are functions of the exact sums and of the exact uniform numbers. */
#include "mech/quantile/several.h"

#include <math.h>

#include "base/memory.h"
#include "mech/quantile/joint_sums.h"

#define BITS_FIRST 192
#define BITS_MORE 192
#define ROUNDS 40

/* A choice that is being made: `at` is where U points to among the sums, `sum` what was passed. */
typedef struct choosing {
    tmi_ball at, sum, after;
    bool done, certain;
} choosing;

static void begin(choosing *c, const tmi_ball *all, const tmi_ball *beyond, const tmi_uniform_bits *u, long bits)
{
    tmi_ball_inits(&c->at, &c->sum, &c->after, NULL);
    c->done = c->certain = false;
    tmi_ball_set(&c->after, all);
    if (beyond) tmi_ball_add(&c->after, &c->after, beyond, bits);
    tmi_uniform_ball(&c->at, u, bits);
    tmi_ball_mul(&c->at, &c->at, &c->after, bits);
}

/* Whether U points to this alternative; true also if that is uncertain. */
static bool offer(choosing *c, const tmi_ball *weight, long bits)
{
    tmi_ball_add(&c->after, &c->sum, weight, bits);
    if (tmi_ball_is_at_most(&c->after, &c->at)) {
        tmi_ball_set(&c->sum, &c->after);
        return false;
    }
    c->done = true;
    c->certain = tmi_ball_is_less(&c->at, &c->after);
    return true;
}

static bool finish(choosing *c)
{
    tmi_ball_clears(&c->at, &c->sum, &c->after, NULL);
    return c->done && c->certain;
}

/* The gap of cut j, if the next cut has the error a (0 after the last one) and is in a gap from `end` on. */
static bool choose_gap(size_t *gap, const tmi_joint_sums *s, size_t j, tmi_int128 a, size_t end, const tmi_ball *all,
                       const tmi_ball *beyond, const tmi_uniform_bits *u)
{
    choosing c;
    tmi_ball weight;
    const size_t last = s->high[j] + 1 < end ? s->high[j] + 1 : end;
    tmi_ball_init(&weight);
    begin(&c, all, beyond, u, s->bits);
    *gap = s->low[j];
    for (size_t i = s->low[j]; i < last; i++) {
        tmi_joint_step(&weight, s, tmi_joint_error(s, j, i), a);
        tmi_ball_mul(&weight, &weight, &s->ended[s->at[j] + i - s->low[j]], s->bits);
        *gap = i;
        if (offer(&c, &weight, s->bits)) break;
    }
    tmi_ball_clear(&weight);
    return finish(&c);
}

/* How many cuts up to j are in the gap of cut j. */
static bool choose_repeats(size_t *repeats, const tmi_joint_sums *s, size_t j, size_t gap, const tmi_uniform_bits *u)
{
    choosing c;
    tmi_ball weight;
    tmi_ball_init(&weight);
    begin(&c, &s->ended[s->at[j] + gap - s->low[j]], NULL, u, s->bits);
    *repeats = 1;
    for (size_t r = 1; r <= j + 1 && gap <= s->high[j + 1 - r]; r++) {
        tmi_joint_repeat(&weight, s, gap, j, r);
        tmi_ball_mul(&weight, &weight, &s->reached[s->at[j + 1 - r] + gap - s->low[j + 1 - r]], s->bits);
        *repeats = r;
        if (offer(&c, &weight, s->bits)) break;
    }
    tmi_ball_clear(&weight);
    return finish(&c);
}

/* A key of the gap. */
static bool choose_key(int64_t *key, const tmi_joint_sums *s, size_t gap, const tmi_uniform_bits *u)
{
    const tmi_base_measure *m = &s->joint->measure;
    const tmi_score_block block = {.first = m->low + s->gaps[gap].first, .count = s->gaps[gap].count};
    tmi_ball rest, one;
    tmi_ball_inits(&rest, &one, NULL);
    tmi_ball_set_int(&one, 1);
    tmi_uniform_ball(&rest, u, s->bits);
    tmi_ball_mul(&rest, &rest, &s->measures[gap], s->bits);
    const bool certain = tmi_point_at(key, &block, &rest, &one, m, s->bits);
    tmi_ball_clears(&rest, &one, NULL);
    *key -= m->low;
    return certain;
}

/* All choices; *undecided: the uniform number that did not suffice. */
static bool choose_all(int64_t *cuts, size_t *undecided, const tmi_joint_sums *s, const tmi_uniform_bits *u)
{
    const size_t m = s->joint->count;
    size_t j = m, next = s->gap_count, choice = 0;
    tmi_int128 a = 0;
    tmi_ball all, zero;
    bool certain = true;
    tmi_ball_inits(&all, &zero, NULL);
    tmi_ball_set(&all, &s->all);
    while (certain && j > 0) {
        size_t gap, repeats;
        *undecided = choice;
        certain = choose_gap(&gap, s, j - 1, a, next, &all, j == m ? &s->beyond : NULL, &u[choice++]);
        if (!certain) break;
        *undecided = choice;
        certain = choose_repeats(&repeats, s, j - 1, gap, &u[choice++]);
        for (size_t r = 0; certain && r < repeats; r++) {
            *undecided = choice;
            certain = choose_key(&cuts[j - 1 - r], s, gap, &u[choice++]);
        }
        if (!certain) break;
        j -= repeats;
        next = gap;
        if (j > 0) {
            a = tmi_joint_error(s, j, gap);
            tmi_ball_set(&all, &s->reached[s->at[j] + gap - s->low[j]]);
        }
    }
    tmi_ball_clears(&all, &zero, NULL);
    return certain;
}

/* How far a sum of errors may be, as a multiple of one over the rate: what is beyond is improbable, whatever the data is. */
static double first_nats(double m, double end, bool by_log)
{
    const double nats = m * log(end + 1) + 64 * 0.7 + 2 * m;
    return by_log ? 2 * nats : nats;
}

/* With a unit's rows replaced the rate is epsilon / (4 rows_per_unit) for each record, on both sides. */
double tmi_joint_terms(const tmi_grid *grid, size_t count, double epsilon, int64_t rows_per_unit, int64_t rows, bool by_log)
{
    const double m = (double)count, end = ((double)(grid->high - grid->low) + 1) * (double)tmi_places(grid),
                 within = 4 * first_nats(m, end, by_log) * (double)rows_per_unit / epsilon;
    return m * m * (rows > 0 ? fmin(within, (double)rows + 1) : within);
}

tamis_status tmi_joint_find(int64_t *cuts, const tmi_keys *keys, const tmi_joint *joint, tmi_uniform_bits *u, tamis_rng *rng,
                            tamis_error *err)
{
    tmi_joint_sums s = {.joint = joint};
    const double m = (double)joint->count, rate = tmi_number_down(joint->rate);
    double nats = first_nats(m, (double)keys->end, joint->measure.log_unit != NULL);
    bool certain = false;
    tamis_status status;
    TMI_TRY(tmi_joint_gaps(&s, keys, err));
    for (int round = 0; !certain; round++) {
        size_t undecided = 0;
        const double wide = fmin(ceil(nats / (2 * rate)), 0x1p100);
        if (round == ROUNDS) TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "quantile: the choice could not be certified"));
        const long bits = BITS_FIRST + BITS_MORE * round + (long)fmin(2 * 1.5 * nats, 1e6);
        status = tmi_joint_sum(&s, (tmi_int128)wide, bits, err);
        if (status == TAMIS_OK) certain = choose_all(cuts, &undecided, &s, u);
        tmi_joint_sums_clear(&s);
        if (status != TAMIS_OK) goto done;
        if (!certain && round > 1) TMI_TRY(tmi_uniform_more(&u[undecided], rng, err));
        nats *= 1.5;
    }
    if (!tmi_sort_points(cuts, NULL, joint->count)) TMI_TRY(tmi_fail_memory(err));
done:
    if (s.gaps) tmi_wipe(s.gaps, s.gap_count * sizeof *s.gaps);
    tmi_free(s.gaps);
    return status;
}
