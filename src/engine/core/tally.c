#include "engine/core/tally.h"

#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "engine/core/blocks.h"
#include "engine/core/entries.h"
#include "engine/core/loose.h"
#include "engine/core/products.h"

/* A counter is a byte, because most keys are rare where there are many: what a counter cannot hold goes to the entries.
 *
 * Invariant: without counters the entries are the keys and how often each was added. With counters that number is the counter of
 * the key plus 256 times its count among the entries. */
struct tmi_tally {
    const tmi_points_plan *plan;
    const tmi_layout *layout;
    tmi_blocks blocks;
    const void **at;                  /* the columns of a block */
    size_t value, weight, where, *by; /* columns of the layout */
    uint64_t cells, points, weights;  /* how many there can be of each; weights 1: there are none */
    int64_t lowest;
    int64_t rows;
    bool is_loose; /* rows are kept as they come, and nothing below is used */
    tmi_loose loose;
    tmi_entries entries;
    size_t counter_count;                                       /* 0: too many keys */
    uint8_t *counters;                                          /* NULL: none yet */
    uint64_t cell[TMI_BLOCK], point[TMI_BLOCK], own[TMI_BLOCK]; /* of a block */
    bool out[TMI_BLOCK];                                        /* rows that are left out */
};

/* Counters per row that a thread has seen, at most: few rows need no large block. */
#define COUNTERS_PER_ROW 128
#define CARRY 256
#define LOOSE_KEYS (1 << 20) /* counters up to here stay in the cache: faster than keeping all rows, even if order is no matter */

/* ---- making ---- */

static void set_ranges(tmi_tally *tally)
{
    const tmi_points_request *asked = tally->plan->asked;
    int64_t highest;
    tmi_point_range(&tally->lowest, &highest, asked->value);
    tally->cells = tmi_table_cells(&tally->plan->table);
    tally->points = (uint64_t)(highest - tally->lowest) + 1;
    tally->weights = asked->weight ? (uint64_t)asked->max_weight + 1 : 1;
    /* 2^20 cells, 2^53 points and 2^52 weights at most: below 2^127 */
    const unsigned __int128 keys = (unsigned __int128)tally->cells * tally->points * tally->weights;
    tally->entries.is_wide = keys > UINT64_MAX;
    tally->entries.is_counted = !tally->layout;
    tally->is_loose = asked->any_order && tally->layout && asked->by_count == 0 && keys > LOOSE_KEYS;
    tally->loose.weighted = asked->weight != NULL;
    tally->counter_count = tally->layout && keys <= TMI_MAX_COUNTERS ? (size_t)keys : 0;
}

static bool find_columns(tmi_tally *tally)
{
    const tmi_points_request *asked = tally->plan->asked;
    const tmi_layout *layout = tally->layout;
    tally->value = tmi_layout_index(layout, asked->value);
    tally->weight = tmi_layout_index(layout, asked->weight);
    tally->where = tmi_layout_index(layout, asked->where);
    tally->by = tmi_alloc(asked->by_count, sizeof *tally->by);
    tally->at = tmi_alloc(layout->column_count, sizeof *tally->at);
    if (!tally->by || !tally->at) return false;
    for (size_t b = 0; b < asked->by_count; b++) tally->by[b] = tmi_layout_index(layout, asked->by[b]);
    return tmi_blocks_make(&tally->blocks, layout) && tmi_products_share(tally->blocks.products);
}

tmi_tally *tmi_tally_new(const tmi_points_plan *plan, const tmi_layout *layout)
{
    tmi_tally *tally = tmi_alloc(1, sizeof *tally);
    if (!tally) return NULL;
    tally->plan = plan;
    tally->layout = layout;
    set_ranges(tally);
    if (!layout || find_columns(tally)) return tally;
    tmi_tally_free(tally);
    return NULL;
}

void tmi_tally_free(tmi_tally *tally)
{
    if (!tally) return;
    tmi_blocks_clear(&tally->blocks);
    tmi_entries_clear(&tally->entries);
    tmi_loose_clear(&tally->loose);
    tmi_secret_free(tally->counters);
    tmi_free(tally->by);
    tmi_free(tally->at);
    tmi_wipe(tally, sizeof *tally);
    tmi_free(tally);
}

int64_t tmi_tally_rows(const tmi_tally *tally) { return tally->rows; }

/* ---- counters ---- */

/* Adds entries, in numbers of rows, to the counters; what these cannot hold remains in the entries. */
static void count_entries(tmi_tally *tally, tmi_entries *entries)
{
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const uint64_t key = entries->list.low[i];
        const int64_t count = entries->list.counts[i] + tally->counters[key];
        tally->counters[key] = (uint8_t)(count % CARRY);
        if (count < CARRY) continue;
        entries->list.low[kept] = key;
        entries->list.counts[kept++] = count / CARRY;
    }
    tmi_wipe(entries->list.low + kept, (entries->count - kept) * sizeof *entries->list.low);
    tmi_wipe(entries->list.counts + kept, (entries->count - kept) * sizeof *entries->list.counts);
    entries->count = kept;
}

