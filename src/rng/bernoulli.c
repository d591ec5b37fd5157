/* Bernoulli(p) for p rational, p = exp(-x) or p = 1/(1 + exp(x 2^i)) with x rational.
 *
 * Why exact. Let U be a random number in [0, 1) whose binary digits are fair coins; P(U < p) = p. Which of U and p is smaller
 * is decided by the first digit in which they differ, so the digits of U are drawn only until then, eight at a time: one byte
 * decides with probability 255/256. The digits of p come from num/, which certifies each of them; 128 are kept and further
 * ones are computed when all of those tie. U ties with p for ever with probability 0. Where p is 0 or 1 no digit is drawn. */
#include "rng/bernoulli.h"

tamis_status tmi_coin_init(tmi_rng_coin *coin, const tmi_digit_source *p, tamis_error *err)
{
    bool rational = p->kind == TMI_DIGITS_RATIONAL;
    *coin = (tmi_rng_coin){*p, -1, {0}};
    if (tmi_number_sign(p->x) == 0 && p->kind != TMI_DIGITS_LOGISTIC) coin->certain = rational ? 0 : 1;
    if (rational && tmi_number_compare_int(p->x, 1) == 0) coin->certain = 1;
    return tmi_digits(coin->digits, p, 0, TMI_COIN_WORDS, err);
}

tamis_status tmi_coin_toss(bool *yes, const tmi_rng_coin *coin, uint64_t tied, tamis_rng *rng, tamis_error *err)
{
    uint64_t word = 0, known = UINT64_MAX; /* digits 64 known ... of p */
    *yes = coin->certain == 1;
    if (coin->certain >= 0) return TAMIS_OK;
    for (uint64_t i = tied;; i++) {
        if (i / 8 != known) {
            known = i / 8;
            if (known < TMI_COIN_WORDS) word = coin->digits[known];
            else {
                tamis_status status = tmi_digits(&word, &coin->p, 64 * known, 1, err);
                if (status != TAMIS_OK) return status;
            }
        }
        uint8_t digits = (uint8_t)(word >> (56 - 8 * (i % 8)));
        const uint8_t *random = tmi_bits_take(rng, 1);
        if (!random) return tmi_bits_failed(err);
        if (*random != digits) {
            *yes = *random < digits;
            return TAMIS_OK;
        }
    }
}

static tamis_status toss_once(int *yes, tmi_digit_kind kind, const tamis_number *x, tamis_rng *rng, tamis_error *err)
{
    tmi_rng_coin coin;
    tmi_digit_source p = {kind, x, 0};
    bool outcome = false;
    tamis_status status = tmi_coin_init(&coin, &p, err);
    if (status == TAMIS_OK) status = tmi_coin_toss(&outcome, &coin, 0, rng, err);
    tmi_bits_done(rng);
    *yes = status == TAMIS_OK && outcome;
    return status;
}

tamis_status tamis_bernoulli(int *yes, const tamis_number *p, tamis_rng *rng, tamis_error *err)
{
    if (!yes) return tmi_fail(err, TAMIS_INVALID, "yes: NULL");
    *yes = 0;
    if (!p) return tmi_fail(err, TAMIS_INVALID, "p: NULL");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    if (tmi_number_sign(p) < 0 || tmi_number_compare_int(p, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "p: must be between 0 and 1");
    return toss_once(yes, TMI_DIGITS_RATIONAL, p, rng, err);
}

tamis_status tamis_bernoulli_exp(int *yes, const tamis_number *x, tamis_rng *rng, tamis_error *err)
{
    if (!yes) return tmi_fail(err, TAMIS_INVALID, "yes: NULL");
    *yes = 0;
    if (!x) return tmi_fail(err, TAMIS_INVALID, "x: NULL");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    if (tmi_number_sign(x) < 0) return tmi_fail(err, TAMIS_INVALID, "x: must not be negative, so that exp(-x) is a probability");
    return toss_once(yes, TMI_DIGITS_EXP, x, rng, err);
}
