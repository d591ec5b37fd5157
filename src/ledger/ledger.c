#include "ledger/ledger.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

static int64_t now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_REALTIME, &t) == 0 ? (int64_t)t.tv_sec : 0;
}

/* ---- opening ---- */

static tamis_status load(tamis_ledger *ledger, tamis_error *err)
{
    tamis_error reason = {0};
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_store_begin(ledger->file, false, err));
    TMI_TRY(tmi_store_catch_up(ledger->file, &ledger->book, NULL, err));
    status = tmi_book_check_budgets(&ledger->book, NULL, &reason);
    if (status != TAMIS_OK) tmi_fail_file(err, status, tmi_store_path(ledger->file), 0, "%s", reason.message);
done:
    tmi_store_cancel(ledger->file);
    return status;
}

tamis_status tmi_ledger_open(tamis_ledger **ledger, const char *path, tmi_opening how, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_ledger *new = NULL;
    if (!ledger) return tmi_fail(err, TAMIS_INVALID, "ledger: NULL");
    *ledger = NULL;
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: NULL");
    if (!(new = tmi_alloc(1, sizeof *new))) return tmi_fail_memory(err);
    tmi_book_init(&new->book);
    new->now = now;
    new->writing = how != TMI_LOOK;
    TMI_TRY(tmi_store_open(&new->file, path, how, NULL, err));
    TMI_TRY(load(new, err));
    *ledger = new;
    new = NULL;
done:
    tamis_ledger_free(new);
    return status;
}

tamis_status tamis_ledger_open(tamis_ledger **ledger, const char *path, tamis_error *err)
{
    return tmi_ledger_open(ledger, path, TMI_CHARGE, err);
}

tamis_status tamis_ledger_look(tamis_ledger **ledger, const char *path, tamis_error *err)
{
    return tmi_ledger_open(ledger, path, TMI_LOOK, err);
}

void tamis_ledger_free(tamis_ledger *ledger)
{
    if (!ledger) return;
    tmi_ledger_disown_all(ledger);
    tmi_store_close(ledger->file);
    tmi_book_clear(&ledger->book);
    tmi_free(ledger);
}

/* ---- what a caller gives ---- */

/* A charge as it is compared and written. */
typedef struct request {
    const tamis_charge *charge;
    tmi_coin amount, budget;
    bool has_budget; /* else that of the account */
    tmi_json *frozen;
    char *frozen_text; /* as it is kept */
    tmi_wave wave;
    tmi_json *parts;   /* of the source; NULL: not said */
    char *parts_text;
    char identity[TMI_SHA256_TEXT];
} request;

static void request_clear(request *r)
{
    tmi_coin_clear(&r->amount);
    tmi_coin_clear(&r->budget);
    tmi_json_free(r->frozen);
    tmi_free(r->frozen_text);
    tmi_json_free(r->parts);
    tmi_free(r->parts_text);
    tmi_wave_clear(&r->wave);
}

/* JSON that a caller gives, and its canonical text; INVALID in one sentence, whatever is wrong with it. */
static tamis_status take_json(tmi_json **value, char **canonical, const char *given, const char *expected, bool (*is_right)(const tmi_json *),
                              tamis_error *err)
{
    tamis_error reason = {0};
    tmi_text text;
    tamis_status status = tmi_json_read(value, given, strlen(given), &reason);
    if (status == TAMIS_INVALID || (status == TAMIS_OK && !is_right(*value))) return tmi_fail(err, TAMIS_INVALID, "%s", expected);
    if (status != TAMIS_OK) return tmi_fail_memory(err);
    if (!canonical) return TAMIS_OK;
    tmi_text_init(&text);
    status = tmi_json_canonical(&text, *value, err);
    if (status == TAMIS_OK) status = tmi_text_take(canonical, &text, err);
    tmi_text_clear(&text);
    return status;
}

static bool is_object(const tmi_json *value)
{
    return tmi_json_kind_of(value) == TMI_JSON_OBJECT;
}

