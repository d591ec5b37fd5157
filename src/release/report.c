/* report.html: one page for people. It stands alone: no script, no network, its own style for light and dark screens and for
 * paper. Every text that comes from a plan is escaped. It is made from the plan and the noisy numbers alone.          */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "num/number.h"
#include "release/report.h"

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b2733;--soft:#566573;--line:#d9e0e6;--box:#f3f6f9;--mark:#0b62c4;--warn:#a43a06}"
    "@media (prefers-color-scheme:dark){:root{--paper:#12171d;--ink:#e6ebf0;--soft:#9fb0bf;--line:#2d3843;--box:#1a2129;--mark:#6cb6ff;"
    "--warn:#ff9e64}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,'Segoe UI',"
    "Roboto,sans-serif}main{max-width:54rem;margin:0 auto;padding:2.2rem 1.1rem 4rem}h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem;"
    "overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2.6rem 0 .7rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}"
    "h3{font-size:1rem;margin:1.6rem 0 .3rem;overflow-wrap:anywhere}p{margin:.5rem 0}.soft,caption,small{color:var(--soft)}"
    ".box{background:var(--box);border-left:4px solid var(--mark);padding:.8rem 1rem;margin:1.2rem 0;border-radius:0 6px 6px 0}"
    ".warn{border-color:var(--warn)}.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    "th,td{padding:.32rem .7rem .32rem 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:middle}"
    "th{font-weight:600;color:var(--soft);font-size:.86rem}td.n,th.n{text-align:right}td.n{white-space:nowrap}td.i{white-space:nowrap}"
    "td:last-child,th:last-child{padding-right:0}svg.w{display:block;width:100%;min-width:9rem;height:1.5rem}.w line{stroke:var(--mark);"
    "stroke-width:2.5;stroke-linecap:round;vector-effect:non-scaling-stroke}.w .axis{stroke:var(--line);stroke-width:1}"
    ".w .dot{stroke-width:9}dt{font-weight:600;margin-top:.8rem}dd{margin:0}ul{padding-left:1.2rem}"
    "li{margin:.25rem 0;overflow-wrap:anywhere}code{font:.92em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}"
    ".ends{display:flex;justify-content:space-between;font-weight:400}.figure{overflow-x:auto}.figure svg{max-width:100%;min-width:30rem;"
    "height:auto}"
    "@media (max-width:38rem){th.p,td.p{display:none}body{font-size:15px}th,td{padding-right:.5rem}td.i{white-space:normal}}"
    "@media print{main{max-width:none;padding:0}body{font-size:10.5pt}h2,h3{break-after:avoid}tr,dt,.box,.figure{break-inside:avoid}"
    "dt{break-after:avoid}.wide,.figure{overflow:visible}}";

static void put_piece(tmi_text *html, const char *text, size_t length)
{
    for (const char *end = text + length; text < end; text++) {
        switch (*text) {
        case '&': tmi_text_put(html, "&amp;"); break;
        case '<': tmi_text_put(html, "&lt;"); break;
        case '>': tmi_text_put(html, "&gt;"); break;
        case '"': tmi_text_put(html, "&quot;"); break;
        case '\'': tmi_text_put(html, "&#39;"); break;
        default: tmi_text_add(html, text, 1);
        }
    }
}

void tmi_html_text(tmi_text *html, const char *text)
{
    put_piece(html, text, strlen(text));
}

/* Between backticks stands what a plan says. */
static void put_words(tmi_text *html, const char *words)
{
    const char *open, *close;
    while ((open = strchr(words, '`')) && (close = strchr(open + 1, '`'))) {
        put_piece(html, words, (size_t)(open - words));
        tmi_text_put(html, "<code>");
        put_piece(html, open + 1, (size_t)(close - open - 1));
        tmi_text_put(html, "</code>");
        words = close + 1;
    }
    tmi_html_text(html, words);
}

/* What `words` holds, escaped, between two tags; and empties it. */
static void put_between(tmi_text *html, const char *before, tmi_text *words, const char *after)
{
    tmi_text_put(html, before);
    if (words->failed) html->failed = true;
    else if (words->bytes) put_words(html, words->bytes);
    tmi_text_put(html, after);
    tmi_text_clear(words);
}

/* ---- lists that the JSON has too ---- */

