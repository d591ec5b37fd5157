/* The main job: schedule -> folder -> inventory -> charge -> all noise drawn -> one pass over the data -> sums -> results.
 *
 * Whatever follows from the plan, the source's columns and the engine is checked before the charge; a failure after it is the
 * system's, and says what was charged.
 *
 * Noise is drawn before the first value is read, so its time cannot depend on the data. Between the answers of the
 * engine and the noisy integers there is one addition; everything after it sees only noisy integers and the plan.    */
#include <string.h>
#include <tamis/rng.h>

#include "base/leftover.h"
#include "base/memory.h"
#include "base/secret.h"
#include "engine/files/source.h"
#include "inference/calibration.h"
#include "release/feasible.h"
#include "schedule/inventory.h"
#include "schedule/noise_law.h"
#include "inference/postprocess.h"
#include "report/promise.h"
#include "inference/estimates.h"
#include "release/release.h"
#include "release/source_changed.h"

void tamis_release_free(tamis_release *release)
{
    if (!release) return;
    for (size_t i = 0; release->noisy && i < release->schedule.measurement_count; i++) tmi_free(release->noisy[i]);
    tmi_free(release->noisy);
    tmi_results_clear(&release->results);
    tmi_account_clear(&release->account);
    tmi_schedule_clear(&release->schedule);
    if (release->certificate) tmi_certificate_clear(release->certificate);
    tmi_free(release->certificate);
    tmi_free(release->folder);
    tmi_free(release->remarks);
    tmi_free(release);
}

/* ---- stopping ---- */

/* Between two steps: long ones ask for themselves, engines by the run's progress, all others by the schedule's watch. Its share is
 * unknown (-1) before the pass over the data, and 1 after it. */
static tamis_status go_on(tamis_release *r, double share, tamis_error *err)
{
    tmi_watch *watch = r->schedule.watch;
    watch->from = watch->to = share;
    watch->rows = share < 0 ? 0 : r->schedule.sampling.rows;
    return tmi_watch_tell(watch, 0, err);
}

/* ---- before the data ---- */

#define AT_ONCE 65536 /* draws between two looks at the clock */

static tamis_status draw_law(int64_t *noise, size_t count, const tmi_noise_law *law, const tmi_schedule *s, tamis_rng *rng, tamis_error *err)
{
    tamis_noise *prepared = NULL;
    tamis_status status = s->gaussian ? tamis_noise_gaussian_new(&prepared, law->scale, err)
                                      : tamis_noise_laplace_new(&prepared, law->scale, err);
    for (size_t done = 0; done < count && status == TAMIS_OK; done += AT_ONCE) {
        status = tamis_noise_draw(noise + done, count - done < AT_ONCE ? count - done : AT_ONCE, prepared, rng, err);
        if (status == TAMIS_OK) status = tmi_watch_beat(s->watch, err);
    }
    tamis_noise_free(prepared);
    return status;
}

/* The noise of a table, law by law: of equal cells one block, then put where its stratum's cells are. */
static tamis_status draw_table(int64_t *noise, const tmi_measurement *m, const tmi_schedule *s, tamis_rng *rng, tamis_error *err)
{
    if (m->law_count == 1) return draw_law(noise, m->cells, &m->laws[0], s, rng, err);
    size_t each = m->cells / m->law_count;
    int64_t *block = tmi_secret_alloc(each, sizeof *block);
    tamis_status status = block ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t h = 0; status == TAMIS_OK && h < m->law_count; h++) {
        status = draw_law(block, each, &m->laws[h], s, rng, err);
        for (size_t cell = 0, next = 0; status == TAMIS_OK && cell < m->cells; cell++) {
            if (tmi_cell_stratum(m, cell) == h) noise[cell] = block[next++];
        }
    }
    tmi_secret_free(block);
    return status;
}

/* What the engine's question leaves to chance, and the noise of all measurements. */
static tamis_status draw(int64_t *const *noise, tmi_asking *asking, const tmi_schedule *schedule, tamis_error *err)
{
    tamis_rng *rng = NULL;
    tamis_status status;
    TMI_TRY(tamis_rng_new(&rng, err));
    TMI_TRY(tmi_asking_draw(asking, rng, err));
    for (size_t i = 0; i < schedule->measurement_count; i++) {
        const tmi_measurement *m = &schedule->measurements[i];
        TMI_TRY(draw_table(noise[i], m, schedule, rng, err));
    }

done:
    tamis_rng_free(rng);
    return status;
}

static void wipe_noise(int64_t **noise)
{
    if (noise) tmi_secret_free(noise[0]);
    tmi_free(noise);
}