static tamis_status take_wave(tmi_wave *wave, const char *given, tamis_error *err)
{
    tmi_json *value = NULL;
    tamis_status status;
    TMI_TRY(tmi_check_text(given, "wave", 0, TAMIS_LEDGER_TEXT, err));
    TMI_TRY(take_json(&value, NULL, given, "wave: expected a JSON object", is_object, err));
    TMI_TRY(tmi_wave_read(wave, value, err));
    TMI_TRY(tmi_check_name(wave->name, "wave", err));
    for (size_t i = 0; i < wave->group_count; i++) TMI_TRY(tmi_check_name(wave->groups[i], "wave: group", err));
done:
    tmi_json_free(value);
    return status;
}

static tamis_status request_make(request *r, const tamis_charge *charge, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *r = (request){.charge = charge};
    if (!charge) return tmi_fail(err, TAMIS_INVALID, "charge: NULL");
    TMI_TRY(tmi_check_name(charge->survey, "survey", err));
    TMI_TRY(tmi_check_name(charge->release, "release", err));
    TMI_TRY(tmi_check_text(charge->measures, "measures", 0, TAMIS_LEDGER_TEXT, err));
    TMI_TRY(tmi_check_text(charge->frozen, "frozen", 0, TAMIS_LEDGER_TEXT, err));
    if (charge->source) TMI_TRY(tmi_check_text(charge->source, "source", 0, TAMIS_LEDGER_TEXT, err));
    if (charge->new_account) TMI_TRY(tmi_check_name(charge->new_account, "new_account", err));
    if (charge->leftover && *charge->leftover && *charge->leftover != '/')
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "leftover: expected an absolute path, or an empty text"));
    TMI_TRY(tmi_coin_make(&r->amount, &charge->amount, "amount", err));
    r->has_budget = charge->budget.epsilon || charge->budget.delta || charge->budget.rho;
    if (r->has_budget) TMI_TRY(tmi_coin_make(&r->budget, &charge->budget, "budget", err));
    TMI_TRY(tmi_coin_reads_back(&r->amount, "amount", err));
    TMI_TRY(tmi_coin_reads_back(&r->budget, "budget", err));
    TMI_TRY(take_json(&r->frozen, NULL, charge->frozen, "frozen: expected a JSON object", is_object, err));
    TMI_TRY(tmi_frozen_text(&r->frozen_text, r->frozen, !charge->source, err));
    if (charge->wave) TMI_TRY(take_wave(&r->wave, charge->wave, err));
    if (charge->source) TMI_TRY(take_json(&r->parts, &r->parts_text, charge->source, "source: expected a JSON list of texts", tmi_is_parts, err));
    tmi_sha256_text(r->identity, charge->measures, strlen(charge->measures));
done:
    if (status != TAMIS_OK) {
        request_clear(r);
        *r = (request){0};
    }
    return status;
}

tamis_status tmi_charge_check(const tamis_charge *charge, tamis_error *err)
{
    request r;
    tamis_status status = request_make(&r, charge, err);
    request_clear(&r);
    return status;
}

/* ---- whether it may be ---- */

/* REFUSED if a field differs from what was frozen, by the survey's first release for all waves, or by that of the wave. */
static tamis_status compare(const tmi_ledger_account *a, const tmi_ledger_wave *w, const request *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_json *frozen = NULL;
    const bool kept = !w && r->wave.same_sample; /* the sample of the wave before, so its design too */
    const tmi_ledger_wave *with = w ? w : kept ? &a->waves[a->wave_count - 1] : &a->waves[0];
    TMI_TRY(tmi_json_read(&frozen, with->frozen, strlen(with->frozen), err));
    const char *field = w || kept ? tmi_frozen_difference(frozen, r->frozen) : tmi_frozen_difference_of_survey(frozen, r->frozen);
    if (!field && w && !tmi_wave_equal(&w->wave, &r->wave)) field = "wave";
    if (field && kept)
        status = tmi_fail(err, TAMIS_REFUSED, "%.200s: `same_sample: yes` keeps the sample of the wave before, but '%.100s' differs from what that one has "
                          "fixed; nothing was spent. Use the same, or leave same_sample out", a->survey, field);
    else if (field)
        status = tmi_fail(err, TAMIS_REFUSED, "%.200s: the first release of the %s has fixed '%.100s', and here it differs; nothing was spent. Use what was "
                          "fixed there; other people are another survey, with an account and a budget of their own", a->survey,
                          w && w->wave.name ? "wave" : "survey", field);
done:
    tmi_json_free(frozen);
    return status;
}

