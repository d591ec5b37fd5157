/* A certificate is written again from what it says of its four inputs, and the two are compared leaf by leaf. */
#include <tamis/verify.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "ledger/book.h"
#include "num/number.h"
#include "release/certificate.h"
#include "release/promise.h"

#define MOST_PROBLEMS 100 /* told */
#define FIELD 64          /* letters of a path */

static const tmi_json *field(const tmi_json *object, const char *key, tmi_json_kind kind)
{
    if (!object || tmi_json_kind_of(object) != TMI_JSON_OBJECT) return NULL;
    const tmi_json *value = tmi_json_get(object, key);
    return value && tmi_json_kind_of(value) == kind ? value : NULL;
}

static const char *text_of(const tmi_json *object, const char *key)
{
    const tmi_json *value = field(object, key, TMI_JSON_STRING);
    return value ? tmi_json_string(value) : "";
}

/* ---- leaf by leaf ---- */

typedef struct comparison {
    tmi_faults *faults;
    tamis_error *err;
    tamis_status status;
} comparison;

static void note(comparison *c, const char *path, const char *message)
{
    if (c->status == TAMIS_OK && c->faults->count < MOST_PROBLEMS) c->status = tmi_fault_note(c->faults, c->err, path, "%s", message);
}

static void compare(comparison *c, const tmi_json *follows, const tmi_json *says, const char *path, bool may_miss);

static void compare_objects(comparison *c, const tmi_json *follows, const tmi_json *says, const char *path, bool may_miss)
{
    char inner[FIELD];
    for (const char *key = tmi_json_next_key(follows, NULL); key; key = tmi_json_next_key(follows, key)) {
        const tmi_json *there = tmi_json_get(says, key);
        bool guarantee = may_miss || (!*path && strcmp(key, "guarantee") == 0);
        snprintf(inner, sizeof inner, "%.40s%s%.20s", path, *path ? "." : "", key);
        if (there) compare(c, tmi_json_get(follows, key), there, inner, guarantee);
        else if (!guarantee) note(c, inner, "is missing");
    }
    for (const char *key = tmi_json_next_key(says, NULL); key; key = tmi_json_next_key(says, key)) {
        snprintf(inner, sizeof inner, "%.40s%s%.20s", path, *path ? "." : "", key);
        if (!tmi_json_get(follows, key)) note(c, inner, "does not belong here");
    }
}

static void compare_lists(comparison *c, const tmi_json *follows, const tmi_json *says, const char *path, bool may_miss)
{
    char inner[FIELD];
    if (tmi_json_size(follows) != tmi_json_size(says)) {
        note(c, path, "has another length than what follows from the rest");
        return;
    }
    for (size_t i = 0; i < tmi_json_size(follows); i++) {
        snprintf(inner, sizeof inner, "%.40s[%zu]", path, i);
        compare(c, tmi_json_at(follows, i), tmi_json_at(says, i), inner, may_miss);
    }
}

static void compare_leaves(comparison *c, const tmi_json *follows, const tmi_json *says, const char *path)
{
    tmi_text right, wrong;
    tmi_text_init(&right);
    tmi_text_init(&wrong);
    if (c->status == TAMIS_OK) c->status = tmi_json_canonical(&right, follows, c->err);
    if (c->status == TAMIS_OK) c->status = tmi_json_canonical(&wrong, says, c->err);
    if (c->status == TAMIS_OK && strcmp(right.bytes, wrong.bytes) != 0) {
        char message[200];
        bool hash = strcmp(path, "hash") == 0;
        snprintf(message, sizeof message, "says %.80s, but %.80s follows from the rest", wrong.bytes, right.bytes);
        note(c, path, hash ? "is not the hash of the rest: the certificate was changed" : message);
    }
    tmi_text_clear(&right);
    tmi_text_clear(&wrong);
}

static void compare(comparison *c, const tmi_json *follows, const tmi_json *says, const char *path, bool may_miss)
{
    tmi_json_kind kind = tmi_json_kind_of(follows);
    if (c->status != TAMIS_OK || c->faults->count >= MOST_PROBLEMS) return;
    if (kind == TMI_JSON_OBJECT && tmi_json_kind_of(says) == kind) compare_objects(c, follows, says, path, may_miss);
    else if (kind == TMI_JSON_LIST && tmi_json_kind_of(says) == kind) compare_lists(c, follows, says, path, may_miss);
    else compare_leaves(c, follows, says, path);
}

/* What cannot be computed from what the file says is a problem of the file; what has failed here is not. */
static tamis_status noted(comparison *c, const char *path, tamis_status status, const tamis_error *reason, tamis_error *err)
{
    if (status == TAMIS_SYSTEM) return tmi_fail(err, status, "%s", reason->message);
    if (status != TAMIS_OK) note(c, path, reason->message);
    return TAMIS_OK;
}

