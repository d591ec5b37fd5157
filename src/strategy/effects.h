/* Tables as sums of effects: how precisely any linear combination of their cells is known from all noisy tables together.
 *
 * An effect is a set of axes that are "on": what remains of a category axis when its constant is taken off, or one contrast of a
 * number. Noise of equal variance on the numbers of a table is independent noise on its effects, so that the best linear unbiased
 * estimate (generalised least squares over all tables) is made effect by effect: information adds up,
 *
 *     I = sum over the tables that contain the effect's axes of 1/(v prod L), L over the table's other axes,
 *
 * v being the variance of the noise of one number, and a linear combination whose part in the effect has the square q^2 has the
 * variance sum of q^2 / I. Checked against least squares on whole tables (tests/strategy/strategy.c).
 *
 * A table of the form GRAM has numbers that are contrasts already: each is about one effect of every set of its other axes.
 *
 * One place is not diagonal: the constant and the contrasts of single numbers, where numbers were measured by themselves (RAW,
 * CENTRED). There the constant is the centre of an arrowhead, each number a small matrix beside it. Where the number of rows
 * is public the constant is known, and the arrowhead falls apart.
 *
 * Tables of different weightings (how rows are weighed) or domains (which rows count) say nothing about each other. */
#ifndef TMI_STRATEGY_EFFECTS_H
#define TMI_STRATEGY_EFFECTS_H

#include <stdint.h>
#include <tamis/base.h>

#include "strategy/axis.h"

#define TMI_MAX_AXES 12 /* a table has no more axes: groupings, `where`, indicators and numbers */
#define TMI_MAX_TERMS 6 /* powers of a number y, for each of those of the number that results are calibrated to */
#define TMI_DUST 1e-9   /* a number that is smaller than this, relative to what it was computed from, is 0 but for rounding */

/* Which axes a table has, in ascending order; one of the second stage may have the axis of a number twice. RAW and CENTRED
 * have one axis, which is a number's; GRAM has those of two numbers or more, and perhaps others. Without axes it is the number of
 * rows. */
typedef struct tmi_marginal {
    size_t weighting, domain;
    size_t axes[TMI_MAX_AXES];
    size_t axis_count;
    tmi_table_form form;
    size_t statistic; /* whose standard errors a table of the second stage serves; else 0 */
} tmi_marginal;

/* Which axes of a GRAM table are its numbers: how many, and the place of one among them; SIZE_MAX: it is none of them. */
size_t tmi_gram_numbers(const tmi_axis *axes, const tmi_marginal *marginal);
size_t tmi_gram_place(const tmi_axis *axes, const tmi_marginal *marginal, size_t axis);

/* Which released number of a cell is about an effect; false: none is, nor a sum of them over cells. */
bool tmi_gram_row_of(tmi_gram_row *row, size_t *number, const tmi_axis *axes, const tmi_marginal *marginal, const uint32_t *on,
                     size_t count);

/* A linear combination of the cells of a table with these axes: a sum of terms, each a number times a product of one vector per
 * axis, which has a coefficient for every level. */
typedef struct tmi_combination {
    size_t weighting, domain;
    size_t axes[TMI_MAX_AXES];
    size_t axis_count, term_count;
    double scale[TMI_MAX_TERMS];
    const double *vectors[TMI_MAX_AXES][TMI_MAX_TERMS];
} tmi_combination;

/* The part of a combination, or of a table, in one effect. */
typedef struct tmi_part_of_effect {
    size_t effect;
    double square; /* q^2 for a combination, 1/prod L for a table */
} tmi_part_of_effect;

typedef struct tmi_part_of_block {
    size_t block;
    double c[TMI_CONTRASTS];
} tmi_part_of_block;

typedef struct tmi_parts_of_effects {
    tmi_part_of_effect *effects;
    size_t effect_count;
    size_t arrowhead; /* the one of its weighting and domain */
    double centre;
    tmi_part_of_block *blocks;
    size_t block_count;
} tmi_parts_of_effects;

/* What a table says about the contrasts of one number: its information in the arrowhead, as a small matrix. */
typedef struct tmi_block_information {
    size_t block;
    double centre, cross[TMI_CONTRASTS], own[TMI_CONTRASTS][TMI_CONTRASTS];
} tmi_block_information;

typedef struct tmi_table_information {
    tmi_part_of_effect *effects;
    size_t effect_count;
    size_t arrowhead;
    double centre; /* information about the constant, that of single numbers included */
    tmi_block_information *blocks;
    size_t block_count;
} tmi_table_information;

