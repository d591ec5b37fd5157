/* A design written as JSON: one key, its kind, and an object with the fields of that kind. A new kind is a function
 * and a row of the table.                                                                                            */
#include <string.h>
#include <tamis/compute.h>

#include "base/memory.h"
#include "compute/compute.h"

/* Where fields are looked up: in the design's own object, then in one that all strata share. */
typedef struct fields {
    const tmi_json *own, *shared;
    bool worst; /* sizes that are not given one by one are chosen such that privacy is least */
} fields;

typedef tamis_status maker(tamis_design **design, const fields *f, tamis_error *err);

typedef struct kind {
    const char *name;
    maker *make;
    const char *keys[5]; /* ends with NULL */
} kind;

/* ---- fields ---- */

static tamis_status get(const tmi_json **json, const fields *f, const char *name, tamis_error *err)
{
    *json = tmi_json_get(f->own, name);
    if (!*json && f->shared) *json = tmi_json_get(f->shared, name);
    return *json ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "the field '%s' is missing", name);
}

/* "name: message" */
static tamis_status named(tamis_status status, const char *name, const tamis_error *inner, tamis_error *err)
{
    if (status == TAMIS_OK) return TAMIS_OK;
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    return tmi_fail(err, status, "%s: %s", name, inner->message);
}

static tamis_status get_integer(int64_t *integer, const fields *f, const char *name, tamis_error *err)
{
    const tmi_json *json;
    tamis_error inner;
    tamis_status status = get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    return named(tmi_field_integer(integer, json, &inner), name, &inner, err);
}

static tamis_status get_number(tamis_number **number, const fields *f, const char *name, tamis_error *err)
{
    const tmi_json *json;
    tamis_error inner;
    tamis_status status = get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    return named(tmi_field_number(number, json, &inner), name, &inner, err);
}

static tamis_status get_numbers(tmi_field_value *value, const fields *f, const char *name, tamis_error *err)
{
    const tmi_json *json;
    tamis_error inner;
    tamis_status status = get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    return named(tmi_field_numbers(value, json, &inner), name, &inner, err);
}

static tamis_status get_string(const char **string, const fields *f, const char *name, tamis_error *err)
{
    const tmi_json *json;
    tamis_status status = get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    if (tmi_json_kind_of(json) != TMI_JSON_STRING) return tmi_fail(err, TAMIS_INVALID, "%s: must be a string", name);
    *string = tmi_json_string(json);
    return TAMIS_OK;
}

static tamis_status get_object(fields *inside, const fields *f, const char *name, const char *const *keys, size_t count,
                               tamis_error *err)
{
    const tmi_json *json;
    tamis_status status = get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    if (tmi_json_kind_of(json) != TMI_JSON_OBJECT) return tmi_fail(err, TAMIS_INVALID, "%s: must be an object", name);
    const char *extra = tmi_json_extra_key(json, keys, count);
    if (extra) return tmi_fail(err, TAMIS_INVALID, "%s: '%s' is not a field of it", name, tmi_told_name(extra));
    *inside = (fields){.own = json};
    return TAMIS_OK;
}

/* Units listed one by one in a request: clusters, strata. */
#define LISTED ((int64_t)1 << 20)

/* ---- one stage ---- */

static tamis_status two_integers(int64_t *population, int64_t *sample, const fields *f, tamis_error *err)
{
    tamis_status status = get_integer(population, f, "population", err);
    return status == TAMIS_OK ? get_integer(sample, f, "sample", err) : status;
}

static tamis_status make_srs(tamis_design **design, const fields *f, tamis_error *err)
{
    int64_t population, sample;
    tamis_status status = two_integers(&population, &sample, f, err);
    return status == TAMIS_OK ? tamis_design_srs(design, population, sample, err) : status;
}

