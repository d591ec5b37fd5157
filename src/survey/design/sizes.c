/* From sizes to inclusion probabilities. Let the sizes be sorted, largest first, and X(c) be the sum of all but the
 * first c. The first c units get 1, the others (n - c) x / X(c), where c is the smallest number for which the largest
 * of the others gets at most 1, that is (n - c) x_(c) <= X(c). This is what giving 1 to whoever gets more than 1, and
 * sharing the rest again, ends with. As few are certain, a heap gives them up one by one, and the others stay as they
 * are.                                                                                                               */
#include <string.h>

#include "num/common.h"
#include "survey/design/pps.h"

typedef struct shares {
    tmi_common sizes;
    size_t *units; /* the open ones, a heap with the largest at its top; then the certain ones */
    size_t open;
    uint64_t rest[TMI_COMMON_WORDS]; /* the sum of the open sizes */
    uint64_t places;                 /* of the sample, for the open units */
} shares;

static void clear_shares(shares *s)
{
    tmi_common_clear(&s->sizes);
    tmi_free(s->units);
}

static tamis_status check_sizes(const tamis_number *const *sizes, size_t count, int64_t sample, tamis_error *err)
{
    int64_t positive = 0;
    if (!sizes) return tmi_fail(err, TAMIS_INVALID, "sizes: NULL");
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "sizes: at least one unit is needed");
    if (count > TAMIS_MAX_LISTED) return tmi_fail(err, TAMIS_INVALID, "sizes: at most 2^28 units are supported");
    for (size_t i = 0; i < count; i++) {
        if (!sizes[i] || tmi_number_sign(sizes[i]) < 0)
            return tmi_fail(err, TAMIS_INVALID, "sizes: number %zu is NULL or negative", i);
        positive += tmi_number_sign(sizes[i]) > 0;
    }
    if (sample < 1) return tmi_fail(err, TAMIS_INVALID, "sample: at least one unit is needed");
    if (sample > positive) return tmi_fail(err, TAMIS_INVALID, "sample: larger than the number of units with a size");
    return TAMIS_OK;
}

static bool is_larger(const shares *s, size_t i, size_t j)
{
    return tmi_wide_compare(tmi_common_at(&s->sizes, s->units[i]), tmi_common_at(&s->sizes, s->units[j]), s->sizes.words) > 0;
}

/* Lets the unit at place i of the heap sink to where it belongs. */
static void sink(shares *s, size_t i)
{
    for (;;) {
        size_t largest = i, child = 2 * i + 1;
        for (size_t c = child; c < child + 2 && c < s->open; c++)
            if (is_larger(s, c, largest)) largest = c;
        if (largest == i) return;
        const size_t unit = s->units[i];
        s->units[i] = s->units[largest];
        s->units[largest] = unit;
        i = largest;
    }
}

/* Whether the largest of the open units gets more than 1. */
static bool is_certain(const shares *s)
{
    uint64_t product[TMI_COMMON_WORDS];
    tmi_wide_mul(product, tmi_common_at(&s->sizes, s->units[0]), s->places, s->sizes.words);
    return tmi_wide_compare(product, s->rest, s->sizes.words) > 0;
}

/* Clear the shares in any case. */
static tamis_status share(shares *s, const tamis_number *const *sizes, size_t count, int64_t sample, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *s = (shares){.open = count};
    TMI_TRY(check_sizes(sizes, count, sample, err));
    s->places = (uint64_t)sample;
    TMI_TRY(tmi_common_init(&s->sizes, sizes, count, err));
    if (!(s->units = tmi_alloc(count, sizeof *s->units))) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) {
        s->units[i] = i;
        tmi_wide_add(s->rest, s->rest, tmi_common_at(&s->sizes, i), s->sizes.words);
    }
    for (size_t i = count / 2; i-- > 0;) sink(s, i);
    while (is_certain(s)) { /* the last place is never certain: its unit has at most the rest */
        const size_t unit = s->units[0];
        tmi_wide_sub(s->rest, s->rest, tmi_common_at(&s->sizes, unit), s->sizes.words);
        s->places--;
        s->units[0] = s->units[--s->open];
        s->units[s->open] = unit;
        sink(s, 0);
    }
done:
    return status;
}

tamis_status tamis_pps_probabilities(tamis_number **probabilities, const tamis_number *const *sizes, size_t count, int64_t sample,
                                     tamis_error *err)
{
    shares s = {0};
    uint64_t product[TMI_COMMON_WORDS];
    tamis_status status = TAMIS_OK;
    if (!probabilities) return tmi_fail(err, TAMIS_INVALID, "probabilities: NULL");
    for (size_t i = 0; i < count && count <= TAMIS_MAX_LISTED; i++) probabilities[i] = NULL;
    TMI_TRY(share(&s, sizes, count, sample, err));
    for (size_t i = 0; i < count; i++) {
        tamis_number **p = &probabilities[s.units[i]];
        tmi_wide_mul(product, tmi_common_at(&s.sizes, s.units[i]), s.places, s.sizes.words);
        TMI_TRY(tmi_number_wide(p, i < s.open ? product : s.rest, s.rest, s.sizes.words, err));
    }
done:
    if (status != TAMIS_OK && count <= TAMIS_MAX_LISTED)
        for (size_t i = 0; i < count; i++) {
            tamis_number_free(probabilities[i]);
            probabilities[i] = NULL;
        }
    clear_shares(&s);
    return status;
}

/* The probabilities over the denominator `rest`; none is above it. */
static tamis_status fill(tmi_common *pi, const shares *s, tamis_error *err)
{
    uint64_t product[TMI_COMMON_WORDS] = {0};
    tamis_status status = tmi_common_alloc(pi, s->sizes.count, tmi_wide_bits(s->rest, s->sizes.words), err);
    if (status != TAMIS_OK) return status;
    const size_t words = s->sizes.words < pi->words ? s->sizes.words : pi->words; /* above them all is zero */
    tmi_wide_set(pi->denominator, s->rest, words);
    for (size_t i = 0; i < pi->count; i++) {
        tmi_wide_mul(product, tmi_common_at(&s->sizes, s->units[i]), s->places, s->sizes.words);
        tmi_wide_set(pi->numerators + s->units[i] * pi->words, i < s->open ? product : s->rest, words);
    }
    return TAMIS_OK;
}

tamis_status tamis_design_pps_sizes(tamis_design **design, tamis_method method, const tamis_number *const *sizes, size_t count,
                                    int64_t sample, tamis_error *err)
{
    const tmi_pps_method *kind;
    shares s = {0};
    tmi_common pi = {0};
    tamis_status status = TAMIS_OK;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    TMI_TRY(tmi_pps_find(&kind, method, err));
    TMI_TRY(share(&s, sizes, count, sample, err));
    for (size_t i = 0; i < count; i++)
        if (tmi_number_sign(sizes[i]) == 0)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "sizes: number %zu is 0: the unit could never be drawn", i));
    TMI_TRY(fill(&pi, &s, err));
    clear_shares(&s);
    s = (shares){0};
    status = tmi_pps_take(design, kind, &pi, err);
done:
    clear_shares(&s);
    return status;
}
