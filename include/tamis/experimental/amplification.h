/* What a sampling design adds to a guarantee.
 *
 * A mechanism is (eps, delta)-private for the people of a sample. Somebody who does not know who was sampled learns
 * less: eps_pop and delta_pop hold for the people of the frame, against that outsider, if membership in the sample is
 * secret and the selection looks at nothing that is protected. How much less depends on the design: on how likely a
 * unit is drawn, and on how different the sample would be without it. Simple random sampling, strata, unequal
 * probabilities with a proved coupling, clusters and stages amplify; a cluster amplifies much less than its sampling
 * rate suggests, because the whole cluster comes and goes together. Where nothing is proved the answer is REFUSED.
 *
 * Several releases from one sample are composed first and amplified once, with the eps and delta of all together.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_AMPLIFICATION_H
#define TAMIS_EXPERIMENTAL_AMPLIFICATION_H

#include <tamis/experimental/profile.h>
#include <tamis/experimental/survey.h>

TAMIS_BEGIN

/* ---- designs ---- */

/* Which change of the records counts as one step: of the frame, for the result; of the sample, for the mechanism. */
typedef enum tamis_neighbours {
    TAMIS_REPLACE,    /* one record has other values; strata, sizes and probabilities stay */
    TAMIS_ADD_REMOVE, /* one record is there or not */
    TAMIS_ANY_ONE     /* either; of a mechanism to which a record that is not there is one that adds nothing */
} tamis_neighbours;

/* The promise of a mechanism on the sample, and what it is asked for. */
typedef struct tamis_sample_promise {
    const tamis_number *eps, *delta;
    tamis_neighbours neighbours; /* of the frame: not TAMIS_ANY_ONE */
    tamis_neighbours mechanism;  /* what eps and delta count on the sample; replacing counts as two steps of add and
                                    remove, adding as none of replacing: then only samples of equal size compare */
    int64_t releases;            /* of one sample, each with this eps and delta: they are added up first. 0 is 1 */

    /* What the loss is made of, where that is known; then eps and delta are one point of its profile. Pure epsilons whose sum is
     * `pure`, and after them what is mu-Gaussian with mu_squared, or rho-concentrated: one of the two, the other is NULL. All
     * NULL: eps and delta are all that is known. Changes of several records count by this profile then, not by adding up eps and
     * delta, where that gives a smaller eps_pop at the same delta_pop. */
    const tamis_number *pure, *mu_squared, *rho;
} tamis_sample_promise;

/* Units of one stratum; those that are in every sample are a part of their own. */
typedef struct tamis_amplified_part {
    int64_t stratum; /* 0 if there are none */
    int take_all;
    int64_t units;
    int64_t worst; /* a unit for which eps and delta are the largest */
    const char *theorem;
    tamis_bound eps, delta;
    int by_profile; /* eps follows from the profile, and is smaller than what follows from one eps and delta */
} tamis_amplified_part;

typedef struct tamis_amplified {
    tamis_bound eps, delta; /* the largest over all parts */
    int64_t worst;          /* a unit of the part with the largest eps */
    const char *theorem;    /* srs, srs_with_replacement, poisson, strongly_rayleigh, stratified, cluster, two_stage,
                               within_clusters, systematic or census; NULL on failure */
    int by_profile;         /* eps of some part does */
    tamis_amplified_part *parts;
    size_t count;
} tamis_amplified;

/* From the sample to the frame.
 *
 * Needs    eps from 0 to 10^6, 0 <= delta <= 1, releases from 0 to 10^6; pure, mu_squared and rho from 0 to 10^6, where they are
 *          given: of all releases together, of replaced records.
 * Gives    enclosures of relative width 1e-10 of the best numbers that the theorem gives; `upper` is the one to
 *          publish. The caller clears it with tamis_amplified_clear. On failure [0, inf], [0, 1] and no parts.
 * Cost     O(units) for unequal probabilities, else O(1) per stratum and cluster.
 * Errors   INVALID, SYSTEM (memory), UNABLE, REFUSED (no theorem for the design, or for these neighbours).
 * Paper    settings, Theorem 4.1, and docs/papers.md#settings-designs for the other designs.                         */
TAMIS_USE tamis_status tamis_amplify_design(tamis_amplified *amplified, const tamis_design *design,
                                            const tamis_sample_promise *promise, tamis_error *err);
TAMIS_API void tamis_amplified_clear(tamis_amplified *amplified);

