#include "ledger/against.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "num/number.h"

/* One certificate, and the charge that it names. */
typedef struct claim {
    const char *path;
    const tmi_value *document;
    tmi_faults *faults;
    int64_t number;
    const char *hash;
    bool found, same;
    char *entry;   /* its text */
    tmi_span when; /* at which the certificate may have been written */
    tamis_error *err;
    tamis_status status; /* of the first note that could not be made */
} claim;

static const tmi_value *object_of(const claim *c, const char *key) { return tmi_value_field(c->document, key, TMI_VALUE_MAP); }

static void note(claim *c, const char *what, const char *message)
{
    const size_t length = strlen(c->path);
    char place[TMI_FAULT_FIELD];
    snprintf(place, sizeof place, "%.60s: %.60s", length > 60 ? c->path + length - 60 : c->path, what);
    if (c->status == TAMIS_OK) c->status = tmi_fault_note(c->faults, c->err, place, "entry %" PRId64 " %s", c->number, message);
}

/* ---- the chain ---- */

/* The certificate of a tally (docs/certificate.md) says less about its charge than that of a release. */
static bool is_tally(const claim *c) { return strcmp(tmi_value_field_text(c->document, "kind"), "tally") == 0; }

/* False if the certificate names no entry. */
static bool take_claim(claim *c)
{
    const tmi_value *ledger = object_of(c, is_tally(c) ? "account" : "ledger"),
                    *entry = tmi_value_field(ledger, "entry", TMI_VALUE_INTEGER);
    if (!entry || !tmi_is_sha256_text(tmi_value_field_text(ledger, "hash"))) return false;
    c->number = tmi_value_integer(entry);
    c->hash = tmi_value_field_text(ledger, "hash");
    return true;
}

static tamis_status look_for(void *context, int64_t number, const char *entry, const char *hash, tamis_error *err)
{
    claim *c = context;
    if (number != c->number || c->found) return TAMIS_OK;
    c->found = true;
    c->same = hash && strcmp(hash, c->hash) == 0;
    return tmi_copy_string(&c->entry, entry, err);
}

/* ---- the account ---- */

/* The sums that a certificate may say of its charge: `before` it, and `after` a moment of the book, as charges counted at that
 * moment. */
typedef struct sums_said {
    const tmi_value *account;       /* as the certificate states it */
    bool right_before, right_after; /* met at one moment, together if both are */
} sums_said;

static tamis_status compare_at(sums_said *said, const tmi_losses *before, const tmi_losses *after, tamis_error *err)
{
    bool first, second;
    tamis_status status;
    if (said->right_before && said->right_after) return TAMIS_OK;
    TMI_TRY(tmi_losses_says(&first, before, said->account, "before", err));
    TMI_TRY(tmi_losses_says(&second, after, said->account, "after", err));
    if ((first && second) || (!said->right_before && !said->right_after)) {
        said->right_before = first;
        said->right_after = second;
    }
done:
    return status;
}

/* From the moment `from` to just before the moment `to`, between which nothing is voided in the account: one after the other. */
static tamis_status compare_from(sums_said *said, const tmi_book *book, const tmi_ledger_charge *charge, int64_t from, int64_t to,
                                 tamis_error *err)
{
    const tmi_ledger_account *account = &book->accounts[charge->account];
    tmi_losses before = {0}, losses = {0};
    tamis_status status;
    bool begun = false;
    TMI_TRY(tmi_losses_begin(&before, &account->budget, err));
    TMI_TRY(tmi_losses_begin(&losses, &account->budget, err));
    for (size_t i = 0; i < book->charge_count && book->charges[i].number < to; i++) {
        const tmi_ledger_charge *next = &book->charges[i];
        if (next->account != charge->account) continue;
        if (next->number > from && !begun) TMI_TRY(compare_at(said, &before, &losses, err));
        begun = begun || next->number > from;
        if (next->number < charge->number) TMI_TRY(tmi_count_charge(&before, account, next, from, err));
        TMI_TRY(tmi_count_charge(&losses, account, next, from, err));
        if (begun) TMI_TRY(compare_at(said, &before, &losses, err));
    }
    if (!begun) TMI_TRY(compare_at(said, &before, &losses, err));
done:
    tmi_losses_clear(&before);
    tmi_losses_clear(&losses);
    return status;
}

