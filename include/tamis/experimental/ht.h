/* The Horvitz-Thompson total under any design, as a mechanism.
 *
 * Published is the sum of x_i / pi_i over the sampled units, pi_i the inclusion probability of unit i, with or without
 * noise. Neighbours are two populations that differ in the value of one unit. Three families of functions:
 *
 *     tamis_ht_pair_...     one pair of populations, design listed sample by sample: exact;
 *     tamis_ht_values_...   every pair over a finite set of values, unit by unit, design listed: exact;
 *     tamis_ht_range_...    every pair with values in a range, any population size, nothing listed: each answer says
 *                           whether it is the smallest delta (eps) or an upper bound of it.
 *
 * Noise is on the total: continuous, or discrete. Discrete noise is `step` times an integer k, with P(k) proportional to
 * exp(-|k|/scale) or exp(-k^2/(2 scale^2)): `scale` counts steps. All x_i / pi_i must be multiples of the step, otherwise the
 * last digits of the answer would reveal the sample; tamis_ht_step gives the largest such step for a public set of values,
 * tamis_ht_range_step for the values of a public grid. For simple random samples of 0/1 values the step N/n puts the noise on
 * the sample count, as below.
 *
 * "exact" always means: an enclosure of the smallest number, of relative width TAMIS_WIDTH.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_HT_H
#define TAMIS_EXPERIMENTAL_HT_H

#include <tamis/experimental/profile.h>
#include <tamis/experimental/survey.h>

TAMIS_BEGIN

/* ---- the Horvitz-Thompson total of a 0/1 variable under simple random sampling ----
 *
 * n of N people are drawn without replacement; t of the N have the value 1. It is public that low <= t <= high, and
 * nothing else; neighbours differ in one person's value. Published is N/n times the ones in the sample, with or without
 * noise. The sampling alone makes the answer random, so it gives some privacy: these functions say how much, exactly.
 *
 * Needs (all)   1 <= sample <= population <= TAMIS_MAX_UNITS, 0 <= low < high <= population, a scale > 0 with
 *               noise and NULL without, eps >= 0, 0 <= delta <= 1.
 * Errors (all)  INVALID, SYSTEM (memory), UNABLE (the work limit; the output is then a safe bound).                    */

