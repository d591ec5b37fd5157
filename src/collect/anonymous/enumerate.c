/* All compositions of the others, and for each the law of the histogram of their reports, exactly.
 *
 * A histogram of t reports of M kinds has C(t + M - 1, M - 1) values. The laws are made along a tree: one more report of the same
 * answer, or of the next answer, turns the law of t reports into that of t + 1. At the leaves, with all others in, each pair of
 * answers gives delta = sum of (P - E Q)+ over the histograms of n reports.
 *
 * All of that is done in doubles first, with a bound on their rounding. Balls then decide between the few compositions and pairs
 * that may have the largest delta. With u = 2^-53, m kinds and probabilities known to 2 u, one more report multiplies the
 * relative error of a mass by at most (1+u)^(m+3). P - E Q is a sum of m products of a mass and a coefficient, which is known to
 * 2 u or to an absolute error. Masses that underflow are wrong by less than ABSOLUTE.
 *
 * Delta falls in E. So what a composition and a pair had at most at a smaller E they have at most now, and where that is less
 * than what some other one has at least, they are not looked at again. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collect/anonymous/randomizer.h"

#define BITS TMI_RANDOMIZER_BITS
#define WORK 6e7 /* products: a tenth of a second */
#define U 0x1p-53
#define ABSOLUTE 0x1p-1000 /* a product that underflows is wrong by 2^-1075, and there are fewer than 2^30 of them */

/* Histograms of `total` reports, in lexicographic order, and where each goes with one more report of kind y. */
typedef struct level {
    size_t count;
    unsigned char *cells; /* count x kinds */
    uint32_t *next;       /* count x kinds, places on the next level */
    uint32_t *before;     /* count x kinds, places on the last level; its count where there is none */
    tmi_ball *law;
    double *about; /* the same in doubles, and 0 after the last */
} level;

/* x - E y of a pair, for each kind of report. Masses are at most 1, so what is wrong with these in absolute terms is an upper
 * limit of what is wrong with each P - E Q. */
typedef struct gains {
    double *gain, absolute;
} gains;

/* What the doubles have said at one E, or at a smaller one. */
typedef struct answered {
    double exp_eps; /* e^eps from above */
    double *most;   /* of each leaf and pair: its delta is at most this */
} answered;

#define ANSWERED 64 /* the search for an epsilon asks some twenty times; nothing is kept of questions beyond these */

struct tmi_enumeration {
    const tmi_randomizer *r;
    int64_t n;
    level *levels; /* 0 ... n */
    tmi_ball e, p, q, term, delta, best;
    double *p_about, none; /* as p of the randomizer, and what is wrong with it in absolute terms */
    gains *gains;          /* of each pair */
    size_t *path, *made;   /* the answers of the others: of this leaf, and those of which the balls are made */
    size_t *worst;         /* those of a leaf that had the largest delta; */
    bool any_worst;        /* whether there is one */
    int64_t balls;         /* so many of `made` */
    size_t leaves;
    answered answered[ANSWERED];
    size_t answered_count;
    double *most;  /* of each leaf and pair: its delta is at most this */
    size_t place;  /* in this list */
    double least;  /* some pair has at least this */
    bool deciding; /* by balls */
};
typedef tmi_enumeration tree;

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
    l->before = tmi_alloc(l->count * kinds, sizeof *l->before);
    l->about = tmi_alloc(l->count + 1, sizeof *l->about);
    for (size_t i = 0; l->law && i < l->count; i++) tmi_ball_init(&l->law[i]);
    if (!l->cells || !l->next || !l->law || !l->before || !l->about) return tmi_fail_memory(err);
    l->cells[kinds - 1] = (unsigned char)total;
    for (size_t i = 1; i < l->count; i++) {
        unsigned char *c = &l->cells[i * kinds];
        memcpy(c, &l->cells[(i - 1) * kinds], kinds);
        step(c, kinds);
    }
    return TAMIS_OK;
}

