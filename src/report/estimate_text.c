/* An estimate for people inside the agency. */
#include <math.h>

#include "base/table.h"
#include "report/promise.h"
#include "report/results.h"

/* What differs from the plan, one sentence each, so that a wrong list of values is noticed. */
static void write_fact(tmi_text *text, const char *name, int64_t count, const char *one, const char *many)
{
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_format(&line, "%s: %lld %s", name, (long long)count, count == 1 ? one : many);
    tmi_text_wrap_taken(text, "  ", "    ", &line);
}

#define NEVER(are, count) \
    are " missing or not in the list, although the plan says that none is, and " count \
        " as the middle of the range or the first value"

static void write_facts(tmi_text *text, const tmi_results *results)
{
    const tamis_plan *plan = results->plan;
    for (size_t i = 0; i < plan->column_count; i++) {
        const tmi_column_facts *facts = &results->facts[i];
        const char *name = plan->columns[i].name;
        const bool of_strata = plan->columns[i].recode_of == plan->design.by;
        if (facts->missing > 0 && plan->columns[i].missing == TMI_NEVER)
            write_fact(text, name, facts->missing, NEVER("value is", "counts"), NEVER("values are", "count"));
        else if (facts->missing > 0 && plan->columns[i].is_number)
            write_fact(text, name, facts->missing, "value is missing and left out", "values are missing and left out");
        else if (facts->missing > 0)
            write_fact(text, name, facts->missing, "value is missing or not in the list of the plan, and in no group",
                       "values are missing or not in the list of the plan, and in no group");
        if (facts->contradicting > 0)
            write_fact(
                text, name, facts->contradicting,
                of_strata ? "row has not the value that the plan declares for its stratum, and counts under that of its stratum"
                          : "row has not the value that the plan declares for its part, and counts under that of its part",
                of_strata
                    ? "rows have not the value that the plan declares for their stratum, and count under that of their stratum"
                    : "rows have not the value that the plan declares for their part, and count under that of their part");
        if (facts->outside_bounds > 0)
            write_fact(text, name, facts->outside_bounds,
                       "record is outside the bounds of the plan; a release counts it as the nearest bound",
                       "records are outside the bounds of the plan; a release counts them as the nearest bound");
        if (facts->units_above > 0) {
            tmi_text line;
            tmi_text_init(&line);
            tmi_text_format(&line, "%s: %lld %s more to totals than unit_contribution; a release takes %.2g %% off what all add",
                            name, (long long)facts->units_above, facts->units_above == 1 ? "unit adds" : "units add",
                            100 * facts->beyond);
            tmi_text_wrap_taken(text, "  ", "    ", &line);
        }
    }
    if (results->rows_beyond > 0)
        write_fact(text, plan->privacy.id, results->rows_beyond,
                   "row is beyond rows_per_unit; a release keeps a random subset of at most that many rows per unit",
                   "rows are beyond rows_per_unit; a release keeps a random subset of at most that many rows per unit");
    if (results->psus.rows > 0)
        write_fact(
            text, "psus", results->psus.rows,
            "row is of a cluster that is not in the list; a release counts it, but its standard errors leave it out",
            "rows are of clusters that are not in the list; a release counts them, but its standard errors leave them out");
    if (results->psus.clusters > 0)
        write_fact(
            text, "psus", results->psus.clusters,
            "cluster of the list has no rows; a release takes it as one that adds nothing, and its standard errors are "
            "wrong if it is misspelt",
            "clusters of the list have no rows; a release takes them as ones that add nothing, and its standard errors are "
            "wrong if they are misspelt");
    if (results->stages.other_sample > 0)
        write_fact(text, "second.sample", results->stages.other_sample,
                   "cluster has another number of sampled units than the plan says: totals of a release are wrong",
                   "clusters have another number of sampled units than the plan says: totals of a release are wrong");
    if (results->stages.small > 0)
        write_fact(text, "second.smallest", results->stages.small,
                   "cluster has fewer units than that: the guarantee of outsiders that a release states does not hold",
                   "clusters have fewer units than that: the guarantee of outsiders that a release states does not hold");
    if (results->stages.mixed > 0)
        write_fact(text, plan->design.cluster, results->stages.mixed,
                   "cluster has rows with different sizes, samples or probabilities of the cluster",
                   "clusters have rows with different sizes, samples or probabilities of the cluster");
    if (results->weights_above > 0)
        write_fact(text, plan->design.weight ? plan->design.weight : "weights", results->weights_above,
                   "weight is above max_weight; a release counts it as max_weight",
                   "weights are above max_weight; a release counts them as max_weight");
    if (results->units_above > 0) {
        tmi_text line;
        tmi_text_init(&line);
        tmi_text_format(&line, "%s: %lld %s more weight than max_unit_weight; a release takes %.2g %% off all weights together",
                        plan->privacy.id, (long long)results->units_above, results->units_above == 1 ? "unit has" : "units have",
                        100 * results->weight_beyond);
        tmi_text_wrap_taken(text, "  ", "    ", &line);
    }
}

