/* Privacy profiles: delta as a function of eps, for one release, for many, for the people who were sampled and for those
 * who may have been.
 *
 * A mechanism is (eps, delta)-private for every eps and delta = delta(eps), where delta(eps) is the largest value of
 * P(S) - e^eps Q(S) over sets S and neighbours with the laws P and Q, in both orders. A tamis_profile is that function.
 * It is asked for delta at an eps or for eps at a delta, and answers with an enclosure.
 *
 * Profiles of several releases are composed. The composition is the profile of the product of the pairs of laws that
 * have these profiles, one pair each; it holds for every mechanism with these profiles, also if a later query is chosen
 * after seeing earlier answers, as long as the list of profiles was fixed before the first look. Where budgets follow
 * answers, charge a ledger (<tamis/ledger.h>).
 *
 * What a person has who is known to be in the sample is a tamis_profile. What a person of the frame has, as long as
 * nobody outside knows who was sampled, is a tamis_outsider: another type. The releases of one sample are composed as
 * profiles and become an outsider once, at the end; outsiders of one sample cannot be composed, because amplifying
 * release by release claims too much privacy.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_PROFILE_H
#define TAMIS_EXPERIMENTAL_PROFILE_H

#include <tamis/experimental/bound.h>

TAMIS_BEGIN

typedef struct tamis_profile tamis_profile;

/* The largest eps, rho, and ratio of sensitivity to scale that can be asked about: far beyond any use. */
#define TAMIS_MAX_LOSS 1000000

/* The largest sensitivity of discrete noise, and the most times that one release may count. */
#define TAMIS_MAX_STEP (INT64_C(1) << 30)
#define TAMIS_MAX_TIMES (INT64_C(1) << 30)

/* ---- one release ----
 *
 * Each makes a profile that the caller frees with tamis_profile_free; NULL on failure. A sensitivity of 0 is a release
 * that says nothing.
 *
 * Errors (all)  INVALID, SYSTEM (memory).                                                                            */

/* Any mechanism of which only (eps, delta) is known. Needs 0 <= eps <= TAMIS_MAX_LOSS, 0 <= delta <= 1. */
TAMIS_USE tamis_status tamis_profile_claim(tamis_profile **profile, const tamis_number *eps, const tamis_number *delta,
                                           tamis_error *err);

/* Randomized response: the true answer with odds e^eps. Every eps-private mechanism is at least as private. */
TAMIS_USE tamis_status tamis_profile_randomized_response(tamis_profile **profile, const tamis_number *eps, tamis_error *err);

/* Noise on a number that one person can change by at most `sensitivity` (for several numbers: the sum of the changes
 * with Laplace noise, continuous or discrete, the root of the sum of their squares with Gaussian noise). Densities
 * exp(-|x|/scale) and exp(-x^2/(2 scale^2)); the discrete laws have these as masses on the integers, and whole
 * sensitivities. Discrete Gaussian noise is for one number only: four numbers that change by 1 each lose more than one that
 * changes by 2. Several are composed, one profile each, or stated as tamis_profile_zcdp with the sum of the squares over
 * 2 scale^2.
 * Needs scale > 0, 0 <= sensitivity <= TAMIS_MAX_LOSS scale; discrete: sensitivity <= TAMIS_MAX_STEP.                  */
TAMIS_USE tamis_status tamis_profile_laplace(tamis_profile **profile, const tamis_number *scale, const tamis_number *sensitivity,
                                             tamis_error *err);
TAMIS_USE tamis_status tamis_profile_gaussian(tamis_profile **profile, const tamis_number *scale, const tamis_number *sensitivity,
                                              tamis_error *err);
/* The same by mu^2, the sum of (change / scale)^2 over numbers that may have scales of their own. Noise that is rounded to an
 * integer and added to integers has this profile too (tamis_noise_normal_new). Needs 0 <= mu_squared <= TAMIS_MAX_LOSS^2.
 * */
TAMIS_USE tamis_status tamis_profile_normal(tamis_profile **profile, const tamis_number *mu_squared, tamis_error *err);

TAMIS_USE tamis_status tamis_profile_discrete_laplace(tamis_profile **profile, const tamis_number *scale, int64_t sensitivity,
                                                      tamis_error *err);
TAMIS_USE tamis_status tamis_profile_discrete_gaussian(tamis_profile **profile, const tamis_number *scale, int64_t sensitivity,
                                                       tamis_error *err);

/* Any mechanism that is rho-concentrated (zCDP). Its delta is not known exactly: the upper end is the conversion of
 * Canonne, Kamath and Steinke, the lower end the Gaussian mechanism, which is rho-concentrated. Needs
 * 0 <= rho <= TAMIS_MAX_LOSS.                                                                                        */
TAMIS_USE tamis_status tamis_profile_zcdp(tamis_profile **profile, const tamis_number *rho, tamis_error *err);

