/* Apart from memory.c, which the tests replace. */
#include <string.h>

#include "base/memory.h"

void tmi_wipe(void *block, size_t size)
{
    if (block) explicit_bzero(block, size);
}

void *tmi_regrow(void *block, size_t old_size, size_t count, size_t size)
{
    void *grown = tmi_alloc(count, size);
    if (!grown || !block) return grown;
    memcpy(grown, block, old_size);
    tmi_wipe(block, old_size);
    tmi_free(block);
    return grown;
}

char *tmi_copy_text(const char *text, size_t length)
{
    char *copy = tmi_alloc(length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}
