/* One certificate under examination: what it says of its inputs, what follows from them, and the files beside it. */
#ifndef TMI_RELEASE_VERIFY_VERIFICATION_H
#define TMI_RELEASE_VERIFY_VERIFICATION_H

#include <tamis/verify.h>

#include "plan/sections.h"
#include "publish/signature.h"
#include "release/earlier.h"
#include "release/release.h"

/* What was found of a file that the certificate names; or that it names none. */
typedef enum tmi_found { TMI_MISSING, TMI_MATCHES, TMI_DIFFERS, TMI_NOT_NAMED } tmi_found;

/* Who looks at a release whose files follow from its certificate, while its numbers are there. Whether the rest of the folder is
 * right is known only afterwards. */
typedef struct tmi_visit {
    tamis_status (*see)(void *context, const tamis_release *release, tamis_error *err);
    void *context;
} tmi_visit;

typedef struct tmi_verification {
    tmi_checking check;
    tmi_plan_allowed places;
    const char *folder; /* with its slash, or "" */
    bool whole;         /* the folder was given: every file must be there */
    const tmi_value *document;
    tmi_schedule schedule;       /* made again from the certificate's plan; without one, nothing follows */
    tmi_account account;         /* as the release knew it */
    tmi_certificate certificate; /* of that schedule and account */
    tmi_promised promised;       /* by its account */
    tmi_value *follows;          /* NULL: nothing does */
    tmi_found files[TMI_FILES];
    bool has_frame, has_psus; /* the plan names them */
    tmi_found frame, psus;
    tmi_earlier_list earlier; /* what it says of earlier releases */
    tmi_found earlier_found;  /* their folders */
    const tmi_visit *visit;   /* NULL: nobody does; what is visited does not visit others, so that there is an end */
    tmi_signed signature;
    char **others; /* files of the folder that do not belong to a release, in the order of their names */
    size_t other_count;
} tmi_verification;

/* The inputs of the certificate, as the document says them, checked as far as they follow from one another. Problems are noted.
 * Errors: SYSTEM. */
tamis_status tmi_verify_inputs(tmi_verification *v, tamis_error *err);

/* The frame's file, if it is at `path` or, for NULL, beside the certificate or in the folder above. Errors: SYSTEM, and INVALID
 * if there is nothing at `path`. */
tamis_status tmi_verify_frame(tmi_verification *v, const char *path, tamis_error *err);

/* The same of the list of sampled clusters. Errors: SYSTEM. */
tamis_status tmi_verify_psus(tmi_verification *v, tamis_error *err);

/* The folders of the earlier releases that changes are measured from, if they are beside the certificate's folder, or in it.
 * Errors: SYSTEM. */
tamis_status tmi_verify_earlier(tmi_verification *v, tamis_error *err);

/* Verifies a folder whose numbers are needed; no file outside of it is opened. Errors: those of the visit, INVALID, SYSTEM. */
tamis_status tmi_verify_visited(int *ok, const char *folder, const tmi_visit *visit, tamis_error *err);

/* Hashes and contents of the files beside the certificate. Errors: SYSTEM. */
tamis_status tmi_verify_files(tmi_verification *v, tamis_error *err);

/* Looks for what else is in the folder, if that was given. It is no problem of the release; it is said. Errors: SYSTEM. */
tamis_status tmi_verify_others(tmi_verification *v, tamis_error *err);

/* Whether there is a regular file at a path, where files may be: a pipe would be waited for. */
bool tmi_may_open(const tmi_verification *v, const char *path);

/* The bytes of a file in the folder, and its path; NULL if it is not there. The caller frees them. What is there and is no file
 * that can be read is noted. Errors: SYSTEM. */
tamis_status tmi_read_beside(char **bytes, size_t *length, tmi_verification *v, const char *name, tamis_error *err);

#endif