/* The other way: the budget on the sample that a target for the frame, the eps and delta of `target`, allows.
 *
 * Needs    as above; pure, mu_squared and rho are ignored.
 * Gives    an enclosure of the largest eps_n, of relative width 1e-10, and the largest delta_n beside its lower end;
 *          the lower ends are the budget that may be spent, by each release. On failure [0, inf] and [0, 1].
 * Cost     about a hundred times that of tamis_amplify_design at worst.
 * Errors   as above.                                                                                                 */
TAMIS_USE tamis_status tamis_amplify_design_inverse(tamis_bound *eps_n, tamis_bound *delta_n, const tamis_design *design,
                                                    const tamis_sample_promise *target, tamis_error *err);

/* ---- when sampling adds nothing ---- */

/* What a user knows about the sample and the design does not say; 0 each is what the theorems need. */
typedef struct tamis_sampling_facts {
    int known;          /* somebody outside knows, or may learn, who was sampled */
    int by_response;    /* people decided by themselves whether they are in the data */
    int looked_at;      /* the selection, or the sizes of the samples, looked at protected values */
    int one_of_several; /* eps and delta are those of one release, and the sample has others */
    int as_srs;         /* the formula of simple random sampling, log(1 + pi (e^eps - 1)), is wanted */
} tamis_sampling_facts;

/* Whether amplification may be claimed at all, before tamis_amplify_design says how much.
 *
 * Gives    OK, or REFUSED with the reason and what to do instead. as_srs is refused for clusters, stages, systematic
 *          samples and draws with replacement, whose units do not come and go one by one.
 * Errors   REFUSED, INVALID, SYSTEM (memory).
 * Paper    settings, 5.1.3 and 5.2; docs/papers.md#settings-designs.                                                 */
TAMIS_USE tamis_status tamis_sampling_facts_check(const tamis_sampling_facts *facts, const tamis_design *design,
                                                  tamis_error *err);

/* ---- noise whose law is known ----
 *
 * The answer is a sum over the sample plus noise that does not depend on the sample. Then the whole law of the answer is
 * known, with and without the unit, and delta_pop can be smaller than what eps and delta alone give.
 *
 * With shifts s of the sum when the unit's value changes and s_k when the unit is missing in the k-th way, the worst pair
 * is that of the laws w_0 N(0) + sum w_k N(s_k) and w_0 N(s) + sum w_k N(s_k), all shifts at their largest and to the
 * same side: half-lines separate N from each shifted one best, all at once.                                          */

/* Values between `from` and `to`, each unit with weight 1; all of them integers, if the noise is discrete. */
typedef struct tamis_noisy_sum {
    const tamis_number *from, *to;
    tamis_noise_kind noise; /* not TAMIS_NOISE_NONE */
    const tamis_number *scale;
} tamis_noisy_sum;

/* The smallest delta of the population at eps_pop, if one record of the frame is replaced.
 *
 * Needs    from <= to, scale > 0, 0 <= eps_pop <= 1000.
 * Gives    an enclosure; `upper` is the number to publish, `worst` (may be NULL) a unit that has it; `lower` is attained by two
 *          populations. They meet unless the largest shifts cannot come together: random sizes and values without 0, systematic
 *          samples of a frame that is no multiple of the sample, clusters of several sizes, two stages. With replacement a unit
 *          may be drawn k times and count k times: `upper` is then a proved bound, the mean of the noise's delta for k
 *          changes over the binomial k, and `lower` is attained; they meet as n/N gets small. On failure [0, 1].
 * Cost     milliseconds for each group of units that differ in their distances.
 * Errors   INVALID, SYSTEM (memory), UNABLE, REFUSED (as above).                                                     */
TAMIS_USE tamis_status tamis_amplify_noise(tamis_bound *delta_pop, int64_t *worst, const tamis_design *design,
                                           const tamis_noisy_sum *sum, const tamis_number *eps_pop, tamis_error *err);

/* Weights: the sum of weight times value, with Laplace noise. A record that is replaced by one of another weight changes
 * the sum by more than the range: the losses are
 *
 *     e = w_i (to - from)/scale,    x = max over j, y, y' of |w_i y - w_j y'|/scale,
 *
 * j running over the units of the same stratum. For values of both signs that is up to (w_i + w_j) max |y|/scale.     */
