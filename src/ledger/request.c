#include "ledger/request.h"

#include <string.h>

#include "base/memory.h"
#include "composition/concentrated.h"
#include "composition/mu.h"
#include "num/number.h"

void tmi_request_clear(tmi_ledger_request *r)
{
    tmi_coin_clear(&r->amount);
    tmi_coin_clear(&r->budget);
    tmi_number_frees(&r->as_rho, &r->as_mu, NULL);
    tmi_value_free(r->frozen);
    tmi_value_free(r->kept);
    tmi_value_free(r->parts);
    tmi_wave_clear(&r->wave);
}

/* JSON that a caller gives; INVALID in one sentence, whatever is wrong with it. */
static tamis_status take_json(tmi_value **value, const char *given, const char *name, const char *expected,
                              bool (*is_right)(const tmi_value *), tamis_error *err)
{
    tamis_error reason = {0};
    tamis_status status = tmi_check_text(given, name, 0, TAMIS_LEDGER_TEXT, err);
    if (status != TAMIS_OK) return status;
    status = tmi_json_read(value, given, strlen(given), &reason);
    if (status == TAMIS_INVALID || (status == TAMIS_OK && !is_right(*value)))
        return tmi_fail(err, TAMIS_INVALID, "%s: must be %s", name, expected);
    return status == TAMIS_OK ? TAMIS_OK : tmi_fail_memory(err);
}

static bool is_object(const tmi_value *value) { return tmi_value_kind_of(value) == TMI_VALUE_MAP; }

static tamis_status take_wave(tmi_wave *wave, const char *given, tamis_error *err)
{
    tmi_value *value = NULL;
    tamis_status status;
    TMI_TRY(take_json(&value, given, "wave", "a JSON object", is_object, err));
    TMI_TRY(tmi_wave_read(wave, value, err));
done:
    tmi_value_free(value);
    return status;
}

static tamis_status check_wave(const tmi_wave *wave, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_check_name(wave->name, "wave", err));
    for (size_t i = 0; i < wave->group_count; i++) TMI_TRY(tmi_check_name(wave->groups[i], "wave: group", err));
done:
    return status;
}

/* What the charge says as texts. */
static tamis_status read_facts(tmi_ledger_request *r, const tamis_charge *charge, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(take_json(&r->frozen, charge->frozen, "frozen", "a JSON object", is_object, err));
    if (charge->wave) TMI_TRY(take_wave(&r->wave, charge->wave, err));
    if (charge->source) TMI_TRY(take_json(&r->parts, charge->source, "source", "a JSON list of texts", tmi_is_parts, err));
done:
    return status;
}

static tamis_status copy_facts(tmi_ledger_request *r, const tmi_charge_facts *facts, tamis_error *err)
{
    tamis_status status = tmi_value_copy(&r->frozen, facts->frozen, err);
    if (status == TAMIS_OK) status = tmi_value_copy(&r->parts, facts->source, err);
    if (status == TAMIS_OK && facts->amount) status = tmi_by_stratum_copy(&r->amount.strata, facts->amount, err);
    if (status == TAMIS_OK && facts->budget && r->has_budget) status = tmi_by_stratum_copy(&r->budget.strata, facts->budget, err);
    return status == TAMIS_OK ? tmi_wave_copy(&r->wave, facts->wave, err) : status;
}

/* Every epsilon has the rho of any mechanism with it; the caller may know of a smaller one. It moves from the amount to
 * `as_rho`. */
static tamis_status take_rho(tmi_ledger_request *r, tamis_error *err)
{
    tmi_ledger_coin *c = &r->amount;
    tamis_number *known = c->rho;
    if (!c->eps || tmi_number_sign(c->delta) > 0) return TAMIS_OK;
    c->rho = NULL;
    const tamis_status status = tmi_rho_of_pure_up(&r->as_rho, c->eps, err);
    const bool smaller = status == TAMIS_OK && known && tmi_number_compare(known, r->as_rho) < 0;
    tamis_number_free(smaller ? r->as_rho : known);
    if (smaller) r->as_rho = known;
    return status;
}

