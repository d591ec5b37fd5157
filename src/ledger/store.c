#include "ledger/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/open.h"

static const char *const texts[TMI_ORDERS] = {
    [TMI_ORDER_READ] = "BEGIN",
    [TMI_ORDER_WRITE] = "BEGIN IMMEDIATE",
    [TMI_ORDER_COMMIT] = "COMMIT",
    [TMI_ORDER_CANCEL] = "ROLLBACK",
    [TMI_ORDER_ENTRIES] = "SELECT number, entry, hash FROM entries WHERE number >= ? ORDER BY number",
    [TMI_ORDER_ADD] = "INSERT INTO entries VALUES (?, ?, ?)",
    [TMI_ORDER_KEEP] = "INSERT INTO measurements VALUES (?, ?)",
    [TMI_ORDER_KEPT] = "SELECT text FROM measurements WHERE number = ?",
};

/* The order, ready to be bound. */
static tamis_status order(sqlite3_stmt **statement, tmi_store *file, tmi_order which, tamis_error *err)
{
    int code = SQLITE_OK;
    if (!file->orders[which])
        code = sqlite3_prepare_v3(file->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, &file->orders[which], NULL);
    *statement = file->orders[which];
    return code == SQLITE_OK ? TAMIS_OK : tmi_store_fail(file, code, err);
}

