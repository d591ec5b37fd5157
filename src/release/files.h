/* The files of a release that follow from its plan, its noisy numbers and its account. The certificate names the SHA-256 of
 * each, so none of them may contain anything of the certificate; the signature, last, is over the certificate's own hash. */
#ifndef TMI_RELEASE_FILES_H
#define TMI_RELEASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <tamis/release.h>

enum {
    TMI_FILE_RESULTS,
    TMI_FILE_TABLE,
    TMI_FILE_MEASUREMENTS,
    TMI_FILE_REGISTRY,
    TMI_FILE_REPORT,
    TMI_FILE_EXCHANGE,
    TMI_FILE_SPREADSHEET,
    TMI_FILES
};

typedef struct tmi_release_file {
    const char *name;
    bool may_lack; /* a certificate need not name it: releases of before did not have it, nor do very large ones */
    tamis_status (*text)(char **text, const tamis_release *release, tamis_error *err); /* NULL: it is no text */
} tmi_release_file;

extern const tmi_release_file tmi_files[TMI_FILES];

/* The bytes of a file, which the caller frees; NULL if this release does not have it. INVALID, SYSTEM. */
tamis_status tmi_file_bytes(char **bytes, size_t *length, size_t which, const tamis_release *release, tamis_error *err);

#endif
