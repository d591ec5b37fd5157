/* How the sampling variance of a published number is measured: one row of a table per method.
 *
 * All of them are measured alike. The engine adds up a table of secret integers T, of the cells and levels of the number's
 * statistic. The linearised variable of the number follows from the noisy tables of the estimates; a method turns it into whole
 * coefficients c, and c and T into one integer, which is released with noise. Whatever the noisy tables came out as, all integers
 * of a statistic together move by no more than TMI_ERROR_STEPS if a record is replaced: a method divides by what they could move.
 * So the law of the noise is fixed before a row is read.
 *
 *     tmi_psu_errors (standard_error.c)   S, the standard error: a seminorm of the totals of PSUs, for clusters and units of
 *                                         several rows. T has a slot for each PSU, rows weigh w.
 *     tmi_unit_squares (unit_squares.c)   the variance itself: the sum of squares a e^2, for rows that were drawn one by one
 *                                         with unequal weights. T has no slots, rows weigh a, about w^2.
 *     tmi_group_totals (group_totals.c)   the totals of groups of clusters, from which the variance of a change to a later wave
 *                                         follows: several integers of a number, from the same T as S.
 *
 * Nobody but the file of a method knows which one it is. */
#ifndef TMI_VARIANCE_METHOD_H
#define TMI_VARIANCE_METHOD_H

#include <stdbool.h>

#include "variance/group_totals.h"
#include "variance/standard_error.h"

#define TMI_ERROR_STEPS (INT64_C(1) << 20)   /* the sensitivity of all integers of a statistic together */
#define TMI_LARGEST_ERROR (INT64_C(1) << 60) /* none is larger, in steps */

/* A linearised variable e of one number, by cells and levels of the table: `terms` functions whose squares add up to e^2 or a
 * bound of it, each linear in the numbers of a row within a cell. Most have one term. Levels are those of all numbers, the last
 * one running fastest: 0, 1 and 2 for (1-t)^2, 2t(1-t) and t^2 of a number t between 0 and 1, and perhaps one more for rows
 * without a value. Where e is quadratic in a number, that is there twice, one after the other, and e is linear in each of them:
 * c0 (1-t)(1-t') + c1 (t(1-t') + t'(1-t)) + c2 tt' with c0, c1, c2 its coefficients at the three levels. */
#define TMI_ERROR_TERMS 2
#define TMI_ERROR_NUMBERS 8

typedef struct tmi_linearised {
    const double *values[TMI_ERROR_TERMS]; /* of cell 0 level 0, level 1, ... */
    size_t terms;
    size_t cells, levels;                     /* levels of all numbers together */
    size_t sizes[TMI_ERROR_NUMBERS], numbers; /* levels of each number */
    int64_t together; /* what a row adds to all numbers of the statistic, each relative to its largest coefficient, is at most
                             this in steps of 2^-TMI_TOGETHER_BITS; 0: it is in as many of them as `overlap` says */
    bool signs;       /* rows weigh what they add to a total, which may be below 0 */
} tmi_linearised;

/* Numbers whose linearised variables are 0 outside their own groups share no rows, but for `overlap`. Where something is
 * subtracted from the rows of all groups, as what calibration explains, a row moves all numbers, by little. The largest sum over
 * the numbers of |c|/max |c|, at any cell and level, is what they move by together. */
#define TMI_TOGETHER_BITS 20

/* What a record can do to the table and to the numbers that are made of it. */
typedef struct tmi_error_moves {
    int64_t moved;   /* by how much it moves the table, all integers together, if it leaves one place and enters another */
    int64_t within;  /* and if it stays in its place, or has only one */
    int64_t overlap; /* numbers of the statistic that a row is in, at most */
    int64_t touched; /* numbers and slots that it can move, before and after: each of them is rounded */
    bool single;     /* there is one number, and no other record moves */
    bool all;        /* other records move with it, in all slots */
} tmi_error_moves;

/* How the table becomes one integer. */
typedef struct tmi_error_grid {
    int64_t range;   /* what the coefficients of a row can make of it: see the file of the method */
    int64_t blocks;  /* see standard_error.h; 1: none */
    int shift;       /* totals c T are divided by 2^shift and rounded down; below 0: multiplied */
    int64_t divisor; /* what comes out is divided by it and rounded down */
} tmi_error_grid;

typedef struct tmi_error_method {
    /* what it needs */
    bool slots;  /* totals of PSUs; else of all rows together */
    int power;   /* rows weigh w to this power, and what is released is the standard error to this power */
    bool linear; /* e linear in the numbers of a row: of other ones a bound of e^2, in several terms */

    /* coefficients, and the range of what a row makes of them; all 0: nothing is known of the number. Gives the factor of what
     * comes out, to the power: the largest value of e, or more where numbers move together. */
    double (*combine)(int32_t *coefficients, int64_t *range, const tmi_linearised *e);
    double unit; /* what 1 in the coefficients is worth, relative to the largest value of e to the power */

    /* sensitivity: shift and divisor for the grid's range and blocks */
    void (*settle)(tmi_error_grid *grid, const tmi_error_moves *moves, const tmi_psu_layout *layout);
    int64_t (*spare)(const tmi_error_moves *moves, int64_t slots); /* steps that rounding takes, with so many slots */
    int64_t (*most_blocks)(const tmi_psu_layout *layout, double cv);

    /* what is released, without noise, from c T of each slot; `room` for as many integers in secret memory */
    int64_t (*value)(const tmi_int128 *totals, int64_t *room, const tmi_error_grid *grid, const tmi_psu_layout *layout);
    /* the same of a method that releases several integers of a number, one per group; NULL: it releases one */
    void (*values)(int64_t values[TMI_CHANGE_GROUPS], const tmi_int128 *totals, const tmi_slot_sign *signs,
                   const tmi_error_grid *grid, const tmi_psu_layout *layout);

    /* what a step of it is worth, in units of c T to begin with */
    double (*worth)(const tmi_error_grid *grid, const tmi_psu_layout *layout, double cv);

    /* expected: what a record moves, relative to the largest that it adds */
    double (*expected_gain)(bool single);
    double least_part; /* of the budget that may be enough for it */

    /* words */
    const char *weighed;    /* in certificates: how rows are weighed in the table */
    const char *name;       /* before the name of the statistic */
    const char *words;      /* after the words for the table, in reports */
    const char *inequality; /* why it moves so little; "whose ..., and", the rest is the same for all */
} tmi_error_method;

extern const tmi_error_method tmi_psu_errors, tmi_unit_squares, tmi_group_totals;

/* How many integers it releases of a number. */
static inline size_t tmi_integers_of(const tmi_error_method *method) { return method->values ? TMI_CHANGE_GROUPS : 1; }

/* Noise of a standard error is small enough up to this part of the number's expected error, sampling and noise together. Where it
 * is larger, PSUs are dealt to blocks. */
#define TMI_SMALL_ERROR_NOISE 0.5

/* The standard deviation of the noise of a standard error that is `sd` in one block, in as many blocks as are needed for `error`,
 * the expected error of the number, and allowed. */
double tmi_error_noise_in_blocks(double sd, double error, int64_t most_blocks);

#define TMI_LARGEST_COEFFICIENT (1 << 16) /* of c, where c T is a total */

/* `combine` of methods that release totals, or seminorms of them: c is e on a grid. */
double tmi_combine_linear(int32_t *coefficients, int64_t *range, const tmi_linearised *e);

/* What all methods share: floor(a/b) for b > 0. */
tmi_int128 tmi_error_floor(tmi_int128 a, tmi_int128 b);

#endif
