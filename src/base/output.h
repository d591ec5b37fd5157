/* A file that appears complete or not at all: it is written under another name beside its own. Or a stream that is
 * open already, which is written to at once. */
#ifndef TMI_BASE_OUTPUT_H
#define TMI_BASE_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"

typedef struct tmi_output {
    FILE *file;
    const char *path;
    bool ours;  /* opened here */
    char *part; /* the name until it is complete; NULL: there is no such file */
} tmi_output;

/* Whether the place could be opened, of use before long work: INVALID if it is no name for a file, or is taken. */
tamis_status tmi_output_check(const tamis_stream *out, tamis_error *err);

/* The place is borrowed. INVALID if there is such a file already, or no such folder. */
tamis_status tmi_output_open(tmi_output *output, const tamis_stream *out, tamis_error *err);

/* Makes it durable and gives it its name. */
tamis_status tmi_output_keep(tmi_output *output, tamis_error *err);

/* Removes what was not kept. */
void tmi_output_clear(tmi_output *output);

#endif
