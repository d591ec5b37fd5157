#include "engine/core/units.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "engine/core/blocks.h"
#include "engine/core/labels.h"
#include "engine/core/machine.h"
#include "engine/core/products.h"

_Static_assert(TMI_UNITS_ROWS <= TMI_BLOCK, "rows are handed on in blocks");

#define NONE SIZE_MAX

/* A word of the table: 40 bits of a label's hash, never all zero, and above that many rows of the unit: 24 bits, of which the
 * largest number means "at least". */
#define COUNT_BITS 24
#define MOST_COUNT ((UINT64_C(1) << COUNT_BITS) - 1)

#define MOST_PROBES 128 /* words that are tried before a unit counts as one that does not fit */

/* Rounds are made of buckets: of units by the first bits of their hashes. */
#define BUCKET_BITS 12
#define BUCKETS ((size_t)1 << BUCKET_BITS)

typedef struct units_round {
    size_t first, last; /* buckets, the last one excluded */
    size_t part, parts; /* of the rows of these buckets, by their contents */
} units_round;

typedef struct candidate {
    const int64_t *row;
    size_t width;
    unsigned char hash[TMI_SHA256_BYTES];
} candidate;

struct tmi_units {
    const tmi_layout *layout;
    size_t *given; /* columns of the layout that rows are made of */
    size_t width;
    size_t *made; /* those that are made of them, and bounded by unit */
    size_t made_count;
    uint64_t free_rows; /* of a unit that has no more than these all count, and its points are below all bounds */

    _Atomic uint64_t *words;
    size_t word_count;                 /* a power of 2 */
    _Atomic int64_t overflow[BUCKETS]; /* rows of units that are not in the table */
    _Atomic int64_t counted;
    _Atomic size_t longest; /* label, in bytes */
    uint64_t memory;        /* for rows */

    units_round *rounds;
    size_t round_count, round;

    mtx_t lock; /* of everything below */
    bool has_lock;
    tmi_labels *labels;
    int64_t *rows; /* `width` integers each: points, where the smallest integer means missing, and codes, where -1 does */
    size_t *next;  /* next row of the same unit; NONE: no more */
    size_t row_count, row_room;
    unsigned char *hashes; /* of the first rows, which earlier parts of a unit left behind */
    size_t hash_count;
    size_t *first;  /* first row of each unit */
    size_t *counts; /* rows of each unit */
    size_t unit_count, unit_room;
};

struct tmi_units_room {
    size_t width; /* of the values: given columns, and those that are made and bounded */
    uint64_t hashes[TMI_UNITS_ROWS];
    size_t free[TMI_UNITS_ROWS], kept[TMI_UNITS_ROWS]; /* rows */
    int64_t *values;                                   /* of each given column, those that are handed on */
    const void **columns;
};

/* ---- making ---- */

uint64_t tmi_units_memory(uint64_t memory) { return (memory > 0 ? memory : tmi_machine_memory()) / 4; }

#define MOST_FOR_ROWS (UINT64_C(1) << 26)

/* Where points of units are bounded, most rows may have to be kept. */
static uint64_t memory_for_rows(const tmi_layout *layout, uint64_t memory)
{
    return memory / 2 < MOST_FOR_ROWS || tmi_bounds_units(layout) ? memory / 2 : MOST_FOR_ROWS;
}

static uint64_t free_rows_of(const tmi_layout *layout)
{
    int64_t rows = layout->request->rows_per_unit;
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        int64_t low, high;
        if (column->most_of_unit == 0) continue;
        tmi_point_range(&low, &high, column);
        high = high > -low ? high : -low;
        const int64_t below = high > 0 ? column->most_of_unit / high : rows;
        rows = below < rows ? below : rows;
    }
    return (uint64_t)rows;
}

static size_t bounded_columns(size_t *made, const tmi_layout *layout)
{
    size_t count = 0;
    for (size_t c = 0; c < layout->column_count; c++)
        if (tmi_is_made_and_bounded(layout->columns[c])) made[count++] = c;
    return count;
}

