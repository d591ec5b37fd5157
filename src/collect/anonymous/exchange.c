/* The exchange bound. Let n = m + 1 people report, R_z(y) > 0 be the probability of the report y given the answer z, and
 *
 *     h(y) = min_z R_z(y) / beta,   beta the sum of these minima,   g(z, y) = h(y) / R_z(y), between 0 and G = 1/beta.
 *
 * A finer mechanism than the shuffle: the person changes places with another person J, chosen with probability g_J / Omega,
 * where g_j = g(z_j, y_j) and Omega is their sum; slot 0 shows J's report, slot J the person's, every other slot its owner's.
 * Forgetting the slots gives the shuffled reports. Since R_z(s_0) g(z, s_0) = h(s_0) for every z, what J answered cancels,
 * and the slots s have the density
 *
 *     prod_j R_{z_j}(s_j) h(s_0) sum_J A_J / D_J,    A_J = R_x(s_J) / R_{z_J}(s_J),    |D_J - Gamma(s)| <= G,
 *
 * with Gamma(s) = sum_j g(z_j, s_j); for the answer x' there is B_J in place of A_J. Where Gamma(s) >= Gamma the excess of
 * one density over E times the other is at most
 *
 *     prod R h / (Gamma - G) (sum_J A_J - E' B_J)+,    E' = E (Gamma - G) / (Gamma + G),
 *
 * and s+ <= e^(theta s - 1) / theta. Gamma(s) < Gamma has at most the probability of Omega < Gamma + G, a sum of m
 * independent numbers of mean 1 with second moments of at most v = max_z sum_y h^2 / R_z (Maurer's inequality for the lower
 * tail). So for all G < Gamma < m - G and theta > 0
 *
 *     delta(E) <= exp(-(m - Gamma - G)^2 / (2 m v)) + exp(m kappa - 1) / (theta (Gamma - G)),
 *     kappa = max over z of log E exp(theta (A - E' B)),
 *
 * whatever the others answered. Any z is allowed for them, and any x, x' that differ at no more positions than answers can.
 *
 * Bits with lie probability q, p = 1 - q, r = p/q: beta = (2q)^K and v = ((1/p + 1/q)/4)^K. If x and x' differ at d
 * positions, of which z agrees with x' at i and with x at j = d - i, and if z differs from both at k more, then A = r^a and B
 * = r^b, where (a, b) is a walk from (0, 0): i steps move a, j steps move b, k steps move both alike, each by +1 with
 * probability q and by -1 with probability p. The means over the last steps are taken first, so that all classes (i, j, k)
 * together cost one pass over squares of exponents. Gamma and theta are sought in doubles; what is returned is evaluated in
 * balls. */
#include "collect/anonymous/exchange.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "collect/anonymous/reports.h"
#include "num/number.h"

#define BITS 192      /* kappa is about 1/m with m up to 10^9, and m kappa is wanted to many digits */
#define MOST_WORK 1e6 /* means over a step in one evaluation: about 0.1 s */
#define USEFUL 5      /* reports that hide the person, below which the search is not begun: the bound is then above 1 */
#define ENOUGH 20     /* and from which on, with MANY reports, no other bound was smaller */
#define MANY 1000
#define SEARCHES 4  /* at most, each for the class that was the worst at what the last one found */
#define BESIDE 1e-6 /* of the logarithm in doubles: rounding is far less */
#define STEPS 30    /* of a golden section: 1e-6 of the interval */
#define GOLDEN 0.6180339887498949

/* Positions at which z agrees with x' and with x where these differ, and at which it differs from both. */
typedef struct class
{
    int64_t i, j, k;
} class;

typedef struct exchange {
    int64_t positions, differing, others;
    double lie, exp_eps; /* nearest: for the search */
    tmi_ball q, p, e, g, v;
} exchange;

/* The two free numbers of the bound. */
typedef struct choice {
    double gamma, theta;
} choice;

/* ---- the search, in doubles ---- */

/* Probabilities of t steps up among `steps`. */
static double steps_up(const exchange *x, int64_t steps, int64_t t)
{
    double n = (double)steps, u = (double)t;
    return exp(lgamma(n + 1) - lgamma(u + 1) - lgamma(n - u + 1) + u * log(x->lie) + (n - u) * log1p(-x->lie));
}

/* A class that was the worst somewhere, with the law of A and B: what every step of the search needs again. */
typedef struct law {
    class of;
    size_t count;
    double *weight, *a, *b; /* count of each, in one allocation */
} law;

