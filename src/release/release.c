/* The texts of a release. */
#include "release/release.h"

#include <string.h>

#include "base/integer.h"
#include "base/memory.h"
#include "base/table.h"
#include "ledger/ledger.h"
#include "release/promise.h"

static tamis_status check(char **text, const tamis_release *release, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: expected a place for the result, got NULL");
    *text = NULL;
    if (!release) return tmi_fail(err, TAMIS_INVALID, "release: expected a release, got NULL");
    return TAMIS_OK;
}

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

/* What a row of each stratum stands for, where rows do not bring it themselves. */
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

static void put_values(tmi_json_out *out, const tmi_measurement *m, const tmi_int128 *noisy)
{
    tmi_json_key(out, "values");
    tmi_json_open(out, '[');
    for (size_t cell = 0; cell < m->cells; cell++) {
        char value[TMI_INT128_TEXT];
        tmi_int128_text(value, noisy[cell]);
        tmi_json_open(out, '{');
        tmi_json_key(out, "group");
        tmi_put_group(out, m->by, m->by_count, cell / m->units);
        if (m->units > 1) {
            tmi_json_key(out, "unit");
            tmi_json_put_integer(out, (int64_t)(cell % m->units));
        }
        tmi_json_key(out, "value");
        tmi_json_put_number(out, value);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

tamis_status tamis_release_measurements(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    if (status != TAMIS_OK) return status;
    const tmi_schedule *s = &release->schedule;
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, true);
    tmi_json_open(&out, '{');
    tmi_json_key(&out, "tamis");
    tmi_json_put_integer(&out, 1);
    tmi_json_key(&out, "survey");
    tmi_json_put_string(&out, s->plan->survey);
    tmi_json_key(&out, "design");
    tmi_put_design(&out, s);
    put_weights(&out, s);
    tmi_json_key(&out, "measurements");
    tmi_json_open(&out, '[');
    for (size_t i = 0; i < s->measurement_count; i++) {
        tmi_put_measurement(&out, s, &s->measurements[i]);
        put_values(&out, &s->measurements[i], release->noisy[i]);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    tmi_json_close(&out, '}');
    tmi_text_put(&json, "\n");
    return tmi_text_take(text, &json, err);
}

tamis_status tamis_release_certificate(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    if (status != TAMIS_OK) return status;
    *text = tmi_copy_text(release->certificate, strlen(release->certificate));
    return *text ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tamis_release_notice(char **text, const tamis_release *release, tamis_error *err)
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

tamis_status tamis_release_text(char **text, const tamis_release *release, tamis_error *err)
{
    tamis_status status = check(text, release, err);
    if (status != TAMIS_OK) return status;
    const tmi_schedule *s = &release->schedule;
    char *notice = NULL;
    tmi_text t;
    tmi_text_init(&t);
    status = tamis_release_notice(&notice, release, err);
    if (status != TAMIS_OK) return status;
    if (*notice) {
        tmi_text_wrap(&t, "", "  ", notice);
        tmi_text_put(&t, "\n");
    }
    tmi_free(notice);
    tmi_write_heading(&t, s->plan, "protected release");
    tmi_results_table(&t, &release->results);
    tmi_text_put(&t, "standard errors and intervals hold both the sampling and the noise\n\n");
    tmi_write_promise(&t, s, true);
    tmi_write_account(&t, s, &release->account);
    if (release->folder) {
        tmi_text_format(&t, "\nFiles in %s:\n  release.json, release.csv, measurements.json, certificate.json,\n  registry.yaml, report.html\n", release->folder);
    }
    return tmi_text_take(text, &t, err);
}