static tamis_status make_with_replacement(tamis_design **design, const fields *f, tamis_error *err)
{
    int64_t population, draws;
    tamis_status status = two_integers(&population, &draws, f, err);
    if (status != TAMIS_OK) return status;
    if (draws < 1) return tmi_fail(err, TAMIS_INVALID, "sample: at least one draw is needed");
    return tamis_design_srs_with_replacement(design, population, draws, err);
}

static tamis_status make_census(tamis_design **design, const fields *f, tamis_error *err)
{
    int64_t population;
    tamis_status status = get_integer(&population, f, "population", err);
    return status == TAMIS_OK ? tamis_design_census(design, population, err) : status;
}

static tamis_status make_bernoulli(tamis_design **design, const fields *f, tamis_error *err)
{
    int64_t population;
    tamis_number *rate = NULL;
    tamis_status status = get_integer(&population, f, "population", err);
    if (status == TAMIS_OK) status = get_number(&rate, f, "rate", err);
    if (status == TAMIS_OK) status = tamis_design_bernoulli(design, population, rate, err);
    tamis_number_free(rate);
    return status;
}

static void clear_numbers(tmi_field_value *value)
{
    for (size_t i = 0; i < value->count; i++) tamis_number_free(value->numbers[i]);
    tmi_free(value->numbers);
}

static tamis_status make_poisson(tamis_design **design, const fields *f, tamis_error *err)
{
    tmi_field_value pi = {0};
    tamis_status status = get_numbers(&pi, f, "probabilities", err);
    if (status == TAMIS_OK)
        status = tamis_design_poisson(design, (const tamis_number *const *)pi.numbers, pi.count, err);
    clear_numbers(&pi);
    return status;
}

static tamis_status make_pps(tamis_design **design, const fields *f, tamis_error *err)
{
    const char *method = NULL;
    tmi_field_value pi = {0};
    tamis_status status = get_string(&method, f, "method", err);
    if (status == TAMIS_OK) status = get_numbers(&pi, f, "probabilities", err);
    if (status == TAMIS_OK)
        status = tamis_design_pps(design, method, (const tamis_number *const *)pi.numbers, pi.count, err);
    clear_numbers(&pi);
    return status;
}

static tamis_status make_systematic(tamis_design **design, const fields *f, tamis_error *err)
{
    int64_t population, sample;
    const char *order = NULL;
    tamis_status status = two_integers(&population, &sample, f, err);
    if (status == TAMIS_OK) status = get_string(&order, f, "order", err);
    if (status != TAMIS_OK) return status;
    bool random_order = strcmp(order, "random") == 0;
    if (!random_order && strcmp(order, "public") != 0)
        return tmi_fail(err, TAMIS_INVALID, "order: must be \"public\" or \"random\"");
    return tamis_design_systematic(design, population, sample, random_order, err);
}

static tamis_status make_cluster(tamis_design **design, const fields *f, tamis_error *err)
{
    int64_t clusters, sample, smallest, largest;
    tamis_status status = TAMIS_OK;
    TMI_TRY(two_integers(&clusters, &sample, f, err));
    TMI_TRY(get_integer(&smallest, f, "smallest", err));
    TMI_TRY(get_integer(&largest, f, "largest", err));
    if (smallest >= 1 && smallest < largest && !f->worst)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "largest: must be the same as smallest where units are numbered"));
    TMI_TRY(tamis_design_clusters(design, clusters, sample, smallest, largest, err));
done:
    return status;
}

static const kind one_stage[] = {
    {"srs", make_srs, {"population", "sample"}},
    {"srs_with_replacement", make_with_replacement, {"population", "sample"}},
    {"bernoulli", make_bernoulli, {"rate", "population"}},
    {"poisson", make_poisson, {"probabilities"}},
    {"pps", make_pps, {"method", "probabilities"}},
    {"systematic", make_systematic, {"population", "sample", "order"}},
    {"census", make_census, {"population"}},
    {"cluster", make_cluster, {"population", "sample", "smallest", "largest"}},
};
#define ONE_STAGE (sizeof one_stage / sizeof *one_stage)