/* The command that raises the budget of a survey so that it is at least `to`. */
static void put_command(tmi_text *text, const char *file, const char *survey, const tmi_coin *to)
{
    tmi_text_format(text, "tamis ledger raise %.300s --survey '%.200s' ", file, survey);
    if (!to) tmi_text_put(text, "--epsilon (or --rho) NEWCAP");
    else tmi_coin_options(text, to);
    tmi_text_put(text, " --reason TEXT");
}

/* REFUSED if a plan's budget is above that of the account, or of another kind. */
static tamis_status compare_budget(const tmi_ledger_account *a, const request *r, const char *file, tamis_error *err)
{
    tmi_text words;
    tamis_status status = TAMIS_OK;
    if (!r->has_budget || tmi_coin_within(&r->budget, &a->budget)) return TAMIS_OK;
    const bool kind = !r->budget.rho == !a->budget.rho;
    tmi_text_init(&words);
    tmi_text_put(&words, "the budget of ");
    tmi_coin_words(&words, &r->budget, true);
    tmi_text_put(&words, kind ? " is above that of the account, " : " does not count as the account does, which has ");
    tmi_coin_words(&words, &a->budget, false);
    tmi_text_put(&words, "; nothing was spent. ");
    if (kind) tmi_text_put(&words, "Write at most that in the plan; or, if a higher budget was decided on, record it: ");
    else tmi_text_put(&words, "Write at most that in the plan");
    if (kind) put_command(&words, file, a->survey, &r->budget);
    if (words.failed) status = tmi_fail_memory(err);
    else status = tmi_fail(err, TAMIS_REFUSED, "%.200s: %s", a->survey, words.bytes);
    tmi_text_clear(&words);
    return status;
}

/* Whether the source may be charged to this account, NULL for one that would be opened. REFUSED if another account has it and no reason
 * was given for that. */
static tamis_status may_have_source(const tmi_book *book, const tmi_ledger_account *a, const request *r, tamis_error *err)
{
    const tmi_ledger_account *beside;
    if (a ? a->new_account != NULL : r->charge->new_account != NULL) return TAMIS_OK;
    tamis_status status = tmi_book_beside(&beside, book, a, r->parts, r->frozen, err);
    if (status != TAMIS_OK || !beside) return status;
    return tmi_fail(err, TAMIS_REFUSED, "%.200s: the ledger has the account %.200s over the same source, and a second one would count "
                    "the same people anew; nothing was spent. Write `survey: %.200s` in the plan; or, if these are other people%s",
                    r->charge->survey, beside->survey, beside->survey,
                    a ? ", put their rows into a file of their own" : " or a separate budget was decided on, record why: tamis release --new-account REASON");
}

static const tmi_coin *limit_of(const tmi_ledger_account *a, const request *r)
{
    return r->has_budget ? &r->budget : &a->budget;
}

