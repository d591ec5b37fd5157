#include "ledger/outsider.h"

#include "base/error.h"
#include "base/memory.h"
#include "ledger/ledger.h"
#include "survey/design/form.h"

void tmi_ledger_outsider_clear(tmi_ledger_outsider *outsider)
{
    tamis_amplified_clear(&outsider->amplified);
    tmi_free(outsider->reason);
    *outsider = (tmi_ledger_outsider){0};
}

tamis_status tmi_ledger_outsider_make(tmi_ledger_outsider *outsider, const tamis_ledger *ledger, size_t account,
                                      const tamis_number *at, tamis_error *err)
{
    tamis_number *eps = NULL, *delta = NULL;
    tamis_design *design = NULL;
    tamis_error refusal = {0};
    const char *reason = NULL;
    *outsider = (tmi_ledger_outsider){0};
    const tmi_value *json = tmi_ledger_design(&reason, ledger, account);
    if (!json) return tmi_copy_string(&outsider->reason, reason, err);
    tamis_status status = tamis_ledger_sample(&eps, &delta, ledger, account, at, &refusal);
    if (status == TAMIS_OK) status = tmi_design_from_value(&design, json, true, &refusal);
    const tamis_sample_promise promise = {.eps = eps, .delta = delta, .neighbours = TAMIS_REPLACE, .mechanism = TAMIS_ANY_ONE};
    if (status == TAMIS_OK) status = tamis_amplify_design(&outsider->amplified, design, &promise, &refusal);
    outsider->proved = status == TAMIS_OK;
    if (status == TAMIS_REFUSED || status == TAMIS_INVALID) status = tmi_copy_string(&outsider->reason, refusal.message, err);
    else if (status != TAMIS_OK) status = tmi_fail_as(err, &refusal);
    tamis_design_free(design);
    tamis_number_free(eps);
    tamis_number_free(delta);
    return status;
}
