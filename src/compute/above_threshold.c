/* Area above_threshold: the first query above a noisy threshold. */
#include <math.h>
#include <tamis/experimental/mech.h>

#include "base/memory.h"
#include "compute/compute.h"

static tamis_status answer(tmi_json_out *out, const tmi_field_value *y, const tamis_number *threshold,
                           const tamis_number *scale_T, const tamis_number *scale_q, tamis_error *err)
{
    if (y->count < 1 || y->count > TAMIS_MAX_QUERIES)
        return tmi_fail(err, TAMIS_INVALID, "y: must have between 1 and %d queries", TAMIS_MAX_QUERIES);
    tamis_bound *p = tmi_alloc(y->count + 1, sizeof *p);
    if (!p) return tmi_fail_memory(err);
    tamis_status status = tamis_threshold_law(p, (const tamis_number *const *)y->numbers, y->count, threshold, scale_T, scale_q,
                                              err);
    if (status == TAMIS_OK) tmi_put_bounds(out, "prob", p, y->count + 1);
    tmi_free(p);
    return status;
}

static tamis_status general(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return answer(out, &in[0], in[1].number, in[2].number, in[3].number, err);
}

/* A scale that is given beside eps may have been rounded in its last digits, and decides nothing. */
static bool agrees(const tamis_number *given, const tamis_number *scale)
{
    return !given || fabs(tmi_number_nearest(given) - tmi_number_nearest(scale)) <= 1e-15 * tmi_number_nearest(scale);
}

static tamis_status with_noise(tmi_json_out *out, const tmi_field_value *in, tamis_threshold_noise noise, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *scale_T = NULL, *scale_q = NULL;
    TMI_TRY(tamis_threshold_scales(&scale_T, &scale_q, noise, in[4].number, err));
    if (!agrees(in[2].number, scale_T)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "scale_T: is not that of this noise for eps"));
    if (!agrees(in[3].number, scale_q)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "scale_q: is not that of this noise for eps"));
    TMI_TRY(answer(out, &in[0], in[1].number, scale_T, scale_q, err));
done:
    tmi_number_frees(&scale_T, &scale_q, NULL);
    return status;
}

static tamis_status standard(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return with_noise(out, in, TAMIS_THRESHOLD_CLASSIC, err);
}

static tamis_status monotone(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    return with_noise(out, in, TAMIS_THRESHOLD_MONOTONE, err);
}

static tamis_status histogram(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *quantile = NULL;
    int64_t *counts = NULL;
    tamis_bound *p = NULL;
    const int64_t steps = in[3].integer;
    if (steps < 1 || steps > TAMIS_MAX_QUERIES)
        return tmi_fail(err, TAMIS_INVALID, "steps: must be between 1 and %d", TAMIS_MAX_QUERIES);
    if (in[0].count == 0) return tmi_fail(err, TAMIS_INVALID, "data: must not be empty");
    if (tmi_number_compare(in[1].number, in[2].number) >= 0) return tmi_fail(err, TAMIS_INVALID, "a: must be below b");
    if (in[4].integer < 1 || in[4].integer > 9) return tmi_fail(err, TAMIS_INVALID, "decile: must be between 1 and 9");
    TMI_TRY(tmi_number_ratio(&quantile, in[4].integer, 10, err));
    counts = tmi_alloc((size_t)steps, sizeof *counts);
    p = tmi_alloc((size_t)steps + 1, sizeof *p);
    if (!counts || !p) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tamis_histogram_law(p, counts, (const tamis_number *const *)in[0].numbers, in[0].count, in[1].number, in[2].number,
                                steps, quantile, TAMIS_THRESHOLD_CLASSIC, in[5].number, err));
    tmi_json_add_integers(out, "counts", counts, (size_t)steps);
    tmi_put_bounds(out, "prob", p, (size_t)steps + 1);
done:
    tamis_number_free(quantile);
    tmi_free(counts);
    tmi_free(p);
    return status;
}

static tamis_status accuracy(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound alpha;
    tamis_status status = tamis_threshold_accuracy(&alpha, in[0].integer, in[1].number, TAMIS_THRESHOLD_CLASSIC, in[2].number,
                                                   err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "alpha", alpha);
    return status;
}

static tamis_histogram_setup setup_of(const tmi_field_value *in)
{
    return (tamis_histogram_setup){in[0].integer, in[3].integer, in[1].number, in[2].number,           in[4].number,
                                   in[5].number,  in[6].number,  in[7].number, TAMIS_THRESHOLD_CLASSIC};
}

static tamis_status histogram_uniform(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    const tamis_histogram_setup setup = setup_of(in);
    tamis_bound failure;
    tamis_status status = tamis_histogram_accuracy_uniform(&failure, &setup, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "failure", failure);
    return status;
}

static tamis_status histogram_normal(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    const tamis_histogram_setup setup = setup_of(in);
    tamis_bound failure;
    tamis_status status = tamis_histogram_accuracy_normal(&failure, &setup, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "failure", failure);
    return status;
}

#define NOISE_FIELDS \
    { \
        {"y", TMI_FIELD_NUMBERS}, {"T", TMI_FIELD_NUMBER}, {"scale_T", TMI_FIELD_NUMBER | TMI_FIELD_IF_GIVEN}, \
            {"scale_q", TMI_FIELD_NUMBER | TMI_FIELD_IF_GIVEN}, \
        { \
            "eps", TMI_FIELD_NUMBER \
        } \
    }

#define ACCURACY_FIELDS \
    { \
        {"n", TMI_FIELD_INTEGER}, {"a", TMI_FIELD_NUMBER}, {"b", TMI_FIELD_NUMBER}, {"steps", TMI_FIELD_INTEGER}, \
            {"quantile", TMI_FIELD_NUMBER}, {"eps", TMI_FIELD_NUMBER}, {"beta", TMI_FIELD_NUMBER}, \
        { \
            "gamma", TMI_FIELD_NUMBER \
        } \
    }

static const tmi_kind kinds[] = {
    {"standard", standard, NOISE_FIELDS},
    {"monotone", monotone, NOISE_FIELDS},
    {"general",
     general,
     {{"y", TMI_FIELD_NUMBERS}, {"T", TMI_FIELD_NUMBER}, {"scale_T", TMI_FIELD_NUMBER}, {"scale_q", TMI_FIELD_NUMBER}}},
    {"histogram",
     histogram,
     {{"data", TMI_FIELD_NUMBERS},
      {"a", TMI_FIELD_NUMBER},
      {"b", TMI_FIELD_NUMBER},
      {"steps", TMI_FIELD_INTEGER},
      {"decile", TMI_FIELD_INTEGER},
      {"eps_per_decile", TMI_FIELD_NUMBER}}},
    {"accuracy", accuracy, {{"k", TMI_FIELD_INTEGER}, {"beta", TMI_FIELD_NUMBER}, {"eps", TMI_FIELD_NUMBER}}},
    {"histogram_uniform", histogram_uniform, ACCURACY_FIELDS},
    {"histogram_normal", histogram_normal, ACCURACY_FIELDS},
    {0},
};

const tmi_area tmi_area_above_threshold = {"above_threshold", kinds};
