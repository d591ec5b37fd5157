/* The file of a ledger: a SQLite database with two tables, entries and measurements, to which rows are only added. SQLite is
 * seen in store*.c alone. */
#ifndef TMI_LEDGER_STORE_H
#define TMI_LEDGER_STORE_H

#include "ledger/book.h"

typedef struct tmi_store tmi_store;

/* What for. SHARED: as on a file system that other computers reach too, whatever this one is. */
typedef enum tmi_opening { TMI_LOOK, TMI_CHARGE, TMI_CHARGE_SHARED } tmi_opening;

/* Opens a file, and makes it if it is to be written. Its folder, name, kind, version and tables are checked, not its entries. The
 * errors are those of tamis_ledger_open; every message begins with the path. `faults`: where tables that are not ours are
 * noted; NULL: they are an error. */
tamis_status tmi_store_open(tmi_store **file, const char *path, tmi_opening how, tmi_faults *faults, tamis_error *err);
void tmi_store_close(tmi_store *file);

/* One state of the file for everything until the end. `writing`: nobody else may write meanwhile. */
tamis_status tmi_store_begin(tmi_store *file, bool writing, tamis_error *err);

/* Durable when it returns OK. If it fails, or is never called, tmi_store_cancel. */
tamis_status tmi_store_commit(tmi_store *file, tamis_error *err);
void tmi_store_cancel(tmi_store *file); /* nothing happens if there is nothing to cancel */

/* Takes the entries after the last one into the book, and sees that this one is still there. */
tamis_status tmi_store_catch_up(tmi_store *file, tmi_book *book, tmi_faults *faults, tamis_error *err);

/* The same up to the entry `number`: what other processes have added after it is left for the next time. */
tamis_status tmi_store_catch_up_to(tmi_store *file, tmi_book *book, int64_t number, tamis_error *err);

/* Within a writing transaction, before an entry that format 1 does not know: older versions of tamis then say that they do not
 * know the file, instead of calling it damaged. */
tamis_status tmi_store_need_format(tmi_store *file, int64_t format, tamis_error *err);

/* Adds rows. */
tamis_status tmi_store_add_entry(tmi_store *file, int64_t number, const char *entry, const char *hash, tamis_error *err);
tamis_status tmi_store_add_measurements(tmi_store *file, int64_t number, const char *text, tamis_error *err);

/* What was kept with an entry; NULL if there is nothing. The caller frees it with tmi_free. */
tamis_status tmi_store_measurements(char **text, tmi_store *file, int64_t number, tamis_error *err);

/* Called with each entry as it is in the file. */
typedef tamis_status tmi_entry_seen(void *context, int64_t number, const char *entry, const char *hash, tamis_error *err);
tamis_status tmi_store_each(tmi_store *file, tmi_entry_seen *seen, void *context, tamis_error *err);

/* Looks through every page, and for measurements that belong to no release or are not those that were kept. */
tamis_status tmi_store_check(tmi_store *file, const tmi_book *book, tmi_faults *faults, tamis_error *err);

const char *tmi_store_path(const tmi_store *file);  /* as the caller gave it */
const char *tmi_store_place(const tmi_store *file); /* its folder resolved: valid wherever the process goes */

#endif
