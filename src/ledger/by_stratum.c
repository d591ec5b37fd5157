#include "ledger/by_stratum.h"

#include <string.h>

#include "base/memory.h"
#include "ledger/waves.h"
#include "num/number.h"

void tmi_by_stratum_clear(tmi_by_stratum *list)
{
    for (size_t i = 0; i < list->count; i++) {
        tmi_free(list->names[i]);
        tamis_number_free(list->epsilons[i]);
    }
    tmi_free(list->names);
    tmi_free(list->epsilons);
    tmi_number_frees(&list->outsider, &list->insider, NULL);
    *list = (tmi_by_stratum){0};
}

static tamis_status make_room(tmi_by_stratum *list, size_t count, tamis_error *err)
{
    list->names = tmi_alloc(count, sizeof *list->names);
    list->epsilons = tmi_alloc(count, sizeof *list->epsilons);
    return list->names && list->epsilons ? TAMIS_OK : tmi_fail_memory(err);
}

/* `list` has room; on failure it is as it was. */
static tamis_status add(tmi_by_stratum *list, const char *name, const tamis_number *epsilon, tamis_error *err)
{
    tamis_status status = tmi_copy_string(&list->names[list->count], name, err);
    if (status == TAMIS_OK) status = tmi_number_copy(&list->epsilons[list->count], epsilon, err);
    if (status == TAMIS_OK) list->count++;
    else tmi_free(list->names[list->count]);
    return status;
}

tamis_status tmi_by_stratum_copy(tmi_by_stratum *copy, const tmi_by_stratum *list, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *copy = (tmi_by_stratum){0};
    if (list->count == 0) return TAMIS_OK;
    TMI_TRY(make_room(copy, list->count, err));
    for (size_t i = 0; i < list->count; i++) TMI_TRY(add(copy, list->names[i], list->epsilons[i], err));
    if (list->outsider) TMI_TRY(tmi_number_copy(&copy->outsider, list->outsider, err));
    if (list->insider) TMI_TRY(tmi_number_copy(&copy->insider, list->insider, err));

done:
    if (status != TAMIS_OK) tmi_by_stratum_clear(copy);
    return status;
}

const tamis_number *tmi_by_stratum_find(const tmi_by_stratum *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0) return list->epsilons[i];
    return NULL;
}

/* ---- text ---- */

static tamis_status put_number(tmi_json_out *out, const char *key, const tamis_number *number, tamis_error *err)
{
    char *text = NULL;
    tamis_status status = tamis_number_write(&text, number, err);
    if (status == TAMIS_OK) tmi_json_add_string(out, key, text);
    tamis_free(text);
    return status;
}

tamis_status tmi_by_stratum_put(tmi_json_out *out, const tmi_by_stratum *list, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (list->count == 0) return TAMIS_OK;
    if (list->outsider) TMI_TRY(put_number(out, "outsider", list->outsider, err));
    if (list->insider) TMI_TRY(put_number(out, "insider", list->insider, err));
    tmi_json_add_open(out, "strata", '[');
    for (size_t i = 0; i < list->count; i++) {
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "stratum", list->names[i]);
        TMI_TRY(put_number(out, "epsilon", list->epsilons[i], err));
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');

done:
    return status;
}

static tamis_status read_number(tamis_number **number, const tmi_value *object, const char *key, tamis_error *err)
{
    if (!tmi_value_field(object, key, TMI_VALUE_TEXT))
        return tmi_fail(err, TAMIS_INVALID, "%s: expected a number in quotes", key);
    return tamis_number_read(number, tmi_value_field_text(object, key), err);
}

static tamis_status read_stratum(tmi_by_stratum *list, const tmi_value *object, const tamis_number *most, tamis_error *err)
{
    static const char *const keys[] = {"stratum", "epsilon"};
    const char *name = tmi_value_field_text(object, "stratum");
    tamis_number *epsilon = NULL;
    tamis_status status;
    if (tmi_value_kind_of(object) != TMI_VALUE_MAP || tmi_value_extra_key(object, keys, 2) || !*name ||
        tmi_by_stratum_find(list, name))
        return tmi_fail(err, TAMIS_INVALID, "strata: expected each stratum once, with its epsilon");
    TMI_TRY(read_number(&epsilon, object, "epsilon", err));
    if (tmi_number_sign(epsilon) < 0 || tmi_number_compare(epsilon, most) > 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "strata: an epsilon must be between 0 and that of all strata"));
    TMI_TRY(add(list, name, epsilon, err));

done:
    tamis_number_free(epsilon);
    return status;
}

tamis_status tmi_by_stratum_read(tmi_by_stratum *list, const tmi_value *coin, const tamis_number *most, tamis_error *err)
{
    const tmi_value *strata = tmi_value_get(coin, "strata");
    const bool outsider = tmi_value_get(coin, "outsider"), insider = tmi_value_get(coin, "insider");
    tamis_status status = TAMIS_OK;
    *list = (tmi_by_stratum){0};
    if (!strata && !outsider && !insider) return TAMIS_OK;
    const size_t count = strata && tmi_value_kind_of(strata) == TMI_VALUE_LIST ? tmi_value_size(strata) : 0;
    if (!most || count == 0 || count > TMI_MAX_GROUPS || outsider != insider)
        return tmi_fail(err, TAMIS_INVALID, "strata: expected an epsilon for each, and outsider and insider of a budget");
    TMI_TRY(make_room(list, count, err));
    for (size_t i = 0; i < count; i++) TMI_TRY(read_stratum(list, tmi_value_at(strata, i), most, err));
    if (outsider) TMI_TRY(read_number(&list->outsider, coin, "outsider", err));
    if (insider) TMI_TRY(read_number(&list->insider, coin, "insider", err));

done:
    if (status != TAMIS_OK) tmi_by_stratum_clear(list);
    return status;
}

/* ---- comparing ---- */

static bool numbers_within(const tamis_number *x, const tamis_number *y)
{
    return x && y ? tmi_number_compare(x, y) <= 0 : !x && !y;
}

bool tmi_by_stratum_within(const tmi_by_stratum *x, const tmi_by_stratum *y)
{
    bool within = x->count == y->count && numbers_within(x->outsider, y->outsider) && numbers_within(x->insider, y->insider);
    for (size_t i = 0; within && i < x->count; i++) {
        const tamis_number *other = tmi_by_stratum_find(y, x->names[i]);
        within = other && tmi_number_compare(x->epsilons[i], other) <= 0;
    }
    return within;
}

bool tmi_by_stratum_equal(const tmi_by_stratum *x, const tmi_by_stratum *y)
{
    return tmi_by_stratum_within(x, y) && tmi_by_stratum_within(y, x);
}
