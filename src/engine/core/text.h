/* The text of a cell. Surrounding blanks (space, tab, line ends) are ignored, and a cell without text is missing. */
#ifndef TMI_ENGINE_CORE_TEXT_H
#define TMI_ENGINE_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* bytes is NULL if the cell is empty. */
typedef struct tmi_cell {
    const char *bytes;
    size_t length;
} tmi_cell;

static inline bool tmi_is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static inline tmi_cell tmi_trimmed(const char *bytes, size_t length)
{
    while (length > 0 && tmi_is_blank(bytes[length - 1])) length--;
    while (length > 0 && tmi_is_blank(*bytes)) bytes++, length--;
    return (tmi_cell){bytes, length};
}

static inline uint64_t tmi_hash_text(const char *bytes, size_t length)
{
    uint64_t hash = length;
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    uint64_t word = 0; /* the last bytes, in a few loads: a copy of so many bytes would be read before it is written */
    if (length >= 4) {
        uint32_t low, high;
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + length - 4, 4);
        word = (uint64_t)high << 32 | low;
    } else if (length > 0) {
        word = (uint64_t)(unsigned char)bytes[0] | (uint64_t)(unsigned char)bytes[length / 2] << 8 |
               (uint64_t)(unsigned char)bytes[length - 1] << 16;
    }
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* The number that a text represents: digits with an optional sign, point and exponent, and single underscores between digits,
 * as DuckDB's TRY_CAST reads it. NaN if it is not a number, infinite if it is too large. */
double tmi_number_in(tmi_cell text);
float tmi_float_in(tmi_cell text); /* rounded once, not by way of a double */

/* The same number in the form that strtod reads: without blanks, underscores and a leading plus. False if the text is not a
 * number. */
#define TMI_PLAIN_NUMBER 4096 /* a longer text is not a number */
bool tmi_plain_number(char number[TMI_PLAIN_NUMBER], tmi_cell text);

#endif
