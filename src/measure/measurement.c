#include "measure/measurement.h"

#include <math.h>
#include <stdlib.h>
#include <tamis/experimental/rng.h>

#include "base/check.h"
#include "base/memory.h"
#include "measure/unit_contributions.h"
#include "num/bound.h"
#include "num/exact.h"

/* What one row adds is below 2^32 in size, finer than any noise, and leaves room for the noise of a small part of a small budget;
 * all rows stay below 2^60: half of what tmi_add_noise allows. Products of doubles are exact below 2^53. */
#define ROW_BITS 32
#define SUM_BITS 60
#define EXACT_BITS 53
#define GRAM_BITS 2 /* less for numbers of GRAM, in steps of up to 1/8 where others have 1/2 */

/* A level of a row is off by at most 1/2 and a little: its clamp is this far above what it can be. */
#define ROUNDING 2

void tmi_measurement_clear(tmi_measurement *m)
{
    for (size_t i = 0; m->laws && i < m->strata; i++)
        tmi_number_frees(&m->laws[i].most, &m->laws[i].l2_squared, &m->laws[i].charged, &m->laws[i].scale, NULL);
    tmi_free(m->laws);
    tamis_number_free(m->part);
    *m = (tmi_measurement){0};
}

tmi_grid tmi_axis_grid(const tmi_workload *w, size_t axis, size_t stratum)
{
    const tmi_origin *o = &w->origins[axis];
    if (o->contributed) return o->grids[stratum];
    return o->number->by_stratum ? o->number->by_stratum[stratum].grid : o->number->grid;
}

static bool is_gram(const tmi_measurement *m) { return tmi_is_gram(m->marginal.form); }

static size_t gram_numbers(const tmi_measurement *m, const tmi_workload *w) { return tmi_gram_numbers(w->axes, &m->marginal); }

/* In how many steps a form has one level: a number by itself is released in halves, a table in whole levels. */
static int steps_in(const tmi_measurement *m, const tmi_workload *w)
{
    if (is_gram(m)) return tmi_gram_steps(m->marginal.form);
    return m->marginal.form == TMI_FULL ? 1 : tmi_form_steps(m->marginal.form, &w->axes[m->marginal.axes[0]]);
}

/* ---- sizes ---- */

static bool is_of_errors(const tmi_measurement *m) { return tmi_method_of(m->marginal.weighting) != NULL; }

bool tmi_weighs_squares(size_t weighting)
{
    const tmi_error_method *method = tmi_method_of(weighting);
    return method ? method->power == 2 : weighting == TMI_SPREAD || weighting == TMI_CLAMPED;
}

static bool is_number(const tmi_workload *w, size_t axis) { return w->origins[axis].number != NULL; }

static tamis_status set_sizes(tmi_measurement *m, const tmi_workload *w, tamis_error *err)
{
    const tmi_marginal *marginal = &m->marginal;
    bool fits = true;
    m->strata = m->marginal.weighting == TMI_CONTRIBUTED ? w->sampling->parts
                : w->separate_strata && !is_of_errors(m) ? w->sampling->strata
                                                         : 1;
    m->cells = m->levels = m->added = 1;
    for (size_t i = 0; i < marginal->axis_count; i++) {
        size_t *const which = is_number(w, marginal->axes[i]) ? &m->added : &m->cells;
        fits = fits && !__builtin_mul_overflow(*which, w->axes[marginal->axes[i]].levels, which);
    }
    m->levels = m->added;
    if (is_gram(m)) {
        m->levels = tmi_gram_rows(gram_numbers(m, w));
    } else if (marginal->form != TMI_FULL) {
        m->cells = 1;
        m->levels = tmi_form_rows(marginal->form, &w->axes[marginal->axes[0]]);
    }
    fits = fits && !__builtin_mul_overflow(m->strata * m->slots, m->cells, &m->numbers) &&
           !__builtin_mul_overflow(m->numbers, m->levels, &m->numbers) && m->numbers <= (size_t)1 << 40;
    return fits ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "statistics: a table of theirs has too many cells");
}

