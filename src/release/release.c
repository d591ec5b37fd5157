/* The texts of a release. */
#include "release/release.h"

#include <string.h>
#include <tamis/experimental/editor.h>

#include "base/integer.h"
#include "base/memory.h"
#include "base/table.h"
#include "ledger/ledger.h"
#include "release/second_stage.h"
#include "report/promise.h"
#include "report/report.h"

static tamis_status write_exchange(char **text, const tamis_release *release, tamis_error *err)
{
    return tmi_results_sdmx_csv(text, &release->results, err);
}

const tmi_release_file tmi_files[TMI_FILES] = {
    [TMI_FILE_RESULTS] = {"release.json", false, tamis_release_json},
    [TMI_FILE_TABLE] = {"release.csv", false, tamis_release_csv},
    [TMI_FILE_MEASUREMENTS] = {"measurements.json", false, tamis_release_measurements_json},
    [TMI_FILE_REGISTRY] = {"registry.yaml", false, tamis_release_registry_yaml},
    [TMI_FILE_REPORT] = {"report.html", false, tamis_release_report_html},
    [TMI_FILE_EXCHANGE] = {"release.sdmx.csv", true, write_exchange},
    [TMI_FILE_SPREADSHEET] = {"release.xlsx", true, NULL},
};

tamis_status tmi_file_bytes(char **bytes, size_t *length, size_t which, const tamis_release *release, tamis_error *err)
{
    *bytes = NULL;
    *length = 0;
    if (!tmi_files[which].text)
        return release->results.count > TMI_MOST_IN_SPREADSHEET ? TAMIS_OK
                                                                : tmi_results_xlsx(bytes, length, &release->results, err);
    tamis_status status = tmi_files[which].text(bytes, release, err);
    if (status == TAMIS_OK) *length = strlen(*bytes);
    return status;
}

static tamis_status check(char **text, const tamis_release *release, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!release) return tmi_fail(err, TAMIS_INVALID, "release: NULL");
    return TAMIS_OK;
}

int tamis_release_is_repeated(const tamis_release *release) { return release && release->account.charged.measurements != NULL; }

tamis_status tamis_release_json(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    return status == TAMIS_OK ? tmi_results_json(text, &release->results, err) : status;
}

tamis_status tamis_release_csv(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    return status == TAMIS_OK ? tmi_results_csv(text, &release->results, err) : status;
}

/* How many units a row of each stratum represents, where rows do not bring it themselves. */
static void put_weights(tmi_json_out *out, const tmi_schedule *s)
{
    tmi_json_key(out, "weights");
    if (s->sampling.weights == TMI_ROWS) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '[');
    for (size_t h = 0; h < s->sampling.strata; h++) tmi_put_exact(out, s->sampling.weight[h]);
    tmi_json_close(out, ']');
}

/* Stratum by stratum, group by group, cell by cell, level by level. noisy NULL: the longest values that there can be, all at the
 * lower end of the clamp. */
static void put_values(tmi_json_out *out, const tmi_measurement *m, const tmi_int128 *noisy)
{
    tmi_json_add_open(out, "values", '[');
    for (size_t k = 0; k < m->numbers && !out->text->failed; k++) {
        char value[TMI_INT128_TEXT];
        tmi_int128_text(value, noisy ? noisy[k] : -(tmi_int128)m->limit);
        tmi_json_put_number(out, value);
    }
    tmi_json_close(out, ']');
}

/* Group by group, in each the `at`; NULL: the longest, all at the end of the grid that has more digits. */
static void put_points(tmi_json_out *out, const tmi_schedule *s, const tmi_quantile_task *c, const int64_t *answers)
{
    const tmi_grid *grid = &s->plan->statistics[c->statistic].column->grid;
    const int64_t longest = -grid->low > grid->high / 10 ? grid->low : grid->high;
    tmi_json_add_open(out, "points", '[');
    for (size_t k = 0; k < c->numbers && !out->text->failed; k++) tmi_json_put_integer(out, answers ? answers[k] : longest);
    tmi_json_close(out, ']');
}

