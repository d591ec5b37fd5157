#include "base/letters.h"

#include <string.h>

/* U+0000 to U+001F, U+007F, and U+0080 to U+009F, which UTF-8 writes as C2 80 to C2 9F. */
size_t tmi_control(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    if (c[0] < 0x20 || c[0] == 0x7f) return 1;
    return c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f ? 2 : 0;
}

bool tmi_has_control(const char *text)
{
    for (; *text; text++)
        if (tmi_control(text) > 0) return true;
    return false;
}

/* ---- code points ---- */

#define NO_LETTER 0xfffd

static size_t length_of(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

size_t tmi_utf8_length(const char *bytes, size_t room)
{
    const unsigned char *c = (const unsigned char *)bytes;
    const size_t count = length_of(c[0]);
    if (count > room) return 0;
    for (size_t i = 1; i < count; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f)) return 0;
    if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f)) return 0;
    return count;
}

uint32_t tmi_code_point(const char *bytes, size_t length, size_t at)
{
    if (at >= length) return NO_LETTER;
    const unsigned char *c = (const unsigned char *)bytes + at;
    const size_t count = length_of(c[0]);
    if (count == 0 || count > length - at) return NO_LETTER;
    uint32_t point = count == 1 ? c[0] : c[0] & (0x7fu >> count);
    for (size_t i = 1; i < count; i++) {
        if ((c[i] & 0xc0) != 0x80) return NO_LETTER;
        point = point << 6 | (c[i] & 0x3fu);
    }
    return point;
}

/* That of the character before `at`; U+FFFD if there is none. */
static uint32_t point_before(const char *bytes, size_t length, size_t at)
{
    for (size_t back = 1; back <= 4 && back <= at; back++)
        if (((unsigned char)bytes[at - back] & 0xc0) != 0x80) return tmi_code_point(bytes, length, at - back);
    return NO_LETTER;
}

typedef struct range {
    uint32_t first, last;
} range;

static bool is_in(uint32_t point, const range *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (point >= list[i].first && point <= list[i].last) return true;
    return false;
}

#define IS_IN(point, list) is_in(point, list, sizeof(list) / sizeof *(list))

/* Default_Ignorable_Code_Point of Unicode 15, and: line and paragraph separators, interlinear annotation, the empty Braille
 * pattern, Egyptian format controls, noncharacters of the basic plane. */
static const range hidden[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},   {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x2800, 0x2800}, {0x3164, 0x3164}, {0xfdd0, 0xfdef},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0x13430, 0x1343f},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

/* Letters and marks of scripts in which a joiner changes what is seen; digits and punctuation of their blocks are left in, they
 * do no harm. */
static const range joined[] = {
    {0x0620, 0x06ff}, {0x0710, 0x077f}, {0x0870, 0x0dff}, {0x1000, 0x109f}, {0x1780, 0x17b3},
    {0x17b6, 0x17dd}, {0x1820, 0x18aa}, {0xfb50, 0xfdcf}, {0xfdf0, 0xfdff}, {0xfe70, 0xfefc},
};

size_t tmi_hidden(const char *bytes, size_t length, size_t at)
{
    const uint32_t point = tmi_code_point(bytes, length, at);
    if (!IS_IN(point, hidden)) return 0;
    const size_t count = length_of((unsigned char)bytes[at]);
    const bool joiner = point == 0x200c || point == 0x200d;
    if (joiner && IS_IN(point_before(bytes, length, at), joined) && IS_IN(tmi_code_point(bytes, length, at + count), joined))
        return 0;
    return count;
}

uint32_t tmi_unreadable(const char *text)
{
    const size_t length = strlen(text);
    for (size_t at = 0; at < length; at++)
        if (tmi_control(text + at) > 0 || tmi_hidden(text, length, at) > 0) return tmi_code_point(text, length, at);
    return 0;
}

void tmi_text_shown(tmi_text *text, const char *name)
{
    const size_t length = strlen(name);
    for (size_t at = 0; at < length;) {
        const size_t control = tmi_control(name + at), count = control > 0 ? control : tmi_hidden(name, length, at);
        if (count > 0) tmi_text_format(text, "<U+%04X>", tmi_code_point(name, length, at));
        else tmi_text_add(text, name + at, 1);
        at += count > 0 ? count : 1;
    }
}
