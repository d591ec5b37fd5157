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
 * with Laplace noise, continuous or discrete, the root of the sum of their squares with Gaussian noise). Densities
 * exp(-|x|/scale) and exp(-x^2/(2 scale^2)); the discrete laws have these as masses on the integers, and whole
 * sensitivities. Discrete Gaussian noise is for one number only: four numbers that change by 1 each lose more than one that
 * changes by 2. Several are composed, one profile each, or told as tamis_profile_zcdp with the sum of the squares over
 * 2 scale^2.
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

/* Answers 0 ... count-1 with the masses p[k] for one value of a person and q[k] for another; both orders count. Needs
 * 1 <= count <= 2^20, masses that are not negative, and that each of the lists adds up to 1.                           */
TAMIS_API tamis_status tamis_profile_pair(tamis_profile **profile, const tamis_number *const *p,
                                          const tamis_number *const *q, size_t count, tamis_error *err);

/* Discrete noise that is cut: X given |X| <= reach. Its loss is infinite where one law ends and the other does not. Needs
 * scale > 0, 0 <= sensitivity <= TAMIS_MAX_STEP, 0 <= reach <= 2^18.                                                   */
TAMIS_API tamis_status tamis_profile_truncated_laplace(tamis_profile **profile, const tamis_number *scale,
                                                       int64_t sensitivity, int64_t reach, tamis_error *err);
TAMIS_API tamis_status tamis_profile_truncated_gaussian(tamis_profile **profile, const tamis_number *scale,
                                                        int64_t sensitivity, int64_t reach, tamis_error *err);

TAMIS_API void tamis_profile_free(tamis_profile *profile); /* NULL is fine */

/* ---- several releases ---- */

/* All releases together, profiles[i] counted times[i] times (NULL: once each). The list was fixed before the first look.
 *
 * Needs    0 <= times[i] <= TAMIS_MAX_TIMES, also for equal releases together.
 * Gives    a new profile, which shares nothing that the caller could change; NULL on failure.
 * Cost     O(n log n); the work is in the questions.
 * Errors   INVALID, SYSTEM (memory).
 * Paper    settings, section 5.2: what is composed before sampling amplifies (docs/papers.md#settings-5-2).           */
TAMIS_API tamis_status tamis_profile_compose(tamis_profile **composed, const tamis_profile *const *profiles,
                                             const int64_t *times, size_t count, tamis_error *err);

/* The largest of several profiles, point by point: what holds for every unit, or in every stratum, when each has its own.
 *
 * Needs    count >= 1.
 * Errors   INVALID, SYSTEM (memory).                                                                                 */
TAMIS_API tamis_status tamis_profile_maximum(tamis_profile **largest, const tamis_profile *const *profiles, size_t count,
                                             tamis_error *err);

/* What remains of a profile if only its values at some eps are told, as in a certificate: delta is convex in e^eps, so
 * between two of them it is at most the chord, before the first one at most the chord from delta = 1 at e^eps = 0, and
 * after the last one at most its value there. Its lower end is that of the profile.
 *
 * Needs    count >= 1, 0 <= eps[0] < eps[1] < ... <= TAMIS_MAX_LOSS.
 * Cost     one tamis_profile_delta for each.
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                         */
TAMIS_API tamis_status tamis_profile_restrict(tamis_profile **restricted, const tamis_profile *profile,
                                              const tamis_number *const *eps, size_t count, tamis_error *err);

/* ---- asking ---- */

/* The smallest delta at eps.
 *
 * Needs    0 <= eps <= TAMIS_MAX_LOSS.
 * Gives    an enclosure within [0, 1], relatively narrower than 1e-9 where the laws have closed forms; `upper` is the
 *          number to publish. On failure [0, 1].
 * Cost     one release: microseconds; a list: up to about a second for the first question, which the profile keeps
 *          the work of. Profiles may be asked by several threads, and no answer depends on earlier questions.
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

/* ---- the people who may have been sampled ----
 *
 * Each unit of the frame is in the sample with probability at most `rate`, swapping it for another one in the sample is
 * covered by the sampled profile, and nobody outside knows who was sampled. Then, for every eps,
 *
 *     delta of the outsider at log(1 + rate (e^eps - 1)) = rate times delta of the sampled person at eps.
 *
 * This holds for simple random sampling without replacement with rate n/N and neighbours that differ in one record; other
 * designs are in <tamis/privacy.h>.                                                                                    */

typedef struct tamis_outsider tamis_outsider;

