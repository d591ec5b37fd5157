#include "measure/sampling.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/regularised.h"
#include "num/exact.h"

/* The number of rows that is assumed where nobody knows it: a sum beyond 2^30 largest rows is clamped. */
#define ROWS_GUESSED (INT64_C(1) << 30)

void tmi_sampling_clear(tmi_sampling *s)
{
    for (size_t h = 0; s->weight && h < s->strata; h++) tamis_number_free(s->weight[h]);
    tmi_free(s->weight);
    tmi_free(s->variance_factor);
    tmi_free(s->points);
    tmi_free(s->variance_points);
    tmi_number_frees(&s->step, &s->variance_step, NULL);
    *s = (tmi_sampling){0};
}

/* Whether rows bring their weights. */
static bool weighs_rows(const tmi_plan_design *d)
{
    const bool staged = d->kind->staged && (!d->second_rate || tmi_draws_clusters_unequally(d));
    return d->weight || d->kind->unequal || staged || d->kind->only_weights;
}

/* ---- one weight per stratum ---- */

static tamis_status weight_of(tamis_number **weight, const tmi_plan_design *d, const tmi_plan_stratum *s, tamis_error *err)
{
    const tamis_number *rate = d->kind->rate ? s->rate : d->second_rate;
    tamis_number *first = NULL;
    tamis_status status;
    if (!rate) return tmi_number_ratio(weight, s->population, s->sample, err);
    TMI_TRY(tmi_number_ratio(&first, d->kind->rate ? 1 : s->population, d->kind->rate ? 1 : s->sample, err));
    TMI_TRY(tmi_number_div(weight, first, rate, err));

done:
    tamis_number_free(first);
    return status;
}

/* a, the factor of the sum of squares, for the design's weight w and the one that is used. */
static double variance_factor_of(const tmi_plan_design *d, const tmi_plan_stratum *s, double w, double used)
{
    double n = (double)s->sample;
    const bool all = s->sample > 0 && s->sample == s->population && !d->kind->with_replacement && !d->second_rate;
    if (d->kind->takes_all || all) return 0;
    if (d->kind->rate) return w * (w - 1);
    double one_more = s->sample > 1 ? n / (n - 1) : __builtin_nan("");
    if (used != w) return (1 - 1 / w) * used * used * one_more;
    return (d->kind->with_replacement ? w * w : w * (w - 1)) * one_more;
}

/* A grid that contains all weights exactly if they share a coarse one, else one of TMI_WEIGHT_BITS bits. */
static tamis_status set_grid(tamis_number **step, int64_t *points, tamis_number *const *values, size_t count, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *common = NULL, *next = NULL;
    tmi_term largest = values[0];
    tamis_status status;
    TMI_TRY(tmi_number_copy(&common, values[0], err));
    for (size_t h = 1; h < count; h++) {
        largest = tmi_larger(largest, values[h]);
        TMI_TRY(tmi_number_gcd(&next, common, values[h], err));
        tamis_number_free(common);
        common = next;
        next = NULL;
    }
    tmi_term grid = tmi_number_sign(largest) == 0 ? tmi_int(&e, 1) : common;
    tmi_term points_of_largest = tmi_div(&e, largest, grid);
    if (points_of_largest && tmi_number_compare_int(points_of_largest, INT64_C(1) << TMI_WEIGHT_BITS) > 0)
        grid = tmi_div(&e, largest, tmi_int(&e, INT64_C(1) << TMI_WEIGHT_BITS));
    for (size_t h = 0; h < count; h++) {
        tmi_term half = tmi_div(&e, tmi_int(&e, 1), tmi_int(&e, 2));
        tmi_term k = tmi_add(&e, tmi_div(&e, values[h], grid), half);
        if (k) tmi_number_floor(&points[h], k); /* k is at most 2^30 */
    }
    status = tmi_exact_copy(step, &e, grid);

done:
    tmi_exact_clear(&e);
    tamis_number_free(common);
    return status;
}

