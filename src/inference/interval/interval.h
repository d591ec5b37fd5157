/* The error of a released number and the intervals that follow from it.
 *
 * What is released misses the truth by
 *
 *     E = se T + f_1 X_1 + f_2 X_2 + ...
 *
 * T is Student's with df degrees of freedom (the sampling error, se estimated), or normal where se is known or follows
 * from a hypothesis; the X_j are the integer noises that were added, whose laws are known exactly, each with the factor
 * that its number has in the statistic. All are independent. The functions here know nothing of plans, designs or files.
 * No privacy hangs on them: they work in doubles, to about 1e-6 of a reach.                                         */
#ifndef TMI_INFERENCE_INTERVAL_INTERVAL_H
#define TMI_INFERENCE_INTERVAL_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/base.h>

#include "num/law/noise.h"

/* ---- the whole error ---- */

#define TMI_NORMAL INT64_C(0) /* in the place of degrees of freedom: T is normal */

typedef struct tmi_error_law {
    double se;    /* >= 0 */
    double third; /* third cumulant of the sampling error, with its sign; only with df = TMI_NORMAL */
    int64_t df;
    const tmi_noise_part *parts;
    size_t count;
} tmi_error_law;

/* P(E > x).
 *
 * By inversion of the characteristic function (law.c). Where the sampling error is too small (below 0.6 of the
 * factor) to smooth the lattice of a noise, that noise counts as continuous with the variance of one unit's rounding
 * added, or four times its own if that is less; se = 0 with a single noise is exact on the lattice.
 *
 * Needs    finite numbers, se >= 0, scales > 0, df >= 0.
 * Cost     O(count), and some ten noises for each of a hundred terms.
 * Errors   INVALID, SYSTEM (memory); the result is then NaN.                                                        */
tamis_status tmi_error_beyond(double *probability, const tmi_error_law *law, double x, tamis_error *err);

/* The x with P(|E| <= x) = confidence; with se = 0 and one noise the smallest of the lattice with at least that.
 *
 * Needs    as above, third = 0, 0 < confidence <= 1 - 10^-9.
 * Errors   as above; the reach is then infinite.                                                                    */
tamis_status tmi_error_reach(double *reach, const tmi_error_law *law, double confidence, tamis_error *err);

/* The x with P(E > x) = tail, for any of these laws. Needs 10^-10 <= tail < 1. */
tamis_status tmi_error_quantile(double *x, const tmi_error_law *law, double tail, tamis_error *err);

/* ---- intervals ---- */

typedef struct tmi_interval {
    double lower, upper;
    bool clipped; /* an end was moved to the end of the possible range, because it was beyond it or infinite */
} tmi_interval;

/* estimate -+ reach, cut to [least, most]: for totals and means with a known denominator. Infinite ends of the range are fine.
 *
 * The interval of an estimate outside the range is that of the nearest possible value. It contains what would be left of
 * estimate -+ reach, so that it covers at least as often, and it is never empty or a single point (docs/intervals.md). */
tamis_status tmi_interval_symmetric(tmi_interval *interval, double estimate, const tmi_error_law *law, double confidence,
                                    double least, double most, tamis_error *err);

#endif
