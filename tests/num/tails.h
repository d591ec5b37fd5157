/* The tails of a lattice law, as sums of its masses and of what is outside of them. */
#ifndef TESTS_NUM_TAILS_H
#define TESTS_NUM_TAILS_H

#include "num/law/law.h"

/* Adds the masses of some stored points, and what is outside at the end that the tail contains. Beyond that end only some of what
 * is outside belongs to the tail, and behind the other end some of what is outside there: between none and all of it. */
static inline void tail_of(tmi_ball *z, const tmi_law *law, int64_t from, int64_t to, bool up, long bits)
{
    const int64_t end = law->first + (int64_t)law->count;
    const tmi_ball *own = up ? &law->above : &law->below, *other = up ? &law->below : &law->above;
    tmi_ball sum, part, zero;
    tmi_ball_inits(&sum, &part, &zero, NULL);
    tmi_ball_set(&sum, own);
    if (up ? from > end : to < law->first - 1) tmi_ball_union(&sum, &sum, &zero, bits);
    for (size_t i = 0; i < law->count; i++) {
        const size_t k = up ? law->count - 1 - i : i; /* the small masses far out are added first */
        const int64_t point = law->first + (int64_t)k;
        if (point >= from && point <= to) tmi_ball_add(&sum, &sum, &law->mass[k], bits);
    }
    if (up ? from < law->first : to >= end) {
        tmi_ball_union(&part, other, &zero, bits);
        tmi_ball_add(&sum, &sum, &part, bits);
    }
    tmi_ball_set(z, &sum);
    tmi_ball_clears(&sum, &part, &zero, NULL);
}

static inline void law_at_least(tmi_ball *z, const tmi_law *law, int64_t k, long bits)
{
    tail_of(z, law, k, INT64_MAX, true, bits);
}

static inline void law_at_most(tmi_ball *z, const tmi_law *law, int64_t k, long bits)
{
    tail_of(z, law, INT64_MIN, k, false, bits);
}

#endif
