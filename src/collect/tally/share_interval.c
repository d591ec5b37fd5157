/* The interval for a large population: c is binomial with probability x = lie_zero + share (1 - lie - lie_zero). The ends are
 * those of Clopper and Pearson for x, moved to the scale of shares and cut to [0, 1].
 *
 * The lower end is the largest x that was proved to be rejected: P_x(X >= c) <= half. The search keeps a bracket (rejected,
 * plausible] and halves it until it is narrower than 2^-44 or its own size times 2^-30; the rejected end is returned. For the
 * upper end everything is mirrored: n - c zeros with probability 1 - x. */
#include "collect/tally/share_interval.h"

#include <math.h>

#include "num/exact.h"
#include "num/law/laws.h"

#define GRID (INT64_C(1) << 50)

double tmi_share_half(const tamis_number *confidence) { return (1 - tmi_number_up(confidence)) / 2 * (1 - 0x1p-50); }

static tamis_status check(const tmi_share_case *c, tamis_error *err)
{
    if (c->reports < 1 || c->reports > TAMIS_MAX_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "reports: must be between 1 and 2^40");
    if (c->ones < 0 || c->ones > c->reports) return tmi_fail(err, TAMIS_INVALID, "ones: must be between 0 and the reports");
    if (c->population != 0 && (c->population < c->reports || c->population > TAMIS_MAX_UNITS))
        return tmi_fail(err, TAMIS_INVALID, "population: must be between the number of reports and 2^40");
    if (!c->confidence || tmi_number_sign(c->confidence) <= 0 || tmi_number_down(c->confidence) > 1 - 0.99e-9)
        return tmi_fail(err, TAMIS_INVALID, "confidence: must be above 0 and at most 0.999999999");
    return TAMIS_OK;
}

/* Whether P(Bin(n, x / GRID) >= c) <= half, proved. */
static tamis_status rejected_at(bool *rejected, int64_t n, int64_t c, int64_t x, double half, tamis_error *err)
{
    tamis_number *p = NULL;
    tmi_ball tail;
    tmi_ball_init(&tail);
    tamis_status status = tmi_number_ratio(&p, x, GRID, err);
    if (status == TAMIS_OK) status = tmi_binomial_part(&tail, &(tmi_binomial){n, p}, TMI_AT_LEAST, c, 64, err);
    if (status == TAMIS_OK) *rejected = tmi_ball_bound(&tail).upper <= half;
    tmi_ball_clear(&tail);
    tamis_number_free(p);
    return status;
}

/* The largest grid point, nearly, whose probability of c ones or more is at most half; 0 if c = 0. */
static tamis_status largest_rejected(int64_t *end, int64_t n, int64_t c, double half, tamis_error *err)
{
    *end = 0;
    if (c == 0) return TAMIS_OK;
    const double share = (double)c / (double)n, sd = sqrt(share * (1 - share) / (double)n) + 1 / (double)n;
    int64_t low = 0, high = (int64_t)(share * (double)GRID), width = 1 + (int64_t)(sd * (double)GRID);
    bool rejected = false;
    if (high > GRID) high = GRID;
    for (int64_t x = high - 2 * width; x > 0; x -= width, width *= 2) {
        tamis_status status = rejected_at(&rejected, n, c, x, half, err);
        if (status != TAMIS_OK) return status;
        if (rejected) low = x;
        else high = x;
        if (rejected) break;
    }
    while (high - low > 64 + (low >> 30)) {
        const int64_t middle = low + (high - low) / 2;
        tamis_status status = rejected_at(&rejected, n, c, middle, half, err);
        if (status != TAMIS_OK) return status;
        if (rejected) low = middle;
        else high = middle;
    }
    *end = low;
    return TAMIS_OK;
}

/* (x / GRID - lie_zero) / (1 - lie - lie_zero), cut to [0, 1] and rounded outwards. */
static tamis_status to_shares(tamis_bound *share, const tmi_share_case *c, int64_t low, int64_t high, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term grid = tmi_int(&e, GRID), slope = tmi_sub(&e, tmi_sub(&e, tmi_int(&e, 1), c->lie), c->lie_zero);
    tmi_term lower = tmi_div(&e, tmi_sub(&e, tmi_div(&e, tmi_int(&e, low), grid), c->lie_zero), slope);
    tmi_term upper = tmi_div(&e, tmi_sub(&e, tmi_div(&e, tmi_int(&e, high), grid), c->lie_zero), slope);
    if (e.status == TAMIS_OK)
        *share = (tamis_bound){fmin(fmax(tmi_number_down(lower), 0), 1), fmin(fmax(tmi_number_up(upper), 0), 1)};
    tamis_status status = e.status;
    tmi_exact_clear(&e);
    return status;
}

/* low / all and high / all, rounded outwards. */
static tamis_status over(tamis_bound *share, int64_t low, int64_t high, int64_t all, tamis_error *err)
{
    tamis_number *lower = NULL, *upper = NULL;
    tamis_status status = tmi_number_ratio(&lower, low, all, err);
    if (status == TAMIS_OK) status = tmi_number_ratio(&upper, high, all, err);
    if (status == TAMIS_OK) *share = (tamis_bound){tmi_number_down(lower), tmi_number_up(upper)};
    tmi_number_frees(&lower, &upper, NULL);
    return status;
}

tamis_status tmi_share_interval(tamis_bound *share, const tmi_share_case *c, tamis_error *err)
{
    *share = (tamis_bound){0, 1};
    tamis_status status = check(c, err);
    if (status != TAMIS_OK) return status;
    int64_t low, high;
    if (c->population != 0) {
        status = tmi_share_interval_finite(&low, &high, c, err);
        if (status != TAMIS_OK) return status;
        return over(share, low, high, c->population, err);
    }
    const double half = tmi_share_half(c->confidence);
    status = largest_rejected(&low, c->reports, c->ones, half, err);
    if (status == TAMIS_OK) status = largest_rejected(&high, c->reports, c->reports - c->ones, half, err);
    return status == TAMIS_OK ? to_shares(share, c, low, GRID - high, err) : status;
}
