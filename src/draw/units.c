#include "draw/units.h"

#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/memory.h"
#include "base/words.h"
#include "num/number.h"

#define LABEL_COLUMNS 16
#define LONGEST_NUMBER 2100 /* a number may have 1000 digits above and below */

/* ---- columns ---- */

/* Numbers of columns in the frame: those of the strata first, then those of the clusters, then numbers. */
typedef struct reader {
    tmi_frame_units *units;
    const tmi_frame *frame;
    size_t columns[2 * LABEL_COLUMNS + 3], count, strata, labels; /* labels: strata and clusters */
    size_t number, allocation, within;                            /* places in columns; SIZE_MAX if not wanted */
    bool is_probability;                                          /* number: at most 1 */
    int64_t within_all;
} reader;

static tamis_status add_column(reader *r, size_t *place, const char *option, const char *name, size_t length, tamis_error *err)
{
    for (size_t c = 0; c < r->frame->column_count; c++)
        if (strlen(r->frame->names[c]) == length && memcmp(r->frame->names[c], name, length) == 0) {
            *place = r->count;
            r->columns[r->count++] = c;
            return TAMIS_OK;
        }
    char column[200], has[64];
    snprintf(has, sizeof has, "%s: the frame has", option);
    snprintf(column, sizeof column, "%.*s", (int)(length < sizeof column ? length : sizeof column - 1), name);
    tmi_error_reset(err);
    return tmi_fail_column(err, NULL, has, column, tmi_word_of_list, r->frame->names, r->frame->column_count);
}

/* Columns separated by commas. */
static tamis_status add_labels(reader *r, const char *option, const char *names, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const size_t before = r->count;
    size_t place;
    while (names) {
        const size_t length = strcspn(names, ",");
        if (r->count - before == LABEL_COLUMNS)
            return tmi_fail(err, TAMIS_INVALID, "%s: at most %d columns", option, LABEL_COLUMNS);
        TMI_TRY(add_column(r, &place, option, names, length, err));
        names = names[length] ? names + length + 1 : NULL;
    }
done:
    return status;
}

static tamis_status find_columns(reader *r, const tamis_frame_design *design, tamis_error *err)
{
    const struct {
        const char *option, *name;
        size_t *place;
    } numbers[] = {
        {"size", design->size, &r->number},
        {"probability", design->probability, &r->number},
        {"allocation", design->allocation, &r->allocation},
        {"within", design->within_column, &r->within},
    };
    tamis_status status = TAMIS_OK;
    TMI_TRY(add_labels(r, "strata", design->strata, err));
    r->strata = r->count;
    TMI_TRY(add_labels(r, "cluster", design->cluster, err));
    r->labels = r->count;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].name)
            TMI_TRY(add_column(r, numbers[i].place, numbers[i].option, numbers[i].name, strlen(numbers[i].name), err));
done:
    return status;
}

/* ---- numbers ---- */

static tamis_status bad_cell(const reader *r, size_t place, int64_t row, const char *what, tamis_error *err)
{
    return tmi_fail(err, TAMIS_INVALID, "column %s, row %lld: %s", r->frame->names[r->columns[place]], (long long)row + 1, what);
}

static tamis_status read_number(tamis_number **number, const reader *r, size_t place, int64_t row, tmi_cell cell,
                                tamis_error *err)
{
    char text[LONGEST_NUMBER];
    while (cell.length > 0 && cell.bytes[0] == ' ') cell.bytes++, cell.length--;
    while (cell.length > 0 && cell.bytes[cell.length - 1] == ' ') cell.length--;
    *number = NULL;
    if (cell.length == 0) return bad_cell(r, place, row, "empty", err);
    if (cell.length >= sizeof text || memchr(cell.bytes, '\0', cell.length)) return bad_cell(r, place, row, "not a number", err);
    memcpy(text, cell.bytes, cell.length);
    text[cell.length] = '\0';
    tamis_status status = tamis_number_read(number, text, NULL);
    if (status == TAMIS_INVALID) return bad_cell(r, place, row, "not a number", err);
    if (status != TAMIS_OK) return tmi_fail_memory(err);
    const bool positive = tmi_number_sign(*number) > 0;
    if (positive && !(r->is_probability && place == r->number && tmi_number_compare_int(*number, 1) > 0)) return TAMIS_OK;
    tamis_number_free(*number);
    *number = NULL;
    return bad_cell(r, place, row, positive ? "a probability is at most 1" : "must be positive", err);
}

/* A whole number that all rows of a group share. */
static tamis_status take_sample(const reader *r, tmi_frame_group *group, size_t place, int64_t row, tmi_cell cell,
                                const char *what, tamis_error *err)
{
    tamis_number *number;
    int64_t sample = 0;
    tamis_status status = read_number(&number, r, place, row, cell, err);
    if (status != TAMIS_OK) return status;
    const bool is_whole = tmi_number_is_integer(number) && tmi_number_floor(&sample, number);
    tamis_number_free(number);
    if (!is_whole) return bad_cell(r, place, row, "must be a whole number", err);
    if (group->sample != 0 && group->sample != sample) return bad_cell(r, place, row, what, err);
    group->sample = sample;
    return TAMIS_OK;
}

