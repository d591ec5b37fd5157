/* What a plan holds once it has been read: checked values, exact numbers, pointers instead of names.
 *
 * Two ideas keep everything that works with a plan simple. Every design is strata times one design within them; without
 * strata there is one stratum without a name. And what a statistic is about is always a column: a number (of the file, or
 * an indicator, which is 0 or 1) or a category (of the file, or the cuts of a number). Columns made from others stand in
 * the same array, after the declared ones, each once; two columns may have the same name, so columns are compared as pointers.
 *
 * Invariants of a plan that was read without error:
 *  1  There is at least one stratum; their names are different; 0 <= population, sample <= 2^40 in each and in all, where 0
 *     is "not public"; sample <= population where both are public and units are drawn without replacement.
 *  2  A number has at least two grid points (in every stratum), all below 2^52 in size; a category has at least one value,
 *     all different; cuts ascend and leave a grid point in every bin; a condition holds for at least one point or code.
 *  3  Pointers to columns are NULL or point into `columns`; a statistic's `column` and `second` are numbers, its `by` columns
 *     are categories, all different; `where` is an indicator.
 *  4  A loss is one of epsilon, epsilon and delta, rho, all > 0; delta < 1; shares > 0, 0 < confidence < 1; the cells of all
 *     statistics together are at most 2^20.                                                                          */
#ifndef TMI_PLAN_PLAN_H
#define TMI_PLAN_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <tamis/experimental/outline.h>
#include <tamis/experimental/setting.h>
#include <tamis/num.h>
#include <tamis/plan.h>

#include "base/sha256.h"
#include "num/grid.h"
#include "plan/allowed.h"
#include "plan/design_kind.h"

/* Populations: 2^40 is a thousand billion. The engine's bound of int128 sums starts from the same number. */
#define TMI_MAX_POPULATION (INT64_C(1) << 40)
#define TMI_MAX_PLAN_CELLS (INT64_C(1) << 20)
#define TMI_MAX_STATISTICS 2000 /* their tables are chosen within two seconds (docs/accuracy.md) */
#define TMI_MAX_COLUMNS 1000
#define TMI_FEWEST_SHRUNK 5 /* groups: the likelihood of how they differ has no maximum with three */
#define TMI_MAX_FILES 1000
#define TMI_MAX_BY 8
#define TMI_MAX_MISSING_CODES 100

#define TMI_MAX_WAVE_GROUPS 1000 /* as many as a ledger takes */
#define TMI_MAX_STRATA 10000
#define TMI_MAX_STRATA_COLUMNS 4 /* that cross into strata */
#define TMI_MAX_AT 1000
#define TMI_MAX_CURVE_CUTS 256 /* of one distribution function */
#define TMI_MAX_ALL_CUTS 2048  /* of all distribution functions of a plan */
#define TMI_MAX_CUTS 10000
#define TMI_MAX_CONDITIONS 16
#define TMI_MAX_ROWS_PER_UNIT 1000000

/* Bytes of a title, label or unit of measure: 80 characters of four bytes, the longest label of Stata; SPSS and SAS have 256
 * bytes. */
#define TMI_MAX_LABEL 320

typedef struct tmi_plan_column tmi_plan_column;

/* ---- columns ---- */

typedef struct tmi_plan_range {
    tamis_number *from, *to, *step;
    tmi_grid grid; /* the same three as doubles, and the ends of the grid as integers */
} tmi_plan_range;

/* One of those that an indicator asks for, all of them. A value that is missing fulfils none. */
typedef struct tmi_plan_condition {
    const tmi_plan_column *column;
    int64_t least, most; /* a number: grid points, both included */
    int32_t *codes;      /* a category: ascending */
    size_t code_count;
} tmi_plan_condition;

typedef enum tmi_missing {
    TMI_LEAVE_OUT,
    TMI_AS_CATEGORY, /* a category: the last of `values`, "missing", which no text of the file has */
    TMI_AS_VALUE,    /* counted as `instead` */
    TMI_NEVER /* declared complete: a row without a value counts as `instead`, the middle of the range or the first value */
} tmi_missing;

struct tmi_plan_column {
    char *name;                  /* of an indicator "awards=Yes", of cuts the name of the number */
    char *label, *measured_in;   /* for the report only: what it is called, unit_of_measure; NULL if not given */
    bool is_number, is_category; /* exactly one of them */
    tmi_missing missing;
    int64_t instead; /* AS_VALUE, NEVER: a grid point (there is one step then, and it is in every stratum's grid), or a code */

