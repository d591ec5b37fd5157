/* The files of a source on the disk. */
#ifndef TMI_ENGINE_FILES_FILES_H
#define TMI_ENGINE_FILES_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct tmi_file {
    char *given;  /* the name in messages */
    char *path;   /* absolute and without links, once the file was found */
    dev_t device; /* with the inode it identifies a file, whatever its names */
    ino_t inode;
} tmi_file;

tamis_status tmi_file_init(tmi_file *file, const char *name, tamis_error *err);
void tmi_file_clear(tmi_file *file);

/* INVALID, as a further line of the message, if it is missing, is not a file, or may not be read. */
tamis_status tmi_file_find(tmi_file *file, tamis_error *err);

/* Checks that a file is not one of the `count` before it, under any name: its people would count twice, but the guarantee
 * assumes one row per person. INVALID, as a further line of the message, names the pair. */
tamis_status tmi_file_differs(const tmi_file *file, const tmi_file *const *before, size_t count, tamis_error *err);

/* Both checks, for all files of a source. */
tamis_status tmi_files_find(tmi_file *files, size_t count, tamis_error *err);

/* INVALID if no file engine reads files with this name. */
tamis_status tmi_file_may_be_table(const char *name, tamis_error *err);

/* Whether a name has this ending, ignoring case, and something before it. */
bool tmi_ends_in(const char *name, const char *ending);

#endif
