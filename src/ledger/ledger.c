#include "ledger/ledger.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "ledger/request.h"

static int64_t now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_REALTIME, &t) == 0 ? (int64_t)t.tv_sec : 0;
}

/* ---- opening ---- */

tamis_status tmi_ledger_check_writing(const tamis_ledger *ledger, tamis_error *err)
{
    if (!ledger) return tmi_fail(err, TAMIS_INVALID, "ledger: NULL");
    return ledger->writing ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "ledger: open for reading only");
}

tamis_status tmi_ledger_begin(tamis_ledger *ledger, bool writing, tamis_error *err)
{
    if (ledger->process != getpid())
        return tmi_fail(err, TAMIS_INVALID,
                        "ledger: it was opened by another process, of which this one is a copy: open it here");
    tamis_status status = tmi_store_begin(ledger->file, writing, err);
    return status == TAMIS_OK ? tmi_store_catch_up(ledger->file, &ledger->book, NULL, err) : status;
}

static tamis_status load(tamis_ledger *ledger, tamis_error *err)
{
    tamis_error reason = {0};
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_ledger_begin(ledger, false, err));
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
    new->process = getpid();
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

/* ---- what is there already ---- */

static bool is_same(const tmi_book *book, const tmi_ledger_charge *c, const tmi_ledger_account *a, const tmi_ledger_request *r)
{
    return &book->accounts[c->account] == a && strcmp(c->identity, r->identity) == 0;
}

/* The latest release of the same; NULL if there is none. */
static const tmi_ledger_charge *same(const tmi_book *book, const tmi_ledger_account *a, const tmi_ledger_request *r)
{
    for (size_t i = book->charge_count; a && i-- > 0;) {
        const tmi_ledger_charge *c = &book->charges[i];
        if (c->released && is_same(book, c, a, r)) return c;
    }
    return NULL;
}

/* The latest charge of the same that was never published, and can be claimed instead of paying again; NULL if there is none.
 * REFUSED if one of them is just being made, unless fresh numbers are asked for: these are then paid for, as beside an owner
 * who is unknown. */
static tamis_status unpublished(const tmi_ledger_charge **open, const tamis_ledger *ledger, const tmi_ledger_account *a,
                                const tmi_ledger_request *r, tamis_error *err)
{
    const tmi_book *book = &ledger->book;
    int64_t running = 0;
    *open = NULL;
    if (!r->charge->leftover) return TAMIS_OK;
    for (size_t i = book->charge_count; a && i-- > 0;) {
        const tmi_ledger_charge *c = &book->charges[i];
        if (!c->claimable || !tmi_charge_is_open(c) || !is_same(book, c, a, r) || !tmi_coin_equal(&c->amount, &r->amount))
            continue;
        const tmi_owner_state state = tmi_owner_ask(tmi_store_place(ledger->file), c->number, c->hash);
        if (state == TMI_OWNER_DEAD || (state == TMI_OWNER_UNKNOWN && !r->charge->again)) {
            *open = c;
            return TAMIS_OK;
        }
        if (state == TMI_OWNER_ALIVE) running = c->number;
    }
    if (running == 0 || r->charge->again) return TAMIS_OK;
    return tmi_fail(
        err, TAMIS_REFUSED,
        "%.200s: another process is making the same numbers (entry %lld of the ledger); nothing was spent. Wait until it has "
        "ended and try again, which then costs nothing; or pay for other numbers, by `release --again` or `tally --repeat "
        "charged`",
        a->survey, (long long)running);
}

/* The charge as it is reported to the caller. */
static tamis_status report(tamis_charged *charged, const tmi_book *book, const tmi_ledger_charge *c, tamis_error *err)
{
    const char *reason = book->accounts[c->account].new_account;
    charged->entry = c->number;
    charged->claim = c->claim;
    charged->opened = tmi_book_opened(book, c);
    charged->created = tmi_book_first_from(book, c) < INT64_MAX;
    snprintf(charged->hash, sizeof charged->hash, "%s", c->hash);
    snprintf(charged->time, sizeof charged->time, "%s", c->time);
    return tmi_copy_string(&charged->new_account, reason, err);
}

