#include "ledger/losses.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"

void tmi_losses_clear(tmi_losses *losses)
{
    tmi_sums_clear(&losses->base);
    for (size_t i = 0; i < losses->count; i++) {
        tmi_free(losses->groups[i].name);
        tmi_sums_clear(&losses->groups[i].sums);
    }
    tmi_free(losses->groups);
    *losses = (tmi_losses){0};
}

static size_t find(const tmi_losses *losses, const char *group)
{
    size_t i = 0;
    while (i < losses->count && strcmp(losses->groups[i].name, group) != 0) i++;
    return i;
}

/* One more group; the sums are copied. */
static tamis_status add_group(tmi_losses *losses, const char *name, const tmi_sums *sums, tamis_error *err)
{
    tmi_ledger_group group = {.name = tmi_copy_text(name, strlen(name))};
    tmi_ledger_group *groups = tmi_realloc(losses->groups, losses->count + 1, sizeof *groups);
    if (groups) losses->groups = groups;
    tamis_status status = group.name && groups ? tmi_sums_copy(&group.sums, sums, err) : tmi_fail_memory(err);
    if (status == TAMIS_OK) losses->groups[losses->count++] = group;
    else tmi_free(group.name);
    return status;
}

tamis_status tmi_losses_begin(tmi_losses *losses, const tmi_ledger_coin *budget, tamis_error *err)
{
    tamis_status status;
    *losses = (tmi_losses){0};
    TMI_TRY(tmi_sums_begin(&losses->base, budget, err));
    for (size_t i = 0; i < budget->strata.count; i++) TMI_TRY(add_group(losses, budget->strata.names[i], &losses->base, err));

done:
    if (status != TAMIS_OK) tmi_losses_clear(losses);
    return status;
}

tamis_status tmi_losses_name(tmi_losses *losses, const char *group, tamis_error *err)
{
    return find(losses, group) < losses->count ? TAMIS_OK : add_group(losses, group, &losses->base, err);
}

tamis_status tmi_losses_copy(tmi_losses *copy, const tmi_losses *losses, tamis_error *err)
{
    tamis_status status;
    *copy = (tmi_losses){0};
    TMI_TRY(tmi_sums_copy(&copy->base, &losses->base, err));
    for (size_t i = 0; i < losses->count; i++) TMI_TRY(add_group(copy, losses->groups[i].name, &losses->groups[i].sums, err));
done:
    if (status != TAMIS_OK) tmi_losses_clear(copy);
    return status;
}

tamis_status tmi_losses_of(tmi_losses *own, const tmi_losses *losses, char *const *groups, size_t count, tamis_error *err)
{
    tamis_status status;
    *own = (tmi_losses){0};
    TMI_TRY(tmi_sums_copy(&own->base, &losses->base, err));
    for (size_t i = 0; i < count; i++) {
        const size_t at = find(losses, groups[i]);
        TMI_TRY(add_group(own, groups[i], at < losses->count ? &losses->groups[at].sums : &losses->base, err));
    }
done:
    if (status != TAMIS_OK) tmi_losses_clear(own);
    return status;
}

static tamis_status charge_sums(tmi_sums *sums, const tmi_ledger_coin *budget, const tmi_ledger_coin *amount, tamis_error *err)
{
    tmi_sums more;
    tamis_status status = tmi_sums_add(&more, sums, budget, amount, err);
    if (status != TAMIS_OK) return status;
    tmi_sums_clear(sums);
    *sums = more;
    return TAMIS_OK;
}

/* A charge to an account by strata: each stratum loses its own epsilon of it, or all lose the same. */
static tamis_status charge_strata(tmi_losses *losses, const tmi_ledger_coin *budget, const tmi_ledger_coin *amount,
                                  size_t group_count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (group_count > 0)
        return tmi_fail(err, TAMIS_REFUSED, "the account is of one sample and by strata, and rotation groups cut across them");
    for (size_t i = 0; i < losses->count; i++) {
        tmi_ledger_group *g = &losses->groups[i];
        tmi_ledger_coin own = *amount; /* lent */
        if (amount->strata.count > 0) own.eps = (tamis_number *)(uintptr_t)tmi_by_stratum_find(&amount->strata, g->name);
        if (!own.eps && !own.rho)
            TMI_TRY(tmi_fail(err, TAMIS_REFUSED, "the account has a stratum that the release knows nothing of"));
        TMI_TRY(charge_sums(&g->sums, budget, &own, err));
    }

done:
    return status;
}

