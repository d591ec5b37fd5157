/* What the engine is asked for the first stage (measure/bound_tasks.h): for each column with a private bound how many rows have a
 * value between one candidate and the next. */
#ifndef TMI_MEASURE_REQUEST_BOUNDS_H
#define TMI_MEASURE_REQUEST_BOUNDS_H

#include "measure/request/columns.h"
#include "measure/schedule.h"

typedef struct tmi_bound_query {
    tmi_columns columns;
    const tmi_column **by; /* one per task: the rows between two candidates */
    int64_t *cuts;         /* of all tasks */
    tmi_measure rows;
    tmi_table *tables;
    unsigned char key[TMI_KEY_BYTES]; /* the key that decides which rows of a unit count */
    tmi_request request;
    tmi_int128 *truth; /* all answers, in secret memory; NULL before tmi_bound_query_draw */
    tmi_int128 **answers;
} tmi_bound_query;

/* Without tasks the query has no tables. Errors: SYSTEM; cleared by the caller, whatever happens. */
tamis_status tmi_bound_query_make(tmi_bound_query *query, const tmi_schedule *schedule, tamis_error *err);

/* Makes room for the answers, and draws which rows of a unit count. */
tamis_status tmi_bound_query_draw(tmi_bound_query *query, tamis_rng *rng, tamis_error *err);

/* Wipes answers and key and frees. */
void tmi_bound_query_clear(tmi_bound_query *query);

/* How many rows are above each candidate of a task, from the smallest candidate to the largest. Secret. */
void tmi_rows_above_candidates(tmi_int128 *above, const tmi_bound_query *query, size_t task);

#endif
