#include "ledger/book.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

void tmi_book_init(tmi_book *book) { *book = (tmi_book){.hash = ZEROS}; }

static void clear_account(tmi_ledger_account *a)
{
    tmi_free(a->survey);
    tmi_free(a->new_account);
    for (size_t i = 0; i < a->wave_count; i++) tmi_ledger_wave_clear(&a->waves[i]);
    for (size_t i = 0; i < a->raise_count; i++) tmi_raise_clear(&a->raises[i]);
    tmi_free(a->waves);
    tmi_free(a->raises);
    tmi_coin_clear(&a->budget);
    tmi_losses_clear(&a->losses);
}

static void clear_charge(tmi_ledger_charge *c)
{
    tmi_free(c->release);
    tmi_value_free(c->parts);
    tmi_free(c->void_reason);
    tmi_free(c->rows_version);
    tmi_coin_clear(&c->amount);
}

void tmi_book_clear(tmi_book *book)
{
    for (size_t i = 0; i < book->account_count; i++) clear_account(&book->accounts[i]);
    for (size_t i = 0; i < book->charge_count; i++) clear_charge(&book->charges[i]);
    tmi_free(book->accounts);
    tmi_free(book->charges);
    tmi_book_init(book);
}

tmi_ledger_account *tmi_book_account(const tmi_book *book, const char *survey)
{
    for (size_t i = 0; i < book->account_count; i++)
        if (strcmp(book->accounts[i].survey, survey) == 0) return &book->accounts[i];
    return NULL;
}

tmi_ledger_wave *tmi_account_wave(const tmi_ledger_account *account, const char *name)
{
    for (size_t i = 0; i < account->wave_count; i++)
        if (tmi_wave_named(&account->waves[i].wave, name)) return &account->waves[i];
    return NULL;
}

