#include "measure/moments.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/classes.h"
#include "measure/measurement.h"

void tmi_moment_sum_clear(tmi_moment_sum *s)
{
    tmi_free(s->block);
    *s = (tmi_moment_sum){0};
}

const char *tmi_cell_value(const tmi_plan_column *const *by, size_t by_count, size_t cell, size_t i)
{
    for (size_t j = by_count; j-- > i + 1;) cell /= by[j]->value_count;
    return by[i]->values[cell % by[i]->value_count];
}

size_t tmi_group_code(const tmi_plan_statistic *t, size_t group, size_t k)
{
    for (size_t j = t->by_count; j-- > k + 1;) group /= t->by[j]->value_count;
    return group % t->by[k]->value_count;
}

/* ---- vectors over the levels of axes ---- */

/* Multiplies a vector over the levels of an axis by one over the classes of a column on it. Levels run through the classes of all
 * columns on the axis, the last column fastest. */
static void restrict_axis(double *v, const tmi_workload *w, size_t axis, size_t classes, const double *factor)
{
    const tmi_origin *o = &w->origins[axis];
    size_t after = 1, k = o->classes_count;
    while (k > 0 && o->classes[k - 1] != classes) after *= tmi_classes_levels(&w->classes[o->classes[--k]]);
    const size_t own = tmi_classes_levels(&w->classes[classes]);
    for (size_t level = 0; level < w->axes[axis].levels; level++) v[level] *= factor[level / after % own];
}

/* What 1, t and t^2 are at a level: 0 where the number is missing. */
static double level_of_power(const tmi_axis *axis, int power, size_t level)
{
    if (level > (size_t)axis->degree) return 0;
    if (power == 0) return 1;
    if (power == 1) return (double)level / axis->degree;
    return level == (size_t)axis->degree ? 1 : 0;
}

/* Multiplies a vector by the power 0, 1 or 2 of a variable, over the levels of its axis: 0 where it is missing. `stratum` chooses
 * the range. */
static void multiply_by_power(double *v, const tmi_workload *w, const tmi_variable *x, int power, size_t stratum)
{
    if (!x->column || x->axis == SIZE_MAX) return; /* all rows are in one class */
    if (x->classes != SIZE_MAX) {
        restrict_axis(v, w, x->axis, x->classes, power == 0 ? x->present : x->one);
        if (power == 2) restrict_axis(v, w, x->axis, x->classes, x->one);
        return;
    }
    const tmi_axis *axis = &w->axes[x->axis];
    const tmi_grid grid = tmi_axis_grid(w, x->axis, stratum);
    const double low = grid.step * (double)grid.low, width = grid.step * (double)(grid.high - grid.low);
    const double c[3][3] = {{1, 0, 0}, {low, width, 0}, {low * low, 2 * low * width, width * width}};
    for (size_t level = 0; level < axis->levels; level++) {
        double value = 0;
        for (int p = 0; p <= power; p++) value += c[power][p] * level_of_power(axis, p, level);
        v[level] *= value;
    }
}

/* ---- sums of moments ---- */

/* The vector of an axis in term number `term`, which begins as ones. */
typedef struct making {
    tmi_moment_sum *sum;
    const tmi_workload *w;
    const tmi_statistic_map *r;
    size_t terms;
    size_t of_y; /* terms with the powers of y, for each power of the control number that there is */
    size_t powers[TMI_CONTROL_POWERS];
} making;

static double *vector_of(const making *m, size_t axis, size_t term)
{
    const tmi_combination *c = &m->sum->combination;
    size_t offset = 0;
    for (size_t a = 0; a < c->axis_count; a++) {
        if (c->axes[a] == axis) return m->sum->block + offset + term * m->w->axes[axis].levels;
        offset += m->terms * m->w->axes[c->axes[a]].levels;
    }
    return NULL;
}

static void restrict_all(const making *m, size_t classes, const double *factor)
{
    const size_t axis = m->w->classes[classes].axis;
    if (axis == SIZE_MAX) return;
    for (size_t t = 0; t < m->terms; t++) restrict_axis(vector_of(m, axis, t), m->w, axis, classes, factor);
}

