#include "base/sha256.h"

#include <openssl/sha.h>
#include <string.h>

void tmi_sha256_text(char text[TMI_SHA256_TEXT], const char *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)bytes, length, hash);
    for (size_t i = 0; i < sizeof hash; i++) {
        text[2 * i] = digits[hash[i] >> 4];
        text[2 * i + 1] = digits[hash[i] & 15];
    }
    text[TMI_SHA256_TEXT - 1] = '\0';
}

bool tmi_is_sha256_text(const char *text)
{
    return strlen(text) == TMI_SHA256_TEXT - 1 && strspn(text, "0123456789abcdef") == TMI_SHA256_TEXT - 1;
}
