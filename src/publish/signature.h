/* Who signed a certificate: what is written beside it, and how that is checked. */
#ifndef TMI_PUBLISH_SIGNATURE_H
#define TMI_PUBLISH_SIGNATURE_H

#include "publish/checking.h"

/* Two files of every folder: the certificate, and its signature. */
#define TMI_CERTIFICATE "certificate.json"
#define TMI_SIGNATURE "certificate.sig"

/* What is signed: a line that says what it is, so that a signature of something else is never one of a certificate. */
#define TMI_CERTIFICATE_MESSAGE (sizeof "tamis certificate " + TMI_SHA256_TEXT)
void tmi_certificate_message(char message[TMI_CERTIFICATE_MESSAGE], const char *hash);

typedef enum tmi_signed {
    TMI_UNSIGNED,
    TMI_SIGNATURE_MISSING,
    TMI_SIGNATURE_UNCHECKED,
    TMI_SIGNATURE_RIGHT,
    TMI_SIGNATURE_WRONG
} tmi_signed;

/* A certificate and what is beside it. */
typedef struct tmi_signing {
    const char *hash;      /* that would be signed */
    const char *signed_by; /* the fingerprint that the certificate names; NULL: it says that it is not signed */
    const char *signature; /* the bytes of certificate.sig; NULL: there is none */
    size_t length;
    bool whole; /* the folder was given, so that no file may be missing */
} tmi_signing;

/* Notes what is wrong with the signature. `key`: the file of the public key; NULL: it is only looked for. Errors: INVALID (not a
 * public key), SYSTEM. */
tamis_status tmi_check_signed(tmi_signed *found, const tmi_signing *s, const char *key, tmi_checking *check, tamis_error *err);

#endif
