/* The design-based standard error of a total, from the totals of primary sampling units (PSUs), in exact integers.
 *
 * With U_i the totals of the m PSUs of a stratum, the textbook standard error of a stratified, clustered total is
 *
 *     S = sqrt( sum over strata of lambda m/(m-1) sum of (U_i - mean of U)^2 ),      lambda = 1 - m/M in one stage, else 1.
 *
 * S is a seminorm of the totals: |S(U) - S(U')| <= S(U - U'). So it has a small, exact, global sensitivity. A unit that adds z to
 * one PSU moves S by |z| sqrt(lambda) at most, and one that is replaced by another in a different PSU by
 * |z| sqrt(2 lambda m/(m-1)): about as much as it moves the total itself. tests/variance/standard_error.c compares both with all
 * neighbours of small samples.
 *
 * Slots. PSUs are added up in slots, whose number is public. Where there are fewer slots than PSUs, slot s of a stratum has b_s
 * of them, and a total is compared with b_s times the mean of a PSU:
 *
 *     lambda m^2/(m^2 - sum of b^2) * sum of (U_s - b_s T/m)^2,      T the sum of the U_s,
 *
 * which has the same expectation, and is the formula above if every b is 1.
 *
 * Blocks. The relative noise of S does not fall with the number of PSUs. If a stratum's slots are dealt to G blocks, each block
 * with an S of its own, their sum has about sqrt(G) times the size and no more noise. It estimates sqrt(G) S a little low:
 * tmi_block_factor says by how much.
 *
 * Arithmetic. Totals are integers up to TMI_LARGEST_TOTAL in size. Means are rounded to integers, the factors
 * lambda m^2/(m^2 - sum of b^2) up to steps of 2^-24 and what a stratum adds to S^2 down to steps of 2^-12; S is rounded down to
 * steps of 2^-6. What that does to S is bounded by tmi_standard_error_rounding, but for the factors, which are at most
 * 2^-24 M too large: 0.006 % with 1000 of 1001 PSUs. */
#ifndef TMI_VARIANCE_STANDARD_ERROR_H
#define TMI_VARIANCE_STANDARD_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include "base/integer.h"

#define TMI_LARGEST_TOTAL (INT64_C(1) << 44) /* its square times 2^16 slots and a factor of 2^14 stays below 2^119 */
#define TMI_MOST_SLOTS (INT64_C(1) << 16)
#define TMI_MOST_BLOCKS 64
#define TMI_FACTOR_BITS 24         /* of the factor of a stratum's squares */
#define TMI_STANDARD_ERROR_STEP 64 /* S comes in steps of 1/64 */
#define TMI_GAIN_BITS 10           /* of the gains below */

/* A stratum of the design, or several that are taken together. */
typedef struct tmi_psu_stratum {
    int64_t psus;       /* that were drawn; at least 2 */
    int64_t slots;      /* from 2 to psus */
    int64_t population; /* PSUs of which these were drawn in one stage; 0: lambda is 1 */
} tmi_psu_stratum;

typedef struct tmi_psu_layout {
    tmi_psu_stratum *strata; /* their slots follow each other */
    size_t count;
    int64_t slots; /* of all strata */
} tmi_psu_layout;

/* PSUs in slot number `slot` of a stratum: as even as can be, the larger ones first. */
static inline int64_t tmi_psus_in_slot(const tmi_psu_stratum *h, int64_t slot)
{
    return h->psus / h->slots + (slot < h->psus % h->slots ? 1 : 0);
}

/* The largest number of blocks of a layout: a power of 2. 1 where slots have several PSUs. */
int64_t tmi_most_blocks(const tmi_psu_layout *layout, double cv);

/* S in steps of 1/64; with blocks the sum of theirs. Totals beyond TMI_LARGEST_TOTAL in size count as that.
 *
 * Needs    one total per slot; blocks a power of 2, above 1 only where every slot has one PSU.                         */
int64_t tmi_standard_error(const int64_t *totals, const tmi_psu_layout *layout, int64_t blocks);

/* By how much S moves at most if one slot's total moves by 1; and if one moves by at most 1 and another, in any stratum, by at
 * most 1 too (for one block). In steps of 2^-10, rounded up. */
int64_t tmi_one_slot_gain(const tmi_psu_layout *layout, int64_t blocks);
int64_t tmi_two_slots_gain(const tmi_psu_layout *layout);

/* How far S, before it was rounded to its own steps or after, is from the exact one with the rounded factors, in steps of
 * totals. */
int64_t tmi_standard_error_rounding(const tmi_psu_layout *layout, int64_t blocks);

/* What the sum over blocks is multiplied by to estimate S, where sizes of PSUs have the coefficient of variation cv. */
double tmi_block_factor(const tmi_psu_layout *layout, int64_t blocks, double cv);

/* Slots less strata: where each PSU has a slot, PSUs less strata. */
double tmi_layout_degrees(const tmi_psu_layout *layout);

#endif