/* ---- parts ---- */

static void free_designs(tamis_design **designs, size_t count)
{
    for (size_t i = 0; designs && i < count; i++) tamis_design_free(designs[i]);
    tmi_free(designs);
}

static tamis_status check_keys(const tmi_json *json, const kind *k, tamis_error *err)
{
    size_t count = 0;
    while (k->keys[count]) count++;
    if (tmi_json_kind_of(json) != TMI_JSON_OBJECT) return tmi_fail(err, TAMIS_INVALID, "must be an object");
    const char *extra = tmi_json_extra_key(json, k->keys, count);
    if (extra) return tmi_fail(err, TAMIS_INVALID, "'%s' is not a field of %s", tmi_told_name(extra), k->name);
    return TAMIS_OK;
}

/* within: a name, or a design whose fields all strata share. */
static tamis_status find_within(const kind **within, const tmi_json **shared, const fields *f, tamis_error *err)
{
    const tmi_json *json;
    tamis_status status = get(&json, f, "within", err);
    if (status != TAMIS_OK) return status;
    *shared = NULL;
    for (size_t i = 0; i < ONE_STAGE; i++) {
        const char *name = one_stage[i].name;
        if (tmi_json_kind_of(json) == TMI_JSON_STRING && strcmp(tmi_json_string(json), name) != 0) continue;
        if (tmi_json_kind_of(json) == TMI_JSON_OBJECT) {
            if (tmi_json_size(json) != 1 || !(*shared = tmi_json_get(json, name))) continue;
            status = check_keys(*shared, &one_stage[i], err);
        } else if (tmi_json_kind_of(json) != TMI_JSON_STRING) break;
        *within = &one_stage[i];
        return status;
    }
    return tmi_fail(err, TAMIS_INVALID, "within: must be the name of a one-stage design (srs, srs_with_replacement, "
                    "bernoulli, poisson, pps, systematic, census, cluster), or such a design");
}

static tamis_status make_stratified(tamis_design **design, const fields *f, tamis_error *err)
{
    const tmi_json *list, *shared = NULL;
    const kind *within = NULL;
    tamis_design **strata = NULL;
    size_t count = 0;
    tamis_status status = find_within(&within, &shared, f, err);
    if (status == TAMIS_OK) status = get(&list, f, "strata", err);
    if (status != TAMIS_OK) return status;
    if (tmi_json_kind_of(list) != TMI_JSON_LIST) return tmi_fail(err, TAMIS_INVALID, "strata: must be a list");
    count = tmi_json_size(list);
    if (!(strata = tmi_alloc(count, sizeof *strata))) return tmi_fail_memory(err);
    for (size_t h = 0; h < count; h++) {
        tamis_error inner;
        const tmi_json *own = tmi_json_at(list, h);
        status = check_keys(own, within, &inner);
        if (status == TAMIS_OK) status = within->make(&strata[h], &(fields){.own = own, .shared = shared, .worst = f->worst}, &inner);
        if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
        if (status != TAMIS_OK) TMI_TRY(tmi_fail(err, status, "strata: number %zu: %s", h, inner.message));
    }
    TMI_TRY(tamis_design_take_strata(design, strata, count, err));
    count = 0;
done:
    free_designs(strata, count);
    return status;
}

/* first and designs belong to the new design, or are freed. */
static tamis_status join_stages(tamis_design **design, tamis_design *first, tamis_design **second, size_t count,
                                tamis_error *err)
{
    tamis_status status = tamis_design_take_stages(design, first, second, count, err);
    if (status != TAMIS_OK) tamis_design_free(first);
    free_designs(second, status == TAMIS_OK ? 0 : count);
    return status;
}