/* ---- the inputs, as the file says them ---- */

/* A number that the file gives as text; NULL where there is none. */
static tamis_status read_exact(tamis_number **number, const tmi_json *object, const char *key, tamis_error *err)
{
    tamis_error reason;
    *number = NULL;
    if (!field(object, key, TMI_JSON_STRING)) return TAMIS_OK;
    tamis_status status = tamis_number_read(number, text_of(object, key), &reason);
    return status == TAMIS_SYSTEM ? tmi_fail_memory(err) : TAMIS_OK;
}

static void parts_clear(tmi_parts *parts)
{
    for (size_t i = 0; parts->list && i < parts->count; i++) tamis_number_free(parts->list[i]);
    tmi_free(parts->list);
    *parts = (tmi_parts){0};
}

/* The parts of the budget; *known is false if the file does not say all of them. */
static tamis_status read_parts(tmi_parts *parts, bool *known, const tmi_json *document, tamis_error *err)
{
    const tmi_json *list = field(document, "measurements", TMI_JSON_LIST);
    tamis_status status = TAMIS_OK;
    *parts = (tmi_parts){0};
    *known = list != NULL;
    if (!list) return TAMIS_OK;
    parts->count = tmi_json_size(list);
    parts->list = tmi_alloc(parts->count, sizeof *parts->list);
    if (!parts->list) TMI_TRY(tmi_fail_memory(err));
    parts->rho = parts->count > 0 && field(tmi_json_at(list, 0), "rho", TMI_JSON_STRING);
    for (size_t i = 0; i < parts->count; i++) {
        TMI_TRY(read_exact(&parts->list[i], tmi_json_at(list, i), parts->rho ? "rho" : "epsilon", err));
        if (!parts->list[i]) *known = false;
    }

done:
    return status;
}

static tamis_status read_sums(tmi_sums *sums, const tmi_json *object, bool in_rho, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(read_exact(&sums->eps, object, "epsilon", err));
    TMI_TRY(read_exact(&sums->delta, object, "delta", err));
    TMI_TRY(read_exact(&sums->rho, object, "rho", err));
    sums->concentrated = in_rho || (sums->rho && tmi_number_sign(sums->rho) > 0);

done:
    return status;
}

static bool is_whole(const tmi_sums *s)
{
    return s->eps && s->delta && s->rho && tmi_number_sign(s->eps) >= 0 && tmi_number_sign(s->delta) >= 0 && tmi_number_sign(s->rho) >= 0;
}

static bool equal_sums(const tmi_sums *x, const tmi_sums *y)
{
    return tmi_number_compare(x->eps, y->eps) == 0 && tmi_number_compare(x->delta, y->delta) == 0 && tmi_number_compare(x->rho, y->rho) == 0;
}

static bool covers(const tmi_sums *x, const tmi_sums *y)
{
    return tmi_number_compare(x->eps, y->eps) >= 0 && tmi_number_compare(x->delta, y->delta) >= 0 && tmi_number_compare(x->rho, y->rho) >= 0;
}

/* What was charged before and with this release must add up and stay within the budget. */
static tamis_status check_account(tmi_certificate *certificate, comparison *c, tamis_error *err)
{
    const tmi_schedule *s = &certificate->schedule;
    const tmi_plan_loss *b = &s->plan->budget;
    const tamis_coin budget_said = {b->epsilon, b->delta, b->rho}, amount_said = {s->gaussian ? NULL : s->spent, NULL, s->gaussian ? s->spent : NULL};
    tmi_certified *a = &certificate->account;
    tmi_coin budget = {0}, amount = {0};
    tmi_sums sum = {0};
    tamis_error reason = {0};
    bool fit;
    tamis_status status;
    TMI_TRY(tmi_coin_make(&budget, &budget_said, "budget", err));
    TMI_TRY(tmi_coin_make(&amount, &amount_said, "amount", err));
    status = tmi_sums_add(&sum, &a->before, &budget, &amount, &reason);
    if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
    if (status != TAMIS_OK) note(c, "account", "this release cannot be charged to it");
    else if (!a->repeated && !equal_sums(&sum, &a->after)) note(c, "account.after", "is not what was charged before and this release");
    else if (a->repeated && !covers(&a->after, &sum)) note(c, "account.after", "is less than what was charged before and this release");
    const tmi_sums *none = &a->before;
    if (a->entry == TMI_FIRST_CHARGE && (tmi_number_sign(none->eps) > 0 || tmi_number_sign(none->delta) > 0 || tmi_number_sign(none->rho) > 0))
        note(c, "account.before", "is not 0, but entry 2 is the first charge of a ledger");
    TMI_TRY(tmi_sums_fit(&fit, &a->after, &budget, err));
    if (!fit) note(c, "account.after", "is beyond the budget");

done:
    tmi_coin_clear(&budget);
    tmi_coin_clear(&amount);
    tmi_sums_clear(&sum);
    return status;
}

