/* Two pivots from a sorted sample of the values enclose the wanted ranks almost certainly; one pass keeps what is between them
 * and counts what is below. If the count says that a rank was missed, pivots further apart are taken. What is kept is some per
 * cent of the values, and the same is done with it once more, before the rest is sorted.
 *
 * The sample is drawn at fixed places: the answer never depends on it, only the time.                                 */
#include "mech/smooth_order.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

#define SAMPLE 16384
#define SORTED_AT_ONCE 32768 /* so few are sorted without pivots */
#define MARGIN 4             /* standard deviations of a rank in the sample, which are at most sqrt(SAMPLE) / 2 */

/* Ends at the first step down, so that values in any other order cost nothing. */
static bool are_in_order(const double *x, size_t n, double lo, double hi)
{
    if (!(x[0] >= lo && x[n - 1] <= hi)) return false;
    for (size_t i = 1; i < n; i++)
        if (!(x[i - 1] <= x[i])) return false;
    return true;
}

tamis_status tmi_ranks_init(tmi_ranks *order, const double *values, size_t n, double lo, double hi, tamis_error *err)
{
    *order = (tmi_ranks){.values = values, .n = n, .lo = lo, .hi = hi, .in_order = are_in_order(values, n, lo, hi)};
    if (order->in_order) return TAMIS_OK;
    order->kept = tmi_alloc(n, sizeof *order->kept);
    /* Kept values, the sample, and as much again for sorting either; pages that are not touched cost nothing. */
    order->scratch = tmi_alloc(n > SORTED_AT_ONCE ? 2 * (n + SAMPLE) : n, sizeof *order->scratch);
    return order->kept && order->scratch ? TAMIS_OK : tmi_fail_memory(err);
}

void tmi_ranks_clear(tmi_ranks *order)
{
    tmi_free(order->kept);
    tmi_free(order->scratch);
}

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* Doubles as integers in the same order. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* By digits of 11 bits, the last first; `spare` has room for n. */
static void sort(double *x, double *spare, size_t n)
{
    enum { DIGIT = 11, SIZE = 1 << DIGIT };
    double *from = x, *to = spare;
    if (n < 512) {
        qsort(x, n, sizeof *x, by_size);
        return;
    }
    for (unsigned shift = 0; shift < 64; shift += DIGIT) {
        size_t start[SIZE] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) start[key_of(from[i]) >> shift & (SIZE - 1)]++;
        if (start[key_of(from[0]) >> shift & (SIZE - 1)] == n) continue;
        for (size_t d = 0; d < SIZE; d++) {
            const size_t here = start[d];
            start[d] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) to[start[key_of(from[i]) >> shift & (SIZE - 1)]++] = from[i];
        double *done = from;
        from = to;
        to = done;
    }
    if (from != x) memcpy(x, from, n * sizeof *x);
}

static double within(double x, double lo, double hi) { return x < hi ? (x > lo ? x : lo) : hi; }

/* Pivots a <= b around the ranks from, ..., to of x; lo and hi where the sample does not reach. `sample` has room for twice as
 * many. */
static void choose_pivots(double *a, double *b, double *sample, const double *x, size_t n, double lo, double hi, size_t from,
                          size_t to, double margin)
{
    uint64_t place = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < SAMPLE; i++) {
        place = place * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sample[i] = within(x[(size_t)((double)(place >> 11) * 0x1p-53 * (double)n)], lo, hi);
    }
    sort(sample, sample + SAMPLE, SAMPLE);
    const double share = (double)SAMPLE / (double)n, room = margin * sqrt(SAMPLE) / 2;
    const double left = floor((double)(from - 1) * share - room), right = ceil((double)to * share + room);
    *a = left < 0 ? lo : sample[(size_t)left];
    *b = right < SAMPLE ? sample[(size_t)right] : hi;
}

static void keep(tmi_ranks *order, size_t from, size_t to)
{
    const double *x = order->values, lo = order->lo, hi = order->hi;
    for (double margin = MARGIN;; margin *= 8) {
        double a = lo, b = hi;
        size_t below = 0, count = 0;
        if (order->n > SORTED_AT_ONCE) choose_pivots(&a, &b, order->scratch, x, order->n, lo, hi, from, to, margin);
        for (size_t i = 0; i < order->n; i++) {
            const double y = within(x[i], lo, hi);
            order->kept[count] = y;
            count += (size_t)((y >= a) & (y <= b));
            below += y < a;
        }
        order->before = below;
        order->count = count;
        if (below < from && to <= below + count) return;
    }
}

static size_t smaller_of(size_t x, size_t y) { return x < y ? x : y; }

static void fill(double *out, size_t first, size_t last, double value)
{
    for (size_t i = first; i <= last; i++) out[i] = value;
}

/* The same for the ranks from, ..., to of x itself; values equal to a pivot are counted, not kept, so that a value which many
 * records share costs nothing. `room` has space for 2 (n + SAMPLE) doubles and is not x. */
static void order_statistics(double *out, double *room, const double *x, size_t n, double lo, double hi, size_t from, size_t to)
{
    double *spare = room + n;
    for (double margin = MARGIN; n > SORTED_AT_ONCE + 4 * (to - from); margin *= 8) {
        double a, b;
        size_t below = 0, at_a = 0, at_b = 0, count = 0;
        choose_pivots(&a, &b, spare, x, n, lo, hi, from, to, margin);
        for (size_t i = 0; i < n; i++) {
            const double y = x[i];
            room[count] = y;
            count += (size_t)((y > a) & (y < b));
            below += y < a;
            at_a += y == a;
            at_b += (y == b) & (a < b);
        }
        if (below >= from || to > below + at_a + count + at_b) continue;
        const size_t first = below + at_a + 1, last = below + at_a + count; /* ranks of what is in room */
        if (from < first) fill(out, 0, smaller_of(to, first - 1) - from, a);
        if (to > last) fill(out, from > last ? 0 : last + 1 - from, to - from, b);
        if (to < first || from > last) return;
        sort(room, spare, count);
        for (size_t rank = from > first ? from : first; rank <= smaller_of(to, last); rank++)
            out[rank - from] = room[rank - first];
        return;
    }
    memcpy(room, x, n * sizeof *x);
    sort(room, spare, n);
    for (size_t rank = from; rank <= to; rank++) out[rank - from] = room[rank - 1];
}

void tmi_ranks_get(double *out, tmi_ranks *order, size_t from, size_t to)
{
    if (order->in_order) {
        memcpy(out, order->values + (from - 1), (to - from + 1) * sizeof *out);
        return;
    }
    if (order->count == 0 || from <= order->before || to > order->before + order->count) {
        keep(order, from, to);
        order->sorted = order->count <= SORTED_AT_ONCE;
        if (order->sorted) sort(order->kept, order->scratch, order->count);
    }
    if (order->sorted) memcpy(out, order->kept + (from - 1 - order->before), (to - from + 1) * sizeof *out);
    else
        order_statistics(out, order->scratch, order->kept, order->count, order->lo, order->hi, from - order->before,
                         to - order->before);
}
