#include "base/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/secret.h"
#include "base/sha256.h"
#include "base/text.h"

/* An Ed25519 key in PEM has about 120 bytes; a file may have comments before it. */
#define LARGEST_KEY ((size_t)1 << 16)

/* A key is its own handle of libcrypto; no other room sees that. */
static EVP_PKEY *in(const tmi_key *key)
{
    return (EVP_PKEY *)(uintptr_t)(const void *)key; /* libcrypto counts references in it */
}

void tmi_key_free(tmi_key *key) { EVP_PKEY_free(in(key)); /* which cleanses the secret */ }

/* ---- reading ---- */

static tamis_status cannot(tamis_error *err, const char *path, int reason)
{
    const bool absent = reason == ENOENT || reason == ENOTDIR || reason == EISDIR;
    return tmi_fail_file(err, absent ? TAMIS_INVALID : TAMIS_SYSTEM, path, 0, "the key cannot be read: %s", strerror(reason));
}

/* The bytes of a file or a pipe, in memory for secrets; the caller frees them, whatever happens. *is_open: others than the owner
 * may read or write the file. */
static tamis_status read_bytes(char **bytes, size_t *length, bool *is_open, const char *path, tamis_error *err)
{
    struct stat facts;
    tamis_status status = TAMIS_OK;
    *length = 0;
    *is_open = false;
    *bytes = tmi_secret_alloc(LARGEST_KEY, 1); /* before the file is opened: a lock that is not granted sets errno too */
    int file = *bytes ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (!*bytes) {
        status = tmi_fail_memory(err);
    } else if (file < 0 || fstat(file, &facts) != 0) {
        status = cannot(err, path, errno);
    } else {
        *is_open = (facts.st_mode & 077) != 0 && S_ISREG(facts.st_mode);
    }
    while (status == TAMIS_OK && *length < LARGEST_KEY) {
        ssize_t n = read(file, *bytes + *length, LARGEST_KEY - *length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) status = cannot(err, path, errno);
        if (n <= 0) break;
        *length += (size_t)n;
    }
    if (file >= 0) close(file);
    return status;
}

/* A passphrase is never asked for. */
static int no_passphrase(char *room, int size, int writing, void *context)
{
    (void)room;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

static bool holds(const char *bytes, size_t length, const char *words)
{
    return memmem(bytes, length, words, strlen(words)) != NULL;
}

/* The one key of a pair in the place of the other, which is named if `path` has the usual ending. */
static tamis_status other_half(tamis_error *err, const char *path, bool secret)
{
    const char *here = secret ? ".pub" : ".key", *there = secret ? ".key" : ".pub";
    const size_t length = strlen(path), end = strlen(here);
    const bool usual = length > end && strcmp(path + length - end, here) == 0;
    return tmi_fail_file(err, TAMIS_INVALID, path, 0,
                         secret ? "this is the public key of a pair; signing needs the secret one, %.*s%s"
                                : "this is the secret key of a pair; checking needs the public one, %.*s%s",
                         usual ? (int)(length - end) : 4, usual ? path : "NAME", there);
}

static tamis_status no_key(tamis_error *err, const char *path, const char *bytes, size_t length, bool secret)
{
    const bool has_secret = holds(bytes, length, "PRIVATE KEY-----");
    if (secret && has_secret && holds(bytes, length, "ENCRYPTED"))
        return tmi_fail_file(err, TAMIS_INVALID, path, 0,
                             "the key is encrypted, and tamis does not ask for passphrases; in bash, --sign <(openssl pkey -in "
                             "%s) lets openssl ask",
                             path);
    if (!secret && has_secret) return other_half(err, path, secret);
    return tmi_fail_file(err, TAMIS_INVALID, path, 0, "expected an Ed25519 key in PEM, as `tamis key create` writes it");
}

static tamis_status read_key(tmi_key **key, const char *path, bool secret, tamis_error *err)
{
    char *bytes = NULL;
    size_t length;
    bool is_open;
    BIO *memory = NULL;
    EVP_PKEY *found = NULL;
    tamis_status status;
    *key = NULL;
    TMI_TRY(read_bytes(&bytes, &length, &is_open, path, err));
    if (secret && holds(bytes, length, "PUBLIC KEY-----")) TMI_TRY(other_half(err, path, secret));
    if (secret && is_open)
        TMI_TRY(tmi_fail_file(
            err, TAMIS_INVALID, path, 0,
            "other users may read or write this secret key; if it is still secret, chmod 600 it, otherwise make a new one"));
    if (!(memory = BIO_new_mem_buf(bytes, (int)length))) TMI_TRY(tmi_fail_memory(err));
    found = secret ? PEM_read_bio_PrivateKey(memory, NULL, no_passphrase, NULL)
                   : PEM_read_bio_PUBKEY(memory, NULL, no_passphrase, NULL);
    ERR_clear_error();
    if (!found) TMI_TRY(no_key(err, path, bytes, length, secret));
    if (EVP_PKEY_get_base_id(found) != EVP_PKEY_ED25519)
        TMI_TRY(
            tmi_fail_file(err, TAMIS_INVALID, path, 0, "not an Ed25519 key; expected Ed25519, as `tamis key create` makes it"));
    *key = (tmi_key *)(void *)found;
    found = NULL;

done:
    EVP_PKEY_free(found);
    BIO_free(memory);
    tmi_secret_free(bytes);
    return status;
}

tamis_status tmi_key_read_secret(tmi_key **key, const char *path, tamis_error *err) { return read_key(key, path, true, err); }

tamis_status tmi_key_read_public(tmi_key **key, const char *path, tamis_error *err) { return read_key(key, path, false, err); }

/* ---- signatures ---- */

static tamis_status failed(tamis_error *err)
{
    ERR_clear_error();
    return tmi_fail(err, TAMIS_SYSTEM, "libcrypto failed");
}

tamis_status tmi_key_fingerprint(char fingerprint[TAMIS_KEY_FINGERPRINT], const tmi_key *key, tamis_error *err)
{
    unsigned char *bytes = NULL;
    int length = i2d_PUBKEY(in(key), &bytes);
    fingerprint[0] = '\0';
    if (length <= 0) return failed(err);
    tmi_sha256_text(fingerprint, (const char *)bytes, (size_t)length);
    OPENSSL_free(bytes);
    return TAMIS_OK;
}

tamis_status tmi_sign(unsigned char signature[TMI_SIGNATURE_BYTES], const tmi_key *key, const char *message, tamis_error *err)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t length = TMI_SIGNATURE_BYTES;
    bool right = context && EVP_DigestSignInit(context, NULL, NULL, NULL, in(key)) == 1 &&
                 EVP_DigestSign(context, signature, &length, (const unsigned char *)message, strlen(message)) == 1 &&
                 length == TMI_SIGNATURE_BYTES;
    EVP_MD_CTX_free(context);
    return right ? TAMIS_OK : failed(err);
}

