#include "num/libraries.h"

#include <flint/flint.h>
#include <gmp.h>
#include <mpfr.h>

#include "num/ball_arb.h"

void tmi_num_libraries(tmi_library_list *list)
{
    tmi_library_add(list, "GMP", gmp_version);
    tmi_library_add(list, "MPFR", mpfr_get_version());
    tmi_library_add(list, "FLINT", flint_version);
#if __FLINT_RELEASE < 30000 /* later versions contain Arb */
    tmi_library_add(list, "Arb", arb_version);
#endif
}
