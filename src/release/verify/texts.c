/* Verification of files that are in memory: by way of a folder that only its owner can enter. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/verify.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

static tamis_status check(const tamis_named_text *files, size_t count, tamis_error *err)
{
    if (!files && count > 0) return tmi_fail(err, TAMIS_INVALID, "files: NULL");
    for (size_t i = 0; i < count; i++) {
        const char *name = files[i].name;
        if (!name || !*name || *name == '.' || strchr(name, '/'))
            return tmi_fail(err, TAMIS_INVALID, "files: expected names of files, without folders");
        if (!files[i].bytes && files[i].length > 0) return tmi_fail(err, TAMIS_INVALID, "files: %.100s has no bytes", name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(files[k].name, name) == 0) return tmi_fail(err, TAMIS_INVALID, "files: duplicate %.100s", name);
    }
    return TAMIS_OK;
}

static tamis_status write_file(int folder, const tamis_named_text *file, tamis_error *err)
{
    const int made = openat(folder, file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t done = 0;
    while (made >= 0 && done < file->length) {
        const ssize_t n = write(made, file->bytes + done, file->length - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    if (made >= 0) close(made);
    if (made >= 0 && done == file->length) return TAMIS_OK;
    return tmi_because(err, "disk", tmi_fail(err, TAMIS_SYSTEM, "%.100s: cannot be written to a temporary folder", file->name));
}

tamis_status tamis_verify_texts_json(int *ok, char **json, const tamis_named_text *files, size_t count,
                                     const tamis_verify_options *options, tamis_error *err)
{
    if (!ok || !json) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", ok ? "json" : "ok");
    *ok = 0;
    *json = NULL;
    tamis_status status = check(files, count, err);
    if (status != TAMIS_OK) return status;
    const char *place = getenv("TMPDIR");
    char *path = NULL;
    int folder = -1;
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_format(&text, "%s/tamis-verify-XXXXXX", place && *place ? place : "/tmp");
    TMI_TRY(tmi_text_take(&path, &text, err));
    if (!mkdtemp(path) || (folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        TMI_TRY(tmi_because(err, "disk", tmi_fail(err, TAMIS_SYSTEM, "no temporary folder can be made for the files")));
    for (size_t i = 0; i < count; i++) TMI_TRY(write_file(folder, &files[i], err));
    TMI_TRY(tamis_verify_json(ok, json, path, options, err));

done:
    for (size_t i = 0; folder >= 0 && i < count; i++) unlinkat(folder, files[i].name, 0);
    if (folder >= 0) close(folder);
    if (path) rmdir(path);
    tmi_free(path);
    return status;
}
