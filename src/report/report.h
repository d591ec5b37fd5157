/* The files of a release for people: report.html and its parts, and registry.yaml. */
#ifndef TMI_REPORT_REPORT_H
#define TMI_REPORT_REPORT_H

#include "report/promise.h"
#include "report/results.h"

/* Made from the results of a release, whose schedule, account and promise they name, and the version of the program that made it;
 * the caller frees the text. */
tamis_status tmi_report(char **text, const tmi_results *results, const char *version, tamis_error *err);
tamis_status tmi_registry(char **text, const tmi_results *results, const char *version, tamis_error *err);

/* Rows of a table that is printed on one page, with its notes: a <section class=k>. A longer one may break between two rows. */
#define TMI_ROWS_TOGETHER 12

/* The style sheet of a page. */
extern const char tmi_html_style[];

/* Adds a text with what HTML takes for its own written as entities. */
void tmi_html_text(tmi_text *html, const char *text);

/* Each line between two pieces of HTML. The list is cleared. */
void tmi_html_lines(tmi_text *html, const char *before, tmi_lines *lines, const char *after);

/* Adds `words`, escaped, between two tags; and empties it. */
void tmi_html_words(tmi_text *html, const char *before, tmi_text *words, const char *after);

/* The tables of results. */
void tmi_report_results(tmi_text *html, const tmi_results *results);

/* The distribution functions that results were read from, as figures; those of many groups are left out. */
void tmi_report_curves(tmi_text *html, const tmi_results *results);

/* What an attacker can learn at most: the nosy neighbour, the journalist, the outsider. */
void tmi_report_meaning(tmi_text *html, const tmi_schedule *schedule, const tmi_outsider *outsider);

/* The hazards of NIST SP 800-226, answered. */
void tmi_report_hazards(tmi_text *html, const tmi_schedule *schedule);

#endif
