/* People who may have been sampled. The profiles are those of amplification/curves.c; a separate type keeps them apart. */
#include <math.h>

#include "base/memory.h"
#include "num/bound.h"
#include <tamis/experimental/amplification.h>

#include "amplification/curves.h"

struct tamis_outsider {
    tamis_profile *profile;
};

static tamis_status take(tamis_outsider **outsider, tamis_profile *profile, tamis_error *err)
{
    *outsider = tmi_alloc(1, sizeof **outsider);
    if (!*outsider) {
        tamis_profile_free(profile);
        return tmi_fail_memory(err);
    }
    (*outsider)->profile = profile;
    return TAMIS_OK;
}

tamis_status tamis_outsider_new(tamis_outsider **outsider, const tamis_profile *sampled, const tamis_number *rate,
                                tamis_error *err)
{
    tamis_profile *profile = NULL;
    if (!outsider) return tmi_fail(err, TAMIS_INVALID, "outsider: NULL");
    *outsider = NULL;
    if (!sampled) return tmi_fail(err, TAMIS_INVALID, "sampled: NULL");
    if (!rate) return tmi_fail(err, TAMIS_INVALID, "rate: NULL");
    if (tmi_number_sign(rate) <= 0 || tmi_number_compare_int(rate, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "rate: must be above 0 and at most 1");
    tamis_status status = tmi_profile_amplify(&profile, sampled, rate, err);
    return status == TAMIS_OK ? take(outsider, profile, err) : status;
}

tamis_status tamis_outsider_independent(tamis_outsider **outsider, const tamis_outsider *const *samples, size_t count,
                                        tamis_error *err)
{
    tamis_profile *profile = NULL;
    const tamis_profile **profiles;
    if (!outsider) return tmi_fail(err, TAMIS_INVALID, "outsider: NULL");
    *outsider = NULL;
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "count: must be at least 1");
    if (!samples) return tmi_fail(err, TAMIS_INVALID, "samples: NULL");
    for (size_t i = 0; i < count; i++)
        if (!samples[i]) return tmi_fail(err, TAMIS_INVALID, "samples[%zu]: NULL", i);
    if (!(profiles = tmi_alloc(count, sizeof *profiles))) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) profiles[i] = samples[i]->profile;
    tamis_status status = tamis_profile_compose(&profile, profiles, NULL, count, err);
    if (status == TAMIS_OK) status = take(outsider, profile, err);
    tmi_free(profiles);
    return status;
}

tamis_status tamis_outsider_delta(tamis_bound *delta, const tamis_outsider *outsider, const tamis_number *eps, tamis_error *err)
{
    if (delta) *delta = (tamis_bound){0, 1};
    if (!outsider) return tmi_fail(err, TAMIS_INVALID, "outsider: NULL");
    return tamis_profile_delta(delta, outsider->profile, eps, err);
}

tamis_status tamis_outsider_epsilon(tamis_bound *eps, const tamis_outsider *outsider, const tamis_number *delta, tamis_error *err)
{
    if (eps) *eps = (tamis_bound){0, INFINITY};
    if (!outsider) return tmi_fail(err, TAMIS_INVALID, "outsider: NULL");
    return tamis_profile_epsilon(eps, outsider->profile, delta, err);
}

void tamis_outsider_free(tamis_outsider *outsider)
{
    if (!outsider) return;
    tamis_profile_free(outsider->profile);
    tmi_free(outsider);
}
