/* Whether a ledger has another account over the same source.
 *
 * What is compared is what plans declare: the parts of a source, texts that the caller made (files by their path from the ledger,
 * databases by connection and table). One part in common is enough, since the people in it would be in both accounts. Nothing
 * of the data is looked at, so a copy of a file under another name is not recognised; a second name of the same file (a hard
 * link) is, as long as both names are there.                                                                        */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ledger/book.h"

static bool has_text(const tmi_value *list, const char *part)
{
    for (size_t i = 0; i < tmi_value_size(list); i++)
        if (strcmp(tmi_value_string(tmi_value_at(list, i)), part) == 0) return true;
    return false;
}

/* The file of a part "file PATH" or "file PATH table NAME", with the path as seen from the folder of `ledger`; and the rest of
 * the text, after the path. False if it is not there, or no file. */
static bool find_file(struct stat *facts, const char **rest, const char *part, const char *ledger)
{
    static const char start[] = "file ", table[] = " table ";
    const char *path = part + strlen(start), *end = part + strlen(part);
    if (strncmp(part, start, strlen(start)) != 0) return false;
    for (; end > path; end--) {
        char name[PATH_MAX];
        if (*end && strncmp(end, table, strlen(table)) != 0) continue;
        const int length = snprintf(name, sizeof name, "%.*s%.*s", (int)(strrchr(ledger, '/') - ledger) + 1, ledger,
                                    (int)(end - path), path);
        *rest = end;
        if (length > 0 && (size_t)length < sizeof name && stat(name, facts) == 0) return S_ISREG(facts->st_mode);
    }
    return false;
}

/* Whether the list has the part, or the same file by another name. */
static bool has_part(const tmi_value *list, const char *part, const char *ledger)
{
    struct stat own, other;
    const char *own_rest, *other_rest;
    if (has_text(list, part)) return true;
    if (!find_file(&own, &own_rest, part, ledger) || own.st_nlink < 2) return false;
    for (size_t i = 0; i < tmi_value_size(list); i++)
        if (find_file(&other, &other_rest, tmi_value_string(tmi_value_at(list, i)), ledger) && own.st_dev == other.st_dev &&
            own.st_ino == other.st_ino && strcmp(own_rest, other_rest) == 0)
            return true;
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
static bool has_noted(const tmi_ledger_account *account, const char *part, const char *ledger)
{
    for (size_t w = 0; account && w < account->wave_count; w++)
        if (account->waves[w].parts && has_part(account->waves[w].parts, part, ledger)) return true;
    return false;
}

/* A part that a wave has noted and the source has, and that is none of `but`. */
static bool have_a_part_in_common(const tmi_value *noted, const tmi_value *parts, const tmi_ledger_account *but,
                                  const char *ledger)
{
    for (size_t i = 0; i < tmi_value_size(parts); i++) {
        const char *part = tmi_value_string(tmi_value_at(parts, i));
        if (has_part(noted, part, ledger) && !has_noted(but, part, ledger)) return true;
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
        if (!*noted || !has_text(*noted, tmi_value_string(part))) tmi_json_put_value(&tree.out, part);
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

const tmi_ledger_wave *tmi_account_other_groups(const tmi_ledger_account *account, const tmi_wave *wave, const tmi_value *parts,
                                                const char *ledger)
{
    for (size_t i = 0; i < account->wave_count && parts && wave->group_count > 0; i++) {
        const tmi_ledger_wave *w = &account->waves[i];
        if (!w->parts || w->wave.group_count == 0 || same_groups(&w->wave, wave)) continue;
        if (have_a_part_in_common(w->parts, parts, NULL, ledger)) return w;
    }
    return NULL;
}

const tmi_ledger_account *tmi_book_beside(const tmi_book *book, const tmi_ledger_account *own, const tmi_value *parts,
                                          const tmi_value *frozen, const char *ledger)
{
    for (size_t i = 0; i < book->account_count; i++) {
        const tmi_ledger_account *a = &book->accounts[i];
        for (size_t w = 0; a != own && w < a->wave_count; w++) {
            const tmi_ledger_wave *wave = &a->waves[w];
            if (wave->parts && parts ? have_a_part_in_common(wave->parts, parts, own, ledger)
                                     : !own && same_frozen_source(wave->frozen, frozen))
                return a;
        }
    }
    return NULL;
}
