/* Everything that the book holds, for other programs. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/ledger.h"

static void put_field(tmi_text *csv, const char *text)
{
    const bool quote = strpbrk(text, ",\"\r\n") != NULL;
    if (quote) tmi_text_put(csv, "\"");
    for (const char *c = text; *c; c++) tmi_text_add(csv, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    if (quote) tmi_text_put(csv, "\"");
}

/* An exact number, or nothing. */
static void put_number(tmi_text *csv, const tamis_number *number)
{
    char *text = NULL;
    if (number && tamis_number_write(&text, number, NULL) != TAMIS_OK) csv->failed = true;
    tmi_text_put(csv, ",");
    if (text) put_field(csv, text);
    tamis_free(text);
}

static void write_csv(tmi_text *csv, const tmi_book *book)
{
    tmi_text_put(csv, "number,time,survey,wave,release,state,released,epsilon,delta,rho,mu_squared,hash,voided,reason\n");
    for (size_t i = 0; i < book->charge_count; i++) {
        const tmi_ledger_charge *c = &book->charges[i];
        tmi_text_format(csv, "%" PRId64 ",%s,", c->number, c->time);
        put_field(csv, book->accounts[c->account].survey);
        const char *wave = book->accounts[c->account].waves[c->wave].wave.name;
        tmi_text_put(csv, ",");
        put_field(csv, wave ? wave : "");
        tmi_text_put(csv, ",");
        put_field(csv, c->release);
        tmi_text_format(csv, ",%s,%s", c->released ? "released" : c->voided ? "voided" : "charged", c->released_time);
        put_number(csv, c->amount.eps);
        put_number(csv, c->amount.delta);
        put_number(csv, c->amount.rho);
        put_number(csv, c->amount.mu_squared);
        tmi_text_format(csv, ",%s,%s,", c->hash, c->voided_time);
        if (c->void_reason) put_field(csv, c->void_reason);
        tmi_text_put(csv, "\n");
    }
}

typedef struct writing {
    tmi_json_out *out;
    tamis_ledger *ledger;
} writing;

static tamis_status put_entry(void *context, int64_t number, const char *entry, const char *hash, tamis_error *err)
{
    writing *w = context;
    char *kept = NULL;
    tamis_status status = tmi_store_measurements(&kept, w->ledger->file, number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_open(w->out, '{');
    tmi_json_add_string(w->out, "entry", entry);
    tmi_json_add_string(w->out, "hash", hash);
    if (kept) tmi_json_add_string(w->out, "measurements", kept);
    tmi_json_close(w->out, '}');
    tmi_free(kept);
    return TAMIS_OK;
}

static tamis_status export(char **text, tamis_ledger *ledger, bool json, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_text t;
    tmi_json_out out;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!ledger) return tmi_fail(err, TAMIS_INVALID, "ledger: NULL");
    tmi_text_init(&t);
    TMI_TRY(tmi_ledger_begin(ledger, false, err));
    if (json) {
        tmi_json_out_init(&out, &t, true);
        tmi_json_open(&out, '{');
        tmi_json_add_open(&out, "entries", '[');
        TMI_TRY(tmi_store_each(ledger->file, put_entry, &(writing){&out, ledger}, err));
        tmi_json_close(&out, ']');
        tmi_json_close(&out, '}');
        tmi_text_put(&t, "\n");
    } else {
        write_csv(&t, &ledger->book);
    }
    TMI_TRY(tmi_text_take(text, &t, err));
done:
    tmi_store_cancel(ledger->file);
    tmi_text_clear(&t);
    return status;
}

tamis_status tamis_ledger_csv(char **csv, tamis_ledger *ledger, tamis_error *err) { return export(csv, ledger, false, err); }

tamis_status tamis_ledger_entries_json(char **json, tamis_ledger *ledger, tamis_error *err)
{
    return export(json, ledger, true, err);
}
