/* Area ht_general_enumeration: the Horvitz-Thompson total under any design. Pairs of populations under a design that is given
 * sample by sample; all pairs over a list of values; all pairs in a range, without listing samples.                 */
#include <math.h>
#include <string.h>
#include <tamis/experimental/ht.h>

#include "base/memory.h"
#include "compute/compute.h"

static const char *const noises[] = {"none", "laplace", "gaussian", "discrete_laplace", "discrete_gaussian"};
#define NOISES (sizeof noises / sizeof *noises)

static tamis_status read_noise(tamis_noise_kind *noise, const char *text, tamis_error *err)
{
    *noise = TAMIS_NOISE_NONE;
    for (size_t k = 0; text && k < NOISES; k++) {
        if (strcmp(text, noises[k]) != 0) continue;
        *noise = (tamis_noise_kind)k;
        return TAMIS_OK;
    }
    if (!text) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID,
                    "noise: \"none\", \"laplace\", \"gaussian\", \"discrete_laplace\" or "
                    "\"discrete_gaussian\"");
}

static bool is_discrete(tamis_noise_kind noise)
{
    return noise == TAMIS_NOISE_DISCRETE_LAPLACE || noise == TAMIS_NOISE_DISCRETE_GAUSSIAN;
}

/* ---- one pair ---- */

enum { TYPE, LAW, X, X_PRIME, NOISE, SCALE, EPS, STEP };

static tamis_status pair_of(tmi_json_out *out, const tmi_field_value *in, tamis_noise_kind noise, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound delta, reverse, eps0;
    size_t units = (size_t)tamis_law_population(in[LAW].law);
    tamis_ht_pair pair = {in[LAW].law,
                          (const tamis_number *const *)in[X].numbers,
                          (const tamis_number *const *)in[X_PRIME].numbers,
                          noise,
                          in[SCALE].number,
                          in[STEP].number};
    if (!in[NOISE].text || strcmp(in[NOISE].text, noises[noise]) != 0)
        return tmi_fail(err, TAMIS_INVALID, "noise: must be \"%s\" for this kind", noises[noise]);
    if (in[X].count != units) return tmi_fail(err, TAMIS_INVALID, "x: must have a value for each unit of the design");
    if (in[X_PRIME].count != units) return tmi_fail(err, TAMIS_INVALID, "x_prime: must have a value for each unit of the design");
    TMI_TRY(tamis_ht_pair_delta(&delta, &reverse, &pair, in[EPS].number, err));
    tmi_json_add_bound(out, "delta_xy", delta);
    tmi_json_add_bound(out, "delta_yx", reverse);
    if (noise == TAMIS_NOISE_GAUSSIAN) goto done; /* the answer of this kind is fixed; values_eps0 and range_eps0 tell it */
    TMI_TRY(tamis_ht_pair_pure(&eps0, &pair, err));
    tmi_json_add_bound(out, "eps0_xy", eps0);
done:
    return status;
}

#define PAIR(name, noise) \
    static tamis_status name(tmi_json_out *out, const tmi_field_value *in, tamis_error *err) \
    { \
        return pair_of(out, in, noise, err); \
    }

PAIR(pair_none, TAMIS_NOISE_NONE)
PAIR(pair_laplace, TAMIS_NOISE_LAPLACE)
PAIR(pair_gaussian, TAMIS_NOISE_GAUSSIAN)
PAIR(pair_dlaplace, TAMIS_NOISE_DISCRETE_LAPLACE)
PAIR(pair_dgaussian, TAMIS_NOISE_DISCRETE_GAUSSIAN)

/* ---- all pairs over a list of values ---- */

enum { V_DESIGN, V_VALUES, V_NOISE, V_SCALE, V_STEP, V_LOW, V_HIGH, V_AT };

/* The values of the population in which `unit` has value number a, the others theirs. */
static tamis_status put_population(tmi_json_out *out, const char *key, const tmi_field_value *values, const tamis_ht_unit *worst,
                                   size_t units, size_t unit, size_t a, tamis_error *err)
{
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; i < units; i++) {
        char *text = NULL;
        tamis_status status = tamis_number_write(&text, values->numbers[i == unit ? a : worst->x[i]], err);
        if (status != TAMIS_OK) return status;
        tmi_json_put_string(out, text);
        tamis_free(text);
    }
    tmi_json_close(out, ']');
    return TAMIS_OK;
}

