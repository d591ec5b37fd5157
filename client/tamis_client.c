/* The stand-alone client of randomized response; tamis_client.h describes its use.
 *
 * A flip. U is a random number in [0, 1), drawn 64 binary digits at a time; the bit is flipped if U is below the probability p.
 * The first digit in which U and p differ decides. If all 64 are equal, which happens with probability 2^-64, 64
 * more digits of both are compared. So the probability is exact, and the time does not depend on the answer: both
 * probabilities are compared with the same U, and the answer only chooses between the two outcomes at the end. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* getentropy */
#endif
#include "tamis_client.h"

#include <string.h>

#if defined(_WIN32)
#include <windows.h>

#include <bcrypt.h> /* link with bcrypt.lib */
#else
#include <sys/random.h>
#include <unistd.h>
#endif

static int random_bytes(void *bytes, size_t n) /* n <= 256 */
{
#if defined(_WIN32)
    return BCryptGenRandom(NULL, (PUCHAR)bytes, (ULONG)n, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
#else
    return getentropy(bytes, n) == 0;
#endif
}

/* ---- probabilities ---- */

/* The next 64 binary digits of rest / under, rest < under, by long division. */
static uint64_t next_digits(uint64_t *rest, uint64_t under)
{
    uint64_t digits = 0, r = *rest;
    for (int i = 0; i < 64; i++) {
        uint64_t one = r >= under - r; /* 2 r >= under, without overflow */
        r = one ? r - (under - r) : r + r;
        digits = digits << 1 | one;
    }
    *rest = r;
    return digits;
}

/* Whether one + zero < 1, that is one < 1 - zero: two different fractions differ by at least 2^-128, so 192 digits suffice. */
static int are_lies(const tamis_client_form *f)
{
    if (f->one.over == 0 || f->one.over >= f->one.under || f->zero.over == 0 || f->zero.over >= f->zero.under) return 0;
    uint64_t a = f->one.over, b = f->zero.under - f->zero.over;
    for (int i = 0; i < 3; i++) {
        uint64_t x = next_digits(&a, f->one.under), y = next_digits(&b, f->zero.under);
        if (x != y) return x < y;
    }
    return 0;
}

/* "1/4", in lowest terms; the text begins somewhere in `room`. */
static const char *lie_text(char room[48], tamis_client_lie lie)
{
    uint64_t a = lie.under, b = lie.over, parts[2];
    char *at = room + 47;
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    parts[0] = lie.under / a;
    parts[1] = lie.over / a;
    *at = '\0';
    for (int i = 0; i < 2; i++) {
        for (uint64_t x = parts[i]; x > 0; x /= 10) *--at = (char)('0' + x % 10);
        if (i == 0) *--at = '/';
    }
    return at;
}

/* The state of the comparison of U with p. */
typedef struct comparison {
    uint64_t rest, under;
    int open; /* all digits so far are equal */
    int lies;
} comparison;

static void compare(comparison *c, uint64_t u)
{
    uint64_t p = next_digits(&c->rest, c->under);
    c->lies |= c->open & (u < p);
    c->open &= u == p;
}

/* ---- fresh flips ---- */

int tamis_client_report(int *report, int bit, const tamis_client_form *form)
{
    uint64_t u;
    *report = 0;
    if (!are_lies(form) || (bit != 0 && bit != 1)) return 0;
    comparison one = {form->one.over, form->one.under, 1, 0}, zero = {form->zero.over, form->zero.under, 1, 0};
    do {
        if (!random_bytes(&u, sizeof u)) return 0;
        compare(&one, u);
        compare(&zero, u);
    } while (one.open | zero.open);
    *report = bit ^ (zero.lies ^ (-bit & (one.lies ^ zero.lies)));
    return 1;
}

/* ---- SHA-256 and HMAC ---- */

typedef struct sha256 {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t length; /* bytes so far */
} sha256;

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha256_block(uint32_t state[8], const uint8_t *block)
{
    static const uint32_t k[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
                                   0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
                                   0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
                                   0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
                                   0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
                                   0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
                                   0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
                                   0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
                                   0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
                                   0xc67178f2};
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t a = s[0], e = s[4];
        uint32_t t = s[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
        uint32_t v = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t;
        s[0] = t + v;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

static void sha256_begin(sha256 *h)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(h->state, start, sizeof start);
    h->length = 0;
}

static void sha256_add(sha256 *h, const void *bytes, size_t n)
{
    const uint8_t *at = (const uint8_t *)bytes;
    for (; n > 0; n--) {
        h->block[h->length++ % 64] = *at++;
        if (h->length % 64 == 0) sha256_block(h->state, h->block);
    }
}

static void sha256_end(uint8_t hash[32], sha256 *h)
{
    static const uint8_t padding[64] = {0x80};
    uint8_t bits[8];
    for (int i = 0; i < 8; i++) bits[i] = (uint8_t)(h->length * 8 >> (56 - 8 * i));
    sha256_add(h, padding, 1 + (119 - h->length % 64) % 64);
    sha256_add(h, bits, sizeof bits);
    for (int i = 0; i < 32; i++) hash[i] = (uint8_t)(h->state[i / 4] >> (24 - i % 4 * 8));
}

/* Starts a hash with the key, padded with zeros, each byte of which is xored with `pad`. */
static void hmac_key(sha256 *h, const uint8_t key[32], uint8_t pad)
{
    uint8_t block[64];
    for (int i = 0; i < 64; i++) block[i] = (uint8_t)((i < 32 ? key[i] : 0) ^ pad);
    sha256_begin(h);
    sha256_add(h, block, sizeof block);
}

/* ---- permanent flips ---- */

int tamis_client_secret(uint8_t secret[TAMIS_CLIENT_SECRET])
{
    memset(secret, 0, TAMIS_CLIENT_SECRET);
    return random_bytes(secret, TAMIS_CLIENT_SECRET);
}

static void add_text(sha256 *h, const char *text) { sha256_add(h, text, strlen(text) + 1); }

/* HMAC-SHA-256 of "tamis memo 1" 0 one 0 zero 0 question 0 answer 0 counter, the counter in four bytes, little-endian. The
 * probabilities are part of it because the same U for two of them would reveal the answer. */
static void memo_hash(uint8_t hash[32], const uint8_t *secret, const tamis_client_form *form, size_t place, const char *answer,
                      uint32_t counter)
{
    sha256 h;
    char room[48];
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(counter >> 8 * i);
    hmac_key(&h, secret, 0x36);
    add_text(&h, "tamis memo 1");
    add_text(&h, lie_text(room, form->one));
    add_text(&h, lie_text(room, form->zero));
    add_text(&h, form->names[place]);
    add_text(&h, answer);
    sha256_add(&h, bytes, sizeof bytes);
    sha256_end(hash, &h);
    hmac_key(&h, secret, 0x5c);
    sha256_add(&h, hash, 32);
    sha256_end(hash, &h);
}

int tamis_client_report_again(int *report, int bit, const tamis_client_form *form, size_t place, const char *answer,
                              const uint8_t secret[TAMIS_CLIENT_SECRET])
{
    uint8_t hash[32];
    *report = 0;
    if (!are_lies(form) || (bit != 0 && bit != 1) || place >= form->bits) return 0;
    comparison one = {form->one.over, form->one.under, 1, 0}, zero = {form->zero.over, form->zero.under, 1, 0};
    for (uint32_t counter = 0; one.open | zero.open; counter++) {
        memo_hash(hash, secret, form, place, answer, counter);
        for (int word = 0; word < 4; word++) { /* the first byte has the first digits */
            uint64_t u = 0;
            for (int i = 0; i < 8; i++) u = u << 8 | hash[8 * word + i];
            compare(&one, u);
            compare(&zero, u);
        }
    }
    *report = bit ^ (zero.lies ^ (-bit & (one.lies ^ zero.lies)));
    return 1;
}

/* ---- the packed form ---- */

/* Bytes are written as long as they fit, and counted in any case. */
typedef struct packed {
    uint8_t *bytes;
    size_t room, size;
} packed;

static void put(packed *out, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, out->size++)
        if (out->size < out->room) out->bytes[out->size] = bytes ? ((const uint8_t *)bytes)[i] : 0;
}

static void put_number(packed *out, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(x >> 8 * i);
        put(out, &byte, 1);
    }
}

