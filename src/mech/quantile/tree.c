#include "mech/quantile/tree.h"

#include <math.h>

#include "base/memory.h"
#include "num/exact.h"

#define LEAST_VARIANCE 1e-100 /* noise that is practically none still has a ratio to that of other levels */

void tmi_bin_tree_free(tmi_bin_tree *t)
{
    if (!t) return;
    for (size_t l = 0; l < TMI_TREE_LEVELS; l++) {
        tamis_number_free(t->scales[l]);
        tamis_noise_free(t->noises[l]);
    }
    tmi_free(t->variance);
    tmi_free(t);
}

/* ---- shape ---- */

static size_t nodes_of(const tmi_bin_tree *t, size_t level) { return t->first[level + 1] - t->first[level]; }

/* The children of node i of a level: numbers within the next level. */
static size_t children_begin(const tmi_bin_tree *t, size_t i) { return i * t->branching; }

static size_t children_end(const tmi_bin_tree *t, size_t level, size_t i)
{
    const size_t end = (i + 1) * t->branching, all = nodes_of(t, level + 1);
    return end < all ? end : all;
}

/* A tree of this many levels, all of which get the same part. */
static void shape(tmi_bin_tree *t, size_t bins, size_t levels)
{
    size_t counts[TMI_TREE_LEVELS];
    t->bins = bins;
    t->levels = levels;
    t->branching = 2;
    for (;; t->branching++) {
        size_t reach = 1;
        for (size_t l = 0; l < levels && reach < bins; l++) reach *= t->branching;
        if (reach >= bins) break;
    }
    counts[levels - 1] = bins;
    for (size_t l = levels - 1; l > 0; l--) counts[l - 1] = (counts[l] + t->branching - 1) / t->branching;
    t->first[0] = 0;
    for (size_t l = 0; l < levels; l++) {
        t->first[l + 1] = t->first[l] + counts[l];
        t->parts[l] = TMI_TREE_PARTS / (int64_t)levels + (l < TMI_TREE_PARTS % levels);
    }
}

/* ---- variances ---- */

/* Of discrete Laplace noise: 2 q / (1 - q)^2 with q = e^(-1/scale). */
static double laplace_variance(double scale)
{
    const double root = sinh(1 / (2 * scale)); /* cosh(x) - 1 = 2 sinh(x/2)^2, which no large scale rounds to 0 */
    return fmax(1 / (2 * root * root), LEAST_VARIANCE);
}

/* Of the z of all nodes. `change`: the most that a unit changes a level by, over epsilon. */
static void set_variances(tmi_bin_tree *t, double change)
{
    for (size_t l = t->levels; l-- > 0;) {
        const double own = laplace_variance(change * TMI_TREE_PARTS / (double)t->parts[l]);
        t->noise_variance[l] = own;
        for (size_t i = 0; i < nodes_of(t, l); i++) {
            double below = 0;
            if (l + 1 == t->levels) t->variance[t->first[l] + i] = own;
            else {
                for (size_t c = children_begin(t, i); c < children_end(t, l, i); c++) below += t->variance[t->first[l + 1] + c];
                t->variance[t->first[l] + i] = own * below / (own + below);
            }
        }
    }
}

double tmi_bin_tree_prefix_variance(const tmi_bin_tree *t, size_t bin)
{
    double beta = 1, rest = 0;
    size_t i = bin; /* the node on the way to the bin */
    for (size_t l = t->levels; l-- > 0; i /= t->branching) {
        const size_t begin = l > 0 ? i - i % t->branching : 0;
        const size_t end = l > 0 ? children_end(t, l - 1, i / t->branching) : nodes_of(t, 0);
        const double *v = t->variance + t->first[l];
        double before = 0, all = 0;
        for (size_t c = begin; c < end; c++) {
            before += c < i ? v[c] : 0;
            all += v[c];
        }
        const double with = before + beta * v[i];
        rest += before + beta * beta * v[i];
        if (l == 0) break; /* nothing else is known about the root */
        rest -= with * with / all;
        beta = with / all;
    }
    return fmax(rest, 0);
}

#define LOOKED_AT 61 /* bins: fewer than there are, spread evenly */

static double mean_variance(tmi_bin_tree *t, double change)
{
    const size_t count = t->bins < LOOKED_AT ? t->bins : LOOKED_AT;
    double sum = 0;
    set_variances(t, change);
    for (size_t k = 0; k < count; k++) sum += tmi_bin_tree_prefix_variance(t, t->bins * (2 * k + 1) / (2 * count));
    return sum / (double)count;
}

/* Moves parts of epsilon from one level to another as long as that helps. */
static double share_out(tmi_bin_tree *t, double change)
{
    double best = mean_variance(t, change);
    for (bool better = true; better;) {
        size_t from = 0, to = 0;
        better = false;
        for (size_t k = 0; k < t->levels * t->levels; k++) {
            const size_t i = k / t->levels, j = k % t->levels;
            if (i == j || t->parts[i] == 1) continue;
            t->parts[i]--;
            t->parts[j]++;
            const double tried = mean_variance(t, change);
            if (tried < best * (1 - 1e-9)) {
                best = tried;
                from = i;
                to = j;
                better = true;
            }
            t->parts[i]++;
            t->parts[j]--;
        }
        if (better) {
            t->parts[from]--;
            t->parts[to]++;
        }
    }
    return best;
}

/* ---- what is public ---- */

/* Deeper trees than this have never been better: their levels share epsilon. */
#define LEVELS_TRIED 6

