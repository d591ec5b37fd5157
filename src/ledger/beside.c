/* Whether a ledger has another account over the same source.
 *
 * What is compared is what plans declare: the parts of a source, texts that the caller made (files by their path from the ledger,
 * databases by connection and table). One part in common is enough, since the people in it would be in both accounts. Nothing
 * of the data is looked at, so a copy of a file under another name is not recognised.                                  */
#include <string.h>

#include "base/memory.h"
#include "ledger/book.h"

static bool has_part(const tmi_json *list, const char *part)
{
    for (size_t i = 0; i < tmi_json_size(list); i++)
        if (strcmp(tmi_json_string(tmi_json_at(list, i)), part) == 0) return true;
    return false;
}

bool tmi_is_parts(const tmi_json *value)
{
    if (!value || tmi_json_kind_of(value) != TMI_JSON_LIST) return false;
    for (size_t i = 0; i < tmi_json_size(value); i++)
        if (tmi_json_kind_of(tmi_json_at(value, i)) != TMI_JSON_STRING) return false;
    return true;
}

/* Accounts that did not note their parts, or are compared with a charge that does not: by the frozen field itself. */
static tamis_status same_frozen_source(bool *same, const char *frozen, const tmi_json *other, tamis_error *err)
{
    tmi_json *mine = NULL;
    tmi_text x, y;
    tamis_status status = TAMIS_OK;
    *same = false;
    tmi_text_init(&x);
    tmi_text_init(&y);
    TMI_TRY(tmi_json_read(&mine, frozen, strlen(frozen), err));
    const tmi_json *source = tmi_json_get(mine, "source"), *theirs = tmi_json_get(other, "source");
    if (!source || !theirs) goto done;
    TMI_TRY(tmi_json_canonical(&x, source, err));
    TMI_TRY(tmi_json_canonical(&y, theirs, err));
    *same = strcmp(x.bytes, y.bytes) == 0;
done:
    tmi_json_free(mine);
    tmi_text_clear(&x);
    tmi_text_clear(&y);
    return status;
}

/* A part that a wave has noted and the source has, and that is none of `but`. */
static tamis_status have_a_part_in_common(bool *common, const char *noted, const tmi_json *parts, const tmi_ledger_account *but,
                                          tamis_error *err)
{
    tmi_json *list = NULL;
    tamis_status status;
    *common = false;
    TMI_TRY(tmi_json_read(&list, noted, strlen(noted), err));
    for (size_t i = 0; i < tmi_json_size(parts) && !*common; i++) {
        const char *part = tmi_json_string(tmi_json_at(parts, i));
        bool own = false;
        if (!has_part(list, part)) continue;
        for (size_t w = 0; but && w < but->wave_count && !own; w++) {
            tmi_json *mine = NULL;
            if (!but->waves[w].parts) continue;
            TMI_TRY(tmi_json_read(&mine, but->waves[w].parts, strlen(but->waves[w].parts), err));
            own = has_part(mine, part);
            tmi_json_free(mine);
        }
        *common = !own;
    }
done:
    tmi_json_free(list);
    return status;
}

/* *noted and what is new in `parts`. */
static tamis_status join(char **noted, const tmi_json *parts, tamis_error *err)
{
    tmi_json *list = NULL;
    tmi_text text;
    tmi_json_out out;
    char *joined = NULL;
    tamis_status status = TAMIS_OK;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    if (*noted) TMI_TRY(tmi_json_read(&list, *noted, strlen(*noted), err));
    tmi_json_open(&out, '[');
    for (size_t i = 0; list && i < tmi_json_size(list); i++) tmi_json_put_string(&out, tmi_json_string(tmi_json_at(list, i)));
    for (size_t i = 0; i < tmi_json_size(parts); i++) {
        const char *part = tmi_json_string(tmi_json_at(parts, i));
        if (!list || !has_part(list, part)) tmi_json_put_string(&out, part);
    }
    tmi_json_close(&out, ']');
    TMI_TRY(tmi_text_take(&joined, &text, err));
    tmi_free(*noted);
    *noted = joined;
done:
    tmi_json_free(list);
    tmi_text_clear(&text);
    return status;
}

tamis_status tmi_charge_source(tmi_ledger_charge *charge, tmi_ledger_wave *wave, const tmi_json *parts, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    char *text = NULL;
    if (parts && !tmi_is_parts(parts)) return tmi_fail(err, TAMIS_INVALID, "a source is a list of texts");
    if (parts) {
        TMI_TRY(tmi_ledger_canonical(&text, parts, err));
        tmi_free(charge->parts);
        charge->parts = text;
        TMI_TRY(join(&wave->parts, parts, err));
    } else if (wave->parts && !charge->parts) {
        charge->parts = tmi_copy_text(wave->parts, strlen(wave->parts));
        if (!charge->parts) status = tmi_fail_memory(err);
    }
done:
    return status;
}

static bool same_groups(const tmi_wave *x, const tmi_wave *y)
{
    bool same = x->group_count == y->group_count;
    for (size_t i = 0; same && i < x->group_count; i++) same = strcmp(x->groups[i], y->groups[i]) == 0; /* both are sorted */
    return same;
}

tamis_status tmi_account_other_groups(const tmi_ledger_wave **other, const tmi_ledger_account *account, const tmi_wave *wave,
                                      const tmi_json *parts, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *other = NULL;
    for (size_t i = 0; i < account->wave_count && parts && wave->group_count > 0 && !*other; i++) {
        const tmi_ledger_wave *w = &account->waves[i];
        bool common = false;
        if (!w->parts || w->wave.group_count == 0 || same_groups(&w->wave, wave)) continue;
        TMI_TRY(have_a_part_in_common(&common, w->parts, parts, NULL, err));
        if (common) *other = w;
    }
done:
    return status;
}

tamis_status tmi_book_beside(const tmi_ledger_account **beside, const tmi_book *book, const tmi_ledger_account *own,
                             const tmi_json *parts, const tmi_json *frozen, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *beside = NULL;
    for (size_t i = 0; i < book->account_count; i++) {
        const tmi_ledger_account *a = &book->accounts[i];
        bool same = false;
        for (size_t w = 0; a != own && w < a->wave_count && !same; w++) {
            if (a->waves[w].parts && parts) TMI_TRY(have_a_part_in_common(&same, a->waves[w].parts, parts, own, err));
            else if (!own) TMI_TRY(same_frozen_source(&same, a->waves[w].frozen, frozen, err));
        }
        if (same) *beside = a;
        if (same) break;
    }
done:
    return status;
}
