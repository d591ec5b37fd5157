/* Area smooth_sensitivity: noise whose scale follows the data, smoothly. */
#include <string.h>
#include <tamis/experimental/mech.h>
#include <tamis/experimental/smooth.h>

#include "compute/compute.h"

static tamis_status laplace_pair(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound delta;
    tamis_status status = tamis_laplace_pair_delta(&delta, in[0].number, in[1].number, in[2].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "delta", delta);
    return TAMIS_OK;
}

static const tamis_number *const *list(const tmi_field_value *x) { return (const tamis_number *const *)x->numbers; }

static tamis_status rank(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound s;
    tamis_status status = tmi_check_rank(&in[0], &in[1], err);
    if (status != TAMIS_OK) return status;
    status = tamis_smooth_sensitivity(&s, list(&in[0]), in[0].count, in[1].integer, in[2].number, in[3].number, in[4].number,
                                      err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "S", s);
    return TAMIS_OK;
}

static tamis_status local(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound s;
    tamis_status status = tmi_check_rank(&in[0], &in[1], err);
    if (status != TAMIS_OK) return status;
    status = tamis_local_sensitivity(&s, list(&in[0]), in[0].count, in[1].integer, in[2].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "LS", s);
    return TAMIS_OK;
}

static tamis_status laplace(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound delta;
    tamis_status status = tamis_smooth_laplace_delta(&delta, in[0].number, in[1].number, in[2].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "delta", delta);
    return TAMIS_OK;
}

static void put_choice(tmi_json_out *out, const tamis_smooth_choice *choice)
{
    tmi_json_add_bound(out, "alpha", (tamis_bound){choice->alpha, choice->alpha});
    tmi_json_add_bound(out, "beta", (tamis_bound){choice->beta, choice->beta});
    tmi_json_add_bound(out, "delta", choice->delta);
}

static tamis_status calibrate(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_smooth_choice choice;
    tamis_status status = tamis_smooth_choose(&choice, in[0].number, in[1].number, NULL, 0, 0, 0, 0, err);
    if (status == TAMIS_OK) put_choice(out, &choice);
    return status;
}

static tamis_status published(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_smooth_choice choice;
    tamis_status status = tamis_smooth_published(&choice, in[0].number, in[1].number, err);
    if (status == TAMIS_OK) put_choice(out, &choice);
    return status;
}

static tamis_status polyplace(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound sd, quantile;
    tamis_status status = tamis_polyplace_sd(&sd, in[0].number, in[1].number, err);
    if (status == TAMIS_OK) status = tamis_polyplace_quantile(&quantile, in[0].number, in[1].number, in[2].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "sd", sd);
    tmi_json_add_bound(out, "quantile", quantile);
    return TAMIS_OK;
}

static tamis_status student(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound sd;
    tamis_status status = tamis_student_sd(&sd, in[0].number, in[1].number, in[2].number, err);
    if (status == TAMIS_OK) tmi_json_add_bound(out, "sd", sd);
    return status;
}

static tamis_status loss(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    static const char *const names[] = {"laplace", "gaussian", "student", "cauchy", "polyplace"};
    tamis_bound eps;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(in[0].text, names[i]) != 0) continue;
        tamis_status status = tamis_smooth_loss(&eps, (tamis_smooth_noise)i, in[1].number, in[2].number, in[3].number, err);
        if (status == TAMIS_OK) tmi_json_add_bound(out, "eps", eps);
        return status;
    }
    return tmi_fail(err, TAMIS_INVALID, "noise: must be laplace, gaussian, student, cauchy or polyplace");
}

static const tmi_kind kinds[] = {
    {"rank",
     rank,
     {{"x", TMI_FIELD_NUMBERS},
      {"m", TMI_FIELD_INTEGER},
      {"lo", TMI_FIELD_NUMBER},
      {"hi", TMI_FIELD_NUMBER},
      {"beta", TMI_FIELD_NUMBER}}},
    {"local", local, {{"x", TMI_FIELD_NUMBERS}, {"m", TMI_FIELD_INTEGER}, {"lo", TMI_FIELD_NUMBER}, {"hi", TMI_FIELD_NUMBER}}},
    {"laplace_pair",
     laplace_pair,
     {{"eps", TMI_FIELD_NUMBER}, {"shift", TMI_FIELD_NUMBER}, {"b1", TMI_FIELD_NUMBER}, {"b2", TMI_FIELD_NUMBER}}},
    {"laplace", laplace, {{"eps", TMI_FIELD_NUMBER}, {"alpha", TMI_FIELD_NUMBER}, {"beta", TMI_FIELD_NUMBER}}},
    {"calibrate", calibrate, {{"eps", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER}}},
    {"published", published, {{"eps", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER}}},
    {"polyplace", polyplace, {{"eps", TMI_FIELD_NUMBER}, {"beta", TMI_FIELD_NUMBER}, {"level", TMI_FIELD_NUMBER}}},
    {"student", student, {{"eps", TMI_FIELD_NUMBER}, {"beta", TMI_FIELD_NUMBER}, {"degrees", TMI_FIELD_NUMBER}}},
    {"loss",
     loss,
     {{"noise", TMI_FIELD_TEXT},
      {"shape", TMI_FIELD_NUMBER | TMI_FIELD_IF_GIVEN},
      {"a", TMI_FIELD_NUMBER},
      {"beta", TMI_FIELD_NUMBER}}},
    {0},
};

const tmi_area tmi_area_smooth_sensitivity = {"smooth_sensitivity", kinds};
