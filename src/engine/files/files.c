#include "engine/files/files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "engine/files/scan.h"

bool tmi_ends_in(const char *name, const char *ending)
{
    const size_t length = strlen(name), n = strlen(ending);
    return length > n && strcasecmp(name + length - n, ending) == 0;
}

tamis_status tmi_file_may_be_table(const char *name, tamis_error *err)
{
    if (tmi_ends_in(name, ".csv") || tmi_ends_in(name, ".parquet") || tmi_ends_in(name, ".duckdb") || tmi_ends_in(name, ".db"))
        return TAMIS_OK;
    return tmi_fail_file(err, TAMIS_INVALID, name, 0, "the name of a file must end in .csv, .parquet, .duckdb or .db");
}

tamis_status tmi_file_init(tmi_file *file, const char *name, tamis_error *err)
{
    *file = (tmi_file){.given = tmi_copy_text(name, strlen(name))};
    return file->given ? TAMIS_OK : tmi_fail_memory(err);
}

void tmi_file_clear(tmi_file *file)
{
    tmi_free(file->given);
    tmi_free(file->path);
    *file = (tmi_file){0};
}

tamis_status tmi_file_find(tmi_file *file, tamis_error *err)
{
    char path[PATH_MAX];
    struct stat facts;
    tmi_free(file->path);
    file->path = NULL;
    if (!realpath(file->given, path) || stat(path, &facts) != 0)
        return tmi_fail_file_more(err, TAMIS_INVALID, file->given, 0, "%s", strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return tmi_fail_file_more(err, TAMIS_INVALID, file->given, 0, "%s, not a file",
                                  S_ISDIR(facts.st_mode) ? "a folder" : "a device or pipe");
    if (access(path, R_OK) != 0) return tmi_fail_file_more(err, TAMIS_INVALID, file->given, 0, "%s", strerror(errno));
    file->device = facts.st_dev;
    file->inode = facts.st_ino;
    file->path = tmi_copy_text(path, strlen(path));
    return file->path ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tmi_file_differs(const tmi_file *file, const tmi_file *const *before, size_t count, tamis_error *err)
{
    for (size_t f = 0; f < count; f++)
        if (before[f]->device == file->device && before[f]->inode == file->inode)
            return tmi_fail_file_more(err, TAMIS_INVALID, file->given, 0, "the same file as %s: its rows would count twice",
                                      before[f]->given);
    return TAMIS_OK;
}

tamis_status tmi_files_find(tmi_file *files, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const tmi_file **before = tmi_alloc(count, sizeof *before);
    if (!before) return tmi_fail_memory(err);
    tmi_error_reset(err);
    for (size_t f = 0; f < count && status != TAMIS_SYSTEM; f++) {
        const tamis_status found = tmi_file_find(&files[f], err);
        if (found != TAMIS_OK) status = found;
    }
    for (size_t f = 0; status == TAMIS_OK && f < count; f++) {
        before[f] = &files[f];
        const tamis_status differs = tmi_file_differs(&files[f], before, f, err);
        if (differs != TAMIS_OK) status = differs;
    }
    tmi_free(before);
    return status;
}

static void free_scanner(tmi_scanner *scanner)
{
    tmi_file_scanner *s = scanner->state;
    for (size_t f = 0; f < s->file_count; f++) tmi_file_clear(&s->files[f]);
    tmi_free(s->files);
    tmi_free(s);
}

tamis_status tmi_engine_of_files(tmi_engine **engine, const tmi_source *source, tmi_scanner scanner,
                                 bool (*fits)(const char *name), const char *message, unsigned threads, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *engine = NULL;
    if (!source || !source->files || source->file_count == 0) return tmi_fail(err, TAMIS_INVALID, "the source names no file");
    tmi_file_scanner *s = tmi_alloc(1, sizeof *s);
    if (!s) return tmi_fail_memory(err);
    scanner.state = s;
    scanner.in_parts = true;
    scanner.free = free_scanner;
    s->scanner = scanner;
    s->files = tmi_alloc(source->file_count, sizeof *s->files);
    if (!s->files) status = tmi_fail_memory(err);
    for (size_t f = 0; status == TAMIS_OK && f < source->file_count; f++) {
        const char *name = source->files[f] ? source->files[f] : "";
        if (!fits(name)) status = tmi_fail_file(err, TAMIS_INVALID, name, 0, "%s", message);
        else status = tmi_file_init(&s->files[s->file_count++], name, err);
    }
    if (status == TAMIS_OK) return tmi_engine_take_scanner(engine, &s->scanner, threads, err);
    free_scanner(&s->scanner);
    return status;
}
