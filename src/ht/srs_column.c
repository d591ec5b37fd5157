/* The masses of Y_t from the mode outwards, by their ratios, and divided by their sum.
 *
 * A step is four roundings, the sum one more for each mass: with J masses every quotient is right up to a factor
 * 1 +- 16 J u in long double, u = LDBL_EPSILON/2, to which come the four roundings to double. Ratios fall outwards, so what
 * lies beyond the last mass w with last ratio r < 1 is at most w r/(1-r). */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "ht/srs_total.h"

bool tmi_ht_enlarge(double **array, size_t room)
{
    double *larger = tmi_realloc(*array, room, sizeof **array);
    if (larger) *array = larger;
    return larger != NULL;
}

static tamis_status reserve(tmi_ht_column *c, size_t count, tamis_error *err)
{
    if (count <= c->room) return TAMIS_OK;
    size_t room = 2 * count + 64;
    if (!tmi_ht_enlarge(&c->mass, room) || !tmi_ht_enlarge(&c->lost, room) || !tmi_ht_enlarge(&c->lost_twice, room) ||
        !tmi_ht_enlarge(&c->sum, room))
        return tmi_fail_memory(err);
    c->room = room;
    return TAMIS_OK;
}

/* What lies beyond a mass w and its ratio r to the one before, from above. */
static long double beyond(long double w, long double r) { return r < 1 ? w * r / (1 - r) * 1.001L : (long double)INFINITY; }

tamis_status tmi_ht_column_set(tmi_ht_column *c, int64_t N, int64_t n, int64_t t, double negligible, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int64_t low = n + t > N ? n + t - N : 0, high = n < t ? n : t;
    int64_t mode = (int64_t)((tmi_int128)(n + 1) * (t + 1) / (N + 2));
    if (mode > high) mode = high;
    long double w = 1, total = 1, rest = 0, r = 0, least = negligible;
    /* a w becomes a w / (b c) at each step; all four are integers below 2^41, exact */
    long double ones = (long double)(t - mode), left = (long double)(n - mode), y = (long double)mode;
    long double zeros = (long double)(N - t - n + mode);
    size_t down = 0, up = 0;
    TMI_TRY(reserve(c, 64, err));
    for (long double a = ones, b = left, d = y, e = zeros; d > (long double)low && w > least; a++, b++, d--, e--) {
        r = d * e / ((a + 1) * (b + 1));
        w *= r;
        total += w;
        if (down + 1 > c->room) TMI_TRY(reserve(c, down + 1, err));
        c->sum[down++] = (double)w; /* downwards; put in order below */
    }
    if (mode - (int64_t)down > low) rest = beyond(w, r);
    TMI_TRY(reserve(c, down + 1, err));
    for (size_t i = 0; i < down; i++) c->mass[i] = c->sum[down - 1 - i];
    c->mass[down] = 1;
    w = 1;
    for (long double a = ones, b = left, d = y, e = zeros; d < (long double)high && w > least; a--, b--, d++, e++) {
        r = a * b / ((d + 1) * (e + 1));
        w *= r;
        total += w;
        if (down + up + 2 > c->room) TMI_TRY(reserve(c, down + up + 2, err));
        c->mass[down + 1 + up++] = (double)w;
    }
    if (mode + (int64_t)up < high) rest += beyond(w, r);
    c->t = t;
    c->first = mode - (int64_t)down;
    c->count = down + 1 + up;
    long double inverse = 1 / total, others = 1 / (long double)(N - t), more = N - 1 > t ? 1 / (long double)(N - 1 - t) : 0;
    long double sum = 0, k = (long double)(n - c->first);
    for (size_t i = 0; i < c->count; i++, k--) {
        w = (long double)c->mass[i] * inverse;
        sum += w;
        c->mass[i] = (double)w;
        w *= k * others;
        c->lost[i] = (double)w;
        c->lost_twice[i] = (double)(w * (k - 1) * more);
        c->sum[i] = (double)sum;
    }
    c->rest = rest * inverse * 2;
    c->error = 8 * (long double)(c->count + 16) * LDBL_EPSILON + 4 * (long double)DBL_EPSILON + 2 * c->rest;
done:
    return status;
}

void tmi_ht_column_clear(tmi_ht_column *c)
{
    tmi_free(c->mass);
    tmi_free(c->lost);
    tmi_free(c->lost_twice);
    tmi_free(c->sum);
    *c = (tmi_ht_column){0};
}
