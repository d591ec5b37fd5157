/* Where a search is: the tables that it measures now, a trial, and how much work is done. */
#ifndef TMI_SCHEDULE_STRATEGY_WALK_H
#define TMI_SCHEDULE_STRATEGY_WALK_H

#include "schedule/strategy/search.h"

typedef struct tmi_walk {
    tmi_search *search;
    tmi_found_tables *found;
    const tmi_shape *supports;
    size_t support_count;
    bool *is_largest; /* of each support: it is within no other one; NULL: nobody asked yet */
    tmi_strategy now, trial;
    double *gains;
    size_t room;     /* tables of a strategy */
    double shares;   /* of all aims */
    double per_look; /* parts of effects that one look at all aims has */
    double most;     /* parts that are looked at, in all */
} tmi_walk;

/* `found` is empty, or what was found before. Errors: SYSTEM; it must be cleared anyhow. */
tamis_status tmi_walk_make(tmi_walk *walk, tmi_found_tables *found, tmi_search *search, const tmi_shape *supports,
                           size_t support_count, tamis_error *err);
void tmi_walk_clear(tmi_walk *walk);

static inline bool tmi_walk_goes_on(const tmi_walk *w) { return w->found->work < w->most; }

/* The candidate of a shape; NULL without memory. */
const tmi_candidate *tmi_walk_candidate(tmi_walk *walk, const tmi_shape *shape, tamis_error *err);

bool tmi_shape_is_within(const tmi_shape *inner, const tmi_shape *outer);

/* All axes of both; false if there are too many. */
bool tmi_walk_join(tmi_shape *joined, const tmi_walk *walk, const tmi_shape *a, const tmi_shape *b);

/* Numbers of a table with this shape, in all copies. */
double tmi_walk_numbers(const tmi_walk *walk, const tmi_shape *shape);

/* Whether a table may be a number by itself. */
bool tmi_walk_is_single(const tmi_walk *walk, const tmi_shape *shape);

void tmi_strategy_copy(tmi_strategy *to, const tmi_strategy *from);
bool tmi_strategy_has(const tmi_strategy *strategy, const tmi_candidate *candidate);
void tmi_strategy_drop(tmi_strategy *strategy, size_t k);

/* Parts add up to 1 again. */
void tmi_strategy_scale(tmi_strategy *strategy);

/* Adds a table to the trial, or more to the part that it has, unless there are too many numbers already. */
bool tmi_walk_add(tmi_walk *walk, const tmi_candidate *candidate, double part);

/* Improves the parts of a strategy, and counts the work. */
double tmi_walk_improve(tmi_walk *walk, tmi_strategy *strategy, int rounds);

/* Changes what helps, table by table, until nothing does or the work is done (changes.c). */
tamis_status tmi_walk_change(tmi_walk *walk, tamis_error *err);

#endif
