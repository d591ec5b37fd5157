/* Several quantiles together.
 *
 * Ties. The methods below cut the sorted records between two of them, and records of the same value cannot be cut. So each
 * record gets a random place within its grid point: point and place make a key on a grid that is finer by a public factor, on
 * which nearly no two records are the same. The places are drawn before a record is looked at, independently of each other, so
 * data sets that differ in a unit still do: a guarantee for the keys is one for the records. A value that many records share
 * gets the measure of its point, divided among the cuts within it.
 *
 * Joint (Gillenwater, Joseph and Kulesza 2021). All m cuts at once: sorted keys o_1 <= ... <= o_m, of which the ordered tuples
 * have probability proportional to
 *
 *     m(o_1) ... m(o_m) exp(-rate sum_j |a_j - a_(j-1)|),     a_j = d L(o_j) - P_j T,  a_0 = a_(m+1) = 0,
 *
 * where L is the weight of the keys below, T that of all and P_j / d the rank of the j-th quantile. Each difference is that
 * between the weight from one cut to the next and what it should be. A record of weight w adds w (d [x in the j-th part] - D_j)
 * to them, with D_j = P_j - P_(j-1): in all 2 w (d - D_k) if it is in part k, and two records differ by at most 2 d W. So the
 * sum moves by at most
 *
 *     S = 2 d g W                  if the g records of a unit are replaced,
 *     S = 2 (d - min D_k) g W      if they are added or removed,
 *
 * whatever m is, and rate = epsilon / (2 S). With m quantiles found one by one, each would have epsilon / m.
 *
 * Splitting (Kaplan, Schnapp and Stemmer 2022). The middle quantile is found by itself, the records are split at it, and the
 * lower and upper quantiles are found in their parts in the same way. A record is in one part of each level. If units are added
 * or removed, each level may spend epsilon / levels; if they are replaced, a unit may leave one part and enter another, and
 * each of the two gets half of that. */
#ifndef TMI_MECH_QUANTILE_SEVERAL_H
#define TMI_MECH_QUANTILE_SEVERAL_H

#include "mech/quantile/quantile.h"

/* Keys run from 0 to `end` - 1 < 2^52: key = (point - low) * places + place. */
typedef struct tmi_keys {
    int64_t *keys;    /* ascending */
    int64_t *weights; /* NULL: 1 each */
    size_t count, room;
    int64_t places, end;
} tmi_keys;

#define TMI_PLACE_BITS 13 /* places within a grid point: 2^13 where the grid leaves room for them */
int64_t tmi_places(const tmi_grid *grid);

/* Draws the places, then reads the records. Errors: SYSTEM, INVALID (too many records). */
tamis_status tmi_keys_make(tmi_keys *keys, const tmi_records *records, tamis_rng *rng, tamis_error *err);

/* Its two steps: room for the keys; and, when keys->keys has a place from 0 to places - 1 for each record, the keys themselves,
 * sorted. After a failure there is nothing to clear. */
tamis_status tmi_keys_begin(tmi_keys *keys, const tmi_records *records, tamis_error *err);
tamis_status tmi_keys_read(tmi_keys *keys, const tmi_records *records, tamis_error *err);
void tmi_keys_clear(tmi_keys *keys); /* wipes */

/* What is public about m cuts. */
typedef struct tmi_joint {
    const int64_t *ranks; /* P_1 < ... < P_m, of d */
    int64_t d;
    size_t count;
    const tamis_number *rate;
    tmi_base_measure measure; /* of keys */
} tmi_joint;

/* How many terms the sums of a joint draw have, at most: a term takes two or three microseconds. `rows`: 0 if their number is not
 * known. */
double tmi_joint_terms(const tmi_grid *grid, size_t count, double epsilon, int64_t rows_per_unit, int64_t rows, bool by_log);

#define TMI_JOINT_QUANTILES 10 /* up to this many are found jointly: beyond, splitting has the smaller errors */

/* From this many on, some five seconds, AUTO splits. */
#define TMI_JOINT_TERMS 0x1p21

/* One word of bits for each choice: a gap, how many cuts are in it, and a place for each cut. */
#define TMI_JOINT_CHOICES 3

/* The keys of the cuts, in ascending order. u: TMI_JOINT_CHOICES * count uniform numbers. Errors: SYSTEM, UNABLE. */
tamis_status tmi_joint_find(int64_t *cuts, const tmi_keys *keys, const tmi_joint *joint, tmi_uniform_bits *u, tamis_rng *rng,
                            tamis_error *err);

/* The same by splitting, for a quantile of that method. */
tamis_status tmi_split_find(int64_t *cuts, tamis_quantile *q, const tmi_keys *keys, tamis_rng *rng, tamis_error *err);

/* Levels of splitting. */
size_t tmi_split_levels(size_t count);

/* The quantiles of a setup by its method, JOINT or SPLIT, from keys. Errors: SYSTEM, UNABLE. */
tamis_status tmi_find_among_keys(int64_t *points, tamis_quantile *q, const tmi_keys *keys, tamis_rng *rng, tamis_error *err);

/* The same from records. Errors: also INVALID. */
tamis_status tmi_find_several(int64_t *points, tamis_quantile *q, const tmi_records *records, tamis_rng *rng, tamis_error *err);

#endif
