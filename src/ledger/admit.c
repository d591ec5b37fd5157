/* Whether a charge may be made. */
#include <string.h>

#include "base/letters.h"
#include "ledger/request.h"
#include "num/number.h"

/* Whether every charge of an account, or of one of its waves (NULL: of all), was voided. */
static bool all_voided(const tmi_book *book, const tmi_ledger_account *a, const tmi_ledger_wave *w)
{
    for (size_t i = 0; i < book->charge_count; i++) {
        const tmi_ledger_charge *c = &book->charges[i];
        if (&book->accounts[c->account] == a && (!w || &a->waves[c->wave] == w) && !c->voided) return false;
    }
    return true;
}

/* {"wave": ...}, as frozen fields are compared. */
static tamis_status wave_tree(tmi_value **tree, const tmi_wave *wave, tamis_error *err)
{
    tmi_json_tree made;
    tmi_json_tree_begin(&made, NULL);
    tmi_json_open(&made.out, '{');
    tmi_json_key(&made.out, "wave");
    tmi_wave_put(&made.out, wave);
    tmi_json_close(&made.out, '}');
    return tmi_json_tree_end(tree, &made, err);
}

/* " (wave.groups: ...)" */
static tamis_status put_wave_words(tmi_text *text, const tmi_wave *there, const tmi_wave *here, tamis_error *err)
{
    tmi_value *x = NULL, *y = NULL;
    tamis_status status;
    TMI_TRY(wave_tree(&x, there, err));
    TMI_TRY(wave_tree(&y, here, err));
    tmi_frozen_words(text, x, y, "wave");
done:
    tmi_value_free(x);
    tmi_value_free(y);
    return status;
}

tamis_status tmi_admit_frozen(const tmi_book *book, const tmi_ledger_account *a, const tmi_ledger_wave *w,
                              const tmi_ledger_request *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_text where;
    const bool kept = !w && r->wave.same_sample; /* the sample of the wave before, so its design too */
    const tmi_ledger_wave *with = w ? w : kept ? &a->waves[a->wave_count - 1] : &a->waves[0];
    const tmi_value *frozen = with->frozen;
    tmi_text_init(&where);
    const char *field = w || kept ? tmi_frozen_difference(frozen, r->frozen) : tmi_frozen_difference_of_survey(frozen, r->frozen);
    const bool wave = !field && w && !tmi_wave_equal(&w->wave, &r->wave);
    if (!field && !wave) goto done;
    tmi_text_put(&where, "");
    if (wave) TMI_TRY(put_wave_words(&where, &w->wave, &r->wave, err));
    else tmi_frozen_words(&where, frozen, r->frozen, field);
    if (wave) field = "wave";
    if (where.failed) status = tmi_fail_memory(err);
    else if (kept)
        status = tmi_fail(err, TAMIS_REFUSED,
                          "%.200s: `same_sample: yes` keeps the sample of the previous wave, but '%.100s' differs from what that "
                          "wave fixed%.600s; nothing was spent. Use the same value, or leave same_sample out",
                          a->survey, field, where.bytes);
    else if (all_voided(book, a, NULL))
        status = tmi_fail(err, TAMIS_REFUSED,
                          "%.200s: '%.100s' differs from what the first charge fixed%.600s; nothing was spent. All charges of "
                          "this account were voided, so nothing was ever released from it: name another ledger in the plan, e.g. "
                          "`ledger: new.ledger`, to open a new account",
                          a->survey, field, where.bytes);
    else if (w && w->wave.name && all_voided(book, a, w))
        status = tmi_fail(
            err, TAMIS_REFUSED,
            "%.200s: '%.100s' differs from what the first charge of the wave fixed%.600s; nothing was spent. All charges of this "
            "wave were voided, so nothing was ever released from it: give it another name in the plan",
            a->survey, field, where.bytes);
    else
        status = tmi_fail(
            err, TAMIS_REFUSED,
            "%.200s: the first release of the %s fixed '%.100s', and this plan differs%.600s; nothing was spent. Use the fixed "
            "value; if these are other people, name another survey, which has its own account and budget",
            a->survey, w && w->wave.name ? "wave" : "survey", field, where.bytes);
done:
    tmi_text_clear(&where);
    return status == TAMIS_REFUSED ? tmi_because(err, "frozen", status) : status;
}