static int put_text(packed *out, const char *text)
{
    size_t length = strlen(text);
    put_number(out, length, 4);
    put(out, text, length);
    return length <= 1024;
}

static int put_header(packed *out, const tamis_client_form *form)
{
    put(out, "\x89tmk\r\n\x1a\n", 8);
    put_number(out, 1, 4);
    put_number(out, 0, 4); /* the size, below */
    put_number(out, form->bits, 4);
    put_number(out, form->id != NULL, 4);
    char room[48];
    int right = put_text(out, lie_text(room, form->one));
    right &= put_text(out, lie_text(room, form->zero));
    right &= put_text(out, form->id ? form->id : "");
    for (size_t i = 0; i < form->bits; i++) right &= form->names[i][0] != '\0' && put_text(out, form->names[i]);
    put(out, NULL, (8 - out->size % 8) % 8);
    packed size = {out->bytes, out->room < 16 ? out->room : 16, 12};
    put_number(&size, out->size, 4);
    return right && out->size <= 1 << 24;
}

int tamis_client_pack(uint8_t *bytes, size_t room, size_t *size, const uint8_t *reports, const char *id,
                      const tamis_client_form *form)
{
    packed out = {bytes, room, 0};
    *size = 0;
    if (!are_lies(form) || form->bits < 1 || form->bits > 65536 || (form->id != NULL) != (id != NULL)) return 0;
    if (id && (id[0] == '\0' || form->id[0] == '\0')) return 0;
    if (!put_header(&out, form)) return 0;
    put_number(&out, 1, 8); /* a block of one report */
    for (size_t i = 0; i < (form->bits + 63) / 64 * 64; i += 8) {
        unsigned byte = 0;
        for (size_t j = i; j < i + 8 && j < form->bits; j++) {
            if (reports[j] > 1) return 0;
            byte |= (unsigned)reports[j] << (j - i);
        }
        put_number(&out, byte, 1);
    }
    if (id) {
        uint8_t hash[32];
        sha256 h;
        sha256_begin(&h);
        sha256_add(&h, id, strlen(id));
        sha256_end(hash, &h);
        put(&out, hash, 16);
    }
    put_number(&out, 0, 8); /* the end, and how many reports there were */
    put_number(&out, 1, 8);
    *size = out.size;
    return out.size <= room;
}
