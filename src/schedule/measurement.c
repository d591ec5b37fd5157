#include "schedule/measurement.h"

#include <math.h>
#include <tamis/rng.h>
#include <tamis/sensitivity.h>

#include "base/memory.h"
#include "num/exact.h"

/* What one row adds is below 2^40 in size, and all of them below 2^60: half of what tmi_add_noise allows. */
#define ROW_BITS 40
#define SUM_BITS 60

void tmi_measurement_clear(tmi_measurement *m)
{
    for (size_t i = 0; m->laws && i < m->law_count; i++) {
        tamis_number_free(m->laws[i].l2_squared);
        tamis_number_free(m->laws[i].scale);
    }
    tmi_free(m->laws);
    tamis_number_free(m->part);
    *m = (tmi_measurement){0};
}

/* ---- cells ---- */

const char *tmi_cell_value(const tmi_plan_column *const *by, size_t by_count, size_t cell, size_t i)
{
    for (size_t j = by_count; j-- > i + 1;) cell /= by[j]->value_count;
    return by[i]->values[cell % by[i]->value_count];
}

size_t tmi_cell_stratum(const tmi_measurement *m, size_t cell)
{
    if (m->stratum_at == m->by_count) return 0;
    cell /= m->units;
    for (size_t j = m->by_count; j-- > m->stratum_at + 1;) cell /= m->by[j]->value_count;
    return cell % m->by[m->stratum_at]->value_count;
}

const tmi_noise_law *tmi_cell_law(const tmi_measurement *m, size_t cell)
{
    return &m->laws[m->law_count > 1 ? tmi_cell_stratum(m, cell) : 0];
}

/* ---- what a row adds ---- */

tmi_grid tmi_grid_in(const tmi_plan_column *column, size_t stratum)
{
    if (column->conditions) return (tmi_grid){.to = 1, .step = 1, .high = 1};
    return column->by_stratum ? column->by_stratum[stratum].grid : column->grid;
}

typedef struct range {
    double low, high;
} range;

static range product(range a, range b)
{
    double ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    range r = {ends[0], ends[0]};
    for (size_t i = 1; i < 4; i++) {
        r.low = fmin(r.low, ends[i]);
        r.high = fmax(r.high, ends[i]);
    }
    return r;
}

static range points_of(const tmi_plan_column *column, int64_t centre, size_t stratum)
{
    tmi_grid grid = tmi_grid_in(column, stratum);
    return (range){(double)(grid.low - centre), (double)(grid.high - centre)};
}

/* A factor that comes twice: its square is not negative, times the range of the weights, in the order of the engine. */
static range squared(range w, range x)
{
    double far = fmax(fabs(x.low), fabs(x.high)), near = x.low > 0 ? x.low : x.high < 0 ? -x.high : 0;
    return (range){w.low * near * near, w.high * far * far};
}

/* The weights of the rows of a stratum, in steps. */
static range weights_of(const tmi_measurement *m, const tmi_sampling *s, size_t h)
{
    if (m->quantity.weighing == TMI_UNWEIGHED) return (range){1, 1};
    if (s->weights != TMI_ROWS) {
        double w = (double)(m->quantity.weighing == TMI_WEIGHED ? s->points[h] : s->spread_points[h]);
        return (range){w, w};
    }
    double w = (double)s->most;
    if (m->quantity.weighing == TMI_WEIGHED) return (range){0, w};
    if (s->design->regularise) return (range){0, w * w};
    double one = round(1 / tmi_number_nearest(s->step)); /* w (w - 1), and never below 0 */
    return (range){0, w > one ? w * (w - one) : 0};
}

static range row_of(const tmi_measurement *m, const tmi_sampling *s, size_t h)
{
    const tmi_quantity *q = &m->quantity;
    range w = weights_of(m, s, h);
    if (!q->x) return w;
    range x = points_of(q->x, q->centre_x, h);
    if (!q->y) return product(w, x);
    if (q->y == q->x && q->centre_x == q->centre_y) return squared(w, x);
    return product(product(w, x), points_of(q->y, q->centre_y, h));
}

static double rounded(double value, int shift) { return floor(ldexp(value, -shift) + 0.5); }

/* The smallest shift with which a row stays below 2^bits in size. */
static int shift_for(double largest, int bits)
{
    int shift = 0;
    while (rounded(largest, shift) > ldexp(1, bits)) shift++;
    return shift;
}

static void set_ranges(tmi_measurement *m, const tmi_sampling *s)
{
    double largest = 0;
    for (size_t h = 0; h < s->strata; h++) {
        range r = row_of(m, s, h);
        largest = fmax(largest, fmax(fabs(r.low), fabs(r.high)));
    }
    int rows = ilogb((double)s->rows) + 1, bits = SUM_BITS - rows < ROW_BITS ? SUM_BITS - rows : ROW_BITS;
    m->shift = shift_for(largest, bits);
    for (size_t h = 0; h < s->strata; h++) {
        range r = row_of(m, s, h);
        tmi_noise_law *law = &m->laws[m->law_count > 1 ? h : 0];
        int64_t low = (int64_t)rounded(r.low, m->shift), high = (int64_t)rounded(r.high, m->shift);
        bool first = m->law_count > 1 || h == 0;
        law->low = first || low < law->low ? low : law->low;
        law->high = first || high > law->high ? high : law->high;
        m->low = h == 0 || low < m->low ? low : m->low;
        m->high = h == 0 || high > m->high ? high : m->high;
    }
    int64_t far = m->high > -m->low ? m->high : -m->low;
    m->limit = TAMIS_NOISE_MAX - s->rows * (far > 0 ? far : 1);
}

