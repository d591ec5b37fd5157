/* report.html: one page for people. It is one file: no script, no network, its own style for light and dark screens and for
 * paper. Every text that comes from a plan is escaped. It is made from the plan and the noisy numbers alone.          */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "num/number.h"
#include "report/quantile_words.h"
#include "report/report.h"
#include "report/report_words.h"

const char tmi_html_style[] =
    ":root{color-scheme:light "
    "dark;--paper:#fff;--ink:#1b2733;--soft:#566573;--line:#d9e0e6;--box:#f3f6f9;--mark:#0b62c4;--warn:#a43a06}"
    "@media "
    "(prefers-color-scheme:dark){:root{--paper:#12171d;--ink:#e6ebf0;--soft:#9fb0bf;--line:#2d3843;--box:#1a2129;--mark:#6cb6ff;"
    "--warn:#ff9e64}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 "
    "system-ui,-apple-system,'Segoe UI',"
    "Roboto,sans-serif}main{max-width:60rem;margin:0 auto;padding:2.2rem 1.1rem "
    "4rem}h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem;"
    "overflow-wrap:anywhere}h2{font-size:1.2rem;margin:2.6rem 0 .7rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}"
    "h3{font-size:1rem;margin:1.6rem 0 .3rem;overflow-wrap:anywhere}p{margin:.5rem 0}.soft,caption,small{color:var(--soft)}"
    ".box{background:var(--box);border-left:4px solid var(--mark);padding:.8rem 1rem;margin:1.2rem 0;border-radius:0 6px 6px 0}"
    ".warn{border-color:var(--warn)}.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-"
    "nums}"
    "caption{text-align:left}caption h3{margin-bottom:.2rem;color:var(--ink)}"
    "th,td{padding:.32rem .9rem .32rem 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:middle}"
    "th{font-weight:400;overflow-wrap:break-word}tbody th{line-height:1.35}thead "
    "th,th[scope=rowgroup]{font-weight:600;color:var(--soft);"
    "font-size:.86rem;vertical-align:bottom}thead th::first-letter{text-transform:uppercase}th[scope=rowgroup]{padding-top:.9rem}"
    "td.n,th.n{text-align:right}td.n,td.i,td.q,.c td{white-space:nowrap}.c td{text-align:right}.c "
    "td:nth-of-type(n+3){text-align:left}.q,td small{font-size:.86rem}.q b{color:var(--warn)}"
    "td:last-child,th:last-child{padding-right:0}svg.w{display:block;width:100%;min-width:8rem;height:1.5rem}.w "
    "path{stroke:var(--mark);"
    "stroke-width:2.5;stroke-linecap:round;vector-effect:non-scaling-stroke;fill:none}.w .a{stroke:var(--line);stroke-width:1}"
    ".w "
    ".d{stroke-width:9}th.p{width:20%}.note{font-size:.86rem}dt{font-weight:600;margin-top:.8rem}dd{margin:0}ul{padding-left:1."
    "2rem}"
    "li{margin:.25rem 0;overflow-wrap:anywhere}code{font:.92em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}"
    ".ends{display:flex;justify-content:space-between;font-weight:400;margin:0 1%}.figure{overflow-x:auto}.figure "
    "svg{max-width:100%;"
    "height:auto}time{white-space:nowrap}"
    "@media (max-width:44rem){.l{display:none}}"
    "@media screen and (max-width:38rem){.p{display:none}body{font-size:15px}table,caption,thead,tbody{display:block}"
    "tr{display:flex;flex-wrap:wrap;align-items:baseline;border-bottom:1px solid var(--line)}th,td{border:0;flex:1 1 "
    "0;min-width:min-content;padding-right:.5rem}td{font-size:.88rem}td[colspan]{flex:0 0 100%;white-space:normal}"
    "th[scope=row],th[scope=rowgroup],thead th:first-child{flex:0 0 "
    "100%;padding-bottom:0}td.n:nth-of-type(1),th.n:nth-of-type(2){flex-grow:1.3}"
    "th.i,td.i,.c td:nth-of-type(3){flex-grow:2.2;white-space:normal}.q{flex-grow:.8}thead th{font-size:.78rem}thead "
    ".q{font-size:.7rem}"
    ".figure text{font-size:19px}}"
    "@media "
    "print{main{max-width:none;padding:0}body{font-size:10.5pt}h2,h3{break-after:avoid}tr,dt,.box,.figure,.k{break-inside:avoid}"
    ".note,tbody tr:last-child{break-before:avoid}dt,thead,tbody "
    "tr:first-child{break-after:avoid}.wide,.figure{overflow:visible}}";

