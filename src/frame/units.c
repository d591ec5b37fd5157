#include "frame/units.h"

#include <string.h>

#include "base/memory.h"
#include "num/number.h"

#define STRATA_COLUMNS 16
#define LONGEST_NUMBER 2100 /* a number may have 1000 digits above and below */

/* ---- columns ---- */

/* Numbers of columns in the frame: strata first, then the number, then the allocation; SIZE_MAX if not wanted. */
typedef struct reader {
    tmi_units *units;
    const tmi_frame *frame;
    size_t columns[STRATA_COLUMNS + 2], count, strata;
    size_t number, allocation; /* places in columns */
} reader;

static tamis_status add_column(reader *r, size_t *place, const char *option, const char *name, size_t length,
                               tamis_error *err)
{
    for (size_t c = 0; c < r->frame->column_count; c++)
        if (strlen(r->frame->names[c]) == length && memcmp(r->frame->names[c], name, length) == 0) {
            *place = r->count;
            r->columns[r->count++] = c;
            return TAMIS_OK;
        }
    return tmi_fail(err, TAMIS_INVALID, "%s: the frame has no column %.*s", option, (int)(length < 200 ? length : 200), name);
}

static tamis_status find_columns(reader *r, const tamis_frame_design *design, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t place;
    for (const char *name = design->strata; name;) {
        size_t length = strcspn(name, ",");
        if (r->strata == STRATA_COLUMNS) return tmi_fail(err, TAMIS_INVALID, "strata: at most %d columns", STRATA_COLUMNS);
        TMI_TRY(add_column(r, &place, "strata", name, length, err));
        r->strata++;
        name = name[length] ? name + length + 1 : NULL;
    }
    const char *option = design->size ? "size" : "probability", *number = design->size ? design->size : design->probability;
    if (number) TMI_TRY(add_column(r, &r->number, option, number, strlen(number), err));
    if (design->allocation)
        TMI_TRY(add_column(r, &r->allocation, "allocation", design->allocation, strlen(design->allocation), err));
done:
    return status;
}

/* ---- numbers ---- */

static tamis_status bad_cell(const reader *r, size_t place, int64_t row, const char *what, tamis_error *err)
{
    return tmi_fail(err, TAMIS_INVALID, "column %s, row %lld: %s", r->frame->names[r->columns[place]], (long long)row + 1,
                    what);
}

static tamis_status read_number(tamis_number **number, const reader *r, size_t place, int64_t row, tmi_cell cell,
                                tamis_error *err)
{
    char text[LONGEST_NUMBER];
    while (cell.length > 0 && cell.bytes[0] == ' ') cell.bytes++, cell.length--;
    while (cell.length > 0 && cell.bytes[cell.length - 1] == ' ') cell.length--;
    *number = NULL;
    if (cell.length == 0) return bad_cell(r, place, row, "empty", err);
    if (cell.length >= sizeof text || memchr(cell.bytes, '\0', cell.length))
        return bad_cell(r, place, row, "not a number", err);
    memcpy(text, cell.bytes, cell.length);
    text[cell.length] = '\0';
    tamis_status status = tamis_number_read(number, text, NULL);
    if (status == TAMIS_INVALID) return bad_cell(r, place, row, "not a number", err);
    if (status != TAMIS_OK) return tmi_fail_memory(err);
    if (tmi_number_sign(*number) > 0) return TAMIS_OK;
    tamis_number_free(*number);
    *number = NULL;
    return bad_cell(r, place, row, "must be positive", err);
}

/* ---- strata ---- */

