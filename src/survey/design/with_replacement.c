/* Simple random sampling with replacement: n independent draws of one unit.
 *
 * P(k is never drawn) = (1 - 1/N)^n, P(neither k nor l is) = (1 - 2/N)^n; so pi = 1 - (1 - 1/N)^n and
 * pi_kl = 1 - 2 (1 - 1/N)^n + (1 - 2/N)^n. For small n/N these differences cancel: the powers are taken as
 * -expm1(n log1p(-1/N)), and pi_kl = pi^2 - ((1 - 1/N)^2n - (1 - 2/N)^n), whose second part is
 * (1 - 1/N)^2n (1 - (1 - 1/(N-1)^2)^n).                                                                              */
#include "rng/uniform.h"
#include "survey/design/form.h"

/* -expm1(draws * log1p(-1 / of)): 1 - (1 - 1/of)^draws. */
static void at_least_once(tmi_ball *p, const tmi_ball *of, int64_t draws, long bits)
{
    tmi_ball_set_int(p, -1);
    tmi_ball_div(p, p, of, bits);
    tmi_ball_log1p(p, p, bits);
    tmi_ball_mul_int(p, p, draws, bits);
    tmi_ball_expm1(p, p, bits);
    tmi_ball_neg(p, p);
}

static tamis_status first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err)
{
    (void)unit, (void)err;
    tmi_ball of;
    tmi_ball_init(&of);
    tmi_ball_set_int(&of, design->population);
    if (design->population == 1) tmi_ball_set_int(pi, 1);
    else at_least_once(pi, &of, design->sample, bits);
    tmi_ball_clear(&of);
    return TAMIS_OK;
}

/* Bits of (1 - 1/N)^n beyond which it is not written out. */
#define EXACT_BITS 4000

/* 1 - (1 - 1/N)^n */
static tamis_status exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err)
{
    tamis_number *one = NULL, *miss = NULL, *never = NULL, *next = NULL;
    tamis_status status = TAMIS_OK;
    int64_t bits = 1;
    (void)unit;
    while (design->population >> bits > 0) bits++;
    if (design->sample > EXACT_BITS / bits)
        return tmi_fail(err, TAMIS_UNABLE, "draws: too many to write out the inclusion probability exactly");
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&never, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&miss, design->population - 1, design->population, err));
    for (int64_t i = 0; i < design->sample; i++) {
        TMI_TRY(tmi_number_mul(&next, never, miss, err));
        tamis_number_free(never);
        never = next;
        next = NULL;
    }
    TMI_TRY(tmi_number_sub(pi, one, never, err));
done:
    tmi_number_frees(&one, &miss, &never, NULL);
    return status;
}

static tamis_status pair(tmi_ball *p, const tamis_design *design, int64_t k, int64_t l, long bits, tamis_error *err)
{
    (void)l;
    tmi_ball missed, both;
    if (design->sample == 1) {
        tmi_ball_set_int(p, 0);
        return TAMIS_OK;
    }
    tmi_ball_inits(&missed, &both, NULL);
    tamis_status status = first(p, design, k, bits, err);
    tmi_ball_neg(&missed, p);
    tmi_ball_add_int(&missed, &missed, 1, bits);
    tmi_ball_mul(&missed, &missed, &missed, bits);
    if (design->population == 2) { /* (1 - 2/N)^n = 0 */
        tmi_ball_set_int(&both, 1);
    } else {
        tmi_ball square;
        tmi_ball_init(&square);
        tmi_ball_set_int(&square, design->population - 1);
        tmi_ball_mul_int(&square, &square, design->population - 1, bits);
        at_least_once(&both, &square, design->sample, bits);
        tmi_ball_clear(&square);
    }
    tmi_ball_mul(&missed, &missed, &both, bits);
    tmi_ball_mul(p, p, p, bits);
    tmi_ball_sub(p, p, &missed, bits);
    tmi_ball_clears(&missed, &both, NULL);
    return status;
}

/* Samples with counts c_0, ..., c_{N-1} have probability n! / (c_0! ... c_{N-1}!) / N^n. Units from `unit` on are still
 * to be placed; `ways` is the multinomial coefficient of those before, over N to the power of their number. */
