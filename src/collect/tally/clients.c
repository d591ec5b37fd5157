#include "collect/tally/clients.h"

#include <string.h>

#include "base/memory.h"

#define FIRST_ROOM 1024

/* Keys are hashes: their first bytes give the slot. Whoever sends reports could choose ids that collide there, at the price
 * of 2^32 hashes for each; then a file takes longer to read. */
static uint64_t *place_of(uint64_t (*slots)[2], size_t room, const uint64_t key[2])
{
    size_t at = (size_t)key[0] & (room - 1);
    while ((slots[at][0] != 0 || slots[at][1] != 0) && (slots[at][0] != key[0] || slots[at][1] != key[1]))
        at = (at + 1) & (room - 1);
    return slots[at];
}

static tamis_status grow(tmi_clients *clients, tamis_error *err)
{
    const size_t room = clients->room == 0 ? FIRST_ROOM : 2 * clients->room;
    uint64_t(*slots)[2] = tmi_alloc(room, sizeof *slots);
    if (!slots) return tmi_fail_memory(err);
    for (size_t i = 0; i < clients->room; i++)
        if (clients->slots[i][0] != 0 || clients->slots[i][1] != 0)
            memcpy(place_of(slots, room, clients->slots[i]), clients->slots[i], sizeof *slots);
    if (clients->slots) tmi_wipe(clients->slots, clients->room * sizeof *clients->slots);
    tmi_free(clients->slots);
    clients->slots = slots;
    clients->room = room;
    return TAMIS_OK;
}

tamis_status tmi_clients_add(bool *known, tmi_clients *clients, const uint8_t key[TMI_CLIENT_KEY], tamis_error *err)
{
    uint64_t words[2];
    memcpy(words, key, sizeof words);
    *known = false;
    if (words[0] == 0 && words[1] == 0) {
        *known = clients->zero;
        clients->zero = true;
        return TAMIS_OK;
    }
    if (2 * (clients->count + 1) > clients->room) {
        tamis_status status = grow(clients, err);
        if (status != TAMIS_OK) return status;
    }
    uint64_t *slot = place_of(clients->slots, clients->room, words);
    *known = slot[0] != 0 || slot[1] != 0;
    if (*known) return TAMIS_OK;
    memcpy(slot, words, sizeof words);
    clients->count++;
    return TAMIS_OK;
}

void tmi_clients_clear(tmi_clients *clients)
{
    if (clients->slots) tmi_wipe(clients->slots, clients->room * sizeof *clients->slots);
    tmi_free(clients->slots);
    *clients = (tmi_clients){0};
}
