/* The privacy of anonymised reports: randomized response whose senders are removed before anybody reads the reports.
 *
 * Each person flips the bits of an answer with known lie probabilities and sends the report. Epsilon depends on what an
 * attacker sees:
 *
 *     one report with its sender          the local epsilon: trust nobody
 *     what the anonymiser releases        the anonymous epsilon at a delta: trust the anonymiser
 *     the published counts                at most the anonymous epsilon; estimates from them cost nothing more
 *
 * For the collector's file of reports with ids it is the local epsilon, not the anonymous one. The pure epsilon (delta = 0) is
 * the local one for every number of reports: anonymity never improves it.
 *
 * All neighbours differ in the answer of one person; the others' answers are the worst case. Fewer reports hide a person less
 * well: delta at a fixed epsilon never falls when a report is missing, so a guarantee computed for n reports does not hold for
 * n - 1. Compute it again for the number of reports received.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_ANONYMOUS_H
#define TAMIS_EXPERIMENTAL_ANONYMOUS_H

#include <tamis/experimental/bound.h>
#include <tamis/experimental/survey.h>

TAMIS_BEGIN

/* Reports, bits of one report, and categories. */
#define TAMIS_MAX_REPORTS INT64_C(1000000000)
#define TAMIS_MAX_POSITIONS 4096
#define TAMIS_MAX_CATEGORIES 65536

/* What the anonymiser releases. */
typedef enum tamis_report_form {
    TAMIS_REPORT_COUNTS,    /* how many ones at each position; which bits were sent together is not published */
    TAMIS_REPORT_WHOLE,     /* the reports in random order, each with its bits together */
    TAMIS_REPORT_CATEGORIES /* one of `positions` categories each: the true one, or any other with the same probability */
} tamis_report_form;

/* A collection. A one is reported as zero with probability lie_one, a zero as one with probability lie_zero, each bit
 * independently. For categories lie_one is the probability of reporting any other category than the true one.
 *
 * Needs    1 <= reports <= TAMIS_MAX_REPORTS; 1 <= positions <= TAMIS_MAX_POSITIONS (categories: from 2 to
 *          TAMIS_MAX_CATEGORIES); 0 <= ones <= positions, if exactly so many 1 <= ones < positions; lie_one > 0,
 *          lie_zero > 0, lie_one + lie_zero < 1 (symmetric: 0 < lie < 1/2); categories: lie_one / (positions - 1) <
 *          1 - lie_one, and no lie_zero.                                                                             */
typedef struct tamis_reports {
    int64_t reports;
    tamis_report_form form;
    int64_t positions;                      /* bits of an answer, or categories */
    int64_t ones;                           /* an answer has at most this many ones; 0: any number */
    int exactly;                            /* nonzero: it has exactly so many, as the one-hot code of a category has exactly 1 */
    const tamis_number *lie_one, *lie_zero; /* lie_zero = NULL: as lie_one */
} tamis_reports;

/* Positions at which two answers can differ: 2 for a one-hot code, 2 m for at most m ones, 2 min(m, positions - m) for exactly m,
 * else all; 0 if the form has none (categories) or the numbers of bits and ones are not valid. */
TAMIS_API int64_t tamis_reports_differing(const tamis_reports *reports);

/* About how many whole reports of several bits look alike: reports (lie_one + lie_zero)^positions. Below TAMIS_REPORTS_ALIKE
 * anonymity adds little to them. INFINITY for all other forms, and NAN for what is not valid. */
#define TAMIS_REPORTS_ALIKE 20
TAMIS_API double tamis_reports_alike(const tamis_reports *reports);

/* The local epsilon: that of one report with its sender, and of everything computed from it. It is also the pure epsilon of the
 * anonymised reports, whatever their number.
 *
 * Gives    an enclosure; `upper` is the number to publish. On failure [0, inf].
 * Cost     O(1).
 * Errors   INVALID, SYSTEM (memory).
 * Paper    krand, section 2.1 (docs/papers.md#krand-pure).                                                           */
TAMIS_USE tamis_status tamis_anonymous_local(tamis_bound *epsilon, const tamis_reports *reports, tamis_error *err);

