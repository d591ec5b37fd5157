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

#define TMI_MAX_AXES 12 /* of a table: groupings, `where`, an indicator and two numbers */
#define TMI_MAX_TERMS 3
#define TMI_DUST 1e-9 /* of a number beside those that it was computed from: it is 0 but for rounding */

/* Which axes a table has, in ascending order. Another form than FULL has one axis, which is a number's. Without axes it is the
 * number of rows. */
typedef struct tmi_marginal {
    size_t weighting, domain;
    size_t axes[TMI_MAX_AXES];
    size_t axis_count;
    tmi_table_form form;
    size_t statistic; /* STANDARD_ERRORS: whose; else 0 */
} tmi_marginal;

/* A linear combination of the cells of a table with these axes: a sum of terms, each a number times a product of one vector per
 * axis, which has a coefficient for every level. */
typedef struct tmi_combination {
    size_t weighting, domain;
    size_t axes[TMI_MAX_AXES];
    size_t axis_count, term_count;
    double scale[TMI_MAX_TERMS];
    const double *vectors[TMI_MAX_AXES][TMI_MAX_TERMS];
} tmi_combination;

/* Part of a combination or of a table in an effect. */
typedef struct tmi_part_of_effect {
    size_t effect;
    double square; /* of a combination: q^2; of a table: 1/prod L */
} tmi_part_of_effect;

typedef struct tmi_part_of_block {
    size_t block;
    double c[TMI_CONTRASTS];
} tmi_part_of_block;

typedef struct tmi_parts_of_effects {
    tmi_part_of_effect *effects;
    size_t effect_count;
    size_t arrowhead; /* of its weighting and domain */
    double centre;
    tmi_part_of_block *blocks;
    size_t block_count;
} tmi_parts_of_effects;

/* What a table says about the effects: of single numbers, information about the arrowhead as small matrices. */
typedef struct tmi_block_information {
    size_t block;
    double centre, cross[TMI_CONTRASTS], own[TMI_CONTRASTS][TMI_CONTRASTS];
} tmi_block_information;

typedef struct tmi_table_information {
    tmi_part_of_effect *effects;
    size_t effect_count;
    size_t arrowhead;
    double centre; /* all of it, that of single numbers included */
    tmi_block_information *blocks;
    size_t block_count;
} tmi_table_information;

typedef struct tmi_effect {
    size_t arrowhead;
    uint32_t on[TMI_MAX_AXES]; /* axis * TMI_LEVELS + contrast, ascending; contrast 0 of a category axis is all that remains */
    size_t on_count;
    bool known;
    double information;
} tmi_effect;

typedef struct tmi_arrowhead_block {
    size_t axis, arrowhead, contrasts;
    bool known;
    double own[TMI_CONTRASTS][TMI_CONTRASTS], cross[TMI_CONTRASTS];
    bool whole;                                   /* there is an inverse */
    double inverse[TMI_CONTRASTS][TMI_CONTRASTS]; /* generalised */
    double solved[TMI_CONTRASTS];                 /* inverse times cross */
    double gradient[TMI_CONTRASTS][TMI_CONTRASTS], cross_gradient[TMI_CONTRASTS];
} tmi_arrowhead_block;

typedef struct tmi_arrowhead {
    bool known; /* the number of rows is public */
    double centre;
    double rest; /* of the centre, when the leaves are eliminated; 0: nothing is known */
    double gradient;
} tmi_arrowhead;

typedef struct tmi_effects {
    const tmi_axis *axes;
    size_t domains;
    tmi_effect *list;
    double *variances; /* one over the information of each, when it is solved; 0: known */
    double *gradients; /* of the objective at each variance */
    size_t count, room, variance_room, gradient_room;
    size_t *index; /* hash table of `slots` numbers, SIZE_MAX: free */
    size_t slots;
    tmi_arrowhead_block *blocks;
    size_t block_count, block_room;
    tmi_arrowhead *arrowheads; /* weightings times domains */
    size_t arrowhead_count;
} tmi_effects;

/* `known`: for each weighting and domain whether its number of rows is public. The axes are not copied. Errors: SYSTEM. */
tamis_status tmi_effects_make(tmi_effects *effects, const tmi_axis *axes, size_t weightings, size_t domains, const bool *known,
                              tamis_error *err);
void tmi_effects_clear(tmi_effects *effects);

/* The parts of a combination; its effects are taken up. Errors: SYSTEM. */
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

/* From no information: reset, add every table with one over the variance of its noise, solve. */
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
