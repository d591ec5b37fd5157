/* What a reader has to be warned of, and what a release does not cover: lists of sentences that its JSON, page and text share. */
#include <math.h>
#include <string.h>

#include "base/table.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "plan/json_fields.h"
#include "report/bound_words.h"
#include "report/promise.h"
#include "report/report_words.h"
#include "schedule/standard_errors.h"

/* ---- warnings ---- */

/* Noise that is 0 more often than not hides nothing, whatever epsilon says in numbers. */
#define BARE (1.0 / 2)

/* Where a record adds many steps, of sums on a fine grid, no noise is 0; but what is hardly ever half of what a record adds
 * hides as little. */
#define HARDLY (9.0 / 10)
#define FINE 8 /* steps of a record */

typedef void name_measurement(tmi_text *text, const tmi_measurement *m, const tmi_workload *workload);

/* The probability that noise is below `steps`, many of them. */
static double below(const tamis_number *scale, bool gaussian, double steps)
{
    const double ratio = steps / tmi_number_nearest(scale);
    return gaussian ? erf(ratio / sqrt(2)) : 1 - exp(-ratio);
}

/* The sentence about one measurement; false if its noise is worth the name. */
static bool warn(tmi_text *sentence, const tmi_schedule *s, const tmi_measurement *m, name_measurement *name)
{
    double zero = 0, small = 0;
    for (size_t h = 0; h < m->strata; h++) {
        /* in steps; half of what they move by is one record's */
        const bool errors = tmi_method_of(m->marginal.weighting) != NULL;
        const double record = errors ? TMI_ERROR_STEPS / 2.0 : ldexp(tmi_number_nearest(m->laws[h].most), -m->shift);
        zero = fmax(zero, tmi_noise_zero(m->laws[h].scale, s->gaussian));
        if (record > FINE) small = fmax(small, below(m->laws[h].scale, s->gaussian, record / 2));
    }
    if (!(zero > BARE) && !(small > HARDLY)) return false;
    tmi_text_put(sentence, "practically unprotected: the ");
    name(sentence, m, &s->workload);
    tmi_text_format(
        sentence,
        ". The noise is %s in at least %d of 100 cases, so the published numbers are practically exact. Choose a smaller budget.",
        zero > BARE ? "0" : "below half of what a record adds", (int)fmin(99, floor(100 * (zero > BARE ? zero : small))));
    return true;
}

/* secret_sample where it changes nothing; NULL: no reason to warn. */
static const char *idle_secret(const tmi_schedule *schedule)
{
    const tmi_plan_privacy *privacy = &schedule->plan->privacy;
    return privacy->secret_sample && !privacy->setting->may_amplify
               ? "`secret_sample: yes` has no effect in this setting, because the guarantee begins after the sampling. `protect: "
                 "frame, given: population` gives outsiders a separate guarantee."
               : NULL;
}

/* A stratum with one sampled unit, which shows no variance, or only one cluster; NULL: neither. */
static const char *single_unit(const tmi_schedule *schedule)
{
    const tmi_sampling *p = &schedule->sampling;
    bool single = p->clustered && tmi_psus_are_too_few(schedule);
    for (size_t h = 0; !p->clustered && p->variance_factor && h < p->strata; h++) single = single || isnan(p->variance_factor[h]);
    if (!single) return NULL;
    return p->clustered
               ? "no sampling errors and no intervals: only one cluster was drawn, which shows no variance."
               : "no sampling errors and no intervals for statistics over all strata: a stratum has only one sampled unit. Join "
                 "it with another stratum.";
}

/* The tables whose noise hides nothing. */
static void list_bare(tmi_lines *lines, const tmi_schedule *schedule, name_measurement *name)
{
    for (size_t i = 0; i < schedule->measurement_count; i++) {
        tmi_text sentence;
        tmi_text_init(&sentence);
        if (warn(&sentence, schedule, &schedule->measurements[i], name)) tmi_lines_take(lines, &sentence);
        tmi_text_clear(&sentence);
    }
}

void tmi_list_page_warnings(tmi_lines *lines, const tmi_schedule *schedule) { list_bare(lines, schedule, tmi_measurement_words); }

void tmi_list_warnings(tmi_lines *lines, const tmi_schedule *schedule, const tmi_account *account)
{
    tmi_text notice;
    tmi_text_init(&notice);
    tmi_account_notice(&notice, account, NULL);
    if (notice.length > 0) tmi_lines_take(lines, &notice);
    if (!tmi_has_budget(schedule->plan)) {
        tmi_budget_advice(&notice, schedule->plan, account);
        tmi_lines_take(lines, &notice);
    }
    if (idle_secret(schedule)) tmi_lines_add(lines, idle_secret(schedule));
    if (single_unit(schedule)) tmi_lines_add(lines, single_unit(schedule));
    list_bare(lines, schedule, tmi_measurement_name);
    if (notice.failed) lines->failed = true;
    tmi_text_clear(&notice);
}

#define MOST_WARNINGS 3 /* of tables, written out; the JSON has all */

