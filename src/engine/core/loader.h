/* Libraries that are loaded when they are first needed and not before, so that `tamis --version` need not wait for them. */
#ifndef TMI_ENGINE_CORE_LOADER_H
#define TMI_ENGINE_CORE_LOADER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct tmi_library_path {
    char text[PATH_MAX];
} tmi_library_path;

/* Where a library is, without loading it: the folders that the dynamic linker would search for us, in its order. False if it
 * is in none of them. */
bool tmi_library_find(tmi_library_path *path, const char *library);

/* A path that the caller has given for a library, by its short name ("duckdb", "pq", "readstat"), in the place of a search;
 * NULL: none. */
const char *tmi_library_given(const char *name);

/* Loads a library and looks up its functions by name: functions[i], a pointer to a function, is names[i]. The library is never
 * closed: it may have threads and thread-local state. */
typedef struct tmi_loaded {
    bool found;
    const char *lacks; /* a function that it does not have; NULL: it has them all */
} tmi_loaded;

/* name: as for tmi_library_given. */
tmi_loaded tmi_library_load(void *functions, const char *const *names, size_t count, const char *name, const char *library);

#endif
