#include "inference/control_reads.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/controls.h"

tamis_status tmi_control_reads_make(tmi_control_reads *o, const tmi_workload *w, tamis_error *err)
{
    const size_t levels = tmi_control_levels(w);
    *o = (tmi_control_reads){.levels = levels,
                             .moment_levels = levels * tmi_factor_powers(w),
                             .row_levels = levels * tmi_product_powers(w)};
    o->of_moments = tmi_alloc(TMI_CONTROL_READS * TMI_MOMENTS, o->moment_levels * sizeof *o->of_moments);
    o->of_rows = tmi_alloc(TMI_CONTROL_READS, o->row_levels * sizeof *o->of_rows);
    return o->of_moments && o->of_rows ? TAMIS_OK : tmi_fail_memory(err);
}

void tmi_control_reads_reset(tmi_control_reads *o)
{
    memset(o->of_moments, 0, TMI_CONTROL_READS * TMI_MOMENTS * o->moment_levels * sizeof *o->of_moments);
    memset(o->of_rows, 0, TMI_CONTROL_READS * o->row_levels * sizeof *o->of_rows);
    memset(o->used, 0, sizeof o->used);
    memset(o->rows_used, 0, sizeof o->rows_used);
}

void tmi_control_reads_clear(tmi_control_reads *o)
{
    tmi_free(o->of_moments);
    tmi_free(o->of_rows);
}

void tmi_control_moment(tmi_control_reads *o, size_t output, size_t moment, size_t power, size_t level, double value)
{
    if (moment >= TMI_MOMENTS || value == 0) return;
    o->of_moments[(output * TMI_MOMENTS + moment) * o->moment_levels + power * o->levels + level] += value;
    o->used[output][moment] = true;
}

void tmi_control_rows(tmi_control_reads *o, size_t output, size_t power, size_t level, double value)
{
    if (value == 0) return;
    o->of_rows[output * o->row_levels + power * o->levels + level] += value;
    o->rows_used[output] = true;
}

tamis_status tmi_control_reads_parts(tmi_moment_parts *parts, const tmi_schedule *s, tmi_weighting weighting, size_t statistic,
                                     const tmi_control_reads *o, size_t group, size_t stratum, double weight, tamis_error *err)
{
    const tmi_workload *w = &s->workload;
    tmi_moment_sum sums[TMI_CONTROL_READS * TMI_MOMENTS] = {0};
    tmi_read reads[TMI_CONTROL_READS * TMI_MOMENTS + TMI_CONTROL_READS];
    tmi_combination counts[TMI_CONTROL_READS];
    size_t made = 0, count = 0;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < TMI_CONTROL_READS; i++)
        for (size_t m = 0; m < TMI_MOMENTS; m++) {
            double one[TMI_MOMENTS] = {0};
            if (!o->used[i][m]) continue;
            one[m] = 1;
            TMI_TRY(tmi_moment_sum_make(&sums[made], w, weighting, statistic, group, stratum, one,
                                        o->of_moments + (i * TMI_MOMENTS + m) * o->moment_levels, err));
            reads[count++] = (tmi_read){&sums[made++].combination, i};
        }
    if (w->maps[statistic].domain != 0) { /* a table of its own: rows of control cells are of all rows */
        TMI_TRY(tmi_moment_parts_add(parts, s, reads, count, stratum, weight, err));
        count = 0;
    }
    for (size_t i = 0; i < TMI_CONTROL_READS; i++) {
        if (!o->rows_used[i]) continue;
        counts[i] = tmi_control_rows_of(s, weighting, o->of_rows + i * o->row_levels);
        reads[count++] = (tmi_read){&counts[i], i};
    }
    TMI_TRY(tmi_moment_parts_add(parts, s, reads, count, stratum, weight, err));

done:
    for (size_t i = 0; i < made; i++) tmi_moment_sum_clear(&sums[i]);
    return status;
}
