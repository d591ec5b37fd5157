/* A ledger inside the library: its file, and what it says. */
#ifndef TMI_LEDGER_H
#define TMI_LEDGER_H

#include "ledger/book.h"
#include "ledger/store.h"

struct tamis_ledger {
    tmi_store *file;
    tmi_book book;
    int64_t (*now)(void); /* seconds since 1970 */
};

#endif