static size_t given_columns(size_t *given, const tmi_layout *layout)
{
    size_t width = 0;
    for (size_t c = 0; c < layout->column_count; c++)
        if (tmi_is_given(layout->columns[c])) given[width++] = c;
    return width;
}

/* The table takes at most half of the memory. It is at most three quarters full, if as many units come as are expected. */
static size_t table_size(int64_t expected, uint64_t memory)
{
    const uint64_t wanted = expected > 0 ? (uint64_t)expected / 3 * 4 : 1 << 16;
    size_t words = 1024;
    while (words < wanted && 2 * words * sizeof(uint64_t) <= memory / 2) words *= 2;
    return words;
}

tmi_units *tmi_units_new(const tmi_layout *layout, int64_t expected, uint64_t memory)
{
    tmi_units *units = tmi_alloc(1, sizeof *units);
    if (!units) return NULL;
    units->layout = layout;
    units->has_lock = mtx_init(&units->lock, mtx_plain) == thrd_success;
    units->word_count = table_size(expected, memory);
    units->memory = memory_for_rows(layout, memory);
    units->free_rows = free_rows_of(layout);
    units->words = tmi_alloc(units->word_count, sizeof *units->words);
    units->labels = tmi_labels_new();
    units->given = tmi_alloc(layout->column_count, sizeof *units->given);
    units->made = tmi_alloc(layout->column_count, sizeof *units->made);
    if (!units->has_lock || !units->words || !units->labels || !units->given || !units->made) {
        tmi_units_free(units);
        return NULL;
    }
    units->width = given_columns(units->given, layout);
    units->made_count = bounded_columns(units->made, layout);
    return units;
}

static void forget_rows(tmi_units *units)
{
    if (units->rows) tmi_wipe(units->rows, units->row_room * units->width * sizeof *units->rows);
    if (units->hashes) tmi_wipe(units->hashes, units->hash_count * TMI_SHA256_BYTES);
    tmi_free(units->rows);
    tmi_free(units->next);
    tmi_free(units->hashes);
    units->rows = NULL;
    units->next = NULL;
    units->hashes = NULL;
    units->row_count = units->row_room = units->hash_count = units->unit_count = 0;
}

void tmi_units_free(tmi_units *units)
{
    if (!units) return;
    forget_rows(units);
    if (units->words) tmi_wipe((void *)(uintptr_t)units->words, units->word_count * sizeof *units->words);
    if (units->has_lock) mtx_destroy(&units->lock);
    tmi_labels_free(units->labels);
    tmi_free((void *)(uintptr_t)units->words);
    tmi_free(units->given);
    tmi_free(units->made);
    tmi_free(units->rounds);
    tmi_free(units->first);
    tmi_free(units->counts);
    tmi_free(units);
}

tmi_units_room *tmi_units_room_new(const tmi_units *units)
{
    tmi_units_room *room = tmi_alloc(1, sizeof *room);
    if (!room) return NULL;
    room->width = units->width + units->made_count;
    room->values = tmi_alloc(room->width * TMI_BLOCK, sizeof *room->values);
    room->columns = tmi_alloc(units->layout->column_count, sizeof *room->columns);
    if (!room->values || !room->columns) {
        tmi_units_room_free(room);
        return NULL;
    }
    for (size_t w = 0; w < units->width; w++) room->columns[units->given[w]] = room->values + w * TMI_BLOCK;
    return room;
}

void tmi_units_room_free(tmi_units_room *room)
{
    if (!room) return;
    if (room->values) tmi_wipe(room->values, room->width * TMI_BLOCK * sizeof *room->values);
    tmi_free(room->values);
    tmi_free(room->columns);
    tmi_wipe(room, sizeof *room);
    tmi_free(room);
}

/* ---- the table ---- */

/* 0: no label. */
static uint64_t hash_of(tmi_cell label)
{
    label = tmi_trimmed(label.bytes, label.bytes ? label.length : 0);
    if (label.length == 0) return 0;
    const uint64_t hash = tmi_hash_text(label.bytes, label.length) * UINT64_C(0xbf58476d1ce4e5b9);
    return (hash ^ hash >> 31) | UINT64_C(1) << COUNT_BITS;
}

