/* Texts that callers give for the book: names and reasons, which people read, and longer ones for programs. */
#include <string.h>

#include "base/letters.h"
#include "ledger/ledger.h"

tamis_status tmi_check_text(const char *text, const char *name, size_t least, size_t most, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    const size_t length = strnlen(text, most + 1);
    if (length < least) return tmi_fail(err, TAMIS_INVALID, "%s: must not be empty", name);
    if (length > most) return tmi_fail(err, TAMIS_INVALID, "%s: longer than %zu bytes", name, most);
    return tmi_is_utf8(text) ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "%s: not UTF-8", name);
}

/* A text that people read in the book and in certificates. */
static bool is_blank(uint32_t point)
{
    return point <= ' ' || point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) || point == 0x202f ||
           point == 0x205f || point == 0x3000;
}

static bool is_all_blank(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) /* every byte that begins a character */
        if ((text[i] & 0xc0) != 0x80 && !is_blank(tmi_code_point(text, length, i))) return false;
    return true;
}

tamis_status tmi_check_name(const char *text, const char *name, tamis_error *err)
{
    tamis_status status = tmi_check_text(text, name, 1, TAMIS_LEDGER_NAME, err);
    if (status == TAMIS_OK && is_all_blank(text)) return tmi_fail(err, TAMIS_INVALID, "%s: must not be blank", name);
    const uint32_t point = status == TAMIS_OK ? tmi_unreadable(text) : 0;
    if (point == 0) return status;
    return tmi_fail(err, TAMIS_INVALID, "%s: U+%04X is invisible, or changes how the text around it is shown: remove it", name,
                    point);
}
