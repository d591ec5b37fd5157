/* Numbers that cannot lie: a parameter is a tamis_number, an exact rational read from text, never through a double, so that
 * "0.1" is one tenth.                                                                                                */
#ifndef TAMIS_NUM_H
#define TAMIS_NUM_H

#include <tamis/base.h>

TAMIS_BEGIN

/* Digits in one number, exponent sign and point not counted; and the largest decimal exponent. 1e999999999 would need
 * 400 MB before anything could be said about it; nobody's epsilon does. */
#define TAMIS_NUMBER_DIGITS 1000
#define TAMIS_NUMBER_EXPONENT 1000

typedef struct tamis_number tamis_number;

/* Reads "12", "-0.5", "1e-6", "3/10" (either part a decimal, the lower one not zero). Spaces are not skipped.
 *
 * Gives    a number that the caller frees with tamis_number_free; NULL on failure.
 * Errors   INVALID (NULL, not a number, too long, exponent too large), SYSTEM (memory).                             */
TAMIS_USE tamis_status tamis_number_read(tamis_number **number, const char *text, tamis_error *err);

/* The number as "p/q" in lowest terms, or "p" if it is an integer. The caller frees the text with tamis_free. */
TAMIS_USE tamis_status tamis_number_write(char **text, const tamis_number *number, tamis_error *err);

TAMIS_API void tamis_number_free(tamis_number *number);

TAMIS_END

#endif
