#include "tests/test.h"

#include <string.h>

#include "base/sha256.h"

/* FIPS 180-4, and the empty text. */
static void known_texts(void **state)
{
    static const char *const cases[][2] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                                           {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                                           {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                                            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    char text[TMI_SHA256_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_sha256_text(text, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(text, cases[i][1]);
        assert_true(tmi_is_sha256_text(text));
        unsigned char hash[TMI_SHA256_BYTES];
        char hex[2 * sizeof hash + 1];
        tmi_sha256(hash, cases[i][0], strlen(cases[i][0]));
        tmi_hex(hex, hash, sizeof hash);
        assert_string_equal(hex, cases[i][1]);
    }
    text[3] = 'A';
    assert_false(tmi_is_sha256_text(text));
    text[3] = '\0';
    assert_false(tmi_is_sha256_text(text));
    assert_false(tmi_is_sha256_text(""));
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(known_texts)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
