#include "release/feasible.h"

#include "base/memory.h"
#include "release/release.h"
#include "report/promise.h"

tamis_status tmi_check_length(const char *what, size_t length, size_t most, tamis_error *err)
{
    if (length <= most) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID,
                    "statistics: %s may take %zu bytes, and the limit is %zu: use fewer or shorter values, fewer `by` columns, "
                    "or several plans",
                    what, length, most);
}

/* The sentences and the picture of the promise: numbers of the plan and the account, and nothing else. */
static tamis_status check_promise(const tmi_schedule *s, const tmi_outsider *outsider, tamis_error *err)
{
    char *svg = NULL;
    tmi_text json;
    tmi_json_out out;
    tamis_status status = tmi_promise_picture(&svg, s, outsider, err);
    tmi_free(svg);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&json);
    json.counted = true;
    tmi_json_out_init(&out, &json, false);
    tmi_put_guarantee(&out, s, outsider);
    return json.failed ? tmi_fail_memory(err) : TAMIS_OK;
}

tamis_status tmi_check_feasible(const tmi_certificate *c, const tmi_promised *promised, const tmi_query *a,
                                const tmi_standing *known, tamis_error *err)
{
    const tmi_schedule *s = c->schedule;
    size_t length;
    tamis_status status;
    TMI_TRY(tmi_certificate_check_plan(c, err));
    TMI_TRY(tmi_request_check(&a->request, err));
    TMI_TRY(tmi_measurements_longest(&length, s, err));
    TMI_TRY(tmi_check_length("the noisy numbers (measurements.json)", length, TAMIS_LEDGER_TEXT, err));
    TMI_TRY(tmi_certificate_longest(&length, c, promised, known, err));
    TMI_TRY(tmi_check_length("the certificate", length, TAMIS_LEDGER_TEXT, err));
    if (s->measurement_count > 0 && s->plan->ledger) TMI_TRY(tmi_account_check(s, err));
    TMI_TRY(check_promise(s, &promised->outsider, err));

done:
    return status;
}