void tmi_write_warnings(tmi_text *text, const tmi_schedule *schedule)
{
    const bool idle = idle_secret(schedule) != NULL, single = single_unit(schedule) != NULL;
    tmi_lines bare = {0};
    list_bare(&bare, schedule, tmi_measurement_name);
    if (idle) tmi_text_wrap(text, "WARNING, ", "  ", idle_secret(schedule));
    if (single) tmi_text_wrap(text, "WARNING, ", "  ", single_unit(schedule));
    for (size_t i = 0; i < bare.count && i < MOST_WARNINGS; i++) tmi_text_wrap(text, "WARNING, ", "  ", bare.list[i]);
    if (bare.count > MOST_WARNINGS)
        tmi_text_format(text, "WARNING, practically unprotected: %zu more tables, for the same reason\n",
                        bare.count - MOST_WARNINGS);
    if (idle || single || bare.count > 0) tmi_text_put(text, "\n");
    if (bare.failed) text->failed = true;
    tmi_lines_clear(&bare);
}

/* ---- what is not covered ---- */

static const char one_ledger[] =
    "The budget covers the releases in one ledger. tamis does not see releases about the same people from another ledger.";
static const char clamped[] = "Values outside a column's bounds count as the nearest bound, and missing values are left out: "
                              "totals are of the units that reported.";
static const char some_rows[] =
    "At most the declared number of rows of each unit is kept, chosen at random: the numbers describe the rows that are kept.";
static const char large_weights[] = "Weights above their public bound count as the bound: the numbers use the clamped weights.";
static const char large_units[] = "The weights of a unit that add up to more than their public bound are multiplied by one "
                                  "factor: the numbers use these weights.";
static const char large_contributions[] =
    "What the rows of a unit add to a total beyond its public bound is taken off by one factor: "
    "such totals are of what is left.";
static const char as_if_srs[] = "Sampling errors of a systematic sample in a public order are computed as for a simple random "
                                "sample: too large where neighbours in the list are alike, too small where the list is periodic.";
static const char final_weights[] = "The final weights (after nonresponse adjustment or calibration) depend on all units and are "
                                    "taken as public: what they reveal is not covered.";
static const char nonresponse[] =
    "The file contains respondents only, and the design weights are not adjusted: means and shares describe those who answered.";
static const char declared[] = "Bounds, lists of values and sizes in the plan are taken as public; nothing checks that they were "
                               "chosen without looking at the data.";

static const char complete[] = "Values outside a column's bounds count as the nearest bound, and missing values of a column "
                               "that is declared complete as the middle of its range, or as its first value.";

/* Whether a statistic has a column; `never`: that is declared complete. */
static bool has_numbers(const tmi_schedule *schedule, bool never)
{
    for (size_t i = 0; i < schedule->plan->asked_count; i++) {
        const tmi_plan_column *c = schedule->plan->statistics[i].column;
        if (c && (c->missing == TMI_NEVER) == never) return true;
    }
    return false;
}

/* Earlier releases of other surveys, each once: they have accounts of their own. */
static void add_other_accounts(tmi_lines *lines, const tmi_schedule *s)
{
    const tmi_earlier_list *e = s->earlier;
    for (size_t i = 0; e && i < e->count; i++) {
        const tmi_earlier *own = &e->list[i];
        bool said = !own->survey || !own->epsilon || !own->delta || strcmp(own->survey, s->plan->survey) == 0;
        for (size_t k = 0; k < i && !said; k++) said = strcmp(e->list[k].certificate, own->certificate) == 0;
        if (said) continue;
        tmi_text words;
        tmi_text_init(&words);
        tmi_text_format(&words,
                        "%s is a release of another survey, %s, with a budget of its own: units in both samples lose what both "
                        "surveys spend together. With that release the other one had spent epsilon ",
                        tmi_last_name(s->plan->statistics[own->statistic].contrast->since), own->survey);
        tmi_text_number_up(&words, own->epsilon);
        if (tmi_number_sign(own->delta) > 0) tmi_text_put(&words, ", delta ");
        if (tmi_number_sign(own->delta) > 0) tmi_text_number_up(&words, own->delta);
        tmi_text_put(&words, ".");
        tmi_lines_take(lines, &words);
    }
}

void tmi_list_not_covered(tmi_lines *lines, const tmi_schedule *schedule)
{
    const tmi_plan_design *design = &schedule->plan->design;
    tmi_lines_add(lines, one_ledger);
    add_other_accounts(lines, schedule);
    if (design->weights_final) tmi_lines_add(lines, final_weights);
    if (design->nonresponse) tmi_lines_add(lines, nonresponse);
    if (schedule->plan->privacy.id) tmi_lines_add(lines, some_rows);
    if (schedule->sampling.weights == TMI_ROWS && !design->frame && !schedule->sampling.of_sizes)
        tmi_lines_add(lines, large_weights);
    if (schedule->sampling.most_of_unit > 0) tmi_lines_add(lines, large_units);
    if (tmi_has_bounds_by_unit(schedule->plan)) tmi_lines_add(lines, large_contributions);
    if (design->kind->in_order && !design->random_order) tmi_lines_add(lines, as_if_srs);
    tmi_list_bounds(lines, schedule);
    if (has_numbers(schedule, false)) tmi_lines_add(lines, clamped);
    if (has_numbers(schedule, true)) tmi_lines_add(lines, complete);
    tmi_lines_add(lines, declared);
}
