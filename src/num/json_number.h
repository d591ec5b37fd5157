/* Exact numbers from JSON: an integer, or a text such as "0.1" or "3/10". Messages say what a value must be; the caller puts its
 * name before them. */
#ifndef TMI_NUM_JSON_NUMBER_H
#define TMI_NUM_JSON_NUMBER_H

#include "base/value/json.h"
#include "num/number.h"

tamis_status tmi_json_to_number(tamis_number **number, const tmi_value *json, tamis_error *err);
tamis_status tmi_json_to_integer(int64_t *integer, const tmi_value *json, tamis_error *err);

/* A list; free it with tmi_numbers_free in any case. */
tamis_status tmi_json_to_numbers(tamis_number ***numbers, size_t *count, const tmi_value *json, tamis_error *err);
void tmi_numbers_free(tamis_number **numbers, size_t count);

#endif
