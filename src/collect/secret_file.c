/* The secret of permanent flips in a file: 64 hexadecimal digits and a line end, readable by its owner only. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "collect/randomizer.h"

#define DIGITS (2 * TAMIS_SECRET)

static tamis_status make(uint8_t secret[TAMIS_SECRET], const char *path, tamis_rng *rng, tamis_error *err)
{
    char text[DIGITS + 2];
    const uint8_t *bytes = tmi_bits_take(rng, TAMIS_SECRET);
    if (!bytes) return tmi_bits_failed(err);
    memcpy(secret, bytes, TAMIS_SECRET);
    tmi_bits_done(rng);
    tmi_hex(text, secret, TAMIS_SECRET);
    text[DIGITS] = '\n';
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool right = file >= 0 && write(file, text, DIGITS + 1) == DIGITS + 1 && fsync(file) == 0;
    int reason = errno;
    tmi_wipe(text, sizeof text);
    if (file >= 0) close(file);
    if (!right && file >= 0) unlink(path);
    return right ? TAMIS_OK : tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "the secret cannot be written: %s", strerror(reason));
}

static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static bool from_digits(uint8_t secret[TAMIS_SECRET], const char *text, size_t length)
{
    bool right = length == DIGITS + 1 && text[DIGITS] == '\n';
    for (size_t i = 0; right && i < TAMIS_SECRET; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        right = high >= 0 && low >= 0;
        secret[i] = (uint8_t)(high * 16 + low);
    }
    return right;
}

tamis_status tamis_secret_file(uint8_t secret[TAMIS_SECRET], const char *path, tamis_rng *rng, tamis_error *err)
{
    char text[DIGITS + 2];
    struct stat facts;
    if (!secret || !path || !rng) return tmi_fail(err, TAMIS_INVALID, "secret, path, rng: NULL");
    memset(secret, 0, TAMIS_SECRET);
    FILE *file = fopen(path, "rbe");
    if (!file && errno == ENOENT) return make(secret, path, rng, err);
    if (!file) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "%s", strerror(errno));
    setvbuf(file, NULL, _IONBF, 0); /* no copy of the secret in a buffer */
    bool open_to_others = fstat(fileno(file), &facts) != 0 || (facts.st_mode & 077) != 0;
    bool right = from_digits(secret, text, fread(text, 1, sizeof text, file));
    fclose(file);
    tmi_wipe(text, sizeof text);
    if (right && !open_to_others) return TAMIS_OK;
    tmi_wipe(secret, TAMIS_SECRET);
    return tmi_fail_file(err, TAMIS_INVALID, path, 0,
                         right ? "others can read the secret: use chmod 600, and a new secret if they may have read it"
                               : "this is not a secret; give a file that does not exist, and a secret is created there");
}