    /* a number */
    tamis_number *from, *to, *step; /* over all strata: the lowest, the highest, the smallest */
    tmi_grid grid;
    tmi_plan_range *by_stratum;         /* NULL: the same everywhere; else one per stratum, each step a multiple of `step` */
    tamis_number *typical, *typical_sd; /* public guesses of mean and standard deviation; NULL if not given */
    tamis_number *typical_share;        /* public guess of the share of units that have a value; NULL if not given */
    double *missing_codes;
    size_t missing_code_count;
    tamis_number
        *contribution; /* in totals weight times value counts up to this size; NULL: as far as the range and weights go */
    tamis_number *unit_contribution; /* the same of all rows of a unit together; NULL: no bound */
    tamis_number
        *times; /* `to` is this many times a size in the frame, `to` and `grid` only what a grid allows; NULL: it is not */
    char *of;   /* with `times`: the column of the frame */
    tamis_number
        *private_share; /* of the budget: a release finds the bound with it (plan/private_bounds.h); NULL: `to` is public */


    /* a category */
    char **values;
    size_t value_count;
    char **missing_texts; /* codes that mean missing */
    size_t missing_text_count;
    tamis_number **shares; /* public guesses, one per value, NULL where not given; NULL: none is given */
    const tmi_plan_column
        *recode_of;  /* the category of which it is a public recode, such as that of the strata; NULL: it is read from the file */
    int32_t *recode; /* the code of each value of that */
    bool is_recoded; /* declared with `strata` or `parts`: `recode_of` is read after the design */
    const tmi_plan_column *joint_of, *joint_with; /* the strata by several columns are joined from two categories; else NULL */
    int32_t *joint; /* the code of each pair of their values, the second running fastest; -1: there is no such stratum */

    /* made from other columns; NULL in a column of the file */
    const tmi_plan_column *cut_of;  /* a category: the bin of this number; values[] are "[0,16)", ..., "[65,120]" */
    int64_t *cuts;                  /* value_count - 1 grid points; a point's bin is how many of them are <= it */
    tamis_number **ends;            /* value_count + 1 numbers: bin i is [ends[i], ends[i+1]), the last one closed */
    tmi_plan_condition *conditions; /* a number, 0 or 1 */
    size_t condition_count;
};

/* ---- design ---- */

typedef enum tmi_variance_method {
    TMI_VARIANCE_BEST, /* not said: exact where joint probabilities are known */
    TMI_VARIANCE_EXACT,
    TMI_VARIANCE_HORVITZ_THOMPSON,
    TMI_VARIANCE_YATES_GRUNDY,
    TMI_VARIANCE_HAJEK,
    TMI_VARIANCE_DEVILLE,
    TMI_VARIANCE_BREWER,
    TMI_VARIANCE_HARTLEY_RAO,
    TMI_VARIANCE_OVERTON,
    TMI_VARIANCE_WITH_REPLACEMENT
} tmi_variance_method;

/* How units are drawn in a cluster: a fixed number, each as likely as the others; or each by itself, all at one rate. */
typedef enum tmi_second_method { TMI_SECOND_SRS, TMI_SECOND_SYSTEMATIC, TMI_SECOND_BERNOULLI } tmi_second_method;

/* How replicate weights were made: of R's svrepdesign. */
typedef enum tmi_replicate_type { TMI_JK1, TMI_JKN, TMI_BRR, TMI_FAY, TMI_BOOTSTRAP, TMI_OTHER_REPLICATES } tmi_replicate_type;
#define TMI_MAX_REPLICATES 10000

/* Replicate weights, for estimate alone. */
typedef struct tmi_plan_replicates {
    char **weights; /* columns, or one pattern with a *; NULL: there are none */
    size_t count;
    bool is_pattern;
    tmi_replicate_type type;
    tamis_number *scale, *rho; /* NULL: what the type has; fay */
    tamis_number **rscales;    /* NULL: all 1 */
    size_t rscale_count;
    bool mse; /* squares are about the estimate, not about the mean of the replicates */
} tmi_plan_replicates;

const char *tmi_replicate_type_name(tmi_replicate_type type);

/* Statistics whose design effects are alike. */
typedef enum tmi_family_of { TMI_TOTALS, TMI_SHARES, TMI_MEANS, TMI_FAMILIES } tmi_family_of;

