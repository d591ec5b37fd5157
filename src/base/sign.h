/* Ed25519 signatures by libcrypto. A secret key is in libcrypto's hands from the moment it is read; what passed through memory
 * of ours is wiped.                                                                                                  */
#ifndef TMI_BASE_SIGN_H
#define TMI_BASE_SIGN_H

#include <stdbool.h>
#include <tamis/key.h>

#include "base/error.h"

#define TMI_SIGNATURE_BYTES 64

typedef struct tmi_key tmi_key; /* secret, or public alone */

/* Reads a PEM file. The caller frees the key; NULL on failure.
 *
 * A secret key must not be readable by others than its owner. It may come through a pipe, so that a key that is kept encrypted
 * can be opened by `openssl pkey`, which asks for the passphrase: nothing here does.
 *
 * Errors   INVALID (no such file, no key, not Ed25519, encrypted, the other half of the pair, readable by others), SYSTEM. */
tamis_status tmi_key_read_secret(tmi_key **key, const char *path, tamis_error *err);
tamis_status tmi_key_read_public(tmi_key **key, const char *path, tamis_error *err);
void tmi_key_free(tmi_key *key); /* wipes; NULL is fine */

/* SHA-256 of the public key. */
tamis_status tmi_key_fingerprint(char fingerprint[TAMIS_KEY_FINGERPRINT], const tmi_key *key, tamis_error *err);

/* Needs    a secret key. */
tamis_status tmi_sign(unsigned char signature[TMI_SIGNATURE_BYTES], const tmi_key *key, const char *message, tamis_error *err);

/* *right: the signature is that of the message by this key. Errors: SYSTEM. */
tamis_status tmi_check_signature(bool *right, const unsigned char *signature, size_t length, const tmi_key *key,
                                 const char *message, tamis_error *err);

#endif
