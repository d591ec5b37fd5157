#include "ledger/coin.h"

#include <stdio.h>
#include <string.h>
#include <tamis/experimental/profile.h>

#include "num/bound.h"
#include "num/number.h"

void tmi_coin_clear(tmi_ledger_coin *coin)
{
    tmi_number_frees(&coin->eps, &coin->delta, &coin->rho, &coin->mu_squared, NULL);
    tmi_by_stratum_clear(&coin->strata);
    *coin = (tmi_ledger_coin){0};
}

/* Within the limits. */
static tamis_status check(const tmi_ledger_coin *c, const char *name, tamis_error *err)
{
    const tamis_number *loss = c->eps ? c->eps : c->rho;
    const char *word = c->eps ? "epsilon" : "rho";
    const bool budget = strcmp(name, "budget") == 0;
    if (tmi_number_sign(loss) < 0 || tmi_number_compare_int(loss, TAMIS_MAX_LOSS) > 0)
        return tmi_fail(err, TAMIS_INVALID, "%s: %s must be between 0 and %d", name, word, TAMIS_MAX_LOSS);
    if (budget && tmi_number_sign(loss) == 0) return tmi_fail(err, TAMIS_INVALID, "%s: %s must not be 0", name, word);
    if (c->eps && c->rho && (tmi_number_sign(c->rho) < 0 || tmi_number_compare_int(c->rho, TAMIS_MAX_LOSS) > 0))
        return tmi_fail(err, TAMIS_INVALID, "%s: rho must be between 0 and %d", name, TAMIS_MAX_LOSS);
    if (c->delta && (tmi_number_sign(c->delta) < 0 || tmi_number_compare_int(c->delta, 1) > 0))
        return tmi_fail(err, TAMIS_INVALID, "%s: delta must be between 0 and 1", name);
    if (budget && c->delta && tmi_number_compare_int(c->delta, 1) == 0)
        return tmi_fail(err, TAMIS_INVALID, "%s: delta must be below 1, since a delta of 1 guarantees nothing", name);
    return TAMIS_OK;
}

tamis_status tmi_coin_make(tmi_ledger_coin *coin, const tamis_coin *given, const char *name, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *coin = (tmi_ledger_coin){0};
    const bool both = given->epsilon && given->rho && strcmp(name, "amount") == 0;
    if ((!given->epsilon == !given->rho && !both) || (given->rho && given->delta))
        return tmi_fail(err, TAMIS_INVALID, "%s: must be epsilon, or epsilon and delta, or rho", name);
    if (given->rho) TMI_TRY(tmi_number_copy(&coin->rho, given->rho, err));
    if (given->epsilon) {
        TMI_TRY(tmi_number_copy(&coin->eps, given->epsilon, err));
        if (given->delta) TMI_TRY(tmi_number_copy(&coin->delta, given->delta, err));
        else TMI_TRY(tmi_number_ratio(&coin->delta, 0, 1, err));
    }
    TMI_TRY(check(coin, name, err));
done:
    if (status != TAMIS_OK) tmi_coin_clear(coin);
    return status;
}

/* Beside a rho or a pure epsilon. */
static tamis_status check_mu(const tmi_ledger_coin *c, const char *name, tamis_error *err)
{
    if (strcmp(name, "amount") != 0 || (c->eps && tmi_number_sign(c->delta) > 0))
        return tmi_fail(err, TAMIS_INVALID, "%s: mu_squared is for an amount without a delta", name);
    if (tmi_number_sign(c->mu_squared) < 0 || tmi_number_compare_int(c->mu_squared, (int64_t)TAMIS_MAX_LOSS * TAMIS_MAX_LOSS) > 0)
        return tmi_fail(err, TAMIS_INVALID, "%s: mu_squared must be between 0 and %d^2", name, TAMIS_MAX_LOSS);
    return TAMIS_OK;
}

tamis_status tmi_coin_set_mu(tmi_ledger_coin *coin, const tamis_number *mu_squared, const char *name, tamis_error *err)
{
    if (!mu_squared) return TAMIS_OK;
    tamis_status status = tmi_number_copy(&coin->mu_squared, mu_squared, err);
    return status == TAMIS_OK ? check_mu(coin, name, err) : status;
}

static tamis_status read_number(tamis_number **number, const tmi_value *value, tamis_error *err)
{
    if (!value) return TAMIS_OK;
    if (tmi_value_kind_of(value) != TMI_VALUE_TEXT) return tmi_fail(err, TAMIS_INVALID, "expected a number in quotes");
    return tamis_number_read(number, tmi_value_string(value), err);
}

