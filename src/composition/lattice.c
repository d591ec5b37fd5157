#include "composition/lattice.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "composition/gaussian_sets.h"
#include "composition/lattice_masses.h"
#include "composition/loss_atoms.h"

#define BITS TMI_DOTS_BITS

/* Places of the whole list on the first lattice; each of the next ones has four times as many. The last is the first on which
 * the two ends of delta are as near as WANTED to each other, or which does not bring them nearer any more, or the next one
 * would be too much work. */
#define PLACES 4096
#define FINER 4
#define LEVELS 3
#define WANTED 2e-4
#define NEARER 0.5

/* Places that are computed for the single releases, and places of convolutions. A place of a release that is not discrete
 * takes longer. */
#define SLOW 4
#define MOST_DOTS 1.2e5
#define MOST_CONVOLVED 1.5e6

/* Different releases, which are composed one with the other. */
#define MOST_FACTORS 4096

/* One lattice, composed: sums of the masses from the place j on, and weighted with e^-loss, from above and from below;
 * j >= 0. */
typedef struct level {
    double h;
    size_t sums;
    tmi_ball *mass[2], *weighted[2], infinity[2];
    double deviation; /* of the loss of all together, about */
} level;

typedef struct lattice {
    size_t count;
    tmi_evaluator *evaluators;
    tmi_loss **losses; /* owned: claims without their delta */
    int64_t *times;
    double *reach;
    tamis_number **steps; /* of which the losses of a discrete release are multiples; NULL: it has others */
    bool *aligned;        /* whether they are places of the lattice that is being built */
    bool exact;           /* all losses are places of the first lattice: no finer one is needed */
    level *levels[LEVELS];
} lattice;

static void free_level(level *v)
{
    if (!v) return;
    for (int end = 0; end < 2; end++) {
        tmi_ball *both[] = {v->mass[end], v->weighted[end]};
        for (int i = 0; i < 2; i++) {
            for (size_t j = 0; both[i] && j < v->sums; j++) tmi_ball_clear(&both[i][j]);
            tmi_free(both[i]);
        }
        tmi_ball_clear(&v->infinity[end]);
    }
    tmi_free(v);
}

/* z = x^times, x is used up. */
static tamis_status power(tmi_lattice_masses *z, tmi_lattice_masses *x, int64_t times, bool up, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_lattice_masses next;
    bool started = false;
    tmi_lattice_masses_init(z);
    tmi_lattice_masses_init(&next);
    for (;; times /= 2) {
        if (times % 2 == 1 && started) {
            TMI_TRY(tmi_lattice_masses_compose(&next, z, x, up, err));
            tmi_lattice_masses_clear(z);
            *z = next;
            tmi_lattice_masses_init(&next);
        }
        if (times == 1 && !started) {
            *z = *x;
            tmi_lattice_masses_init(x);
        }
        if (times == 1) break;
        TMI_TRY(tmi_lattice_masses_compose(&next, x, x, up, err));
        if (times % 2 == 1 && !started) {
            *z = *x;
            started = true;
        } else {
            tmi_lattice_masses_clear(x);
        }
        *x = next;
        tmi_lattice_masses_init(&next);
    }
done:
    tmi_lattice_masses_clear(x);
    tmi_lattice_masses_clear(&next);
    return status;
}

/* All together, the two with the fewest places first; the list is used up. */
static tamis_status product(tmi_lattice_masses *z, tmi_lattice_masses *list, size_t count, bool up, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    while (count > 1) {
        for (size_t end = count; end > count - 2; end--) { /* the smallest to the end */
            size_t least = 0;
            for (size_t i = 1; i < end; i++)
                if (list[i].masses.count < list[least].masses.count) least = i;
            tmi_lattice_masses kept = list[end - 1];
            list[end - 1] = list[least];
            list[least] = kept;
        }
        tmi_lattice_masses both;
        status = tmi_lattice_masses_compose(&both, &list[count - 1], &list[count - 2], up, err);
        tmi_lattice_masses_clear(&list[count - 1]);
        tmi_lattice_masses_clear(&list[count - 2]);
        list[count - 2] = both;
        count--;
        if (status != TAMIS_OK) break;
    }
    *z = list[0];
    tmi_lattice_masses_init(&list[0]);
    for (size_t i = 1; i < count; i++) tmi_lattice_masses_clear(&list[i]);
    return status;
}