void tmi_html_text(tmi_text *html, const char *text)
{
    for (; *text; text++) {
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

void tmi_html_words(tmi_text *html, const char *before, tmi_text *words, const char *after)
{
    tmi_text_put(html, before);
    if (words->failed) html->failed = true;
    else if (words->bytes) tmi_html_text(html, words->bytes);
    tmi_text_put(html, after);
    tmi_text_clear(words);
}

/* ---- lists that the JSON has too ---- */

void tmi_html_lines(tmi_text *html, const char *before, tmi_lines *lines, const char *after)
{
    for (size_t i = 0; i < lines->count; i++) {
        tmi_text_put(html, before);
        tmi_html_text(html, lines->list[i]);
        tmi_text_put(html, after);
    }
    if (lines->failed) html->failed = true;
    tmi_lines_clear(lines);
}

/* ---- what is promised ---- */

static void put_promise(tmi_text *html, const tmi_schedule *s, const tmi_outsider *outsider)
{
    tmi_text words;
    char *svg = NULL;
    tmi_text_init(&words);
    tmi_text_put(html, "<h2>What is guaranteed to whom</h2>\n");
    tmi_promise_page(&words, s);
    tmi_html_words(html, "<div class=\"box\"><p>", &words, "</p>\n");
    tmi_outsider_page(&words, s->plan, outsider);
    tmi_html_words(html, "<p>", &words, "</p></div>\n");
    if (tmi_promise_picture(&svg, s, outsider, NULL) != TAMIS_OK) html->failed = true;
    tmi_report_meaning(html, s, outsider);
    if (svg) tmi_text_format(html, "<div class=\"figure\">%s</div>\n", svg);
    tmi_free(svg);
}

/* 0.05, 31, 40,000: as people write them, beyond MOST_WRITTEN as 1.6e+16. */
#define MOST_WRITTEN 1e15

static void put_four_digits(tmi_text *html, double x)
{
    if (x >= 1000 && x < MOST_WRITTEN) tmi_text_rounded(html, x, 3 - (int)floor(log10(x)));
    else tmi_text_format(html, "%.4g", x);
}

static void put_measurements(tmi_text *html, const tmi_schedule *s)
{
    tmi_text words;
    tmi_text_init(&words);
    if (s->measurement_count == 0) return;
    tmi_text_format(
        html,
        "<h2>What was measured</h2>\n<section%s><div class=wide tabindex=0><table><caption>Each table has exact discrete %s "
        "noise of this scale, in the units of the data. The noisy integers are in measurements.json.</caption>\n<thead><tr><th "
        "scope=col>Table"
        "<th scope=col class=n>Cells<th scope=col class=n>Sensitivity<th scope=col class=n>Noise scale<th scope=col class=n>%s"
        "</thead>\n<tbody>\n",
        s->measurement_count <= TMI_ROWS_TOGETHER ? " class=k" : "", s->gaussian ? "Gaussian" : "Laplace",
        s->gaussian ? "Rho" : "Epsilon");
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        double sensitivity = 0, scale = 0;
        for (size_t h = 0; h < m->strata; h++) {
            const tmi_noise_law *law = &m->laws[h];
            double unit = tmi_method_of(m->marginal.weighting) ? 1 : tmi_measurement_unit(m, &s->workload, h);
            sensitivity = fmax(sensitivity, unit * (s->gaussian ? sqrt(tmi_number_nearest(law->l2_squared)) : (double)law->l1));
            scale = fmax(scale, unit * tmi_number_nearest(law->scale));
        }
        tmi_measurement_words(&words, m, &s->workload);
        tmi_html_words(html, "<tr><th scope=row>", &words, "");
        tmi_text_format(html, "<td class=n>%zu<td class=n>", m->numbers);
        put_four_digits(html, sensitivity);
        tmi_text_put(html, "<td class=n>");
        put_four_digits(html, scale);
        tmi_text_format(html, "<td class=n>%.3g\n", tmi_number_nearest(m->part));
    }
    tmi_text_put(html, "</table></div></section>\n");
    tmi_quantile_tasks_page(html, s);
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

tamis_status tmi_report(char **text, const tmi_results *results, const char *version, tamis_error *err)
{
    tmi_text html, words;
    tmi_lines lines = {0};
    const tmi_schedule *s = results->schedule;
    const tmi_account *account = results->account;
    tmi_text_init(&html);
    html.watch = s->watch;
    tmi_text_init(&words);
    tmi_text_put(
        &html,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,"
        "initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">"
        "<title>");
    const char *title = s->plan->title ? s->plan->title : s->plan->survey;
    tmi_html_text(&html, title);
    tmi_text_format(&html, ": protected statistics</title><style>%s</style></head><body><main>\n<h1>", tmi_html_style);
    tmi_html_text(&html, title);
    tmi_text_put(&html, "</h1>\n<p class=soft>Protected statistics");
    if (s->plan->title) tmi_text_format(&words, " of the survey %s", s->plan->survey);
    if (s->plan->wave.name) tmi_text_format(&words, ", wave %s", s->plan->wave.name);
    tmi_html_words(&html, "", &words, ": ");
    tmi_describe_design_by(&words, &s->plan->design, s->plan->design.by ? tmi_column_label(s->plan->design.by) : NULL);
    tmi_unit_words(&words, s->plan);
    tmi_html_words(&html, "", &words, ".");
    if (account->charged.time[0]) tmi_text_format(&html, " Released <time>%.10s</time>.", account->charged.time);
    tmi_text_put(&html, "</p>\n");
    if (account->charged.measurements)
        tmi_text_format(&html,
                        "<div class=\"box warn\"><p>These are the numbers released on <time>%.10s</time>; the data were not read "
                        "again.</p></div>\n",
                        account->charged.time);
    tmi_list_page_warnings(&lines, s);
    tmi_html_lines(&html, "<div class=\"box warn\"><p>Warning: ", &lines, "</p></div>\n");
    tmi_report_results(&html, results);
    put_promise(&html, s, &results->promised->outsider);
    put_account(&html, s, account);
    tmi_text_put(&html, "<h2>What is not covered</h2>\n<ul>\n");
    tmi_list_not_covered(&lines, s);
    tmi_html_lines(&html, "<li>", &lines, "</li>\n");
    tmi_text_put(&html, "</ul>\n<h2>Declared public, not checked</h2>\n<ul>\n");
    tmi_list_declared(&lines, s, TMI_DECLARED_ON_PAGE);
    tmi_html_lines(&html, "<li>", &lines, "</li>\n");
    tmi_text_put(&html, "</ul>\n");
    tmi_report_hazards(&html, s);
    put_measurements(&html, s);
    tmi_text_format(&html,
                    "<h2>How to check this page</h2>\n<p><code>tamis verify</code>, given the folder of this release, recomputes "
                    "every number of the guarantee from certificate.json, and every number on this page from measurements.json, "
                    "without the data. That checks the arithmetic. A signature (<code>--key</code>) or the agency's ledger shows "
                    "who made the release.</p>\n<p class=\"soft\">Made by tamis %s.</p>\n</main></body></html>\n",
                    version);
    return tmi_text_take(text, &html, err);
}
