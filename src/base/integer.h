/* Integers that do not overflow in silence, and 128-bit ones as text. */
#ifndef TMI_BASE_INTEGER_H
#define TMI_BASE_INTEGER_H

#include <stdbool.h>
#include <stdint.h>

typedef __int128 tmi_int128;

/* z = x op y; false, and z = 0, if that does not fit. */
static inline bool tmi_add_int64(int64_t *z, int64_t x, int64_t y)
{
    bool fits = !__builtin_add_overflow(x, y, z);
    if (!fits) *z = 0;
    return fits;
}

static inline bool tmi_add_int128(tmi_int128 *z, tmi_int128 x, tmi_int128 y)
{
    bool fits = !__builtin_add_overflow(x, y, z);
    if (!fits) *z = 0;
    return fits;
}

static inline bool tmi_mul_int128(tmi_int128 *z, tmi_int128 x, tmi_int128 y)
{
    bool fits = !__builtin_mul_overflow(x, y, z);
    if (!fits) *z = 0;
    return fits;
}

/* In decimal: a sign and at most 39 digits. */
#define TMI_INT128_TEXT 41
void tmi_int128_text(char text[TMI_INT128_TEXT], tmi_int128 x);

/* A whole text of an optional minus and digits; false, and x = 0, if it is something else or does not fit. */
bool tmi_int128_read(tmi_int128 *x, const char *text);

#endif
