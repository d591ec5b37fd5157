/* The inputs of a certificate, as it says them: the plan, the parts of the budget, the frame, the account, the hashes of the
 * other files and the signer. Each is checked as far as it follows from the others.                                         */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "release/standing.h"
#include "release/verify/verification.h"

/* A number that the file gives as text; NULL where there is none. */
static tamis_status read_exact(tamis_number **number, const tmi_json *object, const char *key, tamis_error *err)
{
    tamis_error reason;
    *number = NULL;
    if (!tmi_field(object, key, TMI_JSON_STRING)) return TAMIS_OK;
    tamis_status status = tamis_number_read(number, tmi_field_text(object, key), &reason);
    return status == TAMIS_SYSTEM ? tmi_fail_memory(err) : TAMIS_OK;
}

static void parts_clear(tmi_budget_parts *parts)
{
    for (size_t i = 0; parts->list && i < parts->count; i++) tamis_number_free(parts->list[i]);
    tmi_free(parts->list);
    *parts = (tmi_budget_parts){0};
}

/* The parts of the budget; *known is false if the file does not say all of them. */
static tamis_status read_parts(tmi_budget_parts *parts, bool *known, const tmi_json *document, tamis_error *err)
{
    const tmi_json *list = tmi_field(document, "measurements", TMI_JSON_LIST);
    tamis_status status = TAMIS_OK;
    *parts = (tmi_budget_parts){0};
    *known = list != NULL;
    if (!list) return TAMIS_OK;
    parts->count = tmi_json_size(list);
    parts->list = tmi_alloc(parts->count, sizeof *parts->list);
    if (!parts->list) TMI_TRY(tmi_fail_memory(err));
    parts->rho = parts->count > 0 && tmi_field(tmi_json_at(list, 0), "rho", TMI_JSON_STRING);
    for (size_t i = 0; i < parts->count; i++) {
        TMI_TRY(read_exact(&parts->list[i], tmi_json_at(list, i), parts->rho ? "rho" : "epsilon", err));
        if (!parts->list[i]) *known = false;
    }

done:
    return status;
}

/* What was charged before and with this release must add up and stay within the budget. */
static tamis_status check_account(const tmi_certificate *certificate, tmi_checking *c, tamis_error *err)
{
    const tmi_schedule *s = certificate->schedule;
    const tamis_coin said = {s->gaussian ? NULL : s->spent, NULL, s->gaussian ? s->spent : NULL};
    const tmi_certified *a = &certificate->account;
    tmi_ledger_coin amount = {0};
    tamis_status status;
    TMI_TRY(tmi_coin_make(&amount, &said, "amount", err));
    TMI_TRY(tmi_standing_check(&a->standing, s->plan, &amount, a->entry, a->repeated || a->claim > 0, c, err));

done:
    tmi_coin_clear(&amount);
    return status;
}

/* What an entry of a ledger is like. The first charge of a book comes after the entry that opens its account; where a later one
 * is the first that counts, the charges before it were voided, each by an entry of its own. */
static void check_entry(const tmi_certified *a, tmi_checking *c)
{
    if (!tmi_is_sha256_text(a->hash)) tmi_check_note(c, "ledger.hash", "expected the SHA-256 of an entry, 64 hexadecimal digits");
    if (!tmi_is_time(a->time)) tmi_check_note(c, "ledger.time", "expected a time in UTC, such as 2026-11-16T10:00:01Z");
    if (a->claim != 0 && a->claim <= a->entry)
        tmi_check_note(c, "ledger.claim", "a claim comes after the charge that it takes over");
    if (a->entry < TMI_FIRST_CHARGE) tmi_check_note(c, "ledger.entry", "a charge comes after the entry that opens its account");
    else if (a->created && !tmi_losses_zero(&a->standing.before))
        tmi_check_note(c, "account.before", "is not 0, but this is the first charge of a ledger");
    const bool later = a->repeated || a->claim != 0; /* what came before it may have been voided since */
    if (later && a->clock_behind) tmi_check_note(c, "ledger.clock_behind", "the certificate was written later than the entry");
    if (a->entry == TMI_FIRST_CHARGE ? !a->created : a->created && !later && a->entry < TMI_FIRST_CHARGE + 2)
        tmi_check_note(c, "ledger.created",
                       a->created ? "there is a charge before this one" : "entry 2 is the first charge of a ledger");
}

