/* The numbers of report.html: one table for all single statistics, one for each that has groups, with plots of the intervals.
 * Where there are very many numbers the plots are left out and the markup is as short as HTML allows, so that a page of
 * 60,000 stays below 5 MB; the page says so.                                                                           */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "num/number.h"
#include "report/report.h"
#include "report/report_words.h"

#define MOST_PLOTS 2000 /* numbers: a row with its plot has some 450 bytes, without it 80 */

/* The rows of one table. */
typedef struct table {
    const tmi_results *r;
    const tmi_result **rows;
    size_t count;
    bool single; /* a statistic in each row; else the groups of one */
    bool compact;
    bool flagged;      /* there is a quality flag */
    double confidence; /* of all rows; 0: they differ */
    double from, to;   /* the ends of the plots; the same: there are none */
} table;

static const tmi_plan_statistic *statistic_of(const table *t, const tmi_result *x)
{
    return &t->r->plan->statistics[x->statistic];
}

/* ---- names of rows ---- */

/* The groups of a result, from grouping `first` on. `label`: what comes between the label of the column and the value; NULL: no
 * label, since it is in the heading. */
static void put_groups(tmi_text *words, const tmi_plan_statistic *s, size_t cell, size_t first, size_t end, const char *label)
{
    size_t below = 1; /* cells of the groupings after `end` */
    for (size_t i = end; i < s->by_count; i++) below *= s->by[i]->value_count;
    cell /= below;
    size_t values[TMI_MAX_BY];
    for (size_t i = end; i-- > first; cell /= s->by[i]->value_count) values[i] = cell % s->by[i]->value_count;
    for (size_t i = first; i < end; i++) {
        tmi_text_put(words, i > first ? ", " : "");
        if (label) tmi_text_format(words, "%s%s", tmi_column_label(s->by[i]), label);
        tmi_value_words(words, s->by[i], values[i]);
    }
}

/* Of several quantiles of a group, or of the coefficients of a model: which one. */
static void put_level(tmi_text *words, const tmi_plan_statistic *s, size_t cell)
{
    if (s->model) {
        if (words->length > 0) tmi_text_put(words, ", ");
        tmi_term_words(words, s->model, cell % s->model->term_count);
    }
    if (s->at_count < 2) return;
    tmi_text_put(words, ", ");
    tmi_level_words(words, tmi_at_of(s, cell));
}

/* The row in a note. */
static void put_row_name(tmi_text *words, const table *t, const tmi_result *x)
{
    const tmi_plan_statistic *s = statistic_of(t, x);
    if (t->single) tmi_statistic_words(words, t->r->plan, x->statistic, tmi_at_of(s, x->cell));
    else put_groups(words, s, tmi_group_of(s, x->cell), 0, s->by_count, " ");
    if (!t->single) put_level(words, s, x->cell);
}

/* ---- plots ---- */

/* The ends that the plots of a table share, rounded outwards to what is written above them. */
static void set_ends(table *t)
{
    double from = INFINITY, to = -INFINITY;
    t->from = t->to = 0;
    if (t->compact || t->single) return;
    for (size_t i = 0; i < t->count; i++) {
        const tmi_result *x = t->rows[i];
        if (!isfinite(x->lower) || !isfinite(x->estimate)) continue;
        from = fmin(from, fmin(x->lower, x->estimate));
        to = fmax(to, fmax(x->upper, x->estimate));
    }
    if (from > 0 && from < to - from) from = 0; /* zero is worth seeing where it is near */
    if (!(to > from)) return;
    const double unit = pow(10, floor(log10(to - from)) - 1);
    t->from = floor(from / unit) * unit;
    t->to = ceil(to / unit) * unit;
}

static int decimals_of_ends(const table *t) { return 1 - (int)floor(log10(t->to - t->from)); }

/* A point with its interval, in thousandths of the axis. */
static void put_plot(tmi_text *html, const table *t, const tmi_result *x, const char *estimate, const char *interval)
{
    tmi_text_put(html, "<td class=p>");
    if (!isfinite(x->lower) || !isfinite(x->estimate)) return;
    const double scale = 1000 / (t->to - t->from);
    const long low = lround(scale * (x->lower - t->from)), high = lround(scale * (x->upper - t->from));
    const long middle = lround(scale * (x->estimate - t->from));
    tmi_text_format(html,
                    "<svg class=w viewBox=\"-12 0 1024 24\" preserveAspectRatio=none role=img aria-label=\"estimate %s, "
                    "interval %s\">"
                    "<path class=a d=\"M0 12H1000\"/><path d=\"M%ld 12H%ldM%ld 7v10M%ld 7v10\"/><path class=d d=\"M%ld "
                    "12h0\"/></svg>",
                    estimate, interval, low, high, low, high, middle);
}

