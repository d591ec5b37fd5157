/* Too many values for a pure eps. Without noise, a total that is possible under one value of a unit and impossible under
 * another excludes every pure eps. Let the others' values be fixed, V the values that the unit may have, A the totals of
 * the samples without the unit, B those of the samples with it, its own part x/pi left out. Under x the possible totals
 * are A and B + x/pi. Suppose they are the same for all x in V, and V has two values or more. max B + x/pi, for x above
 * min V, is larger than all of B + min V/pi, so it lies in A; min B + min V/pi is smaller than all of B + max V/pi, so it
 * lies in A, and it is smaller than the points before: A has as many points as V. A has at most one point for each
 * sample without the unit. So more values than such samples exclude a pure eps; there are at most 2^(N-1) of them.  */
#include <stdlib.h>

#include "base/memory.h"
#include "ht/pair.h"

static const char NONE[] = "a single value: there is nothing to protect";
static const char INFINITE[] = "infinitely many values, and finitely many samples without the unit: some total is possible "
                               "under one value and impossible under another";
static const char MORE[] = "more values than samples without the unit: some total is possible under one value and impossible "
                           "under another";
static const char FEW[] = "the number of values alone does not exclude a pure epsilon";

static int by_size(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

/* Different sets of units, without the unit, that can be the sample. */
static tamis_status count_without(int64_t *count, const tamis_law *law, int64_t unit, tamis_error *err)
{
    size_t samples = tamis_law_count(law), kept = 0;
    uint32_t *sets = tmi_alloc(samples, sizeof *sets);
    if (!sets) return tmi_fail_memory(err);
    for (size_t j = 0; j < samples; j++) {
        const uint8_t *units;
        uint32_t set = 0;
        size_t size = tamis_law_sample(&units, law, j);
        for (size_t i = 0; i < size; i++) set |= UINT32_C(1) << units[i];
        if (!(set >> unit & 1)) sets[kept++] = set;
    }
    qsort(sets, kept, sizeof *sets, by_size);
    *count = kept > 0;
    for (size_t j = 1; j < kept; j++) *count += sets[j] != sets[j - 1];
    tmi_free(sets);
    return TAMIS_OK;
}

/* *count = -1 if the samples are too many to be listed. */
static tamis_status samples_without(int64_t *count, const tamis_design *design, int64_t unit, tamis_error *err)
{
    tamis_law *law = NULL;
    *count = -1;
    if (tamis_design_population(design) > TAMIS_LAW_UNITS) return TAMIS_OK;
    tamis_status status = tamis_law_new(&law, design, err);
    if (status == TAMIS_UNABLE) return TAMIS_OK;
    if (status == TAMIS_OK) status = count_without(count, law, unit, err);
    tamis_law_free(law);
    return status;
}

tamis_status tamis_ht_excluded(tamis_ht_exclusion *exclusion, const tamis_design *design, int64_t unit,
                               const tamis_number *values, tamis_error *err)
{
    if (!exclusion) return tmi_fail(err, TAMIS_INVALID, "exclusion: NULL");
    *exclusion = (tamis_ht_exclusion){1, -1, "not known"};
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    int64_t N = tamis_design_population(design), without;
    if (unit < 0 || unit >= N) return tmi_fail(err, TAMIS_INVALID, "unit: not a unit of the frame");
    if (values && (!tmi_number_is_integer(values) || tmi_number_sign(values) <= 0))
        return tmi_fail(err, TAMIS_INVALID, "values: a positive integer, or NULL for infinitely many");
    tamis_status status = samples_without(&without, design, unit, err);
    if (status != TAMIS_OK) return status;
    bool more = false;
    if (values && tmi_number_compare_int(values, 1) > 0)
        more = without >= 0 ? tmi_number_compare_int(values, without) > 0
                            : N <= 63 && tmi_number_compare_int(values, INT64_C(1) << (N - 1)) > 0;
    const char *reason = !values ? INFINITE : tmi_number_compare_int(values, 1) == 0 ? NONE : more ? MORE : FEW;
    *exclusion = (tamis_ht_exclusion){!values || more, without, reason};
    return TAMIS_OK;
}