tmi_ledger_charge *tmi_book_charge(const tmi_book *book, int64_t number)
{
    size_t low = 0, high = book->charge_count; /* they are in the order of their numbers */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (book->charges[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low < book->charge_count && book->charges[low].number == number ? &book->charges[low] : NULL;
}

bool tmi_book_opened(const tmi_book *book, const tmi_ledger_charge *charge)
{
    for (const tmi_ledger_charge *c = book->charges; c < charge; c++)
        if (c->account == charge->account && !c->voided) return false;
    return true;
}

int64_t tmi_book_first_from(const tmi_book *book, const tmi_ledger_charge *charge)
{
    int64_t from = 0;
    for (const tmi_ledger_charge *c = book->charges; c < charge; c++) {
        if (!c->voided) return INT64_MAX;
        if (c->voided > from) from = c->voided;
    }
    return from;
}

/* The list with room for one more; NULL, and the list stays as it is, without memory. */
static void *grown(void *list, size_t *room, size_t count, size_t size)
{
    if (count < *room) return list;
    const size_t more = *room ? 2 * *room : 16;
    void *moved = tmi_realloc(list, more, size);
    if (moved) *room = more;
    return moved;
}

/* ---- faults ---- */

tamis_status tmi_fault_note(tmi_faults *faults, tamis_error *err, const char *field, const char *format, ...)
{
    tmi_fault fault = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault.message, sizeof fault.message, format, arguments);
    va_end(arguments);
    snprintf(fault.field, sizeof fault.field, "%s", field);
    if (!faults) return tmi_fail(err, TAMIS_INVALID, "damaged or tampered with: %s: %s", fault.field, fault.message);
    tmi_fault *list = grown(faults->list, &faults->room, faults->count, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    faults->list = list;
    faults->list[faults->count++] = fault;
    return TAMIS_OK;
}

void tmi_faults_clear(tmi_faults *faults)
{
    tmi_free(faults->list);
    *faults = (tmi_faults){0};
}

/* ---- reading an entry ---- */

typedef struct reading {
    tmi_book *book;
    const tmi_value *entry;
    int64_t number;
    const char *hash, *time;
} reading;

static const char *string_of(const reading *r, const char *key)
{
    const tmi_value *value = tmi_value_get(r->entry, key);
    return value && tmi_value_kind_of(value) == TMI_VALUE_TEXT ? tmi_value_string(value) : NULL;
}

static const tmi_value *object_of(const reading *r, const char *key)
{
    const tmi_value *value = tmi_value_get(r->entry, key);
    return value && tmi_value_kind_of(value) == TMI_VALUE_MAP ? value : NULL;
}

static tamis_status wrong(tamis_error *err, const char *what) { return tmi_fail(err, TAMIS_INVALID, "%s", what); }

static tamis_status add_account(const reading *r, tamis_error *err)
{
    tmi_book *book = r->book;
    tmi_ledger_account a = {0};
    tamis_status status = TAMIS_OK;
    const char *survey = string_of(r, "survey");
    const tmi_value *frozen = object_of(r, "frozen"), *parts = tmi_value_get(r->entry, "source");
    const char *new_account = string_of(r, "new_account");
    if (!survey || !frozen) return wrong(err, "an account has a survey and frozen fields");
    if (parts && !tmi_is_parts(parts)) return wrong(err, "the source of an account is a list of texts");
    if (!new_account && tmi_value_get(r->entry, "new_account")) return wrong(err, "the reason for a new account is a text");
    if (tmi_book_account(book, survey)) return wrong(err, "the survey has an account already");
    tmi_ledger_account *accounts = grown(book->accounts, &book->account_room, book->account_count, sizeof a);
    if (!accounts) return tmi_fail_memory(err);
    book->accounts = accounts;
    TMI_TRY(tmi_coin_read(&a.budget, tmi_value_get(r->entry, "budget"), "budget", err));
    TMI_TRY(tmi_losses_begin(&a.losses, &a.budget, err));
    TMI_TRY(tmi_copy_string(&a.survey, survey, err));
    TMI_TRY(tmi_account_open(&a, r->number, tmi_value_get(r->entry, "wave"), frozen, parts, err));
    TMI_TRY(tmi_copy_string(&a.new_account, new_account, err));
    book->accounts[book->account_count++] = a;
    a = (tmi_ledger_account){0};
done:
    clear_account(&a);
    return status;
}

static tamis_status add_wave(const reading *r, tamis_error *err)
{
    const char *survey = string_of(r, "survey");
    const tmi_value *frozen = object_of(r, "frozen"), *wave = object_of(r, "wave");
    tmi_ledger_account *a = survey ? tmi_book_account(r->book, survey) : NULL;
    if (!a || !frozen || !wave) return wrong(err, "a wave has the survey of an account and frozen fields");
    return tmi_account_open(a, r->number, wave, frozen, tmi_value_get(r->entry, "source"), err);
}

static tamis_status add_raised(const reading *r, tamis_error *err)
{
    const char *survey = string_of(r, "survey"), *reason = string_of(r, "reason");
    tmi_ledger_account *a = survey ? tmi_book_account(r->book, survey) : NULL;
    if (!a || !reason) return wrong(err, "a raise has the survey of an account and a reason");
    return tmi_account_raised(a, r->number, r->time, tmi_value_get(r->entry, "budget"), reason, err);
}

static tamis_status add_charge(const reading *r, tamis_error *err)
{
    tmi_book *book = r->book;
    tmi_ledger_charge c = {.number = r->number};
    tmi_losses losses = {0};
    tamis_status status = TAMIS_OK;
    const char *survey = string_of(r, "survey"), *release = string_of(r, "release"), *measures = string_of(r, "measures");
    const tmi_value *claimable = tmi_value_get(r->entry, "claimable");
    tmi_ledger_account *a = survey ? tmi_book_account(book, survey) : NULL;
    tmi_ledger_wave *wave = a ? tmi_account_wave(a, string_of(r, "wave")) : NULL;
    if (!wave && a) return wrong(err, "a charge names a wave that was opened");
    if (!a || !release || !measures) return wrong(err, "a charge has the survey of an account, a release and measures");
    if (claimable && (tmi_value_kind_of(claimable) != TMI_VALUE_BOOLEAN || !tmi_value_is_true(claimable)))
        return wrong(err, "claimable is true or absent");
    tmi_ledger_charge *charges = grown(book->charges, &book->charge_room, book->charge_count, sizeof c);
    if (!charges) return tmi_fail_memory(err);
    book->charges = charges;
    TMI_TRY(tmi_coin_read(&c.amount, tmi_value_get(r->entry, "amount"), "amount", err));
    TMI_TRY(tmi_losses_add(&losses, &a->losses, &a->budget, &c.amount, wave->wave.groups, wave->wave.group_count, err));
    TMI_TRY(tmi_copy_string(&c.release, release, err));
    TMI_TRY(tmi_charge_source(&c, wave, tmi_value_get(r->entry, "source"), err));
    c.account = (size_t)(a - book->accounts);
    c.claimable = claimable != NULL;
    c.wave = (size_t)(wave - a->waves);
    c.as_rho = a->budget.rho || (wave->wave.group_count == 0 && losses.base.concentrated);
    c.as_mu = c.as_rho && losses.base.mu_squared;
    snprintf(c.time, sizeof c.time, "%s", r->time);
    snprintf(c.hash, sizeof c.hash, "%s", r->hash);
    tmi_sha256_text(c.identity, measures, strlen(measures));
    tmi_losses_clear(&a->losses);
    a->losses = losses;
    losses = (tmi_losses){0};
    book->charges[book->charge_count++] = c;
    c = (tmi_ledger_charge){0};
done:
    tmi_losses_clear(&losses);
    clear_charge(&c);
    return status;
}

/* The charge that an entry is about; NULL if it names none. */
static tmi_ledger_charge *charge_of(const reading *r)
{
    const tmi_value *entry = tmi_value_get(r->entry, "entry");
    return entry && tmi_value_kind_of(entry) == TMI_VALUE_INTEGER ? tmi_book_charge(r->book, tmi_value_integer(entry)) : NULL;
}

static tamis_status add_released(const reading *r, tamis_error *err)
{
    const char *kept = string_of(r, "measurements"), *rows_version = string_of(r, "rows_version");
    const tmi_value *claim = tmi_value_get(r->entry, "claim");
    tmi_ledger_charge *c = charge_of(r);
    if (!c || !kept || !tmi_is_sha256_text(kept)) return wrong(err, "a release names its charge and a hash of what is kept");
    if (!rows_version && tmi_value_get(r->entry, "rows_version")) return wrong(err, "the version of the rows is a text");
    if (c->released) return wrong(err, "the charge was released already");
    if (c->voided) return wrong(err, "the charge was voided");
    if (claim ? tmi_value_kind_of(claim) != TMI_VALUE_INTEGER || tmi_value_integer(claim) != c->claim || c->claim == 0
              : c->claim != 0)
        return wrong(err, "the charge was claimed by another release");
    if (tmi_copy_string(&c->rows_version, rows_version, err) != TAMIS_OK) return TAMIS_SYSTEM;
    c->released = r->number;
    snprintf(c->released_time, sizeof c->released_time, "%s", r->time);
    snprintf(c->kept, sizeof c->kept, "%s", kept);
    return TAMIS_OK;
}

static tamis_status add_claimed(const reading *r, tamis_error *err)
{
    tmi_ledger_charge *c = charge_of(r);
    if (!c || !c->claimable || !tmi_charge_is_open(c))
        return wrong(err, "a claim names a claimable charge that is neither released nor voided");
    tmi_ledger_wave *wave = &r->book->accounts[c->account].waves[c->wave];
    tamis_status status = tmi_charge_source(c, wave, tmi_value_get(r->entry, "source"), err);
    if (status == TAMIS_OK) c->claim = r->number;
    return status;
}

static tamis_status add_voided(const reading *r, tamis_error *err)
{
    const char *reason = string_of(r, "reason");
    tmi_ledger_charge *c = charge_of(r);
    tmi_losses losses = {0};
    tamis_status status;
    bool fit;
    if (!c || !reason || !tmi_charge_is_open(c))
        return wrong(err, "an entry that voids names a charge that is neither released nor voided, and a reason");
    const tmi_ledger_account *a = &r->book->accounts[c->account];
    TMI_TRY(tmi_losses_fit(&fit, &a->losses, &a->budget, err));
    if (!fit) TMI_TRY(wrong(err, "the charges before it exceed the budget at the time"));
    TMI_TRY(tmi_check_returnable(r->book, c, err));
    TMI_TRY(tmi_copy_string(&c->void_reason, reason, err));
    c->voided = r->number;
    status = tmi_count_account(&losses, r->book, c->account, err);
    if (status != TAMIS_OK) {
        tmi_free(c->void_reason);
        c->void_reason = NULL;
        c->voided = 0;
        goto done;
    }
    tmi_losses *old = &r->book->accounts[c->account].losses;
    tmi_losses_clear(old);
    *old = losses;
    snprintf(c->voided_time, sizeof c->voided_time, "%s", r->time);
done:
    return status;
}

static const struct kind {
    const char *name;
    tamis_status (*add)(const reading *r, tamis_error *err);
    const char *keys[12];
} kinds[] = {
    {"account",
     add_account,
     {"number", "time", "clock_behind", "kind", "survey", "wave", "budget", "frozen", "source", "new_account"}},
    {"wave", add_wave, {"number", "time", "clock_behind", "kind", "survey", "wave", "frozen", "source"}},
    {"raised", add_raised, {"number", "time", "clock_behind", "kind", "survey", "budget", "reason"}},
    {"charge",
     add_charge,
     {"number", "time", "clock_behind", "kind", "survey", "wave", "release", "amount", "measures", "source", "claimable"}},
    {"released", add_released, {"number", "time", "clock_behind", "kind", "entry", "claim", "measurements", "rows_version"}},
    {"voided", add_voided, {"number", "time", "clock_behind", "kind", "entry", "reason"}},
    {"claimed", add_claimed, {"number", "time", "clock_behind", "kind", "entry", "source"}},
};

bool tmi_is_time(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    if (strlen(text) != sizeof form - 1) return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return false;
    return true;
}

static tamis_status add(reading *r, tamis_error *err)
{
    const tmi_value *number = tmi_value_get(r->entry, "number");
    const char *name = string_of(r, "kind");
    const struct kind *kind = NULL;
    if (!number || tmi_value_kind_of(number) != TMI_VALUE_INTEGER || tmi_value_integer(number) != r->number)
        return wrong(err, "its own number differs");
    r->time = string_of(r, "time");
    if (!r->time || !tmi_is_time(r->time)) return wrong(err, "it has no time");
    if (strcmp(r->time, r->book->time) < 0) return wrong(err, "it is earlier than the entry before it");
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) kind = &kinds[i];
    if (!kind) return wrong(err, "its kind is unknown");
    size_t keys = 0;
    while (keys < sizeof kind->keys / sizeof *kind->keys && kind->keys[keys]) keys++;
    if (tmi_value_extra_key(r->entry, kind->keys, keys)) return wrong(err, "it has an unexpected field");
    return kind->add(r, err);
}

tamis_status tmi_book_add(tmi_book *book, int64_t number, const char *entry, const char *hash, tmi_faults *faults,
                          tamis_error *err)
{
    char field[32], expected[TMI_SHA256_TEXT];
    tmi_value *document = NULL;
    tamis_error reason = {0};
    tamis_status status = TAMIS_OK;
    reading r = {.book = book, .number = number, .hash = hash};
    snprintf(field, sizeof field, "entry %" PRId64, number);
    if (number != book->number + 1)
        TMI_TRY(tmi_fault_note(faults, err, field, "entries before it are missing: the last one was %" PRId64, book->number));
    if (!tmi_is_sha256_text(hash)) {
        TMI_TRY(tmi_fault_note(faults, err, field, "its hash is not a hash"));
        memset(expected, '0', sizeof expected - 1); /* when faults are collected: the chain goes on somehow */
        expected[sizeof expected - 1] = '\0';
        r.hash = expected;
    } else {
        TMI_TRY(tmi_chain_hash(expected, book->hash, entry, err));
        if (strcmp(hash, expected) != 0)
            TMI_TRY(tmi_fault_note(faults, err, field, "its hash does not follow from its text and the hash before it"));
    }
    status = tmi_json_read(&document, entry, strlen(entry), &reason);
    if (status == TAMIS_OK && tmi_value_kind_of(document) != TMI_VALUE_MAP) status = wrong(&reason, "it is not a JSON object");
    r.entry = document;
    if (status == TAMIS_OK) status = add(&r, &reason);
    if (status == TAMIS_INVALID || status == TAMIS_REFUSED) {
        TMI_TRY(tmi_fault_note(faults, err, field, "%.200s", reason.message));
    } else if (status != TAMIS_OK) {
        status = tmi_fail_as(err, &reason);
        goto done;
    }
    book->number = number;
    snprintf(book->hash, sizeof book->hash, "%s", r.hash);
    if (r.time && tmi_is_time(r.time)) snprintf(book->time, sizeof book->time, "%s", r.time);
done:
    tmi_value_free(document);
    return status;
}

static bool account_is_sound(const tmi_book *book, const tmi_ledger_account *a)
{
    if (!a->survey || tmi_book_account(book, a->survey) != a || a->wave_count == 0) return false;
    for (size_t w = 0; w < a->wave_count; w++) {
        if (!a->waves[w].frozen || a->waves[w].number > book->number) return false;
        if (w > 0 && a->waves[w - 1].number >= a->waves[w].number) return false;
    }
    return true;
}

static bool charge_is_sound(const tmi_book *book, const tmi_ledger_charge *c)
{
    if (c->number < TMI_FIRST_CHARGE || c->number > book->number || c->account >= book->account_count) return false;
    const tmi_ledger_account *a = &book->accounts[c->account];
    if (c->wave >= a->wave_count || a->waves[c->wave].number >= c->number) return false;
    if (c->claim && !(c->claimable && c->claim > c->number)) return false;
    if (c->released && c->voided) return false;
    if (c->released && !(c->released > c->number && c->released > c->claim)) return false;
    return !c->voided || (c->voided > c->number && c->voided > c->claim && c->void_reason);
}

bool tmi_book_is_sound(const tmi_book *book)
{
    for (size_t i = 0; i < book->account_count; i++)
        if (!account_is_sound(book, &book->accounts[i])) return false;
    for (size_t i = 0; i < book->charge_count; i++) {
        if (!charge_is_sound(book, &book->charges[i])) return false;
        if (i > 0 && book->charges[i - 1].number >= book->charges[i].number) return false;
    }
    return true;
}

tamis_status tmi_book_check_budgets(const tmi_book *book, tmi_faults *faults, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    TMI_CHECK(faults || tmi_book_is_sound(book));
    for (size_t i = 0; i < book->account_count; i++) {
        const tmi_ledger_account *a = &book->accounts[i];
        bool fit;
        TMI_TRY(tmi_losses_fit(&fit, &a->losses, &a->budget, err));
        if (!fit) TMI_TRY(tmi_fault_note(faults, err, "budget", "%.200s: its charges exceed its budget", a->survey));
    }
done:
    return status;
}
