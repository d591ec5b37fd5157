/* The one door through which randomness enters.
 *
 * AES-256 in counter mode, keyed by getrandom(2), fills a buffer of 64 KiB at the speed of the processor's AES unit.
 *
 * Backtracking   The first 48 bytes of every buffer become the next key and counter and are wiped at once, so whoever
 *                reads the memory later cannot recompute what was drawn before. Used bytes are wiped at the end of each
 *                draw, everything when the generator is freed.
 * Reseeding      Every 256 buffers (16 MiB) fresh bytes of the operating system are added to the key.
 * Fork           Buffer and state lie in pages marked MADV_WIPEONFORK. A child finds zeros there, which mean "nothing
 *                at hand, not keyed": its first take asks the system for a key of its own. The parent pays nothing,
 *                and no process id is compared (ids are reused). The cipher context, which lies elsewhere, holds the
 *                parent's key in the child until then, and is keyed anew before it gives a byte.
 * Failure        An error of the operating system or of libcrypto makes the generator useless for good. There is no
 *                second source, no seed, no weaker mode.
 *
 * The buffer is encrypted in place. Its old content is partly zero and partly unused bytes; what comes out is that
 * content XOR the new keystream, which is as good as the keystream: it was fixed before the key was used.            */
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/memory.h"
#include "rng/bits.h"

#define BUFFER 65536
#define RESEED_AFTER 256 /* buffers */

typedef struct seed {
    uint8_t key[32], counter[16];
} seed;

/* Pages that are wiped on fork. All zero: a generator that is not keyed. */
typedef struct wiped_on_fork {
    tmi_bits bits;
    bool keyed;
    unsigned fills;   /* since the operating system was asked */
    uint8_t *used;    /* bytes from here to bits.next were handed out and are not wiped yet */
    _Alignas(64) uint8_t buffer[BUFFER];
} wiped_on_fork;

struct tmi_door {
    tamis_rng rng;
    wiped_on_fork *pages;
    EVP_CIPHER_CTX *cipher;
    bool failed;
};

static bool ask_system(void *bytes, size_t n)
{
    uint8_t *at = bytes;
    while (n > 0) {
        ssize_t got = getrandom(at, n, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || (size_t)got > n) return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

/* Adds bytes of the operating system to the seed. */
static bool reseed(seed *s)
{
    seed fresh = {{0}, {0}};
    bool ok = ask_system(&fresh, sizeof fresh);
    for (size_t i = 0; i < sizeof s->key; i++) s->key[i] ^= fresh.key[i];
    for (size_t i = 0; i < sizeof s->counter; i++) s->counter[i] ^= fresh.counter[i];
    tmi_wipe(&fresh, sizeof fresh);
    return ok;
}

static bool set_key(struct tmi_door *door, const seed *s)
{
    return EVP_EncryptInit_ex(door->cipher, NULL, NULL, s->key, s->counter) == 1;
}

static bool key_from_system(struct tmi_door *door)
{
    seed s = {{0}, {0}};
    bool ok = reseed(&s) && set_key(door, &s);
    tmi_wipe(&s, sizeof s);
    door->pages->keyed = ok;
    door->pages->fills = 0;
    return ok;
}

static bool fill(struct tmi_door *door)
{
    wiped_on_fork *p = door->pages;
    int length = 0;
    seed s;
    if (!p->keyed && !key_from_system(door)) return false;
    if (EVP_EncryptUpdate(door->cipher, p->buffer, &length, p->buffer, BUFFER) != 1 || length != BUFFER) return false;
    memcpy(&s, p->buffer, sizeof s);
    tmi_wipe(p->buffer, sizeof s);
    bool ok = true;
    if (++p->fills >= RESEED_AFTER) {
        p->fills = 0;
        ok = reseed(&s);
    }
    ok = ok && set_key(door, &s);
    tmi_wipe(&s, sizeof s);
    return ok;
}

bool tmi_bits_refill(tamis_rng *rng, size_t n)
{
    struct tmi_door *door = rng->door;
    wiped_on_fork *p = door->pages;
    if (n > TMI_TAKE) return false;
    if (!door->failed && fill(door)) {
        p->used = p->bits.next = p->buffer + sizeof(seed);
        p->bits.end = p->buffer + BUFFER;
        return true;
    }
    door->failed = true;
    tmi_wipe(p, sizeof *p); /* nothing at hand, not keyed */
    return false;
}

void tmi_bits_done(tamis_rng *rng)
{
    wiped_on_fork *p = rng->door->pages;
    if (!p->used) return; /* nothing was drawn in this process */
    tmi_wipe(p->used, (size_t)(p->bits.next - p->used));
    p->used = p->bits.next;
}

tamis_status tmi_bits_failed(tamis_error *err)
{
    return tmi_fail(err, TAMIS_SYSTEM, "no random bits: the operating system or libcrypto failed");
}

tamis_status tamis_rng_new(tamis_rng **rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    *rng = NULL;
    struct tmi_door *door = tmi_alloc(1, sizeof *door);
    if (!door) return tmi_fail_memory(err);
    door->rng.door = door;
    void *pages = mmap(NULL, sizeof(wiped_on_fork), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) TMI_TRY(tmi_fail_memory(err));
    door->pages = pages;
    door->rng.bits = &door->pages->bits;
    if (madvise(pages, sizeof(wiped_on_fork), MADV_WIPEONFORK) != 0)
        TMI_TRY(tmi_fail(err, TAMIS_SYSTEM, "the operating system has no memory that is wiped on fork "
                                            "(Linux 4.14 or later has)"));
    (void)madvise(pages, sizeof(wiped_on_fork), MADV_DONTDUMP); /* a wish: an old system may not grant it */
    door->cipher = EVP_CIPHER_CTX_new();
    if (!door->cipher || EVP_EncryptInit_ex(door->cipher, EVP_aes_256_ctr(), NULL, NULL, NULL) != 1 ||
        !key_from_system(door))
        TMI_TRY(tmi_bits_failed(err));
    *rng = &door->rng;
    door = NULL;
done:
    if (door) tamis_rng_free(&door->rng);
    return status;
}

void tamis_rng_free(tamis_rng *rng)
{
    if (!rng) return;
    struct tmi_door *door = rng->door;
    EVP_CIPHER_CTX_free(door->cipher); /* wipes the key schedule */
    if (door->pages) {
        tmi_wipe(door->pages, sizeof *door->pages);
        munmap(door->pages, sizeof *door->pages);
    }
    tmi_wipe(door, sizeof *door);
    tmi_free(door);
}
