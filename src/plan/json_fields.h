/* Keys of a plan's JSON with their values. A value that is not given (NULL, 0, false) is left out with its key. */
#ifndef TMI_PLAN_JSON_FIELDS_H
#define TMI_PLAN_JSON_FIELDS_H

#include "base/value/json.h"
#include "num/number.h"

void tmi_put_exact_value(tmi_json_out *out, const tamis_number *number); /* a value without key, as an exact text */
void tmi_put_exact_field(tmi_json_out *out, const char *key, const tamis_number *number);
void tmi_put_text_field(tmi_json_out *out, const char *key, const char *value);
void tmi_put_whole_field(tmi_json_out *out, const char *key, int64_t value);
void tmi_put_yes_field(tmi_json_out *out, const char *key, bool value);

/* The file's name without its folder; of NULL, NULL. */
const char *tmi_last_name(const char *path);

#endif
