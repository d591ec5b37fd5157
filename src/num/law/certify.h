/* From a probability in balls to the bound that is published; for num/ alone. */
#ifndef TMI_NUM_LAW_CERTIFY_H
#define TMI_NUM_LAW_CERTIFY_H

#include "num/ball.h"
#include "num/law/laws.h"

/* INVALID if there is nowhere to write; sets the bound to {0, 1}, which is true whatever happens. */
tamis_status tmi_begin_probability(tamis_bound *bound, tamis_error *err);

/* As tmi_certify with width TAMIS_WIDTH, the formula first being asked for TMI_BITS_FAST bits, and the answer cut to
 * [0, 1]; {0, 1} on failure. */
tamis_status tmi_certify_probability(tamis_bound *bound, tmi_formula *formula, const void *context, tamis_error *err);

/* The same for a probability of a law whose parameters have been checked. */
typedef tamis_status tmi_part_formula(tmi_ball *z, const void *law, tmi_law_part part, int64_t k, long bits, tamis_error *err);
tamis_status tmi_certify_part(tamis_bound *bound, tmi_part_formula *formula, const void *law, tmi_law_part part, int64_t k,
                              tamis_error *err);

#endif
