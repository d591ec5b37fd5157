/* Turns the cells that a scanner hands out into points and codes. */
#ifndef TMI_ENGINE_FILES_DECODER_H
#define TMI_ENGINE_FILES_DECODER_H

#include "engine/core/labels.h"
#include "engine/files/scan.h"

/* The columns of a layout that are read, in its order, and what turns their cells into points and codes. */
typedef struct tmi_decoder {
    tmi_layout layout;
    const tmi_column **list;
    size_t count;
    tmi_codes **list_codes;  /* of each column of the list, if it is a category */
    size_t *place;           /* the position in the list of each column of the layout */
    tmi_codes **codes;       /* of each column of the layout, if it is a category */
    tmi_clusters **clusters; /* if it is TMI_GROUPS */
} tmi_decoder;

/* The layout must be set. Clear it also after a failure. */
tamis_status tmi_decoder_make(tmi_decoder *reading, tamis_error *err);
void tmi_decoder_clear(tmi_decoder *reading);

/* Points, codes or doubles of one piece. */
typedef struct tmi_raw_piece {
    const tmi_decoder *reading;
    const void **columns; /* one per column of the layout */
    void **room;          /* the same, writable */
    double *numbers;      /* of texts */
} tmi_raw_piece;

tamis_status tmi_raw_piece_make(tmi_raw_piece *piece, const tmi_decoder *reading, tamis_error *err);
void tmi_raw_piece_clear(tmi_raw_piece *piece); /* wipes */

/* The points and codes of all columns that are given to the cells. */
void tmi_raw_values(const tmi_raw_piece *piece, const tmi_raw *raw, size_t n);

/* The numbers of a column, unchanged or read from their texts; valid until the next call. */
const double *tmi_raw_numbers(const tmi_raw_piece *piece, const tmi_raw *raw, size_t n);

void tmi_raw_codes(int32_t *to, const tmi_codes *codes, const tmi_raw *raw, size_t n);

#endif
