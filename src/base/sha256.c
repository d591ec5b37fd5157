#include "base/sha256.h"

#include <openssl/sha.h>
#include <string.h>

void tmi_sha256(unsigned char hash[TMI_SHA256_BYTES], const void *bytes, size_t length)
{
    SHA256(bytes, length, hash);
}

void tmi_hex(char *text, const unsigned char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * length] = '\0';
}

void tmi_sha256_text(char text[TMI_SHA256_TEXT], const char *bytes, size_t length)
{
    unsigned char hash[TMI_SHA256_BYTES];
    tmi_sha256(hash, bytes, length);
    tmi_hex(text, hash, sizeof hash);
}

bool tmi_is_sha256_text(const char *text)
{
    return strlen(text) == TMI_SHA256_TEXT - 1 && strspn(text, "0123456789abcdef") == TMI_SHA256_TEXT - 1;
}
