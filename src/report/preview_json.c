#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "num/bound.h"
#include "num/number.h"
#include "report/bound_words.h"
#include "report/preview.h"
#include "report/promise.h"
#include "report/report_words.h"
#include "report/results.h"
#include "schedule/expected/assumptions.h"
#include "schedule/expected/model.h"

void tmi_expected_advice(tmi_text *text, const tmi_preview *p, size_t i, const char *more, double loss, double sample)
{
    const tamis_plan *plan = p->schedule.plan;
    const tmi_expected_statistic *f = &p->expected_statistics[i];
    tmi_statistic_title(text, plan, i);
    if (f->count > 1 && !*more) tmi_text_format(text, " (%zu of %zu groups)", tmi_expected_drowned(f), f->count);
    tmi_text_format(text, "%s: the noise exceeds a third of the size", more);
    if (isnan(loss) && isnan(sample)) return;
    tmi_text_put(text, "; ");
    if (!isnan(loss)) tmi_text_put(text, plan->privacy.loss.rho ? "a rho of " : "an epsilon of ");
    if (loss >= 100) tmi_text_rounded(text, loss, 0);
    else if (!isnan(loss)) tmi_text_format(text, "%.2g", loss);
    if (!isnan(loss) && !isnan(sample)) tmi_text_put(text, ", or ");
    if (!isnan(sample)) tmi_text_put(text, "a sample of ");
    if (!isnan(sample)) tmi_text_rounded(text, sample, 0);
    tmi_text_put(text, !isnan(loss) && !isnan(sample) ? ", would be enough" : " would be enough");
}

/* ---- JSON ---- */

static double part_of_range(const tmi_expected_group *p)
{
    return p->range > 0 ? tmi_expected_group_noise(p) / p->range : TMI_NULL;
}

static double cv_of(const tmi_expected_group *p)
{
    return p->expected > 0 ? tmi_expected_group_error(p) / p->expected : TMI_NULL;
}

static double part_of_expected(const tmi_expected_group *p)
{
    return p->expected > 0 ? tmi_expected_group_noise(p) / p->expected : TMI_NULL;
}

/* What the page of a program shows of an error: two digits of it, and three of a percentage, rounded up. NaN: null. */
static void put_shown(tmi_json_out *out, const char *key, double x, bool percent)
{
    tmi_text text;
    tmi_text_init(&text);
    if (isfinite(x)) {
        const double value = percent ? 100 * x : x;
        const int decimals = tmi_decimals_of(value) + percent;
        const double unit = pow(10, -decimals);
        /* an error is known to far fewer than nine digits: 0.3 is not shown as 0.31 because of its last bit */
        tmi_text_rounded(&text, value > 0 ? ceil(value / unit * (1 - 1e-9)) * unit : 0, decimals);
        if (percent) tmi_text_put(&text, " %");
    }
    tmi_json_add_taken(out, key, &text);
}

static void put_all_shown(tmi_json_out *out, double noise, double sampling, double se, double cv)
{
    tmi_json_add_open(out, "shown", '{');
    put_shown(out, "noise_sd", noise, false);
    put_shown(out, "sampling_se", sampling, false);
    put_shown(out, "se", se, false);
    put_shown(out, "cv", cv, true);
    tmi_json_close(out, '}');
}

/* 'F' before 'E' before nothing. */
static char quality_of(const tamis_plan *plan, const tmi_plan_statistic *s, const tmi_expected_group *p)
{
    const double error = tmi_expected_group_error(p);
    return p->expected > 0 && !isnan(error) ? tmi_quality_of(plan, s, p->expected, error) : '\0';
}

static void put_quality(tmi_json_out *out, char quality)
{
    tmi_json_add_string(out, "quality", quality ? (char[]){quality, '\0'} : NULL);
}

static void put_term(tmi_json_out *out, const tmi_plan_statistic *s, size_t cell)
{
    tmi_text name;
    tmi_text_init(&name);
    tmi_term_text(&name, s, cell);
    tmi_json_add_taken(out, "term", &name);
}

