/* Distinct keys in ascending order, and how often each was added.
 *
 * New keys are collected in a buffer. When it is full it is sorted, byte by byte, and merged into the list. The buffer grows with
 * the list, so that a key is moved a few times on the average.
 *
 * Invariants
 *   1. low (and high) are strictly ascending up to `count`, counts are positive, and nothing beyond `count` was ever written.
 *   2. Keys are below 2^64, and there are no `high` words, unless is_wide; then they are below 2^127.
 *   3. All counts together are at most TMI_MAX_ROWS, which the caller checks: no count overflows. */
#ifndef TMI_ENGINE_CORE_ENTRIES_H
#define TMI_ENGINE_CORE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tmi_entry_keys {
    uint64_t *low, *high; /* high: NULL unless they are wide */
    int64_t *counts;      /* NULL: each was added once */
} tmi_entry_keys;

typedef struct tmi_entries {
    bool is_wide, is_counted; /* counted: new keys have counts */
    tmi_entry_keys list;
    size_t count, room;
    tmi_entry_keys new, spare; /* of the same size; spare.counts is always there */
    size_t new_count, new_room;
} tmi_entries;

void tmi_entries_clear(tmi_entries *entries); /* wipes; the two flags stay */

/* Makes room for n more keys at new_count of entries->new, where the caller then writes them; 0 < n <= 2048. False if memory
 * runs out. */
bool tmi_entries_reserve(tmi_entries *entries, size_t n);

/* Merges the new keys into the list. False if memory runs out: the entries are then of no use, and can be cleared. */
bool tmi_entries_settle(tmi_entries *entries);

/* Merges n entries that fit the invariants into the list, whose new keys are settled. False as above. */
bool tmi_entries_merge(tmi_entries *entries, const tmi_entry_keys *others, size_t n);

/* Room for n entries in a list that has none yet. False if memory runs out; clear it then too. */
bool tmi_entries_make_room(tmi_entries *entries, size_t n);

#endif
