/* Apart from memory.c, which the tests replace. */
#include <string.h>

#include "base/memory.h"

void tmi_wipe(void *block, size_t size)
{
    if (block) explicit_bzero(block, size);
}

char *tmi_copy_text(const char *text, size_t length)
{
    char *copy = tmi_alloc(length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}
