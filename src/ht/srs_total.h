/* One total t in long double, with a proved error: the law of Y_t (column), the noise (row), and what they make together;
 * for mech/ alone. Fast where balls are slow: a total costs O(sqrt n) multiplications.
 *
 * Every sum below has positive terms only, P_t(y) times a value of the noise. If all masses are right up to a factor
 * 1 +- a and all values of the noise up to 1 +- b, and J of them are added in any order with unit roundoff u, then the sum
 * is right up to a factor 1 +- (a + b + 2 J u) as long as that is below 0.01, and what was left out adds at most `rest`
 * times the largest value, plus the largest value left out. A tmi_ht_range is the interval that comes out; differences
 * are taken only between such intervals.                                                                             */
#ifndef TMI_HT_SRS_TOTAL_H
#define TMI_HT_SRS_TOTAL_H

#include "ht/srs.h"

typedef struct tmi_ht_range {
    long double lower, upper;
} tmi_ht_range;

/* ---- the law of the ones in the sample ---- */

/* For y = first .. first + count - 1, each up to a factor 1 +- error: */
typedef struct tmi_ht_column {
    int64_t t, first;
    size_t count, room;
    double *mass;            /* P_t(y) */
    double *lost;            /* P_t(y) (n-y)/(N-t), what moves to y+1 when one more person has the value */
    double *lost_twice;      /* lost (n-1-y)/(N-1-t) */
    double *sum;             /* P_t(first) + ... + P_t(y) */
    long double error, rest; /* rest: at least the mass outside */
} tmi_ht_column;

/* Masses below `negligible` times the largest are left out. The column is {0} or an earlier one, whose room is used. */
tamis_status tmi_ht_column_set(tmi_ht_column *c, int64_t N, int64_t n, int64_t t, double negligible, tamis_error *err);

/* Makes room for this many numbers; false if there is no memory. */
bool tmi_ht_enlarge(double **array, size_t room);
void tmi_ht_column_clear(tmi_ht_column *c);

/* ---- the noise ---- */

/* G(v), G(v) - G(v-1) and the density (or the mass) at v = first + i + offset, i < count. */
typedef struct tmi_ht_row {
    double offset;
    int64_t first;
    size_t count, room;
    double *cdf, *step, *density;
    uint64_t used;
} tmi_ht_row;

#define TMI_HT_ROWS 24

typedef struct tmi_ht_rows {
    const tmi_ht_srs *s;
    tmi_ht_noise law; /* of the discrete Gaussian */
    double scale;
    bool is_narrow;               /* values of continuous or Laplace noise all come from balls */
    int64_t reach;                /* beyond it G < tail or G > 1 - tail, steps < tail, densities < thin */
    long double tail, thin, peak; /* peak: at least the largest density */
    long double error;            /* relative, of every value */
    tmi_ht_row row[TMI_HT_ROWS];
    uint64_t clock;
} tmi_ht_rows;

/* Scales beyond this one are left to balls: the reach stays below 2^51, so that z keeps its fraction in a double. */
#define TMI_HT_SCALE_MAX 0x1p40

/* UNABLE if the scale is too large. The tails beyond the reach are below `negligible`. */
tamis_status tmi_ht_rows_set(tmi_ht_rows *r, const tmi_ht_srs *s, double negligible, tamis_error *err);
void tmi_ht_rows_clear(tmi_ht_rows *r);

/* A row with this offset, 0 <= offset < 1, that holds at least low..high, as far as the reach goes; it is valid until the
 * next call. */
tamis_status tmi_ht_row_get(const tmi_ht_row **row, tmi_ht_rows *r, double offset, int64_t low, int64_t high, tamis_error *err);

/* ---- both ---- */

typedef struct tmi_ht_factors {
    tmi_ht_range E, excess; /* e^eps, e^eps - 1 */
} tmi_ht_factors;

/* At z (an integer on a lattice): `density` is the density of Y_t + W, or its mass; `slope` that of t less e^eps times
 * that of t+1, which is g'(t; z), or g(t; z) - g(t; z-1). */
typedef struct tmi_ht_slope {
    tmi_ht_range density, slope;
} tmi_ht_slope;

tamis_status tmi_ht_slope_at(tmi_ht_slope *x, const tmi_ht_column *c, tmi_ht_rows *r, const tmi_ht_factors *e, double z,
                             tamis_error *err);

/* At z: F_t(z), f h_t(z), g(t; z), and g(t+1; z) - g(t; z). */
typedef struct tmi_ht_value {
    tmi_ht_range cdf, moved, gain, rise;
} tmi_ht_value;

tamis_status tmi_ht_value_at(tmi_ht_value *x, const tmi_ht_column *c, tmi_ht_rows *r, const tmi_ht_factors *e, double z,
                             tamis_error *err);

/* ---- one total ---- */

/* g(t; .) rises up to `low` and falls from `top` on (on a lattice: from top to top + 1 and on). If `open`, it is not known
 * to rise up to low, but there F_t <= `under`, and so g. */
typedef struct tmi_ht_total {
    tmi_ht_column column;
    double low, top, guess; /* the guess: where between them */
    bool open;
    long double under;
    tmi_ht_range delta; /* sup g(t; .) */
    tmi_ht_range cdf_top, density_top;
} tmi_ht_total;

typedef struct tmi_ht_aim {
    double guess;        /* of the crossing: a multiple of the grain */
    double grain;        /* top - low is about this: a power of 2, 1 on a lattice */
    double step, stride; /* the first and the longest step away from the guess, multiples of the grain */
    double floor;        /* where F_t is below this the crossing need not be looked for */
    double negligible;
} tmi_ht_aim;

/* sup g(t; .) and where it is; UNABLE if no sign could be determined. */
tamis_status tmi_ht_total_set(tmi_ht_total *x, tmi_ht_rows *r, const tmi_ht_factors *e, int64_t t, tmi_ht_aim aim,
                              tamis_error *err);
void tmi_ht_total_clear(tmi_ht_total *x);

#endif
