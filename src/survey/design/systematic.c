/* Systematic sampling with equal probabilities: the units stand on a line, unit k on [kn, (k+1)n), and every point u,
 * u + N, u + 2N, ... takes the unit on which it falls; u is uniform in 0, ..., N-1. So unit k is taken if and only if
 * u lies on the arc [kn, (k+1)n) of a circle of length N: pi = n/N, and pi_kl is the overlap of two arcs. After a
 * shuffle every set of n units is equally likely: that is simple random sampling, and made as such.                  */
#include <string.h>

#include "rng/uniform.h"
#include "survey/design/form.h"

/* The arcs begin at 0 and at d = (l - k) n mod N, both have length n. */
static tamis_status pair(tmi_ball *p, const tamis_design *design, int64_t k, int64_t l, long bits, tamis_error *err)
{
    (void)err;
    int64_t N = design->population, n = design->sample;
    int64_t d = (int64_t)((tmi_int128)(l - k) * n % N);
    int64_t after = d < n ? n - d : 0, before = N - d < n ? n - (N - d) : 0; /* both if the arcs meet twice */
    tmi_ball_set_int(p, after + before);
    tmi_ball_div_int(p, p, N, bits);
    return TAMIS_OK;
}

static int64_t taken(const tamis_design *design, int64_t start, int64_t i)
{
    return (int64_t)((start + (tmi_int128)i * design->population) / design->sample);
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (int64_t start = 0; start < design->population && status == TAMIS_OK; start++) {
        uint32_t set = 0;
        tamis_number *p;
        for (int64_t i = 0; i < design->sample; i++) set |= UINT32_C(1) << taken(design, start, i);
        status = tmi_number_ratio(&p, 1, design->population, err);
        if (status == TAMIS_OK) status = tmi_sample_law_take_set(law, set, p, err);
    }
    return status;
}

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         const tmi_watch *watch, tamis_error *err)
{
    uint64_t start;
    (void)tables, (void)watch;
    tamis_status status = tmi_drawn_reserve(drawn, (size_t)design->sample, err);
    if (status != TAMIS_OK) return status;
    if (!tmi_uniform(&start, (uint64_t)design->population, rng)) return tmi_bits_failed(err);
    for (int64_t i = 0; i < design->sample && status == TAMIS_OK; i++)
        status = tmi_drawn_add(drawn, taken(design, (int64_t)start, i), err);
    return status;
}

static tamis_status expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    return tmi_expose_alike(exposures,
                            (tamis_exposure){.count = design->population,
                                             .absences[0].distance.exchanges = design->sample,
                                             .theorem = "systematic"},
                            design, err);
}

static const tmi_design_kind systematic = {TMI_EQUAL_KIND("systematic"), .pair = pair, .law = law_of, .draw = draw,
                                           .expose = expose};

tamis_status tamis_design_systematic(tamis_design **design, int64_t population, int64_t sample, int random_order,
                                     tamis_error *err)
{
    if (random_order) return tamis_design_srs(design, population, sample, err);
    return tmi_equal_new(design, &systematic, population, sample, err);
}

/* ---- as JSON ---- */

static tamis_status read_systematic(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    int64_t population, sample;
    const char *order = NULL;
    tamis_status status = tmi_design_sizes_of(&population, &sample, f, err);
    if (status == TAMIS_OK) status = tmi_design_string(&order, f, "order", err);
    if (status != TAMIS_OK) return status;
    bool random_order = strcmp(order, "random") == 0;
    if (!random_order && strcmp(order, "public") != 0)
        return tmi_fail(err, TAMIS_INVALID, "order: must be \"public\" or \"random\"");
    return tamis_design_systematic(design, population, sample, random_order, err);
}

const tmi_design_form tmi_systematic_form = {
    .name = "systematic",
    .keys = {"population", "sample", "order"},
    .read = read_systematic,
};
