/* Bernoulli and Poisson sampling: each unit is drawn by itself. The probability a/D is drawn as "a uniform integer
 * below D is below a".                                                                                               */
#include "rng/uniform.h"
#include "survey/design/form.h"
#include "survey/design/pps.h"

/* ---- Poisson ---- */

static tamis_status open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits, tamis_error *err)
{
    tmi_ball other;
    (void)err;
    tmi_ball_init(&other);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            tmi_pps_ball(&pij[i * count + j], pps, open[i], bits);
            tmi_pps_ball(&other, pps, open[j], bits);
            tmi_ball_mul(&pij[i * count + j], &pij[i * count + j], &other, bits);
        }
    tmi_ball_clear(&other);
    return TAMIS_OK;
}

/* Open units from `i` on are still to be decided; the others gave `set`, with probability p. */
static tamis_status decide(tamis_law *law, tamis_number *const *pi, size_t count, size_t i, uint32_t set, const tamis_number *p,
                           const tmi_pps *pps, tamis_error *err)
{
    tamis_number *in = NULL, *out = NULL;
    tamis_status status = TAMIS_OK;
    if (i == count) {
        TMI_TRY(tmi_number_copy(&in, p, err));
        return tmi_sample_law_take_set(law, tmi_pps_units(pps, set), in, err);
    }
    TMI_TRY(tmi_number_mul(&in, p, pi[i], err));
    TMI_TRY(tmi_number_sub(&out, p, in, err));
    TMI_TRY(decide(law, pi, count, i + 1, set | UINT32_C(1) << i, in, pps, err));
    TMI_TRY(decide(law, pi, count, i + 1, set, out, pps, err));
done:
    tmi_number_frees(&in, &out, NULL);
    return status;
}

static tamis_status poisson_law(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    tamis_number *pi[TAMIS_LAW_UNITS] = {0}, *one = NULL;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < pps->open_count; i++) TMI_TRY(tmi_pps_number(&pi[i], pps, i, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(decide(law, pi, pps->open_count, 0, 0, one, pps, err));
done:
    for (size_t i = 0; i < TAMIS_LAW_UNITS; i++) tamis_number_free(pi[i]);
    tamis_number_free(one);
    return status;
}

static tamis_status poisson_draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                                 const tmi_watch *watch, tamis_error *err)
{
    const tmi_common *pi = &tmi_pps_of(design)->pi;
    uint64_t u[TMI_COMMON_WORDS];
    tamis_status status = TAMIS_OK;
    (void)tables, (void)watch;
    for (size_t k = 0; k < pi->count && status == TAMIS_OK; k++) {
        if (!tmi_uniform_wide(u, pi->denominator, pi->words, rng)) return tmi_bits_failed(err);
        if (tmi_wide_compare(u, tmi_common_at(pi, k), pi->words) < 0) status = tmi_drawn_add(drawn, (int64_t)k, err);
    }
    return status;
}

const tmi_pps_method tmi_poisson = {{TMI_PPS_KIND("poisson"), .independent = true, .law = poisson_law, .joint = tmi_pps_joint,
                                     .draw = poisson_draw},
                                    .open_joint = open_joint,
                                    .theorem = "poisson"};

tamis_status tamis_design_poisson(tamis_design **design, const tamis_number *const *probabilities, size_t count, tamis_error *err)
{
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    return tmi_pps_new(design, &tmi_poisson, probabilities, count, err);
}

/* ---- Bernoulli: one rate for all ---- */

typedef struct bernoulli_design {
    tamis_design base;
    tmi_common rate;
} bernoulli_design;

static void bernoulli_clear(tamis_design *design) { tmi_common_clear(&((bernoulli_design *)design)->rate); }

static tamis_status bernoulli_first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err)
{
    const tmi_common *rate = &((const bernoulli_design *)design)->rate;
    (void)unit, (void)err;
    tmi_ball_set_wide(pi, rate->numerators, rate->denominator, rate->words, bits);
    return TAMIS_OK;
}

static tamis_status bernoulli_exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err)
{
    const tmi_common *rate = &((const bernoulli_design *)design)->rate;
    (void)unit;
    return tmi_number_wide(pi, rate->numerators, rate->denominator, rate->words, err);
}

