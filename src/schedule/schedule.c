#include "schedule/schedule.h"

#include <math.h>

#include "base/check.h"
#include "base/memory.h"
#include "schedule/controls.h"
#include "schedule/refusals.h"

void tmi_schedule_clear(tmi_schedule *s)
{
    for (size_t i = 0; i < s->measurement_count; i++) tmi_measurement_clear(&s->measurements[i]);
    tmi_free(s->measurements);
    tmi_free(s->uses);
    tmi_sampling_clear(&s->sampling);
    tamis_number_free(s->spent);
    tamis_number_free(s->epsilon);
    tamis_number_free(s->delta);
    tmi_frame_file_clear(&s->frame);
    tmi_plan_drop(s->plan);
    *s = (tmi_schedule){0};
}

const tmi_frame_facts *tmi_frame_of(const tmi_schedule *s) { return s->frame.facts.count > 0 ? &s->frame.facts : NULL; }

const tmi_measurement *tmi_table_of(const tmi_schedule *s, size_t statistic, tmi_role role)
{
    size_t table = s->uses[statistic].table[role];
    return table == TMI_NO_TABLE ? NULL : &s->measurements[table];
}

bool tmi_is_calibrated(const tmi_schedule *s, size_t statistic)
{
    return s->uses[statistic].table[TMI_CONTROL_ROWS] != TMI_NO_TABLE;
}

/* ---- what is known ---- */

/* A value that is never missing. */
static bool never_missing(const tmi_plan_column *column)
{
    if (!column) return true;
    for (size_t i = 0; i < column->condition_count; i++) {
        if (!never_missing(column->conditions[i].column)) return false;
    }
    if (column->conditions) return true;
    return column->is_number && column->missing == TMI_AS_VALUE && !column->by_stratum;
}

static bool is_count(const tmi_plan_statistic *s)
{
    return s->kind == TMI_COUNT || s->kind == TMI_TABLE || s->kind == TMI_HISTOGRAM;
}

/* Whether the sizes of all groups are declared: the population, or the strata. */
static bool groups_are_declared(const tmi_schedule *s, const tmi_plan_statistic *statistic)
{
    const tmi_plan_design *d = &s->plan->design;
    if (statistic->where || d->kind->clusters || d->population == 0 || tmi_counts_rows(s->plan)) return false;
    if (statistic->by_count == 0) return true;
    return statistic->by_count == 1 && d->by && statistic->by[0] == d->by && s->sampling.stays;
}

/* The sum of the weights of a group is its size: rows are fixed, nothing is missing. */
static bool denominator_is_known(const tmi_schedule *s, const tmi_plan_statistic *statistic)
{
    /* moved weights add up to the population, not to strata */
    if (s->plan->design.regularise && statistic->by_count > 0) return false;
    return groups_are_declared(s, statistic) && s->sampling.rows_fixed && s->sampling.weights != TMI_ROWS && !s->calibrated &&
           !s->sampling.clustered && never_missing(statistic->column);
}

int64_t tmi_public_rows(const tmi_schedule *s, size_t statistic, size_t group)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    const tmi_plan_design *d = &s->plan->design;
    if (!s->sampling.rows_fixed || !groups_are_declared(s, t)) return 0;
    return t->by_count > 0 ? d->strata[group].sample : d->sample;
}

bool tmi_divides_total(const tmi_schedule *s, const tmi_plan_statistic *statistic)
{
    return tmi_by_size(statistic) && !denominator_is_known(s, statistic);
}

/* ---- dimensions ---- */

size_t tmi_find_strata(const tmi_plan_column *const *by, size_t count, const tmi_plan_design *d)
{
    size_t i = 0;
    while (i < count && by[i] != d->by) i++;
    return i;
}

bool tmi_has_ranges_by_stratum(const tmi_plan_statistic *s)
{
    return (s->column && s->column->by_stratum) || (s->second && s->second->by_stratum);
}

/* Measuring by stratum is worth it if it makes the noise little larger: the sum of the squares of weight times range against
 * the largest of them. Then stratum means are known, and variances are better. */
#define WORTH 1.5