/* Where classes are a few, a buffer on the stack would do; they may be thousands. */
static tamis_status with_room(const making *m, size_t classes, double **factor, tamis_error *err)
{
    *factor = tmi_alloc(tmi_classes_levels(&m->w->classes[classes]), sizeof **factor);
    return *factor ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status restrict_group(const making *m, const tmi_plan_statistic *t, const size_t *by, size_t group, tamis_error *err)
{
    for (size_t k = 0; k < t->by_count; k++) {
        double *factor;
        size_t first, end;
        if (by[k] == SIZE_MAX) continue;
        tamis_status status = with_room(m, by[k], &factor, err);
        if (status != TAMIS_OK) return status;
        const tmi_classes *classes = &m->w->classes[by[k]];
        const size_t value = tmi_group_code(t, group, k);
        tmi_classes_of_value(&first, &end, classes, t->by[k], value);
        for (size_t c = first; c < end; c++) factor[c] = tmi_class_has_value(classes, t->by[k], value, c);
        restrict_all(m, by[k], factor);
        tmi_free(factor);
    }
    return TAMIS_OK;
}

static tamis_status restrict_where(const making *m, tamis_error *err)
{
    const tmi_plan_column *where = m->r->where;
    for (size_t k = 0; where && k < (m->r->whole ? 1 : where->condition_count); k++) {
        if (!m->r->whole && tmi_is_separate(m->w, where->conditions[k].column)) continue;
        const tmi_question q = m->r->whole ? tmi_question_whole(where, true) : tmi_question_if(&where->conditions[k]);
        const size_t classes = tmi_workload_find(m->w, &q);
        double *factor;
        tamis_status status = with_room(m, classes, &factor, err);
        if (status != TAMIS_OK) return status;
        if (m->r->whole) factor[1] = 1;
        else tmi_condition_vector(factor, &m->w->classes[classes], &where->conditions[k]);
        restrict_all(m, classes, factor);
        tmi_free(factor);
    }
    return TAMIS_OK;
}

/* Adds up powers of x, of which `times` more come with the control number: a vector over its axis. Cubes are not measured. */
static tamis_status set_polynomial(const making *m, double *vector, const tmi_variable *x, const double of[3], size_t times,
                                   size_t stratum, tamis_error *err)
{
    double c[3] = {0};
    for (size_t p = times; p < 3; p++) c[p] = of[p - times] / pow(m->w->control_scale, (double)times);
    const size_t levels = m->w->axes[x->axis].levels;
    double *power = tmi_alloc(levels, sizeof *power), *sum = tmi_alloc(levels, sizeof *sum);
    for (int p = 0; power && sum && p < 3; p++) {
        if (c[p] == 0) continue;
        for (size_t l = 0; l < levels; l++) power[l] = 1;
        multiply_by_power(power, m->w, x, p, stratum);
        for (size_t l = 0; l < levels; l++) sum[l] += c[p] * power[l];
    }
    for (size_t l = 0; power && sum && l < levels; l++) vector[l] *= sum[l];
    tamis_status status = power && sum ? TAMIS_OK : tmi_fail_memory(err);
    tmi_free(power);
    tmi_free(sum);
    return status;
}

bool tmi_has_moment_times(const tmi_workload *w, size_t i, size_t moment, size_t power)
{
    const tmi_statistic_map *r = &w->maps[i];
    const bool x = r->x.column && r->x.axis == w->number_axis, y = r->y.column && r->y.axis == w->number_axis;
    size_t own = 0;
    if (w->number_axis == SIZE_MAX) return power == 0 && tmi_has_moment(r, moment);
    if (x) own += moment == TMI_OF_X || moment == TMI_OF_XY ? 1 : moment == TMI_OF_XX ? 2 : 0;
    if (y) own += moment == TMI_OF_Y || moment == TMI_OF_XY ? 1 : moment == TMI_OF_YY ? 2 : 0;
    return tmi_has_moment(r, moment) && own + power <= 2;
}

/* Multiplies y^k and what the control number adds, on the axis that both share: y^(k + times). */
static void multiply_shared(const making *m, double *v, size_t term, size_t k, size_t times, size_t stratum)
{
    if (k + times > 2) m->sum->combination.scale[term] = 0;
    else multiply_by_power(v, m->w, &m->r->y, (int)(k + times), stratum);
    m->sum->combination.scale[term] /= pow(m->w->control_scale, (double)times);
}

/* Term k has y^k, and a polynomial of x; so have the terms of each power of the control number. An indicator without an axis is 1
 * everywhere. */
static tamis_status set_terms(const making *m, const double c[TMI_MOMENTS], size_t stratum, tamis_error *err)
{
    const tmi_variable *x = &m->r->x, *y = &m->r->y;
    const double terms[3][3] = {{c[TMI_OF_ROWS], c[TMI_OF_X], c[TMI_OF_XX]},
                                {c[TMI_OF_Y], c[TMI_OF_XY], 0},
                                {c[TMI_OF_YY], 0, 0}};
    const double same[3] = {terms[0][0], terms[0][1] + terms[1][0], terms[0][2] + terms[1][1] + terms[2][0]};
    tamis_status status = TAMIS_OK;
    for (size_t term = 0; term < m->terms; term++) {
        const size_t k = term % m->of_y, power = m->powers[term / m->of_y], axis = m->w->number_axis;
        const bool in_x = power > 0 && x->column && x->axis == axis, own_y = y->column && y->column != x->column,
                   in_y = power > 0 && own_y && y->axis == axis;
        m->sum->combination.scale[term] = 1;
        const double *p = x->column && x->column == y->column ? same : terms[k];
        if (x->column && x->axis != SIZE_MAX) {
            TMI_TRY(set_polynomial(m, vector_of(m, x->axis, term), x, p, in_x ? power : 0, stratum, err));
        } else {
            m->sum->combination.scale[term] = p[0] + (x->column ? p[1] + p[2] : 0);
        }
        if (in_y) multiply_shared(m, vector_of(m, axis, term), term, k, power, stratum);
        else if (own_y && y->axis != SIZE_MAX) multiply_by_power(vector_of(m, y->axis, term), m->w, y, (int)k, stratum);
        for (size_t l = 0; power > 0 && !in_x && !in_y && l < m->w->axes[axis].levels; l++)
            vector_of(m, axis, term)[l] *= m->w->control_powers[power][l];
        for (size_t j = 0; j < TMI_MAX_NUMBERS - 2; j++) {
            const tmi_variable *z = &m->r->also[j];
            if (z->column && z->axis != SIZE_MAX) multiply_by_power(vector_of(m, z->axis, term), m->w, z, 0, stratum);
        }
    }

done:
    return status;
}

/* The powers of the control number whose factors are not all 0. */
static size_t set_powers(size_t powers[TMI_CONTROL_POWERS], const tmi_workload *w, const double *control)
{
    const size_t levels = tmi_control_levels(w);
    size_t count = 0;
    for (size_t p = 0; control && p < tmi_factor_powers(w); p++) {
        bool any = false;
        for (size_t l = 0; l < levels; l++) any = any || control[p * levels + l] != 0;
        if (any) powers[count++] = p;
    }
    if (count > 0) return count;
    powers[0] = 0;
    return 1;
}

tamis_status tmi_moment_sum_make(tmi_moment_sum *sum, const tmi_workload *w, tmi_weighting weighting, size_t i, size_t group,
                                 size_t stratum, const double coefficients[TMI_MOMENTS], const double *control, tamis_error *err)
{
    const tmi_plan_statistic *t = &w->plan->statistics[i];
    const tmi_statistic_map *r = &w->maps[i];
    making m = {.sum = sum, .w = w, .r = r, .of_y = r->y.column && r->y.column != r->x.column ? 3 : 1};
    m.terms = m.of_y * set_powers(m.powers, w, control);
    tmi_combination *c = &sum->combination;
    size_t numbers = 0;
    tamis_status status;
    *sum = (tmi_moment_sum){
        .combination = {.weighting = weighting, .domain = r->domain, .axis_count = r->axis_count, .term_count = m.terms}};
    memcpy(c->axes, r->axes, sizeof c->axes);
    for (size_t a = 0; a < c->axis_count; a++) numbers += m.terms * w->axes[c->axes[a]].levels;
    sum->block = tmi_alloc(numbers, sizeof *sum->block);
    if (!sum->block) return tmi_fail_memory(err);
    for (size_t k = 0; k < numbers; k++) sum->block[k] = 1;
    for (size_t a = 0; a < c->axis_count; a++)
        for (size_t k = 0; k < m.terms; k++) c->vectors[a][k] = vector_of(&m, c->axes[a], k);
    if (group != SIZE_MAX) TMI_TRY(restrict_group(&m, t, r->by, group, err));
    if (r->only) TMI_TRY(restrict_group(&m, r->only->statistic, r->only->by, r->only->group, err));
    TMI_TRY(restrict_where(&m, err));
    const size_t levels = tmi_control_levels(w);
    for (size_t k = 0; control && w->control_axis != SIZE_MAX && k < m.terms; k++) {
        double *v = vector_of(&m, w->control_axis, k);
        for (size_t l = 0; l < levels; l++) v[l] *= control[m.powers[k / m.of_y] * levels + l];
    }
    TMI_TRY(set_terms(&m, coefficients, stratum, err));
    for (size_t k = 0; control && w->control_axis == SIZE_MAX && k < m.terms; k++) c->scale[k] *= control[m.powers[k / m.of_y]];

done:
    if (status != TAMIS_OK) tmi_moment_sum_clear(sum);
    return status;
}