static size_t bucket_of(uint64_t hash) { return (size_t)(hash >> (64 - BUCKET_BITS)); }

/* Where the search for a unit begins. */
static size_t place_of(const tmi_units *units, uint64_t hash)
{
    return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (units->word_count - 1);
}

/* Hashes the labels and fetches their places in the table, which are usually far apart in memory. */
static void hash_labels(uint64_t *hashes, const tmi_units *units, const tmi_cell *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hashes[i] = hash_of(labels[i]);
        __builtin_prefetch((const void *)(uintptr_t)&units->words[place_of(units, hashes[i])]);
    }
}

/* The word of a unit, or the free one where it belongs; NULL if it does not fit. */
static _Atomic uint64_t *find_word(const tmi_units *units, uint64_t hash, uint64_t *word)
{
    const size_t start = place_of(units, hash);
    for (size_t probe = 0; probe < MOST_PROBES; probe++) {
        _Atomic uint64_t *place = &units->words[(start + probe) & (units->word_count - 1)];
        *word = atomic_load_explicit(place, memory_order_relaxed);
        if (*word == 0 || *word >> COUNT_BITS == hash >> COUNT_BITS) return place;
    }
    return NULL;
}

/* Words are never freed, so a unit that did not fit once never does. */
static void count_rows(tmi_units *units, uint64_t hash, uint64_t rows)
{
    uint64_t word, more;
    _Atomic uint64_t *place;
    do {
        place = find_word(units, hash, &word);
        if (!place) {
            atomic_fetch_add_explicit(&units->overflow[bucket_of(hash)], (int64_t)rows, memory_order_relaxed);
            return;
        }
        const uint64_t before = word & MOST_COUNT, after = rows < MOST_COUNT - before ? before + rows : MOST_COUNT;
        more = (hash & ~MOST_COUNT) | after;
    } while (!atomic_compare_exchange_weak_explicit(place, &word, more, memory_order_relaxed, memory_order_relaxed));
}

#define LABELS_AT_ONCE 256

static void see_length(tmi_units *units, size_t longest)
{
    for (size_t seen = units->longest; longest > seen && !atomic_compare_exchange_weak(&units->longest, &seen, longest);)
        continue;
}

void tmi_units_count(tmi_units *units, const tmi_cell *labels, size_t n)
{
    uint64_t hashes[LABELS_AT_ONCE];
    size_t longest = 0;
    for (size_t start = 0; start < n; start += LABELS_AT_ONCE) {
        const size_t count = n - start < LABELS_AT_ONCE ? n - start : LABELS_AT_ONCE;
        hash_labels(hashes, units, labels + start, count);
        for (size_t i = 0; i < count; i++) {
            if (hashes[i]) count_rows(units, hashes[i], 1);
            if (labels[start + i].length > longest) longest = labels[start + i].length;
        }
    }
    atomic_fetch_add_explicit(&units->counted, (int64_t)n, memory_order_relaxed);
    see_length(units, longest);
}

void tmi_units_know(tmi_units *units, const tmi_labels *labels)
{
    const int64_t all = tmi_labels_count(labels);
    uint64_t hashes[LABELS_AT_ONCE];
    tmi_cell texts[LABELS_AT_ONCE];
    for (int64_t start = 0; start < all; start += LABELS_AT_ONCE) {
        const size_t count = all - start < LABELS_AT_ONCE ? (size_t)(all - start) : LABELS_AT_ONCE;
        for (size_t i = 0; i < count; i++) texts[i] = tmi_labels_text(labels, start + (int64_t)i);
        hash_labels(hashes, units, texts, count);
        for (size_t i = 0; i < count; i++) {
            const int64_t rows = tmi_labels_rows(labels, start + (int64_t)i);
            count_rows(units, hashes[i], (uint64_t)rows);
            units->counted += rows;
            see_length(units, texts[i].length);
        }
    }
}

/* More than count for sure, as they are. */
static bool has_too_many(const tmi_units *units, uint64_t word)
{
    const uint64_t count = word & MOST_COUNT;
    return count > units->free_rows || count == MOST_COUNT;
}

/* ---- rounds ---- */

