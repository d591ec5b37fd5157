#include "report/report_words.h"

#include <math.h>

#include "base/decimal.h"
#include "measure/measurement.h"
#include "num/number.h"
#include "plan/json_fields.h"

const char *tmi_column_label(const tmi_plan_column *column)
{
    if (column->cut_of) column = column->cut_of;
    return column->label ? column->label : column->name;
}

/* ---- numbers of a plan ---- */

/* Without a comma up to four digits: years are numbers too. */
static void put_number(tmi_text *text, double x, double step)
{
    if (fabs(x) < 1e4) tmi_text_real(text, x);
    else tmi_text_rounded(text, x, tmi_unit_decimals(step));
}

static void put_point(tmi_text *text, const tmi_plan_column *column, int64_t point)
{
    put_number(text, (double)point * column->grid.step, column->grid.step);
}

/* ---- columns ---- */

static void put_range(tmi_text *text, const tmi_plan_condition *c)
{
    const tmi_grid *grid = &c->column->grid;
    if (c->least == c->most) {
        tmi_text_put(text, ": ");
        put_point(text, c->column, c->least);
    } else if (c->least <= grid->low) {
        tmi_text_put(text, " at most ");
        put_point(text, c->column, c->most);
    } else if (c->most >= grid->high) {
        tmi_text_put(text, " at least ");
        put_point(text, c->column, c->least);
    } else {
        tmi_text_put(text, " from ");
        put_point(text, c->column, c->least);
        tmi_text_put(text, " to ");
        put_point(text, c->column, c->most);
    }
    if (c->column->measured_in) tmi_text_format(text, " %s", c->column->measured_in);
}

/* The label, and of an indicator "Awards: Yes" or "Age from 16 to 64 and Awards: Yes". */
static void put_column(tmi_text *text, const tmi_plan_column *column)
{
    if (!column->conditions) tmi_text_put(text, tmi_column_label(column));
    for (size_t i = 0; i < column->condition_count; i++) {
        const tmi_plan_condition *c = &column->conditions[i];
        tmi_text_format(text, "%s%s", i ? " and " : "", tmi_column_label(c->column));
        if (c->code_count == 0) put_range(text, c);
        for (size_t k = 0; k < c->code_count; k++)
            tmi_text_format(text, "%s%s", k ? " or " : ": ", c->column->values[c->codes[k]]);
    }
}

void tmi_value_words(tmi_text *text, const tmi_plan_column *category, size_t value)
{
    if (!category->cut_of) {
        tmi_text_put(text, category->values[value]);
        return;
    }
    const double step = category->cut_of->grid.step;
    put_number(text, tmi_number_nearest(category->ends[value]), step);
    tmi_text_put(text, value + 1 < category->value_count ? " to under " : " to ");
    put_number(text, tmi_number_nearest(category->ends[value + 1]), step);
}

/* ---- statistics ---- */

void tmi_level_words(tmi_text *text, double at) { tmi_text_format(text, "%.4g %%", 100 * at); }

static void put_quantile(tmi_text *text, double at)
{
    if (isnan(at)) tmi_text_put(text, "Quantiles of ");
    else tmi_level_words(text, at);
    if (!isnan(at)) tmi_text_put(text, " quantile of ");
}

/* What follows the column: the line. */
static void put_line(tmi_text *text, const tmi_plan_statistic *s)
{
    if (s->kind == TMI_POVERTY) tmi_text_format(text, " (below %.4g %% of the median)", 100 * tmi_number_nearest(s->limit));
    if (s->kind != TMI_SHARE_BELOW) return;
    tmi_text_put(text, " below ");
    put_number(text, tmi_number_nearest(s->limit), s->column->grid.step);
    if (s->column->measured_in) tmi_text_format(text, " %s", s->column->measured_in);
}

static void put_model(tmi_text *text, const tmi_plan_model *m)
{
    static const char *const names[] = {[TMI_LINEAR] = "Linear", [TMI_LOGISTIC] = "Logistic", [TMI_POISSON] = "Poisson"};
    tmi_text_format(text, "%s regression of ", names[m->family]);
}

