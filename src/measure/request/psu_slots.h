/* The slots in which the totals of PSUs are added up (standard_errors.h): which PSU goes where is drawn before a row is read. */
#ifndef TMI_MEASURE_REQUEST_PSU_SLOTS_H
#define TMI_MEASURE_REQUEST_PSU_SLOTS_H

#include <tamis/experimental/rng.h>

#include "engine/core/engine.h"
#include "measure/schedule.h"

typedef struct tmi_psu_slots {
    const tmi_psu_places *places;
    size_t codes;  /* of the engine's column: one per slot, and one for PSUs without a slot unless a hash decides; 0: no slots */
    size_t strata; /* strata of the design or of the list */
    int32_t **cell_of;                /* for each stratum, the code of the PSU of each rank */
    unsigned char key[TMI_KEY_BYTES]; /* the key of the hash */
} tmi_psu_slots;

/* Makes room for the slots. Which PSU goes where is not drawn yet: all lists, or the key, are 0. Empty if there are no slots. The
 * places must outlive it. Errors: SYSTEM. */
tamis_status tmi_psu_slots_make(tmi_psu_slots *slots, const tmi_psu_places *places, tamis_error *err);
void tmi_psu_slots_clear(tmi_psu_slots *slots);

/* Draws a key for the hashes of an engine. */
tamis_status tmi_draw_key(unsigned char key[TMI_KEY_BYTES], tamis_rng *rng, tamis_error *err);

tamis_status tmi_psu_slots_draw(tmi_psu_slots *slots, tamis_rng *rng, tamis_error *err);

#endif
