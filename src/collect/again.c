/* Permanent flips. The digits of U are those of HMAC-SHA-256(secret, "tamis memo 1" 0 lie 0 lie_zero 0 question 0 answer 0
 * counter), the counter as four bytes, little-endian, from 0 on: one hash gives 256 digits, and practically always decides. As
 * long as the secret is unknown, U cannot be distinguished from a number drawn once for this question and answer and kept.
 *
 * The lie probabilities are part of the text because one U for two of them would reveal the answer: a bit that is flipped at
 * 1/4 is also flipped at 1/3, so that a one at 1/4 and a zero at 1/3 can only be a one. */
#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "collect/randomizer.h"

#define LABEL "tamis memo 1"
#define DIGITS (8 * TMI_SHA256_BYTES)
#define WORDS (DIGITS / 64)

static void place_counter(unsigned char *at, uint32_t counter)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(counter >> 8 * i);
}

/* -1, 0, 1: U is below, ties with, is above p in the 256 digits of this hash. All of them are compared, whatever they are. */
static int compare_digits(const unsigned char *hash, const uint64_t *p)
{
    int order = 0;
    for (size_t w = WORDS; w-- > 0;) {
        uint64_t u = 0;
        for (size_t i = 0; i < 8; i++) u = u << 8 | hash[8 * w + i];
        int this = (u > p[w]) - (u < p[w]);
        order = this != 0 ? this : order;
    }
    return order;
}

static tamis_status lies(bool *yes, unsigned char *text, size_t length, const tmi_rng_coin *coin, const uint8_t *secret,
                         tamis_error *err)
{
    unsigned char hash[TMI_SHA256_BYTES];
    uint64_t p[WORDS];
    tamis_status status = TAMIS_OK;
    int order = 0;
    for (uint32_t counter = 0; status == TAMIS_OK && order == 0; counter++) {
        place_counter(text + length - 4, counter);
        tmi_hmac(hash, secret, text, length);
        status = tmi_digits(p, &coin->p, (uint64_t)DIGITS * counter, WORDS, err);
        order = compare_digits(hash, p);
    }
    *yes = order < 0;
    tmi_wipe(hash, sizeof hash);
    return status;
}

tamis_status tamis_randomize_again(int *report, int bit, const tamis_randomizer *randomizer, const uint8_t secret[TAMIS_SECRET],
                                   const char *question, const char *answer, tamis_error *err)
{
    if (!report) return tmi_fail(err, TAMIS_INVALID, "report: NULL");
    *report = 0;
    if (!randomizer || !secret || !question || !answer)
        return tmi_fail(err, TAMIS_INVALID, "randomizer, secret, question, answer: NULL");
    if (bit != 0 && bit != 1) return tmi_fail(err, TAMIS_INVALID, "bit: 0 or 1");
    const char *const parts[] = {LABEL, randomizer->lie_text, randomizer->lie_zero_text, question, answer};
    size_t length = 4;
    for (size_t i = 0; i < 5; i++) length += strlen(parts[i]) + 1;
    unsigned char *room = tmi_alloc(TMI_HMAC_ROOM + length, 1), *text = room + TMI_HMAC_ROOM;
    if (!room) return tmi_fail_memory(err);
    for (size_t i = 0, at = 0; i < 5; at += strlen(parts[i]) + 1, i++) memcpy(text + at, parts[i], strlen(parts[i]) + 1);
    bool yes;
    tamis_status status = lies(&yes, text, length, bit ? &randomizer->flips.one : &randomizer->flips.zero, secret, err);
    if (status == TAMIS_OK) *report = bit ^ yes;
    tmi_wipe(room, TMI_HMAC_ROOM + length);
    tmi_free(room);
    return status;
}