static void put_about(tmi_text *text, const tamis_plan *plan, const tmi_plan_statistic *s, double at)
{
    const char *counted = tmi_counts_rows(plan) ? "records" : "units";
    const bool indicator = s->column && s->column->conditions;
    switch (s->kind) {
    case TMI_COUNT:
    case TMI_TABLE:
    case TMI_HISTOGRAM: tmi_text_format(text, "Number of %s", counted); return;
    case TMI_TOTAL: indicator ? tmi_text_format(text, "Number of %s with ", counted) : tmi_text_put(text, "Total of "); break;
    case TMI_MEAN:
    case TMI_SHARE:
        tmi_text_put(text, !indicator ? "Mean of " : tmi_counts_rows(plan) ? "Share of records with " : "Share with ");
        break;
    case TMI_RATIO: tmi_text_put(text, "Ratio of "); break;
    case TMI_VARIANCE: tmi_text_put(text, "Variance of "); break;
    case TMI_QUANTILE: put_quantile(text, at); break;
    case TMI_MEDIAN: tmi_text_put(text, "Median of "); break;
    case TMI_IQR: tmi_text_put(text, "Interquartile range of "); break;
    case TMI_SHARE_BELOW: tmi_text_put(text, tmi_counts_rows(plan) ? "Share of records with " : "Share with "); break;
    case TMI_POVERTY: tmi_text_put(text, "At-risk-of-poverty rate by "); break;
    case TMI_GINI: tmi_text_put(text, "Gini coefficient of "); break;
    case TMI_S80S20: tmi_text_put(text, "S80/S20 ratio of "); break;
    case TMI_CONTRAST_DIFFERENCE:
    case TMI_CONTRAST_QUOTIENT:
    case TMI_CONTRAST_WEIGHTED:
    case TMI_CONTRAST_CHANGE: break; /* put_contrast */
    case TMI_CORRELATION: tmi_text_put(text, "Correlation of "); break;
    case TMI_REGRESSION: put_model(text, s->model); break;
    case TMI_PRODUCTS: tmi_text_put(text, "Products of "); break;
    }
    put_column(text, s->column);
    put_line(text, s);
    for (size_t k = 0; s->model && k < s->model->on_count; k++)
        tmi_text_format(text, "%s%s",
                        k == 0                       ? " on "
                        : k + 1 < s->model->on_count ? ", "
                                                     : " and ",
                        tmi_column_label(s->model->on[k]));
    if (!s->second) return;
    tmi_text_put(text, s->kind == TMI_CORRELATION || s->kind == TMI_PRODUCTS ? " and " : " to ");
    put_column(text, s->second);
}

/* ---- contrasts ---- */

static void put_compared(tmi_text *text, const tamis_plan *plan, const tmi_plan_compared *c)
{
    const tmi_plan_statistic alone = {.kind = c->kind, .column = c->column, .second = c->second};
    put_about(text, plan, &alone, TMI_NULL);
}

static void put_contrast(tmi_text *text, const tamis_plan *plan, const tmi_plan_statistic *s)
{
    const tmi_plan_contrast *c = s->contrast;
    if (c->since) {
        tmi_text_put(text, "Change in: ");
        put_compared(text, plan, &c->compared[0]);
        tmi_text_format(text, ", since %s", tmi_last_name(c->since));
        return;
    }
    tmi_text_put(text, s->kind == TMI_CONTRAST_QUOTIENT     ? "Quotient"
                       : s->kind == TMI_CONTRAST_DIFFERENCE ? "Difference"
                                                            : "Contrast");
    tmi_text_put(text, " of: ");
    put_compared(text, plan, &c->compared[0]);
    if (!c->across) {
        tmi_text_put(text, " minus: ");
        put_compared(text, plan, &c->compared[1]);
        return;
    }
    tmi_text_format(text, ", %s: ", tmi_column_label(c->across));
    for (size_t k = 0; k < c->term_count; k++) {
        if (k > 0 && s->kind != TMI_CONTRAST_WEIGHTED)
            tmi_text_put(text, s->kind == TMI_CONTRAST_QUOTIENT ? " divided by " : " minus ");
        if (s->kind == TMI_CONTRAST_WEIGHTED) {
            const double weight = tmi_number_nearest(c->terms[k].weight);
            tmi_text_put(text, k == 0 ? (weight < 0 ? "-" : "") : weight < 0 ? " - " : " + ");
            put_number(text, fabs(weight), 1e-9);
            tmi_text_put(text, " times ");
        }
        tmi_value_words(text, c->across, c->terms[k].code);
    }
}

void tmi_statistic_words(tmi_text *text, const tamis_plan *plan, size_t statistic, double at)
{
    const tmi_plan_statistic *s = &plan->statistics[statistic];
    if (s->label) {
        tmi_text_put(text, s->label);
        if (s->at_count > 1 && !isnan(at)) tmi_text_put(text, ", ");
        if (s->at_count > 1 && !isnan(at)) tmi_level_words(text, at);
        return;
    }
    if (tmi_is_contrast(s->kind)) put_contrast(text, plan, s);
    else put_about(text, plan, s, s->at_count == 1 ? tmi_number_nearest(s->at[0]) : at);
    if (s->where) tmi_text_put(text, ", among those with ");
    if (s->where) put_column(text, s->where);
    for (size_t i = 0; i < s->by_count; i++)
        tmi_text_format(text, "%s%s", i == 0 ? ", by " : i + 1 < s->by_count ? ", " : " and ", tmi_column_label(s->by[i]));
}

