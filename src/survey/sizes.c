/* From sizes to inclusion probabilities. Let the sizes be sorted, largest first, and X(c) be the sum of all but the
 * first c. The first c units get 1, the others (n - c) x / X(c), where c is the smallest number for which the largest
 * of the others gets at most 1, that is (n - c) x_(c) <= X(c). This is what giving 1 to whoever gets more than 1, and
 * sharing the rest again, ends with.                                                                                 */
#include <stdlib.h>

#include "num/common.h"
#include "survey/design.h"

typedef struct unit {
    const uint64_t *size;
    size_t words, number;
} unit;

static int largest_first(const void *x, const void *y)
{
    const unit *a = x, *b = y;
    return tmi_wide_compare(b->size, a->size, a->words);
}

static tamis_status check_sizes(const tamis_number *const *sizes, size_t count, int64_t sample, tamis_error *err)
{
    int64_t positive = 0;
    if (!sizes) return tmi_fail(err, TAMIS_INVALID, "sizes: NULL");
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "sizes: at least one unit is needed");
    if (count > TAMIS_MAX_LISTED) return tmi_fail(err, TAMIS_INVALID, "sizes: at most 2^28 units are offered");
    for (size_t i = 0; i < count; i++) {
        if (!sizes[i] || tmi_number_sign(sizes[i]) < 0)
            return tmi_fail(err, TAMIS_INVALID, "sizes: number %zu is NULL or negative", i);
        positive += tmi_number_sign(sizes[i]) > 0;
    }
    if (sample < 1) return tmi_fail(err, TAMIS_INVALID, "sample: at least one unit is needed");
    if (sample > positive) return tmi_fail(err, TAMIS_INVALID, "sample: larger than the number of units with a size");
    return TAMIS_OK;
}

/* The numbers, given the sorted units; rest = X(c) goes down from all sizes. */
static tamis_status share(tamis_number **probabilities, const unit *units, size_t count, int64_t sample, uint64_t *rest,
                          tamis_error *err)
{
    uint64_t product[TMI_COMMON_WORDS];
    size_t words = units[0].words, c = 0;
    tamis_status status = TAMIS_OK;
    for (; c < (size_t)sample; c++) {
        tmi_wide_mul(product, units[c].size, (uint64_t)sample - c, words);
        if (tmi_wide_compare(product, rest, words) <= 0) break;
        tmi_wide_sub(rest, rest, units[c].size, words);
    }
    for (size_t i = 0; i < count && status == TAMIS_OK; i++) {
        tamis_number **p = &probabilities[units[i].number];
        if (i < c) status = tmi_number_ratio(p, 1, 1, err);
        else if (c == (size_t)sample) status = tmi_number_ratio(p, 0, 1, err);
        else {
            tmi_wide_mul(product, units[i].size, (uint64_t)sample - c, words);
            status = tmi_number_wide(p, product, rest, words, err);
        }
    }
    return status;
}

tamis_status tamis_pps_probabilities(tamis_number **probabilities, const tamis_number *const *sizes, size_t count,
                                     int64_t sample, tamis_error *err)
{
    tmi_common common = {0};
    unit *units = NULL;
    uint64_t rest[TMI_COMMON_WORDS] = {0};
    tamis_status status = TAMIS_OK;
    if (!probabilities) return tmi_fail(err, TAMIS_INVALID, "probabilities: NULL");
    for (size_t i = 0; i < count && count <= TAMIS_MAX_LISTED; i++) probabilities[i] = NULL;
    TMI_TRY(check_sizes(sizes, count, sample, err));
    TMI_TRY(tmi_common_init(&common, sizes, count, err));
    if (!(units = tmi_alloc(count, sizeof *units))) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) {
        units[i] = (unit){tmi_common_at(&common, i), common.words, i};
        tmi_wide_add(rest, rest, units[i].size, common.words);
    }
    qsort(units, count, sizeof *units, largest_first);
    TMI_TRY(share(probabilities, units, count, sample, rest, err));
done:
    if (status != TAMIS_OK && probabilities && count <= TAMIS_MAX_LISTED)
        for (size_t i = 0; i < count; i++) {
            tamis_number_free(probabilities[i]);
            probabilities[i] = NULL;
        }
    tmi_common_clear(&common);
    tmi_free(units);
    return status;
}
