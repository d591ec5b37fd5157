/* A certificate against the ledger that it names: the entry with its hash, and that what was charged and released there is what
 * the certificate says. */
#ifndef TMI_LEDGER_AGAINST_H
#define TMI_LEDGER_AGAINST_H

#include "ledger/store.h"

/* Differences are noted, each with the file's name and the field of the certificate. `book` is what the file holds; `given` a
 * certificate, or the folder that has it.
 *
 * Errors   INVALID (no such file, not JSON), SYSTEM. */
tamis_status tmi_check_against(tmi_store *file, const tmi_book *book, const char *given, tmi_faults *faults, tamis_error *err);

/* ---- what a certificate says of an account (terms.c) ---- */

/* Whether an amount of the certificate is this one. `says` may be NULL. SYSTEM (memory). */
tamis_status tmi_coin_says(bool *same, const tmi_ledger_coin *coin, const tmi_value *says, tamis_error *err);

/* Whether the sums `when`, "before" or "after", of the certificate's account are these. */
tamis_status tmi_losses_says(bool *same, const tmi_losses *losses, const tmi_value *account, const char *when, tamis_error *err);

/* Whether the certificate says of the computer's clock what its entry says; one that was written later than the entry says
 * nothing of it. */
bool tmi_clock_says(const tmi_value *entry, const tmi_value *ledger);

typedef struct tmi_ledger_terms {
    const tmi_book *book;
    const tmi_ledger_charge *charge;
    const tmi_value *ledger; /* as the certificate says it */
    const tmi_value *budget; /* of its plan: up to the cap, and the cap itself in certificates that do not say one */
} tmi_ledger_terms;

/* Moments of a book, each named by the last entry so far: from `from` to just before `to`. A certificate says how its account was
 * at one moment: for a release that was charged, its charge; for one that claimed a charge, the claim; for one that was repeated,
 * any moment since it was released. `created`, raises, waves and sums must be those of the same moment. */
typedef struct tmi_span {
    int64_t from, to;
} tmi_span;

/* Those at which the certificate of a charge may have been written; `ledger` may be NULL. */
tmi_span tmi_span_of(const tmi_ledger_charge *charge, const tmi_value *ledger);

/* The field of the certificate that the book contradicts at every one of these moments: "ledger.created", "account.cap" (with the
 * raises), "plan.budget" or "account.waves"; NULL if none is, and then *when is left with the moments at which all of this was
 * so. */
tamis_status tmi_ledger_terms_differ(const char **field, tmi_span *when, const tmi_ledger_terms *terms, const tmi_value *account,
                                     tamis_error *err);

#endif
