/* A quantile inside the library. */
#ifndef TMI_MECH_QUANTILE_QUANTILE_H
#define TMI_MECH_QUANTILE_QUANTILE_H

#include <tamis/experimental/distribution.h>
#include <tamis/experimental/quantile.h>

#include "mech/quantile/inverse.h"

/* One quantile: its rank, and the rate of its law, epsilon / (2 * the largest change of a distance by a unit). */
typedef struct tmi_target {
    tmi_rank rank;
    tamis_number *rate;
} tmi_target;

/* From this many steps on values that cannot be negative are taken to be skewed (docs/quantiles.md, log_unit). */
#define TMI_SKEWED_STEPS 1000

struct tamis_quantile {
    tamis_quantile_method method; /* not AUTO */
    tmi_grid grid;
    tamis_number *log_unit; /* in steps; NULL: uniform */
    tamis_number *epsilon;  /* NULL: PREFIX */
    int64_t rows_per_unit, most_weight;
    bool add_remove, weighted;
    int64_t rows;        /* public number of rows; 0: not known */
    tmi_target *targets; /* JOINT: the ranks alone */
    size_t count;
    int64_t *ranks, common;   /* JOINT: P_j and d */
    tamis_number *joint_rate; /* JOINT */
    tamis_number *key_unit;   /* JOINT, SPLIT: log_unit in places of keys */
    struct tmi_above *above;  /* THRESHOLD, HISTOGRAM: the noise of each */
    int64_t *candidates;      /* THRESHOLD, HISTOGRAM */
    size_t candidate_count;
    struct tmi_smooth *smooth;        /* SMOOTH: the noise of each */
    tamis_distribution *distribution; /* TREE, PREFIX */
    tmi_uniform_bits *bits;           /* of the next call */
    size_t bit_count;
};

/* epsilon / (2 S) for a quantile of one part of the data, and how far its window reaches, on a grid with this many points; S is
 * the largest change of its distance by a unit. SYSTEM. */
tamis_status tmi_target_set(tmi_target *target, const tamis_quantile *quantile, const tamis_number *epsilon, bool add_remove,
                            double points, tamis_error *err);

/* What JOINT and SPLIT need beside the ranks, from `at`. INVALID names `at`, SYSTEM. */
tamis_status tmi_joint_set(tamis_quantile *quantile, tamis_error *err);
tamis_status tmi_splitting_set(tamis_quantile *quantile, const tamis_number *const *at, tamis_error *err);

/* Zero-concentrated privacy: what is found with epsilon is epsilon^2 / c -zCDP, for all answers of a call together; c is given.
 *
 * A draw from exp(-rate * distance) times a measure has a loss that lies in a range of length e = 2 * rate * (the largest
 * change of a distance), and is e^2 / 8 -zCDP by Hoeffding's lemma (Cesar and Rogers 2021); pure privacy alone would give
 * e^2 / 2. A unit meets m such draws with e = epsilon / m in INVERSE, one with epsilon in JOINT, and in SPLIT one per level,
 * with e = epsilon / levels: or two in different parts, with half of that each, which is less. Random places of records are
 * drawn before, and the same for neighbours. Losses add up. THRESHOLD is no such draw: m of them with epsilon / m each, of
 * pure privacy. */
int64_t tmi_quantile_concentration(tamis_quantile_method method, size_t count);

/* How many such draws a unit meets, each with a range of epsilon divided by their number; 0: the method makes none. */
int64_t tmi_quantile_selections(tamis_quantile_method method, size_t count);

/* p/d in lowest terms. Needs 0 < at < 1. INVALID names `at`, SYSTEM. */
tamis_status tmi_quantile_fraction(int64_t *p, int64_t *d, const tamis_number *at, tamis_error *err);

/* Records of which equal ones are one entry. */
typedef struct tmi_counted_records {
    const int64_t *points, *weights; /* weights: NULL without */
    const int64_t *counts;           /* of records with this point and weight; at least 1 */
    size_t count;
} tmi_counted_records;

/* As tamis_quantile_points of these records: the same law. Errors: as there. */
tamis_status tmi_quantile_counted(int64_t *points, tamis_quantile *quantile, const tmi_counted_records *entries, tamis_rng *rng,
                                  tamis_error *err);

/* Records that a call takes at most, so that their weights can be added up. */
int64_t tmi_quantile_most_records(const tamis_quantile *quantile);

/* How many quantiles a call finds. */
size_t tmi_quantile_count(const tamis_quantile *quantile);

/* The number of candidates or bins of a method that has any; else 0. */
int64_t tmi_quantile_bins(const tamis_quantile *quantile);

/* TREE, PREFIX: the largest standard deviation of the noise of a prefix sum, in records of the largest weight; else 0. */
double tmi_quantile_deviation(const tamis_quantile *quantile);

/* Whether the noise of an answer needs the delta of the setup: SMOOTH, where Laplace noise is the smaller. */
bool tmi_quantile_spends_delta(const tamis_quantile *quantile);

/* The lower end of an answer's cell, of which tamis_quantile_error speaks: the candidate or bin before it, or the lowest point;
 * the answer itself where every grid point can be one. Needs an answer of this quantile. */
int64_t tmi_quantile_cell(const tamis_quantile *quantile, int64_t point);

/* The answers with what has been drawn. Errors: SYSTEM, INVALID, UNABLE. */
tamis_status tmi_quantile_find(int64_t *points, tamis_quantile *quantile, const tmi_records *records, tamis_rng *rng,
                               tamis_error *err);

/* The records of a call. INVALID. */
tamis_status tmi_quantile_records(tmi_records *records, const tamis_quantile *quantile, const double *values,
                                  const int64_t *points, const int64_t *weights, size_t count, tamis_error *err);

#endif
