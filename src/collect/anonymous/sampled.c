/* Reports of a sample: the guarantee for a person in the frame if nobody knows who was sampled.
 *
 * Simple random sampling, n of N: delta of the frame at log(1 + f (e^eps - 1)) is f times delta of n reports at eps, f = n/N.
 *
 * Bernoulli sampling: given its size m, a sample is a simple random one, and the size says nothing about anybody's answer.
 * Sizes from m1 to m2 have at most the rate m2/N and at least m1 reports, and both bounds are on the safe side; the sizes
 * outside have together at most a fifth of delta, which is counted as lost. */
#include <math.h>
#include <tamis/experimental/amplification.h>

#include "collect/anonymous/reports.h"
#include "composition/profile.h"
#include "survey/design/design.h"

/* The guarantee of m1 reports, each person of N being sampled with probability m2/N, at `delta` for the frame. */
static tamis_status sampled(tamis_bound *eps, const tamis_reports *r, int64_t m1, int64_t m2, int64_t population,
                            const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *inverse = NULL, *share = NULL, *loss = NULL;
    tamis_bound on_sample, none;
    tamis_reports few = *r;
    few.reports = m1;
    TMI_TRY(tmi_number_ratio(&inverse, population, m2, err));
    TMI_TRY(tmi_number_mul(&share, delta, inverse, err));
    if (tmi_number_compare_int(share, 1) >= 0) {
        *eps = (tamis_bound){0, 0};
        goto done;
    }
    TMI_TRY(tamis_anonymous_epsilon(&on_sample, &few, share, err));
    TMI_TRY(tmi_number_double(&loss, on_sample.upper, err));
    TMI_TRY(tamis_amplify_srs(eps, &none, population, m2, loss, share, err));
    eps->lower = 0;
done:
    tmi_number_frees(&inverse, &share, &loss, NULL);
    return status;
}

/* The largest m1 with P(X < m1) <= share and the smallest m2 with P(X > m2) <= share, X ~ Bin(population, rate). */
static tamis_status window(int64_t *m1, int64_t *m2, int64_t population, const tamis_number *rate, double share, tamis_error *err)
{
    tamis_bound p;
    int64_t low = 0, high = population; /* P(X < low) <= share */
    while (high > low) {
        int64_t middle = high - (high - low) / 2;
        tamis_status status = tamis_binomial_at_most(&p, population, rate, middle - 1, err);
        if (status != TAMIS_OK) return status;
        if (p.upper <= share) low = middle;
        else high = middle - 1;
    }
    *m1 = low < 1 ? 1 : low; /* a person who is sampled reports */
    low = 0;
    high = population; /* P(X > high) <= share */
    while (high > low) {
        int64_t middle = low + (high - low) / 2;
        tamis_status status = tamis_binomial_at_least(&p, population, rate, middle + 1, err);
        if (status != TAMIS_OK) return status;
        if (p.upper <= share) high = middle;
        else low = middle + 1;
    }
    *m2 = high < *m1 ? *m1 : high;
    return TAMIS_OK;
}

/* The one inclusion probability of a Poisson sample; NULL if there are several. */
static tamis_status equal_rate(tamis_number **rate, const tamis_design *design, tamis_error *err)
{
    tamis_status status = design->kind->exact(rate, design, 0, err);
    int64_t units = design->kind->equal ? 1 : design->population;
    for (int64_t i = 1; status == TAMIS_OK && i < units; i++) {
        tamis_number *other = NULL;
        status = design->kind->exact(&other, design, i, err);
        bool same = status == TAMIS_OK && tmi_number_compare(other, *rate) == 0;
        tamis_number_free(other);
        if (status == TAMIS_OK && !same)
            status = tmi_fail(err, TAMIS_REFUSED,
                              "no theorem covers anonymised reports of a Poisson sample with unequal "
                              "probabilities; leave out the design");
    }
    return status;
}

static tamis_status bernoulli(tamis_bound *eps, const tamis_reports *r, const tamis_design *design, const tamis_number *delta,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *rate = NULL, *part = NULL, *rest = NULL;
    int64_t m1, m2;
    TMI_TRY(equal_rate(&rate, design, err));
    TMI_TRY(tmi_number_ratio(&part, 4, 5, err));
    TMI_TRY(tmi_number_mul(&rest, delta, part, err));
    TMI_TRY(window(&m1, &m2, design->population, rate, 0.1 * tmi_number_down(delta), err));
    if (m1 > TAMIS_MAX_REPORTS) m1 = TAMIS_MAX_REPORTS; /* more reports hide a person better */
    TMI_TRY(sampled(eps, r, m1, m2, design->population, rest, err));
done:
    tmi_number_frees(&rate, &part, &rest, NULL);
    return status;
}

tamis_status tamis_anonymous_sample(tamis_bound *epsilon, const tamis_reports *reports, const tamis_design *design,
                                    const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!epsilon) return tmi_fail(err, TAMIS_INVALID, "epsilon: NULL");
    *epsilon = (tamis_bound){0, INFINITY};
    TMI_TRY(tmi_check_reports(reports, err));
    TMI_TRY(tmi_check_delta(delta, err));
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    if (tmi_number_sign(delta) == 0) return tmi_fail(err, TAMIS_INVALID, "delta: must be positive for a sample");
    if (design->kind->simple) {
        if (design->sample != reports->reports)
            return tmi_fail(err, TAMIS_INVALID, "design: the sample size differs from the number of reports");
        TMI_TRY(sampled(epsilon, reports, design->sample, design->sample, design->population, delta, err));
    } else if (design->kind->independent) {
        TMI_TRY(bernoulli(epsilon, reports, design, delta, err));
    } else {
        status = tmi_fail(err, TAMIS_REFUSED,
                          "no theorem covers anonymised reports of this design, only of simple random and Bernoulli samples");
    }
done:
    if (status != TAMIS_OK) *epsilon = (tamis_bound){0, INFINITY};
    return status;
}
