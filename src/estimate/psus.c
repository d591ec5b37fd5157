#include "estimate/psus.h"

#include "base/memory.h"

void tmi_psus_clear(tmi_listed_psus *p)
{
    tmi_psu_file_clear(&p->file);
    *p = (tmi_listed_psus){0};
}

static const tmi_column *add(tmi_columns *columns, const char *name, char *const *values, size_t count)
{
    return tmi_columns_add(
        columns, &(tmi_column){.name = name, .kind = TMI_CATEGORY, .values = (const char *const *)values, .value_count = count});
}

tamis_status tmi_psus_add(tmi_listed_psus *p, tmi_columns *columns, const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    *p = (tmi_listed_psus){0};
    if (!d->psus) return TAMIS_OK;
    tamis_status status = tmi_psu_file_read(&p->file, plan, err);
    if (status != TAMIS_OK) return status;
    p->label = add(columns, d->cluster, p->file.labels, p->file.label_count);
    if (p->file.strata) p->stratum = add(columns, d->strata_label, p->file.strata, p->file.facts.strata);
    return TAMIS_OK;
}

/* The cluster of a row in the list, SIZE_MAX: none. Those of a stratum, from `first` to `end`, are in the order of labels. */
static size_t find(const int32_t *label_of, size_t first, size_t end, int32_t label)
{
    const size_t beyond = end;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (label_of[middle] < label) first = middle + 1;
        else end = middle;
    }
    return first < beyond && label_of[first] == label ? first : SIZE_MAX;
}

tamis_status tmi_psus_compare(tmi_psu_misfits *misfits, const tmi_listed_psus *p, const int32_t *labels, const int32_t *strata,
                              size_t rows, tamis_error *err)
{
    const tmi_psu_facts *f = &p->file.facts;
    const size_t count = (size_t)tmi_psu_count(f);
    size_t *starts = tmi_alloc(f->strata + 1, sizeof *starts);
    bool *seen = tmi_alloc(count, sizeof *seen);
    tamis_status status = starts && seen ? TAMIS_OK : tmi_fail_memory(err);
    if (status != TAMIS_OK) goto done;
    for (size_t h = 0; h < f->strata; h++) starts[h + 1] = starts[h] + (size_t)f->clusters[h];
    *misfits = (tmi_psu_misfits){.listed = true, .clusters = (int64_t)count};
    for (size_t row = 0; row < rows; row++) {
        const int32_t h = strata ? strata[row] : 0;
        const size_t psu = labels[row] < 0 || h < 0 ? SIZE_MAX : find(p->file.label_of, starts[h], starts[h + 1], labels[row]);
        if (psu == SIZE_MAX) misfits->rows++;
        else seen[psu] = true;
    }
    for (size_t psu = 0; psu < count; psu++) misfits->clusters -= seen[psu];

done:
    tmi_free(starts);
    tmi_free(seen);
    return status;
}
