#include "base/leftover.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"

tamis_status tmi_leftover_path(char **path, const char *folder, tamis_error *err)
{
    char real[PATH_MAX];
    *path = NULL;
    if (!realpath(folder, real)) return tmi_fail(err, TAMIS_SYSTEM, "%s: cannot find its full path: %s", folder, strerror(errno));
    *path = tmi_copy_text(real, strlen(real));
    return *path ? TAMIS_OK : tmi_fail_memory(err);
}

/* ".NAME.XXXXXX", as mkdtemp makes it. */
static bool is_temporary(const char *name)
{
    const size_t length = strlen(name);
    if (name[0] != '.' || length < sizeof ".a.XXXXXX" - 1 || name[length - 7] != '.') return false;
    for (size_t i = length - 6; i < length; i++)
        if (!isalnum((unsigned char)name[i])) return false;
    return true;
}

static tamis_status refuse(const char *path, const char *why, tamis_error *err)
{
    return tmi_fail(err, TAMIS_REFUSED,
                    "the unpublished files in %s cannot be deleted: %s. Delete that folder yourself, and try again", path, why);
}

/* The folder of the last name, open, without following a link; -1 with errno. */
static int open_parent(const char *path, const char *end)
{
    int at = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *name = path + 1; at >= 0 && name < end;) {
        char part[NAME_MAX + 1];
        const size_t length = strcspn(name, "/");
        if (length > NAME_MAX) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        snprintf(part, sizeof part, "%.*s", (int)length, name);
        name += length + 1;
        const int next = openat(at, part, (name < end ? O_PATH : O_RDONLY) | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                  reason = errno;
        close(at);
        at = next;
        errno = reason;
    }
    return at;
}

/* The number of the file system, unlike that of its device, is the same after a restart; some file systems have none, and say
 * 0. */
static bool home_of(char home[TMI_LEFTOVER_HOME], int folder)
{
    struct stat facts;
    struct statvfs system;
    if (fstat(folder, &facts) != 0 || fstatvfs(folder, &system) != 0) return false;
    snprintf(home, TMI_LEFTOVER_HOME, "%lx:%llu", system.f_fsid, (unsigned long long)facts.st_ino);
    return true;
}

bool tmi_leftover_home(char home[TMI_LEFTOVER_HOME], const char *path)
{
    const int parent = open_parent(path, strrchr(path, '/'));
    if (parent < 0) return false;
    const bool known = home_of(home, parent);
    const int reason = errno;
    close(parent);
    errno = reason;
    return known;
}

/* Files only: what else is in it was not put there by us, and then the folder itself cannot be deleted. False with errno. */
static bool remove_files(int folder)
{
    DIR *list = fdopendir(folder);
    bool right = list != NULL;
    if (!list) close(folder);
    for (struct dirent *entry; right && (errno = 0, entry = readdir(list)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        right = unlinkat(dirfd(list), entry->d_name, 0) == 0 || errno == ENOENT;
    }
    right = right && errno == 0 && (fsync(dirfd(list)) == 0 || errno == EINVAL);
    const int reason = errno;
    if (list) closedir(list);
    errno = reason;
    return right;
}

/* The folder in which the files were is not at its place. */
static tamis_status refuse_moved(const char *path, const char *slash, const char *what, tamis_error *err)
{
    return tmi_fail(err, TAMIS_REFUSED,
                    "%.*s %s, so tamis cannot tell whether the unpublished files in %s were deleted. If the folder was moved or "
                    "renamed, move it back (a copy is not enough) and try again. If it was deleted, that can no longer be "
                    "proved, and the charge stays",
                    (int)(slash > path ? slash - path : 1), path, what, path);
}

tamis_status tmi_leftover_remove(const char *path, const char *home, tamis_error *err)
{
    char now[TMI_LEFTOVER_HOME];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat facts;
    tamis_status status = TAMIS_OK;
    if (path[0] != '/' || !is_temporary(name)) return refuse(path, "this is not the name of a temporary folder", err);
    const int parent = open_parent(path, slash);
    if (parent < 0) {
        const int reason = errno;
        return reason == ENOENT ? refuse_moved(path, slash, "does not exist", err) : refuse(path, strerror(reason), err);
    }
    if (!home_of(now, parent) || strcmp(now, home) != 0) {
        status = refuse_moved(path, slash, "is not the folder that had this name when the release ran", err);
        goto done;
    }
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 && errno == ENOENT) goto done;
    if (folder < 0) {
        status = refuse(path, errno == ELOOP || errno == ENOTDIR ? "it is not a folder" : strerror(errno), err);
    } else if (fstat(folder, &facts) != 0 || facts.st_uid != geteuid()) {
        close(folder);
        status = refuse(path, "it belongs to another user", err);
    } else if (!remove_files(folder) || unlinkat(parent, name, AT_REMOVEDIR) != 0) {
        status = refuse(path, strerror(errno), err);
    } else if (fsync(parent) != 0 && errno != EINVAL) { /* EINVAL: a file system that syncs no folders */
        status = refuse(path, strerror(errno), err);
    }
done:
    close(parent);
    return status;
}
