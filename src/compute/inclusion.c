/* Area inclusion: the probability of a unit, of two or three units together, of each sample, and what follows from these
 * alone.                                                                                                             */
#include <tamis/experimental/ht.h>

#include "base/memory.h"
#include "compute/compute.h"

/* Units whose probabilities are written out, about 50 bytes each. */
#define UNITS_MAX ((int64_t)1 << 20)

static void put_list(tmi_json_out *out, const tamis_bound *bounds, size_t count)
{
    tmi_json_open(out, '[');
    for (size_t i = 0; i < count; i++) tmi_json_put_bound(out, bounds[i]);
    tmi_json_close(out, ']');
}

static tamis_status first(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    const tamis_design *design = in[0].design;
    int64_t population = tamis_design_population(design);
    if (population > UNITS_MAX) return tmi_fail(err, TAMIS_UNABLE, "design: at most 2^20 units can be listed");
    tamis_bound *pi = tmi_alloc((size_t)population, sizeof *pi);
    if (!pi) return tmi_fail_memory(err);
    tamis_status status = tamis_inclusion_first(pi, design, NULL, (size_t)population, err);
    tmi_json_key(out, "pi");
    put_list(out, pi, (size_t)population);
    tmi_free(pi);
    return status;
}

static tamis_status joint(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    const tamis_design *design = in[0].design;
    int64_t population = tamis_design_population(design);
    if (population > TAMIS_MAX_JOINT)
        return tmi_fail(err, TAMIS_UNABLE, "design: pairs can be listed for at most %d units", TAMIS_MAX_JOINT);
    size_t N = (size_t)population;
    tamis_bound *pij = tmi_alloc(N * N, sizeof *pij);
    if (!pij) return tmi_fail_memory(err);
    tamis_status status = tamis_inclusion_joint(pij, design, NULL, N, err);
    tmi_json_add_open(out, "pij", '[');
    for (size_t k = 0; k < N; k++) put_list(out, pij + k * N, N);
    tmi_json_close(out, ']');
    tmi_free(pij);
    return status;
}

/* Each set of three is asked for once; with a unit that appears twice it is one of two. */
static tamis_status third_of(tamis_bound *pijk, const tamis_law *law, int64_t N, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t k = 0; k < N; k++) {
                const int64_t low = i < j ? i : j, high = i + j - low; /* i, j, k sorted: a, b, c */
                const int64_t a = k < low ? k : low, c = k > high ? k : high, b = low + high + k - a - c;
                const int64_t units[] = {a, b, c};
                tamis_bound *p = &pijk[(i * N + j) * N + k];
                if (i == a && j == b) TMI_TRY(tamis_law_inclusion(p, law, units, 3, err));
                else *p = pijk[(a * N + b) * N + c]; /* a <= i, and if i = a then b < j: it is there already */
            }
done:
    return status;
}

static tamis_status third(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_law *law = NULL;
    tamis_bound *pijk = NULL;
    const size_t N = (size_t)tamis_design_population(in[0].design);
    tamis_status status;
    TMI_TRY(tamis_law_new(&law, in[0].design, err));
    if (!(pijk = tmi_alloc(N * N * N, sizeof *pijk))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(third_of(pijk, law, (int64_t)N, err));
    tmi_json_add_open(out, "pijk", '[');
    for (size_t i = 0; i < N; i++) {
        tmi_json_open(out, '[');
        for (size_t j = 0; j < N; j++) put_list(out, pijk + (i * N + j) * N, N);
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, ']');
done:
    tmi_free(pijk);
    tamis_law_free(law);
    return status;
}

static void put_sample(tmi_json_out *out, const tamis_law *law, size_t j)
{
    const uint8_t *units;
    size_t size = tamis_law_sample(&units, law, j);
    tmi_json_open(out, '[');
    tmi_json_open(out, '[');
    for (size_t i = 0; i < size; i++) tmi_json_put_integer(out, units[i]);
    tmi_json_close(out, ']');
    tmi_json_put_bound(out, tamis_law_probability(law, j));
    tmi_json_close(out, ']');
}

static tamis_status samples(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_law *law = NULL;
    tamis_status status = tamis_law_new(&law, in[0].design, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_open(out, "samples", '[');
    for (size_t j = 0; j < tamis_law_count(law); j++) put_sample(out, law, j);
    tmi_json_close(out, ']');
    tamis_law_free(law);
    return TAMIS_OK;
}

static void put_moments(tmi_json_out *out, const char *mean, const char *variance, const tamis_moments *m)
{
    tmi_json_add_bound(out, mean, m->mean);
    tmi_json_add_bound(out, variance, m->variance);
}

static tamis_status given(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_moments with, without;
    tamis_law *law = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tamis_law_new(&law, in[0].design, err));
    if ((int64_t)in[1].count != tamis_law_population(law))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "x: must have a value for each unit of the design"));
    TMI_TRY(tamis_ht_given(&with, &without, law, (const tamis_number *const *)in[1].numbers, in[2].integer, err));
    put_moments(out, "mean_in", "variance_in", &with);
    put_moments(out, "mean_out", "variance_out", &without);
done:
    tamis_law_free(law);
    return status;
}

static tamis_status excluded(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_ht_exclusion exclusion;
    tamis_status status = tamis_ht_excluded(&exclusion, in[0].design, in[1].integer, in[2].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_boolean(out, "excluded", exclusion.excluded);
    tmi_json_key(out, "samples");
    if (exclusion.samples < 0) tmi_json_put_null(out);
    else tmi_json_put_integer(out, exclusion.samples);
    tmi_json_add_string(out, "reason", exclusion.reason);
    return TAMIS_OK;
}

static const tmi_kind kinds[] = {
    {"first", first, {{"design", TMI_FIELD_DESIGN}}},
    {"joint", joint, {{"design", TMI_FIELD_DESIGN}}},
    {"third", third, {{"design", TMI_FIELD_DESIGN}}},
    {"design", samples, {{"design", TMI_FIELD_DESIGN}}},
    {"given", given, {{"design", TMI_FIELD_DESIGN}, {"x", TMI_FIELD_NUMBERS}, {"unit", TMI_FIELD_INTEGER}}},
    {"excluded", excluded, {{"design", TMI_FIELD_DESIGN}, {"unit", TMI_FIELD_INTEGER}, {"values", TMI_FIELD_NUMBER_OR_NULL}}},
    {0},
};

const tmi_area tmi_area_inclusion = {"inclusion", kinds};
