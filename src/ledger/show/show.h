/* An account as `tamis ledger show` shows it. */
#ifndef TMI_LEDGER_SHOW_SHOW_H
#define TMI_LEDGER_SHOW_SHOW_H

#include "base/text.h"
#include "base/value/json.h"
#include "ledger/ledger.h"
#include "ledger/outsider.h"

typedef struct tmi_shown_account {
    const tmi_ledger_account *a;
    size_t place;
    tamis_spending budget, spent, left, sample; /* sample: of a sampled unit */
    tmi_ledger_outsider outsider;
    const char *unit; /* what the survey samples: "household"; "unit" if the ledger does not say */
    char **strata;    /* the names of those of the design, in their order */
    size_t stratum_count;
} tmi_shown_account;

/* "charged", "released" or "voided". */
const char *tmi_shown_state(const tmi_ledger_charge *charge);

/* The name of a stratum; NULL if there are none. */
const char *tmi_shown_stratum(const tmi_shown_account *account, int64_t stratum);

/* The account for people. */
tamis_status tmi_show_account(tmi_text *text, const tamis_ledger *ledger, const tmi_shown_account *account, tamis_error *err);

#endif
