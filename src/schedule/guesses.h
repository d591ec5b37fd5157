/* Sizes, shares and means that a preview needs before any row is read: what the plan declares, what it guesses (`typical`), else
 * an assumption, which is reported (assumptions.c). They shape the split of the budget too; no guarantee depends on them. */
#ifndef TMI_SCHEDULE_GUESSES_H
#define TMI_SCHEDULE_GUESSES_H

#include "schedule/schedule.h"

/* What is assumed where the plan gives no number. */
#define TMI_UNITS_ASSUMED 1e6  /* units in the population */
#define TMI_CLUSTER_ASSUMED 10 /* units in a cluster whose bounds are not declared */
#define TMI_TAKEN_ASSUMED 5    /* units of a cluster that a second stage draws */
#define TMI_ICC_ASSUMED 0.05

typedef struct tmi_sizes {
    double units;               /* what statistics count, in the population: units, or rows where a unit may have several */
    double sample;              /* how many of them are in the sample; NaN if that is not known */
    double cluster, cluster_sd; /* units of a cluster: mean and standard deviation; 1 and 0 without clusters */
    double rows, rows_sd;       /* rows of a unit: mean and standard deviation; 1 and 0 if it has one */
    double taken;               /* units of a cluster that are in the sample, on average */
    double icc;
    double response;
} tmi_sizes;

/* A guess of the sample's size from the population and the largest weight, if both are known; else NaN. */
double tmi_sample_from_weights(const tmi_plan_design *design);

void tmi_sizes_make(tmi_sizes *sizes, const tmi_schedule *schedule);

/* The part of all units that a stratum has. */
double tmi_stratum_share(const tmi_schedule *schedule, size_t stratum);

/* The part of all units that a value of a category, or a bin of a number, has; equal parts unless the plan says more. */
double tmi_share_of(const tmi_plan_column *category, size_t code);
bool tmi_has_shares(const tmi_plan_column *category);

typedef struct tmi_guessed_value {
    double mean, sd; /* over the units that have a value */
    double present;  /* the part of all units that have a value */
    double low, high;
    bool typical; /* the mean is the plan's guess */
} tmi_guessed_value;

/* What is guessed about the values of a number or an indicator. */
tmi_guessed_value tmi_value_of(const tmi_plan_column *column);

/* The part of all units that fulfil a condition, or of those of its strata if the design is given. */
double tmi_part_where(const tmi_plan_column *where, const tmi_plan_design *design);

#endif
