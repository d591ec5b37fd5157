/* How much a table of integers can change when one sampled record is replaced.
 *
 * The number of sampled records is fixed (given: frame), so neighbours differ in one record that is replaced by any
 * other. In a table a record falls into one cell, or into none where it is left out (a missing value, a `by` value that
 * is not declared), and adds to its cell a whole number c with low <= c <= high: its value on the grid for a sum, 1 for
 * a number of rows.                                                                                                  */
#ifndef TMI_SENSITIVITY_H
#define TMI_SENSITIVITY_H

#include <stddef.h>
#include <stdint.h>

/* The largest L1 distance between the tables of two neighbours.
 *
 *   One cell: the record adds c in {0} or [low, high], the other c' of the same kind. |c - c'| is at most
 *   max(|low|, |high|, high - low), and each of the three is attained.
 *
 *   Several cells: in the same cell as above; in two different cells the distance is |c| + |c'| <= 2 max(|low|, |high|),
 *   attained, and not below the first bound because high - low <= |high| + |low|.
 *
 * |low|, |high| < 2^53, so nothing overflows.                                                                        */
int64_t tmi_sensitivity(int64_t low, int64_t high, size_t cells);

/* The same in words: the inequality and its number. */
const char *tmi_sensitivity_words(size_t cells);

#endif
