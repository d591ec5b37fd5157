/* Area accuracy_gain: is it worth sampling, and at which rate? */
#include <tamis/experimental/study.h>

#include "compute/compute.h"

static tamis_status mean(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_mean_gain gain;
    tamis_status status = tamis_study_mean(&gain, in[0].integer, in[1].integer, in[2].number, in[3].number, in[4].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "eps_n", gain.eps_n);
    tmi_json_add_bound(out, "r", gain.r);
    tmi_json_add_bound(out, "one_minus_r", gain.one_minus_r);
    tmi_json_add_bound(out, "q", gain.q);
    tmi_json_add_bound(out, "V_N", gain.census_variance);
    tmi_json_add_bound(out, "V_n", gain.sample_variance);
    return TAMIS_OK;
}

static tamis_status rate_for_q(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound f;
    tamis_status status = tamis_study_rate(&f, in[0].number, in[1].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "f", f);
    return TAMIS_OK;
}

static tamis_status max_sampling_var(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound value;
    tamis_status status = tamis_study_max_sampling_variance(&value, in[0].number, in[1].number, in[2].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "value", value);
    return TAMIS_OK;
}

static const tmi_kind kinds[] = {
    {"mean",
     mean,
     {{"N", TMI_FIELD_INTEGER},
      {"n", TMI_FIELD_INTEGER},
      {"eps", TMI_FIELD_NUMBER},
      {"R", TMI_FIELD_NUMBER},
      {"S2", TMI_FIELD_NUMBER}}},
    {"rate_for_q", rate_for_q, {{"eps", TMI_FIELD_NUMBER}, {"q", TMI_FIELD_NUMBER}}},
    {"max_sampling_var",
     max_sampling_var,
     {{"eps", TMI_FIELD_NUMBER}, {"f", TMI_FIELD_NUMBER}, {"sensitivity", TMI_FIELD_NUMBER}}},
    {0},
};

const tmi_area tmi_area_accuracy_gain = {"accuracy_gain", kinds};
