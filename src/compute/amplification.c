/* Area amplification: what sampling adds to a guarantee. */
#include <string.h>
#include <tamis/experimental/amplification.h>

#include "base/memory.h"
#include "compute/compute.h"

static tamis_status forward(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_status status = tamis_amplify_srs(&eps, &delta, in[0].integer, in[1].integer, in[2].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "eps_pop", eps);
    tmi_json_add_bound(out, "delta_pop", delta);
    return TAMIS_OK;
}

static tamis_status inverse(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_status status = tamis_amplify_srs_inverse(&eps, &delta, in[0].integer, in[1].integer, in[2].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "eps_n", eps);
    tmi_json_add_bound(out, "delta_n", delta);
    return TAMIS_OK;
}

static tamis_status hockey(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_status status = tamis_amplify_srs_laplace(&eps, &delta, in[1].integer, in[2].integer, in[0].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "eps_sample", eps);
    tmi_json_add_bound(out, "delta_pop", delta);
    return TAMIS_OK;
}

static tamis_status general(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_amplification a = {in[0].number, in[1].number, in[2].number, in[3].number, in[4].number};
    tamis_status status = tamis_amplify(&eps, &delta, &a, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "eps_pop", eps);
    tmi_json_add_bound(out, "delta_pop", delta);
    return TAMIS_OK;
}

/* ---- any design ---- */

static tamis_status read_neighbours(tamis_neighbours *neighbours, const char *text, const char *name, tamis_error *err)
{
    *neighbours = strcmp(text, "replace") == 0 ? TAMIS_REPLACE : TAMIS_ADD_REMOVE;
    if (*neighbours == TAMIS_REPLACE || strcmp(text, "add_remove") == 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "%s: must be \"replace\" or \"add_remove\"", name);
}

static tamis_status read_promise(tamis_sample_promise *promise, const tmi_field_value *in, tamis_error *err)
{
    *promise = (tamis_sample_promise){.eps = in[1].number, .delta = in[2].number};
    tamis_status status = read_neighbours(&promise->neighbours, in[3].text, "neighbours", err);
    if (status != TAMIS_OK) return status;
    return read_neighbours(&promise->mechanism, in[4].text ? in[4].text : in[3].text, "mechanism", err);
}

static tamis_status design_forward(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_sample_promise promise;
    tamis_amplified amplified;
    tamis_status status = read_promise(&promise, in, err);
    if (status != TAMIS_OK) return status;
    if ((status = tamis_amplify_design(&amplified, in[0].design, &promise, err)) != TAMIS_OK) return status;
    tmi_json_add_bound(out, "eps_pop", amplified.eps);
    tmi_json_add_bound(out, "delta_pop", amplified.delta);
    tmi_json_add_string(out, "theorem", amplified.theorem);
    tamis_amplified_clear(&amplified);
    return TAMIS_OK;
}

static tamis_status design_inverse(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_sample_promise target;
    tamis_bound eps, delta;
    tamis_status status = read_promise(&target, in, err);
    if (status == TAMIS_OK) status = tamis_amplify_design_inverse(&eps, &delta, in[0].design, &target, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "eps_n", eps);
    tmi_json_add_bound(out, "delta_n", delta);
    return TAMIS_OK;
}

/* ---- sums with noise ---- */

static tamis_status read_noise(tamis_noise_kind *noise, const char *text, tamis_error *err)
{
    static const char *const names[] = {"none", "laplace", "gaussian", "discrete_laplace", "discrete_gaussian"};
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *noise = (tamis_noise_kind)i;
            return TAMIS_OK;
        }
    return tmi_fail(err, TAMIS_INVALID, "noise: must be laplace, gaussian, discrete_laplace or discrete_gaussian");
}

static tamis_status noise(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_noisy_sum sum = {.from = in[1].number, .to = in[2].number, .scale = in[4].number};
    tamis_bound delta;
    tamis_status status = read_noise(&sum.noise, in[3].text, err);
    if (status == TAMIS_OK) status = tamis_amplify_noise(&delta, NULL, in[0].design, &sum, in[5].number, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "delta_pop", delta);
    return status;
}

static tamis_status total(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    const tamis_design *design = in[0].design;
    tamis_weighted_sum sum = {NULL, in[1].number, in[2].number, in[3].number};
    tamis_bound eps;
    if (in[4].numbers) {
        if ((int64_t)in[4].count != tamis_design_population(design))
            return tmi_fail(err, TAMIS_INVALID, "weights: must have one weight per unit of the design");
        sum.weights = (const tamis_number *const *)in[4].numbers;
    }
    tamis_status status = tamis_amplify_total(&eps, NULL, design, &sum, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "eps_pop", eps);
    return status;
}