tamis_status tmi_losses_add(tmi_losses *more, const tmi_losses *losses, const tmi_ledger_coin *budget,
                            const tmi_ledger_coin *amount, char *const *groups, size_t count, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_losses_copy(more, losses, err));
    if (budget->strata.count > 0) {
        status = charge_strata(more, budget, amount, count, err);
        goto done;
    }
    for (size_t i = 0; i < count; i++) TMI_TRY(tmi_losses_name(more, groups[i], err));
    if (count == 0) TMI_TRY(charge_sums(&more->base, budget, amount, err));
    for (size_t i = 0; i < more->count; i++) {
        bool in = count == 0;
        for (size_t j = 0; j < count && !in; j++) in = strcmp(groups[j], more->groups[i].name) == 0;
        if (in) TMI_TRY(charge_sums(&more->groups[i].sums, budget, amount, err));
    }
done:
    if (status != TAMIS_OK) tmi_losses_clear(more);
    return status;
}

tamis_status tmi_losses_charge(tmi_losses *losses, const tmi_ledger_coin *budget, const tmi_ledger_coin *amount,
                               char *const *groups, size_t count, tamis_error *err)
{
    tmi_losses more;
    tamis_status status = tmi_losses_add(&more, losses, budget, amount, groups, count, err);
    if (status != TAMIS_OK) return status;
    tmi_losses_clear(losses);
    *losses = more;
    return TAMIS_OK;
}

bool tmi_losses_equal(const tmi_losses *x, const tmi_losses *y)
{
    bool equal = x->count == y->count && tmi_sums_equal(&x->base, &y->base);
    for (size_t i = 0; equal && i < x->count; i++)
        equal = strcmp(x->groups[i].name, y->groups[i].name) == 0 && tmi_sums_equal(&x->groups[i].sums, &y->groups[i].sums);
    return equal;
}

static bool is_zero(const tmi_sums *sums)
{
    return tmi_number_sign(sums->eps) == 0 && tmi_number_sign(sums->delta) == 0 && tmi_number_sign(sums->rho) == 0 &&
           (!sums->mu_squared || tmi_number_sign(sums->mu_squared) == 0);
}

bool tmi_losses_zero(const tmi_losses *losses)
{
    bool zero = is_zero(&losses->base);
    for (size_t i = 0; zero && i < losses->count; i++) zero = is_zero(&losses->groups[i].sums);
    return zero;
}

bool tmi_losses_in_mu(const tmi_losses *losses)
{
    bool found = losses->base.mu_squared != NULL;
    for (size_t i = 0; !found && i < losses->count; i++) found = losses->groups[i].sums.mu_squared != NULL;
    return found;
}

static bool in_rho(const tmi_sums *sums) { return sums->concentrated && !sums->mu_squared; }

bool tmi_losses_in_rho(const tmi_losses *losses)
{
    bool found = in_rho(&losses->base);
    for (size_t i = 0; !found && i < losses->count; i++) found = in_rho(&losses->groups[i].sums);
    return found;
}

bool tmi_losses_concentrated(const tmi_losses *losses) { return tmi_losses_in_rho(losses) || tmi_losses_in_mu(losses); }

/* ---- the worst ---- */

/* In an account by strata nobody is in `base`. */
static size_t first_of(const tmi_ledger_coin *budget) { return budget->strata.count > 0 ? 1 : 0; }

/* The budget of one sum: that of its stratum. Lent. */
static tmi_ledger_coin budget_at(const tmi_losses *losses, const tmi_ledger_coin *budget, size_t i)
{
    tmi_ledger_coin own = {.eps = budget->eps, .delta = budget->delta, .rho = budget->rho};
    if (budget->strata.count > 0)
        own.eps = (tamis_number *)(uintptr_t)tmi_by_stratum_find(&budget->strata, losses->groups[i - 1].name);
    return own;
}

/* Whether the sums are those of the budget's strata, if it has any: of a certificate nobody knows. */
static bool has_strata(const tmi_losses *losses, const tmi_ledger_coin *budget)
{
    bool all = budget->strata.count == 0 || losses->count == budget->strata.count;
    for (size_t i = 0; all && budget->strata.count > 0 && i < losses->count; i++)
        all = tmi_by_stratum_find(&budget->strata, losses->groups[i].name) != NULL;
    return all;
}