typedef struct tamis_ht_srs {
    int64_t population, sample; /* N and n above */
    int64_t low, high;
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
TAMIS_USE tamis_status tamis_ht_srs_delta(tamis_bound *delta, tamis_ht_worst *worst, const tamis_ht_srs *srs,
                                          const tamis_number *eps, tamis_error *err);
TAMIS_USE tamis_status tamis_ht_srs_delta_exp(tamis_bound *delta, tamis_ht_worst *worst, const tamis_ht_srs *srs,
                                              const tamis_number *exp_eps, tamis_error *err);

/* The smallest eps with delta = 0, perhaps infinite ({inf, inf}). Gaussian noise does not change it.
 *
 * Gives    an enclosure; [0, inf] on failure.
 * Cost     O(1); with Laplace noise O(sqrt n).
 * Paper    ht, Result 9 (docs/papers.md#ht-9), extended to noise.                                                      */
TAMIS_USE tamis_status tamis_ht_srs_pure(tamis_bound *eps, const tamis_ht_srs *srs, tamis_error *err);

/* The smallest eps for a given delta, perhaps 0 or infinite.
 *
 * Gives    an enclosure of relative width 1e-10; on failure one that may be wide, up to [0, inf].
 * Cost     some tens of tamis_ht_srs_delta.                                                                            */
TAMIS_USE tamis_status tamis_ht_srs_epsilon(tamis_bound *eps, const tamis_ht_srs *srs, const tamis_number *delta,
                                            tamis_error *err);

/* The smallest noise of the kind srs->noise for a target (eps, delta); srs->scale is not looked at.
 *
 * Gives    an enclosure whose upper end, used as the scale, meets the target; {0, 0} if no noise is needed, {inf, inf}
 *          if none suffices; on failure an enclosure that may be wide, up to [0, inf].
 *          More noise meets the target too, but for discrete Gaussian noise of a scale below about 1 and a large eps:
 *          there delta rises and falls with the scale, the lower end misses the target, and only the upper end is sure.
 * Cost     some tens of tamis_ht_srs_delta.                                                                            */
TAMIS_USE tamis_status tamis_ht_srs_scale(tamis_bound *scale, const tamis_ht_srs *srs, const tamis_number *eps,
                                          const tamis_number *delta, tamis_error *err);

/* ---- any design ---- */

#define TAMIS_HT_SAMPLES 65536 /* of one law; sorting and adding up exact totals takes about a second */

/* ---- one pair ---- */

typedef struct tamis_ht_pair {
    const tamis_law *law;                          /* the design, sample by sample */
    const tamis_number *const *x, *const *x_prime; /* one value per unit, different in at most one unit */
    tamis_noise_kind noise;
    const tamis_number *scale; /* NULL without noise */
    const tamis_number *step;  /* of discrete noise, otherwise NULL */
} tamis_ht_pair;

/* The smallest delta of this pair: x against x_prime, and the reverse.
 *
 * Needs    0 <= eps <= 10^6, scale > 0, step > 0.
 * Gives    enclosures; [0, 1] on failure, or after UNABLE an upper bound that holds: what the total without noise gives.
 * Cost     O(J log J) for J different totals; with Gaussian noise times the number of steps that isolate the points where
 *          the densities cross; with discrete Gaussian noise times the places where there is noise.
 * Errors   INVALID, SYSTEM (memory), UNABLE (too many samples or places, crossings that cannot be isolated,
 *          probabilities that are not rational and not known closely enough).
 * Paper    ht, Results 4 and 6 as corrected (docs/papers.md#ht-4, #ht-6).                                              */
TAMIS_USE tamis_status tamis_ht_pair_delta(tamis_bound *delta, tamis_bound *reverse, const tamis_ht_pair *pair,
                                           const tamis_number *eps, tamis_error *err);

/* The smallest eps with delta = 0 for x against x_prime, perhaps infinite ({inf, inf}). With Gaussian noise it is infinite
 * unless the smallest and the largest of all totals are possible under x_prime; where the largest ratio of the two laws is at one
 * of those totals, as with simple random samples, the noise does not change it.
 *
 * Gives    an enclosure; [0, inf] on failure.
 * Errors   as above.
 * Paper    ht, Results 5 and 6 as corrected (docs/papers.md#ht-5, #ht-6), extended to the other noises. */
TAMIS_USE tamis_status tamis_ht_pair_pure(tamis_bound *eps, const tamis_ht_pair *pair, tamis_error *err);

/* The smallest eps for a given delta, x against x_prime, perhaps 0 or infinite.
 *
 * Gives    an enclosure (of relative width 1e-10 with noise); [0, inf] on failure.
 * Cost     without noise O(J log J), otherwise some tens of tamis_ht_pair_delta.
 * Errors   as above; INVALID unless 0 <= delta <= 1.                                                                  */
TAMIS_USE tamis_status tamis_ht_pair_epsilon(tamis_bound *eps, const tamis_ht_pair *pair, const tamis_number *delta,
                                             tamis_error *err);

/* The largest step of which v / pi_i is a multiple for every unit i and every value v: public, if the values are.
 *
 * Gives    a new number that the caller frees; NULL on failure.
 * Errors   INVALID (also if all values are 0, which have no step), SYSTEM.                                            */
TAMIS_USE tamis_status tamis_ht_step(tamis_number **step, const tamis_law *law, const tamis_number *const *values, size_t count,
                                     tamis_error *err);

/* ---- too many values for a pure eps ---- */

/* Whether the number of values that a unit may have excludes every pure eps of the total without noise, whatever the
 * values are: it does if, the others' values being what they may, more values are left to the unit than there are samples
 * without it; with infinitely many values always. With noise it says nothing.
 *
 * Needs    a unit of the frame; `values` >= 1, those that are possible while the others keep theirs (a known window of the
 *          total makes them fewer), or NULL: infinitely many.
 * Gives    the answer; `excluded` on failure.
 * Cost     that of tamis_law_new on a frame of at most TAMIS_LAW_UNITS units, else O(1).
 * Errors   INVALID, SYSTEM (memory).
 * Paper    ht, Results 2 and 3 as corrected (docs/papers.md#ht-2b, #ht-3).                                             */
typedef struct tamis_ht_exclusion {
    int excluded;       /* nonzero: no pure eps exists; 0 leaves it open */
    int64_t samples;    /* without the unit, counted as sets; -1 if they were not listed, then 2^(N-1) stands for them */
    const char *reason; /* in words */
} tamis_ht_exclusion;
TAMIS_USE tamis_status tamis_ht_excluded(tamis_ht_exclusion *exclusion, const tamis_design *design, int64_t unit,
                                         const tamis_number *values, tamis_error *err);

/* ---- every pair over a finite set of values, unit by unit ----
 *
 * All populations whose values are among `values` are possible, or only those whose sum lies in a window. For each unit the
 * worst pair of neighbours that differ in that unit, in the worse order, is found by trying them all; units that the
 * design does not tell apart are tried once.                                                                          */

#define TAMIS_HT_VALUES 64

typedef struct tamis_ht_values {
    const tamis_law *law;
    const tamis_number *const *values; /* no two equal */
    size_t count;                      /* 1 to TAMIS_HT_VALUES */
    const tamis_number *low, *high;    /* it is public that the sum of all values is between; NULL: nothing is known */
    tamis_noise_kind noise;
    const tamis_number *scale; /* NULL without noise */
    const tamis_number *step;  /* of discrete noise, otherwise NULL */
} tamis_ht_values;

/* One unit: the smallest delta (eps), and a pair that attains it up to ties within 1e-12: x against x', where x' has another
 * value in this unit alone. Values are given by their number. If every pair gives 0, x_prime is x[unit]. */
typedef struct tamis_ht_unit {
    tamis_bound value;
    uint8_t x[TAMIS_LAW_UNITS], x_prime;
} tamis_ht_unit;

/* The smallest delta at eps, the smallest eps with delta = 0, and the smallest eps at delta, for each unit; for the whole
 * design take the largest.
 *
 * Needs    room for as many units as the law has; 0 <= eps <= 10^6, 0 <= delta <= 1.
 * Gives    units[i], exact. On failure [0, 1] or [0, inf]; after UNABLE for too much work an upper bound that holds for
 *          every design: p times the delta of the noise for the largest change of the unit (its eps, for eps).
 * Cost     (populations up to exchangeable units) * (pairs of values) * (samples): at most some millions, about ten
 *          seconds; with Gaussian noise at most 20 000 pairs.
 * Errors   INVALID, SYSTEM, UNABLE.
 * Paper    ht, the definitions, and Results 1 to 6 as corrected (docs/papers.md#ht-def).                              */
TAMIS_USE tamis_status tamis_ht_values_delta(tamis_ht_unit *units, const tamis_ht_values *values, const tamis_number *eps,
                                             tamis_error *err);
TAMIS_USE tamis_status tamis_ht_values_pure(tamis_ht_unit *units, const tamis_ht_values *values, tamis_error *err);
TAMIS_USE tamis_status tamis_ht_values_epsilon(tamis_ht_unit *units, const tamis_ht_values *values, const tamis_number *delta,
                                               tamis_error *err);

/* ---- every pair with values in a range ----
 *
 * All populations with values between `from` and `to` are possible, or only those whose values are multiples of a `grid`; and
 * nothing is listed: any number of units. With p the inclusion probability of a unit and W the noise, these facts are used
 * (proofs in src/ht/range_part.c):
 *
 *   "independent"   Poisson, Bernoulli, census: the worst pair is (1-p) W + p (W + to/p) against (1-p) W + p (W + from/p),
 *                   the others silent (value 0, or all sampled). Exact if 0 is in the range; otherwise an upper bound.
 *   "exchange"      samples with and without the unit can be drawn together, a known number of exchanged records apart.
 *                   An upper bound; exact for simple random samples, systematic samples of one unit and the units of
 *                   smallest p in conditional Poisson, Sampford and pivotal samples with from = 0.
 *   "any_design"    p times the delta of the noise alone for a shift of (to - from)/p: an upper bound for every design.
 *   "srs_window"    0/1 values, the number of ones in the stratum is public up to a window: as tamis_ht_srs_..., exact.
 *
 * Values in a range: by these facts the ends of the range, or of the grid in it, are the worst values, for every noise offered
 * here. With discrete noise that needs totals which are all multiples of its step, those of the values between as well. So
 * discrete noise needs the grid; from 0 to 1 without a grid the values are 0 and 1.
 *
 * Strata are judged one by one, each with the whole noise: the other strata are an independent summand, which cannot help
 * an attacker and does not hinder one either if it can be constant. It can, unless the design inside has a random or unequal
 * weight and 0 is not in the range, or a window forbids a constant stratum: then the answer is an upper bound.       */

typedef struct tamis_ht_range {
    const tamis_design *design;
    const tamis_number *from, *to; /* every value lies between, from < to */
    const tamis_number *grid;      /* and is a multiple of it; NULL: any number between */
    const int64_t *low, *high;     /* NULL, or for 0/1 values: of each stratum, between which the number of ones lies */
    tamis_noise_kind noise;
    const tamis_number *scale; /* NULL without noise */
    const tamis_number *step;  /* of discrete noise, otherwise NULL; grid/p is a multiple of it for every p */
} tamis_ht_range;

/* What holds in one stratum; a design without strata is one. */
typedef struct tamis_ht_part {
    int64_t first, count; /* its units */
    int64_t unit;         /* the worst one, or one of them */
    tamis_bound value;    /* holds the smallest delta (eps); `upper` is proved, and the number to publish */
    int exact;            /* 1: value is narrow (1e-9); 0: only its ends are known, and upper is a bound */
    const char *theorem;  /* of upper: one of the words above */
} tamis_ht_part;

/* The smallest delta at eps, the smallest eps with delta = 0, and the smallest eps at delta, stratum by stratum; for the
 * whole design take the largest.
 *
 * Needs    from < to, at least two multiples of the grid between them; a grid if the noise is discrete, unless from = 0 and
 *          to = 1; 0 <= eps <= 10^6, 0 <= delta <= 1; with windows from = 0, to = 1, 0 <= low <= high <= units of the stratum.
 * Gives    *count parts that cover the frame in order; the caller frees the list with tamis_free. NULL and 0 on failure,
 *          but after UNABLE in some stratum all parts, with a bound that holds in that one.
 * Cost     microseconds (Gaussian: about a millisecond) for each stratum, and for each of some tens of different
 *          inclusion probabilities in it; eps at delta some tens of times as much.
 * Errors   INVALID, SYSTEM, UNABLE.
 * Paper    ht, Result 1 (docs/papers.md#ht-1, #ht-range).                                                             */
TAMIS_USE tamis_status tamis_ht_range_delta(tamis_ht_part **parts, size_t *count, const tamis_ht_range *range,
                                            const tamis_number *eps, tamis_error *err);
TAMIS_USE tamis_status tamis_ht_range_pure(tamis_ht_part **parts, size_t *count, const tamis_ht_range *range, tamis_error *err);
TAMIS_USE tamis_status tamis_ht_range_epsilon(tamis_ht_part **parts, size_t *count, const tamis_ht_range *range,
                                              const tamis_number *delta, tamis_error *err);

/* The smallest noise of the kind range->noise for which the proved bound meets a target (eps, delta); range->scale is not
 * looked at. Whether any noise is needed is decided exactly: it is not if delta is at least every inclusion probability.
 *
 * Gives    an enclosure whose upper end, used as the scale, meets the target; {0, 0} if no noise is needed, {inf, inf} if
 *          none suffices; [0, inf] on failure.
 *          Discrete Gaussian noise of a scale below about 1: see tamis_ht_srs_scale.
 * Cost     some tens of tamis_ht_range_delta.
 * Errors   as above; UNABLE also for discrete Gaussian noise of more than about 100 steps, whose search would take minutes. */
TAMIS_USE tamis_status tamis_ht_range_scale(tamis_bound *scale, const tamis_ht_range *range, const tamis_number *eps,
                                            const tamis_number *delta, tamis_error *err);

/* The largest step of discrete noise: that of which v/p is a multiple for every value v and every unit. Noise, scale and step of
 * the range are not looked at.
 *
 * Gives    a new number that the caller frees; NULL on failure.
 * Errors   INVALID (among others: no grid, so that there is no such step), SYSTEM, UNABLE (a step so small that it cannot be
 *          written).                                                                                                  */
TAMIS_USE tamis_status tamis_ht_range_step(tamis_number **step, const tamis_ht_range *range, tamis_error *err);

TAMIS_END

#endif
