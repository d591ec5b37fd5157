/* A profile inside the library: a list of losses, each with the times that it counts; and the evaluators on which the delta of
 * a list is found. */
#ifndef TMI_COMPOSITION_PROFILE_H
#define TMI_COMPOSITION_PROFILE_H

#include "composition/loss.h"

typedef struct tmi_profile_factor {
    tmi_loss *loss;
    int64_t times;
} tmi_profile_factor;

struct tmi_evaluator;

/* A profile never changes once it is made; several may hold it. What was built to answer one question is kept for the
 * next one, by whoever asks; only that slot changes.
 * Factors stand in the order of tmi_loss_compare, no two are equal, times >= 1. A profile without factors is that of a
 * release that says nothing. */
struct tamis_profile {
    atomic_size_t owners;
    size_t count;
    tmi_profile_factor *factors;
    _Atomic(struct tmi_evaluator *) kept; /* NULL: nothing is, or somebody is on it */
};

/* The profile of one loss, which it takes over, also on failure. */
tamis_status tmi_profile_take(tamis_profile **profile, tmi_loss *loss, tamis_error *err);

/* A way to delta. `delta` sets enclosures of a lower and of an upper end at eps >= 0, computed with about `bits` bits, the
 * narrower the more bits; it may keep what serves the next question. `guess` is near the eps at which delta is the given
 * one, uncertified; NULL if the evaluator has no quick one. Exact: the two ends are the same number. Lasting: it took
 * work to build and is kept for the next question; `rest` makes it forget what the next answer would depend on. */
typedef struct tmi_evaluator {
    tamis_status (*delta)(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err);
    double (*guess)(const void *self, double delta);
    void (*free)(void *self);
    void (*rest)(void *self); /* NULL: there is nothing to forget */
    void *self;
    bool exact, lasting;
    double width; /* relative width at which no more bits are asked for */
} tmi_evaluator;

/* The evaluator to one loss, which must live as long. */
tamis_status tmi_evaluator_of_loss(tmi_evaluator *evaluator, tmi_loss *loss, tamis_error *err);

/* z = the mass at infinity that the claims of a list have together, 1 - product of (1 - delta_i). */
void tmi_mass_at_infinity(tmi_ball *z, const tamis_profile *profile, long bits);

/* The best evaluator for a list; the caller closes it. The profile must live as long. */
tamis_status tmi_evaluator_open(tmi_evaluator *evaluator, const tamis_profile *profile, tamis_error *err);
void tmi_evaluator_close(tmi_evaluator *evaluator);

/* The same for a profile that may have been asked before, which keeps a lasting evaluator for the next one. Give it back to the
 * same profile; NULL is fine. */
tamis_status tmi_evaluator_borrow(tmi_evaluator **evaluator, const tamis_profile *profile, tamis_error *err);
void tmi_evaluator_return(tmi_evaluator *evaluator, const tamis_profile *profile);

/* One owner more; tamis_profile_free takes one away. */
tamis_profile *tmi_profile_share(const tamis_profile *profile);

/* Both questions on an open evaluator. */
tamis_status tmi_evaluator_delta(tamis_bound *delta, tmi_evaluator *evaluator, const tamis_number *eps, tamis_error *err);
tamis_status tmi_evaluator_epsilon(tamis_bound *eps, tmi_evaluator *evaluator, const tamis_number *delta, tamis_error *err);

/* INVALID unless 0 <= eps <= TAMIS_MAX_LOSS; unless 0 <= delta <= 1. */
tamis_status tmi_check_eps(const tamis_number *eps, tamis_error *err);
tamis_status tmi_check_delta(const tamis_number *delta, tamis_error *err);

#endif
