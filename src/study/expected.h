/* What a plan's preview expects of every statistic, before the fact. */
#ifndef TMI_STUDY_EXPECTED_H
#define TMI_STUDY_EXPECTED_H

#include <stdbool.h>
#include <tamis/plan.h>

#include "base/text.h"

/* One number that the plan will publish, or several with the same errors. */
typedef struct tmi_expected_row {
    char *statistic;                    /* "mean api00 by stype" */
    char *group;                        /* "stype=E"; "" if there is none, or all groups are alike */
    bool known;                         /* published without noise */
    double noise, sampling, both, size; /* standard deviations, and the expected number; NaN: not known without guesses */
} tmi_expected_row;

typedef struct tmi_expected {
    tmi_expected_row *rows;
    size_t count, room;
} tmi_expected;

/* Clear it in any case. Errors: as tamis_preview_new. */
tamis_status tmi_expected_of(tmi_expected *expected, const tamis_plan *plan, tamis_error *err);
void tmi_expected_clear(tmi_expected *expected);

/* For people: "mean api00 by stype: E". */
void tmi_expected_name(tmi_text *text, const char *statistic, const char *group);

/* The same if the plan had another epsilon, or rho where it counts that, and no budget. */
tamis_status tmi_expected_at(tmi_expected *expected, const tamis_plan *plan, double eps, tamis_error *err);

/* What the plan spends: epsilon or rho. */
double tmi_plan_spends(const tamis_plan *plan);
bool tmi_plan_counts_rho(const tamis_plan *plan);

#endif