typedef struct tamis_weighted_sum {
    const tamis_number *const *weights; /* one per unit of the frame, >= 0; NULL: 1 over the inclusion probability */
    const tamis_number *from, *to;
    const tamis_number *scale; /* of the Laplace noise on the sum */
} tamis_weighted_sum;

/* The smallest pure eps of the population, if one record of the frame is replaced.
 *
 * Needs    from <= to, scale > 0; weights as many as units.
 * Gives    an enclosure; `upper` is the number to publish, `worst` (may be NULL) a unit that has it; `lower` is attained by two
 *          populations, and meets it in the same cases and if other weights do not matter. On failure [0, inf].
 * Cost     O(units); with weights = NULL and equal probabilities O(strata).
 * Errors   INVALID, SYSTEM (memory), UNABLE, REFUSED (as above).                                                     */
TAMIS_USE tamis_status tamis_amplify_total(tamis_bound *eps_pop, int64_t *worst, const tamis_design *design,
                                           const tamis_weighted_sum *sum, tamis_error *err);

/* ---- one epsilon per stratum ----
 *
 * Strata are public and fixed for every unit, and drawn independently; a record is exchanged for others of its stratum only.
 * Let a release lose e_h for a sampled person of stratum h: the largest change that exchanging one record of h for another
 * can make, over the scale of the noise, added up over all numbers. Then somebody else of h loses what the design in h makes
 * of e_h, whatever happens in other strata: fix the draws there, which have the same law for both neighbours; all samples
 * that are compared differ in records of h alone. So a target for outsiders allows more where fewer are drawn. One noisy
 * total over all strata has a scale of max over h of w_h R / e_h, w_h the largest weight in h: weights are large where e_h
 * is. If a record may change its stratum this is false. */

typedef struct tamis_stratum_budget {
    int64_t units;
    tamis_number *epsilon; /* that a sampled person of the stratum may lose, rounded down */
    tamis_bound sampled;   /* the doubles around it */
    tamis_bound outsider;  /* what anybody else of the stratum loses then: the upper end is at most the target, or next to it */
    tamis_bound weight;    /* the largest: 1 over the smallest inclusion probability */
} tamis_stratum_budget;

/* The largest epsilon of each stratum at which outsiders lose at most `outsider` and sampled people at most `insider`.
 *
 * Needs    outsider and insider above 0, at most 10^6.
 * Gives    a list, one per stratum in the order of the design, one in all if it has none; the caller frees it with
 *          tamis_strata_budgets_free. Epsilons have ten digits. NULL and 0 on failure.
 * Cost     about a hundred times that of tamis_amplify_design at worst.
 * Errors   INVALID, SYSTEM (memory), UNABLE, REFUSED (no theorem for the design; draws with replacement, by which a person may be
 *          several records).                                                                                           */
TAMIS_USE tamis_status tamis_strata_budgets(tamis_stratum_budget **list, size_t *count, const tamis_design *design,
                                            const tamis_number *outsider, const tamis_number *insider, tamis_error *err);
TAMIS_API void tamis_strata_budgets_free(tamis_stratum_budget *list, size_t count); /* NULL is fine */

/* The scale of Laplace noise on one weighted total over all strata, of values from `from` to `to`: `crossing`, where each
 * stratum has its own epsilon, and `uniform`, where all have the smallest of them. A record may be exchanged for one that is
 * not counted: a change is up to the largest weight times the largest of |from|, |to| and to - from.
 *
 * Needs    from <= to, budgets of tamis_strata_budgets.
 * Gives    enclosures; `upper` is the number to use. On failure [0, inf].
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_USE tamis_status tamis_strata_scale(tamis_bound *crossing, tamis_bound *uniform, const tamis_stratum_budget *list,
                                          size_t count, const tamis_number *from, const tamis_number *to, tamis_error *err);

/* ---- strata that are protected ---- */

/* Simple random samples of fixed sizes in strata, and neighbours where one record has other values and perhaps another
 * stratum. From stratum h to k, with f_h = n_h/N_h and f_k = n_k/(N_k + 1), both as the record finds them,
 *
 *     eps_pop = log(1 + f_h (e^eps - 1)) - log(1 - f_k (1 - e^-eps)),   or with h and k exchanged,
 *
 * whichever is larger. eps and delta count replaced records on the sample.
 *
 * Needs    1 <= samples[h] < populations[h] <= TAMIS_MAX_UNITS, count >= 1, eps from 0 to 10^6, 0 <= delta <= 1.
 * Gives    enclosures of the largest over all strata; `upper` is the number to publish. On failure [0, inf] and [0, 1].
 * Cost     O(count).
 * Errors   INVALID, UNABLE, REFUSED (a stratum of which everybody is taken cannot lose a record).                    */
