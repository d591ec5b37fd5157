/* What a process that was killed leaves behind: a temporary folder, whose name begins with a dot and ends with a dot and six
 * letters or digits, with files in it.                                                                               */
#ifndef TMI_BASE_LEFTOVER_H
#define TMI_BASE_LEFTOVER_H

#include <stdbool.h>

#include "base/error.h"

/* Which folder such a folder is in: its file system and inode, as text. Another folder that was given the same name has another
 * one.
 *
 * Needs    an absolute path, whose last name need not exist. No symbolic link on the way to it is followed.
 * Gives    false with errno if the folder that it is in cannot be opened. */
#define TMI_LEFTOVER_HOME 48
bool tmi_leftover_home(char home[TMI_LEFTOVER_HOME], const char *path);

/* Deletes such a folder and its files, durably.
 *
 * Needs    a path as above; `home`, what tmi_leftover_home said when the folder was made.
 * Gives    OK also if the folder is not there, and the one that it was in is.
 * Errors   REFUSED if it cannot be deleted, or is something else than such a folder of ours, or was in another folder than the
 *          one of that name now, so that it may have moved: the message says what to do. */
tamis_status tmi_leftover_remove(const char *path, const char *home, tamis_error *err);

/* The absolute path of a folder that exists, links resolved; the caller frees it with tmi_free. SYSTEM. */
tamis_status tmi_leftover_path(char **path, const char *folder, tamis_error *err);

#endif
