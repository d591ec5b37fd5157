/* Charges that were never published: released, voided, or claimed.
 *
 * A charge is open until one entry of the book closes it, `released` or `voided`. Numbers are published, by renaming their
 * folder or by returning from the library, only by the process that has committed `released` for them, and after that. So:
 *
 *  1  One charge never has two published answers. Both would need a `released` of their own, and the second one is refused:
 *     entries are written one after the other (SQLite's write lock), each by somebody who has read all entries before it.
 *     Whoever finds the release again gets the numbers that this entry has kept.
 *  2  A voided charge never has one: `released` is refused after `voided`, and `voided` after `released`.
 *  3  It is the last owner's answer. A claim is an entry too; `released` names the claim by which its process owns the
 *     charge, and is refused if the last one in the book is another.
 *
 * None of this needs a lock to hold or a process to be alive, so it holds for a crash at any step: before the commit of an
 * entry nothing has happened, after it the entry is there. It holds for a process that is suspended and wakes up, and for
 * two that both believe that they own the charge (a child of fork, a lock that a file system has lost): the second
 * `released` fails.
 *
 * What the book cannot see is what a process that died has left in its temporary folder: numbers that no charge pays for
 * once theirs is voided or answered anew. So before the entry is written
 *
 *  4  the lock of the charge is taken without waiting (owner.h). A process that lives, suspended or not, keeps it, and the
 *     request is refused: it may still be writing.
 *  5  the folders that the lock's file names are deleted, durably. They are all in it: the file is synced before the
 *     charge, or the claim, is committed, and noise is drawn after that.
 *  6  an owner that cannot be found (no file, a file about another charge, a ledger copied to another file) is never taken for
 *     dead.
 *
 * All of this is about one book to which entries are only added. A ledger that is overwritten in place by an older copy keeps its
 * inode; with the file of an open charge restored beside it, a charge that was released since can be voided or claimed. Nothing
 * here sees that: like every rollback it is found by comparing certificates (against.c).
 *
 * A crash between 4, 5 and the commit leaves the charge open, and its file in place: the next one begins again. A crash between
 * the commit of `released` and publishing leaves the file of a charge that is closed: whoever finds the release again knows that
 * it was kept and perhaps never published, and goes on from there (tmi_ledger_resume). */
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"
#include "ledger/ledger.h"

/* ---- owning ---- */

tamis_status tmi_ledger_room_to_own(tamis_ledger *ledger, tamis_error *err)
{
    if (ledger->owned_count < ledger->owned_room) return TAMIS_OK;
    const size_t room = ledger->owned_room ? 2 * ledger->owned_room : 4;
    tmi_owner *owned = tmi_realloc(ledger->owned, room, sizeof *owned);
    if (!owned) return tmi_fail_memory(err);
    ledger->owned = owned;
    ledger->owned_room = room;
    return TAMIS_OK;
}

void tmi_ledger_own(tamis_ledger *ledger, tmi_owner *owner)
{
    ledger->owned[ledger->owned_count++] = *owner;
    *owner = (tmi_owner){.lock = -1};
}

static tmi_owner *owner_of(const tamis_ledger *ledger, int64_t entry)
{
    for (size_t i = 0; i < ledger->owned_count; i++)
        if (ledger->owned[i].entry == entry) return &ledger->owned[i];
    return NULL;
}

/* The charge is closed. */
static void disown(tamis_ledger *ledger, tmi_owner *owner)
{
    tmi_owner_clear(owner, tmi_store_place(ledger->file), true);
    *owner = ledger->owned[--ledger->owned_count];
}

void tmi_ledger_disown_all(tamis_ledger *ledger)
{
    for (size_t i = 0; i < ledger->owned_count; i++) tmi_owner_clear(&ledger->owned[i], tmi_store_place(ledger->file), false);
    tmi_free(ledger->owned);
    ledger->owned = NULL;
    ledger->owned_count = ledger->owned_room = 0;
}

/* ---- closing a charge, or taking it over ---- */

void tmi_ledger_resume(tamis_ledger *ledger, const tamis_charged *charged, const char *leftover)
{
    const char *place = tmi_store_place(ledger->file);
    tmi_owner owner = {.lock = -1};
    if (tmi_ledger_room_to_own(ledger, NULL) == TAMIS_OK && tmi_ledger_begin(ledger, true, NULL) == TAMIS_OK &&
        tmi_owner_take(&owner, place, charged->entry, charged->hash, NULL) == TAMIS_OK &&
        tmi_owner_leaves(&owner, leftover, NULL) == TAMIS_OK)
        tmi_ledger_own(ledger, &owner);
    tmi_owner_clear(&owner, place, false);
    tmi_store_cancel(ledger->file);
}

