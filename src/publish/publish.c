#include "publish/publish.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

typedef struct state {
    tmi_key *key;
    tmi_folder folder;
    tmi_bill bill;
    bool repeated; /* the numbers are those that the ledger has kept */
    bool paid;     /* there is a charge for which nothing was published yet */
    bool kept;     /* its numbers are in the ledger */
    char *certificate, hash[TMI_SHA256_TEXT];
} state;

static void clear(state *s)
{
    tmi_key_free(s->key);
    if (s->folder.final) tmi_folder_clear(&s->folder);
    tmi_free(s->certificate);
}

static void tell(const tmi_publication *p, tamis_release_phase phase)
{
    if (p->phase) p->phase(p->phase_context, phase, p->account->charged.entry);
}

/* ---- before the charge ---- */

/* A key that cannot sign, and a folder that cannot be made, cost nothing. */
static tamis_status begin(state *s, const tmi_publication *p, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (p->sign && !p->folder)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "sign: a signature is written to the output folder, and there is none"));
    if (p->sign) TMI_TRY(tmi_key_read_secret(&s->key, p->sign, err));
    if (p->sign) TMI_TRY(tmi_key_fingerprint(p->signed_by, s->key, err));
    if (p->rows_version) TMI_TRY(tmi_check_name(p->rows_version, "rows_version", err));
    if (p->folder) TMI_TRY(tmi_folder_begin(&s->folder, p->folder, err));
    if (p->ledger) TMI_TRY(p->steps->bill(&s->bill, p->job, err));
    s->bill.charge.leftover = p->folder ? s->folder.leftover : "";

done:
    return status;
}

/* Whether what was published before may be given back. */
static tamis_status check_repeat(state *s, const tmi_publication *p, tamis_error *err)
{
    const tamis_charged *charged = &p->account->charged;
    s->repeated = charged->measurements != NULL;
    return s->repeated && p->steps->repeat ? p->steps->repeat(charged, p->job, err) : TAMIS_OK;
}

static tamis_status look(state *s, const tmi_publication *p, tamis_error *err)
{
    if (!p->ledger) return TAMIS_OK;
    tamis_status status = tmi_account_look(p->account, &s->bill, err);
    return status == TAMIS_OK ? check_repeat(s, p, err) : status;
}

static tamis_status check_feasibility(state *s, const tmi_publication *p, tamis_error *err)
{
    tamis_status status = p->steps->check ? p->steps->check(s->repeated, p->job, err) : TAMIS_OK;
    tmi_account_clear(p->account); /* the ledger is free for others, until the charge */
    if (status == TAMIS_OK) tell(p, TAMIS_PHASE_CHECKED);
    return status;
}

/* ---- the charge ---- */

/* The account may have changed since it was looked at. After a failure charged.entry is 0, unless the charge is in the ledger. */
static tamis_status charge(state *s, const tmi_publication *p, tamis_error *err)
{
    const tamis_charged *charged = &p->account->charged;
    tamis_status status = TAMIS_OK;
    if (p->ledger) {
        status = tmi_account_charge(p->account, &s->bill, err);
        s->kept = charged->unfinished;
        s->paid = charged->entry > 0 && (!charged->measurements || charged->unfinished);
    }
    if (status == TAMIS_OK && (status = check_repeat(s, p, err)) != TAMIS_OK) s->paid = false;
    if (status == TAMIS_OK && p->ledger && !s->repeated) tell(p, TAMIS_PHASE_CHARGED);
    if (status == TAMIS_OK && p->steps->charged) status = p->steps->charged(p->job, err);
    return status;
}

/* ---- after it ---- */

static tamis_status make(state *s, const tmi_publication *p, tamis_error *err)
{
    if (s->repeated) return p->steps->recall ? p->steps->recall(p->account->charged.measurements, p->job, err) : TAMIS_OK;
    return p->steps->make ? p->steps->make(p->job, err) : TAMIS_OK;
}

static tamis_status keep(state *s, const tmi_publication *p, tamis_error *err)
{
    const char *text;
    tamis_status status = TAMIS_OK;
    if (!p->ledger || s->repeated) goto done;
    TMI_TRY(p->steps->keep(&text, p->job, err));
    TMI_TRY(tmi_ledger_keep(p->account->ledger, p->account->charged.entry, text, p->rows_version, err));
    s->kept = true;

done:
    if (status == TAMIS_OK && !s->repeated) tell(p, TAMIS_PHASE_READ);
    return status;
}

static tamis_status write_folder(state *s, const tmi_publication *p, tamis_error *err)
{
    tmi_folder *folder = p->folder ? &s->folder : NULL;
    tamis_status status = TAMIS_OK;
    if (folder) TMI_TRY(tmi_folder_make(folder, err));
    if (p->steps->write) TMI_TRY(p->steps->write(&s->certificate, s->hash, folder, p->job, err));
    if (folder) TMI_TRY(tmi_folder_write(folder, TMI_CERTIFICATE, s->certificate, strlen(s->certificate), err));

done:
    return status;
}

