/* The noise of a release: all of it is drawn before the first value is read, so that its time cannot depend on the data. */
#ifndef TMI_RELEASE_NOISE_H
#define TMI_RELEASE_NOISE_H

#include "measure/request/request.h"

/* Draws what the engine's question leaves to chance, and the noise of all measurements: noise[i][cell], in secret memory.
 *
 * Gives    noise that tmi_noise_wipe wipes and frees; NULL on failure.
 * Errors   SYSTEM (memory, no random bits, cancelled), INVALID.                                                        */
tamis_status tmi_noise_draw(int64_t ***noise, tmi_query *query, const tmi_schedule *schedule, tamis_error *err);
void tmi_noise_wipe(int64_t **noise); /* of NULL is fine */

#endif
