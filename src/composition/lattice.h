/* delta of any list, from above and from below, on a lattice of losses.
 *
 * Write a = e^eps and H(a) = delta(eps): convex, H(0) = 1, and for a < 1 given by symmetry, H(a) = 1 - a + a H(1/a). A pair
 * of laws with the masses q_j, p_j = a_j q_j on the losses jh (a_j = e^jh) and the mass r at infinity has
 *     H(a) = r + sum over j of q_j (a_j - a)+,
 * a polyline with knots a_j. For two releases H12(a) = sum over j of p2_j H1(a/a_j) + r2: it grows with H1 and, the other
 * way round, with H2. So if polylines lie above the true H of each release, everywhere, the composition of the polylines
 * lies above the true composition; and the same from below. The masses need not add up to 1.
 *
 * Above.  The chords between the points H(a_j) (connect the masses). Beyond the last knot H is at most its value there.
 *   Masses are rounded up; a mass that comes out too large only adds.
 *
 * Below.  H lies above the lines through neighbouring masses, continued: between a_j and a_(j+1) it is below the chord by at
 *   most d_j = (a_(j+1) - a_j) q_j q_(j+1) / (q_j + q_(j+1)), the height of the triangle of the chord and the two lines, q
 *   being the masses from above. So the polyline through H(a_j) - max(d_(j-1), d_j) is below H; its lower convex hull too.
 *   It is cut where it reaches the limit of H at infinity. At the left end it lies below 1 - a, and so does its
 *   continuation if the q_j add up to at most 1. Masses are rounded down, and every dot is checked in balls afterwards.
 *
 * Discrete.  If all losses of a release are places of the lattice, its H is the polyline, and both ends are the masses. The
 *   step is chosen so that this is the case for as many releases as it can be, claims first; if it is for all of them and
 *   the step is not too small, nothing but the masses is rounded.
 *
 * Convolutions are exact integers (num/law/mass.h). Windows: what leaves on the right goes to infinity from above and is left
 * out from below; what leaves on the left is moved up to the window's end from above and left out from below.           */
#ifndef TMI_COMPOSITION_LATTICE_H
#define TMI_COMPOSITION_LATTICE_H

#include "composition/profile.h"

/* Opens the evaluator: everything but the mass at infinity of claims. The two ends are as narrow as the lattice allows; it is
 * made finer until they are near each other, and all that were composed are kept for the next question. */
tamis_status tmi_lattice_open(tmi_evaluator *evaluator, const tamis_profile *profile, tamis_error *err);

#endif
