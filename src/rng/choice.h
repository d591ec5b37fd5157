/* Choices whose weights are real numbers known by balls, such as exp(-epsilon * distance / 2). */
#ifndef TMI_RNG_CHOICE_H
#define TMI_RNG_CHOICE_H

#include "num/digits.h"
#include "rng/bits.h"

/* As tamis_choice_new; `weight` and what `context` points to are borrowed for the life of the choice. */
tamis_status tmi_choice_new(tamis_choice **choice, tmi_weight *weight, const void *context, size_t count, tamis_error *err);

#endif
