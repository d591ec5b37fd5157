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
 * Noise of the same variance on all numbers of a table makes everything diagonal in the effects of its axes: a constant, and
 * what remains (analysis of variance). The constant of an axis is in the sum over its levels, so that a table without the axis
 * says the same about it. Vectors here are orthonormal beside the constant one, which is that sum. */
#ifndef TMI_STRATEGY_AXIS_H
#define TMI_STRATEGY_AXIS_H

#include <stdbool.h>
#include <stddef.h>

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

/* How a number is measured: in a table of all its levels, or by itself as above. */
typedef enum tmi_table_form { TMI_FULL, TMI_RAW, TMI_CENTRED } tmi_table_form;

/* How many numbers a form releases of one axis, and the coefficient of a level in the one with the number `row`. */
size_t tmi_form_rows(tmi_table_form form, const tmi_axis *axis);
double tmi_form_level(tmi_table_form form, const tmi_axis *axis, size_t row, size_t level);

/* The same coefficients as integers, in steps of one over tmi_form_steps: this is what is released. */
int tmi_form_integer(tmi_table_form form, const tmi_axis *axis, size_t row, size_t level);
int tmi_form_steps(tmi_table_form form, const tmi_axis *axis);

#endif
