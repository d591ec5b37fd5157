/* `to: {private: 1/8, beyond: 1e6}`: a bound that a release finds with a part of its budget, before anything else is measured.
 *
 * The candidates are public: `beyond`, and `beyond` halved again and again. With h halvings both `to` and `step` are 2^h times
 * smaller than the plan says, and `from` is 0. So the column has the same number of steps whichever candidate is found: tables,
 * sensitivities, noise and shares of the budget, which are all counted in steps, are settled before the bound is known, and the
 * bound alone says what a step is worth.
 *
 * A plan that was read never changes. A schedule works with a bounded plan: the plan that was read lends it everything but the
 * columns with such a bound and the statistics, which refer to them. The bound is a public guess at first, and then the one that
 * was found. */
#ifndef TMI_PLAN_PRIVATE_BOUNDS_H
#define TMI_PLAN_PRIVATE_BOUNDS_H

#include "plan/plan.h"
#include "plan/schema.h"

/* The smallest candidate is a thousandth of `beyond`, or a step or more of the plan's grid: no safe bound is wider than that, and
 * each candidate below the right one makes a choice from few rows worse. */
#define TMI_MAX_HALVINGS 10

/* A column of a bounded plan. Its `to`, `step` and `grid` are those of the halvings. */
typedef struct tmi_private_bound {
    tmi_plan_column column;
    const tmi_plan_column *declared; /* of the plan that was read */
    int halvings, most;              /* the candidates are 0 ... most */
    bool found;                      /* if not, the halvings are a guess */
} tmi_private_bound;

/* ---- reading ---- */

bool tmi_is_private_bound(const tmi_value *to);
void tmi_read_private_bound(tmi_reader *reader, const tmi_value *column_value, tmi_plan_column *column);

/* Shares of all columns together leave a part of the budget. */
void tmi_check_private_bounds(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan);

/* ---- bounded plans ---- */

/* Whether a statistic adds up, or asks for the mean of, a number with such a bound. */
bool tmi_has_private_bounds(const tamis_plan *plan);

/* The plan with all bounds at `beyond`; the caller drops it. Columns that no statistic uses have no bound to be found, and cost
 * nothing. Errors: SYSTEM. */
tamis_status tmi_plan_with_bounds(tamis_plan **bounded, const tamis_plan *plan, tamis_error *err);

/* Needs 0 <= halvings <= most of bound k. Errors: SYSTEM; the bound is then what it was. */
tamis_status tmi_plan_set_bound(tamis_plan *bounded, size_t k, int halvings, bool found, tamis_error *err);

void tmi_bounded_plan_free(tamis_plan *bounded);

/* The bound of a column of a bounded plan; NULL of any other. */
const tmi_private_bound *tmi_private_bound_of(const tamis_plan *plan, const tmi_plan_column *column);

/* The column that the plan declares: of a bounded plan that of the plan that was read; else the column itself. */
const tmi_plan_column *tmi_column_as_declared(const tamis_plan *plan, const tmi_plan_column *column);

/* The largest grid point of the plan's own grid that is not above the bound of so many halvings. */
static inline int64_t tmi_bound_point(const tmi_private_bound *bound, int halvings)
{
    return bound->declared->grid.high >> halvings;
}

#endif