/* The command that raises the budget of a survey so that it is at least `to`. */
static void put_command(tmi_text *text, const char *file, const char *survey, const tmi_ledger_coin *to)
{
    tmi_text_format(text, "tamis ledger raise %.300s --survey '%.200s' ", file, survey);
    if (!to) tmi_text_put(text, "--epsilon (or --rho) NEWCAP");
    else tmi_coin_options(text, to);
    tmi_text_put(text, " --reason TEXT");
}

tamis_status tmi_admit_budget(const tmi_ledger_account *a, const tmi_ledger_request *r, const char *file, tamis_error *err)
{
    tmi_text words;
    tamis_status status = TAMIS_OK;
    if (!r->has_budget || tmi_coin_within(&r->budget, &a->budget)) return TAMIS_OK;
    const bool kind = !r->budget.rho == !a->budget.rho && !r->budget.strata.count == !a->budget.strata.count;
    tmi_text_init(&words);
    tmi_text_put(&words, "the budget of ");
    tmi_coin_words(&words, &r->budget, true);
    tmi_text_put(&words, kind ? " is above that of the account, " : " is not of the same kind as that of the account, which is ");
    tmi_coin_words(&words, &a->budget, false);
    tmi_text_put(&words, "; nothing was spent. ");
    if (kind && a->budget.strata.count == 0)
        tmi_text_put(&words, "Write at most that in the plan; or, if a higher budget was approved, record it: ");
    else tmi_text_put(&words, "Write at most that in the plan");
    if (kind && a->budget.strata.count == 0) put_command(&words, file, a->survey, &r->budget);
    if (words.failed) status = tmi_fail_memory(err);
    else status = tmi_because(err, "budget", tmi_fail(err, TAMIS_REFUSED, "%.200s: %s", a->survey, words.bytes));
    tmi_text_clear(&words);
    return status;
}

tamis_status tmi_admit_source(const tmi_book *book, const tmi_ledger_account *a, const tmi_ledger_request *r, const char *place,
                              tamis_error *err)
{
    if (!a && r->charge->new_account) return TAMIS_OK;
    const tmi_ledger_account *beside = tmi_book_beside(book, a, r->parts, r->frozen, place);
    if (!beside) return TAMIS_OK;
    tmi_fail(
        err, TAMIS_REFUSED,
        "%.200s: the ledger already has the account %.200s for the same source, and a second account would count the same people "
        "again from zero; nothing was spent. Write `survey: %.200s` in the plan; or, if these are other people%s",
        r->charge->survey, beside->survey, beside->survey,
        a ? ", put their rows into a separate file"
          : " or a separate budget was approved, record why: tamis release --new-account REASON");
    return tmi_because(err, "second_account", TAMIS_REFUSED);
}

tamis_status tmi_admit_groups(const tmi_ledger_account *a, const tmi_ledger_request *r, const char *place, tamis_error *err)
{
    const tmi_ledger_wave *other = tmi_account_other_groups(a, &r->wave, r->parts, place);
    if (!other) return TAMIS_OK;
    tmi_fail(
        err, TAMIS_REFUSED,
        "%.200s: the wave %.200s has the same source but other groups, so the same people would be counted in two places; "
        "nothing was spent. List the groups that are in this source, or put the rows of each wave into a separate file or table",
        a->survey, other->wave.name);
    return tmi_because(err, "second_account", TAMIS_REFUSED);
}

/* The stratum that a charge does not fit, in the words of a refusal; nothing if there are none. */
static tamis_status put_stratum(tmi_text *text, const tmi_ledger_request *r, const tmi_losses *losses,
                                const tmi_ledger_coin *limit, tamis_error *err)
{
    tmi_losses more = {0};
    tamis_status status = TAMIS_OK;
    if (limit->strata.count == 0) return TAMIS_OK;
    TMI_TRY(tmi_losses_add(&more, losses, limit, &r->amount, NULL, 0, err));
    for (size_t i = 0; i < more.count; i++) {
        const tamis_number *cap = tmi_by_stratum_find(&limit->strata, more.groups[i].name);
        tamis_spending spent, left;
        if (!cap || tmi_number_compare(more.groups[i].sums.eps, cap) <= 0) continue;
        TMI_TRY(tmi_losses_spending_of(&spent, &left, losses, limit, i, err));
        tmi_text_put(text, ": the stratum ");
        tmi_text_shown(text, more.groups[i].name);
        tmi_text_format(text, " has %s left", left.words);
        break;
    }

done:
    tmi_losses_clear(&more);
    return status;
}

