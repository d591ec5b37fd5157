/* What a running tamis consists of: its own version and those of the libraries it is linked with, for bug reports and
 * for the record of a release. Nothing is loaded for the answer.                                                    */
#ifndef TAMIS_PARTS_H
#define TAMIS_PARTS_H

#include <tamis/base.h>

/* One part a line, "GMP 6.2.1"; a part that was not found on this machine says so. The caller frees the text with
 * tamis_free.
 *
 * Gives    NULL on failure.
 * Errors   INVALID (text is NULL), SYSTEM (memory).                                                                */
TAMIS_API tamis_status tamis_parts_text(char **text, tamis_error *err);

/* The same as one JSON object: {"tamis": "0.1.0", "GMP": "6.2.1", ...}; null for a part that was not found. */
TAMIS_API tamis_status tamis_parts_json(char **json, tamis_error *err);

#endif