/* ---- what a row adds ---- */

/* The largest point of the weights that rows bring, or of what they add, in tables of a weighting. */
static int64_t largest_point(const tmi_workload *w, size_t weighting, size_t domain)
{
    const tmi_domain *contributed = tmi_contributed_in(w, weighting, domain);
    if (contributed) return tmi_largest_addition(contributed);
    return tmi_method_of(weighting) || weighting == TMI_CLAMPED ? w->sampling->most_clamped : w->sampling->most;
}

/* The largest weight of a row of a stratum, in steps. */
static tmi_term weight_of(tmi_exact *e, const tmi_measurement *m, const tmi_workload *w, size_t h)
{
    const tmi_sampling *s = w->sampling;
    const bool rows = s->weights == TMI_ROWS;
    const int64_t most = largest_point(w, m->marginal.weighting, m->marginal.domain);
    if (m->marginal.weighting == TMI_UNWEIGHTED || m->marginal.weighting == TMI_CONTRIBUTED) return tmi_int(e, 1);
    if (!rows) {
        const bool alike = is_of_errors(m) && s->weights == TMI_ALIKE;
        return tmi_int(e, alike ? 1 : tmi_weighs_squares(m->marginal.weighting) ? s->variance_points[h] : s->points[h]);
    }
    if (!tmi_weighs_squares(m->marginal.weighting)) return tmi_int(e, most);
    const int64_t less = tmi_weight_less(s); /* a is w (w - less) in steps, at least 0 */
    return tmi_mul(e, tmi_int(e, most), tmi_int(e, most > less ? most - less : 0));
}

/* What a row adds, all levels together: its weight times the product of the m^d. */
static tmi_term whole_of(tmi_exact *e, const tmi_measurement *m, const tmi_workload *w, size_t h)
{
    tmi_term whole = weight_of(e, m, w, h);
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        const size_t axis = m->marginal.axes[i];
        if (!is_number(w, axis)) continue;
        const tmi_grid grid = tmi_axis_grid(w, axis, h);
        for (int d = 0; d < w->axes[axis].degree; d++) whole = tmi_mul(e, whole, tmi_int(e, grid.high - grid.low));
    }
    return whole;
}

/* The smallest shift with which a row stays below 2^bits. */
static int shift_for(double largest, int bits)
{
    int shift = 0;
    while (ldexp(largest, -shift) > ldexp(1, bits)) shift++;
    return shift;
}

/* Sets what a row adds at most, over all strata that the law is for. */
static tamis_status set_most(tmi_noise_law *law, const tmi_measurement *m, const tmi_workload *w, size_t h, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term most = whole_of(&e, m, w, h);
    for (size_t k = 0; m->strata == 1 && m->marginal.weighting != TMI_CONTRIBUTED && k < w->sampling->strata; k++) {
        tmi_term other = whole_of(&e, m, w, k);
        most = most && other ? tmi_larger(most, other) : NULL;
    }
    tamis_status status = tmi_exact_copy(&law->most, &e, most);
    tmi_exact_clear(&e);
    return status;
}

static tamis_status set_rows(tmi_measurement *m, const tmi_workload *w, tamis_error *err)
{
    const int rows = ilogb((double)w->sampling->rows) + 1, fewer = is_gram(m) ? GRAM_BITS : 0,
              bits = (SUM_BITS - rows < ROW_BITS ? SUM_BITS - rows : ROW_BITS) - fewer;
    double largest = 0;
    tamis_status status = TAMIS_OK;
    m->laws = tmi_alloc(m->strata, sizeof *m->laws);
    if (!m->laws) return tmi_fail_memory(err);
    for (size_t h = 0; h < m->strata; h++) {
        TMI_TRY(set_most(&m->laws[h], m, w, h, err));
        largest = fmax(largest, tmi_number_up(m->laws[h].most));
    }
    m->shift = shift_for(largest, bits);
    m->rounded = m->shift > 0 || largest >= ldexp(1, EXACT_BITS);
    m->high = (int64_t)ceil(ldexp(largest, -m->shift)) + (m->rounded ? ROUNDING : 0);

done:
    return status;
}

