/* The table of the ten settings. */
#include <ctype.h>
#include <tamis/experimental/setting.h>

#include "base/error.h"

/* ---- words that depend on one of the two alone ---- */

#define POPULATION_DOMAIN "every possible population, with its answers"
#define FRAME_DOMAIN "every possible frame, with the answers that its units would give"
#define SAMPLE_DOMAIN "every sample that could have been drawn, with its answers"
#define RESPONDENTS_DOMAIN "every possible set of respondents, with their answers"

#define ALL_COMPARED "all of them are compared"
#define SAME_POPULATION "only those that come from the same population are compared"
#define SAME_FRAME "only those that the design could have drawn from the same frame are compared"
#define SAME_SAMPLE "only those within the same sample are compared"

#define PERSON_CHANGES "the record of one person is replaced by any other; the person may also be missing from the frame"
#define UNIT_CHANGES "the record of one unit of the frame is replaced by any other"
#define SAMPLED_CHANGES "one sampled record is replaced by any record that the design could have drawn instead"
#define RESPONDENT_CHANGES "one respondent's record is replaced by any other, added or removed: the number of rows is protected"
#define ANSWER_CHANGES "one sampled unit's answers are replaced by any others, added or removed; the unit and its weight stay"

#define WEIGHTS_ANY \
    "fixed if strata and sizes are public; if they are protected, any weight that the plan declares, and " \
    "one record may change all of them"
#define WEIGHTS_POPULATION \
    "fixed if strata and sizes are public; if they are protected, any weight of the population, and " \
    "one record may change all of them"
#define WEIGHTS_FRAME "fixed: the largest weight of the frame; a replaced record brings its own weight"
#define WEIGHTS_SAMPLE "fixed: the largest weight of the sample; a changed record keeps its weight"

#define SAMPLING_MAY \
    "sampling, if the sample is secret and a theorem covers the design; never coverage of the frame or " \
    "nonresponse"
#define NOTHING_MAY "nothing: the guarantee begins at the sample, and nonresponse is behaviour, not a draw"
#define RESPONDENTS_MAY "nothing: the guarantee begins at the respondents"

#define MAY_KNOW_OTHERS "may know every other record"
#define SEES_SAMPLE ", and who was sampled"
#define NOT_WHO "; the smaller epsilon for outsiders holds only against an attacker who does not know who was sampled"

static const char *const names[TAMIS_LEVELS] = {"nothing", "population", "frame", "sample", "respondents"};

/* In the order of the paper's Table 3.1; tests look at every row. */
static const tamis_setting table[TAMIS_SETTINGS] = {
    {TAMIS_POPULATION, TAMIS_NOTHING, "population given nothing", 1, 1, 1, 1, POPULATION_DOMAIN, ALL_COMPARED, PERSON_CHANGES,
     WEIGHTS_ANY, SAMPLING_MAY, MAY_KNOW_OTHERS " of the population" NOT_WHO,
     "not recommended: it guarantees little more than `frame given nothing`, and assumes that a person is at most one unit of "
     "the frame"},
    {TAMIS_FRAME, TAMIS_NOTHING, "frame given nothing", 0, 1, 1, 1, FRAME_DOMAIN, ALL_COMPARED, UNIT_CHANGES, WEIGHTS_ANY,
     SAMPLING_MAY, MAY_KNOW_OTHERS " of the frame" NOT_WHO,
     "for an outsider's guarantee if the population behind the frame is not public either"},
    {TAMIS_FRAME, TAMIS_POPULATION, "frame given population", 0, 1, 1, 1, FRAME_DOMAIN, SAME_POPULATION, UNIT_CHANGES,
     WEIGHTS_POPULATION, SAMPLING_MAY, MAY_KNOW_OTHERS " of the frame and who belongs to the population" NOT_WHO,
     "the choice for an outsider's guarantee: secret sample, public list of the population"},
    {TAMIS_SAMPLE, TAMIS_NOTHING, "sample given nothing", 0, 1, 1, 0, SAMPLE_DOMAIN, ALL_COMPARED, SAMPLED_CHANGES, WEIGHTS_ANY,
     NOTHING_MAY, MAY_KNOW_OTHERS " of the sample" SEES_SAMPLE,
     "if the strata and sizes of sampled units are secret, and so is the population"},
    {TAMIS_SAMPLE, TAMIS_POPULATION, "sample given population", 0, 1, 1, 0, SAMPLE_DOMAIN, SAME_POPULATION, SAMPLED_CHANGES,
     WEIGHTS_POPULATION, NOTHING_MAY, MAY_KNOW_OTHERS " of the sample" SEES_SAMPLE ", and who belongs to the population",
     "if the strata and sizes of sampled units are secret but the population is not"},
    {TAMIS_SAMPLE, TAMIS_FRAME, "sample given frame", 0, 1, 0, 0, SAMPLE_DOMAIN, SAME_FRAME, SAMPLED_CHANGES, WEIGHTS_FRAME,
     NOTHING_MAY, MAY_KNOW_OTHERS " of the sample" SEES_SAMPLE ", and the whole frame with its strata and sizes",
     "recommended, and the default: weights are fixed, and the guarantee holds against a neighbour who saw the interviewer"},
    {TAMIS_RESPONDENTS, TAMIS_NOTHING, "respondents given nothing", 1, 0, 1, 0, RESPONDENTS_DOMAIN, ALL_COMPARED,
     RESPONDENT_CHANGES, WEIGHTS_ANY, RESPONDENTS_MAY,
     MAY_KNOW_OTHERS " of the respondents; whether somebody answered is protected too",
     "rarely needed: `respondents given frame` also protects who answered, with less noise"},
    {TAMIS_RESPONDENTS, TAMIS_POPULATION, "respondents given population", 1, 0, 1, 0, RESPONDENTS_DOMAIN, SAME_POPULATION,
     RESPONDENT_CHANGES, WEIGHTS_POPULATION, RESPONDENTS_MAY,
     MAY_KNOW_OTHERS " of the respondents, and who belongs to the population; whether somebody answered is protected too",
     "rarely needed: `respondents given frame` also protects who answered, with less noise"},
    {TAMIS_RESPONDENTS, TAMIS_FRAME, "respondents given frame", 1, 0, 0, 0, RESPONDENTS_DOMAIN, SAME_FRAME, RESPONDENT_CHANGES,
     WEIGHTS_FRAME, RESPONDENTS_MAY,
     MAY_KNOW_OTHERS " of the respondents, and the whole frame; whether somebody answered is protected too",
     "if it is secret who answered; totals are then of those who answered"},
    {TAMIS_RESPONDENTS, TAMIS_SAMPLE, "respondents given sample", 1, 0, 0, 0, RESPONDENTS_DOMAIN, SAME_SAMPLE, ANSWER_CHANGES,
     WEIGHTS_SAMPLE, RESPONDENTS_MAY, MAY_KNOW_OTHERS SEES_SAMPLE "; who answered, and what, is protected",
     "if the list of sampled units is public; the sample may restrict what a record can be, so prefer `respondents given frame`"},
};

