/* Quantiles that a mechanism chooses, for people. Nothing is written where there are none. */
#ifndef TMI_REPORT_QUANTILE_WORDS_H
#define TMI_REPORT_QUANTILE_WORDS_H

#include "schedule/schedule.h"

/* A table of a preview, and which quantiles are read from a distribution function. */
void tmi_write_quantile_tasks(tmi_text *text, const tmi_schedule *schedule);

/* The same on a public page. */
void tmi_quantile_tasks_page(tmi_text *html, const tmi_schedule *schedule);

/* " Quantiles are chosen ...": a sentence or two behind those about the noise. */
void tmi_quantile_tasks_words(tmi_text *text, const tmi_schedule *schedule);

#endif