/* noise[i] for measurement i, all in one secret block. NULL without memory. */
static int64_t **room_for_noise(const tmi_schedule *schedule)
{
    size_t cells = 0;
    int64_t **noise = tmi_alloc(schedule->measurement_count + 1, sizeof *noise);
    for (size_t i = 0; i < schedule->measurement_count; i++) cells += schedule->measurements[i].cells;
    if (noise && (noise[0] = tmi_secret_alloc(cells, sizeof **noise))) {
        for (size_t i = 0; i < schedule->measurement_count; i++) noise[i + 1] = noise[i] + schedule->measurements[i].cells;
        return noise;
    }
    wipe_noise(noise);
    return NULL;
}

/* ---- with the data ---- */

static tamis_status make_room(tamis_release *r, tamis_error *err)
{
    const tmi_schedule *s = &r->schedule;
    r->noisy = tmi_alloc(s->measurement_count, sizeof *r->noisy);
    if (!r->noisy) return tmi_fail_memory(err);
    for (size_t i = 0; i < s->measurement_count; i++) {
        r->noisy[i] = tmi_alloc(s->measurements[i].cells, sizeof **r->noisy);
        if (!r->noisy[i]) return tmi_fail_memory(err);
    }
    return TAMIS_OK;
}

static tamis_status measure(tamis_release *r, tmi_asking *asking, tmi_engine *engine, const tmi_run *run, tamis_error *err)
{
    const tmi_schedule *s = &r->schedule;
    tamis_status status;
    int64_t **noise = room_for_noise(s);
    if (!noise) return tmi_fail_memory(err);
    TMI_TRY(tmi_asking_make_room(asking, err));
    TMI_TRY(draw(noise, asking, s, err));
    TMI_TRY(go_on(r, -1, err));
    if (asking->table_count > 0)
        TMI_TRY(engine->aggregate(engine, asking->answers, &asking->request, run->progress, run->context, err));
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        for (size_t cell = 0; cell < m->cells; cell++)
            r->noisy[i][cell] = tmi_add_noise(tmi_asking_truth(asking, i, cell), noise[i][cell], m->limit);
    }

done:
    wipe_noise(noise);
    return status;
}

/* ---- after the noise ---- */

tamis_status tmi_release_read(tamis_release *r, const tmi_variance_groups *groups, tamis_error *err)
{
    tmi_calibration calibration;
    const tmi_inference reading = {&r->schedule, groups, r->noisy, &calibration};
    tamis_status status;
    TMI_TRY(tmi_calibration_make(&calibration, &r->schedule, r->noisy, err));
    TMI_TRY(tmi_results_make(&r->results, r->schedule.plan, &r->schedule, err));
    r->results.account = &r->account;
    for (size_t i = 0; i < r->results.count; i++) {
        TMI_TRY(tmi_watch_beat(r->schedule.watch, err));
        TMI_TRY(tmi_read_result(&r->results.list[i], &reading, err));
        tmi_result_bound(&r->results.list[i]);
    }
    TMI_TRY(tmi_postprocess(&r->results, &reading, err));

done:
    tmi_calibration_clear(&calibration);
    return status;
}

/* Every file, the certificate that names them, and its signature. */
static tamis_status write_files(tamis_release *r, tmi_folder *folder, const tmi_key *key, tamis_error *err)
{
    char *text = NULL, message[TMI_CERTIFICATE_MESSAGE];
    unsigned char signature[TMI_SIGNATURE_BYTES];
    tamis_status status;
    TMI_TRY(tmi_release_certify(&text, r, folder, err));
    TMI_TRY(tmi_folder_write(folder, TMI_CERTIFICATE, text, strlen(text), err));
    if (key) {
        tmi_certificate_message(message, r->certificate->hash);
        TMI_TRY(tmi_sign(signature, key, message, err));
        TMI_TRY(tmi_folder_write(folder, TMI_SIGNATURE, (const char *)signature, sizeof signature, err));
    }
    r->folder = tmi_copy_text(folder->final, strlen(folder->final));
    if (!r->folder) status = tmi_fail_memory(err);

done:
    tmi_free(text);
    return status;
}

/* What the account would come to, and that all can be asked, written and kept: each of these may fail here for nothing. */
static tamis_status foresee(tamis_release *r, const tmi_asking *asking, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_account_foresee(&r->account, &r->schedule, err));
    TMI_TRY(tmi_check_feasible(&r->schedule, asking, r->certificate, &r->account.standing, err));

done:
    return status;
}

