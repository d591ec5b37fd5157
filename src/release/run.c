/* The main job. publish/publish.h has the driver and its steps; what a release does in them:
 *
 *     before       the schedule: what is measured with which noise, from the plan alone, made once; the earlier releases that
 *                  changes are measured from, verified; its certificate; and the
 *                  question, what the engine will be asked for
 *     feasibility  that everything can be asked, kept, promised and written, and that the source is the one of the plan
 *     do           noise: all of it, and all random bits of private bounds and quantile tasks, before the first value is read
 *                  bounds: one pass over the data, if there are private ones
 *                  aggregate: one pass over the data, and one for each list of points
 *                  inference: from noisy integers to estimates and intervals
 *     keep         the noisy integers
 *     folder       all files, the certificate last
 *
 * Whatever follows from the plan, the source's columns and the engine is checked before the charge (INVALID, REFUSED, UNABLE).
 * A release that was made before reads nothing and pays nothing: the kept integers take the place of inventory, noise and
 * aggregate.
 *
 * Between the answers of the engine and the noisy integers of the first stage there is one addition; between points and chosen
 * ones the mechanisms of selection.h; between the tables of the second stage and its noisy integers exact integer arithmetic with
 * coefficients that follow from the first (schedule/standard_errors.h), and one addition. Everything after that sees only noisy
 * integers, chosen points and the plan. */
#include <string.h>
#include <tamis/experimental/editor.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/secret.h"
#include "engine/files/source.h"
#include "inference/calibration.h"
#include "inference/contrast.h"
#include "inference/distribution.h"
#include "inference/estimates.h"
#include "inference/postprocess.h"
#include "inference/waves.h"
#include "measure/request/inventory.h"
#include "num/law/noise.h"
#include "publish/publish.h"
#include "release/bounds.h"
#include "release/earlier.h"
#include "release/feasible.h"
#include "release/noise.h"
#include "release/quantiles/selection.h"
#include "release/release.h"
#include "release/second_stage.h"
#include "release/source_changed.h"
#include "report/promise.h"
#include "rng/noise.h"

void tamis_release_free(tamis_release *release)
{
    if (!release) return;
    for (size_t i = 0; release->noisy && i < release->schedule.measurement_count; i++) tmi_free(release->noisy[i]);
    tmi_free(release->noisy);
    tmi_answers_free(release->answers);
    tmi_results_clear(&release->results);
    tmi_account_clear(&release->account);
    if (release->certificate) tmi_certificate_clear(release->certificate);
    tmi_free(release->certificate);
    tmi_promised_clear(&release->promised);
    tmi_schedule_clear(&release->schedule);
    tmi_earlier_clear(&release->earlier);
    tmi_free(release->folder);
    tmi_free(release->remarks);
    tmi_free(release);
}

/* What the steps work on. */
typedef struct job {
    const tmi_run *run;
    tmi_engine *engine;
    tamis_release *r;
    tmi_query query;
    tmi_bound_search bounds;
    tmi_selection selection;
    tmi_plan_bill bill;
    int64_t **noise;    /* from drawing to adding */
    char *measurements; /* measurements.json, for the ledger and for the folder */
    tmi_text ready;     /* what a release that is only checked would cost */
} job;

static void job_clear(job *j)
{
    tmi_noise_wipe(j->noise);
    tmi_selection_clear(&j->selection);
    tmi_bound_search_clear(&j->bounds);
    tmi_query_clear(&j->query);
    tmi_plan_bill_clear(&j->bill);
    tmi_free(j->measurements);
    tmi_text_clear(&j->ready);
}

/* Between two steps: long ones ask for themselves, engines by the run's watch, all others by the schedule's watch. Its share
 * is unknown (-1) before the pass over the data, and 1 after it. */
static tamis_status go_on(tamis_release *r, double share, tamis_error *err)
{
    r->watch.from = r->watch.to = share;
    r->watch.rows = share < 0 ? 0 : r->schedule.sampling.rows;
    return tmi_watch_tell(&r->watch, 0, err);
}

/* ---- before the charge ---- */

static tamis_status make_schedule(job *j, const tamis_plan *plan, tamis_error *err)
{
    j->r->watch = (tmi_watch){.progress = j->run->watch.progress, .context = j->run->watch.context, .from = -1, .to = -1};
    tamis_status status = j->run->ledger ? tmi_account_need_budget(plan, err) : TAMIS_OK;
    return status == TAMIS_OK ? tmi_schedule_make_watched(&j->r->schedule, plan, NULL, &j->r->watch, err) : status;
}

