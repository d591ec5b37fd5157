/* The library's memory door, with a switch: the k-th allocation from now fails, once. */
#include "tests/base/memory_that_fails.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

static long countdown; /* 0: never fail; tests are single-threaded */

void fail_allocation(long which) { countdown = which; }

bool allocation_failed(void)
{
    bool failed = countdown < 0;
    countdown = 0;
    return failed;
}

static look_at_block *looker;

void look_at_freed_blocks(look_at_block *look) { looker = look; }

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

/* ---- pages ---- */

static atomic_long mapped; /* bytes */

void *tmi_map(size_t bytes)
{
    void *pages = fails() ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    mapped += (long)bytes;
    return pages;
}

/* The guards cannot be read until now. */
void tmi_unmap(void *pages, size_t bytes)
{
    if (looker && mprotect(pages, bytes, PROT_READ) == 0) looker(pages, bytes);
    munmap(pages, bytes);
    mapped -= (long)bytes;
}

/* LeakSanitizer does not know of pages. */
__attribute__((destructor)) static void all_pages_are_given_back(void)
{
    if (mapped == 0) return;
    fprintf(stderr, "%ld bytes of pages were never given back\n", mapped);
    fflush(NULL);
    _exit(1);
}
