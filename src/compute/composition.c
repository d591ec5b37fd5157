/* Area composition: several releases together. */
#include <tamis/privacy.h>

#include "compute/compute.h"

static tamis_status pure(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    tamis_bound eps;
    tamis_status status = tamis_compose_srs(&eps, in[0].integer, in[1].integer, (const tamis_number *const *)in[2].numbers,
                                            in[2].count, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "correct", eps);
    return TAMIS_OK;
}

static const tmi_kind kinds[] = {
    {"pure", pure, {{"N", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER}, {"eps_list", TMI_FIELD_NUMBERS}}},
    {0},
};

const tmi_area tmi_area_composition = {"composition", kinds};