/* Turns to counters, if there may be any and it is time. */
static bool make_counters(tmi_tally *tally)
{
    if (tally->counters || tally->counter_count == 0 || tally->rows < (int64_t)(tally->counter_count / COUNTERS_PER_ROW))
        return true;
    if (!tmi_entries_settle(&tally->entries)) return false;
    tally->counters = tmi_secret_alloc(tally->counter_count, sizeof *tally->counters);
    if (!tally->counters) return false;
    if (tally->entries.count > 0) count_entries(tally, &tally->entries);
    return true;
}

/* Adds keys. For each counter that is full there is a new key among the entries, for which there is room. */
static void count_keys(tmi_tally *tally, const uint64_t *keys, size_t n)
{
    tmi_entries *entries = &tally->entries;
    for (size_t i = 0; i < n; i++)
        if (++tally->counters[keys[i]] == 0) entries->new.low[entries->new_count++] = keys[i];
}

/* Adds the counters of another tally, most of which are zero. */
static bool add_counters(tmi_tally *tally, const uint8_t *others)
{
    tmi_entries *entries = &tally->entries;
    for (size_t start = 0; start < tally->counter_count; start += sizeof(uint64_t)) {
        const size_t n = tally->counter_count - start < sizeof(uint64_t) ? tally->counter_count - start : sizeof(uint64_t);
        uint64_t word = 0;
        memcpy(&word, others + start, n);
        if (word == 0) continue;
        if (!tmi_entries_reserve(entries, n)) return false;
        for (size_t i = start; i < start + n; i++) {
            const int sum = tally->counters[i] + others[i];
            tally->counters[i] = (uint8_t)sum;
            if (sum >= CARRY) entries->new.low[entries->new_count++] = i;
        }
    }
    return true;
}

/* How many keys were added: those with a counter that is not zero, and those with entries alone. */
static size_t count_distinct(const tmi_tally *tally)
{
    const tmi_entries *entries = &tally->entries;
    size_t count = 0;
    for (size_t i = 0; i < tally->counter_count; i++) count += tally->counters[i] > 0;
    for (size_t i = 0; i < entries->count; i++) count += tally->counters[entries->list.low[i]] == 0;
    return count;
}

/* Moves the counters to the entries, which are then all. */
static bool empty_counters(tmi_tally *tally)
{
    tmi_entries *entries = &tally->entries, found = {0};
    if (!tmi_entries_settle(entries)) return false;
    const bool made = tmi_entries_make_room(&found, count_distinct(tally));
    for (size_t start = 0, at = 0; made && start < tally->counter_count; start += sizeof(uint64_t)) {
        const size_t n = tally->counter_count - start < sizeof(uint64_t) ? tally->counter_count - start : sizeof(uint64_t);
        uint64_t word = 0;
        memcpy(&word, tally->counters + start, n);
        if (word == 0 && (at == entries->count || entries->list.low[at] >= start + n)) continue;
        for (size_t i = start; i < start + n; i++) {
            int64_t rows = tally->counters[i];
            if (at < entries->count && entries->list.low[at] == i) rows += CARRY * entries->list.counts[at++];
            if (rows == 0) continue;
            found.list.low[found.count] = i;
            found.list.counts[found.count++] = rows;
        }
    }
    tmi_entries_clear(made ? entries : &found);
    if (made) tally->entries = found;
    tmi_secret_free(tally->counters);
    tally->counters = NULL;
    return made;
}

/* ---- rows ---- */

static void add_codes(tmi_tally *tally, size_t n)
{
    memset(tally->cell, 0, n * sizeof *tally->cell);
    for (size_t b = 0; b < tally->plan->asked->by_count; b++) {
        const int32_t *codes = tally->blocks.list[tally->by[b]].values;
        const uint64_t count = tally->layout->columns[tally->by[b]]->value_count;
        for (size_t i = 0; i < n; i++) {
            tally->out[i] |= (uint64_t)codes[i] == count;
            tally->cell[i] = tally->cell[i] * count + (uint64_t)codes[i]; /* below 2^64 whatever the codes are */
        }
    }
}

static void add_points(tmi_tally *tally, size_t n)
{
    const int64_t *points = tally->blocks.list[tally->value].values;
    for (size_t i = 0; i < n; i++) {
        tally->out[i] |= points[i] == TMI_NO_POINT;
        tally->point[i] = (uint64_t)points[i] - (uint64_t)tally->lowest;
    }
}

