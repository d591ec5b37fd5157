/* Who is at work on a charge.
 *
 * Whoever charges or claims holds a lock until the release is noted or the ledger is freed; the kernel drops it when the
 * process dies, however it dies, and only when all its children that inherited it are dead too. The lock is on a file
 * beside the ledger, FILE-charge-N, which is there while charge N is open and says
 *
 *     which charge of which ledger it is: its number, its hash, the inode of the ledger;
 *     the temporary folders that may hold unpublished numbers if the process dies, each after the file system and the
 *     inode of the folder that it is in, since another folder of that name, in which nothing is found, would prove nothing;
 *
 * each as text that ends with a zero byte. It is durable before the charge is, so a claimable charge has one; without it, it
 * is not known what to delete, and the charge is neither voided nor claimed. That is also so for a copy of a ledger, which has
 * another inode. It is no defence against a rollback: a ledger overwritten in place keeps its inode, and this file can be
 * restored with it.
 *
 * Everything here but tmi_owner_ask happens while the caller holds the ledger's write transaction. */
#ifndef TMI_LEDGER_OWNER_H
#define TMI_LEDGER_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* `ledger` is always the place of its file (tmi_store_place). */
typedef struct tmi_owner {
    int64_t entry, claim; /* the charge, and the claim by which we own it; 0: we charged it ourselves */
    int lock;             /* the open file */
} tmi_owner;

typedef enum tmi_owner_state {
    TMI_OWNER_DEAD, /* nobody holds the lock */
    TMI_OWNER_ALIVE,
    TMI_OWNER_UNKNOWN /* there is no such file, or it cannot be read, or it is about another charge */
} tmi_owner_state;

/* Looks, and changes nothing. */
tmi_owner_state tmi_owner_ask(const char *ledger, int64_t entry, const char *hash);

/* For a charge that is about to be committed. `leftover` is an absolute path, or empty for none. SYSTEM. */
tamis_status tmi_owner_make(tmi_owner *owner, const char *ledger, int64_t entry, const char *hash, const char *leftover,
                            tamis_error *err);

/* Of a charge that is open in the book: takes the lock, and deletes what the earlier owner left behind. Then the caller either
 * commits that the charge is voided, or names its own folder with tmi_owner_leaves and commits its claim.
 *
 * Errors   REFUSED (the owner lives; the file is missing; something cannot be deleted), SYSTEM.                        */
tamis_status tmi_owner_take(tmi_owner *owner, const char *ledger, int64_t entry, const char *hash, tamis_error *err);
tamis_status tmi_owner_leaves(const tmi_owner *owner, const char *leftover, tamis_error *err);

/* Drops the lock; `done`: the charge is released or voided, durably, and the file goes too. */
void tmi_owner_clear(tmi_owner *owner, const char *ledger, bool done);

/* Makes the name of a file durable, by its absolute path. False with errno; true where the file system syncs no folders. */
bool tmi_sync_folder_of(const char *path);

/* Deletes the file of a charge that was released or voided by a process that died before it could do so. */
void tmi_owner_sweep(const char *ledger, int64_t entry);

#endif
