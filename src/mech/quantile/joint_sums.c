/* Cut by cut, from left to right. With i' < i two gaps and a, a' the errors of cuts j and j - 1 in them,
 *
 *     reached[j](i) = sum over i' < i of ended[j-1](i') exp(-rate |a - a'|)
 *                   = exp(-rate a) sum over {a' <= a} of ended exp(rate a') + exp(rate a) sum over {a' > a} of ended exp(-rate
 *                   a'),
 *
 * and since a' grows with i', both sums are differences of running sums: O(1) for each gap. The second is a difference of
 * balls; it costs digits, at most those of exp(2 rate reach), which the caller has in store. A gap may have several cuts:
 *
 *     ended[j](i) = sum over r of measure^r / r! * (steps between these cuts) * reached[j-r+1](i). */
#include "mech/quantile/joint_sums.h"

#include "base/memory.h"
#include "num/number.h"

tmi_int128 tmi_joint_error(const tmi_joint_sums *s, size_t j, size_t gap)
{
    return (tmi_int128)s->joint->d * s->gaps[gap].below - (tmi_int128)s->joint->ranks[j] * s->total;
}

tamis_status tmi_joint_gaps(tmi_joint_sums *s, const tmi_keys *k, tamis_error *err)
{
    int64_t next = 0, below = 0;
    s->gaps = tmi_alloc(k->count + 1, sizeof *s->gaps);
    if (!s->gaps) return tmi_fail_memory(err);
    for (size_t i = 0; i <= k->count; i++) { /* a key that equals a record has the record above it */
        const int64_t end = i < k->count ? k->keys[i] + 1 : k->end;
        if (end > next) s->gaps[s->gap_count++] = (tmi_gap){next, end - next, below};
        if (i < k->count) below += k->weights ? k->weights[i] : 1;
        next = end > next ? end : next;
    }
    s->total = below;
    return TAMIS_OK;
}

static void clear_balls(tmi_ball **list, size_t count)
{
    for (size_t i = 0; *list && i < count; i++) tmi_ball_clear(&(*list)[i]);
    tmi_free(*list);
    *list = NULL;
}

static bool make_balls(tmi_ball **list, size_t count)
{
    *list = tmi_alloc(count, sizeof **list);
    for (size_t i = 0; *list && i < count; i++) tmi_ball_init(&(*list)[i]);
    return *list != NULL;
}

void tmi_joint_sums_clear(tmi_joint_sums *s)
{
    const size_t m = s->joint->count, count = s->at ? s->at[m] : 0;
    clear_balls(&s->measures, s->gap_count);
    clear_balls(&s->reached, count);
    clear_balls(&s->ended, count);
    clear_balls(&s->rising, count);
    clear_balls(&s->falling, count);
    tmi_decays_free(s->down);
    tmi_decays_free(s->up);
    tmi_ball_clears(&s->all, &s->beyond, NULL);
    tmi_free(s->low);
    tmi_free(s->high);
    tmi_free(s->at);
    s->down = s->up = NULL;
    s->low = s->high = s->at = NULL;
}

/* exp(rate a) for any sign of a; `turned`: exp(-rate a). */
static void power(tmi_ball *z, const tmi_joint_sums *s, tmi_int128 a, bool turned)
{
    a = turned ? -a : a;
    tmi_decay(z, a < 0 ? s->down : s->up, a < 0 ? -a : a);
}

void tmi_joint_step(tmi_ball *z, const tmi_joint_sums *s, tmi_int128 a, tmi_int128 b)
{
    tmi_decay(z, s->down, a > b ? a - b : b - a);
}

