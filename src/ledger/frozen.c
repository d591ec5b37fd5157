/* What the first release of a survey and of each of its waves has fixed: kept, and compared with what later ones say. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ledger/book.h"

static bool is_one_of(const char *key, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, key) == 0) return true;
    return false;
}

/* What older accounts have among the frozen fields: where the rows are says nothing about who the people are, and the budget is
 * the account's own. */
static const char *const left_out[] = {"source", "budget", NULL};

/* `outsider` follows from the others. */
static const char *const not_compared[] = {"source", "budget", "outsider", NULL};

/* Losses of the waves add up only if they are losses of the same people by the same kind of step: `id` says which rows are one
 * of them. */
static const char *const of_survey[] = {"unit", "id", "protect", "given", "design_variables", NULL};

/* The first key of x that y lacks, or has with another value. */
static const char *difference(const tmi_json *x, const tmi_json *y, bool survey)
{
    for (const char *key = tmi_json_next_key(x, NULL); key; key = tmi_json_next_key(x, key)) {
        const tmi_json *other = tmi_json_get(y, key);
        const bool compared = survey ? is_one_of(key, of_survey) : !is_one_of(key, not_compared);
        if (compared && (!other || !tmi_json_equal(tmi_json_get(x, key), other))) return key;
    }
    return NULL;
}

const char *tmi_frozen_difference(const tmi_json *frozen, const tmi_json *says)
{
    const char *key = difference(frozen, says, false);
    return key ? key : difference(says, frozen, false);
}

const char *tmi_frozen_difference_of_survey(const tmi_json *frozen, const tmi_json *says)
{
    const char *key = difference(frozen, says, true);
    return key ? key : difference(says, frozen, true);
}

#define MOST_SHOWN 80 /* bytes of a value in a message */

static void put_value(tmi_text *text, const tmi_json *value)
{
    const bool string = value && tmi_json_kind_of(value) == TMI_JSON_STRING;
    tmi_text shown;
    tmi_text_init(&shown);
    if (!value) tmi_text_put(&shown, "none");
    else if (string) tmi_text_put(&shown, tmi_json_string(value));
    else if (tmi_json_canonical(&shown, value, NULL) != TAMIS_OK) text->failed = true;
    if (shown.failed) text->failed = true;
    else if (shown.length > 0) tmi_text_put(text, shown.length > MOST_SHOWN ? "a longer list" : shown.bytes);
    tmi_text_clear(&shown);
}

static bool is_object(const tmi_json *value) { return value && tmi_json_kind_of(value) == TMI_JSON_OBJECT; }

void tmi_frozen_words(tmi_text *text, const tmi_json *frozen, const tmi_json *says, const char *field)
{
    const tmi_json *there = tmi_json_get(frozen, field), *here = tmi_json_get(says, field);
    if (!there && !here) return;
    tmi_text_format(text, " (%.100s", field);
    for (const char *key; is_object(there) && is_object(here) && (key = tmi_json_difference(there, here, NULL));) {
        tmi_text_format(text, ".%.100s", key);
        there = tmi_json_get(there, key);
        here = tmi_json_get(here, key);
    }
    tmi_text_put(text, ": ");
    put_value(text, there);
    tmi_text_put(text, " there, ");
    put_value(text, here);
    tmi_text_put(text, " here)");
}

static int compare_keys(const void *x, const void *y) { return strcmp(*(const char *const *)x, *(const char *const *)y); }

tamis_status tmi_frozen_text(char **text, const tmi_json *frozen, bool with_source, tamis_error *err)
{
    const char **keys = tmi_alloc(tmi_json_size(frozen), sizeof *keys);
    size_t count = 0;
    tmi_text t;
    tmi_json_out out;
    tamis_status status = TAMIS_OK;
    *text = NULL;
    tmi_text_init(&t);
    tmi_json_out_init(&out, &t, false);
    if (!keys) TMI_TRY(tmi_fail_memory(err));
    for (const char *key = tmi_json_next_key(frozen, NULL); key; key = tmi_json_next_key(frozen, key))
        if (!is_one_of(key, left_out) || (with_source && strcmp(key, "source") == 0)) keys[count++] = key;
    qsort(keys, count, sizeof *keys, compare_keys);
    tmi_json_open(&out, '{');
    for (size_t i = 0; i < count; i++) {
        tmi_json_key(&out, keys[i]);
        tmi_json_put_number(&out, ""); /* the value follows */
        TMI_TRY(tmi_json_canonical(&t, tmi_json_get(frozen, keys[i]), err));
    }
    tmi_json_close(&out, '}');
    status = tmi_text_take(text, &t, err);
done:
    tmi_free(keys);
    tmi_text_clear(&t);
    return status;
}

tamis_status tmi_ledger_canonical(char **text, const tmi_json *value, tamis_error *err)
{
    tmi_text t;
    tmi_text_init(&t);
    tamis_status status = tmi_json_canonical(&t, value, err);
    if (status == TAMIS_OK) status = tmi_text_take(text, &t, err);
    tmi_text_clear(&t);
    return status;
}

/* {"design": ...}, or the reason why there is none; anything else says nothing. */
static tamis_status take_outsider(tmi_ledger_wave *w, const tmi_json *outsider, tamis_error *err)
{
    const bool reason = outsider && tmi_json_kind_of(outsider) == TMI_JSON_STRING;
    const tmi_json *design = outsider && tmi_json_kind_of(outsider) == TMI_JSON_OBJECT ? tmi_json_get(outsider, "design") : NULL;
    if (reason) w->reason = tmi_copy_text(tmi_json_string(outsider), strlen(tmi_json_string(outsider)));
    if (reason && !w->reason) return tmi_fail_memory(err);
    return design ? tmi_ledger_canonical(&w->design, design, err) : TAMIS_OK;
}

tamis_status tmi_account_open(tmi_ledger_account *account, int64_t number, const tmi_json *wave, const tmi_json *frozen,
                              const tmi_json *parts, tamis_error *err)
{
    tmi_ledger_wave w = {.number = number};
    tamis_status status;
    TMI_TRY(tmi_wave_read(&w.wave, wave, err));
    if (parts && !tmi_is_parts(parts)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "a source is a list of texts"));
    if (tmi_account_wave(account, w.wave.name)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "the wave was opened already"));
    TMI_TRY(tmi_ledger_canonical(&w.frozen, frozen, err));
    TMI_TRY(take_outsider(&w, tmi_json_get(frozen, "outsider"), err));
    if (parts) TMI_TRY(tmi_ledger_canonical(&w.parts, parts, err));
    tmi_ledger_wave *waves = tmi_realloc(account->waves, account->wave_count + 1, sizeof *waves);
    if (!waves) TMI_TRY(tmi_fail_memory(err));
    account->waves = waves;
    account->waves[account->wave_count++] = w;
    return TAMIS_OK;
done:
    tmi_wave_clear(&w.wave);
    tmi_free(w.frozen);
    tmi_free(w.design);
    tmi_free(w.reason);
    tmi_free(w.parts);
    return status;
}
