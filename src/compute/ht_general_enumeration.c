/* Area ht_general_enumeration: the Horvitz-Thompson total under a design that is given sample by sample. */
#include <string.h>
#include <tamis/ht.h>

#include "compute/compute.h"

enum { TYPE, LAW, X, X_PRIME, NOISE, SCALE, EPS };

static tamis_status pair_of(tmi_json_out *out, const tmi_value *in, tamis_noise_kind noise, const char *name,
                            tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound delta, reverse, eps0;
    size_t units = (size_t)tamis_law_population(in[LAW].law);
    tamis_ht_pair pair = {in[LAW].law, (const tamis_number *const *)in[X].numbers,
                          (const tamis_number *const *)in[X_PRIME].numbers, noise, in[SCALE].number, NULL};
    if (!in[NOISE].text || strcmp(in[NOISE].text, name) != 0)
        return tmi_fail(err, TAMIS_INVALID, "noise: must be \"%s\" for this kind", name);
    if (in[X].count != units) return tmi_fail(err, TAMIS_INVALID, "x: must have a value for each unit of the design");
    if (in[X_PRIME].count != units)
        return tmi_fail(err, TAMIS_INVALID, "x_prime: must have a value for each unit of the design");
    TMI_TRY(tamis_ht_pair_delta(&delta, &reverse, &pair, in[EPS].number, err));
    tmi_put_bound(out, "delta_xy", delta);
    tmi_put_bound(out, "delta_yx", reverse);
    if (noise != TAMIS_NOISE_GAUSSIAN) {
        TMI_TRY(tamis_ht_pair_pure(&eps0, &pair, err));
        tmi_put_bound(out, "eps0_xy", eps0);
    }
done:
    return status;
}

static tamis_status pair_none(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    return pair_of(out, in, TAMIS_NOISE_NONE, "none", err);
}

static tamis_status pair_laplace(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    return pair_of(out, in, TAMIS_NOISE_LAPLACE, "laplace", err);
}

static tamis_status pair_gaussian(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    return pair_of(out, in, TAMIS_NOISE_GAUSSIAN, "gaussian", err);
}

#define FIELDS                                                                                                        \
    {                                                                                                                 \
        {"design_type", TMI_FIELD_TEXT}, {"design", TMI_FIELD_SAMPLES}, {"x", TMI_FIELD_NUMBERS},                      \
        {"x_prime", TMI_FIELD_NUMBERS}, {"noise", TMI_FIELD_TEXT}, {"scale", TMI_FIELD_NUMBER_OR_NULL},                \
        {"eps", TMI_FIELD_NUMBER}                                                                                     \
    }

static const tmi_kind kinds[] = {
    {"pair_none", pair_none, FIELDS},
    {"pair_laplace", pair_laplace, FIELDS},
    {"pair_gaussian", pair_gaussian, FIELDS},
    {0},
};

const tmi_area tmi_area_ht_general_enumeration = {"ht_general_enumeration", kinds};
