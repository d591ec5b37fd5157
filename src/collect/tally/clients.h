/* Which clients have reported: a set of 16-byte keys, the first bytes of the SHA-256 of an id, as packed reports have them. Two
 * ids share a key with probability below 2^-68 for 10^9 clients. */
#ifndef TMI_COLLECT_TALLY_CLIENTS_H
#define TMI_COLLECT_TALLY_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TMI_CLIENT_KEY 16

typedef struct tmi_clients {
    uint64_t (*slots)[2]; /* {0, 0} is a free one */
    size_t room, count;   /* room: a power of two, more than count */
    bool zero;            /* the key that is all zero is in the set */
} tmi_clients;

/* Adds a key; *known if it was there. Begins as {0}. SYSTEM (memory). */
tamis_status tmi_clients_add(bool *known, tmi_clients *clients, const uint8_t key[TMI_CLIENT_KEY], tamis_error *err);
void tmi_clients_clear(tmi_clients *clients); /* wipes */

#endif