static tamis_status begin_certificate(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    r->version = tamis_version();
    r->certificate = tmi_alloc(1, sizeof *r->certificate);
    return r->certificate ? tmi_certificate_of(r->certificate, &r->schedule, err) : tmi_fail_memory(err);
}

/* The question, the mechanisms of quantile tasks, and room for the noisy integers and for what is chosen. */
static tamis_status make_question(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    const tmi_schedule *s = &r->schedule;
    tamis_status status;
    TMI_TRY(tmi_query_make(&j->query, s, err));
    r->noisy = tmi_alloc(s->measurement_count, sizeof *r->noisy);
    r->answers = tmi_answers_new(s);
    if (!r->noisy || !r->answers) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_bound_search_make(&j->bounds, s, err));
    TMI_TRY(tmi_selection_make(&j->selection, s, err));
    for (size_t i = 0; i < s->measurement_count; i++) {
        r->noisy[i] = tmi_alloc(s->measurements[i].numbers, sizeof **r->noisy);
        if (!r->noisy[i]) TMI_TRY(tmi_fail_memory(err));
    }

done:
    return status;
}

static tamis_status make_bill(tmi_bill *bill, void *job_, tamis_error *err)
{
    job *j = job_;
    const tmi_payment payment = {j->run->ledger, j->run->again, j->run->new_account};
    tamis_status status = tmi_plan_bill_make(&j->bill, &j->r->schedule, &payment, err);
    *bill = j->bill.bill;
    return status;
}

/* Numbers of other rows than those that the caller has now are not given back unless it asks for them. */
static tamis_status check_version(const tamis_charged *kept, void *job_, tamis_error *err)
{
    const job *j = job_;
    const char *now = j->run->rows_version, *then = kept->rows_version;
    if (!now || j->run->same_rows || (then && strcmp(now, then) == 0)) return TAMIS_OK;
    tmi_fail(err, TAMIS_REFUSED,
             "%.200s: this was released on %s from %s%.200s%s, and the rows are now of the version '%.200s'; nothing was "
             "read, nothing was spent. For the numbers of that release: repeat = TAMIS_REPEAT_KEPT. To pay for numbers "
             "from these rows: repeat = TAMIS_REPEAT_PAID",
             j->r->schedule.plan->survey, kept->time, then ? "the version '" : "rows without a version", then ? then : "",
             then ? "'" : "", now);
    return tmi_because(err, "rows_version", TAMIS_REFUSED);
}

/* A refusal reads nothing, and neither does a release that is returned as it was. A contradiction costs nothing. */
static tamis_status check_inventory(job *j, tamis_error *err)
{
    const tmi_run *run = j->run;
    tamis_status status;
    TMI_TRY(tmi_check_inventory(j->engine, &j->r->schedule, &j->query, &run->watch, err));
    TMI_TRY(tmi_bound_search_check(&j->bounds, j->engine, &run->watch, err));
    if (j->engine->check && j->query.table_count > 0) TMI_TRY(j->engine->check(j->engine, &j->query.request, &run->watch, err));
    TMI_TRY(tmi_selection_check(&j->query, &j->r->schedule, j->engine, &run->watch, err));

done:
    return tmi_of_source(status, err);
}

/* All texts are checked as they are with the private bounds that have the most digits, the smallest. */
static tamis_status check_texts(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    const size_t count = r->schedule.bound_task_count;
    int *guesses = tmi_alloc(count, sizeof *guesses);
    tamis_status status = TAMIS_OK;
    if (!guesses) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        const tmi_private_bound *bound = tmi_bound_of_task(&r->schedule, &r->schedule.bound_tasks[i]);
        guesses[i] = bound->halvings;
        TMI_TRY(tmi_schedule_set_bound(&r->schedule, i, bound->most, err));
    }
    TMI_TRY(tmi_check_feasible(r->certificate, &r->promised, &j->query, &r->account.standing, err));
    for (size_t i = 0; i < count; i++)
        TMI_TRY(tmi_plan_set_bound(r->schedule.bounded, r->schedule.bound_tasks[i].bound, guesses[i], false, err));

done:
    tmi_free(guesses);
    return status;
}

