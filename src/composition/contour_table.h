#ifndef TMI_COMPOSITION_CONTOUR_TABLE_H
#define TMI_COMPOSITION_CONTOUR_TABLE_H

#include "composition/profile.h"
#include "num/complex.h"

/* table[k] = M(z) e^(-z top) at z = s + ikh, k < nodes; top is the sum of the largest losses of the releases that have
 * one. The releases have generating functions (composition/contour.h). */
tamis_status tmi_contour_fill(tmi_complex *table, size_t nodes, tmi_ball *top, const tamis_profile *profile, double s, double h,
                              long bits, tamis_error *err);

#endif