static tamis_status law_init(law *z, const exchange *x, class c, tamis_error *err)
{
    const double ratio = log1p(-x->lie) - log(x->lie);
    const size_t count = (size_t)((c.i + 1) * (c.j + 1) * (c.k + 1));
    size_t place = 0;
    *z = (law){.of = c, .count = count, .weight = tmi_alloc(3 * count, sizeof *z->weight)};
    if (!z->weight) return tmi_fail_memory(err);
    z->a = z->weight + count;
    z->b = z->a + count;
    for (int64_t w = 0; w <= c.k; w++)
        for (int64_t u = 0; u <= c.i; u++)
            for (int64_t t = 0; t <= c.j; t++, place++) {
                const double both = (double)(2 * w - c.k);
                z->a[place] = exp(ratio * ((double)(2 * u - c.i) + both));
                z->b[place] = exp(ratio * ((double)(2 * t - c.j) + both));
                z->weight[place] = steps_up(x, c.k, w) * steps_up(x, c.i, u) * steps_up(x, c.j, t);
            }
    return TAMIS_OK;
}

/* log E exp(theta (A - e B)) of one class. */
static double class_kappa(const law *c, double theta, double e)
{
    double sum = 0;
    for (size_t i = 0; i < c->count; i++) sum += c->weight[i] * expm1(theta * (c->a[i] - e * c->b[i]));
    return log1p(sum);
}

/* Those so far. */
typedef struct classes {
    law list[SEARCHES];
    int count;
} classes;

static tamis_status classes_add(classes *c, const exchange *x, class next, tamis_error *err)
{
    return law_init(&c->list[c->count++], x, next, err);
}

static void classes_clear(classes *c)
{
    for (int i = 0; i < c->count; i++) tmi_free(c->list[i].weight);
}

/* log of the second term with these classes: a convex function of theta. */
static double second_log(const exchange *x, const classes *c, double gamma, double theta)
{
    double g = pow(2 * x->lie, -(double)x->positions), e = x->exp_eps * (gamma - g) / (gamma + g), kappa = -INFINITY;
    for (int i = 0; i < c->count; i++) kappa = fmax(kappa, class_kappa(&c->list[i], theta, e));
    return (double)x->others * kappa - 1 - log(theta) - log(gamma - g);
}

/* The smallest value of f over [low, high], for a function with one valley; *at is where it is. */
typedef double valley(const void *self, double at);

static double smallest(double *at, valley *f, const void *self, double low, double high)
{
    double u = high - GOLDEN * (high - low), v = low + GOLDEN * (high - low), f_u = f(self, u), f_v = f(self, v);
    for (int i = 0; i < STEPS; i++) {
        if (f_u <= f_v || isnan(f_v)) {
            high = v;
            v = u;
            f_v = f_u;
            u = high - GOLDEN * (high - low);
            f_u = f(self, u);
        } else {
            low = u;
            u = v;
            f_u = f_v;
            v = low + GOLDEN * (high - low);
            f_v = f(self, v);
        }
    }
    *at = f_u <= f_v ? u : v;
    return fmin(f_u, f_v);
}

typedef struct search {
    const exchange *x;
    const classes *c;
    double gamma;
} search;

static double at_theta(const void *self, double log_theta)
{
    const search *s = self;
    return second_log(s->x, s->c, s->gamma, exp(log_theta));
}

/* Gamma at which the first term is e^-tail. */
static double gamma_at(const exchange *x, double tail)
{
    double q = x->lie, k = (double)x->positions, m = (double)x->others, g = pow(2 * q, -k), v = pow((1 / (1 - q) + 1 / q) / 4, k);
    return m - g - sqrt(2 * m * v * tail);
}

/* theta A is at most 600, so that its exponential is a double; A is at most r^positions. */
static double best_theta(double *log_theta, search *s)
{
    double ratio = log1p(-s->x->lie) - log(s->x->lie), most = log(600) - ratio * (double)s->x->positions;
    return smallest(log_theta, at_theta, s, most - 40, most);
}

static double at_tail(const void *self, double log_tail)
{
    search s = *(const search *)self;
    double tail = exp(log_tail), log_theta, g = pow(2 * s.x->lie, -(double)s.x->positions);
    s.gamma = gamma_at(s.x, tail);
    if (!(s.gamma > g)) return 1e9 * tail; /* too far: nearer is better */
    double second = best_theta(&log_theta, &s);
    return fmax(-tail, second) + log1p(exp(-fabs(-tail - second)));
}