static bool worth_strata(const tmi_schedule *s, const tmi_plan_statistic *statistic)
{
    double sum = 0, largest = 0;
    for (size_t h = 0; h < s->sampling.strata; h++) {
        double reach = 1;
        if (statistic->column) {
            tmi_grid g = tmi_grid_in(statistic->column, h);
            reach = g.step * fmax(fabs((double)g.low), fabs((double)g.high));
        }
        double noise = tmi_number_nearest(s->sampling.weight[h]) * reach;
        sum += noise * noise;
        largest = fmax(largest, noise * noise);
    }
    return sum <= WORTH * largest;
}

static bool by_strata(const tmi_schedule *s, const tmi_plan_statistic *statistic)
{
    if (!s->sampling.stays) return false;
    if (tmi_has_ranges_by_stratum(statistic)) return true;
    return s->sampling.weights == TMI_STRATA && !s->sampling.clustered && worth_strata(s, statistic);
}

/* The groups of the statistic, the control cells, the strata. */
static tamis_status set_dimensions(tmi_measurement *m, const tmi_schedule *s, const tmi_plan_statistic *statistic, bool strata,
                                   tamis_error *err)
{
    const tmi_plan_design *d = &s->plan->design;
    m->by_count = statistic->by_count;
    for (size_t i = 0; i < m->by_count; i++) m->by[i] = statistic->by[i];
    if (!tmi_calibration_cross(m->by, &m->by_count, s))
        return tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: expected at most %d groupings, those of `calibrate` included",
                        s->plan->name, statistic->line, statistic->place, TMI_MAX_BY);
    bool in_by = tmi_find_strata(m->by, m->by_count, d) < m->by_count;
    if (!in_by && strata) m->by[m->by_count++] = d->by;
    m->stratum_at = s->sampling.stays ? tmi_find_strata(m->by, m->by_count, d) : m->by_count;
    m->units = s->sampling.variance_units;
    bool apart = s->sampling.weights == TMI_STRATA && m->stratum_at < m->by_count;
    bool plain = s->sampling.weights == TMI_ALIKE || apart;
    m->quantity.weighing = plain ? TMI_UNWEIGHED : TMI_WEIGHED;
    m->quantity.where = statistic->where;
    return TAMIS_OK;
}

/* ---- tables ---- */

static bool same_quantity(const tmi_quantity *p, const tmi_quantity *q, bool any_centre)
{
    bool centre = any_centre || (p->centre_x == q->centre_x && p->centre_y == q->centre_y);
    return p->x == q->x && p->y == q->y && p->present == q->present && p->present_too == q->present_too && p->where == q->where &&
           p->weighing == q->weighing && centre;
}

static bool same_dimensions(const tmi_measurement *m, const tmi_measurement *n)
{
    if (m->by_count != n->by_count) return false;
    for (size_t i = 0; i < m->by_count; i++) {
        if (m->by[i] != n->by[i]) return false;
    }
    return true;
}

/* The middle of the grid if that lowers the sensitivity of a table of sums; that of a mean also if it does not raise it, as
 * squares about the middle are smaller. */
static int64_t choose_centre(const tmi_measurement *m, bool mean)
{
    const tmi_quantity *q = &m->quantity;
    if (!q->x || q->x->conditions || q->x->by_stratum) return 0;
    tmi_grid g = q->x->grid;
    double low = (double)g.low, high = (double)g.high, far = fmax(fabs(low), fabs(high));
    double as_it_is = m->movable > 1 ? 2 * far : fmax(far, high - low);
    double centred = m->movable > 1 ? high - low + 1 : high - low;
    return centred < as_it_is || (mean && centred == as_it_is) ? g.low + (g.high - g.low) / 2 : 0;
}

/* The number of the table, found or added. */
static tamis_status take_table(size_t *table, tmi_schedule *s, tmi_measurement m, bool any_centre, tamis_error *err)
{
    for (*table = 0; *table < s->measurement_count; (*table)++) {
        const tmi_measurement *n = &s->measurements[*table];
        if (same_dimensions(n, &m) && same_quantity(&n->quantity, &m.quantity, any_centre)) return TAMIS_OK;
    }
    tamis_status going = tmi_watch_beat(s->watch, err);
    if (going != TAMIS_OK) return going;
    tmi_measurement *place = &s->measurements[s->measurement_count++];
    *place = m;
    if (any_centre) {
        place->movable = 1;
        for (size_t i = 0; i < m.by_count; i++) place->movable *= i == m.stratum_at ? 1 : m.by[i]->value_count;
        place->quantity.centre_x = choose_centre(place, !m.quantity.present);
    }
    return tmi_measurement_prepare(place, &s->sampling, &s->plan->privacy, err);
}

