/* Any bytes as JSON: what is read has a canonical text, and that text is read as the same value with the same text. */
#include <stdlib.h>
#include <string.h>

#include "base/value/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tmi_value *value = NULL, *again = NULL;
    tmi_text text, second;
    tamis_error err = {0};
    const tamis_status status = tmi_json_read(&value, (const char *)bytes, size, &err);
    if (status != TAMIS_OK) {
        if (value || err.status != status || err.message[0] == '\0') abort();
        return 0;
    }
    tmi_text_init(&text);
    tmi_text_init(&second);
    if (tmi_json_canonical(&text, value, &err) != TAMIS_OK || text.failed || memchr(text.bytes, '\n', text.length)) abort();
    if (tmi_json_read(&again, text.bytes, text.length, &err) != TAMIS_OK) abort();
    if (tmi_json_canonical(&second, again, &err) != TAMIS_OK || strcmp(text.bytes, second.bytes) != 0) abort();
    if (tmi_value_kind_of(value) != tmi_value_kind_of(again)) abort();
    if (tmi_value_kind_of(value) == TMI_VALUE_MAP && tmi_value_difference(value, again, NULL)) abort();
    tmi_text_clear(&text);
    tmi_text_clear(&second);
    tmi_value_free(value);
    tmi_value_free(again);
    return 0;
}
