#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "collect/tally/shares.h"
#include "num/number.h"

/* The positions of one answer: those named "NAME=...". */
static tamis_status add_group(tmi_asked *asked, const tamis_tally *t, const char *name, size_t length, tamis_error *err)
{
    size_t members = 0;
    asked->groups++;
    for (size_t j = 0; j < t->bits; j++) {
        if (strncmp(t->names[j], name, length) != 0 || t->names[j][length] != '=') continue;
        if (asked->group[j] != 0) return tmi_fail(err, TAMIS_INVALID, "categories: a name is given twice");
        asked->group[j] = asked->groups;
        members++;
    }
    if (length > 0 && members >= 2) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID,
                    "categories: fewer than two bits have names that begin with %.*s=", length < 100 ? (int)length : 100, name);
}

static tamis_status read_groups(tmi_asked *asked, const tamis_tally *t, const char *names, tamis_error *err)
{
    asked->group = tmi_alloc(t->bits, sizeof *asked->group);
    if (!asked->group) return tmi_fail_memory(err);
    const char *ends = names && strchr(names, '=') ? ";" : ",;"; /* region=north,south;sex=f,m as for tamis randomize */
    while (names) {
        const size_t length = strcspn(names, ends);
        tamis_status status = add_group(asked, t, names, strcspn(names, "=,;"), err);
        if (status != TAMIS_OK) return status;
        names = names[length] ? names + length + 1 : NULL;
    }
    return TAMIS_OK;
}

static tamis_status number_or(tamis_number **z, const tamis_number *x, int64_t p, int64_t q, tamis_error *err)
{
    return x ? tmi_number_copy(z, x, err) : tmi_number_ratio(z, p, q, err);
}

tamis_status tmi_asked_make(tmi_asked *asked, const tamis_tally *t, const tamis_tally_question *question, tamis_error *err)
{
    tamis_tally_question how;
    const tamis_tally_question *q = &how;
    *asked = (tmi_asked){0};
    tamis_status status = tmi_options_take(&how, sizeof how, question, "question", err);
    if (status != TAMIS_OK) return status;
    *asked = (tmi_asked){.population = q->population,
                         .promised = q->promised,
                         .categories = q->categories,
                         .bounds = TMI_BOUNDS_NOW};
    if (!t || t->reports < 1) return tmi_fail(err, TAMIS_INVALID, "there are no reports");
    if (q->population != 0 && (q->population < t->reports || q->population > TAMIS_MAX_UNITS))
        return tmi_fail(err, TAMIS_INVALID, "population: must be between the number of reports and 2^40");
    if (q->promised < 0 || q->promised > TAMIS_TALLY_REPORTS)
        return tmi_fail(err, TAMIS_INVALID, "promised: must be between 1 and 10^9 reports");
    TMI_TRY(number_or(&asked->confidence, q->confidence, 95, 100, err));
    TMI_TRY(number_or(&asked->delta, q->delta, 1, 1000000, err));
    if (tmi_number_sign(asked->confidence) <= 0 || tmi_number_down(asked->confidence) > 1 - 0.99e-9)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "confidence: must be above 0 and at most 0.999999999"));
    if (tmi_number_sign(asked->delta) <= 0 || tmi_number_compare_int(asked->delta, 1) >= 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "delta: must be between 0 and 1"));
    TMI_TRY(read_groups(asked, t, q->categories, err));
done:
    return status;
}

void tmi_asked_clear(tmi_asked *asked)
{
    tmi_number_frees(&asked->confidence, &asked->delta, NULL);
    tmi_free(asked->group);
    *asked = (tmi_asked){0};
}
