#include "study/expected.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tamis/preview.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "num/number.h"
#include "plan/plan.h"

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

/* "mean api00 by stype where ...", "quantile 0.25 api00" */
static void put_title(tmi_text *text, const tmi_value *statistic, const tmi_value *cell)
{
    const double own = real_of(cell, "at"), at = isnan(own) ? real_of(statistic, "at") : own;
    const char *column = tmi_value_field_text(statistic, "column"), *where = tmi_value_field_text(statistic, "where");
    const tmi_value *by = tmi_value_get(statistic, "by");
    tmi_text_put(text, tmi_value_field_text(statistic, "statistic"));
    if (!isnan(at) && strcmp(tmi_value_field_text(statistic, "statistic"), "quantile") == 0) tmi_text_format(text, " %.6g", at);
    if (*column) tmi_text_format(text, " %s", column);
    if (*tmi_value_field_text(statistic, "contrast")) tmi_text_format(text, ", %s", tmi_value_field_text(statistic, "contrast"));
    for (size_t i = 0; i < tmi_value_size(by); i++)
        tmi_text_format(text, "%s%s", i == 0 ? " by " : ", ", tmi_value_string(tmi_value_at(by, i)));
    if (*where) tmi_text_format(text, " where %s", where);
    if (*tmi_value_field_text(cell, "term")) tmi_text_format(text, ": %s", tmi_value_field_text(cell, "term"));
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
    if (isnan(row.size) && share > 0) row.size = row.noise / share; /* the share is that of the noise alone */
    tmi_text_init(&text);
    put_title(&text, statistic, cell);
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
    status = tamis_preview_new(&preview, plan, err);
    if (!preview) goto done; /* there is one also if the ledger would refuse the release */
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

bool tmi_plan_counts_rho(const tamis_plan *plan) { return plan->privacy.loss.rho != NULL; }

double tmi_plan_spends(const tamis_plan *plan)
{
    const tmi_plan_loss *loss = &plan->privacy.loss;
    return tmi_number_nearest(loss->rho ? loss->rho : loss->epsilon);
}

/* A plan does not change once it was read; this one is a copy that shares everything but the loss. */
tamis_status tmi_expected_at(tmi_expected *e, const tamis_plan *plan, double eps, tamis_error *err)
{
    tamis_plan copy = *plan;
    tamis_number *number = NULL;
    *e = (tmi_expected){0};
    tamis_status status = tmi_number_double(&number, eps, err);
    if (status != TAMIS_OK) return status;
    copy.holders = 1;
    copy.budget = (tmi_plan_loss){0};
    *(plan->privacy.loss.rho ? &copy.privacy.loss.rho : &copy.privacy.loss.epsilon) = number;
    status = tmi_expected_of(e, &copy, err);
    tamis_number_free(number);
    return status;
}