/* The best choice for these classes, and the logarithm of about what the bound is with it. */
static choice sought(double *about, const exchange *x, const classes *c)
{
    search s = {.x = x, .c = c};
    double log_tail, log_theta = 0;
    *about = smallest(&log_tail, at_tail, &s, 0, log(700));
    s.gamma = gamma_at(x, exp(log_tail));
    best_theta(&log_theta, &s);
    return (choice){s.gamma, exp(log_theta)};
}

/* ---- the bound, in balls ---- */

/* Means over one step of a walk along `count` cells that are `stride` apart: up with probability q, down with probability p. The
 * first and the last cell stay as they are and have no meaning any more. */
static void walk(const exchange *x, tmi_ball *cells, int64_t stride, int64_t count)
{
    tmi_ball below, here, mean;
    tmi_ball_inits(&below, &here, &mean, NULL);
    if (count > 2) tmi_ball_set(&below, cells);
    for (int64_t i = 1; i + 1 < count; i++) {
        tmi_ball *at = &cells[i * stride];
        tmi_ball_set(&here, at);
        tmi_ball_mul(at, &x->q, &cells[(i + 1) * stride], BITS);
        tmi_ball_mul(&mean, &x->p, &below, BITS);
        tmi_ball_add(at, at, &mean, BITS);
        tmi_ball_set(&below, &here);
    }
    tmi_ball_clears(&below, &here, &mean, NULL);
}

/* A square of balls whose exponents a and b run from -reach to reach. */
typedef struct square {
    int64_t reach, side;
    tmi_ball *cells;
} square;

static tmi_ball *cell(const square *s, int64_t a, int64_t b) { return &s->cells[(a + s->reach) * s->side + b + s->reach]; }

static tamis_status square_new(square *s, int64_t reach, tamis_error *err)
{
    *s = (square){.reach = reach, .side = 2 * reach + 1};
    s->cells = tmi_balls_new((size_t)(s->side * s->side));
    return s->cells ? TAMIS_OK : tmi_fail_memory(err);
}

static void square_free(square *s) { tmi_balls_free(s->cells, (size_t)(s->side * s->side)); }

/* exp(theta (r^a - e r^b)) - 1 where |a - b| <= differing: no walk ends elsewhere. */
static tamis_status fill(const square *s, const exchange *x, double theta, const tmi_ball *e, tamis_error *err)
{
    tmi_ball ratio, factor, *powers = tmi_balls_new((size_t)s->side), *one;
    if (!powers) return tmi_fail_memory(err);
    tmi_ball_inits(&ratio, &factor, NULL);
    tmi_ball_div(&ratio, &x->p, &x->q, BITS);
    tmi_ball_set_double(&factor, theta);
    one = &powers[s->reach];
    tmi_ball_set_int(one, 1);
    for (int64_t a = 1; a <= s->reach; a++) {
        tmi_ball_mul(&one[a], &one[a - 1], &ratio, BITS);
        tmi_ball_div(&one[-a], &one[-a + 1], &ratio, BITS);
    }
    for (int64_t a = -s->reach; a <= s->reach; a++)
        for (int64_t b = -s->reach; b <= s->reach; b++) {
            tmi_ball *z = cell(s, a, b);
            if (llabs(a - b) > x->differing) continue;
            tmi_ball_mul(z, e, &one[b], BITS);
            tmi_ball_sub(z, &one[a], z, BITS);
            tmi_ball_mul(z, z, &factor, BITS);
            tmi_ball_expm1(z, z, BITS);
        }
    tmi_ball_clears(&ratio, &factor, NULL);
    tmi_balls_free(powers, (size_t)s->side);
    return TAMIS_OK;
}

/* The largest mean over all classes so far, and the class that has it. */
typedef struct worst {
    tmi_ball mean;
    double upper;
    class of;
} worst;

static void look(worst *w, const tmi_ball *mean, class of)
{
    const double upper = tmi_ball_bound(mean).upper;
    if (!(upper <= w->upper)) {
        w->upper = upper;
        w->of = of;
    }
    tmi_ball_max(&w->mean, &w->mean, mean, BITS);
}

/* All classes with this k, of whose steps `both` has the means already. Where i + j steps are left, walks end at |a| + |b| <=
 * i + j. */