double tmi_measurement_unit(const tmi_measurement *m, const tmi_sampling *s, size_t stratum)
{
    const tmi_quantity *q = &m->quantity;
    double unit = ldexp(1, m->shift);
    if (q->x) unit *= tmi_grid_in(q->x, stratum).step;
    if (q->y) unit *= tmi_grid_in(q->y, stratum).step;
    if (q->weighing == TMI_UNWEIGHED) return unit;
    double step = tmi_number_nearest(s->step);
    if (q->weighing == TMI_WEIGHED) return unit * step;
    return unit * (s->weights == TMI_ROWS ? step * step * s->correction : tmi_number_nearest(s->spread_step));
}

/* ---- sensitivity ---- */

bool tmi_never_left_out(const tmi_measurement *m, const tmi_sampling *s)
{
    const tmi_quantity *q = &m->quantity;
    bool x = !q->x || (q->x->missing == TMI_AS_VALUE && !q->x->conditions && !q->x->by_stratum);
    bool again = s->design->kind->with_replacement; /* a unit that is drawn again may add nothing */
    return x && s->rows_fixed && !again && !q->y && !q->present && !q->present_too && !q->where && m->by_count == 0 &&
           m->units == 1 && s->weights != TMI_ROWS && !(s->of_units && q->weighing != TMI_UNWEIGHED);
}

/* The largest value, in size, that a row multiplies its weight with. */
static tmi_term largest_value(tmi_exact *e, const tmi_quantity *q)
{
    tmi_term far = tmi_int(e, 1);
    const tmi_plan_column *const columns[] = {q->x, q->y};
    const int64_t centres[] = {q->centre_x, q->centre_y};
    for (size_t i = 0; i < 2 && columns[i]; i++) {
        range x = points_of(columns[i], centres[i], 0); /* below 2^53: strata that are protected have one range */
        far = tmi_mul(e, far, tmi_int(e, (int64_t)fmax(fabs(x.low), fabs(x.high))));
    }
    return far;
}

/* What one of the other records adds more or less when its weight moves: floors differ by at most the difference, rounded up. */
static tamis_status moved_by_weights(int64_t *moved, const tmi_measurement *m, const tmi_sampling *s, tamis_error *err)
{
    const int64_t *points = m->quantity.weighing == TMI_SPREAD ? s->spread_points : s->points;
    tmi_exact e = TMI_EXACT(err);
    int64_t least = points[0], most = points[0];
    tamis_number *shift = NULL, *change = NULL;
    tamis_status status;
    for (size_t h = 1; h < s->strata; h++) {
        least = points[h] < least ? points[h] : least;
        most = points[h] > most ? points[h] : most;
    }
    TMI_TRY(tmi_number_double(&shift, ldexp(1, m->shift), err));
    TMI_TRY(
        tmi_exact_copy(&change, &e, tmi_div(&e, tmi_mul(&e, tmi_int(&e, most - least), largest_value(&e, &m->quantity)), shift)));
    if (!tmi_number_ceil(moved, change)) status = tmi_fail(err, TAMIS_INVALID, "sensitivity: above 2^63; choose a larger step");

done:
    tmi_exact_clear(&e);
    tamis_number_free(shift);
    tamis_number_free(change);
    return status;
}

/* While design variables are protected a record may move the weights of all others: to what it changes by itself comes what the
 * others add more or less, in the cells where they are. `c` is of one cell, and public. */
static tamis_status protected_sensitivity(tamis_sensitivity *found, const tmi_measurement *m, const tmi_sampling *s,
                                          tamis_contribution c, const tamis_setting *setting, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_sensitivity own = {0};
    int64_t each;
    tamis_status status;
    if (s->weights == TMI_ROWS || !s->rows_bounded)
        return tmi_fail(err, TAMIS_REFUSED,
                        "privacy.design_variables: with protected weights one record changes the sums of all others here, and no "
                        "bound is known; nearest setting that works: {design_variables: public}");
    TMI_TRY(moved_by_weights(&each, m, s, err));
    c.design_protected = 0;
    c.cells = 1;
    TMI_TRY(tamis_sensitivity_of(&own, setting, TAMIS_HT_TOTAL, &c, err));
    tmi_term K = tmi_int(&e, c.rows_per_unit);
    tmi_term moved = tmi_mul(&e, tmi_int(&e, s->rows - c.rows_per_unit), tmi_int(&e, each)), here = tmi_add(&e, own.l1, moved);
    tmi_term size = tmi_mul(&e, K, tmi_larger(tmi_abs(&e, c.values.least), tmi_abs(&e, c.values.most)));
    tmi_term there = tmi_add(&e, size, moved), l1 = here, l2_squared = tmi_mul(&e, here, here);
    if (m->movable > 1) { /* enters one cell, where the others are, leaves another */
        l1 = tmi_larger(here, tmi_add(&e, there, size));
        l2_squared = tmi_larger(l2_squared, tmi_add(&e, tmi_mul(&e, there, there), tmi_mul(&e, size, size)));
    }
    TMI_TRY(tmi_exact_copy(&found->l1, &e, l1));
    TMI_TRY(tmi_exact_copy(&found->l2_squared, &e, l2_squared));

done:
    tmi_exact_clear(&e);
    tamis_sensitivity_clear(&own);
    return status;
}