static tamis_status set_strata(tmi_sampling *s, tamis_error *err)
{
    const tmi_plan_design *d = s->design;
    tamis_number **variance_factors = tmi_alloc(s->strata, sizeof *variance_factors), *own = NULL;
    tamis_status status = TAMIS_OK;
    s->weight = tmi_alloc(s->strata, sizeof *s->weight);
    s->variance_factor = tmi_alloc(s->strata, sizeof *s->variance_factor);
    s->points = tmi_alloc(s->strata, sizeof *s->points);
    s->variance_points = tmi_alloc(s->strata, sizeof *s->variance_points);
    if (!variance_factors || !s->weight || !s->variance_factor || !s->points || !s->variance_points)
        TMI_TRY(tmi_fail_memory(err));
    s->weights = TMI_ALIKE;
    for (size_t h = 0; h < s->strata; h++) {
        TMI_TRY(weight_of(&own, d, &d->strata[h], err));
        if (d->regularise) TMI_TRY(tmi_regularised_exact(&s->weight[h], d, d->population, own, err));
        else TMI_TRY(tmi_number_copy(&s->weight[h], own, err));
        s->variance_factor[h] = variance_factor_of(d, &d->strata[h], tmi_number_nearest(own), tmi_number_nearest(s->weight[h]));
        tamis_number_free(own);
        own = NULL;
        TMI_TRY(tmi_number_double(&variance_factors[h], isnan(s->variance_factor[h]) ? 0 : s->variance_factor[h], err));
        if (tmi_number_compare(s->weight[h], s->weight[0]) != 0) s->weights = TMI_STRATA;
    }
    TMI_TRY(set_grid(&s->step, s->points, s->weight, s->strata, err));
    TMI_TRY(set_grid(&s->variance_step, s->variance_points, variance_factors, s->strata, err));
    for (size_t h = 0; h < s->strata; h++) s->most = s->points[h] > s->most ? s->points[h] : s->most;

done:
    for (size_t h = 0; variance_factors && h < s->strata; h++) tamis_number_free(variance_factors[h]);
    tmi_free(variance_factors);
    tamis_number_free(own);
    return status;
}

/* ---- one weight per row ---- */

/* Into how many parts the steps of weights are divided where those of a unit are bounded together: a power of 2, so that the
 * largest has up to 2^20 points. What rounding down takes off a bounded weight is far below any noise then, and every mechanism
 * that chooses quantiles can add them up exactly. */
#define BOUNDED_BITS 20

static int64_t parts_for(double largest)
{
    int64_t parts = 1;
    while (2 * largest * (double)parts <= (double)(INT64_C(1) << BOUNDED_BITS)) parts *= 2;
    return parts;
}

/* Probabilities of clusters are read from a column, in steps as fine as 52 bits allow for the largest weight. */
#define PRODUCT_BITS 50

static tamis_status set_unequal_stages(tmi_sampling *s, const tamis_number *largest, tamis_error *err)
{
    const int64_t take = s->design->second_take;
    const int most = (int)ceil(log2(tmi_number_nearest(largest) * (take > 0 ? (double)take : 1)));
    const int room = PRODUCT_BITS - (most > 0 ? most : 0), half = (room + 1) / 2;
    tmi_exact e = TMI_EXACT(err);
    if (take == 0) s->stage_bits = half < TMI_STAGE_BITS ? half : TMI_STAGE_BITS;
    s->first_bits = room - s->stage_bits < TMI_STAGE_BITS ? room - s->stage_bits : TMI_STAGE_BITS;
    if (s->first_bits < 8 || (take == 0 && s->stage_bits < 8))
        return tmi_fail(err, TAMIS_UNABLE,
                        "design.max_weight: the weights of two stages with unequal probabilities are products, which fit into no "
                        "integers up to this weight: give them as the column `weight`");
    tmi_term steps = tmi_int(&e, INT64_C(1) << s->first_bits);
    steps = tmi_mul(&e, steps, tmi_int(&e, take > 0 ? take : INT64_C(1) << s->stage_bits));
    const tamis_status status = tmi_exact_copy(&s->step, &e, tmi_div(&e, tmi_int(&e, 1), steps));
    tmi_exact_clear(&e);
    return status;
}

/* Two stages: (clusters / drawn clusters) * (units / drawn units of the cluster). The first factor is a stratum's, or one over a
 * column of probabilities; the others are columns: units in steps of 1, one over the drawn ones in steps of 2^-26; or a declared
 * take. */
static tamis_status set_stages(tmi_sampling *s, const tamis_number *largest, tamis_error *err)
{
    const tmi_plan_design *d = s->design;
    if (tmi_draws_clusters_unequally(d)) return set_unequal_stages(s, largest, err);
    if (d->second_take == 0) s->stage_bits = TMI_STAGE_BITS;
    tmi_exact e = TMI_EXACT(err);
    tamis_number **first = tmi_alloc(s->strata, sizeof *first), *step = NULL;
    tamis_status status = TAMIS_OK;
    s->points = tmi_alloc(s->strata, sizeof *s->points);
    if (!first || !s->points) TMI_TRY(tmi_fail_memory(err));
    for (size_t h = 0; h < s->strata; h++)
        TMI_TRY(tmi_number_ratio(&first[h], d->strata[h].population, d->strata[h].sample, err));
    TMI_TRY(set_grid(&step, s->points, first, s->strata, err));
    tmi_term last = tmi_int(&e, d->second_take > 0 ? d->second_take : INT64_C(1) << TMI_STAGE_BITS);
    tmi_term whole = tmi_div(&e, step, last);
    if (d->max_unit_weight && d->second_take > 0 && whole) { /* the weights of a bounded unit are no whole numbers of units */
        const int64_t fine = parts_for(tmi_number_nearest(largest) / tmi_number_nearest(whole));
        for (size_t h = 0; h < s->strata; h++) s->points[h] *= fine;
        whole = tmi_div(&e, whole, tmi_int(&e, fine));
    }
    TMI_TRY(tmi_exact_copy(&s->step, &e, whole));

done:
    for (size_t h = 0; first && h < s->strata; h++) tamis_number_free(first[h]);
    tmi_free(first);
    tamis_number_free(step);
    tmi_exact_clear(&e);
    return status;
}