static tamis_status put_units(tmi_json_out *out, const char *name, const tmi_field_value *values, const tamis_ht_unit *list,
                              size_t units, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound most = {0, 0};
    size_t worst = 0;
    for (size_t i = 0; i < units; i++) {
        if (list[i].value.lower > list[worst].value.lower) worst = i;
        most = (tamis_bound){fmax(most.lower, list[i].value.lower), fmax(most.upper, list[i].value.upper)};
    }
    tmi_json_add_bound(out, name, most);
    tmi_json_add_open(out, "units", '[');
    for (size_t i = 0; i < units; i++) tmi_json_put_bound(out, list[i].value);
    tmi_json_close(out, ']');
    tmi_json_key(out, "worst");
    if (list[worst].x_prime == list[worst].x[worst]) {
        tmi_json_put_null(out);
        return TAMIS_OK;
    }
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "unit", (int64_t)worst);
    TMI_TRY(put_population(out, "x", values, &list[worst], units, worst, list[worst].x[worst], err));
    TMI_TRY(put_population(out, "x_prime", values, &list[worst], units, worst, list[worst].x_prime, err));
    tmi_json_close(out, '}');
done:
    return status;
}

static tamis_status values_of(tmi_json_out *out, const tmi_field_value *in, char kind, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_law *law = NULL;
    tamis_number *step = NULL;
    tamis_ht_unit units[TAMIS_LAW_UNITS];
    const tamis_number *const *list = (const tamis_number *const *)in[V_VALUES].numbers;
    tamis_noise_kind noise;
    TMI_TRY(read_noise(&noise, in[V_NOISE].text, err));
    TMI_TRY(tamis_law_new(&law, in[V_DESIGN].design, err));
    if (is_discrete(noise) && !in[V_STEP].number) TMI_TRY(tamis_ht_step(&step, law, list, in[V_VALUES].count, err));
    tamis_ht_values v = {law,
                         list,
                         in[V_VALUES].count,
                         in[V_LOW].number,
                         in[V_HIGH].number,
                         noise,
                         in[V_SCALE].number,
                         step ? step : in[V_STEP].number};
    if (kind == 'd') TMI_TRY(tamis_ht_values_delta(units, &v, in[V_AT].number, err));
    else if (kind == 'e') TMI_TRY(tamis_ht_values_epsilon(units, &v, in[V_AT].number, err));
    else TMI_TRY(tamis_ht_values_pure(units, &v, err));
    TMI_TRY(put_units(out, kind == 'd' ? "delta" : "eps", &in[V_VALUES], units, (size_t)tamis_law_population(law), err));
done:
    tamis_number_free(step);
    tamis_law_free(law);
    return status;
}

static tamis_status values_delta(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return values_of(out, in, 'd', err);
}

static tamis_status values_eps(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return values_of(out, in, 'e', err);
}

static tamis_status values_eps0(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return values_of(out, in, 'p', err);
}

/* ---- all pairs in a range ---- */

enum { R_DESIGN, R_FROM, R_TO, R_GRID, R_NOISE, R_STEP, R_EPS_OR_SCALE, R_AT };

static void put_part(tmi_json_out *out, const char *name, const tamis_ht_part *part)
{
    tmi_json_add_integer(out, "first", part->first);
    tmi_json_add_integer(out, "count", part->count);
    tmi_json_add_integer(out, "unit", part->unit);
    tmi_json_add_bound(out, name, part->value);
    tmi_json_add_boolean(out, "exact", part->exact);
    tmi_json_add_string(out, "theorem", part->theorem);
}