static tamis_status read_account(tmi_certificate *certificate, const tmi_json *document, comparison *c, tamis_error *err)
{
    tmi_certified *a = &certificate->account;
    const tmi_json *ledger = field(document, "ledger", TMI_JSON_OBJECT), *account = field(document, "account", TMI_JSON_OBJECT);
    const tmi_json *entry = field(ledger, "entry", TMI_JSON_INTEGER), *repeated = field(ledger, "repeated", TMI_JSON_BOOLEAN);
    const bool in_rho = certificate->schedule.plan->budget.rho != NULL;
    tamis_error reason = {0};
    tamis_status status;
    TMI_TRY(read_sums(&a->before, field(account, "before", TMI_JSON_OBJECT), in_rho, err));
    TMI_TRY(read_sums(&a->after, field(account, "after", TMI_JSON_OBJECT), in_rho, err));
    a->entry = entry ? tmi_json_integer(entry) : 0;
    a->repeated = repeated && tmi_json_is_true(repeated);
    snprintf(a->hash, sizeof a->hash, "%s", text_of(ledger, "hash"));
    snprintf(a->time, sizeof a->time, "%s", text_of(ledger, "time"));
    const char *why = text_of(account, "new_account");
    if (*why && !(a->new_account = tmi_copy_text(why, strlen(why)))) TMI_TRY(tmi_fail_memory(err));
    a->charged = is_whole(&a->before) && is_whole(&a->after) && entry;
    if (a->charged) TMI_TRY(noted(c, "account", check_account(certificate, c, &reason), &reason, err));
    else if (certificate->schedule.measurement_count > 0) note(c, "account", "the charge of this release is not told");

done:
    return status;
}

/* What the frame says; empty if there is none. */
static tamis_status read_frame(tmi_frame_facts *frame, const tmi_json *document, comparison *c, tamis_error *err)
{
    const tmi_json *json = tmi_json_get(document, "frame"), *strata = field(json, "strata", TMI_JSON_LIST);
    tamis_error reason = {0};
    if (!json) return TAMIS_OK;
    return noted(c, "frame", tmi_frame_facts_read(frame, json, strata ? tmi_json_size(strata) : 0, &reason), &reason, err);
}

/* The plan, and what follows from it. A text that is no plan is a problem found. */
static tamis_status begin(tmi_certificate *certificate, const tmi_json *document, comparison *c, tamis_error *err)
{
    const tmi_json *plan = field(document, "plan", TMI_JSON_OBJECT);
    tmi_parts parts = {0};
    tmi_frame_facts frame = {0};
    tamis_error reason = {0};
    tmi_text text;
    bool known;
    tamis_status status = TAMIS_OK;
    tmi_text_init(&text);
    if (!plan) {
        note(c, "plan", "is missing: without it nothing follows");
        goto done;
    }
    TMI_TRY(tmi_json_canonical(&text, plan, err));
    TMI_TRY(read_parts(&parts, &known, document, err));
    if (!known) note(c, "measurements", "the parts of the budget are missing");
    TMI_TRY(read_frame(&frame, document, c, err));
    const tmi_parts said = {.rho = parts.rho, .list = known ? parts.list : NULL, .count = parts.count,
                            .frame = frame.count > 0 ? &frame : NULL};
    status = tmi_certificate_begin(certificate, text.bytes, "plan", &said, &reason);
    if (status != TAMIS_OK) tmi_certificate_clear(certificate);
    status = noted(c, "plan", status, &reason, err);

done:
    tmi_frame_facts_clear(&frame);
    parts_clear(&parts);
    tmi_text_clear(&text);
    return status;
}

/* ---- measurements.json ---- */

static const char match[] = "match", differ[] = "differ", not_there[] = "not there";

static tamis_status check_measurements(const char **found, const char *path, const char *hash, comparison *c, tamis_error *err)
{
    static const char name[] = "measurements.json";
    const char *slash = strrchr(path, '/');
    char *beside = NULL, *bytes = NULL, real[TMI_SHA256_TEXT];
    size_t length;
    tmi_text t;
    tamis_status status;
    *found = not_there;
    tmi_text_init(&t);
    if (slash) tmi_text_add(&t, path, (size_t)(slash - path) + 1);
    tmi_text_put(&t, name);
    TMI_TRY(tmi_text_take(&beside, &t, err));
    if (access(beside, F_OK) != 0) goto done;
    TMI_TRY(tmi_read_certificate(&bytes, &length, beside, err));
    tmi_sha256_text(real, bytes, length);
    *found = strcmp(real, hash) == 0 ? match : differ;
    if (*found == differ) note(c, "files.measurements.json", "measurements.json beside the certificate is another file");

done:
    tmi_free(bytes);
    tmi_free(beside);
    return status;
}

