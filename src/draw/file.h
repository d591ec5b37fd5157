/* An output file that appears complete or not at all: written beside it under a name that begins with a dot, made durable,
 * and renamed in one step that fails if the name was taken meanwhile.                                                */
#ifndef TMI_DRAW_FILE_H
#define TMI_DRAW_FILE_H

#include "base/error.h"

/* INVALID if `path` is no name for a file or exists already; of use before long work. */
tamis_status tmi_file_check(const char *path, tamis_error *err);

tamis_status tmi_file_write(const char *path, const char *bytes, size_t length, tamis_error *err);

#endif