/* The smallest delta of the anonymised reports at epsilon, and the smallest epsilon at delta, over all answers of the others.
 *
 * Needs    0 <= epsilon <= TAMIS_MAX_LOSS; 0 <= delta <= 1.
 * Gives    an enclosure: `upper` is proved to hold and is the number to publish, `lower` is attained by two collections.
 *          One position: relatively within 0.005 for epsilon, and within 1e-9 where every composition can be examined.
 *          Several positions, whole reports, categories: the remaining gap is that between the best bound and the best
 *          attack known here (docs/collection.md). On failure [0, 1] and [0, inf].
 * Cost     one position: about half a second for 10^9 reports, less for fewer. Others: up to some seconds.
 * Errors   INVALID, SYSTEM (memory), UNABLE.
 * Paper    krand, sections 3 and 4; docs/papers.md#krand.                                                            */
TAMIS_USE tamis_status tamis_anonymous_delta(tamis_bound *delta, const tamis_reports *reports, const tamis_number *epsilon,
                                             tamis_error *err);
TAMIS_USE tamis_status tamis_anonymous_epsilon(tamis_bound *epsilon, const tamis_reports *reports, const tamis_number *delta,
                                               tamis_error *err);

/* The smallest lie probability m/2^digits, 1 <= m < 2^(digits-1), for both kinds of bits, whose anonymous guarantee is
 * certified to meet the target; and the same for a target of the local epsilon.
 *
 * Needs    2 <= digits <= 32; epsilon > 0, 0 <= delta <= 1; lie_one and lie_zero are ignored.
 * Gives    m; 0 on failure. The next smaller one could not be certified to meet the target; for one position it usually was
 *          certified to miss it.
 * Cost     about `digits` times tamis_anonymous_delta.
 * Errors   INVALID, SYSTEM (memory), UNABLE (no probability on this grid meets the target).                          */
TAMIS_USE tamis_status tamis_anonymous_lie(int64_t *m, const tamis_reports *reports, int digits, const tamis_number *epsilon,
                                           const tamis_number *delta, tamis_error *err);
TAMIS_USE tamis_status tamis_anonymous_lie_local(int64_t *m, const tamis_reports *reports, int digits,
                                                 const tamis_number *epsilon, tamis_error *err);

/* The reports of a sample: the smallest epsilon at delta for a person of the frame, if nobody outside knows who was sampled.
 * Simple random samples without replacement, of `reports` units; and Bernoulli samples, that is Poisson samples
 * with equal probabilities, for which `reports` is ignored: their size is random and is published. Other designs are refused,
 * because no theorem is known that covers them here. A person known to be sampled has only tamis_anonymous_epsilon.
 *
 * Gives    `upper` is the number to publish; `lower` is 0 except where it is proved. On failure [0, inf].
 * Cost     a few times that of tamis_anonymous_epsilon.
 * Errors   INVALID, SYSTEM (memory), UNABLE, REFUSED.
 * Paper    settings, Theorem 4.1 (docs/papers.md#settings-4-1).                                                      */
TAMIS_USE tamis_status tamis_anonymous_sample(tamis_bound *epsilon, const tamis_reports *reports, const tamis_design *design,
                                              const tamis_number *delta, tamis_error *err);

/* ---- one bit: the laws of the paper ----
 *
 * A_n(m) is the number of ones reported if m of n people have a one and all lie with probability q: the sum of a
 * Bin(m, 1-q) and a Bin(n-m, q). `ratio` is pi(s; m) = P(A_n(m) = s) / P(A_n(m+1) = s), the privacy ratio. */

/* Needs    1 <= n <= TAMIS_MAX_REPORTS, 0 <= m <= n (ratio: m < n), 0 <= s <= n, 0 < q < 1/2.
 * Gives    enclosures; [0, 1], [0, 1] and [0, inf] on failure.
 * Errors   INVALID, SYSTEM (memory), UNABLE.
 * Paper    krand, (3.2) to (3.4), 3.1.3, 3.1.4 (docs/papers.md#krand-1-1, #krand-cdf, #krand-pi).                    */