/* Of a kept row, with its share of its unit's label, and while its place is computed. */
static uint64_t bytes_of_row(size_t width, size_t longest)
{
    const size_t label = longest + 6 * sizeof(size_t);
    return width * sizeof(int64_t) + sizeof(size_t) + 2 * sizeof(size_t) + label + sizeof(candidate);
}

/* As many buckets as fit into a round; a bucket that does not fit into one, part by part. */
static bool plan_rounds(tmi_units *units, const uint64_t *rows_in)
{
    const uint64_t bytes = bytes_of_row(units->width, units->longest),
                   most = units->memory / bytes > 0 ? units->memory / bytes : 1;
    size_t room = 0;
    for (size_t b = 0; b < BUCKETS;) {
        units_round round = {.first = b, .parts = 1};
        uint64_t rows = rows_in[b++];
        while (b < BUCKETS && rows + rows_in[b] <= most) rows += rows_in[b++];
        round.last = b;
        if (rows > most) round.parts = (size_t)((rows + most - 1) / most);
        for (round.part = 0; round.part < round.parts; round.part++) {
            if (!tmi_grow(&units->rounds, &room, units->round_count, sizeof round)) return false;
            units->rounds[units->round_count++] = round;
        }
    }
    return true;
}

tamis_status tmi_units_plan(size_t *rounds, tmi_units *units, tamis_error *err)
{
    uint64_t *rows_in = tmi_alloc(BUCKETS, sizeof *rows_in);
    if (!rows_in) return tmi_fail_memory(err);
    for (size_t b = 0; b < BUCKETS; b++) rows_in[b] = (uint64_t)units->overflow[b];
    for (size_t i = 0; i < units->word_count; i++) {
        const uint64_t word = atomic_load_explicit(&units->words[i], memory_order_relaxed), count = word & MOST_COUNT;
        if (has_too_many(units, word)) rows_in[bucket_of(word)] += count < MOST_COUNT ? count : (uint64_t)units->counted;
    }
    const bool planned = plan_rounds(units, rows_in);
    tmi_free(rows_in);
    *rounds = units->round_count;
    return planned ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tmi_units_try(const tmi_layout *layout, int64_t expected, int64_t rows, uint64_t memory, tamis_error *err)
{
    size_t width = 0;
    for (size_t c = 0; c < layout->column_count; c++) width += tmi_is_given(layout->columns[c]);
    const uint64_t table = table_size(expected, memory) * sizeof(uint64_t);
    const uint64_t all = (uint64_t)(rows > 0 ? rows : 0), bytes = bytes_of_row(width, 0);
    const uint64_t most = memory_for_rows(layout, memory), kept = all > most / bytes ? most : all * bytes;
    const uint64_t size = table + kept;
    void *pages = size <= tmi_free_memory() ? tmi_map((size_t)size) : NULL;
    if (!pages)
        return tmi_fail(err, TAMIS_SYSTEM, "out of memory: choosing the rows of units may need %llu MB",
                        (unsigned long long)(size >> 20));
    tmi_unmap(pages, (size_t)size);
    return TAMIS_OK;
}

/* ---- adding ---- */

static bool make_unit(tmi_units *units, size_t unit)
{
    if (unit >= units->unit_room) {
        const size_t room = 2 * unit + 64;
        size_t *first = tmi_realloc(units->first, room, sizeof *first);
        if (first) units->first = first;
        size_t *counts = tmi_realloc(units->counts, room, sizeof *counts);
        if (counts) units->counts = counts;
        if (!first || !counts) return false;
        units->unit_room = room;
    }
    for (; units->unit_count <= unit; units->unit_count++) {
        units->first[units->unit_count] = NONE;
        units->counts[units->unit_count] = 0;
    }
    return true;
}

/* Rows are records, so the old block is wiped. */
static bool make_row(tmi_units *units)
{
    if (units->row_count < units->row_room) return true;
    const size_t room = units->row_room + units->row_room / 2 + 256, size = units->width * sizeof *units->rows;
    size_t *next = tmi_realloc(units->next, room, sizeof *next);
    if (next) units->next = next;
    int64_t *rows = next ? tmi_regrow(units->rows, units->row_count * size, room, size) : NULL;
    if (!rows) return false;
    units->rows = rows;
    units->row_room = room;
    return true;
}

static int64_t value_of(const tmi_column *column, const void *values, size_t i)
{
    if (tmi_has_points(column)) return ((const int64_t *)values)[i];
    const int32_t code = ((const int32_t *)values)[i];
    return code == (int32_t)column->value_count ? -1 : code;
}

static void add_to_unit(tmi_units *units, size_t u)
{
    units->next[units->row_count] = units->first[u];
    units->first[u] = units->row_count++;
    units->counts[u]++;
}

static tamis_status keep_row(tmi_units *units, tmi_cell label, const void *const *columns, size_t i, tamis_error *err)
{
    int64_t number;
    tamis_status status = tmi_labels_add(&number, units->labels, 0, label, err);
    if (status != TAMIS_OK || number == TMI_NO_LABEL) return status;
    const size_t width = units->width;
    if (!make_unit(units, (size_t)number) || !make_row(units)) return tmi_fail_memory(err);
    int64_t *row = units->rows + units->row_count * width;
    for (size_t w = 0; w < width; w++) row[w] = value_of(units->layout->columns[units->given[w]], columns[units->given[w]], i);
    add_to_unit(units, (size_t)number);
    return TAMIS_OK;
}

/* Equal rows are in the same part. */
static bool is_in_part(const tmi_units *units, const units_round *round, const void *const *columns, size_t i)
{
    uint64_t hash = 0;
    if (round->parts == 1) return true;
    for (size_t w = 0; w < units->width; w++) {
        const size_t c = units->given[w];
        hash = (hash ^ (uint64_t)value_of(units->layout->columns[c], columns[c], i)) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash % round->parts == round->part;
}

/* Takes a row off the count of its unit. False if the unit has too many rows. SYSTEM if the row was not counted. */
static tamis_status take_off(bool *counts, tmi_units *units, uint64_t hash, tamis_error *err)
{
    uint64_t word;
    _Atomic uint64_t *place;
    *counts = false;
    do {
        place = find_word(units, hash, &word);
        if (!place || has_too_many(units, word)) return TAMIS_OK;
        if ((word & MOST_COUNT) == 0) return tmi_fail(err, TAMIS_SYSTEM, "the source changed while it was read");
        *counts = true;
    } while (!atomic_compare_exchange_weak_explicit(place, &word, word - 1, memory_order_relaxed, memory_order_relaxed));
    return TAMIS_OK;
}

/* Rows of this block that count for sure, in the first round, and rows that are kept, by the place of their unit. */
static tamis_status sort_out(size_t *free_count, size_t *kept_count, tmi_units *units, tmi_units_room *room,
                             const void *const *columns, size_t n, tamis_error *err)
{
    const units_round *round = &units->rounds[units->round];
    *free_count = *kept_count = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t hash = room->hashes[i];
        bool counts = false;
        uint64_t word;
        if (!hash) continue; /* without a unit */
        if (units->round == 0) {
            tamis_status status = take_off(&counts, units, hash, err);
            if (status != TAMIS_OK) return status;
        } else {
            counts = find_word(units, hash, &word) && !has_too_many(units, word);
        }
        const size_t bucket = bucket_of(hash);
        if (counts) room->free[(*free_count)++] = i;
        else if (bucket >= round->first && bucket < round->last && is_in_part(units, round, columns, i))
            room->kept[(*kept_count)++] = i;
    }
    if (units->round > 0) *free_count = 0; /* they were handed on in the first one */
    return TAMIS_OK;
}

static tamis_status hand_on(const tmi_units *units, tmi_units_room *room, size_t count, const void *const *columns, size_t n,
                            tmi_take_block *take, void *context, tamis_error *err)
{
    if (count == 0) return TAMIS_OK;
    if (count == n) return take(context, columns, n, err);
    for (size_t w = 0; w < units->width; w++) {
        const void *from = columns[units->given[w]];
        int64_t *points = room->values + w * TMI_BLOCK;
        int32_t *codes = (int32_t *)(void *)points;
        if (tmi_has_points(units->layout->columns[units->given[w]]))
            for (size_t i = 0; i < count; i++) points[i] = ((const int64_t *)from)[room->free[i]];
        else
            for (size_t i = 0; i < count; i++) codes[i] = ((const int32_t *)from)[room->free[i]];
    }
    return take(context, room->columns, count, err);
}

tamis_status tmi_units_add(tmi_units *units, tmi_units_room *room, const tmi_cell *labels, const void *const *columns, size_t n,
                           tmi_take_block *take, void *context, tamis_error *err)
{
    size_t free_count, kept_count;
    tamis_status status;
    hash_labels(room->hashes, units, labels, n);
    TMI_TRY(sort_out(&free_count, &kept_count, units, room, columns, n, err));
    TMI_TRY(hand_on(units, room, free_count, columns, n, take, context, err));
    if (kept_count == 0) return TAMIS_OK;
    mtx_lock(&units->lock);
    for (size_t i = 0; i < kept_count && status == TAMIS_OK; i++)
        status = keep_row(units, labels[room->kept[i]], columns, room->kept[i], err);
    mtx_unlock(&units->lock);
done:
    return status;
}

/* ---- which of the kept rows count ---- */

/* The order does not matter, but identical rows become neighbours. */
static int compare_rows(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->width > 0 ? memcmp(x->row, y->row, x->width * sizeof *x->row) : 0;
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(((const candidate *)a)->hash, ((const candidate *)b)->hash, TMI_SHA256_BYTES);
}

#define DIGITS 21 /* of an integer with its sign, and a comma */

/* What is needed to choose: room for the candidates of the largest unit, and for the text that is hashed. */
typedef struct choice {
    candidate *list;
    char *text;
    tmi_int128 *sums; /* of the points of a unit, one per given column */
    size_t list_room, text_size, width;
    tmi_blocks blocks; /* where columns are made and bounded: their makers, */
    int64_t *made;     /* and their points, list_room for each */
} choice;

static void hash_rows(const choice *c, size_t count, const tmi_units *units, tmi_cell label)
{
    size_t copy = 0;
    tmi_hex(c->text, units->layout->request->key, TMI_KEY_BYTES);
    tmi_sha256_text(c->text + 2 * TMI_KEY_BYTES, label.bytes, label.length);
    char *const values = c->text + 2 * TMI_KEY_BYTES + 2 * TMI_SHA256_BYTES;
    qsort(c->list, count, sizeof *c->list, compare_rows);
    for (size_t i = 0; i < count; i++) {
        char *at = values;
        copy = i > 0 && compare_rows(&c->list[i - 1], &c->list[i]) == 0 ? copy + 1 : 1;
        for (size_t w = 0; w < units->width; w++) {
            const int64_t value = c->list[i].row[w];
            const bool has_points = tmi_has_points(units->layout->columns[units->given[w]]);
            at += value == (has_points ? TMI_NO_POINT : -1) ? sprintf(at, ",") : sprintf(at, ",%lld", (long long)value);
        }
        at += sprintf(at, ",%zu", copy);
        tmi_sha256(c->list[i].hash, c->text, (size_t)(at - c->text));
    }
}

/* Puts the rows of a unit that count, of those that are there, first; their number. Rows that earlier parts left behind have
 * their hashes: none of the other rows is identical to one of them. */
static size_t choose(const choice *c, const tmi_units *units, size_t u)
{
    const size_t most = (size_t)units->layout->request->rows_per_unit, count = units->counts[u];
    size_t fresh = 0, known = count;
    for (size_t r = units->first[u]; r != NONE; r = units->next[r]) {
        candidate *to = r < units->hash_count ? &c->list[--known] : &c->list[fresh++];
        *to = (candidate){.row = units->rows + r * units->width, .width = units->width};
        if (r < units->hash_count) memcpy(to->hash, units->hashes + r * TMI_SHA256_BYTES, TMI_SHA256_BYTES);
    }
    if (count <= most && units->rounds[units->round].parts == 1) return count;
    hash_rows(c, fresh, units, tmi_labels_text(units->labels, (int64_t)u));
    qsort(c->list, count, sizeof *c->list, compare_hashes);
    return count < most ? count : most;
}

static bool make_choice(choice *c, const tmi_units *units)
{
    *c = (choice){.text_size = 2 * TMI_KEY_BYTES + TMI_SHA256_TEXT + (units->width + 1) * DIGITS, .width = units->width};
    for (size_t u = 0; u < units->unit_count; u++)
        c->list_room = units->counts[u] > c->list_room ? units->counts[u] : c->list_room;
    c->list = tmi_alloc(c->list_room, sizeof *c->list);
    c->text = tmi_alloc(c->text_size, 1);
    c->sums = tmi_alloc(c->width, sizeof *c->sums);
    if (!c->list || !c->text || !c->sums) return false;
    if (units->made_count == 0) return true;
    c->made = tmi_alloc(c->list_room, units->made_count * sizeof *c->made);
    return c->made && tmi_blocks_make(&c->blocks, units->layout) && tmi_products_share(c->blocks.products);
}

static void clear_choice(choice *c, const tmi_units *units)
{
    if (c->made) tmi_wipe(c->made, c->list_room * units->made_count * sizeof *c->made);
    if (c->blocks.layout) tmi_blocks_clear(&c->blocks);
    tmi_free(c->made);
    if (c->list) tmi_wipe(c->list, c->list_room * sizeof *c->list);
    if (c->text) tmi_wipe(c->text, c->text_size);
    if (c->sums) tmi_wipe(c->sums, c->width * sizeof *c->sums);
    tmi_free(c->list);
    tmi_free(c->text);
    tmi_free(c->sums);
}

/* ---- the end of a round ---- */

static int64_t size_of(int64_t point) { return point == TMI_NO_POINT ? 0 : point < 0 ? -point : point; }

/* What the sizes of the points of the chosen rows of a unit add up to. Below 2^20 rows of less than 2^52. */
static tmi_int128 sum_of(const candidate *list, size_t chosen, size_t w)
{
    tmi_int128 sum = 0;
    for (size_t i = 0; i < chosen; i++) sum += size_of(list[i].row[w]);
    return sum;
}

/* k most / sum stays below 2^52 2^62, and is rounded towards 0. */
static int64_t bounded(int64_t point, int64_t most, tmi_int128 sum)
{
    return point == TMI_NO_POINT || sum <= most ? point : (int64_t)((tmi_int128)point * most / sum);
}

/* Row i of the chosen ones becomes the row `at` of a block. */
static void put_row(tmi_units_room *room, const tmi_units *units, const choice *c, size_t i, size_t at)
{
    for (size_t w = 0; w < units->width; w++) {
        const tmi_column *column = units->layout->columns[units->given[w]];
        const int64_t given = c->list[i].row[w], most = column->most_of_unit,
                      value = most > 0 ? bounded(given, most, c->sums[w]) : given;
        int64_t *points = room->values + w * TMI_BLOCK;
        int32_t *codes = (int32_t *)(void *)points;
        if (tmi_has_points(column)) points[at] = value;
        else codes[at] = value < 0 ? (int32_t)column->value_count : (int32_t)value;
    }
}

/* Makes the points of the k-th bounded column for the chosen rows, from columns that are bounded already, and bounds them. A
 * column comes after those that it is made of. */
static void make_bounded(tmi_units_room *room, const tmi_units *units, choice *c, size_t k, size_t chosen)
{
    const int64_t most = units->layout->columns[units->made[k]]->most_of_unit;
    int64_t *points = c->made + k * c->list_room;
    tmi_int128 sum = 0;
    for (size_t start = 0, n; start < chosen; start += n) {
        n = chosen - start < TMI_BLOCK ? chosen - start : TMI_BLOCK;
        for (size_t i = 0; i < n; i++) put_row(room, units, c, start + i, i);
        for (size_t j = 0; j < units->made_count; j++)
            room->columns[units->made[j]] = j < k ? c->made + j * c->list_room + start : NULL;
        tmi_blocks_set(&c->blocks, room->columns, n);
        memcpy(points + start, c->blocks.list[units->made[k]].values, n * sizeof *points);
    }
    for (size_t i = 0; i < chosen; i++) sum += size_of(points[i]);
    for (size_t i = 0; i < chosen; i++) points[i] = bounded(points[i], most, sum);
}

/* `room` gets the rows, `scratch` is for those of a unit whose columns are made. */
static tamis_status give_rows(tmi_units *units, choice *c, tmi_units_room *room, tmi_units_room *scratch, tmi_take_block *take,
                              void *context, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t count = 0;
    for (size_t k = 0; k < units->made_count; k++) room->columns[units->made[k]] = room->values + (units->width + k) * TMI_BLOCK;
    for (size_t u = 0; u < units->unit_count; u++) {
        const size_t chosen = choose(c, units, u);
        for (size_t w = 0; w < units->width; w++)
            if (units->layout->columns[units->given[w]]->most_of_unit > 0) c->sums[w] = sum_of(c->list, chosen, w);
        for (size_t k = 0; k < units->made_count; k++) make_bounded(scratch, units, c, k, chosen);
        for (size_t i = 0; i < chosen; i++) {
            put_row(room, units, c, i, count);
            for (size_t k = 0; k < units->made_count; k++)
                room->values[(units->width + k) * TMI_BLOCK + count] = c->made[k * c->list_room + i];
            if (++count < TMI_BLOCK) continue;
            TMI_TRY(take(context, room->columns, count, err));
            count = 0;
        }
    }
    if (count > 0) status = take(context, room->columns, count, err);
done:
    return status;
}

/* Leaves only those rows of each unit that may count whatever the parts to come have, with their hashes. */
static bool reduce(tmi_units *units, const choice *c)
{
    const size_t most = (size_t)units->layout->request->rows_per_unit, width = units->width;
    size_t kept = 0, at = 0;
    for (size_t u = 0; u < units->unit_count; u++) kept += units->counts[u] < most ? units->counts[u] : most;
    int64_t *rows = tmi_alloc(kept * width, sizeof *rows);
    size_t *next = tmi_alloc(kept, sizeof *next);
    unsigned char *hashes = tmi_alloc(kept, TMI_SHA256_BYTES);
    if (!rows || !next || !hashes) {
        tmi_free(rows);
        tmi_free(next);
        tmi_free(hashes);
        return false;
    }
    for (size_t u = 0; u < units->unit_count; u++) {
        const size_t chosen = choose(c, units, u);
        units->first[u] = NONE;
        units->counts[u] = chosen;
        for (size_t i = 0; i < chosen; i++, at++) {
            memcpy(rows + at * width, c->list[i].row, width * sizeof *rows);
            memcpy(hashes + at * TMI_SHA256_BYTES, c->list[i].hash, TMI_SHA256_BYTES);
            next[at] = units->first[u];
            units->first[u] = at;
        }
    }
    const size_t unit_count = units->unit_count;
    forget_rows(units);
    units->unit_count = unit_count;
    units->rows = rows;
    units->next = next;
    units->hashes = hashes;
    units->row_count = units->row_room = units->hash_count = kept;
    return true;
}

static bool forget_units(tmi_units *units)
{
    forget_rows(units);
    tmi_labels_free(units->labels);
    return (units->labels = tmi_labels_new());
}

tamis_status tmi_units_end_round(tmi_units *units, tmi_take_block *take, void *context, tamis_error *err)
{
    const units_round *round = &units->rounds[units->round];
    tmi_units_room *room = tmi_units_room_new(units), *scratch = tmi_units_room_new(units);
    choice c = {0};
    tamis_status status = room && scratch && make_choice(&c, units) ? TAMIS_OK : tmi_fail_memory(err);
    if (status == TAMIS_OK && round->part + 1 < round->parts) {
        if (!reduce(units, &c)) status = tmi_fail_memory(err);
    } else if (status == TAMIS_OK) {
        status = give_rows(units, &c, room, scratch, take, context, err);
        if (status == TAMIS_OK && !forget_units(units)) status = tmi_fail_memory(err);
    }
    clear_choice(&c, units);
    tmi_units_room_free(room);
    tmi_units_room_free(scratch);
    units->round++;
    return status;
}