/* ---- rows ---- */

static const char missing[] = ".."; /* not available */

/* The interval breaks between its ends at most. */
static void put_interval(tmi_text *html, const char *interval, bool compact)
{
    const char *to = strstr(interval, " to ");
    tmi_text_put(html, compact ? "<td>" : "<td class=i>");
    if (!to || compact) {
        tmi_text_put(html, interval);
        return;
    }
    tmi_text_add(html, interval, (size_t)(to - interval));
    tmi_text_format(html, " to&nbsp;%s", to + strlen(" to "));
}

static void put_quality(tmi_text *html, char flag, bool compact)
{
    tmi_text_put(html, compact ? "<td>" : "<td class=q>");
    if (!flag) return;
    if (compact) tmi_text_add(html, &flag, 1);
    else tmi_text_format(html, "<b>%c</b><span class=l> %s</span>", flag, flag == 'E' ? "use with caution" : "too unreliable");
}

/* Columns that a model has beside those of all results: p, and a factor where coefficients are logarithms of it. */
static int columns_of(const tmi_plan_model *m) { return !m ? 0 : m->family == TMI_LINEAR ? 1 : 2; }

static void put_test(tmi_text *html, const tmi_plan_model *m, const tmi_result *x)
{
    tmi_text p;
    tmi_text_init(&p);
    if (!isnan(x->p)) tmi_p_text(&p, x->p);
    tmi_html_words(html, "<td class=n>", &p, "");
    if (columns_of(m) < 2) return;
    if (isnan(x->lower) || x->cell % m->term_count == 0) tmi_text_put(html, "<td class=i>");
    else tmi_text_format(html, "<td class=i>%.3g (%.3g to&nbsp;%.3g)", exp(x->estimate), exp(x->lower), exp(x->upper));
}

static void put_numbers(tmi_text *html, const table *t, const tmi_result *x)
{
    tmi_text cells[TMI_RESULT_CELLS];
    for (size_t i = 0; i < TMI_RESULT_CELLS; i++) tmi_text_init(&cells[i]);
    tmi_result_words(cells, t->r, x);
    for (size_t i = 0; i < TMI_RESULT_CELLS; i++)
        if (cells[i].failed) html->failed = true;
    const char *estimate = isnan(x->estimate) || !cells[1].bytes ? missing : cells[1].bytes;
    const char *error = x->known ? "known" : isnan(x->se) || !cells[2].bytes ? missing : cells[2].bytes;
    const char *interval = x->known ? "" : isnan(x->lower) || !cells[3].bytes ? missing : cells[3].bytes;
    tmi_text_format(html,
                    t->compact ? "<td>%s%s<td>%s"
                               : "<td class=n>%s%s<td "
                                 "class=n>%s",
                    estimate,
                    x->outside_range             ? "*"
                    : tmi_is_outside_interval(x) ? "!"
                                                 : "",
                    error);
    put_interval(html, interval, t->compact);
    if (t->confidence == 0 && *interval && interval != missing)
        tmi_text_format(html, "<small> (%.4g&nbsp;%%)</small>", 100 * tmi_number_nearest(statistic_of(t, x)->confidence));
    if (statistic_of(t, x)->model) put_test(html, statistic_of(t, x)->model, x);
    if (t->flagged) put_quality(html, tmi_quality(t->r->plan, x), t->compact);
    if (t->to > t->from) put_plot(html, t, x, estimate, interval);
    for (size_t i = 0; i < TMI_RESULT_CELLS; i++) tmi_text_clear(&cells[i]);
}

/* The groups before the last, as a heading of the rows that share them. */
static void put_rows_heading(tmi_text *html, const table *t, const tmi_result *x)
{
    const tmi_plan_statistic *s = statistic_of(t, x);
    tmi_text words;
    tmi_text_init(&words);
    put_groups(&words, s, tmi_group_of(s, x->cell), 0, s->by_count - (s->model ? 0 : 1), ": ");
    tmi_text_format(html, "<tbody><tr><th scope=rowgroup colspan=%d>", 4 + t->flagged + (t->to > t->from) + columns_of(s->model));
    tmi_html_words(html, "", &words, "\n");
}

static void put_row(tmi_text *html, const table *t, const tmi_result *x)
{
    const tmi_plan_statistic *s = statistic_of(t, x);
    tmi_text words;
    tmi_text_init(&words);
    const size_t group = tmi_group_of(s, x->cell), levels = s->at_count > 0 ? s->at_count : 1;
    if (t->single) tmi_statistic_words(&words, t->r->plan, x->statistic, tmi_at_of(s, x->cell));
    else if (!s->model) put_groups(&words, s, group, s->by_count - 1, s->by_count, NULL);
    if (t->single) tmi_statistic_unit(&words, s);
    else put_level(&words, s, x->cell);
    const bool first = s->model ? s->by_count > 0 && x->cell % s->model->term_count == 0
                                : s->by_count > 1 && group % s->by[s->by_count - 1]->value_count == 0 && x->cell % levels == 0;
    if (first) put_rows_heading(html, t, x);
    tmi_html_words(html, "<tr><th scope=row>", &words, "");
    put_numbers(html, t, x);
    tmi_text_put(html, "\n");
}

