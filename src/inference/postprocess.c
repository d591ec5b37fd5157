#include "inference/postprocess.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "inference/adjust.h"
#include "num/number.h"

static void note(tmi_result *result, const char *words)
{
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = words;
}

/* ---- cells ---- */

/* The interval is that of the cells as they were; it is extended to a possible estimate that is outside it. */
static void extend(tmi_result *result)
{
    if (isnan(result->lower) || result->outside_range) return;
    result->lower = fmin(result->lower, result->estimate);
    result->upper = fmax(result->upper, result->estimate);
}

/* The cells of one statistic, with the sum that they have. */
static tamis_status cut_negative(tmi_result *list, size_t cells, tamis_error *err)
{
    double *t = tmi_alloc(cells, sizeof *t), *variances = tmi_alloc(cells, sizeof *variances), total = 0;
    bool fine = t && variances, negative = false;
    size_t cut;
    for (size_t i = 0; fine && i < cells; i++) {
        t[i] = list[i].estimate;
        variances[i] = list[i].se * list[i].se;
        total += t[i];
        negative = negative || t[i] < 0;
    }
    tamis_status status = fine ? TAMIS_OK : tmi_fail_memory(err);
    tamis_error ignored;
    if (fine && negative && tmi_adjust_non_negative(t, &cut, variances, cells, fmax(total, 0), &ignored) == TAMIS_OK) {
        for (size_t i = 0; i < cells; i++) {
            list[i].estimate = t[i];
            list[i].outside_range = t[i] < list[i].least || t[i] > list[i].most;
            extend(&list[i]);
            note(&list[i], tmi_adjustment_text(TMI_NON_NEGATIVE));
        }
    }
    tmi_free(t);
    tmi_free(variances);
    return status;
}

static bool is_not_negative(const tmi_plan_statistic *s)
{
    return tmi_is_sum(s) && !tmi_by_size(s) && (!s->column || s->column->conditions || s->column->grid.low >= 0);
}

/* ---- suppression ---- */

static void withhold(tmi_result *result, tmi_adjustment rule)
{
    result->estimate = result->se = result->sampling_se = result->noise_sd = TMI_NULL;
    result->lower = result->upper = result->bias = TMI_NULL;
    result->p = result->joint_p = result->r2 = TMI_NULL;
    result->shrunk = TMI_NOT_SHRUNK;
    result->df = -1;
    result->note_count = 0;
    result->reason = tmi_adjustment_text(rule);
    result->outside_range = false;
    result->withheld = true;
}

/* Of a contrast: those of its smallest group. */
static tamis_status read_compared_units(double *units, const tmi_inference *r, const tmi_plan_statistic *t, tamis_error *err)
{
    const tamis_plan *plan = r->schedule->plan;
    const size_t cells = (size_t)tmi_statistic_cells(t);
    tamis_status status = TAMIS_OK;
    for (size_t g = 0; g < cells; g++) units[g] = TMI_NULL;
    for (size_t c = 0; c < t->contrast->compared_count; c++) {
        const size_t of = t->contrast->compared[c].statistic;
        double *own = tmi_alloc((size_t)tmi_statistic_cells(&plan->statistics[of]), sizeof *own);
        if (!own) return tmi_fail_memory(err);
        status = tmi_read_units(own, r, of, err);
        for (size_t k = 0; k < t->contrast->term_count; k++)
            for (size_t g = 0; t->contrast->terms[k].compared == c && g < cells; g++)
                units[g] = fmin(units[g], own[tmi_term_cell(plan, t, k, g)]);
        tmi_free(own);
        if (status != TAMIS_OK) break;
    }
    return status;
}

/* Rows of each cell. Those of a distribution function are the rows of its shares; all quantiles of a group have the same. */
static tamis_status read_units(double *units, const tmi_inference *r, size_t statistic, tamis_error *err)
{
    const tamis_plan *plan = r->schedule->plan;
    const tmi_plan_statistic *t = &plan->statistics[statistic];
    const bool of_curve = tmi_is_of_distribution(t->kind);
    if (t->contrast) return read_compared_units(units, r, t, err);
    tamis_status status = tmi_read_units(units, r, of_curve ? plan->curves[t->curve].first : statistic, err);
    for (size_t cell = (size_t)tmi_statistic_cells(t); t->at_count > 1 && cell-- > 0;) units[cell] = units[cell / t->at_count];
    return status;
}

/* The numbers of one statistic are withheld, or flagged for their few units. What is public stays. */
static tamis_status apply_rules(tmi_result *list, size_t cells, const tmi_inference *r, tamis_error *err)
{
    const tmi_plan_postprocess *p = &r->schedule->plan->postprocess;
    const tmi_plan_statistic *t = &r->schedule->plan->statistics[list->statistic];
    const bool relative = !t->contrast || t->kind == TMI_CONTRAST_QUOTIENT; /* a difference of 0 has no relative error */
    const tmi_plan_rule *withheld = &p->rules[TMI_SUPPRESS];
    const tmi_suppression rules = {withheld->cv_above && relative ? tmi_number_nearest(withheld->cv_above) : TMI_NULL,
                                   withheld->units_below > 0 ? (double)withheld->units_below : TMI_NULL};
    double *units = tmi_alloc(cells, sizeof *units);
    if (!units) return tmi_fail_memory(err);
    tamis_status status = tmi_asks_units(p) && !list->known ? read_units(units, r, list->statistic, err) : TAMIS_OK;
    for (size_t i = 0; i < cells && status == TAMIS_OK; i++) {
        tmi_adjustment rule;
        if (list[i].known || isnan(list[i].estimate)) continue;
        if (tmi_suppress(&rule, rules, list[i].estimate, list[i].se, units[i])) withhold(&list[i], rule);
        else if (tmi_is_few(units[i], (double)p->rules[TMI_UNRELIABLE].units_below)) list[i].few_units = 'F';
        else if (tmi_is_few(units[i], (double)p->rules[TMI_CAUTION].units_below)) list[i].few_units = 'E';
    }
    tmi_free(units);
    return status;
}

tamis_status tmi_postprocess(tmi_results *r, const tmi_inference *inference, tamis_error *err)
{
    const tamis_plan *plan = r->plan;
    tamis_status status = TAMIS_OK;
    tmi_result *list = r->list;
    for (size_t i = 0; plan->postprocess.nonnegative && i < plan->asked_count && status == TAMIS_OK; i++) {
        size_t cells = (size_t)tmi_statistic_cells(&plan->statistics[i]);
        if (is_not_negative(&plan->statistics[i]) && !list->known) status = cut_negative(list, cells, err);
        list += cells;
    }
    bool rules = plan->postprocess.rules[TMI_SUPPRESS].cv_above || tmi_asks_units(&plan->postprocess);
    list = r->list;
    for (size_t i = 0; rules && i < plan->asked_count && status == TAMIS_OK; i++) {
        size_t cells = (size_t)tmi_statistic_cells(&plan->statistics[i]);
        status = apply_rules(list, cells, inference, err);
        list += cells;
    }
    return status;
}
