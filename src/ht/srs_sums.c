/* The law of the ones and the noise together, at one point z. */
#include <float.h>
#include <math.h>

#include "ht/srs_total.h"

/* [s (1 - error) - more, s (1 + error) + more] */
static tmi_ht_range around(long double s, long double error, long double more)
{
    long double slack = fabsl(s) * (error + 4 * LDBL_EPSILON) + more;
    return (tmi_ht_range){s - slack, s + slack};
}

static tmi_ht_range widened(long double lower, long double upper)
{
    return (tmi_ht_range){lower - fabsl(lower) * LDBL_EPSILON, upper + fabsl(upper) * LDBL_EPSILON};
}

static tmi_ht_range minus(tmi_ht_range x, tmi_ht_range y) { return widened(x.lower - y.upper, x.upper - y.lower); }

/* x y for x >= 0 */
static tmi_ht_range times(tmi_ht_range x, tmi_ht_range y)
{
    return widened(y.lower * (y.lower < 0 ? x.upper : x.lower), y.upper * (y.upper < 0 ? x.lower : x.upper));
}

/* The masses begin .. end - 1 meet noise within its reach; `at` is the place of the first one's value in the row. */
typedef struct meeting {
    const tmi_ht_row *row;
    size_t begin, end;
    int64_t at;
    long double error;
} meeting;

static tamis_status meet(meeting *m, const tmi_ht_column *c, tmi_ht_rows *r, double z, tamis_error *err)
{
    double floored = floor(z);
    int64_t cell = (int64_t)floored, last = c->first + (int64_t)c->count - 1;
    int64_t low = cell - r->reach, high = cell + r->reach;
    if (low < c->first) low = c->first;
    if (high > last) high = last;
    *m = (meeting){.begin = 0, .end = 0};
    if (low > high) { /* all masses on one side of the noise */
        m->begin = m->end = low > last ? c->count : 0;
        return TAMIS_OK;
    }
    m->begin = (size_t)(low - c->first);
    m->end = (size_t)(high - c->first) + 1;
    m->error = c->error + r->error + 2 * (long double)(m->end - m->begin) * LDBL_EPSILON;
    tamis_status status = tmi_ht_row_get(&m->row, r, z - floored, cell - high - 1, cell - low, err);
    if (status == TAMIS_OK) m->at = cell - low - m->row->first;
    return status;
}

tamis_status tmi_ht_slope_at(tmi_ht_slope *x, const tmi_ht_column *c, tmi_ht_rows *r, const tmi_ht_factors *e, double z,
                             tamis_error *err)
{
    meeting m;
    tamis_status status = meet(&m, c, r, z, err);
    if (status != TAMIS_OK) return status;
    long double p = 0, here = 0, before = 0;
    if (m.end > m.begin) {
        const double *density = m.row->density + m.at;
        for (size_t i = m.begin; i < m.end; i++, density--) {
            long double w = density[0], v = density[-1], lost = c->lost[i];
            p += (long double)c->mass[i] * w;
            here += lost * w;
            before += lost * v;
        }
    }
    long double more = c->rest * r->peak + r->thin + (long double)DBL_MIN;
    x->density = around(p, m.error, more);
    x->slope = minus(times(e->E, minus(around(here, m.error, more), around(before, m.error, more))),
                     times(e->excess, x->density));
    return TAMIS_OK;
}

tamis_status tmi_ht_value_at(tmi_ht_value *x, const tmi_ht_column *c, tmi_ht_rows *r, const tmi_ht_factors *e, double z,
                             tamis_error *err)
{
    meeting m;
    tamis_status status = meet(&m, c, r, z, err);
    if (status != TAMIS_OK) return status;
    long double cdf = m.begin > 0 ? (long double)c->sum[m.begin - 1] : 0, moved = 0, here = 0, before = 0;
    if (m.end > m.begin) {
        const double *G = m.row->cdf + m.at, *step = m.row->step + m.at;
        for (size_t i = m.begin; i < m.end; i++, G--, step--) {
            long double w = step[0], v = step[-1], twice = c->lost_twice[i];
            cdf += (long double)c->mass[i] * (long double)*G;
            moved += (long double)c->lost[i] * w;
            here += twice * w;
            before += twice * v;
        }
    }
    long double more = c->rest + r->tail + (long double)DBL_MIN, error = m.error + c->error;
    x->cdf = around(cdf, error, more);
    x->moved = around(moved, error, more);
    x->gain = minus(times(e->E, x->moved), times(e->excess, x->cdf));
    x->rise = minus(times(e->excess, x->moved), times(e->E, minus(around(here, error, more), around(before, error, more))));
    return TAMIS_OK;
}
