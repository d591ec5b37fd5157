/* Strata, clusters and stages: the units are sorted by stratum and cluster, and each stage looks at its clusters' totals.
 *
 * With z the weighted totals of the n clusters that a stratum of N gave, the variance of the stratum is
 *
 *     (1 - n / N) n / (n - 1) sum of (z - mean of z)^2  +  (n / N) sum over the clusters of their own variance,
 *
 * the second term being the same again one stage below. With replacement 1 / N is 0: the spread of the clusters holds
 * all that happens inside them, and the later stages are not looked at (the ultimate cluster).
 *
 * Clusters of the first stage that are drawn with unequal probabilities pi and a fixed size have their own n / N = pi in both
 * terms: Brewer's approximation, as R's survey has it with pps = "brewer".
 *
 * Where units are drawn by themselves inside clusters, all at the rate f, the own variance of a cluster is (1 - f) sum of z^2
 * over its units. Then some drawn clusters may have no unit: they count in n, and their z is 0.                       */
#include <stdlib.h>

#include "base/memory.h"
#include "survey/estimator.h"

typedef struct row {
    int64_t stratum, cluster;
    double population;  /* infinite: with replacement */
    double probability; /* of the cluster, at the first stage of unequal probabilities; else 0 */
    double value;       /* weight * linear value */
    size_t unit;
} row;

typedef struct sample {
    row *rows;
    const tamis_stage *stages;
    size_t stage_count;
    tmi_stage_facts facts;
    tamis_lonely lonely;
} sample;

static int compare(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->stratum != y->stratum) return x->stratum < y->stratum ? -1 : 1;
    if (x->cluster != y->cluster) return x->cluster < y->cluster ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Puts rows from, ..., to-1 in the order of a stage. */
static void arrange(row *rows, size_t from, size_t to, const tamis_stage *stage, const double *probabilities)
{
    for (size_t i = from; i < to; i++) {
        row *r = &rows[i];
        r->probability = probabilities ? probabilities[r->unit] : 0;
        r->stratum = stage->strata ? stage->strata[r->unit] : 0;
        r->cluster = stage->clusters ? stage->clusters[r->unit] : (int64_t)r->unit;
        r->population = stage->populations ? stage->populations[r->unit] : INFINITY;
    }
    qsort(&rows[from], to - from, sizeof *rows, compare);
}

static size_t stratum_end(const row *rows, size_t from, size_t to)
{
    size_t i = from;
    while (i < to && rows[i].stratum == rows[from].stratum) i++;
    return i;
}

/* The end of the cluster that begins at `from`, and its total. */
static size_t cluster_end(double *total, const row *rows, size_t from, size_t to)
{
    tmi_sum sum = {0};
    size_t i = from;
    for (; i < to && rows[i].cluster == rows[from].cluster; i++) tmi_sum_add(&sum, rows[i].value);
    *total = tmi_sum_value(sum);
    return i;
}

static tamis_status check_stratum(const row *rows, size_t from, size_t to, double n, size_t stage, tamis_error *err)
{
    double N = rows[from].population;
    for (size_t i = from + 1; i < to; i++)
        if (rows[i].cluster == rows[i - 1].cluster && rows[i].probability != rows[i - 1].probability)
            return tmi_fail(err, TAMIS_INVALID, "probabilities: not the same in a whole cluster");
    for (size_t i = from; i < to; i++)
        if (rows[i].population != N)
            return tmi_fail(err, TAMIS_INVALID, "populations: not the same in a whole stratum of stage %zu", stage + 1);
    if (n > N) return tmi_fail(err, TAMIS_INVALID, "populations: below the number of clusters at stage %zu", stage + 1);
    return TAMIS_OK;
}

/* What the strata of one stage add, before the stages below. */
typedef struct spread {
    tmi_sum sum;
    double strata, unknown; /* strata in all, and lonely ones that shall get the average */
} spread;

