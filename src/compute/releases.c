/* A list of releases: [{"law": "laplace", "scale": "10", "sensitivity": 1, "count": 5}, ...], composed. */
#include <string.h>
#include <tamis/experimental/releases.h>

#include "base/memory.h"
#include "compute/compute.h"
#include "num/json_number.h"
#include "plan/yaml.h"

/* The fields of one release; those that were not given are NULL, the count is 1. */
typedef struct release {
    const char *law;
    tamis_number *scale, *eps, *delta, *rho, *sensitivity;
    int64_t count;
} release;

static tamis_status read_one(tamis_number **number, const tmi_value *json, const char *name, tamis_error *err)
{
    tamis_error inner;
    const tmi_value *value = tmi_value_get(json, name);
    if (!value) return TAMIS_OK;
    tamis_status status = tmi_json_to_number(number, value, &inner);
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    return status == TAMIS_OK ? TAMIS_OK : tmi_fail(err, status, "%s: %s", name, inner.message);
}

static tamis_status read_release(release *r, const tmi_value *json, tamis_error *err)
{
    static const char *const names[] = {"law", "scale", "eps", "delta", "rho", "sensitivity", "count"};
    tamis_status status = TAMIS_OK;
    r->count = 1;
    if (tmi_value_kind_of(json) != TMI_VALUE_MAP) return tmi_fail(err, TAMIS_INVALID, "must be an object");
    const char *extra = tmi_value_extra_key(json, names, sizeof names / sizeof *names);
    if (extra) return tmi_fail(err, TAMIS_INVALID, "'%s' is not a field of a release", tmi_value_short_name(extra));
    const tmi_value *law = tmi_value_get(json, "law"), *count = tmi_value_get(json, "count");
    if (!law || tmi_value_kind_of(law) != TMI_VALUE_TEXT) return tmi_fail(err, TAMIS_INVALID, "law: missing, or not a string");
    r->law = tmi_value_string(law);
    TMI_TRY(read_one(&r->scale, json, "scale", err));
    TMI_TRY(read_one(&r->eps, json, "eps", err));
    TMI_TRY(read_one(&r->delta, json, "delta", err));
    TMI_TRY(read_one(&r->rho, json, "rho", err));
    TMI_TRY(read_one(&r->sensitivity, json, "sensitivity", err));
    if (count) status = tmi_json_to_integer(&r->count, count, NULL);
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    if (status != TAMIS_OK) return tmi_fail(err, TAMIS_INVALID, "count: must be an integer");
    if (r->count < 1 || r->count > TAMIS_MAX_TIMES) return tmi_fail(err, TAMIS_INVALID, "count: must be between 1 and 2^30");
done:
    return status;
}

static void clear(release *r)
{
    tamis_number *all[] = {r->scale, r->eps, r->delta, r->rho, r->sensitivity};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

/* With eps instead of a scale: noise of scale 1 on what changes by eps. */
static tamis_status laplace(tamis_profile **profile, const release *r, tamis_error *err)
{
    tamis_number *one = NULL;
    if (r->scale) return tamis_profile_laplace(profile, r->scale, r->sensitivity, err);
    tamis_status status = tmi_number_ratio(&one, 1, 1, err);
    if (status == TAMIS_OK) status = tamis_profile_laplace(profile, one, r->eps, err);
    tamis_number_free(one);
    return status;
}

static tamis_status gaussian(tamis_profile **profile, const release *r, tamis_error *err)
{
    return tamis_profile_gaussian(profile, r->scale, r->sensitivity, err);
}

static tamis_status discrete(tamis_profile **profile, const release *r, tamis_error *err)
{
    int64_t sensitivity;
    if (!tmi_number_is_integer(r->sensitivity) || !tmi_number_floor(&sensitivity, r->sensitivity))
        return tmi_fail(err, TAMIS_INVALID, "sensitivity: must be an integer if the noise is discrete");
    return strcmp(r->law, "discrete_laplace") == 0 ? tamis_profile_discrete_laplace(profile, r->scale, sensitivity, err)
                                                   : tamis_profile_discrete_gaussian(profile, r->scale, sensitivity, err);
}

static tamis_status response(tamis_profile **profile, const release *r, tamis_error *err)
{
    return tamis_profile_randomized_response(profile, r->eps, err);
}

static tamis_status claim(tamis_profile **profile, const release *r, tamis_error *err)
{
    return tamis_profile_claim(profile, r->eps, r->delta, err);
}

static tamis_status concentrated(tamis_profile **profile, const release *r, tamis_error *err)
{
    return tamis_profile_zcdp(profile, r->rho, err);
}

enum { SCALE = 1, EPS = 2, DELTA = 4, RHO = 8 };

/* `needs` must all be given, nothing else may; Laplace noise has either a scale or the eps that it gives. A sensitivity goes with
 * a scale alone: beside eps or rho, which count it already, another one than 1 would be read by nobody. */
static const struct {
    const char *law;
    tamis_status (*make)(tamis_profile **, const release *, tamis_error *);
    unsigned needs, or_needs;
    const char *words; /* for needs and or_needs */
} laws[] = {
    {"laplace", laplace, SCALE, EPS, "either scale or eps"},
    {"gaussian", gaussian, SCALE, SCALE, "scale"},
    {"discrete_laplace", discrete, SCALE, SCALE, "scale"},
    {"discrete_gaussian", discrete, SCALE, SCALE, "scale"},
    {"randomized_response", response, EPS, EPS, "eps"},
    {"claim", claim, EPS | DELTA, EPS | DELTA, "eps and delta"},
    {"zcdp", concentrated, RHO, RHO, "rho"},
};

static tamis_status make(tamis_profile **profile, release *r, tamis_error *err)
{
    unsigned given = (r->scale ? SCALE : 0u) | (r->eps ? EPS : 0u) | (r->delta ? DELTA : 0u) | (r->rho ? RHO : 0u);
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        if (strcmp(laws[i].law, r->law) != 0) continue;
        if (given != laws[i].needs && given != laws[i].or_needs)
            return tmi_fail(err, TAMIS_INVALID, "law: %s needs %s", laws[i].law, laws[i].words);
        if (r->sensitivity && !r->scale && tmi_number_compare_int(r->sensitivity, 1) != 0)
            return tmi_fail(err, TAMIS_INVALID, "sensitivity: only with a scale; eps, delta and rho already include it");
        if (!r->sensitivity) {
            tamis_status status = tmi_number_ratio(&r->sensitivity, 1, 1, err);
            if (status != TAMIS_OK) return status;
        }
        return laws[i].make(profile, r, err);
    }
    return tmi_fail(err, TAMIS_INVALID,
                    "law: must be laplace, gaussian, discrete_laplace, discrete_gaussian, "
                    "randomized_response, claim or zcdp");
}

