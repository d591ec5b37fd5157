#include "ledger/request.h"

#include <string.h>

#include "base/memory.h"

void tmi_request_clear(tmi_ledger_request *r)
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
static tamis_status take_json(tmi_json **value, char **canonical, const char *given, const char *expected,
                              bool (*is_right)(const tmi_json *), tamis_error *err)
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

static bool is_object(const tmi_json *value) { return tmi_json_kind_of(value) == TMI_JSON_OBJECT; }

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

tamis_status tmi_request_make(tmi_ledger_request *r, const tamis_charge *charge, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *r = (tmi_ledger_request){.charge = charge};
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
    if (charge->source)
        TMI_TRY(take_json(&r->parts, &r->parts_text, charge->source, "source: expected a JSON list of texts", tmi_is_parts, err));
    tmi_sha256_text(r->identity, charge->measures, strlen(charge->measures));
done:
    if (status != TAMIS_OK) {
        tmi_request_clear(r);
        *r = (tmi_ledger_request){0};
    }
    return status;
}

tamis_status tmi_charge_check(const tamis_charge *charge, tamis_error *err)
{
    tmi_ledger_request r;
    tamis_status status = tmi_request_make(&r, charge, err);
    tmi_request_clear(&r);
    return status;
}
