#include "release/schedule.h"

#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "release/available.h"
#include "release/sensitivity.h"
#include "release/statistic.h"
#include <tamis/rng.h>

void tmi_schedule_clear(tmi_schedule *s)
{
    for (size_t i = 0; i < s->measurement_count; i++) {
        tamis_number_free(s->measurements[i].share);
        tamis_number_free(s->measurements[i].epsilon);
        tamis_number_free(s->measurements[i].scale);
    }
    tmi_free(s->measurements);
    tmi_free(s->uses);
    tamis_number_free(s->weight);
    tamis_number_free(s->spent);
    tmi_plan_drop(s->plan);
    *s = (tmi_schedule){0};
}

const char *tmi_cell_value(const tmi_plan_column *const *by, size_t by_count, size_t cell, size_t i)
{
    for (size_t j = by_count; j-- > i + 1;) cell /= by[j]->value_count;
    return by[i]->values[cell % by[i]->value_count];
}

void tmi_measurement_name(tmi_text *text, const tmi_measurement *m)
{
    tmi_text_put(text, m->kind == TMI_SUM ? "sum of " : "rows");
    if (m->column && m->kind == TMI_ROWS) tmi_text_put(text, " with ");
    if (m->column) tmi_text_put(text, m->column->name);
    for (size_t i = 0; i < m->by_count; i++) tmi_text_format(text, "%s%s", i ? ", " : " by ", m->by[i]->name);
}

/* ---- which tables ---- */

static bool serves(const tmi_measurement *m, const tmi_need *need, const tmi_plan_statistic *statistic)
{
    if (m->kind != need->kind || m->column != need->column || m->by_count != statistic->by_count) return false;
    for (size_t i = 0; i < m->by_count; i++) {
        if (m->by[i] != statistic->by[i]) return false;
    }
    return need->any_centre || m->centre == 0;
}

/* The middle of the grid if that lowers the sensitivity, else 0; and the sensitivity. */
static tamis_status choose_centre(tmi_measurement *m, const tamis_setting *setting, bool any, tamis_error *err)
{
    const tmi_grid *grid = &m->column->grid;
    int64_t middle = grid->low + (grid->high - grid->low) / 2, centred;
    tamis_status status = tmi_sensitivity(&m->sensitivity, setting, grid->low, grid->high, m->cells, err);
    if (status != TAMIS_OK || !any) return status;
    status = tmi_sensitivity(&centred, setting, grid->low - middle, grid->high - middle, m->cells, err);
    if (status != TAMIS_OK || centred >= m->sensitivity) return status;
    m->centre = middle;
    m->sensitivity = centred;
    return TAMIS_OK;
}

static tamis_status add_measurement(tmi_schedule *s, const tmi_need *need, const tmi_plan_statistic *statistic,
                                    tamis_error *err)
{
    const tamis_setting *setting = s->plan->privacy.setting;
    tmi_measurement *m = &s->measurements[s->measurement_count++];
    m->kind = need->kind;
    m->column = need->column;
    m->by = statistic->by;
    m->by_count = statistic->by_count;
    m->cells = (size_t)tmi_statistic_cells(statistic);
    if (m->kind == TMI_ROWS) return tmi_sensitivity(&m->sensitivity, setting, 1, 1, m->cells, err);
    return choose_centre(m, setting, need->any_centre, err);
}

static size_t find_measurement(const tmi_schedule *s, const tmi_need *need, const tmi_plan_statistic *statistic)
{
    size_t i = 0;
    while (i < s->measurement_count && !serves(&s->measurements[i], need, statistic)) i++;
    return i;
}

/* Needs that take only one table first, those that take any centre after them: these then find what is there. */
static tamis_status choose_tables(tmi_schedule *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (int flexible = 0; flexible <= 1; flexible++) {
        for (size_t i = 0; i < s->plan->statistic_count; i++) {
            const tmi_plan_statistic *statistic = &s->plan->statistics[i];
            tmi_need needs[TMI_MAX_NEEDS];
            tmi_use *use = &s->uses[i];
            use->count = tmi_statistic_of(statistic)->needs(needs, statistic);
            for (size_t j = 0; j < use->count; j++) {
                if (needs[j].any_centre != flexible) continue;
                use->measurement[j] = find_measurement(s, &needs[j], statistic);
                if (use->measurement[j] == s->measurement_count) TMI_TRY(add_measurement(s, &needs[j], statistic, err));
            }
        }
    }

done:
    return status;
}

/* ---- budget ---- */

/* x += y * p / q */
static tamis_status add_part(tamis_number **x, const tamis_number *y, int64_t p, int64_t q, tamis_error *err)
{
    tamis_number *part = NULL, *product = NULL, *sum = NULL;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&part, p, q, err));
    TMI_TRY(tmi_number_mul(&product, part, y, err));
    if (*x) TMI_TRY(tmi_number_add(&sum, *x, product, err));
    else TMI_TRY(tmi_number_copy(&sum, product, err));
    tamis_number_free(*x);
    *x = sum;

done:
    tamis_number_free(part);
    tamis_number_free(product);
    return status;
}

static tamis_status collect_shares(tmi_schedule *s, tamis_number **all, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->plan->statistic_count; i++) {
        const tmi_plan_statistic *statistic = &s->plan->statistics[i];
        tmi_need needs[TMI_MAX_NEEDS];
        size_t count = tmi_statistic_of(statistic)->needs(needs, statistic);
        int64_t parts = 0;
        for (size_t j = 0; j < count; j++) parts += needs[j].parts;
        for (size_t j = 0; j < count; j++) {
            tmi_measurement *m = &s->measurements[s->uses[i].measurement[j]];
            TMI_TRY(add_part(&m->share, statistic->share, needs[j].parts, parts, err));
        }
        if (count > 0) TMI_TRY(add_part(all, statistic->share, 1, 1, err));
    }

