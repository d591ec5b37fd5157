/* The book as text: for people, as JSON, as a spreadsheet. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/joint_name.h"
#include "base/letters.h"
#include "base/memory.h"
#include "base/table.h"
#include "ledger/show/show.h"
#include "num/bound.h"
#include "num/number.h"

/* ---- JSON ---- */

/* {"rho"}, {"epsilon", "delta"}, and where rhos, or mu^2, are converted these too. */
static void put_spending(tmi_json_out *out, const char *key, const tamis_spending *s, bool with_rho)
{
    tmi_json_add_open(out, key, '{');
    if (!s->in_rho) {
        tmi_json_add_bound(out, "epsilon", s->epsilon);
        tmi_json_add_bound(out, "delta", s->delta);
    }
    if (s->in_rho || with_rho) tmi_json_add_bound(out, "rho", s->rho);
    if (s->in_mu) tmi_json_add_bound(out, "mu_squared", s->mu_squared);
    tmi_json_close(out, '}');
}

static void put_loss(tmi_json_out *out, const char *key, tamis_bound epsilon, tamis_bound delta)
{
    tmi_json_add_open(out, key, '{');
    tmi_json_add_bound(out, "epsilon", epsilon);
    tmi_json_add_bound(out, "delta", delta);
    tmi_json_close(out, '}');
}

const char *tmi_shown_state(const tmi_ledger_charge *c) { return c->released ? "released" : c->voided ? "voided" : "charged"; }

static void put_entry(tmi_json_out *out, const tmi_ledger_charge *c, const tmi_wave *wave)
{
    tamis_spending charge;
    if (tmi_coin_spending(&charge, &c->amount, true, NULL) != TAMIS_OK) out->text->failed = true;
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "number", c->number);
    tmi_json_add_string(out, "time", c->time);
    tmi_json_add_string(out, "release", c->release);
    if (wave->name) tmi_json_add_string(out, "wave", wave->name);
    tmi_json_add_string(out, "state", tmi_shown_state(c));
    if (c->voided) tmi_json_add_string(out, "reason", c->void_reason);
    put_spending(out, "charge", &charge, false);
    tmi_json_add_open(out, "shown", '{');
    tmi_json_add_string(out, "charge", charge.words);
    tmi_json_close(out, '}');
    tmi_json_add_string(out, "hash", c->hash);
    tmi_json_close(out, '}');
}

static void account_clear(tmi_shown_account *x)
{
    tmi_ledger_outsider_clear(&x->outsider);
    for (size_t h = 0; h < x->stratum_count; h++) tmi_free(x->strata[h]);
    tmi_free(x->strata);
    *x = (tmi_shown_account){0};
}

/* ---- the names of the strata ---- */

/* The name belongs to the account from now on, also on failure. */
static bool take_stratum(tmi_shown_account *x, size_t *room, char *name)
{
    if (!name || !tmi_grow(&x->strata, room, x->stratum_count, sizeof *x->strata)) {
        tmi_free(name);
        return false;
    }
    x->strata[x->stratum_count++] = name;
    return true;
}

/* Of strata by several columns: the map of each column holds those of the next. `before`: the values of those above, joined. */
static bool add_joint_strata(tmi_shown_account *x, size_t *room, const tmi_value *map, const char *before, size_t columns)
{
    bool added = true;
    for (const tmi_value *item = tmi_value_first(map); item && added; item = tmi_value_next(item)) {
        char *name = NULL;
        tmi_text text;
        tmi_text_init(&text);
        if (before) tmi_text_put(&text, before);
        tmi_put_joint_name(&text, tmi_value_key(item), !before);
        added = tmi_text_take(&name, &text, NULL) == TAMIS_OK;
        if (!added || columns == 1) {
            added = take_stratum(x, room, name);
            continue;
        }
        added = tmi_value_kind_of(item) != TMI_VALUE_MAP || add_joint_strata(x, room, item, name, columns - 1);
        tmi_free(name);
    }
    return added;
}