/* Gives back what was kept, if it is still what it was. */
static tamis_status give_back(tamis_charged *charged, tamis_ledger *ledger, const tmi_ledger_charge *c, tamis_error *err)
{
    char hash[TMI_SHA256_TEXT];
    tamis_status status = tmi_store_measurements(&charged->measurements, ledger->file, c->released, err);
    if (status != TAMIS_OK) return status;
    charged->unfinished = tmi_owner_ask(tmi_store_place(ledger->file), c->number, c->hash) == TMI_OWNER_DEAD;
    if (charged->measurements) tmi_sha256_text(hash, charged->measurements, strlen(charged->measurements));
    if (!charged->measurements || strcmp(hash, c->kept) != 0)
        return tmi_fail_file(err, TAMIS_INVALID, tmi_store_path(ledger->file), 0,
                             "damaged or tampered with: the numbers kept for entry %lld are not those that were released",
                             (long long)c->number);
    status = tmi_copy_string(&charged->rows_version, c->rows_version, err);
    return status == TAMIS_OK ? report(charged, &ledger->book, c, err) : status;
}

/* The source, as it is noted with a charge to the wave; NULL: the wave has noted just that, or is opened with it. */
static const tmi_value *new_parts(const tmi_ledger_wave *w, const tmi_ledger_request *r)
{
    return w && r->parts && (!w->parts || !tmi_value_equal(w->parts, r->parts)) ? r->parts : NULL;
}

/* ---- writing ---- */

tamis_status tmi_ledger_next(tmi_entry_head *head, char time[TAMIS_LEDGER_TIME], const tamis_ledger *ledger, tamis_error *err)
{
    const time_t seconds = (time_t)ledger->now();
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || strftime(time, TAMIS_LEDGER_TIME, "%Y-%m-%dT%H:%M:%SZ", &utc) != TAMIS_LEDGER_TIME - 1)
        return tmi_fail(err, TAMIS_SYSTEM, "the clock of this computer does not show a four-digit year");
    *head = (tmi_entry_head){.number = ledger->book.number + 1, .time = time};
    if (strcmp(time, ledger->book.time) < 0) {
        snprintf(time, TAMIS_LEDGER_TIME, "%s", ledger->book.time);
        head->clock_behind = true;
    }
    return TAMIS_OK;
}

/* Adds an entry after the hash `before`, which becomes the new one's. */
static tamis_status append(tamis_ledger *ledger, const tmi_entry_head *head, char before[TMI_SHA256_TEXT], const char *entry,
                           tamis_error *err)
{
    char hash[TMI_SHA256_TEXT];
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_chain_hash(hash, before, entry, err));
    TMI_TRY(tmi_store_add_entry(ledger->file, head->number, entry, hash, err));
    memcpy(before, hash, sizeof hash);
done:
    return status;
}

tamis_status tmi_ledger_add(tamis_ledger *ledger, const tmi_entry_head *head, const char *entry, tamis_error *err)
{
    char hash[TMI_SHA256_TEXT];
    memcpy(hash, ledger->book.hash, sizeof hash);
    return append(ledger, head, hash, entry, err);
}

