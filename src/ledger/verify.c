/* Looking for what was edited, deleted, reordered or rolled back. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "ledger/ledger.h"

/* A certificate: a few kilobytes, with many statistics megabytes. */
#define LARGEST_CERTIFICATE ((size_t)64 << 20)

tamis_status tmi_read_certificate(char **bytes, size_t *length, const char *path, tamis_error *err)
{
    struct stat facts;
    tamis_status status = TAMIS_OK;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    *bytes = NULL;
    *length = 0;
    if (file < 0 || fstat(file, &facts) != 0) {
        const int reason = errno;
        status = tmi_fail(err, reason == ENOENT || reason == ENOTDIR ? TAMIS_INVALID : TAMIS_SYSTEM, "%s: the certificate cannot be read: %s",
                          path, strerror(reason));
        goto done;
    }
    if (!S_ISREG(facts.st_mode) || facts.st_size < 0 || (size_t)facts.st_size > LARGEST_CERTIFICATE) {
        status = tmi_fail(err, TAMIS_INVALID, "%s: not a certificate", path);
        goto done;
    }
    const size_t size = (size_t)facts.st_size;
    if (!(*bytes = tmi_alloc(size + 1, 1))) {
        status = tmi_fail_memory(err);
        goto done;
    }
    while (*length < size) {
        ssize_t n = read(file, *bytes + *length, size - *length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) status = tmi_fail(err, TAMIS_SYSTEM, "%s: the certificate cannot be read: %s", path, strerror(errno));
        if (n <= 0) break;
        *length += (size_t)n;
    }
done:
    if (file >= 0) close(file);
    return status;
}

/* What a certificate says about the chain. */
typedef struct claim {
    int64_t number;
    char hash[TMI_SHA256_TEXT];
    bool found, same;
} claim;

/* False if it says nothing. */
static bool take_claim(claim *c, const tmi_json *document)
{
    const tmi_json *ledger = tmi_json_kind_of(document) == TMI_JSON_OBJECT ? tmi_json_get(document, "ledger") : NULL;
    const bool object = ledger && tmi_json_kind_of(ledger) == TMI_JSON_OBJECT;
    const tmi_json *entry = object ? tmi_json_get(ledger, "entry") : NULL, *hash = object ? tmi_json_get(ledger, "hash") : NULL;
    if (!entry || tmi_json_kind_of(entry) != TMI_JSON_INTEGER || !hash || tmi_json_kind_of(hash) != TMI_JSON_STRING) return false;
    if (!tmi_is_sha256_text(tmi_json_string(hash))) return false;
    *c = (claim){.number = tmi_json_integer(entry)};
    snprintf(c->hash, sizeof c->hash, "%s", tmi_json_string(hash));
    return true;
}

static tamis_status look_for(void *context, int64_t number, const char *entry, const char *hash, tamis_error *err)
{
    claim *c = context;
    (void)entry;
    (void)err;
    if (number != c->number) return TAMIS_OK;
    c->found = true;
    c->same = hash && strcmp(hash, c->hash) == 0;
    return TAMIS_OK;
}

static tamis_status check_certificate(tmi_store *file, const char *path, tmi_faults *faults, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_error reason = {0};
    tmi_json *document = NULL;
    char *bytes = NULL, field[64];
    size_t length, name = strlen(path);
    claim c;
    TMI_TRY(tmi_read_certificate(&bytes, &length, path, err));
    status = tmi_json_read(&document, bytes, length, &reason);
    if (status != TAMIS_OK) {
        tmi_fail(err, status, "%s: %s", path, reason.message);
        goto done;
    }
    snprintf(field, sizeof field, "%s: ledger", name > 40 ? path + name - 40 : path);
    if (!take_claim(&c, document)) {
        TMI_TRY(tmi_fault_note(faults, err, field, "the certificate names no entry of a ledger"));
        goto done;
    }
    TMI_TRY(tmi_store_each(file, look_for, &c, err));
    if (!c.found)
        TMI_TRY(tmi_fault_note(faults, err, field, "entry %" PRId64 " of the certificate is not in the ledger: it was rolled back, or is "
                               "another one", c.number));
    else if (!c.same)
        TMI_TRY(tmi_fault_note(faults, err, field, "entry %" PRId64 " has another hash in the ledger than in the certificate", c.number));
done:
    tmi_json_free(document);
    tmi_free(bytes);
    return status;
}