double tmi_measurement_unit(const tmi_measurement *m, const tmi_workload *w, size_t stratum)
{
    const tmi_sampling *s = w->sampling;
    double unit = ldexp(1, m->shift) / steps_in(m, w);
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        const size_t axis = m->marginal.axes[i];
        if (!is_number(w, axis)) continue;
        const tmi_grid grid = tmi_axis_grid(w, axis, stratum);
        for (int d = 0; d < w->axes[axis].degree; d++) unit /= (double)(grid.high - grid.low);
    }
    if (m->marginal.weighting == TMI_UNWEIGHTED || m->marginal.weighting == TMI_CONTRIBUTED) return unit;
    if (is_of_errors(m) && s->weights == TMI_ALIKE) return unit;
    const tmi_domain *contributed = tmi_contributed_in(w, m->marginal.weighting, m->marginal.domain);
    if (contributed) return unit * contributed->grid.step;
    const double step = tmi_number_nearest(s->step);
    if (!tmi_weighs_squares(m->marginal.weighting)) return unit * step;
    return unit * (s->weights == TMI_ROWS ? step * step * s->correction : tmi_number_nearest(s->variance_step));
}

/* ---- sensitivity ---- */

/* While design variables are protected a record may move the weights of all others. */
static bool weights_move(const tmi_workload *w, tmi_weighting weighting)
{
    return w->plan->privacy.design_protected && weighting != TMI_UNWEIGHTED && w->sampling->weights != TMI_ALIKE;
}

static void ends_of(int64_t *least, int64_t *most, const int64_t *points, size_t count)
{
    *least = *most = points[0];
    for (size_t h = 1; h < count; h++) {
        *least = points[h] < *least ? points[h] : *least;
        *most = points[h] > *most ? points[h] : *most;
    }
}

static int64_t rows_per_unit(const tmi_workload *w)
{
    const int64_t rows = w->plan->privacy.rows_per_unit;
    return rows > 1 ? rows : 1;
}

/* What the rows of a unit weigh at most, all together, or add; 0: nothing bounds them together. */
static int64_t most_of_unit(const tmi_workload *w, size_t weighting, size_t domain)
{
    const tmi_domain *contributed = tmi_contributed_in(w, weighting, domain);
    if (contributed) return contributed->most_of_unit;
    return weighting == TMI_UNWEIGHTED || weighting == TMI_CONTRIBUTED ? 0 : w->sampling->most_of_unit;
}

/* Whether the bound of a unit's rows together bounds what they add to tables of a weighting, more than rows_per_unit does. The
 * weights w of a unit are at most W each and M together. So they add up to M at most, and their squares w (w - c), those below 0
 * left out, to M (W - c), the square of the largest weight times M/W: M/W rows of the largest weight in both. Contributions
 * are bounded in size, and nothing is made of their squares. */
static bool unit_is_bounded(const tmi_workload *w, size_t weighting, size_t domain)
{
    const int64_t most = most_of_unit(w, weighting, domain);
    return most > 0 && most < (tmi_int128)rows_per_unit(w) * largest_point(w, weighting, domain);
}

double tmi_largest_rows_of_unit(const tmi_workload *w, size_t weighting, size_t domain)
{
    if (!unit_is_bounded(w, weighting, domain)) return (double)rows_per_unit(w);
    return (double)most_of_unit(w, weighting, domain) / (double)largest_point(w, weighting, domain);
}

