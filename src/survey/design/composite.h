/* Designs made of designs, whose units follow one another. */
#ifndef TMI_SURVEY_DESIGN_COMPOSITE_H
#define TMI_SURVEY_DESIGN_COMPOSITE_H

#include "survey/design/design.h"

typedef struct tmi_composite {
    tamis_design base;
    size_t count;
    tamis_design **parts;
    int64_t *first;      /* of each part; first[count] is the population */
    tamis_design *above; /* that draws the parts; NULL: all of them are there */
} tmi_composite;

/* Gives a design whose parts are the caller's until it succeeds. `what` names the parameter. */
tamis_status tmi_composite_take(tmi_composite **design, const tmi_design_kind *kind, tamis_design *const *parts, size_t count,
                                const char *what, tamis_error *err);
void tmi_composite_clear(tamis_design *design);

/* The strata of a design, each a design of its own; NULL: it has none. */
static inline const tmi_composite *tmi_design_strata(const tamis_design *design)
{
    return design->kind->stratified ? (const tmi_composite *)design : NULL;
}

/* The part in which a unit is. */
size_t tmi_part_of(const tmi_composite *design, int64_t unit);

/* Sets pij of those pairs that lie in the same part to what the part says. */
tamis_status tmi_composite_joint(tmi_ball *pij, const tmi_composite *design, const int64_t *units, size_t count, long bits,
                                 tamis_error *err);

/* The watch for the work on part h, as much of the whole as the part has units. */
tmi_watch tmi_composite_watch(const tmi_composite *design, size_t h, const tmi_watch *watch);

/* One table per part, and one more for `above`. */
tamis_status tmi_composite_prepare(void **tables, const tamis_design *design, const tmi_watch *watch, tamis_error *err);
void tmi_composite_dismiss(void *tables, const tamis_design *design);

/* What the kinds of these designs share. */
#define TMI_COMPOSITE(name) name, .clear = tmi_composite_clear, .prepare = tmi_composite_prepare, .dismiss = tmi_composite_dismiss

#endif
