/* Area smooth_sensitivity: noise whose scale follows the data, smoothly. */
#include <tamis/mech.h>
#include <tamis/smooth.h>

#include "compute/compute.h"

static tamis_status laplace_pair(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound delta;
    tamis_status status = tamis_laplace_pair_delta(&delta, in[0].number, in[1].number, in[2].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "delta", delta);
    return TAMIS_OK;
}

static const tamis_number *const *list(const tmi_field_value *x) { return (const tamis_number *const *)x->numbers; }

static tamis_status rank(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound s;
    tamis_status status = tamis_smooth_sensitivity(&s, list(&in[0]), in[0].count, in[1].integer, in[2].number, in[3].number,
                                                   in[4].number, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "S", s);
    return TAMIS_OK;
}

static tamis_status local(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound s;
    tamis_status status = tamis_local_sensitivity(&s, list(&in[0]), in[0].count, in[1].integer, in[2].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "LS", s);
    return TAMIS_OK;
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
    {0},
};

const tmi_area tmi_area_smooth_sensitivity = {"smooth_sensitivity", kinds};
