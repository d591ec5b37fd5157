/* The schedule of a plan, what it measures: the list of noisy tables, their budgets, and how precisely everything that the
 * statistics read is known from all of them together. schedule/schedule.h makes it.
 *
 * The plan's statistics are a workload (workload.h). A search chooses from public knowledge which tables are measured, with
 * which parts of the budget (schedule/choose.c). The parts are exact and add up to the plan's epsilon or rho, and by
 * composition that is the guarantee: nothing else depends on how the tables were chosen. Quantiles that a mechanism chooses
 * have parts of their own (quantile_tasks.h), and so have private bounds (bound_tasks.h). A certificate lists them, and the
 * schedule of a certificate is made from its list. A statistic that is known without looking at the data needs no table. */
#ifndef TMI_MEASURE_SCHEDULE_H
#define TMI_MEASURE_SCHEDULE_H

#include "measure/bound_tasks.h"
#include "measure/earlier.h"
#include "measure/frame/frame_file.h"
#include "measure/measurement.h"
#include "measure/quantile_tasks.h"
#include "strategy/effects.h"
#include "variance/standard_error.h"

/* Which PSUs are added up together (standard_errors.h). */
typedef struct tmi_psu_places {
    tmi_psu_layout layout; /* no strata: no standard error is measured */
    size_t strata;         /* of the design, or of the list of clusters */
    int64_t *psus;         /* of each */
    size_t *into;          /* the layout's stratum of each; SIZE_MAX: it has no sampling error */
    int64_t *first;        /* the place of its first PSU there */
    bool hashed;           /* a hash of its label says where a PSU is; then there are no strata */
    tmi_slot_sign *signs;  /* for changes between waves, of each PSU of the list, stratum by stratum; NULL: there are none */
} tmi_psu_places;

/* Made once and never changed: everybody but tmi_schedule_make and tmi_schedule_clear has it const. Only the private bounds get
 * their values later (tmi_schedule_set_bound): nothing here is counted in anything but steps of the grids, which are as many
 * whatever the bounds are. */
typedef struct tmi_schedule {
    const tamis_plan *plan; /* held */
    tamis_plan *bounded;    /* the same, if it has private bounds: what these are is not known at first; else NULL */
    tmi_frame_file frame;   /* empty: the plan has none; of a certificate its facts alone */
    tmi_psu_file psus;      /* the same for the list of clusters */
    tmi_sampling sampling;
    tmi_workload workload;
    tmi_measurement *measurements;
    size_t measurement_count;
    tmi_quantile_task *quantile_tasks; /* quantiles that a mechanism chooses, in the order of their statistics */
    size_t quantile_task_count;
    tmi_bound_task *bound_tasks; /* private bounds, found before anything else is measured, in the order of the plan's bounds */
    size_t bound_task_count;
    tmi_effects effects; /* of everything that the statistics read, with the information of all measurements */

    bool calibrated;                             /* after the noise, to public counts and totals */
    const tmi_plan_column *controls[TMI_MAX_BY]; /* of the columns that these are by: crossed, the control cells */
    size_t control_count;
    const tmi_plan_column *control_number; /* whose totals are public too; NULL: there is none */

    tmi_psu_places places; /* of clusters whose totals are added up for standard errors */

    tmi_gaussian gaussian;         /* which noise tables have: Gaussian and the parts are rhos, or Laplace and epsilons. Rounded
                                      normal noise of a rho is that of mu^2 = 2 rho, and the rhos add up as the mu^2 do */
    tamis_number *spent;           /* the sum of the parts; 0 if nothing is measured */
    tamis_number *epsilon, *delta; /* what that means for a sampled unit: certified, rounded up */
    double gap;                    /* Gaussian noise: the tables are at most this far from the best, in the sum of share * log
                                      variance; NaN: not known */

    /* lent: what the changes of the plan are measured from; NULL: nobody has read it. Nothing else depends on it. */
    const tmi_earlier_list *earlier;

    tmi_watch *watch; /* asked by whatever takes long with this schedule; NULL: nobody watches */
} tmi_schedule;

/* Sets the bound that task k found, halvings of `beyond`. Needs 0 <= halvings <= most of the bound. Errors: SYSTEM. */
tamis_status tmi_schedule_set_bound(tmi_schedule *schedule, size_t k, int halvings, tamis_error *err);

/* The bound that a task is about. */
static inline const tmi_private_bound *tmi_bound_of_task(const tmi_schedule *schedule, const tmi_bound_task *task)
{
    return &schedule->plan->bounds[task->bound];
}

/* Scales of all measurements, and `spent`, `epsilon`, `delta`; the parts are checked (budget.c). */
tamis_status tmi_budget_settle(tmi_schedule *schedule, tamis_error *err);

