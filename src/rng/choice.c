/* Weighted choice among finitely many, by inversion with certified thresholds: see inversion.c for why it is exact. */
#include "rng/choice.h"

#include "base/memory.h"
#include "rng/inversion.h"

struct tamis_choice {
    tmi_inversion table;
    tamis_number **numbers; /* own copies of rational weights; NULL if the weights are balls */
    size_t count;
};

static tamis_status rational_weight(tmi_ball *weight, const void *context, size_t j, long bits, tamis_error *err)
{
    const tamis_choice *choice = context;
    (void)err;
    tmi_ball_set_number(weight, choice->numbers[j], bits);
    return TAMIS_OK;
}

static tamis_status check_count(size_t count, tamis_error *err)
{
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "count: there is nothing to choose from");
    if (count > TMI_MAX_WEIGHTS) return tmi_fail(err, TAMIS_INVALID, "count: must be at most %zu", TMI_MAX_WEIGHTS);
    return TAMIS_OK;
}

tamis_status tmi_choice_new(tamis_choice **choice, tmi_weight *weight, const void *context, size_t count, tamis_error *err)
{
    tamis_choice *c = NULL;
    *choice = NULL;
    tamis_status status = check_count(count, err);
    if (status != TAMIS_OK) return status;
    if (!(c = tmi_alloc(1, sizeof *c))) return tmi_fail_memory(err);
    status = tmi_inversion_init(&c->table, &(tmi_weights){.weight = weight, .context = context, .count = count}, count, err);
    if (status == TAMIS_OK) *choice = c;
    else tamis_choice_free(c);
    return status;
}

tamis_status tamis_choice_new(tamis_choice **choice, const tamis_number *const *weights, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_choice *c = NULL;
    bool positive = false;
    if (!choice) return tmi_fail(err, TAMIS_INVALID, "choice: NULL");
    *choice = NULL;
    if (!weights) return tmi_fail(err, TAMIS_INVALID, "weights: NULL");
    TMI_TRY(check_count(count, err));
    for (size_t j = 0; j < count; j++) {
        if (!weights[j] || tmi_number_sign(weights[j]) < 0)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "weights: number %zu is NULL or negative", j));
        positive = positive || tmi_number_sign(weights[j]) > 0;
    }
    if (!positive) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "weights: all are zero"));
    if (!(c = tmi_alloc(1, sizeof *c)) || !(c->numbers = tmi_alloc(count, sizeof *c->numbers))) TMI_TRY(tmi_fail_memory(err));
    for (; c->count < count; c->count++) TMI_TRY(tmi_number_copy(&c->numbers[c->count], weights[c->count], err));
    TMI_TRY(tmi_inversion_init(&c->table, &(tmi_weights){.weight = rational_weight, .context = c, .count = count}, count, err));
    *choice = c;
    c = NULL;
done:
    tamis_choice_free(c);
    return status;
}

void tamis_choice_free(tamis_choice *choice)
{
    if (!choice) return;
    for (size_t j = 0; j < choice->count; j++) tamis_number_free(choice->numbers[j]);
    tmi_free(choice->numbers);
    tmi_inversion_clear(&choice->table);
    tmi_free(choice);
}

tamis_status tamis_choice_draw(size_t *index, const tamis_choice *choice, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!index) return tmi_fail(err, TAMIS_INVALID, "index: NULL");
    *index = 0;
    if (!choice) return tmi_fail(err, TAMIS_INVALID, "choice: NULL");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    const uint8_t *random = tmi_bits_take(rng, 8);
    if (!random) TMI_TRY(tmi_bits_failed(err));
    uint64_t u = tmi_load64(random);
    if (!tmi_inversion_quick(index, &choice->table, u)) TMI_TRY(tmi_inversion_find(index, &choice->table, u, rng, err));
done:
    tmi_bits_done(rng);
    if (status != TAMIS_OK) *index = 0;
    return status;
}