/* A refusal reads nothing, and neither does a release that is returned as it was; else the inventory comes before the charge,
 * so that a contradiction costs nothing. On failure r->account.charged.entry is 0 unless the charge stands. */
static tamis_status charge(tamis_release *r, const tmi_asking *asking, tmi_engine *engine, const tmi_run *run, const tmi_folder *folder,
                           tamis_error *err)
{
    const bool charged = run->ledger && r->schedule.measurement_count > 0;
    char *leftover = NULL;
    tamis_status status = TAMIS_OK;
    if (folder->temporary) TMI_TRY(tmi_leftover_path(&leftover, folder->temporary, err));
    const tmi_payment payment = {run->ledger, run->again, run->new_account, leftover ? leftover : ""};
    if (charged) TMI_TRY(tmi_account_look(&r->account, &r->schedule, &payment, err));
    bool repeated = r->account.charged.measurements != NULL;
    if (!repeated) TMI_TRY(foresee(r, asking, err));
    tmi_account_clear(&r->account);
    if (!repeated) TMI_TRY(tmi_check_inventory(engine, &r->schedule, asking, run->progress, run->context, err));
    if (!repeated && engine->check && asking->table_count > 0)
        TMI_TRY(engine->check(engine, &asking->request, run->progress, run->context, err));
    TMI_TRY(go_on(r, -1, err));
    if (charged) TMI_TRY(tmi_account_charge(&r->account, &r->schedule, &payment, err));

done:
    if (status != TAMIS_OK && r->account.charged.measurements) tmi_account_clear(&r->account); /* an earlier release's entry */
    tmi_free(leftover);
    return status;
}

/* What only the operator hears. */
static tamis_status remark(tamis_release *r, const tmi_run *run, tamis_error *err)
{
    const tmi_account *a = &r->account;
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_put(&text, "");
    if (a->charged.other_source)
        tmi_text_format(&text, "These numbers were released on %s from another source than the plan names now, which was not read. To pay for "
                        "numbers from this one: tamis release --again\n", a->charged.time);
    if (a->charged.measurements && run->source) tmi_source_changed(&text, run->source, a->charged.time);
    if (a->unpublished) tmi_text_put(&text, a->unpublished);
    return tmi_text_take(&r->remarks, &text, err);
}

/* What the certificate says before the charge: a plan that has none, or a key that cannot sign, costs nothing. */
static tamis_status begin_certificate(tamis_release *r, tmi_key **key, const tmi_run *run, tamis_error *err)
{
    tamis_status status;
    *key = NULL;
    r->version = tamis_version();
    r->certificate = tmi_alloc(1, sizeof *r->certificate);
    if (!r->certificate) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_certificate_of(r->certificate, &r->schedule, err));
    if (!run->sign) goto done;
    if (!run->folder) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "sign: a signature goes into the folder of a release, and there is none"));
    TMI_TRY(tmi_key_read_secret(key, run->sign, err));
    TMI_TRY(tmi_key_fingerprint(r->certificate->signed_by, *key, err));

done:
    return status;
}

/* From the numbers to the folder. *kept: the ledger has the numbers, and the same release costs nothing again. */
static tamis_status publish(tamis_release *r, bool *kept, const tmi_asking *asking, tmi_folder *folder, const tmi_key *key, bool repeated,
                            tamis_error *err)
{
    char *measurements = NULL;
    tamis_status status;
    TMI_TRY(go_on(r, 1, err));
    TMI_TRY(tmi_release_read(r, &asking->groups, err));
    TMI_TRY(tmi_certificate_account(r->certificate, &r->account, err));
    if (folder->final) TMI_TRY(write_files(r, folder, key, err));
    TMI_TRY(go_on(r, 1, err));
    if (r->account.ledger && !repeated) {
        TMI_TRY(tamis_release_measurements_json(&measurements, r, err));
        TMI_TRY(tamis_ledger_released(r->account.ledger, r->account.charged.entry, measurements, err));
        *kept = true;
    }
    if (folder->final) TMI_TRY(tmi_folder_end(folder, err));

done:
    tmi_free(measurements);
    return status;
}

/* After the charge no failure is the caller's wrong call any more, whatever its cause says, and what was spent is said with it. */
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
        tmi_fail(err, TAMIS_SYSTEM, "%.900s; %s %s was charged (entry %lld of %.300s), and the release is kept there: the same plan into a new folder "
                 "costs nothing", reason.message, word, number, entry, run->ledger);
    else
        tmi_fail(err, TAMIS_SYSTEM, "%.900s; %s %s was charged (entry %lld of %.300s), and nothing was published. Run the same plan again: it takes "
                 "this charge over and pays nothing. Or give it back: tamis ledger void %.300s %lld --reason TEXT", reason.message, word, number,
                 entry, run->ledger, run->ledger, entry);
    tmi_text_clear(&amount);
    return TAMIS_SYSTEM;
}

