/* Opening: where the file is, whose it is, and how it is written so that nothing is lost.
 *
 * On a disk of this computer commits go to a write-ahead log: one wait for the disk each. On any other file system, where
 * processes on two computers could meet, they go through a rollback journal, which needs nothing but the locks of the
 * file. Both are durable with synchronous = EXTRA, and a process that dies at any moment leaves what it had committed.  */
#include "ledger/open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "ledger/owner.h"

#define APPLICATION 1413565769 /* "TAMI" */
#define FORMAT 2 /* of new files; others are read, and raised by the first entry that needs a later one (docs/ledger.md) */
#define FIRST_FORMAT 1
#define LAST_FORMAT 6
#define WAIT_MS 10000

/* The whole schema, in the order of the names. */
static const char *const schema[][2] = {
    {"entries", "CREATE TABLE entries(number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)"},
    {"entries_are_not_changed", "CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, "
                                "'entries are only added'); END"},
    {"entries_are_not_deleted", "CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, "
                                "'entries are only added'); END"},
    {"measurements", "CREATE TABLE measurements(number INTEGER PRIMARY KEY, text TEXT NOT NULL)"},
    {"measurements_are_not_changed", "CREATE TRIGGER measurements_are_not_changed BEFORE UPDATE ON measurements BEGIN SELECT "
                                     "RAISE(ABORT, 'measurements are only added'); END"},
    {"measurements_are_not_deleted", "CREATE TRIGGER measurements_are_not_deleted BEFORE DELETE ON measurements BEGIN SELECT "
                                     "RAISE(ABORT, 'measurements are only added'); END"},
};
#define SCHEMA (sizeof schema / sizeof *schema)

const char *tmi_store_path(const tmi_store *file) { return file->path; }

const char *tmi_store_place(const tmi_store *file) { return file->full; }

tamis_status tmi_store_fail(const tmi_store *file, int code, tamis_error *err)
{
    const char *path = file->path;
    const int reason = file->db ? sqlite3_system_errno(file->db) : 0;
    switch (code & 0xff) {
    case SQLITE_NOMEM: return tmi_fail_memory(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tmi_fail_file(err, TAMIS_SYSTEM, path, 0,
                             "another process has been using the ledger for more than %d seconds; try again", WAIT_MS / 1000);
    case SQLITE_FULL: return tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "the disk is full");
    case SQLITE_READONLY: return tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "the ledger, or its folder, is read-only");
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "the ledger, or a file beside it, cannot be opened: %s",
                             reason ? strerror(reason) : "perhaps its folder is read-only");
    case SQLITE_NOTADB: return tmi_fail_file(err, TAMIS_INVALID, path, 0, "not a ledger of tamis");
    case SQLITE_CORRUPT: return tmi_fail_file(err, TAMIS_INVALID, path, 0, "damaged: the file is inconsistent");
    case SQLITE_IOERR:
        return tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "the disk failed: %s", reason ? strerror(reason) : sqlite3_errstr(code));
    default: return tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "%s", file->db ? sqlite3_errmsg(file->db) : sqlite3_errstr(code));
    }
}

static tamis_status run(tmi_store *file, const char *sql, tamis_error *err)
{
    int code = sqlite3_exec(file->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TAMIS_OK : tmi_store_fail(file, code, err);
}

tamis_status tmi_store_ask(int64_t *answer, tmi_store *file, const char *sql, tamis_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL);
    *answer = 0;
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? TAMIS_OK : tmi_store_fail(file, code, err);
}

/* ---- the place ---- */