static void put_items(tmi_text *html, tmi_put_items *put, const tmi_schedule *s, const char *before, const char *after)
{
    tmi_json *list = tmi_items(put, s);
    if (!list) html->failed = true;
    for (size_t i = 0; list && i < tmi_json_size(list); i++) {
        tmi_text_put(html, before);
        put_words(html, tmi_json_string(tmi_json_at(list, i)));
        tmi_text_put(html, after);
    }
    tmi_json_free(list);
}

/* ---- results ---- */

/* The ends that the plots of a statistic share; its results begin at `first`. */
static void range_of(double *from, double *to, const tmi_results *r, size_t first)
{
    *from = INFINITY;
    *to = -INFINITY;
    for (size_t i = first; i < r->count && r->list[i].statistic == r->list[first].statistic; i++) {
        const tmi_result *x = &r->list[i];
        if (!isfinite(x->lower)) continue;
        *from = fmin(*from, fmin(x->lower, x->estimate));
        *to = fmax(*to, fmax(x->upper, x->estimate));
    }
    if (*from > 0 && *from < (*to - *from)) *from = 0; /* zero is worth seeing where it is near */
}

/* A point with its interval, in thousandths of the width. */
static void put_whisker(tmi_text *html, const tmi_result *x, double from, double to)
{
    if (!isfinite(x->lower) || !isfinite(x->estimate) || !(to > from)) return;
    const double scale = 960 / (to - from);
    long low = lround(20 + scale * (x->lower - from)), high = lround(20 + scale * (x->upper - from));
    long middle = lround(20 + scale * (x->estimate - from));
    tmi_text_format(html, "<svg class=\"w\" viewBox=\"0 0 1000 24\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"estimate and "
                    "interval\"><line class=\"axis\" x1=\"0\" x2=\"1000\" y1=\"12\" y2=\"12\"/><line x1=\"%ld\" x2=\"%ld\" y1=\"12\" "
                    "y2=\"12\"/><line x1=\"%ld\" x2=\"%ld\" y1=\"7\" y2=\"17\"/><line x1=\"%ld\" x2=\"%ld\" y1=\"7\" y2=\"17\"/><line "
                    "class=\"dot\" x1=\"%ld\" x2=\"%ld\" y1=\"12\" y2=\"12\"/></svg>", low, high, low, low, high, high, middle, middle);
}

static void put_group(tmi_text *words, const tmi_results *r, const tmi_result *x)
{
    const tmi_plan_statistic *s = &r->plan->statistics[x->statistic];
    for (size_t i = 0; i < s->by_count; i++)
        tmi_text_format(words, "%s%s", i ? ", " : "", tmi_cell_value(s->by, s->by_count, x->cell, i));
    if (s->by_count == 0) tmi_text_put(words, "all");
}

static void put_result(tmi_text *html, const tmi_results *r, const tmi_result *x, double from, double to)
{
    tmi_text cells[TMI_RESULT_CELLS];
    for (size_t i = 0; i < TMI_RESULT_CELLS; i++) tmi_text_init(&cells[i]);
    put_group(&cells[0], r, x);
    tmi_result_words(cells, r, x);
    if (x->outside_range) tmi_text_put(&cells[3], " (estimate out of range)");
    put_between(html, "<tr><td>", &cells[0], "</td>");
    put_between(html, "<td class=\"n\">", &cells[1], "</td>");
    put_between(html, "<td class=\"n\">", &cells[2], "</td>");
    put_between(html, "<td class=\"i\">", &cells[3], "</td><td class=\"p\">");
    put_whisker(html, x, from, to);
    tmi_text_put(html, "</td></tr>\n");
}

static bool has_note(const tmi_result *x, const char *note)
{
    for (size_t i = 0; i < x->note_count; i++)
        if (strcmp(x->notes[i], note) == 0) return true;
    return false;
}

#define MOST_GROUPS 6 /* named beside a note */

#define MOST_NOTES 64 /* more than there are kinds */

/* A note, where it comes first, and how many results have it. */
typedef struct noted {
    const char *note;
    size_t at, count;
} noted;

