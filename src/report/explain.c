#include "report/explain.h"

#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "survey/design/method.h"

/* ---- pages ---- */

#define LABEL 20

void tmi_page_title(tmi_page *page, const char *name, const char *remark)
{
    if (page->json) {
        tmi_json_add_string(page->json, "name", name);
        return;
    }
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_format(&line, "%s%s%s", name, remark ? ": " : "", remark ? remark : "");
    tmi_text_wrap_taken(page->text, "", "  ", &line);
}

void tmi_page_part(tmi_page *page, const char *label, const char *key, const char *text)
{
    if (page->json) {
        tmi_json_add_string(page->json, key, text);
        return;
    }
    char first[LABEL + 1], rest[LABEL + 1];
    snprintf(first, sizeof first, "  %-*.*s ", LABEL - 3, LABEL - 3, label);
    snprintf(rest, sizeof rest, "%*s", LABEL, "");
    tmi_text_wrap(page->text, first, rest, text);
}

void tmi_page_note(tmi_page *page, const char *text)
{
    if (!page->json) tmi_text_wrap(page->text, "", "", text);
}

/* ---- topics ---- */

const char *tamis_explain_topic(size_t i)
{
    if (i == 0) return "settings";
    if (i == 1) return "designs";
    if (i < 2 + TAMIS_SETTINGS) return tamis_settings()[i - 2].name;
    i -= 2 + TAMIS_SETTINGS;
    for (const tmi_design_words *d = tmi_designs; d->name; d++)
        if (i-- == 0) return d->name;
    for (size_t m = 0; m < TMI_PPS_METHODS; m++) { /* except the method that has the name of a design */
        const char *name = tamis_method_name(tmi_method_pps(m));
        if (strcmp(tmi_design_named(name)->name, "pps") == 0 && i-- == 0) return name;
    }
    return NULL;
}

static void list_topics(tmi_page *page)
{
    if (page->json) {
        tmi_json_add_open(page->json, "topics", '[');
        for (size_t i = 0; tamis_explain_topic(i); i++) tmi_json_put_string(page->json, tamis_explain_topic(i));
        tmi_json_close(page->json, ']');
        return;
    }
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_put(page->text, "What can be explained\n");
    tmi_page_part(page, "settings", "", "the ten settings: whose record is protected, and what is taken as public");
    tmi_page_part(page, "designs", "", "how samples are drawn, and the amplified epsilon of each design");
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) tmi_text_format(&line, "%s\"%s\"", i ? ", " : "", tamis_settings()[i].name);
    if (!line.failed) tmi_page_part(page, "one setting", "", line.bytes);
    bool failed = line.failed;
    tmi_text_clear(&line);
    for (size_t i = 2 + TAMIS_SETTINGS; tamis_explain_topic(i); i++)
        tmi_text_format(&line, "%s%s", line.length ? ", " : "", tamis_explain_topic(i));
    if (!line.failed) tmi_page_part(page, "one design", "", line.bytes);
    if (failed || line.failed) page->text->failed = true;
    tmi_text_clear(&line);
    tmi_page_note(page, "\nExample: tamis explain \"sample given frame\"");
}

static tamis_status write_page(tmi_page *page, const char *topic, tamis_error *err)
{
    const tamis_setting *setting = tamis_setting_named(topic);
    const tmi_design_words *design = topic ? tmi_design_named(topic) : NULL;
    if (!topic) list_topics(page);
    else if (strcmp(topic, "settings") == 0) tmi_explain_settings(page);
    else if (strcmp(topic, "designs") == 0) return tmi_explain_designs(page, err);
    else if (setting) tmi_explain_setting(page, setting);
    else if (design) return tmi_explain_design(page, design, strcmp(topic, design->name) == 0 ? NULL : topic, err);
    else return tmi_fail(err, TAMIS_INVALID, "topic: there is no topic %.100s; without a topic, all are listed", topic);
    return TAMIS_OK;
}

static tamis_status write_topic(char **text, const char *topic, bool json, tamis_error *err)
{
    tmi_text t;
    tmi_json_out out;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    tmi_text_init(&t);
    tmi_json_out_init(&out, &t, true);
    tmi_page page = {&t, json ? &out : NULL};
    if (json) tmi_json_open(&out, '{');
    tamis_status status = write_page(&page, topic, err);
    if (json) tmi_json_close(&out, '}');
    if (json) tmi_text_put(&t, "\n");
    if (status == TAMIS_OK) return tmi_text_take(text, &t, err);
    tmi_text_clear(&t);
    return status;
}

tamis_status tamis_explain_text(char **text, const char *topic, tamis_error *err) { return write_topic(text, topic, false, err); }

tamis_status tamis_explain_json(char **json, const char *topic, tamis_error *err) { return write_topic(json, topic, true, err); }
