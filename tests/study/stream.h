/* One stream of bits for all generators: by a seed, each of them would begin anew, and every release would have the same
 * noise. */
#ifndef TESTS_STUDY_STREAM_H
#define TESTS_STUDY_STREAM_H

#include <string.h>

/* For bits_from: the context is the stream's state. */
static inline bool next_bits(void *context, uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        const uint64_t word = next_word(context);
        memcpy(bytes + i, &word, n - i < 8 ? n - i : 8);
    }
    return true;
}

#endif
