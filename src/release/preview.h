/* What tamis_check has found out, for its texts. */
#ifndef TMI_PREVIEW_H
#define TMI_PREVIEW_H

#include <tamis/release.h>

#include "release/account.h"
#include "schedule/forecast.h"

struct tamis_preview {
    tmi_schedule schedule;
    tmi_account account;
    bool refused; /* by the ledger */
    tmi_forecast *forecasts; /* one per statistic */
};

/* That the noise of a statistic is above a third of its size, and what would be enough (tmi_forecasts_advise; NaN: nothing is known to be);
 * `more` follows its title (" and 12 more"). */
void tmi_forecast_advice(tmi_text *text, const tamis_preview *preview, size_t statistic, const char *more, double loss, double sample);

#endif
