/* The one door through which randomness enters.
 *
 * AES-256 in counter mode, keyed by getrandom(2), fills a buffer of 64 KiB at the speed of the processor's AES unit.
 *
 * Memory         Buffer and next key are in a secret block (base/secret.h). libcrypto has a key of ours only while a buffer
 *                is filled; after that its context, in ordinary memory, is keyed with zeros.
 * Backtracking   The first 48 bytes of every buffer become the next key and counter and are wiped at once, so whoever
 *                reads the memory later cannot recompute what was drawn before. Used bytes are wiped at the end of each
 *                draw, everything when the generator is freed.
 * Reseeding      Every 256 buffers (16 MiB) fresh bytes of the operating system are added to the key.
 * Fork           The secret block is wiped in a child, which finds zeros: "nothing at hand, not keyed". Its first take
 *                asks the system for a key of its own. The parent pays nothing, and no process id is compared (ids are
 *                reused).
 * Failure        An error of the operating system or of libcrypto makes the generator useless for good. There is no
 *                second source, no seed, no weaker mode.
 *
 * The buffer is encrypted in place. Its old content is partly zero and partly unused bytes; what comes out is that
 * content XOR the new keystream, which is as good as the keystream: it was fixed before the key was used.            */
#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>

#include "base/memory.h"
#include "base/secret.h"
#include "rng/bits.h"

#define BUFFER 65536
#define RESEED_AFTER 256 /* buffers */

typedef struct seed {
    uint8_t key[32], counter[16];
} seed;

/* All zero: a generator that is not keyed. */
typedef struct wiped_on_fork {
    tmi_bits bits;
    bool keyed;
    unsigned fills;   /* since the operating system was asked */
    uint8_t *used;    /* bytes from here to bits.next were handed out and are not wiped yet */
    seed next, fresh; /* of the next buffer; from the operating system, to be added to it */
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

/* Adds bytes of the operating system to the next seed. */
static bool reseed(wiped_on_fork *p)
{
    bool ok = ask_system(&p->fresh, sizeof p->fresh);
    for (size_t i = 0; i < sizeof p->next.key; i++) p->next.key[i] ^= p->fresh.key[i];
    for (size_t i = 0; i < sizeof p->next.counter; i++) p->next.counter[i] ^= p->fresh.counter[i];
    tmi_wipe(&p->fresh, sizeof p->fresh);
    p->fills = 0;
    return ok;
}

static bool set_key(struct tmi_door *door, const seed *s)
{
    return EVP_EncryptInit_ex(door->cipher, NULL, NULL, s->key, s->counter) == 1;
}

static bool fill(struct tmi_door *door)
{
    static const seed zero;
    wiped_on_fork *p = door->pages;
    int length = 0;
    if (!p->keyed) p->keyed = reseed(p);
    if (!p->keyed || !set_key(door, &p->next)) return false;
    bool ok = EVP_EncryptUpdate(door->cipher, p->buffer, &length, p->buffer, BUFFER) == 1 && length == BUFFER;
    ok = set_key(door, &zero) && ok;
    if (!ok) return false;
    memcpy(&p->next, p->buffer, sizeof p->next);
    tmi_wipe(p->buffer, sizeof p->next);
    return ++p->fills < RESEED_AFTER || reseed(p);
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
    door->pages = tmi_secret_alloc(1, sizeof *door->pages);
    if (!door->pages) TMI_TRY(tmi_fail_memory(err));
    door->rng.bits = &door->pages->bits;
    if (!tmi_secret_wipe_on_fork(door->pages))
        TMI_TRY(
            tmi_fail(err, TAMIS_SYSTEM, "the operating system has no memory that is wiped on fork (Linux has it from 4.14 on)"));
    door->cipher = EVP_CIPHER_CTX_new();
    if (!door->cipher || EVP_EncryptInit_ex(door->cipher, EVP_aes_256_ctr(), NULL, NULL, NULL) != 1 ||
        !(door->pages->keyed = reseed(door->pages)))
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
    tmi_secret_free(door->pages);
    tmi_wipe(door, sizeof *door);
    tmi_free(door);
}