/* The answer of tamis_release_ready, with the account as it is before the charge. */
static void write_ready(job *j, bool repeated)
{
    const tmi_account *a = &j->r->account;
    const tmi_account then = {.has_spending = a->has_then};
    tmi_json_out out;
    tmi_json_out_init(&out, &j->ready, false);
    tmi_json_open(&out, '{');
    tmi_json_add_boolean(&out, "repeated", repeated);
    if (!repeated && a->charged.unpublished) tmi_json_add_integer(&out, "claims", a->charged.unpublished);
    tmi_json_key(&out, "would_spend");
    if (repeated) tmi_json_put_null(&out);
    else tmi_put_spent(&out, &j->r->schedule);
    tmi_json_key(&out, "left");
    tmi_put_spending(&out, a, &a->left);
    tmi_json_key(&out, "would_leave");
    if (repeated) tmi_put_spending(&out, a, &a->left);
    else tmi_put_spending(&out, &then, &a->then_left);
    tmi_json_add_open(&out, "shown", '{');
    tmi_put_would_spend_shown(&out, repeated ? NULL : &j->r->schedule);
    tmi_json_add_string(&out, "left", a->has_spending ? a->left.words : NULL);
    const bool known = repeated ? a->has_spending : a->has_then;
    tmi_json_add_string(&out, "would_leave", !known ? NULL : repeated ? a->left.words : a->then_left.words);
    tmi_json_close(&out, '}');
    tmi_json_close(&out, '}');
}

/* What the account would come to, and that everything can be asked, written and kept. */
static tamis_status check_feasibility(bool repeated, void *job_, tamis_error *err)
{
    job *j = job_;
    tamis_release *r = j->r;
    tamis_status status = TAMIS_OK;
    if (j->run->ready && repeated) write_ready(j, true);
    if (!repeated) {
        if (j->run->ledger) TMI_TRY(tmi_account_admits(&r->account, &r->schedule, err));
        TMI_TRY(tmi_account_foresee(&r->account, &r->promised, &r->schedule, err));
        TMI_TRY(check_texts(j, err));
        if (j->run->ready) write_ready(j, false);
        tmi_account_clear(&r->account); /* the ledger is free for others while the source is looked at */
        TMI_TRY(check_inventory(j, err));
    }
    TMI_TRY(go_on(r, -1, err));

done:
    return status;
}

/* ---- after the charge ---- */

/* Remarks for the operator alone. */
static tamis_status remark(tamis_release *r, const tmi_run *run, tamis_error *err)
{
    const tmi_account *a = &r->account;
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_put(&text, "");
    if (a->charged.other_source)
        tmi_text_format(&text,
                        "These numbers were released on %s from a source other than the one that the plan names now, which was "
                        "not read. To pay for numbers from this one: tamis release --again\n",
                        a->charged.time);
    if (a->charged.measurements && run->source) tmi_source_changed(&text, run->source, a->charged.time);
    if (a->charged.measurements && run->in_memory)
        tmi_text_format(
            &text,
            "These numbers were released on %s%s%s%s; the rows in memory were not read. To pay for numbers from them: "
            "repeat = TAMIS_REPEAT_PAID\n",
            a->charged.time, a->charged.rows_version ? " from the version '" : "",
            a->charged.rows_version ? a->charged.rows_version : "", a->charged.rows_version ? "'" : "");
    if (a->unpublished) tmi_text_put(&text, a->unpublished);
    return tmi_text_take(&r->remarks, &text, err);
}

/* The promise is that of the whole account. */
static tamis_status was_charged(void *job_, tamis_error *err)
{
    job *j = job_;
    tamis_release *r = j->r;
    const tmi_standing *standing = &r->account.standing;
    tamis_status status = TAMIS_OK;
    if (r->account.kept) {
        TMI_TRY(tmi_account_promise(&r->promised, &r->schedule, standing, &standing->after, &standing->cap, err));
        r->certificate->account = &r->account;
    }
    TMI_TRY(remark(r, j->run, err));

done:
    return status;
}

/* ---- with the data ---- */

static tamis_status draw_noise(job *j, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_query_make_room(&j->query, err));
    TMI_TRY(tmi_noise_draw(&j->noise, &j->query, &j->r->schedule, err));
    TMI_TRY(tmi_bound_search_draw(&j->bounds, err));
    TMI_TRY(tmi_selection_draw(&j->selection, err));
    TMI_TRY(go_on(j->r, -1, err));

done:
    return status;
}

/* The second stage comes last: what is measured in it follows from the noisy tables. */
static tamis_status add_noise(job *j, tamis_error *err)
{
    const tmi_schedule *s = &j->r->schedule;
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        for (size_t k = 0; k < m->numbers && !tmi_method_of(m->marginal.weighting); k++)
            j->r->noisy[i][k] = tmi_add_noise(tmi_query_truth(&j->query, s, i, k), j->noise[i][k], m->limit);
    }
    const tamis_status status = tmi_add_standard_errors(j->r->noisy, j->noise, &j->query, s, err);
    tmi_noise_wipe(j->noise);
    j->noise = NULL;
    return status;
}

