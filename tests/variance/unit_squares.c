/* Sampling variances as sums of squares over rows: against their definition, and their sensitivity against all neighbours. */
#include "variance/method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static uint64_t seed = 1;

static int64_t below(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* ---- tables ---- */

#define STEPS 8 /* of a number: t is k/8 */
#define NUMBERS 3
#define MOST (2 * 64)

/* A row: its cell, its weight a, and its numbers, STEPS + 1: it has none. */
typedef struct row {
    size_t cell;
    int64_t a;
    int k[NUMBERS];
} row;

/* What tables there are: numbers, each of which may be missing or not; and whether the first two are the same one. */
typedef struct kind {
    size_t numbers;
    bool missing[NUMBERS];
    bool twins;
} kind;

static const kind kinds[] = {{0, {false}, false},
                             {1, {false}, false},
                             {1, {true}, false},
                             {2, {false, false}, false},
                             {2, {true, false}, false},
                             {2, {true, true}, false},
                             {3, {false, false, false}, false},
                             {2, {false, false}, true},
                             {3, {false, false, true}, true},
                             {3, {true, true, false}, true}};
#define KINDS (sizeof kinds / sizeof *kinds)

static size_t levels_of(const kind *t, size_t number) { return number < t->numbers ? 3 + t->missing[number] : 1; }

/* (m-k)^2, 2 k (m-k), k^2 or, where it is missing, m^2. */
static int64_t level(const kind *t, size_t number, const row *r, size_t l)
{
    const int k = r->k[number], rest = STEPS - k;
    if (number >= t->numbers) return 1;
    if (k > STEPS) return l == 3 ? STEPS * STEPS : 0;
    return l == 0 ? rest * rest : l == 1 ? 2 * k * rest : l == 2 ? k * k : 0;
}

static size_t all_levels(const kind *t) { return levels_of(t, 0) * levels_of(t, 1) * levels_of(t, 2); }

/* The level of a number in the l-th of all levels. */
static size_t place_of(const kind *t, size_t number, size_t l)
{
    for (size_t i = NUMBERS; i-- > number + 1;) l /= levels_of(t, i);
    return l % levels_of(t, number);
}

/* Adds a row, `sign` times. */
static void add(tmi_int128 *table, const kind *t, const row *r, int sign)
{
    for (size_t l = 0; l < all_levels(t); l++) {
        tmi_int128 product = sign * r->a;
        for (size_t i = 0; i < NUMBERS; i++) product *= level(t, i, r, place_of(t, i, l));
        table[r->cell * all_levels(t) + l] += product;
    }
}

static row any_row(const kind *t, size_t cells)
{
    row r = {(size_t)below((int64_t)cells), below(4) ? 1000 : below(1001), {0}};
    for (size_t i = 0; i < t->numbers; i++)
        r.k[i] = below(3) ? (int)(below(2) * STEPS) : (int)below(STEPS + 1 + (t->missing[i] ? 1 : 0));
    if (t->twins) r.k[1] = r.k[0];
    return r;
}

/* ---- a linearised variable ---- */

typedef struct variable {
    double ends[TMI_ERROR_TERMS][MOST]; /* at all ends of all cells; elsewhere whatever linear functions have there */
    tmi_linearised e;
} variable;

/* Any values at the ends, the same for twins in either order; 0 if one of them is missing. What is in the middle of a number does
 * not matter. */
static void make(variable *v, const kind *t, size_t cells, size_t terms, int group)
{
    v->e = (tmi_linearised){.terms = terms, .cells = cells, .levels = all_levels(t), .numbers = t->numbers};
    for (size_t i = 0; i < t->numbers; i++) v->e.sizes[i] = levels_of(t, i);
    for (size_t term = 0; term < terms; term++) {
        v->e.values[term] = v->ends[term];
        for (size_t k = 0; k < cells * v->e.levels; k++) {
            const size_t l = k % v->e.levels, first = place_of(t, 0, l), second = place_of(t, 1, l), last = levels_of(t, 2);
            double *x = &v->ends[term][k];
            *x = group >= 0 && k / v->e.levels != (size_t)group ? 0 : (double)(below(2001) - 1000) / 7;
            if (t->twins && (first == 3) != (second == 3)) *x = 0;
            if (t->twins && first > second) /* (second, first) was before */
                *x = v->ends[term][k - l + (second * levels_of(t, 1) + first) * last + place_of(t, 2, l)];
        }
    }
}

/* Its value at a row: linear in each number. */
static double at(const variable *v, size_t term, const kind *t, const row *r)
{
    double sum = 0;
    for (size_t l = 0; l < v->e.levels; l++) {
        double product = 1;
        for (size_t i = 0; i < t->numbers; i++) {
            const size_t own = place_of(t, i, l);
            product *= r->k[i] > STEPS ? own == 3 : own == 0 ? 1 - r->k[i] / 8.0 : own == 2 ? r->k[i] / 8.0 : 0;
        }
        sum += product * v->ends[term][r->cell * v->e.levels + l];
    }
    return sum;
}

static tmi_int128 combined(const int32_t *c, const tmi_int128 *table, size_t count)
{
    tmi_int128 sum = 0;
    for (size_t k = 0; k < count; k++) sum += c[k] * table[k];
    return sum;
}

#define CELLS 2

static double unit_of(const kind *t) { return pow(STEPS, 2 * (double)t->numbers); }

/* With coefficients c the combination is the sum of a e^2, but for the rounding of e. */
static void it_is_the_sum_of_squares(void **state)
{
    (void)state;
    for (int round = 0; round < 1000; round++) {
        const kind *t = &kinds[(size_t)round % KINDS];
        variable v;
        make(&v, t, CELLS, 1 + (size_t)(round / (int)KINDS % 2), round % 5 == 0 ? 0 : -1);
        const size_t count = CELLS * v.e.levels;
        int32_t c[MOST];
        int64_t range;
        tmi_int128 table[MOST] = {0};
        double sum = 0;
        const double largest = tmi_unit_squares.combine(c, &range, &v.e);
        for (int k = 0; k < 30; k++) {
            const row r = any_row(t, CELLS);
            add(table, t, &r, 1);
            for (size_t term = 0; term < v.e.terms; term++) sum += (double)r.a * pow(at(&v, term, t, &r), 2);
        }
        const double own = (double)combined(c, table, count) * tmi_unit_squares.unit * largest * largest / unit_of(t);
        if (!(fabs(own - sum) <= 3e-4 * (sum + 30 * largest * largest))) fail_msg("round %d: %.9g, not %.9g", round, own, sum);
    }
}

/* ---- sensitivity ---- */

/* One integer per cell, as a statistic by groups has them, or one of all cells. A row is replaced by any other. */
static double worst(const kind *t, bool single)
{
    const size_t numbers = single ? 1 : CELLS;
    const int64_t own = 1000 * (int64_t)unit_of(t);
    const tmi_error_moves moves = {.moved = 2 * own, .within = own, .overlap = 1, .touched = 2, .single = single};
    double most = 0;
    for (int round = 0; round < 3000; round++) {
        tmi_int128 before[MOST] = {0}, after[MOST];
        double sum = 0;
        for (int k = 0; k < 5; k++) {
            const row r = any_row(t, CELLS);
            add(before, t, &r, 1);
        }
        const row old = any_row(t, CELLS), new = any_row(t, CELLS);
        add(before, t, &old, 1);
        memcpy(after, before, sizeof after);
        add(after, t, &old, -1);
        add(after, t, &new, 1);
        for (size_t n = 0; n < numbers; n++) {
            variable v;
            int32_t c[MOST];
            tmi_error_grid g = {0};
            make(&v, t, CELLS, 1 + (size_t)(round % 2), single ? -1 : (int)n);
            tmi_unit_squares.combine(c, &g.range, &v.e);
            tmi_unit_squares.settle(&g, &moves, NULL);
            const tmi_int128 x = combined(c, before, CELLS * v.e.levels), y = combined(c, after, CELLS * v.e.levels);
            sum += fabs((double)(tmi_unit_squares.value(&x, NULL, &g, NULL) - tmi_unit_squares.value(&y, NULL, &g, NULL)));
        }
        most = fmax(most, sum / (double)TMI_ERROR_STEPS);
    }
    return most;
}

static void no_neighbour_moves_it_more(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (int single = 0; single < 2; single++) {
            const double found = worst(&kinds[k], single);
            if (!(found <= 1) || !(found > 0.99)) fail_msg("kind %zu, %s: %.9g", k, single ? "one" : "groups", found);
        }
}

/* ---- arithmetic ---- */

/* However large tables are, what a record moves is the steps, and a divisor is never 0. */
static void divisors_fit(void **state)
{
    (void)state;
    for (int64_t moved = 1; moved < INT64_C(1) << 61; moved = 3 * moved + 1) {
        tmi_error_grid g = {.range = INT64_C(1) << 29};
        const tmi_error_moves moves = {.moved = moved, .within = moved, .overlap = 5, .touched = 10};
        tmi_unit_squares.settle(&g, &moves, NULL);
        assert_true(g.divisor > 0 && g.blocks == 1 && g.shift >= 0);
        const double claimed = ldexp((double)g.divisor, g.shift) * (double)(TMI_ERROR_STEPS - 10);
        assert_true(claimed >= 5 * (double)moved * 0x1p29 * (1 - 1e-12));
        assert_true(claimed <= 5 * (double)moved * 0x1p29 * 1.00001 + (double)TMI_ERROR_STEPS);
    }
    const tmi_error_grid g = {.divisor = 4, .shift = 1, .blocks = 1};
    assert_int_equal(tmi_unit_squares.value((tmi_int128[]){-1}, NULL, &g, NULL), -1); /* rounded down */
    assert_int_equal(tmi_unit_squares.value((tmi_int128[]){15}, NULL, &g, NULL), 1);
    assert_true(tmi_unit_squares.value((tmi_int128[]){(tmi_int128)1 << 100}, NULL, &g, NULL) == TMI_LARGEST_ERROR);
    assert_true(tmi_unit_squares.value((tmi_int128[]){-((tmi_int128)1 << 100)}, NULL, &g, NULL) == -TMI_LARGEST_ERROR);
}

/* Nothing is added up where nothing is known. */
static void unknown_values_count_as_nothing(void **state)
{
    (void)state;
    variable v;
    int32_t c[MOST];
    int64_t range;
    make(&v, &kinds[1], CELLS, 1, -1);
    for (size_t k = 0; k < MOST; k++) v.ends[0][k] = 0;
    assert_true(tmi_unit_squares.combine(c, &range, &v.e) == 0);
    for (size_t k = 0; k < CELLS * v.e.levels; k++) assert_int_equal(c[k], 0);
    assert_int_equal(range, 0);
    v.ends[0][0] = INFINITY;
    assert_true(tmi_unit_squares.combine(c, &range, &v.e) == 0);
    assert_int_equal(c[0], 0);
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(it_is_the_sum_of_squares), cmocka_unit_test(no_neighbour_moves_it_more),
                                       cmocka_unit_test(divisors_fit), cmocka_unit_test(unknown_values_count_as_nothing)};
    return cmocka_run_group_tests(cases, NULL, NULL);
}