static void add_weights(tmi_tally *tally, size_t n)
{
    const int64_t most = tally->plan->asked->max_weight, *points = tally->blocks.list[tally->weight].values;
    for (size_t i = 0; i < n; i++) {
        tally->out[i] |= points[i] == TMI_NO_POINT;
        tally->own[i] = (uint64_t)(points[i] < 0 ? 0 : points[i] > most ? most : points[i]);
    }
}

static void select_rows(tmi_tally *tally, size_t n)
{
    const int64_t *where = tally->blocks.list[tally->where].values;
    for (size_t i = 0; i < n; i++) tally->out[i] |= where[i] != 1;
}

/* The keys of the rows that count go to `low`, and to `high` if they are wide; returns how many there are. */
static size_t make_keys(uint64_t *low, uint64_t *high, const tmi_tally *tally, size_t n)
{
    size_t kept = 0;
    if (!high)
        for (size_t i = 0; i < n; i++) {
            low[kept] = (tally->cell[i] * tally->points + tally->point[i]) * tally->weights + tally->own[i];
            kept += !tally->out[i];
        }
    else
        for (size_t i = 0; i < n; i++) {
            const unsigned __int128 key = ((unsigned __int128)tally->cell[i] * tally->points + tally->point[i]) * tally->weights +
                                          tally->own[i];
            low[kept] = (uint64_t)key;
            high[kept] = (uint64_t)(key >> 64);
            kept += !tally->out[i];
        }
    return kept;
}

/* Appends the rows that count. What is written of one that does not is overwritten by the next, or is wiped. */
static bool keep_rows(tmi_tally *tally, size_t n)
{
    tmi_loose_piece *piece = tmi_loose_reserve(&tally->loose, n);
    if (!piece) return false;
    size_t kept = piece->count;
    for (size_t i = 0; i < n; i++) {
        piece->points[kept] = (int64_t)(tally->point[i] + (uint64_t)tally->lowest);
        if (piece->weights) piece->weights[kept] = (int64_t)tally->own[i];
        kept += !tally->out[i];
    }
    piece->count = kept;
    return true;
}

static bool add_block(tmi_tally *tally, const void *const *columns, size_t n)
{
    const tmi_points_request *asked = tally->plan->asked;
    tmi_entries *entries = &tally->entries;
    tmi_blocks_set(&tally->blocks, columns, n);
    memset(tally->out, 0, n * sizeof *tally->out);
    add_codes(tally, n);
    add_points(tally, n);
    if (asked->weight) add_weights(tally, n);
    if (asked->where) select_rows(tally, n);
    if (!tally->is_loose && !make_counters(tally)) return false;
    tally->rows += (int64_t)n;
    if (tally->is_loose) return keep_rows(tally, n);
    if (!tmi_entries_reserve(entries, n)) return false;
    if (!tally->counters) {
        entries->new_count += make_keys(entries->new.low + entries->new_count,
                                        entries->is_wide ? entries->new.high + entries->new_count : NULL, tally, n);
        return true;
    }
    count_keys(tally, tally->cell, make_keys(tally->cell, NULL, tally, n)); /* a key is never ahead of its own row */
    return true;
}

static tamis_status count_rows(const tmi_tally *tally, int64_t rows, tamis_error *err)
{
    return rows <= TMI_MAX_ROWS - tally->rows ? TAMIS_OK : tmi_fail(err, TAMIS_SYSTEM, "the source has more than 2^40 rows");
}

tamis_status tmi_tally_add(tmi_tally *tally, const void *const *columns, size_t n, tamis_error *err)
{
    tamis_status status = count_rows(tally, n > (size_t)TMI_MAX_ROWS ? INT64_MAX : (int64_t)n, err);
    for (size_t start = 0; status == TAMIS_OK && start < n; start += TMI_BLOCK) {
        for (size_t c = 0; c < tally->layout->column_count; c++) {
            const tmi_column *column = tally->layout->columns[c];
            if (!tmi_is_given(column)) continue;
            tally->at[c] = tmi_has_points(column) ? (const void *)((const int64_t *)columns[c] + start)
                                                  : (const void *)((const int32_t *)columns[c] + start);
        }
        if (!add_block(tally, tally->at, n - start < TMI_BLOCK ? n - start : TMI_BLOCK)) status = tmi_fail_memory(err);
    }
    return status;
}

/* ---- entries ---- */

