#include "ledger/waves.h"

#include <string.h>

#include "base/memory.h"
#include "num/number.h"

void tmi_wave_clear(tmi_wave *wave)
{
    tmi_free(wave->name);
    for (size_t i = 0; i < wave->group_count; i++) tmi_free(wave->groups[i]);
    tmi_free(wave->groups);
    *wave = (tmi_wave){0};
}

static tamis_status add_group(tmi_wave *wave, const char *name, tamis_error *err)
{
    for (size_t i = 0; i < wave->group_count; i++)
        if (strcmp(wave->groups[i], name) == 0) return tmi_fail(err, TAMIS_INVALID, "wave: a group is named twice");
    tamis_status status = tmi_copy_string(&wave->groups[wave->group_count], name, err);
    if (status == TAMIS_OK) wave->group_count++;
    return status;
}

static bool is_text(const tmi_value *value)
{
    return value && tmi_value_kind_of(value) == TMI_VALUE_TEXT && *tmi_value_string(value);
}

tamis_status tmi_wave_read(tmi_wave *wave, const tmi_value *value, tamis_error *err)
{
    static const char *const keys[] = {"name", "groups", "same_sample"};
    tamis_status status = TAMIS_OK;
    *wave = (tmi_wave){0};
    if (!value) return TAMIS_OK;
    const bool object = tmi_value_kind_of(value) == TMI_VALUE_MAP;
    const tmi_value *name = object ? tmi_value_get(value, "name") : NULL,
                    *groups = object ? tmi_value_get(value, "groups") : NULL,
                    *same = object ? tmi_value_get(value, "same_sample") : NULL;
    if (!is_text(name) || tmi_value_extra_key(value, keys, 3) || (same && tmi_value_kind_of(same) != TMI_VALUE_BOOLEAN) ||
        (groups &&
         (tmi_value_kind_of(groups) != TMI_VALUE_LIST || tmi_value_size(groups) == 0 || tmi_value_size(groups) > TMI_MAX_GROUPS)))
        return tmi_fail(err, TAMIS_INVALID, "wave: must have a name, and may have groups and same_sample");
    TMI_TRY(tmi_copy_string(&wave->name, tmi_value_string(name), err));
    wave->same_sample = same && tmi_value_is_true(same);
    if (!groups) goto done;
    wave->groups = tmi_alloc(tmi_value_size(groups), sizeof *wave->groups);
    if (!wave->groups) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < tmi_value_size(groups); i++) {
        if (!is_text(tmi_value_at(groups, i))) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "wave: must have a name for each group"));
        TMI_TRY(add_group(wave, tmi_value_string(tmi_value_at(groups, i)), err));
    }
done:
    if (status != TAMIS_OK) tmi_wave_clear(wave);
    return status;
}

tamis_status tmi_wave_copy(tmi_wave *copy, const tmi_wave *wave, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *copy = (tmi_wave){.same_sample = wave->same_sample};
    TMI_TRY(tmi_copy_string(&copy->name, wave->name, err));
    if (wave->group_count == 0) goto done;
    copy->groups = tmi_alloc(wave->group_count, sizeof *copy->groups);
    if (!copy->groups) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < wave->group_count; i++) TMI_TRY(add_group(copy, wave->groups[i], err));
done:
    if (status != TAMIS_OK) tmi_wave_clear(copy);
    return status;
}

bool tmi_wave_named(const tmi_wave *wave, const char *name)
{
    return wave->name && name ? strcmp(wave->name, name) == 0 : !wave->name && !name;
}

bool tmi_wave_equal(const tmi_wave *x, const tmi_wave *y)
{
    bool equal = tmi_wave_named(x, y->name) && x->same_sample == y->same_sample && x->group_count == y->group_count;
    for (size_t i = 0; equal && i < x->group_count; i++) equal = strcmp(x->groups[i], y->groups[i]) == 0;
    return equal;
}

