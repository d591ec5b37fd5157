/* What a population is made of, for the files that read it and that draw from it. */
#ifndef TMI_STUDY_POPULATION_PARTS_H
#define TMI_STUDY_POPULATION_PARTS_H

#include "engine/core/cells.h"
#include "study/population.h"

/* A column of the population, by row of the file. */
typedef struct tmi_population_column {
    char *name;
    bool used;                       /* handed to the source */
    const tmi_plan_column *declared; /* a number; NULL: texts */
    double *numbers, *raw;           /* clamped to its grid; as they are in the file */
    double *contributed;             /* clamped as totals count them, if the plan bounds contributions; else NULL */
    char **texts;
    const tmi_plan_column *category; /* of texts, if the plan lists them; with codes, and the form of the file's column */
    tmi_codes *codes;
    tmi_form form;
} tmi_population_column;

/* What the file of a sample would say about a unit beside its columns: its probability, its weight, the size of its cluster, how
 * many of that are drawn. By unit of the design; NULL: nothing. */
typedef struct tmi_population_extra {
    const char *name;
    double *values;
} tmi_population_extra;

enum { TMI_INCLUSION, TMI_WEIGHT, TMI_SIZE, TMI_TAKE, TMI_EXTRAS };

struct tmi_population {
    const tamis_plan *plan;
    const tmi_plan_design *drawn_by; /* the design that samples are drawn by */
    int64_t rows, units;             /* as many, unless units have several rows */
    tmi_population_column *columns;
    size_t column_count;
    tamis_design *design;
    double *response; /* probability to respond, by row; NULL: all do */
    bool contributed; /* some column has such numbers */
    int64_t *row_of;  /* the first row, by unit of the design: stratum by stratum, cluster by cluster */
    int64_t *next;    /* the unit's next row, by row; -1: there is none. NULL: units have one row */
    tmi_population_extra extras[TMI_EXTRAS];
};

/* The texts of a column by row; NULL if there is none. */
char **tmi_population_texts(const tmi_population *population, const char *name);

/* The row of the same unit after this one; -1 if it is the last. */
int64_t tmi_population_next(const tmi_population *population, int64_t row);

/* The column of the plan with this name, if it is declared. */
const tmi_plan_column *tmi_declared_column(const tamis_plan *plan, const char *name);

/* REFUSED or INVALID with the reason; `drawn_by` is the design that samples are drawn by. */
tamis_status tmi_drawing_check(const tmi_drawing *drawing, const tamis_plan *plan, const tmi_plan_design *drawn_by,
                               tamis_error *err);

/* Sets what bounds of contributions and bounds by size leave of values. Needs probabilities. Errors: INVALID, SYSTEM. */
tamis_status tmi_population_bound(tmi_population *population, tamis_error *err);

#endif
