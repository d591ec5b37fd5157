#include "release/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/memory.h"
#include "plan/json.h"
#include "report/promise.h"

static void put_integer(tmi_json_out *out, const char *key, int64_t value)
{
    tmi_json_key(out, key);
    tmi_json_put_integer(out, value);
}

static void put_yes_no(tmi_json_out *out, const char *key, bool value)
{
    tmi_json_key(out, key);
    tmi_json_put_boolean(out, value);
}

static void put_exact(tmi_json_out *out, const char *key, const tamis_number *number)
{
    tmi_json_key(out, key);
    if (number) tmi_put_exact(out, number);
    else tmi_json_put_null(out);
}

static void put_integers(tmi_json_out *out, const char *key, const int64_t *list, size_t count)
{
    tmi_json_key(out, key);
    tmi_json_open(out, '[');
    for (size_t i = 0; list && i < count; i++) tmi_json_put_integer(out, list[i]);
    tmi_json_close(out, ']');
}

/* How rows are weighed and combined. What only the reading of noisy numbers needs (spread, correction, df) is left out. */
static void put_sampling(tmi_json_out *out, const tmi_sampling *s)
{
    static const char *const weights[] = {[TMI_ALIKE] = "alike", [TMI_STRATA] = "strata", [TMI_ROWS] = "rows"};
    tmi_json_open(out, '{');
    tmi_json_key(out, "weights");
    tmi_json_put_string(out, weights[s->weights]);
    put_exact(out, "step", s->step);
    put_integers(out, "points", s->points, s->strata);
    put_exact(out, "spread_step", s->spread_step);
    put_integers(out, "spread_points", s->spread_points, s->strata);
    put_integer(out, "most", s->most);
    put_yes_no(out, "stages", s->stages);
    put_yes_no(out, "from_frame", s->from_frame);
    put_yes_no(out, "stays", s->stays);
    put_yes_no(out, "of_units", s->of_units);
    put_yes_no(out, "scattered", s->scattered);
    put_integer(out, "variance_units", (int64_t)s->variance_units);
    put_integer(out, "rows", s->rows);
    tmi_json_close(out, '}');
}

static tamis_status measurement_text(char **text, const tmi_schedule *s, const tmi_measurement *m, tamis_error *err)
{
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_put_measurement(&out, s, m);
    put_integer(&out, "cells_of_a_record", (int64_t)m->movable);
    put_integer(&out, "limit", m->limit);
    tmi_json_close(&out, '}');
    return tmi_text_take(text, &json, err);
}

static int compare_texts(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

/* In an order of their own: that of the statistics in the plan does not matter. */
static tamis_status put_measurements(tmi_json_out *out, const tmi_schedule *s, tamis_error *err)
{
    char **list = tmi_alloc(s->measurement_count, sizeof *list);
    tamis_status status = TAMIS_OK;
    if (!list) return tmi_fail_memory(err);
    for (size_t i = 0; i < s->measurement_count; i++) TMI_TRY(measurement_text(&list[i], s, &s->measurements[i], err));
    qsort(list, s->measurement_count, sizeof *list, compare_texts);
    tmi_json_open(out, '[');
    for (size_t i = 0; i < s->measurement_count; i++) tmi_json_put_number(out, list[i]); /* JSON already */
    tmi_json_close(out, ']');

done:
    for (size_t i = 0; i < s->measurement_count; i++) tmi_free(list[i]);
    tmi_free(list);
    return status;
}

tamis_status tmi_release_identity(char **text, const tmi_schedule *s, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    tamis_status status = TAMIS_OK;
    tmi_text json;
    tmi_json_out out;
    *text = NULL;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_json_open(&out, '{');
    if (plan->wave.name) {
        tmi_json_key(&out, "wave");
        tmi_json_put_string(&out, plan->wave.name);
    }
    tmi_put_drawing(&out, plan);
    if (tmi_frame_of(s)) {
        tmi_json_key(&out, "frame");
        tmi_json_put_string(&out, tmi_frame_of(s)->hash);
    }
    if (plan->design.by) {
        tmi_json_key(&out, "strata");
        tmi_put_column(&out, plan, plan->design.by);
    }
    tmi_json_key(&out, "sampling");
    put_sampling(&out, &s->sampling);
    tmi_json_key(&out, "measurements");
    TMI_TRY(put_measurements(&out, s, err));
    tmi_json_close(&out, '}');
    status = tmi_text_take(text, &json, err);

done:
    tmi_text_clear(&json);
    return status;
}