/* Runs an order without rows whose values, if any, are bound. Bindings do not outlive it. */
static tamis_status carry_out(tmi_store *file, sqlite3_stmt *statement, tamis_error *err)
{
    int code = sqlite3_step(statement);
    tamis_status status = code == SQLITE_DONE ? TAMIS_OK : tmi_store_fail(file, code, err);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

static tamis_status simply(tmi_store *file, tmi_order which, tamis_error *err)
{
    sqlite3_stmt *statement;
    tamis_status status = order(&statement, file, which, err);
    return status == TAMIS_OK ? carry_out(file, statement, err) : status;
}

tamis_status tmi_store_begin(tmi_store *file, bool writing, tamis_error *err)
{
    int moved = 0;
    if (writing && sqlite3_file_control(file->db, NULL, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
        return tmi_fail_file(err, TAMIS_SYSTEM, file->path, 0, "the ledger was moved or deleted while it was open");
    return simply(file, writing ? TMI_ORDER_WRITE : TMI_ORDER_READ, err);
}

tamis_status tmi_store_commit(tmi_store *file, tamis_error *err) { return simply(file, TMI_ORDER_COMMIT, err); }

void tmi_store_cancel(tmi_store *file)
{
    if (!sqlite3_get_autocommit(file->db)) simply(file, TMI_ORDER_CANCEL, NULL);
}

static const char *text_at(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) != SQLITE_TEXT) return NULL;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text && strlen(text) == (size_t)sqlite3_column_bytes(statement, column) ? text : NULL;
}

/* Rows from `first` on. A row that is not two texts is reported with NULL for what is not a text. */
static tamis_status each_from(tmi_store *file, int64_t first, tmi_entry_seen *seen, void *context, tamis_error *err)
{
    sqlite3_stmt *statement;
    if (file->empty) return TAMIS_OK;
    tamis_status status = order(&statement, file, TMI_ORDER_ENTRIES, err);
    if (status != TAMIS_OK) return status;
    sqlite3_bind_int64(statement, 1, first);
    while (status == TAMIS_OK) {
        int code = sqlite3_step(statement);
        if (code == SQLITE_DONE) break;
        if (code == SQLITE_ROW)
            status = seen(context, sqlite3_column_int64(statement, 0), text_at(statement, 1), text_at(statement, 2), err);
        else status = tmi_store_fail(file, code, err);
    }
    sqlite3_reset(statement);
    return status;
}

tamis_status tmi_store_each(tmi_store *file, tmi_entry_seen *seen, void *context, tamis_error *err)
{
    return each_from(file, 1, seen, context, err);
}

typedef struct catching {
    tmi_book *book;
    tmi_faults *faults;
    int64_t last, limit;
    bool met; /* the last entry that the book knows, unchanged */
} catching;

static tamis_status take_row(void *context, int64_t number, const char *entry, const char *hash, tamis_error *err)
{
    catching *c = context;
    char field[32];
    if (number == c->last && hash && c->last > 0) {
        c->met = strcmp(hash, c->book->hash) == 0;
        return TAMIS_OK;
    }
    if (number > c->limit) return TAMIS_OK;
    if (entry && hash) return tmi_book_add(c->book, number, entry, hash, c->faults, err);
    snprintf(field, sizeof field, "entry %" PRId64, number);
    return tmi_fault_note(c->faults, err, field, "the row contains no text");
}

static tamis_status catch_up(tmi_store *file, tmi_book *book, int64_t limit, tmi_faults *faults, tamis_error *err)
{
    catching c = {.book = book, .faults = faults, .last = book->number, .limit = limit};
    tamis_error reason = {0};
    int64_t first = c.last > 0 ? c.last : INT64_MIN;
    tamis_status status = each_from(file, first, take_row, &c, &reason);
    if (status == TAMIS_OK && c.last > 0 && !c.met)
        status = tmi_fault_note(faults, &reason, "chain", "entries have disappeared or changed since they were last read");
    if (status == TAMIS_INVALID && reason.items[0].file == 0)
        return tmi_fail_file(err, status, file->path, 0, "%s", reason.message);
    return status == TAMIS_OK ? TAMIS_OK : tmi_fail_as(err, &reason);
}

tamis_status tmi_store_catch_up(tmi_store *file, tmi_book *book, tmi_faults *faults, tamis_error *err)
{
    return catch_up(file, book, INT64_MAX, faults, err);
}

tamis_status tmi_store_catch_up_to(tmi_store *file, tmi_book *book, int64_t number, tamis_error *err)
{
    return catch_up(file, book, number, NULL, err);
}

tamis_status tmi_store_add_entry(tmi_store *file, int64_t number, const char *entry, const char *hash, tamis_error *err)
{
    sqlite3_stmt *statement;
    tamis_status status = order(&statement, file, TMI_ORDER_ADD, err);
    if (status != TAMIS_OK) return status;
    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_text64(statement, 2, entry, strlen(entry), SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_text64(statement, 3, hash, strlen(hash), SQLITE_STATIC, SQLITE_UTF8);
    return carry_out(file, statement, err);
}

tamis_status tmi_store_add_measurements(tmi_store *file, int64_t number, const char *text, tamis_error *err)
{
    sqlite3_stmt *statement;
    tamis_status status = order(&statement, file, TMI_ORDER_KEEP, err);
    if (status != TAMIS_OK) return status;
    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_text64(statement, 2, text, strlen(text), SQLITE_STATIC, SQLITE_UTF8);
    return carry_out(file, statement, err);
}

tamis_status tmi_store_measurements(char **text, tmi_store *file, int64_t number, tamis_error *err)
{
    sqlite3_stmt *statement;
    tamis_status status = order(&statement, file, TMI_ORDER_KEPT, err);
    *text = NULL;
    if (status != TAMIS_OK) return status;
    sqlite3_bind_int64(statement, 1, number);
    int code = sqlite3_step(statement);
    const char *found = code == SQLITE_ROW ? text_at(statement, 0) : NULL;
    if (code != SQLITE_ROW && code != SQLITE_DONE) status = tmi_store_fail(file, code, err);
    else if (found && !(*text = tmi_copy_text(found, strlen(found)))) status = tmi_fail_memory(err);
    sqlite3_reset(statement);
    return status;
}

/* ---- a close look ---- */

static tamis_status check_pages(tmi_store *file, tmi_faults *faults, tamis_error *err)
{
    sqlite3_stmt *statement = NULL;
    tamis_status status = TAMIS_OK;
    int code = sqlite3_prepare_v2(file->db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    const char *answer = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (code != SQLITE_ROW) status = tmi_store_fail(file, code, err);
    else if (!answer || strcmp(answer, "ok") != 0) status = tmi_fault_note(faults, err, "pages", "the file is inconsistent");
    sqlite3_finalize(statement);
    return status;
}

static tamis_status check_measurements(tmi_store *file, const tmi_book *book, tmi_faults *faults, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    char *text = NULL, field[48], hash[TMI_SHA256_TEXT];
    int64_t kept = 0, rows;
    for (size_t i = 0; i < book->charge_count; i++) {
        const tmi_ledger_charge *c = &book->charges[i];
        if (!c->released) continue;
        kept++;
        TMI_TRY(tmi_store_measurements(&text, file, c->released, err));
        snprintf(field, sizeof field, "measurements %" PRId64, c->released);
        if (text) tmi_sha256_text(hash, text, strlen(text));
        if (!text) TMI_TRY(tmi_fault_note(faults, err, field, "the numbers kept for the release are missing"));
        else if (strcmp(hash, c->kept) != 0)
            TMI_TRY(tmi_fault_note(faults, err, field, "the numbers kept for the release were changed"));
        tmi_free(text);
        text = NULL;
    }
    TMI_TRY(tmi_store_ask(&rows, file, "SELECT count(*) FROM measurements", err));
    if (rows > kept) status = tmi_fault_note(faults, err, "measurements", "some belong to no release");
done:
    tmi_free(text);
    return status;
}

tamis_status tmi_store_check(tmi_store *file, const tmi_book *book, tmi_faults *faults, tamis_error *err)
{
    if (file->empty) return TAMIS_OK;
    tamis_status status = check_pages(file, faults, err);
    return status == TAMIS_OK ? check_measurements(file, book, faults, err) : status;
}
