/* What follows from a plan alone is checked before anything is charged: that every engine could be asked, that the certificate's
 * text of the plan is again that plan, that the ledger takes the charge and can keep the noisy numbers, and that the files of the
 * release can be written and read back. `tamis check` asks the same. What only the engine at hand knows is its own check
 * (engine.h). */
#ifndef TMI_RELEASE_FEASIBLE_H
#define TMI_RELEASE_FEASIBLE_H

#include "measure/request/request.h"
#include "release/certificate.h"

/* Errors   INVALID (names what is too long, its length, the limit, and what to change), UNABLE (a promise that cannot be put into
 *          words), SYSTEM (memory, cancelled).                                                                            */
tamis_status tmi_check_feasible(const tmi_certificate *certificate, const tmi_promised *promised, const tmi_query *query,
                                const tmi_standing *known, tamis_error *err); /* known: the account as it is, or empty */

/* INVALID if a text of `length` bytes is longer than `most`. */
tamis_status tmi_check_length(const char *what, size_t length, size_t most, tamis_error *err);

#endif