/* A file that contradicts itself so much that it cannot be read on is a problem found, not a failure to look. */
static tamis_status noted(tamis_status status, tmi_faults *faults, const tamis_error *reason, tamis_error *err)
{
    if (status == TAMIS_INVALID) return tmi_fault_note(faults, err, "file", "%.200s", reason->message);
    return status == TAMIS_OK ? TAMIS_OK : tmi_fail(err, status, "%s", reason->message);
}

static tamis_status check(tmi_store *file, tmi_faults *faults, const char *const *certificates, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_error reason = {0};
    tmi_book book;
    tmi_book_init(&book);
    TMI_TRY(tmi_store_begin(file, false, err));
    status = tmi_store_catch_up(file, &book, faults, &reason);
    if (status == TAMIS_OK) status = tmi_book_check_budgets(&book, faults, &reason);
    if (status == TAMIS_OK) status = tmi_store_check(file, &book, faults, &reason);
    TMI_TRY(noted(status, faults, &reason, err));
    for (size_t i = 0; i < count; i++) TMI_TRY(check_certificate(file, certificates[i], faults, err));
done:
    tmi_store_cancel(file);
    tmi_book_clear(&book);
    return status;
}

void tmi_faults_put(tmi_json_out *out, const tmi_faults *faults)
{
    tmi_json_open(out, '[');
    for (size_t i = 0; i < faults->count; i++) {
        tmi_json_open(out, '{');
        tmi_json_key(out, "field");
        tmi_json_put_string(out, faults->list[i].field);
        tmi_json_key(out, "message");
        tmi_json_put_string(out, faults->list[i].message);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

void tmi_faults_write(tmi_text *text, const tmi_faults *faults)
{
    for (size_t i = 0; i < faults->count; i++) tmi_text_format(text, "%s: %s\n", faults->list[i].field, faults->list[i].message);
}

static tamis_status write_faults(char **text, const tmi_faults *faults, bool json, tamis_error *err)
{
    tmi_text t;
    tmi_json_out out;
    tmi_text_init(&t);
    tmi_json_out_init(&out, &t, true);
    if (json) {
        tmi_json_open(&out, '{');
        tmi_json_key(&out, "ok");
        tmi_json_put_boolean(&out, faults->count == 0);
        tmi_json_key(&out, "problems");
        tmi_faults_put(&out, faults);
        tmi_json_close(&out, '}');
        tmi_text_put(&t, "\n");
    } else {
        tmi_faults_write(&t, faults);
    }
    return tmi_text_take(text, &t, err);
}

tamis_status tamis_ledger_verify(int *ok, char **text, const char *path, const char *const *certificates, size_t count, int json,
                                 tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_store *file = NULL;
    tmi_faults faults = {0};
    if (!ok || !text) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", ok ? "text" : "ok");
    *ok = 0;
    *text = NULL;
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: NULL");
    if (!certificates && count > 0) return tmi_fail(err, TAMIS_INVALID, "certificates: NULL");
    for (size_t i = 0; i < count; i++)
        if (!certificates[i]) return tmi_fail(err, TAMIS_INVALID, "certificates[%zu]: NULL", i);
    TMI_TRY(tmi_store_open(&file, path, TMI_LOOK, &faults, err));
    if (faults.count == 0) TMI_TRY(check(file, &faults, certificates, count, err)); /* in other tables there is nothing to look for */
    TMI_TRY(write_faults(text, &faults, json != 0, err));
    *ok = faults.count == 0;
done:
    tmi_store_close(file);
    tmi_faults_clear(&faults);
    return status;
}
