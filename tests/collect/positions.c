/* The positional count against one bit at a time. */
#include "collect/tally/positions.h"

#include <string.h>

#include "collect/packed.h"
#include "tests/test.h"

static void each_width_and_number(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 2, 3, 5, 8, 13, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 192, 256, 300, 320, 513};
    static const size_t numbers[] = {1, 2, 3, 15, 16, 17, 63, 64, 65, 257, 1000, 4080, 4097, 20000};
    uint64_t stream = 11;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t r = 0; r < sizeof numbers / sizeof *numbers; r++) {
            const size_t bits = widths[w], rows = numbers[r], stride = tmi_packed_stride(bits),
                         count = tmi_packed_words(bits, rows);
            if (bits * rows > 4000000) continue;
            uint64_t *words = calloc(count, sizeof *words), *found = calloc(bits, sizeof *found),
                     *right = calloc(bits, sizeof *right);
            assert_true(words && found && right);
            for (size_t j = 0; j < bits; j++) found[j] = right[j] = j;
            const bool full = r % 3 == 0; /* all ones: nothing may overflow */
            for (size_t row = 0; row < rows; row++)
                for (size_t j = 0; j < bits; j++) {
                    const size_t bit = row * stride + j;
                    if (!full && next_number(&stream) % 3 != 0) continue;
                    words[bit / 64] |= UINT64_C(1) << bit % 64;
                    right[j]++;
                }
            tmi_count_positions(found, words, rows, bits);
            assert_memory_equal(found, right, bits * sizeof *right);
            free(words);
            free(found);
            free(right);
        }
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(each_width_and_number)};
    return cmocka_run_group_tests(cases, NULL, NULL);
}