/* The notes of the results from `first` on, each once; returns how many. */
static size_t find_notes(noted list[MOST_NOTES], const tmi_results *r, size_t first, size_t end)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        for (size_t n = 0; n < r->list[i].note_count; n++) {
            const char *note = r->list[i].notes[n];
            size_t k = 0;
            while (k < count && strcmp(list[k].note, note) != 0) k++;
            if (k == MOST_NOTES) continue;
            if (k == count) list[count++] = (noted){.note = note, .at = i};
            list[k].count++;
        }
    return count;
}

/* What was done to the results from `first` on, of one statistic: each note once, with the groups that it is about. */
static void put_notes(tmi_text *html, const tmi_results *r, size_t first, size_t end)
{
    noted list[MOST_NOTES];
    const size_t count = find_notes(list, r, first, end);
    tmi_text words;
    tmi_text_init(&words);
    for (size_t k = 0; k < count; k++) {
        const bool some = list[k].count < end - first;
        for (size_t j = list[k].at, named = 0; some && j < end && named < MOST_GROUPS; j++) {
            if (!has_note(&r->list[j], list[k].note)) continue;
            tmi_text_put(&words, named++ ? "; " : "");
            put_group(&words, r, &r->list[j]);
        }
        if (some) tmi_text_put(&words, list[k].count > MOST_GROUPS ? " and others: " : ": ");
        tmi_text_put(&words, list[k].note);
        put_between(html, "<p class=\"soft\"><small>", &words, "</small></p>\n");
    }
}

/* Where the plots begin and end. */
static void put_ends(tmi_text *html, double from, double to)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_put(html, "<th class=\"p\" style=\"width:34%\">");
    if (to > from) {
        const int decimals = tmi_decimals_of((to - from) / 10);
        tmi_text_rounded(&words, from, decimals);
        put_between(html, "<div class=\"ends\"><span>", &words, "</span>");
        tmi_text_rounded(&words, to, decimals);
        put_between(html, "<span>", &words, "</span></div>");
    }
    tmi_text_put(html, "</th></tr>\n");
}

static void put_results(tmi_text *html, const tmi_results *r)
{
    size_t first = 0;
    double from = 0, to = 0;
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_put(html, "<h2>The numbers</h2>\n<p class=\"soft\">Standard errors and intervals hold both what the sample and what the "
                 "protecting noise adds.</p>\n");
    for (size_t i = 0; i < r->count && !html->failed; i++) {
        const tmi_result *x = &r->list[i];
        if (i == 0 || x->statistic != r->list[i - 1].statistic) range_of(&from, &to, r, i);
        if (i == 0 || x->statistic != r->list[i - 1].statistic) {
            tmi_statistic_title(&words, r->plan, x->statistic);
            put_between(html, "<h3>", &words, "</h3>\n<div class=\"wide\"><table><tr><th>group</th><th class=\"n\">estimate</th>"
                        "<th class=\"n\">std. error</th>");
            tmi_text_format(&words, "%.4g %% interval", 100 * tmi_number_nearest(r->plan->statistics[x->statistic].confidence));
            put_between(html, "<th>", &words, "</th>");
            put_ends(html, from, to);
            first = i;
        }
        put_result(html, r, x, from, to);
        if (i + 1 < r->count && r->list[i + 1].statistic == x->statistic) continue;
        tmi_text_put(html, "</table></div>\n");
        put_notes(html, r, first, i + 1);
    }
}

/* ---- what is promised ---- */

static void put_promise(tmi_text *html, const tmi_schedule *s)
{
    tmi_text words;
    char *svg = NULL;
    tmi_text_init(&words);
    tmi_text_put(html, "<h2>What is promised to whom</h2>\n");
    tmi_promise_words(&words, s);
    put_between(html, "<div class=\"box\"><p>", &words, "</p>\n");
    tmi_outsider_words(&words, s);
    put_between(html, "<p>", &words, "</p></div>\n");
    if (tmi_promise_picture(&svg, s, NULL) != TAMIS_OK) html->failed = true;
    tmi_report_meaning(html, s);
    if (svg) tmi_text_format(html, "<div class=\"figure\">%s</div>\n", svg);
    tmi_free(svg);
}