static tamis_status aggregate(job *j, tamis_error *err)
{
    const tmi_run *run = j->run;
    tamis_status status = tmi_bound_search_run(&j->r->schedule, &j->query, &j->bounds, j->engine, &run->watch, err);
    if (status == TAMIS_OK && j->query.table_count > 0)
        status = j->engine->aggregate(j->engine, j->query.answers, &j->query.request, &run->watch, err);
    if (status == TAMIS_OK && j->engine->facts) status = j->engine->facts(j->engine, &j->r->certificate->engine, err);
    if (status == TAMIS_OK) status = add_noise(j, err);
    if (status == TAMIS_OK) status = tmi_selection_run(j->r->answers, &j->selection, &j->query, j->engine, &run->watch, err);
    return tmi_of_source(status, err);
}

/* ---- after the noise ---- */

tamis_status tmi_release_read(tamis_release *r, tamis_error *err)
{
    tmi_inference inference = {0};
    tmi_calibration calibration = {0};
    const int64_t **answers = tmi_alloc(r->schedule.plan->asked_count, sizeof *answers); /* of each statistic */
    tamis_status status;
    if (!answers) return tmi_fail_memory(err);
    for (size_t i = 0; i < r->schedule.quantile_task_count; i++) answers[r->schedule.quantile_tasks[i].statistic] = r->answers[i];
    TMI_TRY(tmi_inference_make(&inference, &r->schedule, r->noisy, err));
    TMI_TRY(tmi_calibration_make(&calibration, &inference, err));
    inference.calibration = &calibration;
    inference.answers = answers;
    TMI_TRY(tmi_inference_read_errors(&inference, err));
    TMI_TRY(tmi_results_make(&r->results, r->schedule.plan, &r->schedule, err));
    r->results.account = &r->account;
    r->results.promised = &r->promised;
    for (size_t i = 0; i < r->results.all; i++) {
        if (r->results.list[i].cell != 0) continue; /* the first group of a statistic */
        TMI_TRY(tmi_read_statistic(&r->results.list[i], &inference, r->results.list[i].statistic, err));
    }
    TMI_TRY(tmi_read_distributions(&r->results, &inference, err));
    TMI_TRY(tmi_read_contrasts(&r->results, &inference, err));
    TMI_TRY(tmi_read_changes(&r->results, &inference, err));
    for (size_t i = 0; i < r->results.all; i++) tmi_result_bound(&r->results.list[i]);
    TMI_TRY(tmi_postprocess(&r->results, &inference, err));

done:
    tmi_calibration_clear(&calibration);
    tmi_inference_clear(&inference);
    tmi_free(answers);
    return status;
}

static tamis_status infer(job *j, tamis_error *err)
{
    tamis_status status = go_on(j->r, 1, err);
    if (status == TAMIS_OK) status = tmi_release_read(j->r, err);
    return status == TAMIS_OK ? go_on(j->r, 1, err) : status;
}

static tamis_status make_numbers(void *job_, tamis_error *err)
{
    job *j = job_;
    tamis_status status;
    TMI_TRY(draw_noise(j, err));
    TMI_TRY(aggregate(j, err));
    TMI_TRY(infer(j, err));

done:
    return status;
}

static tamis_status recall(const char *kept, void *job_, tamis_error *err)
{
    job *j = job_;
    tamis_status status = tmi_recall(j->r->noisy, j->r->answers, kept, &j->r->schedule, err);
    return status == TAMIS_OK ? infer(j, err) : status;
}

static tamis_status keep(const char **text, void *job_, tamis_error *err)
{
    job *j = job_;
    tamis_status status = tamis_release_measurements_json(&j->measurements, j->r, err);
    *text = j->measurements;
    return status;
}

static tamis_status write_files(char **certificate, char hash[TMI_SHA256_TEXT], tmi_folder *folder, void *job_, tamis_error *err)
{
    job *j = job_;
    tamis_release *r = j->r;
    tamis_status status = TAMIS_OK;
    if (!folder) return TAMIS_OK;
    if (!j->measurements) TMI_TRY(tamis_release_measurements_json(&j->measurements, r, err));
    TMI_TRY(tmi_release_certify(certificate, j->measurements, r, folder, err));
    memcpy(hash, r->certificate->hash, TMI_SHA256_TEXT);
    TMI_TRY(tmi_copy_string(&r->folder, folder->final, err));
    TMI_TRY(go_on(r, 1, err));

done:
    return status;
}

