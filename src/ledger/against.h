/* A certificate against the ledger that it names: the entry with its hash, and that what was charged and released there is what the
 * certificate says.                                                                                                  */
#ifndef TMI_AGAINST_H
#define TMI_AGAINST_H

#include "ledger/store.h"

/* Differences are noted, each with the file's name and the field of the certificate. `book` is what the file holds; `given` a certificate, or
 * the folder that has it.
 *
 * Errors   INVALID (no such file, not JSON), SYSTEM.                                                                  */
tamis_status tmi_check_against(tmi_store *file, const tmi_book *book, const char *given, tmi_faults *faults, tamis_error *err);

#endif
