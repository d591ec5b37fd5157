/* Checking a release: every number of its guarantee is computed again from its certificate, without the data, and so is every
 * other file of its folder.
 *
 * The plan is read out of the certificate; what it measures, the sensitivities, the noise, the composition, the account
 * and the amplification follow from it, and each leaf of the file is compared with what follows. Fields of the guarantee
 * may be missing: they are computed. Each file beside the certificate must have the hash that the certificate names, and
 * says what follows: measurements.json the same tables and noise laws, release.json the numbers that are computed from these
 * measurements (to 1e-9 relative), and all others what is written from that. A frame's file and a list of sampled clusters, where
 * they are at hand, must give the facts that the certificate has of them.
 *
 * That proves arithmetic. Authorship is proved by a signature (`key`), and by the ledger (tamis_ledger_verify_text).       */
#ifndef TAMIS_VERIFY_H
#define TAMIS_VERIFY_H

#include <tamis/base.h>

TAMIS_BEGIN

/* All NULL but the size is the usual way. */
typedef struct tamis_verify_options {
    size_t size;       /* sizeof(tamis_verify_options) */
    const char *key;   /* the file of a public key (<tamis/key.h>): the certificate must be signed with it */
    const char *frame; /* the file of the frame; NULL: looked for beside the certificate and in the folder above */
    const char *root; /* no file outside of this folder is opened, wherever links lead: a release outside is INVALID, a file of it
                          or a frame that leads outside is a problem; NULL: anywhere */
    const char *const *also; /* with root: further files and folders that may be opened; ends with NULL. NULL: none */
} tamis_verify_options;

/* Needs    the folder of a release, of which no file may be missing; or the path of a certificate.json, whose neighbours are
 *          checked as far as they are there. options may be NULL.
 * Gives    *ok: no problem was found; and what was found: the guarantee as it follows, or the problems, one per line;
 *          as JSON {"ok", "problems": [{"field", "message"}], "files": {NAME: "match", "differ" or "missing"},
 *          "frame" and "psus": the same, or null if there is none, "earlier": the same of the folders that changes are since, if
 *          there are changes, "signature": "none", "missing", "not checked", "right" or "wrong", "signed_by", "others": the
 *          files of the folder that are no part of a release, "guarantee"}. The caller frees it with tamis_free. 0 and NULL on
 *          failure.
 * Cost     as tamis_preview_new, and the files are read.
 * Errors   INVALID (no such file, not a regular one, no JSON object, not a public key), SYSTEM. */
TAMIS_USE tamis_status tamis_verify_text(int *ok, char **text, const char *path, const tamis_verify_options *options,
                                         tamis_error *err);
TAMIS_USE tamis_status tamis_verify_json(int *ok, char **json, const char *path, const tamis_verify_options *options,
                                         tamis_error *err);

/* A file of a release that is not on the disk. */
typedef struct tamis_named_text {
    const char *name; /* "certificate.json", "release.json", ... */
    const char *bytes;
    size_t length;
} tamis_named_text;

/* The same for files that are in memory; they are put into a private temporary folder (TMPDIR, or /tmp) for as long as the call
 * takes.
 *
 * Needs    names without a slash, each once, one of them certificate.json.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_verify_texts_json(int *ok, char **json, const tamis_named_text *files, size_t count,
                                               const tamis_verify_options *options, tamis_error *err);

TAMIS_END

#endif
