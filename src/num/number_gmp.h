/* What a tamis_number is made of; for num/ alone. */
#ifndef TMI_NUM_NUMBER_GMP_H
#define TMI_NUM_NUMBER_GMP_H

#include <gmp.h>

#include "num/number.h"

struct tamis_number {
    mpq_t value; /* canonical */
};

tamis_number *tmi_number_new(void); /* zero; NULL if memory runs out */

#endif
