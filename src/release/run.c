/* The main job, one step per line in tmi_release_with:
 *
 *     schedule     what is measured with which noise: from the plan alone, made once
 *     certificate  its plan, and the key that will sign it
 *     question     what the engine will be asked for
 *     folder       a temporary one beside the place of the release
 *     look         what the ledger says: refused, charged before, or what would be left
 *     feasibility  that everything can be asked, kept, promised and written
 *     inventory    that the source is the one that the plan describes
 *     charge       durable; from here on a failure has cost something
 *     noise        all of it, and all random bits of choices, before the first value is read
 *     aggregate    one pass over the data, and one for each list of points
 *     inference    from noisy integers to estimates and intervals
 *     report       all files, the certificate last
 *     keep         the noisy integers, in the ledger
 *     publish      the folder gets its name
 *
 * Up to the charge a failure costs nothing: whatever follows from the plan, the source's columns and the engine is checked there
 * (INVALID, REFUSED, UNABLE). After it a failure is the system's (SYSTEM), and says what was charged and how to go on. A release
 * that was made before reads nothing and pays nothing: the kept integers take the place of inventory, noise and aggregate.
 *
 * Between the answers of the engine and the noisy integers there is one addition, between points and chosen ones the mechanisms
 * of choosing.h; everything after it sees only noisy integers, chosen points and the plan. */
#include <string.h>

#include "base/leftover.h"
#include "base/memory.h"
#include "base/secret.h"
#include "engine/files/source.h"
#include "inference/calibration.h"
#include "inference/distribution/distribution.h"
#include "inference/estimates.h"
#include "inference/postprocess.h"
#include "release/choices/choosing.h"
#include "release/feasible.h"
#include "release/noise.h"
#include "release/release.h"
#include "release/source_changed.h"
#include "release/squares.h"
#include "report/promise.h"
#include "schedule/noise_law.h"
#include "schedule/request/inventory.h"

void tamis_release_free(tamis_release *release)
{
    if (!release) return;
    for (size_t i = 0; release->noisy && i < release->schedule.measurement_count; i++) tmi_free(release->noisy[i]);
    tmi_free(release->noisy);
    tmi_chosen_free(release->chosen);
    tmi_results_clear(&release->results);
    tmi_account_clear(&release->account);
    if (release->certificate) tmi_certificate_clear(release->certificate);
    tmi_free(release->certificate);
    tmi_promised_clear(&release->promised);
    tmi_schedule_clear(&release->schedule);
    tmi_free(release->folder);
    tmi_free(release->remarks);
    tmi_free(release);
}

/* What the steps work on. */
typedef struct job {
    const tmi_run *run;
    tmi_engine *engine;
    tamis_release *r;
    tmi_asking asking;
    tmi_choosing choosing;
    tmi_folder folder;
    tmi_key *key;   /* NULL: nobody signs */
    char *leftover; /* where the ledger notes the temporary folder */
    tmi_payment payment;
    int64_t **noise;    /* from drawing to adding */
    char *measurements; /* measurements.json, from the report to the ledger */
    bool repeated;      /* the numbers are those of an earlier release */
    bool kept;          /* the ledger has the numbers, and the same release costs nothing again */
} job;

static void job_clear(job *j)
{
    tmi_noise_wipe(j->noise);
    tmi_choosing_clear(&j->choosing);
    tmi_asking_clear(&j->asking);
    tmi_folder_clear(&j->folder);
    tmi_key_free(j->key);
    tmi_free(j->leftover);
    tmi_free(j->measurements);
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

/* A key that cannot sign costs nothing. */
static tamis_status begin_certificate(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    tamis_status status;
    r->version = tamis_version();
    r->certificate = tmi_alloc(1, sizeof *r->certificate);
    if (!r->certificate) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_certificate_of(r->certificate, &r->schedule, err));
    if (!j->run->sign) goto done;
    if (!j->run->folder)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "sign: a signature is written to the output folder, and there is none"));
    TMI_TRY(tmi_key_read_secret(&j->key, j->run->sign, err));
    TMI_TRY(tmi_key_fingerprint(r->certificate->signed_by, j->key, err));

done:
    return status;
}

