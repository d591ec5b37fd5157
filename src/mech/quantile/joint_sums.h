/* The sums behind tmi_joint_find: how much probability the cuts have up to each gap. */
#ifndef TMI_MECH_QUANTILE_JOINT_SUMS_H
#define TMI_MECH_QUANTILE_JOINT_SUMS_H

#include "mech/quantile/several.h"

/* The keys between two records, all with the same weight below. */
typedef struct tmi_gap {
    int64_t first, count; /* keys, at least one */
    int64_t below;        /* weight */
} tmi_gap;

/* Cut j (from 0) may be in the gaps low[j] ... high[j]: further away its error would be beyond `reach`. */
typedef struct tmi_joint_sums {
    const tmi_joint *joint;
    tmi_gap *gaps;
    size_t gap_count;
    int64_t total;
    tmi_int128 reach;
    size_t *low, *high, *at; /* at[j]: where cut j's sums begin in the lists */
    long bits;
    tmi_decays *down, *up;      /* exp(-rate n), exp(rate n) */
    tmi_ball *measures;         /* of each gap that some cut may be in; 0 of the others */
    tmi_ball *reached;          /* cut j is the first one in its gap: all ways to get there */
    tmi_ball *ended;            /* cut j is the last one in its gap, with the gap's measure */
    tmi_ball *rising, *falling; /* sums of `ended` times exp(rate a) and exp(-rate a) up to a gap */
    tmi_ball all, beyond;       /* of all tuples within reach; bound of the others */
} tmi_joint_sums;

tmi_int128 tmi_joint_error(const tmi_joint_sums *s, size_t j, size_t gap); /* a_j */

/* The gaps of all keys; Errors: SYSTEM. */
tamis_status tmi_joint_gaps(tmi_joint_sums *s, const tmi_keys *keys, tamis_error *err);

/* All sums with this many bits for errors up to `reach`. SYSTEM. */
tamis_status tmi_joint_sum(tmi_joint_sums *s, tmi_int128 reach, long bits, tamis_error *err);
void tmi_joint_sums_clear(tmi_joint_sums *s); /* all but the gaps */

/* exp(-rate |a - b|) */
void tmi_joint_step(tmi_ball *z, const tmi_joint_sums *s, tmi_int128 a, tmi_int128 b);

/* The measure of a gap to the power r, divided by r!, times the steps between its cuts j-r+1 ... j. */
void tmi_joint_repeat(tmi_ball *z, const tmi_joint_sums *s, size_t gap, size_t j, size_t r);

#endif