static uint64_t hash(const char *key, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

static size_t find_slot(const tmi_units *u, const char *key, size_t length)
{
    size_t at = hash(key, length) & (u->slot_count - 1);
    for (; u->slots[at]; at = (at + 1) & (u->slot_count - 1)) {
        const tmi_stratum *s = &u->strata[u->slots[at] - 1];
        if (s->key_length == length && memcmp(u->keys + s->key, key, length) == 0) break;
    }
    return at;
}

static bool grow_strata(tmi_units *u)
{
    const size_t room = u->stratum_room ? 2 * u->stratum_room : 64;
    tmi_stratum *strata = tmi_realloc(u->strata, room, sizeof *strata);
    if (!strata) return false;
    u->strata = strata;
    uint32_t *slots = tmi_alloc(2 * room, sizeof *slots);
    if (!slots) return false;
    tmi_free(u->slots);
    u->slots = slots;
    u->slot_count = 2 * room;
    u->stratum_room = room;
    for (size_t s = 0; s < u->stratum_count; s++)
        slots[find_slot(u, u->keys + u->strata[s].key, u->strata[s].key_length)] = (uint32_t)s + 1;
    return true;
}

static bool grow_keys(tmi_units *u, size_t more)
{
    if (more <= u->key_room - u->key_bytes) return true;
    const size_t room = 2 * (u->key_bytes + more);
    char *keys = tmi_realloc(u->keys, room, 1);
    if (!keys) return false;
    u->keys = keys;
    u->key_room = room;
    return true;
}

/* The stratum of the key that was written at the end of the keys; made if it is new. */
static bool find_stratum(uint32_t *number, tmi_units *u, size_t length, int64_t row)
{
    if (u->stratum_count == u->stratum_room && !grow_strata(u)) return false;
    const size_t slot = find_slot(u, u->keys + u->key_bytes, length);
    if (u->slots[slot] == 0) {
        u->strata[u->stratum_count] = (tmi_stratum){.key = u->key_bytes, .key_length = length, .first = row};
        u->key_bytes += length;
        u->slots[slot] = (uint32_t)++u->stratum_count;
    }
    *number = u->slots[slot] - 1;
    return true;
}

static tamis_status take_stratum(uint32_t *number, const reader *r, int64_t row, size_t i, tmi_cell *const *cells,
                                 tamis_error *err)
{
    tmi_units *u = r->units;
    size_t length = 0;
    for (size_t c = 0; c < r->strata; c++) { /* length before text: no two lists of texts have the same key */
        const tmi_cell cell = cells[c][i];
        if (!cell.bytes) return bad_cell(r, c, row, "empty", err);
        if (!grow_keys(u, length + sizeof cell.length + cell.length)) return tmi_fail_memory(err);
        memcpy(u->keys + u->key_bytes + length, &cell.length, sizeof cell.length);
        memcpy(u->keys + u->key_bytes + length + sizeof cell.length, cell.bytes, cell.length);
        length += sizeof cell.length + cell.length;
    }
    return find_stratum(number, u, length, row) ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status take_allocation(const reader *r, tmi_stratum *stratum, int64_t row, tmi_cell cell, tamis_error *err)
{
    tamis_number *number;
    int64_t sample = 0;
    tamis_status status = read_number(&number, r, r->allocation, row, cell, err);
    if (status != TAMIS_OK) return status;
    const bool is_whole = tmi_number_is_integer(number) && tmi_number_floor(&sample, number);
    tamis_number_free(number);
    if (!is_whole) return bad_cell(r, r->allocation, row, "must be a whole number", err);
    if (stratum->sample != 0 && stratum->sample != sample)
        return bad_cell(r, r->allocation, row, "differs from other rows of the same stratum", err);
    stratum->sample = sample;
    return TAMIS_OK;
}

static tamis_status take(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    const reader *r = context;
    tmi_units *u = r->units;
    for (size_t i = 0; i < rows; i++) {
        const int64_t row = first + (int64_t)i;
        uint32_t s = 0;
        tamis_status status = TAMIS_OK;
        if (r->strata > 0) {
            if ((status = take_stratum(&s, r, row, i, cells, err)) != TAMIS_OK) return status;
            u->stratum_of[row] = s;
            u->strata[s].count++;
        }
        if (u->numbers) status = read_number(&u->numbers[row], r, r->number, row, cells[r->number][i], err);
        if (status == TAMIS_OK && r->allocation != SIZE_MAX)
            status = take_allocation(r, &u->strata[s], row, cells[r->allocation][i], err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

tamis_status tmi_units_read(tmi_units *units, tmi_frame *frame, const tamis_frame_design *design, tamis_error *err)
{
    reader r = {.units = units, .frame = frame, .number = SIZE_MAX, .allocation = SIZE_MAX};
    *units = (tmi_units){.count = frame->rows};
    tamis_status status = find_columns(&r, design, err);
    if (status != TAMIS_OK) return status;
    const size_t count = (size_t)frame->rows;
    if (frame->rows == 0) return tmi_fail(err, TAMIS_INVALID, "the frame has no rows");
    if (r.count > 0 && count > TAMIS_MAX_LISTED)
        return tmi_fail(err, TAMIS_INVALID, "the frame has more than 2^28 rows, too many for sizes, probabilities or strata");
    if (r.number != SIZE_MAX && !(units->numbers = tmi_alloc(count, sizeof *units->numbers))) return tmi_fail_memory(err);
    if (r.strata > 0 && !(units->stratum_of = tmi_alloc(count, sizeof *units->stratum_of))) return tmi_fail_memory(err);
    if (r.strata == 0) {
        if (!grow_strata(units)) return tmi_fail_memory(err);
        units->strata[0] = (tmi_stratum){.count = frame->rows};
        units->stratum_count = 1;
    }
    return r.count > 0 ? tmi_frame_read(frame, r.columns, r.count, take, &r, err) : TAMIS_OK;
}

void tmi_units_clear(tmi_units *units)
{
    for (int64_t i = 0; units->numbers && i < units->count; i++) tamis_number_free(units->numbers[i]);
    tmi_free(units->numbers);
    tmi_free(units->stratum_of);
    tmi_free(units->strata);
    tmi_free(units->slots);
    tmi_free(units->keys);
    *units = (tmi_units){0};
}
