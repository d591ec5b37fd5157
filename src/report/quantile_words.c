#include "report/quantile_words.h"

#include <math.h>

#include "base/table.h"
#include "num/number.h"
#include "report/report.h"
#include "report/report_words.h"

static const char *const mechanisms[] = {
    [TAMIS_QUANTILE_AUTO] = "",
    [TAMIS_QUANTILE_INVERSE] = "the exponential mechanism, one draw for each quantile",
    [TAMIS_QUANTILE_JOINT] = "the exponential mechanism, all quantiles of a group in one draw",
    [TAMIS_QUANTILE_SPLIT] = "the exponential mechanism, the middle quantile first, then those in the halves",
    [TAMIS_QUANTILE_THRESHOLD] = "AboveThreshold with geometric noise",
    [TAMIS_QUANTILE_SMOOTH] = "noise in proportion to the smooth sensitivity",
    [TAMIS_QUANTILE_HISTOGRAM] = "HistogramMethod, AboveThreshold with discrete Laplace noise on equally spaced cuts",
    [TAMIS_QUANTILE_TREE] = "a tree of sums with discrete Laplace noise",
    [TAMIS_QUANTILE_PREFIX] = "factorised prefix sums with discrete Gaussian noise",
};

static bool has_method(const tmi_schedule *s, size_t method)
{
    bool found = false;
    for (size_t i = 0; i < s->quantile_task_count; i++) found = found || (size_t)s->quantile_tasks[i].method == method;
    return found;
}

/* Whether a quantile is read from the noisy tables instead. */
static bool some_are_read(const tmi_schedule *s)
{
    bool found = false;
    for (size_t i = 0; i < s->plan->asked_count; i++)
        found = found || (s->plan->statistics[i].at_count > 0 && !tmi_has_mechanism(&s->plan->statistics[i]));
    return found;
}

void tmi_quantile_tasks_words(tmi_text *text, const tmi_schedule *s)
{
    bool first = true;
    if (s->quantile_task_count == 0) return;
    tmi_text_format(text, " %s are points of public grids, chosen by ", some_are_read(s) ? "Some quantiles" : "Quantiles");
    for (size_t method = TAMIS_QUANTILE_INVERSE; method <= TAMIS_QUANTILE_PREFIX; method++) {
        if (!has_method(s, method)) continue;
        tmi_text_format(text, "%s%s", first ? "" : "; or by ", mechanisms[method]);
        first = false;
    }
    tmi_text_put(text, ".");
}

/* ---- tables ---- */

static void put_short(tmi_text *text, const tamis_number *x) { tmi_text_format(text, "%.4g", tmi_number_nearest(x)); }

static void write_table(tmi_text *text, const tmi_schedule *s)
{
    const char *heading[] = {"chosen by a mechanism",         "method",    "rows are", "groups",
                             s->gaussian ? "rho" : "epsilon", "found with"};
    static const tmi_align align[] = {TMI_LEFT, TMI_LEFT, TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    bool moves = false;
    tmi_text_table table;
    if (s->quantile_task_count == 0) return;
    tmi_table_init(&table, 6, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        const tmi_quantile_task *c = &s->quantile_tasks[i];
        tmi_text cells[6];
        for (size_t k = 0; k < 6; k++) tmi_text_init(&cells[k]);
        tmi_quantile_task_name(&cells[0], c, s->plan);
        tmi_text_put(&cells[1], tamis_quantile_method_name(c->method));
        tmi_text_put(&cells[2], c->add_remove ? "moved" : "replaced");
        tmi_text_format(&cells[3], "%zu", c->groups);
        put_short(&cells[4], c->part);
        put_short(&cells[5], c->rho ? c->rho : c->epsilon);
        tmi_table_row_taken(&table, cells);
        moves = moves || c->add_remove;
    }
    tmi_table_write(text, &table);
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
    tmi_text_wrap(text, "  ", "  ",
                  "Half of the budget of such a quantile is spent on choosing it, the other half on the distribution function "
                  "from which its interval is read. Found with: the epsilon of the mechanism in each group; of prefix, its rho.");
    if (moves)
        tmi_text_wrap(text, "  ", "  ",
                      "Where a record may move, it leaves one group and enters another, and loses half of what it may lose in "
                      "each.");
}

/* Quantiles that no mechanism chooses: `auto` may have decided so, and this says it. */
static bool write_read(tmi_text *text, const tmi_schedule *s)
{
    tmi_text words;
    size_t count = 0;
    tmi_text_init(&words);
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_plan_statistic *t = &s->plan->statistics[i];
        if (t->at_count == 0 || tmi_has_mechanism(t)) continue;
        tmi_text_put(&words, count++ == 0
                                 ? "Method distribution, read from its noisy distribution function with all of its budget: "
                                 : "; ");
        tmi_quantile_task_name(&words, &(tmi_quantile_task){.statistic = i}, s->plan);
    }
    tmi_text_put(&words, ".");
    if (count > 0 && !words.failed) tmi_text_wrap(text, "  ", "  ", words.bytes);
    if (words.failed) text->failed = true;
    tmi_text_clear(&words);
    return count > 0;
}

void tmi_write_quantile_tasks(tmi_text *text, const tmi_schedule *s)
{
    write_table(text, s);
    if (write_read(text, s) || s->quantile_task_count > 0) tmi_text_put(text, "\n");
}

void tmi_quantile_tasks_page(tmi_text *html, const tmi_schedule *s)
{
    tmi_text words;
    tmi_text_init(&words);
    if (s->quantile_task_count == 0) return;
    tmi_text_format(
        html,
        "<section class=k><div class=wide tabindex=0><table><caption>These quantiles were chosen by a mechanism among "
        "the points of a public grid; measurements.json has the chosen points.</caption>\n<thead><tr><th scope=col>Quantiles"
        "<th scope=col>Method<th scope=col class=n>Groups<th scope=col class=n>%s</thead>\n<tbody>\n",
        s->gaussian ? "Rho" : "Epsilon");
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        const tmi_quantile_task *c = &s->quantile_tasks[i];
        tmi_statistic_words(&words, s->plan, c->statistic, NAN);
        tmi_html_words(html, "<tr><th scope=row>", &words, "");
        tmi_text_format(html, "<td>%s<td class=n>%zu<td class=n>%.3g\n", tamis_quantile_method_name(c->method), c->groups,
                        tmi_number_nearest(c->part));
    }
    tmi_text_put(html, "</table></div></section>\n");
}
