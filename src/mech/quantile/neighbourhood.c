/* The values around a rank, and the smooth sensitivity that follows from them.
 *
 * The search is that of mech/smooth_exact.c: row i has the distance u_i below the centre, column j the distance v_j above, and
 * the best column does not grow with the row, so divide and conquer finds all rows' maxima. A column replaces the best one of a
 * row only if it is certainly larger. Each term is known to a share of 2^-(bits - 10), so a level of the recursion costs at
 * most a share of 2^-(bits - 12) of the range, and there are fewer than 64 levels: the maximum is too small by at most range *
 * 2^-(bits - 20). */
#include <math.h>

#include "base/memory.h"
#include "mech/quantile/smooth.h"
#include "mech/quantile/split.h"

/* ---- from records ---- */

static void clear_gaps(tmi_gaps *g)
{
    if (g->lengths) tmi_wipe(g->lengths, g->room * sizeof *g->lengths);
    if (g->ranks) tmi_wipe(g->ranks, g->room * sizeof *g->ranks);
    tmi_free(g->lengths);
    tmi_free(g->ranks);
    *g = (tmi_gaps){0};
}

void tmi_neighbourhood_clear(tmi_neighbourhood *a)
{
    clear_gaps(&a->below);
    clear_gaps(&a->above);
}

static bool make_gaps(tmi_gaps *g, size_t room)
{
    *g = (tmi_gaps){.room = room, .lengths = tmi_alloc(room, sizeof *g->lengths), .ranks = tmi_alloc(room, sizeof *g->ranks)};
    return g->lengths && g->ranks;
}

/* Entries come in ascending order of the rank; one that is no further away than the last is left out. */
static void add(tmi_gaps *g, int64_t length, int64_t rank)
{
    if (g->count > 0 && length <= g->lengths[g->count - 1]) return;
    g->lengths[g->count] = length;
    g->ranks[g->count++] = rank;
}

static int64_t present(const tmi_records *r)
{
    int64_t count = 0;
    for (size_t i = 0; i < r->count; i++) count += r->points ? r->points[i] != TMI_MISSING_POINT : isfinite(r->values[i]) != 0;
    return count;
}

/* Both lists from a window that has the ranks around m: of n rows those that are not there are at the highest point. */
static bool look_around(tmi_neighbourhood *a, const tmi_rank_window *w, const tmi_grid *grid, int64_t m, int64_t n)
{
    size_t at = 0;
    int64_t up_to = w->below; /* records up to the one before `at` */
    if (!make_gaps(&a->below, w->count + 3) || !make_gaps(&a->above, w->count + 3)) return false;
    while (at < w->count && up_to + w->weights[at] < m) up_to += w->weights[at++];
    const bool there = at < w->count;
    a->centre = there ? w->points[at] : grid->high;
    add(&a->below, 0, 0);
    add(&a->above, 0, 0);
    int64_t rank = up_to; /* of the last record of the point below */
    for (size_t i = at; i-- > 0; rank -= w->weights[i]) add(&a->below, a->centre - w->points[i], m - rank);
    add(&a->below, a->centre - grid->low, m);
    rank = there ? up_to + w->weights[at] : n; /* of the last record of the point at hand */
    for (size_t i = at + 1; i < w->count; rank += w->weights[i++]) add(&a->above, w->points[i] - a->centre, rank + 1 - m);
    if (m <= w->total) add(&a->above, grid->high - a->centre, w->total + 1 - m);
    return true;
}

/* Whether what lies further than `reach` ranks away cannot matter. */
static tamis_status is_enough(bool *enough, const tmi_neighbourhood *a, const tamis_quantile *q, const tamis_number *beta,
                              int64_t reach, tamis_error *err)
{
    tmi_ball s, rest;
    tmi_decays *powers = tmi_decays_new(beta, 64);
    tmi_ball_inits(&s, &rest, NULL);
    const bool there = powers && tmi_neighbourhood_sensitivity(&s, a, beta, 64);
    if (there) {
        tmi_decay(&rest, powers, reach);
        tmi_ball_mul_int(&rest, &rest, q->grid.high - q->grid.low, 64);
        *enough = tmi_ball_is_at_most(&rest, &s);
    }
    tmi_ball_clears(&s, &rest, NULL);
    tmi_decays_free(powers);
    return there ? TAMIS_OK : tmi_fail_memory(err);
}

#define FIRST_REACH 64

