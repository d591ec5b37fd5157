#include "survey/design/form.h"

#include <string.h>

/* ---- fields ---- */

tamis_status tmi_design_get(const tmi_value **json, const tmi_design_fields *f, const char *name, tamis_error *err)
{
    *json = tmi_value_get(f->own, name);
    if (!*json && f->shared) *json = tmi_value_get(f->shared, name);
    return *json ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "the field '%s' is missing", name);
}

tamis_status tmi_design_field_failed(tamis_status status, const char *name, const tamis_error *inner, tamis_error *err)
{
    if (status == TAMIS_OK) return TAMIS_OK;
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    return tmi_fail(err, status, "%s: %s", name, inner->message);
}

tamis_status tmi_design_integer(int64_t *integer, const tmi_design_fields *f, const char *name, tamis_error *err)
{
    const tmi_value *json;
    tamis_error inner;
    tamis_status status = tmi_design_get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    return tmi_design_field_failed(tmi_json_to_integer(integer, json, &inner), name, &inner, err);
}

tamis_status tmi_design_number(tamis_number **number, const tmi_design_fields *f, const char *name, tamis_error *err)
{
    const tmi_value *json;
    tamis_error inner;
    tamis_status status = tmi_design_get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    return tmi_design_field_failed(tmi_json_to_number(number, json, &inner), name, &inner, err);
}

tamis_status tmi_design_numbers(tamis_number ***numbers, size_t *count, const tmi_design_fields *f, const char *name,
                                tamis_error *err)
{
    *numbers = NULL;
    *count = 0;
    const tmi_value *json;
    tamis_error inner;
    tamis_status status = tmi_design_get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    return tmi_design_field_failed(tmi_json_to_numbers(numbers, count, json, &inner), name, &inner, err);
}

tamis_status tmi_design_string(const char **string, const tmi_design_fields *f, const char *name, tamis_error *err)
{
    const tmi_value *json;
    tamis_status status = tmi_design_get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    if (tmi_value_kind_of(json) != TMI_VALUE_TEXT) return tmi_fail(err, TAMIS_INVALID, "%s: must be a string", name);
    *string = tmi_value_string(json);
    return TAMIS_OK;
}

tamis_status tmi_design_object(tmi_design_fields *inside, const tmi_design_fields *f, const char *name, const char *const *keys,
                               size_t count, tamis_error *err)
{
    const tmi_value *json;
    tamis_status status = tmi_design_get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    if (tmi_value_kind_of(json) != TMI_VALUE_MAP) return tmi_fail(err, TAMIS_INVALID, "%s: must be an object", name);
    const char *extra = tmi_value_extra_key(json, keys, count);
    if (extra) return tmi_fail(err, TAMIS_INVALID, "%s: '%s' is not a field of it", name, tmi_value_short_name(extra));
    *inside = (tmi_design_fields){.own = json};
    return TAMIS_OK;
}

tamis_status tmi_design_sizes_of(int64_t *population, int64_t *sample, const tmi_design_fields *f, tamis_error *err)
{
    tamis_status status = tmi_design_integer(population, f, "population", err);
    return status == TAMIS_OK ? tmi_design_integer(sample, f, "sample", err) : status;
}

/* ---- the table ---- */

static const tmi_design_form *const forms[] = {
    &tmi_srs_form,        &tmi_with_replacement_form, &tmi_bernoulli_form, &tmi_poisson_form, &tmi_pps_form,
    &tmi_systematic_form, &tmi_census_form,           &tmi_cluster_form,   &tmi_strata_form,  &tmi_two_stage_form,
};
#define FORMS (sizeof forms / sizeof *forms)

tamis_status tmi_design_check_keys(const tmi_value *json, const tmi_design_form *k, tamis_error *err)
{
    size_t count = 0;
    while (k->keys[count]) count++;
    if (tmi_value_kind_of(json) != TMI_VALUE_MAP) return tmi_fail(err, TAMIS_INVALID, "must be an object");
    const char *extra = tmi_value_extra_key(json, k->keys, count);
    if (extra) return tmi_fail(err, TAMIS_INVALID, "'%s' is not a field of %s", tmi_value_short_name(extra), k->name);
    return TAMIS_OK;
}

tamis_status tmi_design_within(const tmi_design_form **within, const tmi_value **shared, const tmi_design_fields *f,
                               tamis_error *err)
{
    const tmi_value *json;
    tamis_status status = tmi_design_get(&json, f, "within", err);
    if (status != TAMIS_OK) return status;
    *shared = NULL;
    for (size_t i = 0; i < FORMS; i++) {
        const char *name = forms[i]->name;
        if (forms[i]->has_parts) continue;
        if (tmi_value_kind_of(json) == TMI_VALUE_TEXT && strcmp(tmi_value_string(json), name) != 0) continue;
        if (tmi_value_kind_of(json) == TMI_VALUE_MAP) {
            if (tmi_value_size(json) != 1 || !(*shared = tmi_value_get(json, name))) continue;
            status = tmi_design_check_keys(*shared, forms[i], err);
        } else if (tmi_value_kind_of(json) != TMI_VALUE_TEXT) break;
        *within = forms[i];
        return status;
    }
    return tmi_fail(err, TAMIS_INVALID,
                    "within: must be the name of a one-stage design (srs, srs_with_replacement, "
                    "bernoulli, poisson, pps, systematic, census, cluster, two_stage), or such a design");
}

tamis_status tmi_design_from_value(tamis_design **design, const tmi_value *json, bool worst, tamis_error *err)
{
    *design = NULL;
    if (tmi_value_kind_of(json) != TMI_VALUE_MAP || tmi_value_size(json) != 1)
        return tmi_fail(err, TAMIS_INVALID, "must be an object with one key, the kind of design");
    for (size_t i = 0; i < FORMS; i++) {
        const tmi_design_form *k = forms[i];
        const tmi_value *own = tmi_value_get(json, k->name);
        tamis_error inner;
        if (!own) continue;
        tamis_status status = tmi_design_check_keys(own, k, &inner);
        if (status == TAMIS_OK) status = k->read(design, &(tmi_design_fields){.own = own, .worst = worst}, &inner);
        return tmi_design_field_failed(status, k->name, &inner, err);
    }
    if (tmi_value_get(json, "balanced") || tmi_value_get(json, "cube"))
        return tmi_fail(err, TAMIS_REFUSED,
                        "balanced sampling is not supported: no coupling is proved for it, so an outsider would have the "
                        "guarantee of a sampled person");
    return tmi_fail(err, TAMIS_INVALID,
                    "unknown; expected one of srs, srs_with_replacement, bernoulli, poisson, pps, systematic, census, "
                    "stratified, cluster, two_stage");
}

tamis_status tamis_design_read(tamis_design **design, const char *json, tamis_error *err)
{
    tmi_value *document = NULL;
    tamis_status status = TAMIS_OK;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    TMI_TRY(tmi_json_read(&document, json, strlen(json), err));
    TMI_TRY(tmi_design_from_value(design, document, true, err));
done:
    tmi_value_free(document);
    return status;
}
