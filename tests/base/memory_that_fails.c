/* The library's memory door, with a switch: the k-th allocation from now fails, once. */
#include "base/memory_that_fails.h"

#include <malloc.h>
#include <stdlib.h>

#include "base/memory.h"

static long countdown; /* 0: never fail; tests are single-threaded */

void fail_allocation(long which)
{
    countdown = which;
}

bool allocation_failed(void)
{
    bool failed = countdown < 0;
    countdown = 0;
    return failed;
}

static look_at_block *looker;

void look_at_freed_blocks(look_at_block *look)
{
    looker = look;
}

static bool fails(void)
{
    if (countdown > 0 && --countdown == 0) {
        countdown = -1;
        return true;
    }
    return false;
}

void *tmi_alloc(size_t count, size_t size)
{
    if (count == 0 || size == 0) count = size = 1;
    return fails() ? NULL : calloc(count, size);
}

void *tmi_realloc(void *block, size_t count, size_t size)
{
    if (count == 0 || size == 0) count = size = 1;
    return fails() ? NULL : reallocarray(block, count, size);
}

void tmi_free(void *block)
{
    if (looker && block) looker(block, malloc_usable_size(block));
    free(block);
}