tamis_status tmi_ledger_claim(int64_t *claim, tamis_ledger *ledger, const tmi_ledger_charge *c, const char *leftover,
                              const tmi_value *parts, tamis_error *err)
{
    tmi_owner owner = {.lock = -1};
    tmi_entry_head head;
    char time[TAMIS_LEDGER_TIME], *entry = NULL;
    tamis_error reason = {0};
    tamis_status status;
    *claim = 0;
    TMI_TRY(tmi_ledger_room_to_own(ledger, err));
    status = tmi_owner_take(&owner, tmi_store_place(ledger->file), c->number, c->hash, &reason);
    if (status == TAMIS_REFUSED)
        tmi_fail(err, status,
                 "the same was charged before and never published, but its charge cannot be claimed: %.1000s. Nothing was spent; "
                 "`release --again` and `tally --repeat charged` pay for it anew",
                 reason.message);
    else if (status != TAMIS_OK) tmi_fail(err, status, "%s", reason.message);
    if (status != TAMIS_OK) goto done;
    TMI_TRY(tmi_owner_leaves(&owner, leftover, err));
    TMI_TRY(tmi_ledger_next(&head, time, ledger, err));
    TMI_TRY(tmi_entry_claimed(&entry, &head, c->number, parts, err));
    TMI_TRY(tmi_store_need_format(ledger->file, 2, err));
    TMI_TRY(tmi_ledger_add(ledger, &head, entry, err));
    TMI_TRY(tmi_store_commit(ledger->file, err));
    owner.claim = *claim = head.number;
    tmi_ledger_own(ledger, &owner);
done:
    tmi_owner_clear(&owner, tmi_store_place(ledger->file), false);
    tmi_free(entry);
    return status;
}

static tamis_status check_release(const tamis_ledger *ledger, int64_t entry, tamis_error *err)
{
    const tmi_ledger_charge *c = tmi_book_charge(&ledger->book, entry);
    const tmi_owner *owner = owner_of(ledger, entry);
    if (!c || c->released)
        return tmi_fail(err, TAMIS_INVALID, "entry: %lld is %s", (long long)entry,
                        c ? "released already" : "not a charge of this ledger");
    if (c->voided)
        return tmi_fail(err, TAMIS_REFUSED, "entry %lld was voided before its numbers were published: they must not be",
                        (long long)entry);
    if (c->claimable && (!owner || owner->claim != c->claim))
        return tmi_fail(err, TAMIS_REFUSED,
                        "entry %lld was claimed by another release before these numbers were published: they must not be",
                        (long long)entry);
    return TAMIS_OK;
}

tamis_status tmi_ledger_keep(tamis_ledger *ledger, int64_t entry, const char *measurements, const char *rows_version,
                             tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_entry_head head;
    char time[TAMIS_LEDGER_TIME], *text = NULL;
    if (tmi_ledger_check_writing(ledger, err) != TAMIS_OK) return TAMIS_INVALID;
    TMI_TRY(tmi_check_text(measurements, "measurements", 0, TAMIS_LEDGER_TEXT, err));
    if (rows_version) TMI_TRY(tmi_check_name(rows_version, "rows_version", err));
    TMI_TRY(tmi_ledger_begin(ledger, true, err));
    TMI_TRY(check_release(ledger, entry, err));
    tmi_owner *owner = owner_of(ledger, entry);
    TMI_TRY(tmi_ledger_next(&head, time, ledger, err));
    TMI_TRY(tmi_entry_released(&text, &head, entry, owner ? owner->claim : 0, measurements, rows_version, err));
    if (rows_version) TMI_TRY(tmi_store_need_format(ledger->file, 3, err));
    TMI_TRY(tmi_ledger_add(ledger, &head, text, err));
    TMI_TRY(tmi_store_add_measurements(ledger->file, head.number, measurements, err));
    TMI_TRY(tmi_store_commit(ledger->file, err));
    TMI_TRY(tmi_store_catch_up(ledger->file, &ledger->book, NULL, err));
done:
    tmi_store_cancel(ledger->file);
    tmi_free(text);
    return status;
}

void tmi_ledger_published(tamis_ledger *ledger, int64_t entry)
{
    tmi_owner *owner = owner_of(ledger, entry);
    if (owner) disown(ledger, owner);
}

