/* Student's law, for the intervals of unprotected estimates. */
#ifndef TMI_NUM_LAW_STUDENT_H
#define TMI_NUM_LAW_STUDENT_H

#include <tamis/num.h>

/* The t with P(|T| <= t) = confidence for T of Student's law with df degrees of freedom, to 15 digits.
 *
 * Needs    1 - 10^-9 >= confidence > 0, df >= 1.
 * Errors   INVALID; t is then infinite.                                                                              */
tamis_status tmi_student_quantile(double *t, const tamis_number *confidence, int64_t df, tamis_error *err);

#endif
