/* report.html of a tally: one page for readers, in the style of a release report. */
#include <math.h>
#include <stdio.h>

#include "base/decimal.h"
#include "collect/tally/output.h"
#include "num/number.h"
#include "report/report.h"

static void put_rounded(tmi_text *html, double x, int decimals)
{
    tmi_text_put(html, "<td class=n>");
    if (!isnan(x)) tmi_text_rounded(html, x, decimals);
}

static void put_picture(tmi_text *html, const tamis_tally_share *s)
{
    const long low = lround(1000 * s->lower), high = lround(1000 * s->upper), at = lround(1000 * fmin(fmax(s->estimate, 0), 1));
    tmi_text_format(
        html,
        "<td class=p><svg class=w viewBox=\"-12 0 1024 24\" preserveAspectRatio=none role=img aria-label=\"interval\">"
        "<path class=a d=\"M0 12H1000\"/><path d=\"M%ld 12H%ldM%ld 7v10M%ld 7v10\"/><path class=d d=\"M%ld "
        "12h0\"/></svg>\n",
        low, high, low, high, at);
}

static void put_results(tmi_text *html, const tmi_tally_results *r)
{
    const bool grouped = r->asked.groups > 0;
    tmi_text_format(
        html,
        "<h2>Results</h2>\n<section%s><div class=wide tabindex=0><table><caption>Shares of people, with standard errors "
        "that include sampling and randomization.</caption>\n<thead><tr><th scope=col>share of<th scope=col class=n>ones "
        "reported<th scope=col class=n>estimate<th scope=col class=n>SE<th scope=col class=i>%g %% interval%s<th "
        "scope=col class=p><div class=ends><span>0</span><span>1</span></div></thead>\n<tbody>\n",
        r->tally->bits <= TMI_ROWS_TOGETHER ? " class=k" : "", 100 * tmi_number_nearest(r->asked.confidence),
        grouped ? "<th scope=col class=n>consistent" : "");
    for (size_t j = 0; j < r->tally->bits; j++) {
        const tamis_tally_share *s = &r->shares[j];
        const int decimals = s->se > 0 ? tmi_decimals_of(s->se) + 1 : 4;
        tmi_text_put(html, "<tr><th scope=row>");
        tmi_html_text(html, r->tally->names[j]);
        put_rounded(html, (double)r->tally->ones[j], 0);
        put_rounded(html, s->estimate, decimals);
        put_rounded(html, s->se, decimals);
        tmi_text_put(html, "<td class=i>");
        tmi_text_rounded(html, s->lower, decimals);
        tmi_text_put(html, " to ");
        tmi_text_rounded(html, s->upper, decimals);
        if (grouped) put_rounded(html, s->consistent, decimals);
        put_picture(html, s);
    }
    tmi_text_put(html, "</table></div></section>\n");
}

static const char ending[] =
    "<h2>What is not covered</h2>\n<ul>\n"
    "<li>Whether each person reported once, and gave a truthful answer to be randomized.</li>\n"
    "<li>Whether bits were flipped with the declared probabilities: the reports alone cannot show that.</li>\n"
    "<li>Whether the anonymiser forgets the senders, and whether reports arrive without addresses and times.</li>\n"
    "<li>Repeated collections from the same people, unless their losses are added up in one account.</li>\n</ul>\n"
    "<h2>How to check this page</h2>\n<p><code>tamis verify</code>, given the folder of this page, recomputes every number on it "
    "from the counts in certificate.json.</p>\n";

tamis_status tmi_tally_put_page(tmi_text *html, const tmi_tally_results *r, tamis_error *err)
{
    (void)err;
    tmi_lines lines = {0};
    tmi_text_format(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>Randomized reports: estimated shares</title>"
        "<style>%s</style></head><body><main>\n<h1>Randomized reports: estimated shares</h1>\n<p class=soft>%lld report%s "
        "of %zu bit%s, each flipped at the client with a known probability.</p>\n",
        tmi_html_style, (long long)r->tally->reports, r->tally->reports == 1 ? "" : "s", r->tally->bits,
        r->tally->bits == 1 ? "" : "s");
    tmi_tally_warnings(&lines, r);
    tmi_html_lines(html, "<div class=\"box warn\"><p>Warning: ", &lines, "</p></div>\n");
    put_results(html, r);
    tmi_text_put(html, "<h2>The guarantee</h2>\n<div class=box>");
    tmi_tally_words(&lines, r);
    tmi_html_lines(html, "<p>", &lines, "</p>\n");
    tmi_text_put(html, "</div>\n");
    tmi_text_put(html, ending);
    tmi_text_format(html, "<p class=\"soft\">Made by tamis %s.</p>\n</main></body></html>\n", tamis_version());
    return TAMIS_OK;
}
