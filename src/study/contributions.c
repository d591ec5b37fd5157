/* Values as totals count them: clamped so that weight times value stays within the plan's bounds (measure/contributions.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/frame/frame_file.h"
#include "num/number.h"
#include "study/population_parts.h"

typedef struct unit {
    const char *id;
    size_t place; /* in the frame */
} unit;

static int by_id(const void *a, const void *b) { return strcmp(((const unit *)a)->id, ((const unit *)b)->id); }

/* The place in the frame of each row. Samples are drawn with the probabilities that the frame says. */
static tamis_status find_units(size_t *places, const tmi_population *p, const tmi_frame_file *f, tamis_error *err)
{
    char **ids = p->plan->privacy.id ? tmi_population_texts(p, p->plan->privacy.id) : NULL;
    unit *units = tmi_alloc(f->count, sizeof *units);
    tamis_status status = TAMIS_OK;
    if (!units) return tmi_fail_memory(err);
    for (size_t i = 0; i < f->count; i++) units[i] = (unit){f->ids[i], i};
    qsort(units, f->count, sizeof *units, by_id);
    for (int64_t u = 0; u < p->units; u++) {
        const int64_t first = p->row_of[u];
        const unit *found = ids && ids[first] ? bsearch(&(unit){ids[first], 0}, units, f->count, sizeof *units, by_id) : NULL;
        if (!found) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "design.frame: a unit of the population is not in the frame"));
        if (p->drawn_by == &p->plan->design && fabs(f->pi[found->place] - p->extras[TMI_INCLUSION].values[u]) > 1e-9)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                             "design.frame: its probabilities are not those with which samples are drawn from the population"));
        for (int64_t row = first; row >= 0; row = tmi_population_next(p, row)) places[row] = found->place;
    }

done:
    tmi_free(units);
    return status;
}

/* Bounds by size: the grid of each unit. */
static tamis_status bound_by_size(tmi_population *p, tamis_error *err)
{
    tmi_frame_file frame = {0};
    size_t *places = tmi_alloc((size_t)p->rows, sizeof *places);
    tamis_status status;
    if (!places) return tmi_fail_memory(err);
    TMI_TRY(tmi_frame_file_read(&frame, p->plan, err));
    TMI_TRY(find_units(places, p, &frame, err));
    for (size_t c = 0; c < p->column_count; c++) {
        tmi_population_column *k = &p->columns[c];
        if (!k->declared || !k->declared->times) continue;
        for (int64_t row = 0; row < p->rows; row++) {
            const tmi_grid grid = tmi_unit_grid(&frame, k->declared, places[row]);
            int64_t point;
            if (!isnan(k->raw[row])) k->numbers[row] = tmi_grid_point(&point, &grid, k->raw[row]) ? (double)point * grid.step : 0;
        }
    }

done:
    tmi_frame_file_clear(&frame);
    tmi_free(places);
    return status;
}

/* A bound of contributions: of values, that bound times the probability. */
static tamis_status bound_contributions(tmi_population *p, tmi_population_column *k, tamis_error *err)
{
    const double most = tmi_number_nearest(k->declared->contribution);
    k->contributed = tmi_alloc((size_t)p->rows, sizeof *k->contributed);
    if (!k->contributed) return tmi_fail_memory(err);
    for (int64_t u = 0; u < p->units; u++) {
        const double end = most * p->extras[TMI_INCLUSION].values[u];
        for (int64_t row = p->row_of[u]; row >= 0; row = tmi_population_next(p, row))
            k->contributed[row] = isnan(k->numbers[row]) ? k->numbers[row] : fmin(fmax(k->numbers[row], -end), end);
    }
    p->contributed = true;
    return TAMIS_OK;
}

tamis_status tmi_population_bound(tmi_population *p, tamis_error *err)
{
    bool by_size = p->plan->design.frame != NULL;
    tamis_status status = by_size ? bound_by_size(p, err) : TAMIS_OK;
    for (size_t c = 0; c < p->column_count && status == TAMIS_OK; c++) {
        tmi_population_column *k = &p->columns[c];
        if (k->declared && k->declared->contribution && p->extras[TMI_INCLUSION].values) status = bound_contributions(p, k, err);
    }
    return status;
}
