/* Area amplification: what sampling adds to a guarantee. */
#include <string.h>
#include <tamis/amplify.h>
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

static tamis_status hockey(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_status status = tamis_amplify_srs_laplace(&eps, &delta, in[1].integer, in[2].integer, in[0].number,
                                                    in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "eps_sample", eps);
    tmi_put_bound(out, "delta_pop", delta);
    return TAMIS_OK;
}

static tamis_status general(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_amplification a = {in[0].number, in[1].number, in[2].number, in[3].number, in[4].number};
    tamis_status status = tamis_amplify(&eps, &delta, &a, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "eps_pop", eps);
    tmi_put_bound(out, "delta_pop", delta);
    return TAMIS_OK;
}

/* ---- any design ---- */

static tamis_status read_neighbours(tamis_neighbours *neighbours, const char *text, const char *name, tamis_error *err)
{
    *neighbours = strcmp(text, "replace") == 0 ? TAMIS_REPLACE : TAMIS_ADD_REMOVE;
    if (*neighbours == TAMIS_REPLACE || strcmp(text, "add_remove") == 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "%s: must be \"replace\" or \"add_remove\"", name);
}

static tamis_status read_promise(tamis_sample_promise *promise, const tmi_value *in, tamis_error *err)
{
    *promise = (tamis_sample_promise){.eps = in[1].number, .delta = in[2].number};
    tamis_status status = read_neighbours(&promise->neighbours, in[3].text, "neighbours", err);
    if (status != TAMIS_OK) return status;
    return read_neighbours(&promise->mechanism, in[4].text ? in[4].text : in[3].text, "mechanism", err);
}

static tamis_status design_forward(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    tamis_sample_promise promise;
    tamis_amplified amplified;
    tamis_status status = read_promise(&promise, in, err);
    if (status != TAMIS_OK) return status;
    if ((status = tamis_amplify_design(&amplified, in[0].design, &promise, err)) != TAMIS_OK) return status;
    tmi_put_bound(out, "eps_pop", amplified.eps);
    tmi_put_bound(out, "delta_pop", amplified.delta);
    tmi_json_key(out, "theorem");
    tmi_json_put_string(out, amplified.theorem);
    tamis_amplified_clear(&amplified);
    return TAMIS_OK;
}

static tamis_status design_inverse(tmi_json_out *out, const tmi_value *in, tamis_error *err)
{
    tamis_sample_promise target;
    tamis_bound eps, delta;
    tamis_status status = read_promise(&target, in, err);
    if (status == TAMIS_OK) status = tamis_amplify_design_inverse(&eps, &delta, in[0].design, &target, err);
    if (status != TAMIS_OK) return status;
    tmi_put_bound(out, "eps_n", eps);
    tmi_put_bound(out, "delta_n", delta);
    return TAMIS_OK;
}

#define SRS_FIELDS                                                                                                    \
    {{"N", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER}, {"eps", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER}}
#define DESIGN_FIELDS                                                                                                 \
    {{"design", TMI_FIELD_WORST_DESIGN}, {"eps", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER},                      \
     {"neighbours", TMI_FIELD_TEXT}, {"mechanism", TMI_FIELD_TEXT | TMI_FIELD_IF_GIVEN}}

static const tmi_kind kinds[] = {
    {"forward", forward, SRS_FIELDS},
    {"inverse", inverse, SRS_FIELDS},
    {"hockey", hockey, {{"eps0", TMI_FIELD_NUMBER}, {"N", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER},
                        {"eps_pop", TMI_FIELD_NUMBER}}},
    {"general", general, {{"inclusion", TMI_FIELD_NUMBER}, {"loss", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER},
                          {"loss_missing", TMI_FIELD_NUMBER_OR_NULL}, {"delta_missing", TMI_FIELD_NUMBER_OR_NULL}}},
    {"design", design_forward, DESIGN_FIELDS},
    {"design_inverse", design_inverse, DESIGN_FIELDS},
    {0},
};

const tmi_area tmi_area_amplification = {"amplification", kinds};
