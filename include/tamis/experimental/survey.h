/* Sampling designs: how a sample is drawn from a frame, with what probabilities, and what that exposes.
 *
 * A frame is the list of all units, numbered from 0. A design is a law on samples of the frame: simple random
 * sampling, unequal probabilities of many kinds, strata, clusters, stages. Each design gives the probability that a
 * unit, or a set of units, is in the sample; draws a sample with exactly that law (random bits from tamis_rng,
 * integers and certified digits, no floating point decides); on a small frame lists every sample with its
 * probability; and gives its exposure, which amplification turns into a guarantee. All parameters are exact, all results
 * are enclosures.
 *
 * A design is not changed by use: any number of threads may share it.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_SURVEY_H
#define TAMIS_EXPERIMENTAL_SURVEY_H

#include <tamis/experimental/rng.h>

TAMIS_BEGIN

typedef struct tamis_design tamis_design;

/* ---- designs ----
 *
 * Each function gives a design that the caller frees with tamis_design_free; *design is NULL on failure.
 *
 * Needs    1 <= sample <= population <= TAMIS_MAX_UNITS; probabilities in (0, 1], at most TAMIS_MAX_LISTED of them.
 *          Numbers are copied.
 * Errors   INVALID (the message names the parameter), SYSTEM (memory), UNABLE (probabilities whose common denominator
 *          is beyond 4000 bits).                                                                                     */

#define TAMIS_MAX_LISTED ((size_t)1 << 28)

/* Everybody. */
TAMIS_USE tamis_status tamis_design_census(tamis_design **design, int64_t population, tamis_error *err);

/* Simple random sampling: each set of `sample` units is equally likely. */
TAMIS_USE tamis_status tamis_design_srs(tamis_design **design, int64_t population, int64_t sample, tamis_error *err);

/* `draws` independent draws of one unit; a unit may be drawn several times. Needs 1 <= draws <= TAMIS_MAX_UNITS. */
TAMIS_USE tamis_status tamis_design_srs_with_replacement(tamis_design **design, int64_t population, int64_t draws,
                                                         tamis_error *err);

/* Each unit is drawn with the same probability, independently. */
TAMIS_USE tamis_status tamis_design_bernoulli(tamis_design **design, int64_t population, const tamis_number *rate,
                                              tamis_error *err);

/* Each unit is drawn with a probability of its own, independently. */
TAMIS_USE tamis_status tamis_design_poisson(tamis_design **design, const tamis_number *const *probabilities, size_t count,
                                            tamis_error *err);

/* Every k-th unit of the list after a random start; population / sample need not be an integer. With random_order the
 * list is shuffled first, which is simple random sampling. */
TAMIS_USE tamis_status tamis_design_systematic(tamis_design **design, int64_t population, int64_t sample, int random_order,
                                               tamis_error *err);

/* How units are drawn in one stage. The numbers are frozen. */
typedef enum tamis_method {
    TAMIS_METHOD_NONE = 0,
    TAMIS_METHOD_SRS = 1,
    TAMIS_METHOD_SRS_WITH_REPLACEMENT = 2,
    TAMIS_METHOD_BERNOULLI = 3,
    TAMIS_METHOD_POISSON = 4,
    TAMIS_METHOD_CONDITIONAL_POISSON = 5, /* the law of largest entropy with the given inclusion probabilities */
    TAMIS_METHOD_SAMPFORD = 6,            /* Sampford (1967) */
    TAMIS_METHOD_PIVOTAL = 7,             /* Deville and Tille (1998), in the order of the list */
    TAMIS_METHOD_PIVOTAL_RANDOM = 8,      /* the same in random order */
    TAMIS_METHOD_SYSTEMATIC = 9,          /* Madow (1949), in the order of the list */
    TAMIS_METHOD_SYSTEMATIC_RANDOM = 10,  /* the same in random order */
    TAMIS_METHOD_BREWER = 11,             /* Brewer (1975), draw by draw */
    TAMIS_METHOD_TILLE = 12               /* Tille (1996), elimination */
} tamis_method;

/* "srs", "sampford", ..., as plans and `tamis draw` write them; NULL for any other number. */
TAMIS_API const char *tamis_method_name(tamis_method method);

