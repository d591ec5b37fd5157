#include "ledger/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/leftover.h"
#include "base/memory.h"

/* A first text and a few folders: as long as it stays with one claim after the other, since each begins by deleting. */
#define FOLDER (TMI_LEFTOVER_HOME + PATH_MAX)
#define LONGEST (2 * FOLDER + 256)

static bool path_of(char path[PATH_MAX], const char *ledger, int64_t entry)
{
    const int length = snprintf(path, PATH_MAX, "%s-charge-%lld", ledger, (long long)entry);
    return length > 0 && length < PATH_MAX;
}

/* The first text; false if the ledger is gone. */
#define HEAD 160
static bool head_of(char head[HEAD], const char *ledger, int64_t entry, const char *hash)
{
    struct stat facts;
    if (stat(ledger, &facts) != 0) return false;
    snprintf(head, HEAD, "tamis: charge %lld, %s, of the ledger %llu", (long long)entry, hash, (unsigned long long)facts.st_ino);
    return true;
}

/* Locks of an open file, not of a process: they are not lost when another part of the process closes the same file, and two
 * ledgers of one process are two owners. SQLite relies on the same locks of the file system. */
static bool lock(int file)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &all) == 0;
}

static bool put(int file, const char *text)
{
    size_t length = strlen(text) + 1;
    while (length > 0) {
        const ssize_t n = write(file, text, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        length -= (size_t)n;
    }
    return true;
}

/* A temporary folder: which folder it is in, a blank, its path; nothing for an empty one. False with errno. */
static bool put_folder(int file, const char *path)
{
    char home[TMI_LEFTOVER_HOME], text[FOLDER];
    if (!*path) return true;
    if (!tmi_leftover_home(home, path)) return false;
    const int length = snprintf(text, sizeof text, "%s %s", home, path);
    if (length < 0 || (size_t)length >= sizeof text) errno = ENAMETOOLONG;
    return length > 0 && (size_t)length < sizeof text && put(file, text);
}

static tamis_status remove_folder(const char *text, tamis_error *err)
{
    char home[TMI_LEFTOVER_HOME];
    const size_t length = strcspn(text, " ");
    snprintf(home, sizeof home, "%.*s", (int)(length < sizeof home ? length : 0), text);
    return tmi_leftover_remove(text[length] ? text + length + 1 : text, home, err);
}

bool tmi_sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    const int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return false;
    const bool synced = fsync(handle) == 0 || errno == EINVAL; /* some file systems sync no folders */
    close(handle);
    return synced;
}

/* The whole file; 0 if it cannot be read or is too long. */
static size_t take(char texts[LONGEST], int file)
{
    size_t length = 0;
    for (;;) {
        const ssize_t n = pread(file, texts + length, LONGEST - length, (off_t)length);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) return length;
        if (n < 0 || (length += (size_t)n) == LONGEST) return 0;
    }
}

/* Whether texts, of which `length` bytes are there, are about a charge. */
static bool is_about(const char *texts, size_t length, const char *ledger, int64_t entry, const char *hash)
{
    char head[HEAD];
    return memchr(texts, '\0', length) && head_of(head, ledger, entry, hash) && strcmp(texts, head) == 0;
}

tmi_owner_state tmi_owner_ask(const char *ledger, int64_t entry, const char *hash)
{
    char path[PATH_MAX], texts[LONGEST];
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int file = path_of(path, ledger, entry) ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    tmi_owner_state state = TMI_OWNER_UNKNOWN;
    if (file < 0) return state;
    if (is_about(texts, take(texts, file), ledger, entry, hash) && fcntl(file, F_OFD_GETLK, &all) == 0)
        state = all.l_type == F_UNLCK ? TMI_OWNER_DEAD : TMI_OWNER_ALIVE;
    close(file);
    return state;
}

/* What bears the name of a new charge's file is from a charge that was never committed, or from an earlier ledger of that
 * name: it may go. Something else may not. */
static bool is_stale(const char *path)
{
    static const char begin[] = "tamis: charge ";
    char texts[LONGEST];
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return errno == ENOENT;
    const size_t length = take(texts, file);
    struct stat facts;
    const bool stale = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                       (facts.st_size == 0 || (length > 0 && (texts[0] == '\0' || strncmp(texts, begin, sizeof begin - 1) == 0)));
    close(file);
    errno = EEXIST;
    return stale;
}

