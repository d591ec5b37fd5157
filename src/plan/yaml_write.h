/* Values as YAML that a person would write. */
#ifndef TMI_PLAN_YAML_WRITE_H
#define TMI_PLAN_YAML_WRITE_H

#include "base/text.h"
#include "base/value/value.h"

/* Plain where nothing can be mistaken, else as JSON writes it, which YAML reads too. */
void tmi_yaml_put_text(tmi_text *yaml, const char *text);

typedef enum tmi_yaml_texts {
    TMI_YAML_PLAIN,   /* as above */
    TMI_YAML_NUMBERS, /* numbers without quotes too, as in the tree of a plan, where they are texts */
    TMI_YAML_JSON     /* all with quotes, so that it is JSON too */
} tmi_yaml_texts;

void tmi_yaml_put_word(tmi_text *yaml, const char *text, tmi_yaml_texts texts);

/* A value on one line: {from: 0, to: [1, 2]}. */
void tmi_yaml_put_flow(tmi_text *yaml, const tmi_value *value, tmi_yaml_texts texts);

/* A map over several lines: a key per line, its value behind it if it fits there, else below it. */
void tmi_yaml_put_block(tmi_text *yaml, const tmi_value *map, tmi_yaml_texts texts);

#endif