TAMIS_USE tamis_status tamis_anonymous_mass(tamis_bound *p, int64_t n, int64_t m, const tamis_number *q, int64_t s,
                                            tamis_error *err);
TAMIS_USE tamis_status tamis_anonymous_at_most(tamis_bound *p, int64_t n, int64_t m, const tamis_number *q, int64_t s,
                                               tamis_error *err);
TAMIS_USE tamis_status tamis_anonymous_ratio(tamis_bound *ratio, int64_t n, int64_t m, const tamis_number *q, int64_t s,
                                             tamis_error *err);

/* The quantile inf{s: P(A_n(m) <= s) >= alpha}.
 *
 * Needs    as above, 0 < alpha < 1.
 * Gives    the quantile; n on failure.
 * Errors   INVALID, SYSTEM (memory), UNABLE (with more than 60 people, alpha cannot be distinguished from a value of the
 *          distribution function).
 * Paper    krand, 3.1.5 (docs/papers.md#krand-quantile).                                                             */
TAMIS_USE tamis_status tamis_anonymous_quantile(int64_t *s, int64_t n, int64_t m, const tamis_number *q,
                                                const tamis_number *alpha, tamis_error *err);

/* How many of the n - 1 others have a one in the collection that maximises the privacy ratio of the result s against the
 * person's value x, 0 or 1: all of them for x = 1, none for x = 0, whatever s is. It does not say which
 * collection maximises delta. Paper krand, Claim 4.1 (docs/papers.md#krand-4-1). */
TAMIS_API int64_t tamis_anonymous_maximal(int64_t n, int x);

/* The collection that is hardest to protect at epsilon, of one bit: `ones` of the others, and the order: '-' if the results of a
 * person with a zero are more revealing than those of a person with a one, '+' the other way, 0 if delta is 0. */
typedef struct tamis_anonymous_worst {
    int64_t ones;
    char order;
} tamis_anonymous_worst;

/* As tamis_anonymous_delta for one position, e^epsilon being given as an exact number >= 1, and with `low` to `high` ones among
 * the others; worst may be NULL.
 *
 * Needs    0 <= low <= high <= reports - 1.
 * Gives    an enclosure relatively within 1e-9 where every composition can be examined: up to about 10^4 of them.
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                          */
TAMIS_USE tamis_status tamis_anonymous_bit_delta(tamis_bound *delta, tamis_anonymous_worst *worst, const tamis_reports *reports,
                                                 const tamis_number *exp_epsilon, int64_t low, int64_t high, tamis_error *err);

/* delta of a few reports in any form but counts of several positions, exactly, over all answers of the others; e^epsilon is an
 * exact number >= 1.
 *
 * Gives    an enclosure, relatively within 1e-9 or absolutely within 1e-30. On failure [0, 1].
 * Cost     grows with the number of histograms: 20 reports of 2 bits or 5 of 3 bits take some seconds.
 * Errors   INVALID, SYSTEM (memory), UNABLE (too many histograms).                                                    */
TAMIS_USE tamis_status tamis_anonymous_exact_delta(tamis_bound *delta, const tamis_reports *reports,
                                                   const tamis_number *exp_epsilon, tamis_error *err);

/* ---- bounds for any randomizer with a local epsilon ---- */

/* The clones of Feldman, McMillan and Talwar: delta at epsilon of n anonymised reports of any mechanism whose local epsilon is
 * epsilon0. Each of the others hides the person with probability 2/(1 + e^epsilon0) (2023), or e^-epsilon0 (2021).
 *
 * Needs    1 <= n <= TAMIS_MAX_REPORTS, 0 < epsilon0 <= 100, 0 <= epsilon <= TAMIS_MAX_LOSS.
 * Gives    an enclosure of the bound; `upper` is the number to publish. On failure [0, 1].
 * Errors   INVALID, SYSTEM (memory), UNABLE.                                                                          */
TAMIS_USE tamis_status tamis_clones_delta(tamis_bound *delta, int64_t n, const tamis_number *epsilon0, int year,
                                          const tamis_number *epsilon, tamis_error *err);

TAMIS_END

#endif
