#include "tests/test.h"

#include "base/integer.h"

static const tmi_int128 largest = (tmi_int128)(~(unsigned __int128)0 >> 1);

static void notices_overflow(void **state)
{
    int64_t z;
    tmi_int128 w;
    (void)state;
    assert_true(tmi_add_int64(&z, INT64_MAX - 1, 1) && z == INT64_MAX);
    assert_false(tmi_add_int64(&z, INT64_MAX, 1));
    assert_true(z == 0);
    assert_false(tmi_add_int64(&z, INT64_MIN, -1));
    assert_true(tmi_add_int128(&w, largest, -largest) && w == 0);
    assert_false(tmi_add_int128(&w, largest, 1));
    assert_true(w == 0);
    assert_true(tmi_mul_int128(&w, INT64_MIN, INT64_MIN) && w == (tmi_int128)1 << 126);
    assert_false(tmi_mul_int128(&w, (tmi_int128)1 << 64, (tmi_int128)1 << 63));
    assert_true(w == 0);
}

static void writes_128_bits(void **state)
{
    char text[TMI_INT128_TEXT];
    (void)state;
    tmi_int128_text(text, 0);
    assert_string_equal(text, "0");
    tmi_int128_text(text, -7);
    assert_string_equal(text, "-7");
    tmi_int128_text(text, INT64_MIN);
    assert_string_equal(text, "-9223372036854775808");
    tmi_int128_text(text, largest);
    assert_string_equal(text, "170141183460469231731687303715884105727");
    tmi_int128_text(text, -largest - 1);
    assert_string_equal(text, "-170141183460469231731687303715884105728");
}

static void reads_128_bits(void **state)
{
    static const char *const wrong[] = {"",
                                        "-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1.",
                                        "1e3",
                                        "--1",
                                        "0x1",
                                        "170141183460469231731687303715884105728",
                                        "-170141183460469231731687303715884105729",
                                        "1701411834604692317316873037158841057270"};
    tmi_int128 x;
    (void)state;
    assert_true(tmi_int128_read(&x, "0") && x == 0);
    assert_true(tmi_int128_read(&x, "-0012") && x == -12);
    assert_true(tmi_int128_read(&x, "170141183460469231731687303715884105727") && x == largest);
    assert_true(tmi_int128_read(&x, "-170141183460469231731687303715884105728") && x == -largest - 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        x = 7;
        assert_false(tmi_int128_read(&x, wrong[i]));
        assert_true(x == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(notices_overflow), cmocka_unit_test(writes_128_bits),
                                       cmocka_unit_test(reads_128_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
