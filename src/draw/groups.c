#include "draw/groups.h"

#include <string.h>

#include "base/memory.h"

static uint64_t hash(const char *key, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

static size_t find_slot(const tmi_groups *g, const char *key, size_t length)
{
    size_t at = hash(key, length) & (g->slot_count - 1);
    for (; g->slots[at]; at = (at + 1) & (g->slot_count - 1)) {
        const tmi_frame_group *group = &g->list[g->slots[at] - 1];
        if (group->key_length == length && memcmp(g->keys + group->key, key, length) == 0) break;
    }
    return at;
}

static bool grow_list(tmi_groups *g)
{
    const size_t room = g->room ? 2 * g->room : 64;
    if (g->room >= UINT32_MAX / 2) return false;
    tmi_frame_group *list = tmi_realloc(g->list, room, sizeof *list);
    if (!list) return false;
    g->list = list;
    uint32_t *slots = tmi_alloc(2 * room, sizeof *slots);
    if (!slots) return false;
    tmi_free(g->slots);
    g->slots = slots;
    g->slot_count = 2 * room;
    g->room = room;
    for (size_t i = 0; i < g->count; i++) slots[find_slot(g, g->keys + g->list[i].key, g->list[i].key_length)] = (uint32_t)i + 1;
    return true;
}

static bool grow_keys(tmi_groups *g, size_t more)
{
    if (more <= g->key_room - g->key_bytes) return true;
    const size_t room = 2 * (g->key_bytes + more);
    char *keys = tmi_realloc(g->keys, room, 1);
    if (!keys) return false;
    g->keys = keys;
    g->key_room = room;
    return true;
}

bool tmi_groups_add(tmi_groups *g, int64_t row, size_t i, tmi_cell *const *cells, size_t columns)
{
    size_t length = 0;
    for (size_t c = 0; c < columns; c++) { /* length before text: no two lists of texts have the same key */
        const tmi_cell cell = cells[c][i];
        if (!grow_keys(g, length + sizeof cell.length + cell.length)) return false;
        memcpy(g->keys + g->key_bytes + length, &cell.length, sizeof cell.length);
        memcpy(g->keys + g->key_bytes + length + sizeof cell.length, cell.bytes, cell.length);
        length += sizeof cell.length + cell.length;
    }
    if (g->count == g->room && !grow_list(g)) return false;
    const size_t slot = find_slot(g, g->keys + g->key_bytes, length);
    if (g->slots[slot] == 0) {
        g->list[g->count] = (tmi_frame_group){.key = g->key_bytes, .key_length = length, .first = row};
        g->key_bytes += length;
        g->slots[slot] = (uint32_t)++g->count;
    }
    g->of[row] = g->slots[slot] - 1;
    g->list[g->of[row]].count++;
    return true;
}

void tmi_groups_clear(tmi_groups *g)
{
    tmi_free(g->list);
    tmi_free(g->of);
    tmi_free(g->slots);
    tmi_free(g->keys);
    *g = (tmi_groups){0};
}