/* ---- headings ---- */

/* Where the plots begin and end. */
static void put_ends(tmi_text *html, const table *t)
{
    tmi_text from, to;
    if (!(t->to > t->from)) return;
    tmi_text_init(&from);
    tmi_text_init(&to);
    tmi_text_rounded(&from, t->from, decimals_of_ends(t));
    tmi_text_rounded(&to, t->to, decimals_of_ends(t));
    if (from.failed || to.failed) html->failed = true;
    else
        tmi_text_format(html,
                        "<th scope=col class=p aria-label=\"plot from %s to %s\"><div "
                        "class=ends><span>%s</span><span>%s</span></div>",
                        from.bytes, to.bytes, from.bytes, to.bytes);
    tmi_text_clear(&from);
    tmi_text_clear(&to);
}

static void put_heading(tmi_text *html, const table *t)
{
    const tmi_result *x = t->rows[0];
    const tmi_plan_statistic *s = statistic_of(t, x);
    tmi_text words;
    tmi_text_init(&words);
    if (t->single) {
        tmi_text_put(&words, "Single numbers");
    } else {
        tmi_statistic_words(&words, t->r->plan, x->statistic, TMI_NULL);
        tmi_statistic_unit(&words, s);
    }
    tmi_text_format(html, "<div class=wide tabindex=0><table%s>", t->compact ? " class=c" : "");
    tmi_html_words(html, "<caption><h3>", &words, "</h3></caption>\n<thead><tr><th scope=col>");
    tmi_text_put(&words, t->single ? "Statistic" : s->model ? "Term" : tmi_column_label(s->by[s->by_count - 1]));
    tmi_html_words(html, "", &words, "<th scope=col class=n>Estimate<th scope=col class=n>Std. error<th scope=col class=i>");
    if (t->confidence > 0) tmi_text_format(html, "%.4g&nbsp;%% ", 100 * t->confidence);
    tmi_text_put(html, "interval");
    if (s->model && !t->single) tmi_text_put(html, "<th scope=col class=n>p");
    if (!t->single && columns_of(s->model) > 1)
        tmi_text_format(html, "<th scope=col class=i>%s ratio", s->model->family == TMI_LOGISTIC ? "Odds" : "Rate");
    if (t->flagged) tmi_text_put(html, "<th scope=col class=q>Quality");
    put_ends(html, t);
    tmi_text_put(html, "</thead>\n");
}

/* ---- notes ---- */

#define MOST_ROWS 6 /* named beside a note */

#define MOST_NOTES 64 /* more than there are kinds */

static const char outside[] = "* the estimate is outside the range of possible values";
static const char apart[] = "! the estimate is outside its own interval: rely on the interval";

/* Note number n of a result, its reason and its mark included; NULL after the last. */
static const char *note_at(const tmi_result *x, size_t n)
{
    if (n < x->note_count) return x->notes[n];
    n -= x->note_count;
    if (x->reason && (isnan(x->lower) || isnan(x->estimate)) && n-- == 0) return x->reason;
    if (n > 0) return NULL;
    return x->outside_range ? outside : tmi_is_outside_interval(x) ? apart : NULL;
}

static bool has_note(const tmi_result *x, const char *note)
{
    const char *one;
    for (size_t n = 0; (one = note_at(x, n)); n++)
        if (strcmp(one, note) == 0) return true;
    return false;
}

/* A note, where it comes first, and how many rows have it. */
typedef struct noted {
    const char *note;
    size_t at, count;
} noted;

/* The notes of all rows, each once; returns how many. */
static size_t find_notes(noted list[MOST_NOTES], const table *t)
{
    size_t count = 0;
    const char *note;
    for (size_t i = 0; i < t->count; i++)
        for (size_t n = 0; (note = note_at(t->rows[i], n)); n++) {
            size_t k = 0;
            while (k < count && strcmp(list[k].note, note) != 0) k++;
            if (k == MOST_NOTES) continue;
            if (k == count) list[count++] = (noted){.note = note, .at = i};
            list[k].count++;
        }
    return count;
}