/* The next entry after a moment that voids a charge of the account. */
static int64_t next_void(const tmi_book *book, size_t account, int64_t after)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < book->charge_count; i++) {
        const tmi_ledger_charge *c = &book->charges[i];
        if (c->account == account && c->voided > after && c->voided < next) next = c->voided;
    }
    return next;
}

static tamis_status check_sums(claim *c, const tmi_book *book, const tmi_ledger_charge *charge, tamis_error *err)
{
    sums_said said = {.account = object_of(c, "account")};
    tamis_status status = TAMIS_OK;
    for (int64_t from = c->when.from, to; from < c->when.to; from = to) {
        to = next_void(book, charge->account, from);
        if (to > c->when.to) to = c->when.to;
        TMI_TRY(compare_from(&said, book, charge, from, to, err));
    }
    if (!said.right_before) note(c, "account.before", "comes after charges other than those in the certificate");
    if (!said.right_after) note(c, "account.after", "leaves the account with sums other than those in the certificate");

done:
    return status;
}

/* Whether it is new, its budget of the day, how that was raised, and the waves; c->when becomes the moments at which they were
 * so, if there are any. */
static tamis_status check_terms(claim *c, const tmi_book *book, const tmi_ledger_charge *charge, tamis_error *err)
{
    const tmi_ledger_account *account = &book->accounts[charge->account];
    const tmi_value *wave = tmi_value_get(object_of(c, "plan"), "wave");
    const tmi_ledger_terms terms = {book, charge, object_of(c, "ledger"),
                                    tmi_value_field(object_of(c, "plan"), "budget", TMI_VALUE_MAP)};
    tmi_span when = c->when;
    const char *wrong = NULL;
    tmi_wave said = {0};
    tamis_error reason = {0};
    tamis_status status = tmi_wave_read(&said, wave, &reason);
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    if (status != TAMIS_OK || !tmi_wave_equal(&said, &account->waves[charge->wave].wave))
        note(c, "plan.wave", "is a charge to another wave");
    TMI_TRY(tmi_ledger_terms_differ(&wrong, &when, &terms, object_of(c, "account"), err));
    if (wrong) note(c, wrong, "belongs to an account that differs in the ledger");
    else c->when = when;

done:
    tmi_wave_clear(&said);
    return status;
}

/* ---- what was measured ---- */

/* The values that an object has for the keys of `model`, as one text. */
static tamis_status fields_text(char **text, const tmi_value *object, const tmi_value *model, tamis_error *err)
{
    const bool is_object = tmi_value_kind_of(object) == TMI_VALUE_MAP;
    tamis_status status = TAMIS_OK;
    tmi_text t;
    tmi_text_init(&t);
    for (const char *key = tmi_value_next_key(model, NULL); key; key = tmi_value_next_key(model, key)) {
        const tmi_value *value = is_object ? tmi_value_get(object, key) : NULL;
        tmi_text_format(&t, "%s:", key);
        if (value) TMI_TRY(tmi_json_canonical(&t, value, err));
        tmi_text_put(&t, "\n");
    }
    status = tmi_text_take(text, &t, err);

done:
    tmi_text_clear(&t);
    return status;
}

static void texts_free(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) tmi_free(texts[i]);
    tmi_free(texts);
}

static tamis_status sorted_texts(char ***texts, const tmi_value *list, const tmi_value *model, tamis_error *err)
{
    const size_t count = tmi_value_size(list);
    tamis_status status = TAMIS_OK;
    *texts = tmi_alloc(count, sizeof **texts);
    if (!*texts) return tmi_fail_memory(err);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++)
        status = fields_text(&(*texts)[i], tmi_value_at(list, i), model, err);
    if (status == TAMIS_OK) qsort(*texts, count, sizeof **texts, tmi_compare_strings);
    return status;
}

/* Two lists of measurements or choices, in any order: those of the certificate have a few fields more. */
static tamis_status same_lists(bool *same, const tmi_value *charged, const tmi_value *says, tamis_error *err)
{
    const size_t count = charged ? tmi_value_size(charged) : 0;
    char **ours = NULL, **theirs = NULL;
    tamis_status status = TAMIS_OK;
    *same = false;
    if (count == 0 || !says || tmi_value_size(says) != count) return TAMIS_OK;
    const tmi_value *model = tmi_value_at(charged, 0);
    if (tmi_value_kind_of(model) != TMI_VALUE_MAP) return TAMIS_OK;
    TMI_TRY(sorted_texts(&ours, charged, model, err));
    TMI_TRY(sorted_texts(&theirs, says, model, err));
    *same = true;
    for (size_t i = 0; *same && i < count; i++) *same = strcmp(ours[i], theirs[i]) == 0;

done:
    texts_free(ours, count);
    texts_free(theirs, count);
    return status;
}

