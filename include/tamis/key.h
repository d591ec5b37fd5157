/* Keys of an agency: who has signed a certificate.
 *
 * A certificate proves that its numbers follow from one another, not whose they are. An agency that wants its releases known
 * as its own makes one pair of Ed25519 keys, publishes the public one and its fingerprint, and signs each release with
 * the secret one (tamis_release_options.sign); tamis_verify_text checks the signature. Keys are PEM files as OpenSSL writes them
 * (PKCS #8 and SubjectPublicKeyInfo), so that other programs can make and check them too: docs/certificate.md#signatures
 * has the commands.                                                                                                   */
#ifndef TAMIS_KEY_H
#define TAMIS_KEY_H

#include <tamis/base.h>

TAMIS_BEGIN

#define TAMIS_KEY_FINGERPRINT 65

/* Makes a pair of keys: NAME.key, which only its owner may read, and NAME.pub.
 *
 * Needs    a name whose folder exists; neither file exists.
 * Gives    both files, durable, or neither; and the SHA-256 of the public key (of its DER form), 64 hexadecimal digits, which is
 *          what a certificate calls `signed_by`. Empty on failure.
 * Errors   INVALID (a file exists already: a key is never written over; no such folder), SYSTEM.                       */
TAMIS_USE tamis_status tamis_key_create(char fingerprint[TAMIS_KEY_FINGERPRINT], const char *name, tamis_error *err);

TAMIS_END

#endif