/* All rows of a cluster have its number. */
static tamis_status take_cluster_number(const reader *r, uint32_t cluster, int64_t row, tmi_cell cell, tamis_error *err)
{
    tmi_frame_units *u = r->units;
    tamis_number *number;
    tamis_status status = read_number(&number, r, r->number, row, cell, err);
    if (status != TAMIS_OK) return status;
    if (!u->numbers[cluster]) {
        u->numbers[cluster] = number;
        return TAMIS_OK;
    }
    const bool same = tmi_number_compare(u->numbers[cluster], number) == 0;
    tamis_number_free(number);
    return same ? TAMIS_OK : bad_cell(r, r->number, row, "differs from other rows of the same cluster", err);
}

/* ---- rows ---- */

static tamis_status take_row(const reader *r, int64_t row, size_t i, tmi_cell *const *cells, tamis_error *err)
{
    tmi_frame_units *u = r->units;
    tamis_status status = TAMIS_OK;
    for (size_t c = 0; c < r->labels; c++) { /* as a release compares them */
        cells[c][i] = tmi_trimmed(cells[c][i].bytes, cells[c][i].length);
        if (cells[c][i].length == 0) return bad_cell(r, c, row, "empty", err);
    }
    if (u->strata.of && !tmi_groups_add(&u->strata, row, i, cells, r->strata)) return tmi_fail_memory(err);
    tmi_frame_group *stratum = &u->strata.list[u->strata.of ? u->strata.of[row] : 0];
    if (r->allocation != SIZE_MAX)
        TMI_TRY(take_sample(r, stratum, r->allocation, row, cells[r->allocation][i],
                            "differs from other rows of the same stratum", err));
    if (!u->clusters.of) {
        if (u->numbers) TMI_TRY(read_number(&u->numbers[row], r, r->number, row, cells[r->number][i], err));
        return TAMIS_OK;
    }
    if (!tmi_groups_add(&u->clusters, row, i, cells, r->labels)) return tmi_fail_memory(err);
    const uint32_t number = u->clusters.of[row];
    tmi_frame_group *cluster = &u->clusters.list[number];
    cluster->stratum = u->strata.of ? u->strata.of[row] : 0;
    if (r->within != SIZE_MAX)
        TMI_TRY(take_sample(r, cluster, r->within, row, cells[r->within][i], "differs from other rows of the same cluster", err));
    else cluster->sample = r->within_all;
    if (u->numbers) TMI_TRY(take_cluster_number(r, number, row, cells[r->number][i], err));
done:
    return status;
}

static tamis_status take(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < rows && status == TAMIS_OK; i++) status = take_row(context, first + (int64_t)i, i, cells, err);
    return status;
}

tamis_status tmi_units_read(tmi_frame_units *units, tmi_frame *frame, const tamis_frame_design *design, const tmi_watch *watch,
                            tamis_error *err)
{
    reader r = {.units = units,
                .is_probability = design->probability != NULL,
                .frame = frame,
                .number = SIZE_MAX,
                .allocation = SIZE_MAX,
                .within = SIZE_MAX,
                .within_all = design->within};
    *units = (tmi_frame_units){.count = frame->rows};
    tamis_status status = find_columns(&r, design, err);
    if (status != TAMIS_OK) return status;
    const size_t count = (size_t)frame->rows;
    if (frame->rows == 0) return tmi_fail(err, TAMIS_INVALID, "the frame has no rows");
    if (r.count > 0 && count > TAMIS_MAX_LISTED)
        return tmi_fail(err, TAMIS_INVALID,
                        "the frame has more than 2^28 rows, too many for sizes, probabilities, strata or "
                        "clusters");
    units->number_count = r.number != SIZE_MAX ? count : 0;
    if (r.number != SIZE_MAX && !(units->numbers = tmi_alloc(count, sizeof *units->numbers))) return tmi_fail_memory(err);
    if (r.strata > 0 && !(units->strata.of = tmi_alloc(count, sizeof *units->strata.of))) return tmi_fail_memory(err);
    if (r.labels > r.strata && !(units->clusters.of = tmi_alloc(count, sizeof *units->clusters.of))) return tmi_fail_memory(err);
    if (r.strata == 0) {
        if (!(units->strata.list = tmi_alloc(1, sizeof *units->strata.list))) return tmi_fail_memory(err);
        units->strata.list[0] = (tmi_frame_group){.count = frame->rows};
        units->strata.count = 1;
    }
    bool labels[2 * LABEL_COLUMNS + 3] = {false};
    for (size_t c = 0; c < r.labels; c++) labels[c] = true;
    return r.count > 0 ? tmi_frame_read(frame, r.columns, labels, r.count, take, &r, watch, err) : TAMIS_OK;
}

void tmi_units_forget_numbers(tmi_frame_units *units)
{
    if (!units->numbers) return;
    for (size_t i = 0; i < units->number_count; i++) tamis_number_free(units->numbers[i]);
    tmi_free(units->numbers);
    units->numbers = NULL;
    units->number_count = 0;
#ifdef __GLIBC__
    malloc_trim(0); /* a million small holes in the heap are a hundred megabytes that nobody gets back otherwise */
#endif
}

void tmi_units_clear(tmi_frame_units *units)
{
    tmi_units_forget_numbers(units);
    tmi_groups_clear(&units->strata);
    tmi_groups_clear(&units->clusters);
    *units = (tmi_frame_units){0};
}
