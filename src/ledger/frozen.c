/* What the first release of a survey and of each of its waves has fixed: kept, and compared with what later ones say. */
#include <string.h>

#include "base/memory.h"
#include "ledger/book.h"

/* What older accounts have among the frozen fields: where the rows are says nothing about who the people are, and the budget is
 * the account's own. */
static const char *const left_out[] = {"source", "budget", NULL};

/* `outsider` follows from the others. */
static const char *const not_compared[] = {"source", "budget", "outsider", NULL};

/* Losses of the waves add up only if they are losses of the same people by the same kind of step: `id` says which rows are one
 * of them. */
static const char *const of_survey[] = {"unit", "id", "protect", "given", "design_variables", NULL};

/* The first key of x that y lacks, or has with another value. */
static const char *difference(const tmi_value *x, const tmi_value *y, bool survey)
{
    for (const char *key = tmi_value_next_key(x, NULL); key; key = tmi_value_next_key(x, key)) {
        const tmi_value *other = tmi_value_get(y, key);
        const bool compared = survey ? tmi_is_one_of(key, of_survey) : !tmi_is_one_of(key, not_compared);
        if (compared && (!other || !tmi_value_equal(tmi_value_get(x, key), other))) return key;
    }
    return NULL;
}

const char *tmi_frozen_difference(const tmi_value *frozen, const tmi_value *says)
{
    const char *key = difference(frozen, says, false);
    return key ? key : difference(says, frozen, false);
}

const char *tmi_frozen_difference_of_survey(const tmi_value *frozen, const tmi_value *says)
{
    const char *key = difference(frozen, says, true);
    return key ? key : difference(says, frozen, true);
}

#define MOST_SHOWN 80 /* bytes of a value in a message */

static void put_value(tmi_text *text, const tmi_value *value)
{
    const bool string = value && tmi_value_kind_of(value) == TMI_VALUE_TEXT;
    tmi_text shown;
    tmi_text_init(&shown);
    if (!value) tmi_text_put(&shown, "none");
    else if (string) tmi_text_put(&shown, tmi_value_string(value));
    else if (tmi_json_canonical(&shown, value, NULL) != TAMIS_OK) text->failed = true;
    if (shown.failed) text->failed = true;
    else if (shown.length > 0) tmi_text_put(text, shown.length > MOST_SHOWN ? "a longer list" : shown.bytes);
    tmi_text_clear(&shown);
}

static bool is_object(const tmi_value *value) { return value && tmi_value_kind_of(value) == TMI_VALUE_MAP; }

void tmi_frozen_words(tmi_text *text, const tmi_value *frozen, const tmi_value *says, const char *field)
{
    const tmi_value *there = tmi_value_get(frozen, field), *here = tmi_value_get(says, field);
    if (!there && !here) return;
    tmi_text_format(text, " (%.100s", field);
    for (const char *key; is_object(there) && is_object(here) && (key = tmi_value_difference(there, here, NULL));) {
        tmi_text_format(text, ".%.100s", key);
        there = tmi_value_get(there, key);
        here = tmi_value_get(here, key);
    }
    tmi_text_put(text, ": ");
    put_value(text, there);
    tmi_text_put(text, " there, ");
    put_value(text, here);
    tmi_text_put(text, " here)");
}

tamis_status tmi_frozen_kept(tmi_value **kept, const tmi_value *frozen, bool with_source, tamis_error *err)
{
    tmi_json_tree tree;
    tmi_json_tree_begin(&tree, NULL);
    tmi_json_open(&tree.out, '{');
    for (const char *key = tmi_value_next_key(frozen, NULL); key; key = tmi_value_next_key(frozen, key)) {
        if (tmi_is_one_of(key, left_out) && !(with_source && strcmp(key, "source") == 0)) continue;
        tmi_json_key(&tree.out, key);
        tmi_json_put_value(&tree.out, tmi_value_get(frozen, key));
    }
    tmi_json_close(&tree.out, '}');
    return tmi_json_tree_end(kept, &tree, err);
}

void tmi_ledger_wave_clear(tmi_ledger_wave *w)
{
    tmi_wave_clear(&w->wave);
    tmi_value_free(w->frozen);
    tmi_free(w->design);
    tmi_value_free(w->parts);
}

tamis_status tmi_account_open(tmi_ledger_account *account, int64_t number, const tmi_value *wave, const tmi_value *frozen,
                              const tmi_value *parts, tamis_error *err)
{
    tmi_ledger_wave w = {.number = number};
    tamis_status status;
    TMI_TRY(tmi_wave_read(&w.wave, wave, err));
    if (parts && !tmi_is_parts(parts)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "a source is a list of texts"));
    if (tmi_account_wave(account, w.wave.name)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "the wave was opened already"));
    TMI_TRY(tmi_value_copy(&w.frozen, frozen, err));
    TMI_TRY(tmi_value_copy(&w.parts, parts, err));
    /* {"design": ...}, or the reason why there is none; anything else says nothing */
    const tmi_value *design = tmi_value_get(tmi_value_get(w.frozen, "outsider"), "design");
    const tmi_value *reason = tmi_value_field(w.frozen, "outsider", TMI_VALUE_TEXT);
    if (design) TMI_TRY(tmi_json_canonical_text(&w.design, design, err));
    if (reason) w.reason = tmi_value_string(reason);
    tmi_ledger_wave *waves = tmi_realloc(account->waves, account->wave_count + 1, sizeof *waves);
    if (!waves) TMI_TRY(tmi_fail_memory(err));
    account->waves = waves;
    account->waves[account->wave_count++] = w;
    return TAMIS_OK;
done:
    tmi_ledger_wave_clear(&w);
    return status;
}
