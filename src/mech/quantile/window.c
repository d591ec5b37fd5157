/* From all records to the ones around a rank: guess a range, count below it, copy what is inside, narrow the copy. */
#include <math.h>

#include "base/memory.h"
#include "mech/quantile/records.h"
#include "mech/quantile/split.h"

#define FEW 4096    /* records that are sorted without narrowing */
#define SAMPLE 8192 /* records that a guess looks at, at most */

/* A guess misses if the sample's share is more than this many standard errors off: about once in 10^6 times. */
#define MARGIN 5

/* Records that belong to us: points and weights (NULL: 1 each). */
typedef struct copy {
    int64_t *points, *weights;
    size_t count, room;
} copy;

static void clear_copy(copy *c)
{
    if (c->points) tmi_wipe(c->points, c->room * sizeof *c->points);
    if (c->weights) tmi_wipe(c->weights, c->room * sizeof *c->weights);
    tmi_free(c->points);
    tmi_free(c->weights);
    *c = (copy){0};
}

/* Room for a block more. */
static bool make_room(copy *c, bool weighted)
{
    if (c->room - c->count >= TMI_SPLIT_BLOCK) return true;
    const size_t room = 2 * c->room + 4 * TMI_SPLIT_BLOCK, old = c->room * sizeof *c->points;
    int64_t *points = tmi_regrow(c->points, old, room, sizeof *points);
    if (points) c->points = points;
    int64_t *weights = points && weighted ? tmi_regrow(c->weights, old, room, sizeof *weights) : NULL;
    if (weights) c->weights = weights;
    if (points && (weights || !weighted)) c->room = room;
    return c->room == room;
}

/* ---- the guess ---- */

/* The point and weight of one record; false if it is missing. */
static bool record_at(int64_t *point, int64_t *weight, const tmi_records *r, size_t i)
{
    if (r->points) *point = tmi_clamped_point(r->points[i], r->grid);
    else if (!tmi_grid_point(point, r->grid, r->values[i])) *point = TMI_MISSING_POINT;
    *weight = r->weights ? tmi_clamped_weight(r->weights[i], r->most_weight) : 1;
    return *point != TMI_MISSING_POINT;
}

/* What is known about the records of a pass: those of the window are among them. */
typedef struct known {
    double below, inside, total; /* weight below these records, of these, of all; inside < 0: not known yet */
} known;

/* Narrows first ... last to a range that has the ranks with high probability. */
static bool guess(int64_t *first, int64_t *last, const tmi_records *r, const tmi_rank *rank, const known *k)
{
    const size_t wanted = r->count / 8 < SAMPLE ? r->count / 8 : SAMPLE;
    int64_t *points = tmi_alloc(wanted, sizeof *points), *weights = tmi_alloc(wanted, sizeof *weights);
    size_t n = 0;
    double sum = 0, squares = 0, seen = 0;
    bool done = points && weights;
    for (size_t s = 0; done && s < wanted; s++) {
        const size_t i = (size_t)((unsigned __int128)r->count * (2 * s + 1) / (2 * wanted));
        if (!record_at(&points[n], &weights[n], r, i)) continue;
        sum += (double)weights[n];
        squares += (double)weights[n] * (double)weights[n];
        n++;
    }
    done = done && tmi_sort_points(points, weights, n);
    if (done && sum > 0) {
        const double inside = k->inside >= 0 ? k->inside : sum * (double)r->count / (double)wanted;
        const double total = k->inside >= 0 ? k->total : inside, d = (double)rank->d;
        const double middle = (double)rank->p / d * total - k->below, reach = (double)rank->reach / d;
        const double margin = MARGIN * 0.5 * sqrt(squares);
        const double low = (middle - reach) / inside * sum - margin, high = (middle + reach) / inside * sum + margin;
        const int64_t end = *last;
        for (size_t s = 0; s < n && *last == end; s++) {
            if (seen < low) *first = points[s];
            seen += (double)weights[s];
            if (seen > high) *last = points[s];
        }
    }
    if (points) tmi_wipe(points, wanted * sizeof *points);
    if (weights) tmi_wipe(weights, wanted * sizeof *weights);
    tmi_free(points);
    tmi_free(weights);
    return done;
}

/* ---- one pass ---- */

/* Copies the records in [first, last]; `sums` has the weight below and of all. */
static bool split(copy *inside, tmi_split_sums *sums, const tmi_records *r, int64_t first, int64_t last)
{
    tmi_splitter splitter = tmi_splitter_of(r, first, last);
    *sums = (tmi_split_sums){0};
    for (size_t i = 0; i < r->count; i += TMI_SPLIT_BLOCK) {
        if (!make_room(inside, r->weights != NULL)) return false;
        const size_t n = r->count - i < TMI_SPLIT_BLOCK ? r->count - i : TMI_SPLIT_BLOCK;
        int64_t *weights = inside->weights ? inside->weights + inside->count : NULL;
        inside->count += tmi_split_block(inside->points + inside->count, weights, sums, &splitter, i, n);
    }
    return true;
}

