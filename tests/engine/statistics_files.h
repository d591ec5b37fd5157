/* Files of SPSS, Stata and SAS, written by ReadStat itself; and the rows of reference.h in them. */
#ifndef TESTS_ENGINE_STATISTICS_FILES_H
#define TESTS_ENGINE_STATISTICS_FILES_H

#include <readstat.h>

#include "tests/engine/folder.h"
#include "tests/engine/reference.h"

static inline ssize_t write_file_bytes(const void *bytes, size_t length, void *file)
{
    return fwrite(bytes, 1, length, file) == length ? (ssize_t)length : -1;
}

static inline bool has_ending(const char *name, const char *ending)
{
    return strlen(name) > strlen(ending) && strcmp(name + strlen(name) - strlen(ending), ending) == 0;
}

static inline readstat_writer_t *new_writer(const char *name)
{
    readstat_writer_t *writer = readstat_writer_init();
    readstat_set_data_writer(writer, write_file_bytes);
    if (has_ending(name, ".zsav")) readstat_writer_set_compression(writer, READSTAT_COMPRESS_BINARY);
    if (has_ending(name, ".xpt")) readstat_writer_set_file_format_version(writer, 8);
    return writer;
}

static inline void expect_written(readstat_error_t error)
{
    if (error != READSTAT_OK) fail_msg("%s", readstat_error_message(error));
}

static inline void begin_writing(readstat_writer_t *writer, const char *name, FILE *file, size_t rows)
{
    const long n = (long)rows;
    expect_written(has_ending(name, ".dta")        ? readstat_begin_writing_dta(writer, file, n)
                   : has_ending(name, ".xpt")      ? readstat_begin_writing_xport(writer, file, n)
                   : has_ending(name, ".sas7bdat") ? readstat_begin_writing_sas7bdat(writer, file, n)
                                                   : readstat_begin_writing_sav(writer, file, n));
}

/* Puts another name of the same length in the place of one: a writer allows only names that its program does. */
static inline void rename_bytes(const char *path, const char *from, const char *to)
{
    FILE *file = fopen(path, "rb+");
    const size_t n = strlen(from);
    size_t seen = 0;
    for (int c; (c = getc(file)) != EOF;) {
        seen = c == from[seen] ? seen + 1 : c == from[0];
        if (seen < n) continue;
        fseek(file, -(long)n, SEEK_CUR);
        fputs(to, file);
        fseek(file, 0, SEEK_CUR);
        seen = 0;
    }
    assert_int_equal(fclose(file), 0);
}

/* What has no place in a SAS transport file (numbers beyond 1e75 or so) or means "missing" elsewhere is moved to where the grid
 * sees no difference; the reciprocal of a probability is missing below 2^-1022. */
static inline double storable(double v, size_t c)
{
    if (fabs(v) > 1e70) return copysign(1e70, v);
    return fabs(v) >= 1e-70 ? v : c == P && v >= 0x1p-1022 ? 1e-70 : 0;
}

/* x, y and p as numbers, all else as texts. */
static inline const char *write_statistics_file(const char *name, const row *list, size_t n)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    readstat_writer_t *writer = new_writer(name);
    readstat_variable_t *variables[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++)
        variables[c] = readstat_add_variable(writer, c == C ? "c__1_" : column_names[c],
                                             is_number_column(c) ? READSTAT_TYPE_DOUBLE : READSTAT_TYPE_STRING,
                                             is_number_column(c) ? 0 : 48);
    begin_writing(writer, name, file, n);
    for (size_t i = 0; i < n; i++) {
        expect_written(readstat_begin_row(writer));
        for (size_t c = 0; c < COLUMNS; c++) {
            const double v = list[i].number[c];
            if (!is_number_column(c)) expect_written(readstat_insert_string_value(writer, variables[c], list[i].text[c]));
            else if (isnan(v)) expect_written(readstat_insert_missing_value(writer, variables[c]));
            else expect_written(readstat_insert_double_value(writer, variables[c], storable(v, c)));
        }
        expect_written(readstat_end_row(writer));
    }
    expect_written(readstat_end_writing(writer));
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    rename_bytes(path, "c__1_", column_names[C]);
    return path;
}

#endif