tamis_status tmi_tally_add_entry(tmi_tally *tally, int64_t cell, int64_t point, int64_t weight, int64_t count, tamis_error *err)
{
    tmi_entries *entries = &tally->entries;
    if (cell < 0 || (uint64_t)cell >= tally->cells || point < tally->lowest ||
        (uint64_t)(point - tally->lowest) >= tally->points || weight < 0 || (uint64_t)weight >= tally->weights || count < 1)
        return tmi_fail(err, TAMIS_SYSTEM, "the source returned a record that cannot be right");
    tamis_status status = count_rows(tally, count, err);
    if (status != TAMIS_OK) return status;
    if (!tmi_entries_reserve(entries, 1)) return tmi_fail_memory(err);
    const unsigned __int128 key = ((unsigned __int128)cell * tally->points + (uint64_t)(point - tally->lowest)) * tally->weights +
                                  (uint64_t)weight;
    entries->new.low[entries->new_count] = (uint64_t)key;
    if (entries->is_wide) entries->new.high[entries->new_count] = (uint64_t)(key >> 64);
    entries->new.counts[entries->new_count++] = count;
    tally->rows += count;
    return TAMIS_OK;
}

/* ---- moving ---- */

static void swap_contents(tmi_tally *a, tmi_tally *b)
{
    const tmi_entries entries = a->entries;
    uint8_t *counters = a->counters;
    a->entries = b->entries;
    a->counters = b->counters;
    b->entries = entries;
    b->counters = counters;
}

static bool take_all(tmi_tally *tally, tmi_tally *other)
{
    if (!tmi_entries_settle(&tally->entries) || !tmi_entries_settle(&other->entries)) return false;
    if (!tally->counters && (other->counters || other->entries.count > tally->entries.count)) swap_contents(tally, other);
    if (tally->counters && other->counters && !add_counters(tally, other->counters)) return false;
    if (tally->counters && !other->counters && other->entries.count > 0) count_entries(tally, &other->entries);
    return tmi_entries_settle(&tally->entries) && tmi_entries_merge(&tally->entries, &other->entries.list, other->entries.count);
}

static void forget(tmi_tally *tally)
{
    tmi_entries_clear(&tally->entries);
    tmi_loose_clear(&tally->loose);
    tmi_secret_free(tally->counters);
    tally->counters = NULL;
    tally->rows = 0;
}

tamis_status tmi_tally_take(tmi_tally *tally, tmi_tally *other, tamis_error *err)
{
    tamis_status status = count_rows(tally, other->rows, err);
    if (status != TAMIS_OK) return status;
    tally->rows += other->rows;
    tmi_loose_take(&tally->loose, &other->loose);
    status = take_all(tally, other) ? TAMIS_OK : tmi_fail_memory(err);
    forget(other);
    return status;
}

/* The keys become points where they are, and cells and weights beside them. */
static void decode(tmi_point_list *list, const tmi_entries *entries, const tmi_tally *tally)
{
    uint64_t *low = entries->list.low;
    for (size_t i = 0; i < entries->count; i++) {
        uint64_t rest = low[i], weight = 0, cell = 0;
        if (entries->is_wide) {
            const unsigned __int128 key = (unsigned __int128)entries->list.high[i] << 64 | low[i];
            weight = (uint64_t)(key % tally->weights);
            cell = (uint64_t)(key / tally->weights / tally->points);
            rest = (uint64_t)(key / tally->weights % tally->points);
        } else {
            if (list->weights) weight = rest % tally->weights, rest /= tally->weights;
            if (list->cells) cell = rest / tally->points, rest %= tally->points;
        }
        if (list->weights) list->weights[i] = (int64_t)weight;
        if (list->cells) list->cells[i] = (int32_t)cell;
        list->points[i] = tally->lowest + (int64_t)rest;
    }
}

tamis_status tmi_tally_take_list(tmi_point_list *list, tmi_tally *tally, tamis_error *err)
{
    const tmi_points_request *asked = tally->plan->asked;
    tmi_entries *entries = &tally->entries;
    if (tally->is_loose) {
        const bool taken = tmi_loose_take_list(&list->points, &list->weights, &list->count, &tally->loose);
        list->room = list->count;
        forget(tally);
        return taken ? TAMIS_OK : tmi_fail_memory(err);
    }
    bool made = tally->counters ? empty_counters(tally) : tmi_entries_settle(entries);
    const size_t count = entries->count;
    if (made && asked->by_count > 0) made = (list->cells = tmi_alloc(count, sizeof *list->cells));
    if (made && asked->weight) made = (list->weights = tmi_alloc(count, sizeof *list->weights));
    if (made && !entries->list.low) made = tmi_entries_make_room(entries, 1);
    if (!made) {
        tmi_free(list->cells);
        tmi_free(list->weights);
        *list = (tmi_point_list){0};
        return tmi_fail_memory(err);
    }
    list->points = (int64_t *)(void *)entries->list.low;
    list->counts = entries->list.counts;
    list->count = list->room = count;
    decode(list, entries, tally);
    entries->list.low = NULL;
    entries->list.counts = NULL;
    forget(tally);
    return TAMIS_OK;
}
