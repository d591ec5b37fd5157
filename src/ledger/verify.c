/* Looking for what was edited, deleted, reordered or rolled back. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "ledger/against.h"
#include "ledger/ledger.h"

/* A certificate has a few kilobytes, with many statistics megabytes; measurements.json beside it has at most what a ledger
 * keeps, and release.json is not four times as long (about 600 bytes for each of at most 2^20 cells). */
#define LARGEST_FILE (4 * TAMIS_LEDGER_TEXT)

tamis_status tmi_read_certificate(char **bytes, size_t *length, const char *path, tamis_error *err)
{
    struct stat facts;
    tamis_status status = TAMIS_OK;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is not waited for */
    *bytes = NULL;
    *length = 0;
    if (file < 0 || fstat(file, &facts) != 0) {
        const int reason = errno;
        status = tmi_fail_file(err, reason == ENOENT || reason == ENOTDIR ? TAMIS_INVALID : TAMIS_SYSTEM, path, 0,
                               "cannot be read: %s", strerror(reason));
        goto done;
    }
    if (!S_ISREG(facts.st_mode) || facts.st_size < 0) {
        status = tmi_fail_file(err, TAMIS_INVALID, path, 0, "not a certificate");
        goto done;
    }
    if ((size_t)facts.st_size > LARGEST_FILE) {
        status = tmi_fail_file(err, TAMIS_INVALID, path, 0, "has %.1f GB, too much to be read; at most %.1f GB are",
                               (double)facts.st_size / 1e9, (double)LARGEST_FILE / 1e9);
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
        if (n < 0) status = tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "cannot be read: %s", strerror(errno));
        if (n <= 0) break;
        *length += (size_t)n;
    }
done:
    if (file >= 0) close(file);
    return status;
}

tamis_status tmi_certificate_read(tmi_value **document, const char *path, tamis_error *err)
{
    char *bytes = NULL;
    size_t length;
    tamis_error reason = {0};
    tamis_status status;
    *document = NULL;
    TMI_TRY(tmi_read_certificate(&bytes, &length, path, err));
    status = tmi_json_read(document, bytes, length, &reason);
    if (status != TAMIS_OK) tmi_fail_as_file(err, &reason, path);
done:
    tmi_free(bytes);
    return status;
}

/* A file that contradicts itself so much that it cannot be read on is a problem found, not a failure to look. */
static tamis_status noted(tamis_status status, tmi_faults *faults, const tamis_error *reason, tamis_error *err)
{
    if (status == TAMIS_INVALID) return tmi_fault_note(faults, err, "file", "%.200s", reason->message);
    return status == TAMIS_OK ? TAMIS_OK : tmi_fail_as(err, reason);
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
    for (size_t i = 0; i < count; i++) TMI_TRY(tmi_check_against(file, &book, certificates[i], faults, err));
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
        tmi_json_add_string(out, "field", faults->list[i].field);
        tmi_json_add_string(out, "message", faults->list[i].message);
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
        tmi_json_add_boolean(&out, "ok", faults->count == 0);
        tmi_json_key(&out, "problems");
        tmi_faults_put(&out, faults);
        tmi_json_close(&out, '}');
        tmi_text_put(&t, "\n");
    } else {
        tmi_faults_write(&t, faults);
    }
    return tmi_text_take(text, &t, err);
}

static tamis_status verify(int *ok, char **text, const char *path, const char *const *certificates, size_t count, bool json,
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
    /* in other tables there is nothing to look for */
    if (faults.count == 0) TMI_TRY(check(file, &faults, certificates, count, err));
    TMI_TRY(write_faults(text, &faults, json, err));
    *ok = faults.count == 0;
done:
    tmi_store_close(file);
    tmi_faults_clear(&faults);
    return status;
}

tamis_status tamis_ledger_verify_text(int *ok, char **text, const char *path, const char *const *certificates, size_t count,
                                      tamis_error *err)
{
    return verify(ok, text, path, certificates, count, false, err);
}

tamis_status tamis_ledger_verify_json(int *ok, char **json, const char *path, const char *const *certificates, size_t count,
                                      tamis_error *err)
{
    return verify(ok, json, path, certificates, count, true, err);
}
