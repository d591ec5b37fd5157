/* Area smooth_sensitivity: noise whose scale follows the data, smoothly. */
#include <tamis/mech.h>

#include "compute/compute.h"

static tamis_status laplace_pair(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound delta;
    tamis_status status = tamis_laplace_pair_delta(&delta, in[0].number, in[1].number, in[2].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "delta", delta);
    return TAMIS_OK;
}

static const tmi_kind kinds[] = {
    {"laplace_pair",
     laplace_pair,
     {{"eps", TMI_FIELD_NUMBER}, {"shift", TMI_FIELD_NUMBER}, {"b1", TMI_FIELD_NUMBER}, {"b2", TMI_FIELD_NUMBER}}},
    {0},
};

const tmi_area tmi_area_smooth_sensitivity = {"smooth_sensitivity", kinds};