/* Whether [first, last] has everything that the rank needs. */
static bool is_enough(const tmi_rank_window *w, int64_t inside, const tmi_grid *grid, const tmi_rank *rank)
{
    const tmi_int128 target = (tmi_int128)rank->p * w->total;
    const tmi_int128 below = (tmi_int128)rank->d * w->below, up_to = (tmi_int128)rank->d * (w->below + inside);
    return (w->first == grid->low || below <= target - rank->reach) && (w->last == grid->high || up_to >= target + rank->reach);
}

/* Equal points become one. */
static void merge(tmi_rank_window *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (n > 0 && w->points[n - 1] == w->points[i]) w->weights[n - 1] += w->weights[i];
        else {
            w->points[n] = w->points[i];
            w->weights[n++] = w->weights[i];
        }
    }
    w->count = n;
}

static tamis_status finish(tmi_rank_window *w, copy *c, tamis_error *err)
{
    if (!c->weights) {
        if (!(c->weights = tmi_alloc(c->room, sizeof *c->weights))) return tmi_fail_memory(err);
        if (!tmi_sort_points(c->points, NULL, c->count)) return tmi_fail_memory(err);
        for (size_t i = 0; i < c->count; i++) c->weights[i] = 1;
    } else if (!tmi_sort_points(c->points, c->weights, c->count)) return tmi_fail_memory(err);
    w->points = c->points;
    w->weights = c->weights;
    w->count = c->count;
    w->room = c->room;
    *c = (copy){0};
    merge(w);
    return TAMIS_OK;
}

void tmi_rank_window_clear(tmi_rank_window *w)
{
    if (w->points) tmi_wipe(w->points, w->room * sizeof *w->points);
    if (w->weights) tmi_wipe(w->weights, w->room * sizeof *w->weights);
    tmi_free(w->points);
    tmi_free(w->weights);
    *w = (tmi_rank_window){0};
}

/* The first pass, over all records. */
static tamis_status look_at_all(copy *inside, int64_t *weight, tmi_rank_window *w, const tmi_records *r, const tmi_rank *rank,
                                tamis_error *err)
{
    const known nothing = {.inside = -1};
    tmi_split_sums sums;
    *w = (tmi_rank_window){.first = r->grid->low, .last = r->grid->high};
    if (rank && r->count > FEW && !guess(&w->first, &w->last, r, rank, &nothing)) return tmi_fail_memory(err);
    if (!split(inside, &sums, r, w->first, w->last)) return tmi_fail_memory(err);
    w->below = sums.below;
    w->total = sums.total;
    *weight = sums.inside;
    if (!rank || is_enough(w, sums.inside, r->grid, rank)) return TAMIS_OK;
    clear_copy(inside); /* the guess was wrong */
    *w = (tmi_rank_window){.first = r->grid->low, .last = r->grid->high, .total = sums.total};
    if (!split(inside, &sums, r, w->first, w->last)) return tmi_fail_memory(err);
    *weight = sums.inside;
    return TAMIS_OK;
}

/* A pass over what was copied. False if it did not help: then nothing has changed. */
static tamis_status look_again(bool *helped, copy *inside, int64_t *weight, tmi_rank_window *w, const tmi_records *r,
                               const tmi_rank *rank, tamis_error *err)
{
    const tmi_records left = {.points = inside->points,
                              .weights = inside->weights,
                              .count = inside->count,
                              .most_weight = r->most_weight,
                              .grid = r->grid};
    const known now = {(double)w->below, (double)*weight, (double)w->total};
    tmi_rank_window tried = *w;
    tmi_split_sums sums;
    copy narrower = {0};
    tamis_status status = TAMIS_OK;
    *helped = false;
    if (!guess(&tried.first, &tried.last, &left, rank, &now)) TMI_TRY(tmi_fail_memory(err));
    if (!split(&narrower, &sums, &left, tried.first, tried.last)) TMI_TRY(tmi_fail_memory(err));
    tried.below += sums.below;
    *helped = narrower.count < inside->count / 2 && is_enough(&tried, sums.inside, r->grid, rank);
    if (!*helped) goto done;
    *w = tried;
    *weight = sums.inside;
    clear_copy(inside);
    *inside = narrower;
    narrower = (copy){0};
done:
    clear_copy(&narrower);
    return status;
}

tamis_status tmi_rank_window_make(tmi_rank_window *window, const tmi_records *records, const tmi_rank *rank, tamis_error *err)
{
    copy inside = {0};
    int64_t weight = 0;
    bool helped = true;
    tamis_status status = TAMIS_OK;
    *window = (tmi_rank_window){0};
    if (records->count > (size_t)(TMI_WEIGHT_SUM / records->most_weight))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "there are more records than weights of this size can be added up for"));
    TMI_TRY(look_at_all(&inside, &weight, window, records, rank, err));
    while (rank && helped && inside.count > FEW) TMI_TRY(look_again(&helped, &inside, &weight, window, records, rank, err));
    TMI_TRY(finish(window, &inside, err));
done:
    clear_copy(&inside);
    if (status != TAMIS_OK) *window = (tmi_rank_window){0};
    return status;
}
