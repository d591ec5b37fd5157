/* The certificate of a release: everything that its guarantee follows from, without the data.
 *
 * It is a function of the plan (as canonical JSON, which is again a plan), the parts of the budget, what the frame says if
 * there is one, what the engine says of itself if it is asked in SQL, the account (which entry of the ledger, what was
 * charged before and with it), the SHA-256 of the other files and the key that signs it. All the rest follows. A release
 * writes it from the schedule that it measures by. To verify one, the plan is read out of the certificate's text, the
 * schedule is made again from it, and the certificate is written again from what it says of these; then the two are compared
 * leaf by leaf. What influences nothing else (a name, a confidence) is bound by a hash over all but the guarantee.
 *
 * docs/certificate.md describes the file. */
#ifndef TMI_RELEASE_CERTIFICATE_H
#define TMI_RELEASE_CERTIFICATE_H

#include "base/sha256.h"
#include "base/sign.h"
#include "ledger/book.h"
#include "publish/publish.h"
#include "release/account.h"
#include "release/files.h"

typedef struct tmi_certificate {
    tmi_value *plan;
    const tmi_schedule *schedule; /* lent; NULL: nothing follows */
    char *version;
    tmi_value *engine;                      /* what it says of itself (tmi_engine); NULL: nothing */
    const tmi_account *account;             /* lent, with its charge; NULL: nothing was measured, or nobody keeps count */
    char files[TMI_FILES][TMI_SHA256_TEXT]; /* hashes, in the order of tmi_files */
    char signed_by[TAMIS_KEY_FINGERPRINT];  /* empty: it is not signed */
    char hash[TMI_SHA256_TEXT];             /* of the certificate, once it was written */
} tmi_certificate;

/* The certificate of a schedule, which is lent and outlives it: what `tamis release` begins before it charges anything. The
 * account, the hashes of the files and the signer are the caller's to fill. Cleared by the caller, whatever happens. SYSTEM. */
tamis_status tmi_certificate_of(tmi_certificate *c, const tmi_schedule *schedule, tamis_error *err);
void tmi_certificate_clear(tmi_certificate *c);

/* The plan of a certificate, read from its canonical text, to be freed. `name` is what messages call it. INVALID, SYSTEM. */
tamis_status tmi_certificate_plan(tamis_plan **plan, const tmi_value *json, const char *name, tamis_error *err);

/* That the certificate's plan, written and read again, is the same plan, as it will be for whoever verifies it. INVALID,
 * SYSTEM. */
tamis_status tmi_certificate_check_plan(const tmi_certificate *c, tamis_error *err);

/* At least the length of the file, whatever the ledger will say: what is checked before the charge. `known`: the account as it is
 * now, or empty. SYSTEM. */
tamis_status tmi_certificate_longest(size_t *length, const tmi_certificate *c, const tmi_promised *promised,
                                     const tmi_standing *known, tamis_error *err);

/* The file, or the same as a tree; and c->hash. `promised`: by the whole account. The caller frees what is given. Errors:
 * SYSTEM. */
tamis_status tmi_certificate_write(char **text, tmi_certificate *c, const tmi_promised *promised, tamis_error *err);
tamis_status tmi_certificate_tree(tmi_value **tree, tmi_certificate *c, const tmi_promised *promised, tamis_error *err);
#endif
