/* What each row of a block adds: first the made columns, then one integer per row for each distinct measure of a request. */
#ifndef TMI_ENGINE_CORE_ADDENDS_H
#define TMI_ENGINE_CORE_ADDENDS_H

#include "engine/core/blocks.h"

/* TMI_ADD_ONES adds `one` in every row except those in `left_out`. The others add their terms. */
typedef enum tmi_addend_kind { TMI_ADD_ONES, TMI_ADD_SUM } tmi_addend_kind;

typedef struct tmi_addend {
    tmi_addend_kind kind;
    int64_t one;             /* ONES */
    const int32_t *left_out; /* ONES, of the block: 1 in rows that add nothing; NULL: every row adds */
    const int64_t *terms;    /* SUM, of the block */
    int64_t largest;         /* no term exceeds this in absolute value */
} tmi_addend;

typedef struct tmi_addends tmi_addends;
tmi_addends *tmi_addends_new(const tmi_layout *layout); /* NULL if memory runs out; the layout outlives it */
void tmi_addends_free(tmi_addends *terms);              /* wipes the last block */

/* The term of a measure of the request; equal measures share one. */
const tmi_addend *tmi_addend_of(const tmi_addends *terms, const tmi_measure *measure);

/* A block of n <= TMI_BLOCK rows; columns as for tmi_cells_add. They are read until the next block is set. */
void tmi_addends_make(tmi_addends *terms, const void *const *columns, size_t n);

/* The codes of column c of the layout, of the block. */
const int32_t *tmi_addends_codes(const tmi_addends *terms, size_t c);

#endif
