#include "engine/core/entries.h"

#include <string.h>

#include "base/memory.h"

/* A buffer may have as many keys as the list, or this many: two megabytes, which stay in the cache while they are sorted. */
#define LEAST_NEW ((size_t)1 << 18)

static void free_words(void *words, size_t count)
{
    if (words) tmi_wipe(words, count * sizeof(uint64_t));
    tmi_free(words);
}

static void free_keys(tmi_entry_keys *keys, size_t written)
{
    free_words(keys->low, written);
    free_words(keys->high, written);
    free_words(keys->counts, written);
    *keys = (tmi_entry_keys){0};
}

static void free_new(tmi_entries *entries)
{
    free_keys(&entries->new, entries->new_room);
    free_keys(&entries->spare, entries->new_room);
    entries->new_count = entries->new_room = 0;
}

void tmi_entries_clear(tmi_entries *entries)
{
    free_keys(&entries->list, entries->count);
    free_new(entries);
    entries->count = entries->room = 0;
}

/* ---- room ---- */

bool tmi_entries_make_room(tmi_entries *entries, size_t n)
{
    entries->list.low = tmi_alloc(n, sizeof *entries->list.low);
    entries->list.counts = tmi_alloc(n, sizeof *entries->list.counts);
    if (entries->is_wide) entries->list.high = tmi_alloc(n, sizeof *entries->list.high);
    entries->room = n;
    return entries->list.low && entries->list.counts && (!entries->is_wide || entries->list.high);
}

/* An empty buffer. */
static bool make_new(tmi_entries *entries, size_t room)
{
    tmi_entry_keys *new = &entries->new, *spare = &entries->spare;
    free_new(entries);
    entries->new_room = room;
    new->low = tmi_alloc(room, sizeof *new->low);
    spare->low = tmi_alloc(room, sizeof *spare->low);
    spare->counts = tmi_alloc(room, sizeof *spare->counts);
    bool made = new->low && spare->low && spare->counts;
    if (made && entries->is_wide) {
        new->high = tmi_alloc(room, sizeof *new->high);
        spare->high = tmi_alloc(room, sizeof *spare->high);
        made = new->high && spare->high;
    }
    if (made && entries->is_counted) made = (new->counts = tmi_alloc(room, sizeof *new->counts));
    return made;
}

/* A buffer begins small: most lists are. */
#define FIRST_NEW 4096

bool tmi_entries_reserve(tmi_entries *entries, size_t n)
{
    if (entries->new_room - entries->new_count >= n) return true;
    const size_t most = entries->count > LEAST_NEW ? entries->count : LEAST_NEW;
    if (!tmi_entries_settle(entries)) return false;
    const size_t wanted = entries->new_room == 0 ? FIRST_NEW : 4 * entries->new_room;
    const size_t room = wanted < most ? wanted : most;
    return entries->new_room >= room || make_new(entries, room);
}

/* ---- sorting ---- */

#define DIGITS 256

/* One pass by the byte of `word` at `shift`, from `from` into `to`. */
static void distribute(tmi_entry_keys *to, const tmi_entry_keys *from, const uint64_t *word, int shift, size_t n, size_t *place)
{
    const bool plain = !from->high && !from->counts;
    for (size_t i = 0; plain && i < n; i++) to->low[place[word[i] >> shift & (DIGITS - 1)]++] = from->low[i];
    for (size_t i = 0; !plain && i < n; i++) {
        const size_t at = place[word[i] >> shift & (DIGITS - 1)]++;
        to->low[at] = from->low[i];
        if (from->high) to->high[at] = from->high[i];
        if (from->counts) to->counts[at] = from->counts[i];
    }
}

static uint64_t differing_bits(const uint64_t *words, size_t n)
{
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++) differ |= words[i] ^ words[0];
    return differ;
}

