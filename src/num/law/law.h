/* Lattice laws: masses on consecutive integers, each one enclosed, and enclosures of what lies left and right of them.
 *
 * A law with a finite support is stored whole where that is affordable; otherwise the window is chosen so that the mass
 * outside is below a stated number, and that mass is carried along: `below` and `above` always enclose the truth,
 * through convolutions too. Masses keep their relative accuracy down to about the mass outside.
 *
 * Invariants of every law that a function here has given:
 *   1. P(X = first + i) lies in mass[i] for 0 <= i < count; P(X < first) in below; P(X > first + count - 1) in above.
 *   2. |first| and |first + count| are at most TMI_LAW_END, and count at most TMI_LAW_POINTS.
 * After a failure the law is the one about which nothing is known: count 0, below and above [0, 1]. */
#ifndef TMI_NUM_LAW_LAW_H
#define TMI_NUM_LAW_LAW_H

#include "num/law/laws.h"

#define TMI_LAW_POINTS (INT64_C(1) << 20) /* a convolution of this length takes seconds, and some hundred MB */
#define TMI_LAW_END (INT64_C(1) << 62)

typedef struct tmi_law {
    int64_t first;
    size_t count;
    tmi_ball *mass;
    tmi_ball below, above;
} tmi_law;

/* How a law is cut and computed. */
typedef struct tmi_window {
    double outside; /* at most this mass is left out, both sides together; in (0, 1) */
    long bits;      /* precision of the masses, at least 64 */
} tmi_window;

#define TMI_WINDOW ((tmi_window){0x1p-200, 192})

/* ---- making ---- */

/* The law about which nothing is known. */
void tmi_law_init(tmi_law *law);

/* Each makes a new law, which the caller clears. Parameters as in <tamis/num.h>; UNABLE if more than TMI_LAW_POINTS
 * points would have to be stored. */
tamis_status tmi_law_point(tmi_law *law, int64_t k, tamis_error *err);
tamis_status tmi_law_hypergeometric(tmi_law *law, const tmi_hypergeometric *parameters, tmi_window window, tamis_error *err);
tamis_status tmi_law_binomial(tmi_law *law, const tmi_binomial *parameters, tmi_window window, tamis_error *err);
tamis_status tmi_law_discrete_laplace(tmi_law *law, const tamis_number *scale, tmi_window window, tamis_error *err);
tamis_status tmi_law_discrete_gaussian(tmi_law *law, const tamis_number *variance, tmi_window window, tamis_error *err);

/* Room for `count` masses from `first` on, all zero, nothing outside: for a law whose masses the caller knows. */
tamis_status tmi_law_new(tmi_law *law, int64_t first, size_t count, tamis_error *err);

/* The law of X + Y for independent X and Y. The result is new and shares nothing with the inputs. */
tamis_status tmi_law_convolve(tmi_law *law, const tmi_law *x, const tmi_law *y, long bits, tamis_error *err);

/* X + by, in place. */
tamis_status tmi_law_shift(tmi_law *law, int64_t by, tamis_error *err);

void tmi_law_clear(tmi_law *law); /* leaves the law about which nothing is known; NULL is fine */

/* Whether the invariants hold, as far as a law shows it (base/check.h). */
bool tmi_law_is_sound(const tmi_law *law);

/* ---- asking: k may be any integer ---- */

void tmi_law_mass(tmi_ball *z, const tmi_law *law, int64_t k, long bits);

#endif
