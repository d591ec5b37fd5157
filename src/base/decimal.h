/* Doubles as decimal text, the same in every locale. */
#ifndef TMI_BASE_DECIMAL_H
#define TMI_BASE_DECIMAL_H

#include "base/text.h"

#define TMI_REAL_TEXT 40

/* The shortest of 15 to 17 significant digits that reads back as the same double: 0.1, 6194, 1.5e-07. */
void tmi_text_real(tmi_text *text, double x);
void tmi_shortest_real(char digits[static TMI_REAL_TEXT], double x);

/* For people: rounded to a multiple of 10^-decimals (decimals may be negative: 3621074 at -3 is 3,621,000), with a
 * comma between thousands. */
void tmi_text_rounded(tmi_text *text, double x, int decimals);

/* Decimals that leave two significant digits of an error: 12.34 -> 0, 0.0512 -> 3, 5231 -> -2. */
int tmi_decimals_of(double error);

#endif