/* The rho of a schedule whose parts are epsilons, rounded up: every table by its own sensitivities and noise, every chosen
 * quantile by its own mechanism (composition/concentrated.h), added up; a record stays in its stratum, so a table counts by
 * its worst stratum. Never above what the sum of the epsilons has by itself. Errors: UNABLE, SYSTEM; *rho is then NULL. */
tamis_status tmi_schedule_rho(tamis_number **rho, const tmi_schedule *schedule, tamis_error *err);

/* What a schedule counts as where mu^2 is added up (composition/mu.h): 2 rho with rounded normal noise; with Laplace noise the
 * sum over tables, by their sensitivities, and chosen quantiles, rounded up. Needs other noise than the discrete Gaussian.
 * Errors: UNABLE, SYSTEM; *mu_squared is then NULL. */
tamis_status tmi_schedule_mu_squared(tamis_number **mu_squared, const tmi_schedule *schedule, tamis_error *err);

/* Which Gaussian noise a plan has if it has any: rounded normal noise with epsilon and delta, as its guarantee is known
 * exactly; the discrete Gaussian with rho, and where mechanisms choose quantiles, whose rhos have no mu. */
tmi_gaussian tmi_gaussian_of_plan(const tamis_plan *plan, const tmi_plan_loss *loss);

/* The largest rho, but for rounding, with which this noise meets the plan's epsilon and delta: rounded normal noise by the normal
 * mechanism of mu^2 = 2 rho, other noise by the conversion of rho. */
tamis_status tmi_budget_rho(double *rho, const tmi_plan_loss *loss, tmi_gaussian gaussian, tamis_error *err);

/* What the frame says; NULL if the plan has none. */
const tmi_frame_facts *tmi_frame_of(const tmi_schedule *schedule);

/* What the list of clusters says; NULL if the plan has none. */
const tmi_psu_facts *tmi_psus_of(const tmi_schedule *schedule);

/* Where the sampling variance is read from: nowhere in a census; the squares of the tables themselves, where weights come
 * after the noise, or with a public factor where weights hardly differ; a public design effect, times the mean weight and
 * the squares; a second stage, in which it is measured (variance/method.h). */
typedef enum tmi_variance_source { TMI_NO_VARIANCE, TMI_OWN_SQUARES, TMI_PUBLIC_EFFECT, TMI_MEASURED_ERRORS } tmi_variance_source;

tmi_variance_source tmi_variance_source_of(const tmi_schedule *schedule);

/* One over the variance of the noise of a measurement's numbers, in rows or weights of a level; of the first stratum where strata
 * are measured apart. */
double tmi_measurement_precision(const tmi_schedule *schedule, const tmi_measurement *m);

/* The variance of noise in a stratum over that in the first one: 1 unless strata are measured apart, with epsilons of their
 * own. */
double tmi_variance_in_stratum(const tmi_schedule *schedule, size_t stratum);

/* Whether nothing has to be measured for a statistic, nor for others that it is read from. */
static inline bool tmi_is_known(const tmi_schedule *schedule, size_t statistic)
{
    const tmi_plan_statistic *s = &schedule->plan->statistics[statistic];
    bool known = schedule->workload.maps[statistic].known && !tmi_is_of_distribution(s->kind);
    for (size_t i = 0; known && s->contrast && i < s->contrast->compared_count; i++)
        known = schedule->workload.maps[s->contrast->compared[i].statistic].known;
    return known;
}

/* Whether a statistic is calibrated: not if it is known. */
static inline bool tmi_is_calibrated(const tmi_schedule *schedule, size_t statistic)
{
    return schedule->calibrated && !schedule->workload.maps[statistic].known;
}

/* The sampled rows of a group of the statistic, if the design fixes them and everybody knows; else 0. */
int64_t tmi_public_rows(const tmi_schedule *schedule, size_t statistic, size_t group);

/* The place of the first column of strata, or that follows from them, among `count` columns; `count` if there is none. */
size_t tmi_find_strata(const tmi_plan_column *const *by, size_t count, const tmi_plan_design *design);

/* Whether the range of a statistic's column is another one in each stratum. */
bool tmi_has_ranges_by_stratum(const tmi_plan_statistic *statistic);

/* Whether what is measured of a statistic has other noise in each stratum, as ranges or epsilons are other ones. */
bool tmi_strata_differ(const tmi_schedule *schedule, size_t statistic);

/* Whether the sizes of all groups of a statistic are declared: the population, or the strata. */
bool tmi_groups_are_declared(const tmi_schedule *schedule, const tmi_plan_statistic *statistic);

/* Which weighting estimates are read from. */
tmi_weighting tmi_main_weighting(const tmi_schedule *schedule);

/* Whether the number of rows of a weighting is public, for each domain; room for TMI_WEIGHTINGS * domains. */
void tmi_known_rows(bool *known, const tmi_schedule *schedule);

#endif