void tmi_joint_repeat(tmi_ball *z, const tmi_joint_sums *s, size_t gap, size_t j, size_t r)
{
    tmi_ball step;
    tmi_ball_init(&step);
    tmi_ball_set_int(z, 1);
    for (size_t k = 0; k < r; k++) {
        tmi_ball_mul(z, z, &s->measures[gap], s->bits);
        tmi_ball_div_int(z, z, (int64_t)k + 1, s->bits);
        if (k == 0) continue;
        tmi_joint_step(&step, s, tmi_joint_error(s, j - k, gap), tmi_joint_error(s, j - k + 1, gap));
        tmi_ball_mul(z, z, &step, s->bits);
    }
    tmi_ball_clear(&step);
}

/* Which gaps each cut may be in: the errors grow with the gap and fall with the cut. */
static bool set_ranges(tmi_joint_sums *s)
{
    const size_t m = s->joint->count;
    s->low = tmi_alloc(m, sizeof *s->low);
    s->high = tmi_alloc(m, sizeof *s->high);
    s->at = tmi_alloc(m + 1, sizeof *s->at);
    if (!s->low || !s->high || !s->at) return false;
    for (size_t j = 0; j < m; j++) {
        size_t low = j > 0 ? s->low[j - 1] : 0;
        while (low + 1 < s->gap_count && tmi_joint_error(s, j, low) < -s->reach) low++;
        size_t high = j > 0 && s->high[j - 1] > low ? s->high[j - 1] : low;
        while (high + 1 < s->gap_count && tmi_joint_error(s, j, high + 1) <= s->reach) high++;
        s->low[j] = low;
        s->high[j] = high;
        s->at[j + 1] = s->at[j] + high - low + 1;
    }
    return true;
}

/* reached[j](i): `cross` is the first gap of cut j - 1 whose error is above that of i, which only grows. */
static void reach(tmi_joint_sums *s, size_t j, size_t i, size_t *cross)
{
    const tmi_int128 a = tmi_joint_error(s, j, i);
    tmi_ball *z = &s->reached[s->at[j] + i - s->low[j]], part, scale;
    if (j == 0) {
        tmi_joint_step(z, s, a, 0);
        return;
    }
    const size_t from = s->low[j - 1], to = s->high[j - 1] + 1 < i ? s->high[j - 1] + 1 : i; /* gaps from ... to - 1 */
    const tmi_ball *rising = s->rising + s->at[j - 1], *falling = s->falling + s->at[j - 1];
    while (*cross < to && tmi_joint_error(s, j - 1, *cross) <= a) ++*cross;
    tmi_ball_inits(&part, &scale, NULL);
    if (*cross > from) {
        power(&scale, s, a, true);
        tmi_ball_mul(z, &rising[*cross - 1 - from], &scale, s->bits);
    }
    if (to > *cross && to > from) {
        power(&scale, s, a, false);
        tmi_ball_set(&part, &falling[to - 1 - from]);
        if (*cross > from) tmi_ball_sub(&part, &part, &falling[*cross - 1 - from], s->bits);
        tmi_ball_mul(&part, &part, &scale, s->bits);
        tmi_ball_add(z, z, &part, s->bits);
    }
    tmi_ball_clears(&part, &scale, NULL);
}

/* ended[j](i), and the running sums. */
static void end(tmi_joint_sums *s, size_t j, size_t i)
{
    const size_t place = s->at[j] + i - s->low[j];
    tmi_ball term, scale;
    tmi_ball_inits(&term, &scale, NULL);
    for (size_t r = 1; r <= j + 1 && i <= s->high[j + 1 - r]; r++) {
        tmi_joint_repeat(&term, s, i, j, r);
        tmi_ball_mul(&term, &term, &s->reached[s->at[j + 1 - r] + i - s->low[j + 1 - r]], s->bits);
        tmi_ball_add(&s->ended[place], &s->ended[place], &term, s->bits);
    }
    for (int turned = 0; turned < 2; turned++) {
        tmi_ball *sum = (turned ? s->falling : s->rising) + place;
        power(&scale, s, tmi_joint_error(s, j, i), turned);
        tmi_ball_mul(sum, &s->ended[place], &scale, s->bits);
        if (i > s->low[j]) tmi_ball_add(sum, sum, sum - 1, s->bits);
    }
    tmi_ball_clears(&term, &scale, NULL);
}