/* The largest weight: what the plan says, or the inverse of the smallest probability of the frame, whichever is less. */
static tamis_status largest_weight(tamis_number **largest, const tmi_sampling *s, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_design *d = s->design;
    tmi_exact e = TMI_EXACT(err);
    tamis_status status;
    *largest = NULL;
    if (!d->max_weight && !s->from_frame)
        return tmi_fail(err, TAMIS_INVALID, "design.max_weight: must be a public bound of the weights%s, e.g. max_weight: 500",
                        d->kind->staged ? ", clusters and units in them together" : "");
    tmi_term most = s->from_frame ? tmi_div(&e, tmi_int(&e, 1), tmi_frame_smallest(frame)) : d->max_weight;
    if (s->from_frame && d->max_weight && most) most = tmi_smaller(most, d->max_weight);
    if (d->regularise && most) status = tmi_regularised_exact(largest, d, tmi_frame_size(frame), most, err);
    else status = tmi_exact_copy(largest, &e, most);
    tmi_exact_clear(&e);
    return status;
}

/* The bound of a unit's rows together, if it is below what rows_per_unit and the largest weight allow. */
static tamis_status set_unit(tmi_sampling *s, const tamis_plan *plan, tamis_error *err)
{
    const int64_t rows = plan->privacy.rows_per_unit;
    tamis_number *points = NULL;
    int64_t most;
    if (!s->design->max_unit_weight) return TAMIS_OK;
    tamis_status status = tmi_number_div(&points, s->design->max_unit_weight, s->step, err);
    if (status == TAMIS_OK && tmi_number_floor(&most, points)) {
        if (most < s->most)
            status = tmi_fail_file(err, TAMIS_INVALID, plan->name, 0,
                                   "design.max_unit_weight: must be at least the largest weight of a row, %.10g",
                                   (double)s->most * tmi_number_nearest(s->step));
        else if (most < (tmi_int128)rows * s->most) s->most_of_unit = most;
    }
    tamis_number_free(points);
    return status;
}

/* Weights that follow from sizes, on a grid that is fine enough for the parts of them that a bounded unit has. */
static tamis_status set_sizes(tmi_sampling *s, const tamis_plan *plan, tamis_error *err)
{
    tamis_number **weights = tmi_alloc(s->strata, sizeof *weights), *coarse = NULL, *parts = NULL;
    tamis_status status = TAMIS_OK;
    int64_t fine;
    s->weights = TMI_ROWS;
    s->of_sizes = true;
    s->points = tmi_alloc(s->strata, sizeof *s->points);
    if (!weights || !s->points) TMI_TRY(tmi_fail_memory(err));
    for (size_t h = 0; h < s->strata; h++) TMI_TRY(weight_of(&weights[h], s->design, &s->design->strata[h], err));
    TMI_TRY(set_grid(&coarse, s->points, weights, s->strata, err));
    for (size_t h = 0; h < s->strata; h++) s->most = s->points[h] > s->most ? s->points[h] : s->most;
    fine = parts_for((double)s->most);
    for (size_t h = 0; h < s->strata; h++) s->points[h] *= fine;
    s->most *= fine;
    TMI_TRY(tmi_number_ratio(&parts, 1, fine, err));
    TMI_TRY(tmi_number_mul(&s->step, coarse, parts, err));
    s->correction = 1;
    status = set_unit(s, plan, err);

done:
    for (size_t h = 0; weights && h < s->strata; h++) tamis_number_free(weights[h]);
    tmi_free(weights);
    tmi_number_frees(&coarse, &parts, NULL);
    return status;
}

