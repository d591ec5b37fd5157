/* How fast bits are randomized on one core: one JSON object per line; n counts bits. */
#include <stdio.h>
#include <stdlib.h>
#include <tamis/experimental.h>

#include "timing.h"

#define WORDS (1 << 15) /* 256 KiB: they stay in the cache, as the block of a file does */
#define SECONDS 0.5

static const char *const lies[][2] = {{"1/4", "1/4"},
                                      {"3/16", "3/16"},
                                      {"1/2", "1/16"},
                                      {"16385/65536", "16385/65536"},
                                      {"1/3", "1/3"},
                                      {"1/2", "1/55"},
                                      {"268941/1000000", "268941/1000000"}};

static int measure(size_t row, uint64_t *words, tamis_rng *rng, tamis_error *err)
{
    static timing t;
    tamis_number *lie = NULL, *lie_zero = NULL;
    tamis_randomizer *randomizer = NULL;
    int failed = tamis_number_read(&lie, lies[row][0], err) || tamis_number_read(&lie_zero, lies[row][1], err) ||
                 tamis_randomizer_new(&randomizer, lie, lie_zero, err);
    for (timing_begin(&t, SECONDS); !failed && timing_goes_on(&t);) {
        double before = now();
        failed = tamis_randomize_bits(words, WORDS, randomizer, rng, err) != TAMIS_OK;
        timing_add(&t, now() - before);
    }
    if (!failed)
        printf("{\"what\": \"randomize bits, lies %s and %s\", \"n\": %d, \"seconds\": %.9f}\n", lies[row][0], lies[row][1],
               64 * WORDS, timing_median(&t));
    tamis_randomizer_free(randomizer);
    tamis_number_free(lie);
    tamis_number_free(lie_zero);
    return failed;
}

int main(void)
{
    tamis_error err = {.message = "no memory"};
    tamis_rng *rng = NULL;
    uint64_t *words = calloc(WORDS, sizeof *words);
    int failed = !words || tamis_rng_new(&rng, &err);
    for (size_t row = 0; row < sizeof lies / sizeof *lies && !failed; row++) failed = measure(row, words, rng, &err);
    if (failed) fprintf(stderr, "%s\n", err.message);
    tamis_rng_free(rng);
    free(words);
    tamis_thread_done();
    return failed;
}