/* The charge, and before it the account or the wave if it is new. *number: of the charge; *owner: of a claimable one. */
static tamis_status write_charge(int64_t *number, bool *behind, tmi_owner *owner, tamis_ledger *ledger,
                                 const tmi_ledger_account *a, const tmi_ledger_wave *w, const tmi_ledger_request *r,
                                 tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_entry_head head;
    char time[TAMIS_LEDGER_TIME], hash[TMI_SHA256_TEXT], *entry = NULL;
    const tamis_charge *charge = r->charge;
    TMI_TRY(tmi_ledger_next(&head, time, ledger, err));
    memcpy(hash, ledger->book.hash, sizeof hash);
    *behind = head.clock_behind;
    if (!a)
        TMI_TRY(
            tmi_entry_account(&entry, &head, charge->survey, &r->wave, &r->budget, r->kept, r->parts, charge->new_account, err));
    else if (!w) TMI_TRY(tmi_entry_wave(&entry, &head, charge->survey, &r->wave, r->kept, r->parts, err));
    if (entry) {
        TMI_TRY(append(ledger, &head, hash, entry, err));
        tmi_free(entry);
        entry = NULL;
        head.number++;
    }
    if (r->wave.name || charge->leftover || new_parts(w, r)) TMI_TRY(tmi_store_need_format(ledger->file, 2, err));
    if (r->amount.strata.count > 0 || r->budget.strata.count > 0) TMI_TRY(tmi_store_need_format(ledger->file, 5, err));
    if (r->amount.eps && r->amount.rho) TMI_TRY(tmi_store_need_format(ledger->file, 4, err));
    if (r->amount.mu_squared) TMI_TRY(tmi_store_need_format(ledger->file, 6, err));
    TMI_TRY(tmi_entry_charge(&entry, &head, charge->survey, r->wave.name, charge->release, &r->amount, charge->measures,
                             new_parts(w, r), charge->leftover != NULL, err));
    TMI_TRY(append(ledger, &head, hash, entry, err));
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
static tamis_status fit_or_advise(const tamis_ledger *ledger, const tmi_ledger_account *a, const tmi_ledger_request *r,
                                  tamis_error *err)
{
    tamis_status status = tmi_admit_amount(a, r, tmi_store_path(ledger->file), err);
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

/* The disk failed in the middle of a commit: whether the charge reached it is seen by whoever opens the ledger next. */
static void unknown(const tmi_ledger_request *r, int64_t number, const char *file, tamis_error *err)
{
    tmi_text amount;
    if (!err) return;
    const tamis_error reason = *err;
    tmi_text_init(&amount);
    tmi_coin_words(&amount, &r->amount, true);
    tmi_fail(
        err, reason.status,
        "%.700s; whether %s was charged (entry %lld of %.300s) is not known, and nothing was published. Run the same command "
        "again: it looks, and %s",
        reason.message, amount.failed ? "the amount" : amount.bytes, (long long)number, file,
        r->charge->leftover ? "takes over the charge if there is one" : "pays anew; `tamis ledger show` says what was charged");
    tmi_text_clear(&amount);
}

tamis_status tmi_ledger_charge_facts(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge,
                                     const tmi_charge_facts *facts, bool writing, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ledger_request r = {0};
    tmi_owner owner = {.lock = -1};
    bool behind = false;
    int64_t number = 0, claim = 0, written_as = 0;
    if (!charged) return tmi_fail(err, TAMIS_INVALID, "charged: NULL");
    *charged = (tamis_charged){0};
    if (!ledger) return tmi_fail(err, TAMIS_INVALID, "ledger: NULL");
    if (writing && tmi_ledger_check_writing(ledger, err) != TAMIS_OK) return TAMIS_INVALID;
    TMI_TRY(tmi_request_make(&r, charge, facts, err));
    TMI_TRY(tmi_ledger_begin(ledger, writing, err));
    const tmi_ledger_account *a = tmi_book_account(&ledger->book, charge->survey);
    if (a && charge->new_account && (!a->new_account || strcmp(a->new_account, charge->new_account) != 0))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "%.200s already has an account in this ledger, so %s would not be recorded: leave --new-account out",
                         a->survey, a->new_account ? "another reason for opening it" : "the reason for a new one"));
    if (!a && !r.has_budget)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "budget: must be what all releases of %.200s may spend together: it has no account yet",
                         charge->survey));
    TMI_TRY(tmi_request_settle(&r, a, err));
    const tmi_ledger_wave *w = a ? tmi_account_wave(a, r.wave.name) : NULL;
    if (a && !w && !r.wave.name)
        TMI_TRY(tmi_fail(err, TAMIS_REFUSED,
                         "%.200s: its earlier releases name a wave, and this plan names none; nothing was spent. Write the wave "
                         "of these rows in the plan, e.g. `wave: %.200s`",
                         a->survey, a->waves[a->wave_count - 1].wave.name));
    if (a) TMI_TRY(tmi_admit_frozen(&ledger->book, a, w, &r, err));
    if (a) TMI_TRY(tmi_admit_budget(a, &r, tmi_store_path(ledger->file), err));
    TMI_TRY(tmi_admit_source(&ledger->book, a, &r, tmi_store_place(ledger->file), err));
    if (a) TMI_TRY(tmi_admit_groups(a, &r, tmi_store_place(ledger->file), err));
    const tmi_ledger_charge *earlier = charge->again ? NULL : same(&ledger->book, a, &r);
    if (earlier) {
        TMI_TRY(give_back(charged, ledger, earlier, err));
        charged->other_source = r.parts && earlier->parts && !tmi_value_equal(r.parts, earlier->parts);
        goto done;
    }
    const tmi_ledger_charge *open = NULL;
    TMI_TRY(unpublished(&open, ledger, a, &r, err));
    if (open) TMI_TRY(tmi_admit_claim(a, &r, tmi_store_path(ledger->file), err));
    if (open && writing) {
        status = tmi_ledger_claim(&claim, ledger, open, charge->leftover, new_parts(w, &r), err);
        /* what it left cannot be deleted: fresh numbers are paid for */
        if (status == TAMIS_SYSTEM) written_as = open->number;
        if (status == TAMIS_REFUSED && charge->again) open = NULL;
        else if (status != TAMIS_OK) goto done;
    }
    if (!open) TMI_TRY(fit_or_advise(ledger, a, &r, err));
    else charged->unpublished = number = open->number;
    if (!writing) goto done;
    if (!open) {
        TMI_TRY(write_charge(&number, &behind, &owner, ledger, a, w, &r, err));
        status = tmi_store_commit(ledger->file, err);
        if (status != TAMIS_OK) unknown(&r, number, tmi_store_path(ledger->file), err);
        if (status != TAMIS_OK) goto done;
        if (charge->leftover) tmi_ledger_own(ledger, &owner);
    }
    written_as = number;
    /* what was written reads as it was meant */
    TMI_TRY(tmi_store_catch_up_to(ledger->file, &ledger->book, claim ? claim : number, err));
    const tmi_ledger_charge *written = tmi_book_charge(&ledger->book, number);
    if (written) TMI_TRY(report(charged, &ledger->book, written, err));
    charged->clock_behind = behind;