static tamis_status read_account(tmi_certificate *certificate, const tmi_json *document, tmi_checking *c, tamis_error *err)
{
    tmi_certified *a = &certificate->account;
    const tmi_json *ledger = tmi_field(document, "ledger", TMI_JSON_OBJECT);
    const tmi_json *account = tmi_field(document, "account", TMI_JSON_OBJECT);
    const tmi_json *entry = tmi_field(ledger, "entry", TMI_JSON_INTEGER);
    const tmi_json *repeated = tmi_field(ledger, "repeated", TMI_JSON_BOOLEAN);
    const tmi_json *created = tmi_field(ledger, "created", TMI_JSON_BOOLEAN);
    const tmi_json *claim = tmi_field(ledger, "claim", TMI_JSON_INTEGER);
    const tmi_json *behind = tmi_field(ledger, "clock_behind", TMI_JSON_BOOLEAN);
    tamis_error reason = {0};
    bool whole;
    tamis_status status;
    TMI_TRY(tmi_standing_read(&a->standing, &whole, account, err));
    a->entry = entry ? tmi_json_integer(entry) : 0;
    a->repeated = repeated && tmi_json_is_true(repeated);
    a->created = created && tmi_json_is_true(created);
    a->claim = claim ? tmi_json_integer(claim) : 0;
    a->clock_behind = behind && tmi_json_is_true(behind);
    snprintf(a->hash, sizeof a->hash, "%s", tmi_field_text(ledger, "hash"));
    snprintf(a->time, sizeof a->time, "%s", tmi_field_text(ledger, "time"));
    const char *why = tmi_field_text(account, "new_account");
    if (*why && !(a->new_account = tmi_copy_text(why, strlen(why)))) TMI_TRY(tmi_fail_memory(err));
    a->charged = whole && entry;
    if (a->charged) check_entry(a, c);
    if (a->charged && certificate->schedule->measurement_count == 0)
        tmi_check_note(c, "account", "nothing was measured, so nothing is charged");
    else if (a->charged) TMI_TRY(tmi_check_noted(c, "account", check_account(certificate, c, &reason), &reason, err));
    else if (certificate->schedule->measurement_count > 0)
        tmi_check_note(c, "account", "the certificate does not state this release's charge");

done:
    return status;
}

/* What the frame says; empty if there is none. */
static tamis_status read_frame(tmi_frame_facts *frame, const tmi_json *document, tmi_checking *c, tamis_error *err)
{
    const tmi_json *json = tmi_json_get(document, "frame"), *strata = tmi_field(json, "strata", TMI_JSON_LIST);
    tamis_error reason = {0};
    if (!json) return TAMIS_OK;
    tamis_status status = tmi_frame_facts_read(frame, json, strata ? tmi_json_size(strata) : 0, &reason);
    return tmi_check_noted(c, "frame", status, &reason, err);
}

/* The schedule, from the text of its plan; empty on failure. */
static tamis_status make_again(tmi_verification *v, const char *plan_text, const tmi_budget_parts *parts, tamis_error *err)
{
    tamis_plan *plan = NULL;
    tamis_status status;
    TMI_TRY(tmi_certificate_plan(&plan, plan_text, "plan", err));
    TMI_TRY(tmi_schedule_make(&v->schedule, plan, parts, err));
    TMI_TRY(tmi_certificate_of(&v->certificate, &v->schedule, err));

done:
    tamis_plan_free(plan);
    if (status == TAMIS_OK) return TAMIS_OK;
    tmi_certificate_clear(&v->certificate);
    tmi_schedule_clear(&v->schedule);
    return status;
}