/* Sizes count what is drawn: units, draws (with replacement), clusters (cluster, two_stage); 0: not public, or random. */
struct tmi_plan_stratum {
    char *name; /* NULL in a design without strata */
    int64_t population, sample;
    tamis_number *rate; /* bernoulli; else NULL */
};

/* Public guesses, used only for previews and the split of the budget; NULL where not given. */
typedef struct tmi_plan_typical {
    tamis_number *population, *sample;  /* where the design does not say them */
    tamis_number *cluster, *cluster_sd; /* units in a cluster: mean and standard deviation */
    tamis_number *taken;                /* two_stage: units drawn in a cluster */
    tamis_number *rows, *rows_sd;       /* of a unit: mean and standard deviation */
    tamis_number *response;             /* share of the sampled who are in the file */
    tamis_number *icc;                  /* intraclass correlation: how alike the units of a cluster are */
} tmi_plan_typical;

struct tmi_plan_design {
    const tmi_plan_kind *kind;  /* within strata, if there are any */
    const tmi_plan_kind *first; /* two_stage: how clusters are drawn, srs, systematic or pps; else NULL */
    tmi_second_method second;   /* two_stage */
    const tmi_plan_column *by;  /* stratum h is value h of this category; NULL: no strata */
    /* strata by several columns: the columns of the file, which the plan lists with their values; `by` combines them */
    const tmi_plan_column *parts[TMI_MAX_STRATA_COLUMNS];
    size_t part_count; /* 0: one column */
    tmi_plan_stratum *strata;
    size_t stratum_count;
    bool doubtful;              /* while the plan is read: the design itself, not what is beside it, was complained about */
    int64_t population, sample; /* sums over the strata; 0: not public, or random */

    /* names of columns of the file, which need not be declared; NULL where the design has none */
    char *probability;                       /* poisson, pps; two_stage: of the cluster, where clusters are drawn by pps */
    char *cluster;                           /* cluster, two_stage, weights (optional) */
    char *second_population, *second_sample; /* two_stage: sizes of the clusters, units drawn in them */
    char *strata_label;                      /* weights (optional): strata with any labels */
    char *weight;                            /* replaces the weight that the design implies; NULL: implied */

    tamis_method method;       /* pps */
    char *frame;               /* poisson, pps: path of a file with all units' probabilities, matched by id; NULL: none */
    char *psus;                /* weights: path of a file with all sampled clusters and their strata; NULL: none */
    bool random_order;         /* systematic */
    int64_t smallest, largest; /* cluster: units in one */
    int64_t second_take;       /* two_stage: units drawn in each cluster, at most all of it; 0: column second_sample */
    int64_t second_smallest;   /* two_stage: units of the smallest cluster of the frame; 0: not said */
    tamis_number *second_rate; /* two_stage, bernoulli: of the units of a drawn cluster; else NULL */
    tamis_number
        *deff; /* weights: public, in the place of strata and clusters, of all statistics that have no other; else NULL */
    tamis_number *deff_of[TMI_FAMILIES]; /* of a family of statistics; NULL: that of all */

    tamis_number *max_weight, *weight_step; /* where weights or probabilities are read, or NULL (max_weight: with a frame) */
    tamis_number *max_unit_weight; /* what the weights of a unit's rows add up to at most, not below max_weight; NULL: no bound */
    tamis_number *regularise;      /* by this share, in (0, 1), weights are moved towards their mean; NULL: they are not */
    bool weights_final;            /* weights_are: final */
    bool nonresponse;              /* the file holds respondents only */
    tmi_variance_method variance;  /* for estimate */
    tmi_plan_replicates replicates;
    tmi_plan_typical typical;
};

/* Whether clusters are drawn with unequal probabilities, and units in them. */
static inline bool tmi_draws_clusters_unequally(const tmi_plan_design *design) { return design->first && design->first->unequal; }

/* Whether only the second stage hides anybody: clusters are drawn in a way that no theorem couples, or nobody says how many
 * records a cluster has at most (plan/design/two_stage.c). */
static inline bool tmi_hides_within_clusters(const tmi_plan_design *design)
{
    return design->first && (design->first != &tmi_plan_kind_srs || design->second_rate);
}