static tamis_status prepare(job *j, const tamis_plan *plan, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(make_schedule(j, plan, err));
    TMI_TRY(tmi_earlier_read(&j->r->earlier, &j->r->schedule, err));
    j->r->schedule.earlier = &j->r->earlier;
    TMI_TRY(begin_certificate(j, err));
    TMI_TRY(make_question(j, err));

done:
    if (status == TAMIS_SYSTEM && j->run->ledger) tmi_nothing_charged(err);
    return status;
}

static const tmi_publishing steps = {.again = "Run the same plan again",
                                     .bill = make_bill,
                                     .repeat = check_version,
                                     .check = check_feasibility,
                                     .charged = was_charged,
                                     .make = make_numbers,
                                     .recall = recall,
                                     .keep = keep,
                                     .write = write_files};

tamis_status tmi_release_with(tamis_release **release, const tamis_plan *plan, tmi_engine *engine, const tmi_run *run,
                              tamis_error *err)
{
    job j = {.run = run, .engine = engine, .r = tmi_alloc(1, sizeof *j.r)};
    tamis_status status;
    *release = NULL;
    if (!j.r) return tmi_fail_memory(err);
    TMI_TRY(prepare(&j, plan, err));
    const tmi_publication publication = {.steps = &steps,
                                         .job = &j,
                                         /* nothing is charged where nothing is measured */
                                         .ledger = j.r->schedule.measurement_count > 0 ? run->ledger : NULL,
                                         .folder = run->folder,
                                         .sign = run->sign,
                                         .signed_by = j.r->certificate->signed_by,
                                         .rows_version = run->rows_version,
                                         .account = &j.r->account,
                                         .phase = run->phase,
                                         .phase_context = run->phase_context,
                                         .rehearsed = run->ready != NULL};
    TMI_TRY(tmi_publish(&publication, err));
    if (run->ready) TMI_TRY(tmi_text_take(run->ready, &j.ready, err));
    if (run->ready) goto done;
    j.r->watch = (tmi_watch){0}; /* nobody watches any more */
    *release = j.r;

done:
    job_clear(&j);
    if (!*release) tamis_release_free(j.r);
    return status;
}

/* A release, or with `ready` what it would cost. */
static tamis_status release_or_check(tamis_release **release, char **ready, const tamis_plan *plan, const char *folder,
                                     const tamis_release_options *options, tamis_error *err)
{
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    tmi_engine *engine;
    tamis_release_options how;
    tamis_status status = tmi_options_take(&how, sizeof how, options, "options", err);
    if (status != TAMIS_OK) return status;
    const tamis_estimate_options read_by = {.engine = how.engine, .threads = how.threads, .rows = how.rows, .memory = how.memory};
    status = tmi_engine_for(&engine, plan, &read_by, how.allow_command != 0, err);
    if (status != TAMIS_OK) return status;
    tmi_paced_watch paced = {.of = how.watch};
    const tmi_run run = {.folder = folder,
                         .ledger = how.ledger ? how.ledger : plan->ledger,
                         .again = how.repeat == TAMIS_REPEAT_PAID,
                         .same_rows = how.repeat == TAMIS_REPEAT_KEPT,
                         .new_account = how.new_account,
                         .sign = how.sign,
                         .source = how.rows ? NULL : &plan->source,
                         .in_memory = how.rows != NULL,
                         .rows_version = how.rows_version ? how.rows_version
                                         : how.rows       ? NULL
                                                          : plan->source.rows_version,
                         .watch = tmi_watch_paced(&paced),
                         .phase = how.phase,
                         .phase_context = how.phase_context,
                         .ready = ready};
    status = tmi_release_with(release, plan, engine, &run, err);
    engine->free(engine);
    return status;
}

tamis_status tamis_release_new(tamis_release **release, const tamis_plan *plan, const char *folder,
                               const tamis_release_options *options, tamis_error *err)
{
    if (!release) return tmi_fail(err, TAMIS_INVALID, "release: NULL");
    *release = NULL;
    return release_or_check(release, NULL, plan, folder, options, err);
}

tamis_status tamis_release_ready(char **json, const tamis_plan *plan, const char *folder, const tamis_release_options *options,
                                 tamis_error *err)
{
    tamis_release *none = NULL;
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    *json = NULL;
    return release_or_check(&none, json, plan, folder, options, err);
}