/* The plan, and what follows from it. A text that is no plan is a problem found. */
static tamis_status begin(tmi_verification *v, tamis_error *err)
{
    const tmi_json *document = v->document;
    tmi_checking *c = &v->check;
    const tmi_json *plan = tmi_field(document, "plan", TMI_JSON_OBJECT);
    tmi_budget_parts parts = {0};
    tmi_frame_facts frame = {0};
    tamis_error reason = {0};
    tmi_text text;
    bool known;
    tamis_status status = TAMIS_OK;
    tmi_text_init(&text);
    if (!plan) {
        tmi_check_note(c, "plan", "is missing, and the rest follows from it");
        goto done;
    }
    TMI_TRY(tmi_json_canonical(&text, plan, err));
    TMI_TRY(read_parts(&parts, &known, document, err));
    if (!known) tmi_check_note(c, "measurements", "the split of the budget is missing");
    TMI_TRY(read_frame(&frame, document, c, err));
    const tmi_budget_parts said = {.rho = parts.rho,
                                   .list = known ? parts.list : NULL,
                                   .count = parts.count,
                                   .frame = frame.count > 0 ? &frame : NULL};
    status = make_again(v, text.bytes, &said, &reason);
    status = tmi_check_noted(c, "plan", status, &reason, err);

done:
    tmi_frame_facts_clear(&frame);
    parts_clear(&parts);
    tmi_text_clear(&text);
    return status;
}

/* ---- the other files, and the signer ---- */

static void take_hash(char hash[TMI_SHA256_TEXT], const char *text, const char *field, tmi_checking *c)
{
    snprintf(hash, TMI_SHA256_TEXT, "%s", text);
    if (!tmi_is_sha256_text(text)) tmi_check_note(c, field, "expected a SHA-256, 64 hexadecimal digits");
}

static void read_files(tmi_certificate *certificate, const tmi_json *document, tmi_checking *c)
{
    const tmi_json *files = tmi_field(document, "files", TMI_JSON_OBJECT);
    for (size_t i = 0; i < TMI_FILES; i++) {
        char name[TMI_FAULT_FIELD];
        snprintf(name, sizeof name, "files.%s", tmi_files[i].name);
        take_hash(certificate->files[i], tmi_field_text(files, tmi_files[i].name), name, c);
    }
    if (tmi_field(document, "signed_by", TMI_JSON_STRING))
        take_hash(certificate->signed_by, tmi_field_text(document, "signed_by"), "signed_by", c);
}

/* What one frame can say of itself. */
static tamis_status check_frame(const tmi_schedule *s, tmi_checking *c, tamis_error *err)
{
    tamis_error reason = {0};
    if (!tmi_frame_of(s)) return TAMIS_OK;
    return tmi_check_noted(c, "frame", tmi_frame_facts_fit(tmi_frame_of(s), &s->plan->design, &reason), &reason, err);
}

tamis_status tmi_verify_inputs(tmi_verification *v, tamis_error *err)
{
    tmi_certificate *certificate = &v->certificate;
    const char *version = tmi_field_text(v->document, "version");
    tamis_status status;
    TMI_TRY(begin(v, err));
    if (!v->schedule.plan) { /* the files can still be compared */
        read_files(certificate, v->document, &v->check);
        status = v->check.status;
        goto done;
    }
    TMI_TRY(check_frame(&v->schedule, &v->check, err));
    TMI_TRY(read_account(certificate, v->document, &v->check, err));
    read_files(certificate, v->document, &v->check);
    tmi_free(certificate->version);
    certificate->version = tmi_copy_text(version, strlen(version));
    if (!certificate->version) TMI_TRY(tmi_fail_memory(err));
    status = v->check.status;

done:
    return status;
}
