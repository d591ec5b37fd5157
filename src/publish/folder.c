#include "publish/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/leftover.h"
#include "base/memory.h"
#include "base/text.h"

static tamis_status join(char **path, const char *folder, const char *name, tamis_error *err)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_format(&text, "%s/%s", folder, name);
    return tmi_text_take(path, &text, err);
}

/* Length of the path without slashes at its end; and of the part up to the last slash that is left. */
static size_t trimmed(const char *path, size_t *parent)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    *parent = length;
    while (*parent > 0 && path[*parent - 1] != '/') (*parent)--;
    return length;
}

/* The folder that `path` is in, open: what is renamed in it can then be made durable. -1 with errno if it cannot be opened. */
static int open_parent(const char *path, size_t length)
{
    char *name = length > 0 ? tmi_copy_text(path, length) : tmi_copy_text(".", 1);
    int parent = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int reason = name ? errno : ENOMEM;
    tmi_free(name);
    errno = reason;
    return parent;
}

tamis_status tmi_folder_begin(tmi_folder *folder, const char *path, tamis_error *err)
{
    *folder = (tmi_folder){.parent = -1};
    size_t parent, length = trimmed(path, &parent);
    struct stat there;
    tamis_status status = TAMIS_OK;
    if (length == parent) return tmi_fail(err, TAMIS_INVALID, "folder: must be the name of a folder, e.g. schools-release");
    if (lstat(path, &there) == 0) {
        return tmi_fail(err, TAMIS_INVALID, "%s already exists, and a release is never overwritten: choose another folder", path);
    }
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_add(&text, path, parent);
    tmi_text_put(&text, ".");
    tmi_text_add(&text, path + parent, length - parent);
    tmi_text_put(&text, ".XXXXXX");
    folder->final = tmi_copy_text(path, length);
    TMI_TRY(tmi_text_take(&folder->temporary, &text, err));
    if (!folder->final) {
        status = tmi_fail_memory(err);
    } else if ((folder->parent = open_parent(path, parent)) < 0 || !mkdtemp(folder->temporary)) {
        int reason = errno;
        tmi_free(folder->temporary);
        folder->temporary = NULL;
        status = tmi_fail(err, reason == ENOENT || reason == ENOTDIR || reason == ENAMETOOLONG ? TAMIS_INVALID : TAMIS_SYSTEM,
                          "%s cannot be created: %s", path, strerror(reason));
    } else {
        status = tmi_leftover_path(&folder->leftover, folder->temporary, err);
        rmdir(folder->temporary);
    }

done:
    if (status != TAMIS_OK) tmi_folder_clear(folder);
    return status;
}

tamis_status tmi_folder_make(tmi_folder *folder, tamis_error *err)
{
    if (mkdir(folder->temporary, 0700) == 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_SYSTEM, "%s cannot be created: %s", folder->final, strerror(errno));
}

tamis_status tmi_folder_write(tmi_folder *folder, const char *name, const char *bytes, size_t length, tamis_error *err)
{
    char *path = NULL;
    tamis_status status = join(&path, folder->temporary, name, err);
    if (status != TAMIS_OK) return status;
    bool right = false;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
        size_t written = 0;
        while (written < length) {
            ssize_t n = write(file, bytes + written, length - written);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) break;
            written += (size_t)n;
        }
        struct stat facts;
        right = written == length && fstat(file, &facts) == 0 && fsync(file) == 0;
        if (right) folder->file_mode = facts.st_mode & 0777;
        right = close(file) == 0 && right;
    }
    if (!right) status = tmi_fail(err, TAMIS_SYSTEM, "%s/%s cannot be written: %s", folder->final, name, strerror(errno));
    tmi_free(path);
    return status;
}

/* Who may read its files may enter the folder once it has its name. If that cannot be set, the folder stays its owner's,
 * complete. */
static bool open_to_readers(const tmi_folder *folder)
{
    int opened = open(folder->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return false;
    (void)fchmod(opened, 0700 | folder->file_mode | (folder->file_mode & 0444) >> 2);
    bool durable = fsync(opened) == 0;
    int reason = errno;
    close(opened);
    errno = reason;
    return durable;
}

/* The order is that of a crash-proof rename: the files, then the folder that lists them, then the name in the parent. */
tamis_status tmi_folder_end(tmi_folder *folder, tamis_error *err)
{
    if (!open_to_readers(folder)) {
        return tmi_fail(err, TAMIS_SYSTEM, "%s cannot be written to disk durably: %s", folder->final, strerror(errno));
    }
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->final, RENAME_NOREPLACE) != 0) {
        tamis_status status = errno == EEXIST ? TAMIS_INVALID : TAMIS_SYSTEM;
        return tmi_fail(err, status, "%s cannot be renamed to its final name: %s", folder->final, strerror(errno));
    }
    if (fsync(folder->parent) != 0 && errno != EINVAL) { /* EINVAL: a file system that syncs no folders */
        const tamis_status status = tmi_fail(err, TAMIS_SYSTEM, "%s cannot be written to disk durably: %s", folder->final,
                                             strerror(errno));
        /* its name may be lost, so it is taken back, and somebody who tries again finds no folder in the way */
        if (renameat2(AT_FDCWD, folder->final, AT_FDCWD, folder->temporary, RENAME_NOREPLACE) == 0) return status;
        tmi_free(folder->temporary);
        folder->temporary = NULL;
        return tmi_fail(err, TAMIS_SYSTEM, "%s is complete, but its name may be lost if the computer stops now", folder->final);
    }
    tmi_free(folder->temporary);
    folder->temporary = NULL;
    return TAMIS_OK;
}

void tmi_folder_clear(tmi_folder *folder)
{
    DIR *dir = folder->temporary ? opendir(folder->temporary) : NULL;
    if (dir) {
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            if (entry->d_name[0] != '.') unlinkat(dirfd(dir), entry->d_name, 0);
        }
        closedir(dir);
        rmdir(folder->temporary);
    }
    if (folder->final && folder->parent >= 0) close(folder->parent);
    tmi_free(folder->temporary);
    tmi_free(folder->leftover);
    tmi_free(folder->final);
    *folder = (tmi_folder){.parent = -1};
}