/* By how much the bounds of contributions would change totals, all groups of a statistic together. */
static void write_clamping(tmi_text *text, const tmi_results *results)
{
    for (size_t i = 0; i < results->count;) {
        const size_t statistic = results->list[i].statistic;
        double change = 0, all = 0;
        int64_t rows = 0;
        for (; i < results->count && results->list[i].statistic == statistic; i++) {
            if (isnan(results->list[i].clamped)) continue;
            change += results->list[i].clamped;
            all += fabs(results->list[i].estimate);
            rows += results->list[i].clamped_rows;
        }
        if (rows == 0) continue;
        tmi_text line;
        tmi_text_init(&line);
        tmi_statistic_title(&line, results->plan, statistic);
        if (results->plan->statistics[statistic].column->unit_contribution)
            tmi_text_format(&line, ": a release shrinks %lld contribution%s to fit the plan's bounds, which changes ",
                            (long long)rows, rows == 1 ? "" : "s");
        else
            tmi_text_format(&line,
                            ": %lld contribution%s beyond the plan's bounds; a release counts %s as the bound, which changes ",
                            (long long)rows, rows == 1 ? " is" : "s are", rows == 1 ? "it" : "them");
        tmi_text_format(&line, "the total by %+.3g (%+.2g %%)", change, all > 0 ? 100 * change / all : 0);
        tmi_text_wrap_taken(text, "  ", "    ", &line);
    }
}

static bool asks_for_quantiles(const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->asked_count; i++)
        if (plan->statistics[i].at_count > 0) return true;
    return false;
}

tamis_status tmi_estimate_text(char **text, const tmi_results *results, const char *note, tamis_error *err)
{
    tmi_text t;
    tmi_text_init(&t);
    tmi_write_heading(&t, results->plan, "NOT PROTECTED, for use inside the agency only", NULL);
    tmi_results_table(&t, results);
    tmi_text_put(&t, "\n");
    tmi_text_wrap(
        &t, "  ", "  ",
        results->plan->design.replicates.weights
            ? "Values as recorded: no clamping, no rounding, no noise. Standard errors from replicate weights, intervals by "
              "Student's t; a release takes them from the design."
            : "Values as recorded: no clamping, no rounding, no noise. Standard errors by linearisation, intervals by "
              "Student's t.");
    if (asks_for_quantiles(results->plan))
        tmi_text_wrap(&t, "  ", "  ",
                      "Intervals of quantiles are those of the share of rows up to them, inverted; their standard errors are the "
                      "width of the interval divided by 2 t.");
    if (note && !results->plan->design.replicates.weights) tmi_text_wrap(&t, "  Variances: ", "  ", note);
    write_facts(&t, results);
    write_clamping(&t, results);
    return tmi_text_take(text, &t, err);
}
