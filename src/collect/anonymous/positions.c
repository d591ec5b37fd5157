/* Counts of several positions. Given all answers the counts are independent, so two answers that differ at d positions are
 * compared by d pairs of laws, one per position, each with a composition of its own. For every one of them delta at eps is at
 * most
 *
 *     H(E) = the largest delta of one bit over all compositions and both orders,   E = e^eps,
 *
 * which is convex in E. A polyline through points of H lies above it, the last point being continued by a level line; and d
 * releases with this profile are composed (composition/lattice.h): an upper bound for all answers of the others. */
#include <math.h>
#include <tamis/experimental/profile.h>

#include "base/memory.h"
#include "collect/anonymous/reports.h"
#include "composition/profile.h"

#define POINTS 44 /* of the polyline */
#define BLOCKS 48 /* of compositions at each point: 1 % of eps */
#define BITS 224

typedef struct polyline {
    size_t count;
    double eps[POINTS + 1], delta[POINTS + 1];
    tmi_ball e[POINTS + 1];
} polyline;

static void polyline_free(void *self)
{
    polyline *line = self;
    for (size_t i = 0; i < POINTS + 1; i++) tmi_ball_clear(&line->e[i]);
    tmi_free(line);
}

/* The chord between points i and i + 1, at E. */
static void chord(tmi_ball *z, const polyline *line, size_t i, const tmi_ball *e, long bits)
{
    tmi_ball x, y;
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    tmi_ball_sub(&x, &line->e[i + 1], e, bits);
    tmi_ball_sub(&y, &line->e[i + 1], &line->e[i], bits);
    tmi_ball_div(&x, &x, &y, bits); /* 1 at i, 0 at i + 1 */
    tmi_ball_set_double(z, line->delta[i]);
    tmi_ball_set_double(&y, line->delta[i + 1]);
    tmi_ball_sub(z, z, &y, bits);
    tmi_ball_mul(z, z, &x, bits);
    tmi_ball_add(z, z, &y, bits);
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
}

static tamis_status polyline_delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    const polyline *line = self;
    tamis_bound about = tmi_ball_bound(eps);
    tmi_ball e, x;
    (void)err;
    tmi_ball_init(&e);
    tmi_ball_init(&x);
    tmi_ball_exp(&e, eps, bits);
    tmi_ball_set_int(upper, 0);
    if (about.upper >= line->eps[line->count - 1]) tmi_ball_set_double(upper, line->delta[line->count - 1]);
    for (size_t i = 0; i + 1 < line->count; i++) {
        if (about.lower > line->eps[i + 1] || about.upper < line->eps[i]) continue;
        chord(&x, line, i, &e, bits);
        tmi_ball_max(upper, upper, &x, bits);
    }
    tmi_ball_set(lower, upper);
    tmi_ball_clear(&e);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

static tamis_status polyline_open(tmi_evaluator *evaluator, const void *self, tamis_error *err)
{
    (void)err;
    *evaluator = (tmi_evaluator){.delta = polyline_delta, .self = (void *)(uintptr_t)self, .exact = true, .width = TAMIS_WIDTH};
    return TAMIS_OK;
}

/* A block of compositions in one order. */
typedef struct block {
    int64_t first, last;
    int order;
    double most; /* its delta is at most this */
} block;

#define WIDTH 1e-9 /* relative, of a block's delta */

/* The largest bound over blocks of compositions. Sums in doubles leave few that may have it: these are enclosed to WIDTH. */
static tamis_status cover(double *most, const tmi_one_bit *bit, double eps, tamis_error *err)
{
    tamis_number *x = NULL;
    block blocks[4 * BLOCKS];
    size_t count = 0;
    tamis_bound delta;
    double least = 0; /* of the largest delta */
    tamis_status status = tmi_number_double(&x, eps, err);
    const tmi_loss_at at = {.eps = x};
    int64_t step = (bit->others + 1) / BLOCKS;
    *most = 0;
    if (step < 1) step = 1;
    for (int order = 0; status == TAMIS_OK && order < bit->orders; order++)
        for (int64_t a = 0; status == TAMIS_OK && a <= bit->others; a += step) {
            int64_t last = a + step - 1 < bit->others ? a + step - 1 : bit->others;
            tmi_shift pair = tmi_one_bit_pair(bit, a, bit->others - last, order);
            status = tmi_shift_sums(&delta, &pair, &at, err);
            blocks[count++] = (block){a, last, order, delta.upper};
            least = fmax(least, delta.lower);
        }
    for (size_t i = 0; status == TAMIS_OK && i < count; i++) {
        tmi_shift pair = tmi_one_bit_pair(bit, blocks[i].first, bit->others - blocks[i].last, blocks[i].order);
        if (blocks[i].most * (1 + 2 * WIDTH) < least) continue;
        status = tmi_shift_bound(&delta, &pair, &at, WIDTH, err);
        *most = fmax(*most, delta.upper);
    }
    tamis_number_free(x);
    return status;
}