const tamis_setting *tamis_settings(void) { return table; }

const tamis_setting *tamis_setting_of(tamis_level protect, tamis_level given)
{
    for (size_t i = 0; i < TAMIS_SETTINGS; i++)
        if (table[i].protect == protect && table[i].given == given) return &table[i];
    return NULL;
}

/* Equal but for case; a run of spaces is one space, none counts at the ends. */
static int is_same_name(const char *text, const char *name)
{
    while (isspace((unsigned char)*text)) text++;
    while (*text) {
        if (isspace((unsigned char)*text)) {
            while (isspace((unsigned char)*text)) text++;
            if (*text && *name++ != ' ') return 0;
        } else if (tolower((unsigned char)*text++) != *name++) {
            return 0;
        }
    }
    return *name == '\0';
}

const tamis_setting *tamis_setting_named(const char *name)
{
    for (size_t i = 0; name && i < TAMIS_SETTINGS; i++)
        if (is_same_name(name, table[i].name)) return &table[i];
    return NULL;
}

const char *tamis_level_name(tamis_level level) { return (unsigned)level < TAMIS_LEVELS ? names[level] : NULL; }

tamis_status tamis_setting_outsider(const tamis_setting *s, int secret, int design_protected, tamis_error *err)
{
    if (!s) return tmi_fail(err, TAMIS_INVALID, "setting: NULL");
    if (!s->may_amplify) {
        return tmi_fail(err, TAMIS_REFUSED,
                        "with `protect: %s` the guarantee begins after the sampling and is the same for everybody; nearest "
                        "setting with a separate one for outsiders: {protect: frame, given: %s, secret_sample: yes}",
                        names[s->protect], s->given == TAMIS_NOTHING ? "nothing" : "population");
    }
    if (!secret) {
        return tmi_fail(err, TAMIS_REFUSED,
                        "the plan does not declare the sample secret; `secret_sample: yes` declares that nobody outside knows "
                        "who was sampled");
    }
    if (design_protected) {
        return tmi_fail(err, TAMIS_REFUSED,
                        "with `design_variables: protected` one record may change how everybody else is drawn, and no theorem "
                        "covers that; with `design_variables: public` there is a number");
    }
    return TAMIS_OK;
}

tamis_status tamis_setting_protects_design(const tamis_setting *s, tamis_error *err)
{
    if (!s) return tmi_fail(err, TAMIS_INVALID, "setting: NULL");
    if (s->may_protect_design) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED,
                    "with `given: %s` strata, sizes and clusters are public, so they cannot be protected; nearest setting that "
                    "works: {protect: %s, given: population, design_variables: protected}",
                    names[s->given], names[s->protect]);
}
