#include "publish/signature.h"

#include <stdio.h>
#include <string.h>

#include "base/sign.h"

void tmi_certificate_message(char message[TMI_CERTIFICATE_MESSAGE], const char *hash)
{
    snprintf(message, TMI_CERTIFICATE_MESSAGE, "tamis certificate %s\n", hash);
}

static tamis_status check_key(tmi_signed *found, const tmi_signing *s, const char *path, tmi_checking *check, tamis_error *err)
{
    char message[TMI_CERTIFICATE_MESSAGE], fingerprint[TAMIS_KEY_FINGERPRINT];
    tmi_key *key = NULL;
    bool right = false;
    tamis_status status;
    TMI_TRY(tmi_key_read_public(&key, path, err));
    TMI_TRY(tmi_key_fingerprint(fingerprint, key, err));
    if (!s->signature || !s->signed_by) goto done;
    tmi_certificate_message(message, s->hash);
    TMI_TRY(tmi_check_signature(&right, (const unsigned char *)s->signature, s->length, key, message, err));
    if (strcmp(fingerprint, s->signed_by) != 0)
        tmi_check_note(check, "signed_by", "the certificate names a key other than the one given");
    else if (!right) tmi_check_note(check, TMI_SIGNATURE, "is not the signature of this certificate by this key");
    right = right && strcmp(fingerprint, s->signed_by) == 0;
    *found = right ? TMI_SIGNATURE_RIGHT : TMI_SIGNATURE_WRONG;

done:
    tmi_key_free(key);
    return status;
}

tamis_status tmi_check_signed(tmi_signed *found, const tmi_signing *s, const char *key, tmi_checking *check, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (s->signature && !s->signed_by) tmi_check_note(check, TMI_SIGNATURE, "the certificate says that it is not signed");
    if (s->signature && s->length != TMI_SIGNATURE_BYTES)
        tmi_check_note(check, TMI_SIGNATURE, "is not an Ed25519 signature of 64 bytes");
    if (!s->signature && s->signed_by && (s->whole || key))
        tmi_check_note(check, TMI_SIGNATURE, "is missing, although the certificate says that it is signed");
    if (!s->signed_by && key) tmi_check_note(check, "signed_by", "a key was given, but the certificate is not signed");
    *found = !s->signed_by ? TMI_UNSIGNED : s->signature ? TMI_SIGNATURE_UNCHECKED : TMI_SIGNATURE_MISSING;
    if (key) status = check_key(found, s, key, check, err);
    return status == TAMIS_OK ? check->status : status;
}
