/* What cannot be read in a name, character by character. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"

/* UTF-8 written the other way round: from the code point. */
static size_t encode(char *bytes, uint32_t point)
{
    if (point < 0x80) return bytes[0] = (char)point, 1;
    const size_t count = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = count; i-- > 1; point >>= 6) bytes[i] = (char)(0x80 | (point & 0x3f));
    bytes[0] = (char)(0xff00 >> count | point);
    return count;
}

static bool is_hidden(uint32_t point)
{
    char text[16] = "ab";
    const size_t count = encode(text + 1, point);
    text[1 + count] = 'c';
    const size_t found = tmi_hidden(text, 2 + count, 1);
    assert_true(found == 0 || found == count);
    assert_int_equal(tmi_code_point(text, 2 + count, 1), point);
    return found > 0;
}

static void what_changes_or_hides_text_is_found(void **state)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0x202a, 0x202e}, {0x2066, 0x2069},   {0x200b, 0x200f},   {0x061c, 0x061c},   {0x2060, 0x2064},
                  {0xfeff, 0xfeff}, {0xad, 0xad},       {0x2028, 0x2029},   {0x034f, 0x034f},   {0x115f, 0x1160},
                  {0x3164, 0x3164}, {0xffa0, 0xffa0},   {0x180e, 0x180e},   {0xfe00, 0xfe0f},   {0xfff9, 0xfffb},
                  {0x2800, 0x2800}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f}, {0xe0100, 0xe01ef}, {0x1d173, 0x1d17a}},
      shown[] = {{0x20, 0x7e},     {0xa0, 0xac},       {0xae, 0x034e},    {0x0350, 0x061b}, {0x0620, 0x10ff},
                 {0x1e00, 0x200a}, {0x2010, 0x2027},   {0x2030, 0x205f},  {0x2070, 0x27ff}, {0x2801, 0x3163},
                 {0x3165, 0xd7ff}, {0x1f300, 0x1faff}, {0x20000, 0x3ffff}};
    (void)state;
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        for (uint32_t p = hidden[i].first; p <= hidden[i].last; p++)
            if (!is_hidden(p)) fail_msg("U+%04X passes", p);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        for (uint32_t p = shown[i].first; p <= shown[i].last; p++)
            if (is_hidden(p)) fail_msg("U+%04X is refused", p);
}

static void names_are_judged_as_a_whole(void **state)
{
    static const struct {
        const char *text;
        uint32_t found;
    } names[] = {
        {"schools 2000", 0},
        {"caf\u00e9", 0},
        {"cafe\u0301", 0},
        {"\u03b5 \u2264 1", 0},
        {"\u5317\u6d77\u9053", 0},
        {"\u00cele-de-France\u00a0: total", 0},
        {"\u05d1\u05d9\u05ea \u05e1\u05e4\u05e8", 0},            /* Hebrew runs from right to left by itself */
        {"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", 0}, /* Persian: a non-joiner between two letters */
        {"\u0915\u094d\u200d\u0937", 0},
        {"\u0915\u094d\u200c\u0937", 0}, /* Hindi: after a virama */
        {"a\u200cb", 0x200c},
        {"a\u200db", 0x200d},
        {"\u200c\u0645", 0x200c},
        {"\u0645\u200c", 0x200c},
        {"\u0645\u200cb", 0x200c},
        {"\u0645\u200c\u200c\u0645", 0x200c},
        {"\U0001f468\u200d\U0001f469", 0x200d}, /* a family of two, or one and one */
        {"gpj.\u202eeulb", 0x202e},
        {"a\u00adb", 0xad},
        {"\ufeffa", 0xfeff},
        {"a\tb", 9},
        {"a\x7f", 0x7f},
        {"a\xc2\x85", 0x85},
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tmi_unreadable(names[i].text) != names[i].found) fail_msg("name %zu: U+%04X", i, tmi_unreadable(names[i].text));
}

static void messages_show_them_by_number(void **state)
{
    tmi_text text;
    (void)state;
    tmi_text_init(&text);
    tmi_text_shown(&text, "a\u202eb\nc\u00e9\u00ad\x85");
    assert_string_equal(text.bytes, "a<U+202E>b<U+000A>c\u00e9<U+00AD>\x85");
    tmi_text_clear(&text);
}

/* Bytes that are no UTF-8 are nobody's character, and nothing beyond the end is looked at. */
static void broken_bytes_are_no_characters(void **state)
{
    static const char *const broken[] = {"\x80",         "\xc1\x81", "\xe2\x80", "\xe2", "\xf5\x80\x80\x80",
                                         "\xe2\x28\xa1", "\xff",     "\xf0\x9f"};
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const size_t length = strlen(broken[i]);
        char *exact = malloc(length);
        assert_non_null(exact);
        memcpy(exact, broken[i], length);
        for (size_t at = 0; at < length; at++) assert_int_equal(tmi_hidden(exact, length, at), 0);
        assert_int_equal(tmi_code_point(exact, length, 0), 0xfffd);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changes_or_hides_text_is_found),
        cmocka_unit_test(names_are_judged_as_a_whole),
        cmocka_unit_test(messages_show_them_by_number),
        cmocka_unit_test(broken_bytes_are_no_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
