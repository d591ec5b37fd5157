/* The known laws as lattice laws, each computed outwards from its mode by ratios. */
#include <math.h>

#include "base/check.h"
#include "base/memory.h"
#include "num/ball_arb.h"
#include "num/law/law.h"
#include "num/law/ratio_laws.h"

static tamis_status check_window(tmi_window window, tamis_error *err)
{
    if (!(window.outside > 0 && window.outside < 1)) return tmi_fail(err, TAMIS_INVALID, "outside must be between 0 and 1");
    if (window.bits < 64 || window.bits > TMI_BITS_LAST)
        return tmi_fail(err, TAMIS_INVALID, "bits must be between 64 and %d", TMI_BITS_LAST);
    return TAMIS_OK;
}

static tamis_status too_wide(tamis_error *err)
{
    return tmi_fail(err, TAMIS_UNABLE, "a distribution with more than %lld points", (long long)TMI_LAW_POINTS);
}

/* ---- laws with simple ratios ---- */

/* One side: masses from the mode outwards, mode included. */
typedef struct side {
    tmi_ball *mass;
    size_t count, room;
    tmi_ball rest;
} side;

static void side_clear(side *s)
{
    for (size_t i = 0; i < s->count; i++) tmi_ball_clear(&s->mass[i]);
    tmi_free(s->mass);
    tmi_ball_clear(&s->rest);
}

static tamis_status side_add(side *s, const tmi_ball *mass, tamis_error *err)
{
    if (!tmi_grow(&s->mass, &s->room, s->count, sizeof *s->mass)) return tmi_fail_memory(err); /* a ball may be moved */
    tmi_ball_init(&s->mass[s->count]);
    tmi_ball_set(&s->mass[s->count++], mass);
    return TAMIS_OK;
}

static tamis_status side_fill(side *s, const tmi_ratio_law *shape, bool up, const tmi_ball *mode, tmi_window window,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball term, factor;
    tmi_ratios ratios = shape->ratios(shape->law, shape->mode, up);
    int64_t length = tmi_ratios_length(&ratios);
    tmi_ball_inits(&term, &factor, NULL);
    tmi_ratios_factor(&factor, &ratios, window.bits);
    tmi_ball_set(&term, mode);
    TMI_TRY(side_add(s, &term, err));
    for (int64_t j = 0; j < length; j++) {
        if (j % 16 == 0) {
            tmi_ratios_rest(&s->rest, &term, &ratios, &factor, j, window.bits);
            if (tmi_ball_bound(&s->rest).upper <= window.outside / 2) goto done;
        }
        if (j >= TMI_LAW_POINTS) TMI_TRY(too_wide(err));
        tmi_ratios_step(&term, &ratios, &factor, j, window.bits);
        TMI_TRY(side_add(s, &term, err));
    }
    tmi_ball_set_int(&s->rest, 0);
done:
    tmi_ball_clears(&term, &factor, NULL);
    return status;
}

static tamis_status from_ratio_law(tmi_law *law, const tmi_ratio_law *shape, tmi_window window, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    side up = {0}, down = {0};
    tmi_ball mode;
    tmi_ball_inits(&up.rest, &down.rest, &mode, NULL);
    if (shape->low == shape->high) tmi_ball_set_int(&mode, 1);
    else shape->mass(&mode, shape->law, shape->mode, window.bits + 64);
    TMI_TRY(side_fill(&up, shape, true, &mode, window, err));
    TMI_TRY(side_fill(&down, shape, false, &mode, window, err));
    TMI_TRY(tmi_law_new(law, shape->mode + 1 - (int64_t)down.count, down.count + up.count - 1, err));
    for (size_t i = 0; i < down.count; i++) arb_swap(tmi_arb(&law->mass[down.count - 1 - i]), tmi_arb(&down.mass[i]));
    for (size_t i = 1; i < up.count; i++) arb_swap(tmi_arb(&law->mass[down.count - 1 + i]), tmi_arb(&up.mass[i]));
    tmi_ball_set(&law->below, &down.rest);
    tmi_ball_set(&law->above, &up.rest);
    TMI_CHECK(tmi_law_is_sound(law));
done:
    side_clear(&up);
    side_clear(&down);
    tmi_ball_clear(&mode);
    return status;
}

tamis_status tmi_law_hypergeometric(tmi_law *law, const tmi_hypergeometric *parameters, tmi_window window, tamis_error *err)
{
    tmi_law_init(law);
    tamis_status status = check_window(window, err);
    if (status == TAMIS_OK) status = tmi_check_hypergeometric(parameters, err);
    if (status != TAMIS_OK) return status;
    tmi_ratio_law shape = tmi_hypergeometric_ratio_law(parameters);
    return from_ratio_law(law, &shape, window, err);
}

