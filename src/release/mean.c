/* mean: COLUMN. The mean of the values that are there, a ratio: how many there are is protected too, since a missing
 * answer is an answer. It is read as centre + (sum of value - centre) / (number of rows), both noisy.
 *
 * Interval: with the stated confidence both noises lie within their reach (Bonferroni), so the true sum S and the true
 * number R lie in intervals around the noisy ones. If R is certainly positive, S/R lies between the extreme quotients of
 * the ends, and always within the range of the column.                                                               */
#include <math.h>

#include "num/number.h"
#include "release/statistic.h"

enum { SUM, ROWS };

static size_t needs(tmi_need needs[TMI_MAX_NEEDS], const tmi_plan_statistic *statistic)
{
    needs[SUM] = (tmi_need){.kind = TMI_SUM, .column = statistic->column, .any_centre = true, .parts = 2};
    needs[ROWS] = (tmi_need){.kind = TMI_ROWS, .column = statistic->column, .parts = 1};
    return 2;
}

/* First-order error of the ratio: sd(S - r R) / R with r = S/R. */
static double ratio_sd(const tmi_case *c, double ratio, double rows)
{
    return c->step * hypot(c->noise_sd[SUM], ratio * c->noise_sd[ROWS]) / rows;
}

/* Groups of equal size, and a mean at the typical value or, without one, a quarter of the range from the centre. */
static void expect(tmi_outlook *outlook, const tmi_case *c)
{
    const tmi_plan_column *column = c->statistic->column;
    double rows = (double)c->how->row_count(c->design) / (double)c->cells;
    double width = (double)(column->grid.high - column->grid.low);
    double value = column->typical ? tmi_number_nearest(column->typical) : TMI_NULL;
    double ratio = column->typical ? value / c->step - (double)c->centre : width / 4;
    *outlook = (tmi_outlook){ratio_sd(c, ratio, rows), c->step * width, fabs(value)};
}

static void read(tmi_result *result, const tmi_case *c, const double noisy[TMI_MAX_NEEDS])
{
    const tmi_grid *grid = &c->statistic->column->grid;
    double rows = noisy[ROWS], sum = noisy[SUM], n = (double)c->how->row_count(c->design);
    double fewest = fmin(rows - c->reach[ROWS], n); /* no group has more rows than the sample */
    double most = fmin(rows + c->reach[ROWS], n);
    if (rows < 1) {
        result->reason = "no rows left after the noise";
        return;
    }
    result->estimate = c->step * ((double)c->centre + sum / rows);
    if (fewest < 1) {
        double least = c->step * (double)grid->low, largest = c->step * (double)grid->high;
        result->outside_range = result->estimate < least || result->estimate > largest;
        result->reason = "rows may be 0 within their noise";
        return; /* an error of first order would mean nothing here */
    }
    result->noise_sd = ratio_sd(c, sum / rows, rows);
    double low = sum - c->reach[SUM], high = sum + c->reach[SUM];
    double lower = (double)c->centre + low / (low < 0 ? fewest : most);
    double upper = (double)c->centre + high / (high < 0 ? most : fewest);
    tmi_set_interval(result, c->step * lower, c->step * upper, c->step * (double)grid->low,
                     c->step * (double)grid->high);
}

/* Linearised: z = (value - mean) / rows in the group, 0 elsewhere, whose sample mean is 0; the total of z over the
 * population is estimated with weight, the mean with weight / (weight rows). */
static void estimate(tmi_result *result, const tmi_case *c, const tmi_moments *cell)
{
    if (cell->rows == 0) {
        result->reason = "no row of this group has a value";
        return;
    }
    double size = c->weight * (double)cell->rows;
    result->estimate = (double)(cell->sum / (long double)cell->rows);
    result->sampling_se = sqrt(c->how->variance(c->design, cell->squares)) / size;
}

const tmi_statistic tmi_statistic_mean = {"mean", needs, expect, read, estimate};
