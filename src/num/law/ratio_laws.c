#include "num/law/ratio_laws.h"

#include "num/ball_arb.h"

/* P(X >= k) for k > mode (up), P(X <= k) for k <= mode: a mass from logarithms of factorials, times a sum. */
static void outer_tail(tmi_ball *z, const tmi_ratio_law *law, int64_t k, bool up, long bits)
{
    tmi_ball sum;
    tmi_ratios ratios = law->ratios(law->law, k, up);
    tmi_ball_init(&sum);
    tmi_ratios_sum(&sum, &ratios, bits);
    law->mass(z, law->law, k, bits < 128 ? 128 : bits);
    tmi_ball_mul(z, z, &sum, bits < 128 ? 128 : bits);
    tmi_ball_clear(&sum);
}

void tmi_ratio_law_part(tmi_ball *z, const tmi_ratio_law *law, tmi_law_part part, int64_t k, long bits)
{
    long more = bits < 128 ? 128 : bits;
    if (part == TMI_MASS) {
        if (k < law->low || k > law->high) tmi_ball_set_int(z, 0);
        else if (law->low == law->high) tmi_ball_set_int(z, 1);
        else law->mass(z, law->law, k, more);
        return;
    }
    bool up = part == TMI_AT_LEAST;
    if (up ? k <= law->low : k >= law->high) {
        tmi_ball_set_int(z, 1);
    } else if (up ? k > law->high : k < law->low) {
        tmi_ball_set_int(z, 0);
    } else if (up ? k > law->mode : k < law->mode) {
        outer_tail(z, law, k, up, bits);
    } else { /* the other side is the outer one */
        outer_tail(z, law, up ? k - 1 : k + 1, !up, bits);
        tmi_ball_neg(z, z);
        tmi_ball_add_int(z, z, 1, more);
    }
}
