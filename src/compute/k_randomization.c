/* Area k_randomization: anonymised randomized-response reports. */
#include <string.h>
#include <tamis/experimental/anonymous.h>

#include "base/error.h"
#include "collect/anonymous/reports.h"
#include "compute/compute.h"

static tamis_reports one_bit(int64_t n, const tamis_number *q)
{
    return (tamis_reports){.reports = n, .positions = 1, .lie_one = q};
}

static tamis_status l1(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound delta;
    tamis_anonymous_worst worst;
    tamis_reports reports = one_bit(in[0].integer, in[1].number);
    tamis_status status = tamis_anonymous_bit_delta(&delta, &worst, &reports, in[2].number, in[3].integer, in[4].integer, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "delta", delta);
    tmi_json_add_open(out, "worst", '[');
    if (worst.order) {
        tmi_json_open(out, '[');
        tmi_json_put_integer(out, worst.ones);
        tmi_json_put_string(out, worst.order == '+' ? "+" : "-");
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, ']');
    return TAMIS_OK;
}

#define MASSES 100000 /* a line of this many enclosures takes a few megabytes */

static tamis_status l1_pmf(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    if (in[0].integer > MASSES) return tmi_fail(err, TAMIS_UNABLE, "n: at most %d masses are listed", MASSES);
    tmi_json_add_open(out, "pmf", '[');
    for (int64_t s = 0; s <= in[0].integer; s++) {
        tamis_bound mass;
        tamis_status status = tamis_anonymous_mass(&mass, in[0].integer, in[1].integer, in[2].number, s, err);
        if (status != TAMIS_OK) return status;
        tmi_json_put_bound(out, mass);
    }
    tmi_json_close(out, ']');
    return TAMIS_OK;
}

static tamis_status lk(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound delta;
    tamis_reports reports = {.reports = in[1].integer,
                             .form = TAMIS_REPORT_WHOLE,
                             .positions = in[0].integer,
                             .lie_one = in[2].number};
    tamis_status status = tamis_anonymous_exact_delta(&delta, &reports, in[3].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "delta", delta);
    return TAMIS_OK;
}

static tamis_status clone_bound(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound delta;
    int year = strcmp(in[3].text, "2021") == 0 ? 2021 : strcmp(in[3].text, "rr") == 0 ? 2023 : 0;
    if (year == 0) return tmi_fail(err, TAMIS_INVALID, "variant: must be \"2021\" or \"rr\"");
    tamis_status status = tamis_clones_delta(&delta, in[0].integer, in[1].number, year, in[2].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "delta", delta);
    return TAMIS_OK;
}

static tamis_status eps(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound epsilon;
    tamis_reports reports = one_bit(in[0].integer, in[1].number);
    tamis_status status = tmi_patient_epsilon(&epsilon, &reports, in[2].number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "eps", epsilon);
    return TAMIS_OK;
}

static const tmi_kind kinds[] = {
    {"L1",
     l1,
     {{"n", TMI_FIELD_INTEGER},
      {"q", TMI_FIELD_NUMBER},
      {"exp_eps", TMI_FIELD_NUMBER},
      {"m_lo", TMI_FIELD_INTEGER},
      {"m_hi", TMI_FIELD_INTEGER}}},
    {"L1_pmf", l1_pmf, {{"n", TMI_FIELD_INTEGER}, {"m", TMI_FIELD_INTEGER}, {"q", TMI_FIELD_NUMBER}}},
    {"Lk", lk, {{"L", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER}, {"q", TMI_FIELD_NUMBER}, {"exp_eps", TMI_FIELD_NUMBER}}},
    {"clone_bound",
     clone_bound,
     {{"n", TMI_FIELD_INTEGER}, {"eps0", TMI_FIELD_NUMBER}, {"eps", TMI_FIELD_NUMBER}, {"variant", TMI_FIELD_TEXT}}},
    {"eps", eps, {{"n", TMI_FIELD_INTEGER}, {"q", TMI_FIELD_NUMBER}, {"delta", TMI_FIELD_NUMBER}}},
    {0},
};

const tmi_area tmi_area_k_randomization = {"k_randomization", kinds};