/* Whether how many sampled units a cluster has is left to chance: it may have none, and then nobody sees that it was drawn. */
static inline bool tmi_may_be_empty(const tmi_plan_design *design) { return design->second_rate != NULL; }

/* Whether a category is the column of the strata, or follows from it. */
static inline bool tmi_is_of_strata(const tmi_plan_design *design, const tmi_plan_column *category)
{
    return design->by && (category == design->by || category->recode_of == design->by);
}

/* Whether a category is one of several columns that cross into strata. */
static inline bool tmi_is_part_of_strata(const tmi_plan_design *design, const tmi_plan_column *category)
{
    for (size_t k = 0; k < design->part_count; k++)
        if (design->parts[k] == category) return true;
    return false;
}

/* The code that such a category has in a stratum. */
static inline size_t tmi_code_in_stratum(const tmi_plan_column *category, size_t stratum)
{
    return category->recode ? (size_t)category->recode[stratum] : stratum;
}

/* Whether a condition on a category holds for a code. */
bool tmi_condition_has(const tmi_plan_condition *condition, size_t code);

/* Whether the design leaves these to a guess. */
bool tmi_guesses_population(const tmi_plan_design *design);
bool tmi_guesses_sample(const tmi_plan_design *design);
bool tmi_guesses_cluster(const tmi_plan_design *design);
bool tmi_guesses_taken(const tmi_plan_design *design);

/* ---- statistics ---- */

typedef enum tmi_statistic_kind {
    TMI_COUNT,
    TMI_TOTAL,
    TMI_MEAN,
    TMI_SHARE,     /* the mean of an indicator */
    TMI_RATIO,     /* column / second */
    TMI_TABLE,     /* weighted counts; the columns of the table are the first of `by` */
    TMI_HISTOGRAM, /* weighted counts; the bins are the last of `by` */
    TMI_VARIANCE,
    TMI_CONTRAST_DIFFERENCE, /* these four are contrasts: numbers made of other statistics' numbers */
    TMI_CONTRAST_QUOTIENT,
    TMI_CONTRAST_WEIGHTED,
    TMI_CONTRAST_CHANGE, /* of a number since an earlier release */
    TMI_CORRELATION,     /* of column and second */
    TMI_REGRESSION,      /* of column on what its model says: several numbers a group, one for each term */
    TMI_PRODUCTS, /* of column and second, with their sums and squares: what models of numbers are made of; never asked for */
    TMI_QUANTILE, /* from here on: what is read from a distribution function */
    TMI_MEDIAN,
    TMI_IQR,         /* the interquartile range; those after it are shares and quotients */
    TMI_SHARE_BELOW, /* of a line */
    TMI_POVERTY,     /* the share below `line` times the median */
    TMI_GINI,
    TMI_S80S20 /* the total of the upper fifth divided by that of the lower one */
} tmi_statistic_kind;

static inline bool tmi_is_of_distribution(tmi_statistic_kind kind) { return kind >= TMI_QUANTILE; }

static inline bool tmi_is_contrast(tmi_statistic_kind kind)
{
    return kind >= TMI_CONTRAST_DIFFERENCE && kind <= TMI_CONTRAST_CHANGE;
}

/* Numbers that a model with uncut predictors has, the one that it explains included; and pairs of them. Its tables have a level
 * for each combination of three levels of each. */
#define TMI_MAX_NUMBERS 6
#define TMI_MAX_PAIRS (TMI_MAX_NUMBERS * (TMI_MAX_NUMBERS - 1) / 2)

/* What a contrast compares: groups of a statistic, which is one that was asked for, or one after those. */
typedef struct tmi_plan_compared {
    tmi_statistic_kind kind; /* count, total, mean, share, ratio; of a model of numbers, product */
    const tmi_plan_column *column, *second;
    const tmi_plan_column *also[TMI_MAX_NUMBERS - 2]; /* of a product: numbers that a row must have too */
    size_t also_count;
    size_t statistic;
    size_t across;         /* the place of `across` among its `by` columns; SIZE_MAX: it is not by that column */
    size_t by[TMI_MAX_BY]; /* the places of the `by` columns of the contrast */
    size_t on[TMI_MAX_BY]; /* of a model: those of its categories */
} tmi_plan_compared;

/* A number of a contrast: of which of the two statistics, in which value of `across`, with which weight. */
typedef struct tmi_plan_term {
    size_t compared, code;
    tamis_number *weight;
} tmi_plan_term;