static tamis_status bernoulli_pair(tmi_ball *p, const tamis_design *design, int64_t k, int64_t l, long bits, tamis_error *err)
{
    (void)l;
    tamis_status status = bernoulli_first(p, design, k, bits, err);
    tmi_ball_mul(p, p, p, bits);
    return status;
}

static tamis_status bernoulli_law(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    const tmi_common *rate = &((const bernoulli_design *)design)->rate;
    const tamis_number *all[TAMIS_LAW_UNITS];
    tamis_number *p = NULL;
    tamis_design *listed = NULL;
    tamis_status status = tmi_number_wide(&p, rate->numerators, rate->denominator, rate->words, err);
    for (int64_t k = 0; k < design->population; k++) all[k] = p;
    if (status == TAMIS_OK) status = tamis_design_poisson(&listed, all, (size_t)design->population, err);
    if (status == TAMIS_OK) status = poisson_law(law, listed, err);
    tamis_design_free(listed);
    tamis_number_free(p);
    return status;
}

static tamis_status bernoulli_draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                                   const tmi_watch *watch, tamis_error *err)
{
    const tmi_common *rate = &((const bernoulli_design *)design)->rate;
    uint64_t u[TMI_COMMON_WORDS];
    tamis_status status = TAMIS_OK;
    (void)tables, (void)watch;
    for (int64_t k = 0; k < design->population && status == TAMIS_OK; k++) {
        if (!tmi_uniform_wide(u, rate->denominator, rate->words, rng)) return tmi_bits_failed(err);
        if (tmi_wide_compare(u, rate->numerators, rate->words) < 0) status = tmi_drawn_add(drawn, k, err);
    }
    return status;
}

static tamis_status bernoulli_expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    return tmi_expose_alike(exposures,
                            (tamis_exposure){.count = design->population,
                                             .absences[0].distance.additions = 1,
                                             .removal.additions = 1,
                                             .theorem = "poisson"},
                            design, err);
}

static const tmi_design_kind bernoulli = {.name = "bernoulli",
                                          .independent = true,
                                          .equal = true,
                                          .clear = bernoulli_clear,
                                          .first = bernoulli_first,
                                          .exact = bernoulli_exact,
                                          .pair = bernoulli_pair,
                                          .law = bernoulli_law,
                                          .draw = bernoulli_draw,
                                          .expose = bernoulli_expose};

tamis_status tamis_design_bernoulli(tamis_design **design, int64_t population, const tamis_number *rate, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    bernoulli_design *d = NULL;
    TMI_TRY(tmi_check_population(population, err));
    if (!rate || tmi_number_sign(rate) <= 0 || tmi_number_compare_int(rate, 1) > 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "rate: must be above 0 and at most 1"));
    if (!(d = tmi_design_alloc(sizeof *d, &bernoulli, population, -1))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_common_init(&d->rate, &rate, 1, err));
    *design = &d->base;
    d = NULL;
done:
    if (d) tamis_design_free(&d->base);
    return status;
}

/* ---- as JSON ---- */

static tamis_status read_bernoulli(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    int64_t population;
    tamis_number *rate = NULL;
    tamis_status status = tmi_design_integer(&population, f, "population", err);
    if (status == TAMIS_OK) status = tmi_design_number(&rate, f, "rate", err);
    if (status == TAMIS_OK) status = tamis_design_bernoulli(design, population, rate, err);
    tamis_number_free(rate);
    return status;
}

const tmi_design_form tmi_bernoulli_form = {.name = "bernoulli", .keys = {"rate", "population"}, .read = read_bernoulli};

static tamis_status read_poisson(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    tamis_number **pi = NULL;
    size_t count = 0;
    tamis_status status = tmi_design_numbers(&pi, &count, f, "probabilities", err);
    if (status == TAMIS_OK) status = tamis_design_poisson(design, (const tamis_number *const *)pi, count, err);
    tmi_numbers_free(pi, count);
    return status;
}

const tmi_design_form tmi_poisson_form = {.name = "poisson", .keys = {"probabilities"}, .read = read_poisson};
