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
    if (value) tmi_json_add_string(out, key, value);
}

void tmi_put_whole_field(tmi_json_out *out, const char *key, int64_t value)
{
    if (value != 0) tmi_json_add_integer(out, key, value);
}

void tmi_put_yes_field(tmi_json_out *out, const char *key, bool value)
{
    if (value) tmi_json_add_boolean(out, key, true);
}

const char *tmi_last_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}
