/* Mechanisms: what an outsider can learn from a noisy answer, exactly.
 *
 * A mechanism is judged by pairs of laws: the law P of its answer if a person has one value, the law Q if the person
 * has another. It is (eps, delta)-private when P(S) - e^eps Q(S) <= delta for every set S and every such pair, in both
 * orders.                                                                                                           */
#ifndef TAMIS_MECH_H
#define TAMIS_MECH_H

#include <tamis/profile.h>
#include <tamis/survey.h>

TAMIS_BEGIN

/* The smallest delta for one pair of Laplace laws, in this order: P with centre `shift` and scale b1, Q with centre 0
 * and scale b2. The two scales differ when the noise is calibrated with a smooth sensitivity. For privacy take the
 * larger delta of both orders (swap b1 and b2).
 *
 * Needs    eps >= 0, b1 > 0, b2 > 0; shift may have any sign, which does not matter.
 * Gives    an enclosure of sup over sets S of P(S) - e^eps Q(S), within [0, 1]; exactly 0 when b1 = b2 and
 *          |shift| <= b1 eps. `upper` is the number to publish. On failure [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    gain, smooth sensitivity of the median (docs/papers.md#gain-smooth).                                      */
TAMIS_API tamis_status tamis_laplace_pair_delta(tamis_bound *delta, const tamis_number *eps, const tamis_number *shift,
                                                const tamis_number *b1, const tamis_number *b2, tamis_error *err);

/* ---- the Horvitz-Thompson total of a 0/1 variable under simple random sampling ----
 *
 * n of N people are drawn without replacement; t of the N have the value 1. It is public that low <= t <= high, and
 * nothing else; neighbours differ in one person's value. Published is N/n times the ones in the sample, with or without
 * noise. The sampling alone makes the answer random, so it gives some privacy: these functions say how much, exactly.
 *
 * Needs (all)   1 <= n <= N <= TAMIS_MAX_UNITS, 0 <= low < high <= N, a scale > 0 with noise and NULL without, eps >= 0,
 *               0 <= delta <= 1.
 * Errors (all)  INVALID, SYSTEM (memory), UNABLE (the work limit; the output is then a safe bound).                    */

typedef enum tamis_noise_kind {
    TAMIS_NOISE_NONE,
    TAMIS_NOISE_LAPLACE,          /* density proportional to exp(-|x|/scale), on the total */
    TAMIS_NOISE_GAUSSIAN,         /* standard deviation `scale`, on the total */
    TAMIS_NOISE_DISCRETE_LAPLACE, /* P(k) proportional to exp(-|k|/scale), on the sample count */
    TAMIS_NOISE_DISCRETE_GAUSSIAN /* P(k) proportional to exp(-k^2/(2 scale^2)), on the sample count */
} tamis_noise_kind;

typedef struct tamis_ht_srs {
    int64_t N, n, low, high;
    tamis_noise_kind noise;
    const tamis_number *scale;
} tamis_ht_srs;

/* The pair of neighbours that is hardest to protect: t ones against t+1 (order '-') or t+1 against t (order '+').
 * Order 0: delta is 0, every pair is as good. */
typedef struct tamis_ht_worst {
    int64_t t;
    char order;
    int64_t blocks; /* of totals, that a bound excluded without looking at each total in them */
} tamis_ht_worst;

/* The smallest delta for a given eps, or for e^eps given as an exact number >= 1.
 *
 * Gives    an enclosure; `upper` is the number to publish; `worst` (may be NULL) attains it, up to ties within 1e-10.
 *          On failure an upper bound that holds all the same.
 * Cost     O(sqrt n) for a total, at most O(sqrt n) blocks of totals; a few bounds take what is far from the ends. For
 *          n = 10^6 of 3.3 10^8, 0.02 s without noise and 0.05 to 0.1 s with it. UNABLE after some seconds of work; with
 *          noise beyond 2^40, or discrete Gaussian noise beyond about 30000, on the count if the window is wide.
 * Paper    ht, Result 8 (docs/papers.md#ht-8).                                                                         */
