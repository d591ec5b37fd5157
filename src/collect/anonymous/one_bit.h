/* One anonymised bit: the largest delta over all that the others may have answered.
 *
 * With `ones` ones and N - ones zeros among the N others there is a pair of laws (collect/anonymous/shift.h), in two orders.
 * Which number of ones is worst follows no simple rule: mostly all or none, at small eps often an interior one, and lattice
 * effects decide between neighbours. But one more report of a known answer is post-processing of the count, so
 *
 *     delta(a ones, b zeros) falls in a and falls in b,
 *
 * and delta(a1, N - a2) bounds all compositions with a1 to a2 ones. A block is a range of a with this bound; blocks are halved,
 * the worst first, until the largest bound meets the largest delta that some composition has, or until the work limit.
 * A block of one composition is exact. */
#ifndef TMI_COLLECT_ANONYMOUS_ONE_BIT_H
#define TMI_COLLECT_ANONYMOUS_ONE_BIT_H

#include <tamis/experimental/anonymous.h>

#include "collect/anonymous/shift.h"

typedef struct tmi_one_bit {
    int64_t others, low, high; /* low <= ones among the others <= high */
    tamis_number *lie_one, *tell_one, *lie_zero, *tell_zero;
    int orders; /* 1 if the orders mirror each other and all compositions are possible */
} tmi_one_bit;

/* From flips that were checked; all compositions. Clear it in any case. */
tamis_status tmi_one_bit_init(tmi_one_bit *bit, int64_t reports, const tamis_number *lie_one, const tamis_number *lie_zero,
                              tamis_error *err);
void tmi_one_bit_window(tmi_one_bit *bit, int64_t low, int64_t high);
void tmi_one_bit_clear(tmi_one_bit *bit);

/* The pair with a ones and b zeros among the others; order 0: '+', a person with a one against one with a zero; 1: '-'. */
tmi_shift tmi_one_bit_pair(const tmi_one_bit *bit, int64_t a, int64_t b, int order);

/* log of the largest ratio in the order: more/less. */
tamis_bound tmi_one_bit_local(const tmi_one_bit *bit, int order);

/* Relative width at which a search ends, and how many pairs it may look at. A search for delta with a goal ends as soon as it is
 * known on which side of it delta is; 0: none. */
typedef struct tmi_effort {
    double width;
    int64_t pairs;
    double goal;
} tmi_effort;

#define TMI_EFFORT_EXACT ((tmi_effort){1e-10, 12000, 0}) /* some seconds */
#define TMI_EFFORT_QUICK ((tmi_effort){1e-3, 400, 0})    /* about a quarter of a second */

/* An enclosure of the largest delta; {0, 1} on failure. worst may be NULL. */
tamis_status tmi_one_bit_delta(tamis_bound *delta, tamis_anonymous_worst *worst, const tmi_one_bit *bit, const tmi_loss_at *at,
                               tmi_effort effort, tamis_error *err);

/* An enclosure of the smallest eps at delta; {0, inf} on failure. UNABLE if the effort does not suffice for its width. */
tamis_status tmi_one_bit_epsilon(tamis_bound *eps, const tmi_one_bit *bit, const tamis_number *delta, tmi_effort effort,
                                 tamis_error *err);

#endif