typedef struct tmi_effect {
    size_t arrowhead;
    uint32_t on[TMI_MAX_AXES]; /* axes that are on, as axis * TMI_LEVELS + contrast, ascending; categories have contrast 0 */
    size_t on_count;
    bool known;
    double information;
} tmi_effect;

typedef struct tmi_arrowhead_block {
    size_t axis, arrowhead, contrasts;
    bool known;
    double own[TMI_CONTRASTS][TMI_CONTRASTS], cross[TMI_CONTRASTS];
    bool whole;                                   /* the matrix has an inverse */
    double inverse[TMI_CONTRASTS][TMI_CONTRASTS]; /* the generalised inverse */
    double solved[TMI_CONTRASTS];                 /* inverse times cross */
    double gradient[TMI_CONTRASTS][TMI_CONTRASTS], cross_gradient[TMI_CONTRASTS];
} tmi_arrowhead_block;

typedef struct tmi_arrowhead {
    bool known; /* the number of rows is public */
    double centre;
    double rest; /* the information about the centre that is left when the numbers are eliminated; 0 if nothing is known */
    double gradient;
} tmi_arrowhead;

typedef struct tmi_effects {
    const tmi_axis *axes;
    size_t domains;
    tmi_effect *list;
    double *variances; /* one over the information of each effect, once it is solved; 0 for what is public */
    double *gradients; /* the derivative of the objective by each variance */
    size_t count, room, variance_room, gradient_room;
    size_t *index; /* a hash table of `slots` numbers of effects; SIZE_MAX where it is free */
    size_t slots;
    tmi_arrowhead_block *blocks;
    size_t block_count, block_room;
    tmi_arrowhead *arrowheads; /* one per weighting and domain */
    size_t arrowhead_count;
} tmi_effects;

/* Begins without effects. `known` says for each weighting and domain whether its number of rows is public. The axes are not
 * copied. Errors: SYSTEM. */
tamis_status tmi_effects_make(tmi_effects *effects, const tmi_axis *axes, size_t weightings, size_t domains, const bool *known,
                              tamis_error *err);
void tmi_effects_clear(tmi_effects *effects);

/* Gives the parts of a combination, and takes up the effects that it has a part in. Errors: SYSTEM. */
tamis_status tmi_effects_take(tmi_parts_of_effects *parts, tmi_effects *effects, const tmi_combination *combination,
                              tamis_error *err);
void tmi_parts_of_effects_clear(tmi_parts_of_effects *parts);

/* Takes up the contrasts of the numbers of a table, so that what it says about them counts. Errors: SYSTEM. */
tamis_status tmi_effects_take_marginal(tmi_effects *effects, const tmi_marginal *marginal, tamis_error *err);

/* Takes up all effects of the axes of a table: every combination on them has its parts then. Errors: SYSTEM. */
tamis_status tmi_effects_take_all(tmi_effects *effects, const tmi_marginal *marginal, tamis_error *err);

/* The parts of a combination whose effects have all been taken up. Errors: INVALID (they have not), SYSTEM. */
tamis_status tmi_effects_parts(tmi_parts_of_effects *parts, const tmi_effects *effects, const tmi_combination *combination,
                               tamis_error *err);

/* What a table says about the effects that have been taken up. Errors: SYSTEM. */
tamis_status tmi_table_information_make(tmi_table_information *information, const tmi_effects *effects,
                                        const tmi_marginal *marginal, tamis_error *err);
void tmi_table_information_clear(tmi_table_information *information);

/* Information is added up in three steps: reset, add every table with one over the variance of its noise, solve. */
void tmi_effects_reset(tmi_effects *effects);
void tmi_effects_add(tmi_effects *effects, const tmi_table_information *table, double precision);
void tmi_effects_solve(tmi_effects *effects);

/* The variance of the best estimate of a combination; infinite if the tables do not determine it. */
double tmi_effects_variance(const tmi_effects *effects, const tmi_parts_of_effects *parts);

/* Adds `weight` times the variance to an objective, and gives the derivative of all that was added by the precision of a table:
 * it is minus the result. */
void tmi_effects_add_gradient(tmi_effects *effects, const tmi_parts_of_effects *parts, double weight);
double tmi_effects_gain(const tmi_effects *effects, const tmi_table_information *table);

#endif