static const tmi_sums *sums_at(const tmi_losses *losses, size_t i)
{
    return i == 0 ? &losses->base : &losses->groups[i - 1].sums;
}

tamis_status tmi_losses_fit(bool *fit, const tmi_losses *losses, const tmi_ledger_coin *budget, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *fit = true;
    for (size_t i = first_of(budget); i <= losses->count && *fit; i++) {
        const tmi_ledger_coin own = budget_at(losses, budget, i);
        *fit = own.eps || own.rho; /* a stratum that the budget does not know has none */
        if (*fit) TMI_TRY(tmi_sums_fit(fit, sums_at(losses, i), &own, err));
    }
done:
    if (status != TAMIS_OK) *fit = false;
    return status;
}

static void take_largest(tamis_bound *x, tamis_bound y) { *x = (tamis_bound){fmax(x->lower, y.lower), fmax(x->upper, y.upper)}; }

static void take_smallest(tamis_bound *x, tamis_bound y) { *x = (tamis_bound){fmin(x->lower, y.lower), fmin(x->upper, y.upper)}; }

static bool same_bounds(const tamis_spending *x, const tamis_spending *y)
{
    return memcmp(&x->epsilon, &y->epsilon, sizeof x->epsilon) == 0 && memcmp(&x->delta, &y->delta, sizeof x->delta) == 0 &&
           memcmp(&x->rho, &y->rho, sizeof x->rho) == 0 && memcmp(&x->mu_squared, &y->mu_squared, sizeof x->mu_squared) == 0;
}

/* The words of a sum that is the worst in everything; made from the ends where there is none. */
static tamis_status say_worst(tamis_spending *spent, tamis_spending *left, const tmi_losses *losses,
                              const tmi_ledger_coin *budget, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bool said = false;
    for (size_t i = first_of(budget); i <= losses->count && !said; i++) {
        const tmi_ledger_coin own = budget_at(losses, budget, i);
        tamis_spending more, less;
        TMI_TRY(tmi_sums_spending(&more, &less, sums_at(losses, i), &own, err));
        said = same_bounds(&more, spent) && same_bounds(&less, left);
        if (!said) continue;
        memcpy(spent->words, more.words, sizeof spent->words);
        memcpy(left->words, less.words, sizeof left->words);
    }
    if (said) goto done;
    spent->words[0] = left->words[0] = '\0';
    if (!budget->rho) tmi_say_end(spent, "epsilon", spent->epsilon.upper, true);
    if (!budget->rho) tmi_say_end(left, "epsilon", left->epsilon.lower, false);
    if (!budget->rho && spent->delta.upper > 0) tmi_say_end(spent, "delta", spent->delta.upper, true);
    if (!budget->rho && left->delta.upper > 0) tmi_say_end(left, "delta", left->delta.lower, false);
    if (budget->rho || tmi_losses_in_rho(losses)) {
        tmi_say_end(spent, "rho", spent->rho.upper, true);
        tmi_say_end(left, "rho", left->rho.lower, false);
    }
    if (!tmi_losses_in_mu(losses)) goto done;
    tmi_say_end(spent, "mu^2", spent->mu_squared.upper, true);
    tmi_say_end(left, "mu^2", left->mu_squared.lower, false);
done:
    return status;
}

tamis_status tmi_losses_spending_of(tamis_spending *spent, tamis_spending *left, const tmi_losses *losses,
                                    const tmi_ledger_coin *budget, size_t group, tamis_error *err)
{
    const tmi_ledger_coin own = budget_at(losses, budget, group + 1);
    return tmi_sums_spending(spent, left, &losses->groups[group].sums, &own, err);
}