/* ---- what is told ---- */

static void put_json(tmi_text *text, const tmi_faults *faults, const char *measurements, const tmi_json *follows)
{
    tmi_json_out out;
    tmi_json_out_init(&out, text, true);
    tmi_json_open(&out, '{');
    tmi_json_key(&out, "ok");
    tmi_json_put_boolean(&out, faults->count == 0);
    tmi_json_key(&out, "problems");
    tmi_faults_put(&out, faults);
    tmi_json_key(&out, "measurements");
    tmi_json_put_string(&out, measurements);
    tmi_json_key(&out, "guarantee");
    tmi_text guarantee;
    tmi_text_init(&guarantee);
    if (!follows) tmi_json_put_null(&out);
    else if (tmi_json_canonical(&guarantee, tmi_json_get(follows, "guarantee"), NULL) == TAMIS_OK) tmi_json_put_number(&out, guarantee.bytes);
    else text->failed = true;
    tmi_text_clear(&guarantee);
    tmi_json_close(&out, '}');
    tmi_text_put(text, "\n");
}

static void put_words(tmi_text *text, const tmi_faults *faults, const char *measurements, const tmi_certificate *certificate)
{
    if (faults->count > 0) {
        tmi_faults_write(text, faults);
        return;
    }
    tmi_text_put(text, "no problem found: the guarantee follows from the rest of the certificate\n");
    tmi_text_format(text, "%s\n\n", measurements == match ? "measurements.json is the file that it names"
                                                          : "measurements.json is not beside it, and was not compared");
    tmi_write_heading(text, certificate->schedule.plan, "protected release");
    tmi_write_promise(text, &certificate->schedule, true);
}

static tamis_status check(tmi_certificate *certificate, tmi_json **follows, const tmi_json *document, const char *path,
                          comparison *c, const char **measurements, tamis_error *err)
{
    char *text = NULL;
    tamis_error reason = {0};
    tamis_status status;
    *follows = NULL;
    *measurements = not_there;
    TMI_TRY(begin(certificate, document, c, err));
    if (!certificate->schedule.plan) goto done;
    TMI_TRY(read_account(certificate, document, c, err));
    const tmi_json *files = field(document, "files", TMI_JSON_OBJECT);
    snprintf(certificate->measurements, sizeof certificate->measurements, "%s", text_of(files, "measurements.json"));
    TMI_TRY(check_measurements(measurements, path, certificate->measurements, c, err));
    tmi_free(certificate->version);
    certificate->version = tmi_copy_text(text_of(document, "version"), strlen(text_of(document, "version")));
    if (!certificate->version) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(noted(c, "account", tmi_certificate_write(&text, certificate, &reason), &reason, err));
    if (!text) goto done;
    TMI_TRY(tmi_json_read(follows, text, strlen(text), err));
    compare(c, *follows, document, "", false);
    status = c->status;

done:
    tmi_free(text);
    return status;
}

tamis_status tamis_verify(int *ok, char **text, const char *path, int json, tamis_error *err)
{
    tmi_faults faults = {0};
    comparison c = {.faults = &faults, .err = err};
    tmi_certificate certificate = {0};
    tmi_json *document = NULL, *follows = NULL;
    char *bytes = NULL;
    const char *measurements;
    size_t length;
    tamis_error reason = {0};
    tamis_status status;
    tmi_text t;
    if (!ok || !text) return tmi_fail(err, TAMIS_INVALID, "%s: expected a place for the result, got NULL", ok ? "text" : "ok");
    *ok = 0;
    *text = NULL;
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: expected the path of a certificate, got NULL");
    tmi_text_init(&t);
    TMI_TRY(tmi_read_certificate(&bytes, &length, path, err));
    status = tmi_json_read(&document, bytes, length, &reason);
    if (status != TAMIS_OK) TMI_TRY(tmi_fail(err, status, "%s: %s", path, reason.message));
    if (tmi_json_kind_of(document) != TMI_JSON_OBJECT) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "%s: not a certificate", path));
    TMI_TRY(check(&certificate, &follows, document, path, &c, &measurements, err));
    TMI_TRY(c.status);
    if (json) put_json(&t, &faults, measurements, follows);
    else put_words(&t, &faults, measurements, &certificate);
    TMI_TRY(tmi_text_take(text, &t, err));
    *ok = faults.count == 0;

done:
    tmi_text_clear(&t);
    tmi_json_free(follows);
    tmi_json_free(document);
    tmi_free(bytes);
    tmi_certificate_clear(&certificate);
    tmi_faults_clear(&faults);
    return status;
}
