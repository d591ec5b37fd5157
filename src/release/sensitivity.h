/* How much a table of integers can change with one record: <tamis/sensitivity.h> for the tables of a release.
 *
 * The tables are of rows, not of weighted rows: the weight is the same for all and is multiplied afterwards. In a table a
 * record falls into one cell, or into none where it is left out (a missing value, a `by` value that is not declared), and
 * adds to its cell a whole number c with low <= c <= high: its value on the grid for a sum, 1 for a number of rows.     */
#ifndef TMI_SENSITIVITY_H
#define TMI_SENSITIVITY_H

#include <tamis/sensitivity.h>

/* The largest L1 distance between the tables of two neighbours.
 *
 * Needs    |low|, |high| < 2^53.
 * Gives    the number; INT64_MAX on failure.
 * Errors   REFUSED (the setting), SYSTEM.                                                                            */
tamis_status tmi_sensitivity(int64_t *sensitivity, const tamis_setting *setting, int64_t low, int64_t high, size_t cells,
                             tamis_error *err);

/* The same in words: the inequality and its number. */
const char *tmi_sensitivity_words(size_t cells);

#endif
