/* Sorting integers by digits of eleven bits, the lowest first: as many passes as the range has digits, whatever the order was. */
#include <string.h>

#include "base/memory.h"
#include "mech/quantile/records.h"

#define DIGIT 11
#define DIGITS (1 << DIGIT)

/* One pass: a stable order by the digit at `shift`. */
static void pass(int64_t *to, int64_t *to_weights, const int64_t *from, const int64_t *weights, size_t count, int64_t least,
                 unsigned shift)
{
    size_t at[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++) at[(uint64_t)(from[i] - least) >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        const size_t n = at[digit];
        at[digit] = sum;
        sum += n;
    }
    if (weights) {
        for (size_t i = 0; i < count; i++) {
            const size_t place = at[(uint64_t)(from[i] - least) >> shift & (DIGITS - 1)]++;
            to[place] = from[i];
            to_weights[place] = weights[i];
        }
    } else
        for (size_t i = 0; i < count; i++) to[at[(uint64_t)(from[i] - least) >> shift & (DIGITS - 1)]++] = from[i];
}

/* For few records: moves each one down to its place. */
static void insert(int64_t *points, int64_t *weights, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const int64_t point = points[i], weight = weights ? weights[i] : 0;
        size_t j = i;
        for (; j > 0 && points[j - 1] > point; j--) {
            points[j] = points[j - 1];
            if (weights) weights[j] = weights[j - 1];
        }
        points[j] = point;
        if (weights) weights[j] = weight;
    }
}

bool tmi_sort_points(int64_t *points, int64_t *weights, size_t count)
{
    if (count <= 32) {
        insert(points, weights, count);
        return true;
    }
    int64_t least = points[0], largest = points[0];
    for (size_t i = 0; i < count; i++) {
        least = points[i] < least ? points[i] : least;
        largest = points[i] > largest ? points[i] : largest;
    }
    int64_t *room = tmi_alloc(count, (weights ? 2 : 1) * sizeof *room);
    if (!room) return false;
    int64_t *from = points, *to = room, *from_weights = weights, *to_weights = weights ? room + count : NULL;
    for (unsigned shift = 0; shift < 64 && (uint64_t)(largest - least) >> shift > 0; shift += DIGIT) {
        pass(to, to_weights, from, from_weights, count, least, shift);
        int64_t *other = from, *other_weights = from_weights;
        from = to;
        from_weights = to_weights;
        to = other;
        to_weights = other_weights;
    }
    if (from != points) {
        memcpy(points, from, count * sizeof *points);
        if (weights) memcpy(weights, from_weights, count * sizeof *weights);
    }
    tmi_wipe(room, count * (weights ? 2 : 1) * sizeof *room);
    tmi_free(room);
    return true;
}