static tamis_status add_up(level *v, int end, const tmi_lattice_masses *d, const tmi_powers *powers, tamis_error *err)
{
    v->mass[end] = tmi_alloc(v->sums, sizeof **v->mass);
    v->weighted[end] = tmi_alloc(v->sums, sizeof **v->weighted);
    if (!v->mass[end] || !v->weighted[end]) return tmi_fail_memory(err); /* zeroed balls are balls */
    tmi_ball mass, x;
    tmi_ball_inits(&mass, &x, NULL);
    for (size_t j = v->sums; j-- > 0;) {
        int64_t i = (int64_t)j - d->masses.first;
        bool stored = i >= 0 && (size_t)i < d->masses.count;
        tmi_ball_set_int(&mass, 0);
        if (stored) tmi_masses_get(&mass, &d->masses, (size_t)i);
        tmi_ball_mul(&x, &powers->down[j], &mass, BITS);
        if (j + 1 < v->sums) {
            tmi_ball_add(&mass, &mass, &v->mass[end][j + 1], BITS);
            tmi_ball_add(&x, &x, &v->weighted[end][j + 1], BITS);
        }
        tmi_ball_set(&v->mass[end][j], &mass);
        tmi_ball_set(&v->weighted[end][j], &x);
    }
    tmi_ball_set(&v->infinity[end], &d->above);
    tmi_ball_clears(&mass, &x, NULL);
    return TAMIS_OK;
}

/* ---- how fine ---- */

static double largest_reach(const lattice *l)
{
    double most = 0;
    for (size_t i = 0; i < l->count; i++) most = fmax(most, l->reach[i]);
    return most;
}

/* What the whole list may spread over, before anything is known but the reaches: their sum, or some standard deviations;
 * afterwards a window as it is taken. */
static double spread(const lattice *l, const level *before)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < l->count; i++) {
        sum += (double)l->times[i] * l->reach[i];
        squares += (double)l->times[i] * l->reach[i] * l->reach[i];
    }
    double most = 2 * fmin(sum, 3 * sqrt(squares));
    return before ? fmin(most, 2 * (TMI_DOTS_WINDOW * before->deviation + largest_reach(l))) : most;
}

static size_t half_of(const lattice *l, size_t i, double h) { return (size_t)ceil(l->reach[i] / h + 1); }

static bool is_affordable(const lattice *l, double h, double places)
{
    double masses = 0, convolutions = 0;
    for (size_t i = 0; i < l->count; i++) {
        masses += l->reach[i] / h * (l->steps[i] ? 1 : SLOW);
        convolutions += 1 + log2((double)l->times[i]);
    }
    return masses <= MOST_DOTS && places * convolutions <= MOST_CONVOLVED;
}

/* ---- composing ---- */

static tamis_status compose_all(tmi_lattice_masses all[2], lattice *l, const tmi_powers *powers, double h, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_lattice_masses *both[2] = {tmi_alloc(l->count, sizeof **both), tmi_alloc(l->count, sizeof **both)};
    if (!both[0] || !both[1]) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < l->count; i++) {
        tmi_lattice_masses one[2];
        status = tmi_lattice_masses_of(&one[0], &one[1], &l->evaluators[i], powers, half_of(l, i, h), l->aligned[i], err);
        for (int end = 0; end < 2; end++) {
            if (status == TAMIS_OK) status = power(&both[end][i], &one[end], l->times[i], end == 0, err);
            else tmi_lattice_masses_clear(&one[end]);
        }
        if (status != TAMIS_OK) goto done;
    }
    for (int end = 0; end < 2; end++) TMI_TRY(product(&all[end], both[end], l->count, end == 0, err));
done:
    for (int end = 0; end < 2; end++) {
        for (size_t i = 0; both[end] && i < l->count; i++) tmi_lattice_masses_clear(&both[end][i]);
        tmi_free(both[end]);
    }
    return status;
}

