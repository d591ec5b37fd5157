/* The certificate of a tally: the counts, the question, the guarantee, and the hash of every other file of its folder. All of
 * them follow from the counts and the question, so that a certificate is checked by writing everything again. */
#ifndef TMI_COLLECT_TALLY_CERTIFICATE_H
#define TMI_COLLECT_TALLY_CERTIFICATE_H

#include <tamis/key.h>

#include "base/sha256.h"
#include "collect/tally/output.h"

#define TMI_TALLY_FILES 3

typedef struct tmi_tally_file {
    const char *name;
    tmi_tally_form *put;
} tmi_tally_file;

extern const tmi_tally_file tmi_tally_files[TMI_TALLY_FILES];

/* What a certificate adds to what follows from the counts. Empty texts: none. */
typedef struct tmi_tally_signs {
    char signed_by[TAMIS_KEY_FINGERPRINT];
    const char *survey; /* of the account to which the collection was charged; NULL: none */
    int64_t entry;
    char entry_hash[TMI_SHA256_TEXT];
} tmi_tally_signs;

/* The files, and the certificate that names them. The caller frees the texts. */
tamis_status tmi_tally_write_files(char *files[TMI_TALLY_FILES], const tmi_tally_results *r, tamis_error *err);
tamis_status tmi_tally_certify(char **text, char *const files[TMI_TALLY_FILES], const tmi_tally_results *r,
                               const tmi_tally_signs *signs, tamis_error *err);

#endif
