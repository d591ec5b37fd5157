/* Who signed a certificate. */
#include "base/memory.h"
#include "release/verify/verification.h"

#include <string.h>

static tamis_status check_key(tmi_verification *v, const char *signature, size_t length, const char *path, tamis_error *err)
{
    char message[TMI_CERTIFICATE_MESSAGE], fingerprint[TAMIS_KEY_FINGERPRINT];
    tmi_key *key = NULL;
    bool right = false;
    tamis_status status;
    TMI_TRY(tmi_key_read_public(&key, path, err));
    TMI_TRY(tmi_key_fingerprint(fingerprint, key, err));
    if (!signature) goto done;
    tmi_certificate_message(message, v->certificate.hash);
    TMI_TRY(tmi_check_signature(&right, (const unsigned char *)signature, length, key, message, err));
    if (strcmp(fingerprint, v->certificate.signed_by) != 0)
        tmi_check_note(&v->check, "signed_by", "the certificate names a key other than the one given");
    else if (!right) tmi_check_note(&v->check, TMI_SIGNATURE, "is not the signature of this certificate by this key");
    right = right && strcmp(fingerprint, v->certificate.signed_by) == 0;
    v->signature = right ? TMI_SIGNATURE_RIGHT : TMI_SIGNATURE_WRONG;
    status = v->check.status;

done:
    tmi_key_free(key);
    return status;
}

tamis_status tmi_verify_signature(tmi_verification *v, const char *key, tamis_error *err)
{
    const bool says = tmi_value_field(v->document, "signed_by", TMI_VALUE_TEXT) != NULL;
    char *signature = NULL;
    size_t length = 0;
    tamis_status status;
    TMI_TRY(tmi_read_beside(&signature, &length, v, TMI_SIGNATURE, err));
    if (signature && !says) tmi_check_note(&v->check, TMI_SIGNATURE, "the certificate says that it is not signed");
    if (signature && length != TMI_SIGNATURE_BYTES)
        tmi_check_note(&v->check, TMI_SIGNATURE, "is not an Ed25519 signature of 64 bytes");
    if (!signature && says && (v->whole || key))
        tmi_check_note(&v->check, TMI_SIGNATURE, "is missing, although the certificate says that it is signed");
    if (!says && key) tmi_check_note(&v->check, "signed_by", "a key was given, but the certificate is not signed");
    v->signature = !says ? TMI_UNSIGNED : signature ? TMI_SIGNATURE_UNCHECKED : TMI_SIGNATURE_MISSING;
    if (key) TMI_TRY(check_key(v, says ? signature : NULL, length, key, err));
    status = v->check.status;

done:
    tmi_free(signature);
    return status;
}
