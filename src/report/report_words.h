/* What a public page calls the things of a plan: labels, units of measure and plain words in place of the plan's own syntax.
 * Texts are not escaped yet.                                                                                          */
#ifndef TMI_REPORT_REPORT_WORDS_H
#define TMI_REPORT_REPORT_WORDS_H

#include "report/results.h"

/* The label of a column, of cuts that of their number; its name if it has none. */
const char *tmi_column_label(const tmi_plan_column *column);

/* A value of a category, or a bin: "16 to under 65". */
void tmi_value_words(tmi_text *text, const tmi_plan_column *category, size_t value);

/* "Total of Pupils enrolled, by School type", or the label of the statistic. `at`: of one of several quantiles; NaN: of all. */
void tmi_statistic_words(tmi_text *text, const tamis_plan *plan, size_t statistic, double at);

/* "25 %", "33.3 %": a level of a quantile. */
void tmi_level_words(tmi_text *text, double at);

/* " (euro)", " (euro per person)"; nothing if the plan does not say or it would be misleading. */
void tmi_statistic_unit(tmi_text *text, const tmi_plan_statistic *statistic);

/* "Sum of Pupils enrolled by School type": a noisy table. */
void tmi_measurement_words(tmi_text *text, const tmi_measurement *measurement, const tmi_workload *workload);

/* What statistical offices would say of a number: '\0' nothing, 'E' use with caution, 'F' too unreliable to publish by itself.
 *
 * A share goes by the width of a 95 % interval, 3.92 standard errors (limits of the US National Center for Health Statistics,
 * 2017): F from 0.30 on or beyond 1.3 times the share, E from half of either on, nothing up to 0.05. Everything else goes by its
 * coefficient of variation (limits of Statistics Canada): E above 16.5 %, F above 33.3 %. Where the plan's rules say
 * otherwise, its limits count instead, and those on units besides. A number outside the range of possible
 * values or outside its own interval is F, and so is one whose interval is the whole range. A number that was not measured, or
 * has no standard error, has no flag. */
char tmi_quality(const tamis_plan *plan, const tmi_result *result);

/* The same of an estimate and its standard error alone: of expected ones, before there is a result. */
char tmi_quality_of(const tamis_plan *plan, const tmi_plan_statistic *statistic, double estimate, double se);

/* What the flags mean in this plan: some sentences, each letter between two texts. */
void tmi_quality_words(tmi_text *text, const tamis_plan *plan, const char *before, const char *after);

/* A term of a model: "sex: f (against m)". */
void tmi_term_words(tmi_text *text, const tmi_plan_model *model, size_t term);

#endif
