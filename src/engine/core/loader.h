/* Libraries that are loaded when they are first needed and not before, so that `tamis --version` need not wait for them. */
#ifndef TMI_ENGINE_CORE_LOADER_H
#define TMI_ENGINE_CORE_LOADER_H

#include <limits.h>
#include <stdbool.h>

typedef struct tmi_library_path {
    char text[PATH_MAX];
} tmi_library_path;

/* Where a library is, without loading it: the folders that the dynamic linker would search for us, in its order. False if it
 * is in none of them. */
bool tmi_library_find(tmi_library_path *path, const char *library);

/* A handle for dlsym, NULL if the library is not installed. It is never closed: libraries have threads and thread-local state. */
void *tmi_library_open(const char *library);

#endif
