#include "report/promise.h"

#include <math.h>

#include "base/article.h"
#include "base/memory.h"
#include "base/table.h"
#include "ledger/coin.h"
#include "num/bound.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "report/bound_words.h"
#include "report/quantile_words.h"
#include "report/report_words.h"
#include "report/specification.h"
#include "setting/meaning.h"

/* ---- exact numbers ---- */

void tmi_text_number(tmi_text *text, const tamis_number *number)
{
    char *written = NULL;
    if (tamis_number_write(&written, number, NULL) == TAMIS_OK) tmi_text_put(text, written);
    else text->failed = true;
    tmi_free(written);
}

void tmi_put_exact(tmi_json_out *out, const tamis_number *number)
{
    tmi_text text;
    tmi_text_init(&text);
    if (number) tmi_text_number(&text, number);
    tmi_json_put_taken(out, &text);
}

void tmi_add_exact(tmi_json_out *out, const char *key, const tamis_number *number)
{
    tmi_json_key(out, key);
    tmi_put_exact(out, number);
}

void tmi_text_number_up(tmi_text *text, const tamis_number *number)
{
    char written[TMI_DECIMAL];
    if (tmi_number_decimal_up(written, number, NULL) == TAMIS_OK) tmi_text_put(text, written);
    else text->failed = true;
}

void tmi_unit_words(tmi_text *text, const tamis_plan *plan)
{
    const tmi_plan_privacy *p = &plan->privacy;
    if (p->rows_per_unit == 1) tmi_text_format(text, "; one record is one %s", p->unit);
    else tmi_text_format(text, "; one %s has up to %lld rows", p->unit, (long long)p->rows_per_unit);
}

void tmi_write_heading(tmi_text *text, const tamis_plan *plan, const char *what, tmi_text *more)
{
    tmi_text title, line;
    tmi_text_init(&title);
    tmi_text_init(&line);
    tmi_describe_design(&line, &plan->design);
    tmi_unit_words(&line, plan);
    tmi_text_format(&title, plan->wave.name ? "%s, wave %s: %s" : "%s%s: %s", plan->survey,
                    plan->wave.name ? plan->wave.name : "", what);
    tmi_text_wrap_taken(text, "", "  ", &title);
    tmi_text_wrap_taken(text, "", "  ", &line);
    if (more && more->length > 0) tmi_text_wrap_taken(text, "", "  ", more);
    tmi_text_put(text, "\n");
}

/* ---- JSON ---- */

static void put_bounds(tmi_json_out *out, tamis_bound epsilon, tamis_bound delta)
{
    tmi_json_add_bound(out, "epsilon", epsilon);
    tmi_json_add_bound(out, "delta", delta);
}

static void put_loss(tmi_json_out *out, tamis_bound epsilon, tamis_bound delta)
{
    tmi_json_open(out, '{');
    put_bounds(out, epsilon, delta);
    tmi_json_close(out, '}');
}

void tmi_put_spent(tmi_json_out *out, const tmi_schedule *schedule)
{
    if (!schedule->gaussian) {
        put_loss(out, tmi_number_bound(schedule->spent), (tamis_bound){0, 0});
        return;
    }
    tmi_json_open(out, '{');
    tmi_json_add_bound(out, "rho", tmi_number_bound(schedule->spent));
    tmi_json_close(out, '}');
}

static bool is_census(const tmi_schedule *schedule) { return schedule->plan->design.kind->takes_all; }

/* Value of the key "setting": what is compared with what, as the paper's specifications say it. */
void tmi_put_setting(tmi_json_out *out, const tmi_schedule *schedule)
{
    const tmi_plan_privacy *privacy = &schedule->plan->privacy;
    const tamis_setting *s = privacy->setting;
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "protect", tamis_level_name(s->protect));
    tmi_json_add_string(out, "given", tamis_level_name(s->given));
    tmi_json_add_string(out, "design_variables", privacy->design_protected ? "protected" : "public");
    tmi_json_add_boolean(out, "secret_sample", privacy->secret_sample);
    tmi_json_close(out, '}');
}

/* The same loss for the three who may want to know, in exact numbers; the outsider's are freed by the caller. */
typedef struct losses {
    tamis_number *epsilon, *delta;
    tamis_promise promise;
} losses;