static void choose(tmi_bin_tree *t, size_t bins, double change)
{
    tmi_bin_tree best = {0};
    double least = INFINITY;
    for (size_t levels = 1; levels <= LEVELS_TRIED && (levels == 1 || (size_t)1 << (levels - 1) < bins); levels++) {
        shape(t, bins, levels);
        const double tried = share_out(t, change);
        if (tried >= least) continue;
        least = tried;
        best = *t;
    }
    *t = best;
    set_variances(t, change);
}

static tamis_status set_noise(tmi_bin_tree *t, const tamis_distribution *d, const tamis_distribution_setup *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    const int64_t rows = s->rows_per_unit > 0 ? s->rows_per_unit : 1;
    tmi_term most = tmi_mul(&e, tmi_int(&e, rows), tmi_int(&e, d->most_weight));
    tmi_term change = tmi_mul(&e, most, tmi_int(&e, s->add_remove ? 1 : 2));
    tmi_term each = tmi_div(&e, change, s->epsilon);
    tamis_status status = e.status;
    if (status == TAMIS_OK) choose(t, d->bins, tmi_number_nearest(each));
    for (size_t l = 0; l < t->levels && status == TAMIS_OK; l++) {
        tmi_term share = tmi_div(&e, tmi_int(&e, t->parts[l]), tmi_int(&e, TMI_TREE_PARTS));
        status = tmi_exact_copy(&t->scales[l], &e, tmi_div(&e, each, share));
        if (status == TAMIS_OK) status = tamis_noise_laplace_new(&t->noises[l], t->scales[l], err);
    }
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_bin_tree_set(tamis_distribution *d, const tamis_distribution_setup *s, tamis_error *err)
{
    tmi_bin_tree *t = tmi_alloc(1, sizeof *t);
    double *variance = tmi_alloc(2 * d->bins + TMI_TREE_LEVELS,
                                 sizeof *variance); /* a level has half the nodes of the next, rounded up, at most */
    if (!t || !variance) {
        tmi_free(t);
        tmi_free(variance);
        return tmi_fail_memory(err);
    }
    d->tree = t;
    t->variance = variance;
    const tamis_status status = set_noise(t, d, s, err);
    if (status != TAMIS_OK) return status;
    d->measures = t->first[t->levels];
    for (size_t i = 0; i < d->bins; i++) d->sd[i] = sqrt(tmi_bin_tree_prefix_variance(t, i));
    return TAMIS_OK;
}

tamis_status tmi_bin_tree_draw(int64_t *noise, const tmi_bin_tree *t, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t l = 0; l < t->levels && status == TAMIS_OK; l++)
        status = tamis_noise_draw(noise + t->first[l], nodes_of(t, l), t->noises[l], rng, err);
    return status;
}

/* ---- with the data ---- */

void tmi_bin_tree_measure(int64_t *sums, const tmi_bin_tree *t, const int64_t *x)
{
    memset(sums, 0, t->first[t->levels] * sizeof *sums);
    memcpy(sums + t->first[t->levels - 1], x, t->bins * sizeof *x);
    for (size_t l = t->levels - 1; l > 0; l--)
        for (size_t i = 0; i < nodes_of(t, l); i++) sums[t->first[l - 1] + i / t->branching] += sums[t->first[l] + i];
}

/* From the leaves up: nodes[v] becomes z. */
static void combine(double *nodes, const tmi_bin_tree *t)
{
    for (size_t l = t->levels - 1; l-- > 0;)
        for (size_t i = 0; i < nodes_of(t, l); i++) {
            double sum = 0, variance = 0;
            for (size_t c = children_begin(t, i); c < children_end(t, l, i); c++) {
                sum += nodes[t->first[l + 1] + c];
                variance += t->variance[t->first[l + 1] + c];
            }
            const double own = t->noise_variance[l];
            nodes[t->first[l] + i] = (nodes[t->first[l] + i] * variance + sum * own) / (own + variance);
        }
}

void tmi_bin_tree_consistent(double *nodes, const tmi_bin_tree *t)
{
    combine(nodes, t);
    for (size_t l = 0; l + 1 < t->levels; l++)
        for (size_t i = 0; i < nodes_of(t, l); i++) {
            double sum = 0, variance = 0;
            for (size_t c = children_begin(t, i); c < children_end(t, l, i); c++) {
                sum += nodes[t->first[l + 1] + c];
                variance += t->variance[t->first[l + 1] + c];
            }
            const double missing = nodes[t->first[l] + i] - sum;
            for (size_t c = children_begin(t, i); c < children_end(t, l, i); c++)
                nodes[t->first[l + 1] + c] += missing * t->variance[t->first[l + 1] + c] / variance;
        }
}

tamis_status tmi_bin_tree_estimate(tamis_distribution *d, const int64_t *x, tamis_error *err)
{
    const tmi_bin_tree *t = d->tree;
    int64_t *sums = tmi_alloc(d->measures, sizeof *sums);
    double *nodes = tmi_alloc(d->measures, sizeof *nodes), sum = 0;
    if (!sums || !nodes) {
        tmi_free(sums);
        tmi_free(nodes);
        return tmi_fail_memory(err);
    }
    tmi_bin_tree_measure(sums, t, x);
    for (size_t v = 0; v < d->measures; v++) nodes[v] = tmi_noisy(sums[v], d->drawn[v]);
    tmi_bin_tree_consistent(nodes, t);
    for (size_t i = 0; i < d->bins; i++) d->plain[i] = sum += nodes[t->first[t->levels - 1] + i];
    tmi_wipe(sums, d->measures * sizeof *sums);
    tmi_free(sums);
    tmi_free(nodes);
    return TAMIS_OK;
}
