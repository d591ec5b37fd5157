/* Checking a certificate: every number of a guarantee is computed again from the rest of the file, without the data.
 *
 * The plan is read out of the certificate, what it measures, the sensitivities, the noise, the composition, the account
 * and the amplification follow from it, and each leaf of the file is compared with what follows. measurements.json, if it
 * lies beside the certificate, must have the hash that the certificate names. Fields of the guarantee may be missing: they
 * are computed. This proves arithmetic, not authorship: who wants to know that a certificate is an agency's own compares
 * it with the ledger (tamis_ledger_verify) or gets it from the agency.                                               */
#ifndef TAMIS_VERIFY_H
#define TAMIS_VERIFY_H

#include <tamis/base.h>

TAMIS_BEGIN

/* Needs    the path of a certificate.json.
 * Gives    *ok: no problem was found; and in *text what was found: the guarantee as it follows, or the problems, a line
 *          each; with json {"ok", "problems": [{"field", "message"}], "measurements": "match", "differ" or "not there",
 *          "guarantee"}. The caller frees it with tamis_free. 0 and NULL on failure.
 * Cost     as tamis_check.
 * Errors   INVALID (no such file, no JSON object), SYSTEM.                                                            */
TAMIS_API tamis_status tamis_verify(int *ok, char **text, const char *path, int json, tamis_error *err);

TAMIS_END

#endif