/* Whoever stops a release wants to know whether it was paid for. */
static void nothing_charged(tamis_error *err)
{
    if (err && strcmp(err->message, "cancelled") == 0) tmi_fail(err, TAMIS_SYSTEM, "cancelled; nothing was charged");
}

tamis_status tmi_release_with(tamis_release **release, const tamis_plan *plan, tmi_engine *engine, const tmi_run *run,
                              tamis_error *err)
{
    tmi_watch watch = {.progress = run->progress, .context = run->context, .from = -1, .to = -1};
    tmi_asking asking = {0};
    tmi_folder folder = {0};
    tmi_key *key = NULL;
    tamis_status status;
    bool repeated = false, kept = false;
    *release = NULL;
    tamis_release *r = tmi_alloc(1, sizeof *r);
    if (!r) return tmi_fail_memory(err);
    if (run->ledger) TMI_TRY(tmi_account_need_budget(plan, err));
    TMI_TRY(tmi_schedule_make_watched(&r->schedule, plan, NULL, &watch, err));
    TMI_TRY(begin_certificate(r, &key, run, err));
    TMI_TRY(tmi_asking_make(&asking, &r->schedule, err));
    if (run->folder) TMI_TRY(tmi_folder_begin(&folder, run->folder, err));
    TMI_TRY(make_room(r, err));
    TMI_TRY(charge(r, &asking, engine, run, &folder, err));
    repeated = r->account.charged.measurements != NULL;
    TMI_TRY(remark(r, run, err));
    if (repeated) TMI_TRY(tmi_account_recall(r->noisy, &r->account, &r->schedule, err));
    else TMI_TRY(measure(r, &asking, engine, run, err));
    TMI_TRY(publish(r, &kept, &asking, &folder, key, repeated, err));
    r->schedule.watch = r->certificate->schedule.watch = NULL; /* it ends here */
    *release = r;

done:
    if (status != TAMIS_OK && !repeated && r->account.charged.entry > 0) status = charge_stands(r, run, kept, err);
    else if (status == TAMIS_SYSTEM && run->ledger) nothing_charged(err);
    tmi_asking_clear(&asking);
    tmi_folder_clear(&folder);
    tmi_key_free(key);
    if (status != TAMIS_OK) tamis_release_free(r);
    return status;
}

static tmi_source source_of(const tamis_plan *plan)
{
    return (tmi_source){.files = (const char *const *)plan->source.files,
                        .file_count = plan->source.file_count,
                        .table = plan->source.table,
                        .connections = (const char *const *)plan->source.connections,
                        .connection_count = plan->source.connection_count,
                        .sharded_by_unit = plan->source.sharded_by_unit};
}

tamis_engine tamis_release_engine(const tamis_plan *plan)
{
    if (!plan) return TAMIS_ENGINE_FITTING;
    const tmi_source source = source_of(plan);
    return tmi_engine_fitting(&source);
}

tamis_status tmi_engine_for(tmi_engine **engine, const tamis_plan *plan, const tamis_estimate_options *how, tamis_error *err)
{
    if (how->rows) return tmi_engine_of_source(engine, how->rows, how->threads, err);
    const tmi_source source = source_of(plan);
    return tmi_engine_open(engine, how->engine, &source, how->threads, err);
}

tamis_status tamis_release_new(tamis_release **release, const tamis_plan *plan, const char *folder,
                               const tamis_release_options *options, tamis_error *err)
{
    if (!release) return tmi_fail(err, TAMIS_INVALID, "release: NULL");
    *release = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    tmi_engine *engine;
    const tamis_release_options how = options ? *options : (tamis_release_options){0};
    const tamis_estimate_options reading = {.engine = how.engine, .threads = how.threads, .rows = how.rows};
    tamis_status status = tmi_engine_for(&engine, plan, &reading, err);
    if (status != TAMIS_OK) return status;
    const tmi_run run = {.folder = folder, .ledger = how.ledger ? how.ledger : plan->ledger, .again = how.again,
                         .new_account = how.new_account, .sign = how.sign, .source = how.rows ? NULL : &plan->source,
                         .progress = how.watch.progress, .context = how.watch.context};
    status = tmi_release_with(release, plan, engine, &run, err);
    engine->free(engine);
    return status;
}
