/* First- and second-order inclusion probabilities: the kinds give balls, here they become narrow bounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "survey/design/design.h"

typedef struct unit_of {
    const tamis_design *design;
    int64_t unit;
} unit_of;

static tamis_status first_formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const unit_of *u = context;
    return u->design->kind->first(value, u->design, u->unit, bits, err);
}

static tamis_status missing_formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    tamis_status status = first_formula(value, context, bits, err);
    tmi_ball_neg(value, value);
    tmi_ball_add_int(value, value, 1, bits);
    return status;
}

tamis_status tmi_certify_missing(tamis_bound *probability, const tamis_design *design, int64_t unit, tamis_error *err)
{
    return tmi_certify(probability, TAMIS_WIDTH, missing_formula, &(unit_of){design, unit}, err);
}

static tamis_bound as_probability(tamis_bound bound) { return (tamis_bound){fmax(bound.lower, 0), fmin(bound.upper, 1)}; }

static tamis_status certify_first(tamis_bound *pi, const tamis_design *design, int64_t unit, tamis_error *err)
{
    unit_of u = {design, unit};
    tamis_status status = tmi_certify(pi, TAMIS_WIDTH, first_formula, &u, err);
    *pi = as_probability(*pi);
    return status;
}

static tamis_status check_units(const tamis_design *design, const int64_t *units, size_t count, tamis_error *err)
{
    if (!units && count > (size_t)design->population) return tmi_fail(err, TAMIS_INVALID, "count: more than there are units");
    for (size_t i = 0; units && i < count; i++)
        if (units[i] < 0 || units[i] >= design->population)
            return tmi_fail(err, TAMIS_INVALID, "units: number %zu is not a unit of the frame", i);
    return TAMIS_OK;
}

tamis_status tamis_inclusion_first(tamis_bound *pi, const tamis_design *design, const int64_t *units, size_t count,
                                   tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!pi) return tmi_fail(err, TAMIS_INVALID, "pi: NULL");
    for (size_t i = 0; i < count; i++) pi[i] = (tamis_bound){0, 1};
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    status = check_units(design, units, count, err);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++)
        status = certify_first(&pi[i], design, units ? units[i] : (int64_t)i, err);
    if (status != TAMIS_OK)
        for (size_t i = 0; i < count; i++) pi[i] = (tamis_bound){0, 1};
    return status;
}

/* ---- pairs ---- */

static tamis_status joint_by_pairs(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                                   tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count && status == TAMIS_OK; j++) {
            int64_t k = units[i] < units[j] ? units[i] : units[j], l = units[i] < units[j] ? units[j] : units[i];
            status = design->kind->pair(&pij[i * count + j], design, k, l, bits, err);
        }
    return status;
}

static tamis_status joint_by_law(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                                 tamis_error *err)
{
    tamis_law *law = NULL;
    tamis_status status = tmi_sample_law_of(&law, design, err);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++)
        for (size_t j = i + 1; j < count; j++)
            tmi_sample_law_set_ball(&pij[i * count + j], law, UINT32_C(1) << units[i] | UINT32_C(1) << units[j], bits);
    tamis_law_free(law);
    return status;
}

tamis_status tmi_design_joint(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                              tamis_error *err)
{
    if (design->kind->joint) return design->kind->joint(pij, design, units, count, bits, err);
    return (design->kind->pair ? joint_by_pairs : joint_by_law)(pij, design, units, count, bits, err);
}

static int ascending(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* The units, or 0, 1, ...; INVALID if one appears twice. */
static tamis_status copy_units(int64_t **copy, const int64_t *units, size_t count, tamis_error *err)
{
    int64_t *sorted = tmi_alloc(count, sizeof *sorted);
    *copy = tmi_alloc(count, sizeof **copy);
    if (!sorted || !*copy) {
        tmi_free(sorted);
        return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) sorted[i] = (*copy)[i] = units ? units[i] : (int64_t)i;
    qsort(sorted, count, sizeof *sorted, ascending);
    bool twice = false;
    for (size_t i = 1; i < count; i++) twice = twice || sorted[i] == sorted[i - 1];
    tmi_free(sorted);
    return twice ? tmi_fail(err, TAMIS_INVALID, "units: duplicate unit") : TAMIS_OK;
}

/* True if every pair is narrow enough. */
static bool write_pairs(tamis_bound *pij, const tmi_ball *balls, size_t count)
{
    bool narrow = true;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            tamis_bound b = as_probability(tmi_ball_bound(&balls[i * count + j]));
            narrow = narrow && b.upper - b.lower <= fmax(TAMIS_WIDTH * b.upper, 1e-300);
            pij[i * count + j] = pij[j * count + i] = b;
        }
    return narrow;
}

tamis_status tamis_inclusion_joint(tamis_bound *pij, const tamis_design *design, const int64_t *units, size_t count,
                                   tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int64_t *copy = NULL;
    tmi_ball *balls = NULL;
    bool narrow = false;
    if (!pij) return tmi_fail(err, TAMIS_INVALID, "pij: NULL");
    if (count > TAMIS_MAX_JOINT) return tmi_fail(err, TAMIS_INVALID, "count: must be at most %d for pairs", TAMIS_MAX_JOINT);
    for (size_t i = 0; i < count * count; i++) pij[i] = (tamis_bound){0, 1};
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    TMI_TRY(check_units(design, units, count, err));
    TMI_TRY(copy_units(&copy, units, count, err));
    if (!(balls = tmi_balls_new(count * count))) TMI_TRY(tmi_fail_memory(err));
    for (long bits = TMI_BITS_FIRST; !narrow; bits *= 2) {
        if (bits > TMI_BITS_LAST) TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "the joint probabilities could not be certified"));
        TMI_TRY(tmi_design_joint(balls, design, copy, count, bits, err));
        narrow = write_pairs(pij, balls, count);
    }
    for (size_t i = 0; i < count; i++) TMI_TRY(certify_first(&pij[i * count + i], design, copy[i], err));
done:
    tmi_free(copy);
    tmi_balls_free(balls, count * count);
    for (size_t i = 0; status != TAMIS_OK && i < count * count; i++) pij[i] = (tamis_bound){0, 1};
    return status;
}
