/* The length of a vector, as hypot computes it: glibc's own has a new symbol in each of several versions, and with it a program
 * built on a new system does not run on an older one. */
#ifndef TMI_BASE_HYPOTENUSE_H
#define TMI_BASE_HYPOTENUSE_H

#include <math.h>

/* A long double has at least eleven bits more than a double, and enough range that no square overflows. */
static inline double tmi_hypotenuse(double x, double y)
{
    return (double)sqrtl((long double)x * (long double)x + (long double)y * (long double)y);
}

#endif