/* All releases of one sample, amplified once.
 *
 * Needs    0 < rate <= 1; `sampled` is the composition of everything that is released from this sample.
 * Gives    an outsider that the caller frees with tamis_outsider_free; NULL on failure.
 * Errors   INVALID, SYSTEM (memory).
 * Paper    settings, Theorem 4.1 and section 5.2 (docs/papers.md#settings-4-1, #settings-5-2).                        */
TAMIS_API tamis_status tamis_outsider_new(tamis_outsider **outsider, const tamis_profile *sampled, const tamis_number *rate,
                                          tamis_error *err);

/* The same people in several samples, each drawn independently of the others: amplified each, then composed. Each of the
 * profiles covers both orders of its pair, because in a composition the orders may alternate (docs/composition.md). For
 * samples that exclude or follow each other use tamis_coordinated_epsilon.
 *
 * Needs    count >= 1.
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_API tamis_status tamis_outsider_independent(tamis_outsider **outsider, const tamis_outsider *const *samples,
                                                  size_t count, tamis_error *err);

/* The largest of several, point by point: over units or strata with their own rates. */
TAMIS_API tamis_status tamis_outsider_maximum(tamis_outsider **outsider, const tamis_outsider *const *list, size_t count,
                                              tamis_error *err);

/* As tamis_profile_delta and tamis_profile_epsilon. */
TAMIS_API tamis_status tamis_outsider_delta(tamis_bound *delta, const tamis_outsider *outsider, const tamis_number *eps,
                                            tamis_error *err);
TAMIS_API tamis_status tamis_outsider_epsilon(tamis_bound *eps, const tamis_outsider *outsider, const tamis_number *delta,
                                              tamis_error *err);

TAMIS_API void tamis_outsider_free(tamis_outsider *outsider); /* NULL is fine */

/* Samples that exclude or follow each other (disjoint, coordinated, rotating): a unit is in exactly the samples of pattern
 * a with probability probability[a], and the releases of these samples together have the loss eps[a]; with what is left
 * of 1 it is in none. A draw of each pattern becomes a draw of the empty pattern by exchanging the unit. Then with
 * delta = 0
 *
 *     e^eps <= largest over sets B of patterns of (p0 + sum over B of p e^eps_a + sum outside B of p)
 *                                               / (p0 + sum over B of p + sum outside B of p e^-eps_a).
 *
 * The tempting 1 + sum of p (e^eps_a - 1) is too small: two disjoint samples of one out of four, odds 10 and 1.1, have
 * e^eps = 143/43 > 131/40.
 *
 * Needs    count >= 1, probabilities > 0 whose sum is at most 1, 0 <= loss[a] <= TAMIS_MAX_LOSS.
 * Gives    an enclosure of the bound, [0, inf] on failure. If p0 = 0 there is no empty pattern to exchange with, and the
 *          answer is the largest eps_a, which holds whatever the patterns are.
 * Cost     O(n log n): the best set B holds the patterns of the largest losses.
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                          */
TAMIS_API tamis_status tamis_coordinated_epsilon(tamis_bound *eps, const tamis_number *const *probability,
                                                 const tamis_number *const *loss, size_t count, tamis_error *err);

/* ---- budgets that follow answers ----
 *
 * A tight composition stopped at a cap is not valid if later budgets depend on earlier answers (docs/composition.md). A live
 * account adds pure epsilons, and rhos (an eps is a rho of eps^2/2), exactly, and converts them at its cap.            */

typedef struct tamis_account tamis_account;

/* An account with the cap (eps, delta); the caller frees it with tamis_account_free.
 *
 * Needs    0 <= eps <= TAMIS_MAX_LOSS, 0 <= delta <= 1; with delta = 0 only pure epsilons are accepted.
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_API tamis_status tamis_account_new(tamis_account **account, const tamis_number *eps, const tamis_number *delta,
                                         tamis_error *err);

/* Charges a release before it is made: one that is eps-private, or rho-concentrated.
 *
 * Errors   REFUSED (the cap would be passed; nothing was charged), INVALID, SYSTEM (memory; nothing was charged).      */
TAMIS_API tamis_status tamis_account_charge_pure(tamis_account *account, const tamis_number *eps, tamis_error *err);
TAMIS_API tamis_status tamis_account_charge_zcdp(tamis_account *account, const tamis_number *rho, tamis_error *err);

TAMIS_API void tamis_account_free(tamis_account *account); /* NULL is fine */

TAMIS_END

#endif
