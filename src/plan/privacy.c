/* privacy: about whom the promise is, what is taken as public, and how much may be lost.
 *
 * The ten settings are the rows of <tamis/experimental/setting.h>: the pairs in which `given` comes before `protect` in nothing,
 * population, frame, sample, respondents. What a setting forbids is reported by the release (exit 4), not here.            */
#include <stddef.h>
#include <string.h>

#include "plan/sections.h"

/* What the plan says, while it is read. */
typedef struct section {
    tmi_plan_privacy privacy;
    tamis_level protect, given;
} section;

static const char *level_at(const void *first, size_t index)
{
    return tamis_level_name((tamis_level)(*(const tamis_level *)first + index));
}

static void read_level(tmi_reader *reader, const tmi_value *value, tamis_level *level, tamis_level first, const char *choice)
{
    for (size_t i = 0; value->kind == TMI_VALUE_TEXT && i < TAMIS_LEVELS - 1; i++) {
        if (strcmp(value->text, level_at(&first, i)) != 0) continue;
        *level = (tamis_level)(first + i);
        return;
    }
    int nearest = value->kind == TMI_VALUE_TEXT ? tmi_meant_word(value->text, level_at, &first, TAMIS_LEVELS - 1) : -1;
    if (nearest >= 0) {
        tmi_complain(reader, value, "expected one of %s; did you mean %s?", choice, level_at(&first, (size_t)nearest));
    } else {
        tmi_complain(reader, value, "expected one of %s", choice);
    }
}

static void read_protect(tmi_reader *reader, const tmi_value *value, void *target)
{
    section *s = target;
    read_level(reader, value, &s->protect, TAMIS_POPULATION, "population, frame, sample, respondents");
}

static void read_given(tmi_reader *reader, const tmi_value *value, void *target)
{
    section *s = target;
    read_level(reader, value, &s->given, TAMIS_NOTHING, "nothing, population, frame, sample");
}

static void read_rows_per_unit(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_privacy *privacy = &((section *)target)->privacy;
    /* after a complaint several: other keys of the plan that need them are right */
    if (!tmi_read_whole(reader, value, &privacy->rows_per_unit, 1, TMI_MAX_ROWS_PER_UNIT, "9")) privacy->rows_per_unit = 2;
}

static void read_design_variables(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_privacy *privacy = &((section *)target)->privacy;
    bool is_text = value->kind == TMI_VALUE_TEXT;
    privacy->design_line = tmi_value_place(value).line;
    privacy->design_column = tmi_value_place(value).column;
    privacy->design_protected = is_text && strcmp(value->text, "protected") == 0;
    if (!privacy->design_protected && !(is_text && strcmp(value->text, "public") == 0))
        tmi_complain(reader, value, "expected public or protected");
}

#define FIELD(member) .field = offsetof(section, privacy.member)

static const tmi_plan_key keys[] = {
    {.name = "outsider", .read = tmi_read_outsider, FIELD(loss)},
    {.name = "insider", .read = tmi_read_insider, FIELD(loss)},
    {.name = "unit", .plain = tmi_plain_text, FIELD(unit), .example = "household"},
    {.name = "protect", .read = read_protect},
    {.name = "given", .read = read_given},
    {.name = "epsilon", .read = tmi_read_epsilon, FIELD(loss)},
    {.name = "delta", .read = tmi_read_delta, FIELD(loss)},
    {.name = "rho", .read = tmi_read_rho, FIELD(loss)},
    {.name = "id", .plain = tmi_plain_text, FIELD(id), .example = "household_id"},
    {.name = "rows_per_unit", .read = read_rows_per_unit},
    {.name = "secret_sample", .plain = tmi_plain_yes_no, FIELD(secret_sample)},
    {.name = "design_variables", .read = read_design_variables},
};

void tmi_read_privacy(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_plan *plan = target;
    section s = {.privacy = plan->privacy, .protect = TAMIS_SAMPLE, .given = TAMIS_FRAME};
    s.privacy.rows_per_unit = 1;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, "{unit: school, epsilon: 1}", &s);
    plan->privacy = s.privacy;
    plan->privacy.setting = tamis_setting_of(s.protect, s.given);
    tmi_check_loss(reader, value, &plan->privacy.loss);
    if (value->kind != TMI_VALUE_MAP || plan->privacy.setting) return;
    const tmi_value *at = tmi_value_get(value, "given");
    if (!at) at = tmi_value_get(value, "protect");
    tmi_complain_key(reader, at,
                     "expected one that comes before `protect: %s` in the order nothing, population, frame, sample, respondents, "
                     "e.g. {protect: %s, given: %s}",
                     tamis_level_name(s.protect), tamis_level_name(s.protect), tamis_level_name((tamis_level)(s.protect - 1)));
}
