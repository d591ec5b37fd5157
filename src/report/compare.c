/* A plan's strategy beside others: each statistic by itself, the other law of noise, twice the budget. */
#include <math.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/table.h"
#include "report/preview.h"
#include "report/promise.h"
#include "report/results.h"

static const tmi_alternative_kind kinds[] = {TMI_EACH_BY_ITSELF, TMI_OTHER_LAW, TMI_TWICE_THE_BUDGET};
#define KINDS (sizeof kinds / sizeof *kinds)
#define COLUMNS (2 + KINDS)

typedef struct comparison {
    const tmi_preview *preview;
    tmi_expected_outcome *now;
    tmi_alternative list[KINDS];
} comparison;

static void clear(comparison *c)
{
    for (size_t k = 0; k < KINDS; k++) tmi_alternative_clear(&c->list[k]);
    tmi_free(c->now);
}

static tamis_status make(comparison *c, const tmi_preview *p, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *c = (comparison){.preview = p, .now = tmi_outcomes_now(p->expected_statistics, p->schedule.plan->asked_count)};
    if (!c->now) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < KINDS; k++)
        TMI_TRY(tmi_alternative_make(&c->list[k], kinds[k], &p->schedule, p->expected_statistics, err));

done:
    if (status != TAMIS_OK) clear(c);
    return status;
}

static bool is_measured(const comparison *c, size_t i) { return !tmi_is_known(&c->preview->schedule, i); }

/* Whether a sampling error is predicted for any group: not without a guess of the sample size, for instance. */
static bool is_foreseen(const comparison *c, size_t i)
{
    const tmi_expected_statistic *f = &c->preview->expected_statistics[i];
    for (size_t g = 0; g < f->count; g++)
        if (isfinite(tmi_expected_group_sampling(&f->groups[g]))) return true;
    return false;
}

static bool all_foreseen(const comparison *c)
{
    for (size_t i = 0; i < c->preview->schedule.plan->asked_count; i++)
        if (is_measured(c, i) && !is_foreseen(c, i)) return false;
    return true;
}

/* The law of strategy k; that of the plan has none of its own. */
static tmi_gaussian gaussian_of(const comparison *c, size_t k)
{
    const tmi_schedule *s = &c->preview->schedule;
    if (kinds[k] != TMI_OTHER_LAW) return s->gaussian;
    return s->gaussian ? TMI_NOT_GAUSSIAN : tmi_gaussian_of_plan(s->plan, &c->list[k].loss);
}

static const char *law_of(const comparison *c, size_t k) { return gaussian_of(c, k) ? "Gaussian" : "Laplace"; }

/* ---- text ---- */

/* Strategy 0 is the plan's. */
static double number_of(const comparison *c, size_t k, size_t i, bool error)
{
    const tmi_expected_outcome *o = k == 0 ? &c->now[i] : c->list[k - 1].possible ? &c->list[k - 1].outcomes[i] : NULL;
    if (!o || (error && !is_foreseen(c, i))) return NAN;
    return error ? o->error : o->noise;
}

/* Over all statistics that are measured, in units of the plan's own. */
static double mean_ratio(const comparison *c, size_t k, bool error)
{
    double logs = 0, count = 0;
    for (size_t i = 0; i < c->preview->schedule.plan->asked_count; i++) {
        const double own = number_of(c, 0, i, error), other = number_of(c, k, i, error);
        if (!is_measured(c, i) || !(own > 0) || !(other > 0) || isinf(own) || isinf(other)) continue;
        logs += log(other / own);
        count++;
    }
    return count > 0 ? exp(logs / count) : NAN;
}

static void put_number(tmi_text *text, double x)
{
    if (!isfinite(x)) tmi_text_put(text, "-");
    else tmi_text_rounded(text, x, tmi_decimals_of(x));
}