static tamis_status build(level **built, lattice *l, const tmi_ball *h, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_powers powers = {0};
    tmi_lattice_masses all[2];
    level *v = tmi_alloc(1, sizeof *v);
    if (!v) return tmi_fail_memory(err);
    for (int end = 0; end < 2; end++) {
        tmi_lattice_masses_init(&all[end]);
        tmi_ball_init(&v->infinity[end]);
    }
    v->h = tmi_ball_bound(h).upper;
    size_t half = 0;
    for (size_t i = 0; i < l->count; i++) half = half_of(l, i, v->h) > half ? half_of(l, i, v->h) : half;
    TMI_TRY(tmi_powers_new(&powers, h, half + 1, err));
    TMI_TRY(compose_all(all, l, &powers, v->h, err));
    int64_t last = 0;
    for (int end = 0; end < 2; end++) {
        int64_t beyond = all[end].masses.first + (int64_t)all[end].masses.count;
        if (beyond > last) last = beyond;
    }
    v->sums = (size_t)last + 2;
    if (v->sums > powers.count) {
        tmi_powers_clear(&powers);
        TMI_TRY(tmi_powers_new(&powers, h, v->sums, err));
    }
    for (int end = 0; end < 2; end++) TMI_TRY(add_up(v, end, &all[end], &powers, err));
    v->deviation = sqrt(all[0].variance) * v->h;
    *built = v;
    v = NULL;
done:
    for (int end = 0; end < 2; end++) tmi_lattice_masses_clear(&all[end]);
    tmi_powers_clear(&powers);
    free_level(v);
    return status;
}

/* The largest number of which the steps are multiples, those that would bring it below `least` left aside; NULL if that is
 * all of them. Losses that are places are not rounded, which matters most for laws that have few: claims stand first. */
static tamis_status common_step(tamis_number **unit, lattice *l, double least, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *next = NULL;
    *unit = NULL;
    for (size_t i = 0; i < l->count; i++) {
        l->aligned[i] = false;
        if (!l->steps[i]) continue;
        if (*unit) TMI_TRY(tmi_number_gcd(&next, *unit, l->steps[i], err));
        else TMI_TRY(tmi_number_copy(&next, l->steps[i], err));
        if (tmi_number_nearest(next) >= least) {
            tamis_number_free(*unit);
            *unit = next;
            l->aligned[i] = true;
        } else {
            tamis_number_free(next);
        }
        next = NULL;
    }
done:
    return status;
}

/* A step of at most `about`, or the common one if that is exact. */
static tamis_status choose_step(tmi_ball *h, lattice *l, double about, tamis_error *err)
{
    tamis_number *unit = NULL;
    tamis_status status = common_step(&unit, l, l->exact ? 0 : about, err);
    if (status == TAMIS_OK && unit) {
        double parts = l->exact ? 1 : ceil(tmi_number_nearest(unit) / about);
        tmi_ball_set_number(h, unit, BITS);
        tmi_ball_div_int(h, h, (int64_t)fmin(parts, 0x1p53), BITS);
    } else {
        tmi_ball_set_double(h, about);
    }
    tamis_number_free(unit);
    return status;
}

/* The lattice number k, which is built if it was not yet; NULL: it would be too much work. */
static tamis_status level_of(const level **found, lattice *l, int k, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball h;
    tmi_ball_init(&h);
    *found = NULL;
    if (k < LEVELS && !l->levels[k] && !(l->exact && k > 0)) {
        double places = PLACES * pow(FINER, k), about = spread(l, k > 0 ? l->levels[0] : NULL) / places;
        if (k == 0 || is_affordable(l, about, places)) {
            TMI_TRY(choose_step(&h, l, about, err));
            TMI_TRY(build(&l->levels[k], l, &h, err));
        }
    }
    if (k < LEVELS) *found = l->levels[k];
done:
    tmi_ball_clear(&h);
    return status;
}

/* mass at infinity + largest over the cuts j near eps/h of (masses from j on) - e^eps (weighted masses from j on): the cut
 * that counts just the losses above eps is the best one. */
static void cut(tmi_ball *z, const level *v, int end, const tmi_ball *eps)
{
    tmi_ball e, x, y;
    tmi_ball_inits(&e, &x, &y, NULL);
    tmi_ball_exp(&e, eps, BITS);
    double near = floor(tmi_ball_bound(eps).upper / v->h);
    for (double j = near - 1; j <= near + 2; j++) {
        if (j < 0 || j >= (double)v->sums) continue;
        tmi_ball_mul(&y, &v->weighted[end][(size_t)j], &e, BITS);
        tmi_ball_sub(&y, &v->mass[end][(size_t)j], &y, BITS);
        tmi_ball_max(&x, &x, &y, BITS);
    }
    tmi_ball_add(z, &x, &v->infinity[end], BITS);
    tmi_ball_clears(&e, &x, &y, NULL);
}

