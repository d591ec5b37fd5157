/* Which wave of a repeated survey a plan releases from, and who is in it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/json.h"
#include "plan/sections.h"

#define EXAMPLE "{name: 2026-Q3, groups: [A, B]}"

static void read_name(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_read_text(reader, value, &((tmi_plan_wave *)target)->name, "2026-Q3");
}

static int compare_texts(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

static void read_groups(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_wave *wave = target;
    if (!tmi_read_texts(reader, value, &wave->groups, &wave->group_count, TMI_MAX_WAVE_GROUPS, "A, B")) return;
    qsort(wave->groups, wave->group_count, sizeof *wave->groups, compare_texts); /* their order says nothing */
    for (size_t i = 1; i < wave->group_count; i++) {
        if (strcmp(wave->groups[i - 1], wave->groups[i]) != 0) continue;
        tmi_complain(reader, value, "expected each rotation group once, e.g. [A, B]");
        return;
    }
}

static void read_same_sample(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_read_yes_no(reader, value, &((tmi_plan_wave *)target)->same_sample);
}

void tmi_read_wave(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "name", .read = read_name, .required = "name: 2026-Q3"},
        {.name = "groups", .read = read_groups},
        {.name = "same_sample", .read = read_same_sample},
    };
    tmi_plan_wave *wave = &((tamis_plan *)target)->wave;
    if (value->kind == TMI_YAML_MAP) tmi_read_map(reader, value, keys, 3, EXAMPLE, wave);
    else read_name(reader, value, wave);
}

void tmi_plan_wave_clear(tmi_plan_wave *wave)
{
    tmi_free(wave->name);
    for (size_t i = 0; i < wave->group_count; i++) tmi_free(wave->groups[i]);
    tmi_free(wave->groups);
    *wave = (tmi_plan_wave){0};
}

void tmi_put_wave(tmi_json_out *out, const tmi_plan_wave *wave)
{
    tmi_json_open(out, '{');
    tmi_json_key(out, "name");
    tmi_json_put_string(out, wave->name);
    if (wave->group_count > 0) {
        tmi_json_key(out, "groups");
        tmi_json_open(out, '[');
        for (size_t i = 0; i < wave->group_count; i++) tmi_json_put_string(out, wave->groups[i]);
        tmi_json_close(out, ']');
    }
    if (wave->same_sample) {
        tmi_json_key(out, "same_sample");
        tmi_json_put_boolean(out, true);
    }
    tmi_json_close(out, '}');
}

tamis_status tmi_plan_wave_json(char **json, const tamis_plan *plan, tamis_error *err)
{
    tmi_text text;
    tmi_json_out out;
    *json = NULL;
    if (!plan->wave.name) return TAMIS_OK;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    tmi_put_wave(&out, &plan->wave);
    return tmi_text_take(json, &text, err);
}