done:
    return status;
}

/* Discrete Laplace noise has a range of scales; one number beyond it and the sampler would refuse after the fact. */
static tamis_status check_scale(const tmi_measurement *m, const tamis_plan *plan, tamis_error *err)
{
    tamis_number *least = NULL, *most = NULL;
    tmi_text name;
    tamis_status status;
    tmi_text_init(&name);
    TMI_TRY(tamis_number_read(&least, TAMIS_SCALE_MIN, err));
    TMI_TRY(tamis_number_read(&most, TAMIS_LAPLACE_SCALE_MAX, err));
    bool small = tmi_number_compare(m->scale, least) < 0, large = tmi_number_compare(m->scale, most) > 0;
    if (small || large) {
        tmi_measurement_name(&name, m);
        if (name.failed) {
            status = tmi_fail_memory(err);
            goto done;
        }
        status = tmi_fail(err, TAMIS_INVALID,
                          small ? "%s:%d:%d: privacy.epsilon: too large: the noise scale of the %s would be below %s, which "
                                  "protects nothing"
                                : "%s:%d:%d: privacy.epsilon: too small: the noise scale of the %s would be above %s steps",
                          plan->name, plan->privacy.loss.line, plan->privacy.loss.column, name.bytes, small ? TAMIS_SCALE_MIN : TAMIS_LAPLACE_SCALE_MAX);
    }

done:
    tmi_text_clear(&name);
    tamis_number_free(least);
    tamis_number_free(most);
    return status;
}

/* The limit of tmi_add_noise: a cell's true number is at most B = rows * largest contribution in size, all public. With
 * B < 2^61 the limit is more than 2^61 away from 0, where no noise of any use leads. */
static tamis_status choose_limit(tmi_measurement *m, int64_t rows, tamis_error *err)
{
    int64_t largest = 1, bound;
    if (m->kind == TMI_SUM) {
        int64_t low = m->column->grid.low - m->centre, high = m->column->grid.high - m->centre;
        largest = high > -low ? high : -low;
    }
    if (__builtin_mul_overflow(rows, largest, &bound) || bound >= TAMIS_NOISE_MAX / 2)
        return tmi_fail(err, TAMIS_INVALID,
                        "columns.%s: rows times the largest value is 2^61 steps or more; choose a coarser step",
                        m->column ? m->column->name : "rows");
    m->limit = TAMIS_NOISE_MAX - bound;
    return TAMIS_OK;
}

/* epsilon_m = epsilon * share_m / sum of shares, scale_m = sensitivity_m / epsilon_m. */
static tamis_status split_budget(tmi_schedule *s, tamis_error *err)
{
    tamis_number *all = NULL, *product = NULL, *sensitivity = NULL;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&s->spent, 0, 1, err));
    TMI_TRY(collect_shares(s, &all, err));
    for (size_t i = 0; i < s->measurement_count; i++) {
        tmi_measurement *m = &s->measurements[i];
        TMI_TRY(tmi_number_mul(&product, s->plan->privacy.loss.epsilon, m->share, err));
        TMI_TRY(tmi_number_div(&m->epsilon, product, all, err));
        TMI_TRY(tmi_number_ratio(&sensitivity, m->sensitivity, 1, err));
        TMI_TRY(tmi_number_div(&m->scale, sensitivity, m->epsilon, err));
        TMI_TRY(check_scale(m, s->plan, err));
        TMI_TRY(add_part(&s->spent, m->epsilon, 1, 1, err));
        tamis_number_free(product);
        tamis_number_free(sensitivity);
        product = sensitivity = NULL;
    }

done:
    tamis_number_free(all);
    tamis_number_free(product);
    tamis_number_free(sensitivity);
    return status;
}

/* A setting that forbids what the plan asks, with the place in the plan. */
static tamis_status check_setting(const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_privacy *privacy = &plan->privacy;
    tamis_error reason;
    if (!privacy->design_protected || tamis_setting_protects_design(privacy->setting, &reason) == TAMIS_OK) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "%s:%d:%d: privacy.design_variables: %.1000s", plan->name, privacy->design_line,
                    privacy->design_column, reason.message);
}

tamis_status tmi_schedule_make(tmi_schedule *s, const tamis_plan *plan, tamis_error *err)
{
    tamis_status status;
    *s = (tmi_schedule){.plan = tmi_plan_hold(plan), .design = tmi_design_of(&plan->design)};
    s->measurements = tmi_alloc(TMI_MAX_NEEDS * plan->statistic_count, sizeof *s->measurements);
    s->uses = tmi_alloc(plan->statistic_count, sizeof *s->uses);
    if (!s->measurements || !s->uses) {
        status = tmi_fail_memory(err);
        goto done;
    }
    TMI_TRY(tmi_plan_available(plan, err));
    TMI_TRY(check_setting(plan, err));
    TMI_TRY(s->design->weight(&s->weight, &plan->design, err));
    TMI_TRY(choose_tables(s, err));
    for (size_t i = 0; i < s->measurement_count; i++)
        TMI_TRY(choose_limit(&s->measurements[i], s->design->row_count(&plan->design), err));
    TMI_TRY(split_budget(s, err));
    TMI_TRY(tmi_outsider_make(&s->outsider, plan, s->design, s->spent, err));

done:
    if (status != TAMIS_OK) tmi_schedule_clear(s);
    return status;
}
