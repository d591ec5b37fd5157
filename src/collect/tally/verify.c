/* Checks a folder that tamis tally has written: certificate and files are written again from the counts and the question in
 * the certificate, and compared; then the signature. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "collect/tally/certificate.h"
#include "num/number.h"
#include "publish/signature.h"

#define LONGEST ((size_t)1 << 28) /* bytes of a file */

typedef struct checked {
    char *folder; /* with its slash */
    bool whole;   /* the folder was named: no file may be missing */
    char *bytes;  /* of the certificate */
    size_t length;
    tmi_value *document;
    tmi_checking check;
    tmi_faults faults;
    tamis_tally *tally;
    tamis_number *confidence, *delta;
    tmi_tally_results results;
    char *files[TMI_TALLY_FILES], *again;
    tmi_signed signature;
} checked;

/* *bytes is NULL if there is no such file. */
static tamis_status read_beside(char **bytes, size_t *length, const char *folder, const char *name, tamis_error *err)
{
    char path[4096];
    *bytes = NULL;
    if (snprintf(path, sizeof path, "%s%s", folder, name) >= (int)sizeof path)
        return tmi_fail(err, TAMIS_INVALID, "the path is too long");
    struct stat there;
    const int opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is not waited for */
    FILE *file = opened >= 0 ? fdopen(opened, "rb") : NULL;
    if (!file && opened >= 0) close(opened);
    if (!file) return TAMIS_OK;
    tamis_status status = TAMIS_OK;
    const bool fine = fstat(fileno(file), &there) == 0 && S_ISREG(there.st_mode) && (size_t)there.st_size <= LONGEST;
    if (!fine) status = tmi_fail(err, TAMIS_INVALID, "%s is not a file, or is too long", name);
    else if (!(*bytes = tmi_alloc((size_t)there.st_size + 1, 1))) status = tmi_fail_memory(err);
    else *length = fread(*bytes, 1, (size_t)there.st_size, file);
    fclose(file);
    return status;
}

static tamis_status open_certificate(checked *c, const char *path, tamis_error *err)
{
    struct stat there;
    const size_t length = strlen(path);
    c->whole = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
    const char *slash = strrchr(path, '/'), *name = c->whole ? TMI_CERTIFICATE : slash ? slash + 1 : path;
    tmi_text folder;
    tmi_text_init(&folder);
    tmi_text_add(&folder, path, c->whole ? length : slash ? (size_t)(slash - path) + 1 : 0);
    if (c->whole && length > 0 && path[length - 1] != '/') tmi_text_put(&folder, "/");
    tamis_status status = tmi_text_take(&c->folder, &folder, err);
    if (status == TAMIS_OK) status = read_beside(&c->bytes, &c->length, c->folder ? c->folder : "", name, err);
    if (status == TAMIS_OK && !c->bytes) status = tmi_fail_file(err, TAMIS_INVALID, path, 0, "there is no certificate");
    if (status == TAMIS_OK) status = tmi_json_read(&c->document, c->bytes, c->length, err);
    return status;
}

int tamis_tally_is_certificate(const char *path)
{
    checked c = {0};
    const bool is = path && open_certificate(&c, path, NULL) == TAMIS_OK && tmi_value_kind_of(c.document) == TMI_VALUE_MAP &&
                    strcmp(tmi_value_field_text(c.document, "kind"), "tally") == 0;
    tmi_value_free(c.document);
    tmi_free(c.bytes);
    tmi_free(c.folder);
    return is;
}

static int64_t whole_in(const tmi_value *object, const char *key)
{
    const tmi_value *value = tmi_value_field(object, key, TMI_VALUE_INTEGER);
    return value ? tmi_value_integer(value) : 0;
}

/* The counts and the question, and everything that follows from them. What cannot be read or computed is a problem of the
 * file. */
static tamis_status derive(checked *c, tamis_error *err)
{
    const tmi_value *question = tmi_value_field(c->document, "question", TMI_VALUE_MAP);
    const tmi_value *account = tmi_value_field(c->document, "account", TMI_VALUE_MAP);
    const tmi_value *categories = tmi_value_field(question, "categories", TMI_VALUE_TEXT);
    const tmi_value *guarantee = tmi_value_field(c->document, "guarantee", TMI_VALUE_MAP);
    const int64_t said = whole_in(guarantee, "bounds");
    const tmi_upper_bounds bounds = said == TMI_BOUNDS_NOW      ? TMI_BOUNDS_NOW
                                    : said == TMI_BOUNDS_SECOND ? TMI_BOUNDS_SECOND
                                                                : TMI_BOUNDS_FIRST;
    tamis_status status;
    TMI_TRY(tmi_tally_from_json(&c->tally, TMI_CERTIFICATE, tmi_value_get(c->document, "tally"), err));
    TMI_TRY(tamis_number_read(&c->confidence, tmi_value_field_text(question, "confidence"), err));
    TMI_TRY(tamis_number_read(&c->delta, tmi_value_field_text(question, "delta"), err));
    const tamis_tally_question asked = {.size = sizeof(tamis_tally_question),
                                        .confidence = c->confidence,
                                        .delta = c->delta,
                                        .population = whole_in(question, "population"),
                                        .promised = whole_in(question, "promised"),
                                        .categories = categories ? tmi_value_string(categories) : NULL};
    TMI_TRY(tmi_tally_results_make(&c->results, c->tally, &asked, bounds, err));
    TMI_TRY(tmi_tally_write_files(c->files, &c->results, err));
    tmi_tally_signs signs = {.survey = account ? tmi_value_field_text(account, "survey") : NULL,
                             .entry = account ? whole_in(account, "entry") : 0};
    snprintf(signs.signed_by, sizeof signs.signed_by, "%s", tmi_value_field_text(c->document, "signed_by"));
    snprintf(signs.entry_hash, sizeof signs.entry_hash, "%s", tmi_value_field_text(account, "hash"));
    TMI_TRY(tmi_tally_certify(&c->again, c->files, &c->results, &signs, err));
done:
    return status;
}