double tmi_moved_by_weights(const tmi_workload *w, tmi_weighting weighting)
{
    const tmi_sampling *s = w->sampling;
    int64_t least, most;
    if (!weights_move(w, weighting) || s->weights != TMI_STRATA || !s->rows_bounded) return 0;
    ends_of(&least, &most, tmi_weighs_squares(weighting) ? s->variance_points : s->points, s->strata);
    if (most == 0) return 0;
    return (double)(s->rows - rows_per_unit(w)) * (double)(most - least) / ((double)most * (double)rows_per_unit(w));
}

/* How often level l of all numbers together counts: 2 t (1-t) is twice what the engine rounds. */
static int64_t times_of(const tmi_measurement *m, const tmi_workload *w, size_t l)
{
    int64_t times = 1;
    for (size_t i = m->marginal.axis_count; i-- > 0;) {
        const tmi_axis *axis = &w->axes[m->marginal.axes[i]];
        if (!is_number(w, m->marginal.axes[i])) continue;
        if (axis->degree == 2 && l % axis->levels == 1) times *= 2;
        l /= axis->levels;
    }
    return times;
}

/* By how much rounding moves the numbers of a row, all together. A level is off by 1/2 and a little, which is less than 1, as
 * often as it counts and as often as the numbers of a form contain it. */
static int64_t rounding_of(const tmi_measurement *m, const tmi_workload *w)
{
    const bool full = m->marginal.form == TMI_FULL, gram = is_gram(m);
    const size_t numbers = gram ? gram_numbers(m, w) : 0;
    const tmi_axis *single = full || gram ? NULL : &w->axes[m->marginal.axes[0]];
    int64_t sum = 0;
    if (!m->rounded) return 0;
    for (size_t l = 0; l < (single ? single->levels : m->added); l++) {
        int64_t contained = full ? 1 : 0;
        for (size_t row = 0; !full && row < m->levels; row++)
            contained += abs(gram ? tmi_gram_integer(m->marginal.form, numbers, row, l)
                                  : tmi_form_integer(m->marginal.form, single, row, l));
        sum += contained * times_of(m, w, l);
    }
    return sum;
}

/* By how many steps a row moves its numbers at most: the numbers of a form are in halves, and count double. */
static tmi_term steps_of(tmi_exact *e, const tmi_measurement *m, const tmi_workload *w, tmi_term most)
{
    tmi_term scaled = tmi_mul(e, most, tmi_int(e, steps_in(m, w)));
    for (int i = 0; i < m->shift; i++) scaled = tmi_div(e, scaled, tmi_int(e, 2));
    return scaled;
}

/* What the weights of the others move: each by at most the difference of two weights, and the rounding of both. */
static tamis_status moved_by_others(tmi_term *moved, tmi_exact *e, const tmi_measurement *m, const tmi_workload *w,
                                    const tmi_noise_law *law, tamis_error *err)
{
    const tmi_sampling *s = w->sampling;
    int64_t least, most;
    *moved = tmi_int(e, 0);
    if (!weights_move(w, (tmi_weighting)m->marginal.weighting)) return TAMIS_OK;
    if (s->weights == TMI_ROWS || !s->rows_bounded)
        return tmi_fail(err, TAMIS_REFUSED,
                        "privacy.design_variables: with protected weights one record changes the sums of all others here, and no "
                        "bound is known; nearest setting that works: {design_variables: public}");
    ends_of(&least, &most, tmi_weighs_squares(m->marginal.weighting) ? s->variance_points : s->points, s->strata);
    if (most == 0) return TAMIS_OK;
    tmi_term share = tmi_div(e, tmi_int(e, most - least), tmi_int(e, most)),
             each = steps_of(e, m, w, tmi_mul(e, law->most, share));
    each = tmi_add(e, each, tmi_int(e, 2 * rounding_of(m, w)));
    *moved = tmi_mul(e, tmi_int(e, s->rows - rows_per_unit(w)), each);
    return TAMIS_OK;
}

