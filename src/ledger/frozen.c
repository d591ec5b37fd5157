/* What the first release of a survey has fixed, compared with what a later one says. */
#include <string.h>

#include "ledger/book.h"

/* Kept beside the frozen fields, or by older accounts among them, and not compared: `outsider` follows from the others, and the
 * budget is the account's own field. */
static bool is_compared(const char *key)
{
    return strcmp(key, "outsider") != 0 && strcmp(key, "budget") != 0;
}

static const char *difference(const tmi_json *x, const tmi_json *y)
{
    for (const char *key = tmi_json_next_key(x, NULL); key; key = tmi_json_next_key(x, key)) {
        const tmi_json *other = tmi_json_get(y, key);
        if (is_compared(key) && (!other || !tmi_json_equal(tmi_json_get(x, key), other))) return key;
    }
    return NULL;
}

const char *tmi_frozen_difference(const tmi_json *x, const tmi_json *y)
{
    const char *key = difference(x, y);
    return key ? key : difference(y, x);
}
