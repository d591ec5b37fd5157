/* What tamis_check has found out, for its texts. */
#ifndef TMI_PREVIEW_H
#define TMI_PREVIEW_H

#include <tamis/release.h>

#include "release/account.h"
#include "release/outlook.h"

/* What is expected of a statistic's numbers. */
typedef struct tmi_forecast {
    tmi_prospect *groups; /* one for each group, or a single one for all */
    size_t count;
} tmi_forecast;

struct tamis_preview {
    tmi_schedule schedule;
    tmi_account account;
    tmi_forecast *forecasts; /* one per statistic */
};

/* The sampling error and the noise together; NaN where no sampling error can be foreseen. */
double tmi_prospect_error(const tmi_prospect *prospect);

/* Noise in parts of what is expected, or else of the range. */
double tmi_prospect_noise_share(const tmi_prospect *prospect);

/* An estimate whose error is above a third of its size is not published by most agencies: whether the noise alone is that large; and
 * in how many groups. */
bool tmi_prospect_drowned(const tmi_prospect *prospect);
size_t tmi_forecast_drowned(const tmi_forecast *forecast);

/* What would keep a statistic that is drowned in noise from it; in `groups` the title goes on ("and 12 more"). */
void tmi_forecast_advice(tmi_text *text, const tamis_preview *preview, size_t statistic, const char *more);

#endif