static tamis_status add_lonely(spread *spread, const sample *s, double total, double unseen, size_t stage, tamis_error *err)
{
    if (s->lonely == TAMIS_LONELY_FAIL)
        return tmi_fail(
            err, TAMIS_INVALID,
            "clusters: a stratum of stage %zu has only one, so its variance cannot be estimated; merge it with another",
            stage + 1);
    if (s->lonely == TAMIS_LONELY_ADJUST) tmi_sum_add(&spread->sum, unseen * total * total);
    if (s->lonely == TAMIS_LONELY_AVERAGE) spread->unknown++;
    return TAMIS_OK;
}

static tamis_status add_stage(tmi_sum *variance, int64_t *degrees, const sample *s, size_t from, size_t to, size_t stage,
                              double scale, tamis_error *err);

/* The last stage, where units are drawn by themselves: the spread of their totals about 0. */
static void add_independent(tmi_sum *variance, const sample *s, size_t from, size_t to, double scale)
{
    tmi_sum squares = {0};
    double total;
    arrange(s->rows, from, to, &s->stages[s->stage_count - 1], NULL);
    for (size_t i = from; i < to;) {
        i = cluster_end(&total, s->rows, i, to);
        tmi_sum_add(&squares, total * total);
    }
    tmi_sum_add(variance, scale * (1 - s->facts.rate) * tmi_sum_value(squares));
}

/* The part of the clusters that were drawn, as the cluster of a row counts it. */
static double part_drawn(const row *r, double n) { return r->probability > 0 ? r->probability : n / r->population; }

/* Adds the spread of one stratum, rows from, ..., to-1, and to the variance scale times that of the stages below. */
static tamis_status add_stratum(spread *spread, tmi_sum *variance, int64_t *degrees, const sample *s, size_t from, size_t to,
                                size_t stage, double scale, tamis_error *err)
{
    tmi_sum totals = {0}, squares = {0};
    double n = 0, empty = 0, total = 0, open = 0; /* open: whether some cluster was left to chance */
    tamis_status status;
    for (size_t i = from; i < to; n++) {
        i = cluster_end(&total, s->rows, i, to);
        tmi_sum_add(&totals, total);
    }
    if (stage == 0 && s->facts.drawn && s->facts.drawn[s->rows[from].unit] > n) empty = s->facts.drawn[s->rows[from].unit] - n;
    n += empty;
    TMI_TRY(check_stratum(s->rows, from, to, n, stage, err));
    const bool unequal = s->rows[from].probability > 0;
    const double mean = tmi_sum_value(totals) / n, left_of_all = unequal ? 1 : 1 - part_drawn(&s->rows[from], n);
    if (stage == 0) *degrees += (int64_t)n - 1;
    for (size_t i = from; i < to;) {
        const double left = 1 - part_drawn(&s->rows[i], n);
        i = cluster_end(&total, s->rows, i, to);
        tmi_sum_add(&squares, (unequal ? left : 1) * (total - mean) * (total - mean));
        open = left > open ? left : open;
    }
    tmi_sum_add(&squares, empty * mean * mean); /* of unknown probability, which 0 is below */
    if (unequal && empty > 0) open = 1;
    spread->strata++;
    if (n == 1 && open > 0) TMI_TRY(add_lonely(spread, s, mean, open, stage, err));
    else if (open > 0) tmi_sum_add(&spread->sum, left_of_all * n / (n - 1) * tmi_sum_value(squares));
    if (part_drawn(&s->rows[from], n) == 0 || stage + 1 == s->stage_count) goto done;
    for (size_t i = from, next; i < to; i = next) {
        const double part = part_drawn(&s->rows[i], n);
        next = cluster_end(&total, s->rows, i, to); /* before the rows are sorted anew */
        if (s->facts.rate > 0 && stage + 2 == s->stage_count) add_independent(variance, s, i, next, scale * part);
        else TMI_TRY(add_stage(variance, degrees, s, i, next, stage + 1, scale * part, err));
    }

done:
    return status;
}

