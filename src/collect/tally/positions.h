/* How many reports have a one at each position: the positional population count of packed reports. */
#ifndef TMI_COLLECT_TALLY_POSITIONS_H
#define TMI_COLLECT_TALLY_POSITIONS_H

#include <stddef.h>
#include <stdint.h>

/* Adds to counts[j], for each of the `bits` positions, the number of reports with a one there. The reports are laid out as in a
 * packed block (packed.h); bits that belong to no report are zero. */
void tmi_count_positions(uint64_t *counts, const uint64_t *words, size_t rows, size_t bits);

#endif