TAMIS_USE tamis_status tamis_amplify_moves(tamis_bound *eps_pop, tamis_bound *delta_pop, const int64_t *populations,
                                           const int64_t *samples, size_t count, const tamis_number *eps,
                                           const tamis_number *delta, tamis_error *err);

/* How a proportional allocation rate * N_h becomes an integer. */
typedef enum tamis_rounding {
    TAMIS_ROUND_TO_NEAREST, /* or up, or down: any fixed rule */
    TAMIS_ROUND_AT_RANDOM   /* to the integer below or above, such that rate * N_h is expected */
} tamis_rounding;

/* Strata whose sizes are protected, and a sample proportional to them; records are added or removed, also for the
 * mechanism. Rounding at random keeps
 *
 *     eps_pop <= log(1 + rate (e^eps - 1)) + log(1 + min(1, rate + 1/(N_h + 1)) (e^(2 eps) - 1)).
 *
 * With a fixed rule the sample size itself reveals one record where a rounding point is crossed, and elsewhere the loss
 * can exceed eps: REFUSED.
 *
 * Needs    0 < rate <= 1, smallest >= 1 (the records of the smallest stratum), eps from 0 to 10^6.
 * Gives    an enclosure of the bound; `upper` is the number to publish. On failure [0, inf].
 * Cost     O(1).
 * Errors   INVALID, UNABLE, REFUSED.                                                                                 */
TAMIS_USE tamis_status tamis_amplify_proportional(tamis_bound *eps_pop, const tamis_number *rate, int64_t smallest,
                                                  tamis_rounding rounding, const tamis_number *eps, tamis_error *err);

/* ---- the people who may have been sampled ----
 *
 * Each unit of the frame is in the sample with probability at most `rate`, swapping it for another one in the sample is
 * covered by the sampled profile, and nobody outside knows who was sampled. Then, for every eps,
 *
 *     delta of the outsider at log(1 + rate (e^eps - 1)) = rate times delta of the sampled person at eps.
 *
 * This holds for simple random sampling without replacement with rate n/N and neighbours that differ in one record; for other
 * designs see below.                                                                                    */

typedef struct tamis_outsider tamis_outsider;

/* All releases of one sample, amplified once.
 *
 * Needs    0 < rate <= 1; `sampled` is the composition of everything that is released from this sample.
 * Gives    an outsider that the caller frees with tamis_outsider_free; NULL on failure.
 * Errors   INVALID, SYSTEM (memory).
 * Paper    settings, Theorem 4.1 and section 5.2 (docs/papers.md#settings-4-1, #settings-5-2).                        */
TAMIS_USE tamis_status tamis_outsider_new(tamis_outsider **outsider, const tamis_profile *sampled, const tamis_number *rate,
                                          tamis_error *err);

/* The same people in several samples, each drawn independently of the others: amplified each, then composed. Each of the
 * profiles covers both orders of its pair, because in a composition the orders may alternate (docs/composition.md). For
 * samples that exclude or follow each other use tamis_coordinated_epsilon.
 *
 * Needs    count >= 1.
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_USE tamis_status tamis_outsider_independent(tamis_outsider **outsider, const tamis_outsider *const *samples, size_t count,
                                                  tamis_error *err);

/* As tamis_profile_delta and tamis_profile_epsilon. */
TAMIS_USE tamis_status tamis_outsider_delta(tamis_bound *delta, const tamis_outsider *outsider, const tamis_number *eps,
                                            tamis_error *err);
