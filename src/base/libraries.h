/* The libraries that tamis is made of, as they are at run time. Each room knows those that only it may use. */
#ifndef TMI_BASE_LIBRARIES_H
#define TMI_BASE_LIBRARIES_H

#include <stddef.h>

#define TMI_MAX_LIBRARIES 16
#define TMI_LIBRARY_VERSION 64

typedef struct tmi_library {
    const char *name;
    char version[TMI_LIBRARY_VERSION]; /* empty: not found on this machine */
} tmi_library;

typedef struct tmi_library_list {
    tmi_library parts[TMI_MAX_LIBRARIES];
    size_t count;
} tmi_library_list;

void tmi_library_add(tmi_library_list *list, const char *name, const char *version); /* NULL version: not found */

void tmi_base_libraries(tmi_library_list *list); /* OpenSSL's libcrypto */

#endif
