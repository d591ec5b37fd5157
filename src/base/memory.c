#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

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

void tmi_free(void *block) { free(block); }

void *tmi_map(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void tmi_unmap(void *pages, size_t bytes) { munmap(pages, bytes); }