/* The power of two nearest to the largest weight 2^-30, unless the plan says a step. */
static tamis_status set_rows(tmi_sampling *s, const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_design *d = s->design;
    tamis_number *largest = NULL, *points = NULL;
    tamis_status status = TAMIS_OK;
    s->weights = TMI_ROWS;
    s->from_frame = frame && !d->weight;
    s->stages = d->kind->staged && !d->second_rate && !d->weight;
    TMI_TRY(largest_weight(&largest, s, frame, err));
    if (s->stages) TMI_TRY(set_stages(s, largest, err));
    else if (d->weight_step) TMI_TRY(tmi_number_copy(&s->step, d->weight_step, err));
    else TMI_TRY(tmi_number_double(&s->step, exp2(round(log2(tmi_number_nearest(largest))) - TMI_WEIGHT_BITS), err));
    TMI_TRY(tmi_number_div(&points, largest, s->step, err));
    if (!tmi_number_floor(&s->most, points) || s->most < 1 || s->most >= TMI_GRID_END)
        status = tmi_fail(err, TAMIS_INVALID, "design.weight_step: must be a step between the largest weight and its 2^-52");
    if (status == TAMIS_OK) status = set_unit(s, plan, err);
    double n = (double)d->sample;
    s->correction = d->kind->unequal && d->kind->fixed_size && d->sample > 1 ? n / (n - 1) : 1;
    if (d->deff) s->correction *= tmi_number_nearest(d->deff);

done:
    tmi_number_frees(&largest, &points, NULL);
    return status;
}

/* ---- together ---- */

static void set_counts(tmi_sampling *s, const tamis_plan *plan, const tmi_frame_facts *frame)
{
    const tmi_plan_design *d = s->design;
    const tmi_plan_privacy *p = &plan->privacy;
    int64_t K = p->rows_per_unit > 1 ? p->rows_per_unit : 1;
    s->clustered = d->cluster || (tmi_counts_rows(plan) && !d->deff); /* rows of a unit were drawn together */
    /* Sizes that all neighbours share, so that the inventory checks them: only then is the rank of a label a cluster's place,
     * since no file has more labels than are declared. */
    const bool shared = !d->nonresponse && p->setting->size_is_public && !p->design_protected;
    const bool counted = d->kind->clusters ? !tmi_may_be_empty(d) : d->kind->fixed_size;
    s->scattered = s->clustered && !s->psus && (d->kind->only_weights || !(shared && counted));
    s->rows_fixed = d->kind->fixed_size && shared;
    s->of_units = p->id != NULL;
    s->subtracts = d->kind->fixed_size && !d->kind->unequal && !d->nonresponse && !s->scattered &&
                   !(d->by && p->design_protected); /* whose rows are not told apart by stratum */
    int64_t drawn = d->kind->fixed_size ? d->sample : frame ? tmi_frame_size(frame) : d->population, rows;
    if (d->cluster) drawn = d->sample * d->largest; /* whole clusters have a largest size, other designs with clusters do not */
    bool known = drawn > 0 && !__builtin_mul_overflow(drawn, K, &rows) && rows <= TMI_MAX_POPULATION;
    s->rows = known ? rows : ROWS_GUESSED;
    s->rows_bounded = known;
    const bool sized = d->sample > 0 && !d->kind->only_weights;
    s->df = s->psus ? tmi_psu_count(s->psus) - (int64_t)s->psus->strata : sized ? d->sample - (int64_t)d->stratum_count : -1;
}

/* Where a/w differs by less than this factor over the strata, a variance is bounded by the largest. */
#define NEAR 1.3

static double ratio_of(const tmi_sampling *s)
{
    double least = INFINITY, most = 0;
    for (size_t h = 0; h < s->strata; h++) {
        const double ratio = s->variance_factor[h] / tmi_number_nearest(s->weight[h]);
        if (isnan(ratio)) return 0;
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    return most <= NEAR * least ? most : 0;
}

tamis_status tmi_sampling_make(tmi_sampling *s, const tamis_plan *plan, const tmi_frame_facts *frame, const tmi_psu_facts *psus,
                               tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    const bool by_unit = d->max_unit_weight || tmi_has_bounds_by_unit(plan); /* weights are bounded before the noise */
    *s = (tmi_sampling){.design = d,
                        .psus = psus,
                        .frame = frame,
                        .parts = 1,
                        .strata = d->stratum_count,
                        .public_strata = d->by && !plan->privacy.design_protected};
    set_counts(s, plan, frame);
    tamis_status status = weighs_rows(d) ? set_rows(s, plan, frame, err) : by_unit ? set_sizes(s, plan, err) : set_strata(s, err);
    if (status == TAMIS_OK && s->weights == TMI_STRATA) s->ratio = ratio_of(s);
    s->most_clamped = s->most;
    if (status != TAMIS_OK) tmi_sampling_clear(s);
    return status;
}

int64_t tmi_weight_less(const tmi_sampling *s)
{
    const bool whole = s->design->regularise || s->clustered || s->design->kind->only_weights;
    return whole ? 0 : (int64_t)round(1 / tmi_number_nearest(s->step));
}