/* The eps at which a Gaussian with the smallest variance of the others would have one standard deviation. */
static double scale(const tmi_one_bit *bit)
{
    double u = tmi_number_nearest(bit->lie_one), v = tmi_number_nearest(bit->lie_zero);
    return (1 - u - v) / sqrt((double)(bit->others + 1) * fmin(u * (1 - u), v * (1 - v)));
}

static tamis_status polyline_new(polyline **made, const tmi_one_bit *bit, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    polyline *line = tmi_alloc(1, sizeof *line);
    *made = NULL;
    if (!line) return tmi_fail_memory(err);
    for (size_t i = 0; i < POINTS + 1; i++) tmi_ball_init(&line->e[i]);
    double most = fmax(tmi_one_bit_local(bit, 0).upper, tmi_one_bit_local(bit, bit->orders - 1).upper);
    double step = fmin(0.2 * scale(bit), most / POINTS);
    for (size_t i = 0; i <= POINTS; i++) {
        double eps = i == POINTS ? fmin(step * (double)i, most) : step * (double)i;
        line->eps[line->count] = eps;
        if (eps < most) TMI_TRY(cover(&line->delta[line->count], bit, eps, err)); /* nothing is lost beyond the local eps */
        line->count++;
    }
    for (size_t i = 0; i < line->count; i++) {
        tmi_ball_set_double(&line->e[i], line->eps[i]);
        tmi_ball_exp(&line->e[i], &line->e[i], BITS);
    }
    *made = line;
    line = NULL;
done:
    if (line) polyline_free(line);
    return status;
}

/* What all positions that may differ lose together. */
static tamis_status all_positions(tamis_profile **all, const tamis_reports *r, tamis_error *err)
{
    static const tmi_curve curve = {polyline_open, polyline_free};
    tmi_one_bit bit;
    polyline *line = NULL;
    tmi_loss *loss = NULL;
    tamis_profile *one = NULL;
    int64_t times = tamis_reports_differing(r);
    tamis_status status = TAMIS_OK;
    *all = NULL;
    TMI_TRY(tmi_one_bit_init(&bit, r->reports, r->lie_one, tmi_lie_zero(r), err));
    TMI_TRY(polyline_new(&line, &bit, err));
    TMI_TRY(tmi_loss_take_curve(&loss, &curve, line, err));
    TMI_TRY(tmi_profile_take(&one, loss, err));
    TMI_TRY(tamis_profile_compose(all, (const tamis_profile *const[]){one}, &times, 1, err));
done:
    tamis_profile_free(one);
    tmi_one_bit_clear(&bit);
    return status;
}

tamis_status tmi_positions_delta(tamis_bound *delta, const tamis_reports *r, const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_profile *all = NULL;
    tamis_bound upper;
    double lower;
    *delta = (tamis_bound){0, 1};
    TMI_TRY(all_positions(&all, r, err));
    TMI_TRY(tamis_profile_delta(&upper, all, eps, err));
    TMI_TRY(tmi_attack_delta(&lower, r, eps, err));
    *delta = (tamis_bound){fmin(lower, upper.upper), upper.upper};
done:
    tamis_profile_free(all);
    return status;
}

tamis_status tmi_positions_epsilon(tamis_bound *eps, const tamis_reports *r, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_profile *all = NULL;
    tamis_bound upper, local;
    double lower;
    *eps = (tamis_bound){0, INFINITY};
    TMI_TRY(all_positions(&all, r, err));
    TMI_TRY(tamis_profile_epsilon(&upper, all, delta, err));
    TMI_TRY(tamis_anonymous_local(&local, r, err));
    TMI_TRY(tmi_attack_epsilon(&lower, r, delta, err));
    eps->upper = fmin(upper.upper, local.upper);
    eps->lower = fmin(lower, eps->upper);
done:
    tamis_profile_free(all);
    return status;
}
