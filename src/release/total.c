/* total: COLUMN. The weighted sum of the values that are there; with missing values it is the total of the reporting
 * part. A value is at most a grid point away from what it was: clamping and rounding happen before the noise.        */
#include <math.h>

#include "num/number.h"
#include "release/statistic.h"

static size_t needs(tmi_need needs[TMI_MAX_NEEDS], const tmi_plan_statistic *statistic)
{
    needs[0] = (tmi_need){.kind = TMI_SUM, .column = statistic->column, .parts = 1};
    return 1;
}

/* A total lies between N times the ends of the grid, 0 included because values may be missing or in other groups. */
static void limits(double *least, double *most, const tmi_case *c)
{
    const tmi_grid *grid = &c->statistic->column->grid;
    double N = (double)c->design->population;
    *least = N * c->step * (double)(grid->low < 0 ? grid->low : 0);
    *most = N * c->step * (double)(grid->high > 0 ? grid->high : 0);
}

static void expect(tmi_outlook *outlook, const tmi_case *c)
{
    double least, most, N = (double)c->design->population;
    limits(&least, &most, c);
    const tamis_number *typical = c->statistic->column->typical;
    double value = typical ? tmi_number_nearest(typical) : TMI_NULL;
    *outlook = (tmi_outlook){c->weight * c->step * c->noise_sd[0], most - least, fabs(N * value) / (double)c->cells};
}

static void read(tmi_result *result, const tmi_case *c, const double noisy[TMI_MAX_NEEDS])
{
    double unit = c->weight * c->step, least, most;
    limits(&least, &most, c);
    result->estimate = unit * noisy[0];
    result->noise_sd = unit * c->noise_sd[0];
    tmi_set_interval(result, unit * (noisy[0] - c->reach[0]), unit * (noisy[0] + c->reach[0]), least, most);
}

/* z is the value in the group and 0 elsewhere. With m rows in the group, their mean a and squares q about it, the sum
 * of squares of z about its own mean m a / n is q + m a^2 (1 - m/n). */
static void estimate(tmi_result *result, const tmi_case *c, const tmi_moments *cell)
{
    double n = (double)c->how->row_count(c->design), m = (double)cell->rows;
    double squares = cell->squares + m * cell->mean * cell->mean * (1 - m / n);
    result->estimate = c->weight * (double)cell->sum;
    result->sampling_se = sqrt(c->how->variance(c->design, squares));
}

const tmi_statistic tmi_statistic_total = {"total", needs, expect, read, estimate};
