/* What can be said of a plan before a row is read, as texts. */
#ifndef TMI_REPORT_PREVIEW_H
#define TMI_REPORT_PREVIEW_H

#include "ledger/account.h"
#include "schedule/expected/forecast.h"
#include "schedule/outsider.h"

typedef struct tmi_preview {
    tmi_schedule schedule;
    tmi_account account;
    tmi_promised promised;   /* by the account with this release in it */
    bool refused;            /* by the ledger */
    tmi_forecast *forecasts; /* one per statistic */
} tmi_preview;

/* The caller frees the text. In the one for people what is alike shares a line, unless `all` is asked for. */
tamis_status tmi_preview_json(char **text, const tmi_preview *preview, tamis_error *err);
tamis_status tmi_preview_text(char **text, const tmi_preview *preview, bool all, tamis_error *err);

/* That the noise of a statistic is above a third of its size, and what would be enough (tmi_forecasts_advise; NaN: nothing is
 * known to be); `more` follows its title (" and 12 more"). */
void tmi_forecast_advice(tmi_text *text, const tmi_preview *preview, size_t statistic, const char *more, double loss,
                         double sample);

#endif
