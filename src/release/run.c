/* The main job: schedule -> folder -> rows counted -> all noise drawn -> one pass over the data -> sums -> results.
 *
 * Noise is drawn before the first value is read, so its time cannot depend on the data. Between the answers of the
 * engine and the noisy integers there is one addition; everything after it sees only noisy integers and the plan.    */
#include <string.h>
#include <tamis/rng.h>

#include "base/memory.h"
#include "release/folder.h"
#include "release/noise_law.h"
#include "release/release.h"
#include "release/request.h"
#include "release/statistic.h"

void tamis_release_free(tamis_release *release)
{
    if (!release) return;
    for (size_t i = 0; release->noisy && i < release->schedule.measurement_count; i++) tmi_free(release->noisy[i]);
    tmi_free(release->noisy);
    tmi_results_clear(&release->results);
    tmi_schedule_clear(&release->schedule);
    tmi_free(release->folder);
    tmi_free(release);
}

/* ---- stopping ---- */

/* The engine asks during long queries only; short work is asked about between its steps. */
typedef struct watch {
    tamis_progress *progress; /* may be NULL */
    void *context;
} watch;

static tamis_status go_on(const watch *watch, double share, int64_t rows, tamis_error *err)
{
    if (!watch->progress || watch->progress(watch->context, share, rows) == 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_SYSTEM, "cancelled");
}

/* ---- before the data ---- */

tamis_status tmi_check_rows(tmi_engine *engine, const tmi_schedule *schedule, const tmi_column *const *columns,
                            size_t column_count, tamis_progress *progress, void *context, tamis_error *err)
{
    tmi_inventory inventory = {.columns = columns, .column_count = column_count};
    const int64_t expected = schedule->design->row_count(&schedule->plan->design);
    tamis_status status = engine->describe(engine, &inventory, progress, context, err);
    const int64_t rows = inventory.rows;
    if (status != TAMIS_OK || rows == expected || !schedule->plan->privacy.setting->size_is_public) return status;
    return tmi_fail(err, TAMIS_INVALID,
                    "the source has %lld rows, but the design `%s` declares %lld: correct the plan or the source",
                    (long long)rows, schedule->design->name, (long long)expected);
}

/* Noise of all measurements, one block each, in the order of the schedule. */
static tamis_status draw_noise(int64_t **noise, const tmi_schedule *schedule, tamis_error *err)
{
    tamis_rng *rng = NULL;
    tamis_noise *law = NULL;
    tamis_status status;
    TMI_TRY(tamis_rng_new(&rng, err));
    for (size_t i = 0; i < schedule->measurement_count; i++) {
        const tmi_measurement *m = &schedule->measurements[i];
        noise[i] = tmi_alloc(m->cells, sizeof **noise);
        if (!noise[i]) {
            status = tmi_fail_memory(err);
            goto done;
        }
        TMI_TRY(tamis_noise_laplace_new(&law, m->scale, err));
        TMI_TRY(tamis_noise_draw(noise[i], m->cells, law, rng, err));
        tamis_noise_free(law);
        law = NULL;
    }

done:
    tamis_noise_free(law);
    tamis_rng_free(rng);
    return status;
}

static void wipe_noise(int64_t **noise, const tmi_schedule *schedule)
{
    for (size_t i = 0; noise && i < schedule->measurement_count; i++) {
        if (noise[i]) tmi_wipe(noise[i], schedule->measurements[i].cells * sizeof **noise);
        tmi_free(noise[i]);
    }
    tmi_free(noise);
}

/* ---- with the data ---- */

static tamis_status measure(tamis_release *r, const tmi_asking *asking, int64_t *const *noise, tamis_error *err)
{
    const tmi_schedule *s = &r->schedule;
    for (size_t i = 0; i < s->measurement_count; i++) {
        r->noisy[i] = tmi_alloc(s->measurements[i].cells, sizeof **r->noisy);
        if (!r->noisy[i]) return tmi_fail_memory(err);
        for (size_t cell = 0; cell < s->measurements[i].cells; cell++) {
            tmi_int128 truth = tmi_asking_truth(asking, s, i, cell);
            r->noisy[i][cell] = tmi_add_noise(truth, noise[i][cell], s->measurements[i].limit);
        }
    }
    return TAMIS_OK;
}

/* ---- after the noise ---- */

static tamis_status read_results(tamis_release *r, tamis_error *err)
{
    tamis_status status = tmi_results_make(&r->results, &r->schedule, true, err);
    tmi_case c;
    for (size_t i = 0; i < r->results.count; i++) {
        tmi_result *result = &r->results.list[i];
        const tmi_use *use = &r->schedule.uses[result->statistic];
        if (result->cell == 0) TMI_TRY(tmi_case_make(&c, &r->schedule, result->statistic, err));
        double noisy[TMI_MAX_NEEDS] = {0};
        for (size_t j = 0; j < use->count; j++) noisy[j] = (double)r->noisy[use->measurement[j]][result->cell];
        tmi_statistic_of(c.statistic)->read(result, &c, noisy);
        if (use->count > 0)
            TMI_TRY(tmi_round_once(result, &c, &r->schedule, r->noisy[use->measurement[0]][result->cell], err));
        tmi_result_bound(result);
    }

done:
    return status;
}

