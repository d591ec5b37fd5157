#include "inference/calibration.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "schedule/noise_law.h"
#include "survey/normal.h"

/* Public counts whose estimates are below this many standard deviations of their noise give no factor: the bias of the ratio,
 * of the order of the square of one over it, would be a considerable part of its error. */
#define LEAST_CERTAIN 4

/* The weighted counts of the control cells, and the variances of their noise. */
static void add_counts(double *counts, double *variances, const tmi_schedule *s, size_t table, tmi_int128 *const *noisy)
{
    const tmi_measurement *m = &s->measurements[table];
    const tmi_sampling *sampling = &s->sampling;
    for (size_t cell = 0; cell < m->cells; cell++) {
        size_t h = tmi_cell_stratum(m, cell), c = tmi_control_cell(s, m, cell);
        double unit = tmi_measurement_unit(m, sampling, h);
        if (m->quantity.weighing == TMI_UNWEIGHED) unit *= tmi_number_nearest(sampling->weight[h]);
        double sd = unit * tmi_noise_sd(tmi_cell_law(m, cell)->scale, s->gaussian);
        counts[c] += unit * (double)noisy[table][cell];
        variances[c] += sd * sd;
    }
}

/* Whether every count that is to be moved onto a public one is well above its noise. */
static bool are_certain(const tmi_calibration *c, const double *counts, const double *variances)
{
    for (size_t j = 0; j < c->totals; j++) {
        double count = 0, variance = 0;
        for (size_t i = 0; i < c->cells; i++) {
            count += c->variables[i * c->totals + j] * counts[i];
            variance += c->variables[i * c->totals + j] * variances[i];
        }
        if (!(count > LEAST_CERTAIN * sqrt(variance))) return false;
    }
    return true;
}

tamis_status tmi_calibration_make(tmi_calibration *c, const tmi_schedule *s, tmi_int128 *const *noisy, tamis_error *err)
{
    size_t table = TMI_NO_TABLE;
    double *totals = NULL, *counts = NULL, *variances = NULL;
    tamis_status status = TAMIS_OK;
    *c = (tmi_calibration){0};
    for (size_t i = 0; i < s->plan->statistic_count; i++) {
        if (tmi_is_calibrated(s, i)) table = s->uses[i].table[TMI_CONTROL_ROWS];
    }
    if (table == TMI_NO_TABLE) return TAMIS_OK;
    TMI_TRY(tmi_calibration_room(c, &totals, s, err));
    counts = tmi_alloc(c->cells, sizeof *counts);
    variances = tmi_alloc(c->cells, sizeof *variances);
    if (!counts || !variances) TMI_TRY(tmi_fail_memory(err));
    add_counts(counts, variances, s, table, noisy);
    if (are_certain(c, counts, variances)) TMI_TRY(tmi_calibration_solve(&c->met, c, counts, totals, err));
    for (size_t i = 0; i < c->cells && !c->met; i++) c->factors[i] = 1;

done:
    tmi_free(totals);
    tmi_free(counts);
    tmi_free(variances);
    if (status != TAMIS_OK) tmi_calibration_clear(c);
    return status;
}

void tmi_calibration_regress(double *gamma, const tmi_calibration *c, const double *sums)
{
    memset(c->slopes, 0, c->totals * sizeof *c->slopes);
    for (size_t i = 0; c->met && i < c->cells; i++) {
        double sum = sums[i] * (c->raking ? c->factors[i] : 1);
        for (size_t j = 0; j < c->totals; j++) c->slopes[j] += sum * c->variables[i * c->totals + j];
    }
    tmi_normal_solve(c->slopes, c->normal, c->totals);
    for (size_t i = 0; i < c->cells; i++) {
        gamma[i] = 0;
        for (size_t j = 0; c->met && j < c->totals; j++) gamma[i] += c->slopes[j] * c->variables[i * c->totals + j];
    }
}
