/* Area inverse_sensitivity: a quantile chosen by how many records it is away. */
#include <tamis/experimental/mech.h>

#include "base/memory.h"
#include "compute/compute.h"

static tamis_status continuous(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    const tmi_field_value *at = &in[6];
    tamis_inverse_moments moments;
    tamis_status status = tmi_check_rank(&in[0], &in[1], err);
    if (status != TAMIS_OK) return status;
    tamis_bound *p = tmi_alloc(at->count, sizeof *p);
    if (!p) return tmi_fail_memory(err);
    status = tamis_inverse_law(&moments, p, (const tamis_number *const *)in[0].numbers, in[0].count, in[1].integer, in[2].number,
                               in[3].number, in[4].number, in[5].number, (const tamis_number *const *)at->numbers, at->count,
                               err);
    if (status == TAMIS_OK) {
        tmi_json_add_bound(out, "logZ", moments.log_constant);
        tmi_json_add_open(out, "cdf", '[');
        for (size_t k = 0; k < at->count; k++) {
            tmi_json_open(out, '[');
            tmi_json_put_bound(out, tmi_number_bound(at->numbers[k]));
            tmi_json_put_bound(out, p[k]);
            tmi_json_close(out, ']');
        }
        tmi_json_close(out, ']');
        tmi_json_add_bound(out, "mean", moments.mean);
        tmi_json_add_bound(out, "second_moment", moments.second_moment);
    }
    tmi_free(p);
    return status;
}

/* Points whose probabilities are written out, about 60 bytes each. */
#define POINTS_MAX ((int64_t)1 << 17)

static tamis_status grid(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const int64_t lo = in[2].integer, hi = in[3].integer;
    int64_t *values = NULL, *lengths = NULL;
    tamis_bound *p = NULL;
    if (hi < lo) return tmi_fail(err, TAMIS_INVALID, "hi: must not be below lo");
    if ((uint64_t)hi - (uint64_t)lo >= POINTS_MAX) return tmi_fail(err, TAMIS_UNABLE, "hi: at most 2^17 points can be listed");
    const size_t points = (size_t)(hi - lo) + 1;
    TMI_TRY(tmi_check_rank(&in[0], &in[1], err));
    values = tmi_alloc(in[0].count, sizeof *values);
    lengths = tmi_alloc(points, sizeof *lengths);
    p = tmi_alloc(points, sizeof *p);
    if (!values || !lengths || !p) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < in[0].count; i++)
        if (!tmi_number_is_integer(in[0].numbers[i]) || !tmi_number_floor(&values[i], in[0].numbers[i]))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "x: must be integers of at most 63 bits"));
    TMI_TRY(tamis_inverse_grid_law(p, lengths, values, in[0].count, in[1].integer, lo, hi, in[4].number, err));
    tmi_json_add_integers(out, "len", lengths, points);
    tmi_put_bounds(out, "prob", p, points);
done:
    tmi_free(values);
    tmi_free(lengths);
    tmi_free(p);
    return status;
}

static tamis_inverse_setup setup_of(const tmi_field_value *in)
{
    return (tamis_inverse_setup){0, NULL, in[0].number, in[1].number, in[2].number, in[3].number, in[4].number};
}

static tamis_status accuracy(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_inverse_setup setup = setup_of(in);
    tamis_bound failure;
    setup.n = in[5].integer;
    setup.eps = in[6].number;
    tamis_status status = tamis_inverse_accuracy(&failure, &setup, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "failure", failure);
    return status;
}

static tamis_status accuracy_n(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_inverse_setup setup = setup_of(in);
    int64_t n;
    setup.eps = in[5].number;
    tamis_status status = tamis_inverse_accuracy_n(&n, &setup, in[6].number, err);
    if (status == TAMIS_OK) tmi_json_add_integer(out, "n", n);
    return status;
}

static tamis_status accuracy_eps(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_inverse_setup setup = setup_of(in);
    double eps;
    setup.n = in[5].integer;
    tamis_status status = tamis_inverse_accuracy_eps(&eps, &setup, in[6].number, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "eps", (tamis_bound){eps * (1 - 2e-12), eps});
    return status;
}

#define SETUP_FIELDS \
    {"rho", TMI_FIELD_NUMBER}, {"u", TMI_FIELD_NUMBER}, {"gamma", TMI_FIELD_NUMBER}, {"R", TMI_FIELD_NUMBER}, \
    { \
        "p_min", TMI_FIELD_NUMBER \
    }

static const tmi_kind kinds[] = {
    {"continuous",
     continuous,
     {{"x", TMI_FIELD_NUMBERS},
      {"m", TMI_FIELD_INTEGER},
      {"lo", TMI_FIELD_NUMBER},
      {"hi", TMI_FIELD_NUMBER},
      {"rho", TMI_FIELD_NUMBER},
      {"eps", TMI_FIELD_NUMBER},
      {"at", TMI_FIELD_NUMBERS}}},
    {"grid",
     grid,
     {{"x", TMI_FIELD_NUMBERS},
      {"m", TMI_FIELD_INTEGER},
      {"lo", TMI_FIELD_INTEGER},
      {"hi", TMI_FIELD_INTEGER},
      {"eps", TMI_FIELD_NUMBER}}},
    {"accuracy", accuracy, {SETUP_FIELDS, {"n", TMI_FIELD_INTEGER}, {"eps", TMI_FIELD_NUMBER}}},
    {"accuracy_n", accuracy_n, {SETUP_FIELDS, {"eps", TMI_FIELD_NUMBER}, {"target", TMI_FIELD_NUMBER}}},
    {"accuracy_eps", accuracy_eps, {SETUP_FIELDS, {"n", TMI_FIELD_INTEGER}, {"target", TMI_FIELD_NUMBER}}},
    {0},
};

const tmi_area tmi_area_inverse_sensitivity = {"inverse_sensitivity", kinds};
