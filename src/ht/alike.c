#include "ht/alike.h"

#include <stdlib.h>

#include "base/memory.h"
#include "ht/listed.h"

typedef struct sample_set {
    uint32_t set;
    tamis_number *p;
} sample_set;

static int by_set(const void *x, const void *y)
{
    const sample_set *a = x, *b = y;
    return (a->set > b->set) - (a->set < b->set);
}

static uint32_t set_of(const tamis_law *law, size_t j)
{
    const uint8_t *units;
    size_t size = tamis_law_sample(&units, law, j);
    uint32_t set = 0;
    for (size_t i = 0; i < size; i++) set |= UINT32_C(1) << units[i];
    return set;
}

/* Samples with the same units (drawn with replacement) are added up. */
static tamis_status gather_sets(sample_set *sets, size_t *count, const tamis_law *law, tamis_error *err)
{
    size_t kept = 0, samples = tamis_law_count(law);
    tamis_status status = TAMIS_OK;
    for (size_t j = 0; j < samples; j++) {
        sets[j].set = set_of(law, j);
        TMI_TRY(tmi_number_copy(&sets[j].p, tamis_law_exact(law, j), err));
        *count = j + 1;
    }
    qsort(sets, samples, sizeof *sets, by_set);
    for (size_t j = 1; j < samples; j++) {
        if (sets[j].set != sets[kept].set) {
            sample_set next = sets[j];
            sets[j].p = NULL;
            sets[++kept] = next;
            continue;
        }
        status = tmi_sum_take(&sets[kept].p, sets[j].p, err);
        sets[j].p = NULL;
        TMI_TRY(status);
    }
    *count = kept + 1;
done:
    return status;
}

static bool are_alike(const sample_set *sets, size_t count, size_t i, size_t j)
{
    uint32_t both = UINT32_C(1) << i | UINT32_C(1) << j;
    for (size_t k = 0; k < count; k++) {
        uint32_t inside = sets[k].set & both;
        if (inside == 0 || inside == both) continue;
        sample_set other = {sets[k].set ^ both, NULL}, *found = bsearch(&other, sets, count, sizeof *sets, by_set);
        if (!found || tmi_number_compare(found->p, sets[k].p) != 0) return false;
    }
    return true;
}

tamis_status tmi_alike_units(size_t class_of[TAMIS_LAW_UNITS], const tamis_law *law, tamis_error *err)
{
    const size_t units = (size_t)tamis_law_population(law), samples = tamis_law_count(law);
    tamis_status status = TAMIS_OK;
    size_t count = 0;
    sample_set *sets = NULL;
    for (size_t i = 0; i < units; i++) class_of[i] = i;
    if (!tmi_law_is_exact(law)) return TAMIS_OK; /* equal probabilities could not be recognised */
    if (!(sets = tmi_alloc(samples, sizeof *sets))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(gather_sets(sets, &count, law, err));
    for (size_t i = 1; i < units; i++)
        for (size_t j = 0; j < i; j++)
            if (class_of[j] == j && are_alike(sets, count, i, j)) {
                class_of[i] = j;
                break;
            }
done:
    for (size_t j = 0; sets && j < samples; j++) tamis_number_free(sets[j].p);
    tmi_free(sets);
    return status;
}
