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
