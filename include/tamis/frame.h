/* From a sampling frame in a file to a sample in a file.
 *
 * The frame is a CSV or Parquet file, a row a unit. The sample is a CSV file with the frame's columns as they stand and
 * two more, inclusion_probability and weight, its inverse; its rows are in the order of the frame.                   */
#ifndef TAMIS_FRAME_H
#define TAMIS_FRAME_H

#include <tamis/num.h>

TAMIS_BEGIN

/* How to draw; what is not used is NULL or 0. Columns are named as in the frame's first line.
 *
 *   srs                                           sample
 *   bernoulli                                     rate
 *   systematic, systematic_random                 sample, for equal probabilities; otherwise as below
 *   poisson, pivotal, pivotal_random,
 *   conditional_poisson, sampford                 probability; or size, with sample (expected for poisson)
 *
 * With strata the design is drawn in each stratum by itself: `sample` units in each, or as many as the column
 * `allocation` says in all rows of the stratum.                                                                      */
typedef struct tamis_frame_design {
    const char *method;
    int64_t sample;
    const tamis_number *rate;
    const char *probability; /* column of inclusion probabilities, each in (0, 1] */
    const char *size;        /* column of positive sizes, to which the probabilities shall be proportional */
    const char *strata;      /* columns, separated by commas, whose texts together name the stratum */
    const char *allocation;  /* column of whole numbers */
} tamis_frame_design;

/* Whether the parts fit together; no file is opened.
 *
 * Errors   INVALID: the message begins with the part that is missing, wrong or of no use here.                       */
TAMIS_API tamis_status tamis_frame_design_check(const tamis_frame_design *design, tamis_error *err);

typedef struct tamis_frame_sample {
    int64_t population, sample; /* units of the frame, and drawn */
    int64_t strata;             /* 1 without strata */
} tamis_frame_sample;

/* Draws one sample. Sizes and probabilities are read as exact numbers; the law is exact.
 *
 * Needs    `frame` ends in .csv or .parquet; `out` does not exist yet.
 * Gives    the file `out`, complete or not at all; *sample is all zero on failure.
 * Cost     the frame is read two or three times; about a second for a million units. Memory for the sample, and some
 *          hundred bytes a unit if sizes or probabilities are given.
 * Errors   INVALID (a design that does not fit, a column that is missing, a cell that is no number: the message names
 *          column and row, never what stands there), UNABLE (as for the design), SYSTEM (engine, disk, memory).       */
TAMIS_API tamis_status tamis_frame_draw(tamis_frame_sample *sample, const char *frame, const tamis_frame_design *design,
                                        const char *out, tamis_error *err);

TAMIS_END

#endif
