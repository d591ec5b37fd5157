#include "tests/test.h"

#include <string.h>

#include "rng/uniform.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

/* One round of bits: the value, or -1 if the sampler wants a second round. */
static int64_t once(uint64_t n, const uint8_t *bytes, size_t size)
{
    uint64_t value;
    bits_from_bytes(bytes, size);
    tamis_status status = tamis_uniform(&value, n, rng, NULL);
    if (status == TAMIS_OK) return (int64_t)value;
    assert_int_equal(status, TAMIS_SYSTEM);
    assert_int_equal(value, 0);
    return -1;
}

/* No modulo bias: every possible byte, or pair of bytes, is fed, and every value comes out equally often. */
static void every_value_is_equally_likely(void **state)
{
    static uint32_t counts[65536];
    static const uint64_t large[] = {257, 258, 1000, 32767, 32768, 32769, 40000, 65535, 65536};
    (void)state;
    for (uint64_t n = 2; n <= 256; n++) {
        memset(counts, 0, sizeof counts);
        for (unsigned b = 0; b < 256; b++) {
            int64_t value = once(n, (uint8_t[]){(uint8_t)b}, 1);
            assert_true(value < (int64_t)n);
            if (value >= 0) counts[value]++;
        }
        for (uint64_t v = 0; v < n; v++) assert_int_equal(counts[v], counts[0]);
        assert_true(counts[0] * n > 128); /* and half of the rounds or more succeed */
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        memset(counts, 0, sizeof counts);
        for (unsigned b = 0; b < 65536; b++) {
            int64_t value = once(large[i], (uint8_t[]){(uint8_t)b, (uint8_t)(b >> 8)}, 2);
            assert_true(value < (int64_t)large[i]);
            if (value >= 0) counts[value]++;
        }
        for (uint64_t v = 0; v < large[i]; v++) assert_int_equal(counts[v], counts[0]);
        assert_true(counts[0] * large[i] > 32768);
    }
}

/* At 64 bits: n - 1 is kept, n is not, and what follows is. */
static void ends_are_right(void **state)
{
    static const uint64_t cases[] = {3, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 1, (UINT64_C(1) << 63) + 1, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t n = cases[i], value, top = n - 1;
        size_t size = 0;
        for (uint64_t rest = top; rest; rest >>= 8) size++;
        uint8_t bytes[16] = {0};
        memcpy(bytes, &top, size);
        bits_from_bytes(bytes, size);
        assert_int_equal(tamis_uniform(&value, n, rng, NULL), TAMIS_OK);
        assert_true(value == top);
        if ((n & (n - 1)) == 0) continue; /* a power of two: n itself has one bit more */
        memcpy(bytes, &n, size);
        memcpy(bytes + size, &(uint64_t){2}, size);
        bits_from_bytes(bytes, 2 * size);
        assert_int_equal(tamis_uniform(&value, n, rng, NULL), TAMIS_OK);
        assert_true(value == 2);
        assert_int_equal(bits_taken(), 2 * size);
    }
    uint64_t value = 7;
    bits_from_bytes(NULL, 0);
    assert_int_equal(tamis_uniform(&value, 1, rng, NULL), TAMIS_OK); /* no bit is needed */
    assert_int_equal(value, 0);
}

/* The same for numbers of several words, also where the upper ones are 0. */
static void ends_of_wide_numbers_are_right(void **state)
{
    static const uint64_t cases[][3] = {{0, 1, 0},          {5, 1, 0},          {1, 7, 0}, {0, 0, 3},
                                        {9, UINT64_MAX, 1}, {UINT64_MAX, 2, 0}, {6, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t *n = cases[i];
        uint64_t value[3], top[3] = {n[0], n[1], n[2]};
        for (size_t k = 0; k < 3 && top[k]-- == 0; k++) {} /* n - 1 */
        const size_t words = n[2] ? 3 : n[1] ? 2 : 1, size = words > 1 ? 8 * words : 1;
        uint8_t bytes[48];
        memcpy(bytes, top, size);
        bits_from_bytes(bytes, size);
        assert_true(tmi_uniform_wide(value, n, 3, rng));
        assert_memory_equal(value, top, sizeof value);
        memcpy(bytes, n, size); /* n is forgotten */
        memcpy(bytes + size, (uint64_t[]){2, 0, 0}, size);
        bits_from_bytes(bytes, 2 * size);
        assert_true(tmi_uniform_wide(value, n, 3, rng));
        assert_memory_equal(value, ((uint64_t[]){2, 0, 0}), sizeof value);
        assert_int_equal(bits_taken(), 2 * size);
    }
}

static void refuses_bad_input(void **state)
{
    uint64_t value = 7;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_uniform(&value, 0, rng, &err), TAMIS_INVALID);
    assert_int_equal(value, 0);
    assert_non_null(strstr(err.message, "bound:"));
    assert_int_equal(tamis_uniform(NULL, 5, rng, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "value:"));
    assert_int_equal(tamis_uniform(&value, 5, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "rng:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_equally_likely),
        cmocka_unit_test(ends_are_right),
        cmocka_unit_test(ends_of_wide_numbers_are_right),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
