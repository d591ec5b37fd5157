/* Engines that read rows themselves. A scanner finds the rows and hands them out unchanged. The rest of such an engine, from
 * cells to integers, is always the same and is in scan.c. */
#ifndef TMI_ENGINE_FILES_SCAN_H
#define TMI_ENGINE_FILES_SCAN_H

#include "engine/core/cells.h"
#include "engine/files/files.h"

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

    /* Checks that the columns, which are all read from the source (tmi_is_read), exist and have a suitable kind. codes[c] is
     * the list of a category, NULL for others. INVALID names all files and columns that are missing, have no canonical form,
     * or do not have the same form in all parts. `watch` (may be NULL) is asked now and then and can stop the work. */
    tamis_status (*check)(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                          const tamis_watch *watch, tamis_error *err);

    /* Hands out the rows of these columns in part `part` of `parts`. INVALID if the source is damaged; the message may give
     * the line but no value. */
    tamis_status (*scan)(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                         size_t part, size_t parts, tmi_take_raw *take, void *context, tamis_error *err);

    bool in_parts; /* can be scanned in parts by several threads at once; otherwise there is one part */
    void (*free)(tmi_scanner *scanner);
};

/* Takes ownership of the scanner, also on failure. threads 0: as many as the machine has. */
tamis_status tmi_engine_take_scanner(tmi_engine **engine, tmi_scanner *scanner, unsigned threads, tamis_error *err);

/* The engine's `rows`. */
tamis_status tmi_scan_rows(tmi_scanner *scanner, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                           void *context, tamis_error *err);

/* A scanner of files. */
typedef struct tmi_file_scanner {
    tmi_scanner scanner;
    tmi_file *files;
    size_t file_count;
} tmi_file_scanner;

/* The engine of a scanner of the source's files: `scanner` has name, check and scan, whose scanner->state is a tmi_file_scanner.
 * INVALID, with this message, if a file's name does not fit. */
tamis_status tmi_engine_of_files(tmi_engine **engine, const tmi_source *source, tmi_scanner scanner,
                                 bool (*fits)(const char *name), const char *message, unsigned threads, tamis_error *err);

#endif