/* The path with its folder resolved, so that a link in its last part is seen as one. */
static tamis_status resolve(char **full, const char *path, tamis_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? tmi_copy_text(path, slash == path ? 1 : (size_t)(slash - path)) : tmi_copy_text(".", 1);
    char real[PATH_MAX];
    tmi_text text;
    tamis_status status = TAMIS_OK;
    if (!folder) return tmi_fail_memory(err);
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        status = tmi_fail_file(err, TAMIS_INVALID, path, 0, "expected the name of a file, e.g. schools.ledger");
    } else if (!realpath(folder, real)) {
        const int reason = errno;
        status = tmi_fail_file(err,
                               reason == ENOENT || reason == ENOTDIR || reason == ENAMETOOLONG ? TAMIS_INVALID : TAMIS_SYSTEM,
                               path, 0, "its folder cannot be used: %s", strerror(reason));
    } else {
        tmi_text_init(&text);
        tmi_text_format(&text, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
        status = tmi_text_take(full, &text, err);
    }
    tmi_free(folder);
    return status;
}

/* Makes an empty file for its owner alone. An existing one is not opened here: closing it would drop the locks that another
 * ledger of this process holds on it. */
static tamis_status make(const char *path, const char *full, tamis_error *err)
{
    int handle = open(full, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (handle < 0 && errno == EEXIST) return TAMIS_OK; /* another process was quicker */
    if (handle < 0) {
        return tmi_fail_file(err, errno == ENAMETOOLONG ? TAMIS_INVALID : TAMIS_SYSTEM, path, 0,
                             "the ledger cannot be created: %s", strerror(errno));
    }
    close(handle);
    (void)tmi_sync_folder_of(full); /* as SQLite does: some file systems have no such call for folders */
    return TAMIS_OK;
}

static tamis_status check_place(const char *path, const char *full, bool writing, tamis_error *err)
{
    struct stat there;
    if (lstat(full, &there) != 0) {
        if (errno == ENOENT && writing) return make(path, full, err);
        if (errno == ENOENT) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "there is no such file");
        return tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "%s", strerror(errno));
    }
    if (S_ISLNK(there.st_mode)) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "a symbolic link: name the ledger itself");
    if (!S_ISREG(there.st_mode)) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "not a file");
    if (there.st_nlink > 1)
        return tmi_fail_file(err, TAMIS_INVALID, path, 0,
                             "the file has a second name (a hard link), under which its journal would not be found");
    return TAMIS_OK;
}

/* A rollback journal whose end names a "super-journal" makes SQLite delete that file, wherever it is. SQLite writes such a
 * name only for transactions over several databases, which a ledger never takes part in: somebody else wrote it. */
static tamis_status check_rollback(const char *path, const char *full, tamis_error *err)
{
    static const unsigned char mark[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char end[sizeof mark];
    char name[PATH_MAX];
    struct stat there;
    bool fine = snprintf(name, sizeof name, "%s-journal", full) < (int)sizeof name;
    const int handle = fine ? open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (handle < 0 && fine && errno == ENOENT) return TAMIS_OK;
    fine = handle >= 0 && fstat(handle, &there) == 0 && S_ISREG(there.st_mode);
    if (fine && there.st_size >= (off_t)sizeof mark)
        fine = pread(handle, end, sizeof end, there.st_size - (off_t)sizeof end) == (ssize_t)sizeof end &&
               memcmp(end, mark, sizeof mark) != 0;
    if (handle >= 0) close(handle);
    if (fine) return TAMIS_OK;
    return tmi_fail_file(
        err, TAMIS_INVALID, path, 0,
        "its rollback journal (the same name with -journal) is not one that tamis wrote: look where both come from");
}

/* Whether only processes of this computer can reach it. */
static bool is_local(const char *full)
{
    static const unsigned long local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,       BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                          TMPFS_MAGIC,      OVERLAYFS_SUPER_MAGIC, 0x2FC12FC1UL /* ZFS */};
    struct statfs facts;
    if (statfs(full, &facts) != 0) return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((unsigned long)facts.f_type == local[i]) return true;
    return false;
}

/* ---- whose it is ---- */

