/* Area ht_srs_binary: the Horvitz-Thompson total of a 0/1 variable under simple random sampling. */
#include <tamis/experimental/ht.h>

#include "compute/compute.h"

static tamis_ht_srs srs_of(const tmi_field_value *in, tamis_noise_kind noise, const tamis_number *scale)
{
    return (tamis_ht_srs){in[0].integer, in[1].integer, in[2].integer, in[3].integer, noise, scale};
}

static void put_delta(tmi_json_out *out, tamis_bound delta, tamis_ht_worst worst)
{
    char order[2] = {worst.order, 0};
    tmi_json_add_bound(out, "delta", delta);
    tmi_json_add_open(out, "worst", '[');
    if (worst.order) {
        tmi_json_open(out, '[');
        tmi_json_put_integer(out, worst.t);
        tmi_json_put_string(out, order);
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, ']');
}

static tamis_status delta_none(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_ht_srs srs = srs_of(in, TAMIS_NOISE_NONE, NULL);
    tamis_bound delta;
    tamis_ht_worst worst;
    tamis_status status = tamis_ht_srs_delta_exp(&delta, &worst, &srs, in[4].number, err);
    if (status == TAMIS_OK) put_delta(out, delta, worst);
    return status;
}

/* `in` ends with eps; the scale of the noise comes before it. */
static tamis_status delta_with(tmi_json_out *out, const tmi_field_value *in, tamis_noise_kind noise, tamis_error *err)
{
    bool silent = noise == TAMIS_NOISE_NONE;
    tamis_ht_srs srs = srs_of(in, noise, silent ? NULL : in[4].number);
    tamis_bound delta;
    tamis_ht_worst worst;
    tamis_status status = tamis_ht_srs_delta(&delta, &worst, &srs, in[silent ? 4 : 5].number, err);
    if (status == TAMIS_OK) put_delta(out, delta, worst);
    return status;
}

static tamis_status eps0_with(tmi_json_out *out, const tmi_field_value *in, tamis_noise_kind noise, tamis_error *err)
{
    tamis_ht_srs srs = srs_of(in, noise, noise == TAMIS_NOISE_NONE ? NULL : in[4].number);
    tamis_bound eps;
    tamis_status status = tamis_ht_srs_pure(&eps, &srs, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "eps", eps);
    return status;
}

/* e^eps is (k+1)/(k+1-n), k = min(mt, N - Mt). */
static tamis_status eps0_none(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *ratio = NULL;
    int64_t n = in[1].integer, mt = in[2].integer, rest = in[0].integer - in[3].integer, k = mt < rest ? mt : rest;
    TMI_TRY(eps0_with(out, in, TAMIS_NOISE_NONE, err));
    tamis_bound exp_eps = {__builtin_inf(), __builtin_inf()};
    if (k >= n) {
        TMI_TRY(tmi_number_ratio(&ratio, k + 1, k + 1 - n, err));
        exp_eps = tmi_number_bound(ratio);
    }
    tmi_json_add_bound(out, "exp_eps", exp_eps);
done:
    tamis_number_free(ratio);
    return status;
}

static tamis_status eps_with(tmi_json_out *out, const tmi_field_value *in, tamis_noise_kind noise, tamis_error *err)
{
    bool silent = noise == TAMIS_NOISE_NONE;
    tamis_ht_srs srs = srs_of(in, noise, silent ? NULL : in[4].number);
    tamis_bound eps;
    tamis_status status = tamis_ht_srs_epsilon(&eps, &srs, in[silent ? 4 : 5].number, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "eps", eps);
    return status;
}

static tamis_status scale_with(tmi_json_out *out, const tmi_field_value *in, tamis_noise_kind noise, tamis_error *err)
{
    tamis_ht_srs srs = srs_of(in, noise, NULL);
    tamis_bound scale;
    tamis_status status = tamis_ht_srs_scale(&scale, &srs, in[4].number, in[5].number, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "scale", scale);
    return status;
}

