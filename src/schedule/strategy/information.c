/* How precisely effects are known from all tables together, and what more precision would gain. */
#include <math.h>
#include <string.h>

#include "schedule/strategy/effects.h"

static double dot(const double *v, const double *w, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += v[i] * w[i];
    return sum;
}

void tmi_effects_reset(tmi_effects *e)
{
    for (size_t i = 0; i < e->count; i++) e->list[i].information = e->pulls[i] = 0;
    for (size_t i = 0; i < e->star_count; i++) e->stars[i].centre = e->stars[i].rest = e->stars[i].pull = 0;
    for (size_t i = 0; i < e->leaf_count; i++) {
        tmi_leaf *leaf = &e->leaves[i];
        memset(leaf->own, 0, sizeof leaf->own);
        memset(leaf->cross, 0, sizeof leaf->cross);
        memset(leaf->pull, 0, sizeof leaf->pull);
        memset(leaf->cross_pull, 0, sizeof leaf->cross_pull);
    }
}

void tmi_effects_add(tmi_effects *e, const tmi_table_information *t, double precision)
{
    for (size_t i = 0; i < t->effect_count; i++) e->list[t->effects[i].effect].information += precision * t->effects[i].square;
    e->stars[t->star].centre += precision * t->centre;
    for (size_t i = 0; i < t->leaf_count; i++) {
        const tmi_leaf_information *own = &t->leaves[i];
        tmi_leaf *leaf = &e->leaves[own->leaf];
        for (size_t k = 0; k < leaf->contrasts; k++) {
            leaf->cross[k] += precision * own->cross[k];
            for (size_t m = 0; m < leaf->contrasts; m++) leaf->own[k][m] += precision * own->own[k][m];
        }
    }
}

/* The generalised inverse of a small symmetric matrix without negative eigenvalues, by Jacobi's rotations; whether it is
 * an inverse. */
static bool invert(double inverse[TMI_CONTRASTS][TMI_CONTRASTS], const double matrix[TMI_CONTRASTS][TMI_CONTRASTS], size_t n)
{
    bool whole = true, turned = true;
    double a[TMI_CONTRASTS][TMI_CONTRASTS], v[TMI_CONTRASTS][TMI_CONTRASTS] = {0}, largest = 0;
    memcpy(a, matrix, sizeof a);
    for (size_t i = 0; i < n; i++) v[i][i] = 1;
    for (int sweep = 0; sweep < 12 && turned; sweep++) {
        turned = false;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (a[p][q] == 0) continue;
                turned = true;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1),
                             s = t * c;
                for (size_t k = 0; k < n; k++) {
                    const double x = a[k][p], y = a[k][q], w = v[k][p], z = v[k][q];
                    a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
                    v[k][p] = c * w - s * z, v[k][q] = s * w + c * z;
                }
                for (size_t k = 0; k < n; k++) {
                    const double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
                }
            }
    }
    for (size_t i = 0; i < n; i++) largest = fmax(largest, a[i][i]);
    for (size_t i = 0; i < n; i++) whole = whole && a[i][i] > TMI_DUST * largest;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            inverse[i][j] = 0;
            for (size_t k = 0; k < n; k++)
                if (a[k][k] > TMI_DUST * largest) inverse[i][j] += v[i][k] * v[j][k] / a[k][k];
        }
    return whole;
}

void tmi_effects_solve(tmi_effects *e)
{
    for (size_t i = 0; i < e->count; i++) {
        const double information = e->list[i].information;
        e->variances[i] = e->list[i].known ? 0 : information > 0 ? 1 / information : INFINITY;
    }
    for (size_t i = 0; i < e->star_count; i++) e->stars[i].rest = e->stars[i].centre;
    for (size_t i = 0; i < e->leaf_count; i++) {
        tmi_leaf *leaf = &e->leaves[i];
        leaf->whole = invert(leaf->inverse, (const double(*)[TMI_CONTRASTS])leaf->own, leaf->contrasts);
        for (size_t k = 0; k < leaf->contrasts; k++) { leaf->solved[k] = dot(leaf->inverse[k], leaf->cross, leaf->contrasts); }
        e->stars[leaf->star].rest -= dot(leaf->cross, leaf->solved, leaf->contrasts);
    }
    for (size_t i = 0; i < e->star_count; i++) {
        tmi_star *star = &e->stars[i];
        if (star->rest <= TMI_DUST * star->centre) star->rest = 0;
    }
}

/* ---- variances ---- */