static tamis_status write_files(tamis_release *r, tmi_folder *folder, const watch *watch, int64_t rows,
                                tamis_error *err)
{
    static const struct {
        const char *name;
        tamis_status (*write)(char **text, const tamis_release *release, tamis_error *err);
    } files[] = {{"release.json", tamis_release_json},
                 {"release.csv", tamis_release_csv},
                 {"measurements.json", tamis_release_measurements}};
    tamis_status status = TAMIS_OK;
    char *text = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        TMI_TRY(files[i].write(&text, r, err));
        TMI_TRY(tmi_folder_write(folder, files[i].name, text, err));
        tmi_free(text);
        text = NULL;
    }
    r->folder = tmi_copy_text(folder->final, strlen(folder->final));
    if (!r->folder) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(go_on(watch, 1, rows, err));
    status = tmi_folder_end(folder, err);

done:
    tmi_free(text);
    return status;
}

tamis_status tmi_release_with(tamis_release **release, const tamis_plan *plan, tmi_engine *engine, const char *path,
                              tamis_progress *progress, void *context, tamis_error *err)
{
    const watch watch = {progress, context};
    tmi_asking asking = {0};
    tmi_folder folder = {0};
    int64_t **noise = NULL;
    tamis_status status;
    *release = NULL;
    tamis_release *r = tmi_alloc(1, sizeof *r);
    if (!r) return tmi_fail_memory(err);
    tmi_schedule *schedule = &r->schedule;
    TMI_TRY(tmi_schedule_make(schedule, plan, err));
    TMI_TRY(tmi_asking_make(&asking, schedule, err));
    if (path) TMI_TRY(tmi_folder_begin(&folder, path, err));
    TMI_TRY(tmi_check_rows(engine, schedule, asking.column_list, asking.column_count, progress, context, err));

    TMI_TRY(tmi_asking_make_room(&asking, err));
    noise = tmi_alloc(schedule->measurement_count, sizeof *noise);
    r->noisy = tmi_alloc(schedule->measurement_count, sizeof *r->noisy);
    if (!noise || !r->noisy) {
        status = tmi_fail_memory(err);
        goto done;
    }
    TMI_TRY(draw_noise(noise, schedule, err));
    TMI_TRY(go_on(&watch, -1, 0, err));
    if (asking.table_count > 0) {
        const tmi_request request = {.tables = asking.tables, .table_count = asking.table_count};
        TMI_TRY(engine->aggregate(engine, asking.answers, &request, progress, context, err));
    }
    const int64_t rows = schedule->design->row_count(&plan->design);
    TMI_TRY(go_on(&watch, 1, rows, err));
    TMI_TRY(measure(r, &asking, noise, err));
    TMI_TRY(read_results(r, err));
    if (path) TMI_TRY(write_files(r, &folder, &watch, rows, err));
    *release = r;
    r = NULL;

done:
    wipe_noise(noise, schedule);
    tmi_asking_clear(&asking);
    tmi_folder_clear(&folder);
    tamis_release_free(r);
    return status;
}

tamis_status tmi_engine_for(tmi_engine **engine, const tamis_plan *plan, const tamis_run_options *options,
                            tamis_error *err)
{
    *engine = NULL;
    const char *name = options && options->engine ? options->engine : "duckdb";
    if (strcmp(name, "duckdb") != 0) {
        bool later = strcmp(name, "memory") == 0 || strcmp(name, "postgres") == 0;
        return tmi_fail(err, TAMIS_INVALID, later ? "engine: %s is not available in this version; use duckdb"
                                                  : "engine: %s is unknown; use duckdb", name);
    }
    tmi_source source = {.files = (const char *const *)plan->source.files, .file_count = plan->source.file_count};
    return tmi_engine_duckdb(engine, &source, options ? options->threads : 0, err);
}

tamis_status tamis_release_run(tamis_release **release, const tamis_plan *plan, const char *folder,
                               const tamis_run_options *options, tamis_error *err)
{
    if (!release) return tmi_fail(err, TAMIS_INVALID, "release: expected a place for the result, got NULL");
    *release = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: expected a plan, got NULL");
    tmi_engine *engine;
    tamis_status status = tmi_engine_for(&engine, plan, options, err);
    if (status != TAMIS_OK) return status;
    status = tmi_release_with(release, plan, engine, folder, options ? options->progress : NULL,
                              options ? options->context : NULL, err);
    engine->free(engine);
    return status;
}