void tmi_statistic_unit(tmi_text *text, const tmi_plan_statistic *s)
{
    const char *of = s->column ? s->column->measured_in : NULL, *to = s->second ? s->second->measured_in : NULL;
    if (!of || (s->second && !to) || s->kind > TMI_IQR || s->kind == TMI_CONTRAST_QUOTIENT || s->kind == TMI_CORRELATION ||
        (s->model && s->model->family != TMI_LINEAR))
        return; /* shares and ratios have none */
    if (s->second) tmi_text_format(text, " (%s per %s)", of, to);
    else tmi_text_format(text, s->kind == TMI_VARIANCE ? " (%s, squared)" : " (%s)", of);
}

static void put_levels(tmi_text *text, const tmi_measurement *m, const tmi_workload *w)
{
    static const char *const sums[] = {
        [TMI_FULL] = "Rows and sums of ", [TMI_RAW] = "Sums of ", [TMI_CENTRED] = "Rows and centred sums of "};
    static const char *const squares[] = {[TMI_FULL] = "Rows, sums and squares of ",
                                          [TMI_RAW] = "Sums and squares of ",
                                          [TMI_CENTRED] = "Rows, centred sums and squares of "};
    bool first = true;
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        const size_t axis = m->marginal.axes[i];
        if (!w->origins[axis].number) continue;
        const char *own = tmi_is_gram(m->marginal.form) ? "Rows, sums, squares and products of "
                                                        : (w->axes[axis].degree == 2 ? squares : sums)[m->marginal.form];
        tmi_text_put(text, first ? own : " and ");
        put_column(text, w->origins[axis].number);
        first = false;
    }
    if (first) tmi_text_put(text, "Rows");
}

void tmi_measurement_words(tmi_text *text, const tmi_measurement *m, const tmi_workload *w)
{
    static const char *const weighed[] = {[TMI_UNWEIGHTED] = "",
                                          [TMI_WEIGHTED] = ", weighted",
                                          [TMI_CONTRIBUTED] = ", as contributions: weight times value",
                                          [TMI_SPREAD] = ", weighted for variances",
                                          [TMI_CLAMPED] = ", weighted for variances with bounded weights",
                                          [TMI_OF_UNITS] = ", as contributions of units: weight times value, bounded together"};
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    bool first = true;
    const tmi_domain *domain = &w->domains[m->marginal.domain];
    if (tmi_contributed_in(w, m->marginal.weighting, m->marginal.domain)) {
        tmi_text_put(text, "Sums of ");
        put_column(text, domain->number);
    } else {
        put_levels(text, m, w);
    }
    if (domain->where) tmi_text_put(text, ", among those with ");
    if (domain->where) put_column(text, domain->where);
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        const tmi_origin *o = &w->origins[m->marginal.axes[i]];
        for (size_t k = 0; k < o->classes_count; k++, first = false) {
            tmi_text_put(text, first ? ", by " : ", ");
            const tmi_plan_column *column = w->classes[o->classes[k]].column;
            if (column->conditions) put_column(text, column);
            else tmi_text_put(text, tmi_column_label(column));
        }
    }
    if (m->strata > 1)
        tmi_text_format(text, "%s%s", first ? ", by " : ", ",
                        m->marginal.weighting == TMI_CONTRIBUTED ? "certainty of being drawn"
                                                                 : tmi_column_label(w->plan->design.by));
    tmi_text_put(text, method ? method->words : weighed[m->marginal.weighting]);
}

/* ---- quality ---- */

#define CAUTION 0.165
#define UNRELIABLE (1.0 / 3) /* 33.3 % */

#define NARROW 0.05 /* widths of the interval of a share */
#define WIDE 0.30
#define RELATIVE 1.3

/* 'E' or 'F' by the limits of offices. */
static char usual_quality(const tmi_plan_statistic *s, double estimate, double se)
{
    const bool share = ((s->kind == TMI_SHARE || s->kind == TMI_MEAN) && s->column->conditions) || s->kind == TMI_SHARE_BELOW ||
                       s->kind == TMI_POVERTY;
    if (!share) {
        const double size = fabs(estimate);
        return se > UNRELIABLE * size ? 'F' : se > CAUTION * size ? 'E' : '\0';
    }
    const double width = 3.92 * se, limit = fmin(WIDE, RELATIVE * estimate);
    return width <= NARROW ? '\0' : width >= limit ? 'F' : width >= limit / 2 ? 'E' : '\0';
}

