/* How the columns of a file become the bits of a report. Made from the header of the file and what the collection asks; the cells
 * are not looked at. */
#ifndef TMI_COLLECT_CODING_H
#define TMI_COLLECT_CODING_H

#include "collect/cells.h"
#include "collect/packed.h"
#include "collect/randomizer.h"

typedef enum tmi_coded { TMI_LEFT_OUT, TMI_IS_ID, TMI_YES_NO, TMI_ONE_HOT } tmi_coded;

typedef struct tmi_coded_column {
    tmi_coded as;
    char *name;
    const tamis_categories *categories; /* TMI_ONE_HOT: borrowed */
    size_t first, bits;                 /* of the report */
    bool missing;                       /* the last of them is the bit of a missing answer */
} tmi_coded_column;

typedef struct tmi_coding {
    tmi_coded_column *columns; /* of the file, in its order */
    size_t count;
    tmi_packed_form form;
    size_t alone, one_hot, left_out; /* columns */
    size_t id;                       /* its place in the file; SIZE_MAX: none */
} tmi_coding;

/* From the first record, which `cells` has at hand. Empty on failure. */
tamis_status tmi_coding_init(tmi_coding *coding, const tmi_cells *cells, const tamis_collection *collection, tamis_error *err);
void tmi_coding_clear(tmi_coding *coding);

/* The place among the column's bits that this cell sets, SIZE_MAX for none; INVALID names line and column. */
tamis_status tmi_code_cell(size_t *set, const tmi_coded_column *column, const char *cell, const tmi_cells *cells,
                           tamis_error *err);

/* The answer as it is hashed for a permanent flip: "1", "0", a category, or "" for a missing one. */
const char *tmi_coded_answer(const tmi_coded_column *column, size_t set);

#endif
