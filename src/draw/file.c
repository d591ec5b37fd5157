#include "draw/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

#define TRIES 100 /* names that an earlier run may have left behind */

tamis_status tmi_file_check(const char *path, tamis_error *err)
{
    struct stat facts;
    const size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/') return tmi_fail(err, TAMIS_INVALID, "out: expected the name of a file");
    if (lstat(path, &facts) == 0)
        return tmi_fail(err, TAMIS_INVALID, "%s already exists, and a sample is never overwritten: choose another name", path);
    return TAMIS_OK;
}

static bool write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t n = write(file, bytes, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes += n;
        length -= (size_t)n;
    }
    return fsync(file) == 0;
}

/* Opens ".NAME.1.part", or .2 if that is there. */
static tamis_status open_part(int *file, char **part, const char *path, tamis_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    *file = -1;
    for (int i = 1; i <= TRIES && *file < 0; i++) {
        tmi_text text;
        tmi_text_init(&text);
        tmi_text_add(&text, path, (size_t)(name - path));
        tmi_text_format(&text, ".%s.%d.part", name, i);
        tmi_free(*part);
        tamis_status status = tmi_text_take(part, &text, err);
        if (status != TAMIS_OK) return status;
        *file = open(*part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*file < 0 && errno != EEXIST) break;
    }
    if (*file >= 0) return TAMIS_OK;
    const bool is_name = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    return tmi_fail(err, is_name ? TAMIS_INVALID : TAMIS_SYSTEM, "%s cannot be created: %s", path, strerror(errno));
}

tamis_status tmi_file_write(const char *path, const char *bytes, size_t length, tamis_error *err)
{
    char *part = NULL;
    int file;
    tamis_status status = open_part(&file, &part, path, err);
    if (status == TAMIS_OK) {
        bool right = write_all(file, bytes, length);
        int reason = errno;
        if (close(file) != 0 && right) right = false, reason = errno;
        if (right && renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) != 0) right = false, reason = errno;
        if (!right) {
            unlink(part);
            status = tmi_fail(err, reason == EEXIST ? TAMIS_INVALID : TAMIS_SYSTEM, "%s cannot be written: %s", path,
                              strerror(reason));
        }
    }
    tmi_free(part);
    return status;
}