static void write_table(tmi_text *text, const comparison *c, bool error)
{
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    const tmi_schedule *s = &c->preview->schedule;
    const char *heading[COLUMNS] = {error ? "noise and sampling ±" : "noise ±", "this plan", "each by itself", law_of(c, 1),
                                    "twice the budget"};
    tmi_text cells[COLUMNS];
    tmi_text_table table;
    tmi_table_init(&table, COLUMNS, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i <= s->plan->asked_count; i++) {
        const bool last = i == s->plan->asked_count;
        if (!last && !is_measured(c, i)) continue;
        for (size_t k = 0; k < COLUMNS; k++) tmi_text_init(&cells[k]);
        if (last) tmi_text_put(&cells[0], "all, this plan = 1");
        else tmi_statistic_title(&cells[0], s->plan, i);
        for (size_t k = 0; k + 1 < COLUMNS; k++)
            put_number(&cells[k + 1], last ? mean_ratio(c, k, error) : number_of(c, k, i, error));
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
}

static void put_strategy(tmi_text *text, const comparison *c, size_t k, const char *name)
{
    if (!c->list[k].possible) return;
    tmi_text_format(text, " %s: ", name);
    tmi_put_loss_words(text, &c->list[k].loss);
    tmi_text_format(text, ", %s noise.", law_of(c, k));
}

tamis_status tmi_compare_text(char **text, const tmi_preview *preview, tamis_error *err)
{
    const tmi_schedule *s = &preview->schedule;
    comparison c;
    tmi_text t, note;
    tamis_status status = make(&c, preview, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&t);
    tmi_text_init(&note);
    tmi_write_heading(&t, s->plan, "this strategy and others (no data were read)", NULL);
    if (s->measurement_count == 0) {
        tmi_text_put(&t, "  Everything that the plan asks for is public: nothing is measured.\n");
    } else {
        write_table(&t, &c, true);
        tmi_text_put(&t, "\n");
        write_table(&t, &c, false);
        tmi_text_put(&note,
                     "Expected standard deviations, geometric means over groups; the last line is the geometric mean over the "
                     "statistics. This plan: ");
        tmi_put_loss_words(&note, &s->plan->privacy.loss);
        tmi_text_format(&note,
                        ", %s noise. Each by itself: every statistic has a table of its own, and nothing is read from the "
                        "tables of the others.",
                        s->gaussian ? "Gaussian" : "Laplace");
        if (!s->plan->design.kind->takes_all && !s->sampling.clustered)
            tmi_text_put(&note,
                         " A fifth of the budget is kept for sampling variances there. This plan divides its budget so that "
                         "intervals are short, which may take more for variances and leave more noise.");
        put_strategy(&note, &c, 1, law_of(&c, 1));
        if (c.list[1].possible && c.list[1].loss.rho && !s->plan->privacy.loss.delta)
            tmi_text_put(&note, " That meets the plan's epsilon with a delta of " TMI_DELTA_TRIED ".");
        if (c.list[1].possible && c.list[1].loss.epsilon && s->plan->privacy.loss.rho)
            tmi_text_put(&note, " That epsilon implies at most the plan's rho.");
        put_strategy(&note, &c, 2, "Twice the budget");
        if (!all_foreseen(&c)) tmi_text_put(&note, " -: no sampling error can be predicted; `tamis check` says what is missing.");
        tmi_text_wrap_taken(&t, "  ", "  ", &note);
    }
    clear(&c);
    return tmi_text_take(text, &t, err);
}

/* ---- JSON ---- */

static void put_outcome(tmi_json_out *out, const char *name, const tmi_expected_outcome *o, bool foreseen)
{
    tmi_json_add_open(out, name, '{');
    tmi_json_add_real(out, "noise_sd", o->noise);
    tmi_json_add_real(out, "se", foreseen ? o->error : TMI_NULL);
    tmi_json_close(out, '}');
}

static void put_head(tmi_json_out *out, const char *name, const tmi_plan_loss *loss, tmi_gaussian gaussian)
{
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "name", name);
    tmi_put_loss(out, loss);
    tmi_json_add_string(out, "law", tmi_noise_name(gaussian));
    tmi_json_close(out, '}');
}

static void put_statistic(tmi_json_out *out, const comparison *c, size_t i)
{
    const tmi_plan_statistic *s = &c->preview->schedule.plan->statistics[i];
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "statistic", tmi_statistic_name(s));
    tmi_json_add_string(out, "column", s->column ? s->column->name : NULL);
    tmi_json_add_open(out, "by", '[');
    for (size_t j = 0; j < s->by_count; j++) tmi_json_put_string(out, s->by[j]->name);
    tmi_json_close(out, ']');
    tmi_json_add_boolean(out, "known", !is_measured(c, i));
    if (is_measured(c, i)) put_outcome(out, "this", &c->now[i], is_foreseen(c, i));
    for (size_t k = 0; k < KINDS; k++)
        if (is_measured(c, i) && c->list[k].possible)
            put_outcome(out, tmi_alternative_name(kinds[k]), &c->list[k].outcomes[i], is_foreseen(c, i));
    tmi_json_close(out, '}');
}

tamis_status tmi_compare_json(char **text, const tmi_preview *preview, tamis_error *err)
{
    const tmi_schedule *s = &preview->schedule;
    const tmi_plan_loss *now = &s->plan->privacy.loss;
    comparison c;
    tmi_text json;
    tmi_json_out out;
    tamis_status status = make(&c, preview, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_string(&out, "survey", s->plan->survey);
    tmi_json_add_open(&out, "strategies", '[');
    put_head(&out, "this", now, s->gaussian);
    for (size_t k = 0; k < KINDS; k++)
        if (c.list[k].possible)
            put_head(&out, tmi_alternative_name(kinds[k]), kinds[k] == TMI_EACH_BY_ITSELF ? now : &c.list[k].loss,
                     gaussian_of(&c, k));
    tmi_json_close(&out, ']');
    tmi_json_add_open(&out, "statistics", '[');
    for (size_t i = 0; i < s->plan->asked_count; i++) put_statistic(&out, &c, i);
    tmi_json_close(&out, ']');
    tmi_json_close(&out, '}');
    tmi_text_put(&json, "\n");
    clear(&c);
    return tmi_text_take(text, &json, err);
}
