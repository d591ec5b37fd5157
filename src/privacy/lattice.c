#include "privacy/lattice.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "privacy/dots.h"

#define BITS 320

/* Places of the whole list: the first attempt, and the last; the lattice gets finer by 4 until the two ends of delta are as
 * near as WANTED to each other. */
#define PLACES_FIRST 4096
#define PLACES_LAST 16384
#define WANTED 2e-4

/* Different releases, which are composed one with the other. */
#define MOST_FACTORS 4096

typedef struct lattice {
    size_t count;
    tmi_road *roads;
    tmi_loss **losses; /* owned: claims without their delta */
    int64_t *times;
    double *reach;
    double places, h; /* h = 0: nothing is composed yet */
    /* sums of the masses from the place j on, and weighted with e^-loss, from above and from below; j >= 0 */
    size_t sums;
    tmi_ball *mass[2], *weighted[2], infinity[2];
} lattice;

static void drop_sums(lattice *l)
{
    for (int end = 0; end < 2; end++) {
        tmi_ball *both[] = {l->mass[end], l->weighted[end]};
        for (int i = 0; i < 2; i++) {
            for (size_t j = 0; both[i] && j < l->sums; j++) tmi_ball_clear(&both[i][j]);
            tmi_free(both[i]);
        }
        l->mass[end] = l->weighted[end] = NULL;
    }
    l->sums = 0;
    l->h = 0;
}

/* z = x^times, x is used up. */
static tamis_status power(tmi_dots *z, tmi_dots *x, int64_t times, bool up, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_dots next;
    bool started = false;
    tmi_dots_init(z);
    tmi_dots_init(&next);
    for (;; times /= 2) {
        if (times % 2 == 1 && started) {
            TMI_TRY(tmi_dots_compose(&next, z, x, up, err));
            tmi_dots_clear(z);
            *z = next;
            tmi_dots_init(&next);
        }
        if (times == 1 && !started) {
            *z = *x;
            tmi_dots_init(x);
        }
        if (times == 1) break;
        TMI_TRY(tmi_dots_compose(&next, x, x, up, err));
        if (times % 2 == 1 && !started) {
            *z = *x;
            started = true;
        } else {
            tmi_dots_clear(x);
        }
        *x = next;
        tmi_dots_init(&next);
    }
done:
    tmi_dots_clear(x);
    tmi_dots_clear(&next);
    return status;
}

/* All together, the two with the fewest places first; the list is used up. */
static tamis_status product(tmi_dots *z, tmi_dots *list, size_t count, bool up, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    while (count > 1) {
        for (size_t end = count; end > count - 2; end--) { /* the smallest to the end */
            size_t least = 0;
            for (size_t i = 1; i < end; i++)
                if (list[i].masses.count < list[least].masses.count) least = i;
            tmi_dots kept = list[end - 1];
            list[end - 1] = list[least];
            list[least] = kept;
        }
        tmi_dots both;
        status = tmi_dots_compose(&both, &list[count - 1], &list[count - 2], up, err);
        tmi_dots_clear(&list[count - 1]);
        tmi_dots_clear(&list[count - 2]);
        list[count - 2] = both;
        count--;
        if (status != TAMIS_OK) break;
    }
    *z = list[0];
    tmi_dots_init(&list[0]);
    for (size_t i = 1; i < count; i++) tmi_dots_clear(&list[i]);
    return status;
}

static tamis_status add_up(lattice *l, int end, const tmi_dots *d, size_t sums, tamis_error *err)
{
    l->mass[end] = tmi_alloc(sums, sizeof **l->mass);
    l->weighted[end] = tmi_alloc(sums, sizeof **l->weighted);
    if (!l->mass[end] || !l->weighted[end]) return tmi_fail_memory(err); /* zeroed balls are balls */
    tmi_ball mass, x;
    tmi_ball_init(&mass);
    tmi_ball_init(&x);
    for (size_t j = sums; j-- > 0;) {
        int64_t i = (int64_t)j - d->masses.first;
        bool stored = i >= 0 && (size_t)i < d->masses.count;
        tmi_ball_set_int(&mass, 0);
        if (stored) tmi_masses_get(&mass, &d->masses, (size_t)i);
        tmi_ball_set_double(&x, l->h);
        tmi_ball_mul_int(&x, &x, -(int64_t)j, BITS);
        tmi_ball_exp(&x, &x, BITS);
        tmi_ball_mul(&x, &x, &mass, BITS);
        if (j + 1 < sums) {
            tmi_ball_add(&mass, &mass, &l->mass[end][j + 1], BITS);
            tmi_ball_add(&x, &x, &l->weighted[end][j + 1], BITS);
        }
        tmi_ball_set(&l->mass[end][j], &mass);
        tmi_ball_set(&l->weighted[end][j], &x);
    }
    tmi_ball_set(&l->infinity[end], &d->above);
    tmi_ball_clear(&mass);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

/* Places on both sides of the mean for a list of these reaches: their sum, or some standard deviations. */
static double width(const lattice *l)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < l->count; i++) {
        sum += (double)l->times[i] * l->reach[i];
        squares += (double)l->times[i] * l->reach[i] * l->reach[i];
    }
    return fmin(sum, 3 * sqrt(squares));
}