/* What the account allows, in the words of a refusal. */
static tamis_status refuse(const tmi_ledger_account *a, const request *r, const tmi_losses *losses, const char *file, tamis_error *err)
{
    const tmi_coin *limit = limit_of(a, r);
    const bool own = a && !tmi_coin_equal(limit, &a->budget);
    tamis_spending spent, left;
    tmi_text words;
    tamis_status status = tmi_losses_spending(&spent, &left, losses, limit, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&words);
    tmi_coin_words(&words, &r->amount, true);
    tmi_text_put(&words, own ? " would pass the plan's own budget of " : " would pass the budget of ");
    tmi_coin_words(&words, limit, false);
    tmi_text_format(&words, ", of which %s", left.words);
    tmi_text_format(&words, " %s left; nothing was spent", a ? "is" : "would be");
    if (own) {
        tmi_text_put(&words, ". The survey may spend ");
        tmi_coin_words(&words, &a->budget, false);
        tmi_text_put(&words, ": write up to that in the plan");
    } else if (a) {
        tmi_text_put(&words, ". If a higher budget was decided on, record it: ");
        put_command(&words, file, a->survey, NULL);
        tmi_text_put(&words, ", and write it in the plan");
    }
    if (words.failed) status = tmi_fail_memory(err);
    else status = tmi_fail(err, TAMIS_REFUSED, "%.200s: %s", a ? a->survey : r->charge->survey, words.bytes);
    tmi_text_clear(&words);
    return status;
}

/* REFUSED if the amount does not fit; `a` is NULL for the first charge. */
static tamis_status fit(const tmi_ledger_account *a, const request *r, const char *file, tamis_error *err)
{
    const tmi_coin *limit = limit_of(a, r), *cap = a ? &a->budget : limit;
    tamis_status status = TAMIS_OK;
    tmi_losses none = {0}, more = {0};
    bool fits = false;
    TMI_TRY(tmi_losses_begin(&none, cap, err));
    const tmi_losses *losses = a ? &a->losses : &none;
    status = tmi_losses_add(&more, losses, cap, &r->amount, r->wave.groups, r->wave.group_count, err);
    if (status == TAMIS_REFUSED && err) {
        char reason[TAMIS_ERROR_SIZE];
        memcpy(reason, err->message, sizeof reason);
        tmi_fail(err, status, "%.200s: %.1000s; nothing was spent", r->charge->survey, reason);
    }
    if (status != TAMIS_OK) goto done;
    TMI_TRY(tmi_losses_fit(&fits, &more, cap, err));
    if (fits && limit != cap) TMI_TRY(tmi_losses_fit(&fits, &more, limit, err));
    if (!fits) status = refuse(a, r, losses, file, err);
done:
    tmi_losses_clear(&none);
    tmi_losses_clear(&more);
    return status;
}

static bool is_same(const tmi_book *book, const tmi_ledger_charge *c, const tmi_ledger_account *a, const request *r)
{
    return &book->accounts[c->account] == a && strcmp(c->identity, r->identity) == 0;
}

/* The latest release of the same; NULL if there is none. */
static const tmi_ledger_charge *same(const tmi_book *book, const tmi_ledger_account *a, const request *r)
{
    for (size_t i = book->charge_count; a && i-- > 0;) {
        const tmi_ledger_charge *c = &book->charges[i];
        if (c->released && is_same(book, c, a, r)) return c;
    }
    return NULL;
}

/* The latest charge of the same that was never published, and can be claimed instead of paying again; NULL if there is none. REFUSED if
 * one of them is just being made. */
static tamis_status unpublished(const tmi_ledger_charge **open, const tamis_ledger *ledger, const tmi_ledger_account *a, const request *r,
                                tamis_error *err)
{
    const tmi_book *book = &ledger->book;
    int64_t running = 0;
    *open = NULL;
    if (!r->charge->leftover) return TAMIS_OK;
    for (size_t i = book->charge_count; a && i-- > 0;) {
        const tmi_ledger_charge *c = &book->charges[i];
        if (!c->claimable || !tmi_charge_is_open(c) || !is_same(book, c, a, r) || !tmi_coin_equal(&c->amount, &r->amount)) continue;
        if (tmi_owner_ask(tmi_store_place(ledger->file), c->number, c->hash) != TMI_OWNER_ALIVE) {
            *open = c;
            return TAMIS_OK;
        }
        running = c->number;
    }
    if (running == 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "%.200s: the same release is being made by another process (entry %lld of the ledger); nothing was spent. "
                    "Wait until it has ended and try again, which then costs nothing; or pay for other numbers: tamis release --again",
                    a->survey, (long long)running);
}