tamis_status tmi_owner_make(tmi_owner *owner, const char *ledger, int64_t entry, const char *hash, const char *leftover,
                            tamis_error *err)
{
    char path[PATH_MAX], head[HEAD];
    tamis_status status = TAMIS_OK;
    *owner = (tmi_owner){.entry = entry, .lock = -1};
    if (!path_of(path, ledger, entry) || !head_of(head, ledger, entry, hash))
        return tmi_fail(err, TAMIS_SYSTEM, "%s: cannot create a file beside it; nothing was charged", ledger);
    if (!is_stale(path) || (unlink(path) != 0 && errno != ENOENT)) goto failed;
    owner->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (owner->lock < 0 || !lock(owner->lock) || !put(owner->lock, head) || !put_folder(owner->lock, leftover) ||
        fsync(owner->lock) != 0 || !tmi_sync_folder_of(path))
        goto failed;
    return status;

failed:
    status = tmi_fail(err, TAMIS_SYSTEM, "%s cannot be written: %s; nothing was charged", path, strerror(errno));
    tmi_owner_clear(owner, ledger, owner->lock >= 0);
    return status;
}

static tamis_status remove_leftovers(const char *texts, size_t length, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t at = strlen(texts) + 1; status == TAMIS_OK && at < length;) {
        const char *end = memchr(texts + at, '\0', length - at);
        if (!end) break; /* it was never synced, so nothing was written into the folder that it would name */
        if (texts[at]) status = remove_folder(texts + at, err);
        at = (size_t)(end - texts) + 1;
    }
    return status;
}

tamis_status tmi_owner_take(tmi_owner *owner, const char *ledger, int64_t entry, const char *hash, tamis_error *err)
{
    char path[PATH_MAX], texts[LONGEST];
    tamis_error reason = {0};
    tamis_status status = TAMIS_OK;
    size_t length = 0;
    *owner = (tmi_owner){.entry = entry, .lock = -1};
    if (path_of(path, ledger, entry)) owner->lock = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (owner->lock >= 0) length = take(texts, owner->lock);
    if (owner->lock < 0 || !is_about(texts, length, ledger, entry, hash)) {
        status = tmi_fail(err, TAMIS_REFUSED,
                          "entry %lld stays charged: %s, which records what an interrupted run left behind, is %s. Was the "
                          "ledger copied, or restored from a copy?",
                          (long long)entry, path, owner->lock < 0 ? "missing" : "not about this charge");
    } else if (!lock(owner->lock)) {
        if (errno == EAGAIN || errno == EACCES)
            status = tmi_fail(err, TAMIS_REFUSED,
                              "entry %lld belongs to a release that is still running: wait until it has ended, or stop it first",
                              (long long)entry);
        else status = tmi_fail(err, TAMIS_SYSTEM, "%s cannot be locked: %s", path, strerror(errno));
    } else if ((status = remove_leftovers(texts, length, &reason)) != TAMIS_OK) {
        tmi_fail(err, status, "entry %lld stays charged: %.1200s", (long long)entry, reason.message);
    } else if (ftruncate(owner->lock, (off_t)strlen(texts) + 1) != 0 || lseek(owner->lock, 0, SEEK_END) < 0) {
        status = tmi_fail(err, TAMIS_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
    }
    if (status != TAMIS_OK) tmi_owner_clear(owner, ledger, false);
    return status;
}

tamis_status tmi_owner_leaves(const tmi_owner *owner, const char *leftover, tamis_error *err)
{
    if (put_folder(owner->lock, leftover) && fsync(owner->lock) == 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_SYSTEM, "the file beside the ledger that belongs to entry %lld cannot be written: %s",
                    (long long)owner->entry, strerror(errno));
}

void tmi_owner_sweep(const char *ledger, int64_t entry)
{
    char path[PATH_MAX];
    if (path_of(path, ledger, entry)) unlink(path);
}

void tmi_owner_clear(tmi_owner *owner, const char *ledger, bool done)
{
    if (done && owner->lock >= 0) tmi_owner_sweep(ledger, owner->entry);
    if (owner->lock >= 0) close(owner->lock);
    *owner = (tmi_owner){.lock = -1};
}
