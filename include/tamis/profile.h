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
 * answers, use a tamis_account.
 *
 * What a person has who is known to be in the sample is a tamis_profile. What a person of the frame has, as long as
 * nobody outside knows who was sampled, is a tamis_outsider: another type. The releases of one sample are composed as
 * profiles and become an outsider once, at the end; outsiders of one sample cannot be composed, because amplifying
 * release by release claims too much privacy.                                                                       */
#ifndef TAMIS_PROFILE_H
#define TAMIS_PROFILE_H

#include <tamis/num.h>

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
TAMIS_API tamis_status tamis_profile_claim(tamis_profile **profile, const tamis_number *eps, const tamis_number *delta,
                                           tamis_error *err);

/* Randomized response: the true answer with odds e^eps. Every eps-private mechanism is at least as private. */
TAMIS_API tamis_status tamis_profile_randomized_response(tamis_profile **profile, const tamis_number *eps,
                                                         tamis_error *err);

/* Noise on a number that one person can change by at most `sensitivity` (for several numbers: the sum of the changes
 * with Laplace noise, the root of the sum of their squares with Gaussian noise). Densities exp(-|x|/scale) and
 * exp(-x^2/(2 scale^2)); the discrete laws have these as masses on the integers, and whole sensitivities.
 * Needs scale > 0, 0 <= sensitivity <= TAMIS_MAX_LOSS scale; discrete: sensitivity <= TAMIS_MAX_STEP.                  */
TAMIS_API tamis_status tamis_profile_laplace(tamis_profile **profile, const tamis_number *scale,
                                             const tamis_number *sensitivity, tamis_error *err);
TAMIS_API tamis_status tamis_profile_gaussian(tamis_profile **profile, const tamis_number *scale,
                                              const tamis_number *sensitivity, tamis_error *err);
TAMIS_API tamis_status tamis_profile_discrete_laplace(tamis_profile **profile, const tamis_number *scale,
                                                      int64_t sensitivity, tamis_error *err);
TAMIS_API tamis_status tamis_profile_discrete_gaussian(tamis_profile **profile, const tamis_number *scale,
                                                       int64_t sensitivity, tamis_error *err);

/* Any mechanism that is rho-concentrated (zCDP). Its delta is not known exactly: the upper end is the conversion of
 * Canonne, Kamath and Steinke, the lower end the Gaussian mechanism, which is rho-concentrated. Needs
 * 0 <= rho <= TAMIS_MAX_LOSS.                                                                                        */
TAMIS_API tamis_status tamis_profile_zcdp(tamis_profile **profile, const tamis_number *rho, tamis_error *err);

TAMIS_API void tamis_profile_free(tamis_profile *profile); /* NULL is fine */

/* ---- asking ---- */

/* The smallest delta at eps.
 *
 * Needs    0 <= eps <= TAMIS_MAX_LOSS.
 * Gives    an enclosure within [0, 1], relatively narrower than 1e-9 where the laws have closed forms; `upper` is the
 *          number to publish. On failure [0, 1].
 * Cost     one release: microseconds.
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                         */
TAMIS_API tamis_status tamis_profile_delta(tamis_bound *delta, const tamis_profile *profile, const tamis_number *eps,
                                           tamis_error *err);

/* The smallest eps >= 0 at delta, perhaps infinite ({inf, inf}).
 *
 * Needs    0 <= delta <= 1.
 * Gives    an enclosure; `upper` is the number to publish: at this double, delta is certainly not larger. An eps beyond
 *          TAMIS_MAX_LOSS is {TAMIS_MAX_LOSS, inf}. On failure [0, inf].
 * Cost     some tens of tamis_profile_delta.
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                         */
TAMIS_API tamis_status tamis_profile_epsilon(tamis_bound *eps, const tamis_profile *profile, const tamis_number *delta,
                                             tamis_error *err);

TAMIS_END

#endif