/* The charge as its caller hears of it. */
static tamis_status tell(tamis_charged *charged, const tmi_book *book, const tmi_ledger_charge *c, tamis_error *err)
{
    const char *reason = book->accounts[c->account].new_account;
    charged->entry = c->number;
    charged->claim = c->claim;
    charged->opened = tmi_book_opened(book, c);
    charged->created = c->number == TMI_FIRST_CHARGE;
    snprintf(charged->hash, sizeof charged->hash, "%s", c->hash);
    snprintf(charged->time, sizeof charged->time, "%s", c->time);
    if (reason && !(charged->new_account = tmi_copy_text(reason, strlen(reason)))) return tmi_fail_memory(err);
    return TAMIS_OK;
}

/* Gives back what was kept, if it is still what it was. */
static tamis_status give_back(tamis_charged *charged, tamis_ledger *ledger, const tmi_ledger_charge *c, tamis_error *err)
{
    char hash[TMI_SHA256_TEXT];
    tamis_status status = tmi_store_measurements(&charged->measurements, ledger->file, c->released, err);
    if (status != TAMIS_OK) return status;
    if (ledger->writing) tmi_owner_sweep(tmi_store_place(ledger->file), c->number);
    if (charged->measurements) tmi_sha256_text(hash, charged->measurements, strlen(charged->measurements));
    if (!charged->measurements || strcmp(hash, c->kept) != 0)
        return tmi_fail_file(err, TAMIS_INVALID, tmi_store_path(ledger->file), 0,
                             "damaged or tampered with: what was kept of entry %lld is not what was released",
                             (long long)c->number);
    return tell(charged, &ledger->book, c, err);
}

/* ---- writing ---- */

tamis_status tmi_ledger_next(tmi_entry_head *head, char time[TAMIS_LEDGER_TIME], const tamis_ledger *ledger, tamis_error *err)
{
    const time_t seconds = (time_t)ledger->now();
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || strftime(time, TAMIS_LEDGER_TIME, "%Y-%m-%dT%H:%M:%SZ", &utc) != TAMIS_LEDGER_TIME - 1)
        return tmi_fail(err, TAMIS_SYSTEM, "the clock of this computer shows no year of four digits");
    *head = (tmi_entry_head){.number = ledger->book.number + 1, .time = time};
    if (strcmp(time, ledger->book.time) < 0) {
        snprintf(time, TAMIS_LEDGER_TIME, "%s", ledger->book.time);
        head->clock_behind = true;
    }
    return TAMIS_OK;
}

tamis_status tmi_ledger_append(tamis_ledger *ledger, const tmi_entry_head *head, char before[TMI_SHA256_TEXT], const char *entry, tamis_error *err)
{
    char hash[TMI_SHA256_TEXT];
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_chain_hash(hash, before, entry, err));
    TMI_TRY(tmi_store_add_entry(ledger->file, head->number, entry, hash, err));
    memcpy(before, hash, sizeof hash);
done:
    return status;
}

