/* Whether a ledger has another account over the same source.
 *
 * What is compared is what plans declare: the parts of a source, texts that the caller made (files by their path from the ledger,
 * databases by connection and table). One part in common is enough, since the people in it would be in both accounts. Nothing
 * of the data is looked at, so a copy of a file under another name is not recognised.                                  */
#include <string.h>

#include "ledger/book.h"

static bool has_part(const tmi_value *list, const char *part)
{
    for (size_t i = 0; i < tmi_value_size(list); i++)
        if (strcmp(tmi_value_string(tmi_value_at(list, i)), part) == 0) return true;
    return false;
}

bool tmi_is_parts(const tmi_value *value)
{
    if (!value || tmi_value_kind_of(value) != TMI_VALUE_LIST) return false;
    for (size_t i = 0; i < tmi_value_size(value); i++)
        if (tmi_value_kind_of(tmi_value_at(value, i)) != TMI_VALUE_TEXT) return false;
    return true;
}

/* Accounts that did not note their parts, or are compared with a charge that does not: by the frozen field itself. */
static bool same_frozen_source(const tmi_value *x, const tmi_value *y)
{
    const tmi_value *mine = tmi_value_get(x, "source"), *theirs = tmi_value_get(y, "source");
    return mine && theirs && tmi_value_equal(mine, theirs);
}

/* Whether a wave of the account has noted the part; `account` may be NULL. */
static bool has_noted(const tmi_ledger_account *account, const char *part)
{
    for (size_t w = 0; account && w < account->wave_count; w++)
        if (account->waves[w].parts && has_part(account->waves[w].parts, part)) return true;
    return false;
}

/* A part that a wave has noted and the source has, and that is none of `but`. */
static bool have_a_part_in_common(const tmi_value *noted, const tmi_value *parts, const tmi_ledger_account *but)
{
    for (size_t i = 0; i < tmi_value_size(parts); i++) {
        const char *part = tmi_value_string(tmi_value_at(parts, i));
        if (has_part(noted, part) && !has_noted(but, part)) return true;
    }
    return false;
}

/* *noted and what is new in `parts`. */
static tamis_status join(tmi_value **noted, const tmi_value *parts, tamis_error *err)
{
    tmi_json_tree tree;
    tmi_value *joined;
    tmi_json_tree_begin(&tree, NULL);
    tmi_json_open(&tree.out, '[');
    for (size_t i = 0; *noted && i < tmi_value_size(*noted); i++) tmi_json_put_value(&tree.out, tmi_value_at(*noted, i));
    for (size_t i = 0; i < tmi_value_size(parts); i++) {
        const tmi_value *part = tmi_value_at(parts, i);
        if (!*noted || !has_part(*noted, tmi_value_string(part))) tmi_json_put_value(&tree.out, part);
    }
    tmi_json_close(&tree.out, ']');
    tamis_status status = tmi_json_tree_end(&joined, &tree, err);
    if (status != TAMIS_OK) return status;
    tmi_value_free(*noted);
    *noted = joined;
    return TAMIS_OK;
}

tamis_status tmi_charge_source(tmi_ledger_charge *charge, tmi_ledger_wave *wave, const tmi_value *parts, tamis_error *err)
{
    if (parts && !tmi_is_parts(parts)) return tmi_fail(err, TAMIS_INVALID, "a source is a list of texts");
    if (parts) {
        tamis_status status = join(&wave->parts, parts, err);
        if (status != TAMIS_OK) return status;
        tmi_value_free(charge->parts);
        return tmi_value_copy(&charge->parts, parts, err);
    }
    return charge->parts ? TAMIS_OK : tmi_value_copy(&charge->parts, wave->parts, err);
}

static bool same_groups(const tmi_wave *x, const tmi_wave *y)
{
    bool same = x->group_count == y->group_count;
    for (size_t i = 0; same && i < x->group_count; i++) same = strcmp(x->groups[i], y->groups[i]) == 0; /* both are sorted */
    return same;
}

const tmi_ledger_wave *tmi_account_other_groups(const tmi_ledger_account *account, const tmi_wave *wave, const tmi_value *parts)
{
    for (size_t i = 0; i < account->wave_count && parts && wave->group_count > 0; i++) {
        const tmi_ledger_wave *w = &account->waves[i];
        if (!w->parts || w->wave.group_count == 0 || same_groups(&w->wave, wave)) continue;
        if (have_a_part_in_common(w->parts, parts, NULL)) return w;
    }
    return NULL;
}

const tmi_ledger_account *tmi_book_beside(const tmi_book *book, const tmi_ledger_account *own, const tmi_value *parts,
                                          const tmi_value *frozen)
{
    for (size_t i = 0; i < book->account_count; i++) {
        const tmi_ledger_account *a = &book->accounts[i];
        for (size_t w = 0; a != own && w < a->wave_count; w++) {
            const tmi_ledger_wave *wave = &a->waves[w];
            if (wave->parts && parts ? have_a_part_in_common(wave->parts, parts, own)
                                     : !own && same_frozen_source(wave->frozen, frozen))
                return a;
        }
    }
    return NULL;
}
