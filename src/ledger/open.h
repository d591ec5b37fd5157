/* Shared by the files that see SQLite. */
#ifndef TMI_LEDGER_OPEN_H
#define TMI_LEDGER_OPEN_H

#include <sqlite3.h>

#include "ledger/store.h"

/* Questions and orders that are asked again and again; prepared when first needed. */
typedef enum tmi_order {
    TMI_ORDER_READ,
    TMI_ORDER_WRITE,
    TMI_ORDER_COMMIT,
    TMI_ORDER_CANCEL,
    TMI_ORDER_ENTRIES,
    TMI_ORDER_ADD,
    TMI_ORDER_KEEP,
    TMI_ORDER_KEPT,
    TMI_ORDERS
} tmi_order;

struct tmi_store {
    sqlite3 *db;
    char *path, *full; /* as the caller gave it; its folder resolved */
    int64_t format;
    bool empty; /* no tables yet: a file that is only looked at */
    sqlite3_stmt *orders[TMI_ORDERS];
};

/* The number that a question of one row and one column has for an answer. */
tamis_status tmi_store_ask(int64_t *answer, tmi_store *file, const char *sql, tamis_error *err);

/* From SQLite's last complaint to ours. */
tamis_status tmi_store_fail(const tmi_store *file, int code, tamis_error *err);

#endif
