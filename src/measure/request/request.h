/* What the engine is asked for, written from the schedule before any row is read: one table for each set of dimensions,
 * each integer in it once; a list of points for each quantile task; and what may be counted before the charge. */
#ifndef TMI_MEASURE_REQUEST_REQUEST_H
#define TMI_MEASURE_REQUEST_REQUEST_H

#include "engine/core/points.h"
#include "measure/request/columns.h"
#include "measure/request/contributions.h"
#include "measure/request/psu_slots.h"
#include "measure/schedule.h"

/* Where the integers of a measurement are among the answers: one measure per level that is added up. */
typedef struct tmi_slot {
    size_t table, measure;
} tmi_slot;

/* The engine's columns of an axis or of classes; NULL where there is none. */
typedef struct tmi_axis_columns {
    const tmi_column *from_below, *from_above; /* a number: its points less the lowest, less the highest of its grid */
    int64_t low, high;                         /* what is still to be subtracted from these */
    const tmi_column *missing, *width;         /* 1 where it is missing, else 0; and m, if each stratum has its own */
    int64_t numbers[2];                        /* 0 and 1, or m */
} tmi_axis_columns;

/* Clusters of a list (psu_file.h): how the engine finds the slot of a row's cluster. */
typedef struct tmi_cluster_list {
    const tmi_psu_file *psus; /* NULL if there is no list */
    bool crossed;             /* labels begin again in each stratum: a place is stratum times labels plus label */
    int64_t *numbers, *cuts;  /* places of strata, then of labels, and where each begins; NULL if they are not crossed */
    int32_t *codes;           /* the slot of each place; -1 for no cluster of the list */
} tmi_cluster_list;

#define TMI_CLUSTER_COLUMNS 12 /* weights and slots of clusters need no more columns */

typedef struct tmi_query {
    tmi_columns columns;
    tmi_psu_slots psus;
    const tmi_column *stratum, *cluster, *unit; /* NULL where the design has none */
    const tmi_column *units;                    /* the dimension of slots */
    const tmi_column *weight;                   /* the weight of a row; NULL if all weigh the same */
    const tmi_column *own_weight;               /* the same, not bounded by unit */
    const tmi_column **of_units;                /* what a row adds to totals of a domain's number; one per domain, or NULL */
    tmi_axis_columns *axes;                     /* one per axis */
    const tmi_column **classes;                 /* one per list of classes */
    int32_t *class_numbers;                     /* the classes of all lists */
    int64_t *ends;                              /* lowest, highest and m in each stratum, of numbers with ranges by stratum */
    const tmi_column *spread;                   /* the factor a of a stratum's squares */
    const tmi_column *clamped;                  /* the weight, bounded for sampling variances */
    tmi_cluster_list listed;
    int64_t *frame_points, *frame_rest; /* for each unit of a frame its weight, and its weight times 1 - probability */
    int64_t *frame_clamped;             /* for each unit of a frame its bounded weight */
    const tmi_column *rest;             /* w (1 - pi) of the row's unit; NULL where w - 1 is used */
    const tmi_column *frame_unit;       /* the row's unit in the frame; NULL without a frame */
    const tmi_column *part; /* for contributions, whether that unit is certain to be drawn; NULL if all are one part */
    tmi_asked_contributions contributions;
    tmi_table *tables;
    size_t table_count;
    tmi_measure *measures;            /* of all tables */
    const tmi_column **by;            /* of all tables */
    tmi_slot *slots;                  /* one per measurement */
    tmi_points_request *lists;        /* one per quantile task */
    const tmi_column **lists_by;      /* of all lists */
    unsigned char key[TMI_KEY_BYTES]; /* the key that decides which rows of a unit count */
    tmi_request request;
    tmi_int128 *truth;    /* all answers, in secret memory; NULL before tmi_query_make_room */
    tmi_int128 **answers; /* those of each table */
} tmi_query;

/* Errors   INVALID (more integers than an engine counts in one pass, TMI_MAX_CELLS), SYSTEM.                           */
tamis_status tmi_query_make(tmi_query *query, const tmi_schedule *schedule, tamis_error *err);

/* Adds the column of bounded weights. */
void tmi_query_add_bounded_weight(tmi_query *query, const tmi_schedule *schedule);

/* Clusters (cluster_columns.c): make room for a list, add the columns of slots, and put the slots that were drawn into the
 * list. */
tamis_status tmi_query_make_clusters(tmi_query *query, const tmi_schedule *schedule, tamis_error *err);
void tmi_query_add_clusters(tmi_query *query, const tmi_schedule *schedule);
void tmi_query_place_clusters(tmi_query *query);

/* Draws what is left to chance before a row is read: which clusters are added up together, and which rows of a unit count. */
tamis_status tmi_query_draw(tmi_query *query, tamis_rng *rng, tamis_error *err);

/* Makes room for the answers. */
tamis_status tmi_query_make_room(tmi_query *query, tamis_error *err);
/* Wipes answers and keys and frees. */
void tmi_query_clear(tmi_query *query);

/* What the engine added up for the second stage, for one level of a cell in a slot of PSUs. It is secret. */
tmi_int128 tmi_query_total(const tmi_query *query, const tmi_schedule *schedule, size_t measurement, size_t slot, size_t cell,
                           size_t level);

/* A true integer of a measurement, unless it is one of the second stage (release/second_stage.h). Secret until noise is added. */
tmi_int128 tmi_query_truth(const tmi_query *query, const tmi_schedule *schedule, size_t measurement, size_t number);

#endif
