/* The sampled rows as lists, for unprotected estimates: the values of the plan's columns, what a row represents, and where it
 * was drawn. Inside the agency only. */
#ifndef TMI_ESTIMATE_SAMPLE_H
#define TMI_ESTIMATE_SAMPLE_H

#include "measure/frame/frame_file.h"
#include "measure/request/columns.h"
#include "schedule/result.h"

typedef struct tmi_sample {
    const tamis_plan *plan;
    tmi_columns columns;
    size_t count;

    /* As the file has them; NULL where the plan has none. */
    void **lists;          /* one per column of columns.files: doubles, int32_t codes (-1: missing), int64_t labels (-1) */
    void **made;           /* one per column of the plan: values, or bins and indicators made from them */
    const int32_t *strata; /* codes; every row has one */
    const int64_t *units, *clusters, *labels; /* labels: strata of a finished survey */
    const double *second_population, *second_sample;

    tmi_frame_file frame;       /* empty: the plan names none */
    const int32_t *frame_units; /* the place of each row's unit in it */

    double *probabilities;              /* those of the frame, where there is one; NULL: the design has none */
    double *weights;                    /* how many units a row represents */
    int64_t rows_beyond, weights_above; /* rows beyond rows_per_unit, weights above max_weight: a release cuts them */
    int64_t units_above;                /* units whose weights add up to more than max_unit_weight, */
    double weight_beyond;               /* and what a release takes off them, as a share of all weights */
    double **unit_factors; /* by which a release shrinks what each row adds to totals: one list per column of the plan,
                                           NULL where the plan does not bound what a unit adds */
    tmi_psu_misfits psus;
    char **replicate_names; /* columns of replicate weights, and their rows */
    const double **replicates;
    size_t replicate_count;
    size_t room;
} tmi_sample;

/* Reads what the plan's statistics need, a column once.
 *
 * Gives    lists that tmi_sample_clear frees; how many values of each column are missing or outside its bounds.
 * Cost     8 bytes a row and column.
 * Errors   INVALID (a column is missing; numbers of units that contradict the design; a weight, probability, stratum, cluster or
 *          unit is missing), SYSTEM (memory, cancelled, the engine).                                                 */
tamis_status tmi_sample_read(tmi_sample *sample, tmi_column_facts *facts, const tamis_plan *plan, tmi_engine *engine,
                             const tamis_watch *watch, tamis_error *err);
void tmi_sample_clear(tmi_sample *sample);

/* The values of a number, NaN where they are missing; the codes of a category, -1 where they are. */
const double *tmi_sample_numbers(const tmi_sample *sample, const tmi_plan_column *column);
const int32_t *tmi_sample_codes(const tmi_sample *sample, const tmi_plan_column *column);

/* The stratum of a row, 0 without strata. */
size_t tmi_sample_stratum(const tmi_sample *sample, size_t row);

/* Of a design of two stages: how many units of its cluster a row represents; NaN where the sizes are not positive. */
double tmi_sample_second_weight(const tmi_sample *sample, size_t row);

#endif