/* Whether rows add to a total on both sides of 0: what leaves a place and what enters it may both move it the same way. */
static bool has_signs(const tmi_measurement *m, const tmi_workload *w)
{
    const tmi_domain *contributed = tmi_contributed_in(w, m->marginal.weighting, m->marginal.domain);
    return contributed && contributed->grid.low < 0;
}

/* A record can be in two places of a FULL table, in two cells of GRAM, or in two PSUs: it leaves one and enters the other. Else
 * it changes its only place, or leaves; with signs it leaves, and another one enters. */
static bool has_places(const tmi_measurement *m, const tmi_workload *w)
{
    if (is_gram(m)) return m->cells > 1;
    return has_signs(m, w) || (m->marginal.form == TMI_FULL && (m->marginal.axis_count > 0 || is_of_errors(m)));
}

/* Of GRAM, in units of what a row adds to all levels: by how much it moves the numbers of one place. The root of what is squared
 * and added up is rounded up to 2^-10. */
static tmi_term gram_reach(tmi_exact *e, const tmi_measurement *m, const tmi_workload *w, bool squares)
{
    const tmi_table_form form = m->marginal.form;
    const size_t numbers = gram_numbers(m, w);
    const bool places = has_places(m, w);
    tmi_term steps = tmi_int(e, tmi_gram_steps(form));
    if (!squares) return tmi_div(e, tmi_int(e, places ? tmi_gram_size(form, numbers) : tmi_gram_change(form, numbers)), steps);
    const int64_t squared = places ? tmi_gram_size_squared(form, numbers) : tmi_gram_change_squared(form, numbers);
    int64_t root = (int64_t)sqrt(ldexp((double)squared, 20));
    while ((tmi_int128)root * root < (tmi_int128)squared << 20) root++;
    return tmi_div(e, tmi_div(e, tmi_int(e, root), tmi_int(e, 1 << 10)), steps);
}

/* By how much the rows of a unit move the numbers of one place, where a row adds `most` at most: added up, or as the root of the
 * sum of squares, which is less in GRAM alone. */
static tmi_term own_of(tmi_exact *e, const tmi_measurement *m, const tmi_workload *w, tmi_term most, bool squares)
{
    /* In its place, what was there and what comes are both rounded. In GRAM with cells a record that stays in one moves less than
     * one that leaves it, by more than a rounding. */
    const int64_t roundings = m->marginal.form == TMI_FULL || (is_gram(m) && has_places(m, w)) ? 1 : 2;
    if (is_gram(m)) most = tmi_mul(e, most, gram_reach(e, m, w, squares));
    /* Rows of the largest weight that a unit is worth at most, and all of its rows, each of them rounded. */
    const size_t weighting = m->marginal.weighting, domain = m->marginal.domain;
    tmi_term rows = unit_is_bounded(w, weighting, domain) ? tmi_div(e, tmi_int(e, most_of_unit(w, weighting, domain)),
                                                                    tmi_int(e, largest_point(w, weighting, domain)))
                                                          : tmi_int(e, rows_per_unit(w));
    return tmi_add(e, tmi_mul(e, rows, steps_of(e, m, w, most)), tmi_int(e, rows_per_unit(w) * roundings * rounding_of(m, w)));
}