tamis_status tamis_ledger_released(tamis_ledger *ledger, int64_t entry, const char *measurements, tamis_error *err)
{
    const tamis_status status = tmi_ledger_keep(ledger, entry, measurements, NULL, err);
    if (status == TAMIS_OK) tmi_ledger_published(ledger, entry);
    return status;
}

/* REFUSED if a charge cannot be voided, whoever owns it. */
static tamis_status check_void(const tmi_book *book, int64_t entry, tamis_error *err)
{
    const tmi_ledger_charge *c = tmi_book_charge(book, entry);
    if (!c)
        return tmi_fail(err, TAMIS_REFUSED, "entry %lld is not a charge of this ledger: `tamis ledger show` lists them",
                        (long long)entry);
    if (c->released)
        return tmi_fail(err, TAMIS_REFUSED, "entry %lld was released on %s, and a published release cannot be voided",
                        (long long)entry, c->released_time);
    if (c->voided) return tmi_fail(err, TAMIS_REFUSED, "entry %lld was voided already, on %s", (long long)entry, c->voided_time);
    return tmi_check_returnable(book, c, err);
}

tamis_status tamis_ledger_void(tamis_ledger *ledger, int64_t entry, const char *reason, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_owner owner = {.lock = -1};
    tmi_entry_head head;
    char time[TAMIS_LEDGER_TIME], *text = NULL;
    bool done = false;
    if (tmi_ledger_check_writing(ledger, err) != TAMIS_OK) return TAMIS_INVALID;
    TMI_TRY(tmi_check_name(reason, "reason", err));
    TMI_TRY(tmi_ledger_begin(ledger, true, err));
    const tmi_ledger_charge *c = tmi_book_charge(&ledger->book, entry);
    if (c && c->voided) tmi_owner_sweep(tmi_store_place(ledger->file), entry);
    TMI_TRY(check_void(&ledger->book, entry, err));
    if (c->claimable) TMI_TRY(tmi_owner_take(&owner, tmi_store_place(ledger->file), entry, c->hash, err));
    TMI_TRY(tmi_ledger_next(&head, time, ledger, err));
    TMI_TRY(tmi_entry_voided(&text, &head, entry, reason, err));
    TMI_TRY(tmi_store_need_format(ledger->file, 2, err));
    TMI_TRY(tmi_ledger_add(ledger, &head, text, err));
    TMI_TRY(tmi_store_commit(ledger->file, err));
    done = true;
    TMI_TRY(tmi_store_catch_up(ledger->file, &ledger->book, NULL, err));
done:
    tmi_store_cancel(ledger->file);
    tmi_owner_clear(&owner, tmi_store_place(ledger->file), done);
    tmi_free(text);
    return status;
}

/* ---- text for people ---- */

static void put_unpublished(tmi_text *text, const tamis_ledger *ledger, const tmi_ledger_charge *c)
{
    const char *path = tmi_store_path(ledger->file);
    const tmi_owner_state state = c->claimable ? tmi_owner_ask(tmi_store_place(ledger->file), c->number, c->hash)
                                               : TMI_OWNER_DEAD;
    tmi_text_format(text, "Entry %lld (", (long long)c->number);
    tmi_text_shown(text, c->release);
    tmi_text_put(text, ", ");
    tmi_coin_words(text, &c->amount, true);
    if (state == TMI_OWNER_ALIVE) {
        tmi_text_put(text, ") belongs to a release that is running now.\n");
        return;
    }
    tmi_text_format(text, ") was charged on %s and never published. ", c->time);
    if (state == TMI_OWNER_UNKNOWN) {
        tmi_text_format(text,
                        "It stays charged, because %s-charge-%lld, which records what the run left behind, is missing or belongs "
                        "to another charge.\n",
                        path, (long long)c->number);
    } else {
        if (c->claimable)
            tmi_text_put(text, "Run the same command again: it takes over the charge and pays nothing. Or void the charge: ");
        else
            tmi_text_put(text, "It has no lock, so nothing records what the run left behind: if there is a folder with a dotted "
                               "name, like .june.Xa81kQ, beside its output folder, delete it. Then void the charge: ");
        tmi_text_format(text, "tamis ledger void %s %lld --reason TEXT\n", path, (long long)c->number);
    }
}

void tmi_ledger_unpublished(tmi_text *text, const tamis_ledger *ledger, size_t account, int64_t except)
{
    for (size_t i = 0; i < ledger->book.charge_count; i++) {
        const tmi_ledger_charge *c = &ledger->book.charges[i];
        if (c->account == account && c->number != except && tmi_charge_is_open(c)) put_unpublished(text, ledger, c);
    }
}
