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

/* Joint probabilities of open units by number, pij[i * count + j] for i < j. */
typedef tamis_status tmi_open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits,
                                    tamis_error *err);

/* Draws open units in a given order: order[t] is the open number of the t-th unit; NULL: t. Certain units are added too. */
typedef tamis_status tmi_draw_in_order(tamis_drawn *drawn, const tmi_pps *pps, const uint64_t *order, tamis_rng *rng,
                                       tamis_error *err);

/* A way of drawing with given probabilities: one file each, most of them for tamis_design_pps. */
typedef struct tmi_pps_method {
    tmi_design_kind kind;
    tmi_open_joint *open_joint;       /* for tmi_pps_joint */
    tmi_draw_in_order *draw_in_order; /* for tmi_pps_draw, */
    bool shuffled;                    /* which then draws in random order */
    const char *theorem;              /* that couples samples with and without a unit by one exchange (one addition, if the size
                                       * is random); NULL: no coupling is proved, all records may be others */
    const char *reason;               /* then: why */
} tmi_pps_method;

extern const tmi_pps_method tmi_poisson, tmi_conditional_poisson, tmi_sampford, tmi_pivotal, tmi_pivotal_random,
    tmi_systematic_pps, tmi_systematic_random, tmi_brewer, tmi_tille;

/* Gives a design of this method; but for Poisson sampling the sum of the probabilities must be an integer. */
tamis_status tmi_pps_new(tamis_design **design, const tmi_pps_method *method, const tamis_number *const *probabilities,
                         size_t count, tamis_error *err);

/* The same from numerators and a denominator: units of probability in (0, 1]. Takes pi in any case. */
tamis_status tmi_pps_take(tamis_design **design, const tmi_pps_method *method, tmi_common *pi, tamis_error *err);

/* A method of tamis_design_pps. */
tamis_status tmi_pps_find(const tmi_pps_method **found, tamis_method method, tamis_error *err);

/* ---- functions of a tmi_design_kind ---- */

#define TMI_PPS_KIND(name) name, .clear = tmi_pps_clear, .first = tmi_pps_first, .exact = tmi_pps_exact, .expose = tmi_pps_expose

void tmi_pps_clear(tamis_design *design);
tamis_status tmi_pps_first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err);
tamis_status tmi_pps_exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err);
tamis_status tmi_pps_joint(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                           tamis_error *err);
tamis_status tmi_pps_draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                          const tmi_watch *watch, tamis_error *err);
tamis_status tmi_pps_expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err); /* one per unit */

/* ---- for the methods ---- */

void tmi_pps_ball(tmi_ball *pi, const tmi_pps *pps, size_t i, long bits); /* of the i-th open unit */
tamis_status tmi_pps_number(tamis_number **pi, const tmi_pps *pps, size_t i, tamis_error *err);
tamis_status tmi_pps_draw_certain(tamis_drawn *drawn, const tmi_pps *pps, tamis_error *err);
uint32_t tmi_pps_units(const tmi_pps *pps, uint32_t set); /* the units of a set of open numbers, and the certain ones */

#endif