static tamis_status add_stage(tmi_sum *variance, int64_t *degrees, const sample *s, size_t from, size_t to, size_t stage,
                              double scale, tamis_error *err)
{
    spread spread = {0};
    tamis_status status = TAMIS_OK;
    arrange(s->rows, from, to, &s->stages[stage], stage == 0 ? s->facts.probabilities : NULL);
    for (size_t i = from, next; i < to && status == TAMIS_OK; i = next) {
        next = stratum_end(s->rows, i, to);
        status = add_stratum(&spread, variance, degrees, s, i, next, stage, scale, err);
    }
    if (status != TAMIS_OK) return status;
    if (spread.unknown == spread.strata)
        return tmi_fail(err, TAMIS_INVALID, "clusters: at stage %zu no stratum has two, so there is no average", stage + 1);
    tmi_sum_add(variance, scale * tmi_sum_value(spread.sum) * (spread.strata / (spread.strata - spread.unknown)));
    return TAMIS_OK;
}

static tamis_status check(const double *linear, const double *weights, size_t count, const tamis_stage *stages,
                          size_t stage_count, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_check_finite("linear", linear, count, err));
    TMI_TRY(tmi_check_finite("weights", weights, count, err));
    if (!stages) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "stages: NULL"));
    if (stage_count < 1 || stage_count > TAMIS_MAX_STAGES)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "stage_count: must be between 1 and %d", TAMIS_MAX_STAGES));
    for (size_t j = 0; j < stage_count; j++)
        for (size_t i = 0; stages[j].populations && i < count; i++)
            if (!(stages[j].populations[i] >= 1))
                TMI_TRY(tmi_fail(err, TAMIS_INVALID, "populations: number %zu of stage %zu is below 1", i, j + 1));

done:
    return status;
}

tamis_status tmi_variance_stages(double *variance, int64_t *degrees, const double *linear, const double *weights, size_t count,
                                 const tamis_stage *stages, size_t stage_count, const tmi_stage_facts *facts, tamis_lonely lonely,
                                 tamis_error *err)
{
    sample s = {.stages = stages, .stage_count = stage_count, .lonely = lonely};
    if (facts) s.facts = *facts;
    const double *probabilities = s.facts.probabilities;
    tmi_sum sum = {0};
    int64_t freedom = 0;
    tamis_status status;
    tmi_error_reset(err);
    if (degrees) *degrees = 0;
    if (!variance) return tmi_fail(err, TAMIS_INVALID, "variance: NULL");
    *variance = INFINITY;
    TMI_TRY(check(linear, weights, count, stages, stage_count, err));
    if ((unsigned)lonely > TAMIS_LONELY_AVERAGE) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "lonely: must be one of tamis_lonely"));
    for (size_t i = 0; probabilities && i < count; i++)
        if (!(probabilities[i] > 0 && probabilities[i] <= 1))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "probabilities: number %zu is not above 0 and at most 1", i));
    s.rows = tmi_alloc(count, sizeof *s.rows);
    if (!s.rows) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) s.rows[i] = (row){.unit = i, .value = weights[i] * linear[i]};
    TMI_TRY(add_stage(&sum, &freedom, &s, 0, count, 0, 1, err));
    TMI_TRY(tmi_set_variance(variance, tmi_sum_value(sum), err));
    if (degrees) *degrees = freedom;

done:
    tmi_free(s.rows);
    return status;
}

tamis_status tamis_variance_stages(double *variance, int64_t *degrees, const double *linear, const double *weights, size_t count,
                                   const tamis_stage *stages, size_t stage_count, tamis_lonely lonely, tamis_error *err)
{
    return tmi_variance_stages(variance, degrees, linear, weights, count, stages, stage_count, NULL, lonely, err);
}
