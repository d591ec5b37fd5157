/* How precisely effects are known from all tables together, and what more precision would gain. */
#include <math.h>
#include <string.h>

#include "strategy/effects.h"

void tmi_effects_reset(tmi_effects *e)
{
    for (size_t i = 0; i < e->count; i++) e->list[i].information = e->gradients[i] = 0;
    for (size_t i = 0; i < e->arrowhead_count; i++)
        e->arrowheads[i].centre = e->arrowheads[i].rest = e->arrowheads[i].gradient = 0;
    for (size_t i = 0; i < e->block_count; i++) {
        tmi_arrowhead_block *block = &e->blocks[i];
        memset(block->own, 0, sizeof block->own);
        memset(block->cross, 0, sizeof block->cross);
        memset(block->gradient, 0, sizeof block->gradient);
        memset(block->cross_gradient, 0, sizeof block->cross_gradient);
    }
}

void tmi_effects_add(tmi_effects *e, const tmi_table_information *t, double precision)
{
    for (size_t i = 0; i < t->effect_count; i++) e->list[t->effects[i].effect].information += precision * t->effects[i].square;
    e->arrowheads[t->arrowhead].centre += precision * t->centre;
    for (size_t i = 0; i < t->block_count; i++) {
        const tmi_block_information *own = &t->blocks[i];
        tmi_arrowhead_block *block = &e->blocks[own->block];
        for (size_t k = 0; k < block->contrasts; k++) {
            block->cross[k] += precision * own->cross[k];
            for (size_t m = 0; m < block->contrasts; m++) block->own[k][m] += precision * own->own[k][m];
        }
    }
}

/* Gives the generalised inverse of a small symmetric matrix without negative eigenvalues, by Jacobi's rotations; returns
 * whether it is an inverse. */
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
    for (size_t i = 0; i < e->arrowhead_count; i++) e->arrowheads[i].rest = e->arrowheads[i].centre;
    for (size_t i = 0; i < e->block_count; i++) {
        tmi_arrowhead_block *block = &e->blocks[i];
        block->whole = invert(block->inverse, (const double(*)[TMI_CONTRASTS])block->own, block->contrasts);
        for (size_t k = 0; k < block->contrasts; k++) {
            block->solved[k] = tmi_dot(block->inverse[k], block->cross, block->contrasts);
        }
        e->arrowheads[block->arrowhead].rest -= tmi_dot(block->cross, block->solved, block->contrasts);
    }
    for (size_t i = 0; i < e->arrowhead_count; i++) {
        tmi_arrowhead *arrowhead = &e->arrowheads[i];
        if (arrowhead->rest <= TMI_DUST * arrowhead->centre) arrowhead->rest = 0;
    }
}

/* ---- variances ---- */

/* Whether the tables determine these contrasts: the matrix times its generalised inverse then leaves them as they are. */
static bool is_determined(const tmi_arrowhead_block *block, const double *c)
{
    double size = 0, off = 0;
    if (block->whole) return true;
    for (size_t k = 0; k < block->contrasts; k++) {
        double back = 0;
        for (size_t m = 0; m < block->contrasts; m++) back += block->own[k][m] * tmi_dot(block->inverse[m], c, block->contrasts);
        size = fmax(size, fabs(c[k]));
        off = fmax(off, fabs(back - c[k]));
    }
    return off <= 1e-6 * size;
}

/* What the combination asks of the centre when its leaves are eliminated, over the rest of the centre's information; NaN if the
 * tables do not determine it. */
static double centre_of(const tmi_effects *e, const tmi_parts_of_effects *p)
{
    const tmi_arrowhead *arrowhead = &e->arrowheads[p->arrowhead];
    double asked = p->centre, size = fabs(p->centre);
    if (arrowhead->known) return 0;
    for (size_t i = 0; i < p->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[p->blocks[i].block];
        const double part = tmi_dot(p->blocks[i].c, block->solved, block->contrasts);
        asked -= part;
        size += fabs(part);
    }
    if (fabs(asked) <= TMI_DUST * size) return 0;
    return arrowhead->rest > 0 ? asked / arrowhead->rest : NAN;
}

double tmi_effects_variance(const tmi_effects *e, const tmi_parts_of_effects *p)
{
    double variance = 0;
    for (size_t i = 0; i < p->effect_count; i++) variance += p->effects[i].square * e->variances[p->effects[i].effect];
    for (size_t i = 0; i < p->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[p->blocks[i].block];
        const double *c = p->blocks[i].c;
        if (block->known) continue;
        if (!is_determined(block, c)) return INFINITY;
        for (size_t k = 0; k < block->contrasts; k++) variance += c[k] * tmi_dot(block->inverse[k], c, block->contrasts);
    }
    const double centre = centre_of(e, p);
    return isnan(centre) ? INFINITY : variance + centre * centre * e->arrowheads[p->arrowhead].rest;
}

/* With y the solution for the combination, y' Y y is the derivative by the information Y of a table. In the leaves y is the own
 * part z of the combination, less `solved` times the centre; what the centre alone brings is added in tmi_effects_gain. */
void tmi_effects_add_gradient(tmi_effects *e, const tmi_parts_of_effects *p, double weight)
{
    const double centre = centre_of(e, p);
    for (size_t i = 0; i < p->effect_count; i++) e->gradients[p->effects[i].effect] += weight * p->effects[i].square;
    e->arrowheads[p->arrowhead].gradient += weight * centre * centre;
    for (size_t i = 0; i < p->block_count; i++) {
        tmi_arrowhead_block *block = &e->blocks[p->blocks[i].block];
        double z[TMI_CONTRASTS];
        if (block->known) continue;
        for (size_t k = 0; k < block->contrasts; k++) z[k] = tmi_dot(block->inverse[k], p->blocks[i].c, block->contrasts);
        for (size_t k = 0; k < block->contrasts; k++) {
            block->cross_gradient[k] += weight * centre * z[k];
            for (size_t m = 0; m < block->contrasts; m++)
                block->gradient[k][m] += weight * (z[k] * z[m] - centre * (z[k] * block->solved[m] + block->solved[k] * z[m]));
        }
    }
}

double tmi_effects_gain(const tmi_effects *e, const tmi_table_information *t)
{
    const double centre = e->arrowheads[t->arrowhead].gradient;
    double gain = t->centre * centre;
    for (size_t i = 0; i < t->effect_count; i++) {
        const double gradient = e->gradients[t->effects[i].effect], variance = e->variances[t->effects[i].effect];
        if (gradient > 0) gain += t->effects[i].square * gradient * variance * variance;
    }
    for (size_t i = 0; i < t->block_count; i++) {
        const tmi_block_information *own = &t->blocks[i];
        const tmi_arrowhead_block *block = &e->blocks[own->block];
        for (size_t k = 0; k < block->contrasts; k++) {
            gain += 2 * own->cross[k] * (block->cross_gradient[k] - centre * block->solved[k]);
            for (size_t m = 0; m < block->contrasts; m++)
                gain += own->own[k][m] * (block->gradient[k][m] + centre * block->solved[k] * block->solved[m]);
        }
    }
    return gain;
}
