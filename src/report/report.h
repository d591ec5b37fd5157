/* The parts of report.html. */
#ifndef TMI_REPORT_H
#define TMI_REPORT_H

#include "release/certificate.h"
#include "report/promise.h"
#include "release/release.h"

/* Rows of a table that is printed on one page, with its notes: a <section class=k>. A longer one may break between two rows. */
#define TMI_ROWS_TOGETHER 12

/* Adds a text with what HTML takes for its own written as entities. */
void tmi_html_text(tmi_text *html, const char *text);

/* What `words` holds, escaped, between two tags; and empties it. */
void tmi_html_words(tmi_text *html, const char *before, tmi_text *words, const char *after);

/* The tables of results. */
void tmi_report_results(tmi_text *html, const tmi_results *results);

/* What an attacker can learn at most: the nosy neighbour, the journalist, the outsider. */
void tmi_report_meaning(tmi_text *html, const tmi_schedule *schedule);

/* The hazards of NIST SP 800-226, answered. */
void tmi_report_hazards(tmi_text *html, const tmi_schedule *schedule);

#endif
