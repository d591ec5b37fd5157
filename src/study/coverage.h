/* What a study has counted, for its runs and for its texts. */
#ifndef TMI_COVERAGE_H
#define TMI_COVERAGE_H

#include <tamis/study.h>

#include "release/results.h"

/* What became of one interval. */
typedef struct tmi_tally {
    int64_t covers, given;
    double width; /* sum */
} tmi_tally;

typedef struct tmi_coverage_cell {
    double truth;
    tmi_tally own, bare;    /* the release's, the unprotected one */
    double part;            /* sum over `parts` runs of the sampling error's part in the whole error, 1 without noise */
    int64_t parts;
    int64_t limited;        /* releases with a note, such as a variance that is an upper limit */
    bool known, exact;      /* exact: the interval is that of a test of a count, inverted */
} tmi_coverage_cell;

struct tamis_coverage {
    const tamis_plan *plan;
    int64_t population, runs;
    tmi_coverage_cell *cells;
    tmi_results places; /* statistic and cell of each; the numbers in it are not used */
    bool weighed;       /* sums hold weights: their variance formula takes no stratum's mean off */
};

/* Share of the intervals that hold the truth, and its Monte-Carlo error; NaN if there is none. */
double tmi_tally_share(const tmi_tally *tally);
double tmi_tally_error(const tmi_tally *tally);

/* Whether a cell is reported: something was released, and the truth is a number. */
bool tmi_coverage_counts(const tmi_coverage_cell *cell);

#endif
