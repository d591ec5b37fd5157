/* Entries as text. */
#include <string.h>

#include "ledger/book.h"

tamis_status tmi_chain_hash(char hash[TMI_SHA256_TEXT], const char *before, const char *entry, tamis_error *err)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_put(&text, before);
    tmi_text_put(&text, "\n");
    tmi_text_put(&text, entry);
    if (!text.failed) tmi_sha256_text(hash, text.bytes, text.length);
    tamis_status status = text.failed ? tmi_fail_memory(err) : TAMIS_OK;
    tmi_text_clear(&text);
    return status;
}

typedef struct writing {
    tmi_text text;
    tmi_json_out out;
} writing;

static void begin(writing *w, const tmi_entry_head *head, const char *kind)
{
    tmi_text_init(&w->text);
    tmi_json_out_init(&w->out, &w->text, false);
    tmi_json_open(&w->out, '{');
    tmi_json_add_integer(&w->out, "number", head->number);
    tmi_json_add_string(&w->out, "time", head->time);
    if (head->clock_behind) tmi_json_add_boolean(&w->out, "clock_behind", true);
    tmi_json_add_string(&w->out, "kind", kind);
}

/* Ends the entry, or drops it if something went wrong. */
static tamis_status end(char **entry, writing *w, tamis_status status, tamis_error *err)
{
    *entry = NULL;
    if (status == TAMIS_OK) {
        tmi_json_close(&w->out, '}');
        status = tmi_text_take(entry, &w->text, err);
    }
    tmi_text_clear(&w->text);
    return status;
}

static void put_wave(writing *w, const tmi_wave *wave)
{
    if (!wave->name) return;
    tmi_json_key(&w->out, "wave");
    tmi_wave_put(&w->out, wave);
}

/* `parts` may be NULL. */
static void put_parts(writing *w, const tmi_value *parts)
{
    if (!parts) return;
    tmi_json_key(&w->out, "source");
    tmi_json_put_value(&w->out, parts);
}

/* What a wave fixes. */
static void put_fixed(writing *w, const tmi_value *frozen, const tmi_value *parts)
{
    tmi_json_key(&w->out, "frozen");
    tmi_json_put_value(&w->out, frozen);
    put_parts(w, parts);
}

static tamis_status put_coin(writing *w, const char *key, const tmi_ledger_coin *coin, tamis_error *err)
{
    tmi_json_key(&w->out, key);
    return tmi_coin_put(&w->out, coin, err);
}

tamis_status tmi_entry_account(char **entry, const tmi_entry_head *head, const char *survey, const tmi_wave *wave,
                               const tmi_ledger_coin *budget, const tmi_value *frozen, const tmi_value *parts,
                               const char *new_account, tamis_error *err)
{
    writing w;
    begin(&w, head, "account");
    tmi_json_add_string(&w.out, "survey", survey);
    put_wave(&w, wave);
    tamis_status status = put_coin(&w, "budget", budget, err);
    put_fixed(&w, frozen, parts);
    if (new_account) tmi_json_add_string(&w.out, "new_account", new_account);
    return end(entry, &w, status, err);
}

tamis_status tmi_entry_wave(char **entry, const tmi_entry_head *head, const char *survey, const tmi_wave *wave,
                            const tmi_value *frozen, const tmi_value *parts, tamis_error *err)
{
    writing w;
    begin(&w, head, "wave");
    tmi_json_add_string(&w.out, "survey", survey);
    put_wave(&w, wave);
    put_fixed(&w, frozen, parts);
    return end(entry, &w, TAMIS_OK, err);
}

tamis_status tmi_entry_raised(char **entry, const tmi_entry_head *head, const char *survey, const tmi_ledger_coin *budget,
                              const char *reason, tamis_error *err)
{
    writing w;
    begin(&w, head, "raised");
    tmi_json_add_string(&w.out, "survey", survey);
    tamis_status status = put_coin(&w, "budget", budget, err);
    tmi_json_add_string(&w.out, "reason", reason);
    return end(entry, &w, status, err);
}

tamis_status tmi_entry_charge(char **entry, const tmi_entry_head *head, const char *survey, const char *wave, const char *release,
                              const tmi_ledger_coin *amount, const char *measures, const tmi_value *parts, bool claimable,
                              tamis_error *err)
{
    writing w;
    begin(&w, head, "charge");
    tmi_json_add_string(&w.out, "survey", survey);
    if (wave) tmi_json_add_string(&w.out, "wave", wave);
    tmi_json_add_string(&w.out, "release", release);
    tamis_status status = put_coin(&w, "amount", amount, err);
    tmi_json_add_string(&w.out, "measures", measures);
    put_parts(&w, parts);
    if (claimable) tmi_json_add_boolean(&w.out, "claimable", true);
    return end(entry, &w, status, err);
}

tamis_status tmi_entry_released(char **entry, const tmi_entry_head *head, int64_t charge, int64_t claim, const char *measurements,
                                const char *rows_version, tamis_error *err)
{
    writing w;
    char hash[TMI_SHA256_TEXT];
    tmi_sha256_text(hash, measurements, strlen(measurements));
    begin(&w, head, "released");
    tmi_json_add_integer(&w.out, "entry", charge);
    if (claim > 0) tmi_json_add_integer(&w.out, "claim", claim);
    tmi_json_add_string(&w.out, "measurements", hash);
    if (rows_version) tmi_json_add_string(&w.out, "rows_version", rows_version);
    return end(entry, &w, TAMIS_OK, err);
}

tamis_status tmi_entry_voided(char **entry, const tmi_entry_head *head, int64_t charge, const char *reason, tamis_error *err)
{
    writing w;
    begin(&w, head, "voided");
    tmi_json_add_integer(&w.out, "entry", charge);
    tmi_json_add_string(&w.out, "reason", reason);
    return end(entry, &w, TAMIS_OK, err);
}

tamis_status tmi_entry_claimed(char **entry, const tmi_entry_head *head, int64_t charge, const tmi_value *parts, tamis_error *err)
{
    writing w;
    begin(&w, head, "claimed");
    tmi_json_add_integer(&w.out, "entry", charge);
    put_parts(&w, parts);
    return end(entry, &w, TAMIS_OK, err);
}
