/* A zip archive whose files are stored as they are, with the first date that the format knows: the same files are the same bytes
 * on every computer, which no compressing library promises from one version to the next. */
#ifndef TMI_BASE_ZIP_H
#define TMI_BASE_ZIP_H

#include "base/text.h"

typedef struct tmi_zip {
    tmi_text bytes;   /* the archive so far */
    tmi_text entries; /* its list of contents, which comes last */
    size_t count;
} tmi_zip;

void tmi_zip_init(tmi_zip *zip);

/* Takes the content, which is empty then. The name is ASCII. A failed content, 2^16 files or 4 GB make the archive fail. */
void tmi_zip_add(tmi_zip *zip, const char *name, tmi_text *content);

/* The archive; the zip is empty then. SYSTEM. */
tamis_status tmi_zip_take(char **bytes, size_t *length, tmi_zip *zip, tamis_error *err);

#endif