static void link_levels(level *l, level *next, size_t kinds)
{
    for (size_t i = 0; i < next->count * kinds; i++) next->before[i] = (uint32_t)l->count;
    for (size_t i = 0; i < l->count; i++)
        for (size_t y = 0; y < kinds; y++) {
            unsigned char *c = &l->cells[i * kinds];
            c[y]++;
            l->next[i * kinds + y] = (uint32_t)place_of(next, c, kinds);
            next->before[l->next[i * kinds + y] * kinds + y] = (uint32_t)i;
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

/* The same in doubles. */
static void add_report_about(const tree *t, level *to, const level *from, size_t x)
{
    const size_t kinds = t->r->outputs;
    const double *p = &t->p_about[x * kinds];
    for (size_t i = 0; i < to->count; i++) {
        double mass = 0;
        for (size_t y = 0; y < kinds; y++) mass += from->about[to->before[i * kinds + y]] * p[y];
        to->about[i] = mass;
    }
}

/* delta of one pair in doubles: at most *most, at least *least. */
static void about_pair(double *least, double *most, const tree *t, const gains *g)
{
    const level *others = &t->levels[t->n - 1], *all = &t->levels[t->n];
    const size_t kinds = t->r->outputs;
    const double error = 1.01 * ((double)(t->n - 1) * ((double)kinds + 3) + (double)kinds + 6) * U;
    double lower = 0, upper = 0;
    for (size_t i = 0; i < all->count; i++) {
        double value = 0, size = 0;
        for (size_t y = 0; y < kinds; y++) {
            const double x = others->about[all->before[i * kinds + y]] * g->gain[y];
            value += x;
            size += fabs(x);
        }
        const double wrong = error * size + g->absolute;
        lower += value - wrong > 0 ? value - wrong : 0;
        upper += value + wrong <= 0 ? 0 : value + wrong; /* also what is not a number */
    }
    const double sums = 1.01 * ((double)all->count + 4) * U;
    const bool finite = isfinite(lower) && isfinite(upper);
    *least = finite ? lower * (1 - sums) : 0;
    *most = finite ? upper * (1 + sums) : INFINITY;
}

/* The law of the others in balls, from where their answers differ from those of the last leaf. */
static void make_balls(tree *t)
{
    int64_t same = 0;
    while (same < t->balls && t->made[same] == t->path[same]) same++;
    for (t->balls = same; t->balls < t->n - 1; t->balls++) {
        t->made[t->balls] = t->path[t->balls];
        add_report(t, &t->levels[t->balls + 1], &t->levels[t->balls], t->path[t->balls]);
    }
}

/* delta of one pair in balls. */
static void decide_pair(tree *t, tmi_answers pair)
{
    const level *others = &t->levels[t->n - 1];
    level *all = &t->levels[t->n];
    size_t kinds = t->r->outputs;
    const tmi_ball *x = &t->r->p[pair.x * kinds], *y = &t->r->p[pair.y * kinds];
    make_balls(t);
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

/* The others are all in: every pair of answers. */
static void leaf(tree *t)
{
    for (size_t k = 0; k < t->r->pair_count; k++, t->place++) {
        if (t->most[t->place] < t->least) continue;
        if (t->deciding) {
            decide_pair(t, t->r->pairs[k]);
            continue;
        }
        double least;
        about_pair(&least, &t->most[t->place], t, &t->gains[k]);
        if (least <= t->least) continue;
        t->least = least;
        memcpy(t->worst, t->path, (size_t)(t->n - 1) * sizeof *t->path);
        t->any_worst = true;
    }
}

/* Whether one of the next leaves may have the largest delta. */
static bool may_be_worst(const tree *t, size_t leaves)
{
    const double *most = &t->most[t->place];
    for (size_t i = 0; i < leaves * t->r->pair_count; i++)
        if (!(most[i] < t->least)) return true;
    return false;
}

/* Others who have answers from x on. */
static void descend(tree *t, int64_t depth, size_t x)
{
    if (depth == t->n - 1) {
        leaf(t);
        return;
    }
    for (size_t answer = x; answer < t->r->inputs; answer++) {
        const size_t below = (size_t)histograms((double)(t->n - 2 - depth), (double)(t->r->inputs - answer));
        if (!may_be_worst(t, below)) {
            t->place += below * t->r->pair_count;
            continue;
        }
        t->path[depth] = answer;
        if (!t->deciding) add_report_about(t, &t->levels[depth + 1], &t->levels[depth], answer);
        descend(t, depth + 1, answer);
    }
}

/* What the worst leaf of the last question has at least now. */
static void begin_at_worst(tree *t)
{
    t->least = 0;
    if (!t->any_worst) return;
    for (int64_t i = 0; i + 1 < t->n; i++) add_report_about(t, &t->levels[i + 1], &t->levels[i], t->worst[i]);
    for (size_t k = 0; k < t->r->pair_count; k++) {
        double least, most;
        about_pair(&least, &most, t, &t->gains[k]);
        t->least = fmax(t->least, least);
    }
}

/* A ball to 2 u and what is added to *absolute: its width where that is more, and its size where it contains 0. */
static double about(const tmi_ball *x, double *absolute)
{
    tamis_bound b = tmi_ball_bound(x);
    const double nearest = b.lower > 0 ? b.lower : b.upper < 0 ? b.upper : 0, width = b.upper - b.lower;
    if (nearest == 0) *absolute += fmax(-b.lower, b.upper);
    else if (width > 4 * U * fabs(nearest)) *absolute += width;
    return nearest;
}

/* The doubles that no question changes. */
static tamis_status make_about(tree *t, tamis_error *err)
{
    const tmi_randomizer *r = t->r;
    const size_t kinds = r->outputs, depth = (size_t)t->n;
    t->leaves = (size_t)histograms((double)t->n - 1, (double)r->inputs);
    t->p_about = tmi_alloc(r->inputs * kinds, sizeof *t->p_about);
    t->gains = tmi_alloc(r->pair_count, sizeof *t->gains);
    t->path = tmi_alloc(depth, sizeof *t->path);
    t->made = tmi_alloc(depth, sizeof *t->made);
    t->worst = tmi_alloc(depth, sizeof *t->worst);
    if (!t->p_about || !t->gains || !t->path || !t->made || !t->worst) return tmi_fail_memory(err);
    for (size_t k = 0; k < r->pair_count; k++)
        if (!(t->gains[k].gain = tmi_alloc(kinds, sizeof *t->gains[k].gain))) return tmi_fail_memory(err);
    for (size_t i = 0; i < r->inputs * kinds; i++) t->p_about[i] = about(&r->p[i], &t->none); /* probabilities are not 0 */
    t->levels[0].about[0] = 1;
    return TAMIS_OK;
}

/* x - E y for each pair. */
static void make_gains(tree *t)
{
    const tmi_randomizer *r = t->r;
    const size_t kinds = r->outputs;
    for (size_t k = 0; k < r->pair_count; k++) {
        gains *g = &t->gains[k];
        double sizes = 0;
        g->absolute = 0;
        for (size_t y = 0; y < kinds; y++) {
            tmi_ball_mul(&t->term, &t->e, &r->p[r->pairs[k].y * kinds + y], BITS);
            tmi_ball_sub(&t->term, &r->p[r->pairs[k].x * kinds + y], &t->term, BITS);
            g->gain[y] = about(&t->term, &g->absolute);
            sizes += fabs(g->gain[y]);
        }
        g->absolute = 2 * (g->absolute + sizes * ABSOLUTE + t->none);
    }
}

/* A list for this question, with what is known from the largest E that was asked before and is no larger. */
static tamis_status make_most(tree *t, tamis_error *err)
{
    const tamis_bound e = tmi_ball_bound(&t->e);
    const size_t count = t->leaves * t->r->pair_count;
    const answered *from = NULL;
    if (t->answered_count == ANSWERED) tmi_free(t->answered[--t->answered_count].most);
    for (size_t i = 0; i < t->answered_count; i++) {
        const answered *a = &t->answered[i];
        if (a->exp_eps <= e.lower && (!from || a->exp_eps > from->exp_eps)) from = a;
    }
    if (!(t->most = tmi_alloc(count, sizeof *t->most))) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) t->most[i] = from ? from->most[i] : INFINITY;
    t->answered[t->answered_count++] = (answered){e.upper, t->most};
    return TAMIS_OK;
}

tamis_status tmi_enumeration_new(tmi_enumeration **made, const tmi_randomizer *r, int64_t n, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const double kinds = (double)r->outputs;
    tree *t = NULL;
    *made = NULL;
    if (n > 200 ||
        !(histograms((double)n - 1, (double)r->inputs) * histograms((double)n, kinds) * kinds * (double)(2 + r->pair_count) <
          WORK))
        return TAMIS_OK;
    if (!(t = tmi_alloc(1, sizeof *t))) return tmi_fail_memory(err);
    t->r = r;
    t->n = n;
    tmi_ball_inits(&t->e, &t->p, &t->q, &t->term, &t->delta, &t->best, NULL);
    if (!(t->levels = tmi_alloc((size_t)n + 1, sizeof *t->levels))) TMI_TRY(tmi_fail_memory(err));
    for (int64_t i = 0; i <= n; i++) TMI_TRY(make_level(&t->levels[i], i, r->outputs, err));
    for (int64_t i = 0; i < n; i++) link_levels(&t->levels[i], &t->levels[i + 1], r->outputs);
    tmi_ball_set_int(&t->levels[0].law[0], 1);
    TMI_TRY(make_about(t, err));
    *made = t;
    t = NULL;
done:
    tmi_enumeration_free(t);
    return status;
}

void tmi_enumeration_free(tmi_enumeration *t)
{
    if (!t) return;
    for (int64_t i = 0; t->levels && i <= t->n; i++) {
        level *l = &t->levels[i];
        for (size_t j = 0; l->law && j < l->count; j++) tmi_ball_clear(&l->law[j]);
        tmi_free(l->cells);
        tmi_free(l->next);
        tmi_free(l->law);
        tmi_free(l->before);
        tmi_free(l->about);
    }
    tmi_free(t->levels);
    tmi_free(t->p_about);
    for (size_t k = 0; t->gains && k < t->r->pair_count; k++) tmi_free(t->gains[k].gain);
    tmi_free(t->gains);
    tmi_free(t->path);
    tmi_free(t->made);
    tmi_free(t->worst);
    for (size_t i = 0; i < t->answered_count; i++) tmi_free(t->answered[i].most);
    tmi_ball_clears(&t->e, &t->p, &t->q, &t->term, &t->delta, &t->best, NULL);
    tmi_free(t);
}

tamis_status tmi_enumeration_delta(tamis_bound *delta, tmi_enumeration *t, const tmi_loss_at *at, tamis_error *err)
{
    *delta = (tamis_bound){0, 1};
    tmi_loss_at_balls(&t->e, &t->p, at, BITS);
    tamis_status status = make_most(t, err);
    if (status != TAMIS_OK) return status;
    make_gains(t);
    begin_at_worst(t);
    for (int pass = 0; pass < 2; pass++) {
        t->deciding = pass == 1;
        t->place = 0;
        descend(t, 0, 0);
    }
    tamis_bound found = tmi_ball_bound(&t->best);
    tmi_ball_set_int(&t->best, 0);
    *delta = (tamis_bound){fmax(0, found.lower), fmin(1, found.upper)};
    return TAMIS_OK;
}