tamis_status tmi_law_binomial(tmi_law *law, const tmi_binomial *parameters, tmi_window window, tamis_error *err)
{
    tmi_law_init(law);
    tamis_status status = check_window(window, err);
    if (status == TAMIS_OK) status = tmi_check_binomial(parameters, err);
    if (status != TAMIS_OK) return status;
    bool certain = tmi_number_compare_int(parameters->probability, 1) == 0;
    if (certain || parameters->trials == 0 || tmi_number_sign(parameters->probability) == 0)
        return tmi_law_point(law, certain ? parameters->trials : 0, err);
    tmi_odds odds;
    status = tmi_odds_set(&odds, parameters, err);
    if (status == TAMIS_OK) {
        tmi_ratio_law shape = tmi_binomial_ratio_law(&odds);
        status = from_ratio_law(law, &shape, window, err);
    }
    tmi_odds_clear(&odds);
    return status;
}

/* ---- noise ---- */

typedef void part_function(tmi_ball *z, const tamis_number *parameter, tmi_law_part part, int64_t k, long bits);

/* A law symmetric about 0 with P(k+1) = P(k) ratio step^k for k >= 0, on -reach .. reach. */
static tamis_status from_symmetric(tmi_law *law, part_function *part, const tamis_number *parameter, double reach,
                                   const tmi_ball *ratio, const tmi_ball *step, tmi_window window, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball outside, term, factor;
    int64_t last = 0;
    tmi_ball_inits(&outside, &term, &factor, NULL);
    if (!(reach < (double)(TMI_LAW_POINTS / 2 - 64))) TMI_TRY(too_wide(err));
    for (last = (int64_t)reach;; last++) { /* the guess is nearly always enough */
        part(&outside, parameter, TMI_AT_LEAST, last + 1, window.bits);
        if (tmi_ball_bound(&outside).upper <= window.outside / 2) break;
        if (last >= TMI_LAW_POINTS / 2 - 1) TMI_TRY(too_wide(err));
    }
    TMI_TRY(tmi_law_new(law, -last, (size_t)(2 * last + 1), err));
    part(&term, parameter, TMI_MASS, 0, window.bits);
    tmi_ball_set(&factor, ratio);
    for (int64_t k = 0; k <= last; k++) {
        tmi_ball_set(&law->mass[last + k], &term);
        tmi_ball_set(&law->mass[last - k], &term);
        tmi_ball_mul(&term, &term, &factor, window.bits);
        tmi_ball_mul(&factor, &factor, step, window.bits);
    }
    tmi_ball_set(&law->below, &outside);
    tmi_ball_set(&law->above, &outside);
done:
    tmi_ball_clears(&outside, &term, &factor, NULL);
    return status;
}

/* z = exp(-1 / (divisor x)) */
static void exp_of_inverse(tmi_ball *z, const tamis_number *x, int64_t divisor, long bits)
{
    tmi_ball_set_number(z, x, bits);
    arb_inv(tmi_arb(z), tmi_arb(z), bits);
    tmi_ball_div_int(z, z, -divisor, bits);
    tmi_ball_exp(z, z, bits);
}

tamis_status tmi_law_discrete_laplace(tmi_law *law, const tamis_number *scale, tmi_window window, tamis_error *err)
{
    tmi_law_init(law);
    tamis_status status = check_window(window, err);
    if (status == TAMIS_OK) status = tmi_check_scale(scale, err);
    if (status != TAMIS_OK) return status;
    tmi_ball ratio, step;
    tmi_ball_inits(&ratio, &step, NULL);
    exp_of_inverse(&ratio, scale, 1, window.bits);
    tmi_ball_set_int(&step, 1);
    double reach = ceil(tmi_number_up(scale) * -log(window.outside / 2));
    status = from_symmetric(law, tmi_discrete_laplace_part, scale, reach, &ratio, &step, window, err);
    tmi_ball_clears(&ratio, &step, NULL);
    return status;
}

tamis_status tmi_law_discrete_gaussian(tmi_law *law, const tamis_number *variance, tmi_window window, tamis_error *err)
{
    tmi_law_init(law);
    tamis_status status = check_window(window, err);
    if (status == TAMIS_OK && !variance) status = tmi_fail(err, TAMIS_INVALID, "variance: NULL");
    if (status == TAMIS_OK && tmi_number_sign(variance) <= 0) status = tmi_fail(err, TAMIS_INVALID, "variance must be positive");
    if (status != TAMIS_OK) return status;
    tmi_ball ratio, step;
    tmi_ball_inits(&ratio, &step, NULL);
    exp_of_inverse(&ratio, variance, 2, window.bits);
    exp_of_inverse(&step, variance, 1, window.bits);
    double reach = ceil(sqrt(tmi_number_up(variance) * -2 * log(window.outside / 2)));
    status = from_symmetric(law, tmi_discrete_gaussian_part, variance, reach, &ratio, &step, window, err);
    tmi_ball_clears(&ratio, &step, NULL);
    return status;
}
