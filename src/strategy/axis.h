/* Axes of tables, and what a table says about the effects of its axes.
 *
 * Every record has exactly one place on every axis. On an axis of categories that is one of its levels (the last of them may
 * hold the rows that have none of the values). A number x in [from, to], t = (x - from)/(to - from), is spread over the levels
 * of a partition of unity,
 *
 *     1-t, t      or      (1-t)^2, 2t(1-t), t^2,      and one more level if it may be missing,
 *
 * all of them non-negative with sum 1. Rows, sum and sum of squares of x are linear in them. A table is a product of axes, and a
 * record adds its weight to it, spread over the levels: it moves the table by its weight in all, whatever it contains, and by
 * twice that if it is replaced. That is the sensitivity of a table of counts, and the sums come for nothing.
 *
 * A number by itself can be had for half of that, since it cannot leave its only cell. With s = t - 1/2 two records differ by
 *
 *     RAW       |change of t| + |change of t(1-t)| <= 1,
 *     CENTRED   |change of s| + |change of t(1-t)| + |change of rows|/2 <= 1,
 *
 * and so much is either from a record that adds nothing. For t + t(1-t) and t - t(1-t) both rise from 0 to 1, so that neither
 * changes by more than 1; and |s| + t(1-t) + 1/2 = 1 - (1/2 - |s|)^2. Both are convex in the weight, which may so be taken as 0
 * or the largest. RAW serves totals, CENTRED means; where the number of rows is public they are the same.
 *
 * Several numbers together can be had without most of their levels, for regression: with u = 2t - 1 a row adds to
 *
 *     GRAM      1,  u_j,  u_j u_k  for j < k,  and  u_j^2 - 1/3,
 *
 * in each cell of the other axes: sums of the contrasts of one number, (-1, 0, 1) and (1, -2, 1) over its levels, and of the
 * products of the first ones of two. They are signed, so that two records differ by little more than one is worth. With d numbers
 * and m = d + 1 let u_0 = 1, and let squares count k times as much as products. For two records u and v of weight 1, and
 * a = u + v, b = u - v, which have |a_j| + |b_j| <= 2, the products differ by (a_j b_k + a_k b_j)/2 and the squares by a_j b_j.
 * Where a_j = 1 + c_j and b_j = 1 - c_j in size, the worst there is, and Q the sum of the c_j^2, at most m:
 *
 *     Euclidean   m^2/2 + Q^2/2 - (sum of c)^2 + (k^2 - 1/2)(m - Q) <= m^2      if 1/2 <= k^2 <= (m + 1)/2,
 *     sums        (m^2 - d)/2 + k d                                             if k >= 1/2.
 *
 * The first is convex in Q, and m^2 at most at both ends; with a smaller k squares count less, so that it holds there too. In
 * the second the products add up to half of (sum of |a|)(sum of |b|) less the sum of |a b|, with a_0 = 2 and b_0 = 0, which is
 * ((m^2 - d) - (1 + sum of c_j)^2 + Q)/2, now without j = 0, and the squares to k (d - Q). A record that adds nothing is nearer
 * than that, and both are convex in the two weights. A record that leaves a cell and enters another moves each by what a row
 * adds to one. Two forms have other k: GRAM_SUMS for Laplace noise, k = 1/2, and GRAM_SQUARES for Gaussian noise, k = 21/16,
 * since noise in squares is noise in what slopes are divided by.
 * tests/strategy/gram.c looks at all records of a grid.
 *
 * Noise of the same variance on all numbers of a table makes everything diagonal in the effects of its axes: a constant, and
 * what remains (analysis of variance). The constant of an axis is in the sum over its levels, so that a table without the axis
 * says the same about it. Vectors here are orthonormal beside the constant one, which is that sum. */
#ifndef TMI_STRATEGY_AXIS_H
#define TMI_STRATEGY_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TMI_LEVELS 4                   /* a number has at most these levels: three, and one for missing values */
#define TMI_CONTRASTS (TMI_LEVELS - 1) /* dimensions of its levels beside the constant */

typedef struct tmi_axis {
    size_t levels; /* at least 2 */
    int degree;    /* 1 or 2 for a number, 0 for categories */
    bool missing;  /* the last level is that of missing values */
    bool counted;  /* the number of rows in each level is public */
} tmi_axis;

static inline size_t tmi_axis_contrasts(const tmi_axis *axis) { return axis->levels - 1; }

/* The value at a level of a number's contrast; contrasts are numbered from 0 to levels - 2. */
double tmi_axis_contrast(const tmi_axis *axis, size_t contrast, size_t level);

/* The inner product of two vectors over levels or contrasts. */
static inline double tmi_dot(const double *v, const double *w, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += v[i] * w[i];
    return sum;
}

/* How numbers are measured: in a table of all their levels, one by itself, or several by their sums of products, as above. */
typedef enum tmi_table_form { TMI_FULL, TMI_RAW, TMI_CENTRED, TMI_GRAM_SUMS, TMI_GRAM_SQUARES, TMI_TABLE_FORMS } tmi_table_form;

static inline bool tmi_is_gram(tmi_table_form form) { return form == TMI_GRAM_SUMS || form == TMI_GRAM_SQUARES; }

/* ---- a number by itself ---- */

/* How many numbers a form releases of one axis, and the coefficient of a level in the one with the number `row`. */
size_t tmi_form_rows(tmi_table_form form, const tmi_axis *axis);
double tmi_form_level(tmi_table_form form, const tmi_axis *axis, size_t row, size_t level);

/* The same coefficients as integers, in steps of one over tmi_form_steps: this is what is released. */
int tmi_form_integer(tmi_table_form form, const tmi_axis *axis, size_t row, size_t level);
int tmi_form_steps(tmi_table_form form, const tmi_axis *axis);

/* ---- products of several numbers ---- */

/* Whether an axis can be one of the numbers of GRAM: a number whose squares are measured, and that every row has. On others GRAM
 * has cells. */
static inline bool tmi_is_gram_axis(const tmi_axis *axis) { return axis->degree == 2 && !axis->missing; }

/* One released number of a cell: contrasts of none, one or two of the numbers. */
typedef struct tmi_gram_row {
    size_t numbers[2], count; /* which of them, from 0 */
    bool square;              /* the second contrast of one number */
} tmi_gram_row;

/* How many there are, of how many numbers; the one with the number `row`: 1, then the u, the squares, the products. */
static inline size_t tmi_gram_rows(size_t numbers) { return 1 + 2 * numbers + numbers * (numbers - 1) / 2; }
tmi_gram_row tmi_gram_row_at(size_t numbers, size_t row);

/* Coefficients of the levels as integers, in steps of one over tmi_gram_steps. `level` counts those of all numbers together, the
 * last number running fastest. */
int tmi_gram_steps(tmi_table_form form);
int tmi_gram_integer(tmi_table_form form, size_t numbers, size_t row, size_t level);

/* The coefficient of the contrasts of an effect, which are divided by their lengths, in its number of a cell. */
double tmi_gram_times(tmi_table_form form, const tmi_gram_row *row);

/* By how much two rows of weight 1 in one cell differ at most, and what one adds to a cell, in steps: added up, or squared and
 * added up. Twice the size is more than the change, so that a record that leaves a cell moves more than one that stays: where the
 * square of that is not so, it is raised. */
int64_t tmi_gram_change(tmi_table_form form, size_t numbers);
int64_t tmi_gram_change_squared(tmi_table_form form, size_t numbers);
int64_t tmi_gram_size(tmi_table_form form, size_t numbers);
int64_t tmi_gram_size_squared(tmi_table_form form, size_t numbers);

#endif