/* From the coarsest lattice on, so that an answer does not depend on what was asked before. */
static tamis_status delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    lattice *l = self;
    double before = INFINITY;
    (void)bits;
    for (int k = 0;; k++) {
        const level *v;
        tamis_status status = level_of(&v, l, k, err);
        if (status != TAMIS_OK || !v) return status;
        cut(upper, v, 0, eps);
        cut(lower, v, 1, eps);
        double low = tmi_ball_bound(lower).lower, high = tmi_ball_bound(upper).upper;
        if (high - low <= WANTED * high || high < 1e-32 || high - low > NEARER * before) return TAMIS_OK;
        before = high - low;
    }
}

static void close_lattice(void *self)
{
    lattice *l = self;
    for (size_t i = 0; i < l->count; i++) {
        if (l->evaluators) tmi_evaluator_close(&l->evaluators[i]);
        if (l->losses) tmi_loss_free(l->losses[i]);
        if (l->steps) tamis_number_free(l->steps[i]);
    }
    for (int k = 0; k < LEVELS; k++) free_level(l->levels[k]);
    tmi_free(l->steps);
    tmi_free(l->aligned);
    tmi_free(l->evaluators);
    tmi_free(l->losses);
    tmi_free(l->times);
    tmi_free(l->reach);
    tmi_free(l);
}

/* Claims go without their delta, which the caller has split off. */
static tamis_status add_factor(lattice *l, const tmi_profile_factor *f, const tamis_number *zero, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_loss *loss = NULL;
    if (f->loss->kind == TMI_LOSS_CLAIM) {
        if (tmi_number_sign(f->loss->a) == 0) return TAMIS_OK;
        TMI_TRY(tmi_loss_new(&loss, TMI_LOSS_CLAIM, f->loss->a, zero, 0, err));
    } else {
        loss = tmi_loss_share(f->loss);
    }
    size_t i = l->count++;
    l->losses[i] = loss;
    l->times[i] = f->times;
    bool open = false;
    if (loss->kind == TMI_LOSS_DISCRETE_GAUSSIAN) {
        status = tmi_gaussian_sets_open(&l->evaluators[i], loss, err);
        open = status == TAMIS_OK;
        if (status != TAMIS_OK && status != TAMIS_UNABLE) goto done;
    }
    if (!open) TMI_TRY(tmi_evaluator_of_loss(&l->evaluators[i], loss, err));
    TMI_TRY(tmi_lattice_masses_reach(&l->reach[i], &l->evaluators[i], err));
    if (tmi_loss_is_discrete(loss)) TMI_TRY(tmi_loss_atoms_step(&l->steps[i], loss, err));
done:
    return status;
}

/* Whether all losses are discrete, and a lattice of their common step is not too much work: then nothing has to be rounded to
 * places. */
static tamis_status find_exact(lattice *l, tamis_error *err)
{
    tamis_number *unit = NULL;
    for (size_t i = 0; i < l->count; i++)
        if (!tmi_loss_is_discrete(l->losses[i])) return TAMIS_OK;
    tamis_status status = common_step(&unit, l, 0, err);
    double h = unit ? tmi_number_nearest(unit) : 0;
    l->exact = h > 0 && is_affordable(l, h, spread(l, NULL) / h);
    tamis_number_free(unit);
    return status;
}

tamis_status tmi_lattice_open(tmi_evaluator *evaluator, const tamis_profile *profile, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *zero = NULL;
    if (profile->count > MOST_FACTORS) return tmi_fail(err, TAMIS_UNABLE, "more than %d different releases", MOST_FACTORS);
    lattice *l = tmi_alloc(1, sizeof *l);
    if (!l) return tmi_fail_memory(err);
    l->evaluators = tmi_alloc(profile->count, sizeof *l->evaluators);
    l->losses = tmi_alloc(profile->count, sizeof *l->losses);
    l->times = tmi_alloc(profile->count, sizeof *l->times);
    l->reach = tmi_alloc(profile->count, sizeof *l->reach);
    l->steps = tmi_alloc(profile->count, sizeof *l->steps);
    l->aligned = tmi_alloc(profile->count, sizeof *l->aligned);
    if (!l->evaluators || !l->losses || !l->times || !l->reach || !l->steps || !l->aligned) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    for (size_t i = 0; i < profile->count; i++) TMI_TRY(add_factor(l, &profile->factors[i], zero, err));
    TMI_TRY(find_exact(l, err));
    *evaluator = (tmi_evaluator){.delta = delta, .free = close_lattice, .self = l, .lasting = true, .width = TAMIS_WIDTH};
done:
    tamis_number_free(zero);
    if (status != TAMIS_OK) close_lattice(l);
    return status;
}
