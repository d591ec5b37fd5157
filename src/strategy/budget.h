/* How a budget is best divided over given tables.
 *
 * Each statistic is a target: its expected whole variance T is that of sampling, of the noise of its estimate, and of what an
 * interval adds because the sampling variance is estimated with noise too. What is minimised is the sum of share * log T.
 * Logarithms make a small number as important as a large one, and noise far below the sampling error is worth nothing.
 *
 * With parts x of the budget, tables have the precision (budget x)^2 / (2 D^2) under Laplace noise, D the L1 sensitivity, and 2
 * budget x / D^2 under Gaussian noise, D the L2 sensitivity. In the Gaussian case the objective is convex in x: T is a sum of
 * functions whose logarithms are convex. Then x is within a known distance of the optimum (tmi_budget_gap). At the optimum x is
 * in proportion to what the objective gains, x dF/dx, and that is also the way there: multiply by what is gained per part, to
 * some power, and scale. */
#ifndef TMI_STRATEGY_BUDGET_H
#define TMI_STRATEGY_BUDGET_H

#include "strategy/effects.h"

typedef struct tmi_strategy_target {
    double share;
    double sampling; /* the expected sampling variance */
    /* The variances of these combinations add up to that of the noise. */
    const tmi_parts_of_effects *noise;
    size_t noise_count;
    /* These give the noise of the estimated sampling variance, of which `margin` standard deviations are added. */
    const tmi_parts_of_effects *spread;
    size_t spread_count;
    double margin;
    double noise_variance, spread_variance; /* sums over both kinds of combinations, set by tmi_budget_inform */
} tmi_strategy_target;

/* A table that may be measured. */
typedef struct tmi_candidate {
    tmi_marginal marginal;
    tmi_table_information information;
    double l1, l2_squared; /* sensitivity, in units of the largest weight of a record */
    double numbers;        /* how many numbers the table has */
} tmi_candidate;

typedef struct tmi_problem {
    tmi_effects *effects;
    tmi_strategy_target *targets;
    size_t target_count;
    bool gaussian;
    double budget;   /* epsilon or rho */
    double *weights; /* room for one number per target */
} tmi_problem;

/* Tables and their parts of the budget, which add up to 1. */
typedef struct tmi_strategy {
    const tmi_candidate **tables;
    double *parts;
    size_t count;
} tmi_strategy;

/* How the tables of a weighting and domain move when a record is replaced. */
typedef struct tmi_move_bound {
    double own;    /* what it adds to a table at most, in units of the largest weight of a row */
    double others; /* how far the weights of all other records move with it, relative to that */
    bool signs;    /* whether a record adds on both sides of 0: what leaves may move a number as what enters does */
} tmi_move_bound;

/* Sensitivities of a candidate whose marginal is set: a record moves a table by what it adds, and by twice that if it can be in
 * two places or on two sides of one. */
void tmi_candidate_set_sensitivity(tmi_candidate *candidate, const tmi_axis *axes, tmi_move_bound move_bound);

double tmi_candidate_precision(const tmi_candidate *candidate, bool gaussian, double loss);

/* Adds up and solves the information of a strategy, and sets the variances of all targets, from which tmi_budget_objective
 * follows: it is infinite if some target is not determined. */
void tmi_budget_inform(tmi_problem *problem, const tmi_strategy *strategy);
double tmi_budget_objective(tmi_problem *problem, const tmi_strategy *strategy);

/* Adds up and solves the information of a strategy, and leaves the targets as they are. */
void tmi_budget_solve(tmi_problem *problem, const tmi_strategy *strategy);

/* The expected whole variance of a target, as tmi_budget_inform left it; and the variance of its noise, from the information. */
double tmi_strategy_target_variance(const tmi_strategy_target *target);
double tmi_strategy_target_noise(const tmi_problem *problem, const tmi_strategy_target *target);

/* What the objective gains by the part of each table, -x dF/dx. */
void tmi_budget_gains(tmi_problem *problem, const tmi_strategy *strategy, double *gains);

/* Improves the parts, which are above 0, in at most `rounds` rounds; `gains` has room for `count` numbers. Gives the objective.
 * *looks: how often all targets were looked at; may be NULL. */
double tmi_budget_improve(tmi_problem *problem, tmi_strategy *strategy, double *gains, int rounds, int *looks);

/* Gaussian noise: by how much the objective is above its least value over all divisions of the budget over these tables and the
 * `others`, at most. */
double tmi_budget_gap(tmi_problem *problem, const tmi_strategy *strategy, const tmi_candidate *const *others, size_t other_count);

#endif