static bool same_regularise(const tmi_value *charged, const tmi_value *says)
{
    return charged && says && strcmp(tmi_value_field_text(charged, "regularise"), tmi_value_field_text(says, "regularise")) == 0;
}

/* What the entry says under "measures": a list of measurements, or an object that has one. */
static tamis_status check_measures(claim *c, tamis_error *err)
{
    tmi_value *entry = NULL, *measures = NULL;
    bool same = false;
    tamis_status status = tmi_json_read(&entry, c->entry, strlen(c->entry), NULL);
    const char *text = status == TAMIS_OK ? tmi_value_field_text(entry, "measures") : "";
    if (status == TAMIS_OK) status = tmi_json_read(&measures, text, strlen(text), NULL);
    if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
    if (!tmi_clock_says(entry, object_of(c, "ledger")))
        note(c, "ledger.clock_behind", "differs from the certificate about the computer's clock");
    const bool list = measures && tmi_value_kind_of(measures) == TMI_VALUE_LIST;
    TMI_TRY(same_lists(&same, list ? measures : tmi_value_field(measures, "measurements", TMI_VALUE_LIST),
                       tmi_value_field(c->document, "measurements", TMI_VALUE_LIST), err));
    if (!list)
        same = same && same_regularise(tmi_value_field(measures, "design", TMI_VALUE_MAP),
                                       tmi_value_field(object_of(c, "plan"), "design", TMI_VALUE_MAP));
    const tmi_value *charged = list ? NULL : tmi_value_get(measures, "choices"), *says = tmi_value_get(c->document, "choices");
    if (same && (charged || says)) TMI_TRY(same_lists(&same, charged, says, err));
    if (!same) note(c, "measurements", "measures something other than what the certificate says");

done:
    tmi_value_free(entry);
    tmi_value_free(measures);
    return status;
}

/* ---- whose account ---- */

/* Whether two objects have the same fields with the same values, ignoring on both sides the fields that are not to be
 * compared. */
static bool same_fields(const tmi_value *x, const char *const *not_of_x, const tmi_value *y, const char *const *not_of_y)
{
    if (!x || !y) return false;
    for (const char *key = tmi_value_next_key(x, NULL); key; key = tmi_value_next_key(x, key)) {
        const tmi_value *other = tmi_value_get(y, key);
        if (!tmi_is_one_of(key, not_of_x) && (!other || !tmi_value_equal(tmi_value_get(x, key), other))) return false;
    }
    for (const char *key = tmi_value_next_key(y, NULL); key; key = tmi_value_next_key(y, key))
        if (!tmi_is_one_of(key, not_of_y) && !tmi_value_get(x, key)) return false;
    return true;
}

/* Every list of probabilities in a design, one per line. */
static tamis_status put_probabilities(tmi_text *lines, const tmi_value *value, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (tmi_value_kind_of(value) == TMI_VALUE_LIST)
        for (size_t i = 0; i < tmi_value_size(value); i++) TMI_TRY(put_probabilities(lines, tmi_value_at(value, i), err));
    if (tmi_value_kind_of(value) != TMI_VALUE_MAP) goto done;
    for (const char *key = tmi_value_next_key(value, NULL); key; key = tmi_value_next_key(value, key)) {
        const tmi_value *inner = tmi_value_get(value, key);
        if (strcmp(key, "probabilities") != 0) {
            TMI_TRY(put_probabilities(lines, inner, err));
            continue;
        }
        TMI_TRY(tmi_json_canonical(lines, inner, err));
        tmi_text_put(lines, "\n");
    }

done:
    return status;
}

/* Amplification follows from the largest probability of each stratum of the frame, and on whether some units are certain: the
 * account has frozen them. */
