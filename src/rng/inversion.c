/* Inversion with certified thresholds.
 *
 * Why exact. Let U be uniform in [0, 1), its binary digits fair coins. The index j with CDF(j-1) <= U < CDF(j) has
 * probability w_j / (sum of all w). 64 digits of U are drawn first; the table knows 2^64 CDF(j) up to less than 2, and
 * unless U falls into such a gap the index is certain. Otherwise, or beyond the table, further digits are drawn and
 * num/ compares them with balls around the CDF, narrowed as needed, until one index is certain. That ends with
 * probability 1 whatever the weights are, because U equals a threshold with probability 0.
 *
 * The guide only says where to start looking.                                                                        */
#include "rng/inversion.h"

#include <string.h>

#include "base/memory.h"

tamis_status tmi_inversion_init(tmi_inversion *table, const tmi_weights *weights, size_t count, tamis_error *err)
{
    *table = (tmi_inversion){.weights = *weights, .count = count};
    if (count > UINT32_MAX || !(table->low = tmi_alloc(count, sizeof *table->low))) return tmi_fail_memory(err);
    tamis_status status = tmi_weights_table(table->low, weights, count, err);
    if (status != TAMIS_OK) return status;
    uint32_t j = 0;
    for (uint64_t cell = 0; cell < 1 << TMI_GUIDE_BITS; cell++) {
        while (j < count && table->low[j] <= cell << (64 - TMI_GUIDE_BITS)) j++;
        table->guide[cell] = j;
    }
    return TAMIS_OK;
}

void tmi_inversion_clear(tmi_inversion *table)
{
    tmi_free(table->low);
    table->low = NULL;
}

/* Room for word number n - 1. Not by realloc, which leaves the old words behind where it moves them. */
static tamis_status lengthen(uint64_t **words, size_t n, tamis_error *err)
{
    uint64_t *longer = tmi_alloc(n, sizeof *longer);
    if (!longer) return tmi_fail_memory(err);
    if (*words) {
        memcpy(longer, *words, (n - 1) * sizeof *longer);
        tmi_wipe(*words, (n - 1) * sizeof *longer);
        tmi_free(*words);
    }
    *words = longer;
    return TAMIS_OK;
}

tamis_status tmi_inversion_find(size_t *index, const tmi_inversion *table, uint64_t u, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    uint64_t *words = NULL;
    size_t known = 0;
    bool certain = false;
    *index = 0;
    for (size_t n = 1; !certain; n++) {
        TMI_TRY(lengthen(&words, n, err));
        if (n == 1) words[0] = u;
        else {
            const uint8_t *random = tmi_bits_take(rng, sizeof *words);
            if (!random) TMI_TRY(tmi_bits_failed(err));
            words[n - 1] = tmi_load64(random);
        }
        known = n;
        TMI_TRY(tmi_weights_find(index, &certain, &table->weights, words, n, err));
    }
done:
    if (words) tmi_wipe(words, known * sizeof *words);
    tmi_free(words);
    return status;
}
