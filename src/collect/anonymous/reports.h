/* A collection of anonymised reports: what was asked, checked, and what its forms answer. */
#ifndef TMI_COLLECT_ANONYMOUS_REPORTS_H
#define TMI_COLLECT_ANONYMOUS_REPORTS_H

#include <tamis/experimental/anonymous.h>

#include "collect/anonymous/one_bit.h"

tamis_status tmi_check_reports(const tamis_reports *reports, tamis_error *err);

const tamis_number *tmi_lie_zero(const tamis_reports *reports);
bool tmi_is_one_bit(const tamis_reports *reports); /* checked ones: one position, or two categories */

/* Positions that change from one to zero and from zero to one between two answers, such that the local eps is largest. */
typedef struct tmi_changes {
    int64_t down, up;
} tmi_changes;
tmi_changes tmi_reports_changes(const tamis_reports *reports);

/* tamis_anonymous_epsilon of one bit for the calculator, which waits longer for a narrower answer. */
tamis_status tmi_patient_epsilon(tamis_bound *epsilon, const tamis_reports *reports, const tamis_number *delta, tamis_error *err);

/* Counts of several positions. */
tamis_status tmi_positions_delta(tamis_bound *delta, const tamis_reports *reports, const tamis_number *eps, tamis_error *err);
tamis_status tmi_positions_epsilon(tamis_bound *eps, const tamis_reports *reports, const tamis_number *delta, tamis_error *err);

/* Which upper bounds an eps was solved with. The certificate of a tally says so, because it is checked to the last digit. */
typedef enum tmi_upper_bounds {
    TMI_BOUNDS_FIRST = 1,  /* blanket and clones */
    TMI_BOUNDS_SECOND = 2, /* and the exchange bound */
    TMI_BOUNDS_NOW = 3     /* the same; a tally says where fewer whole reports look alike than a useful guarantee needs */
} tmi_upper_bounds;

/* Whole reports and categories. */
tamis_status tmi_whole_delta(tamis_bound *delta, const tamis_reports *reports, const tmi_loss_at *at, tamis_error *err);
/* Its upper end, but less is done: it is any proved bound that is at most the goal, or 1 or some bound that is not. */
tamis_status tmi_whole_upper(double *delta, const tamis_reports *reports, const tmi_loss_at *at, double goal, tamis_error *err);
tamis_status tmi_whole_epsilon(tamis_bound *eps, const tamis_reports *reports, const tamis_number *delta, tmi_upper_bounds bounds,
                               tamis_error *err);

/* tamis_anonymous_epsilon with the bounds of an earlier day. */
tamis_status tmi_anonymous_epsilon(tamis_bound *epsilon, const tamis_reports *reports, const tamis_number *delta,
                                   tmi_upper_bounds bounds, tamis_error *err);

/* Where a decreasing function of eps passes `goal`, in [0, most], to about `width`: at .upper its value was at most the goal,
 * or .upper is `most`; at .lower it was more, or .lower is 0. A good guess saves most of the work; NAN: none. */
typedef tamis_status tmi_delta_at(double *delta, const void *self, const tamis_number *eps, tamis_error *err);
tamis_status tmi_solve_epsilon(tamis_bound *eps, tmi_delta_at *delta_at, const void *self, const tamis_number *goal, double most,
                               double guess, double width, tamis_error *err);

/* About where delta passes the goal, judged by delta at eps = 0 as if the loss were a Gaussian one; NAN if that says nothing. */
double tmi_guess_epsilon(double delta_at_zero, double goal);

/* What two collections of several positions certainly reveal: delta at eps, from below, and eps at delta. The second for answers
 * of which only two are known, by how they differ. */
tamis_status tmi_attack_two(double *eps, const tamis_reports *reports, tmi_changes changes, const tamis_number *delta,
                            tamis_error *err);
tamis_status tmi_attack_delta(double *delta, const tamis_reports *reports, const tamis_number *eps, tamis_error *err);
tamis_status tmi_attack_epsilon(double *eps, const tamis_reports *reports, const tamis_number *delta, tamis_error *err);

#endif
