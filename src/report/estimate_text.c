/* An estimate for people inside the agency. */
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
        if (facts->missing > 0 && plan->columns[i].missing == TMI_NEVER)
            write_fact(text, name, facts->missing, NEVER("value is", "counts"), NEVER("values are", "count"));
        else if (facts->missing > 0 && plan->columns[i].is_number)
            write_fact(text, name, facts->missing, "value is missing and left out", "values are missing and left out");
        else if (facts->missing > 0)
            write_fact(text, name, facts->missing, "value is missing or not in the list of the plan, and in no group",
                       "values are missing or not in the list of the plan, and in no group");
        if (facts->outside_bounds > 0)
            write_fact(text, name, facts->outside_bounds,
                       "record is outside the bounds of the plan; a release counts it as the nearest bound",
                       "records are outside the bounds of the plan; a release counts them as the nearest bound");
    }
    if (results->rows_beyond > 0)
        write_fact(text, plan->privacy.id, results->rows_beyond,
                   "row is beyond rows_per_unit; a release keeps a random subset of at most that many rows per unit",
                   "rows are beyond rows_per_unit; a release keeps a random subset of at most that many rows per unit");
    if (results->weights_above > 0)
        write_fact(text, plan->design.weight ? plan->design.weight : "weights", results->weights_above,
                   "weight is above max_weight; a release counts it as max_weight",
                   "weights are above max_weight; a release counts them as max_weight");
}

tamis_status tmi_estimate_text(char **text, const tmi_results *results, const char *note, tamis_error *err)
{
    tmi_text t;
    tmi_text_init(&t);
    tmi_write_heading(&t, results->plan, "NOT PROTECTED, for use inside the agency only");
    tmi_results_table(&t, results);
    tmi_text_put(&t, "\n");
    tmi_text_wrap(
        &t, "  ", "  ",
        "Values as recorded: no clamping, no rounding, no noise. Standard errors by linearisation, intervals by Student's t.");
    if (note) tmi_text_wrap(&t, "  Variances: ", "  ", note);
    write_facts(&t, results);
    return tmi_text_take(text, &t, err);
}
