/* A ledger inside the library: its file, what it says, and the charges that it is at work on. */
#ifndef TMI_LEDGER_LEDGER_H
#define TMI_LEDGER_LEDGER_H

#include <sys/types.h>
#include <tamis/experimental/charge.h>

#include "ledger/book.h"
#include "ledger/owner.h"
#include "ledger/store.h"

struct tamis_ledger {
    tmi_store *file;
    tmi_book book;
    tmi_owner *owned; /* claimable charges that this ledger has charged or claimed and not released yet */
    size_t owned_count, owned_room;
    bool writing;
    pid_t process;        /* that opened it: a child of fork has no right to it */
    int64_t (*now)(void); /* seconds since 1970 */
};

/* What a charge says beside its numbers, as values instead of the texts of a tamis_charge. Lent. */
typedef struct tmi_charge_facts {
    const tmi_value *frozen, *source;
    const tmi_wave *wave;                  /* without a name: there are no waves */
    const tmi_by_stratum *amount, *budget; /* of strata, beside the charge's own numbers; NULL or empty: they have none */
} tmi_charge_facts;

/* The limits of a charge, without a ledger: INVALID if no ledger would take it. */
tamis_status tmi_charge_check(const tamis_charge *charge, const tmi_charge_facts *facts, tamis_error *err);

/* tamis_ledger_charge, and tamis_ledger_ask if nothing is to be written. `facts` NULL: the charge has them as texts. */
tamis_status tmi_ledger_charge_facts(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge,
                                     const tmi_charge_facts *facts, bool writing, tamis_error *err);

/* The design for outsiders of an account, in its last wave: where several waves have the same sample, they have one design.
 * NULL, with the reason, if there is none. */
const tmi_value *tmi_ledger_design(const char **reason, const tamis_ledger *ledger, size_t account);

/* tamis_ledger_open, tamis_ledger_look. */
tamis_status tmi_ledger_open(tamis_ledger **ledger, const char *path, tmi_opening how, tamis_error *err);

/* ---- writing: for the files of this room ---- */

/* INVALID if a text is NULL, shorter or longer, or not UTF-8. */
tamis_status tmi_check_text(const char *text, const char *name, size_t least, size_t most, tamis_error *err);

/* A text that people read in the book and in certificates: INVALID if it is blank, too long, or cannot be read. */
tamis_status tmi_check_name(const char *text, const char *name, tamis_error *err);

/* INVALID if the ledger is NULL or open for reading only. */
tamis_status tmi_ledger_check_writing(const tamis_ledger *ledger, tamis_error *err);

/* A transaction, with the book up to date. */
tamis_status tmi_ledger_begin(tamis_ledger *ledger, bool writing, tamis_error *err);

/* The number and the time of the next entry: now, but never earlier than the last one. `time` is where head->time points to. */
tamis_status tmi_ledger_next(tmi_entry_head *head, char time[TAMIS_LEDGER_TIME], const tamis_ledger *ledger, tamis_error *err);

/* Adds an entry after the last one of the book. */
tamis_status tmi_ledger_add(tamis_ledger *ledger, const tmi_entry_head *head, const char *entry, tamis_error *err);

/* ---- unpublished charges (claim.c) ---- */

/* Room for one more owner, so that nothing can fail between a commit and tmi_ledger_own. SYSTEM. */
tamis_status tmi_ledger_room_to_own(tamis_ledger *ledger, tamis_error *err);
void tmi_ledger_own(tamis_ledger *ledger, tmi_owner *owner); /* takes it */
void tmi_ledger_disown_all(tamis_ledger *ledger);

/* Takes an open charge over: commits its claim and holds its lock. *claim: the number of that entry; the book goes up to it.
 *
 * Needs    a writing transaction, caught up; c is of its book and not valid afterwards.
 * Errors   REFUSED, SYSTEM.                                                                                          */
tamis_status tmi_ledger_claim(int64_t *claim, tamis_ledger *ledger, const tmi_ledger_charge *c, const char *leftover,
                              const tmi_value *parts, tamis_error *err);

/* tamis_ledger_released in two steps, for whoever still has to publish what is kept: the numbers are noted and kept, durably, and
 * the lock of the charge is still held; and, once they are published, it is dropped, and its file goes. A process that dies in
 * between leaves that file. `rows_version`: the caller's name for the state of its rows, or NULL. Errors: as
 * tamis_ledger_released. */
tamis_status tmi_ledger_keep(tamis_ledger *ledger, int64_t entry, const char *measurements, const char *rows_version,
                             tamis_error *err);
void tmi_ledger_published(tamis_ledger *ledger, int64_t entry);

/* Goes on with a release that was kept and perhaps never published (charged->unfinished): its lock is ours from now on, and what
 * the dead process left is deleted. Where that fails everything stays as it was, which hurts nobody: those numbers are released.
 * `leftover`: as in tamis_charge. */
void tmi_ledger_resume(tamis_ledger *ledger, const tamis_charged *charged, const char *leftover);

/* What can be done about the charges of an account that were never published: one to three sentences each, one line each;
 * nothing if there are none. `except`: an entry that is not mentioned. */
void tmi_ledger_unpublished(tmi_text *text, const tamis_ledger *ledger, size_t account, int64_t except);

#endif
