/* Area amplification: what sampling adds to a guarantee. */
#include <tamis/privacy.h>

#include "compute/compute.h"

static tamis_status forward(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_status status = tamis_amplify_srs(&eps, &delta, in[0].integer, in[1].integer, in[2].number, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "eps_pop", eps);
    tmi_put_bound(out, "delta_pop", delta);
    return TAMIS_OK;
}

static tamis_status inverse(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_status status = tamis_amplify_srs_inverse(&eps, &delta, in[0].integer, in[1].integer, in[2].number,
                                                    in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "eps_n", eps);
    tmi_put_bound(out, "delta_n", delta);
    return TAMIS_OK;
}

#define FIELDS {{"N", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER}, {"eps", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER}}

static const tmi_kind kinds[] = {
    {"forward", forward, FIELDS},
    {"inverse", inverse, FIELDS},
    {0},
};

const tmi_area tmi_area_amplification = {"amplification", kinds};
