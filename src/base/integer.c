#include "base/integer.h"

void tmi_int128_text(char text[TMI_INT128_TEXT], tmi_int128 x)
{
    char reversed[TMI_INT128_TEXT];
    int n = 0;
    unsigned __int128 rest = x < 0 ? -(unsigned __int128)x : (unsigned __int128)x; /* -2^127 has no positive twin */
    do {
        reversed[n++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest);
    if (x < 0) *text++ = '-';
    while (n > 0) *text++ = reversed[--n];
    *text = '\0';
}

/* Counted downwards: -2^127 has no positive twin. */
bool tmi_int128_read(tmi_int128 *x, const char *text)
{
    const bool negative = *text == '-';
    bool good = true;
    *x = 0;
    text += negative;
    if (*text == '\0') return false;
    for (; good && *text; text++)
        good = *text >= '0' && *text <= '9' && tmi_mul_int128(x, *x, 10) && tmi_add_int128(x, *x, -(*text - '0'));
    if (good && !negative) good = tmi_mul_int128(x, *x, -1);
    if (!good) *x = 0;
    return good;
}
