/* Engines that read rows themselves. A scanner knows where the rows are and hands them out as they stand; all the rest of
 * an engine, from cells to integers, is the same for all of them and stands in scan.c.                               */
#ifndef TMI_ENGINE_FILES_SCAN_H
#define TMI_ENGINE_FILES_SCAN_H

#include "engine/core/cells.h"

#define TMI_SCAN_ROWS 2048 /* of a piece, at most */

/* The cells of a column: numbers (NaN: missing), or texts. A TMI_NUMBER may come as either, other columns as canonical texts of
 * their form (engine/core/canonical.h), which may differ from piece to piece; a category may also come as codes. */
typedef struct tmi_raw {
    const double *numbers;
    const tmi_cell *texts;
    const int32_t *codes;
    tmi_form form; /* of the texts */
} tmi_raw;

/* A piece of rows; `share` of the scan is done after it (negative: not known). A status other than OK ends the scan. */
typedef tamis_status tmi_take_raw(void *context, const tmi_raw *columns, size_t rows, double share, tamis_error *err);

typedef struct tmi_scanner tmi_scanner;

struct tmi_scanner {
    const char *name; /* of the engine */
    void *state;

    /* That the columns, all of the source (tmi_is_read), are there and of a fitting kind; codes[c] is the list of a category, NULL
     * for others. INVALID names files and columns, all that are missing, that have no canonical form, or not the same in all
     * parts. `progress` (may be NULL) is asked now and then whether to go on. */
    tamis_status (*check)(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                          tamis_progress *progress, void *context, tamis_error *err);

    /* Hands out the rows of these columns, of part number `part` of `parts`. INVALID if the source does not hold together;
     * the message may tell the line, and no value. */
    tamis_status (*scan)(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                         size_t part, size_t parts, tmi_take_raw *take, void *context, tamis_error *err);

    bool in_parts; /* may be scanned in parts, by several threads at once; else there is one part */
    void (*free)(tmi_scanner *scanner);
};

/* Takes the scanner over, also on failure. threads 0: as many as the machine has. */
tamis_status tmi_engine_take_scanner(tmi_engine **engine, tmi_scanner *scanner, unsigned threads, tamis_error *err);

#endif
