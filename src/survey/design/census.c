/* Everybody: the design that adds nothing to privacy. */
#include "survey/design/form.h"

static tamis_status pair(tmi_ball *p, const tamis_design *design, int64_t k, int64_t l, long bits, tamis_error *err)
{
    (void)l;
    return tmi_equal_first(p, design, k, bits, err);
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    tamis_number *one;
    tamis_status status = tmi_number_ratio(&one, 1, 1, err);
    if (status != TAMIS_OK) return status;
    return tmi_sample_law_take_set(law, (UINT32_C(1) << design->population) - 1, one, err);
}

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         const tmi_watch *watch, tamis_error *err)
{
    (void)tables, (void)rng, (void)watch;
    tamis_status status = tmi_drawn_reserve(drawn, (size_t)design->population, err);
    for (int64_t k = 0; k < design->population && status == TAMIS_OK; k++) status = tmi_drawn_add(drawn, k, err);
    return status;
}

static tamis_status expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    return tmi_exposures_add(
        exposures,
        &(tamis_exposure){.count = design->population, .inclusion = {1, 1}, .removal.additions = 1, .theorem = "census"}, err);
}

static const tmi_design_kind census = {TMI_EQUAL_KIND("census"), .simple = true, .pair = pair, .law = law_of, .draw = draw,
                                       .expose = expose};

tamis_status tamis_design_census(tamis_design **design, int64_t population, tamis_error *err)
{
    return tmi_equal_new(design, &census, population, population, err);
}

/* ---- as JSON ---- */

static tamis_status read_census(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    int64_t population;
    tamis_status status = tmi_design_integer(&population, f, "population", err);
    return status == TAMIS_OK ? tamis_design_census(design, population, err) : status;
}

const tmi_design_form tmi_census_form = {.name = "census", .keys = {"population"}, .read = read_census};