/* A difference or contrast is the sum of weight times number; a quotient is the first number divided by the second; a change is
 * one number less that of an earlier release (measure/earlier.h). A coefficient of a model whose predictors are all categories
 * is, to first order, a contrast of the means of all their combinations, with weights that follow from the noisy numbers: `terms`
 * are these combinations, the last category running fastest, and have none; `across` is its first category. One of a model with
 * numbers is a sum over the products of all pairs of these: `terms` are all combinations of its categories pair by
 * pair. */
typedef struct tmi_plan_contrast {
    /* the category whose values are compared; NULL: two statistics of the same rows are, or one with an earlier release */
    const tmi_plan_column *across;
    tmi_plan_compared compared[TMI_MAX_PAIRS];
    size_t compared_count;
    tmi_plan_term *terms; /* two or more, one of a change; all weights differ from 0 */
    size_t term_count;
    char *since;      /* of a change: the path of the folder of the earlier release, without a slash at its end */
    bool independent; /* the same: the samples are declared to be independent */
    const tmi_plan_column
        *before;     /* of a change of a mean: its value in the earlier wave, of units of both samples; NULL: none */
    int64_t overlap; /* how many units those are, which is public */
} tmi_plan_contrast;

typedef enum tmi_model_family { TMI_LINEAR, TMI_LOGISTIC, TMI_POISSON } tmi_model_family;

/* Columns that a model explains its own by: nobody reads the coefficients of more. */
#define TMI_MAX_PREDICTORS 23

/* Coefficients of one model: its equations are solved in a few milliseconds, and nobody reads more of them. */
#define TMI_MAX_COEFFICIENTS 100

/* A term of a model, whose coefficient is asked for: 1, a number, a value of a category, or the product of the values of two. */
typedef struct tmi_model_term {
    size_t predictor[2]; /* places in `on`; SIZE_MAX: none */
    size_t code[2];      /* of a category; SIZE_MAX: it is a number */
} tmi_model_term;

/* What a regression explains its column by. Rows with a missing value of any of its columns are left out. */
typedef struct tmi_plan_model {
    tmi_model_family family;
    const tmi_plan_column *on[TMI_MAX_PREDICTORS]; /* numbers of the file, categories, cuts of numbers; all different */
    size_t baseline[TMI_MAX_PREDICTORS];           /* of a category: the value that the others are compared with */
    size_t on_count;
    size_t (*interactions)[2]; /* pairs of categories in `on`, the earlier one first */
    size_t interaction_count;
    tmi_model_term *terms; /* the intercept, then the predictors in their order, then the interactions */
    size_t term_count;
    tamis_number *vif, *r2; /* public guesses, for previews alone; NULL: not given */
} tmi_plan_model;

typedef struct tmi_plan_statistic {
    tmi_statistic_kind kind;
    const tmi_plan_column *column; /* NULL for a count, table, histogram; of a contrast that of its first number */
    const tmi_plan_column *second; /* of a ratio, correlation or product */
    const tmi_plan_column *also[TMI_MAX_NUMBERS - 2]; /* of a product: numbers that a row must have too */
    size_t also_count;
    tmi_plan_contrast *contrast;  /* NULL: it is none; of a model or correlation, what it is made of */
    tmi_plan_model *model;        /* of a regression, else NULL */
    const tmi_plan_column *where; /* an indicator; NULL: all units */
    const tmi_plan_column *by[TMI_MAX_BY];
    size_t by_count;
    tamis_number *share; /* of the budget, relative to the others */
    tamis_number *deff;  /* the public design effect of this one; NULL: that of the design */
    tamis_number *confidence;
    tamis_number **at; /* quantile: ascending, in (0, 1); median: 1/2 */
    size_t at_count;
    tamis_number *limit; /* the key `line`; share_below: a value; poverty: a part of the median */
    int64_t *own_cuts;   /* of its distribution function, as the plan gives them: grid points; NULL: tamis chooses them */
    size_t own_cut_count;
    size_t curve;        /* the distribution function that it is read from; SIZE_MAX: none */
    const char *method;  /* of a mean or share: "ratio", "known_size"; of a quantile its mechanism,
                            "mechanism" for the best one, or "distribution"; NULL: the usual one */
    const char *inverse; /* of a quantile without protection: how its interval is made (R's interval.type); NULL: "mean" */
    bool shrink;         /* groups of a mean, share or ratio are moved towards their mean, after the noise */
    bool for_change;     /* totals of groups of clusters are measured too, for changes to and from other waves */
    char *label;         /* for the report only: its title there; NULL: made from its columns */
    int line, place;     /* where it is in the file */
} tmi_plan_statistic;