static tamis_status set_sensitivity(tmi_noise_law *law, tmi_measurement *m, const tmi_workload *w, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *l1 = NULL, *within = NULL;
    tmi_term moved;
    tamis_status status;
    tmi_term own = own_of(&e, m, w, law->most, false), root = is_gram(m) ? own_of(&e, m, w, law->most, true) : own;
    TMI_TRY(moved_by_others(&moved, &e, m, w, law, err));
    const bool places = has_places(m, w), apart = places && !has_signs(m, w);
    tmi_term first = tmi_add(&e, own, moved), all = places ? tmi_add(&e, first, own) : first, longest = tmi_add(&e, root, moved);
    TMI_TRY(tmi_exact_copy(&l1, &e, all));
    TMI_TRY(tmi_exact_copy(&law->l2_squared, &e,
                           apart     ? tmi_add(&e, tmi_mul(&e, longest, longest), tmi_mul(&e, root, root))
                           : !places ? tmi_mul(&e, longest, longest)
                                     : tmi_mul(&e, all, all)));
    /* If a record stays in its place, what was there and what comes are both rounded. */
    tmi_term both = tmi_mul(&e, tmi_int(&e, rows_per_unit(w)), tmi_int(&e, rounding_of(m, w)));
    TMI_TRY(tmi_exact_copy(&within, &e, tmi_add(&e, first, both)));
    if (!tmi_number_ceil(&law->l1, l1) || !tmi_number_ceil(&m->within, within))
        status = tmi_fail(err, TAMIS_INVALID, "sensitivity: above 2^63; choose a larger step");

done:
    tmi_exact_clear(&e);
    tmi_number_frees(&l1, &within, NULL);
    return status;
}

/* The laws so far are those of the table of secret totals; all numbers that are made of it move by a fixed number of steps. */
static tamis_status set_errors(tmi_measurement *m, const tmi_workload *w, tamis_error *err)
{
    tmi_noise_law *law = &m->laws[0];
    tamis_number *steps = NULL;
    const tamis_status status = tmi_number_ratio(&steps, TMI_ERROR_STEPS * TMI_ERROR_STEPS, 1, err);
    if (status != TAMIS_OK) return status;
    tamis_number_free(law->l2_squared);
    law->l2_squared = steps;
    m->moved = law->l1;
    law->l1 = TMI_ERROR_STEPS;
    m->numbers = (size_t)tmi_statistic_cells(&w->plan->statistics[m->marginal.statistic]) *
                 tmi_integers_of(tmi_method_of(m->marginal.weighting));
    m->limit = TAMIS_NOISE_MAX - TMI_LARGEST_ERROR;
    return TAMIS_OK;
}

/* ---- one epsilon per stratum ---- */

/* Whether the strata have epsilons of their own. Then they are public and units have one row, so that nobody's weight moves, and
 * what a record of stratum h moves, exchanged for another unit's of h, is what a row of h adds. */
static bool has_target(const tmi_workload *w) { return w->plan->privacy.loss.by_stratum != NULL; }

double tmi_noise_of_stratum(const tamis_plan *plan, size_t stratum)
{
    tamis_number *const *list = plan->privacy.loss.by_stratum;
    double most = 0;
    if (!list) return 1;
    for (size_t h = 0; h < plan->design.stratum_count; h++) most = fmax(most, tmi_number_nearest(list[h]));
    return most / tmi_number_nearest(list[stratum]);
}

static const tamis_number *largest_epsilon(const tmi_workload *w)
{
    const tmi_plan_loss *loss = &w->plan->privacy.loss;
    const tamis_number *most = loss->by_stratum[0];
    for (size_t h = 1; h < w->plan->design.stratum_count; h++)
        if (tmi_number_compare(loss->by_stratum[h], most) > 0) most = loss->by_stratum[h];
    return most;
}

/* The L1 sensitivity of the numbers of a law if a record of stratum h is exchanged for another one of h. */
static tmi_term l1_in_stratum(tmi_exact *e, const tmi_measurement *m, const tmi_workload *w, const tmi_noise_law *law, size_t h)
{
    if (is_of_errors(m) || m->marginal.weighting == TMI_CONTRIBUTED) return tmi_int(e, law->l1); /* whatever the stratum is */
    tmi_term own = own_of(e, m, w, whole_of(e, m, w, h), false);
    return has_places(m, w) ? tmi_add(e, own, own) : own;
}