tamis_status tmi_check_signature(bool *right, const unsigned char *signature, size_t length, const tmi_key *key,
                                 const char *message, tamis_error *err)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    *right = false;
    bool ready = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, in(key)) == 1;
    if (ready && length == TMI_SIGNATURE_BYTES)
        *right = EVP_DigestVerify(context, signature, length, (const unsigned char *)message, strlen(message)) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return ready ? TAMIS_OK : failed(err);
}

/* ---- a new pair ---- */

/* A new file with what is in memory; false with errno on failure, and then there is no file. */
static bool write_new(const char *path, mode_t mode, BIO *memory)
{
    char *bytes;
    long length = BIO_get_mem_data(memory, &bytes), written = 0;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0) return false;
    while (written < length) {
        ssize_t n = write(file, bytes + written, (size_t)(length - written));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        written += n;
    }
    bool right = written == length && fsync(file) == 0;
    right = close(file) == 0 && right;
    if (!right) {
        const int reason = errno;
        unlink(path);
        errno = reason;
    }
    return right;
}

static tamis_status not_written(tamis_error *err, const char *path)
{
    if (errno == EEXIST)
        return tmi_fail(err, TAMIS_INVALID, "%s already exists, and a key is never overwritten: choose another name", path);
    const bool nowhere = errno == ENOENT || errno == ENOTDIR;
    return tmi_fail(err, nowhere ? TAMIS_INVALID : TAMIS_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
}

static tamis_status with_ending(char **path, const char *name, const char *ending, tamis_error *err)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_format(&text, "%s%s", name, ending);
    return tmi_text_take(path, &text, err);
}

/* Makes the entries of new files durable, as far as the folder can. */
static void sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    (void)fsync(folder);
    close(folder);
}

static tamis_status parent_of(char **path, const char *name, tamis_error *err)
{
    const char *slash = strrchr(name, '/');
    *path = slash ? tmi_copy_text(name, (size_t)(slash - name) + 1) : tmi_copy_text(".", 1);
    return *path ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tamis_key_create(char fingerprint[TAMIS_KEY_FINGERPRINT], const char *name, tamis_error *err)
{
    char *secret_path = NULL, *public_path = NULL, *folder = NULL;
    BIO *secret = NULL, *public = NULL;
    EVP_PKEY *pair = NULL;
    tamis_status status = TAMIS_OK;
    if (!fingerprint) return tmi_fail(err, TAMIS_INVALID, "fingerprint: NULL");
    fingerprint[0] = '\0';
    if (!name || !*name) return tmi_fail(err, TAMIS_INVALID, "name: must be the name of the key files, e.g. agency");
    TMI_TRY(with_ending(&secret_path, name, ".key", err));
    TMI_TRY(with_ending(&public_path, name, ".pub", err));
    TMI_TRY(parent_of(&folder, name, err));
    secret = BIO_new(BIO_s_secmem()); /* cleansed when it is freed */
    public = BIO_new(BIO_s_mem());
    pair = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (!secret || !public || !pair || PEM_write_bio_PKCS8PrivateKey(secret, pair, NULL, NULL, 0, NULL, NULL) != 1 ||
        PEM_write_bio_PUBKEY(public, pair) != 1)
        TMI_TRY(failed(err));
    TMI_TRY(tmi_key_fingerprint(fingerprint, (const tmi_key *)(const void *)pair, err));
    if (!write_new(public_path, 0666, public)) TMI_TRY(not_written(err, public_path));
    if (!write_new(secret_path, 0600, secret)) {
        status = not_written(err, secret_path);
        unlink(public_path);
        goto done;
    }
    sync_folder(folder);

done:
    if (status != TAMIS_OK) fingerprint[0] = '\0';
    EVP_PKEY_free(pair);
    BIO_free(secret);
    BIO_free(public);
    tmi_free(secret_path);
    tmi_free(public_path);
    tmi_free(folder);
    return status;
}
