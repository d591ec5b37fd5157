/* The files of a release that follow from its plan, its noisy numbers and its account. The certificate names the SHA-256 of
 * each, so none of them may contain anything of the certificate; the signature, last, is over the certificate's own hash. */
#ifndef TMI_RELEASE_FILES_H
#define TMI_RELEASE_FILES_H

#include <tamis/release.h>

enum { TMI_FILE_RESULTS, TMI_FILE_TABLE, TMI_FILE_MEASUREMENTS, TMI_FILE_REGISTRY, TMI_FILE_REPORT, TMI_FILES };

typedef struct tmi_release_file {
    const char *name;
    tamis_status (*write)(char **text, const tamis_release *release, tamis_error *err);
} tmi_release_file;

extern const tmi_release_file tmi_files[TMI_FILES];

#endif
