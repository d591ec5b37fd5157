/* All compositions of the others, and for each the law of the histogram of their reports, exactly.
 *
 * A histogram of t reports of M kinds has C(t + M - 1, M - 1) values. The laws are made along a tree: one more report of the same
 * answer, or of the next answer, turns the law of t reports into that of t + 1. At the leaves, with all others in, each pair of
 * answers gives delta = sum of (P - E Q)+ over the histograms of n reports. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collect/anonymous/randomizer.h"

#define BITS TMI_RANDOMIZER_BITS
#define WORK 6e7 /* products: some seconds */

/* Histograms of `total` reports, in lexicographic order, and where each goes with one more report of kind y. */
typedef struct level {
    size_t count;
    unsigned char *cells; /* count x kinds */
    uint32_t *next;       /* count x kinds, places on the next level */
    tmi_ball *law;
} level;

typedef struct tree {
    const tmi_randomizer *r;
    const tmi_loss_at *at;
    int64_t n;
    level *levels; /* 0 ... n */
    tmi_ball e, p, q, term, delta, best;
} tree;

static double histograms(double t, double kinds) { return round(exp(lgamma(t + kinds) - lgamma(t + 1) - lgamma(kinds))); }

static int compare(const unsigned char *x, const unsigned char *y, size_t kinds)
{
    for (size_t i = 0; i < kinds; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static size_t place_of(const level *l, const unsigned char *cells, size_t kinds)
{
    size_t low = 0, high = l->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (compare(&l->cells[middle * kinds], cells, kinds) <= 0) low = middle;
        else high = middle;
    }
    return low;
}

/* The next histogram in lexicographic order. */
static void step(unsigned char *cells, size_t kinds)
{
    size_t i = kinds - 1;
    unsigned char tail = cells[i];
    cells[i] = 0;
    while (i > 0 && tail == 0) { /* the last cell that is not empty moves one to the left */
        i--;
        tail = cells[i];
        cells[i] = 0;
    }
    if (i > 0) {
        cells[i - 1]++;
        cells[kinds - 1] = (unsigned char)(tail - 1);
    }
}

static tamis_status make_level(level *l, int64_t total, size_t kinds, tamis_error *err)
{
    l->count = (size_t)histograms((double)total, (double)kinds);
    l->cells = tmi_alloc(l->count * kinds, 1);
    l->next = tmi_alloc(l->count * kinds, sizeof *l->next);
    l->law = tmi_alloc(l->count, sizeof *l->law);
    for (size_t i = 0; l->law && i < l->count; i++) tmi_ball_init(&l->law[i]);
    if (!l->cells || !l->next || !l->law) return tmi_fail_memory(err);
    l->cells[kinds - 1] = (unsigned char)total;
    for (size_t i = 1; i < l->count; i++) {
        unsigned char *c = &l->cells[i * kinds];
        memcpy(c, &l->cells[(i - 1) * kinds], kinds);
        step(c, kinds);
    }
    return TAMIS_OK;
}

static void link_levels(level *l, const level *next, size_t kinds)
{
    for (size_t i = 0; i < l->count; i++)
        for (size_t y = 0; y < kinds; y++) {
            unsigned char *c = &l->cells[i * kinds];
            c[y]++;
            l->next[i * kinds + y] = (uint32_t)place_of(next, c, kinds);
            c[y]--;
        }
}

/* to = the law with one more report of the answer x */
static void add_report(const tree *t, level *to, const level *from, size_t x)
{
    size_t kinds = t->r->outputs;
    tmi_ball term;
    tmi_ball_init(&term);
    for (size_t i = 0; i < to->count; i++) tmi_ball_set_int(&to->law[i], 0);
    for (size_t i = 0; i < from->count; i++)
        for (size_t y = 0; y < kinds; y++) {
            tmi_ball *z = &to->law[from->next[i * kinds + y]];
            tmi_ball_mul(&term, &from->law[i], &t->r->p[x * kinds + y], BITS);
            tmi_ball_add(z, z, &term, BITS);
        }
    tmi_ball_clear(&term);
}

/* The others are all in: every pair of answers. */
static void leaf(tree *t)
{
    const level *others = &t->levels[t->n - 1];
    level *all = &t->levels[t->n];
    size_t kinds = t->r->outputs;
    for (size_t k = 0; k < t->r->pair_count; k++) {
        const tmi_ball *x = &t->r->p[t->r->pairs[k].x * kinds], *y = &t->r->p[t->r->pairs[k].y * kinds];
        for (size_t i = 0; i < all->count; i++) tmi_ball_set_int(&all->law[i], 0);
        for (size_t kind = 0; kind < kinds; kind++) { /* P - E Q, term by term */
            tmi_ball_mul(&t->term, &t->e, &y[kind], BITS);
            tmi_ball_sub(&t->term, &x[kind], &t->term, BITS);
            for (size_t i = 0; i < others->count; i++) {
                tmi_ball *z = &all->law[others->next[i * kinds + kind]];
                tmi_ball_mul(&t->p, &others->law[i], &t->term, BITS);
                tmi_ball_add(z, z, &t->p, BITS);
            }
        }
        tmi_ball_set_int(&t->q, 0);
        tmi_ball_set_int(&t->delta, 0);
        for (size_t i = 0; i < all->count; i++) {
            if (tmi_ball_is_negative(&all->law[i])) continue;
            tmi_ball_max(&t->p, &all->law[i], &t->q, BITS);
            tmi_ball_add(&t->delta, &t->delta, &t->p, BITS);
        }
        tmi_ball_max(&t->best, &t->best, &t->delta, BITS);
    }
}

/* Others who have answers from x on. */
static void descend(tree *t, int64_t depth, size_t x)
{
    if (depth == t->n - 1) {
        leaf(t);
        return;
    }
    for (size_t answer = x; answer < t->r->inputs; answer++) {
        add_report(t, &t->levels[depth + 1], &t->levels[depth], answer);
        descend(t, depth + 1, answer);
    }
}

tamis_status tmi_enumerate_delta(tamis_bound *delta, bool *done, const tmi_randomizer *r, int64_t n, const tmi_loss_at *at,
                                 tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tree t = {.r = r, .at = at, .n = n};
    tmi_ball *all[] = {&t.e, &t.p, &t.q, &t.term, &t.delta, &t.best};
    double kinds = (double)r->outputs;
    *delta = (tamis_bound){0, 1};
    *done = n <= 200 &&
            histograms((double)n - 1, (double)r->inputs) * histograms((double)n, kinds) * kinds * (double)(2 + r->pair_count) <
                WORK;
    if (!*done) return TAMIS_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tmi_ball_init(all[i]);
    tmi_loss_at_balls(&t.e, &t.p, at, BITS);
    if (!(t.levels = tmi_alloc((size_t)n + 1, sizeof *t.levels))) TMI_TRY(tmi_fail_memory(err));
    for (int64_t i = 0; i <= n; i++) TMI_TRY(make_level(&t.levels[i], i, r->outputs, err));
    for (int64_t i = 0; i < n; i++) link_levels(&t.levels[i], &t.levels[i + 1], r->outputs);
    tmi_ball_set_int(&t.levels[0].law[0], 1);
    descend(&t, 0, 0);
    tamis_bound found = tmi_ball_bound(&t.best);
    *delta = (tamis_bound){fmax(0, found.lower), fmin(1, found.upper)};
done:
    for (int64_t i = 0; t.levels && i <= n; i++) {
        level *l = &t.levels[i];
        for (size_t j = 0; l->law && j < l->count; j++) tmi_ball_clear(&l->law[j]);
        tmi_free(l->cells);
        tmi_free(l->next);
        tmi_free(l->law);
    }
    tmi_free(t.levels);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tmi_ball_clear(all[i]);
    return status;
}
