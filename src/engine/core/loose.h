/* Records as they come, neither sorted nor counted: for lists in any order. They are kept in pieces, so that nothing is moved
 * while more are added, and so that those of another thread are taken by taking its pieces. */
#ifndef TMI_ENGINE_CORE_LOOSE_H
#define TMI_ENGINE_CORE_LOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TMI_LOOSE_PIECE ((size_t)1 << 16) /* records; half a megabyte of points */

typedef struct tmi_loose_piece {
    struct tmi_loose_piece *next;
    int64_t *points, *weights; /* weights: NULL without */
    size_t count;
} tmi_loose_piece;

typedef struct tmi_loose {
    bool weighted;
    tmi_loose_piece *first; /* the one that is being filled */
} tmi_loose;

void tmi_loose_clear(tmi_loose *loose); /* wipes; the flag stays */

/* A piece with room for n more records, at its count; n <= TMI_LOOSE_PIECE. NULL if memory runs out. */
tmi_loose_piece *tmi_loose_reserve(tmi_loose *loose, size_t n);

/* Moves everything from another. */
void tmi_loose_take(tmi_loose *loose, tmi_loose *other);

/* Moves everything to arrays, which the caller wipes and frees; weights NULL without. False if memory runs out. */
bool tmi_loose_take_list(int64_t **points, int64_t **weights, size_t *count, tmi_loose *loose);

#endif