TAMIS_USE tamis_status tamis_outsider_epsilon(tamis_bound *eps, const tamis_outsider *outsider, const tamis_number *delta,
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
TAMIS_USE tamis_status tamis_coordinated_epsilon(tamis_bound *eps, const tamis_number *const *probability,
                                                 const tamis_number *const *loss, size_t count, tamis_error *err);

/* ---- the theorem, and simple random sampling: n = `sample` of N = `population` units ---- */

/* What sampling leaves of a loss, whatever the design. A unit is in the sample with probability `inclusion`. If it is,
 * a change of its value is (loss, delta)-private; and a sample with the unit and one without it, drawn together such
 * that they differ little, are (loss_missing, delta_missing)-private against each other. With e and x for the losses
 * and q for the inclusion probability,
 *
 *     e^eps_pop = (q + (1-q) e^-x) / (q e^-e + (1-q) e^-x),
 *     delta_pop = e^eps_pop q e^-e delta + (e^eps_pop - 1) (1-q) e^-x delta_missing.
 *
 * Equal losses give simple random sampling. tamis_amplify_design takes the losses from a design.  */
typedef struct tamis_amplification {
    const tamis_number *inclusion;
    const tamis_number *loss, *delta;
    const tamis_number *loss_missing, *delta_missing; /* loss_missing = NULL: infinite */
} tamis_amplification;

/* Needs    0 < inclusion <= 1, losses from 0 to 10^6, deltas from 0 to 1; selection does not look at the protected
 *          values, and membership in the sample is secret.
 * Gives    enclosures; `upper` is the number to publish. On failure [0, inf] and [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    the proof is in src/amplification/mixture.h; settings, Theorem 4.1 is a case (docs/papers.md#settings-4-1).       */
TAMIS_USE tamis_status tamis_amplify(tamis_bound *eps_pop, tamis_bound *delta_pop, const tamis_amplification *a,
                                     tamis_error *err);

/* From the guarantee on the sample to the guarantee on the population.
 *
 * Needs    1 <= sample <= population, eps >= 0, 0 <= delta <= 1; membership in the sample is secret.
 * Gives    enclosures of eps_pop and delta_pop; `upper` is the number to publish. On failure [0, inf] and [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    settings, Theorem 4.1; gain, Theorem 1 (docs/papers.md#settings-4-1, #gain-1).                            */
TAMIS_USE tamis_status tamis_amplify_srs(tamis_bound *eps_pop, tamis_bound *delta_pop, int64_t population, int64_t sample,
                                         const tamis_number *eps, const tamis_number *delta, tamis_error *err);

/* The other way: the largest budget on the sample that a target (eps, delta) on the population allows,
 *
 *     eps_n = log(1 + N/n (e^eps - 1)),    delta_n = min(1, N/n delta).
 *
 * Needs    1 <= sample <= population, eps >= 0, 0 <= delta <= 1.
 * Gives    enclosures; `lower` is the budget that may be spent. On failure [0, inf] and [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    gain, Theorem 1 (docs/papers.md#gain-1).                                                                  */
TAMIS_USE tamis_status tamis_amplify_srs_inverse(tamis_bound *eps_n, tamis_bound *delta_n, int64_t population, int64_t sample,
                                                 const tamis_number *eps, const tamis_number *delta, tamis_error *err);

/* The whole profile of Laplace noise of scale 1/eps0 on an answer of sensitivity 1, under simple random sampling: the
 * smallest delta_pop at eps_pop. The sample's profile is read at eps_sample = log(1 + N/n (e^eps_pop - 1)):
 *
 *     delta_pop = n/N max(0, 1 - e^((eps_sample - eps0)/2)).
 *
 * Needs    1 <= sample <= population, eps0 >= 0, eps_pop >= 0.
 * Gives    enclosures; `upper` is the number to publish. On failure [0, inf] and [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    settings, Theorem 4.1 on the whole profile (docs/papers.md#settings-4-1).                                 */
TAMIS_USE tamis_status tamis_amplify_srs_laplace(tamis_bound *eps_sample, tamis_bound *delta_pop, int64_t population,
                                                 int64_t sample, const tamis_number *eps0, const tamis_number *eps_pop,
                                                 tamis_error *err);

/* `count` releases from one simple random sample, release j being eps[j]-private on the sample (delta = 0): the losses
 * add up on the sample, then the sampling amplifies once.
 *
 * Needs    1 <= sample <= population, count >= 1, each eps[j] >= 0.
 * Gives    an enclosure of log(1 + n/N (e^(eps[0] + eps[1] + ...) - 1)); `upper` is the number to publish. On failure
 *          [0, inf].
 * Cost     O(count).
 * Errors   INVALID, UNABLE.
 * Paper    settings, section 5.2 (docs/papers.md#settings-5-2).                                                      */
TAMIS_USE tamis_status tamis_compose_srs(tamis_bound *eps_pop, int64_t population, int64_t sample, const tamis_number *const *eps,
                                         size_t count, tamis_error *err);

TAMIS_END

#endif