typedef struct need {
    tmi_role role;
    const tmi_plan_column *x, *y, *present, *present_too;
    bool any_centre;
} need;

/* The sums that a statistic is made of; their number. */
static size_t main_needs(need needs[3], const tmi_schedule *s, const tmi_plan_statistic *t)
{
    bool known = denominator_is_known(s, t);
    switch (tmi_divides_total(s, t) ? TMI_TOTAL : t->kind) {
    case TMI_TOTAL: needs[0] = (need){.role = TMI_NUMERATOR, .x = t->column}; return 1;
    case TMI_MEAN:
    case TMI_SHARE:
        needs[0] = (need){.role = TMI_NUMERATOR, .x = t->column, .any_centre = true};
        needs[1] = (need){.role = TMI_DENOMINATOR, .present = s->calibrated && never_missing(t->column) ? NULL : t->column};
        return known ? 1 : 2;
    case TMI_RATIO:
        needs[0] = (need){.role = TMI_NUMERATOR, .x = t->column, .present = t->second, .any_centre = true};
        needs[1] = (need){.role = TMI_DENOMINATOR, .x = t->second, .present = t->column, .any_centre = true};
        needs[2] = (need){.role = TMI_RATIO_ROWS, .present = t->column, .present_too = t->second};
        return 3;
    case TMI_VARIANCE:
        needs[0] = (need){.role = TMI_NUMERATOR, .x = t->column, .any_centre = true};
        needs[1] = (need){.role = TMI_DENOMINATOR, .present = t->column};
        needs[2] = (need){.role = TMI_SQUARES, .x = t->column, .y = t->column};
        return 3;
    default: needs[0] = (need){.role = TMI_NUMERATOR}; return 1;
    }
}

static const tmi_plan_column *square(const tmi_plan_column *x)
{
    return x && x->conditions ? NULL : x; /* 0 and 1 are their own squares */
}

/* The sums of squares that a statistic's sampling error needs beside them; their number. In unweighed tables of a mean
 * all but the squares are there already; a variance takes a bound. */
static size_t square_needs(need needs[3], const tmi_schedule *s, const tmi_plan_statistic *t, bool weighed)
{
    size_t count = 0;
    const tmi_plan_column *x = t->column, *y = t->second;
    if (s->sampling.clustered || t->kind == TMI_VARIANCE) return 0;
    if (t->kind == TMI_RATIO) {
        if (square(x) || weighed) needs[count++] = (need){.role = TMI_NUMERATOR_SQUARES, .x = x, .y = square(x), .present = y};
        needs[count++] = (need){.role = TMI_PRODUCTS, .x = x, .y = y};
        if (square(y) || weighed) needs[count++] = (need){.role = TMI_DENOMINATOR_SQUARES, .x = y, .y = square(y), .present = x};
        return count;
    }
    if (weighed || (x && square(x))) needs[count++] = (need){.role = TMI_NUMERATOR_SQUARES, .x = x, .y = x ? square(x) : NULL};
    bool total = t->kind == TMI_TOTAL || tmi_divides_total(s, t);
    if (!weighed || is_count(t) || (total && !s->calibrated)) return count;
    if (square(x)) needs[count++] = (need){.role = TMI_PRODUCTS, .x = x};
    if (total) return count;
    needs[count++] = (need){.role = TMI_DENOMINATOR_SQUARES, .present = x};
    return count;
}

static bool varies(const tmi_schedule *s) { return !s->plan->design.kind->takes_all; }

/* The middle of a column's range, about which squares are smallest. */
static int64_t middle(const tmi_plan_column *x)
{
    if (!x || x->conditions || x->by_stratum) return 0;
    return x->grid.low + (x->grid.high - x->grid.low) / 2;
}

