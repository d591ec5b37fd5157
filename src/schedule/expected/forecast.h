/* What is expected of the numbers of a plan, and what would be enough where their noise is too large. */
#ifndef TMI_SCHEDULE_EXPECTED_FORECAST_H
#define TMI_SCHEDULE_EXPECTED_FORECAST_H

#include "schedule/expected/outlook.h"

/* What is expected of a statistic's numbers. */
typedef struct tmi_forecast {
    tmi_prospect *groups; /* one for each group, or a single one for all */
    size_t count;
    double loss, sample; /* enough by itself, if the noise is too large (tmi_forecasts_advise) */
} tmi_forecast;

/* One per statistic. Needs a budget that is split. Errors SYSTEM; the list is then NULL. */
tamis_status tmi_forecasts_make(tmi_forecast **list, const tmi_schedule *schedule, tamis_error *err);
void tmi_forecasts_free(tmi_forecast *list, size_t count);

/* Sets `loss`, an epsilon or rho for the whole plan, and `sample`, its size, with which the noise of a statistic would be at most
 * a third of its size: in two digits, rounded up, each tried with the plan. NaN where the noise is not too large, or where none
 * was found.
 *
 * Errors   SYSTEM. */
tamis_status tmi_forecasts_advise(tmi_forecast *list, const tmi_schedule *schedule, tamis_error *err);

/* As they are shown: an error of a mean, share or variance is never above the width of its range. */
double tmi_prospect_noise(const tmi_prospect *prospect);
double tmi_prospect_sampling(const tmi_prospect *prospect); /* NaN where it cannot be foreseen; so too the next */
double tmi_prospect_error(const tmi_prospect *prospect);    /* both together */

/* An estimate whose error is above a third of its size is not published by most agencies: in how many groups the noise alone is
 * that large. */
size_t tmi_forecast_drowned(const tmi_forecast *forecast);

#endif