/* In *whole how many releases the list counts together, of items whose counts are at most 2^30. */
static tamis_status compose(tamis_profile **profile, int64_t *whole, const tmi_value *json, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (tmi_value_kind_of(json) != TMI_VALUE_LIST) return tmi_fail(err, TAMIS_INVALID, "must be a list of releases");
    size_t count = tmi_value_size(json);
    tamis_profile **list = tmi_alloc(count, sizeof *list);
    int64_t *times = tmi_alloc(count, sizeof *times);
    if (!list || !times) status = tmi_fail_memory(err);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++) {
        release r = {0};
        tamis_error inner;
        status = read_release(&r, tmi_value_at(json, i), &inner);
        if (status == TAMIS_OK) status = make(&list[i], &r, &inner);
        times[i] = r.count;
        *whole += r.count;
        clear(&r);
        if (status == TAMIS_SYSTEM) status = tmi_fail_memory(err);
        else if (status != TAMIS_OK) status = tmi_fail(err, status, "release %zu: %s", i + 1, inner.message);
    }
    if (status == TAMIS_OK) status = tamis_profile_compose(profile, (const tamis_profile *const *)list, times, count, err);
    for (size_t i = 0; list && i < count; i++) tamis_profile_free(list[i]);
    tmi_free(list);
    tmi_free(times);
    return status;
}

tamis_status tmi_field_releases(tamis_profile **profile, const tmi_value *json, tamis_error *err)
{
    int64_t whole = 0;
    return compose(profile, &whole, json, err);
}

/* `document` is taken. */
static tamis_status take_releases(tamis_profile **all, int64_t *count, tmi_value *document, tamis_error *err)
{
    tamis_status status;
    int64_t whole = 0;
    if (document->kind == TMI_VALUE_LIST && document->count == 0)
        status = tmi_fail(err, TAMIS_INVALID, "the list has no release");
    else status = compose(all, &whole, document, err);
    if (status == TAMIS_OK) *count = whole;
    tmi_value_free(document);
    return status;
}

static tamis_status check_pointers(tamis_profile **all, int64_t *count, const void *from, const char *name, tamis_error *err)
{
    if (all) *all = NULL;
    if (count) *count = 0;
    if (all && count && from) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "%s: NULL", !all ? "all" : !count ? "count" : name);
}

tamis_status tamis_releases_read(tamis_profile **all, int64_t *count, const char *json, tamis_error *err)
{
    tmi_value *document = NULL;
    tamis_status status = check_pointers(all, count, json, "json", err);
    if (status == TAMIS_OK) status = tmi_json_read(&document, json, strlen(json), err);
    return status == TAMIS_OK ? take_releases(all, count, document, err) : status;
}

tamis_status tamis_releases_read_file(tamis_profile **all, int64_t *count, const char *path, tamis_error *err)
{
    tmi_value *document = NULL;
    tamis_status status = check_pointers(all, count, path, "path", err);
    if (status == TAMIS_OK) status = tmi_yaml_read_file(&document, path, err);
    if (status == TAMIS_OK && document->kind != TMI_VALUE_LIST) {
        status = tmi_fail_file(err, TAMIS_INVALID, path, 0, "expected a list, such as [{law: laplace, scale: 10}]");
        tmi_value_free(document);
    }
    return status == TAMIS_OK ? take_releases(all, count, document, err) : status;
}