static tamis_status sign(state *s, tamis_error *err)
{
    char message[TMI_CERTIFICATE_MESSAGE];
    unsigned char signature[TMI_SIGNATURE_BYTES];
    if (!s->key) return TAMIS_OK;
    tmi_certificate_message(message, s->hash);
    tamis_status status = tmi_sign(signature, s->key, message, err);
    return status == TAMIS_OK ? tmi_folder_write(&s->folder, TMI_SIGNATURE, (const char *)signature, sizeof signature, err)
                              : status;
}

static tamis_status release(state *s, const tmi_publication *p, tamis_error *err)
{
    tamis_status status = p->folder ? tmi_folder_end(&s->folder, err) : TAMIS_OK;
    if (status == TAMIS_OK && p->ledger) tmi_ledger_published(p->account->ledger, p->account->charged.entry);
    if (status == TAMIS_OK) tell(p, TAMIS_PHASE_WRITTEN);
    return status;
}

/* ---- failures ---- */

/* Where a text is in the message, as far as it is there. */
static tamis_error_piece piece_of(const tamis_error *err, const char *text)
{
    char longest[301]; /* what a message has of a path */
    snprintf(longest, sizeof longest, "%s", text);
    const char *at = strstr(err->message, longest);
    return at ? (tamis_error_piece){(uint16_t)(at - err->message), (uint16_t)strlen(longest)} : (tamis_error_piece){0};
}

/* "epsilon 1"; nothing without memory */
static void put_amount(tmi_text *text, const state *s)
{
    tmi_ledger_coin coin = {0};
    tamis_coin amount = s->bill.charge.amount;
    if (amount.epsilon) amount.rho = NULL; /* whether the account counts it so only the ledger knows */
    if (tmi_coin_make(&coin, &amount, "amount", NULL) == TAMIS_OK) tmi_coin_words(text, &coin, true);
    tmi_coin_clear(&coin);
}

static tamis_status charge_stands(const state *s, const tmi_publication *p, tamis_error *err)
{
    tmi_text amount;
    if (!err) return TAMIS_SYSTEM;
    const tamis_error reason = *err;
    const long long entry = (long long)p->account->charged.entry;
    tmi_text_init(&amount);
    put_amount(&amount, s);
    const char *words = amount.failed || !amount.bytes ? "what was asked for" : amount.bytes;
    if (s->kept)
        tmi_fail(err, TAMIS_SYSTEM,
                 "%.900s; %s was charged (entry %lld of %.300s), and the release is kept there, but was not published. %s, to "
                 "another folder if this one exists: it costs nothing",
                 reason.message, words, entry, p->ledger, p->steps->again);
    else
        tmi_fail(err, TAMIS_SYSTEM,
                 "%.900s; %s was charged (entry %lld of %.300s), and nothing was published. %s: it takes over this charge and "
                 "pays nothing. Or void the charge: tamis ledger void %.300s %lld --reason TEXT",
                 reason.message, words, entry, p->ledger, p->steps->again, p->ledger, entry);
    tmi_because(err, reason.reason, TAMIS_SYSTEM);
    err->entry = p->account->charged.entry;
    err->amount = piece_of(err, words);
    err->ledger = piece_of(err, p->ledger);
    tmi_text_clear(&amount);
    return TAMIS_SYSTEM;
}

/* What a caller needs to say if it cannot show what was published; without memory it has nothing to say. */
static void name_charge(const state *s, const tmi_publication *p)
{
    tmi_text text;
    if (!p->charge) return;
    tmi_text_init(&text);
    if (p->ledger) {
        put_amount(&text, s);
        tmi_text_format(&text, " (entry %lld of %s)", (long long)p->account->charged.entry, p->ledger);
    }
    if (tmi_text_take(p->charge, &text, NULL) != TAMIS_OK) *p->charge = NULL;
}

void tmi_nothing_charged(tamis_error *err)
{
    if (err && strcmp(err->message, "cancelled") == 0)
        tmi_because(err, "cancelled", tmi_fail(err, TAMIS_SYSTEM, "cancelled; nothing was charged"));
}

tamis_status tmi_publish(const tmi_publication *p, tamis_error *err)
{
    state s = {0};
    tamis_status status;
    TMI_TRY(begin(&s, p, err));
    TMI_TRY(look(&s, p, err));
    TMI_TRY(check_feasibility(&s, p, err));
    if (p->rehearsed) goto done;
    TMI_TRY(charge(&s, p, err));
    TMI_TRY(make(&s, p, err));
    TMI_TRY(keep(&s, p, err));
    status = write_folder(&s, p, err);
    if (status == TAMIS_OK) status = sign(&s, err);
    if (status == TAMIS_OK) status = release(&s, p, err);
    if (status == TAMIS_SYSTEM) tmi_because(err, "disk", status);
    if (status == TAMIS_OK) name_charge(&s, p);

done:
    if (status != TAMIS_OK && p->steps->undo) p->steps->undo(p->job);
    if (status != TAMIS_OK && s.paid) status = charge_stands(&s, p, err);
    else if (status == TAMIS_SYSTEM && p->ledger) tmi_nothing_charged(err);
    clear(&s);
    return status;
}