static tamis_status place(tamis_law *law, const tamis_design *design, uint8_t *units, size_t size, int64_t unit,
                          const tamis_number *ways, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *p = NULL, *factor = NULL, *next = NULL;
    TMI_TRY(tmi_number_copy(&p, ways, err));
    if (size == (size_t)design->sample) {
        status = tmi_sample_law_take(law, units, size, p, err);
        return status;
    }
    if (unit == design->population) goto done;
    for (int64_t c = 0; size + (size_t)c <= (size_t)design->sample; c++) {
        if (c > 0) { /* one more of this unit: times (size + c) / (c N) */
            units[size + (size_t)c - 1] = (uint8_t)unit;
            TMI_TRY(tmi_number_ratio(&factor, (int64_t)size + c, c * design->population, err));
            TMI_TRY(tmi_number_mul(&next, p, factor, err));
            tmi_number_frees(&factor, &p, NULL);
            factor = NULL;
            p = next;
            next = NULL;
        }
        TMI_TRY(place(law, design, units, size + (size_t)c, unit + 1, p, err));
        if (size + (size_t)c == (size_t)design->sample) break;
    }
done:
    tmi_number_frees(&p, &factor, &next, NULL);
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    uint8_t units[TAMIS_LAW_UNITS];
    tamis_number *one = NULL;
    if (design->sample > TAMIS_LAW_UNITS)
        return tmi_fail(err, TAMIS_UNABLE, "samples can be listed for at most %d draws", TAMIS_LAW_UNITS);
    tamis_status status = tmi_number_ratio(&one, 1, 1, err);
    if (status == TAMIS_OK) status = place(law, design, units, 0, 0, one, err);
    tamis_number_free(one);
    return status;
}

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         const tmi_watch *watch, tamis_error *err)
{
    (void)tables, (void)watch;
    tamis_status status = tmi_drawn_reserve(drawn, (size_t)design->sample, err);
    for (int64_t i = 0; i < design->sample && status == TAMIS_OK; i++) {
        uint64_t unit;
        if (!tmi_uniform(&unit, (uint64_t)design->population, rng)) return tmi_bits_failed(err);
        status = tmi_drawn_add(drawn, (int64_t)unit, err);
    }
    return status;
}

static tamis_status expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    tamis_distance all = {.exchanges = design->sample};
    return tmi_expose_alike(exposures,
                            (tamis_exposure){.count = design->population,
                                             .absences[0].distance = all,
                                             .removal = all,
                                             .theorem = "srs_with_replacement"},
                            design, err);
}

static const tmi_design_kind with_replacement = {.name = "srs_with_replacement",
                                                 .with_replacement = true,
                                                 .equal = true,
                                                 .first = first,
                                                 .exact = exact,
                                                 .pair = pair,
                                                 .law = law_of,
                                                 .draw = draw,
                                                 .expose = expose};

tamis_status tamis_design_srs_with_replacement(tamis_design **design, int64_t population, int64_t draws, tamis_error *err)
{
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    tamis_status status = tmi_check_population(population, err);
    if (status != TAMIS_OK) return status;
    if (draws < 1) return tmi_fail(err, TAMIS_INVALID, "draws: at least one is needed");
    if (draws > TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "draws: must be at most 2^40");
    *design = tmi_design_alloc(sizeof **design, &with_replacement, population, draws);
    return *design ? TAMIS_OK : tmi_fail_memory(err);
}

/* ---- as JSON ---- */

static tamis_status read_with_replacement(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    int64_t population, draws;
    tamis_status status = tmi_design_sizes_of(&population, &draws, f, err);
    if (status != TAMIS_OK) return status;
    if (draws < 1) return tmi_fail(err, TAMIS_INVALID, "sample: at least one draw is needed");
    return tamis_design_srs_with_replacement(design, population, draws, err);
}

const tmi_design_form tmi_with_replacement_form = {
    .name = "srs_with_replacement",
    .keys = {"population", "sample"},
    .read = read_with_replacement,
};
