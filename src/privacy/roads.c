/* Which road a list of releases takes. */
#include "privacy/profile.h"

static tamis_status one_loss(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    return tmi_loss_delta(lower, upper, self, eps, bits, err);
}

tamis_status tmi_road_open(tmi_road *road, const tamis_profile *profile, tamis_error *err)
{
    *road = (tmi_road){.width = TAMIS_WIDTH};
    if (profile->count == 1 && profile->factors[0].times == 1) {
        road->delta = one_loss;
        road->self = profile->factors[0].loss;
        road->exact = tmi_loss_is_exact(profile->factors[0].loss);
        return TAMIS_OK;
    }
    return tmi_fail(err, TAMIS_UNABLE, "no road for this list of releases");
}
