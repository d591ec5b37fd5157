/* From a sampling frame in a file to a sample in a file.
 *
 * The frame is a CSV or Parquet file, one row per unit. The sample is a CSV file with the frame's columns as they are and
 * two more, inclusion_probability and weight, its inverse; its rows are in the order of the frame. With replacement the
 * sample has a row for each draw, so that a unit drawn twice appears twice; then inclusion_probability is that of being
 * drawn at all, and weight is one over the expected number of draws of the unit, the weight of Hansen and Hurwitz.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_DRAW_H
#define TAMIS_EXPERIMENTAL_DRAW_H

#include <tamis/experimental/survey.h>

TAMIS_BEGIN

/* How to draw; what is not used is NULL or 0. Columns are named as in the frame's first line. What each method needs:
 *
 *   srs, srs_with_replacement                     sample
 *   bernoulli                                     rate
 *   systematic, systematic_random                 sample, for equal probabilities; otherwise as below
 *   poisson, pivotal, pivotal_random,
 *   conditional_poisson, sampford, brewer, tille  probability; or size, with sample (expected for poisson)
 *
 * With strata the design is drawn in each stratum by itself: `sample` units in each, or as many as the column
 * `allocation` says in all rows of the stratum.
 *
 * With clusters the design draws clusters: samples, allocations and rates count these, and sizes and probabilities are
 * theirs, the same in all rows of a cluster. All units of a drawn cluster are in the sample; or, if `within` or
 * `within_column` says how many, a simple random or systematic sample of that many of them, all if it has no more; or, with
 * `within_rate`, each of them by itself with that probability, so that a drawn cluster may have no unit in the sample. The
 * sample then has the columns cluster_probability and cluster_size too. Labels of clusters count inside a stratum.          */
typedef struct tamis_frame_design {
    tamis_method method;
    int64_t sample;
    const tamis_number *rate;
    const char *probability;         /* column of inclusion probabilities, each in (0, 1] */
    const char *size;                /* column of positive sizes, that the probabilities are proportional to */
    const char *strata;              /* columns, separated by commas, whose texts together name the stratum */
    const char *allocation;          /* column of whole numbers */
    const char *cluster;             /* columns, separated by commas, whose texts together name the cluster inside its stratum */
    int64_t within;                  /* units to draw in each drawn cluster */
    const char *within_column;       /* the same as a column of whole numbers, the same in all rows of a cluster */
    int within_systematic;           /* not 0: these are every k-th of the cluster's rows, from a random start */
    const tamis_number *within_rate; /* of the units of a drawn cluster, above 0 and at most 1 */
} tamis_frame_design;

/* Whether the parts fit together; no file is opened.
 *
 * Errors   INVALID: the message begins with the part that is missing, wrong or of no use here.                       */
TAMIS_USE tamis_status tamis_frame_design_check(const tamis_frame_design *design, tamis_error *err);

typedef struct tamis_frame_sample {
    int64_t population, sample;       /* units of the frame, and drawn */
    int64_t strata;                   /* 1 without strata */
    int64_t clusters, clusters_drawn; /* 0 without clusters; drawn: with a unit in the sample */
} tamis_frame_sample;

/* Draws one sample. Sizes and probabilities are read as exact numbers; the law is exact. `watch` may be NULL.
 *
 * Needs    `frame` ends in .csv or .parquet; `out`: a path at which there is no file, or a
 *          stream.
 * Gives    the file `out`, complete or not at all; a stream is written to at the end. *sample is all zero on failure.
 * Cost     the frame is read two or three times; about a second for a million units, more for conditional Poisson,
 *          Sampford and Brewer (survey.h). Memory for the sample, and some hundred bytes per unit if sizes or probabilities
 *          are given.
 * Errors   INVALID (a design that does not fit, a column that is missing, a cell that is no number: the message names
 *          column and row, never its content), UNABLE (as for the design), SYSTEM (engine, disk, memory, cancelled).
 */
TAMIS_USE tamis_status tamis_frame_draw(tamis_frame_sample *sample, const char *frame, const tamis_frame_design *design,
                                        const tamis_stream *out, const tamis_watch *watch, tamis_error *err);

TAMIS_END

#endif
