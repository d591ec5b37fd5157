/* Allocation that can fail. Every allocation of the library goes through these functions; the tests link a memory.c of
 * their own whose k-th allocation fails, and run each call once for every k.                                        */
#ifndef TMI_BASE_MEMORY_H
#define TMI_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* NULL if there is no memory or count * size overflows; a size of zero gives a block of one byte. Zeroed. */
void *tmi_alloc(size_t count, size_t size);

/* As realloc for count elements; the old block stays valid on failure. New bytes are not zeroed. */
void *tmi_realloc(void *block, size_t count, size_t size);

/* Makes room for one more element of a list that has `count` of them and room for *room; `list` is the address of its pointer.
 * False, and nothing has changed, if there is no memory. */
static inline bool tmi_grow(void *list, size_t *room, size_t count, size_t size)
{
    if (count < *room) return true;
    const size_t more = 2 * *room + 8;
    void *old, *new;
    memcpy(&old, list, sizeof old);
    if (!(new = tmi_realloc(old, more, size))) return false;
    memcpy(list, &new, sizeof new);
    *room = more;
    return true;
}

/* As tmi_realloc for records: the first old_size bytes move to a new block, and the old one is wiped. */
void *tmi_regrow(void *block, size_t old_size, size_t count, size_t size);

/* Free of NULL is fine. */
void tmi_free(void *block);

/* Overwrites memory that held noise or keys; the compiler may not remove it. */
void tmi_wipe(void *block, size_t size);

/* Fresh pages, zeroed, for base/secret.c; `bytes` is a multiple of the page size. NULL: no memory. */
void *tmi_map(size_t bytes);
void tmi_unmap(void *pages, size_t bytes);

/* A copy of the first `length` bytes of `text` with a final zero. */
char *tmi_copy_text(const char *text, size_t length);

#endif
