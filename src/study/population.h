/* A population that is known to everybody, and samples of it as a release would find them.
 *
 * Numbers are clamped and put on the plan's grid when the file is read, so that the truth, the unprotected estimate and the
 * release speak of the same values.                                                                                   */
#ifndef TMI_STUDY_POPULATION_H
#define TMI_STUDY_POPULATION_H

#include <tamis/engine.h>
#include <tamis/experimental/rng.h>
#include <tamis/experimental/survey.h>

#include "plan/plan.h"

typedef struct tmi_population tmi_population;

/* How samples come about; NULL where nothing is said. */
typedef struct tmi_drawing {
    const tamis_plan *by; /* the plan whose design draws them; NULL: the plan itself */
    const char *size;     /* pps: the column of sizes that probabilities are proportional to */
    const char *response; /* nonresponse: the column of the probabilities that a sampled unit responds */
} tmi_drawing;

/* Reads a .csv or .parquet file and makes the design for it. A row is a unit; where the plan has `rows_per_unit`, all rows with
 * the same id are one: they are drawn together, and the first of them says its stratum, cluster, size and probability to
 * respond. A weight column that the plan names holds one over the unit's inclusion probability.
 *
 * Errors   INVALID (a column is missing, sizes contradict the plan, a unit is in two strata or has too many rows), REFUSED (a
 *          design that cannot be drawn here), SYSTEM. */
tamis_status tmi_population_read(tmi_population **population, const tamis_plan *plan, const tmi_drawing *drawing,
                                 const char *path, tamis_error *err);
void tmi_population_free(tmi_population *population);

int64_t tmi_population_size(const tmi_population *population); /* units */
int64_t tmi_population_rows(const tmi_population *population);
/* Adds the number of units with k rows to counts[k], up to rows_per_unit of the plan. */
void tmi_population_unit_rows(int64_t *counts, const tmi_population *population);
/* sums[u]: what the sizes of these values, one per row, add up to in unit u. Missing ones add nothing. */
void tmi_population_unit_sums(double *sums, const tmi_population *population, const double *numbers);
const tamis_design *tmi_population_design(const tmi_population *population);

/* Numbers clamped and on the plan's grid; as they are in the file; or as totals count them, contributions clamped too. */
typedef enum tmi_which_values { TMI_VALUES, TMI_RAW_VALUES, TMI_SUMMED_VALUES } tmi_which_values;

/* The values of a declared number by row of the file: as they are there, and those that clamped samples have, which a study may
 * change before it draws. NULL: the file has no such column. */
const double *tmi_population_raw(const tmi_population *population, const tmi_plan_column *number);
double *tmi_population_numbers(tmi_population *population, const tmi_plan_column *number);

/* Room for one sample at a time; each thread has its own. The caller frees it before the population. */
typedef struct tmi_sample_room tmi_sample_room;
tamis_status tmi_sample_room_new(tmi_sample_room **room, const tmi_population *population, tamis_error *err);
void tmi_sample_room_free(tmi_sample_room *room);

/* Keeps those of the units who respond, each by itself with its probability; all if there is none. Errors: SYSTEM. */
tamis_status tmi_sample_respond(int64_t *units, size_t *count, const tmi_population *population, tamis_rng *rng,
                                tamis_error *err);

/* These units of the design, or all of them if `units` is NULL, as the rows of a source that the caller frees before the room.
 * The next call ends the last source's rows. */
tamis_status tmi_sample_source(tamis_source **source, tmi_sample_room *room, const int64_t *units, size_t count,
                               tmi_which_values values, tamis_error *err);

/* Whether totals of some column count other values than other statistics do. */
bool tmi_population_contributes(const tmi_population *population);

#endif
