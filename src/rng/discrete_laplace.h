/* The two forms of the discrete Laplace sampler; tests compare them. */
#ifndef TMI_RNG_DISCRETE_LAPLACE_H
#define TMI_RNG_DISCRETE_LAPLACE_H

#include "rng/noise.h"

/* Values drawn side by side. */
#define TMI_LANES 256

/* Digits that all lanes compare together before the undecided ones go on alone; a multiple of 8, as they go on by
 * bytes. After 8 planes one lane of 256 is undecided on average, and its next byte costs less than a ninth plane. */
#define TMI_PLANES 8

/* Draws with the vector instructions of AVX2 or without them; both give the same values for the same bits. False if
 * this processor lacks them. */
bool tmi_laplace_use_vectors(tamis_noise *laplace, bool vectors);

#endif