static tamis_status check_frame(claim *c, const tmi_value *outsider, tamis_error *err)
{
    const tmi_value *strata = tmi_value_field(object_of(c, "frame"), "strata", TMI_VALUE_LIST);
    tamis_status status = TAMIS_OK;
    bool same = true;
    tmi_text lines;
    tmi_text_init(&lines);
    if (!strata || !tmi_value_field(outsider, "design", TMI_VALUE_MAP)) goto done;
    tmi_text_put(&lines, "\n");
    TMI_TRY(put_probabilities(&lines, outsider, err));
    for (size_t i = 0; same && i < tmi_value_size(strata); i++) { /* in any order: each takes a line away */
        const tmi_value *stratum = tmi_value_at(strata, i);
        const bool open = tmi_value_field(stratum, "largest", TMI_VALUE_TEXT), sure = tmi_value_whole(stratum, "certain") > 0;
        char line[4096];
        snprintf(line, sizeof line, "\n[%s%.2000s%s%s%s]\n", open ? "\"" : "", tmi_value_field_text(stratum, "largest"),
                 open ? "\"" : "", open && sure ? ", " : "", sure ? "\"1\"" : "");
        char *found = lines.failed ? NULL : strstr(lines.bytes, line);
        same = found != NULL;
        if (found) memset(found + 1, '.', strlen(line) - 2);
    }
    if (lines.failed) TMI_TRY(tmi_fail_memory(err));
    if (!same || strchr(lines.bytes, '[')) note(c, "frame.strata", "belongs to an account with other probabilities");

done:
    tmi_text_clear(&lines);
    return status;
}

/* The fields that the account has frozen are those of the certificate, no more and no fewer. */
static tamis_status check_frozen(claim *c, const tmi_ledger_wave *wave, tamis_error *err)
{
    static const char *const not_setting[] = {"source", "design", "budget", "frame", "outsider", NULL},
                             *const losses[] = {"epsilon", "delta", "rho", "outsider", "insider", NULL}, *const none[] = {NULL},
                             *const not_frozen[] = {"regularise", "variance", "typical",
                                                    NULL}; /* the first is compared with the measurements; the last are guesses */
    const tmi_value *plan = object_of(c, "plan"), *frozen = wave->frozen;
    tamis_status status;
    if (strcmp(tmi_value_field_text(frozen, "frame"), tmi_value_field_text(object_of(c, "frame"), "sha256")) != 0)
        note(c, "frame.sha256", "belongs to an account with another frame");
    TMI_TRY(check_frame(c, tmi_value_field(frozen, "outsider", TMI_VALUE_MAP), err));
    if (!same_fields(tmi_value_field(frozen, "design", TMI_VALUE_MAP), none, tmi_value_field(plan, "design", TMI_VALUE_MAP),
                     not_frozen))
        note(c, "plan.design", "belongs to an account of another design");
    if (!same_fields(frozen, not_setting, tmi_value_field(plan, "privacy", TMI_VALUE_MAP), losses))
        note(c, "plan.privacy", "belongs to an account of other units, or in another setting");

done:
    return status;
}

/* Whether the account says the rho, or the mu^2, that was booked beside an epsilon; NULL: none. */
static tamis_status beside_says(bool *same, const tamis_number *booked, const tmi_value *account, const char *key,
                                tamis_error *err)
{
    const tmi_value *field = tmi_value_field(account, key, TMI_VALUE_TEXT);
    tamis_number *said = NULL;
    *same = !booked && !field;
    if (!booked || !field) return TAMIS_OK;
    if (tamis_number_read(&said, tmi_value_string(field), NULL) == TAMIS_SYSTEM) return tmi_fail_memory(err);
    *same = said && tmi_number_compare(said, booked) == 0;
    tamis_number_free(said);
    return TAMIS_OK;
}

