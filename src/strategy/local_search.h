/* The state of a search: the tables that it would measure now, a trial, and how much work is done. */
#ifndef TMI_STRATEGY_LOCAL_SEARCH_H
#define TMI_STRATEGY_LOCAL_SEARCH_H

#include "strategy/search.h"

typedef struct tmi_local_search {
    tmi_search *search;
    tmi_found_tables *found;
    const tmi_marginal *needed;
    size_t needed_count;
    bool *is_largest; /* for each needed marginal, whether it is within no other one; NULL before somebody asks */
    tmi_strategy now, trial;
    double *gains;
    size_t room;     /* for this many tables of a strategy */
    double shares;   /* the sum of the shares of all targets */
    double per_look; /* work of one look at all targets: the parts of effects that they have */
    double most;     /* work after which the search ends */
} tmi_local_search;

/* Begins from `found`, which is empty or what was found before. Errors: SYSTEM; the search must be cleared even then. */
tamis_status tmi_local_search_make(tmi_local_search *local, tmi_found_tables *found, tmi_search *search,
                                   const tmi_marginal *needed, size_t needed_count, tamis_error *err);
void tmi_local_search_clear(tmi_local_search *local);

static inline bool tmi_local_search_goes_on(const tmi_local_search *w) { return w->found->work < w->most; }

/* The candidate of a marginal, which is made if it is new; NULL if there is no memory. */
const tmi_candidate *tmi_local_search_candidate(tmi_local_search *local, const tmi_marginal *marginal, tamis_error *err);

/* Whether what is read from one table, two numbers at most, can be read from the other one. */
bool tmi_marginal_is_within(const tmi_marginal *inner, const tmi_marginal *outer);

/* Gives the marginal with the axes of both, all levels of them; false if there are too many. */
bool tmi_local_search_join(tmi_marginal *joined, const tmi_local_search *local, const tmi_marginal *a, const tmi_marginal *b);

/* How many numbers a table with this marginal has, in all copies. */
double tmi_local_search_numbers(const tmi_local_search *local, const tmi_marginal *marginal);

/* A table of products that may be measured, in the form for the noise. */
tmi_marginal tmi_local_search_gram(const tmi_local_search *local, size_t i);

/* Whether a table may be a number by itself. */
bool tmi_local_search_is_single(const tmi_local_search *local, const tmi_marginal *marginal);

void tmi_strategy_copy(tmi_strategy *to, const tmi_strategy *from);
bool tmi_strategy_has(const tmi_strategy *strategy, const tmi_candidate *candidate);
void tmi_strategy_drop(tmi_strategy *strategy, size_t k);

/* Scales the parts so that they add up to 1. */
void tmi_strategy_scale(tmi_strategy *strategy);

/* Adds a table to the trial, or more to the part that it has, unless there are too many numbers already. */
bool tmi_local_search_add(tmi_local_search *local, const tmi_candidate *candidate, double part);

/* Improves the parts of a strategy, and counts the work. */
double tmi_local_search_improve(tmi_local_search *local, tmi_strategy *strategy, int rounds);

/* Changes what helps, table by table, until nothing does or the work is done (changes.c). */
tamis_status tmi_local_search_change(tmi_local_search *local, tamis_error *err);

#endif