tamis_status tmi_coin_read(tmi_ledger_coin *coin, const tmi_value *value, const char *name, tamis_error *err)
{
    static const char *const keys[] = {"epsilon", "delta", "rho", "mu_squared", "strata", "outsider", "insider"};
    tamis_number *numbers[4] = {NULL};
    tamis_status status = TAMIS_OK;
    *coin = (tmi_ledger_coin){0};
    if (!value || tmi_value_kind_of(value) != TMI_VALUE_MAP || tmi_value_extra_key(value, keys, 7))
        return tmi_fail(err, TAMIS_INVALID, "%s: must be epsilon, or epsilon and delta, or rho", name);
    for (size_t i = 0; i < 4; i++) TMI_TRY(read_number(&numbers[i], tmi_value_get(value, keys[i]), err));
    TMI_TRY(tmi_coin_make(coin, &(tamis_coin){numbers[0], numbers[1], numbers[2]}, name, err));
    TMI_TRY(tmi_coin_set_mu(coin, numbers[3], name, err));
    TMI_TRY(tmi_by_stratum_read(&coin->strata, value, coin->eps, err));
    if (coin->strata.count > 0 && (tmi_number_sign(coin->delta) > 0 || !coin->strata.outsider == (strcmp(name, "budget") == 0)))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "%s: epsilons of strata are pure, and those of a budget follow from outsider and insider", name));
done:
    if (status != TAMIS_OK) tmi_coin_clear(coin);
    for (size_t i = 0; i < 4; i++) tamis_number_free(numbers[i]);
    return status;
}

static tamis_status put_number(tmi_json_out *out, const char *key, const tamis_number *number, tamis_error *err)
{
    char *text = NULL;
    tamis_status status = tamis_number_write(&text, number, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_string(out, key, text);
    tamis_free(text);
    return TAMIS_OK;
}

tamis_status tmi_coin_put(tmi_json_out *out, const tmi_ledger_coin *coin, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_json_open(out, '{');
    if (coin->eps) TMI_TRY(put_number(out, "epsilon", coin->eps, err));
    if (coin->delta && tmi_number_sign(coin->delta) > 0) TMI_TRY(put_number(out, "delta", coin->delta, err));
    if (coin->rho) TMI_TRY(put_number(out, "rho", coin->rho, err));
    if (coin->mu_squared) TMI_TRY(put_number(out, "mu_squared", coin->mu_squared, err));
    TMI_TRY(tmi_by_stratum_put(out, &coin->strata, err));
    tmi_json_close(out, '}');
done:
    return status;
}

tamis_status tmi_coin_reads_back(const tmi_ledger_coin *coin, const char *name, tamis_error *err)
{
    const tamis_number *const numbers[] = {coin->eps, coin->delta, coin->rho, coin->mu_squared};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; status == TAMIS_OK && i < sizeof numbers / sizeof *numbers; i++) {
        char *text = NULL;
        tamis_number *again = NULL;
        if (!numbers[i]) continue;
        status = tamis_number_write(&text, numbers[i], err);
        if (status == TAMIS_OK) status = tamis_number_read(&again, text, err);
        if (status == TAMIS_INVALID) tmi_fail(err, status, "%s: a fraction of more than %d digits", name, TAMIS_NUMBER_DIGITS);
        tamis_free(text);
        tamis_number_free(again);
    }
    return status;
}

bool tmi_coin_equal(const tmi_ledger_coin *x, const tmi_ledger_coin *y)
{
    if (tmi_coin_in_rho(x) != tmi_coin_in_rho(y)) return false;
    if (tmi_coin_in_rho(x)) return tmi_number_compare(x->rho, y->rho) == 0;
    return tmi_number_compare(x->eps, y->eps) == 0 && tmi_number_compare(x->delta, y->delta) == 0 &&
           tmi_by_stratum_equal(&x->strata, &y->strata);
}

tamis_status tmi_coin_copy(tmi_ledger_coin *copy, const tmi_ledger_coin *coin, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *copy = (tmi_ledger_coin){0};
    if (coin->eps) TMI_TRY(tmi_number_copy(&copy->eps, coin->eps, err));
    if (coin->delta) TMI_TRY(tmi_number_copy(&copy->delta, coin->delta, err));
    if (coin->rho) TMI_TRY(tmi_number_copy(&copy->rho, coin->rho, err));
    if (coin->mu_squared) TMI_TRY(tmi_number_copy(&copy->mu_squared, coin->mu_squared, err));
    TMI_TRY(tmi_by_stratum_copy(&copy->strata, &coin->strata, err));
done:
    if (status != TAMIS_OK) tmi_coin_clear(copy);
    return status;
}