/* The question, the mechanisms of choices, and room for the noisy integers and for what is chosen. */
static tamis_status make_question(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    const tmi_schedule *s = &r->schedule;
    tamis_status status;
    TMI_TRY(tmi_asking_make(&j->asking, s, err));
    r->noisy = tmi_alloc(s->measurement_count, sizeof *r->noisy);
    r->chosen = tmi_chosen_new(s);
    if (!r->noisy || !r->chosen) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_choosing_make(&j->choosing, s, err));
    for (size_t i = 0; i < s->measurement_count; i++) {
        r->noisy[i] = tmi_alloc(s->measurements[i].numbers, sizeof **r->noisy);
        if (!r->noisy[i]) TMI_TRY(tmi_fail_memory(err));
    }

done:
    return status;
}

static tamis_status begin_folder(job *j, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (j->run->folder) TMI_TRY(tmi_folder_begin(&j->folder, j->run->folder, err));
    if (j->folder.temporary) TMI_TRY(tmi_leftover_path(&j->leftover, j->folder.temporary, err));

done:
    return status;
}

/* Nothing is charged where nothing is measured, or nobody keeps count. */
static bool is_charged(const job *j) { return j->run->ledger && j->r->schedule.measurement_count > 0; }

static tamis_status look_at_ledger(job *j, tamis_error *err)
{
    j->payment = (tmi_payment){j->run->ledger, j->run->again, j->run->new_account, j->leftover ? j->leftover : ""};
    if (!is_charged(j)) return TAMIS_OK;
    tamis_status status = tmi_account_look(&j->r->account, &j->r->schedule, &j->payment, err);
    j->repeated = j->r->account.charged.measurements != NULL;
    return status;
}

/* What the account would come to, and that everything can be asked, written and kept. */
static tamis_status check_feasibility(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    tamis_status status = TAMIS_OK;
    if (!j->repeated) {
        TMI_TRY(tmi_account_foresee(&r->account, &r->promised, &r->schedule, err));
        TMI_TRY(tmi_check_feasible(r->certificate, &r->promised, &j->asking, &r->account.standing, err));
    }

done:
    tmi_account_clear(&r->account); /* the ledger is free for others, until the charge */
    return status;
}

/* A refusal reads nothing, and neither does a release that is returned as it was. A contradiction costs nothing. */
static tamis_status check_inventory(job *j, tamis_error *err)
{
    const tmi_run *run = j->run;
    tamis_status status;
    if (j->repeated) return TAMIS_OK;
    TMI_TRY(tmi_check_inventory(j->engine, &j->r->schedule, &j->asking, &run->watch, err));
    if (j->engine->check && j->asking.table_count > 0) TMI_TRY(j->engine->check(j->engine, &j->asking.request, &run->watch, err));
    TMI_TRY(tmi_choosing_check(&j->asking, &j->r->schedule, j->engine, &run->watch, err));

done:
    return status;
}

/* ---- the charge ---- */

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
    if (a->unpublished) tmi_text_put(&text, a->unpublished);
    return tmi_text_take(&r->remarks, &text, err);
}

/* On failure r->account.charged.entry is 0, unless the charge is in the ledger. The account may have changed since
 * tmi_account_look. */
static tamis_status charge(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    tamis_status status;
    TMI_TRY(go_on(r, -1, err));
    if (is_charged(j)) TMI_TRY(tmi_account_charge(&r->account, &r->promised, &r->schedule, &j->payment, err));

done:
    if (status != TAMIS_OK && r->account.charged.measurements) tmi_account_clear(&r->account); /* an earlier release's entry */
    j->repeated = r->account.charged.measurements != NULL;
    return status == TAMIS_OK ? remark(r, j->run, err) : status;
}

/* ---- with the data ---- */

static tamis_status draw_noise(job *j, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_asking_make_room(&j->asking, err));
    TMI_TRY(tmi_noise_draw(&j->noise, &j->asking, &j->r->schedule, err));
    TMI_TRY(tmi_choosing_draw(&j->choosing, err));
    TMI_TRY(go_on(j->r, -1, err));

done:
    return status;
}

/* Squares come last: what is squared follows from the noisy tables. */
static tamis_status add_noise(job *j, tamis_error *err)
{
    const tmi_schedule *s = &j->r->schedule;
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        for (size_t k = 0; k < m->numbers && m->shape.family != TMI_PAIRED; k++)
            j->r->noisy[i][k] = tmi_add_noise(tmi_asking_truth(&j->asking, s, i, k), j->noise[i][k], m->limit);
    }
    const tamis_status status = tmi_add_squares(j->r->noisy, j->noise, &j->asking, s, err);
    tmi_noise_wipe(j->noise);
    j->noise = NULL;
    return status;
}

