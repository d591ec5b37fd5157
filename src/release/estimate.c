/* tamis_estimate: the unprotected side, with its texts. */
#include "estimate/estimate.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/watch.h"
#include "release/release.h"

struct tamis_estimate {
    const tamis_plan *plan; /* held */
    tmi_results results;
    const char *note; /* how variances were approximated; NULL: they were not */
};

const tmi_results *tmi_estimate_results(const tamis_estimate *estimate) { return &estimate->results; }

void tamis_estimate_free(tamis_estimate *estimate)
{
    if (!estimate) return;
    tmi_results_clear(&estimate->results);
    tmi_plan_drop(estimate->plan);
    tmi_free(estimate);
}

tamis_status tamis_estimate_new(tamis_estimate **estimate, const tamis_plan *plan, const tamis_estimate_options *options,
                                tamis_error *err)
{
    if (!estimate) return tmi_fail(err, TAMIS_INVALID, "estimate: NULL");
    *estimate = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    tamis_estimate_options how;
    tmi_engine *engine = NULL;
    tamis_status status = tmi_options_take(&how, sizeof how, options, "options", err);
    if (status != TAMIS_OK) return status;
    tmi_paced_watch paced = {.of = how.watch};
    const tamis_watch watch = tmi_watch_paced(&paced);
    tamis_estimate *e = tmi_alloc(1, sizeof *e);
    if (!e) return tmi_fail_memory(err);
    e->plan = tmi_plan_hold(plan);
    if (plan->source.command && !how.rows)
        TMI_TRY(
            tmi_because(err, "source",
                        tmi_fail_file(err, TAMIS_INVALID, plan->name, 0,
                                      "the plan's rows are behind a command, which returns only sums; an estimate needs rows: "
                                      "name a file or PostgreSQL as its source")));
    TMI_TRY(tmi_engine_for(&engine, plan, &how, false, err));
    TMI_TRY(tmi_of_source(tmi_estimate(&e->results, &e->note, plan, engine, &watch, err), err));
    *estimate = e;
    e = NULL;

done:
    if (engine) engine->free(engine);
    tamis_estimate_free(e);
    return status;
}

/* ---- texts ---- */

static tamis_status check(char **text, const tamis_estimate *estimate, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!estimate) return tmi_fail(err, TAMIS_INVALID, "estimate: NULL");
    return TAMIS_OK;
}

tamis_status tamis_estimate_arrow(struct ArrowSchema *schema, struct ArrowArray *array, const tamis_estimate *estimate,
                                  tamis_error *err)
{
    if (!schema || !array) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", schema ? "array" : "schema");
    *schema = (struct ArrowSchema){0};
    *array = (struct ArrowArray){0};
    if (!estimate) return tmi_fail(err, TAMIS_INVALID, "estimate: NULL");
    return tmi_results_arrow(schema, array, &estimate->results, err);
}

tamis_status tamis_estimate_json(char **text, const tamis_estimate *estimate, tamis_error *err)
{
    tamis_status status = check(text, estimate, err);
    return status == TAMIS_OK ? tmi_results_json(text, &estimate->results, err) : status;
}

tamis_status tamis_estimate_csv(char **text, const tamis_estimate *estimate, tamis_error *err)
{
    tamis_status status = check(text, estimate, err);
    return status == TAMIS_OK ? tmi_results_csv(text, &estimate->results, err) : status;
}

tamis_status tamis_estimate_text(char **text, const tamis_estimate *estimate, tamis_error *err)
{
    tamis_status status = check(text, estimate, err);
    return status == TAMIS_OK ? tmi_estimate_text(text, &estimate->results, estimate->note, err) : status;
}