/* In the order of the names, as in the design that is amplified. An account by strata has the names itself. */
static tamis_status name_strata(tmi_shown_account *x, const tmi_value *frozen, tamis_error *err)
{
    const tmi_losses *losses = &x->a->losses;
    const tmi_value *design = tmi_value_get(tmi_value_get(frozen, "design"), "stratified"), *by = tmi_value_get(design, "by"),
                    *strata = tmi_value_field(design, "strata", TMI_VALUE_MAP);
    size_t room = 0;
    bool named = true;
    if (x->a->budget.strata.count > 0)
        for (size_t i = 0; named && i < losses->count; i++)
            named = take_stratum(x, &room, tmi_copy_text(losses->groups[i].name, strlen(losses->groups[i].name)));
    else if (strata && tmi_value_kind_of(by) == TMI_VALUE_LIST)
        named = add_joint_strata(x, &room, strata, NULL, tmi_value_size(by));
    else
        for (const char *name = strata ? tmi_value_next_key(strata, NULL) : NULL; named && name;
             name = tmi_value_next_key(strata, name))
            named = take_stratum(x, &room, tmi_copy_text(name, strlen(name)));
    if (!named) return tmi_fail_memory(err);
    if (x->stratum_count > 0) qsort(x->strata, x->stratum_count, sizeof *x->strata, tmi_compare_strings);
    return TAMIS_OK;
}

const char *tmi_shown_stratum(const tmi_shown_account *x, int64_t stratum)
{
    return stratum >= 0 && (size_t)stratum < x->stratum_count ? x->strata[stratum] : NULL;
}

static tamis_status look_at(tmi_shown_account *x, const tamis_ledger *ledger, size_t i, const tamis_number *at, tamis_error *err)
{
    tamis_number *eps = NULL, *delta = NULL;
    tamis_status status = TAMIS_OK;
    *x = (tmi_shown_account){.a = &ledger->book.accounts[i], .place = i};
    TMI_TRY(tamis_ledger_spending(&x->budget, &x->spent, &x->left, ledger, i, err));
    TMI_TRY(tamis_ledger_sample(&eps, &delta, ledger, i, at, err));
    const tmi_value *frozen = x->a->waves[x->a->wave_count - 1].frozen; /* that of tamis_ledger_design */
    TMI_TRY(tmi_coin_spending(&x->sample, &(tmi_ledger_coin){.eps = eps, .delta = delta}, true, err));
    if (tmi_losses_concentrated(&x->a->losses) && !x->budget.in_rho) x->sample.epsilon = x->spent.epsilon;
    const char *unit = tmi_value_field_text(frozen, "unit");
    x->unit = *unit ? unit : "unit";
    TMI_TRY(name_strata(x, frozen, err));
    TMI_TRY(tmi_ledger_outsider_make(&x->outsider, ledger, i, at, err));
done:
    tmi_number_frees(&eps, &delta, NULL);
    return status;
}

static void put_outsider(tmi_json_out *out, const tmi_shown_account *x)
{
    const tamis_amplified *o = &x->outsider.amplified;
    tmi_json_add_open(out, "outsider", '{');
    tmi_json_add_bound(out, "epsilon", o->eps);
    tmi_json_add_bound(out, "delta", o->delta);
    if (o->count > 1) {
        tmi_json_add_open(out, "by_stratum", '[');
        for (size_t i = 0; i < o->count; i++) {
            tmi_json_open(out, '{');
            tmi_json_add_string(out, "stratum", tmi_shown_stratum(x, o->parts[i].stratum));
            tmi_json_add_boolean(out, "take_all", o->parts[i].take_all);
            tmi_json_add_bound(out, "epsilon", o->parts[i].eps);
            tmi_json_add_bound(out, "delta", o->parts[i].delta);
            tmi_json_close(out, '}');
        }
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, '}');
}

static void put_coin(tmi_json_out *out, const char *key, const tmi_ledger_coin *coin)
{
    tamis_spending amount;
    if (tmi_coin_spending(&amount, coin, false, NULL) != TAMIS_OK) out->text->failed = true;
    put_spending(out, key, &amount, false);
}

/* What has happened to the budget, which waves there were, and what each rotation group has spent and has left. */
static tamis_status put_waves(tmi_json_out *out, const tmi_shown_account *x, tamis_error *err)
{
    const tmi_ledger_account *a = x->a;
    tamis_status status = TAMIS_OK;
    if (a->raise_count > 0) {
        tmi_json_add_open(out, "raised", '[');
        for (size_t i = 0; i < a->raise_count; i++) {
            tmi_json_open(out, '{');
            tmi_json_add_integer(out, "number", a->raises[i].number);
            tmi_json_add_string(out, "time", a->raises[i].time);
            put_coin(out, "from", &a->raises[i].from);
            put_coin(out, "to", &a->raises[i].to);
            tmi_json_add_string(out, "reason", a->raises[i].reason);
            tmi_json_close(out, '}');
        }
        tmi_json_close(out, ']');
    }
    if (a->wave_count > 1 || a->waves[0].wave.name) {
        tmi_json_add_open(out, "waves", '[');
        for (size_t i = 0; i < a->wave_count; i++) tmi_wave_put(out, &a->waves[i].wave);
        tmi_json_close(out, ']');
    }
    if (a->losses.count == 0) return TAMIS_OK;
    tmi_json_add_open(out, "groups", '[');
    for (size_t i = 0; i < a->losses.count; i++) {
        const tmi_ledger_group *g = &a->losses.groups[i];
        tamis_spending spent, left;
        TMI_TRY(tmi_losses_spending_of(&spent, &left, &a->losses, &a->budget, i, err));
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "group", g->name);
        const bool converted = g->sums.concentrated && !g->sums.mu_squared;
        put_spending(out, "spent", &spent, converted);
        put_spending(out, "left", &left, converted);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
done:
    return status;
}

