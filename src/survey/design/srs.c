/* Simple random sampling without replacement: pi = n/N, pi_kl = n(n-1) / (N(N-1)). */
#include "survey/design/form.h"

static tamis_status pair(tmi_ball *p, const tamis_design *design, int64_t k, int64_t l, long bits, tamis_error *err)
{
    (void)l;
    tamis_status status = tmi_equal_first(p, design, k, bits, err);
    tmi_ball_mul_int(p, p, design->sample - 1, bits);
    tmi_ball_div_int(p, p, design->population - 1, bits); /* two units: the population is at least 2 */
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int64_t sets = 1; /* N choose n, at most 184756 */
    uint32_t last = UINT32_C(1) << design->population;
    for (int64_t i = 1; i <= design->sample; i++) sets = sets * (design->population - design->sample + i) / i;
    for (uint32_t set = (UINT32_C(1) << design->sample) - 1; set < last && status == TAMIS_OK;) {
        tamis_number *p;
        status = tmi_number_ratio(&p, 1, sets, err);
        if (status == TAMIS_OK) status = tmi_sample_law_take_set(law, set, p, err);
        uint32_t low = set & -set, carried = set + low; /* the next set of the same size (Gosper) */
        set = carried | ((carried ^ set) / low >> 2);
    }
    return status;
}

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         const tmi_watch *watch, tamis_error *err)
{
    (void)tables, (void)watch;
    tamis_status status = tmi_drawn_reserve(drawn, (size_t)design->sample, err);
    if (status != TAMIS_OK) return status;
    uint64_t *units = (uint64_t *)(drawn->units + drawn->count); /* below 2^40: the same as int64_t */
    status = tamis_sample(units, (uint64_t)design->population, (uint64_t)design->sample, rng, err);
    if (status == TAMIS_OK) drawn->count += (size_t)design->sample;
    return status;
}

static tamis_status expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    /* Where everybody is taken, a frame that lost a unit does not have as many. */
    tamis_distance removal = {.exchanges = design->sample < design->population};
    return tmi_expose_alike(
        exposures,
        (tamis_exposure){.count = design->population, .absences[0].distance.exchanges = 1, .removal = removal, .theorem = "srs"},
        design, err);
}

static const tmi_design_kind srs = {TMI_EQUAL_KIND("srs"), .simple = true, .pair = pair,
                                    .law = law_of,         .draw = draw,   .expose = expose};

tamis_status tamis_design_srs(tamis_design **design, int64_t population, int64_t sample, tamis_error *err)
{
    return tmi_equal_new(design, &srs, population, sample, err);
}

/* ---- as JSON ---- */

static tamis_status read_srs(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    int64_t population, sample;
    tamis_status status = tmi_design_sizes_of(&population, &sample, f, err);
    return status == TAMIS_OK ? tamis_design_srs(design, population, sample, err) : status;
}

const tmi_design_form tmi_srs_form = {.name = "srs", .keys = {"population", "sample"}, .read = read_srs};