done:
    if (ledger->file) tmi_store_cancel(ledger->file);
    tmi_owner_clear(&owner, tmi_store_place(ledger->file), false); /* whether the commit reached the disk is not known */
    if (status != TAMIS_OK) tamis_charged_clear(charged);
    if (status != TAMIS_OK) charged->entry = written_as; /* the charge remains in force */
    tmi_request_clear(&r);
    return status;
}

tamis_status tamis_ledger_charge(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge, tamis_error *err)
{
    const tamis_status status = tmi_ledger_charge_facts(charged, ledger, charge, NULL, true, err);
    if (status == TAMIS_OK && charged->unfinished) tmi_owner_sweep(tmi_store_place(ledger->file), charged->entry);
    return status;
}

tamis_status tamis_ledger_ask(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge, tamis_error *err)
{
    return tmi_ledger_charge_facts(charged, ledger, charge, NULL, false, err);
}

void tamis_charged_clear(tamis_charged *charged)
{
    if (!charged) return;
    tmi_free(charged->measurements);
    tmi_free(charged->new_account);
    tmi_free(charged->rows_version);
    *charged = (tamis_charged){0};
}

/* ---- looking ---- */

size_t tamis_ledger_accounts(const tamis_ledger *ledger) { return ledger ? ledger->book.account_count : 0; }

static const tmi_ledger_account *account_at(const tamis_ledger *ledger, size_t account)
{
    return account < tamis_ledger_accounts(ledger) ? &ledger->book.accounts[account] : NULL;
}

const char *tamis_ledger_survey(const tamis_ledger *ledger, size_t account)
{
    const tmi_ledger_account *a = account_at(ledger, account);
    return a ? a->survey : NULL;
}

/* Where several waves have the same sample, they have one design: that of the last. NULL, with the reason, if there is none. */
static const tmi_ledger_wave *designed_wave(const char **reason, const tamis_ledger *ledger, size_t account)
{
    const tmi_ledger_account *a = account_at(ledger, account);
    const tmi_ledger_wave *w = a ? &a->waves[a->wave_count - 1] : NULL;
    const char *apart = a ? tmi_waves_apart(&a->waves[0].wave, sizeof *w, a->wave_count) : NULL;
    *reason = !a          ? "there is no such account"
              : apart     ? apart
              : w->reason ? w->reason
              : w->design ? NULL
                          : "the account names no design for it";
    return *reason ? NULL : w;
}

const tmi_value *tmi_ledger_design(const char **reason, const tamis_ledger *ledger, size_t account)
{
    const tmi_ledger_wave *w = designed_wave(reason, ledger, account);
    return w ? tmi_value_get(tmi_value_get(w->frozen, "outsider"), "design") : NULL;
}

const char *tamis_ledger_design(const char **reason, const tamis_ledger *ledger, size_t account)
{
    const char *why;
    const tmi_ledger_wave *w = designed_wave(reason ? reason : &why, ledger, account);
    return w ? w->design : NULL;
}

int64_t tamis_ledger_find(const tamis_ledger *ledger, const char *survey)
{
    const tmi_ledger_account *a = ledger && survey ? tmi_book_account(&ledger->book, survey) : NULL;
    return a ? (int64_t)(a - ledger->book.accounts) : -1;
}