tamis_status tmi_neighbourhood_make(tmi_neighbourhood *a, const tamis_quantile *q, size_t number, const tmi_records *records,
                                    tamis_error *err)
{
    const tmi_target *t = &q->targets[number];
    const int64_t n = q->rows > 0 ? q->rows : (int64_t)records->count, total = present(records);
    const tmi_int128 product = (tmi_int128)t->rank.p * n, m = (product + t->rank.d - 1) / t->rank.d;
    *a = (tmi_neighbourhood){0};
    if (total > n) return tmi_fail(err, TAMIS_INVALID, "rows: there are more records");
    tamis_status status = TAMIS_OK;
    bool enough = false;
    for (int64_t reach = FIRST_REACH; !enough; reach *= 4) {
        tmi_rank_window window;
        /* The window's ranks are shares of the records that are there: m is up to the missing ones' share above. */
        tmi_rank rank = t->rank;
        rank.reach = (tmi_int128)rank.d * (reach + 2 + (n - total));
        tmi_neighbourhood_clear(a);
        TMI_TRY(tmi_rank_window_make(&window, records, &rank, err));
        int64_t inside = 0;
        for (size_t i = 0; i < window.count; i++) inside += window.weights[i];
        const bool made = look_around(a, &window, &q->grid, n > 0 ? (int64_t)m : 1, n);
        tmi_rank_window_clear(&window);
        if (!made) TMI_TRY(tmi_fail_memory(err));
        enough = inside == total;
        if (!enough) TMI_TRY(is_enough(&enough, a, q, q->smooth[number].beta, reach, err));
    }
done:
    if (status != TAMIS_OK) tmi_neighbourhood_clear(a);
    return status;
}

/* ---- the maximum ---- */

typedef struct search {
    const tmi_neighbourhood *around;
    tmi_ball *decays; /* of the columns: e^(-beta b) */
    tmi_decays *powers;
    tmi_ball top, term, best;
    long bits;
} search;

static void term_of(search *s, size_t i, size_t j)
{
    const tmi_neighbourhood *a = s->around;
    tmi_ball_mul_int(&s->term, &s->decays[j], a->below.lengths[i] + a->above.lengths[j], s->bits);
}

/* Rows first..last, whose best columns are in from..to. */
static void rows(search *s, size_t first, size_t last, size_t from, size_t to)
{
    while (first <= last) {
        const size_t middle = first + (last - first) / 2;
        size_t best = from;
        term_of(s, middle, from);
        tmi_ball_set(&s->best, &s->term);
        for (size_t j = from + 1; j <= to; j++) {
            term_of(s, middle, j);
            if (!tmi_ball_is_less(&s->best, &s->term)) continue;
            tmi_ball_set(&s->best, &s->term);
            best = j;
        }
        tmi_decay(&s->term, s->powers, s->around->below.ranks[middle] - 1);
        tmi_ball_mul(&s->best, &s->best, &s->term, s->bits);
        tmi_ball_max(&s->top, &s->top, &s->best, s->bits);
        if (middle > first) rows(s, first, middle - 1, best, to);
        first = middle + 1;
        to = best;
    }
}

bool tmi_neighbourhood_sensitivity(tmi_ball *value, const tmi_neighbourhood *a, const tamis_number *beta, long bits)
{
    search s = {.around = a, .bits = bits, .decays = tmi_balls_new(a->above.count), .powers = tmi_decays_new(beta, bits)};
    const bool there = s.decays && s.powers;
    tmi_ball_inits(&s.top, &s.term, &s.best, NULL);
    if (there) {
        for (size_t j = 0; j < a->above.count; j++) tmi_decay(&s.decays[j], s.powers, a->above.ranks[j]);
        for (size_t j = 1; j < a->above.count; j++) { /* row 0 */
            tmi_decay(&s.term, s.powers, a->above.ranks[j] - 1);
            tmi_ball_mul_int(&s.term, &s.term, a->above.lengths[j], bits);
            tmi_ball_max(&s.top, &s.top, &s.term, bits);
        }
        if (a->below.count > 1) rows(&s, 1, a->below.count - 1, 0, a->above.count - 1);
        tmi_ball_set_int(&s.term, a->below.lengths[a->below.count - 1] + a->above.lengths[a->above.count - 1]); /* the range */
        tmi_ball_shift(&s.term, &s.term, 20 - bits);
        tmi_ball_add(&s.term, &s.term, &s.top, bits);
        tmi_ball_union(value, &s.top, &s.term, bits);
    }
    tmi_balls_free(s.decays, a->above.count);
    tmi_decays_free(s.powers);
    tmi_ball_clears(&s.top, &s.term, &s.best, NULL);
    return there;
}