static tamis_status check_charge(claim *c, const tmi_book *book, tamis_error *err)
{
    const tmi_ledger_charge *charge = tmi_book_charge(book, c->number);
    const tmi_value *plan = object_of(c, "plan");
    bool same;
    tamis_status status = TAMIS_OK;
    if (!charge) {
        note(c, "ledger.entry", "is not a charge");
        return c->status;
    }
    const tmi_ledger_account *account = &book->accounts[charge->account];
    if (strcmp(tmi_value_field_text(object_of(c, "ledger"), "time"), charge->time) != 0)
        note(c, "ledger.time", "has another time");
    if (strcmp(tmi_value_field_text(plan, "survey"), account->survey) != 0)
        note(c, "plan.survey", "is a charge to another survey");
    const bool both = charge->amount.eps && charge->amount.rho; /* what it spends, and what it counts as */
    const tmi_ledger_coin spent = {.eps = charge->amount.eps,
                                   .delta = charge->amount.delta,
                                   .rho = both ? NULL : charge->amount.rho};
    TMI_TRY(tmi_coin_says(&same, &spent, object_of(c, "composition"), err));
    if (!same) note(c, "composition", "is a charge of an amount other than that in the certificate");
    TMI_TRY(beside_says(&same, both ? charge->amount.rho : NULL, object_of(c, "account"), "counted_as_rho", err));
    if (!same) note(c, "account.counted_as_rho", "counts as a rho other than that in the certificate");
    const tamis_number *mu = charge->amount.eps ? charge->amount.mu_squared : NULL;
    TMI_TRY(beside_says(&same, mu, object_of(c, "account"), "counted_as_mu_squared", err));
    if (!same) note(c, "account.counted_as_mu_squared", "counts as a mu^2 other than that in the certificate");
    if (strcmp(tmi_value_field_text(object_of(c, "account"), "new_account"), account->new_account ? account->new_account : "") !=
        0)
        note(c, "account.new_account", "belongs to an account that was opened for another reason");
    TMI_TRY(check_frozen(c, &account->waves[charge->wave], err));
    c->when = tmi_span_of(charge, object_of(c, "ledger"));
    TMI_TRY(check_terms(c, book, charge, err));
    TMI_TRY(check_measures(c, err));
    TMI_TRY(check_sums(c, book, charge, err));
    if (tmi_value_whole(object_of(c, "ledger"), "claim") != charge->claim)
        note(c, "ledger.claim", "was claimed by another release");
    if (charge->voided) note(c, "files.measurements.json", "was voided: nothing was released");
    else if (!charge->released) note(c, "files.measurements.json", "was charged, but not released");
    else if (strcmp(tmi_value_field_text(object_of(c, "files"), "measurements.json"), charge->kept) != 0)
        note(c, "files.measurements.json", "was released with measurements other than those that the certificate names");
    status = c->status;

done:
    return status;
}

static tamis_status check_tally(claim *c, const tmi_book *book)
{
    const tmi_ledger_charge *charge = tmi_book_charge(book, c->number);
    if (!charge) note(c, "account.entry", "is not a charge");
    else if (strcmp(tmi_value_field_text(object_of(c, "account"), "survey"), book->accounts[charge->account].survey) != 0)
        note(c, "account.survey", "is a charge to another survey");
    else if (charge->voided) note(c, "account.entry", "was voided: nothing was released");
    return c->status;
}

/* Of a folder, the certificate in it. */
static tamis_status find_certificate(char **path, const char *given, tamis_error *err)
{
    struct stat facts;
    tmi_text t;
    tmi_text_init(&t);
    tmi_text_format(&t, "%s%s", given, stat(given, &facts) == 0 && S_ISDIR(facts.st_mode) ? "/certificate.json" : "");
    return tmi_text_take(path, &t, err);
}

tamis_status tmi_check_against(tmi_store *file, const tmi_book *book, const char *given, tmi_faults *faults, tamis_error *err)
{
    tamis_status status;
    tmi_value *document = NULL;
    char *path = NULL;
    claim c = {.faults = faults, .err = err};
    TMI_TRY(find_certificate(&path, given, err));
    c.path = path;
    TMI_TRY(tmi_certificate_read(&document, path, err));
    c.document = document;
    if (!take_claim(&c)) {
        TMI_TRY(tmi_fault_note(faults, err, given, "the certificate names no entry of a ledger"));
        goto done;
    }
    TMI_TRY(tmi_store_each(file, look_for, &c, err));
    if (!c.found)
        note(&c, "ledger.entry", "of the certificate is not in the ledger: it was rolled back, or is a different ledger");
    else if (!c.same || !c.entry) note(&c, "ledger.hash", "has another hash in the ledger than in the certificate");
    else TMI_TRY(is_tally(&c) ? check_tally(&c, book) : check_charge(&c, book, err));
    status = c.status;

done:
    tmi_free(c.entry);
    tmi_value_free(document);
    tmi_free(path);
    return status;
}
