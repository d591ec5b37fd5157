/* tamis_preview_new: everything that can be said before a row is read. */
#include "base/memory.h"
#include "measure/request/request.h"
#include "release/feasible.h"
#include "release/release.h"

struct tamis_preview {
    tmi_preview made;
};

const tmi_preview *tmi_preview_made(const tamis_preview *preview) { return &preview->made; }

void tamis_preview_free(tamis_preview *preview)
{
    if (!preview) return;
    for (size_t i = 0; i < TMI_REMEDIES; i++) tmi_alternative_clear(&preview->made.remedies[i]);
    if (preview->made.expected_statistics)
        tmi_expected_statistics_free(preview->made.expected_statistics, preview->made.schedule.plan->statistic_count);
    tmi_account_clear(&preview->made.account);
    tmi_promised_clear(&preview->made.promised);
    tmi_schedule_clear(&preview->made.schedule);
    tmi_free(preview);
}

/* A release that the ledger refuses has no numbers of the whole account, but everything else can be said. */
static tamis_status refuse(tmi_preview *p, tamis_error *err)
{
    tamis_status status = tmi_promise_alone(&p->promised, &p->schedule, err);
    if (p->promised.outsider.proved) tmi_outsider_drop(&p->promised.outsider, "the ledger refuses this release");
    p->refused = true;
    return status;
}

tamis_status tamis_preview_new(tamis_preview **preview, const tamis_plan *plan, tamis_error *err)
{
    if (!preview) return tmi_fail(err, TAMIS_INVALID, "preview: NULL");
    *preview = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    tamis_preview *made = tmi_alloc(1, sizeof *made);
    if (!made) return tmi_fail_memory(err);
    tmi_preview *p = &made->made;
    tmi_query query = {0}; /* that these can be made is the answer */
    tmi_certificate certificate = {0};
    tmi_plan_bill bill = {0};
    tamis_error refusal = {0};
    tamis_status status, looked = TAMIS_OK;
    TMI_TRY(tmi_schedule_make(&p->schedule, plan, NULL, err));
    TMI_TRY(tmi_certificate_of(&certificate, &p->schedule, err));
    TMI_TRY(tmi_query_make(&query, &p->schedule, err));
    if (plan->ledger && p->schedule.measurement_count > 0) {
        TMI_TRY(tmi_plan_bill_make(&bill, &p->schedule, &(tmi_payment){.ledger = plan->ledger}, err));
        looked = tmi_account_look(&p->account, &bill.bill, &refusal);
    }
    if (looked != TAMIS_OK && looked != TAMIS_REFUSED) TMI_TRY(tmi_fail_as(err, &refusal));
    if (looked == TAMIS_REFUSED) TMI_TRY(refuse(p, err));
    else TMI_TRY(tmi_account_foresee(&p->account, &p->promised, &p->schedule, err));
    TMI_TRY(tmi_check_feasible(&certificate, &p->promised, &query, &p->account.standing, err));
    TMI_TRY(tmi_expected_statistics_make(&p->expected_statistics, &p->schedule, err));
    TMI_TRY(tmi_expected_statistics_advise(p->expected_statistics, &p->schedule, err));
    for (size_t i = 0; i < TMI_REMEDIES; i++)
        TMI_TRY(tmi_alternative_make(&p->remedies[i], (tmi_alternative_kind)i, &p->schedule, p->expected_statistics, err));
    TMI_TRY(tmi_declarations_find(p->declarations, &p->declaration_count, &p->schedule, p->expected_statistics, err));
    *preview = made;
    made = NULL;
    if (looked == TAMIS_REFUSED) status = tmi_fail_as(err, &refusal);

done:
    tmi_query_clear(&query);
    tmi_certificate_clear(&certificate);
    tmi_plan_bill_clear(&bill);
    tamis_preview_free(made);
    return status;
}

/* ---- texts ---- */

static tamis_status check(char **text, const tamis_preview *preview, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    return preview ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "preview: NULL");
}

tamis_status tamis_preview_json(char **text, const tamis_preview *preview, tamis_error *err)
{
    tamis_status status = check(text, preview, err);
    return status == TAMIS_OK ? tmi_preview_json(text, &preview->made, err) : status;
}

tamis_status tamis_preview_text(char **text, const tamis_preview *preview, tamis_detail detail, tamis_error *err)
{
    tamis_status status = check(text, preview, err);
    return status == TAMIS_OK ? tmi_preview_text(text, &preview->made, detail == TAMIS_DETAIL_ALL, err) : status;
}

tamis_status tamis_preview_compare_json(char **text, const tamis_preview *preview, tamis_error *err)
{
    tamis_status status = check(text, preview, err);
    return status == TAMIS_OK ? tmi_compare_json(text, &preview->made, err) : status;
}

tamis_status tamis_preview_compare_text(char **text, const tamis_preview *preview, tamis_error *err)
{
    tamis_status status = check(text, preview, err);
    return status == TAMIS_OK ? tmi_compare_text(text, &preview->made, err) : status;
}