tamis_status tmi_losses_spending(tamis_spending *spent, tamis_spending *left, const tmi_losses *losses,
                                 const tmi_ledger_coin *budget, tamis_error *err)
{
    bool has_rho, has_mu; /* what is left of rho, or mu^2, is stated only for sums that count in it */
    const size_t first = first_of(budget);
    if (!has_strata(losses, budget)) return tmi_fail(err, TAMIS_INVALID, "its groups are not the strata of its cap");
    const tmi_ledger_coin of_first = budget_at(losses, budget, first);
    tamis_status status = tmi_sums_spending(spent, left, sums_at(losses, first), &of_first, err);
    if (status != TAMIS_OK) return status;
    has_rho = budget->rho || in_rho(sums_at(losses, first));
    has_mu = sums_at(losses, first)->mu_squared != NULL;
    for (size_t i = first + 1; i <= losses->count; i++) {
        const tmi_ledger_coin own = budget_at(losses, budget, i);
        tamis_spending more, less;
        TMI_TRY(tmi_sums_spending(&more, &less, sums_at(losses, i), &own, err));
        take_largest(&spent->epsilon, more.epsilon);
        take_largest(&spent->delta, more.delta);
        take_largest(&spent->rho, more.rho);
        take_smallest(&left->epsilon, less.epsilon);
        take_smallest(&left->delta, less.delta);
        take_largest(&spent->mu_squared, more.mu_squared);
        if (less.in_mu) {
            if (has_mu) take_smallest(&left->mu_squared, less.mu_squared);
            else left->mu_squared = less.mu_squared;
            spent->in_mu = left->in_mu = has_mu = true;
        }
        if (!budget->rho && !in_rho(sums_at(losses, i))) continue;
        if (has_rho) take_smallest(&left->rho, less.rho);
        else left->rho = less.rho;
        has_rho = true;
    }
    if (losses->count > 0) TMI_TRY(say_worst(spent, left, losses, budget, err));
done:
    return status;
}

/* *x = the larger of the two; y is taken. */
static void keep_larger(tamis_number **x, tamis_number *y)
{
    const bool larger = !*x || tmi_number_compare(y, *x) > 0;
    tamis_number_free(larger ? *x : y);
    if (larger) *x = y;
}

tamis_status tmi_losses_sample(tamis_number **eps, tamis_number **delta, const tmi_losses *losses, const tmi_ledger_coin *budget,
                               const tamis_number *at, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *eps = *delta = NULL;
    for (size_t i = 0; i <= losses->count; i++) {
        tamis_number *e = NULL, *d = NULL;
        status = tmi_sums_sample(&e, &d, sums_at(losses, i), budget, at, err);
        if (e) keep_larger(eps, e);
        if (d) keep_larger(delta, d);
        if (status != TAMIS_OK) break;
    }
    return status; /* what is there on failure is the caller's to free */
}

void tmi_loss_parts_clear(tmi_loss_parts *parts)
{
    tmi_number_frees(&parts->pure, &parts->mu_squared, &parts->rho, NULL);
    *parts = (tmi_loss_parts){0};
}

/* What is mu-Gaussian is mu^2/2-concentrated. */
static tamis_status rho_of_mu(tamis_number **rho, const tamis_number *mu_squared, tamis_error *err)
{
    tamis_number *two = NULL;
    tamis_status status = tmi_number_ratio(&two, 2, 1, err);
    if (status == TAMIS_OK) status = tmi_number_div(rho, mu_squared, two, err);
    tamis_number_free(two);
    return status;
}

tamis_status tmi_losses_parts(tmi_loss_parts *parts, const tmi_losses *losses, tamis_error *err)
{
    const bool all_in_mu = !tmi_losses_in_rho(losses);
    tamis_status status = TAMIS_OK;
    *parts = (tmi_loss_parts){0};
    if (!tmi_losses_concentrated(losses)) return TAMIS_OK;
    for (size_t i = 0; i <= losses->count; i++)
        if (tmi_number_sign(sums_at(losses, i)->delta) > 0) return TAMIS_OK;
    for (size_t i = 0; i <= losses->count; i++) {
        const tmi_sums *s = sums_at(losses, i);
        tamis_number *pure = NULL, *rest = NULL;
        TMI_TRY(tmi_number_copy(&pure, s->eps, err));
        keep_larger(&parts->pure, pure);
        if (all_in_mu && !s->mu_squared) continue; /* this one has only pure epsilons so far */
        TMI_TRY(all_in_mu       ? tmi_number_copy(&rest, s->mu_squared, err)
                : s->mu_squared ? rho_of_mu(&rest, s->mu_squared, err)
                                : tmi_number_copy(&rest, s->rho, err));
        keep_larger(all_in_mu ? &parts->mu_squared : &parts->rho, rest);
    }

done:
    if (status != TAMIS_OK) tmi_loss_parts_clear(parts);
    return status;
}
