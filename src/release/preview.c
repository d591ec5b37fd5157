/* tamis_preview_make: everything that can be said before a row is read. */
#include <tamis/preview.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/watch.h"
#include "measure/request/request.h"
#include "release/earlier.h"
#include "release/feasible.h"
#include "release/release.h"

struct tamis_preview {
    tmi_preview made;
    tmi_earlier_list earlier; /* which its schedule refers to */
    tmi_watch watch;          /* of its schedule, while it is made */
};

void tamis_preview_free(tamis_preview *preview)
{
    if (!preview) return;
    for (size_t i = 0; i < TMI_REMEDIES; i++) tmi_alternative_clear(&preview->made.remedies[i]);
    tmi_alternative_clear(&preview->made.public_bounds);
    if (preview->made.expected_statistics)
        tmi_expected_statistics_free(preview->made.expected_statistics, preview->made.schedule.plan->statistic_count);
    tmi_free(preview->made.waves);
    tmi_free(preview->made.refusal);
    tmi_account_clear(&preview->made.account);
    tmi_promised_clear(&preview->made.promised);
    tmi_schedule_clear(&preview->made.schedule);
    tmi_earlier_clear(&preview->earlier);
    tmi_free(preview);
}

/* A release that the ledger refuses has no numbers of the whole account, but everything else can be said. */
static tamis_status refuse(tmi_preview *p, const tamis_error *refusal, tamis_error *err)
{
    tamis_status status = tmi_promise_alone(&p->promised, &p->schedule, err);
    if (p->promised.outsider.proved) tmi_outsider_drop(&p->promised.outsider, "the ledger refuses this release");
    if (!(p->refusal = tmi_alloc(1, sizeof *p->refusal))) return tmi_fail_memory(err);
    *p->refusal = *refusal;
    return status;
}

tamis_status tamis_preview_make(tamis_preview **preview, const tamis_plan *plan, const tamis_preview_options *options,
                                tamis_error *err)
{
    if (!preview) return tmi_fail(err, TAMIS_INVALID, "preview: NULL");
    *preview = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    tamis_preview_options how;
    tamis_status status = tmi_options_take(&how, sizeof how, options, "options", err), looked = TAMIS_OK;
    const char *ledger = how.ledger ? how.ledger : plan->ledger;
    const tmi_plan_allowed places = {how.root, how.also};
    if (status == TAMIS_OK) status = tmi_plan_is_within(plan, &places, ledger, err);
    if (status != TAMIS_OK) return status;
    tamis_preview *made = tmi_alloc(1, sizeof *made);
    if (!made) return tmi_fail_memory(err);
    tmi_paced_watch paced = {.of = how.watch};
    const tamis_watch watch = tmi_watch_paced(&paced);
    made->watch = (tmi_watch){.progress = watch.progress, .context = watch.context, .from = -1, .to = -1};
    tmi_preview *p = &made->made;
    tmi_query query = {0}; /* that these can be made is the answer */
    tmi_certificate certificate = {0};
    tmi_plan_bill bill = {0};
    tamis_error refusal = {0};
    TMI_TRY(tmi_schedule_make_watched(&p->schedule, plan, NULL, &made->watch, err));
    TMI_TRY(tmi_earlier_read(&made->earlier, &p->schedule, err));
    p->schedule.earlier = &made->earlier;
    TMI_TRY(tmi_certificate_of(&certificate, &p->schedule, err));
    TMI_TRY(tmi_query_make(&query, &p->schedule, err));
    if (ledger && p->schedule.measurement_count > 0) {
        const tmi_payment payment = {ledger, how.repeat == TAMIS_REPEAT_PAID, how.new_account};
        TMI_TRY(tmi_plan_bill_make(&bill, &p->schedule, &payment, err));
        looked = tmi_account_look(&p->account, &bill.bill, &refusal);
        if (looked == TAMIS_OK) looked = tmi_account_admits(&p->account, &p->schedule, &refusal);
    }
    if (looked != TAMIS_OK && looked != TAMIS_REFUSED) TMI_TRY(tmi_fail_as(err, &refusal));
    if (looked == TAMIS_REFUSED) TMI_TRY(refuse(p, &refusal, err));
    else TMI_TRY(tmi_account_foresee(&p->account, &p->promised, &p->schedule, err));
    TMI_TRY(tmi_check_feasible(&certificate, &p->promised, &query, &p->account.standing, err));
    TMI_TRY(tmi_expected_statistics_make(&p->expected_statistics, &p->schedule, err));
    TMI_TRY(tmi_expected_waves_make(&p->waves, &p->schedule, p->expected_statistics, err));
    if (!how.no_advice) TMI_TRY(tmi_expected_statistics_advise(p->expected_statistics, &p->schedule, err));
    for (size_t i = 0; !how.no_advice && i < TMI_REMEDIES; i++) {
        TMI_TRY(tmi_watch_tell(&made->watch, 0, err));
        TMI_TRY(tmi_alternative_make(&p->remedies[i], (tmi_alternative_kind)i, &p->schedule, p->expected_statistics, err));
    }
    if (!how.no_advice)
        TMI_TRY(tmi_alternative_make(&p->public_bounds, TMI_PUBLIC_BOUNDS, &p->schedule, p->expected_statistics, err));
    if (!how.no_advice)
        TMI_TRY(tmi_declarations_find(p->declarations, &p->declaration_count, &p->schedule, p->expected_statistics, err));
    made->watch = (tmi_watch){0}; /* nobody watches any more */
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