static tamis_status losses_make(losses *l, const tmi_schedule *schedule, const tmi_outsider *outsider, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *l = (losses){0};
    l->promise = (tamis_promise){.eps = schedule->epsilon, .delta = schedule->delta, .unit = schedule->plan->privacy.unit};
    if (outsider->proved) {
        TMI_TRY(tmi_number_double(&l->epsilon, outsider->epsilon.upper, err));
        TMI_TRY(tmi_number_double(&l->delta, outsider->delta.upper, err));
        l->promise.outsider_eps = l->epsilon;
        l->promise.outsider_delta = l->delta;
    }

done:
    return status;
}

static void losses_clear(losses *l) { tmi_number_frees(&l->epsilon, &l->delta, NULL); }

/* Value of the key "meaning". What cannot be computed fails the text. */
static void put_meaning(tmi_json_out *out, const tmi_schedule *schedule, const tmi_outsider *outsider)
{
    losses l;
    tamis_status status = losses_make(&l, schedule, outsider, NULL);
    if (status == TAMIS_OK) status = tmi_put_meaning(out, &l.promise, NULL);
    if (status != TAMIS_OK) out->text->failed = true;
    losses_clear(&l);
}

/* "epsilon 1", "epsilon 1, delta 1e-06", rounded up. */
static void add_loss_words(tmi_json_out *out, const char *key, double epsilon, double delta)
{
    char number[TAMIS_DECIMAL];
    tmi_text words;
    tmi_text_init(&words);
    tamis_decimal_up(number, epsilon, 3);
    tmi_text_format(&words, "epsilon %s", number);
    if (delta > 0) {
        tamis_decimal_up(number, delta, 3);
        tmi_text_format(&words, ", delta %s", number);
    }
    tmi_json_add_taken(out, key, &words);
}

void tmi_put_would_spend_shown(tmi_json_out *out, const tmi_schedule *schedule)
{
    tmi_text spends;
    tmi_text_init(&spends);
    if (schedule && schedule->gaussian) tmi_coin_words(&spends, &(tmi_ledger_coin){.rho = schedule->spent}, true);
    else if (schedule) tmi_coin_words(&spends, &(tmi_ledger_coin){.eps = schedule->spent}, true);
    tmi_json_add_taken(out, "would_spend", &spends);
}

void tmi_put_promise_shown(tmi_json_out *out, const tmi_schedule *schedule, const tmi_outsider *outsider)
{
    losses l;
    tmi_text sample;
    tmi_text_init(&sample);
    tmi_coin_words(&sample, &(tmi_ledger_coin){.eps = schedule->epsilon, .delta = schedule->delta}, true);
    tmi_json_add_taken(out, "sample", &sample);
    if (outsider->proved) add_loss_words(out, "outsider", outsider->epsilon.upper, outsider->delta.upper);
    else tmi_json_add_null(out, "outsider");
    tmi_json_key(out, "meaning");
    tamis_status status = losses_make(&l, schedule, outsider, NULL);
    if (status == TAMIS_OK) status = tmi_put_meaning_shown(out, &l.promise, NULL);
    if (status != TAMIS_OK) out->text->failed = true;
    losses_clear(&l);
}

static void write_meaning(tmi_text *text, const tmi_schedule *schedule, const tmi_outsider *outsider)
{
    losses l;
    tamis_status status = losses_make(&l, schedule, outsider, NULL);
    if (status == TAMIS_OK) status = tmi_write_meaning(text, &l.promise, NULL);
    if (status != TAMIS_OK) text->failed = true;
    losses_clear(&l);
}

tamis_status tmi_promise_picture(char **svg, const tmi_schedule *schedule, const tmi_outsider *outsider, tamis_error *err)
{
    losses l;
    tamis_status status;
    *svg = NULL;
    TMI_TRY(losses_make(&l, schedule, outsider, err));
    TMI_TRY(tamis_meaning_svg(svg, &l.promise, err));

done:
    losses_clear(&l);
    return status;
}

