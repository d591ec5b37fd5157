/* From the JSON of a request to the values that a kind declared; the only place where fields are refused. */
#include <string.h>

#include "base/memory.h"
#include "compute/compute.h"

tamis_status tmi_field_number(tamis_number **number, const tmi_json *json, tamis_error *err)
{
    switch (tmi_json_kind_of(json)) {
    case TMI_JSON_INTEGER: return tmi_number_ratio(number, tmi_json_integer(json), 1, err);
    case TMI_JSON_STRING: return tamis_number_read(number, tmi_json_string(json), err);
    case TMI_JSON_REAL:
        return tmi_fail(err, TAMIS_INVALID, "write a number that is not an integer in quotes, such as \"0.1\": without "
                        "them it may have been rounded");
    default: return tmi_fail(err, TAMIS_INVALID, "must be an integer or a number in quotes, such as \"0.1\" or \"3/10\"");
    }
}

tamis_status tmi_field_integer(int64_t *integer, const tmi_json *json, tamis_error *err)
{
    tamis_number *x = NULL;
    tamis_status status = TAMIS_OK;
    if (tmi_json_kind_of(json) == TMI_JSON_REAL) return tmi_fail(err, TAMIS_INVALID, "must be an integer");
    TMI_TRY(tmi_field_number(&x, json, err));
    if (!tmi_number_is_integer(x) || !tmi_number_floor(integer, x))
        status = tmi_fail(err, TAMIS_INVALID, "must be an integer of at most 63 bits");
done:
    tamis_number_free(x);
    return status;
}

/* Memory that the numbers of one list may hold: a million of ordinary length. Ten bytes of text can stand for a number of
 * a thousand digits, so the length of the line is no bound. */
#define LIST_BYTES ((size_t)128 << 20)

tamis_status tmi_field_numbers(tmi_field_value *value, const tmi_json *json, tamis_error *err)
{
    if (tmi_json_kind_of(json) != TMI_JSON_LIST) return tmi_fail(err, TAMIS_INVALID, "must be a list of numbers");
    size_t count = tmi_json_size(json), bytes = 0;
    value->numbers = tmi_alloc(count, sizeof *value->numbers);
    if (!value->numbers) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        tamis_error inner;
        tamis_status status = tmi_field_number(&value->numbers[i], tmi_json_at(json, i), &inner);
        if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
        if (status != TAMIS_OK) return tmi_fail(err, status, "item %zu: %s", i + 1, inner.message);
        value->count++;
        bytes += tmi_number_bytes(value->numbers[i]);
        if (bytes > LIST_BYTES)
            return tmi_fail(err, TAMIS_INVALID, "its numbers hold more than %zu megabytes together", LIST_BYTES >> 20);
    }
    return TAMIS_OK;
}

static tamis_status read_text(const char **text, const tmi_json *json, tamis_error *err)
{
    if (tmi_json_kind_of(json) != TMI_JSON_STRING) return tmi_fail(err, TAMIS_INVALID, "must be a string");
    *text = tmi_json_string(json);
    return TAMIS_OK;
}

static tamis_status read_samples(tamis_law **law, const tmi_json *json, const tmi_json *in, tamis_error *err)
{
    const tmi_json *x = tmi_json_get(in, "x");
    bool listed = x && tmi_json_kind_of(x) == TMI_JSON_LIST;
    return tmi_field_samples(law, json, listed ? (int64_t)tmi_json_size(x) : 0, err);
}

static tamis_status read_value(tmi_field_value *value, tmi_field_type type, const tmi_json *json, const tmi_json *in,
                               tamis_error *err)
{
    switch (type) {
    case TMI_FIELD_NUMBER_OR_NULL:
        return tmi_json_kind_of(json) == TMI_JSON_NULL ? TAMIS_OK : tmi_field_number(&value->number, json, err);
    case TMI_FIELD_TEXT: return read_text(&value->text, json, err);
    case TMI_FIELD_SAMPLES: return read_samples(&value->law, json, in, err);
    case TMI_FIELD_RELEASES: return tmi_field_releases(&value->profile, json, err);
    case TMI_FIELD_INTEGER: return tmi_field_integer(&value->integer, json, err);
    case TMI_FIELD_NUMBER: return tmi_field_number(&value->number, json, err);
    case TMI_FIELD_DESIGN: return tmi_field_design(&value->design, json, false, err);
    case TMI_FIELD_WORST_DESIGN: return tmi_field_design(&value->design, json, true, err);
    case TMI_FIELD_NUMBERS: break;
    }
    return tmi_field_numbers(value, json, err);
}

const char *tmi_told_name(const char *name)
{
    return strlen(name) <= 60 ? name : "(a long name)";
}

tamis_status tmi_fields_read(tmi_field_value *values, const tmi_field *fields, const tmi_json *in, tamis_error *err)
{
    const char *names[TMI_FIELDS] = {0};
    size_t count = 0;
    for (; fields[count].name; count++) names[count] = fields[count].name;
    const char *extra = tmi_json_extra_key(in, names, count);
    if (extra) return tmi_fail(err, TAMIS_INVALID, "in: '%s' is not a field of this kind", tmi_told_name(extra));
    for (size_t i = 0; i < count; i++) {
        const tmi_json *json = tmi_json_get(in, names[i]);
        if (!json && (fields[i].type & TMI_FIELD_IF_GIVEN)) continue;
        if (!json) return tmi_fail(err, TAMIS_INVALID, "in: the field '%s' is missing", names[i]);
        tamis_error inner;
        tmi_field_type type = (tmi_field_type)(fields[i].type & ~TMI_FIELD_IF_GIVEN);
        tamis_status status = read_value(&values[i], type, json, in, &inner);
        if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
        if (status != TAMIS_OK) return tmi_fail(err, status, "%s: %s", names[i], inner.message);
    }
    return TAMIS_OK;
}

void tmi_fields_clear(tmi_field_value *values)
{
    for (size_t i = 0; i < TMI_FIELDS; i++) {
        tamis_number_free(values[i].number);
        tamis_design_free(values[i].design);
        tamis_law_free(values[i].law);
        tamis_profile_free(values[i].profile);
        for (size_t j = 0; j < values[i].count; j++) tamis_number_free(values[i].numbers[j]);
        tmi_free(values[i].numbers);
    }
}

void tmi_put_bound(tmi_json_out *out, const char *name, tamis_bound bound)
{
    tmi_json_key(out, name);
    tmi_json_put_bound(out, bound);
}