static tamis_status build(lattice *l, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_dots *both[2] = {tmi_alloc(l->count, sizeof **both), tmi_alloc(l->count, sizeof **both)}, all[2];
    for (int end = 0; end < 2; end++) tmi_dots_init(&all[end]);
    drop_sums(l);
    if (!both[0] || !both[1]) TMI_TRY(tmi_fail_memory(err));
    l->h = 2 * width(l) / l->places;
    for (size_t i = 0; i < l->count; i++) {
        tmi_dots one[2];
        status = tmi_dots_of(&one[0], &one[1], &l->roads[i], l->h, l->reach[i], err);
        for (int end = 0; end < 2; end++) {
            if (status == TAMIS_OK) status = power(&both[end][i], &one[end], l->times[i], end == 0, err);
            else tmi_dots_clear(&one[end]);
        }
        if (status != TAMIS_OK) goto done;
    }
    for (int end = 0; end < 2; end++) TMI_TRY(product(&all[end], both[end], l->count, end == 0, err));
    int64_t last = all[0].masses.first + (int64_t)all[0].masses.count;
    int64_t other = all[1].masses.first + (int64_t)all[1].masses.count;
    l->sums = (size_t)(last > other ? last : other) + 2;
    for (int end = 0; end < 2; end++) TMI_TRY(add_up(l, end, &all[end], l->sums, err));
done:
    for (int end = 0; end < 2; end++) {
        for (size_t i = 0; both[end] && i < l->count; i++) tmi_dots_clear(&both[end][i]);
        tmi_free(both[end]);
        tmi_dots_clear(&all[end]);
    }
    if (status != TAMIS_OK) drop_sums(l);
    return status;
}

/* mass at infinity + largest over the cuts j near eps/h of (masses from j on) - e^eps (weighted masses from j on): the cut
 * that counts just the losses above eps is the best one. */
static void cut(tmi_ball *z, const lattice *l, int end, const tmi_ball *eps)
{
    tmi_ball e, x, y;
    tmi_ball_init(&e);
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    tmi_ball_exp(&e, eps, BITS);
    double near = floor(tmi_ball_bound(eps).upper / l->h);
    for (double j = near - 1; j <= near + 2; j++) {
        if (j < 0 || j >= (double)l->sums) continue;
        tmi_ball_mul(&y, &l->weighted[end][(size_t)j], &e, BITS);
        tmi_ball_sub(&y, &l->mass[end][(size_t)j], &y, BITS);
        tmi_ball_max(&x, &x, &y, BITS);
    }
    tmi_ball_add(z, &x, &l->infinity[end], BITS);
    tmi_ball_clear(&e);
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
}

static tamis_status delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    lattice *l = self;
    (void)bits;
    for (;;) {
        if (l->h == 0) {
            tamis_status status = build(l, err);
            if (status != TAMIS_OK) return status;
        }
        cut(upper, l, 0, eps);
        cut(lower, l, 1, eps);
        double low = tmi_ball_bound(lower).lower, high = tmi_ball_bound(upper).upper;
        if (high - low <= WANTED * high || high < 1e-32 || l->places >= PLACES_LAST) return TAMIS_OK;
        l->places *= 4;
        drop_sums(l);
    }
}

static void close_lattice(void *self)
{
    lattice *l = self;
    drop_sums(l);
    for (size_t i = 0; i < l->count; i++) {
        if (l->roads) tmi_road_close(&l->roads[i]);
        if (l->losses) tmi_loss_free(l->losses[i]);
    }
    for (int end = 0; end < 2; end++) tmi_ball_clear(&l->infinity[end]);
    tmi_free(l->roads);
    tmi_free(l->losses);
    tmi_free(l->times);
    tmi_free(l->reach);
    tmi_free(l);
}

/* Claims go without their delta, which the caller has split off. */
static tamis_status add_factor(lattice *l, const tmi_factor *f, const tamis_number *zero, tamis_error *err)
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
    TMI_TRY(tmi_road_of_loss(&l->roads[i], loss, err));
    TMI_TRY(tmi_dots_reach(&l->reach[i], &l->roads[i], err));
done:
    return status;
}

tamis_status tmi_lattice_open(tmi_road *road, const tamis_profile *profile, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *zero = NULL;
    if (profile->count > MOST_FACTORS) return tmi_fail(err, TAMIS_UNABLE, "more than %d different releases", MOST_FACTORS);
    lattice *l = tmi_alloc(1, sizeof *l);
    if (!l) return tmi_fail_memory(err);
    l->places = PLACES_FIRST;
    l->roads = tmi_alloc(profile->count, sizeof *l->roads);
    l->losses = tmi_alloc(profile->count, sizeof *l->losses);
    l->times = tmi_alloc(profile->count, sizeof *l->times);
    l->reach = tmi_alloc(profile->count, sizeof *l->reach);
    if (!l->roads || !l->losses || !l->times || !l->reach) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    for (size_t i = 0; i < profile->count; i++) TMI_TRY(add_factor(l, &profile->factors[i], zero, err));
    *road = (tmi_road){delta, NULL, close_lattice, l, false, TAMIS_WIDTH};
done:
    tamis_number_free(zero);
    if (status != TAMIS_OK) close_lattice(l);
    return status;
}
