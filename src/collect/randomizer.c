#include "collect/randomizer.h"

#include "base/memory.h"
#include "collect/packed.h"
#include "num/ball.h"

tamis_status tamis_randomizer_new(tamis_randomizer **randomizer, const tamis_number *lie, const tamis_number *lie_zero,
                                  tamis_error *err)
{
    tamis_randomizer *r = NULL;
    tamis_status status;
    if (!randomizer) return tmi_fail(err, TAMIS_INVALID, "randomizer: NULL");
    *randomizer = NULL;
    if (!lie) return tmi_fail(err, TAMIS_INVALID, "lie: NULL");
    if (!lie_zero) lie_zero = lie;
    TMI_TRY(tmi_packed_check_lies(lie, lie_zero, err));
    if (!(r = tmi_alloc(1, sizeof *r))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_number_copy(&r->lie, lie, err));
    TMI_TRY(tmi_number_copy(&r->lie_zero, lie_zero, err));
    TMI_TRY(tamis_number_write(&r->lie_text, r->lie, err));
    TMI_TRY(tamis_number_write(&r->lie_zero_text, r->lie_zero, err));
    TMI_TRY(tmi_flips_init(&r->flips, r->lie, r->lie_zero, err));
    *randomizer = r;
    r = NULL;
done:
    tamis_randomizer_free(r);
    return status;
}

void tamis_randomizer_free(tamis_randomizer *randomizer)
{
    if (!randomizer) return;
    tmi_number_frees(&randomizer->lie, &randomizer->lie_zero, NULL);
    tamis_free(randomizer->lie_text);
    tamis_free(randomizer->lie_zero_text);
    tmi_free(randomizer);
}

tamis_status tamis_randomize_bits(uint64_t *words, size_t count, const tamis_randomizer *randomizer, tamis_rng *rng,
                                  tamis_error *err)
{
    if (count > 0 && !words) return tmi_fail(err, TAMIS_INVALID, "words: NULL");
    if (randomizer && rng) return tmi_flip(words, count, &randomizer->flips, rng, err);
    if (count > 0) tmi_wipe(words, count * sizeof *words);
    return tmi_fail(err, TAMIS_INVALID, randomizer ? "rng: NULL" : "randomizer: NULL");
}

/* ---- the local guarantee ---- */

typedef struct columns {
    const tamis_randomizer *r;
    size_t alone, one_hot;
} columns;

/* alone * max(a, b) + one_hot * (a + b) with a = log((1-p)/q), b = log((1-q)/p). */
static tamis_status local_loss(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    (void)err;
    const columns *c = context;
    tmi_ball p, q, a, b;
    tmi_ball_init(&p);
    tmi_ball_init(&q);
    tmi_ball_init(&a);
    tmi_ball_init(&b);
    tmi_ball_set_number(&p, c->r->lie, bits);
    tmi_ball_set_number(&q, c->r->lie_zero, bits);
    tmi_ball_neg(&a, &p);
    tmi_ball_add_int(&a, &a, 1, bits);
    tmi_ball_div(&a, &a, &q, bits);
    tmi_ball_log(&a, &a, bits);
    tmi_ball_neg(&b, &q);
    tmi_ball_add_int(&b, &b, 1, bits);
    tmi_ball_div(&b, &b, &p, bits);
    tmi_ball_log(&b, &b, bits);
    tmi_ball_max(value, &a, &b, bits);
    tmi_ball_mul_int(value, value, (int64_t)c->alone, bits);
    tmi_ball_add(&a, &a, &b, bits);
    tmi_ball_mul_int(&a, &a, (int64_t)c->one_hot, bits);
    tmi_ball_add(value, value, &a, bits);
    tmi_ball_clear(&p);
    tmi_ball_clear(&q);
    tmi_ball_clear(&a);
    tmi_ball_clear(&b);
    return TAMIS_OK;
}

tamis_status tamis_randomizer_local(tamis_bound *epsilon, const tamis_randomizer *randomizer, size_t alone, size_t one_hot,
                                    tamis_error *err)
{
    if (!epsilon) return tmi_fail(err, TAMIS_INVALID, "epsilon: NULL");
    *epsilon = (tamis_bound){0, __builtin_inf()};
    if (!randomizer) return tmi_fail(err, TAMIS_INVALID, "randomizer: NULL");
    if (alone > TMI_PACKED_BITS || one_hot > TMI_PACKED_BITS)
        return tmi_fail(err, TAMIS_INVALID, "alone, one_hot: at most %d columns", TMI_PACKED_BITS);
    tamis_bound found;
    tamis_status status = tmi_certify(&found, TAMIS_WIDTH, local_loss, &(columns){randomizer, alone, one_hot}, err);
    if (status == TAMIS_OK) *epsilon = found;
    return status;
}