static tamis_status aggregate(job *j, tamis_error *err)
{
    const tmi_run *run = j->run;
    tamis_status status = TAMIS_OK;
    if (j->asking.table_count > 0)
        status = j->engine->aggregate(j->engine, j->asking.answers, &j->asking.request, &run->watch, err);
    if (status == TAMIS_OK) status = add_noise(j, err);
    if (status == TAMIS_OK) status = tmi_choosing_run(j->r->chosen, &j->choosing, &j->asking, j->engine, &run->watch, err);
    return status;
}

/* ---- after the noise ---- */

tamis_status tmi_release_read(tamis_release *r, tamis_error *err)
{
    tmi_inference reading = {0};
    tmi_calibration calibration = {0};
    const int64_t **chosen = tmi_alloc(r->schedule.plan->asked_count, sizeof *chosen); /* of each statistic */
    tamis_status status;
    if (!chosen) return tmi_fail_memory(err);
    for (size_t i = 0; i < r->schedule.choice_count; i++) chosen[r->schedule.choices[i].statistic] = r->chosen[i];
    TMI_TRY(tmi_inference_make(&reading, &r->schedule, r->noisy, err));
    TMI_TRY(tmi_calibration_make(&calibration, &reading, err));
    reading.calibration = &calibration;
    reading.chosen = chosen;
    TMI_TRY(tmi_inference_pool(&reading, err));
    TMI_TRY(tmi_results_make(&r->results, r->schedule.plan, &r->schedule, err));
    r->results.account = &r->account;
    r->results.promised = &r->promised;
    for (size_t i = 0; i < r->results.all; i++) {
        if (r->results.list[i].cell != 0) continue; /* the first group of a statistic */
        TMI_TRY(tmi_read_statistic(&r->results.list[i], &reading, r->results.list[i].statistic, err));
    }
    TMI_TRY(tmi_read_distributions(&r->results, &reading, err));
    for (size_t i = 0; i < r->results.all; i++) tmi_result_bound(&r->results.list[i]);
    TMI_TRY(tmi_postprocess(&r->results, &reading, err));

done:
    tmi_calibration_clear(&calibration);
    tmi_inference_clear(&reading);
    tmi_free(chosen);
    return status;
}

static tamis_status infer(job *j, tamis_error *err)
{
    tamis_status status = go_on(j->r, 1, err);
    return status == TAMIS_OK ? tmi_release_read(j->r, err) : status;
}

static tamis_status sign(job *j, tamis_error *err)
{
    char message[TMI_CERTIFICATE_MESSAGE];
    unsigned char signature[TMI_SIGNATURE_BYTES];
    tmi_certificate_message(message, j->r->certificate->hash);
    tamis_status status = tmi_sign(signature, j->key, message, err);
    return status == TAMIS_OK ? tmi_folder_write(&j->folder, TMI_SIGNATURE, (const char *)signature, sizeof signature, err)
                              : status;
}

/* Every file, the certificate that names them, and its signature. */
static tamis_status report(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    char *text = NULL;
    tamis_status status;
    if (r->account.kept) r->certificate->account = &r->account;
    if (!j->folder.final) return TAMIS_OK;
    TMI_TRY(tmi_release_certify(&text, &j->measurements, r, &j->folder, err));
    TMI_TRY(tmi_folder_write(&j->folder, TMI_CERTIFICATE, text, strlen(text), err));
    if (j->key) TMI_TRY(sign(j, err));
    TMI_TRY(tmi_copy_string(&r->folder, j->folder.final, err));

done:
    tmi_free(text);
    return status;
}

static tamis_status keep(job *j, tamis_error *err)
{
    tamis_release *r = j->r;
    tamis_status status;
    TMI_TRY(go_on(r, 1, err));
    if (!r->account.ledger || j->repeated) goto done;
    if (!j->measurements) TMI_TRY(tamis_release_measurements_json(&j->measurements, r, err));
    TMI_TRY(tamis_ledger_released(r->account.ledger, r->account.charged.entry, j->measurements, err));
    j->kept = true;

done:
    return status;
}

static tamis_status publish(job *j, tamis_error *err) { return j->folder.final ? tmi_folder_end(&j->folder, err) : TAMIS_OK; }

/* ---- failures ---- */

