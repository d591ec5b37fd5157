/* privacy: about whom the promise is, what is taken as public, and how much may be lost.
 *
 * The ten settings are the pairs in which `given` comes before `protect` in: nothing, population, frame, sample,
 * respondents. A setting is a row; this version offers the one that the paper recommends.                            */
#include <string.h>

#include "num/number.h"
#include "plan/sections.h"

static const char *const levels[] = {"nothing", "population", "frame", "sample", "respondents"};

static const struct {
    tmi_level protect, given;
} offered[] = {{TMI_SAMPLE, TMI_FRAME}};

static const char *level_at(const void *words, size_t index)
{
    return ((const char *const *)words)[index];
}

static void read_level(tmi_reader *reader, const tmi_yaml *value, tmi_level *level, tmi_level first, const char *choice)
{
    for (size_t i = first; value->kind == TMI_YAML_TEXT && i < first + 4; i++) {
        if (strcmp(value->text, levels[i]) != 0) continue;
        *level = (tmi_level)i;
        return;
    }
    int nearest = value->kind == TMI_YAML_TEXT ? tmi_nearest_word(value->text, level_at, levels + first, 4) : -1;
    if (nearest >= 0) {
        tmi_complain(reader, value, "expected one of %s; did you mean %s?", choice, levels[first + (size_t)nearest]);
    } else {
        tmi_complain(reader, value, "expected one of %s", choice);
    }
}

static void read_protect(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_privacy *privacy = target;
    read_level(reader, value, &privacy->protect, TMI_POPULATION, "population, frame, sample, respondents");
}

static void read_given(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_privacy *privacy = target;
    read_level(reader, value, &privacy->given, TMI_NOTHING, "nothing, population, frame, sample");
}

static void read_unit(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_privacy *privacy = target;
    tmi_read_text(reader, value, &privacy->unit, "household");
}

static void read_epsilon(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_privacy *privacy = target;
    privacy->epsilon_line = value->line;
    privacy->epsilon_column = value->column;
    if (!tmi_read_exact(reader, value, &privacy->epsilon, "1")) return;
    if (tmi_number_sign(privacy->epsilon) <= 0) {
        tmi_complain(reader, value, "expected an epsilon larger than 0, e.g. 1");
    }
}

static void read_secret_sample(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_privacy *privacy = target;
    tmi_read_yes_no(reader, value, &privacy->secret_sample);
}

static void read_design_variables(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    (void)target;
    bool is_text = value->kind == TMI_YAML_TEXT;
    if (is_text && strcmp(value->text, "public") == 0) return;
    if (is_text && strcmp(value->text, "protected") == 0) tmi_complain(reader, value, "protected " TMI_NOT_YET);
    else tmi_complain(reader, value, "expected public or protected");
}

static const tmi_key keys[] = {
    {.name = "unit", .read = read_unit},
    {.name = "protect", .read = read_protect},
    {.name = "given", .read = read_given},
    {.name = "epsilon", .read = read_epsilon, .required = "epsilon: 1"},
    {.name = "secret_sample", .read = read_secret_sample},
    {.name = "design_variables", .read = read_design_variables},
    {.name = "delta"},
    {.name = "rho"},
    {.name = "id"},
    {.name = "rows_per_unit"},
};

void tmi_read_privacy(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tamis_plan *plan = target;
    tmi_plan_privacy *privacy = &plan->privacy;
    privacy->protect = TMI_SAMPLE;
    privacy->given = TMI_FRAME;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, "{unit: school, epsilon: 1}", privacy);
    if (value->kind != TMI_YAML_MAP) return;
    const tmi_yaml *at = tmi_yaml_get(value, "given");
    if (!at) at = tmi_yaml_get(value, "protect");
    if (!at) return;
    if (privacy->given >= privacy->protect) {
        tmi_complain_key(reader, at,
                         "expected something earlier than `protect: %s` in nothing, population, frame, sample, "
                         "respondents, e.g. {protect: sample, given: frame}",
                         levels[privacy->protect]);
        return;
    }
    for (size_t i = 0; i < sizeof offered / sizeof *offered; i++) {
        if (offered[i].protect == privacy->protect && offered[i].given == privacy->given) return;
    }
    tmi_complain_key(reader, at, "the setting {protect: %s, given: %s} " TMI_NOT_YET
                     "; available: {protect: sample, given: frame}", levels[privacy->protect], levels[privacy->given]);
}