/* Whether the tables determine these contrasts: inverse and matrix give them back. */
static bool is_determined(const tmi_leaf *leaf, const double *c)
{
    double size = 0, off = 0;
    if (leaf->whole) return true;
    for (size_t k = 0; k < leaf->contrasts; k++) {
        double back = 0;
        for (size_t m = 0; m < leaf->contrasts; m++) back += leaf->own[k][m] * dot(leaf->inverse[m], c, leaf->contrasts);
        size = fmax(size, fabs(c[k]));
        off = fmax(off, fabs(back - c[k]));
    }
    return off <= 1e-6 * size;
}

/* What the combination asks of the centre when its leaves are eliminated, over the rest of the centre's information; NaN: nobody
 * knows. */
static double centre_of(const tmi_effects *e, const tmi_parts_of_effects *p)
{
    const tmi_star *star = &e->stars[p->star];
    double asked = p->centre, size = fabs(p->centre);
    if (star->known) return 0;
    for (size_t i = 0; i < p->leaf_count; i++) {
        const tmi_leaf *leaf = &e->leaves[p->leaves[i].leaf];
        const double part = dot(p->leaves[i].c, leaf->solved, leaf->contrasts);
        asked -= part;
        size += fabs(part);
    }
    if (fabs(asked) <= TMI_DUST * size) return 0;
    return star->rest > 0 ? asked / star->rest : NAN;
}

double tmi_effects_variance(const tmi_effects *e, const tmi_parts_of_effects *p)
{
    double variance = 0;
    for (size_t i = 0; i < p->effect_count; i++) variance += p->effects[i].square * e->variances[p->effects[i].effect];
    for (size_t i = 0; i < p->leaf_count; i++) {
        const tmi_leaf *leaf = &e->leaves[p->leaves[i].leaf];
        const double *c = p->leaves[i].c;
        if (leaf->known) continue;
        if (!is_determined(leaf, c)) return INFINITY;
        for (size_t k = 0; k < leaf->contrasts; k++) variance += c[k] * dot(leaf->inverse[k], c, leaf->contrasts);
    }
    const double centre = centre_of(e, p);
    return isnan(centre) ? INFINITY : variance + centre * centre * e->stars[p->star].rest;
}

/* With y the solution for the combination, y' Y y is the derivative by the information Y of a table. In the leaves y is the own
 * part z of the combination, less `solved` times the centre; what the centre alone brings is added in tmi_effects_gain. */
void tmi_effects_pull(tmi_effects *e, const tmi_parts_of_effects *p, double weight)
{
    const double centre = centre_of(e, p);
    for (size_t i = 0; i < p->effect_count; i++) e->pulls[p->effects[i].effect] += weight * p->effects[i].square;
    e->stars[p->star].pull += weight * centre * centre;
    for (size_t i = 0; i < p->leaf_count; i++) {
        tmi_leaf *leaf = &e->leaves[p->leaves[i].leaf];
        double z[TMI_CONTRASTS];
        if (leaf->known) continue;
        for (size_t k = 0; k < leaf->contrasts; k++) z[k] = dot(leaf->inverse[k], p->leaves[i].c, leaf->contrasts);
        for (size_t k = 0; k < leaf->contrasts; k++) {
            leaf->cross_pull[k] += weight * centre * z[k];
            for (size_t m = 0; m < leaf->contrasts; m++)
                leaf->pull[k][m] += weight * (z[k] * z[m] - centre * (z[k] * leaf->solved[m] + leaf->solved[k] * z[m]));
        }
    }
}

double tmi_effects_gain(const tmi_effects *e, const tmi_table_information *t)
{
    const double centre = e->stars[t->star].pull;
    double gain = t->centre * centre;
    for (size_t i = 0; i < t->effect_count; i++) {
        const double pull = e->pulls[t->effects[i].effect], variance = e->variances[t->effects[i].effect];
        if (pull > 0) gain += t->effects[i].square * pull * variance * variance;
    }
    for (size_t i = 0; i < t->leaf_count; i++) {
        const tmi_leaf_information *own = &t->leaves[i];
        const tmi_leaf *leaf = &e->leaves[own->leaf];
        for (size_t k = 0; k < leaf->contrasts; k++) {
            gain += 2 * own->cross[k] * (leaf->cross_pull[k] - centre * leaf->solved[k]);
            for (size_t m = 0; m < leaf->contrasts; m++)
                gain += own->own[k][m] * (leaf->pull[k][m] + centre * leaf->solved[k] * leaf->solved[m]);
        }
    }
    return gain;
}
