/* The pages of a block:
 *
 *     | size, read only | guard | padding, block | guard |
 *
 * The block ends where its last page ends, so that its first byte is always in its first page, and the page with the size is
 * the second before that. The size is apart from the block because a child may find the block wiped.                   */
#include "base/secret.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

#define ALIGNMENT 16 /* of the largest arithmetic types, as malloc has it */

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* The first page of the block, and how many bytes its pages have. */
static unsigned char *pages_of(size_t *bytes, void *block)
{
    unsigned char *at = block;
    at -= (uintptr_t)block % page_size();
    *bytes = *(const size_t *)(const void *)(at - 2 * page_size());
    return at;
}

void *tmi_secret_alloc(size_t count, size_t size)
{
    const size_t page = page_size();
    size_t wanted, bytes;
    if (count == 0 || size == 0) count = size = 1;
    if (__builtin_mul_overflow(count, size, &wanted) || wanted > SIZE_MAX / 2) return NULL;
    wanted = (wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bytes = (wanted + page - 1) / page * page;
    unsigned char *all = tmi_map(bytes + 3 * page);
    if (!all) return NULL;
    unsigned char *data = all + 2 * page;
    *(size_t *)(void *)all = bytes;
    if (mprotect(all, page, PROT_READ) != 0 || mprotect(all + page, page, PROT_NONE) != 0 ||
        mprotect(data + bytes, page, PROT_NONE) != 0) {
        tmi_unmap(all, bytes + 3 * page);
        return NULL;
    }
    /* Wishes: an old system or a small limit may not grant them. Pages are locked as they are touched. */
    (void)madvise(data, bytes, MADV_DONTDUMP);
    (void)mlock2(data, bytes, MLOCK_ONFAULT);
    return data + bytes - wanted;
}

void tmi_secret_free(void *block)
{
    size_t bytes;
    if (!block) return;
    unsigned char *data = pages_of(&bytes, block);
    tmi_wipe(data, bytes);
    tmi_unmap(data - 2 * page_size(), bytes + 3 * page_size());
}

bool tmi_secret_wipe_on_fork(void *block)
{
    size_t bytes;
    unsigned char *data = pages_of(&bytes, block);
    return madvise(data, bytes, MADV_WIPEONFORK) == 0;
}