TAMIS_API tamis_status tamis_ht_srs_delta(tamis_bound *delta, tamis_ht_worst *worst, const tamis_ht_srs *srs,
                                          const tamis_number *eps, tamis_error *err);
TAMIS_API tamis_status tamis_ht_srs_delta_exp(tamis_bound *delta, tamis_ht_worst *worst, const tamis_ht_srs *srs,
                                              const tamis_number *exp_eps, tamis_error *err);

/* The smallest eps with delta = 0, perhaps infinite ({inf, inf}). Gaussian noise does not change it.
 *
 * Gives    an enclosure; [0, inf] on failure.
 * Cost     O(1); with Laplace noise O(sqrt n).
 * Paper    ht, Result 9 (docs/papers.md#ht-9), extended to noise.                                                      */
TAMIS_API tamis_status tamis_ht_srs_pure(tamis_bound *eps, const tamis_ht_srs *srs, tamis_error *err);

/* The smallest eps for a given delta, perhaps 0 or infinite.
 *
 * Gives    an enclosure of relative width 1e-10; on failure one that may be wide, up to [0, inf].
 * Cost     some tens of tamis_ht_srs_delta.                                                                            */
TAMIS_API tamis_status tamis_ht_srs_epsilon(tamis_bound *eps, const tamis_ht_srs *srs, const tamis_number *delta,
                                            tamis_error *err);

/* The smallest noise of the kind srs->noise for a target (eps, delta); srs->scale is not looked at.
 *
 * Gives    an enclosure whose upper end, used as the scale, meets the target; {0, 0} if no noise is needed, {inf, inf}
 *          if none suffices; on failure an enclosure that may be wide, up to [0, inf].
 *          More noise meets the target too, but for discrete Gaussian noise of a scale below about 1 and a large eps:
 *          there delta rises and falls with the scale, the lower end misses the target, and only the upper end is sure.
 * Cost     some tens of tamis_ht_srs_delta.                                                                            */
TAMIS_API tamis_status tamis_ht_srs_scale(tamis_bound *scale, const tamis_ht_srs *srs, const tamis_number *eps,
                                          const tamis_number *delta, tamis_error *err);

/* ---- noise alone ---- */

/* The profile of a number with noise that one person can change by at most `sensitivity`: the function of <tamis/profile.h>
 * for this kind, with its needs. Discrete noise needs a whole sensitivity. NULL on failure.
 *
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_API tamis_status tamis_profile_noise(tamis_profile **profile, tamis_noise_kind kind, const tamis_number *scale,
                                           const tamis_number *sensitivity, tamis_error *err);

/* The smallest scale with delta(eps) <= delta.
 *
 * Needs    a kind other than NONE, sensitivity >= 0, whole if the noise is discrete; 0 <= eps <= TAMIS_MAX_LOSS,
 *          0 <= delta <= 1.
 * Gives    two doubles, mostly within 1e-11 of each other: `upper` was itself certified to meet the target, `lower` to
 *          miss it. {0, 0} if no noise is needed, {inf, inf} if no scale up to 10^18 sensitivities meets it, {0, upper} if a millionth of
 *          the sensitivity does. For Laplace and Gaussian noise all scales above `upper` meet the target and all below `lower`
 *          miss it. Delta of the discrete Gaussian may rise with the scale here and there: smallest then means that the next
 *          scale below misses, not all of them, and a scale other than `upper` has to be asked by itself. On failure
 *          [0, inf].
 * Cost     about a hundred times tamis_profile_delta of one release.
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                          */
TAMIS_API tamis_status tamis_noise_scale(tamis_bound *scale, tamis_noise_kind kind, const tamis_number *sensitivity,
                                         const tamis_number *eps, const tamis_number *delta, tamis_error *err);

TAMIS_END

#endif
