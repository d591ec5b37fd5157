/* The parts of report.html. */
#ifndef TMI_REPORT_H
#define TMI_REPORT_H

#include "release/certificate.h"
#include "release/promise.h"
#include "release/release.h"

/* Adds a text with what HTML takes for its own written as entities. */
void tmi_html_text(tmi_text *html, const char *text);

/* What an attacker can learn at most: the nosy neighbour, the journalist, the outsider. */
void tmi_report_meaning(tmi_text *html, const tmi_schedule *schedule);

/* The hazards of NIST SP 800-226, answered. */
void tmi_report_hazards(tmi_text *html, const tmi_schedule *schedule);

#endif
