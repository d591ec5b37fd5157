#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

void tmi_sha256(unsigned char hash[TMI_SHA256_BYTES], const void *bytes, size_t length) { SHA256(bytes, length, hash); }

/* hash((key ^ opad) hash((key ^ ipad) text)), the key filled up with zeros to a block of 64 bytes. */
void tmi_hmac(unsigned char hash[TMI_SHA256_BYTES], const unsigned char key[TMI_SHA256_BYTES], unsigned char *text, size_t length)
{
    unsigned char outer[TMI_HMAC_ROOM + TMI_SHA256_BYTES], *inner = text - TMI_HMAC_ROOM;
    for (size_t i = 0; i < TMI_HMAC_ROOM; i++) {
        unsigned char byte = i < TMI_SHA256_BYTES ? key[i] : 0;
        inner[i] = byte ^ 0x36;
        outer[i] = byte ^ 0x5c;
    }
    tmi_sha256(outer + TMI_HMAC_ROOM, inner, TMI_HMAC_ROOM + length);
    tmi_sha256(hash, outer, sizeof outer);
    tmi_wipe(outer, sizeof outer);
    tmi_wipe(inner, TMI_HMAC_ROOM);
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

tamis_status tmi_sha256_file(char text[TMI_SHA256_TEXT], const char *path, tamis_error *err)
{
    unsigned char hash[TMI_SHA256_BYTES], bytes[1 << 14];
    size_t n;
    text[0] = '\0';
    struct stat there;
    const int opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is not waited for */
    FILE *file = opened >= 0 ? fdopen(opened, "rb") : NULL;
    if (!file) {
        const int reason = errno;
        if (opened >= 0) close(opened);
        return tmi_fail_file(err, reason == ENOENT || reason == ENOTDIR ? TAMIS_INVALID : TAMIS_SYSTEM, path, 0, "%s",
                             strerror(reason));
    }
    if (fstat(opened, &there) != 0 || !S_ISREG(there.st_mode)) {
        fclose(file);
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "not a regular file");
    }
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    bool right = sum && EVP_DigestInit_ex(sum, EVP_sha256(), NULL) == 1;
    while (right && (n = fread(bytes, 1, sizeof bytes, file)) > 0) right = EVP_DigestUpdate(sum, bytes, n) == 1;
    right = right && !ferror(file) && EVP_DigestFinal_ex(sum, hash, NULL) == 1;
    EVP_MD_CTX_free(sum);
    fclose(file);
    if (!right) return tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "cannot be read");
    tmi_hex(text, hash, sizeof hash);
    return TAMIS_OK;
}

bool tmi_is_sha256_text(const char *text)
{
    return strlen(text) == TMI_SHA256_TEXT - 1 && strspn(text, "0123456789abcdef") == TMI_SHA256_TEXT - 1;
}
