/* Shares from counts. With s = 1 - lie - lie_zero, a report b of the answer y has mean lie_zero + s y, so r = (b - lie_zero) / s
 * is unbiased for y. Its variance given y is lie (1 - lie) / s^2 for a one and lie_zero (1 - lie_zero) / s^2 for a zero; over a
 * large population it is x (1 - x) / s^2 with x the probability of a reported one, which is the variance of y and that of the
 * lie together. For a finite population the first is reduced by 1 - n/N. */
#include "collect/tally/shares.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "collect/tally/share_interval.h"
#include "num/exact.h"
#include "num/law/student.h"
#include "num/number.h"

typedef struct lies {
    double one, zero, slope; /* slope: 1 - one - zero */
} lies;

static double cut(double x) { return fmin(fmax(x, 0), 1); }

/* (a / b - lie_zero) / (1 - lie - lie_zero), exactly and then rounded. */
static tamis_status unbiased(double *z, const tamis_tally *t, const tamis_number *a, const tamis_number *b, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term slope = tmi_sub(&e, tmi_sub(&e, tmi_int(&e, 1), t->lie), t->lie_zero);
    tmi_term share = tmi_div(&e, tmi_sub(&e, tmi_div(&e, a, b), t->lie_zero), slope);
    if (e.status == TAMIS_OK) *z = tmi_number_nearest(share);
    tamis_status status = e.status;
    tmi_exact_clear(&e);
    return status;
}

/* The variance that flipping adds to one report, if this share of the answers are ones. */
static double lie_variance(lies f, double share)
{
    return (share * f.one * (1 - f.one) + (1 - share) * f.zero * (1 - f.zero)) / (f.slope * f.slope);
}

static tamis_status estimate_plain(tamis_tally_share *share, const tamis_tally *t, size_t j, const tmi_asked *asked, lies f,
                                   tamis_error *err)
{
    tamis_number *ones = NULL, *all = NULL;
    tamis_status status;
    const double n = (double)t->reports, x = (double)t->ones[j] / n;
    TMI_TRY(tmi_number_ratio(&ones, (int64_t)t->ones[j], 1, err));
    TMI_TRY(tmi_number_ratio(&all, t->reports, 1, err));
    TMI_TRY(unbiased(&share->estimate, t, ones, all, err));
    const double noise = lie_variance(f, cut(share->estimate)), both = x * (1 - x) / (f.slope * f.slope);
    double sampling = fmax(both - noise, 0) / n;
    if (asked->population > 0) {
        const double rest = 1 - n / (double)asked->population;
        sampling = n > 1 ? rest * fmax(both * n / (n - 1) - noise, 0) / n : 0;
        share->se = sqrt(sampling + noise / n);
    } else {
        share->se = sqrt(both / n);
    }
    share->sampling_se = sqrt(sampling);
    share->noise_sd = sqrt(noise / n);
done:
    tmi_number_frees(&ones, &all, NULL);
    return status;
}

static tamis_status intervals(tamis_tally_share *share, const tamis_tally *t, size_t j, const tmi_asked *asked, tamis_error *err)
{
    tmi_share_case c = {.reports = t->reports,
                        .ones = (int64_t)t->ones[j],
                        .lie = t->lie,
                        .lie_zero = t->lie_zero,
                        .population = asked->population,
                        .confidence = asked->confidence};
    tamis_bound ends;
    tamis_status status = tmi_share_interval(&ends, &c, err);
    share->lower = ends.lower;
    share->upper = ends.upper;
    c.population = t->reports;
    if (status == TAMIS_OK && asked->population != t->reports) status = tmi_share_interval(&ends, &c, err);
    share->reporters_lower = ends.lower;
    share->reporters_upper = ends.upper;
    return status;
}

