#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void tmi_text_init(tmi_text *text) { *text = (tmi_text){0}; }

void tmi_text_clear(tmi_text *text)
{
    tmi_free(text->bytes);
    *text = (tmi_text){0};
}

#define ASK_EVERY 16 /* a power of two of bytes between two looks at the clock */

/* False if nothing is to be copied: on failure, or if bytes are only counted. */
static bool reserve(tmi_text *text, size_t more)
{
    if (text->failed) return false;
    if (more >= (size_t)1 << 62) return !(text->failed = true);
    if (text->watch && text->length >> ASK_EVERY != (text->length + more) >> ASK_EVERY &&
        tmi_watch_beat(text->watch, NULL) != TAMIS_OK)
        return !(text->failed = text->stopped = true);
    if (text->counted) {
        text->length += more;
        return false;
    }
    size_t need = text->length + more + 1;
    if (need <= text->room) return true;
    size_t room = text->room ? text->room : 128;
    while (room < need) room *= 2;
    char *bytes = tmi_realloc(text->bytes, room, 1);
    if (!bytes) return !(text->failed = true);
    text->bytes = bytes;
    text->room = room;
    return true;
}

void tmi_text_add(tmi_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length)) return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void tmi_text_put(tmi_text *text, const char *string) { tmi_text_add(text, string, strlen(string)); }

void tmi_text_format(tmi_text *text, const char *format, ...)
{
    va_list arguments;
    if (text->failed) return;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) text->failed = true;
    if (length < 0 || !reserve(text, (size_t)length)) return;
    va_start(arguments, format);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

tamis_status tmi_text_take(char **bytes, tmi_text *text, tamis_error *err)
{
    *bytes = NULL;
    tmi_text_add(text, "", 0); /* an empty text is still a string */
    if (text->failed || text->counted) {
        const bool stopped = text->stopped;
        tmi_text_clear(text);
        return stopped ? tmi_fail_cancelled(err) : tmi_fail_memory(err);
    }
    *bytes = text->bytes;
    *text = (tmi_text){0};
    return TAMIS_OK;
}

tamis_status tmi_copy_string(char **copy, const char *string, tamis_error *err)
{
    *copy = string ? tmi_copy_text(string, strlen(string)) : NULL;
    return *copy || !string ? TAMIS_OK : tmi_fail_memory(err);
}

bool tmi_is_one_of(const char *string, const char *const *list)
{
    while (*list && strcmp(*list, string) != 0) list++;
    return *list != NULL;
}

int tmi_compare_strings(const void *x, const void *y) { return strcmp(*(const char *const *)x, *(const char *const *)y); }