/* Whether records of stratum h are in the numbers of law k. */
static bool is_about(const tmi_measurement *m, size_t k, size_t h)
{
    return m->strata == 1 || m->marginal.weighting == TMI_CONTRIBUTED || k == h;
}

static tamis_status set_charged(tmi_noise_law *law, const tmi_measurement *m, const tmi_workload *w, tamis_error *err)
{
    tamis_number *const *epsilons = w->plan->privacy.loss.by_stratum;
    const size_t k = (size_t)(law - m->laws);
    tmi_exact e = TMI_EXACT(err);
    tmi_term most = tmi_int(&e, 0);
    for (size_t h = 0; h < w->plan->design.stratum_count && most; h++) {
        if (!is_about(m, k, h)) continue;
        tmi_term own = tmi_div(&e, tmi_mul(&e, l1_in_stratum(&e, m, w, law, h), largest_epsilon(w)), epsilons[h]);
        most = own ? tmi_larger(most, own) : NULL;
    }
    const tamis_status status = tmi_exact_copy(&law->charged, &e, most);
    tmi_exact_clear(&e);
    return status;
}

/* Of numbers that one stratum can move: the sums over all measurements of sensitivity over scale. */
static tamis_status loss_in_stratum(tamis_number **loss, const tmi_measurement *list, size_t count, const tmi_workload *w,
                                    size_t h, tamis_error *err)
{
    const tamis_number *most = w->plan->privacy.loss.by_stratum[h];
    char decimal[TAMIS_DECIMAL];
    tmi_exact e = TMI_EXACT(err);
    tmi_term sum = tmi_int(&e, 0);
    tamis_number *exact = NULL, *rounded = NULL;
    tamis_status status;
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < list[j].strata; k++)
            if (is_about(&list[j], k, h))
                sum = tmi_add(&e, sum, tmi_div(&e, l1_in_stratum(&e, &list[j], w, &list[j].laws[k], h), list[j].laws[k].scale));
    TMI_TRY(tmi_exact_copy(&exact, &e, sum));
    TMI_CHECK(tmi_number_compare(exact, most) <= 0);
    tamis_decimal_up(decimal, tmi_number_up(exact), 10);
    TMI_TRY(tamis_number_read(&rounded, decimal, err));
    status = tmi_number_copy(loss, tmi_number_compare(rounded, most) < 0 ? rounded : most, err);

done:
    tmi_number_frees(&exact, &rounded, NULL);
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_losses_by_stratum(tamis_number ***losses, const tmi_measurement *list, size_t count, const tmi_workload *w,
                                   tamis_error *err)
{
    const size_t strata = w->plan->design.stratum_count;
    tamis_number **made = tmi_alloc(strata, sizeof *made);
    tamis_status status = made ? TAMIS_OK : tmi_fail_memory(err);
    *losses = NULL;
    for (size_t h = 0; h < strata && status == TAMIS_OK; h++) status = loss_in_stratum(&made[h], list, count, w, h, err);
    if (status == TAMIS_OK) {
        *losses = made;
        return TAMIS_OK;
    }
    for (size_t h = 0; made && h < strata; h++) tamis_number_free(made[h]);
    tmi_free(made);
    return status;
}

tamis_status tmi_measurement_prepare(tmi_measurement *m, const tmi_workload *w, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(set_sizes(m, w, err));
    TMI_TRY(set_rows(m, w, err));
    for (size_t i = 0; i < m->strata; i++) TMI_TRY(set_sensitivity(&m->laws[i], m, w, err));
    const int64_t far = m->high * steps_in(m, w) + rounding_of(m, w);
    m->limit = TAMIS_NOISE_MAX - w->sampling->rows * (far > 0 ? far : 1);
    if (is_of_errors(m)) TMI_TRY(set_errors(m, w, err));
    for (size_t i = 0; has_target(w) && i < m->strata; i++) TMI_TRY(set_charged(&m->laws[i], m, w, err));

done:
    return status;
}
