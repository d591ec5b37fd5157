/* The grid is cut into cells. In a cell the function is a line, and the mean of exp(-rate distance) over it is known. */
#include <math.h>

#include "base/hypotenuse.h"
#include "base/memory.h"
#include "mech/quantile/expected/expected.h"
#include "num/number.h"

typedef struct cell {
    double from, to;      /* places */
    double below, beyond; /* shares at them */
    double measure;
} cell;

typedef struct drawing {
    const tamis_quantile *quantile;
    const tmi_known_curve *curve;
    double *places; /* room for the ends of cells */
    cell *cells;
    double *law;        /* room: one probability per cell */
    double *at, *rates; /* of all records; one over the size of a share's error */
    size_t count;
} drawing;

/* The rate is per 1/d of a weight unit. */
static double rate_of(const drawing *w, size_t j)
{
    const tamis_quantile *q = w->quantile;
    if (q->method == TAMIS_QUANTILE_JOINT) return tmi_number_nearest(q->joint_rate) * (double)q->common * w->curve->weight;
    return tmi_number_nearest(q->targets[j].rate) * (double)q->targets[j].rank.d * w->curve->weight;
}

/* ---- cells ---- */

static double measure_of(const tamis_quantile *q, double low, double from, double to)
{
    const double unit = q->log_unit ? tmi_number_nearest(q->log_unit) : 0;
    return q->log_unit ? log1p((to - from) / (from - low + unit)) : to - from;
}

/* INVERSE knows whole grid points; the others cut inside them. */
static void set_cells(drawing *w)
{
    const tmi_known_curve *c = w->curve;
    const tamis_quantile *q = w->quantile;
    for (size_t j = 0; j < q->count; j++) w->rates[j] = rate_of(w, j);
    const size_t places = tmi_known_places(w->places, c, q->log_unit ? tmi_number_nearest(q->log_unit) : 0, w->at, w->rates,
                                           q->count);
    for (size_t i = 0; q->method == TAMIS_QUANTILE_INVERSE && i < places; i++) w->places[i] = floor(w->places[i] + 0.5);
    for (size_t i = 0; i + 1 < places; i++) {
        cell *x = &w->cells[w->count];
        *x = (cell){.from = w->places[i], .to = w->places[i + 1]};
        if (!(x->to > x->from)) continue;
        x->below = tmi_known_share(c, x->from);
        x->beyond = tmi_known_share(c, x->to);
        x->measure = measure_of(q, c->places[0], x->from, x->to);
        w->count++;
    }
}

static void drawing_clear(drawing *w)
{
    tmi_free(w->places);
    tmi_free(w->cells);
    tmi_free(w->law);
    tmi_free(w->at);
    tmi_free(w->rates);
}

static tamis_status drawing_make(drawing *w, const tamis_quantile *q, const tmi_known_curve *c, tamis_error *err)
{
    const size_t room = tmi_known_places_room(c, q->count);
    *w = (drawing){.quantile = q, .curve = c};
    w->places = tmi_alloc(room, sizeof *w->places);
    w->cells = tmi_alloc(room, sizeof *w->cells);
    w->law = tmi_alloc(room, sizeof *w->law);
    w->at = tmi_alloc(q->count, sizeof *w->at);
    w->rates = tmi_alloc(q->count, sizeof *w->rates);
    return w->places && w->cells && w->law && w->at && w->rates ? TAMIS_OK : tmi_fail_memory(err);
}

/* ---- laws ---- */

/* The mean of exp(-rate x) for x from `near` to `far`, both not negative. */
static double mean_decay(double rate, double near, double far)
{
    const double width = rate * (far - near);
    return exp(-rate * near) * (width > 1e-9 ? -expm1(-width) / width : 1);
}

static double mean_weight(const cell *x, double q, double rate)
{
    if (q <= x->below) return mean_decay(rate, x->below - q, x->beyond - q);
    if (q >= x->beyond) return mean_decay(rate, q - x->beyond, q - x->below);
    const double part = (q - x->below) / (x->beyond - x->below);
    return part * mean_decay(rate, 0, q - x->below) + (1 - part) * mean_decay(rate, 0, x->beyond - q);
}

/* All records of a grid point are at the same distance. */
static double point_weight(const cell *x, double q, double rate)
{
    return x->to - x->from > 1 ? mean_weight(x, q, rate) : exp(-rate * fmax(fmax(x->below - q, q - x->beyond), 0));
}

/* The law of one quantile that is drawn from the cells first ... last - 1. */
static void set_law(drawing *w, double q, double rate, size_t first, size_t last)
{
    double all = 0;
    const bool points = w->quantile->method == TAMIS_QUANTILE_INVERSE;
    for (size_t i = first; i < last; i++) {
        const cell *x = &w->cells[i];
        w->law[i] = x->measure * (points ? point_weight : mean_weight)(x, q, rate);
        all += w->law[i];
    }
    for (size_t i = first; i < last; i++) w->law[i] /= all > 0 ? all : 1;
}