/* The whole design has the largest number; it is exact if a part that attains its upper end is. */
static void put_parts(tmi_json_out *out, const char *name, const tamis_ht_part *parts, size_t count)
{
    size_t worst = 0;
    double lower = 0;
    for (size_t h = 0; h < count; h++) {
        if (parts[h].value.upper > parts[worst].value.upper) worst = h;
        lower = fmax(lower, parts[h].value.lower);
    }
    tmi_json_add_bound(out, name, (tamis_bound){lower, parts[worst].value.upper});
    tmi_json_add_boolean(out, "exact", parts[worst].exact);
    tmi_json_add_string(out, "theorem", parts[worst].theorem);
    tmi_json_add_integer(out, "unit", parts[worst].unit);
    tmi_json_add_open(out, "parts", '[');
    for (size_t h = 0; h < count; h++) {
        tmi_json_open(out, '{');
        put_part(out, name, &parts[h]);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

/* The range of a question; a step that is not given becomes *step, which the caller frees. Without a grid the values are
 * multiples of the step that is given, as the noise is; from 0 to 1 they are 0 and 1. */
static tamis_status range_of(tamis_ht_range *range, tamis_number **step, const tmi_field_value *in, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *range = (tamis_ht_range){.design = in[R_DESIGN].design,
                              .from = in[R_FROM].number,
                              .to = in[R_TO].number,
                              .grid = in[R_GRID].number,
                              .scale = in[R_EPS_OR_SCALE].number,
                              .step = in[R_STEP].number};
    TMI_TRY(read_noise(&range->noise, in[R_NOISE].text, err));
    bool binary = tmi_number_sign(range->from) == 0 && tmi_number_compare_int(range->to, 1) == 0;
    if (is_discrete(range->noise) && !range->grid && !binary) range->grid = range->step;
    if (is_discrete(range->noise) && !range->step) {
        TMI_TRY(tamis_ht_range_step(step, range, err));
        range->step = *step;
    }
done:
    return status;
}

/* The step that the scale counts; nothing if the noise is not discrete. */
static tamis_status put_step(tmi_json_out *out, const tamis_ht_range *range, tamis_error *err)
{
    char *text = NULL;
    if (!range->step) return TAMIS_OK;
    tamis_status status = tamis_number_write(&text, range->step, err);
    if (status == TAMIS_OK) tmi_json_add_string(out, "step", text);
    tamis_free(text);
    return status;
}

static tamis_status ask_range(tmi_json_out *out, const tmi_field_value *in, char kind, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *step = NULL;
    tamis_ht_range range;
    tamis_ht_part *parts = NULL;
    size_t count = 0;
    TMI_TRY(range_of(&range, &step, in, err));
    if (kind == 'd') TMI_TRY(tamis_ht_range_delta(&parts, &count, &range, in[R_AT].number, err));
    else if (kind == 'e') TMI_TRY(tamis_ht_range_epsilon(&parts, &count, &range, in[R_AT].number, err));
    else TMI_TRY(tamis_ht_range_pure(&parts, &count, &range, err));
    put_parts(out, kind == 'd' ? "delta" : "eps", parts, count);
    TMI_TRY(put_step(out, &range, err));
done:
    tamis_number_free(step);
    tamis_free(parts);
    return status;
}

static tamis_status range_delta(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return ask_range(out, in, 'd', err);
}

static tamis_status range_eps(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return ask_range(out, in, 'e', err);
}

static tamis_status range_eps0(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return ask_range(out, in, 'p', err);
}

static tamis_status range_scale(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *step = NULL;
    tamis_ht_range range;
    tamis_bound scale;
    TMI_TRY(range_of(&range, &step, in, err));
    range.scale = NULL;
    TMI_TRY(tamis_ht_range_scale(&scale, &range, in[R_EPS_OR_SCALE].number, in[R_AT].number, err));
    tmi_json_add_bound(out, "scale", scale);
    TMI_TRY(put_step(out, &range, err));
done:
    tamis_number_free(step);
    return status;
}

/* ---- the table ---- */

#define FIELDS \
    {"design_type", TMI_FIELD_TEXT}, {"design", TMI_FIELD_SAMPLES}, {"x", TMI_FIELD_NUMBERS}, {"x_prime", TMI_FIELD_NUMBERS}, \
        {"noise", TMI_FIELD_TEXT}, {"scale", TMI_FIELD_NUMBER_OR_NULL}, \
    { \
        "eps", TMI_FIELD_NUMBER \
    }
#define IF_GIVEN(name) \
    { \
        name, TMI_FIELD_NUMBER_OR_NULL | TMI_FIELD_IF_GIVEN \
    }
#define VALUES \
    {"design", TMI_FIELD_DESIGN}, {"values", TMI_FIELD_NUMBERS}, {"noise", TMI_FIELD_TEXT | TMI_FIELD_IF_GIVEN}, \
        IF_GIVEN("scale"), IF_GIVEN("step"), IF_GIVEN("low"), IF_GIVEN("high")
#define RANGE \
    {"design", TMI_FIELD_DESIGN}, {"from", TMI_FIELD_NUMBER}, {"to", TMI_FIELD_NUMBER}, IF_GIVEN("grid"), \
        {"noise", TMI_FIELD_TEXT | TMI_FIELD_IF_GIVEN}, IF_GIVEN("step")

static const tmi_kind kinds[] = {
    {"pair_none", pair_none, {FIELDS}},
    {"pair_laplace", pair_laplace, {FIELDS}},
    {"pair_gaussian", pair_gaussian, {FIELDS}},
    {"pair_dlaplace", pair_dlaplace, {FIELDS, {"step", TMI_FIELD_NUMBER}}},
    {"pair_dgaussian", pair_dgaussian, {FIELDS, {"step", TMI_FIELD_NUMBER}}},
    {"values_delta", values_delta, {VALUES, {"eps", TMI_FIELD_NUMBER}}},
    {"values_eps", values_eps, {VALUES, {"delta", TMI_FIELD_NUMBER}}},
    {"values_eps0", values_eps0, {VALUES}},
    {"range_delta", range_delta, {RANGE, IF_GIVEN("scale"), {"eps", TMI_FIELD_NUMBER}}},
    {"range_eps", range_eps, {RANGE, IF_GIVEN("scale"), {"delta", TMI_FIELD_NUMBER}}},
    {"range_eps0", range_eps0, {RANGE, IF_GIVEN("scale")}},
    {"range_scale", range_scale, {RANGE, {"eps", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER}}},
    {0},
};

const tmi_area tmi_area_ht_general_enumeration = {"ht_general_enumeration", kinds};
