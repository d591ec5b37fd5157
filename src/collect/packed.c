#include "collect/packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"
#include "base/value/json.h"
#include "num/number.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are written as they are");

void tmi_packed_form_clear(tmi_packed_form *form)
{
    tmi_number_frees(&form->lie, &form->lie_zero, NULL);
    for (size_t i = 0; form->names && i < form->bits; i++) tmi_free(form->names[i]);
    tmi_free(form->names);
    tmi_free(form->id);
    *form = (tmi_packed_form){0};
}

tamis_status tmi_packed_check_lies(const tamis_number *lie, const tamis_number *lie_zero, tamis_error *err)
{
    tamis_number *sum = NULL;
    tamis_status status = TAMIS_OK;
    if (tmi_number_sign(lie) <= 0 || tmi_number_sign(lie_zero) <= 0)
        return tmi_fail(err, TAMIS_INVALID, "lie: a lie probability must be above 0: without flips nobody is protected");
    TMI_TRY(tmi_number_add(&sum, lie, lie_zero, err));
    if (tmi_number_compare_int(sum, 1) >= 0)
        status = tmi_number_compare(lie, lie_zero) == 0
                     ? tmi_fail(err, TAMIS_INVALID,
                                "lie: a lie probability must be below 1/2: at 1/2 reports carry no information")
                     : tmi_fail(err, TAMIS_INVALID,
                                "lie, lie-zero: their sum must be below 1: at 1 reports carry no information");
done:
    tamis_number_free(sum);
    return status;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool is_name(const char *name)
{
    return name && name[0] != '\0' && strlen(name) <= TMI_PACKED_NAME && tmi_is_utf8(name) && !tmi_has_control(name);
}

static tamis_status check_names(const tmi_packed_form *form, tamis_error *err)
{
    for (size_t i = 0; i < form->bits; i++)
        if (!is_name(form->names[i]))
            return tmi_fail(err, TAMIS_INVALID,
                            "the name of bit %zu is empty, longer than %d bytes, not UTF-8, or has control characters", i + 1,
                            TMI_PACKED_NAME);
    if (form->id && !is_name(form->id)) return tmi_fail(err, TAMIS_INVALID, "the name of the id column is not a valid name");
    char **sorted = tmi_alloc(form->bits + 1, sizeof *sorted);
    if (!sorted) return tmi_fail_memory(err);
    tamis_status status = TAMIS_OK;
    size_t count = form->bits + (form->id != NULL);
    memcpy(sorted, form->names, form->bits * sizeof *sorted);
    if (form->id) sorted[form->bits] = form->id;
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < count && status == TAMIS_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0) status = tmi_fail(err, TAMIS_INVALID, "two bits have the same name");
    tmi_free(sorted);
    return status;
}

tamis_status tmi_packed_form_check(const tmi_packed_form *form, tamis_error *err)
{
    tamis_status status = tmi_packed_check_lies(form->lie, form->lie_zero, err);
    if (status != TAMIS_OK) return status;
    if (form->bits < 1 || form->bits > TMI_PACKED_BITS)
        return tmi_fail(err, TAMIS_INVALID, "bits: a report has 1 to %d bits", TMI_PACKED_BITS);
    return check_names(form, err);
}

size_t tmi_packed_stride(size_t bits)
{
    size_t stride = 1;
    while (stride < bits && stride < 64) stride *= 2;
    return bits <= 64 ? stride : (bits + 63) / 64 * 64;
}

size_t tmi_packed_words(size_t bits, size_t rows) { return (rows * tmi_packed_stride(bits) + 63) / 64; }

size_t tmi_packed_rows(size_t bits, bool ids)
{
    size_t rows = TMI_PACKED_BLOCK * 8 / tmi_packed_stride(bits);
    return !ids || rows < TMI_PACKED_ROWS ? rows : TMI_PACKED_ROWS;
}