static void classes_with(worst *w, const exchange *x, const square *both, int64_t k, const square *room, tmi_ball *line)
{
    const int64_t left = x->positions - k, reach = left < x->differing ? left : x->differing;
    for (int64_t a = -reach; a <= reach; a++)
        for (int64_t b = -(reach - llabs(a)); b <= reach - llabs(a); b++) tmi_ball_set(cell(room, a, b), cell(both, a, b));
    for (int64_t j = 0; j <= reach; j++) {
        const int64_t rest = reach - j;
        for (int64_t a = -rest; a <= rest; a++) tmi_ball_set(&line[a + rest], cell(room, a, 0));
        for (int64_t i = 0; i <= rest; i++) {
            if (i + j > 0) look(w, &line[rest], (class){i, j, k});
            walk(x, &line[i], 1, 2 * (rest - i) + 1);
        }
        for (int64_t a = -(rest - 1); a <= rest - 1; a++)
            walk(x, cell(room, a, -(rest - llabs(a))), 1, 2 * (rest - llabs(a)) + 1);
    }
}

/* The largest E exp(theta (A - e B)) - 1 over all classes. */
static tamis_status all_classes(worst *w, const exchange *x, double theta, const tmi_ball *e, tamis_error *err)
{
    square both = {0}, room = {0};
    tmi_ball *line = tmi_balls_new((size_t)(2 * x->differing + 1));
    tamis_status status = line ? TAMIS_OK : tmi_fail_memory(err);
    w->upper = -INFINITY;
    tmi_ball_set_int(&w->mean, -1); /* less than any */
    if (status == TAMIS_OK) status = square_new(&both, x->positions, err);
    if (status == TAMIS_OK) status = square_new(&room, x->differing, err);
    if (status == TAMIS_OK) status = fill(&both, x, theta, e, err);
    for (int64_t k = 0; status == TAMIS_OK && k < x->positions; k++) {
        const int64_t reach = x->positions - k;
        classes_with(w, x, &both, k, &room, line);
        for (int64_t gap = -x->differing; gap <= x->differing; gap++) { /* a - b stays the same in a step that moves both */
            const int64_t first = gap > 0 ? -reach + gap : -reach, last = gap > 0 ? reach : reach + gap;
            walk(x, cell(&both, first, first - gap), both.side + 1, last - first + 1);
        }
    }
    square_free(&both);
    square_free(&room);
    tmi_balls_free(line, (size_t)(2 * x->differing + 1));
    return status;
}

/* The bound for one Gamma and theta; 1 if Gamma is not between its limits. */
static tamis_status evaluate(double *delta, class *of, const exchange *x, choice c, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    worst w;
    tmi_ball gamma, low, high, tail, e;
    tmi_ball_inits(&w.mean, &gamma, &low, &high, &tail, &e, NULL);
    *delta = 1;
    tmi_ball_set_double(&gamma, c.gamma);
    tmi_ball_sub(&low, &gamma, &x->g, BITS);
    tmi_ball_add(&high, &gamma, &x->g, BITS);
    tmi_ball_neg(&tail, &high);
    tmi_ball_add_int(&tail, &tail, x->others, BITS); /* m - Gamma - G */
    if (!tmi_ball_is_positive(&low) || !tmi_ball_is_positive(&tail)) goto done;
    tmi_ball_mul(&e, &x->e, &low, BITS);
    tmi_ball_div(&e, &e, &high, BITS);
    TMI_TRY(all_classes(&w, x, c.theta, &e, err));
    *of = w.of;
    tmi_ball_mul(&tail, &tail, &tail, BITS);
    tmi_ball_div(&tail, &tail, &x->v, BITS);
    tmi_ball_div_int(&tail, &tail, 2 * x->others, BITS);
    tmi_ball_neg(&tail, &tail);
    tmi_ball_exp(&tail, &tail, BITS);
    tmi_ball_log1p(&w.mean, &w.mean, BITS);
    tmi_ball_mul_int(&w.mean, &w.mean, x->others, BITS);
    tmi_ball_add_int(&w.mean, &w.mean, -1, BITS);
    tmi_ball_exp(&w.mean, &w.mean, BITS);
    tmi_ball_set_double(&e, c.theta);
    tmi_ball_mul(&low, &low, &e, BITS);
    tmi_ball_div(&w.mean, &w.mean, &low, BITS);
    tmi_ball_add(&tail, &tail, &w.mean, BITS);
    *delta = fmin(1, tmi_ball_bound(&tail).upper);
done:
    tmi_ball_clears(&w.mean, &gamma, &low, &high, &tail, &e, NULL);
    return status;
}

/* ---- asking ---- */