static const tmi_ledger_coin *limit_of(const tmi_ledger_account *a, const tmi_ledger_request *r)
{
    return r->has_budget ? &r->budget : &a->budget;
}

/* What the account allows, in the words of a refusal. */
static tamis_status refuse(const tmi_ledger_account *a, const tmi_ledger_request *r, const tmi_losses *losses, const char *file,
                           tamis_error *err)
{
    const tmi_ledger_coin *limit = limit_of(a, r);
    const bool own = a && !tmi_coin_equal(limit, &a->budget);
    tamis_spending spent, left;
    tmi_losses people; /* of this wave: others may have less left, and do not matter */
    tmi_text words;
    tamis_status status = tmi_losses_of(&people, losses, r->wave.groups, r->wave.group_count, err);
    if (status != TAMIS_OK) return status;
    status = tmi_losses_spending(&spent, &left, r->wave.group_count > 0 ? &people : losses, limit, err);
    tmi_losses_clear(&people);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&words);
    tmi_coin_words(&words, &r->amount, true);
    tmi_text_put(&words, own ? " would exceed the plan's own budget of " : " would exceed the budget of ");
    tmi_coin_words(&words, limit, false);
    if (limit->strata.count > 0) {
        status = put_stratum(&words, r, losses, limit, err);
        if (status != TAMIS_OK) goto done;
    } else if (own)
        tmi_text_format(&words, ", since %s is already spent", spent.words); /* which may be above it: nothing is left then */
    else tmi_text_format(&words, ", of which %s %s left", left.words, a ? "is" : "would be");
    tmi_text_put(&words, "; nothing was spent");
    if (own) {
        tmi_text_put(&words, ". The survey may spend ");
        tmi_coin_words(&words, &a->budget, false);
        tmi_text_put(&words, ": write up to that in the plan");
    } else if (a && limit->strata.count > 0) {
        tmi_text_put(&words, ". Spend less: a lower `outsider` or `insider` under privacy, or fewer statistics of strata");
    } else if (a) {
        tmi_text_put(&words, ". If a higher budget was approved, record it: ");
        put_command(&words, file, a->survey, NULL);
        tmi_text_put(&words, ", and write it in the plan");
    }
    if (words.failed) status = tmi_fail_memory(err);
    else
        status = tmi_because(err, "budget",
                             tmi_fail(err, TAMIS_REFUSED, "%.200s: %s", a ? a->survey : r->charge->survey, words.bytes));

done:
    tmi_text_clear(&words);
    return status;
}

tamis_status tmi_admit_claim(const tmi_ledger_account *a, const tmi_ledger_request *r, const char *file, tamis_error *err)
{
    bool fits = true;
    tamis_status status = r->has_budget ? tmi_losses_fit(&fits, &a->losses, &r->budget, err) : TAMIS_OK;
    if (status != TAMIS_OK || fits) return status;
    return refuse(a, r, &a->losses, file, err);
}

tamis_status tmi_admit_amount(const tmi_ledger_account *a, const tmi_ledger_request *r, const char *file, tamis_error *err)
{
    const tmi_ledger_coin *limit = limit_of(a, r), *cap = a ? &a->budget : limit;
    tamis_status status = TAMIS_OK;
    tmi_losses none = {0}, more = {0};
    bool fits = false;
    TMI_TRY(tmi_losses_begin(&none, cap, err));
    const tmi_losses *losses = a ? &a->losses : &none;
    status = tmi_losses_add(&more, losses, cap, &r->amount, r->wave.groups, r->wave.group_count, err);
    if (status == TAMIS_REFUSED && err) {
        char reason[TAMIS_ERROR_SIZE];
        memcpy(reason, err->message, sizeof reason);
        tmi_fail(err, status, "%.200s: %.1000s; nothing was spent", r->charge->survey, reason);
    }
    if (status != TAMIS_OK) goto done;
    TMI_TRY(tmi_losses_fit(&fits, &more, cap, err));
    if (fits && limit != cap) TMI_TRY(tmi_losses_fit(&fits, &more, limit, err));
    if (!fits) status = refuse(a, r, losses, file, err);
done:
    tmi_losses_clear(&none);
    tmi_losses_clear(&more);
    return status;
}
