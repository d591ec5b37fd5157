/* The libraries that tamis is made of, as they are at run time. Each room knows those that only it may use. */
#ifndef TMI_PARTS_H
#define TMI_PARTS_H

#include <stddef.h>

#define TMI_PARTS 16
#define TMI_PART_SIZE 64

typedef struct tmi_part {
    const char *name;
    char version[TMI_PART_SIZE]; /* empty: not found on this machine */
} tmi_part;

typedef struct tmi_part_list {
    tmi_part parts[TMI_PARTS];
    size_t count;
} tmi_part_list;

void tmi_part_add(tmi_part_list *list, const char *name, const char *version); /* NULL version: not found */

void tmi_base_parts(tmi_part_list *list); /* jansson, OpenSSL's libcrypto */

#endif
