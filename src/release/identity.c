#include "release/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "plan/json.h"
#include "report/promise.h"

/* How rows are weighed and combined. What only the reading of noisy numbers needs (spread, correction, df) is left out. */
static void put_sampling(tmi_json_out *out, const tmi_sampling *s)
{
    static const char *const weights[] = {[TMI_ALIKE] = "alike", [TMI_STRATA] = "strata", [TMI_ROWS] = "rows"};
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "weights", weights[s->weights]);
    tmi_add_exact(out, "step", s->step);
    tmi_json_add_integers(out, "points", s->points, s->strata);
    tmi_add_exact(out, "spread_step", s->variance_step);
    tmi_json_add_integers(out, "spread_points", s->variance_points, s->strata);
    tmi_json_add_integer(out, "most", s->most);
    tmi_json_add_boolean(out, "stages", s->stages);
    tmi_json_add_boolean(out, "from_frame", s->from_frame);
    tmi_json_add_boolean(out, "stays", s->public_strata);
    tmi_json_add_boolean(out, "of_units", s->of_units);
    tmi_json_add_boolean(out, "scattered", s->scattered);
    tmi_json_add_integer(out, "most_clamped", s->most_clamped);
    if (s->most_of_unit > 0) tmi_json_add_integer(out, "most_of_unit", s->most_of_unit); /* older releases have none */
    tmi_json_add_integer(out, "rows", s->rows);
    tmi_json_close(out, '}');
}

typedef tamis_status text_of(char **text, const tmi_schedule *s, size_t i, tamis_error *err);

static tamis_status measurement_text(char **text, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_measurement *m = &s->measurements[i];
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_put_measurement(&out, s, m);
    tmi_json_add_integer(&out, "limit", m->limit);
    tmi_json_close(&out, '}');
    return tmi_text_take(text, &json, err);
}

static tamis_status choice_text(char **text, const tmi_schedule *s, size_t i, tamis_error *err)
{
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_put_quantile_task(&out, s, &s->quantile_tasks[i]);
    tmi_json_close(&out, '}');
    return tmi_text_take(text, &json, err);
}

static tamis_status bound_text(char **text, const tmi_schedule *s, size_t i, tamis_error *err)
{
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_put_bound_task(&out, s, &s->bound_tasks[i]);
    tmi_json_close(&out, '}');
    return tmi_text_take(text, &json, err);
}

/* In an order of their own: that of the statistics in the plan does not matter. */
static tamis_status put_sorted(tmi_json_out *out, const tmi_schedule *s, text_of *text, size_t count, tamis_error *err)
{
    char **list = tmi_alloc(count, sizeof *list);
    tamis_status status = TAMIS_OK;
    if (!list) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) TMI_TRY(text(&list[i], s, i, err));
    qsort(list, count, sizeof *list, tmi_compare_strings);
    tmi_json_open(out, '[');
    for (size_t i = 0; i < count; i++) tmi_json_put_number(out, list[i]); /* JSON already */
    tmi_json_close(out, ']');

done:
    for (size_t i = 0; i < count; i++) tmi_free(list[i]);
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
    if (plan->wave.name) tmi_json_add_string(&out, "wave", plan->wave.name);
    tmi_put_drawing(&out, plan);
    if (tmi_frame_of(s)) tmi_json_add_string(&out, "frame", tmi_frame_of(s)->hash);
    if (tmi_psus_of(s)) tmi_json_add_string(&out, "psus", tmi_psus_of(s)->hash);
    if (plan->design.by) {
        tmi_json_key(&out, "strata");
        tmi_put_column(&out, plan, plan->design.by);
    }
    tmi_json_key(&out, "sampling");
    put_sampling(&out, &s->sampling);
    tmi_put_psu_layout(&out, &s->places.layout);
    tmi_json_key(&out, "measurements");
    TMI_TRY(put_sorted(&out, s, measurement_text, s->measurement_count, err));
    if (s->quantile_task_count > 0) {
        tmi_json_key(&out, "choices");
        TMI_TRY(put_sorted(&out, s, choice_text, s->quantile_task_count, err));
    }
    if (s->bound_task_count > 0) {
        tmi_json_key(&out, "bounds");
        TMI_TRY(put_sorted(&out, s, bound_text, s->bound_task_count, err));
    }
    tmi_json_close(&out, '}');
    status = tmi_text_take(text, &json, err);

done:
    tmi_text_clear(&json);
    return status;
}
