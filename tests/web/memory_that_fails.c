/* Loaded before a server: once the file that TAMIS_FAIL names is there, one allocation in TAMIS_FAIL_RATE fails, by a
 * generator with the seed TAMIS_FAIL_SEED. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

#define SEEN __attribute__((visibility("default"))) /* the project hides what is not marked */

static _Atomic uint64_t state;
static uint64_t rate;
static const char *mark;

__attribute__((constructor)) static void begin(void)
{
    const char *every = getenv("TAMIS_FAIL_RATE"), *seed = getenv("TAMIS_FAIL_SEED");
    atomic_store(&state, seed ? strtoull(seed, NULL, 10) : 0);
    mark = getenv("TAMIS_FAIL");
    rate = every ? strtoull(every, NULL, 10) : 0;
}

static bool fails(void)
{
    if (rate == 0 || !mark || access(mark, F_OK) != 0) return false;
    uint64_t x = atomic_fetch_add(&state, UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    if ((x ^ (x >> 31)) % rate != 0) return false;
    errno = ENOMEM;
    return true;
}

SEEN void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }

SEEN void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }

SEEN void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
