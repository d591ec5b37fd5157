#include <string.h>

#include "base/memory.h"
#include "engine/core/cells.h"

/* How an entry is written depends on the column: in a text column 1.0 is 1.0, in a number column it is 1. Most texts are the
 * same in all forms, so a slot can serve several forms: the numeric ones, or the others. */
enum { IN_TEXTS = 1, IN_EXACT = 2, IN_DOUBLES = 4, IN_FLOATS = 8 };

static int bit_of(tmi_form form)
{
    return form == TMI_FORM_EXACT    ? IN_EXACT
           : form == TMI_FORM_DOUBLE ? IN_DOUBLES
           : form == TMI_FORM_FLOAT  ? IN_FLOATS
                                     : IN_TEXTS;
}

typedef struct slot {
    const char *text; /* inside the column's values or missing texts, or in `texts`; NULL: a free slot */
    size_t length;
    int32_t code;
    int forms;
} slot;

/* Open addressing; at most half of the slots are taken. */
struct tmi_codes {
    const char *name; /* of the column */
    int32_t missing;  /* code of a missing cell */
    int32_t unknown;  /* code of a text that is not listed */
    int repeated;     /* forms in which two entries are the same number */
    slot *slots;
    size_t mask, count;
    char **texts; /* texts that had to be written here */
    size_t text_count;
};

/* The slot of the text in one of these forms, or the free slot where it belongs. */
static slot *find(const tmi_codes *codes, int forms, tmi_cell text)
{
    for (size_t i = tmi_hash_text(text.bytes, text.length) & codes->mask;; i = (i + 1) & codes->mask) {
        slot *s = &codes->slots[i];
        if (!s->text || ((s->forms & forms) && s->length == text.length && memcmp(s->text, text.bytes, text.length) == 0))
            return s;
    }
}

static bool grow(tmi_codes *codes)
{
    const size_t old = codes->slots ? codes->mask + 1 : 0, count = old > 0 ? 2 * old : 16;
    slot *before = codes->slots, *slots = tmi_alloc(count, sizeof *slots);
    if (!slots) return false;
    codes->slots = slots;
    codes->mask = count - 1;
    for (size_t i = 0; i < old; i++)
        if (before[i].text) *find(codes, 0, (tmi_cell){before[i].text, before[i].length}) = before[i];
    tmi_free(before);
    return true;
}

/* The bytes are copied unless the column keeps them (`kept`). If the text is already there in some of the forms, its first
 * occurrence counts. */
static bool add(tmi_codes *codes, int forms, tmi_cell text, bool kept, int32_t code)
{
    for (int form = 1; form <= IN_FLOATS; form *= 2)
        if ((forms & form) && find(codes, form, text)->text) {
            forms &= ~form;
            codes->repeated |= form;
        }
    if (forms == 0) return true;
    if (2 * (codes->count + 1) > codes->mask && !grow(codes)) return false;
    if (!kept) {
        char *copy = tmi_copy_text(text.bytes, text.length);
        if (!copy) return false;
        text.bytes = codes->texts[codes->text_count++] = copy;
    }
    *find(codes, 0, text) = (slot){text.bytes, text.length, code, forms};
    codes->count++;
    return true;
}

static bool is_same(tmi_cell a, tmi_cell b) { return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0; }

/* An entry of the list in all forms. Forms in which it has the same text share a slot. */
static bool take(tmi_codes *codes, const char *entry, int32_t code)
{
    static const tmi_form numbers[] = {TMI_FORM_EXACT, TMI_FORM_DOUBLE, TMI_FORM_FLOAT};
    const tmi_cell text = tmi_trimmed(entry, strlen(entry));
    char written[3][TMI_NUMBER_TEXT];
    tmi_cell as[3];
    int done = 0, forms = IN_TEXTS;
    /* Most entries are not numbers, and most that are begin with a digit. */
    if (text.length > 0 && strchr("+-.0123456789", *text.bytes)) {
        for (size_t i = 0; i < 3; i++) as[i] = (tmi_cell){written[i], tmi_value_text(written[i], text, numbers[i])};
        for (size_t i = 0; i < 3; i++)
            if (is_same(as[i], text)) forms |= bit_of(numbers[i]);
        done = forms;
        for (size_t i = 0; i < 3; i++) {
            int alike = 0;
            for (size_t k = i; k < 3; k++)
                if (is_same(as[k], as[i])) alike |= bit_of(numbers[k]);
            if (as[i].length == 0 || (done & bit_of(numbers[i]))) continue;
            if (!add(codes, alike & ~done, as[i], false, code)) return false;
            done |= alike;
        }
    }
    return add(codes, forms, text, true, code);
}

tamis_status tmi_codes_new(tmi_codes **codes, const tmi_column *column, tamis_error *err)
{
    *codes = NULL;
    if (column->value_count > (size_t)TMI_MAX_CELLS || column->missing_text_count > (size_t)TMI_MAX_CELLS)
        return tmi_fail(err, TAMIS_INVALID, "column %s has more than %lld values", column->name, (long long)TMI_MAX_CELLS);
    tmi_codes *made = tmi_alloc(1, sizeof *made);
    if (!made) return tmi_fail_memory(err);
    made->name = column->name;
    made->unknown = (int32_t)column->value_count;
    made->missing = column->has_instead ? (int32_t)column->instead : made->unknown;
    made->texts = tmi_alloc(3 * (column->value_count + column->missing_text_count), sizeof *made->texts);
    bool done = made->texts && grow(made);
    for (size_t i = 0; done && i < column->missing_text_count; i++) done = take(made, column->missing_texts[i], made->missing);
    for (size_t v = 0; done && v < column->value_count; v++) done = take(made, column->values[v], (int32_t)v);
    if (done && add(made, IN_TEXTS | IN_EXACT | IN_DOUBLES | IN_FLOATS, (tmi_cell){"", 0}, true, made->missing)) {
        *codes = made;
        return TAMIS_OK;
    }
    tmi_codes_free(made);
    return tmi_fail_memory(err);
}

void tmi_codes_free(tmi_codes *codes)
{
    if (!codes) return;
    for (size_t i = 0; i < codes->text_count; i++) tmi_free(codes->texts[i]);
    tmi_free(codes->texts);
    tmi_free(codes->slots);
    tmi_free(codes);
}

int32_t tmi_code(const tmi_codes *codes, tmi_form form, const char *text, size_t length)
{
    const slot *s = find(codes, bit_of(form), tmi_trimmed(text ? text : "", text ? length : 0));
    return s->text ? s->code : codes->unknown;
}

bool tmi_is_listed(const tmi_codes *codes, tmi_form form, const char *text, size_t length)
{
    return find(codes, bit_of(form), tmi_trimmed(text, length))->text != NULL;
}

void tmi_joint_codes(int32_t *codes, const int32_t *of, const int32_t *second, size_t n, const tmi_column *column)
{
    const int32_t rows = (int32_t)column->of->value_count, width = (int32_t)column->second->value_count,
                  missing = (int32_t)column->value_count;
    for (size_t i = 0; i < n; i++) {
        const int32_t code = of[i] < rows && second[i] < width ? column->classes[of[i] * width + second[i]] : -1;
        codes[i] = code < 0 ? missing : code;
    }
}

tamis_status tmi_codes_check(const tmi_codes *codes, tmi_form form, tamis_error *err)
{
    if (!tmi_form_is_number(form) || !(codes->repeated & bit_of(form))) return TAMIS_OK;
    return tmi_fail_same_number(codes->name, err);
}
