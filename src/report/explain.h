/* Parts of an explanation: the same content as lines and as JSON. */
#ifndef TMI_REPORT_EXPLAIN_H
#define TMI_REPORT_EXPLAIN_H

#include <tamis/experimental/amplification.h>
#include <tamis/experimental/setting.h>
#include <tamis/explain.h>

#include "base/text.h"
#include "base/value/json.h"

/* Where an explanation goes: lines for people, or an open JSON object. */
typedef struct tmi_page {
    tmi_text *text;
    tmi_json_out *json; /* NULL: for people */
} tmi_page;

/* A heading, or the key "name". */
void tmi_page_title(tmi_page *page, const char *name, const char *remark);

/* "  Weights        fixed: ..." or "weights": "fixed: ...". */
void tmi_page_part(tmi_page *page, const char *label, const char *key, const char *text);

/* A paragraph for people alone. */
void tmi_page_note(tmi_page *page, const char *text);

/* ---- the topics ---- */

void tmi_explain_settings(tmi_page *page);
void tmi_explain_setting(tmi_page *page, const tamis_setting *setting);

/* A design of the plan format; rows end with an empty name. */
typedef struct tmi_design_words {
    const char *name, *what, *plan, *weights, *adds, *example_words;
    tamis_status (*example)(tamis_design **design, tamis_error *err); /* NULL: none, or one for each method */
    tamis_neighbours neighbours;
} tmi_design_words;

extern const tmi_design_words tmi_designs[];

/* The row of a name, or of the design that a method belongs to; NULL if there is none. */
const tmi_design_words *tmi_design_named(const char *name);

tamis_status tmi_explain_designs(tmi_page *page, tamis_error *err);
/* All methods of the design, or one alone. */
tamis_status tmi_explain_design(tmi_page *page, const tmi_design_words *design, const char *method, tamis_error *err);

#endif