/* Answers 0 ... count-1 with the masses p[k] for one value of a person and q[k] for another; both orders count. Needs
 * 1 <= count <= 2^20, masses that are not negative, and that each of the lists adds up to 1.                           */
TAMIS_USE tamis_status tamis_profile_pair(tamis_profile **profile, const tamis_number *const *p, const tamis_number *const *q,
                                          size_t count, tamis_error *err);

TAMIS_API void tamis_profile_free(tamis_profile *profile); /* NULL is fine */

/* ---- several releases ---- */

/* All releases together, profiles[i] counted times[i] times (NULL: once each). The list was fixed before the first look.
 *
 * Needs    0 <= times[i] <= TAMIS_MAX_TIMES, also for equal releases together.
 * Gives    a new profile, which shares nothing that the caller could change; NULL on failure.
 * Cost     O(n log n); the work is in the questions.
 * Errors   INVALID, SYSTEM (memory).
 * Paper    settings, section 5.2: what is composed before sampling amplifies (docs/papers.md#settings-5-2).           */
TAMIS_USE tamis_status tamis_profile_compose(tamis_profile **composed, const tamis_profile *const *profiles, const int64_t *times,
                                             size_t count, tamis_error *err);

/* ---- asking ---- */

/* The smallest delta at eps.
 *
 * Needs    0 <= eps <= TAMIS_MAX_LOSS.
 * Gives    an enclosure within [0, 1], relatively narrower than 1e-9 where the laws have closed forms; `upper` is the
 *          number to publish. On failure [0, 1].
 * Cost     one release: microseconds; a list: up to about a second for the first question, which the profile keeps
 *          the work of. Profiles may be asked by several threads, and no answer depends on earlier questions.
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                         */
TAMIS_USE tamis_status tamis_profile_delta(tamis_bound *delta, const tamis_profile *profile, const tamis_number *eps,
                                           tamis_error *err);

/* The smallest eps >= 0 at delta, perhaps infinite ({inf, inf}).
 *
 * Needs    0 <= delta <= 1.
 * Gives    an enclosure; `upper` is the number to publish: at this double, delta is certainly not larger. An eps beyond
 *          TAMIS_MAX_LOSS is {TAMIS_MAX_LOSS, inf}. On failure [0, inf].
 * Cost     some tens of tamis_profile_delta.
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                         */
TAMIS_USE tamis_status tamis_profile_epsilon(tamis_bound *eps, const tamis_profile *profile, const tamis_number *delta,
                                             tamis_error *err);

/* ---- one noise, by its kind ---- */

typedef enum tamis_noise_kind {
    TAMIS_NOISE_NONE,
    TAMIS_NOISE_LAPLACE,          /* density proportional to exp(-|x|/scale), on the answer */
    TAMIS_NOISE_GAUSSIAN,         /* standard deviation `scale`, on the answer */
    TAMIS_NOISE_DISCRETE_LAPLACE, /* P(k) proportional to exp(-|k|/scale), on a whole number (for ht.h: the sample count) */
    TAMIS_NOISE_DISCRETE_GAUSSIAN /* P(k) proportional to exp(-k^2/(2 scale^2)), on a whole number (for ht.h: the sample count) */
} tamis_noise_kind;

/* The profile of a number with noise that one person can change by at most `sensitivity`: the function above
 * for this kind, with its needs. Discrete noise needs a whole sensitivity. NULL on failure.
 *
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_USE tamis_status tamis_profile_noise(tamis_profile **profile, tamis_noise_kind kind, const tamis_number *scale,
                                           const tamis_number *sensitivity, tamis_error *err);

/* The smallest scale with delta(eps) <= delta.
 *
 * Needs    a kind other than NONE, sensitivity >= 0, whole if the noise is discrete; 0 <= eps <= TAMIS_MAX_LOSS,
 *          0 <= delta <= 1.
 * Gives    two doubles, mostly within 1e-11 of each other: `upper` was itself certified to meet the target, `lower` to
 *          miss it. {0, 0} if no noise is needed, {inf, inf} if no scale up to 10^18 sensitivities meets it, {0, upper} if a
 *          millionth of the sensitivity does. For Laplace and Gaussian noise all scales above `upper` meet the target and all
 *          below `lower` miss it. Delta of the discrete Gaussian may rise with the scale here and there: smallest then means that
 *          the next scale below misses, not all of them, and a scale other than `upper` has to be asked by itself. On failure
 *          [0, inf].
 * Cost     about a hundred times tamis_profile_delta of one release.
 * Errors   INVALID, SYSTEM (memory), UNABLE. */
TAMIS_USE tamis_status tamis_noise_scale(tamis_bound *scale, tamis_noise_kind kind, const tamis_number *sensitivity,
                                         const tamis_number *eps, const tamis_number *delta, tamis_error *err);

TAMIS_END

#endif