void tmi_wave_put(tmi_json_out *out, const tmi_wave *wave)
{
    if (!wave->name) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "name", wave->name);
    if (wave->group_count > 0) {
        tmi_json_add_open(out, "groups", '[');
        for (size_t i = 0; i < wave->group_count; i++) tmi_json_put_string(out, wave->groups[i]);
        tmi_json_close(out, ']');
    }
    if (wave->same_sample) tmi_json_add_boolean(out, "same_sample", true);
    tmi_json_close(out, '}');
}

const char *tmi_waves_apart(const tmi_wave *first, size_t stride, size_t count)
{
    if (count < 2) return NULL;
    for (size_t i = 0; i < count; i++) {
        const tmi_wave *wave = (const void *)((const char *)first + i * stride);
        if (wave->group_count > 0)
            return "the survey has releases from several waves with rotation groups, each of which is a separate sample";
        if (i > 0 && !wave->same_sample)
            return "the survey has releases from several waves, and sampling amplifies only where all waves have the same "
                   "sample: `wave: {name: NAME, same_sample: yes}` declares that the sample was kept";
    }
    return NULL;
}

/* ---- raises ---- */

void tmi_raise_clear(tmi_raise *raise)
{
    tmi_coin_clear(&raise->from);
    tmi_coin_clear(&raise->to);
    tmi_free(raise->reason);
    *raise = (tmi_raise){0};
}

tamis_status tmi_raise_copy(tmi_raise *copy, const tmi_raise *raise, tamis_error *err)
{
    tamis_status status;
    *copy = (tmi_raise){.number = raise->number};
    memcpy(copy->time, raise->time, sizeof copy->time);
    TMI_TRY(tmi_coin_copy(&copy->from, &raise->from, err));
    TMI_TRY(tmi_coin_copy(&copy->to, &raise->to, err));
    TMI_TRY(tmi_copy_string(&copy->reason, raise->reason, err));
done:
    if (status != TAMIS_OK) tmi_raise_clear(copy);
    return status;
}

/* ---- an account in a certificate ---- */

void tmi_standing_clear(tmi_standing *standing)
{
    tmi_coin_clear(&standing->cap);
    for (size_t i = 0; i < standing->raise_count; i++) tmi_raise_clear(&standing->raises[i]);
    for (size_t i = 0; i < standing->wave_count; i++) tmi_wave_clear(&standing->waves[i]);
    tmi_free(standing->raises);
    tmi_free(standing->waves);
    tmi_losses_clear(&standing->before);
    tmi_losses_clear(&standing->after);
    tmi_number_frees(&standing->as_rho, &standing->as_mu, NULL);
    *standing = (tmi_standing){0};
}

void tmi_cap_words(tmi_text *text, const tmi_standing *standing)
{
    const tmi_ledger_coin *cap = &standing->cap;
    const bool pure = !cap->rho && (!cap->delta || tmi_number_sign(cap->delta) == 0);
    if (standing->raise_count == 0) {
        tmi_text_put(text, "All releases of this survey together may spend ");
        tmi_coin_words(text, cap, true);
        tmi_text_put(text, cap->strata.outsider
                               ? ". It is a target for outsiders, and cannot be raised."
                               : ", unless raised: a raise is recorded in the ledger, with its reason, and in every "
                                 "later certificate.");
        return;
    }
    tmi_text_put(text, "All releases of this survey together may spend ");
    tmi_coin_words(text, cap, true);
    tmi_text_put(text, ", unless raised again; the budget was raised ");
    if (standing->raise_count == 1) tmi_text_put(text, "once, from ");
    else tmi_text_format(text, "%zu times, first from ", standing->raise_count);
    tmi_coin_words(text, &standing->raises[0].from, true);
    tmi_text_put(text, pure ? ". Epsilons without a delta add up even if decisions were made after seeing answers: the amount "
                              "spent bounds the privacy loss."
                            : ". The guarantee holds at the highest cap, not at an earlier one; if a raise was decided after "
                              "seeing answers, at the highest cap that could have been chosen.");
}
