#include "tests/rng/scripted_bits.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/memory.h"
#include "rng/bits.h"

static struct {
    bits_function *function; /* NULL: the stream of the seed */
    void *context;
    const uint8_t *bytes;
    size_t left, taken;
    uint64_t seed;
    unsigned long version; /* changes with each script, so that bytes at hand are not used with the next one */
} script = {.seed = 1, .version = 1};

struct tmi_door {
    tamis_rng rng;
    tmi_bits bits;
    EVP_CIPHER_CTX *cipher;
    unsigned long version;
    uint8_t buffer[TMI_TAKE];
};

static struct tmi_door *doors[64];

/* Bytes at hand belong to the former script. */
static void start(void)
{
    script.version++;
    script.taken = 0;
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        if (doors[i]) doors[i]->bits = (tmi_bits){NULL, NULL};
}

void bits_from_seed(uint64_t seed)
{
    script.function = NULL;
    script.seed = seed;
    start();
}

void bits_from(bits_function *function, void *context)
{
    script.function = function;
    script.context = context;
    start();
}

static bool next_bytes(void *context, uint8_t *bytes, size_t n)
{
    (void)context;
    if (n > script.left) return false;
    memcpy(bytes, script.bytes, n);
    script.bytes += n;
    script.left -= n;
    return true;
}

void bits_from_bytes(const void *bytes, size_t n)
{
    script.bytes = bytes;
    script.left = n;
    bits_from(next_bytes, NULL);
}

size_t bits_taken(void) { return script.taken; }

static bool stream(struct tmi_door *door)
{
    uint8_t key[32] = {0}, counter[16] = {0};
    int length = 0;
    if (door->version != script.version) {
        memcpy(key, &script.seed, sizeof script.seed);
        if (EVP_EncryptInit_ex(door->cipher, EVP_aes_256_ctr(), NULL, key, counter) != 1) return false;
        door->version = script.version;
    }
    memset(door->buffer, 0, sizeof door->buffer);
    return EVP_EncryptUpdate(door->cipher, door->buffer, &length, door->buffer, sizeof door->buffer) == 1;
}

bool tmi_bits_refill(tamis_rng *rng, size_t n)
{
    struct tmi_door *door = rng->door;
    door->bits = (tmi_bits){NULL, NULL};
    if (n > TMI_TAKE) return false;
    if (script.function) {
        if (!script.function(script.context, door->buffer, n)) return false;
        script.taken += n;
    } else if (!stream(door)) return false;
    door->bits = (tmi_bits){door->buffer, door->buffer + (script.function ? n : TMI_TAKE)};
    return true;
}

void tmi_bits_done(tamis_rng *rng) { (void)rng; }

tamis_status tmi_bits_failed(tamis_error *err)
{
    return tmi_fail(err, TAMIS_SYSTEM, "the script of this test has no further bits");
}

tamis_status tamis_rng_new(tamis_rng **rng, tamis_error *err)
{
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    *rng = NULL;
    struct tmi_door *door = tmi_alloc(1, sizeof *door);
    if (!door) return tmi_fail_memory(err);
    door->rng = (tamis_rng){&door->bits, door};
    door->cipher = EVP_CIPHER_CTX_new();
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        if (!doors[i]) {
            doors[i] = door;
            *rng = &door->rng;
            return TAMIS_OK;
        }
    tamis_rng_free(&door->rng);
    return tmi_fail(err, TAMIS_SYSTEM, "a test has too many generators at once");
}

void tamis_rng_free(tamis_rng *rng)
{
    if (!rng) return;
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        if (doors[i] == rng->door) doors[i] = NULL;
    EVP_CIPHER_CTX_free(rng->door->cipher);
    tmi_free(rng->door);
}