/* Whether the cv is beyond the limit of a rule, or, if it has none, the usual rules give that flag. */
static bool is_flagged(const tmi_plan_rule *rule, char flag, char usual, double estimate, double se)
{
    if (!rule->cv_above) return usual >= flag; /* F is worse than E */
    return se > tmi_number_nearest(rule->cv_above) * fabs(estimate);
}

char tmi_quality_of(const tamis_plan *plan, const tmi_plan_statistic *s, double estimate, double se)
{
    const tmi_plan_rule *rules = plan->postprocess.rules;
    if (s->contrast && s->kind != TMI_CONTRAST_QUOTIENT) return '\0'; /* 0 is as good a difference as any */
    const char usual = usual_quality(s, estimate, se);
    if (is_flagged(&rules[TMI_UNRELIABLE], 'F', usual, estimate, se)) return 'F';
    return is_flagged(&rules[TMI_CAUTION], 'E', usual, estimate, se) ? 'E' : '\0';
}

char tmi_quality(const tamis_plan *plan, const tmi_result *x)
{
    if (x->known || isnan(x->estimate) || isnan(x->se)) return '\0';
    if (x->outside_range || tmi_is_outside_interval(x) || tmi_is_whole_range(x)) return 'F';
    const char by_error = tmi_quality_of(plan, &plan->statistics[x->statistic], x->estimate, x->se);
    return by_error == 'F' || !x->few_units ? by_error : x->few_units;
}

/* "the coefficient of variation is above 20 % or there may be fewer than 30 sampled units"; `usual`: the limit of offices. */
static void put_rule(tmi_text *text, const tmi_plan_rule *rule, const char *subject, const char *usual)
{
    tmi_text_format(text, "%s is above ", subject);
    if (rule->cv_above) tmi_text_format(text, "%g", 100 * tmi_number_nearest(rule->cv_above));
    else tmi_text_put(text, usual);
    tmi_text_put(text, " %");
    if (rule->units_below > 0)
        tmi_text_format(text, ", or the group may have fewer than %lld sampled units", (long long)rule->units_below);
}

void tmi_quality_words(tmi_text *text, const tamis_plan *plan, const char *before, const char *after)
{
    const tmi_plan_rule *caution = &plan->postprocess.rules[TMI_CAUTION], *unreliable = &plan->postprocess.rules[TMI_UNRELIABLE];
    tmi_text_format(text, "Quality: %sE%s use with caution: ", before, after);
    put_rule(text, caution, "the coefficient of variation", "16.5");
    tmi_text_format(text, "; %sF%s too unreliable to publish by itself: ", before, after);
    put_rule(text, unreliable, caution->units_below > 0 ? "the coefficient of variation" : "it", "33.3");
    tmi_text_put(text, ".");
    if (!caution->cv_above && !unreliable->cv_above)
        tmi_text_put(text, " A share is judged by the width of its 95 % interval: F from 30 percentage points or 1.3 times the "
                           "share, E from half of that, no flag up to 5 points.");
    else if (!unreliable->cv_above)
        tmi_text_put(text,
                     " A share is F if its 95 % interval is as wide as 30 percentage points or 1.3 times the share, unless that "
                     "is 5 points or less.");
    else if (!caution->cv_above)
        tmi_text_put(text,
                     " A share is E if its 95 % interval is as wide as 15 percentage points or 0.65 times the share, unless that "
                     "is 5 points or less.");
}

/* ---- models ---- */

void tmi_term_words(tmi_text *text, const tmi_plan_model *m, size_t term)
{
    const tmi_model_term *t = &m->terms[term];
    if (t->predictor[0] == SIZE_MAX) tmi_text_put(text, "Intercept");
    for (size_t k = 0; k < 2 && t->predictor[k] != SIZE_MAX; k++) {
        const tmi_plan_column *column = m->on[t->predictor[k]];
        tmi_text_format(text, "%s%s", k > 0 ? " and " : "", tmi_column_label(column));
        if (t->code[k] == SIZE_MAX) continue;
        tmi_text_put(text, ": ");
        tmi_value_words(text, column, t->code[k]);
        tmi_text_put(text, " (against ");
        tmi_value_words(text, column, m->baseline[t->predictor[k]]);
        tmi_text_put(text, ")");
    }
}
