#include <string.h>

#include "base/memory.h"
#include "engine/cells.h"

/* Open addressing; at most half of the slots are taken. */
struct tmi_codes {
    int32_t missing; /* code of a missing cell */
    int32_t unknown; /* code of a text that is not listed */
    size_t mask;
    struct slot {
        const char *text; /* trimmed; inside the column's values or missing texts */
        size_t length;
        int32_t code;
        bool taken;
    } slots[];
};

/* The slot that holds the text, or the free one where it belongs. */
static const struct slot *find(const tmi_codes *codes, const char *text, size_t length)
{
    for (size_t i = tmi_hash_text(text, length) & codes->mask;; i = (i + 1) & codes->mask) {
        const struct slot *slot = &codes->slots[i];
        if (!slot->taken || (slot->length == length && memcmp(slot->text, text, length) == 0)) return slot;
    }
}

static void take(tmi_codes *codes, const char *text, int32_t code)
{
    const tmi_cell cell = tmi_trimmed(text, strlen(text));
    struct slot *slot = &codes->slots[find(codes, cell.bytes, cell.length) - codes->slots];
    if (!slot->taken) *slot = (struct slot){cell.bytes, cell.length, code, true};
}

tamis_status tmi_codes_new(tmi_codes **codes, const tmi_column *column, tamis_error *err)
{
    size_t slots = 4;
    *codes = NULL;
    if (column->value_count > (size_t)TMI_MAX_CELLS || column->missing_text_count > (size_t)TMI_MAX_CELLS)
        return tmi_fail(err, TAMIS_INVALID, "column %s has more than %lld values", column->name,
                        (long long)TMI_MAX_CELLS);
    while (slots < 2 * (column->value_count + column->missing_text_count + 1)) slots *= 2;
    tmi_codes *made = tmi_alloc(1, sizeof *made + slots * sizeof *made->slots);
    if (!made) return tmi_fail_memory(err);
    made->mask = slots - 1;
    made->unknown = (int32_t)column->value_count;
    made->missing = column->has_instead ? (int32_t)column->instead : made->unknown;
    for (size_t i = 0; i < column->missing_text_count; i++) take(made, column->missing_texts[i], made->missing);
    for (size_t v = 0; v < column->value_count; v++) take(made, column->values[v], (int32_t)v);
    take(made, "", made->missing);
    *codes = made;
    return TAMIS_OK;
}

void tmi_codes_free(tmi_codes *codes)
{
    tmi_free(codes);
}

int32_t tmi_code(const tmi_codes *codes, const char *text, size_t length)
{
    const tmi_cell cell = tmi_trimmed(text ? text : "", text ? length : 0);
    const struct slot *slot = find(codes, cell.bytes, cell.length);
    return slot->taken ? slot->code : codes->unknown;
}