/* The charge, and before it the account or the wave if it is new. *number: of the charge; *owner: of a claimable one. */
static tamis_status write_charge(int64_t *number, bool *behind, tmi_owner *owner, tamis_ledger *ledger, const tmi_ledger_account *a, const tmi_ledger_wave *w,
                                 const request *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_entry_head head;
    char time[TAMIS_LEDGER_TIME], hash[TMI_SHA256_TEXT], *entry = NULL;
    const tamis_charge *charge = r->charge;
    TMI_TRY(tmi_ledger_next(&head, time, ledger, err));
    memcpy(hash, ledger->book.hash, sizeof hash);
    *behind = head.clock_behind;
    if (!a) TMI_TRY(tmi_entry_account(&entry, &head, charge->survey, &r->wave, &r->budget, r->frozen_text, r->parts_text, charge->new_account, err));
    else if (!w) TMI_TRY(tmi_entry_wave(&entry, &head, charge->survey, &r->wave, r->frozen_text, r->parts_text, err));
    if (entry) {
        TMI_TRY(tmi_ledger_append(ledger, &head, hash, entry, err));
        tmi_free(entry);
        entry = NULL;
        head.number++;
    }
    if (r->wave.name || charge->leftover) TMI_TRY(tmi_store_need_format_2(ledger->file, err));
    TMI_TRY(tmi_entry_charge(&entry, &head, charge->survey, r->wave.name, charge->release, &r->amount, charge->measures, charge->leftover != NULL, err));
    TMI_TRY(tmi_ledger_append(ledger, &head, hash, entry, err));
    if (charge->leftover) {
        TMI_TRY(tmi_ledger_room_to_own(ledger, err));
        TMI_TRY(tmi_owner_make(owner, tmi_store_place(ledger->file), head.number, hash, charge->leftover, err));
    }
    *number = head.number;
done:
    tmi_free(entry);
    return status;
}

/* ---- charging ---- */

/* A refusal for want of budget, and what may give some back. */
static tamis_status fit_or_advise(const tamis_ledger *ledger, const tmi_ledger_account *a, const request *r, tamis_error *err)
{
    tamis_status status = fit(a, r, tmi_store_path(ledger->file), err);
    tmi_text advice;
    if (status != TAMIS_REFUSED || !a || !err) return status;
    tmi_text_init(&advice);
    tmi_ledger_unpublished(&advice, ledger, (size_t)(a - ledger->book.accounts), 0);
    if (!advice.failed && advice.length > 0) {
        const tamis_error reason = *err;
        tmi_fail(err, status, "%.700s. %.*s", reason.message, (int)strcspn(advice.bytes, "\n"), advice.bytes);
    }
    tmi_text_clear(&advice);
    return status;
}

static tamis_status charge_or_ask(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge, bool writing, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    request r = {0};
    tmi_owner owner = {.lock = -1};
    bool behind = false;
    int64_t number = 0, claim = 0, written_as = 0;
    if (!charged) return tmi_fail(err, TAMIS_INVALID, "charged: NULL");
    *charged = (tamis_charged){0};
    if (!ledger) return tmi_fail(err, TAMIS_INVALID, "ledger: NULL");
    if (writing && !ledger->writing) return tmi_fail(err, TAMIS_INVALID, "ledger: open for reading only");
    TMI_TRY(request_make(&r, charge, err));
    TMI_TRY(tmi_store_begin(ledger->file, writing, err));
    TMI_TRY(tmi_store_catch_up(ledger->file, &ledger->book, NULL, err));
    const tmi_ledger_account *a = tmi_book_account(&ledger->book, charge->survey);
    if (a && charge->new_account)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "%.200s has an account in this ledger already, and a reason for a new one would be recorded "
                         "nowhere: leave --new-account out", a->survey));
    if (!a && !r.has_budget)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "budget: expected what %.200s may spend in all: it has no account yet", charge->survey));
    const tmi_ledger_wave *w = a ? tmi_account_wave(a, r.wave.name) : NULL;
    if (a && !w && !r.wave.name)
        TMI_TRY(tmi_fail(err, TAMIS_REFUSED, "%.200s: its releases name their wave, and this plan names none; nothing was spent. Write the wave of these "
                         "rows in the plan, e.g. `wave: %.200s`", a->survey, a->waves[a->wave_count - 1].wave.name));
    if (a) TMI_TRY(compare(a, w, &r, err));
    if (a) TMI_TRY(compare_budget(a, &r, tmi_store_path(ledger->file), err));
    TMI_TRY(may_have_source(&ledger->book, a, &r, err));
    const tmi_ledger_charge *earlier = charge->again ? NULL : same(&ledger->book, a, &r);
    if (earlier) {
        TMI_TRY(give_back(charged, ledger, earlier, err));
        goto done;
    }
    const tmi_ledger_charge *open = NULL;
    if (!charge->again) TMI_TRY(unpublished(&open, ledger, a, &r, err));
    if (!open) TMI_TRY(fit_or_advise(ledger, a, &r, err));
    else charged->unpublished = open->number;
    if (!writing) goto done;
    number = charged->unpublished;
    if (open) {
        TMI_TRY(tmi_ledger_claim(&claim, ledger, open, charge->leftover, err));
    } else {
        TMI_TRY(write_charge(&number, &behind, &owner, ledger, a, w, &r, err));
        TMI_TRY(tmi_store_commit(ledger->file, err));
        if (charge->leftover) tmi_ledger_own(ledger, &owner);
    }
    written_as = number;
    TMI_TRY(tmi_store_catch_up_to(ledger->file, &ledger->book, claim ? claim : number, err)); /* what was written reads as it was meant */
    const tmi_ledger_charge *written = tmi_book_charge(&ledger->book, number);
    if (written) TMI_TRY(tell(charged, &ledger->book, written, err));
    charged->clock_behind = behind;