/* Those of a ratio where the mean is taken off: the variance is then nearly that of x - r y about any centre. */
static bool squares_are_centred(const tmi_schedule *s, size_t i)
{
    const tmi_measurement *a = tmi_table_of(s, i, TMI_NUMERATOR);
    return s->plan->statistics[i].kind == TMI_RATIO && s->sampling.subtracts && !s->sampling.clustered && varies(s) &&
           a->quantity.weighing == TMI_UNWEIGHED;
}

/* Whether the rows of a ratio are to be counted: something in it is centred, and their number does not follow from the design. */
static bool needs_rows(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_measurement *a = tmi_table_of(s, i, TMI_NUMERATOR), *b = tmi_table_of(s, i, TMI_DENOMINATOR);
    if (!a || !b || (denominator_is_known(s, t) && never_missing(t->second))) return false;
    bool squares = squares_are_centred(s, i) && (middle(t->column) != 0 || middle(t->second) != 0);
    return a->quantity.centre_x != 0 || b->quantity.centre_x != 0 || squares;
}

static tamis_status take_need(tmi_schedule *s, size_t i, const need *n, bool squares, tamis_error *err)
{
    const tmi_plan_statistic *statistic = &s->plan->statistics[i];
    tmi_use *use = &s->uses[i];
    tmi_measurement m = {0};
    tamis_status status = set_dimensions(&m, s, statistic, by_strata(s, statistic), err);
    if (status != TAMIS_OK) return status;
    if (squares && m.quantity.weighing == TMI_WEIGHED) m.quantity.weighing = TMI_SPREAD;
    m.quantity.x = n->x;
    m.quantity.y = n->y;
    m.quantity.present = n->present;
    m.quantity.present_too = n->present_too;
    const tmi_measurement *a = n->role == TMI_NUMERATOR ? NULL : tmi_table_of(s, i, TMI_NUMERATOR);
    bool follows = n->x && n->x == statistic->column && statistic->kind != TMI_RATIO && a; /* its centre is that of the sums */
    if (follows) m.quantity.centre_x = a->quantity.centre_x;
    if (follows && n->y) m.quantity.centre_y = a->quantity.centre_x;
    if (squares && squares_are_centred(s, i)) {
        m.quantity.centre_x = middle(n->x);
        m.quantity.centre_y = middle(n->y);
    }
    return take_table(&use->table[n->role], s, m, n->any_centre, err);
}

/* The counts of the control cells, by strata if any table is; where weights are in the table also the sums of a. */
static tamis_status count_controls(tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_statistic all = {.kind = TMI_COUNT};
    tamis_status status = TAMIS_OK;
    bool strata = by_strata(s, &all);
    for (size_t i = 0; i < s->measurement_count; i++)
        strata = strata || s->measurements[i].stratum_at < s->measurements[i].by_count;
    for (size_t i = 0; s->calibrated && i < s->plan->statistic_count; i++) {
        tmi_measurement m = {0};
        if (s->uses[i].known) continue;
        TMI_TRY(set_dimensions(&m, s, &all, strata, err));
        bool weighed = m.quantity.weighing == TMI_WEIGHED;
        TMI_TRY(take_table(&s->uses[i].table[TMI_CONTROL_ROWS], s, m, false, err));
        m.quantity.weighing = TMI_SPREAD;
        if (weighed && varies(s) && !s->sampling.clustered)
            TMI_TRY(take_table(&s->uses[i].table[TMI_CONTROL_SQUARES], s, m, false, err));
    }

done:
    return status;
}

/* The rows that a statistic's number rests on: those that the denominator of a mean or variance counts anyway, or those of the
 * group. A group whose rows are public needs no table, and neither does the whole sample, which is no small group. */
static tamis_status count_units(tmi_schedule *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; s->plan->postprocess.units_below > 0 && i < s->plan->statistic_count; i++) {
        const tmi_plan_statistic *t = &s->plan->statistics[i];
        const tmi_measurement *b = tmi_table_of(s, i, TMI_DENOMINATOR);
        tmi_measurement m = {0};
        if (s->uses[i].known) continue;
        if (b && !b->quantity.x && b->quantity.weighing == TMI_UNWEIGHED) {
            s->uses[i].table[TMI_GROUP_UNITS] = s->uses[i].table[TMI_DENOMINATOR];
            continue;
        }
        if ((t->by_count == 0 && !t->where) || tmi_public_rows(s, i, 0) > 0) continue;
        TMI_TRY(set_dimensions(&m, s, t, by_strata(s, t), err));
        m.quantity.weighing = TMI_UNWEIGHED;
        TMI_TRY(take_table(&s->uses[i].table[TMI_GROUP_UNITS], s, m, false, err));
    }