/* A distribution function: the shares of the rows below each cut are statistics of their own, after those that were asked for,
 * so that they are measured, and their errors known, like all others. Statistics of the same column, groups, condition and
 * confidence share one. */
typedef struct tmi_plan_curve {
    const tmi_plan_column *column;
    int64_t *cuts; /* ascending grid points; rows below a cut have points below it */
    size_t cut_count;
    size_t first; /* the statistic of the first cut; those of the others follow */
} tmi_plan_curve;

/* Of share_below: the first grid point that is not below the line, so that rows below the line are below this point; it may lie
 * outside the grid. False: no memory. */
bool tmi_line_cut(int64_t *point, const tmi_plan_statistic *statistic);

tmi_family_of tmi_statistic_family(const tmi_plan_statistic *statistic);

/* Its public design effect over that of the design's weights (tmi_plan_design's deff); 1 where there is none. */
double tmi_relative_deff(const tmi_plan_design *design, const tmi_plan_statistic *statistic);

/* ---- privacy ---- */

/* What a sampled unit loses: epsilon; epsilon and delta; or rho. The others are NULL. With a target for outsiders each stratum
 * has its own epsilon (plan/outsiders.h), and `epsilon` is the largest of them. */
typedef struct tmi_plan_loss {
    tamis_number *epsilon, *delta, *rho;
    tamis_number *outsider, *insider; /* the target, and the most that a sampled unit may lose; NULL: there is no target */
    tamis_number **by_stratum;        /* with a target: of each stratum, in the order of the design */
    int line, column;                 /* where epsilon or rho is: how large it may be is known only with all statistics */
} tmi_plan_loss;

typedef struct tmi_plan_privacy {
    char *unit;            /* "school": one of those whom the promise is about */
    char *id;              /* column of the file that tells units apart; NULL: each row is one */
    int64_t rows_per_unit; /* at least 1; 1 without id */
    const tamis_setting *setting;
    bool secret_sample, design_protected;
    int design_line, design_column; /* where design_variables is: the setting may forbid it */
    tmi_plan_loss loss;
} tmi_plan_privacy;

/* ---- the rest ---- */

/* Files that together are one table, or connections to PostgreSQL, each with the same table; or rows that a program brings; or a
 * table that a client of the user's own is asked about. */
typedef struct tmi_plan_source {
    char *caller; /* the name of these rows, by which accounts are compared; NULL: there are files or connections */
    char **files; /* paths */
    char **names; /* the same as the plan writes them */
    size_t file_count;
    char *table; /* in a DuckDB file or in PostgreSQL, "schema.name" or "name"; with a command, SQL; NULL otherwise */
    char **connections;
    size_t connection_count;
    bool sharded_by_unit; /* all rows of a unit stand in one part */
    char **command;       /* a client that runs SQL, in the words of a command line; NULL: none */
    size_t command_count;
    char *dialect, *rows_version, *errors_to; /* with a command; the last two may be NULL */
    int64_t timeout;                          /* of a statement, in seconds */
} tmi_plan_source;

/* Public totals that the released ones are made to agree with. */
typedef struct tmi_plan_control {
    const tmi_plan_column *column; /* NULL: the number of units */
    const tmi_plan_column *by[TMI_MAX_BY];
    size_t by_count;
    tamis_number **totals; /* one per cell, the last `by` column fastest */
    size_t total_count;
} tmi_plan_control;

/* A rule on the quality of a number: it holds of a larger cv (NULL: whatever the cv) and of a group whose noisy number of sampled
 * units may be smaller (0: whatever their number). */
typedef struct tmi_plan_rule {
    tamis_number *cv_above;
    int64_t units_below;
} tmi_plan_rule;

/* What becomes of a number of which a rule holds: it is withheld, or has one of the two quality flags. */
enum { TMI_SUPPRESS, TMI_CAUTION, TMI_UNRELIABLE, TMI_RULES };

/* What is done to the noisy numbers. It costs nothing, but for the counts of units that a rule may need. */
typedef struct tmi_plan_postprocess {
    bool nonnegative; /* counts and totals of numbers that are not negative are not negative */
    bool consistent;  /* margins of counts and totals add up */
    tmi_plan_rule rules[TMI_RULES];
} tmi_plan_postprocess;

