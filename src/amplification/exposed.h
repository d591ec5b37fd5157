/* Units that represent all others of a frame when we look for the unit that loses most; used only inside the library. */
#ifndef TMI_AMPLIFICATION_EXPOSED_H
#define TMI_AMPLIFICATION_EXPOSED_H

#include <tamis/experimental/amplification.h>

#include "num/ball.h"

/* No unit of the same part with the same distances is more likely to be drawn. What holds for this unit holds for those: with
 * q < p the laws for q are a mixture of those for p and of what both populations share, and a mixture loses no more. */
typedef struct tmi_exposed {
    tamis_exposure exposure;
    bool take_all;
    int64_t units; /* that it represents */
} tmi_exposed;

typedef struct tmi_exposed_list {
    tmi_exposed *list;
    size_t count, room;
    const char *theorem; /* of the whole design */
} tmi_exposed_list;

/* REFUSED if a unit has no theorem. Clear the list in any case. */
tamis_status tmi_expose(tmi_exposed_list *units, const tamis_design *design, tamis_neighbours neighbours,
                        tamis_neighbours mechanism, tamis_error *err);
void tmi_exposed_clear(tmi_exposed_list *units);

/* What one unit loses. */
typedef struct tmi_unit_loss {
    const tamis_exposure *exposure;
    const tamis_sample_promise *promise;
    const double *eps; /* used instead of the promise's eps; NULL: the promise's */
    bool of_one;       /* delta is taken as 1 */
} tmi_unit_loss;

/* Formulas for tmi_certify; the context is a tmi_unit_loss. delta may exceed 1. */
tamis_status tmi_unit_eps(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_unit_delta(tmi_ball *value, const void *context, long bits, tamis_error *err);

/* Steps of the mechanism between samples with the unit whose record changed; from a sample with it to one without it, -1 if these
 * do not compare. */
int64_t tmi_steps_of_change(const tamis_exposure *exposure, const tamis_sample_promise *promise);
int64_t tmi_steps_of_absence(const tamis_absence *absence, const tamis_sample_promise *promise);

/* eps of one unit at this delta > 0, where the promise knows mu_squared or rho, above 0 (amplification/split.c). Not for draws
 * with replacement. */
tamis_status tmi_split_epsilon(tamis_bound *eps, const tamis_exposure *exposure, const tamis_sample_promise *promise,
                               const tamis_number *delta, tamis_error *err);

/* delta at eps_pop of a noisy sum over draws with replacement, where the values of one unit differ by at most `range`. */
tamis_status tmi_amplify_draws(tamis_bound *delta, const tamis_noisy_sum *sum, const tamis_number *range, int64_t population,
                               int64_t draws, const tamis_number *eps_pop, tamis_error *err);

/* A sum of weighted values with noise. */
typedef struct tmi_attainable {
    const tamis_number *from, *to;
    const tamis_number *weight; /* of the unit; NULL: 1 */
    bool by_probability;        /* it is 1 over the inclusion probability instead */
    tamis_noise_kind noise;
    const tamis_number *scale, *step; /* step: of discrete noise, otherwise NULL */
    const tamis_number *eps;          /* NULL: the smallest eps with delta = 0 */
} tmi_attainable;

/* delta at eps, or eps, of two populations that differ in this unit: no guarantee is smaller. 0 if none is known here.
 * `level`: all units of a stratum have one weight. */
tamis_status tmi_attained(tamis_bound *value, const tamis_design *design, int64_t unit, const tmi_attainable *sum, bool level,
                          tamis_error *err);

/* Whether two populations have all the distances of the exposure at once, where several records are exchanged together. */
tamis_status tmi_is_attained(bool *attained, const tamis_design *design, const tamis_exposure *exposure, bool level,
                             tamis_error *err);

/* Inclusion probabilities are doubles with a relative error of 1e-12 or better. */
#define TMI_DESIGN_WIDTH 1e-10

tamis_status tmi_check_eps_delta(const tamis_number *eps, const tamis_number *delta, tamis_error *err);

/* A probability or a distance between two ends. */
void tmi_ball_set_bound(tmi_ball *z, tamis_bound x, long bits);

#endif
