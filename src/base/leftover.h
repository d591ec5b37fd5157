/* What a process that was killed leaves behind: a temporary folder, whose name begins with a dot and ends with a dot and six
 * letters or digits, with files in it.                                                                               */
#ifndef TMI_LEFTOVER_H
#define TMI_LEFTOVER_H

#include "base/error.h"

/* Deletes such a folder and its files, durably.
 *
 * Needs    an absolute path. No symbolic link on the way to it is followed.
 * Gives    OK also if the folder is not there, and the one that it would be in is.
 * Errors   REFUSED if it cannot be deleted, or is something else than such a folder of ours: the message says what to do.   */
tamis_status tmi_leftover_remove(const char *path, tamis_error *err);

/* The absolute path of a folder that exists, links resolved; the caller frees it with tmi_free. SYSTEM. */
tamis_status tmi_leftover_path(char **path, const char *folder, tamis_error *err);

#endif