static void put_quantile_tasks(tmi_json_out *out, const tmi_schedule *s, int64_t *const *answers)
{
    if (s->quantile_task_count == 0) return;
    tmi_json_add_open(out, "choices", '[');
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        tmi_put_quantile_task(out, s, &s->quantile_tasks[i]);
        put_points(out, s, &s->quantile_tasks[i], answers ? answers[i] : NULL);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

/* measurements.json; noisy and chosen NULL: the longest that there can be. */
static void put_measurements(tmi_json_out *out, const tmi_schedule *s, tmi_int128 *const *noisy, int64_t *const *answers)
{
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "tamis", 1);
    tmi_json_add_string(out, "survey", s->plan->survey);
    tmi_json_key(out, "design");
    tmi_put_design(out, s);
    put_weights(out, s);
    tmi_put_bound_tasks(out, s);
    tmi_json_add_open(out, "measurements", '[');
    for (size_t i = 0; i < s->measurement_count; i++) {
        tmi_put_measurement(out, s, &s->measurements[i]);
        put_values(out, &s->measurements[i], noisy ? noisy[i] : NULL);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    put_quantile_tasks(out, s, answers);
    tmi_put_standard_errors(out, s, noisy);
    tmi_json_close(out, '}');
}

static void write_measurements(tmi_text *json, const tmi_schedule *s, tmi_int128 *const *noisy, int64_t *const *answers)
{
    tmi_json_out out;
    json->watch = s->watch;
    tmi_json_out_init(&out, json, true);
    put_measurements(&out, s, noisy, answers);
    tmi_text_put(json, "\n");
}

tamis_status tmi_measurements_tree(tmi_value **tree, const tmi_schedule *s, tmi_int128 *const *noisy, int64_t *const *answers,
                                   tamis_error *err)
{
    tmi_json_tree made;
    tmi_json_tree_begin(&made, s->watch);
    put_measurements(&made.out, s, noisy, answers);
    return tmi_json_tree_end(tree, &made, err);
}

tamis_status tmi_measurements_longest(size_t *length, const tmi_schedule *schedule, tamis_error *err)
{
    tmi_text json;
    tmi_text_init(&json);
    json.counted = true;
    write_measurements(&json, schedule, NULL, NULL);
    *length = json.length;
    if (!json.failed) return TAMIS_OK;
    return json.stopped ? tmi_fail_cancelled(err) : tmi_fail_memory(err);
}

/* A release that is returned as it was has the text that the ledger keeps, whatever the order of today's plan: its hash is
 * there. */
tamis_status tamis_release_measurements_json(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    if (status != TAMIS_OK) return status;
    const char *kept = release->account.charged.measurements;
    tmi_text json;
    tmi_text_init(&json);
    if (kept) tmi_text_put(&json, kept);
    else write_measurements(&json, &release->schedule, release->noisy, release->answers);
    return tmi_text_take(text, &json, err);
}

/* A file with its hash in the certificate. */
static tamis_status put_file(size_t i, const char *bytes, size_t length, const tamis_release *r, tmi_folder *folder,
                             tamis_error *err)
{
    tmi_sha256_text(r->certificate->files[i], bytes, length);
    return folder ? tmi_folder_write(folder, tmi_files[i].name, bytes, length, err) : TAMIS_OK;
}

tamis_status tmi_release_certify(char **text, const char *measurements, const tamis_release *r, tmi_folder *folder,
                                 tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    char *file = NULL;
    *text = NULL;
    for (size_t i = 0; i < TMI_FILES; i++) {
        TMI_TRY(tmi_watch_beat(r->schedule.watch, err));
        const bool kept = i == TMI_FILE_MEASUREMENTS;
        size_t length = strlen(measurements);
        if (!kept) TMI_TRY(tmi_file_bytes(&file, &length, i, r, err));
        if (kept || file) TMI_TRY(put_file(i, kept ? measurements : file, length, r, folder, err));
        tmi_free(file);
        file = NULL;
    }
    TMI_TRY(tmi_certificate_write(text, r->certificate, &r->promised, err));

done:
    tmi_free(file);
    return status;
}

tamis_status tamis_release_certificate_json(char **text, const tamis_release *release, tamis_error *err)
{
    char *measurements = NULL;
    tamis_status status = check(text, release, err);
    if (status == TAMIS_OK) status = tamis_release_measurements_json(&measurements, release, err);
    if (status == TAMIS_OK) status = tmi_release_certify(text, measurements, release, NULL, err);
    tmi_free(measurements);
    return status;
}

tamis_status tamis_release_arrow(struct ArrowSchema *schema, struct ArrowArray *array, const tamis_release *release,
                                 tamis_error *err)
{
    if (!schema || !array) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", schema ? "array" : "schema");
    *schema = (struct ArrowSchema){0};
    *array = (struct ArrowArray){0};
    if (!release) return tmi_fail(err, TAMIS_INVALID, "release: NULL");
    return tmi_results_arrow(schema, array, &release->results, err);
}

/* The certificate names who signed it: for as long as the files are written. */
static tamis_status save(tmi_folder *folder, const tamis_release *r, tmi_key *key, tamis_error *err)
{
    char *measurements = NULL, *certificate = NULL, message[TMI_CERTIFICATE_MESSAGE];
    unsigned char signature[TMI_SIGNATURE_BYTES];
    tamis_status status;
    TMI_TRY(tamis_release_measurements_json(&measurements, r, err));
    if (key) TMI_TRY(tmi_key_fingerprint(r->certificate->signed_by, key, err));
    TMI_TRY(tmi_release_certify(&certificate, measurements, r, folder, err));
    TMI_TRY(tmi_folder_write(folder, TMI_CERTIFICATE, certificate, strlen(certificate), err));
    if (key) {
        tmi_certificate_message(message, r->certificate->hash);
        TMI_TRY(tmi_sign(signature, key, message, err));
        TMI_TRY(tmi_folder_write(folder, TMI_SIGNATURE, (const char *)signature, sizeof signature, err));
    }
    TMI_TRY(tmi_folder_end(folder, err));

done:
    tmi_free(measurements);
    tmi_free(certificate);
    return status;
}

tamis_status tamis_release_save(const tamis_release *release, const char *folder, const char *sign, tamis_error *err)
{
    tmi_folder made = {0};
    tmi_key *key = NULL;
    char signer[TAMIS_KEY_FINGERPRINT];
    tamis_status status = TAMIS_OK;
    if (!release || !folder) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", release ? "folder" : "release");
    memcpy(signer, release->certificate->signed_by, sizeof signer);
    release->certificate->signed_by[0] = '\0';
    if (sign) TMI_TRY(tmi_key_read_secret(&key, sign, err));
    TMI_TRY(tmi_folder_begin(&made, folder, err));
    TMI_TRY(tmi_folder_make(&made, err));
    TMI_TRY(save(&made, release, key, err));

done:
    memcpy(release->certificate->signed_by, signer, sizeof signer);
    if (made.final) tmi_folder_clear(&made);
    tmi_key_free(key);
    return status == TAMIS_SYSTEM ? tmi_because(err, "disk", status) : status;
}

tamis_status tamis_release_notice_text(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    if (status != TAMIS_OK) return status;
    const tmi_account *account = &release->account;
    tmi_text t;
    tmi_text_init(&t);
    tmi_text_put(&t, "");
    tmi_account_notice(&t, account, account->ledger ? tmi_store_path(account->ledger->file) : NULL);
    return tmi_text_take(text, &t, err);
}

tamis_status tamis_release_remarks_text(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    if (status != TAMIS_OK) return status;
    return tmi_copy_string(text, release->remarks ? release->remarks : "", err);
}

tamis_status tamis_release_shown_json(char **json, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(json, release, err);
    return status == TAMIS_OK ? tmi_results_shown_json(json, &release->results, err) : status;
}

tamis_status tamis_release_text(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    if (status != TAMIS_OK) return status;
    const tmi_schedule *s = &release->schedule;
    char *notice = NULL;
    tmi_text t;
    tmi_text_init(&t);
    status = tamis_release_notice_text(&notice, release, err);
    if (status != TAMIS_OK) return status;
    if (*notice) {
        tmi_text_wrap(&t, "", "  ", notice);
        tmi_text_put(&t, "\n");
    }
    tmi_free(notice);
    tmi_write_heading(&t, s->plan, "protected release", NULL);
    tmi_results_table(&t, &release->results);
    tmi_text_put(&t, "Standard errors and intervals include both sampling error and noise.\n\n");
    tmi_write_promise(&t, s, &release->promised.outsider, true);
    tmi_write_account(&t, s, &release->account);
    if (release->folder) {
        tmi_text_format(
            &t,
            "\nFiles in %s:\n  report.html, release.csv, %srelease.sdmx.csv, release.json,\n  measurements.json, registry.yaml, "
            "certificate.json%s\n",
            release->folder, release->results.count > TMI_MOST_IN_SPREADSHEET ? "" : "release.xlsx, ",
            release->certificate->signed_by[0] ? ", " TMI_SIGNATURE : "");
    }
    return tmi_text_take(text, &t, err);
}

tamis_status tamis_release_registry_yaml(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    return status == TAMIS_OK ? tmi_registry(text, &release->results, release->version, err) : status;
}

tamis_status tamis_release_report_html(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    return status == TAMIS_OK ? tmi_report(text, &release->results, release->version, err) : status;
}