void tmi_put_outsider_loss(tmi_json_out *out, const tmi_plan_design *design, const tmi_outsider *o)
{
    if (!o->proved) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    put_bounds(out, o->epsilon, o->delta);
    tmi_json_add_string(out, "theorem", o->theorem);
    if (o->part_count > 1) {
        tmi_json_add_open(out, "by_stratum", '[');
        for (size_t i = 0; i < o->part_count; i++) {
            const tmi_outsider_part *p = &o->parts[i];
            tmi_json_open(out, '{');
            tmi_json_add_string(out, "stratum", design->strata[p->stratum].name);
            tmi_json_add_boolean(out, "take_all", p->take_all);
            if (p->sampled) tmi_json_add_bound(out, "sampled", tmi_number_bound(p->sampled));
            put_bounds(out, p->epsilon, p->delta);
            tmi_json_close(out, '}');
        }
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, '}');
}

void tmi_put_sample_loss(tmi_json_out *out, const tmi_schedule *schedule)
{
    put_loss(out, tmi_number_bound(schedule->epsilon), tmi_number_bound(schedule->delta));
}

void tmi_put_guarantee(tmi_json_out *out, const tmi_schedule *schedule, const tmi_outsider *outsider)
{
    tmi_json_open(out, '{');
    tmi_json_key(out, "setting");
    tmi_put_setting(out, schedule);
    tmi_json_key(out, "specification");
    tmi_put_specification(out, schedule);
    tmi_json_key(out, "sample");
    tmi_put_sample_loss(out, schedule);
    tmi_json_key(out, "outsider");
    tmi_put_outsider_loss(out, &schedule->plan->design, outsider);
    if (!outsider->proved) tmi_json_add_string(out, "outsider_reason", outsider->reason);
    tmi_json_key(out, "meaning");
    put_meaning(out, schedule, outsider);
    tmi_json_close(out, '}');
}

/* ---- words ---- */

/* Whose record, as the setting says. */
static void put_whose(tmi_text *text, const tmi_schedule *schedule)
{
    static const char *const who[TAMIS_LEVELS] = {
        [TAMIS_POPULATION] = "Sampled %s",
        [TAMIS_FRAME] = "Sampled %s",
        [TAMIS_SAMPLE] = "Sampled %s",
        [TAMIS_RESPONDENTS] = "Responding %s",
    };
    const tamis_setting *setting = schedule->plan->privacy.setting;
    tmi_text_format(text, is_census(schedule) && setting->protect != TAMIS_RESPONDENTS ? "Every %s" : who[setting->protect],
                    schedule->plan->privacy.unit);
}

static void put_promise(tmi_text *p, const tmi_schedule *schedule, const char *setting_words)
{
    if (schedule->measurement_count == 0) {
        tmi_text_put(p, "Nothing is read from the data, so nothing can be learned about anybody: epsilon 0.");
        return;
    }
    const tamis_setting *setting = schedule->plan->privacy.setting;
    const char *unit = schedule->plan->privacy.unit;
    put_whose(p, schedule);
    tmi_text_put(p, ": epsilon ");
    tmi_text_number_up(p, schedule->epsilon);
    tmi_text_put(p, ", delta ");
    tmi_text_number_up(p, schedule->delta);
    if (schedule->gaussian) tmi_text_put(p, ", rho ");
    if (schedule->gaussian) tmi_text_number_up(p, schedule->spent);
    tmi_text_format(p,
                    " (%s). Replacing %s%s %s's record by any other%s changes the probability of any output by a factor "
                    "of at most exp(",
                    setting_words, is_census(schedule) ? "" : "such ", is_census(schedule) ? "one" : tmi_article(unit), unit,
                    setting->size_is_public ? "" : ", or taking it away,");
    tmi_text_number_up(p, schedule->epsilon);
    tmi_text_put(p, ")");
    if (schedule->gaussian) tmi_text_put(p, " and delta");
    tmi_text_format(p, ", whatever an attacker knows about all the others%s. The noise is exact %s noise on integers.",
                    is_census(schedule) ? "" : " and even if it is known who was sampled", tmi_noise_words(schedule->gaussian));
    if (schedule->plan->privacy.loss.by_stratum)
        tmi_text_put(
            p, " That is the epsilon of the stratum that may lose most; each stratum has its own, which follows from the target "
               "for outsiders.");
    tmi_bounds_words(p, schedule);
    tmi_quantile_tasks_words(p, schedule);
}

void tmi_promise_words(tmi_text *p, const tmi_schedule *schedule)
{
    put_promise(p, schedule, schedule->plan->privacy.setting->name);
}

