/* Which wave of a repeated survey a plan releases from, and who is in it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/json.h"
#include "plan/sections.h"

#define NAME "2026-Q3"
#define EXAMPLE "{name: 2026-Q3, groups: [A, B]}"

static int compare_texts(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

static void read_groups(tmi_reader *reader, const tmi_value *value, void *target)
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

void tmi_read_wave(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "name",
         .plain = tmi_plain_text,
         .field = offsetof(tmi_plan_wave, name),
         .example = NAME,
         .required = "name: " NAME},
        {.name = "groups", .read = read_groups},
        {.name = "same_sample", .plain = tmi_plain_yes_no, .field = offsetof(tmi_plan_wave, same_sample)},
    };
    tmi_plan_wave *wave = &((tamis_plan *)target)->wave;
    if (value->kind == TMI_VALUE_MAP) tmi_read_map(reader, value, keys, 3, EXAMPLE, wave);
    else tmi_read_text(reader, value, &wave->name, NAME);
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
    tmi_json_add_string(out, "name", wave->name);
    if (wave->group_count > 0) {
        tmi_json_add_open(out, "groups", '[');
        for (size_t i = 0; i < wave->group_count; i++) tmi_json_put_string(out, wave->groups[i]);
        tmi_json_close(out, ']');
    }
    if (wave->same_sample) tmi_json_add_boolean(out, "same_sample", true);
    tmi_json_close(out, '}');
}
