/* The ten settings: the paper's tables 3.1, 4.1 and 4.2 in one, with what tamis makes of them, and each setting alone. */
#include <stdio.h>

#include "base/table.h"
#include "report/explain.h"

/* What the paper says may amplify (Table 4.2): frame coverage, sampling, nonresponse. */
static const char *const paper_amplifies[TAMIS_LEVELS] = {
    [TAMIS_POPULATION] = "FR, S, NR",
    [TAMIS_FRAME] = "S, NR",
    [TAMIS_SAMPLE] = "NR",
    [TAMIS_RESPONDENTS] = "-",
};

/* Table 4.1: fixed under frame and sample invariance, otherwise they may change. */
static const char *paper_weights(const tamis_setting *s) { return s->given >= TAMIS_FRAME ? "fixed" : "may move"; }

static const char *our_weights(const tamis_setting *s) { return s->may_protect_design ? "fixed *" : "fixed"; }

static const char *our_amplification(const tamis_setting *s) { return s->may_amplify ? "S if secret" : "-"; }

static bool is_default(const tamis_setting *s) { return s->protect == TAMIS_SAMPLE && s->given == TAMIS_FRAME; }

#define COLUMNS 6

static void write_table(tmi_text *text)
{
    static const char *const heading[COLUMNS] = {"setting", "weights", "in tamis", "amplified by", "counted", ""};
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_LEFT, TMI_LEFT, TMI_LEFT, TMI_LEFT, TMI_LEFT};
    tmi_text_table table;
    tmi_table_init(&table, COLUMNS, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &tamis_settings()[i];
        const char *const row[COLUMNS] = {s->name,
                                          paper_weights(s),
                                          our_weights(s),
                                          paper_amplifies[s->protect],
                                          our_amplification(s),
                                          is_default(s) ? "<-" : ""};
        tmi_table_row(&table, row);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
}

void tmi_explain_settings(tmi_page *page)
{
    if (page->json) {
        tmi_json_add_open(page->json, "settings", '[');
        for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
            tmi_json_open(page->json, '{');
            tmi_explain_setting(page, &tamis_settings()[i]);
            tmi_json_close(page->json, '}');
        }
        tmi_json_close(page->json, ']');
        return;
    }
    tmi_page_note(page, "The ten settings: what a guarantee is about");
    tmi_page_note(
        page, "\nA survey goes from a population to a frame, a sample and the respondents. `protect` says where the guarantee "
              "begins: whose record may change. `given` says what is fixed and public, the same for all neighbours.");
    tmi_text_put(page->text, "\n");
    write_table(page->text);
    tmi_page_note(page, "\n<- the default, recommended. `weights` and `amplified by` are from the paper; the column after each "
                        "is what tamis does. FR: coverage of the frame, S: sampling, NR: nonresponse. tamis counts only "
                        "sampling, once for all releases of a sample, if the plan says `secret_sample: yes` and a theorem covers "
                        "the design. Coverage and response are not draws with known probabilities.");
    tmi_page_note(page, "\n* if strata, sizes and clusters are public (the default). With `design_variables: protected` one "
                        "record may change the weights of all others: more noise, and no number for outsiders.");
    tmi_page_note(page, "\nWith `protect: respondents` the fact of having answered is protected too, and the number of rows is "
                        "not public.");
    tmi_page_note(page, "\nMore about one setting: tamis explain \"sample given frame\"");
}

void tmi_explain_setting(tmi_page *page, const tamis_setting *s)
{
    char plan[120];
    snprintf(plan, sizeof plan, "privacy: {protect: %s, given: %s, epsilon: 1}", tamis_level_name(s->protect),
             tamis_level_name(s->given));
    tmi_page_title(page, s->name, is_default(s) ? "the default" : NULL);
    if (page->json) {
        tmi_page_part(page, "", "protect", tamis_level_name(s->protect));
        tmi_page_part(page, "", "given", tamis_level_name(s->given));
        tmi_page_part(page, "", "paper_weights", paper_weights(s));
        tmi_page_part(page, "", "paper_amplification", paper_amplifies[s->protect]);
    }
    tmi_page_part(page, "Compared", "domain", s->domain);
    tmi_page_part(page, "", "universes", s->universes);
    tmi_page_part(page, "One step", "neighbours", s->neighbours);
    tmi_page_part(page, "Rows", "rows",
                  s->size_is_public ? "their number is public and checked before anything is spent"
                                    : "their number is protected: never checked, shown or used unless "
                                      "measured");
    tmi_page_part(page, "Weights", "weights", s->weights);
    tmi_page_part(page, "Amplified by", "amplification", s->amplification);
    tmi_page_part(page, "The attacker", "attacker", s->attacker);
    tmi_page_part(page, "Use it", "verdict", s->verdict);
    tmi_page_part(page, "In a plan", "plan", plan);
}
