/* A small survey whose rows are known: in memory, as arrays, as CSV and as a file of SPSS. */
#ifndef TESTS_RELEASE_AUDIT_SURVEY_H
#define TESTS_RELEASE_AUDIT_SURVEY_H

#include <readstat.h>
#include <stdio.h>

#include "engine/files/source.h"
#include "tests/engine/folder.h"
#include "tests/release/array_engine.h"

/* 24 rows: strata p and q of 12, clusters k1 to k6 of 4, units m00 to m11 of 2. */
#define ROWS 24

static array_row survey[ROWS];
static char survey_texts[ROWS][2][8];
static double survey_numbers[3][ROWS];     /* x, y, w: what a source in memory refers to */
static const char *survey_labels[5][ROWS]; /* g, h, s, c, u */
static const char *const number_names[] = {"x", "y", "w"}, *const text_names[] = {"g", "h", "s", "c", "u"};

static inline void make_survey(void)
{
    static const char *const g[] = {"a", "b", "a", NULL, "b"}, *const h[] = {"u", "v", "w", "other"};
    for (size_t i = 0; i < ROWS; i++) {
        array_row *r = &survey[i];
        snprintf(survey_texts[i][0], 8, "k%d", (int)(i / 4) + 1);
        snprintf(survey_texts[i][1], 8, "m%02d", (int)i / 2);
        *r = (array_row){.x = i == 6   ? NAN
                              : i < 12 ? 10.25 + (double)(7 * i % 21)
                                       : 811.5 * (double)i,
                         .g = g[i % 5],
                         .h = h[i * 7 % 4],
                         .y = 4 + (double)(i % 5),
                         .w = 0.1 + 0.03125 * (double)i,
                         .s = i < 12 ? "p" : "q",
                         .c = survey_texts[i][0],
                         .u = survey_texts[i][1]};
        const double numbers[] = {r->x, r->y, r->w};
        const char *const texts[] = {r->g, r->h, r->s, r->c, r->u};
        for (size_t c = 0; c < 3; c++) survey_numbers[c][i] = numbers[c];
        for (size_t c = 0; c < 5; c++) survey_labels[c][i] = texts[c];
    }
}

static inline tmi_engine *engine_of_files(tamis_status (*open)(tmi_engine **, const tmi_source *, unsigned, tamis_error *),
                                          const char *file)
{
    const tmi_source source = {.files = &file, .file_count = 1};
    tmi_engine *engine;
    tamis_error err = {0};
    if (open(&engine, &source, 1, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return engine;
}

/* x,y,w,g,h,s,c,u; a missing cell is empty. */
static inline void put_lines(tmi_text *text)
{
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t c = 0; c < 3; c++)
            if (isnan(survey_numbers[c][i])) tmi_text_put(text, ",");
            else tmi_text_format(text, "%.17g,", survey_numbers[c][i]);
        for (size_t c = 0; c < 5; c++)
            tmi_text_format(text, "%s%s", survey_labels[c][i] ? survey_labels[c][i] : "", c < 4 ? "," : "\n");
    }
}

static inline const char *survey_csv(void)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_put(&text, "x,y,w,g,h,s,c,u\n");
    put_lines(&text);
    const char *path = write_text("survey.csv", text.bytes);
    tmi_text_clear(&text);
    return path;
}

static inline tmi_engine *in_memory(void) { return engine_of_files(tmi_engine_memory, survey_csv()); }

static inline ssize_t put_bytes(const void *bytes, size_t length, void *file)
{
    return fwrite(bytes, 1, length, file) == length ? (ssize_t)length : -1;
}

static inline tmi_engine *in_spss(void)
{
    const char *path = in_folder("survey.sav");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    readstat_writer_t *writer = readstat_writer_init();
    readstat_variable_t *variables[8];
    readstat_set_data_writer(writer, put_bytes);
    for (size_t c = 0; c < 8; c++)
        variables[c] = readstat_add_variable(writer, c < 3 ? number_names[c] : text_names[c - 3],
                                             c < 3 ? READSTAT_TYPE_DOUBLE : READSTAT_TYPE_STRING, c < 3 ? 0 : 8);
    assert_int_equal(readstat_begin_writing_sav(writer, file, ROWS), READSTAT_OK);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(readstat_begin_row(writer), READSTAT_OK);
        for (size_t c = 0; c < 8; c++) {
            const char *text = c < 3 || !survey_labels[c - 3][i] ? "" : survey_labels[c - 3][i];
            const double number = c < 3 ? survey_numbers[c][i] : 0;
            assert_int_equal(c >= 3          ? readstat_insert_string_value(writer, variables[c], text)
                             : isnan(number) ? readstat_insert_missing_value(writer, variables[c])
                                             : readstat_insert_double_value(writer, variables[c], number),
                             READSTAT_OK);
        }
        assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    }
    assert_int_equal(readstat_end_writing(writer), READSTAT_OK);
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    return engine_of_files(tmi_engine_readstat, path);
}

static tamis_source *arrays; /* freed at the end of the test */

static inline tmi_engine *in_arrays(void)
{
    tmi_engine *engine;
    if (!arrays) {
        assert_int_equal(tamis_source_new(&arrays, ROWS, NULL), TAMIS_OK);
        for (size_t c = 0; c < 3; c++)
            assert_int_equal(tamis_source_numbers(arrays, number_names[c], survey_numbers[c], NULL), TAMIS_OK);
        for (size_t c = 0; c < 5; c++)
            assert_int_equal(tamis_source_texts(arrays, text_names[c], survey_labels[c], NULL), TAMIS_OK);
    }
    assert_int_equal(tmi_engine_of_source(&engine, arrays, 1, NULL), TAMIS_OK);
    return engine;
}

typedef struct survey_engine {
    const char *name;
    tmi_engine *(*open)(void);
    int thin, all; /* releases of each plan */
    bool verifies; /* a further release is charged, and its certificate verified */
} survey_engine;

#endif
