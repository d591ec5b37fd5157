/* A private folder for the files of a test. */
#ifndef TESTS_ENGINE_FOLDER_H
#define TESTS_ENGINE_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/core/engine.h"
#include "tests/engine/request.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tamis-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        remove(path);
    }
    if (dir) closedir(dir);
    return rmdir(folder);
}

/* The path of a file in the folder; good until the eighth next call. */
static inline const char *in_folder(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline const char *write_bytes(const char *name, const char *bytes, size_t length)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *write_text(const char *name, const char *text) { return write_bytes(name, text, strlen(text)); }

/* The number of rows, if the columns are there. */
static inline tamis_status count_rows(tmi_engine *engine, int64_t *rows, const tmi_column *const *columns, size_t count,
                                      const tamis_watch *watch, tamis_error *err)
{
    tmi_inventory inventory = {.columns = columns, .column_count = count, .rows = 7};
    tamis_status status = engine->describe(engine, &inventory, watch, err);
    *rows = inventory.rows;
    return status;
}

static inline tmi_engine *open_engine(const char *const *files, size_t count, unsigned threads)
{
    tmi_engine *engine;
    tamis_error err = {0};
    const tmi_source source = {.files = files, .file_count = count};
    if (tmi_engine_duckdb(&engine, &source, threads, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return engine;
}

#endif