static void put_groups(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_statistic *s, const tmi_expected_statistic *f)
{
    const size_t levels = s->model ? s->model->term_count : s->at_count > 0 ? s->at_count : 1;
    const bool alike = f->count == levels; /* all groups */
    tmi_json_add_open(out, "groups", '[');
    for (size_t k = 0; k < f->count && !out->text->failed; k++) {
        const tmi_expected_group *p = &f->groups[k];
        tmi_json_open(out, '{');
        if (!alike) tmi_json_key(out, "group");
        if (!alike) tmi_put_group(out, s->by, s->by_count, k / levels);
        if (s->model) put_term(out, s, k);
        if (s->model) tmi_json_add_boolean(out, "may_be_not_determined", p->turn >= TMI_HOPELESS);
        if (s->at_count > 1) tmi_json_add_real(out, "at", tmi_number_nearest(s->at[k % levels]));
        tmi_json_add_real(out, "noise_sd", tmi_expected_group_noise(p));
        tmi_json_add_real(out, "sampling_se", tmi_expected_group_sampling(p));
        tmi_json_add_real(out, "se", tmi_expected_group_error(p));
        tmi_json_add_real(out, "expected", p->expected);
        tmi_json_add_real(out, "cv", cv_of(p));
        put_quality(out, quality_of(plan, s, p));
        put_all_shown(out, tmi_expected_group_noise(p), tmi_expected_group_sampling(p), tmi_expected_group_error(p), cv_of(p));
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

static void put_statistic(tmi_json_out *out, const tmi_preview *p, size_t i)
{
    const tmi_plan_statistic *s = &p->schedule.plan->statistics[i];
    const tmi_expected_statistic *f = &p->expected_statistics[i];
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "number", (int64_t)i);
    tmi_text words;
    tmi_text_init(&words);
    tmi_statistic_title(&words, p->schedule.plan, i);
    tmi_json_add_taken(out, "words", &words);
    tmi_json_add_string(out, "statistic", tmi_statistic_name(s));
    if (s->column) {
        tmi_text_init(&words);
        tmi_result_column(&words, s);
        tmi_json_add_taken(out, "column", &words);
    } else tmi_json_add_string(out, "column", NULL);
    if (tmi_is_contrast(s->kind)) {
        tmi_text compared;
        tmi_text_init(&compared);
        tmi_contrast_text(&compared, s);
        tmi_json_add_taken(out, "contrast", &compared);
    }
    if (s->at_count == 1) tmi_json_add_real(out, "at", tmi_number_nearest(s->at[0]));
    if (s->limit) tmi_json_add_real(out, "line", tmi_number_nearest(s->limit));
    tmi_json_add_open(out, "by", '[');
    for (size_t j = 0; j < s->by_count; j++) tmi_json_put_string(out, s->by[j]->name);
    tmi_json_close(out, ']');
    tmi_json_add_boolean(out, "known", tmi_is_known(&p->schedule, i));
    if (p->waves && p->waves[i].part > 0) {
        tmi_json_add_open(out, "for_change", '{');
        tmi_json_add_real(out, "budget_part", p->waves[i].part);
        tmi_json_add_real(out, "se_of_change", p->waves[i].with);
        tmi_json_add_real(out, "se_of_change_without", p->waves[i].without);
        tmi_json_add_boolean(out, "pays", tmi_wave_pays(&p->waves[i]));
        tmi_json_close(out, '}');
    }
    tmi_json_add_real(out, "noise_sd", tmi_expected_middle(f, tmi_expected_group_noise));
    tmi_json_add_real(out, "share_of_range", tmi_expected_middle(f, part_of_range));
    tmi_json_add_real(out, "sampling_se", tmi_expected_middle(f, tmi_expected_group_sampling));
    tmi_json_add_real(out, "se", tmi_expected_middle(f, tmi_expected_group_error));
    tmi_json_add_real(out, "cv", tmi_expected_middle(f, cv_of));
    tmi_json_add_real(out, "share_of_expected", tmi_expected_middle(f, part_of_expected));
    char worst = '\0';
    for (size_t k = 0; k < f->count && !tmi_is_known(&p->schedule, i); k++) {
        const char quality = quality_of(p->schedule.plan, s, &f->groups[k]);
        if (quality > worst) worst = quality;
    }
    put_quality(out, worst);
    put_all_shown(out, tmi_expected_middle(f, tmi_expected_group_noise), tmi_expected_middle(f, tmi_expected_group_sampling),
                  tmi_expected_middle(f, tmi_expected_group_error), tmi_expected_middle(f, cv_of));
    if (f->count > 1) put_groups(out, p->schedule.plan, s, f);
    tmi_json_key(out, "warning");
    tmi_text advice;
    tmi_text_init(&advice);
    if (tmi_expected_drowned(f) > 0) tmi_expected_advice(&advice, p, i, "", f->loss, f->sample);
    tmi_json_put_taken(out, &advice);
    tmi_put_remedies(out, p, i);
    tmi_json_close(out, '}');
}

static void put_assumption(void *context, const tmi_assumption *a)
{
    tmi_json_out *out = context;
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "assumed", a->assumed);
    if (a->column_count > 0) {
        tmi_json_add_open(out, "columns", '[');
        for (size_t i = 0; i < a->column_count; i++) tmi_json_put_string(out, a->columns[i]);
        tmi_json_close(out, ']');
    }
    tmi_json_add_string(out, "declare", a->declare);
    tmi_json_close(out, '}');
}

/* What the rotation groups of the wave have left; nothing if it has none. */
static void put_own_groups(tmi_json_out *out, const tmi_preview *p)
{
    const tmi_plan_wave *wave = &p->schedule.plan->wave;
    const tmi_account known = {.has_spending = p->account.has_then};
    if (wave->group_count == 0) return;
    tmi_json_add_open(out, "rotation_groups", '{');
    tmi_json_add_open(out, "groups", '[');
    for (size_t i = 0; i < wave->group_count; i++) tmi_json_put_string(out, wave->groups[i]);
    tmi_json_close(out, ']');
    tmi_json_key(out, "left");
    tmi_put_spending(out, &known, &p->account.own_left);
    tmi_json_key(out, "would_leave");
    tmi_put_spending(out, &known, &p->account.own_then_left);
    tmi_json_close(out, '}');
}

