/* What all designs share. */
#include "survey/design/design.h"

void *tmi_design_alloc(size_t size, const tmi_design_kind *kind, int64_t population, int64_t sample)
{
    tamis_design *design = tmi_alloc(1, size);
    if (design) *design = (tamis_design){kind, population, sample};
    return design;
}

void tamis_design_free(tamis_design *design)
{
    if (!design) return;
    if (design->kind->clear) design->kind->clear(design);
    tmi_free(design);
}

tamis_status tmi_check_population(int64_t population, tamis_error *err)
{
    if (population < 1) return tmi_fail(err, TAMIS_INVALID, "population: at least one unit is needed");
    if (population > TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "population: must be at most 2^40");
    return TAMIS_OK;
}

tamis_status tmi_check_sizes(int64_t population, int64_t sample, tamis_error *err)
{
    tamis_status status = tmi_check_population(population, err);
    if (status != TAMIS_OK) return status;
    if (sample < 1) return tmi_fail(err, TAMIS_INVALID, "sample: at least one unit is needed");
    if (sample > population) return tmi_fail(err, TAMIS_INVALID, "sample: larger than the population");
    return TAMIS_OK;
}

tamis_status tmi_equal_first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err)
{
    (void)unit, (void)err;
    tmi_ball_set_int(pi, design->sample);
    tmi_ball_div_int(pi, pi, design->population, bits);
    return TAMIS_OK;
}

tamis_status tmi_equal_exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err)
{
    (void)unit;
    return tmi_number_ratio(pi, design->sample, design->population, err);
}

tamis_status tmi_equal_new(tamis_design **design, const tmi_design_kind *kind, int64_t population, int64_t sample,
                           tamis_error *err)
{
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    tamis_status status = tmi_check_sizes(population, sample, err);
    if (status != TAMIS_OK) return status;
    *design = tmi_design_alloc(sizeof **design, kind, population, sample);
    return *design ? TAMIS_OK : tmi_fail_memory(err);
}

int64_t tamis_design_population(const tamis_design *design) { return design ? design->population : 0; }

int64_t tamis_design_sample(const tamis_design *design) { return design ? design->sample : -1; }

const char *tamis_design_name(const tamis_design *design) { return design ? design->kind->name : ""; }

/* ---- exposure ---- */

tamis_status tmi_exposures_add(tmi_exposures *exposures, const tamis_exposure *exposure, tamis_error *err)
{
    if (!tmi_grow(&exposures->list, &exposures->room, exposures->count, sizeof *exposures->list)) return tmi_fail_memory(err);
    exposures->list[exposures->count++] = *exposure;
    return TAMIS_OK;
}

tamis_status tmi_expose_alike(tmi_exposures *exposures, tamis_exposure e, const tamis_design *design, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    e.absence_count = 1;
    TMI_TRY(tamis_inclusion_first(&e.inclusion, design, &e.first, 1, err));
    TMI_TRY(tmi_certify_missing(&e.absences[0].probability, design, e.first, err));
    TMI_TRY(tmi_exposures_add(exposures, &e, err));
done:
    return status;
}

tamis_status tamis_design_exposures(tamis_exposure **list, size_t *count, const tamis_design *design, tamis_error *err)
{
    tmi_exposures exposures = {0};
    if (!list) return tmi_fail(err, TAMIS_INVALID, "list: NULL");
    *list = NULL;
    if (!count) return tmi_fail(err, TAMIS_INVALID, "count: NULL");
    *count = 0;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    tamis_status status = design->kind->expose(&exposures, design, err);
    if (status != TAMIS_OK) {
        tmi_free(exposures.list);
        return status;
    }
    *list = exposures.list;
    *count = exposures.count;
    return TAMIS_OK;
}
