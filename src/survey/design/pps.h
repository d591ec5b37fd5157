/* Designs given by a probability for each unit. The probabilities are kept as integers over a common denominator D,
 * so that their sums and differences are exact and cheap. Units of probability 1 are set apart ("certain"): the
 * methods see only the others ("open"), whose probabilities lie in (0, 1) and sum to the integer `size`.             */
#ifndef TMI_SURVEY_DESIGN_PPS_H
#define TMI_SURVEY_DESIGN_PPS_H

#include "num/common.h"
#include "survey/design/design.h"

typedef struct tmi_pps {
    tamis_design base;
    tmi_common pi; /* of all units; words are such that (population + 1) D fits */
    int64_t *open, *certain;
    size_t open_count, certain_count;
    int64_t size; /* of the sample of open units; -1: random (Poisson) */
} tmi_pps;

static inline const tmi_pps *tmi_pps_of(const tamis_design *design) { return (const tmi_pps *)design; }

/* The numerator of the i-th open unit. */
static inline const uint64_t *tmi_open(const tmi_pps *pps, size_t i) { return tmi_common_at(&pps->pi, (size_t)pps->open[i]); }

/* Gives a design of this kind; with fixed_size the sum must be an integer. */
tamis_status tmi_pps_new(tamis_design **design, const tmi_design_kind *kind, const tamis_number *const *probabilities,
                         size_t count, bool fixed_size, tamis_error *err);

/* The same of numerators and a denominator that are there: units of probability in (0, 1]. Takes pi in any case. */
tamis_status tmi_pps_take(tamis_design **design, const tmi_design_kind *kind, tmi_common *pi, bool fixed_size, tamis_error *err);

/* A method of tamis_design_pps. */
tamis_status tmi_pps_kind(const tmi_design_kind **kind, tamis_method method, tamis_error *err);

/* Functions that serve several kinds. */
void tmi_pps_clear(tamis_design *design);
tamis_status tmi_pps_first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err);
tamis_status tmi_pps_exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err);
void tmi_pps_ball(tmi_ball *pi, const tmi_pps *pps, size_t i, long bits); /* of the i-th open unit */
tamis_status tmi_pps_number(tamis_number **pi, const tmi_pps *pps, size_t i, tamis_error *err);
tamis_status tmi_pps_draw_certain(tamis_drawn *drawn, const tmi_pps *pps, tamis_error *err);
/* Draws in random order by a method that draws in a given one: order[t] is the open number of the t-th unit; NULL: t. */
typedef tamis_status tmi_draw_in_order(tamis_drawn *drawn, const tmi_pps *pps, const uint64_t *order, tamis_rng *rng,
                                       tamis_error *err);
tamis_status tmi_pps_draw_shuffled(tamis_drawn *drawn, const tmi_pps *pps, tmi_draw_in_order *draw, tamis_rng *rng,
                                   tamis_error *err);
uint32_t tmi_pps_certain_set(const tmi_pps *pps);
uint32_t tmi_pps_open_set(const tmi_pps *pps, uint32_t set); /* from a set of open numbers to a set of units */

/* One exposure a unit: exchanges as given (at most the size), or one addition if the size is random. */
tamis_status tmi_pps_expose(tmi_exposures *exposures, const tamis_design *design, int64_t exchanges, const char *theorem,
                            const char *reason, tamis_error *err);

/* Joint probabilities of open units by number, i < j, put where the asked units stand: certain units are taken care
 * of. */
typedef tamis_status tmi_open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits,
                                    tamis_error *err);
tamis_status tmi_pps_joint(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, tmi_open_joint *joint,
                           long bits, tamis_error *err);

extern const tmi_design_kind tmi_poisson;

/* Kinds of tamis_design_pps, one per file. */
extern const tmi_design_kind tmi_conditional_poisson, tmi_sampford, tmi_pivotal, tmi_pivotal_random, tmi_systematic_pps,
    tmi_systematic_random, tmi_brewer, tmi_tille;

#endif
