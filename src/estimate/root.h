/* The root of a function between two points, by Brent's method (1973, chapter 4): R's uniroot.
 *
 * Three points are kept: the best so far, the one before it, and one on the other side of the root. The next is where a line
 * through two of them, or a parabola through three, crosses zero; the middle where that leads too far or gains too little. The
 * search ends when the root is within a tolerance of the best point.
 *
 * For functions that jump, as those of ranks do, it matters where the search stops: the best point is then on that side of the
 * jump where the function is nearer to zero, within the tolerance of it or anywhere on the step. So the steps follow uniroot's
 * to the letter, and so do values that are not finite. */
#ifndef TMI_ESTIMATE_ROOT_H
#define TMI_ESTIMATE_ROOT_H

#include <tamis/base.h>

typedef struct tmi_root_point {
    double place, value;
} tmi_root_point;

/* The value of the function at a place; NaN counts as a very large one. */
typedef tamis_status tmi_root_function(double *value, double place, void *context, tamis_error *err);

/* Needs    low.place < high.place; values at both that are not of the same sign; a positive tolerance.
 * Gives    the best point; after TMI_ROOT_STEPS steps too, if the search has not ended by then.
 * Errors   those of the function.                                                                                    */
tamis_status tmi_root(double *root, tmi_root_point low, tmi_root_point high, double tolerance, tmi_root_function *function,
                      void *context, tamis_error *err);

#define TMI_ROOT_STEPS 1001 /* as many as uniroot takes before it warns */

#endif
