/* A sum with noise over n draws with replacement: a unit that is drawn k times moves it by up to k ranges.
 *
 * K, how often the unit is drawn, is binomial with n and 1/N; w_k = P(K = k). The other draws are the same under both
 * populations. Given all that the draws other than the unit's would show, P is the mixture of N(a_B) and P' that of N(b_B)
 * over the sets B of draws that show the unit, N(0) for the empty one in both; with |B| = k, all of |a_B|, |b_B| and
 * |a_B - b_B| are at most k ranges. Write e^eps_pop = 1 + (1 - w_0)(e^eps - 1). Then for every set S
 *
 *     P(S) - e^eps_pop P'(S) = sum over B, not empty, of w_B (N(a_B)(S) - e^eps (b N(b_B)(S) + (1 - b) N(0)(S))),
 *
 * b = e^eps_pop / e^eps (Balle, Barthe and Gaboardi: advanced joint convexity), and each bracket is at most delta_k(eps), the
 * delta of the noise alone for k ranges. So
 *
 *     (1 - w_0) delta_1(eps)  <=  delta_pop(eps_pop)  <=  sum over k >= 1 of w_k delta_k(eps).
 *
 * The lower end: let all others have the unit's new value. Then P is the mixture of the N(k ranges) and P' = N(0), up to a
 * shift and a reflection, and the half-line that is best for one range gets at least as much for more of them.
 *
 * It is tempting to think that this population is the worst: with three draws out of two, Gaussian noise of one range and eps
 * = 0 it has delta 0.488, and others half-way between the two values have 0.508. */
#include <math.h>

#include "amplification/exposed.h"
#include "num/bound.h"
#include "num/law/laws.h"

#define BITS 192

/* More draws of one unit than this count as if they revealed everything. */
#define MOST_DRAWS 4096

/* delta_k at eps, from above or from below. */
static tamis_status delta_of(double *delta, const tamis_noisy_sum *sum, const tamis_number *range, int64_t k,
                             const tamis_number *eps, bool upper, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *times = NULL, *shift = NULL, *ratio = NULL;
    tamis_profile *profile = NULL;
    tamis_bound b;
    *delta = upper ? 1 : 0;
    TMI_TRY(tmi_number_ratio(&times, k, 1, err));
    TMI_TRY(tmi_number_mul(&shift, times, range, err));
    TMI_TRY(tmi_number_div(&ratio, shift, sum->scale, err));
    if (tmi_number_compare_int(ratio, TAMIS_MAX_LOSS) > 0) goto done; /* profiles end there; 1 and 0 hold */
    if (tmi_number_is_integer(shift) && tmi_number_compare_int(shift, TAMIS_MAX_STEP) > 0) goto done;
    TMI_TRY(tamis_profile_noise(&profile, sum->noise, sum->scale, shift, err));
    TMI_TRY(tamis_profile_delta(&b, profile, eps, err));
    *delta = upper ? b.upper : b.lower;
done:
    tamis_number_free(times);
    tamis_number_free(shift);
    tamis_number_free(ratio);
    tamis_profile_free(profile);
    return status;
}

/* eps of the sample, log(1 + (e^eps_pop - 1)/(1 - w_0)), as numbers below and above it. */
static tamis_status sample_eps(tamis_number *ends[2], const tamis_number *eps_pop, const tmi_ball *present, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    char text[TMI_DECIMAL];
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, eps_pop, BITS);
    tmi_ball_expm1(&x, &x, BITS);
    tmi_ball_div(&x, &x, present, BITS);
    tmi_ball_log1p(&x, &x, BITS);
    tamis_bound b = tmi_ball_bound(&x);
    tmi_ball_clear(&x);
    tmi_decimal_down(text, fmax(b.lower, 0));
    TMI_TRY(tamis_number_read(&ends[0], text, err));
    tmi_decimal_up(text, b.upper);
    TMI_TRY(tamis_number_read(&ends[1], text, err));
done:
    return status;
}

/* sum of w_k delta_k(eps), until the remainder is negligible; the whole remainder is then added. */
static tamis_status add_draws(double *delta, const tamis_noisy_sum *sum, const tamis_number *range, const tmi_binomial *law,
                              const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball total, w, x;
    double one;
    tmi_ball_inits(&total, &w, &x, NULL);
    for (int64_t k = 1;; k++) {
        TMI_TRY(tmi_binomial_part(&w, law, TMI_MASS, k, BITS, err));
        TMI_TRY(delta_of(&one, sum, range, k, eps, true, err));
        tmi_ball_set_double(&x, one);
        tmi_ball_mul(&x, &x, &w, BITS);
        tmi_ball_add(&total, &total, &x, BITS);
        if (k == law->trials) break;
        TMI_TRY(tmi_binomial_part(&w, law, TMI_AT_LEAST, k + 1, BITS, err));
        double rest = tmi_ball_bound(&w).upper;
        if (rest > 1e-13 * tmi_ball_bound(&total).lower && rest > 1e-300 && k < MOST_DRAWS) continue;
        tmi_ball_add(&total, &total, &w, BITS);
        break;
    }
    *delta = fmin(tmi_ball_bound(&total).upper, 1);
done:
    tmi_ball_clears(&total, &w, &x, NULL);
    return status;
}

tamis_status tmi_amplify_draws(tamis_bound *delta, const tamis_noisy_sum *sum, const tamis_number *range, int64_t population,
                               int64_t draws, const tamis_number *eps_pop, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *p = NULL, *eps[2] = {NULL, NULL};
    tmi_ball present, x;
    tmi_ball_inits(&present, &x, NULL);
    *delta = (tamis_bound){0, 1};
    TMI_TRY(tmi_number_ratio(&p, 1, population, err));
    tmi_binomial law = {draws, p};
    TMI_TRY(tmi_binomial_part(&present, &law, TMI_AT_LEAST, 1, BITS, err));
    TMI_TRY(sample_eps(eps, eps_pop, &present, err));
    TMI_TRY(add_draws(&delta->upper, sum, range, &law, eps[0], err));
    TMI_TRY(delta_of(&delta->lower, sum, range, 1, eps[1], false, err));
    tmi_ball_set_double(&x, delta->lower);
    tmi_ball_mul(&x, &x, &present, BITS);
    delta->lower = fmax(tmi_ball_bound(&x).lower, 0);
done:
    if (status != TAMIS_OK) *delta = (tamis_bound){0, 1};
    tamis_number_free(p);
    tamis_number_free(eps[0]);
    tamis_number_free(eps[1]);
    tmi_ball_clears(&present, &x, NULL);
    return status;
}