/* The method of a name. TAMIS_METHOD_NONE on failure. Errors: INVALID, REFUSED ("midzuno": nothing is proved for it). */
TAMIS_USE tamis_status tamis_method_of_name(tamis_method *method, const char *name, tamis_error *err);

/* Unequal probabilities and a fixed sample size, their sum, which must be an integer; with TAMIS_METHOD_POISSON, as
 * tamis_design_poisson. Units of probability 1 are in every sample. Needs a method from TAMIS_METHOD_POISSON on. */
TAMIS_USE tamis_status tamis_design_pps(tamis_design **design, tamis_method method, const tamis_number *const *probabilities,
                                        size_t count, tamis_error *err);

/* Independent designs side by side: the units of strata[0] come first. On success the strata belong to the new design
 * (the array itself does not); on failure they stay the caller's. */
TAMIS_USE tamis_status tamis_design_take_strata(tamis_design **design, tamis_design *const *strata, size_t count,
                                                tamis_error *err);

/* Clusters are drawn by `first`, and inside each drawn cluster c, independently, units by second[c]; the units of
 * cluster 0 come first. On success all of them belong to the new design, on failure they stay the caller's. Needs a
 * first stage without replacement, with as many units as there are second stages. A cluster design is one whose
 * second stages are censuses.                                                                                        */
TAMIS_USE tamis_status tamis_design_take_stages(tamis_design **design, tamis_design *first, tamis_design *const *second,
                                                size_t count, tamis_error *err);

/* Whole clusters by simple random sampling, of which only the smallest and the largest size are known: sizes are such that
 * privacy is least, two clusters the largest and all others the smallest; with fewer than three clusters there are twice as
 * many, at the same rate, so that all of these can be there. Needs 1 <= smallest <= largest, at most 2^20 clusters. */
TAMIS_USE tamis_status tamis_design_clusters(tamis_design **design, int64_t clusters, int64_t sample, int64_t smallest,
                                             int64_t largest, tamis_error *err);

/* A design as it is written in a request: {"srs": {"population": 6194, "sample": 200}} and so on. Where clusters differ
 * in size and only their smallest and largest size are given, the frame has two clusters of the largest size: the one that
 * loses most.
 *
 * Gives    a design that the caller frees with tamis_design_free; NULL on failure.
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                         */
TAMIS_USE tamis_status tamis_design_read(tamis_design **design, const char *json, tamis_error *err);

TAMIS_API void tamis_design_free(tamis_design *design);

TAMIS_API int64_t tamis_design_population(const tamis_design *design);

/* The size of every sample (draws, if with replacement), or -1 if it is random. */
TAMIS_API int64_t tamis_design_sample(const tamis_design *design);

/* "srs", "sampford", ...; "strata", "stages". */
TAMIS_API const char *tamis_design_name(const tamis_design *design);

/* From sizes to inclusion probabilities: sample * size / (sum of sizes), where units that would get more than 1 get 1
 * and the rest is shared again, until none is above 1. A size of 0 gives 0.
 *
 * Needs    1 <= sample <= number of positive sizes, sizes >= 0.
 * Gives    `count` new numbers that the caller frees; all NULL on failure.
 * Cost     O(count), and O(log count) for each unit that gets 1.
 * Errors   INVALID, SYSTEM, UNABLE (as above).                                                                       */
TAMIS_USE tamis_status tamis_pps_probabilities(tamis_number **probabilities, const tamis_number *const *sizes, size_t count,
                                               int64_t sample, tamis_error *err);

/* tamis_design_pps with these probabilities, without computing them one by one. With TAMIS_METHOD_POISSON `sample` is the
 * expected size.
 *
 * Needs    as above, and sizes that are not 0.                                                                       */
TAMIS_USE tamis_status tamis_design_pps_sizes(tamis_design **design, tamis_method method, const tamis_number *const *sizes,
                                              size_t count, int64_t sample, tamis_error *err);

/* ---- inclusion probabilities ---- */