/* Whether a rule asks how many units a group has. */
static inline bool tmi_asks_units(const tmi_plan_postprocess *p)
{
    return p->rules[TMI_SUPPRESS].units_below > 0 || p->rules[TMI_CAUTION].units_below > 0 ||
           p->rules[TMI_UNRELIABLE].units_below > 0;
}

/* name NULL: the plan names no wave. */
typedef struct tmi_plan_wave {
    char *name;
    char **groups; /* the rotation groups in it, in alphabetical order; none: all people of the survey */
    size_t group_count;
    bool same_sample; /* declared: the sample of the wave before was kept */
} tmi_plan_wave;

struct tamis_plan {
    atomic_int holders; /* who still needs it: the caller, previews, releases */
    char *name;         /* of the file, as the caller gave it */
    char *survey;
    char *title; /* for the report only; NULL: the survey's name */
    tmi_plan_wave wave;
    tmi_plan_source source;
    tmi_plan_design design;
    tmi_plan_privacy privacy;
    tmi_plan_column *columns; /* declared ones, then those made from others */
    size_t declared_count;    /* declared under `columns`, and the category of the strata */
    size_t column_count, column_room;
    /* those that are asked for, then those that distribution functions are made of, then those that contrasts are made of */
    tmi_plan_statistic *statistics;
    size_t asked_count, compared_first, statistic_count;
    tmi_plan_curve *curves;
    size_t curve_count;
    char *ledger;         /* path; unless said, tamis.ledger beside the plan: plans of one folder share their accounts */
    bool ledger_exists;   /* the plan says so: none is created */
    tmi_plan_loss budget; /* what the survey may spend in all; all NULL: not given, and then the plan cannot be released */
    tmi_plan_control *controls;
    size_t control_count;
    bool raking; /* the totals are met by raking, else by least squares */
    tmi_plan_postprocess postprocess;

    /* a plan whose private bounds have values (plan/private_bounds.h): all but the columns that have such a bound, and the
     * statistics, is lent by the plan that was read; NULL: this is that one */
    const tamis_plan *lender;
    struct tmi_private_bound *bounds;
    size_t bound_count;
};

static inline bool tmi_has_budget(const tamis_plan *plan) { return plan->budget.epsilon || plan->budget.rho; }

/* Whether a mean or share is its total divided by the public number of units. */
static inline bool tmi_by_size(const tmi_plan_statistic *statistic)
{
    return statistic->method && strcmp(statistic->method, "known_size") == 0;
}

/* What `method: distribution` was called. Plans and certificates with the old word are read as they are, and it stays in what is
 * written of them. */
#define TMI_OLD_DISTRIBUTION "histogram"

/* Whether a mechanism chooses the answer of a quantile, and its distribution function serves the interval alone; else the answer
 * is read from the distribution function. */
static inline bool tmi_has_mechanism(const tmi_plan_statistic *statistic)
{
    const bool is_quantile = statistic->kind == TMI_QUANTILE || statistic->kind == TMI_MEDIAN;
    const bool is_read = statistic->method &&
                         (strcmp(statistic->method, "distribution") == 0 || strcmp(statistic->method, TMI_OLD_DISTRIBUTION) == 0);
    return is_quantile && !is_read;
}

/* Whether totals of a number add up contributions, weight times value, with a bound of their own for each row. */
static inline bool tmi_has_contributions(const tmi_plan_column *column)
{
    return column && (column->contribution || column->times);
}

/* Whether a statistic is a total of a number of which a unit adds at most so much. */
static inline bool tmi_is_bounded_by_unit(const tmi_plan_statistic *statistic)
{
    return statistic->kind == TMI_TOTAL && statistic->column->unit_contribution;
}

/* Whether a plan has one. */
static inline bool tmi_has_bounds_by_unit(const tamis_plan *plan)
{
    bool has = false;
    for (size_t i = 0; i < plan->statistic_count; i++) has = has || tmi_is_bounded_by_unit(&plan->statistics[i]);
    return has;
}

/* Whether every set of as many units is as likely: a simple random sample of units that are drawn once, of which all respond. */
static inline bool tmi_is_simple_sample(const tmi_plan_design *design)
{
    const tmi_plan_kind *kind = design->kind;
    return kind->equal && kind->known_count && !kind->in_order && !kind->clusters && !kind->takes_all && !design->by &&
           !design->nonresponse && design->sample > 1 && design->population > 0;
}