/* The same with its mu^2. A rho has one only if the caller says so. */
static tamis_status take_mu(tmi_ledger_request *r, tamis_error *err)
{
    const tamis_number *given = r->charge->mu_squared;
    tmi_ledger_coin *c = &r->amount;
    tamis_number *any = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_coin_set_mu(c, given, "amount", err));
    r->as_mu = c->mu_squared;
    c->mu_squared = NULL;
    if (!c->eps || tmi_number_sign(c->delta) > 0) return TAMIS_OK;
    TMI_TRY(tmi_mu_squared_of_pure_up(&any, c->eps, err));
    const bool smaller = r->as_mu && tmi_number_compare(r->as_mu, any) < 0;
    tamis_number_free(smaller ? any : r->as_mu);
    if (!smaller) r->as_mu = any;

done:
    return status;
}

tamis_status tmi_request_settle(tmi_ledger_request *r, const tmi_ledger_account *a, tamis_error *err)
{
    const tmi_ledger_coin *cap = a ? &a->budget : &r->budget;
    const bool pure = r->amount.eps != NULL, with_delta = cap->delta && tmi_number_sign(cap->delta) > 0;
    const bool in_rho = cap->rho || (a && tmi_losses_in_rho(&a->losses)), in_mu = a && tmi_losses_in_mu(&a->losses);
    tamis_status status = TAMIS_OK;
    if (r->as_rho && in_rho) TMI_TRY(tmi_number_copy(&r->amount.rho, r->as_rho, err));
    if (r->as_mu && (pure ? in_mu : with_delta)) TMI_TRY(tmi_number_copy(&r->amount.mu_squared, r->as_mu, err));

done:
    return status;
}

tamis_status tmi_request_make(tmi_ledger_request *r, const tamis_charge *charge, const tmi_charge_facts *facts, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *r = (tmi_ledger_request){.charge = charge};
    if (!charge) return tmi_fail(err, TAMIS_INVALID, "charge: NULL");
    TMI_TRY(tmi_check_name(charge->survey, "survey", err));
    TMI_TRY(tmi_check_name(charge->release, "release", err));
    TMI_TRY(tmi_check_text(charge->measures, "measures", 0, TAMIS_LEDGER_TEXT, err));
    if (charge->new_account) TMI_TRY(tmi_check_name(charge->new_account, "new_account", err));
    if (charge->leftover && *charge->leftover && *charge->leftover != '/')
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "leftover: must be an absolute path, or an empty text"));
    TMI_TRY(tmi_coin_make(&r->amount, &charge->amount, "amount", err));
    TMI_TRY(take_rho(r, err));
    TMI_TRY(take_mu(r, err));
    r->has_budget = charge->budget.epsilon || charge->budget.delta || charge->budget.rho;
    if (r->has_budget) TMI_TRY(tmi_coin_make(&r->budget, &charge->budget, "budget", err));
    TMI_TRY(tmi_coin_reads_back(&r->amount, "amount", err));
    TMI_TRY(tmi_coin_reads_back(&r->budget, "budget", err));
    TMI_TRY(facts ? copy_facts(r, facts, err) : read_facts(r, charge, err));
    if (r->wave.name) TMI_TRY(check_wave(&r->wave, err));
    TMI_TRY(tmi_frozen_kept(&r->kept, r->frozen, !r->parts, err));
    tmi_sha256_text(r->identity, charge->measures, strlen(charge->measures));
done:
    if (status != TAMIS_OK) {
        tmi_request_clear(r);
        *r = (tmi_ledger_request){0};
    }
    return status;
}

tamis_status tmi_charge_check(const tamis_charge *charge, const tmi_charge_facts *facts, tamis_error *err)
{
    tmi_ledger_request r;
    tamis_status status = tmi_request_make(&r, charge, facts, err);
    tmi_request_clear(&r);
    return status;
}
