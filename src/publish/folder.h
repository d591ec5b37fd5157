/* An output folder that appears complete or not at all.
 *
 * The files are written into a folder beside it whose name begins with a dot, made durable, and the folder is renamed
 * in one step that fails if the name was taken meanwhile; then the parent is made durable, which holds the name. A crash
 * leaves at most the dotted folder. That it can be made is tried beforehand, and nothing is left there before tmi_folder_make.
 *
 * Until then only the owner may enter it. The files, and the folder once it has its name, get the rights that the umask
 * leaves; it is read off the files, since asking for the umask itself would change it for other threads.             */
#ifndef TMI_PUBLISH_FOLDER_H
#define TMI_PUBLISH_FOLDER_H

#include <sys/types.h>

#include "base/error.h"

typedef struct tmi_folder {
    char *final, *temporary; /* NULL when there is nothing to undo */
    char *leftover;          /* the temporary folder by its absolute path, links resolved: what a crash may leave behind */
    mode_t file_mode;        /* of the file written last */
    int parent;              /* the folder that it is in, open from tmi_folder_begin on */
} tmi_folder;

/* Chooses a name for the temporary folder, makes it and removes it again. INVALID if `path` exists already or its parent does
 * not; SYSTEM, also if the parent cannot be read and so not be made durable. */
tamis_status tmi_folder_begin(tmi_folder *folder, const char *path, tamis_error *err);

/* Makes the temporary folder, to be written to. SYSTEM. */
tamis_status tmi_folder_make(tmi_folder *folder, tamis_error *err);

tamis_status tmi_folder_write(tmi_folder *folder, const char *name, const char *bytes, size_t length, tamis_error *err);

/* Gives the folder its name. */
tamis_status tmi_folder_end(tmi_folder *folder, tamis_error *err);

/* Removes what was written unless tmi_folder_end succeeded; frees. */
void tmi_folder_clear(tmi_folder *folder);

#endif
