#include "plan/yaml_write.h"

#include <string.h>
#include <strings.h>

#include "base/decimal.h"
#include "base/value/json.h"
#include "plan/schema.h"

static bool is_plain(const char *text)
{
    static const char *const words[] = {"y", "n", "yes", "no", "true", "false", "on", "off", "null", TMI_FILL_IN};
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", inside[] = "0123456789.-/";
    if (!*text || !strchr(letters, text[0])) return false;
    for (const char *c = text; *c; c++)
        if (!strchr(letters, *c) && !strchr(inside, *c)) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0) return false;
    return true;
}

static void put_quoted(tmi_text *yaml, const char *text)
{
    tmi_json_out out;
    tmi_json_out_init(&out, yaml, false);
    tmi_json_put_string(&out, text);
}

void tmi_yaml_put_text(tmi_text *yaml, const char *text)
{
    if (is_plain(text)) tmi_text_put(yaml, text);
    else put_quoted(yaml, text);
}

/* A decimal number or a fraction, without zeros before it. */
static bool is_number(const char *text)
{
    static const char digits[] = "0123456789";
    text += *text == '-';
    const size_t whole = strspn(text, digits);
    if (whole == 0 || (whole > 1 && *text == '0')) return false;
    text += whole;
    if (*text != '.' && *text != '/') return *text == '\0';
    const size_t rest = strspn(text + 1, digits);
    return rest > 0 && text[1 + rest] == '\0';
}

void tmi_yaml_put_word(tmi_text *yaml, const char *text, tmi_yaml_texts texts)
{
    if (texts == TMI_YAML_JSON) put_quoted(yaml, text);
    else if (texts == TMI_YAML_NUMBERS && is_number(text)) tmi_text_put(yaml, text);
    else tmi_yaml_put_text(yaml, text);
}

void tmi_yaml_put_flow(tmi_text *yaml, const tmi_value *value, tmi_yaml_texts texts)
{
    const bool map = value->kind == TMI_VALUE_MAP;
    switch (value->kind) {
    case TMI_VALUE_NULL: tmi_text_put(yaml, "null"); break;
    case TMI_VALUE_BOOLEAN: tmi_text_put(yaml, value->integer ? "true" : "false"); break;
    case TMI_VALUE_INTEGER: tmi_text_format(yaml, "%lld", (long long)value->integer); break;
    case TMI_VALUE_REAL: tmi_text_real(yaml, value->real); break;
    case TMI_VALUE_TEXT: tmi_yaml_put_word(yaml, value->text, texts); break;
    case TMI_VALUE_LIST:
    case TMI_VALUE_MAP:
        tmi_text_put(yaml, map ? "{" : "[");
        for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
            if (item != tmi_value_first(value)) tmi_text_put(yaml, ", ");
            if (map) tmi_yaml_put_word(yaml, tmi_value_key(item), texts);
            if (map) tmi_text_put(yaml, ": ");
            tmi_yaml_put_flow(yaml, item, texts);
        }
        tmi_text_put(yaml, map ? "}" : "]");
        break;
    }
}

#define LINE 100 /* columns of a value that is written into one line, with what is before it */

static bool is_long(const tmi_value *value, int indent, tmi_yaml_texts texts)
{
    tmi_text flow;
    if (value->kind < TMI_VALUE_LIST) return false;
    tmi_text_init(&flow);
    flow.counted = true;
    tmi_yaml_put_flow(&flow, value, texts);
    return flow.length + (size_t)indent > LINE;
}

static void put_lines(tmi_text *yaml, const tmi_value *value, int indent, tmi_yaml_texts texts)
{
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        tmi_text_format(yaml, "%*s", indent, "");
        if (value->kind == TMI_VALUE_MAP) tmi_yaml_put_word(yaml, tmi_value_key(item), texts);
        tmi_text_put(yaml, value->kind == TMI_VALUE_MAP ? ":" : "-");
        const bool below = is_long(item, indent, texts);
        if (!below) tmi_text_put(yaml, " ");
        if (!below) tmi_yaml_put_flow(yaml, item, texts);
        tmi_text_put(yaml, "\n");
        if (below) put_lines(yaml, item, indent + 2, texts);
    }
}

void tmi_yaml_put_block(tmi_text *yaml, const tmi_value *map, tmi_yaml_texts texts) { put_lines(yaml, map, 0, texts); }
