#include "plan/json_fields.h"

#include <string.h>

void tmi_put_exact_value(tmi_json_out *out, const tamis_number *number)
{
    char *text = NULL;
    if (tamis_number_write(&text, number, NULL) != TAMIS_OK) out->text->failed = true;
    else tmi_json_put_string(out, text);
    tamis_free(text);
}

void tmi_put_exact_field(tmi_json_out *out, const char *key, const tamis_number *number)
{
    if (!number) return;
    tmi_json_key(out, key);
    tmi_put_exact_value(out, number);
}

void tmi_put_text_field(tmi_json_out *out, const char *key, const char *value)
{
    if (!value) return;
    tmi_json_key(out, key);
    tmi_json_put_string(out, value);
}

void tmi_put_whole_field(tmi_json_out *out, const char *key, int64_t value)
{
    if (value == 0) return;
    tmi_json_key(out, key);
    tmi_json_put_integer(out, value);
}

void tmi_put_yes_field(tmi_json_out *out, const char *key, bool value)
{
    if (!value) return;
    tmi_json_key(out, key);
    tmi_json_put_boolean(out, true);
}

void tmi_put_opening(tmi_json_out *out, const char *key, char bracket)
{
    tmi_json_key(out, key);
    tmi_json_open(out, bracket);
}

const char *tmi_last_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}