static tamis_status check_schema(tmi_store *file, tmi_faults *faults, tamis_error *err)
{
    sqlite3_stmt *statement = NULL;
    tamis_status status = TAMIS_OK;
    size_t found = 0;
    int code = sqlite3_prepare_v2(file->db, "SELECT name, sql FROM sqlite_schema ORDER BY name", -1, &statement, NULL);
    while (status == TAMIS_OK && code != SQLITE_DONE) {
        if (code == SQLITE_OK || code == SQLITE_ROW) code = sqlite3_step(statement);
        if (code == SQLITE_DONE) break;
        if (code != SQLITE_ROW) {
            status = tmi_store_fail(file, code, err);
            break;
        }
        const char *name = (const char *)sqlite3_column_text(statement, 0),
                   *sql = (const char *)sqlite3_column_text(statement, 1);
        if (found < SCHEMA && name && sql && strcmp(name, schema[found][0]) == 0 && strcmp(sql, schema[found][1]) == 0) found++;
        else found = SCHEMA + 1;
    }
    sqlite3_finalize(statement);
    if (status != TAMIS_OK || found == SCHEMA) return status;
    tamis_error reason = {0};
    if (tmi_fault_note(faults, &reason, "tables", "they are not those that tamis created") == TAMIS_OK) return TAMIS_OK;
    return tmi_fail_file(err, reason.status, file->path, 0, "%s", reason.message);
}

static tamis_status check_identity(tmi_store *file, tmi_faults *faults, tamis_error *err)
{
    int64_t application, tables;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_store_ask(&application, file, "PRAGMA application_id", err));
    TMI_TRY(tmi_store_ask(&file->format, file, "PRAGMA user_version", err));
    TMI_TRY(tmi_store_ask(&tables, file, "SELECT count(*) FROM sqlite_schema", err));
    file->empty = application == 0 && file->format == 0 && tables == 0;
    if (file->empty) goto done;
    if (application != APPLICATION) {
        status = tmi_fail_file(err, TAMIS_INVALID, file->path, 0, "not a ledger of tamis but another program's database");
    } else if (file->format < FIRST_FORMAT || file->format > LAST_FORMAT) {
        status = tmi_fail_file(
            err, TAMIS_INVALID, file->path, 0,
            "a ledger of format %lld, written by another version of tamis; this version reads formats %d to %d",
            (long long)file->format, FIRST_FORMAT, LAST_FORMAT);
    } else {
        status = check_schema(file, faults, err);
    }
done:
    return status;
}

/* In one transaction: a ledger that another process is just making is seen before that or after it. */
static tamis_status identify(tmi_store *file, tmi_faults *faults, tamis_error *err)
{
    tamis_status status = run(file, "BEGIN", err);
    if (status == TAMIS_OK) status = check_identity(file, faults, err);
    tamis_error ended = {0};
    const tamis_status end = sqlite3_get_autocommit(file->db) ? TAMIS_OK : run(file, "ROLLBACK", &ended);
    return status == TAMIS_OK && end != TAMIS_OK ? tmi_fail_as(err, &ended) : status;
}

static tamis_status make_tables(tmi_store *file, tamis_error *err)
{
    char marks[96];
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_store_begin(file, true, err));
    TMI_TRY(check_identity(file, NULL, err));
    if (file->empty) { /* still; else another process has made them */
        for (size_t i = 0; i < SCHEMA; i++) TMI_TRY(run(file, schema[i][1], err));
        snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION, FORMAT);
        TMI_TRY(run(file, marks, err));
    }
    TMI_TRY(tmi_store_commit(file, err));
    if (file->empty) file->format = FORMAT;
    file->empty = false;
done:
    tmi_store_cancel(file);
    return status;
}

tamis_status tmi_store_need_format(tmi_store *file, int64_t format, tamis_error *err)
{
    char mark[48];
    if (file->format >= format) return TAMIS_OK; /* asked again when it is opened again */
    snprintf(mark, sizeof mark, "PRAGMA user_version = %d", (int)format);
    return run(file, mark, err);
}

/* ---- how it is written ---- */