static tamis_status compare(checked *c, tamis_error *err)
{
    tmi_value *follows = NULL;
    tamis_status status;
    TMI_TRY(tmi_json_read(&follows, c->again, strlen(c->again), err));
    tmi_check_same(&c->check, follows, c->document, "", false);
    if (c->faults.count == 0 && (strlen(c->again) != c->length || memcmp(c->again, c->bytes, c->length) != 0))
        tmi_check_note(&c->check, TMI_CERTIFICATE, "is not in the form that tamis writes");
    for (size_t i = 0; i < TMI_TALLY_FILES; i++) {
        char *bytes = NULL;
        size_t length = 0;
        TMI_TRY(read_beside(&bytes, &length, c->folder ? c->folder : "", tmi_tally_files[i].name, err));
        if (!bytes && c->whole) tmi_check_note(&c->check, tmi_tally_files[i].name, "is missing");
        else if (bytes && (length != strlen(c->files[i]) || memcmp(bytes, c->files[i], length) != 0))
            tmi_check_note(&c->check, tmi_tally_files[i].name, "does not follow from the certificate");
        tmi_free(bytes);
    }
    status = c->check.status;
done:
    tmi_value_free(follows);
    return status;
}

static tamis_status check_signature(checked *c, const char *key, tamis_error *err)
{
    const bool says = tmi_value_field(c->document, "signed_by", TMI_VALUE_TEXT) != NULL;
    char *signature = NULL, hash[TMI_SHA256_TEXT];
    tmi_sha256_text(hash, c->bytes, c->length);
    tmi_signing s = {.hash = hash, .signed_by = says ? tmi_value_field_text(c->document, "signed_by") : NULL, .whole = c->whole};
    tamis_status status = read_beside(&signature, &s.length, c->folder ? c->folder : "", TMI_SIGNATURE, err);
    s.signature = signature;
    if (status == TAMIS_OK) status = tmi_check_signed(&c->signature, &s, key, &c->check, err);
    tmi_free(signature);
    return status;
}

static void put_json(tmi_text *text, const checked *c)
{
    tmi_json_out out;
    tmi_json_out_init(&out, text, true);
    tmi_json_open(&out, '{');
    tmi_json_add_boolean(&out, "ok", c->faults.count == 0);
    tmi_json_key(&out, "problems");
    tmi_faults_put(&out, &c->faults);
    tmi_json_add_string(&out, "signature",
                        c->signature == TMI_SIGNATURE_RIGHT ? "right"
                        : c->signature == TMI_UNSIGNED      ? "none"
                                                            : "not checked");
    tmi_json_close(&out, '}');
    tmi_text_put(text, "\n");
}

static void put_words(tmi_text *text, const checked *c)
{
    if (c->faults.count > 0) {
        tmi_faults_write(text, &c->faults);
        return;
    }
    tmi_text_wrap(text, "", "",
                  "The estimates, the intervals and the guarantee follow from the counts in the certificate, and the other files "
                  "agree with it.");
    tmi_lines lines = {0};
    tmi_tally_words(&lines, &c->results);
    tmi_lines_wrap(text, "", "", &lines);
    if (c->signature == TMI_SIGNATURE_RIGHT) tmi_text_put(text, "The signature is right.\n");
}

static tamis_status verify(int *ok, char **text, const char *path, const char *key, bool json, tamis_error *err)
{
    checked c = {.check = {.status = TAMIS_OK}};
    tamis_error reason = {0};
    tmi_text made;
    tamis_status status;
    if (!ok || !text) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", ok ? "text" : "ok");
    *ok = 0;
    *text = NULL;
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: NULL");
    c.check.faults = &c.faults;
    c.check.err = err;
    tmi_text_init(&made);
    TMI_TRY(open_certificate(&c, path, err));
    status = derive(&c, &reason);
    if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_as(err, &reason));
    if (status != TAMIS_OK) tmi_check_note(&c.check, TMI_CERTIFICATE, reason.message);
    else TMI_TRY(compare(&c, err));
    TMI_TRY(check_signature(&c, key, err));
    if (json) put_json(&made, &c);
    else put_words(&made, &c);
    TMI_TRY(tmi_text_take(text, &made, err));
    *ok = c.faults.count == 0;
done:
    tmi_text_clear(&made);
    tmi_tally_results_clear(&c.results);
    for (size_t i = 0; i < TMI_TALLY_FILES; i++) tmi_free(c.files[i]);
    tmi_free(c.again);
    tmi_number_frees(&c.confidence, &c.delta, NULL);
    tamis_tally_free(c.tally);
    tmi_faults_clear(&c.faults);
    tmi_value_free(c.document);
    tmi_free(c.bytes);
    tmi_free(c.folder);
    return status;
}

tamis_status tamis_tally_verify_text(int *ok, char **text, const char *path, const char *key, tamis_error *err)
{
    return verify(ok, text, path, key, false, err);
}

tamis_status tamis_tally_verify_json(int *ok, char **json, const char *path, const char *key, tamis_error *err)
{
    return verify(ok, json, path, key, true, err);
}