/* Why the ledger refuses the release; null if it does not. */
static void put_refusal(tmi_json_out *out, const tamis_error *refusal)
{
    tmi_json_key(out, "refusal");
    if (!refusal) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "code", "refused");
    tmi_json_add_string(out, "reason", *refusal->reason ? refusal->reason : NULL);
    tmi_json_add_string(out, "message", refusal->message);
    tmi_json_close(out, '}');
}

/* The design in words, and how many numbers are published. */
static void put_design_and_numbers(tmi_json_out *out, const tmi_preview *p)
{
    int64_t count = 0;
    tmi_text design, numbers;
    tmi_text_init(&design);
    tmi_text_init(&numbers);
    for (size_t i = 0; i < p->schedule.plan->asked_count; i++) count += tmi_statistic_cells(&p->schedule.plan->statistics[i]);
    tmi_describe_design(&design, &p->schedule.plan->design);
    tmi_text_rounded(&numbers, (double)count, 0);
    tmi_json_add_taken(out, "design", &design);
    tmi_json_add_taken(out, "numbers", &numbers);
}

/* The amounts of the account as they are said: what is spent is rounded up, what is left down. */
static void put_shown_amounts(tmi_json_out *out, const tmi_preview *p)
{
    const tmi_account *a = &p->account;
    const tmi_schedule *s = &p->schedule;
    tmi_json_add_open(out, "shown", '{');
    tmi_put_would_spend_shown(out, s);
    tmi_json_add_string(out, "spent", a->has_spending ? a->spent.words : NULL);
    tmi_json_add_string(out, "left", a->has_spending ? a->left.words : NULL);
    tmi_json_add_string(out, "would_leave", a->has_then ? a->then_left.words : NULL);
    tmi_put_promise_shown(out, s, &p->promised.outsider);
    put_design_and_numbers(out, p);
    tmi_json_close(out, '}');
}

tamis_status tmi_preview_json(char **text, const tmi_preview *preview, tamis_error *err)
{
    const tmi_schedule *s = &preview->schedule;
    tmi_lines lines = {0};
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_string(&out, "survey", s->plan->survey);
    tmi_json_key(&out, "design");
    tmi_put_design(&out, s);
    tmi_json_add_open(&out, "measurements", '[');
    for (size_t i = 0; i < s->measurement_count; i++) {
        tmi_put_measurement(&out, s, &s->measurements[i]);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    tmi_json_add_open(&out, "choices", '[');
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        tmi_put_quantile_task(&out, s, &s->quantile_tasks[i]);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    tmi_put_bounds_expected(&out, preview);
    tmi_json_add_open(&out, "statistics", '[');
    for (size_t i = 0; i < s->plan->asked_count; i++) put_statistic(&out, preview, i);
    tmi_json_close(&out, ']');
    tmi_json_add_open(&out, "assumed", '[');
    if (tmi_assumptions(s, put_assumption, &out, NULL) != TAMIS_OK) json.failed = true;
    tmi_json_close(&out, ']');
    tmi_put_declarations(&out, preview);
    tmi_json_key(&out, "guarantee");
    tmi_put_guarantee(&out, s, &preview->promised.outsider);
    tmi_json_key(&out, "would_spend");
    tmi_put_spent(&out, s);
    tmi_json_key(&out, "spent");
    tmi_put_spending(&out, &preview->account, &preview->account.spent);
    tmi_json_key(&out, "left");
    tmi_put_spending(&out, &preview->account, &preview->account.left);
    tmi_json_key(&out, "would_leave");
    tmi_put_spending(&out, &(tmi_account){.has_spending = preview->account.has_then}, &preview->account.then_left);
    put_own_groups(&out, preview);
    put_shown_amounts(&out, preview);
    put_refusal(&out, preview->refusal);
    tmi_json_key(&out, "ledger");
    tmi_put_entry(&out, &preview->account);
    if (preview->account.charged.entry == 0 && preview->account.charged.unpublished)
        tmi_json_add_integer(&out, "claims", preview->account.charged.unpublished);
    tmi_lines_split(&lines, preview->account.unpublished);
    tmi_json_add_lines(&out, "unpublished", &lines);
    tmi_list_warnings(&lines, s, &(tmi_account){.standing = preview->account.standing}); /* lent */
    tmi_json_add_lines(&out, "warnings", &lines);
    tmi_list_declared(&lines, s, TMI_DECLARED_IN_ORDER);
    tmi_json_add_lines(&out, "declared_public", &lines);
    tmi_list_not_covered(&lines, s);
    tmi_json_add_lines(&out, "not_covered", &lines);
    tmi_json_close(&out, '}');
    tmi_text_put(&json, "\n");
    return tmi_text_take(text, &json, err);
}