/* A tuple with an error beyond the reach has a sum of at least twice that; there are at most measure^m of them, ordered: m!
 * less as sorted ones. [0, 2 measure^m exp(-2 rate reach)]. */
static void bound_others(tmi_joint_sums *s, int64_t end)
{
    const size_t m = s->joint->count;
    tmi_ball measure, zero;
    tmi_ball_inits(&measure, &zero, NULL);
    const bool whole = s->low[0] == 0 && s->high[0] + 1 == s->gap_count && s->low[m - 1] == 0 &&
                       s->high[m - 1] + 1 == s->gap_count;
    if (!whole) {
        tmi_base_of(&measure, &s->joint->measure, s->joint->measure.low, end, s->bits);
        tmi_decay(&s->beyond, s->down, 2 * s->reach);
        tmi_ball_mul_int(&s->beyond, &s->beyond, 2, s->bits);
        for (size_t j = 0; j < m; j++) tmi_ball_mul(&s->beyond, &s->beyond, &measure, s->bits);
        tmi_ball_union(&s->beyond, &s->beyond, &zero, s->bits);
    }
    tmi_ball_clears(&measure, &zero, NULL);
}

/* Only of gaps that some cut may be in: logarithms with many bits take long. */
static void measure_gaps(tmi_joint_sums *s)
{
    const tmi_base_measure *m = &s->joint->measure;
    size_t next = 0;
    for (size_t j = 0; j < s->joint->count; j++) {
        for (size_t i = next > s->low[j] ? next : s->low[j]; i <= s->high[j]; i++)
            tmi_base_of(&s->measures[i], m, m->low + s->gaps[i].first, s->gaps[i].count, s->bits);
        next = s->high[j] + 1;
    }
}

tamis_status tmi_joint_sum(tmi_joint_sums *s, tmi_int128 within, long bits, tamis_error *err)
{
    const size_t m = s->joint->count;
    tamis_number *zero = NULL, *turned = NULL;
    tmi_ball term;
    tamis_status status;
    tmi_ball_inits(&s->all, &s->beyond, &term, NULL);
    s->reach = within;
    s->bits = bits;
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(tmi_number_sub(&turned, zero, s->joint->rate, err));
    s->down = tmi_decays_new(s->joint->rate, bits);
    s->up = tmi_decays_new(turned, bits);
    if (!s->down || !s->up || !set_ranges(s)) TMI_TRY(tmi_fail_memory(err));
    if (!make_balls(&s->measures, s->gap_count) || !make_balls(&s->reached, s->at[m]) || !make_balls(&s->ended, s->at[m]) ||
        !make_balls(&s->rising, s->at[m]) || !make_balls(&s->falling, s->at[m]))
        TMI_TRY(tmi_fail_memory(err));
    measure_gaps(s);
    for (size_t j = 0; j < m; j++) {
        size_t cross = j > 0 ? s->low[j - 1] : 0;
        for (size_t i = s->low[j]; i <= s->high[j]; i++) {
            reach(s, j, i, &cross);
            end(s, j, i);
        }
    }
    for (size_t i = s->low[m - 1]; i <= s->high[m - 1]; i++) {
        tmi_joint_step(&term, s, tmi_joint_error(s, m - 1, i), 0);
        tmi_ball_mul(&term, &term, &s->ended[s->at[m - 1] + i - s->low[m - 1]], bits);
        tmi_ball_add(&s->all, &s->all, &term, bits);
    }
    bound_others(s, s->gaps[s->gap_count - 1].first + s->gaps[s->gap_count - 1].count);
done:
    tmi_ball_clear(&term);
    tmi_number_frees(&zero, &turned, NULL);
    return status;
}
