#include "base/memory.h"

#include <stdlib.h>

void *tmi_alloc(size_t count, size_t size)
{
    if (count == 0 || size == 0) count = size = 1;
    return calloc(count, size); /* calloc checks the product */
}

void *tmi_realloc(void *block, size_t count, size_t size)
{
    if (count == 0 || size == 0) count = size = 1;
    return reallocarray(block, count, size);
}

void tmi_free(void *block)
{
    free(block);
}
