#include "num/json_number.h"

#include "base/memory.h"

tamis_status tmi_json_to_number(tamis_number **number, const tmi_value *json, tamis_error *err)
{
    switch (tmi_value_kind_of(json)) {
    case TMI_VALUE_INTEGER: return tmi_number_ratio(number, tmi_value_integer(json), 1, err);
    case TMI_VALUE_TEXT: return tamis_number_read(number, tmi_value_string(json), err);
    case TMI_VALUE_REAL:
        return tmi_fail(err, TAMIS_INVALID,
                        "write a number that is not an integer in quotes, such as \"0.1\": without "
                        "them it may have been rounded");
    default: return tmi_fail(err, TAMIS_INVALID, "must be an integer or a number in quotes, such as \"0.1\" or \"3/10\"");
    }
}

tamis_status tmi_json_to_integer(int64_t *integer, const tmi_value *json, tamis_error *err)
{
    tamis_number *x = NULL;
    tamis_status status = TAMIS_OK;
    if (tmi_value_kind_of(json) == TMI_VALUE_REAL) return tmi_fail(err, TAMIS_INVALID, "must be an integer");
    TMI_TRY(tmi_json_to_number(&x, json, err));
    if (!tmi_number_is_integer(x) || !tmi_number_floor(integer, x))
        status = tmi_fail(err, TAMIS_INVALID, "must be an integer of at most 63 bits");
done:
    tamis_number_free(x);
    return status;
}

/* Memory that the numbers of one list may hold: a million of ordinary length. Ten bytes of text can stand for a number of
 * a thousand digits, so the length of the line is no bound. */
#define LIST_BYTES ((size_t)128 << 20)

tamis_status tmi_json_to_numbers(tamis_number ***numbers, size_t *count, const tmi_value *json, tamis_error *err)
{
    *numbers = NULL;
    *count = 0;
    if (tmi_value_kind_of(json) != TMI_VALUE_LIST) return tmi_fail(err, TAMIS_INVALID, "must be a list of numbers");
    size_t size = tmi_value_size(json), bytes = 0;
    *numbers = tmi_alloc(size, sizeof **numbers);
    if (!*numbers) return tmi_fail_memory(err);
    for (size_t i = 0; i < size; i++) {
        tamis_error inner;
        tamis_status status = tmi_json_to_number(&(*numbers)[i], tmi_value_at(json, i), &inner);
        if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
        if (status != TAMIS_OK) return tmi_fail(err, status, "item %zu: %s", i + 1, inner.message);
        (*count)++;
        bytes += tmi_number_bytes((*numbers)[i]);
        if (bytes > LIST_BYTES)
            return tmi_fail(err, TAMIS_INVALID, "its numbers take more than %zu megabytes together", LIST_BYTES >> 20);
    }
    return TAMIS_OK;
}

void tmi_numbers_free(tamis_number **numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) tamis_number_free(numbers[i]);
    tmi_free(numbers);
}
