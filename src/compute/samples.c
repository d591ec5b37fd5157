/* A law in a request: [[units, probability], ...], units a list of integers from 0. The population is as large as the
 * largest unit says, or as the field "x" beside it: units that no sample has need not be named.                     */
#include "base/memory.h"
#include "compute/compute.h"
#include "num/json_number.h"

typedef struct list {
    int64_t *units;
    size_t *sizes;
    tamis_number **probabilities;
    size_t count, room, used;
} list;

static tamis_status read_units(list *l, const tmi_value *units, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (tmi_value_kind_of(units) != TMI_VALUE_LIST) return tmi_fail(err, TAMIS_INVALID, "the units must be a list");
    l->sizes[l->count] = tmi_value_size(units);
    for (size_t i = 0; i < tmi_value_size(units); i++) {
        int64_t *unit = &l->units[l->used++];
        TMI_TRY(tmi_json_to_integer(unit, tmi_value_at(units, i), err));
        if (*unit < 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "units are integers, counted from 0"));
    }
done:
    return status;
}

static tamis_status read_sample(list *l, const tmi_value *json, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (tmi_value_kind_of(json) != TMI_VALUE_LIST || tmi_value_size(json) != 2)
        return tmi_fail(err, TAMIS_INVALID, "a sample is [units, probability]");
    TMI_TRY(read_units(l, tmi_value_at(json, 0), err));
    TMI_TRY(tmi_json_to_number(&l->probabilities[l->count], tmi_value_at(json, 1), err));
    if (tmi_number_sign(l->probabilities[l->count]) <= 0 || tmi_number_compare_int(l->probabilities[l->count], 1) > 0)
        status = tmi_fail(err, TAMIS_INVALID, "its probability is not in (0, 1]");
done:
    return status;
}

static size_t all_units(const tmi_value *json)
{
    size_t units = 0;
    for (size_t j = 0; j < tmi_value_size(json); j++) {
        const tmi_value *sample = tmi_value_at(json, j);
        if (tmi_value_kind_of(sample) != TMI_VALUE_LIST || tmi_value_size(sample) == 0) continue;
        if (tmi_value_kind_of(tmi_value_at(sample, 0)) == TMI_VALUE_LIST) units += tmi_value_size(tmi_value_at(sample, 0));
    }
    return units;
}

tamis_status tmi_field_samples(tamis_law **law, const tmi_value *json, int64_t population, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    list l = {0};
    if (tmi_value_kind_of(json) != TMI_VALUE_LIST) return tmi_fail(err, TAMIS_INVALID, "must be a list of samples");
    l.room = tmi_value_size(json);
    l.units = tmi_alloc(all_units(json), sizeof *l.units);
    l.sizes = tmi_alloc(l.room, sizeof *l.sizes);
    l.probabilities = tmi_alloc(l.room, sizeof *l.probabilities);
    if (!l.units || !l.sizes || !l.probabilities) TMI_TRY(tmi_fail_memory(err));
    for (; l.count < l.room; l.count++) {
        tamis_error inner;
        status = read_sample(&l, tmi_value_at(json, l.count), &inner);
        if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
        if (status != TAMIS_OK) TMI_TRY(tmi_fail(err, status, "sample %zu: %s", l.count, inner.message));
    }
    TMI_TRY(tamis_law_given(law, population, l.units, l.sizes, (const tamis_number *const *)l.probabilities, l.count, err));
done:
    for (size_t j = 0; l.probabilities && j < l.room; j++) tamis_number_free(l.probabilities[j]);
    tmi_free(l.units);
    tmi_free(l.sizes);
    tmi_free(l.probabilities);
    return status;
}
