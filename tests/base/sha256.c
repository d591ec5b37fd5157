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

/* RFC 4231, cases 1 and 2; a short key is the same as one filled up with zeros. */
static void keyed_hashes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hash;
    } cases[] = {{"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
                 {"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"}};
    unsigned char keys[2][TMI_SHA256_BYTES] = {{0}}, room[TMI_HMAC_ROOM + 64], hash[TMI_SHA256_BYTES];
    memset(keys[0], 0x0b, 20);
    memcpy(keys[1], "Jefe", 4);
    for (size_t i = 0; i < 2; i++) {
        char hex[2 * sizeof hash + 1];
        memcpy(room + TMI_HMAC_ROOM, cases[i].text, strlen(cases[i].text));
        tmi_hmac(hash, keys[i], room + TMI_HMAC_ROOM, strlen(cases[i].text));
        tmi_hex(hex, hash, sizeof hash);
        assert_string_equal(hex, cases[i].hash);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(known_texts), cmocka_unit_test(keyed_hashes)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