#define KIND(name, with, noise) \
    static tamis_status name(tmi_json_out *out, const tmi_field_value *in, tamis_error *err) { return with(out, in, noise, err); }

KIND(delta_none_eps, delta_with, TAMIS_NOISE_NONE)
KIND(delta_laplace, delta_with, TAMIS_NOISE_LAPLACE)
KIND(delta_gaussian, delta_with, TAMIS_NOISE_GAUSSIAN)
KIND(delta_dlaplace, delta_with, TAMIS_NOISE_DISCRETE_LAPLACE)
KIND(delta_dgaussian, delta_with, TAMIS_NOISE_DISCRETE_GAUSSIAN)
KIND(eps0_laplace, eps0_with, TAMIS_NOISE_LAPLACE)
KIND(eps_none, eps_with, TAMIS_NOISE_NONE)
KIND(eps_laplace, eps_with, TAMIS_NOISE_LAPLACE)
KIND(eps_gaussian, eps_with, TAMIS_NOISE_GAUSSIAN)
KIND(eps_dlaplace, eps_with, TAMIS_NOISE_DISCRETE_LAPLACE)
KIND(eps_dgaussian, eps_with, TAMIS_NOISE_DISCRETE_GAUSSIAN)
KIND(scale_laplace, scale_with, TAMIS_NOISE_LAPLACE)
KIND(scale_gaussian, scale_with, TAMIS_NOISE_GAUSSIAN)
KIND(scale_dlaplace, scale_with, TAMIS_NOISE_DISCRETE_LAPLACE)
KIND(scale_dgaussian, scale_with, TAMIS_NOISE_DISCRETE_GAUSSIAN)

#define WINDOW \
    {"N", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER}, {"mt", TMI_FIELD_INTEGER}, { "Mt", TMI_FIELD_INTEGER }
#define NUMBER(name) \
    { \
        name, TMI_FIELD_NUMBER \
    }

static const tmi_kind kinds[] = {
    {"delta_none", delta_none, {WINDOW, NUMBER("exp_eps")}},
    {"delta_none_eps", delta_none_eps, {WINDOW, NUMBER("eps")}},
    {"delta_laplace", delta_laplace, {WINDOW, NUMBER("b"), NUMBER("eps")}},
    {"delta_gaussian", delta_gaussian, {WINDOW, NUMBER("sigma"), NUMBER("eps")}},
    {"delta_dlaplace", delta_dlaplace, {WINDOW, NUMBER("s"), NUMBER("eps")}},
    {"delta_dgaussian", delta_dgaussian, {WINDOW, NUMBER("s"), NUMBER("eps")}},
    {"eps0_none", eps0_none, {WINDOW}},
    {"eps0_laplace", eps0_laplace, {WINDOW, NUMBER("b")}},
    {"eps_none", eps_none, {WINDOW, NUMBER("delta")}},
    {"eps_laplace", eps_laplace, {WINDOW, NUMBER("b"), NUMBER("delta")}},
    {"eps_gaussian", eps_gaussian, {WINDOW, NUMBER("sigma"), NUMBER("delta")}},
    {"eps_dlaplace", eps_dlaplace, {WINDOW, NUMBER("s"), NUMBER("delta")}},
    {"eps_dgaussian", eps_dgaussian, {WINDOW, NUMBER("s"), NUMBER("delta")}},
    {"scale_laplace", scale_laplace, {WINDOW, NUMBER("eps"), NUMBER("delta")}},
    {"scale_gaussian", scale_gaussian, {WINDOW, NUMBER("eps"), NUMBER("delta")}},
    {"scale_dlaplace", scale_dlaplace, {WINDOW, NUMBER("eps"), NUMBER("delta")}},
    {"scale_dgaussian", scale_dgaussian, {WINDOW, NUMBER("eps"), NUMBER("delta")}},
    {0},
};

const tmi_area tmi_area_ht_srs_binary = {"ht_srs_binary", kinds};