done:
    if (ledger->file) tmi_store_cancel(ledger->file);
    tmi_owner_clear(&owner, tmi_store_place(ledger->file), false); /* whether the commit reached the disk is not known */
    if (status != TAMIS_OK) tamis_charged_clear(charged);
    if (status != TAMIS_OK) charged->entry = written_as; /* the charge stands */
    request_clear(&r);
    return status;
}

tamis_status tamis_ledger_charge(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge, tamis_error *err)
{
    return charge_or_ask(charged, ledger, charge, true, err);
}

tamis_status tamis_ledger_ask(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge, tamis_error *err)
{
    return charge_or_ask(charged, ledger, charge, false, err);
}

void tamis_charged_clear(tamis_charged *charged)
{
    if (!charged) return;
    tmi_free(charged->measurements);
    tmi_free(charged->new_account);
    *charged = (tamis_charged){0};
}

/* ---- looking ---- */

size_t tamis_ledger_accounts(const tamis_ledger *ledger)
{
    return ledger ? ledger->book.account_count : 0;
}

static const tmi_ledger_account *account_at(const tamis_ledger *ledger, size_t account)
{
    return account < tamis_ledger_accounts(ledger) ? &ledger->book.accounts[account] : NULL;
}

const char *tamis_ledger_survey(const tamis_ledger *ledger, size_t account)
{
    const tmi_ledger_account *a = account_at(ledger, account);
    return a ? a->survey : NULL;
}

const char *tamis_ledger_frozen(const tamis_ledger *ledger, size_t account)
{
    const tmi_ledger_account *a = account_at(ledger, account);
    return a ? a->waves[0].frozen : NULL;
}

const char *tamis_ledger_design(const char **reason, const tamis_ledger *ledger, size_t account)
{
    const tmi_ledger_account *a = account_at(ledger, account);
    const tmi_ledger_wave *w = a ? &a->waves[a->wave_count - 1] : NULL; /* where several have the same sample, they have one design */
    const char *apart = a ? tmi_waves_apart(&a->waves[0].wave, sizeof *w, a->wave_count) : NULL;
    if (reason) *reason = !a ? "there is no such account" : apart ? apart : w->reason ? w->reason : w->design ? NULL : "the account names no design for it";
    return a && !apart ? w->design : NULL;
}

int64_t tamis_ledger_find(const tamis_ledger *ledger, const char *survey)
{
    const tmi_ledger_account *a = ledger && survey ? tmi_book_account(&ledger->book, survey) : NULL;
    return a ? (int64_t)(a - ledger->book.accounts) : -1;
}