static tamis_status set_sensitivity(tmi_noise_law *law, const tmi_measurement *m, const tmi_sampling *s,
                                    const tmi_plan_privacy *privacy, tamis_error *err)
{
    tamis_number *low = NULL, *high = NULL, *one = NULL;
    tamis_sensitivity found = {0};
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&low, law->low, 1, err));
    TMI_TRY(tmi_number_ratio(&high, law->high, 1, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    tamis_contribution c = {.values = {low, high},
                            .weights = {{one, one}},
                            .left_out = !tmi_never_left_out(m, s),
                            .design_protected = privacy->design_protected,
                            .cells = (int64_t)m->movable,
                            .rows_per_unit = privacy->rows_per_unit > 1 ? privacy->rows_per_unit : 1};
    bool weights_move = privacy->design_protected && m->quantity.weighing != TMI_UNWEIGHED;
    if (weights_move) TMI_TRY(protected_sensitivity(&found, m, s, c, privacy->setting, err));
    else TMI_TRY(tamis_sensitivity_of(&found, privacy->setting, TAMIS_HT_TOTAL, &c, err));
    if (!tmi_number_ceil(&law->l1, found.l1)) {
        status = tmi_fail(err, TAMIS_INVALID, "sensitivity: above 2^63; choose a larger step");
        goto done;
    }
    law->l2_squared = found.l2_squared;
    found.l2_squared = NULL;

done:
    tamis_sensitivity_clear(&found);
    tamis_number_free(low);
    tamis_number_free(high);
    tamis_number_free(one);
    return status;
}

tamis_status tmi_measurement_prepare(tmi_measurement *m, const tmi_sampling *s, const tmi_plan_privacy *privacy, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    m->cells = m->units;
    m->movable = 1;
    for (size_t i = 0; i < m->by_count; i++) {
        m->cells *= m->by[i]->value_count;
        if (i != m->stratum_at) m->movable *= m->by[i]->value_count;
    }
    if (s->moves) m->movable *= m->units;
    bool apart = m->stratum_at < m->by_count && m->quantity.weighing == TMI_UNWEIGHED;
    m->law_count = apart ? s->strata : 1;
    m->laws = tmi_alloc(m->law_count, sizeof *m->laws);
    if (!m->laws) return tmi_fail_memory(err);
    set_ranges(m, s);
    for (size_t i = 0; i < m->law_count; i++) TMI_TRY(set_sensitivity(&m->laws[i], m, s, privacy, err));

done:
    return status;
}

/* ---- words ---- */

void tmi_measurement_name(tmi_text *text, const tmi_measurement *m)
{
    static const char *const weighed[] = {"", "weighted ", "spread of "};
    const tmi_quantity *q = &m->quantity;
    tmi_text_put(text, weighed[q->weighing]);
    tmi_text_put(text, !q->x ? "rows" : "sum of ");
    if (q->x) tmi_text_put(text, q->x->name);
    if (q->y && q->y == q->x) tmi_text_put(text, "^2");
    else if (q->y) tmi_text_format(text, " * %s", q->y->name);
    if (q->present) tmi_text_format(text, " with %s", q->present->name);
    if (q->present_too) tmi_text_format(text, " and %s", q->present_too->name);
    if (q->where) tmi_text_format(text, " where %s", q->where->name);
    for (size_t i = 0; i < m->by_count; i++) tmi_text_format(text, "%s%s", i ? ", " : " by ", m->by[i]->name);
    if (m->units > 1) tmi_text_format(text, "%s%zu variance units", m->by_count ? ", " : " by ", m->units);
}

void tmi_measurement_inequality(tmi_text *text, const tmi_measurement *m, const tmi_plan_privacy *privacy)
{
    if (privacy->design_protected && m->quantity.weighing != TMI_UNWEIGHED)
        tmi_text_put(text, "a replaced record changes its own cell and the weights of all others");
    else if (m->movable > 1)
        tmi_text_put(text, "a replaced record leaves one cell and enters another: |c| + |c'| <= 2 max(|low|, |high|)");
    else tmi_text_put(text, "a replaced record changes one number, or is left out: |c - c'| <= max(|low|, |high|, high - low)");
    if (privacy->rows_per_unit > 1) tmi_text_format(text, ", for each of at most %lld rows", (long long)privacy->rows_per_unit);
    if (m->law_count > 1) tmi_text_put(text, "; within its stratum");
}
