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

static tamis_status copy_text(char **copy, const char *text, tamis_error *err)
{
    *copy = tmi_copy_text(text, strlen(text));
    return *copy ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status add_group(tmi_wave *wave, const char *name, tamis_error *err)
{
    for (size_t i = 0; i < wave->group_count; i++)
        if (strcmp(wave->groups[i], name) == 0) return tmi_fail(err, TAMIS_INVALID, "wave: a group is named twice");
    tamis_status status = copy_text(&wave->groups[wave->group_count], name, err);
    if (status == TAMIS_OK) wave->group_count++;
    return status;
}

static bool is_text(const tmi_json *value)
{
    return value && tmi_json_kind_of(value) == TMI_JSON_STRING && *tmi_json_string(value);
}

tamis_status tmi_wave_read(tmi_wave *wave, const tmi_json *value, tamis_error *err)
{
    static const char *const keys[] = {"name", "groups", "same_sample"};
    tamis_status status = TAMIS_OK;
    *wave = (tmi_wave){0};
    if (!value) return TAMIS_OK;
    const bool object = tmi_json_kind_of(value) == TMI_JSON_OBJECT;
    const tmi_json *name = object ? tmi_json_get(value, "name") : NULL, *groups = object ? tmi_json_get(value, "groups") : NULL,
                   *same = object ? tmi_json_get(value, "same_sample") : NULL;
    if (!is_text(name) || tmi_json_extra_key(value, keys, 3) || (same && tmi_json_kind_of(same) != TMI_JSON_BOOLEAN) ||
        (groups &&
         (tmi_json_kind_of(groups) != TMI_JSON_LIST || tmi_json_size(groups) == 0 || tmi_json_size(groups) > TMI_MAX_GROUPS)))
        return tmi_fail(err, TAMIS_INVALID, "wave: expected a name, and perhaps groups and same_sample");
    TMI_TRY(copy_text(&wave->name, tmi_json_string(name), err));
    wave->same_sample = same && tmi_json_is_true(same);
    if (!groups) goto done;
    wave->groups = tmi_alloc(tmi_json_size(groups), sizeof *wave->groups);
    if (!wave->groups) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < tmi_json_size(groups); i++) {
        if (!is_text(tmi_json_at(groups, i))) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "wave: expected a name for each group"));
        TMI_TRY(add_group(wave, tmi_json_string(tmi_json_at(groups, i)), err));
    }
done:
    if (status != TAMIS_OK) tmi_wave_clear(wave);
    return status;
}

tamis_status tmi_wave_copy(tmi_wave *copy, const tmi_wave *wave, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *copy = (tmi_wave){.same_sample = wave->same_sample};
    if (wave->name) TMI_TRY(copy_text(&copy->name, wave->name, err));
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
    tmi_json_key(out, "name");
    tmi_json_put_string(out, wave->name);
    if (wave->group_count > 0) {
        tmi_json_key(out, "groups");
        tmi_json_open(out, '[');
        for (size_t i = 0; i < wave->group_count; i++) tmi_json_put_string(out, wave->groups[i]);
        tmi_json_close(out, ']');
    }
    if (wave->same_sample) {
        tmi_json_key(out, "same_sample");
        tmi_json_put_boolean(out, true);
    }
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
    TMI_TRY(copy_text(&copy->reason, raise->reason, err));
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
    *standing = (tmi_standing){0};
}

tamis_status tmi_standing_copy(tmi_standing *copy, const tmi_standing *standing, tamis_error *err)
{
    tamis_status status;
    *copy = (tmi_standing){.raises = tmi_alloc(standing->raise_count, sizeof *copy->raises),
                           .waves = tmi_alloc(standing->wave_count, sizeof *copy->waves)};
    if (!copy->raises || !copy->waves) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_coin_copy(&copy->cap, &standing->cap, err));
    for (size_t i = 0; i < standing->raise_count; i++, copy->raise_count++)
        TMI_TRY(tmi_raise_copy(&copy->raises[i], &standing->raises[i], err));
    for (size_t i = 0; i < standing->wave_count; i++, copy->wave_count++)
        TMI_TRY(tmi_wave_copy(&copy->waves[i], &standing->waves[i], err));
    TMI_TRY(tmi_losses_copy(&copy->before, &standing->before, err));
    TMI_TRY(tmi_losses_copy(&copy->after, &standing->after, err));
done:
    if (status != TAMIS_OK) tmi_standing_clear(copy);
    return status;
}

void tmi_cap_words(tmi_text *text, const tmi_standing *standing)
{
    const tmi_ledger_coin *cap = &standing->cap;
    const bool pure = !cap->rho && (!cap->delta || tmi_number_sign(cap->delta) == 0);
    if (standing->raise_count == 0) {
        tmi_text_put(text, "All releases of this survey together may spend ");
        tmi_coin_words(text, cap, true);
        tmi_text_put(text,
                     ", unless raised: a raise is recorded in the ledger, with its reason, and in every later certificate.");
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
