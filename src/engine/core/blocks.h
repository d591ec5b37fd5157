/* A block of rows, column by column: the points and codes that are given, and those of the columns made from them. */
#ifndef TMI_ENGINE_CORE_BLOCKS_H
#define TMI_ENGINE_CORE_BLOCKS_H

#include "engine/core/cells.h"

#define TMI_BLOCK 2048 /* rows */

typedef struct tmi_block {
    const void *values;          /* points or codes */
    void *room;                  /* of a made column */
    bool *listed;                /* INDICATOR: for each condition with codes, whether a code is listed */
    int64_t *numbers;            /* LOOKUP: TMI_NO_POINT is the last one */
    int32_t *classes;            /* CLASSES: of each code, and last that of a missing one */
    struct tmi_factors *factors; /* PRODUCT */
    /* After tmi_block_look: */
    bool looked, some_missing;
    const int64_t *points; /* 0 where missing */
    int64_t *filled;       /* room for them */
    int32_t *missing;      /* 1 or 0; not written if there are none */
} tmi_block;

typedef struct tmi_blocks {
    const tmi_layout *layout;
    tmi_block *list; /* one per column of the layout */
    struct tmi_products *products;
} tmi_blocks;

/* False if memory runs out; clear it then too. The layout outlives them. */
bool tmi_blocks_make(tmi_blocks *blocks, const tmi_layout *layout);
void tmi_blocks_clear(tmi_blocks *blocks); /* wipes the last block */

/* Room for looking at column c of the layout; false if memory runs out. */
bool tmi_block_prepare(tmi_blocks *blocks, size_t c);

/* A block of n <= TMI_BLOCK rows; columns as for tmi_cells_add. They are read until the next block is set. */
void tmi_blocks_set(tmi_blocks *blocks, const void *const *columns, size_t n);

/* Finds the missing rows of column c, which was prepared, once per block. If no row is missing, the points are used in place,
 * otherwise a copy with 0 in the missing rows. */
void tmi_block_look(tmi_blocks *blocks, size_t c, size_t n);

#endif
