#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

/* NAME becomes .NAME.XXXXXX in the same folder. */
static tamis_status part_name(char **part, const char *path, tamis_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_add(&text, path, (size_t)(name - path));
    tmi_text_format(&text, ".%s.XXXXXX", name);
    return tmi_text_take(part, &text, err);
}

tamis_status tmi_output_check(const tamis_stream *out, tamis_error *err)
{
    struct stat facts;
    if (out->stream) return TAMIS_OK;
    if (!out->path) return tmi_fail(err, TAMIS_INVALID, "out: must not be NULL");
    const size_t length = strlen(out->path);
    if (length == 0 || out->path[length - 1] == '/') return tmi_fail(err, TAMIS_INVALID, "out: must be the name of a file");
    if (lstat(out->path, &facts) == 0)
        return tmi_fail(err, TAMIS_INVALID, "%s already exists, and is never overwritten: choose another name", out->path);
    return TAMIS_OK;
}

tamis_status tmi_output_open(tmi_output *output, const tamis_stream *out, tamis_error *err)
{
    const char *path = out->path;
    *output = (tmi_output){.file = out->stream, .path = path};
    tamis_status status = tmi_output_check(out, err);
    if (status != TAMIS_OK || out->stream) return status;
    status = part_name(&output->part, path, err);
    if (status != TAMIS_OK) return status;
    int file = mkostemp(output->part, O_CLOEXEC);
    if (file >= 0) {
        mode_t mask = umask(0);
        umask(mask);
        (void)!fchmod(file, 0666 & ~mask);
        output->file = fdopen(file, "wb");
        output->ours = output->file != NULL;
        if (output->ours) return TAMIS_OK;
        close(file);
        unlink(output->part);
    }
    int reason = errno;
    tmi_free(output->part);
    output->part = NULL;
    bool is_name = reason == ENOENT || reason == ENOTDIR || reason == ENAMETOOLONG;
    return tmi_fail(err, is_name ? TAMIS_INVALID : TAMIS_SYSTEM, "%s cannot be created: %s", path, strerror(reason));
}

tamis_status tmi_output_keep(tmi_output *output, tamis_error *err)
{
    bool right = fflush(output->file) == 0 && !ferror(output->file);
    right = right && (!output->ours || fsync(fileno(output->file)) == 0);
    if (right && !output->ours) return TAMIS_OK;
    right = right && renameat2(AT_FDCWD, output->part, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0;
    int reason = errno;
    if (!right)
        return tmi_fail(err, reason == EEXIST ? TAMIS_INVALID : TAMIS_SYSTEM, "%s cannot be written: %s", output->path,
                        strerror(reason));
    tmi_free(output->part);
    output->part = NULL;
    return TAMIS_OK;
}

void tmi_output_clear(tmi_output *output)
{
    if (output->ours) fclose(output->file);
    if (output->part) unlink(output->part);
    tmi_free(output->part);
    *output = (tmi_output){0};
}