/* Sorts the new keys. Bytes in which they all agree are passed over. */
static void sort_new(tmi_entries *entries)
{
    tmi_entry_keys from = entries->new, to = entries->spare;
    const size_t n = entries->new_count;
    if (!from.counts) to.counts = NULL;
    for (int w = 0; w < (entries->is_wide ? 2 : 1); w++) {
        const uint64_t differ = differing_bits(w == 0 ? from.low : from.high, n);
        for (int shift = 0; shift < 64; shift += 8) {
            const uint64_t *word = w == 0 ? from.low : from.high;
            size_t place[DIGITS] = {0}, sum = 0;
            if ((differ >> shift & (DIGITS - 1)) == 0) continue;
            for (size_t i = 0; i < n; i++) place[word[i] >> shift & (DIGITS - 1)]++;
            for (size_t d = 0; d < DIGITS; d++) {
                const size_t here = place[d];
                place[d] = sum;
                sum += here;
            }
            distribute(&to, &from, word, shift, n, place);
            const tmi_entry_keys swapped = from;
            from = to;
            to = swapped;
            tmi_wipe(place, sizeof place);
        }
    }
    if (!from.counts) to.counts = entries->spare.counts;
    entries->new = from;
    entries->spare = to;
}

/* ---- merging ---- */

static int compare(const tmi_entry_keys *a, size_t i, const tmi_entry_keys *b, size_t j)
{
    if (a->high && a->high[i] != b->high[j]) return a->high[i] < b->high[j] ? -1 : 1;
    return (a->low[i] > b->low[j]) - (a->low[i] < b->low[j]);
}

/* Equal sorted keys become one entry, with its count; returns how many there are. Keys that were added once have the counts 1. */
static size_t combine(tmi_entry_keys *keys, size_t n)
{
    size_t last = 0;
    for (size_t i = 1; i < n; i++) {
        const bool differs = compare(keys, last, keys, i) != 0;
        const int64_t count = keys->counts[i];
        last += differs;
        keys->low[last] = keys->low[i];
        if (keys->high) keys->high[last] = keys->high[i];
        keys->counts[last] = count + (differs ? 0 : keys->counts[last]);
    }
    return last + 1;
}

/* Merges a and b into `to`; returns the number of entries. Which of two keys is the smaller one cannot be predicted, so that the
 * loops choose without branches. */
static size_t merge(tmi_entry_keys *to, const tmi_entry_keys *a, size_t m, const tmi_entry_keys *b, size_t n)
{
    size_t i = 0, j = 0, k = 0;
    for (; i < m && j < n; k++) {
        const int sign = a->high ? compare(a, i, b, j) : (a->low[i] > b->low[j]) - (a->low[i] < b->low[j]);
        const bool left = sign <= 0, right = sign >= 0;
        to->low[k] = left ? a->low[i] : b->low[j];
        if (to->high) to->high[k] = left ? a->high[i] : b->high[j];
        to->counts[k] = (a->counts[i] & -(int64_t)left) + (b->counts[j] & -(int64_t)right);
        i += left;
        j += right;
    }
    const tmi_entry_keys *rest = i < m ? a : b;
    const size_t from = i < m ? i : j, more = i < m ? m - i : n - j;
    if (more > 0) {
        memcpy(to->low + k, rest->low + from, more * sizeof *to->low);
        if (to->high) memcpy(to->high + k, rest->high + from, more * sizeof *to->high);
        memcpy(to->counts + k, rest->counts + from, more * sizeof *to->counts);
    }
    return k + more;
}

bool tmi_entries_merge(tmi_entries *entries, const tmi_entry_keys *others, size_t n)
{
    tmi_entries merged = {.is_wide = entries->is_wide};
    if (n == 0) return true;
    if (!tmi_entries_make_room(&merged, entries->count + n)) {
        tmi_entries_clear(&merged);
        return false;
    }
    merged.count = merge(&merged.list, &entries->list, entries->count, others, n);
    free_keys(&entries->list, entries->count);
    entries->list = merged.list;
    entries->count = merged.count;
    entries->room = merged.room;
    return true;
}

bool tmi_entries_settle(tmi_entries *entries)
{
    const size_t n = entries->new_count;
    if (n == 0) return true;
    sort_new(entries);
    tmi_entry_keys sorted = entries->new;
    if (!sorted.counts) {
        sorted.counts = entries->spare.counts;
        for (size_t i = 0; i < n; i++) sorted.counts[i] = 1;
    }
    entries->new_count = 0;
    return tmi_entries_merge(entries, &sorted, combine(&sorted, n));
}