/* What was done to the rows: each note once, with those that it is about. */
static void put_notes(tmi_text *html, const table *t)
{
    noted list[MOST_NOTES];
    const size_t count = find_notes(list, t);
    tmi_text words;
    tmi_text_init(&words);
    for (size_t i = 0; i < t->count; i++) {
        const tmi_plan_statistic *s = statistic_of(t, t->rows[i]);
        if (!s->model || t->rows[i]->cell % s->model->term_count != 0) continue;
        put_groups(&words, s, tmi_group_of(s, t->rows[i]->cell), 0, s->by_count, " ");
        if (s->by_count > 0) tmi_text_put(&words, ": ");
        tmi_model_text(&words, s, t->rows[i]);
        tmi_html_words(html, "<p class=\"soft note\">", &words, "</p>\n");
    }
    for (size_t k = 0; k < count; k++) {
        const bool some = list[k].count < t->count;
        for (size_t j = list[k].at, named = 0; some && j < t->count && named < MOST_ROWS; j++) {
            if (!has_note(t->rows[j], list[k].note)) continue;
            tmi_text_put(&words, named++ ? "; " : "");
            put_row_name(&words, t, t->rows[j]);
        }
        if (some) tmi_text_put(&words, list[k].count > MOST_ROWS ? " and others: " : ": ");
        tmi_text_put(&words, list[k].note);
        tmi_html_words(html, "<p class=\"soft note\">", &words, "</p>\n");
    }
}

/* ---- all ---- */

static void look_at_rows(table *t)
{
    t->flagged = false;
    t->confidence = tmi_number_nearest(statistic_of(t, t->rows[0])->confidence);
    for (size_t i = 0; i < t->count; i++) {
        const tmi_plan_statistic *s = statistic_of(t, t->rows[i]);
        t->flagged = t->flagged || tmi_quality(t->r->plan, t->rows[i]);
        if (tmi_number_nearest(s->confidence) != t->confidence) t->confidence = 0;
    }
    set_ends(t);
}

static void put_table(tmi_text *html, table *t)
{
    if (t->count == 0) return;
    look_at_rows(t);
    tmi_text_put(html, t->count <= TMI_ROWS_TOGETHER ? "<section class=k>" : "<section>");
    put_heading(html, t);
    const tmi_plan_statistic *first = statistic_of(t, t->rows[0]);
    if (first->by_count < (first->model ? 1 : 2)) tmi_text_put(html, "<tbody>\n");
    for (size_t i = 0; i < t->count && !html->failed; i++) put_row(html, t, t->rows[i]);
    tmi_text_put(html, "</table></div>\n");
    put_notes(html, t);
    tmi_text_put(html, "</section>\n");
}

static void put_legend(tmi_text *html, const tmi_results *r, bool compact)
{
    bool flags = false, absent = false, known = false;
    for (size_t i = 0; i < r->count; i++) {
        const tmi_result *x = &r->list[i];
        flags = flags || tmi_quality(r->plan, x);
        absent = absent || (!x->known && (isnan(x->estimate) || isnan(x->lower)));
        known = known || x->known;
    }
    tmi_text_put(html, "<p class=soft>Standard errors and intervals include sampling error and privacy noise.");
    if (flags) {
        tmi_text_put(html, " ");
        tmi_quality_words(html, r->plan, "<b>", "</b>");
    }
    if (absent) tmi_text_put(html, " <b>..</b> not available; the reason is below the table.");
    if (known) tmi_text_put(html, " <b>known</b>: a public number, not measured.");
    if (compact)
        tmi_text_put(html, " Plots are left out because of the many numbers; release.csv has the numbers for a spreadsheet.");
    tmi_text_put(html, "</p>\n");
}

static bool is_single(const tmi_plan_statistic *s) { return s->by_count == 0 && !s->model; }

void tmi_report_results(tmi_text *html, const tmi_results *r)
{
    table t = {.r = r, .single = true, .compact = r->count > MOST_PLOTS, .rows = tmi_alloc(r->count, sizeof *t.rows)};
    if (!t.rows) {
        html->failed = true;
        return;
    }
    tmi_text_put(html, "<h2>The numbers</h2>\n");
    put_legend(html, r, t.compact);
    for (size_t i = 0; i < r->count; i++)
        if (is_single(&r->plan->statistics[r->list[i].statistic])) t.rows[t.count++] = &r->list[i];
    put_table(html, &t);
    t.single = false;
    t.count = 0;
    for (size_t i = 0; i < r->count && !html->failed; i++) {
        const tmi_result *x = &r->list[i];
        if (is_single(&r->plan->statistics[x->statistic])) continue;
        t.rows[t.count++] = x;
        if (i + 1 < r->count && r->list[i + 1].statistic == x->statistic) continue;
        put_table(html, &t);
        t.count = 0;
    }
    if (!t.compact) tmi_report_curves(html, r);
    tmi_free(t.rows);
}