/* With weights. The sums are exact integers of grid units; the grid cancels except beside the population. */
static tamis_status estimate_weighted(tamis_tally_share *share, const tamis_tally *t, size_t j, const tmi_asked *asked, lies f,
                                      tamis_error *err)
{
    tamis_number *ones = NULL, *all = NULL;
    tamis_status status;
    const tmi_tally_weights *w = &t->weights;
    const double n = (double)t->reports, W = (double)w->sum, Q = (double)w->squares, Q1 = (double)w->squares_ones[j];
    double t_value = NAN, variance = NAN, size = W;
    TMI_TRY(tmi_number_int128(&ones, w->sum_ones[j], err));
    TMI_TRY(tmi_number_int128(&all, w->sum, err));
    TMI_TRY(unbiased(&share->estimate, t, ones, all, err));
    if (asked->population > 0) {
        size = (double)asked->population * TMI_TALLY_GRID;
        share->estimate *= W / size;
        const double total = share->estimate * size; /* of w r, on the grid */
        variance = (Q1 * (1 - f.zero) * (1 - f.zero) + (Q - Q1) * f.zero * f.zero) / (f.slope * f.slope) - total * total / n;
    } else {
        const double x = (double)w->sum_ones[j] / W;
        variance = (Q1 * (1 - x) * (1 - x) + (Q - Q1) * x * x) / (f.slope * f.slope);
    }
    const double one_squares = fmin(fmax((Q1 - f.zero * Q) / f.slope, 0), Q);
    const double noise = Q * lie_variance(f, Q > 0 ? one_squares / Q : 0) / (size * size);
    variance = n > 1 ? fmax(variance, 0) * n / (n - 1) / (size * size) : NAN;
    share->noise_sd = sqrt(noise);
    share->se = sqrt(fmax(variance, noise));
    share->sampling_se = sqrt(fmax(variance - noise, 0));
    if (t->reports < 2) goto done; /* no degrees of freedom: the interval is [0, 1] */
    TMI_TRY(tmi_student_quantile(&t_value, asked->confidence, t->reports - 1, err));
    share->lower = cut(share->estimate - t_value * share->se);
    share->upper = cut(share->estimate + t_value * share->se);
done:
    tmi_number_frees(&ones, &all, NULL);
    return status;
}

/* ---- categories ---- */

static int descending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* x_i becomes max(x_i - shift, 0), where the shift makes the sum 1: with x sorted, it is the last (sum of the first k - 1) / k
 * that the k-th value exceeds. */
void tmi_project(double *x, double *scratch, size_t count)
{
    double sum = 0, shift = 0;
    for (size_t i = 0; i < count; i++) scratch[i] = x[i];
    qsort(scratch, count, sizeof *scratch, descending);
    for (size_t k = 0; k < count; k++) {
        sum += scratch[k];
        if (scratch[k] > (sum - 1) / (double)(k + 1)) shift = (sum - 1) / (double)(k + 1);
    }
    for (size_t i = 0; i < count; i++) x[i] = fmax(x[i] - shift, 0);
}

static tamis_status make_consistent(tamis_tally_share *shares, const tamis_tally *t, const tmi_asked *asked, tamis_error *err)
{
    double *x = tmi_alloc(t->bits, sizeof *x), *scratch = tmi_alloc(t->bits, sizeof *scratch);
    for (int group = 1; x && scratch && group <= asked->groups; group++) {
        size_t count = 0;
        for (size_t j = 0; j < t->bits; j++)
            if (asked->group[j] == group) x[count++] = shares[j].estimate;
        tmi_project(x, scratch, count);
        count = 0;
        for (size_t j = 0; j < t->bits; j++)
            if (asked->group[j] == group) shares[j].consistent = x[count++];
    }
    const bool done = x && scratch;
    tmi_free(x);
    tmi_free(scratch);
    return done ? TAMIS_OK : tmi_fail_memory(err);
}

/* ---- all positions ---- */

static const tamis_tally_share unknown = {NAN, NAN, NAN, NAN, 0, 1, NAN, NAN, NAN};

tamis_status tmi_tally_shares(tamis_tally_share *shares, const tamis_tally *t, const tmi_asked *asked, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    lies f = {.one = tmi_number_nearest(t->lie), .zero = tmi_number_nearest(t->lie_zero)};
    f.slope = 1 - f.one - f.zero;
    for (size_t j = 0; status == TAMIS_OK && j < t->bits; j++) {
        shares[j] = unknown;
        if (t->weight) {
            status = estimate_weighted(&shares[j], t, j, asked, f, err);
        } else {
            status = estimate_plain(&shares[j], t, j, asked, f, err);
            if (status == TAMIS_OK) status = intervals(&shares[j], t, j, asked, err);
        }
    }
    if (status == TAMIS_OK && asked->groups > 0) status = make_consistent(shares, t, asked, err);
    for (size_t j = 0; status != TAMIS_OK && j < t->bits; j++) shares[j] = unknown;
    return status;
}

tamis_status tamis_tally_shares(tamis_tally_share *shares, const tamis_tally *tally, const tamis_tally_question *question,
                                tamis_error *err)
{
    tmi_asked asked;
    if (!shares) return tmi_fail(err, TAMIS_INVALID, "shares: NULL");
    for (size_t j = 0; tally && j < tally->bits; j++) shares[j] = unknown;
    tamis_status status = tmi_asked_make(&asked, tally, question, err);
    if (status == TAMIS_OK) status = tmi_tally_shares(shares, tally, &asked, err);
    tmi_asked_clear(&asked);
    return status;
}
