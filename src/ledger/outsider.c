#include "ledger/outsider.h"

#include <stdlib.h>
#include <string.h>

#include "amplification/apart.h"
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

static int by_name(const void *x, const void *y)
{
    return strcmp((*(const tmi_ledger_group *const *)x)->name, (*(const tmi_ledger_group *const *)y)->name);
}

/* Of an account by strata: the design has them in the order of their names. */
static tamis_status amplify_strata(tamis_amplified *found, const tamis_design *design, const tmi_losses *losses, tamis_error *err)
{
    const tmi_ledger_group **order = tmi_alloc(losses->count, sizeof *order);
    tamis_number **eps = tmi_alloc(losses->count, sizeof *eps); /* lent */
    tamis_status status = order && eps ? TAMIS_OK : tmi_fail_memory(err);
    if (status != TAMIS_OK) goto done;
    for (size_t i = 0; i < losses->count; i++) order[i] = &losses->groups[i];
    qsort(order, losses->count, sizeof *order, by_name);
    for (size_t i = 0; i < losses->count; i++) eps[i] = order[i]->sums.eps;
    status = tmi_amplify_apart(found, design, eps, err);

done:
    tmi_free(order);
    tmi_free(eps);
    return status;
}

tamis_status tmi_ledger_outsider_make(tmi_ledger_outsider *outsider, const tamis_ledger *ledger, size_t account,
                                      const tamis_number *at, tamis_error *err)
{
    tamis_number *eps = NULL, *delta = NULL;
    tamis_design *design = NULL;
    tmi_loss_parts parts = {0};
    tamis_error refusal = {0};
    const char *reason = NULL;
    *outsider = (tmi_ledger_outsider){0};
    const tmi_value *json = tmi_ledger_design(&reason, ledger, account);
    if (!json) return tmi_copy_string(&outsider->reason, reason, err);
    tamis_status status = tamis_ledger_sample(&eps, &delta, ledger, account, at, &refusal);
    if (status == TAMIS_OK) status = tmi_design_from_value(&design, json, true, &refusal);
    const tmi_ledger_account *a = &ledger->book.accounts[account];
    if (status == TAMIS_OK) status = tmi_losses_parts(&parts, &a->losses, &refusal);
    const tamis_sample_promise promise = {.eps = eps,
                                          .delta = delta,
                                          .neighbours = TAMIS_REPLACE,
                                          .mechanism = TAMIS_ANY_ONE,
                                          .pure = parts.pure,
                                          .mu_squared = parts.mu_squared,
                                          .rho = parts.rho};
    if (status == TAMIS_OK)
        status = a->budget.strata.count > 0 ? amplify_strata(&outsider->amplified, design, &a->losses, &refusal)
                                            : tamis_amplify_design(&outsider->amplified, design, &promise, &refusal);
    outsider->proved = status == TAMIS_OK;
    if (status == TAMIS_REFUSED || status == TAMIS_INVALID) status = tmi_copy_string(&outsider->reason, refusal.message, err);
    else if (status != TAMIS_OK) status = tmi_fail_as(err, &refusal);
    tamis_design_free(design);
    tmi_number_frees(&eps, &delta, NULL);
    tmi_loss_parts_clear(&parts);
    return status;
}