static tamis_status choose_journal(tmi_store *file, bool local, tamis_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(file->db, local ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE", -1, &statement,
                                  NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    bool log = code == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    sqlite3_finalize(statement);
    if (local && (code & 0xff) == SQLITE_BUSY) return TAMIS_OK; /* somebody is writing the other way, which will do */
    if (code != SQLITE_ROW) return tmi_store_fail(file, code, err);
    if (log && !local)
        return tmi_fail_file(err, TAMIS_SYSTEM, file->path, 0,
                             "another process is using the ledger in a way that a shared drive does not allow; try again");
    return TAMIS_OK;
}

static tamis_status connect(tmi_store *file, const char *name, int flags, tamis_error *err)
{
    int code = sqlite3_open_v2(name, &file->db, flags, NULL);
    if (code != SQLITE_OK) return tmi_store_fail(file, code, err);
    sqlite3_extended_result_codes(file->db, 1);
    sqlite3_busy_timeout(file->db, WAIT_MS);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return run(file, "PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON; PRAGMA cell_size_check = ON", err);
}

static void disconnect(tmi_store *file)
{
    for (size_t i = 0; i < TMI_ORDERS; i++) {
        sqlite3_finalize(file->orders[i]);
        file->orders[i] = NULL;
    }
    sqlite3_close(file->db);
    file->db = NULL;
}

/* A ledger that nobody can write to, for instance on a read-only disk, has no log beside it and needs none; SQLite does not
 * find that out by itself. */
static tamis_status connect_unchanging(tmi_store *file, const char *full, tamis_error *err)
{
    tmi_text uri;
    tamis_status status = TAMIS_OK;
    disconnect(file);
    tmi_text_init(&uri);
    tmi_text_put(&uri, "file:");
    for (const char *c = full; *c; c++) {
        if (strchr("%?#", *c)) tmi_text_format(&uri, "%%%02X", (unsigned char)*c);
        else tmi_text_add(&uri, c, 1);
    }
    tmi_text_put(&uri, "?immutable=1");
    status = uri.failed ? tmi_fail_memory(err) : connect(file, uri.bytes, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    tmi_text_clear(&uri);
    return status;
}

static bool has_log(const char *full)
{
    struct stat there;
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s-wal", full);
    return lstat(name, &there) == 0 || errno != ENOENT;
}

tamis_status tmi_store_open(tmi_store **file, const char *path, tmi_opening how, tmi_faults *faults, tamis_error *err)
{
    const bool writing = how != TMI_LOOK;
    tamis_error reason = {0};
    tamis_status status = TAMIS_OK;
    tmi_store *new = tmi_alloc(1, sizeof *new);
    *file = NULL;
    if (!new || !(new->path = tmi_copy_text(path, strlen(path)))) {
        status = tmi_fail_memory(err);
        goto done;
    }
    TMI_TRY(resolve(&new->full, path, err));
    TMI_TRY(check_place(path, new->full, writing, err));
    TMI_TRY(check_rollback(path, new->full, err));
    status = connect(new, new->full, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, &reason);
    if (status == TAMIS_OK) status = identify(new, faults, &reason);
    if (status == TAMIS_SYSTEM && !writing && access(new->full, W_OK) != 0 && !has_log(new->full)) {
        status = connect_unchanging(new, new->full, &reason);
        if (status == TAMIS_OK) status = identify(new, faults, &reason);
    }
    if (status != TAMIS_OK) {
        tmi_fail_as(err, &reason);
        goto done;
    }
    if (writing) {
        TMI_TRY(choose_journal(new, how == TMI_CHARGE && is_local(new->full), err));
        if (new->empty) TMI_TRY(make_tables(new, err));
    }
    *file = new;
    new = NULL;
done:
    tmi_store_close(new);
    return status;
}

void tmi_store_close(tmi_store *file)
{
    if (!file) return;
    disconnect(file);
    tmi_free(file->path);
    tmi_free(file->full);
    tmi_free(file);
}
