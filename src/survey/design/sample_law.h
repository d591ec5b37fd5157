/* A law in the making: samples are added as a design comes upon them, equal ones are merged at the end. A probability
 * is an exact number where there is one, otherwise a ball of TMI_SAMPLE_LAW_BITS bits.                               */
#ifndef TMI_SURVEY_DESIGN_SAMPLE_LAW_H
#define TMI_SURVEY_DESIGN_SAMPLE_LAW_H

#include <tamis/experimental/survey.h>

#include "num/ball.h"
#include "num/number.h"

#define TMI_SAMPLE_LAW_BITS 256
#define TMI_SAMPLE_LAW_SAMPLES ((size_t)1 << 21) /* before merging */

typedef struct tmi_listed {
    uint8_t units[TAMIS_LAW_UNITS];
    uint8_t size;
    tamis_number *exact; /* or NULL */
    tmi_ball ball;       /* if exact is NULL */
} tmi_listed;

struct tamis_law {
    int64_t population;
    size_t count, room;
    tmi_listed *samples;
    tamis_number *pi[TAMIS_LAW_UNITS]; /* inclusion probabilities, exactly; NULL while the law is in the making */
};

tamis_status tmi_sample_law_alloc(tamis_law **law, int64_t population, tamis_error *err);

/* Adds a sample; `exact` belongs to the law from now on, also on failure. Units in any order. */
tamis_status tmi_sample_law_take(tamis_law *law, const uint8_t *units, size_t size, tamis_number *exact, tamis_error *err);
/* The same for a set: bit k is unit k. */
tamis_status tmi_sample_law_take_set(tamis_law *law, uint32_t set, tamis_number *exact, tamis_error *err);
tamis_status tmi_sample_law_add_ball_set(tamis_law *law, uint32_t set, const tmi_ball *p, tamis_error *err);

/* Adds the sample s of `a` together with the sample t of `b`, whose units are counted from `offset`: probability P(s)
 * P(t). */
tamis_status tmi_sample_law_add_product(tamis_law *law, const tmi_listed *s, const tmi_listed *t, size_t offset,
                                        tamis_error *err);

tamis_status tmi_sample_law_add_copy(tamis_law *law, const tmi_listed *s, tamis_error *err);

/* Moves all samples of `from`, which is left empty, to an empty law. */
void tmi_sample_law_move(tamis_law *law, tamis_law *from);

/* *sum += term, which is used up; *sum = NULL counts as 0. */
tamis_status tmi_sum_take(tamis_number **sum, tamis_number *term, tamis_error *err);

/* The finished law of a design of at most TAMIS_LAW_UNITS units. */
tamis_status tmi_sample_law_of(tamis_law **law, const tamis_design *design, tamis_error *err);

/* The probability that all units of the set are in the sample. */
void tmi_sample_law_set_ball(tmi_ball *p, const tamis_law *law, uint32_t set, long bits);

/* The inclusion probability of a unit, which belongs to the law; for laws from tamis_law_new and tamis_law_given. */
const tamis_number *tmi_sample_law_pi(const tamis_law *law, size_t unit);

/* The probability of sample j as a ball. */
void tmi_sample_law_ball(tmi_ball *p, const tamis_law *law, size_t j, long bits);

#endif
