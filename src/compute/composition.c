/* Area composition: several releases together. */
#include <math.h>
#include <tamis/experimental/amplification.h>
#include <tamis/experimental/profile.h>

#include "amplification/coordinated.h"
#include "compute/compute.h"

static tamis_status pure(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound eps;
    tamis_status status = tamis_compose_srs(&eps, in[0].integer, in[1].integer, (const tamis_number *const *)in[2].numbers,
                                            in[2].count, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "correct", eps);
    return TAMIS_OK;
}

/* delta n/N the other way round */
static tamis_bound on_the_sample(tamis_bound delta, int64_t N, int64_t n)
{
    tmi_ball x;
    tamis_bound ends[2];
    tmi_ball_init(&x);
    for (int i = 0; i < 2; i++) {
        tmi_ball_set_double(&x, i == 0 ? delta.lower : delta.upper);
        tmi_ball_mul_int(&x, &x, N, 128);
        tmi_ball_div_int(&x, &x, n, 128);
        ends[i] = tmi_ball_bound(&x);
    }
    tmi_ball_clear(&x);
    return (tamis_bound){fmax(ends[0].lower, 0), fmin(ends[1].upper, 1)};
}

static tamis_status kfold_rr_profile(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int64_t k = in[1].integer, N = in[2].integer, n = in[3].integer;
    tamis_number *zero = NULL, *rate = NULL;
    tamis_profile *one = NULL, *all = NULL;
    tamis_outsider *outsider = NULL;
    tamis_bound eps, delta, unused;
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(tamis_amplify_srs_inverse(&eps, &unused, N, n, in[4].number, zero, err));
    if (k < 1 || k > TAMIS_MAX_TIMES) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "k: must be between 1 and 2^30"));
    TMI_TRY(tamis_profile_randomized_response(&one, in[0].number, err));
    TMI_TRY(tamis_profile_compose(&all, (const tamis_profile *const *)&one, &k, 1, err));
    TMI_TRY(tmi_number_ratio(&rate, n, N, err));
    TMI_TRY(tamis_outsider_new(&outsider, all, rate, err));
    TMI_TRY(tamis_outsider_delta(&delta, outsider, in[4].number, err));
    tmi_json_add_bound(out, "eps_sample", eps);
    tmi_json_add_bound(out, "delta_comp", on_the_sample(delta, N, n));
    tmi_json_add_bound(out, "delta_pop", delta);
done:
    tmi_number_frees(&zero, &rate, NULL);
    tamis_profile_free(one);
    tamis_profile_free(all);
    tamis_outsider_free(outsider);
    return status;
}

typedef struct disjoint_samples {
    int64_t N, n[2];
    const tamis_number *odds[2];
    bool with_rest;
} disjoint_samples;

static tamis_status disjoint_bound(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const disjoint_samples *d = context;
    tmi_ball none, p[2], odds[2];
    (void)err;
    tmi_ball_init(&none);
    tmi_ball_set_int(&none, d->N - d->n[0] - d->n[1]);
    tmi_ball_div_int(&none, &none, d->N, bits);
    for (int i = 0; i < 2; i++) {
        tmi_ball_inits(&p[i], &odds[i], NULL);
        tmi_ball_set_int(&p[i], d->n[i]);
        tmi_ball_div_int(&p[i], &p[i], d->N, bits);
        tmi_ball_set_number(&odds[i], d->odds[i], bits);
    }
    tmi_coordinated(value, &none, p, odds, 2, d->with_rest, bits);
    tmi_ball_clear(&none);
    for (int i = 0; i < 2; i++) { tmi_ball_clears(&p[i], &odds[i], NULL); }
    return TAMIS_OK;
}

static tamis_status disjoint(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound exact, safe;
    if (in[3].count != 2) return tmi_fail(err, TAMIS_INVALID, "odds: must be two numbers");
    int first = tmi_number_compare(in[3].numbers[0], in[3].numbers[1]) >= 0 ? 0 : 1;
    disjoint_samples d = {in[0].integer,
                          {in[1 + first].integer, in[2 - first].integer},
                          {in[3].numbers[first], in[3].numbers[1 - first]},
                          true};
    for (int i = 0; i < 2; i++) {
        if (in[1 + i].integer < 1) return tmi_fail(err, TAMIS_INVALID, "n%d: must be at least 1", i + 1);
        if (tmi_number_compare_int(in[3].numbers[i], 1) < 0) return tmi_fail(err, TAMIS_INVALID, "odds: must be at least 1");
    }
    if (d.N > TAMIS_MAX_UNITS || d.n[0] > d.N || d.n[1] > d.N - d.n[0])
        return tmi_fail(err, TAMIS_INVALID, "N: must contain both samples, and be at most 2^40");
    tamis_status status = tmi_certify(&exact, TAMIS_WIDTH, disjoint_bound, &d, err);
    if (status != TAMIS_OK) return status;
    d.with_rest = false;
    status = tmi_certify(&safe, TAMIS_WIDTH, disjoint_bound, &d, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_bound(out, "exp_eps0_exact", exact);
    tmi_json_add_bound(out, "safe_bound", safe);
    return TAMIS_OK;
}

/* The width that answers promise (docs/compute.md). */
static tamis_status put_narrow(tmi_json_out *out, const char *name, tamis_bound b, tamis_error *err)
{
    bool beyond = b.lower >= TAMIS_MAX_LOSS; /* not looked at any further: {10^6, inf} */
    if (!beyond && !(isfinite(b.upper) && b.upper - b.lower <= 1e-9 * b.upper + 1e-30))
        return tmi_fail(err, TAMIS_UNABLE, "%s: the enclosure is wider than a relative 1e-9", name);
    tmi_json_add_bound(out, name, b);
    return TAMIS_OK;
}

static tamis_status releases(tmi_json_out *out, const tmi_field_value *in, tamis_error *err)
{
    tamis_bound b;
    const tamis_number *delta = in[1].number, *eps = in[2].number;
    if (!delta == !eps) return tmi_fail(err, TAMIS_INVALID, "in: one of 'delta' and 'eps' must be given");
    tamis_status status = delta ? tamis_profile_epsilon(&b, in[0].profile, delta, err)
                                : tamis_profile_delta(&b, in[0].profile, eps, err);
    return status == TAMIS_OK ? put_narrow(out, delta ? "eps" : "delta", b, err) : status;
}

#define IF_GIVEN(type) ((type) | TMI_FIELD_IF_GIVEN)

static const tmi_kind kinds[] = {
    {"pure", pure, {{"N", TMI_FIELD_INTEGER}, {"n", TMI_FIELD_INTEGER}, {"eps_list", TMI_FIELD_NUMBERS}}},
    {"kfold_rr_profile",
     kfold_rr_profile,
     {{"eps0", TMI_FIELD_NUMBER},
      {"k", TMI_FIELD_INTEGER},
      {"N", TMI_FIELD_INTEGER},
      {"n", TMI_FIELD_INTEGER},
      {"eps_pop", TMI_FIELD_NUMBER}}},
    {"disjoint",
     disjoint,
     {{"N", TMI_FIELD_INTEGER}, {"n1", TMI_FIELD_INTEGER}, {"n2", TMI_FIELD_INTEGER}, {"odds", TMI_FIELD_NUMBERS}}},
    {"releases",
     releases,
     {{"releases", TMI_FIELD_RELEASES}, {"delta", IF_GIVEN(TMI_FIELD_NUMBER)}, {"eps", IF_GIVEN(TMI_FIELD_NUMBER)}}},
    {0},
};

const tmi_area tmi_area_composition = {"composition", kinds};
