#include "measure/measurement.h"

#include "plan/names.h"

static void put_classes(tmi_text *text, const tmi_workload *w, size_t axis)
{
    const tmi_origin *o = &w->origins[axis];
    for (size_t k = 0; k < o->classes_count; k++) {
        const tmi_classes *c = &w->classes[o->classes[k]];
        tmi_text_format(text, "%s%s", k > 0 ? ", " : "", c->column->name);
        if (c->column->is_number && !c->column->conditions) tmi_text_format(text, " (%zu ranges)", c->count);
        else if (c->column->is_category && c->count < c->column->value_count) tmi_text_format(text, " (%zu classes)", c->count);
    }
}

static void put_numbers(tmi_text *text, const tmi_measurement *m, const tmi_workload *w)
{
    bool first = true;
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        const size_t axis = m->marginal.axes[i];
        if (!w->origins[axis].number) continue;
        const bool squares = w->axes[axis].degree == 2;
        if (first)
            tmi_text_put(text, tmi_is_gram(m->marginal.form) ? "rows, sums, squares and products of "
                               : m->marginal.form == TMI_RAW ? squares ? "sums and squares of " : "sum of "
                               : m->marginal.form == TMI_CENTRED
                                   ? squares ? "rows, centred sums and squares of " : "rows and centred sum of "
                               : squares ? "rows, sums and squares of "
                                         : "rows and sums of ");
        tmi_text_format(text, "%s%s", first ? "" : " and ", w->origins[axis].number->name);
        first = false;
    }
    if (first) tmi_text_put(text, "rows");
}

static void put_statistic(tmi_text *text, const tmi_plan_statistic *t)
{
    tmi_text_format(text, "%s of %s", tmi_statistic_kind_name(t->kind), t->column ? t->column->name : "rows");
    if (t->second) tmi_text_format(text, "/%s", t->second->name);
    if (t->where) tmi_text_format(text, " where %s", t->where->name);
    for (size_t k = 0; k < t->by_count; k++) tmi_text_format(text, "%s%s", k > 0 ? ", " : " by ", t->by[k]->name);
}

void tmi_measurement_name(tmi_text *text, const tmi_measurement *m, const tmi_workload *w)
{
    static const char *const weighed[] = {[TMI_UNWEIGHTED] = "",
                                          [TMI_WEIGHTED] = "weighted ",
                                          [TMI_CONTRIBUTED] = "contributions: ",
                                          [TMI_SPREAD] = "for the variance: ",
                                          [TMI_CLAMPED] = "for the variance, bounded: ",
                                          [TMI_OF_UNITS] = "contributions of units: "};
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    bool first = true;
    tmi_text_put(text, method ? method->name : weighed[m->marginal.weighting]);
    if (method) {
        put_statistic(text, &w->plan->statistics[m->marginal.statistic]);
        return;
    }
    const tmi_domain *domain = &w->domains[m->marginal.domain];
    if (tmi_contributed_in(w, m->marginal.weighting, m->marginal.domain)) tmi_text_put(text, domain->number->name);
    else put_numbers(text, m, w);
    if (domain->where) tmi_text_format(text, " where %s", domain->where->name);
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        if (w->origins[m->marginal.axes[i]].number) continue;
        tmi_text_put(text, first ? " by " : ", ");
        put_classes(text, w, m->marginal.axes[i]);
        first = false;
    }
    if ((m->marginal.form == TMI_RAW || m->marginal.form == TMI_CENTRED) && !w->origins[m->marginal.axes[0]].number)
        tmi_text_put(text, m->marginal.form == TMI_RAW ? " (one number)" : " (two numbers)");
    if (m->strata > 1)
        tmi_text_format(text, "%s%s", first ? " by " : ", ",
                        m->marginal.weighting == TMI_CONTRIBUTED ? "certainty of being drawn" : w->plan->design.by->name);
}

void tmi_measurement_inequality(tmi_text *text, const tmi_measurement *m, const tmi_workload *w)
{
    const tmi_plan_privacy *privacy = &w->plan->privacy;
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    if (method) {
        tmi_text_format(text,
                        "%s in which steps, follows from the noisy tables, such that a record moves all of them by at most %lld",
                        method->inequality, (long long)TMI_ERROR_STEPS);
        return;
    }
    const bool gram = tmi_is_gram(m->marginal.form), places = m->marginal.form == TMI_FULL && m->marginal.axis_count > 0;
    const tmi_domain *contributed = tmi_contributed_in(w, m->marginal.weighting, m->marginal.domain);
    if (contributed)
        tmi_text_put(text, places || contributed->grid.low < 0
                               ? "a record adds its weight to one cell; of a replaced one that leaves and another one enters, in "
                                 "size: |c| + |c'| <= 2 w"
                               : "a replaced record changes one number by at most its weight: |c - c'| <= w");
    else if (gram && m->cells > 1)
        tmi_text_put(
            text,
            "a record adds w times 1, u, u u' and u^2 - 1/3 of numbers u between -1 and 1 to one cell; a replaced one leaves "
            "a cell and enters another, or changes less within its cell");
    else if (gram)
        tmi_text_put(text,
                     "a replaced record changes u u' by (a b' + a' b)/2 and u^2 by a b, with |a| + |b| <= 2 for each of the "
                     "numbers u between -1 and 1: together by at most m^2/2 w in sum, or m w in length, m numbers with the 1");
    else if (places)
        tmi_text_put(text,
                     "a record adds its weight, spread over the levels of one cell; a replaced one leaves a cell and enters "
                     "another: |c| + |c'| <= 2 w");
    else if (m->marginal.form == TMI_RAW)
        tmi_text_put(text, "a replaced record changes t by d and t(1-t) by at most d(1-d), or adds nothing: |c - c'| <= w");
    else if (m->marginal.form == TMI_CENTRED)
        tmi_text_put(text, "a replaced record changes t - 1/2 by d and t(1-t) by at most d(1-d), or adds nothing: |t - 1/2| + "
                           "t(1-t) + 1/2 <= 1, so |c - c'| <= w");
    else tmi_text_put(text, "a replaced record changes one number by at most its weight: |c - c'| <= w");
    if (privacy->design_protected && m->marginal.weighting != TMI_UNWEIGHTED)
        tmi_text_put(text, "; the weights of all others may move with it");
    if (privacy->rows_per_unit > 1) tmi_text_format(text, ", for each of at most %lld rows", (long long)privacy->rows_per_unit);
    if (tmi_largest_rows_of_unit(w, m->marginal.weighting, m->marginal.domain) < (double)privacy->rows_per_unit)
        tmi_text_format(text, ", whose %sw add up to at most %s", contributed ? "sizes of " : "",
                        contributed ? "unit_contribution" : "max_unit_weight");
    if (contributed) tmi_text_put(text, "; w is weight times value: all rows of a unit are shrunk by one factor");
    if (m->marginal.weighting == TMI_CONTRIBUTED)
        tmi_text_put(text, "; w is 1: the numbers are weight times value, clamped to public bounds");
    if (m->strata > 1)
        tmi_text_put(text,
                     m->marginal.weighting == TMI_CONTRIBUTED
                         ? "; units that are certain to be drawn are in every sample, so that it stays among them or the others"
                         : "; within its stratum");
}
