/* The account of a sample, for people and programs. */
#include <tamis/experimental/profile.h>

#include "base/table.h"
#include "ledger/book.h"
#include "num/bound.h"
#include "num/number.h"
#include "report/promise.h"

void tmi_put_spending(tmi_json_out *out, const tmi_account *a, const tamis_spending *s)
{
    if (!a->has_spending) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    if (s->in_rho) {
        tmi_json_add_bound(out, "rho", s->rho);
    } else {
        tmi_json_add_bound(out, "epsilon", s->epsilon);
        tmi_json_add_bound(out, "delta", s->delta);
    }
    tmi_json_close(out, '}');
}

void tmi_put_charge(tmi_json_out *out, const tamis_charged *c)
{
    tmi_json_add_integer(out, "entry", c->entry);
    tmi_json_add_string(out, "hash", c->hash);
    tmi_json_add_string(out, "time", c->time);
    tmi_json_add_boolean(out, "repeated", c->measurements != NULL);
    tmi_json_add_boolean(out, "created", c->created);
    if (c->claim) tmi_json_add_integer(out, "claim", c->claim);
}

void tmi_put_entry(tmi_json_out *out, const tmi_account *a)
{
    if (!a->kept || a->charged.entry == 0) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    tmi_put_charge(out, &a->charged);
    tmi_json_close(out, '}');
}

void tmi_account_notice(tmi_text *text, const tmi_account *a, const char *path)
{
    const tamis_charged *c = &a->charged;
    if (c->entry == 0) return;
    if (c->measurements) {
        tmi_text_format(text,
                        "The same release was made before, on %s. These are its numbers: the data were not read again, and "
                        "nothing was spent.",
                        c->time);
        return;
    }
    if (c->unpublished)
        tmi_text_format(text,
                        "An earlier run of this release was charged on %s and published nothing. This release took over its "
                        "charge, and nothing more was charged.%s",
                        c->time, c->created || c->opened ? " " : "");
    if (c->created) {
        tmi_text_format(text,
                        "New ledger: %s%sthis release %s, so no earlier release counts against the budget. If this survey "
                        "already has a ledger, use that one.",
                        path ? path : "", path ? "; " : "",
                        c->entry == TMI_FIRST_CHARGE ? "created it and is the first in it"
                                                     : "is the first in it: every earlier charge was voided");
    } else if (c->opened) {
        tmi_text_put(text, "New account: this is the first release of this survey in the ledger.");
        if (c->new_account) tmi_text_format(text, " Reason given for a separate account: %s", c->new_account);
    }
}

/* How many releases like this one the proposed budget has room for. */
#define PROPOSED 4

static void put_times(tmi_text *text, const tamis_number *loss)
{
    tamis_number *times = NULL, *product = NULL;
    if (tmi_number_ratio(&times, PROPOSED, 1, NULL) != TAMIS_OK || tmi_number_mul(&product, loss, times, NULL) != TAMIS_OK)
        text->failed = true;
    else tmi_text_number_up(text, tmi_number_compare_int(product, TAMIS_MAX_LOSS) > 0 ? loss : product);
    tmi_number_frees(&times, &product, NULL);
}

void tmi_budget_line(tmi_text *text, const tamis_plan *plan)
{
    const tmi_plan_loss *loss = &plan->privacy.loss;
    if (loss->outsider) {
        tmi_text_put(text, "budget: {outsider: ");
        put_times(text, loss->outsider);
        tmi_text_put(text, ", insider: ");
        put_times(text, loss->insider);
        tmi_text_put(text, "}");
        return;
    }
    tmi_text_put(text, loss->rho ? "budget: {rho: " : "budget: {epsilon: ");
    put_times(text, loss->rho ? loss->rho : loss->epsilon);
    if (loss->delta) tmi_text_put(text, ", delta: ");
    if (loss->delta) tmi_text_number_up(text, loss->delta);
    tmi_text_put(text, "}");
}

void tmi_budget_advice(tmi_text *text, const tamis_plan *plan, const tmi_account *a)
{
    const tmi_by_stratum *target = &a->standing.cap.strata;
    if (target->outsider) { /* a plan may have a plain epsilon */
        tmi_text_put(text,
                     "The plan has no `budget`, which `tamis release` needs: write that of the account, `budget: {outsider: ");
        tmi_text_number_up(text, target->outsider);
        tmi_text_put(text, ", insider: ");
        tmi_text_number_up(text, target->insider);
        tmi_text_put(text, "}");
    } else {
        tmi_text_put(text, "The plan has no `budget`, which `tamis release` needs: write, for instance, `");
        tmi_budget_line(text, plan);
    }
    tmi_text_put(text, "`: what all releases of this survey together may ever spend.");
}