/* x^times; times >= 1 */
static void power(tmi_ball *z, const tmi_ball *x, int64_t times)
{
    tmi_ball factor;
    tmi_ball_init(&factor);
    tmi_ball_set(&factor, x);
    tmi_ball_set(z, x);
    for (int64_t i = 1; i < times; i++) tmi_ball_mul(z, z, &factor, BITS);
    tmi_ball_clear(&factor);
}

static void exchange_init(exchange *x, const tamis_reports *r, const tmi_loss_at *at)
{
    tmi_ball t;
    *x = (exchange){.positions = r->positions, .differing = tamis_reports_differing(r), .others = r->reports - 1};
    tmi_ball_inits(&x->q, &x->p, &x->e, &x->g, &x->v, &t, NULL);
    tmi_loss_at_balls(&x->e, &t, at, BITS);
    tmi_ball_set_number(&x->q, r->lie_one, BITS);
    tmi_ball_neg(&x->p, &x->q);
    tmi_ball_add_int(&x->p, &x->p, 1, BITS);
    tmi_ball_shift(&t, &x->q, 1);
    power(&x->g, &t, r->positions);
    tmi_ball_set_int(&t, 1);
    tmi_ball_div(&x->g, &t, &x->g, BITS);
    tmi_ball_mul(&t, &x->p, &x->q, BITS); /* (1/p + 1/q)/4 = 1/(4pq) */
    tmi_ball_shift(&t, &t, 2);
    power(&x->v, &t, r->positions);
    tmi_ball_set_int(&t, 1);
    tmi_ball_div(&x->v, &t, &x->v, BITS);
    x->lie = tmi_number_nearest(r->lie_one);
    x->exp_eps = tmi_ball_bound(&x->e).upper;
    tmi_ball_clear(&t);
}

static void exchange_clear(exchange *x) { tmi_ball_clears(&x->q, &x->p, &x->e, &x->g, &x->v, NULL); }

static bool same(class a, class b) { return a.i == b.i && a.j == b.j && a.k == b.k; }

/* n (2 lie)^bits, how many reports hide the person; 0 if the bound does not apply or is too much work. */
static double hiding(const tamis_reports *r)
{
    const double k = (double)r->positions, d = (double)tamis_reports_differing(r), lie = tmi_number_nearest(r->lie_one);
    if (r->form != TAMIS_REPORT_WHOLE || (r->lie_zero && tmi_number_compare(r->lie_one, r->lie_zero) != 0)) return 0;
    return k * (2 * d + 1) * (k + 1) + k * d * d * d > MOST_WORK ? 0 : (double)(r->reports - 1) * pow(2 * lie, k);
}

bool tmi_exchange_suffices(const tamis_reports *reports) { return reports->reports >= MANY && hiding(reports) >= ENOUGH; }

tamis_status tmi_exchange_delta(double *delta, const tamis_reports *reports, const tmi_loss_at *at, double goal, tamis_error *err)
{
    exchange x;
    classes c = {.count = 0};
    tamis_status status = TAMIS_OK;
    *delta = 1;
    if (hiding(reports) < USEFUL) return TAMIS_OK;
    exchange_init(&x, reports, at);
    class next = {x.differing, 0, 0}; /* the others all have the other answer: usually the worst */
    for (bool more = true; status == TAMIS_OK && more;) {
        double found = 1, about;
        TMI_TRY(classes_add(&c, &x, next, err));
        const choice best = sought(&about, &x, &c);
        if (goal > 0 && about > log(goal) + BESIDE) break; /* more classes only add to it */
        TMI_TRY(evaluate(&found, &next, &x, best, err));
        *delta = fmin(*delta, found);
        more = c.count < SEARCHES && !(*delta <= goal);
        for (int i = 0; i < c.count; i++) more = more && !same(next, c.list[i].of);
    }
done:
    if (status != TAMIS_OK) *delta = 1;
    classes_clear(&c);
    exchange_clear(&x);
    return status;
}

tamis_status tmi_exchange_about(double *delta, const tamis_reports *reports, const tmi_loss_at *at, tamis_error *err)
{
    exchange x;
    classes c = {.count = 0};
    double about = 0;
    *delta = 1;
    if (hiding(reports) < USEFUL) return TAMIS_OK;
    exchange_init(&x, reports, at);
    tamis_status status = classes_add(&c, &x, (class){x.differing, 0, 0}, err);
    if (status == TAMIS_OK) sought(&about, &x, &c);
    if (status == TAMIS_OK && about < 0) *delta = exp(about);
    classes_clear(&c);
    exchange_clear(&x);
    return status;
}