/* The mean of (x - centre)^2 over the grid points of a cell. */
static double square_of(const cell *x, double centre)
{
    const double low = floor(x->from) - centre, high = ceil(x->to) - 1 - centre;
    return high > low ? (high * high + high * low + low * low) / 3 : low * low;
}

static double error_of(const drawing *w, const double *law, double q, size_t first, size_t last)
{
    const double centre = tmi_known_point(w->curve, q);
    double squares = 0;
    for (size_t i = first; i < last; i++) squares += law[i] * square_of(&w->cells[i], centre);
    return sqrt(squares);
}

static double share_variance(const drawing *w, double q, size_t first, size_t last)
{
    double squares = 0;
    for (size_t i = first; i < last; i++) {
        const double a = w->cells[i].below - q, b = w->cells[i].beyond - q;
        squares += w->law[i] * (a * a + a * b + b * b) / 3;
    }
    return squares;
}

/* ---- splitting ---- */

static size_t first_cell(const drawing *w, double place)
{
    size_t i = 0, end = w->count;
    while (i < end) {
        const size_t middle = i + (end - i) / 2;
        if (w->cells[middle].from < place) i = middle + 1;
        else end = middle;
    }
    return i;
}

/* An end of a part: a quantile that was found before, or an end of the grid. */
typedef struct split_end {
    double at, place, variance; /* of its share */
} split_end;

/* Quantiles from ... to - 1 in the part between two ends. Where an end is off by a share, so is what the part takes for the rank
 * of its middle quantile, in proportion to how near it is. */
static void split(double *errors, drawing *w, size_t from, size_t to, split_end low, split_end high)
{
    if (from == to) return;
    const size_t j = from + (to - from) / 2;
    const double q = w->at[j], part = (q - low.at) / (high.at - low.at),
                 moved = (1 - part) * (1 - part) * low.variance + part * part * high.variance, sd = sqrt(moved);
    const size_t first = first_cell(w, low.place), last = first_cell(w, high.place);
    set_law(w, q, w->rates[j], first, last);
    const double width = tmi_known_point(w->curve, fmin(q + sd, (1 + q) / 2)) - tmi_known_point(w->curve, fmax(q - sd, q / 2));
    errors[j] = tmi_hypotenuse(error_of(w, w->law, q, first, last), width / 2);
    const split_end own = {q, tmi_known_place(w->curve, q), moved + share_variance(w, q, first, last)};
    split(errors, w, from, j, low, own);
    split(errors, w, j + 1, to, own, high);
}

/* ---- jointly ---- */

static tamis_status find_jointly(double *errors, const drawing *w, tamis_error *err)
{
    const size_t m = w->quantile->count;
    double *laws = tmi_alloc(m * w->count, sizeof *laws), *shares = tmi_alloc(w->count, sizeof *shares),
           *measures = tmi_alloc(w->count, sizeof *measures);
    tamis_status status = TAMIS_OK;
    if (!laws || !shares || !measures) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < w->count; i++) {
        shares[i] = (w->cells[i].below + w->cells[i].beyond) / 2;
        measures[i] = w->cells[i].measure;
    }
    TMI_TRY(tmi_joint_marginals(laws, shares, measures, w->count, w->at, m, w->rates[0], err));
    for (size_t j = 0; j < m; j++) errors[j] = error_of(w, laws + j * w->count, w->at[j], 0, w->count);

done:
    tmi_free(laws);
    tmi_free(shares);
    tmi_free(measures);
    return status;
}

/* ---- together ---- */

/* The ranks of SPLIT are those within its parts: from the outermost part inwards they become ranks of all records. */
static void set_split_ranks(drawing *w, size_t from, size_t to, double low, double high)
{
    if (from == to) return;
    const size_t j = from + (to - from) / 2;
    const tmi_rank *rank = &w->quantile->targets[j].rank;
    w->at[j] = low + (high - low) * (double)rank->p / (double)rank->d;
    set_split_ranks(w, from, j, low, w->at[j]);
    set_split_ranks(w, j + 1, to, w->at[j], high);
}

tamis_status tmi_spread_of_draws(double *errors, const tamis_quantile *q, const tmi_known_curve *c, tamis_error *err)
{
    drawing w;
    tamis_status status = drawing_make(&w, q, c, err);
    if (status != TAMIS_OK) goto done;
    for (size_t j = 0; j < q->count; j++) w.at[j] = (double)q->targets[j].rank.p / (double)q->targets[j].rank.d;
    if (q->method == TAMIS_QUANTILE_SPLIT) set_split_ranks(&w, 0, q->count, 0, 1);
    set_cells(&w);
    if (q->method == TAMIS_QUANTILE_JOINT) status = find_jointly(errors, &w, err);
    else if (q->method == TAMIS_QUANTILE_SPLIT)
        split(errors, &w, 0, q->count, (split_end){0, c->places[0], 0}, (split_end){1, c->places[c->count - 1], 0});
    else
        for (size_t j = 0; j < q->count; j++) {
            set_law(&w, w.at[j], w.rates[j], 0, w.count);
            errors[j] = error_of(&w, w.law, w.at[j], 0, w.count);
        }

done:
    drawing_clear(&w);
    return status;
}
