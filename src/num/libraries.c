#include "num/libraries.h"

#include <flint/flint.h>
#include <gmp.h>
#include <mpfr.h>

#include "num/ball_arb.h"

void tmi_num_parts(tmi_part_list *list)
{
    tmi_part_add(list, "GMP", gmp_version);
    tmi_part_add(list, "MPFR", mpfr_get_version());
    tmi_part_add(list, "FLINT", flint_version);
#if __FLINT_RELEASE < 30000 /* later versions contain Arb */
    tmi_part_add(list, "Arb", arb_version);
#endif
}
