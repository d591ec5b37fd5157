/* From the JSON of a request to the values that a kind declared; the only place where fields are refused. */
#include <string.h>

#include "base/memory.h"
#include "compute/compute.h"
#include "num/json_number.h"
#include "survey/design/form.h"

static tamis_status read_text(const char **text, const tmi_value *json, tamis_error *err)
{
    if (tmi_value_kind_of(json) != TMI_VALUE_TEXT) return tmi_fail(err, TAMIS_INVALID, "must be a string");
    *text = tmi_value_string(json);
    return TAMIS_OK;
}

static tamis_status read_samples(tamis_law **law, const tmi_value *json, const tmi_value *in, tamis_error *err)
{
    const tmi_value *x = tmi_value_get(in, "x");
    bool listed = x && tmi_value_kind_of(x) == TMI_VALUE_LIST;
    return tmi_field_samples(law, json, listed ? (int64_t)tmi_value_size(x) : 0, err);
}

static tamis_status read_value(tmi_field_value *value, tmi_field_type type, const tmi_value *json, const tmi_value *in,
                               tamis_error *err)
{
    switch (type) {
    case TMI_FIELD_NUMBER_OR_NULL:
        return tmi_value_kind_of(json) == TMI_VALUE_NULL ? TAMIS_OK : tmi_json_to_number(&value->number, json, err);
    case TMI_FIELD_TEXT: return read_text(&value->text, json, err);
    case TMI_FIELD_SAMPLES: return read_samples(&value->law, json, in, err);
    case TMI_FIELD_RELEASES: return tmi_field_releases(&value->profile, json, err);
    case TMI_FIELD_INTEGER: return tmi_json_to_integer(&value->integer, json, err);
    case TMI_FIELD_NUMBER: return tmi_json_to_number(&value->number, json, err);
    case TMI_FIELD_DESIGN: return tmi_design_from_value(&value->design, json, false, err);
    case TMI_FIELD_WORST_DESIGN: return tmi_design_from_value(&value->design, json, true, err);
    case TMI_FIELD_NUMBERS: break;
    }
    return tmi_json_to_numbers(&value->numbers, &value->count, json, err);
}

tamis_status tmi_fields_read(tmi_field_value *values, const tmi_field *fields, const tmi_value *in, tamis_error *err)
{
    const char *names[TMI_FIELDS] = {0};
    size_t count = 0;
    for (; fields[count].name; count++) names[count] = fields[count].name;
    const char *extra = tmi_value_extra_key(in, names, count);
    if (extra) return tmi_fail(err, TAMIS_INVALID, "in: '%s' is not a field of this kind", tmi_value_short_name(extra));
    for (size_t i = 0; i < count; i++) {
        const tmi_value *json = tmi_value_get(in, names[i]);
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
        tmi_numbers_free(values[i].numbers, values[i].count);
    }
}

tamis_status tmi_check_rank(const tmi_field_value *x, const tmi_field_value *m, tamis_error *err)
{
    if (x->count == 0) return tmi_fail(err, TAMIS_INVALID, "x: must not be empty");
    if (m->integer < 1 || (uint64_t)m->integer > x->count)
        return tmi_fail(err, TAMIS_INVALID, "m: must be between 1 and the number of values in x");
    return TAMIS_OK;
}

void tmi_put_bounds(tmi_json_out *out, const char *name, const tamis_bound *bounds, size_t count)
{
    tmi_json_add_open(out, name, '[');
    for (size_t i = 0; i < count; i++) tmi_json_put_bound(out, bounds[i]);
    tmi_json_close(out, ']');
}
