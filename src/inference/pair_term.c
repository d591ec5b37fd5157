#include "inference/pair_term.h"

#include <math.h>

#include "base/memory.h"
#include "num/number.h"
#include "schedule/noise_law.h"
#include "schedule/pooled.h"

#define LARGEST_BOUND 0x1p50 /* with differences up to 2^58 and 2^16 pairs, sums of squares stay below 2^125 */
#define LARGEST_DIFFERENCE ((tmi_int128)1 << 58)

void tmi_pair_term_clear(tmi_pair_term *t)
{
    tmi_free(t->coefficients);
    *t = (tmi_pair_term){0};
}

tmi_int128 tmi_huber_square(tmi_int128 d, int64_t bound)
{
    d = d < 0 ? -d : d;
    d = d < LARGEST_DIFFERENCE ? d : LARGEST_DIFFERENCE;
    return d <= bound ? d * d : (tmi_int128)bound * (2 * d - bound);
}

/* ---- from noisy tables ---- */

/* The value of a ratio, as the pool takes it: 0 where noise leaves no denominator. */
static double ratio_of(const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    const tmi_form_moments f = tmi_form_moments_of(t);
    return f.y < TMI_MOMENTS && z->value[f.y] > 0 ? z->value[f.x] / z->value[f.y] : 0;
}

/* Coefficients of x - r y; the largest of them. */
static tamis_status combine(double *largest, double *c, const tmi_schedule *s, const tmi_measurement *m, size_t group, double r,
                            tamis_error *err)
{
    const tmi_form_moments f = tmi_form_moments_of(&s->plan->statistics[m->shape.statistic]);
    double of[TMI_MOMENTS] = {0};
    tmi_moment_sum sum;
    of[f.x] = 1;
    if (f.y < TMI_MOMENTS) of[f.y] -= r;
    tamis_status status = tmi_moment_sum_make(&sum, &s->workload, TMI_PAIRED, m->shape.statistic, group, 0, of, NULL, err);
    if (status != TAMIS_OK) return status;
    *largest = 0;
    for (size_t k = 0; k < m->cells * m->levels; k++) {
        c[k] = tmi_combination_at(&sum.combination, &s->workload, k / m->levels, k % m->levels);
        *largest = fmax(*largest, fabs(c[k]));
    }
    tmi_moment_sum_clear(&sum);
    return TAMIS_OK;
}

static int64_t rows_per_unit(const tmi_schedule *s)
{
    const int64_t rows = s->plan->privacy.rows_per_unit;
    return rows > 1 ? rows : 1;
}

/* The least with which all numbers together move by no more than the steps, one for the rounding of each that a unit is in. */
static tmi_int128 divisor_of(const tmi_schedule *s, const tmi_measurement *m, int64_t bound, int64_t most)
{
    const tmi_int128 slope = 2 * (tmi_int128)bound * most, steps = TMI_PAIRED_STEPS - 2 * rows_per_unit(s);
    const tmi_int128 whole = slope / steps, rest = slope % steps; /* slope * moved might not fit */
    return whole * m->moved + (rest * m->moved + steps - 1) / steps + 1;
}

tamis_status tmi_pair_term_make(tmi_pair_term *term, const tmi_inference *r, const tmi_measurement *m, const tmi_group_sums *z,
                                size_t group, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t count = m->cells * m->levels;
    const double at = ratio_of(&s->plan->statistics[m->shape.statistic], z);
    const double after = s->sampling.weights == TMI_ALIKE ? tmi_number_nearest(s->sampling.weight[0]) : 1;
    double *c = tmi_alloc(count, sizeof *c), largest = 0, fine = TMI_PAIRED_COEFFICIENT;
    tamis_status status;
    *term = (tmi_pair_term){.coefficients = tmi_alloc(count, sizeof *term->coefficients)};
    if (!c || !term->coefficients) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(combine(&largest, c, s, m, group, at, err));
    const bool usable = largest > 0 && isfinite(largest); /* else nothing is squared */
    if (!usable) largest = 1;
    term->squares = fmax(tmi_quadratic_at(z->proxy, at), tmi_form_noise_sd(&z->proxy_noise, 1, at));
    term->row = largest * tmi_grouped_worth(s);
    const double expected = tmi_expected_effect(s) * term->squares / r->clamping;
    const double unit = tmi_measurement_unit(m, &s->workload, 0) * after * largest;
    const double slope = 2 * (double)m->moved * unit / TMI_PAIRED_STEPS * tmi_noise_sd(m->laws[0].scale, s->gaussian);
    const double afforded = TMI_AFFORDED * expected / slope,
                 least = tmi_pair_bound(s, m->shape.statistic, isfinite(expected) ? expected : 0, term->row);
    const double bound = isfinite(afforded) ? fmax(afforded, least) : least;
    while (fine > 1 && bound / unit * fine > LARGEST_BOUND) fine /= 2;
    term->largest = (int32_t)fine;
    term->step = unit / fine;
    term->bound = (int64_t)fmin(fmax(ceil(bound / term->step), 1), LARGEST_BOUND);
    for (size_t k = 0; k < count; k++)
        term->coefficients[k] = usable && isfinite(c[k]) ? (int32_t)lrint(c[k] / largest * fine) : 0;
    term->divisor = divisor_of(s, m, term->bound, term->largest);

done:
    tmi_free(c);
    if (status != TAMIS_OK) tmi_pair_term_clear(term);
    return status;
}

/* ---- to a variance ---- */

/* The mean of Huber's square of a normal number with standard deviation k, the bound being 1. */
static double huber_mean(double k)
{
    const double inside = erf(1 / k / sqrt(2));
    return k * k * inside + 2 * k * exp(-0.5 / (k * k)) / sqrt(2 * acos(-1)) - (1 - inside);
}

/* The k with that mean. */
#define WIDEST 1e3

static double spread_of(double mean)
{
    double low = 0, high = WIDEST;
    if (!(mean < huber_mean(high))) return high;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (huber_mean(middle) < mean) low = middle;
        else high = middle;
    }
    return (low + high) / 2;
}

tmi_pair_variance tmi_pair_variance_of(const tmi_pair_term *t, const tmi_schedule *s, const tmi_measurement *m, tmi_int128 noisy)
{
    const double pairs = tmi_group_degrees(s, m->shape.statistic), bound = (double)t->bound * t->step;
    const double worth = (double)t->divisor * t->step * t->step, sum = (double)noisy * worth;
    const double k = sum > 0 ? spread_of(sum / pairs / (bound * bound)) : 0;
    const double whole = pairs * bound * bound * k * k;
    const double raised = sum > 0 && whole > sum ? whole / sum : 1;
    return (tmi_pair_variance){raised * sum, raised * worth * tmi_noise_sd(m->laws[0].scale, s->gaussian)};
}