/* Whether several rows of a unit are counted: then units of statistics are rows. With replacement a unit that is drawn twice has
 * two rows, but each represents units of the population. */
static inline bool tmi_counts_rows(const tamis_plan *plan)
{
    return plan->privacy.rows_per_unit > 1 && !plan->design.kind->with_replacement;
}

/* Whether a plan that was read is as its parts promise: columns are its own, a loss is of one kind, numbers are within their
 * limits (base/check.h). */
bool tmi_plan_is_sound(const tamis_plan *plan);

/* One more holder, one holder less; the last one frees. A plan does not change once it was read. Drop of NULL is fine. */
const tamis_plan *tmi_plan_hold(const tamis_plan *plan);
void tmi_plan_drop(const tamis_plan *plan);

void tmi_plan_wave_clear(tmi_plan_wave *wave);

/* Whether a statistic is a share that a distribution function is made of. */
static inline bool tmi_is_of_curve(const tamis_plan *plan, size_t statistic)
{
    return statistic >= plan->asked_count && statistic < plan->compared_first;
}

/* What two indicators say about each other: they are never 1 in the same row; the first is 1 only where the second is, or the
 * other way round; or they may be 1 together. Only of indicators of one column, which are missing in the same rows. */
typedef enum tmi_relation { TMI_UNRELATED, TMI_EXCLUDED, TMI_WITHIN, TMI_AROUND } tmi_relation;

tmi_relation tmi_relation_of(const tmi_plan_column *first, const tmi_plan_column *second);

/* The number of a contrast's group: which statistic it is of, and which of its groups. */
static inline size_t tmi_term_statistic(const tmi_plan_contrast *contrast, size_t term)
{
    return contrast->compared[contrast->terms[term].compared].statistic;
}
size_t tmi_term_cell(const tamis_plan *plan, const tmi_plan_statistic *contrast, size_t term, size_t group);

/* Cells of a statistic: the product of the numbers of values of its `by` columns, and of the `at` of a quantile or the terms of a
 * regression, which run fastest. */
int64_t tmi_statistic_cells(const tmi_plan_statistic *statistic);

/* "(intercept)", "age", "sex=f", "sex=f:region=north"; the caller frees it with tmi_free. NULL without memory. */
char *tmi_model_term_name(const tmi_plan_model *model, size_t term);

/* What a term is in a row whose categories have these codes, where `numbers` are its numbers; both by place in `on`, and only
 * those that are a category, or a number, are looked at. */
double tmi_model_term_value(const tmi_plan_model *model, size_t term, const size_t *codes, const double *numbers);

/* The codes of its categories, by place in `on`, in a combination of them (NULL: none are wanted); gives how many combinations
 * there are, SIZE_MAX if too many. */
size_t tmi_model_codes(const tmi_plan_model *model, size_t cell, size_t *codes);

/* How many of its predictors are numbers. */
size_t tmi_model_numbers(const tmi_plan_model *model);

/* Whether a connection to PostgreSQL has a password in it: password=x, ?password=x, or user:x@ in an address. */
bool tmi_has_password(const char *connection);

/* Whether a connection that a stranger wrote sends no password of ours elsewhere, and reads no file: libpq looks passwords up by
 * host and connects to hostaddr, and a service's password would go to another host that is given with it. */
bool tmi_is_plain_connection(const char *connection);
#define TMI_PLAIN_CONNECTION \
    "expected service=NAME, or host, port, user, dbname, sslmode=verify-full, connect_timeout and application_name, without a " \
    "service: anything else could send a password elsewhere, and is not taken here (`tamis release` takes it)"

/* The words of a command, which ledgers do not quote. */
void tmi_hash_command(char hash[TMI_SHA256_TEXT], const tmi_plan_source *source);

/* The file of a plan, at most one byte more than a plan may have; the caller frees it with tmi_free. */
tamis_status tmi_plan_bytes(char **bytes, size_t *length, const char *path, tamis_error *err);

/* INVALID if a file that the plan names, or the ledger, is elsewhere, wherever links lead; nothing is opened. */
tamis_status tmi_plan_is_within(const tamis_plan *plan, const tmi_plan_allowed *places, const char *ledger, tamis_error *err);

#endif
