#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "engine/core/cells.h"

static tmi_cell text_of(tmi_cell cell) { return cell.bytes ? tmi_trimmed(cell.bytes, cell.length) : (tmi_cell){"", 0}; }

static int32_t code_of(const tmi_cell *stratum, tmi_cell label, const tmi_column *column)
{
    unsigned char parts[TMI_KEY_BYTES + 2 * TMI_SHA256_BYTES], hash[TMI_SHA256_BYTES], *end = parts + TMI_KEY_BYTES;
    memcpy(parts, column->key, TMI_KEY_BYTES);
    if (stratum) {
        tmi_sha256(end, stratum->bytes, stratum->length);
        end += TMI_SHA256_BYTES;
    }
    tmi_sha256(end, label.bytes, label.length);
    end += TMI_SHA256_BYTES;
    tmi_sha256(hash, parts, (size_t)(end - parts));
    tmi_wipe(parts, sizeof parts);
    return (int32_t)(hash[0] % column->value_count);
}

/* Rows of a cluster are often next to each other, and clusters recur: the last ones are remembered. */
#define REMEMBERED 256

typedef struct memory {
    tmi_cell stratum, label; /* label.bytes NULL: none yet */
    int32_t code;
} memory;

static bool is_same(tmi_cell a, tmi_cell b) { return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0; }

void tmi_scatter(int32_t *codes, const tmi_cell *strata, const tmi_cell *labels, size_t n, const tmi_column *column)
{
    memory remembered[REMEMBERED] = {0};
    for (size_t i = 0; i < n; i++) {
        const tmi_cell label = text_of(labels[i]), stratum = strata ? text_of(strata[i]) : (tmi_cell){"", 0};
        const uint64_t mixed = tmi_hash_text(label.bytes, label.length) + 31 * tmi_hash_text(stratum.bytes, stratum.length);
        memory *place = &remembered[mixed * UINT64_C(0x9e3779b97f4a7c15) >> 56];
        if (!place->label.bytes || !is_same(place->label, label) || !is_same(place->stratum, stratum))
            *place = (memory){stratum, label, code_of(strata ? &stratum : NULL, label, column)};
        codes[i] = place->code;
    }
}
