/* Values of a public file, and what is said about a column in the file of a release. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "base/words.h"
#include "engine/core/text.h"
#include "engine/files/frame.h"
#include "study/values.h"

/* ---- .csv and .parquet ---- */

typedef struct taken {
    double *list;
    size_t count;
} taken;

static tamis_status take_numbers(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    taken *t = context;
    (void)first, (void)err;
    for (size_t i = 0; i < rows; i++) {
        const tmi_cell cell = tmi_trimmed(cells[0][i].bytes, cells[0][i].length);
        const double x = cell.length > 0 ? tmi_number_in(cell) : NAN;
        if (isfinite(x)) t->list[t->count++] = x;
    }
    return TAMIS_OK;
}

tamis_status tmi_values_read(double **list, size_t *count, const char *path, const char *column, tamis_error *err)
{
    tmi_frame *frame = NULL;
    taken t = {0};
    tamis_status status;
    *list = NULL;
    *count = 0;
    if (!column) return tmi_fail(err, TAMIS_INVALID, "column: which column of %s?", path);
    TMI_TRY(tmi_frame_open(&frame, path, NULL, err));
    size_t at = 0;
    while (at < frame->column_count && strcmp(frame->names[at], column) != 0) at++;
    if (at == frame->column_count)
        TMI_TRY(tmi_fail_column(err, NULL, "the population has", column, tmi_word_of_list, frame->names, frame->column_count));
    if (frame->rows > TMI_MOST_VALUES)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "has more than %d rows", TMI_MOST_VALUES));
    t.list = tmi_alloc((size_t)frame->rows, sizeof *t.list);
    if (!t.list) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_frame_read(frame, &at, NULL, 1, take_numbers, &t, &(tmi_watch){0}, err));
    if (t.count == 0)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "the population is empty: no number in column %s", column));
    *list = t.list;
    *count = t.count;
    t.list = NULL;

done:
    tmi_free(t.list);
    tmi_frame_free(frame);
    return status;
}

/* ---- release.json ---- */

#define LARGEST_FILE (1L << 30) /* bytes; release.json has about 600 for each of at most 2^20 numbers */

static tamis_status read_json(tmi_value **document, const char *path, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    char *bytes = NULL;
    long length = 0;
    FILE *file = fopen(path, "rb");
    if (!file) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "cannot be read");
    if (fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "is no release.json"));
    if (length > LARGEST_FILE)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "has %.1f GB, too much to be read; at most %.1f GB are",
                              (double)length / 1e9, (double)LARGEST_FILE / 1e9));
    bytes = tmi_alloc((size_t)length, 1);
    if (!bytes) TMI_TRY(tmi_fail_memory(err));
    if (fread(bytes, 1, (size_t)length, file) != (size_t)length)
        TMI_TRY(tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "cannot be read"));
    TMI_TRY(tmi_json_read(document, bytes, (size_t)length, err));

done:
    tmi_free(bytes);
    fclose(file);
    return status;
}

/* "income=..10000": the share of the people up to a value. */
static bool is_below(double *value, const char *text, const char *column)
{
    const size_t length = strlen(column);
    if (strncmp(text, column, length) != 0 || strncmp(text + length, "=..", 3) != 0) return false;
    *value = tmi_number_in((tmi_cell){text + length + 3, strlen(text + length + 3)});
    return isfinite(*value);
}

static int by_value(const void *x, const void *y)
{
    const tmi_quantile *a = x, *b = y;
    return (a->value > b->value) - (a->value < b->value);
}

tamis_status tmi_values_released(double *mean, tmi_quantile **points, size_t *count, const char *path, const char *column,
                                 tamis_error *err)
{
    tmi_value *document = NULL;
    size_t room = 0;
    tamis_status status;
    *mean = NAN;
    *points = NULL;
    *count = 0;
    if (!column) return tmi_fail(err, TAMIS_INVALID, "column: which column of %s?", path);
    TMI_TRY(read_json(&document, path, err));
    const tmi_value *results = tmi_value_get(document, "results");
    if (!results || !tmi_value_get(document, "survey"))
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "is no release.json: it has no results"));
    for (size_t i = 0; i < tmi_value_size(results); i++) {
        const tmi_value *r = tmi_value_at(results, i), *found = tmi_value_get(r, "estimate");
        const char *name = tmi_value_field_text(r, "column"), *kind = tmi_value_field_text(r, "statistic");
        const double estimate = tmi_value_kind_of(found) == TMI_VALUE_NULL ? NAN : tmi_value_real(found);
        double value;
        if (tmi_value_size(tmi_value_get(r, "group")) > 0 || tmi_value_get(r, "where") || !isfinite(estimate)) continue;
        if (strcmp(kind, "mean") == 0 && strcmp(name, column) == 0) *mean = estimate;
        if (strcmp(kind, "share") != 0 || !is_below(&value, name, column)) continue;
        if (!tmi_grow(points, &room, *count, sizeof **points)) TMI_TRY(tmi_fail_memory(err));
        (*points)[(*count)++] = (tmi_quantile){fmin(fmax(estimate, 0), 1), value}; /* noise may carry it outside */
    }

    /* Noise may make a share smaller than that of a smaller value: then it counts as that one. */
    if (*count > 1) qsort(*points, *count, sizeof **points, by_value);
    for (size_t i = 1; i < *count; i++) (*points)[i].share = fmax((*points)[i].share, (*points)[i - 1].share);

done:
    if (status != TAMIS_OK) {
        tmi_free(*points);
        *points = NULL;
        *count = 0;
    }
    tmi_value_free(document);
    return status;
}
