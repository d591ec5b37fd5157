/* Unsigned integers of a fixed number of 64-bit words, the least significant one first: what is needed to work exactly
 * with probabilities over a common denominator. One word is the usual case and stays as fast as plain integers.      */
#ifndef TMI_NUM_WIDE_H
#define TMI_NUM_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline int tmi_wide_compare(const uint64_t *x, const uint64_t *y, size_t words)
{
    for (size_t i = words; i-- > 0;)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static inline bool tmi_wide_is_zero(const uint64_t *x, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (x[i]) return false;
    return true;
}

/* z = x + y; z may be x or y. True if the sum does not fit. */
static inline bool tmi_wide_add(uint64_t *z, const uint64_t *x, const uint64_t *y, size_t words)
{
    unsigned __int128 carry = 0;
    for (size_t i = 0; i < words; i++) {
        carry += (unsigned __int128)x[i] + y[i];
        z[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry != 0;
}

/* z = x - y; z may be x or y. True if y > x. */
static inline bool tmi_wide_sub(uint64_t *z, const uint64_t *x, const uint64_t *y, size_t words)
{
    bool borrow = false;
    for (size_t i = 0; i < words; i++) {
        uint64_t a = x[i], b = y[i];
        z[i] = a - b - borrow;
        borrow = a < b || (a == b && borrow);
    }
    return borrow;
}

/* z = factor * x; z may be x. True if the product does not fit. */
static inline bool tmi_wide_mul(uint64_t *z, const uint64_t *x, uint64_t factor, size_t words)
{
    unsigned __int128 carry = 0;
    for (size_t i = 0; i < words; i++) {
        carry += (unsigned __int128)x[i] * factor;
        z[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry != 0;
}

/* The binary digits of x: 0 for 0, 3 for 5. */
static inline size_t tmi_wide_bits(const uint64_t *x, size_t words)
{
    while (words > 0 && x[words - 1] == 0) words--;
    return words == 0 ? 0 : 64 * words - (size_t)__builtin_clzll(x[words - 1]);
}

/* About x / y, for 0 <= x <= y and y > 0. */
static inline double tmi_wide_ratio(const uint64_t *x, const uint64_t *y, size_t words)
{
    double a = 0, b = 0;
    while (words > 1 && y[words - 1] == 0) words--;
    for (size_t i = words > 3 ? words - 3 : 0, last = words; i < last; i++) { /* at least 128 bits of y */
        a = a * 0x1p-64 + (double)x[i];
        b = b * 0x1p-64 + (double)y[i];
    }
    return a / b;
}

static inline void tmi_wide_set(uint64_t *z, const uint64_t *x, size_t words) { memcpy(z, x, words * sizeof *z); }

#endif