/* A list of integers, one a cluster, or one integer for all. */
static tamis_status get_each(int64_t *value, const fields *f, const char *name, int64_t c, int64_t count,
                             tamis_error *err)
{
    const tmi_json *json;
    tamis_error inner;
    tamis_status status = get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    if (tmi_json_kind_of(json) != TMI_JSON_LIST) return get_integer(value, f, name, err);
    if (tmi_json_size(json) != (size_t)count)
        return tmi_fail(err, TAMIS_INVALID, "%s: must have as many items as there are clusters", name);
    return named(tmi_field_integer(value, tmi_json_at(json, (size_t)c), &inner), name, &inner, err);
}

static tamis_status make_two_stage(tamis_design **design, const fields *f, tamis_error *err)
{
    static const char *const keys[] = {"population", "sample"};
    fields above, inside;
    int64_t clusters, sample;
    tamis_design *first = NULL, **second = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(get_object(&above, f, "first", keys, 2, err));
    TMI_TRY(get_object(&inside, f, "second", keys, 2, err));
    TMI_TRY(two_integers(&clusters, &sample, &above, err));
    if (clusters > LISTED) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "first: at most 2^20 clusters are offered"));
    TMI_TRY(tamis_design_srs(&first, clusters, sample, err));
    if (!(second = tmi_alloc((size_t)clusters, sizeof *second))) TMI_TRY(tmi_fail_memory(err));
    bool common = tmi_json_kind_of(tmi_json_get(inside.own, "sample")) != TMI_JSON_LIST;
    for (int64_t c = 0; c < clusters; c++) {
        int64_t units, taken;
        TMI_TRY(get_each(&units, &inside, "population", c, clusters, err));
        TMI_TRY(get_each(&taken, &inside, "sample", c, clusters, err));
        if (common && taken > units) taken = units; /* one number for all: at most the cluster */
        TMI_TRY(tamis_design_srs(&second[c], units, taken, err));
    }
    return join_stages(design, first, second, (size_t)clusters, err);
done:
    tamis_design_free(first);
    free_designs(second, second ? (size_t)clusters : 0);
    return status;
}

static const kind with_parts[] = {
    {"stratified", make_stratified, {"within", "strata"}},
    {"two_stage", make_two_stage, {"first", "second"}},
};
#define WITH_PARTS (sizeof with_parts / sizeof *with_parts)

tamis_status tmi_field_design(tamis_design **design, const tmi_json *json, bool worst, tamis_error *err)
{
    *design = NULL;
    if (tmi_json_kind_of(json) != TMI_JSON_OBJECT || tmi_json_size(json) != 1)
        return tmi_fail(err, TAMIS_INVALID, "must be an object with one key, the kind of design");
    for (size_t i = 0; i < ONE_STAGE + WITH_PARTS; i++) {
        const kind *k = i < ONE_STAGE ? &one_stage[i] : &with_parts[i - ONE_STAGE];
        const tmi_json *own = tmi_json_get(json, k->name);
        tamis_error inner;
        if (!own) continue;
        tamis_status status = check_keys(own, k, &inner);
        if (status == TAMIS_OK) status = k->make(design, &(fields){.own = own, .worst = worst}, &inner);
        return named(status, k->name, &inner, err);
    }
    if (tmi_json_get(json, "balanced") || tmi_json_get(json, "cube"))
        return tmi_fail(err, TAMIS_REFUSED, "balanced sampling is not offered: no coupling is proved for it, so that an outsider "
                        "would be promised no more than a sampled person");
    return tmi_fail(err, TAMIS_INVALID, "not known; it is one of srs, srs_with_replacement, bernoulli, poisson, pps, "
                    "systematic, census, stratified, cluster, two_stage");
}

tamis_status tamis_design_read(tamis_design **design, const char *json, tamis_error *err)
{
    tmi_json *document = NULL;
    tamis_status status = TAMIS_OK;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    TMI_TRY(tmi_json_read(&document, json, strlen(json), err));
    TMI_TRY(tmi_field_design(design, document, true, err));
done:
    tmi_json_free(document);
    return status;
}