bool tmi_coin_within(const tmi_ledger_coin *x, const tmi_ledger_coin *y)
{
    if (!x->rho != !y->rho || !tmi_by_stratum_within(&x->strata, &y->strata)) return false;
    if (x->rho) return tmi_number_compare(x->rho, y->rho) <= 0;
    return tmi_number_compare(x->eps, y->eps) <= 0 && tmi_number_compare(x->delta, y->delta) <= 0;
}

#define SHORT 24 /* letters of a fraction that people still read */

static void number_words(tmi_text *text, const tamis_number *number, bool up)
{
    char *fraction = NULL, decimal[TAMIS_DECIMAL];
    bool exact;
    if (tmi_number_decimal(decimal, &exact, number, up, NULL) != TAMIS_OK ||
        tamis_number_write(&fraction, number, NULL) != TAMIS_OK) {
        text->failed = true;
        return;
    }
    tmi_text_put(text, !exact && strlen(fraction) < SHORT ? fraction : decimal);
    tamis_free(fraction);
}

static void counted_words(tmi_text *text, const char *name, const tamis_number *amount, bool up)
{
    char decimal[TAMIS_DECIMAL];
    if (tmi_number_decimal(decimal, NULL, amount, up, NULL) != TAMIS_OK) text->failed = true;
    else tmi_text_format(text, ", counted as %s %s", name, decimal);
}

static void coin_words(tmi_text *text, const tmi_ledger_coin *coin, const char *names[3], bool up)
{
    if (coin->strata.outsider) {
        tmi_text_put(text, "outsider ");
        number_words(text, coin->strata.outsider, up);
        tmi_text_put(text, " and insider ");
        number_words(text, coin->strata.insider, up);
        return;
    }
    if (coin->strata.count > 0) tmi_text_put(text, "at most ");
    tmi_text_put(text, coin->eps ? names[0] : names[2]);
    number_words(text, coin->eps ? coin->eps : coin->rho, up);
    if (coin->eps && coin->rho) counted_words(text, "rho", coin->rho, up);
    if (coin->mu_squared) counted_words(text, "mu^2", coin->mu_squared, up);
    if (!coin->delta || tmi_number_sign(coin->delta) <= 0) return;
    tmi_text_put(text, names[1]);
    number_words(text, coin->delta, up);
}

void tmi_coin_words(tmi_text *text, const tmi_ledger_coin *coin, bool up)
{
    coin_words(text, coin, (const char *[]){"epsilon ", " and delta ", "rho "}, up);
}

void tmi_coin_options(tmi_text *text, const tmi_ledger_coin *coin)
{
    coin_words(text, coin, (const char *[]){"--epsilon ", " --delta ", "--rho "}, true);
}

static void say(tamis_spending *s, const char *name, const char *decimal)
{
    const size_t length = strlen(s->words);
    snprintf(s->words + length, sizeof s->words - length, "%s%s %s", length > 0 ? ", " : "", name, decimal);
}

tamis_status tmi_say_exactly(tamis_spending *s, const char *name, const tamis_number *amount, bool optional, bool up,
                             tamis_error *err)
{
    char decimal[TAMIS_DECIMAL];
    if (optional && tmi_number_sign(amount) == 0) return TAMIS_OK;
    tamis_status status = tmi_number_decimal(decimal, NULL, amount, up, err);
    if (status == TAMIS_OK) say(s, name, decimal);
    return status;
}

#define DIGITS 6 /* of ends that are not exact */

void tmi_say_end(tamis_spending *s, const char *name, double end, bool up)
{
    char decimal[TAMIS_DECIMAL];
    if (up) tamis_decimal_up(decimal, end, DIGITS);
    else tamis_decimal_down(decimal, end, DIGITS);
    say(s, name, decimal);
}

tamis_status tmi_coin_spending(tamis_spending *s, const tmi_ledger_coin *coin, bool up, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *s = (tamis_spending){.in_rho = tmi_coin_in_rho(coin)};
    if (s->in_rho) {
        s->rho = tmi_number_bound(coin->rho);
        return tmi_say_exactly(s, "rho", coin->rho, false, up, err);
    }
    s->epsilon = tmi_number_bound(coin->eps);
    s->delta = tmi_number_bound(coin->delta);
    if (coin->strata.outsider) {
        TMI_TRY(tmi_say_exactly(s, "outsider", coin->strata.outsider, false, up, err));
        status = tmi_say_exactly(s, "insider", coin->strata.insider, false, up, err);
        goto done;
    }
    TMI_TRY(tmi_say_exactly(s, "epsilon", coin->eps, false, up, err));
    TMI_TRY(tmi_say_exactly(s, "delta", coin->delta, true, up, err));
done:
    return status;
}
