#include <string.h>

#include "base/memory.h"
#include "engine/cells.h"

/* Open addressing; at most half of the slots are taken. */
struct tmi_codes {
    const tmi_column *column;
    size_t mask;
    struct slot {
        const char *text; /* trimmed; inside the column's values */
        size_t length;
        int32_t code;
        bool taken;
    } slots[];
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && is_blank((*text)[*length - 1])) --*length;
    while (*length > 0 && is_blank(**text)) ++*text, --*length;
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = length;
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    uint64_t word = 0;
    memcpy(&word, text, length);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* The slot that holds the text, or the free one where it belongs. */
static const struct slot *find(const tmi_codes *codes, const char *text, size_t length)
{
    for (size_t i = hash_of(text, length) & codes->mask;; i = (i + 1) & codes->mask) {
        const struct slot *slot = &codes->slots[i];
        if (!slot->taken || (slot->length == length && memcmp(slot->text, text, length) == 0)) return slot;
    }
}

tamis_status tmi_codes_new(tmi_codes **codes, const tmi_column *column, tamis_error *err)
{
    size_t slots = 4;
    *codes = NULL;
    if (column->value_count > (size_t)TMI_MAX_CELLS)
        return tmi_fail(err, TAMIS_INVALID, "column %s has more than %lld values", column->name,
                        (long long)TMI_MAX_CELLS);
    while (slots < 2 * column->value_count) slots *= 2;
    tmi_codes *made = tmi_alloc(1, sizeof *made + slots * sizeof *made->slots);
    if (!made) return tmi_fail_memory(err);
    made->column = column;
    made->mask = slots - 1;
    for (size_t v = 0; v < column->value_count; v++) {
        const char *text = column->values[v];
        size_t length = strlen(text);
        trim(&text, &length);
        struct slot *slot = &made->slots[find(made, text, length) - made->slots];
        if (!slot->taken) *slot = (struct slot){text, length, (int32_t)v, true};
    }
    *codes = made;
    return TAMIS_OK;
}

void tmi_codes_free(tmi_codes *codes)
{
    tmi_free(codes);
}

int32_t tmi_code(const tmi_codes *codes, const char *text, size_t length)
{
    trim(&text, &length);
    const struct slot *slot = find(codes, text, length);
    return slot->taken ? slot->code : (int32_t)codes->column->value_count;
}
