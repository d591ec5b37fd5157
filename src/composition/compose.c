/* Several releases together: their losses in one list. */
#include <stdlib.h>

#include "base/memory.h"
#include "composition/profile.h"

static int in_order(const void *x, const void *y)
{
    return tmi_loss_compare(((const tmi_profile_factor *)x)->loss, ((const tmi_profile_factor *)y)->loss);
}

/* Says nothing: counts for nothing, however often. */
static bool is_silent(const tmi_loss *loss)
{
    return loss->kind == TMI_LOSS_CLAIM && tmi_number_sign(loss->a) == 0 && tmi_number_sign(loss->b) == 0;
}

tamis_status tamis_profile_compose(tamis_profile **composed, const tamis_profile *const *profiles, const int64_t *times,
                                   size_t count, tamis_error *err)
{
    tamis_profile *new = NULL;
    size_t most = 0, kept = 0;
    bool too_many = false;
    if (!composed) return tmi_fail(err, TAMIS_INVALID, "composed: NULL");
    *composed = NULL;
    if (count > 0 && !profiles) return tmi_fail(err, TAMIS_INVALID, "profiles: NULL");
    for (size_t i = 0; i < count; i++) {
        if (!profiles[i]) return tmi_fail(err, TAMIS_INVALID, "profiles[%zu]: NULL", i);
        if (times && (times[i] < 0 || times[i] > TAMIS_MAX_TIMES))
            return tmi_fail(err, TAMIS_INVALID, "times[%zu]: must be between 0 and 2^30", i);
        most += profiles[i]->count;
    }
    if (!(new = tmi_alloc(1, sizeof *new)) || !(new->factors = tmi_alloc(most, sizeof *new->factors))) {
        tmi_free(new);
        return tmi_fail_memory(err);
    }
    atomic_init(&new->owners, 1);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < profiles[i]->count && !(times && times[i] == 0); k++) {
            const tmi_profile_factor *f = &profiles[i]->factors[k];
            if (is_silent(f->loss)) continue;
            int64_t product = f->times * (times ? times[i] : 1); /* at most 2^60 */
            too_many |= product > TAMIS_MAX_TIMES;
            new->factors[new->count++] = (tmi_profile_factor){tmi_loss_share(f->loss), product};
        }
    if (new->count > 1) qsort(new->factors, new->count, sizeof *new->factors, in_order);
    for (size_t i = 0; i < new->count; i++) {
        tmi_profile_factor *f = &new->factors[i], *last = kept > 0 ? &new->factors[kept - 1] : NULL;
        if (last && in_order(last, f) == 0) {
            too_many |= f->times > TAMIS_MAX_TIMES - last->times;
            if (!too_many) last->times += f->times;
            tmi_loss_free(f->loss);
        } else {
            new->factors[kept++] = *f;
        }
    }
    new->count = kept;
    if (too_many) {
        tamis_profile_free(new);
        return tmi_fail(err, TAMIS_INVALID, "times: one release counts more than 2^30 times");
    }
    *composed = new;
    return TAMIS_OK;
}
