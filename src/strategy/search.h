/* Which tables are measured.
 *
 * Every combination that a target asks for has a needed marginal, the axes that it needs. A needed marginal can be read from
 * its own table or from any larger one, at the price of adding up noise; and a table that serves several targets costs its
 * part of the budget only once. Under Gaussian noise a few tables too many cost little, and the best division of the budget
 * over all needed marginals is found at once. Under Laplace noise the problem is not convex: the search starts from every
 * needed marginal, from the largest ones and from some of them joined, and changes what helps, table by table, until nothing
 * does or the work is done. The work is counted, not timed, so that the result is the same on every machine. Nothing else
 * depends on how it was found. */
#ifndef TMI_STRATEGY_SEARCH_H
#define TMI_STRATEGY_SEARCH_H

#include "base/watch.h"
#include "strategy/budget.h"

typedef struct tmi_search {
    tmi_problem problem;
    const tmi_move_bound *move_bounds; /* one per weighting and domain, as arrowheads are numbered */
    const tmi_marginal *grams; /* tables of products of several numbers that may be measured; their form follows from the noise */
    size_t gram_count;
    const double *copies; /* one per weighting: how often a table is measured, once per stratum that is apart */
    double most_numbers;  /* that all tables together may have */
    tmi_watch *watch;     /* may be NULL */
} tmi_search;

typedef struct tmi_found_tables {
    tmi_candidate **pool; /* all candidates that were looked at */
    size_t pool_count, pool_room;
    size_t *index; /* a hash table of `slots` places in the pool; SIZE_MAX where it is free */
    size_t slots;
    tmi_strategy best;
    double objective;
    double work; /* parts of effects that were looked at */
    double gap;  /* under Gaussian noise the objective is at most this above the least over all candidates; else NaN */
} tmi_found_tables;

/* Finds tables and their parts of the budget. `needed` has the axes of all combinations that the targets ask for, each once.
 *
 * Errors   INVALID (the needed marginals have more numbers than allowed), SYSTEM; nothing is found then. */
tamis_status tmi_search_run(tmi_found_tables *found, tmi_search *search, const tmi_marginal *needed, size_t needed_count,
                            tamis_error *err);
void tmi_found_tables_clear(tmi_found_tables *found);

/* Goes on from what was found, after the shares of targets have changed. Errors: SYSTEM; what was found must be cleared
 * anyhow. */
tamis_status tmi_search_resume(tmi_found_tables *found, tmi_search *search, const tmi_marginal *needed, size_t needed_count,
                               tamis_error *err);

/* Gives this much of the budget, above 0 and at most 1, to other tables, at most as many as there are needed marginals, with
 * parts that add up to 1; what was found keeps the rest. Not if that has too many numbers or tables. Errors: SYSTEM. */
tamis_status tmi_search_put(bool *put, tmi_found_tables *found, tmi_search *search, const tmi_marginal *marginals,
                            const double *parts, size_t count, double much, tamis_error *err);

#endif
