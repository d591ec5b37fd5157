#ifndef TMI_COMPOSITION_SUMS_LAPLACE_H
#define TMI_COMPOSITION_SUMS_LAPLACE_H

#include "composition/loss_atoms.h"

/* The sum of weight R_J(place unit - eps) over the terms above `place`, J being their power and K the number of Laplace
 * releases (composition/sums.h). If it is doubtful whether place + 1 lies above eps, terms there may count or not. */
tamis_status tmi_sums_laplace(tmi_ball *z, const tmi_loss_atoms *list, int64_t K, int64_t place, bool doubtful,
                              const tamis_number *unit, const tmi_ball *eps, long bits, tamis_error *err);

#endif