/* pi[i], the probability that unit units[i] is in the sample at least once; units = NULL: units 0, ..., count-1.
 *
 * Gives    enclosures of relative width TAMIS_WIDTH; {0, 1} on failure.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_inclusion_first(tamis_bound *pi, const tamis_design *design, const int64_t *units, size_t count,
                                             tamis_error *err);

/* pij[i * count + j], the probability that units[i] and units[j] are both in the sample; pi on the diagonal.
 *
 * Needs    different units, at most TAMIS_MAX_JOINT of them.
 * Gives    enclosures of relative width TAMIS_WIDTH, exact zeros where both never meet; {0, 1} on failure.
 * Cost     O(count^2) for most designs; times the sample size, and O(population * sample) once, for conditional Poisson
 *          and Sampford. Brewer, pivotal_random and systematic_random go through the law: small frames only.
 * Errors   INVALID, SYSTEM, UNABLE (too much work; the frame is too large for the law).                              */
#define TAMIS_MAX_JOINT 2048
TAMIS_USE tamis_status tamis_inclusion_joint(tamis_bound *pij, const tamis_design *design, const int64_t *units, size_t count,
                                             tamis_error *err);

/* ---- the law ---- */

/* Every sample of positive probability, for frames of at most TAMIS_LAW_UNITS units. */
typedef struct tamis_law tamis_law;
#define TAMIS_LAW_UNITS 20

/* Needs    a design of at most TAMIS_LAW_UNITS units.
 * Gives    a law that the caller frees with tamis_law_free; NULL on failure.
 * Cost     up to 2^20 samples; memory about 200 bytes each.
 * Errors   INVALID, SYSTEM, UNABLE (pivotal_random above 10 units, systematic_random above 8; more than 2^21
 *          samples).                                                                                                 */
TAMIS_USE tamis_status tamis_law_new(tamis_law **law, const tamis_design *design, tamis_error *err);

/* A law given sample by sample: sample j has sizes[j] units, which follow those of sample j-1 in `units`.
 *
 * Needs    units from 0 to population-1, those of a sample different, no sample twice, probabilities >= 0 that sum to
 *          1.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_law_given(tamis_law **law, int64_t population, const int64_t *units, const size_t *sizes,
                                       const tamis_number *const *probabilities, size_t count, tamis_error *err);
TAMIS_API void tamis_law_free(tamis_law *law);

TAMIS_API int64_t tamis_law_population(const tamis_law *law);
TAMIS_API size_t tamis_law_count(const tamis_law *law);

/* Sample j < tamis_law_count: its units, ascending, repeated if drawn repeatedly; samples are in lexicographic order.
 * The number of units is returned. */
TAMIS_API size_t tamis_law_sample(const uint8_t **units, const tamis_law *law, size_t j);
TAMIS_API tamis_bound tamis_law_probability(const tamis_law *law, size_t j);

/* The probability as an exact number, which belongs to the law; NULL if it is not rational (conditional Poisson). */
TAMIS_API const tamis_number *tamis_law_exact(const tamis_law *law, size_t j);

/* The probability that all `count` units are in the sample: inclusion probabilities of any order.
 *
 * Errors   INVALID; {0, 1} on failure.                                                                               */
TAMIS_USE tamis_status tamis_law_inclusion(tamis_bound *p, const tamis_law *law, const int64_t *units, size_t count,
                                           tamis_error *err);

/* The Horvitz-Thompson total, the sum of x_k / pi_k over the different sampled units, when it is known that a unit is in
 * the sample, or that it is not. The second does not depend on the unit's own value, and of the first only the mean,
 * through x / pi.
 *
 * Needs    x: a value for each unit of the frame; a unit that is in some samples but not in all.
 * Gives    enclosures of relative width TAMIS_WIDTH; a mean or variance that is 0 is given to 1e-50 of the sum of |x_k| /
 *          pi_k or of its square. {-inf, inf} and {0, inf} on failure.
 * Cost     O(samples * n^2) once or twice.
 * Errors   INVALID, SYSTEM (memory), UNABLE (probabilities of conditional Poisson too close to 0 or 1).
 * Paper    ht, Result 10 (docs/papers.md#ht-10).                                                                     */
typedef struct tamis_moments {
    tamis_bound mean, variance;
} tamis_moments;
TAMIS_USE tamis_status tamis_ht_given(tamis_moments *in, tamis_moments *out, const tamis_law *law, const tamis_number *const *x,
                                      int64_t unit, tamis_error *err);