/* What was spent and lost is rounded up, what is left down. */
static void put_shown(tmi_json_out *out, const tmi_shown_account *x)
{
    char number[TAMIS_DECIMAL];
    tmi_text outsider;
    tmi_text_init(&outsider);
    if (x->outsider.proved) {
        tamis_decimal_up(number, x->outsider.amplified.eps.upper, 3);
        tmi_text_format(&outsider, "epsilon %s", number);
        tamis_decimal_up(number, x->outsider.amplified.delta.upper, 3);
        if (x->outsider.amplified.delta.upper > 0) tmi_text_format(&outsider, ", delta %s", number);
    }
    tmi_json_add_open(out, "shown", '{');
    tmi_json_add_string(out, "budget", x->budget.words);
    tmi_json_add_string(out, "spent", x->spent.words);
    tmi_json_add_string(out, "left", x->left.words);
    tmi_json_add_string(out, "sample", x->sample.words);
    tmi_json_add_taken(out, "outsider", &outsider);
    tmi_json_close(out, '}');
}

static tamis_status put_account(tmi_json_out *out, const tamis_ledger *ledger, const tmi_shown_account *x, tamis_error *err)
{
    tamis_status status;
    const bool converted = tmi_losses_in_rho(&x->a->losses);
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "survey", x->a->survey);
    if (x->a->new_account) tmi_json_add_string(out, "new_account", x->a->new_account);
    put_spending(out, "budget", &x->budget, false);
    put_spending(out, "spent", &x->spent, converted);
    put_spending(out, "left", &x->left, converted);
    put_loss(out, "sample", x->sample.epsilon, x->sample.delta);
    if (x->outsider.proved) {
        put_outsider(out, x);
    } else {
        tmi_json_add_null(out, "outsider");
        tmi_json_add_string(out, "outsider_reason", x->outsider.reason);
    }
    put_shown(out, x);
    TMI_TRY(put_waves(out, x, err));
    tmi_json_add_open(out, "entries", '[');
    for (size_t i = 0; i < ledger->book.charge_count; i++)
        if (ledger->book.charges[i].account == x->place)
            put_entry(out, &ledger->book.charges[i], &x->a->waves[ledger->book.charges[i].wave].wave);
    tmi_json_close(out, ']');
    tmi_json_close(out, '}');
done:
    return status;
}

static tamis_status write_book(char **text, const tamis_ledger *ledger, const tamis_number *at, bool json, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_text t;
    tmi_json_out out;
    tmi_shown_account x = {0};
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!ledger) return tmi_fail(err, TAMIS_INVALID, "ledger: NULL");
    tmi_text_init(&t);
    tmi_json_out_init(&out, &t, true);
    if (json) {
        tmi_json_open(&out, '{');
        tmi_json_add_open(&out, "accounts", '[');
    } else if (ledger->book.account_count == 0) {
        tmi_text_put(&t, "no account: nothing has been charged yet\n");
    }
    for (size_t i = 0; i < ledger->book.account_count; i++) {
        TMI_TRY(look_at(&x, ledger, i, at, err));
        if (json) TMI_TRY(put_account(&out, ledger, &x, err));
        else if (i > 0) tmi_text_put(&t, "\n");
        if (!json) TMI_TRY(tmi_show_account(&t, ledger, &x, err));
        account_clear(&x);
    }
    if (json) {
        tmi_json_close(&out, ']');
        tmi_json_close(&out, '}');
        tmi_text_put(&t, "\n");
    }
    TMI_TRY(tmi_text_take(text, &t, err));
done:
    account_clear(&x);
    tmi_text_clear(&t);
    return status;
}

tamis_status tamis_ledger_text(char **text, const tamis_ledger *ledger, const tamis_number *at, tamis_error *err)
{
    return write_book(text, ledger, at, false, err);
}

tamis_status tamis_ledger_json(char **json, const tamis_ledger *ledger, const tamis_number *at, tamis_error *err)
{
    return write_book(json, ledger, at, true, err);
}
