/* A ledger inside the library: its file, and what it says. */
#ifndef TMI_LEDGER_H
#define TMI_LEDGER_H

#include "ledger/book.h"
#include "ledger/store.h"

struct tamis_ledger {
    tmi_store *file;
    tmi_book book;
    bool writing;
    int64_t (*now)(void); /* seconds since 1970 */
};

/* The limits of a charge, without a ledger: INVALID if no ledger would take it. */
tamis_status tmi_charge_check(const tamis_charge *charge, tamis_error *err);

/* tamis_ledger_open, tamis_ledger_look. */
tamis_status tmi_ledger_open(tamis_ledger **ledger, const char *path, tmi_opening how, tamis_error *err);

#endif