#define GROUPS_SHOWN 12 /* a rotating panel rarely has more in a wave */

static void put_waves(tmi_text *text, size_t count)
{
    tmi_text_put(text, " The releases of ");
    if (count == 2) tmi_text_put(text, "both");
    else tmi_text_format(text, "all %zu", count);
    tmi_text_put(text, " waves add up, since people stay in a panel.");
}

/* What the numbers of an account are made of, and what has become of its budget; nothing for a survey of one wave. */
static void put_terms(tmi_text *text, const tmi_standing *s)
{
    if (s->cap.strata.count > 0)
        tmi_text_put(
            text,
            " Each stratum has an account of its own; these numbers are for those that have spent most, and have least left.");
    else if (s->after.count > 0)
        tmi_text_format(
            text, " The survey has %zu rotation group%s over %zu wave%s; these numbers are for the group that has spent most.",
            s->after.count, s->after.count > 1 ? "s" : "", s->wave_count, s->wave_count > 1 ? "s" : "");
    else if (s->wave_count > 1) put_waves(text, s->wave_count);
    if (s->raise_count == 0) return;
    tmi_text_put(text, " ");
    tmi_cap_words(text, s);
}

/* What a wave spends is spent by its rotation groups: the worst of all groups may have nothing left. */
static void put_own_groups(tmi_text *text, const tmi_plan_wave *wave, const tmi_account *a)
{
    tmi_text_format(text, " The group%s of this wave (", wave->group_count > 1 ? "s" : "");
    for (size_t i = 0; i < wave->group_count && i < GROUPS_SHOWN; i++)
        tmi_text_format(text, "%s%s", i ? ", " : "", wave->groups[i]);
    if (wave->group_count > GROUPS_SHOWN) tmi_text_format(text, " and %zu more", wave->group_count - GROUPS_SHOWN);
    tmi_text_format(text, ") %s %s left; this release would leave %s %s.", wave->group_count > 1 ? "have" : "has",
                    a->own_left.words, wave->group_count > 1 ? "them" : "it", a->own_then_left.words);
}

void tmi_account_words(tmi_text *text, const tmi_schedule *s, const tmi_account *a)
{
    if (!a->has_spending) {
        tmi_text_put(text, " Nothing has been released from this sample yet.");
    } else {
        tmi_text_format(text, " Spent so far: %s; left: %s.", a->spent.words, a->left.words);
        put_terms(text, &a->standing);
    }
    if (a->charged.measurements)
        tmi_text_format(text, " The same release was made on %s: %s; nothing is spent. --again pays for fresh noise.",
                        a->charged.time, a->has_then ? "those numbers would be returned" : "these are its numbers");
    else if (a->charged.entry > 0 && a->charged.new_account)
        tmi_text_format(text,
                        " This release is entry %lld of the ledger. The ledger has another account for the same source; reason "
                        "given for this one: %s",
                        (long long)a->charged.entry, a->charged.new_account);
    else if (a->charged.entry > 0)
        tmi_text_format(text, " This release is entry %lld of the ledger%s.", (long long)a->charged.entry,
                        a->charged.created ? "; entry 1 opened the account" : "");
    else if (a->charged.unpublished)
        tmi_text_format(text,
                        " The same release was charged before (entry %lld) and never published: this one would take over that "
                        "charge and pay nothing.",
                        (long long)a->charged.unpublished);
    else if (a->has_then && s->plan->wave.group_count > 0) put_own_groups(text, &s->plan->wave, a);
    else if (a->has_then) tmi_text_format(text, " This release would leave %s.", a->then_left.words);
    if (a->charged.entry > 0 && a->charged.unpublished)
        tmi_text_format(text,
                        " That entry was charged by an earlier run, which published nothing; this release took it over (entry "
                        "%lld), and nothing more was charged.",
                        (long long)a->charged.claim);
    if (!tmi_has_budget(s->plan)) {
        tmi_text_put(text, " ");
        tmi_budget_advice(text, s->plan, a);
    }
    if (a->charged.clock_behind) tmi_text_put(text, " The clock of this computer is behind the ledger's last entry.");
}

void tmi_write_account(tmi_text *text, const tmi_schedule *s, const tmi_account *a)
{
    tmi_text p;
    if (s->measurement_count == 0) return;
    tmi_text_init(&p);
    tmi_text_put(text, "\nThe account\n");
    tmi_account_words(&p, s, a);
    if (p.failed) text->failed = true;
    else tmi_text_wrap(text, "  ", "  ", p.bytes + 1); /* each sentence has a space before it */
    tmi_text_clear(&p);
}
