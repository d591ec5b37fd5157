/* What a design is made of. A kind of design is one file with one tmi_design_kind; the calls of survey.h check their
 * arguments in design.c, inclusion.c, sample_law.c and draw.c, and then ask the kind. Designs with parameters of
 * their own put a tamis_design first in a larger struct.                                                             */
#ifndef TMI_SURVEY_DESIGN_DESIGN_H
#define TMI_SURVEY_DESIGN_DESIGN_H

#include <tamis/experimental/survey.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/watch.h"
#include "num/ball.h"
#include "num/number.h"
#include "survey/design/sample_law.h"

/* A growing list of exposures. */
typedef struct tmi_exposures {
    tamis_exposure *list;
    size_t count, room;
} tmi_exposures;

typedef struct tmi_design_kind {
    const char *name;

    /* What other rooms ask about a design; none of them looks at its name. */
    bool with_replacement;
    bool independent; /* units are drawn independently of each other */
    bool simple;      /* every set of as many units is equally likely */
    bool equal;       /* all units have the same inclusion probability */
    bool stratified;  /* its parts are drawn independently, all of them (tmi_design_strata) */

    void (*clear)(tamis_design *design); /* frees what the design owns; NULL: nothing */

    /* An enclosure of the inclusion probability of a unit of the frame. */
    tamis_status (*first)(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err);

    /* The same, as the exact number that the design was given or that follows from its sizes; new. */
    tamis_status (*exact)(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err);

    /* The joint probability of units k < l, where it needs nothing but the two; NULL: by `joint`. */
    tamis_status (*pair)(tmi_ball *p, const tamis_design *design, int64_t k, int64_t l, long bits, tamis_error *err);

    /* pij[i * count + j] for i < j, nothing else; the units are different. NULL: by `pair`, or else through the law. */
    tamis_status (*joint)(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                          tamis_error *err);

    /* Adds every sample, possibly in parts; population <= TAMIS_LAW_UNITS. */
    tamis_status (*law)(tamis_law *law, const tamis_design *design, tamis_error *err);

    /* Tables for drawing; both NULL if there are none. Long work looks at the watch, which may be NULL. */
    tamis_status (*prepare)(void **tables, const tamis_design *design, const tmi_watch *watch, tamis_error *err);
    void (*dismiss)(void *tables, const tamis_design *design);

    /* Adds the units of one sample, in any order, to what is already drawn. */
    tamis_status (*draw)(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         const tmi_watch *watch, tamis_error *err);

    tamis_status (*expose)(tmi_exposures *exposures, const tamis_design *design, tamis_error *err);
} tmi_design_kind;

struct tamis_design {
    const tmi_design_kind *kind;
    int64_t population;
    int64_t sample; /* size of every sample, or -1 */
};

/* A zeroed design of `size` bytes; NULL if memory runs out. */
void *tmi_design_alloc(size_t size, const tmi_design_kind *kind, int64_t population, int64_t sample);

tamis_status tmi_check_population(int64_t population, tamis_error *err);
tamis_status tmi_check_sizes(int64_t population, int64_t sample, tamis_error *err); /* 1 <= sample <= population */

/* For kinds of fixed size without parameters that give every unit the same probability, n/N. */
#define TMI_EQUAL_KIND(name) name, .equal = true, .first = tmi_equal_first, .exact = tmi_equal_exact
tamis_status tmi_equal_first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err);
tamis_status tmi_equal_exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err);
tamis_status tmi_equal_new(tamis_design **design, const tmi_design_kind *kind, int64_t population, int64_t sample,
                           tamis_error *err);

/* A narrow enclosure of the probability that a unit is not in the sample. */
tamis_status tmi_certify_missing(tamis_bound *probability, const tamis_design *design, int64_t unit, tamis_error *err);

/* As the kind's functions, also where the kind leaves them out. */
tamis_status tmi_design_joint(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                              tamis_error *err);
tamis_status tmi_design_prepare(void **tables, const tamis_design *design, const tmi_watch *watch, tamis_error *err);
void tmi_design_dismiss(void *tables, const tamis_design *design);

/* Draws a sample of `design` whose unit 0 is unit `offset` of the frame. */
tamis_status tmi_design_draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, int64_t offset, tamis_rng *rng,
                             const tmi_watch *watch, tamis_error *err);

tamis_status tmi_drawn_add(tamis_drawn *drawn, int64_t unit, tamis_error *err);
tamis_status tmi_drawn_reserve(tamis_drawn *drawn, size_t more, tamis_error *err);

tamis_status tmi_exposures_add(tmi_exposures *exposures, const tamis_exposure *exposure, tamis_error *err);

/* Adds an exposure whose units are all like its first one and missing in one way, that of absences[0]; the
 * probabilities are filled in here. */
tamis_status tmi_expose_alike(tmi_exposures *exposures, tamis_exposure exposure, const tamis_design *design, tamis_error *err);


#endif