/* ---- drawing ---- */

/* A design made ready to be drawn from: tables are computed once and serve any number of draws, in any number of
 * threads (each with a generator of its own).                                                                        */
typedef struct tamis_sampler tamis_sampler;

/* Needs    a design that lives as long as the sampler; `watch` may be NULL.
 * Gives    a sampler that the caller frees with tamis_sampler_free; NULL on failure.
 * Cost     nothing for most designs; for conditional Poisson and Sampford microseconds per unit, and (variance of the size
 *          of a Poisson sample) * log(population) * 600 steps: below a second for 1000 of 100 000 units. Memory about 100
 *          bytes per unit.
 * Errors   INVALID, SYSTEM (memory, cancelled), UNABLE (probabilities so close to 0 or 1 that conditional Poisson cannot
 *          be certified).                                                                                        */
TAMIS_USE tamis_status tamis_sampler_new(tamis_sampler **sampler, const tamis_design *design, const tamis_watch *watch,
                                         tamis_error *err);
TAMIS_API void tamis_sampler_free(tamis_sampler *sampler);

/* The drawn units, ascending; a unit drawn k times appears k times. */
typedef struct tamis_drawn {
    int64_t *units;
    size_t count, room;
} tamis_drawn;

/* Draws one sample; independent of all others. `watch` may be NULL.
 *
 * Gives    a sample that the caller clears with tamis_drawn_clear; empty on failure.
 * Cost     nanoseconds per unit of the frame (of the sample: srs, systematic); tens of microseconds per
 *          unit of the sample for conditional Poisson and Sampford; Brewer: microseconds * population * sample.
 * Errors   INVALID, SYSTEM (memory, no random bits, cancelled), UNABLE.                                              */
TAMIS_USE tamis_status tamis_sampler_draw(tamis_drawn *drawn, const tamis_sampler *sampler, tamis_rng *rng,
                                          const tamis_watch *watch, tamis_error *err);

/* Wipes and frees: who was sampled may be secret. */
TAMIS_API void tamis_drawn_clear(tamis_drawn *drawn);

/* ---- exposure ---- */

/* How far two samples are apart: `exchanges` records that replace each other, and `additions` records that
 * only one of them has. Where a records of one may take the place of b of the other, both are additions, since values far from 0
 * are more apart from nothing than from each other; for a mechanism to which replacing, adding and removing a record are one step
 * each, `either` is then the number of steps: the larger of a and b. 0: the sum of the two. */
typedef struct tamis_distance {
    int64_t exchanges, additions, either;
} tamis_distance;

/* A way in which a unit can be missing from the sample: how likely it is, and how far such a sample is from a sample
 * with the unit, if the two are drawn together such that they differ little (the unit's own place counts). */
typedef struct tamis_absence {
    tamis_bound probability;
    tamis_distance distance;
    int far; /* no coupling is proved: such a sample may be anything, and hides nobody */
} tamis_absence;

/* Stages that are distinguished; a unit of a deeper design has the farthest ones in one. */
#define TAMIS_MAX_ABSENCES 3

/* What the design says about units first, ..., first+count-1. In stages a unit can be missing from a drawn cluster
 * (absences[0]), or with its cluster (absences[1]); otherwise there is one way. */
typedef struct tamis_exposure {
    int64_t first, count;
    int64_t stratum;       /* that the units are in; 0 if the design has no strata */
    tamis_bound inclusion; /* of each unit */
    tamis_absence absences[TAMIS_MAX_ABSENCES];
    size_t absence_count;
    tamis_distance removal; /* of a sample with the unit from one of a frame that lost it, both drawn together; zero if
                               such a frame is not drawn from in the same way */
    const char *theorem;    /* why that holds: "srs", "strongly_rayleigh", "within_clusters", ...; NULL if it is not proved */
    const char *reason;     /* if theorem is NULL: what is missing */
} tamis_exposure;

/* Gives    *count exposures that together cover the frame in order; the caller frees the list with tamis_free. NULL
 *          and 0 on failure.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_design_exposures(tamis_exposure **list, size_t *count, const tamis_design *design, tamis_error *err);

TAMIS_END

#endif