/* ---- strata that are protected ---- */

static tamis_status read_sizes(int64_t **sizes, const tmi_field_value *in, const char *name, tamis_error *err)
{
    if (!(*sizes = tmi_alloc(in->count, sizeof **sizes))) return tmi_fail_memory(err);
    for (size_t h = 0; h < in->count; h++)
        if (!tmi_number_is_integer(in->numbers[h]) || !tmi_number_floor(&(*sizes)[h], in->numbers[h]))
            return tmi_fail(err, TAMIS_INVALID, "%s: number %zu is not an integer", name, h);
    return TAMIS_OK;
}

static tamis_status moves(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    int64_t *populations = NULL, *samples = NULL;
    tamis_bound eps, delta;
    tamis_status status = TAMIS_OK;
    if (in[0].count != in[1].count) return tmi_fail(err, TAMIS_INVALID, "samples: must have as many numbers as populations");
    TMI_TRY(read_sizes(&populations, &in[0], "populations", err));
    TMI_TRY(read_sizes(&samples, &in[1], "samples", err));
    TMI_TRY(tamis_amplify_moves(&eps, &delta, populations, samples, in[0].count, in[2].number, in[3].number, err));
    tmi_json_add_bound(out, "eps_pop", eps);
    tmi_json_add_bound(out, "delta_pop", delta);
done:
    tmi_free(populations);
    tmi_free(samples);
    return status;
}

static tamis_status proportional(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    bool random = strcmp(in[2].text, "random") == 0;
    tamis_bound eps;
    if (!random && strcmp(in[2].text, "nearest") != 0)
        return tmi_fail(err, TAMIS_INVALID, "rounding: must be \"random\" or \"nearest\"");
    tamis_status status = tamis_amplify_proportional(&eps, in[0].number, in[1].integer,
                                                     random ? TAMIS_ROUND_AT_RANDOM : TAMIS_ROUND_TO_NEAREST, in[3].number, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "eps_pop", eps);
    return status;
}

#define SRS_FIELDS \
    { \
        {"N", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER}, {"eps", TMI_FIELD_NUMBER}, { "delta", TMI_FIELD_NUMBER } \
    }
#define DESIGN_FIELDS \
    { \
        {"design", TMI_FIELD_WORST_DESIGN}, {"eps", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER}, \
            {"neighbours", TMI_FIELD_TEXT}, \
        { \
            "mechanism", TMI_FIELD_TEXT | TMI_FIELD_IF_GIVEN \
        } \
    }

static const tmi_kind kinds[] = {
    {"forward", forward, SRS_FIELDS},
    {"inverse", inverse, SRS_FIELDS},
    {"hockey",
     hockey,
     {{"eps0", TMI_FIELD_NUMBER}, {"N", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER}, {"eps_pop", TMI_FIELD_NUMBER}}},
    {"general",
     general,
     {{"inclusion", TMI_FIELD_NUMBER},
      {"loss", TMI_FIELD_NUMBER},
      {"delta", TMI_FIELD_NUMBER},
      {"loss_missing", TMI_FIELD_NUMBER_OR_NULL},
      {"delta_missing", TMI_FIELD_NUMBER_OR_NULL}}},
    {"design", design_forward, DESIGN_FIELDS},
    {"design_inverse", design_inverse, DESIGN_FIELDS},
    {"noise",
     noise,
     {{"design", TMI_FIELD_WORST_DESIGN},
      {"from", TMI_FIELD_NUMBER},
      {"to", TMI_FIELD_NUMBER},
      {"noise", TMI_FIELD_TEXT},
      {"scale", TMI_FIELD_NUMBER},
      {"eps_pop", TMI_FIELD_NUMBER}}},
    {"total",
     total,
     {{"design", TMI_FIELD_DESIGN},
      {"from", TMI_FIELD_NUMBER},
      {"to", TMI_FIELD_NUMBER},
      {"scale", TMI_FIELD_NUMBER},
      {"weights", TMI_FIELD_NUMBERS | TMI_FIELD_IF_GIVEN}}},
    {"moves",
     moves,
     {{"populations", TMI_FIELD_NUMBERS},
      {"samples", TMI_FIELD_NUMBERS},
      {"eps", TMI_FIELD_NUMBER},
      {"delta", TMI_FIELD_NUMBER}}},
    {"proportional",
     proportional,
     {{"rate", TMI_FIELD_NUMBER}, {"smallest", TMI_FIELD_INTEGER}, {"rounding", TMI_FIELD_TEXT}, {"eps", TMI_FIELD_NUMBER}}},
    {0},
};

const tmi_area tmi_area_amplification = {"amplification", kinds};
