/* Area interval: what a noisy number of a sample says about the population. */
#include <tamis/experimental/interval.h>

#include "compute/compute.h"

static tamis_status count(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    int64_t lower, upper;
    tamis_status status = tamis_interval_count(&lower, &upper, in[0].integer, in[1].integer, in[2].integer, in[3].number,
                                               in[4].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_integer(out, "lower", lower);
    tmi_json_add_integer(out, "upper", upper);
    return TAMIS_OK;
}

static const tmi_kind kinds[] = {
    {"count",
     count,
     {{"N", TMI_FIELD_INTEGER},
      {"n", TMI_FIELD_INTEGER},
      {"noisy", TMI_FIELD_INTEGER},
      {"scale", TMI_FIELD_NUMBER},
      {"confidence", TMI_FIELD_NUMBER}}},
    {0},
};

const tmi_area tmi_area_interval = {"interval", kinds};
