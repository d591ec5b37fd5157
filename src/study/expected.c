#include "study/expected.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tamis/preview.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/value/json.h"
#include "num/number.h"

void tmi_expected_clear(tmi_expected *e)
{
    for (size_t i = 0; i < e->count; i++) {
        tmi_free(e->rows[i].statistic);
        tmi_free(e->rows[i].group);
    }
    tmi_free(e->rows);
    *e = (tmi_expected){0};
}

static double real_of(const tmi_value *map, const char *key)
{
    const tmi_value *v = tmi_value_get(map, key);
    const tmi_value_kind kind = tmi_value_kind_of(v);
    return kind == TMI_VALUE_REAL || kind == TMI_VALUE_INTEGER ? tmi_value_real(v) : NAN;
}

/* "mean api00 by stype where ..." */
static void put_title(tmi_text *text, const tmi_value *statistic)
{
    const char *column = tmi_value_field_text(statistic, "column"), *where = tmi_value_field_text(statistic, "where");
    const tmi_value *by = tmi_value_get(statistic, "by");
    tmi_text_put(text, tmi_value_field_text(statistic, "statistic"));
    if (*column) tmi_text_format(text, " %s", column);
    for (size_t i = 0; i < tmi_value_size(by); i++)
        tmi_text_format(text, "%s%s", i == 0 ? " by " : ", ", tmi_value_string(tmi_value_at(by, i)));
    if (*where) tmi_text_format(text, " where %s", where);
}

static void put_group(tmi_text *text, const tmi_value *group)
{
    tmi_text_put(text, "");
    for (const char *key = NULL; (key = tmi_value_next_key(group, key));)
        tmi_text_format(text, "%s%s=%s", text->length > 0 ? ", " : "", key, tmi_value_field_text(group, key));
}

static tamis_status add_row(tmi_expected *e, const tmi_value *statistic, const tmi_value *cell, tamis_error *err)
{
    tmi_expected_row row = {.known = tmi_value_true(statistic, "known"),
                            .noise = real_of(cell, "noise_sd"),
                            .sampling = real_of(cell, "sampling_se"),
                            .both = real_of(cell, "se"),
                            .size = real_of(cell, "expected")};
    const double share = real_of(cell, "share_of_expected");
    tmi_text text;
    tamis_status status;
    if (isnan(row.size) && share > 0) row.size = (isnan(row.both) ? row.noise : row.both) / share;
    tmi_text_init(&text);
    put_title(&text, statistic);
    TMI_TRY(tmi_text_take(&row.statistic, &text, err));
    put_group(&text, tmi_value_get(cell, "group"));
    TMI_TRY(tmi_text_take(&row.group, &text, err));
    if (!tmi_grow(&e->rows, &e->room, e->count, sizeof *e->rows)) TMI_TRY(tmi_fail_memory(err));
    e->rows[e->count++] = row;
    return TAMIS_OK;

done:
    tmi_text_clear(&text);
    tmi_free(row.statistic);
    tmi_free(row.group);
    return status;
}

tamis_status tmi_expected_of(tmi_expected *e, const tamis_plan *plan, tamis_error *err)
{
    tamis_preview *preview = NULL;
    tmi_value *document = NULL;
    char *json = NULL;
    tamis_status status;
    *e = (tmi_expected){0};
    TMI_TRY(tamis_preview_new(&preview, plan, err));
    TMI_TRY(tamis_preview_json(&json, preview, err));
    TMI_TRY(tmi_json_read(&document, json, strlen(json), err));
    const tmi_value *statistics = tmi_value_get(document, "statistics");
    for (size_t i = 0; i < tmi_value_size(statistics); i++) {
        const tmi_value *s = tmi_value_at(statistics, i), *groups = tmi_value_get(s, "groups");
        if (tmi_value_size(groups) == 0) TMI_TRY(add_row(e, s, s, err));
        for (size_t g = 0; g < tmi_value_size(groups); g++) TMI_TRY(add_row(e, s, tmi_value_at(groups, g), err));
    }

done:
    tmi_value_free(document);
    tamis_free(json);
    tamis_preview_free(preview);
    return status;
}

void tmi_expected_name(tmi_text *text, const char *statistic, const char *group)
{
    const char *value = strchr(group, '='); /* of the first; its column is in the statistic's name already */
    tmi_text_put(text, statistic);
    if (*group) tmi_text_format(text, ": %s", value ? value + 1 : group);
}

/* ---- another epsilon ---- */

static tamis_status read_plan(tmi_value **document, const tamis_plan *plan, tamis_error *err)
{
    char *json = NULL;
    tamis_status status;
    TMI_TRY(tamis_plan_json(&json, plan, err));
    TMI_TRY(tmi_json_read(document, json, strlen(json), err));

done:
    tamis_free(json);
    return status;
}

static bool is_loss(const char *key) { return strcmp(key, "epsilon") == 0 || strcmp(key, "rho") == 0; }

static void put_privacy(tmi_json_out *out, const tmi_value *privacy, const char *eps)
{
    tmi_json_open(out, '{');
    for (const char *key = NULL; (key = tmi_value_next_key(privacy, key));) {
        tmi_json_key(out, key);
        if (is_loss(key)) tmi_json_put_string(out, eps);
        else tmi_json_put_value(out, tmi_value_get(privacy, key));
    }
    tmi_json_close(out, '}');
}

tamis_status tmi_plan_with_epsilon(tamis_plan **copy, const tamis_plan *plan, double eps, tamis_error *err)
{
    tmi_value *document = NULL;
    tmi_text text, number;
    tmi_json_out out;
    tamis_status status;
    *copy = NULL;
    tmi_text_init(&text), tmi_text_init(&number);
    TMI_TRY(read_plan(&document, plan, err));
    tmi_text_real(&number, eps);
    if (number.failed) TMI_TRY(tmi_fail_memory(err));
    tmi_json_out_init(&out, &text, false);
    tmi_json_open(&out, '{');
    for (const char *key = NULL; (key = tmi_value_next_key(document, key));) {
        if (strcmp(key, "budget") == 0) continue;
        tmi_json_key(&out, key);
        if (strcmp(key, "privacy") == 0) put_privacy(&out, tmi_value_get(document, key), number.bytes);
        else tmi_json_put_value(&out, tmi_value_get(document, key));
    }
    tmi_json_close(&out, '}');
    if (text.failed) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tamis_plan_read_text(copy, "plan.yaml", text.bytes, text.length, err));

done:
    tmi_text_clear(&text), tmi_text_clear(&number);
    tmi_value_free(document);
    return status;
}

tamis_status tmi_plan_spends(double *eps, bool *rho, const tamis_plan *plan, tamis_error *err)
{
    tmi_value *document = NULL;
    tamis_number *number = NULL;
    tamis_status status;
    TMI_TRY(read_plan(&document, plan, err));
    const tmi_value *privacy = tmi_value_get(document, "privacy");
    *rho = tmi_value_get(privacy, "rho") != NULL;
    TMI_TRY(tamis_number_read(&number, tmi_value_field_text(privacy, *rho ? "rho" : "epsilon"), err));
    *eps = tmi_number_nearest(number);

done:
    tamis_number_free(number);
    tmi_value_free(document);
    return status;
}