static void put_measurements(tmi_text *html, const tmi_schedule *s)
{
    tmi_text words;
    tmi_text_init(&words);
    if (s->measurement_count == 0) return;
    tmi_text_format(html, "<h2>What was measured</h2>\n<p class=\"soft\">Each table got exact discrete %s noise of this scale, in the units of "
                    "the data; measurements.json has the noisy integers.</p>\n<div class=\"wide\"><table><tr><th>table</th><th class=\"n\">"
                    "cells</th><th class=\"n\">sensitivity</th><th class=\"n\">noise scale</th><th class=\"n\">%s</th></tr>\n",
                    s->gaussian ? "Gaussian" : "Laplace", s->gaussian ? "rho" : "epsilon");
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        double sensitivity = 0, scale = 0;
        for (size_t h = 0; h < m->law_count; h++) {
            const tmi_law *law = &m->laws[h];
            double unit = tmi_measurement_unit(m, &s->sampling, h);
            sensitivity = fmax(sensitivity, unit * (s->gaussian ? sqrt(tmi_number_nearest(law->l2_squared)) : (double)law->l1));
            scale = fmax(scale, unit * tmi_number_nearest(law->scale));
        }
        tmi_measurement_name(&words, m);
        put_between(html, "<tr><td>", &words, "</td>");
        tmi_text_format(html, "<td class=\"n\">%zu</td><td class=\"n\">%.4g</td><td class=\"n\">%.4g</td><td class=\"n\">%.3g</td></tr>\n",
                        m->cells, sensitivity, scale, tmi_number_nearest(m->part));
    }
    tmi_text_put(html, "</table></div>\n");
}

static void put_account(tmi_text *html, const tmi_schedule *s, const tmi_account *a)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_write_account(&words, s, a);
    const char *body = words.bytes ? strstr(words.bytes, "account\n") : NULL;
    if (words.failed) html->failed = true;
    if (body) {
        tmi_text_put(html, "<h2>The account</h2>\n<p>");
        tmi_html_text(html, body + strlen("account\n"));
        tmi_text_put(html, "</p>\n");
    }
    tmi_text_clear(&words);
}

tamis_status tamis_release_report(char **text, const tamis_release *release, tamis_error *err)
{
    tmi_text html, words;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: expected a place for the result, got NULL");
    *text = NULL;
    if (!release) return tmi_fail(err, TAMIS_INVALID, "release: expected a release, got NULL");
    const tmi_schedule *s = &release->schedule;
    tmi_text_init(&html);
    html.watch = s->watch;
    tmi_text_init(&words);
    tmi_text_put(&html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,"
                 "initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
                 "<title>");
    tmi_html_text(&html, s->plan->survey);
    tmi_text_format(&html, ": protected statistics</title><style>%s</style></head><body><main>\n<h1>", style);
    tmi_html_text(&html, s->plan->survey);
    tmi_describe_design(&words, &s->plan->design);
    tmi_unit_words(&words, s->plan);
    put_between(&html, "</h1>\n<p class=\"soft\">Protected statistics: ", &words, ".");
    if (release->account.charged.time[0]) tmi_text_format(&html, " Released %.10s.", release->account.charged.time);
    tmi_text_put(&html, "</p>\n");
    put_items(&html, tmi_put_warnings, s, "<div class=\"box warn\"><p>Warning: ", "</p></div>\n");
    put_results(&html, &release->results);
    put_promise(&html, s);
    put_account(&html, s, &release->account);
    tmi_text_put(&html, "<h2>What is not covered</h2>\n<ul>\n");
    put_items(&html, tmi_put_not_covered, s, "<li>", "</li>\n");
    tmi_text_put(&html, "</ul>\n<h2>Declared public, not checked</h2>\n<ul>\n");
    put_items(&html, tmi_put_declared, &release->certificate->schedule, "<li>", "</li>\n"); /* in the certificate's order */
    tmi_text_put(&html, "</ul>\n");
    tmi_report_hazards(&html, s);
    put_measurements(&html, s);
    tmi_text_format(&html, "<h2>How to check this page</h2>\n<p><code>tamis verify</code> with the folder of this release computes every number "
                    "of the promise again from certificate.json, and every number of this page from measurements.json, without the "
                    "data. It proves arithmetic; whose release it is, a signature proves (<code>--key</code>), or the agency's ledger.</p>\n<p class=\"soft\">Made by tamis %s.</p>\n</main></body></html>\n",
                    release->version);
    return tmi_text_take(text, &html, err);
}