void tmi_promise_page(tmi_text *p, const tmi_schedule *schedule)
{
    static const char *const given[TAMIS_LEVELS] = {
        [TAMIS_NOTHING] = "nothing is taken as public",
        [TAMIS_POPULATION] = "who belongs to the population is taken as public",
        [TAMIS_FRAME] = "the frame from which the sample was drawn is taken as public",
        [TAMIS_SAMPLE] = "who was sampled is taken as public",
    };
    put_promise(p, schedule, given[schedule->plan->privacy.setting->given]);
}

#define MOST_PARTS 12 /* shown to people; the JSON has all */

void tmi_strata_words(tmi_text *p, const tmi_plan_design *design, const tmi_outsider *outsider)
{
    tmi_text_put(p, outsider->part_count > 0 && outsider->parts[0].sampled ? " Epsilon in each stratum: " : " Apart: ");
    for (size_t i = 0; i < outsider->part_count && i < MOST_PARTS; i++) {
        const tmi_outsider_part *part = &outsider->parts[i];
        const char *stratum = design->strata[part->stratum].name;
        char epsilon[TMI_DECIMAL], sampled[TMI_DECIMAL];
        tamis_decimal_up(epsilon, part->epsilon.upper, 4);
        tmi_text_put(p, i ? "; " : "");
        tmi_text_put(p, stratum ? stratum : part->take_all ? "units that are always drawn" : "the others");
        if (part->sampled) {
            tamis_decimal_up(sampled, tmi_number_up(part->sampled), 4);
            tmi_text_format(p, ": known to be sampled %s, outsider %s", sampled, epsilon);
            continue;
        }
        tmi_text_format(p, "%s epsilon %s", stratum && part->take_all ? ", always drawn:" : ":", epsilon);
    }
    if (outsider->part_count > MOST_PARTS) tmi_text_format(p, "; and %zu more", outsider->part_count - MOST_PARTS);
    tmi_text_put(p, ".");
}

void tmi_outsider_page(tmi_text *p, const tamis_plan *plan, const tmi_outsider *outsider)
{
    if (outsider->proved) tmi_outsider_words(p, plan, outsider);
    else
        tmi_text_format(p,
                        "No separate guarantee is claimed for %s %s whose participation is unknown: the guarantee is the same as "
                        "for a sampled %s.",
                        tmi_article(plan->privacy.unit), plan->privacy.unit, plan->privacy.unit);
}

void tmi_outsider_words(tmi_text *p, const tamis_plan *plan, const tmi_outsider *outsider)
{
    if (!outsider->proved) {
        tmi_text_format(p, "Outsider: no separate guarantee, because %s.", outsider->reason);
        return;
    }
    char epsilon[TMI_DECIMAL], delta[TMI_DECIMAL];
    tamis_decimal_up(epsilon, outsider->epsilon.upper, 4); /* for people; the JSON has 17 digits */
    tamis_decimal_up(delta, outsider->delta.upper, 4);
    tmi_text_format(p,
                    "Outsider: epsilon %s, delta %s, for any %s of the %s as long as nobody outside knows who was sampled. It "
                    "covers everything released from this sample so far: the epsilons of sampled units are added up first%s and "
                    "amplified once (theorem: %s).",
                    epsilon, delta, plan->privacy.unit, tamis_level_name(plan->privacy.setting->protect),
                    outsider->part_count > 0 && outsider->parts[0].sampled ? ", stratum by stratum," : "", outsider->theorem);
    if (outsider->part_count > 1) tmi_strata_words(p, &plan->design, outsider);
}

void tmi_write_promise(tmi_text *text, const tmi_schedule *schedule, const tmi_outsider *outsider, bool released)
{
    tmi_lines not_covered = {0};
    tmi_text p;
    tmi_text_init(&p);
    tmi_write_warnings(text, schedule);
    tmi_text_put(text, released ? "What is guaranteed\n" : "What would be guaranteed\n");
    tmi_promise_words(&p, schedule);
    tmi_text_wrap_taken(text, "  ", "  ", &p);
    tmi_outsider_words(&p, schedule->plan, outsider);
    tmi_text_wrap_taken(text, "  ", "  ", &p);
    tmi_text_put(text, "\n");
    write_meaning(text, schedule, outsider);
    if (!released) tmi_write_specification(text, schedule);
    tmi_list_not_covered(&not_covered, schedule);
    tmi_text_put(text, "\nWhat is not covered\n");
    tmi_lines_wrap(text, "  - ", "    ", &not_covered);
}
