/* count: units. In all it is the declared size of the population: known, not measured. By groups it is the weighted
 * number of rows in each group.                                                                                      */
#include <math.h>

#include "release/statistic.h"

static size_t needs(tmi_need needs[TMI_MAX_NEEDS], const tmi_plan_statistic *statistic)
{
    if (statistic->by_count == 0) return 0;
    needs[0] = (tmi_need){.kind = TMI_ROWS, .parts = 1};
    return 1;
}

static void expect(tmi_outlook *outlook, const tmi_case *c)
{
    double N = (double)c->design->population;
    bool known = c->statistic->by_count == 0;
    *outlook = (tmi_outlook){known ? 0 : c->weight * c->noise_sd[0], N, N / (double)c->cells};
}

static void read(tmi_result *result, const tmi_case *c, const double noisy[TMI_MAX_NEEDS])
{
    double N = (double)c->design->population;
    if (c->statistic->by_count == 0) {
        result->estimate = result->lower = result->upper = N;
        result->se = result->sampling_se = result->noise_sd = 0;
        result->known = true;
        return;
    }
    result->estimate = c->weight * noisy[0];
    result->noise_sd = c->weight * c->noise_sd[0];
    tmi_set_interval(result, c->weight * (noisy[0] - c->reach[0]), c->weight * (noisy[0] + c->reach[0]), 0, N);
}

/* z is 1 in the group and 0 elsewhere: the sum of squares about its mean is rows (1 - rows/n). */
static void estimate(tmi_result *result, const tmi_case *c, const tmi_moments *cell)
{
    double n = (double)c->how->row_count(c->design), m = (double)cell->rows;
    result->estimate = c->weight * m;
    result->sampling_se = sqrt(c->how->variance(c->design, m * (1 - m / n)));
}

const tmi_statistic tmi_statistic_count = {"count", needs, expect, read, estimate};