done:
    return status;
}

/* Sums that take only one table first, those that take any centre after them: these then find what is there; and then what
 * follows from their centres. */
static tamis_status choose_tables(tmi_schedule *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    need needs[3];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < s->plan->statistic_count; i++) {
            const tmi_plan_statistic *t = &s->plan->statistics[i];
            tmi_use *use = &s->uses[i];
            if (use->known) continue;
            size_t count = main_needs(needs, s, t);
            for (size_t j = 0; j < count; j++) {
                int turn = needs[j].role == TMI_SQUARES ? 2 : needs[j].any_centre;
                if (t->kind == TMI_RATIO && needs[j].role == TMI_RATIO_ROWS && !needs_rows(s, i)) continue;
                if (turn == round) TMI_TRY(take_need(s, i, &needs[j], false, err));
            }
            if (round < 2 || !varies(s)) continue;
            const tmi_measurement *a = tmi_table_of(s, i, TMI_NUMERATOR);
            count = square_needs(needs, s, t, a->quantity.weighing == TMI_WEIGHED);
            for (size_t j = 0; j < count; j++) TMI_TRY(take_need(s, i, &needs[j], true, err));
        }
    }

done:
    return status;
}

/* ---- together ---- */

static tamis_status take_frame(tmi_schedule *s, const tmi_budget_parts *parts, tamis_error *err)
{
    if (!s->plan->design.frame) return TAMIS_OK;
    if (!parts) return tmi_frame_file_read(&s->frame, s->plan, err);
    if (parts->frame && parts->frame->count == s->plan->design.stratum_count)
        return tmi_frame_facts_copy(&s->frame.facts, parts->frame, err);
    return tmi_fail(err, TAMIS_INVALID, "frame: what the frame of the plan says about each stratum is missing");
}

tamis_status tmi_schedule_make(tmi_schedule *s, const tamis_plan *plan, const tmi_budget_parts *parts, tamis_error *err)
{
    return tmi_schedule_make_watched(s, plan, parts, NULL, err);
}

tamis_status tmi_schedule_make_watched(tmi_schedule *s, const tamis_plan *plan, const tmi_budget_parts *parts, tmi_watch *watch,
                                       tamis_error *err)
{
    tamis_status status;
    *s = (tmi_schedule){.plan = tmi_plan_hold(plan), .watch = watch};
    s->measurements = tmi_alloc(TMI_ROLES * plan->statistic_count, sizeof *s->measurements);
    s->uses = tmi_alloc(plan->statistic_count, sizeof *s->uses);
    if (!s->measurements || !s->uses) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_refuse_plan(plan, err));
    TMI_TRY(take_frame(s, parts, err));
    TMI_TRY(tmi_sampling_make(&s->sampling, plan, tmi_frame_of(s), err));
    TMI_TRY(tmi_refuse_wave(s, err));
    TMI_TRY(tmi_calibration_columns(s, err));
    for (size_t i = 0; i < plan->statistic_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        TMI_TRY(tmi_refuse_statistic(s, t, err));
        for (size_t r = 0; r < TMI_ROLES; r++) s->uses[i].table[r] = TMI_NO_TABLE;
        s->uses[i].known = (t->kind == TMI_COUNT && groups_are_declared(s, t)) || tmi_public_count(plan, i, 0);
    }
    TMI_TRY(choose_tables(s, err));
    TMI_TRY(count_controls(s, err));
    TMI_TRY(count_units(s, err));
    TMI_TRY(tmi_budget_split(s, parts && parts->list ? parts : NULL, err));
    TMI_CHECK(tmi_schedule_is_sound(s));

done:
    if (status != TAMIS_OK) tmi_schedule_clear(s);
    return status;
}
