/* What the two ways to measure a distribution function share: bins, noise that is drawn before the data is read, and what is made
 * of the noisy numbers. prefix.h has the one with zero-concentrated privacy, tree.h the one with pure epsilon. */
#ifndef TMI_MECH_QUANTILE_DISTRIBUTION_H
#define TMI_MECH_QUANTILE_DISTRIBUTION_H

#include <stdbool.h>
#include <tamis/experimental/distribution.h>

#include "mech/quantile/records.h"

/* The largest weight of a record, and of all: the entries of F are at most 2^14, so that sums stay within 2^60. The smallest of
 * 4096 entries is then 144, and rounded to a third of a percent. Weights of 16 bits leave room for 2^30 rows. */
#define TMI_BINS_WEIGHT_BITS 20
#define TMI_PREFIX_ENTRY_BITS 14
#define TMI_PREFIX_SUM_BITS 46
#define TMI_TREE_SUM_BITS 60

struct tamis_distribution {
    tmi_grid grid;
    size_t bins;
    int64_t *ends;                 /* last points of the bins */
    double bins_per_step;          /* about */
    int64_t most_weight, most_sum; /* of one record, of all: sums stay below 2^60 */
    bool weighted, prepared, measured;
    int64_t *entries; /* prefix sums: a_k */
    tamis_number *variance;
    tamis_noise *noise;
    struct tmi_bin_tree *tree;   /* NULL: prefix sums */
    size_t measures;             /* noisy numbers: one per bin, or one per node of the tree */
    int64_t *drawn;              /* the noise of the next call */
    double *plain, *smooth, *sd; /* by bin */
};

/* The bin of a grid point, and a bin's last point. */
size_t tmi_bin_of(const tamis_distribution *distribution, int64_t point);
int64_t tmi_bin_last(const tamis_distribution *distribution, size_t bin);

/* As tamis_distribution_points, from records of any kind. */
tamis_status tmi_distribution_records(tamis_distribution *distribution, const tmi_records *records, tamis_error *err);

/* As tamis_distribution_quantile, of what was measured. */
int64_t tmi_distribution_point(const tamis_distribution *distribution, double at);

/* An exact sum with its noise, as a double: what follows uses no data. */
double tmi_noisy(__int128 exact, int64_t noise);

/* The nearest list that never falls, by pooling neighbours. `lengths` has room for `count`. */
void tmi_isotonic(double *list, size_t *lengths, size_t count);

#endif