/* After the charge no failure is the caller's wrong call any more, whatever its cause says, and what was spent is said with
 * it. */
static tamis_status charge_stands(const tamis_release *r, const tmi_run *run, bool kept, tamis_error *err)
{
    const tmi_schedule *s = &r->schedule;
    tmi_text amount;
    if (!err) return TAMIS_SYSTEM;
    tamis_error reason = *err;
    tmi_text_init(&amount);
    tmi_text_number_up(&amount, s->spent);
    const long long entry = (long long)r->account.charged.entry;
    const char *word = s->gaussian ? "rho" : "epsilon", *number = amount.failed ? "as planned" : amount.bytes;
    if (kept)
        tmi_fail(err, TAMIS_SYSTEM,
                 "%.900s; %s %s was charged (entry %lld of %.300s), and the release is kept there: releasing the same plan to a "
                 "new folder costs nothing",
                 reason.message, word, number, entry, run->ledger);
    else
        tmi_fail(err, TAMIS_SYSTEM,
                 "%.900s; %s %s was charged (entry %lld of %.300s), and nothing was published. Run the same plan again: it takes "
                 "over this charge and pays nothing. Or void the charge: tamis ledger void %.300s %lld --reason TEXT",
                 reason.message, word, number, entry, run->ledger, run->ledger, entry);
    tmi_text_clear(&amount);
    return TAMIS_SYSTEM;
}

/* Says to whoever stops a release that it was not paid for. */
static void nothing_charged(tamis_error *err)
{
    if (err && strcmp(err->message, "cancelled") == 0) tmi_fail(err, TAMIS_SYSTEM, "cancelled; nothing was charged");
}

tamis_status tmi_release_with(tamis_release **release, const tamis_plan *plan, tmi_engine *engine, const tmi_run *run,
                              tamis_error *err)
{
    job j = {.run = run, .engine = engine, .r = tmi_alloc(1, sizeof *j.r)};
    tamis_status status;
    *release = NULL;
    if (!j.r) return tmi_fail_memory(err);
    TMI_TRY(make_schedule(&j, plan, err));
    TMI_TRY(begin_certificate(&j, err));
    TMI_TRY(make_question(&j, err));
    TMI_TRY(begin_folder(&j, err));
    TMI_TRY(look_at_ledger(&j, err));
    TMI_TRY(check_feasibility(&j, err));
    TMI_TRY(check_inventory(&j, err));
    TMI_TRY(charge(&j, err));
    if (j.repeated) {
        TMI_TRY(tmi_account_recall(j.r->noisy, j.r->chosen, &j.r->account, &j.r->schedule, err));
    } else {
        TMI_TRY(draw_noise(&j, err));
        TMI_TRY(aggregate(&j, err));
    }
    TMI_TRY(infer(&j, err));
    TMI_TRY(report(&j, err));
    TMI_TRY(keep(&j, err));
    TMI_TRY(publish(&j, err));
    j.r->watch = (tmi_watch){0}; /* nobody watches any more */
    *release = j.r;

done:
    if (status != TAMIS_OK && !j.repeated && j.r->account.charged.entry > 0) status = charge_stands(j.r, run, j.kept, err);
    else if (status == TAMIS_SYSTEM && run->ledger) nothing_charged(err);
    job_clear(&j);
    if (status != TAMIS_OK) tamis_release_free(j.r);
    return status;
}

tamis_status tamis_release_new(tamis_release **release, const tamis_plan *plan, const char *folder,
                               const tamis_release_options *options, tamis_error *err)
{
    if (!release) return tmi_fail(err, TAMIS_INVALID, "release: NULL");
    *release = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    tmi_engine *engine;
    const tamis_release_options how = options ? *options : (tamis_release_options){0};
    const tamis_estimate_options reading = {.engine = how.engine, .threads = how.threads, .rows = how.rows, .memory = how.memory};
    tamis_status status = tmi_engine_for(&engine, plan, &reading, err);
    if (status != TAMIS_OK) return status;
    const tmi_run run = {.folder = folder,
                         .ledger = how.ledger ? how.ledger : plan->ledger,
                         .again = how.again,
                         .new_account = how.new_account,
                         .sign = how.sign,
                         .source = how.rows ? NULL : &plan->source,
                         .watch = how.watch};
    status = tmi_release_with(release, plan, engine, &run, err);
    engine->free(engine);
    return status;
}
