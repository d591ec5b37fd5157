/* The results of a tally, computed once, and the forms in which they are written. */
#ifndef TMI_COLLECT_TALLY_OUTPUT_H
#define TMI_COLLECT_TALLY_OUTPUT_H

#include "base/lines.h"
#include "collect/tally/guarantee.h"

typedef struct tmi_tally_results {
    const tamis_tally *tally;
    tmi_asked asked;
    tamis_tally_share *shares;
    tamis_tally_guarantee guarantee;
    double *cells;      /* of whole reports: unbiased, then consistent; NULL: no table */
    double *covariance; /* of the unbiased ones */
} tmi_tally_results;

/* Clear it whatever happens. */
tamis_status tmi_tally_results_make(tmi_tally_results *r, const tamis_tally *tally, const tamis_tally_question *question,
                                    tmi_upper_bounds bounds, tamis_error *err);
void tmi_tally_results_clear(tmi_tally_results *r);

typedef tamis_status tmi_tally_form(tmi_text *text, const tmi_tally_results *r, tamis_error *err);
tmi_tally_form tmi_tally_put_json, tmi_tally_put_text, tmi_tally_put_csv, tmi_tally_put_page;

/* The guarantee in words, and warnings. SYSTEM sets lines->failed. */
void tmi_tally_words(tmi_lines *lines, const tmi_tally_results *r);
void tmi_tally_warnings(tmi_lines *lines, const tmi_tally_results *r);

#endif
