/* A SQLite VFS that works on the real files and writes down what would reach a disk, and when: every write, truncation, sync,
 * creation and deletion, in order. From such a record a test can make the files as they may be after the power failed at any
 * moment.
 *
 * A disk promises this much: what was written before a sync of its file is there afterwards; a file that was created or deleted
 * is so after its folder was synced. SQLite's own VFS syncs the folder with the first sync of a journal or log that it opened,
 * and after a deletion if it is asked to: that is written down as a sync of its own. */
#ifndef TESTS_LEDGER_RECORDER_H
#define TESTS_LEDGER_RECORDER_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NAME_DB, NAME_LOG, NAME_JOURNAL, NAMES } recorded_name;
static const char *const name_ends[NAMES] = {"", "-wal", "-journal"};

typedef enum { CREATED, DELETED, WRITTEN, CUT, SYNCED, FOLDER_SYNCED, NOTED } recorded_kind;

typedef struct recorded {
    recorded_kind kind;
    recorded_name name; /* CREATED, DELETED */
    int file;           /* a number of its own for each file that was ever created; the ledger itself is 0 */
    int64_t offset, length;
    unsigned char *bytes; /* WRITTEN */
    int note;             /* NOTED: the test's own */
} recorded;

typedef struct recording {
    recorded *list;
    size_t count, room;
    int files, present[NAMES]; /* file of each name, -1: none */
    bool on;
} recording;

static recording tape;

static inline void record(recorded r)
{
    if (!tape.on) return;
    if (tape.count == tape.room) {
        tape.room = tape.room ? 2 * tape.room : 256;
        tape.list = realloc(tape.list, tape.room * sizeof *tape.list);
        if (!tape.list) abort();
    }
    tape.list[tape.count++] = r;
}

static inline void record_note(int note) { record((recorded){.kind = NOTED, .note = note}); }

typedef struct recorded_file {
    sqlite3_file base;
    int file;         /* -1: not one that is recorded */
    bool sync_folder; /* with the next sync */
    sqlite3_file *real;
} recorded_file;

static inline sqlite3_file *real_of(sqlite3_file *file) { return ((recorded_file *)file)->real; }
static inline int number_of_file(sqlite3_file *file) { return ((recorded_file *)file)->file; }

static int rec_close(sqlite3_file *f) { return real_of(f)->pMethods->xClose(real_of(f)); }
static int rec_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), to, n, at);
}

static int rec_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    if (number_of_file(f) >= 0 && tape.on) {
        unsigned char *bytes = malloc((size_t)n);
        if (!bytes) abort();
        memcpy(bytes, from, (size_t)n);
        record((recorded){.kind = WRITTEN, .file = number_of_file(f), .offset = at, .length = n, .bytes = bytes});
    }
    return real_of(f)->pMethods->xWrite(real_of(f), from, n, at);
}

static int rec_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    if (number_of_file(f) >= 0) record((recorded){.kind = CUT, .file = number_of_file(f), .length = size});
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int rec_sync(sqlite3_file *f, int flags)
{
    recorded_file *file = (recorded_file *)f;
    if (file->file >= 0) record((recorded){.kind = SYNCED, .file = file->file});
    if (file->sync_folder) record((recorded){.kind = FOLDER_SYNCED});
    file->sync_folder = false;
    return file->real->pMethods->xSync(file->real, flags);
}

static int rec_size(sqlite3_file *f, sqlite3_int64 *size) { return real_of(f)->pMethods->xFileSize(real_of(f), size); }
static int rec_lock(sqlite3_file *f, int level) { return real_of(f)->pMethods->xLock(real_of(f), level); }
static int rec_unlock(sqlite3_file *f, int level) { return real_of(f)->pMethods->xUnlock(real_of(f), level); }
static int rec_reserved(sqlite3_file *f, int *yes) { return real_of(f)->pMethods->xCheckReservedLock(real_of(f), yes); }
static int rec_control(sqlite3_file *f, int what, void *arg) { return real_of(f)->pMethods->xFileControl(real_of(f), what, arg); }
static int rec_sector(sqlite3_file *f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); }

/* Nothing that only some disks promise but that a write leaves the bytes beside it alone, which SQLite assumes of all today. */
static int rec_device(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f)) & SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int rec_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **at)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, at);
}
static int rec_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
static void rec_shm_barrier(sqlite3_file *f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); }
static int rec_shm_unmap(sqlite3_file *f, int erase) { return real_of(f)->pMethods->xShmUnmap(real_of(f), erase); }

static const sqlite3_io_methods rec_methods = {
    2,          rec_close,   rec_read,     rec_write,       rec_truncate,  rec_sync,
    rec_size,   rec_lock,    rec_unlock,   rec_reserved,    rec_control,   rec_sector,
    rec_device, rec_shm_map, rec_shm_lock, rec_shm_barrier, rec_shm_unmap, NULL,
    NULL,
};

static sqlite3_vfs *real_vfs, recorder_vfs;

static int rec_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *given)
{
    recorded_file *file = (recorded_file *)f;
    const recorded_name which = flags & SQLITE_OPEN_MAIN_DB        ? NAME_DB
                                : flags & SQLITE_OPEN_WAL          ? NAME_LOG
                                : flags & SQLITE_OPEN_MAIN_JOURNAL ? NAME_JOURNAL
                                                                   : NAMES;
    (void)vfs;
    *file = (recorded_file){.file = -1, .real = (sqlite3_file *)(file + 1)};
    int code = real_vfs->xOpen(real_vfs, name, file->real, flags, given);
    if (code != SQLITE_OK) return code;
    file->base.pMethods = &rec_methods;
    if (which == NAMES) return code;
    if (tape.present[which] < 0) {
        tape.present[which] = tape.files++;
        record((recorded){.kind = CREATED, .name = which, .file = tape.present[which]});
    }
    file->file = tape.present[which];
    file->sync_folder = which != NAME_DB && (flags & SQLITE_OPEN_CREATE);
    return code;
}

static int rec_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    const size_t length = strlen(name);
    (void)vfs;
    int code = real_vfs->xDelete(real_vfs, name, sync_folder);
    for (int i = NAME_LOG; i < NAMES && code == SQLITE_OK; i++) {
        const size_t end = strlen(name_ends[i]);
        if (length < end || strcmp(name + length - end, name_ends[i]) != 0 || tape.present[i] < 0) continue;
        record((recorded){.kind = DELETED, .name = (recorded_name)i, .file = tape.present[i]});
        tape.present[i] = -1;
        if (sync_folder) record((recorded){.kind = FOLDER_SYNCED});
    }
    return code;
}

/* From now on every ledger that is opened is recorded; the ledger's own file is there, empty and durable (tamis makes it so). */
static inline void recorder_start(void)
{
    real_vfs = sqlite3_vfs_find("unix");
    recorder_vfs = *real_vfs;
    recorder_vfs.zName = "recorder";
    recorder_vfs.szOsFile = (int)sizeof(recorded_file) + real_vfs->szOsFile;
    recorder_vfs.xOpen = rec_open;
    recorder_vfs.xDelete = rec_delete;
    tape = (recording){.files = 1, .present = {0, -1, -1}, .on = true};
    sqlite3_vfs_register(&recorder_vfs, 1);
}

static inline void recorder_stop(void)
{
    tape.on = false;
    sqlite3_vfs_unregister(&recorder_vfs);
    sqlite3_vfs_register(real_vfs, 1);
}

static inline void recorder_clear(void)
{
    for (size_t i = 0; i < tape.count; i++) free(tape.list[i].bytes);
    free(tape.list);
    tape = (recording){0};
}

#endif
