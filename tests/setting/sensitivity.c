/* Sensitivities against their definition: every pair of neighbours of small datasets, under each setting. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

static tamis_number *whole(int64_t x)
{
    tamis_number *z;
    assert_int_equal(tmi_number_ratio(&z, x, 1, NULL), TAMIS_OK);
    return z;
}

static const tamis_setting *setting(const char *name)
{
    const tamis_setting *s = tamis_setting_named(name);
    assert_non_null(s);
    return s;
}

/* ---- a small world ---- */

/* Values a..b and weights w0..w1, all integers; the weights of frame, population and anything are the same here. */
typedef struct world {
    int a, b, w0, w1, cells, rows, units;
    bool left_out, add_remove, design_protected;
} world;

#define CELLS 2

typedef struct vector {
    int x[CELLS];
} vector;

typedef struct vectors {
    vector list[4096];
    size_t count;
} vectors;

static void insert(vectors *set, vector v)
{
    for (size_t i = 0; i < set->count; i++)
        if (memcmp(&set->list[i], &v, sizeof v) == 0) return;
    assert_true(set->count < sizeof set->list / sizeof *set->list);
    set->list[set->count++] = v;
}

/* What a unit of weight 1 can add with 1 to `rows` rows. */
static void unit_vectors(vectors *set, const world *w)
{
    size_t begin = 0;
    set->count = 0;
    for (int row = 0; row < w->rows; row++) {
        size_t end = set->count;
        for (size_t i = begin; i < (row == 0 ? 1 : end); i++) {
            vector base = row == 0 ? (vector){{0}} : set->list[i];
            for (int cell = 0; cell < w->cells; cell++) {
                for (int x = w->a; x <= w->b; x++) {
                    vector v = base;
                    v.x[cell] += x;
                    insert(set, v);
                }
            }
        }
    }
}

static vector combine(vector u, int p, vector v, int q)
{
    vector z;
    for (int i = 0; i < CELLS; i++) z.x[i] = p * u.x[i] + q * v.x[i];
    return z;
}

/* The changes that one unit can make. */
static void own_changes(vectors *changes, const world *w, const tamis_setting *s)
{
    static vectors set;
    vector none = {{0}};
    unit_vectors(&set, w);
    if (w->left_out || s->may_be_absent) insert(&set, none);
    changes->count = 0;
    for (size_t i = 0; i < set.count; i++) {
        for (int p = w->w0; p <= w->w1; p++) {
            if (w->add_remove) insert(changes, combine(set.list[i], p, none, 0));
            for (size_t j = 0; j < set.count && !w->add_remove; j++) {
                for (int q = w->w0; q <= w->w1; q++) {
                    if (s->given == TAMIS_SAMPLE && p != q) continue;
                    insert(changes, combine(set.list[i], p, set.list[j], -q));
                }
            }
        }
    }
}

typedef struct worst {
    int64_t l1, l2_squared, largest;
} worst;

static void look(worst *z, vector v)
{
    int64_t l1 = 0, l2 = 0;
    for (int i = 0; i < CELLS; i++) {
        int64_t size = llabs(v.x[i]);
        l1 += size;
        l2 += size * size;
        if (size > z->largest) z->largest = size;
    }
    if (l1 > z->l1) z->l1 = l1;
    if (l2 > z->l2_squared) z->l2_squared = l2;
}

static worst brute_force(const world *w, const tamis_setting *s)
{
    static vectors changes, others, next;
    worst z = {0};
    own_changes(&changes, w, s);
    for (int unit = 1; w->design_protected && unit < w->units; unit++) {
        unit_vectors(&others, w);
        next.count = 0;
        for (size_t i = 0; i < others.count; i++)
            for (int by = w->w0 - w->w1; by <= w->w1 - w->w0; by++)
                for (size_t j = 0; j < changes.count; j++) {
                    vector v = combine(others.list[i], by, changes.list[j], 1);
                    if (unit + 1 == w->units) look(&z, v);
                    else insert(&next, v);
                }
        changes = next;
    }
    if (!w->design_protected || w->units == 1)
        for (size_t i = 0; i < changes.count; i++) look(&z, changes.list[i]);
    return z;
}

static tamis_status ask(tamis_sensitivity *z, const world *w, const tamis_setting *s, tamis_estimator estimator, tamis_error *err)
{
    tamis_number *a = whole(w->a), *b = whole(w->b), *w0 = whole(w->w0), *w1 = whole(w->w1);
    tamis_contribution c = {.values = {a, b},
                            .weights = {{w0, w1}},
                            .left_out = w->left_out,
                            .add_remove = w->add_remove,
                            .design_protected = w->design_protected,
                            .units = w->units,
                            .rows_per_unit = w->rows,
                            .cells = w->cells};
    tamis_status status = tamis_sensitivity_of(z, s, estimator, &c, err);
    tamis_number_free(a);
    tamis_number_free(b);
    tamis_number_free(w0);
    tamis_number_free(w1);
    return status;
}

static void assert_total(const world *w, const tamis_setting *s)
{
    worst z = brute_force(w, s);
    tamis_sensitivity found;
    assert_int_equal(ask(&found, w, s, TAMIS_HT_TOTAL, NULL), TAMIS_OK);
    if (tmi_number_compare_int(found.l1, z.l1) != 0 || tmi_number_compare_int(found.l2_squared, z.l2_squared) != 0 ||
        tmi_number_compare_int(found.largest, z.largest) != 0)
        fail_msg("%s: a %d b %d w %d..%d cells %d rows %d units %d left_out %d add %d protected %d", s->name, w->a, w->b, w->w0,
                 w->w1, w->cells, w->rows, w->units, w->left_out, w->add_remove, w->design_protected);
    tamis_sensitivity_clear(&found);
}

/* Every setting, one and two cells, one and two rows a unit, weights equal and not, values of either sign. */
static void totals_are_exact(void **state)
{
    static const int ranges[][2] = {{-1, 2}, {1, 2}, {-2, -1}, {0, 1}, {1, 1}};
    (void)state;
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        for (size_t r = 0; r < 5; r++) {
            for (int flags = 0; flags < 16; flags++) {
                world w = {.a = ranges[r][0],
                           .b = ranges[r][1],
                           .w0 = 1,
                           .w1 = flags & 8 ? 1 : 3,
                           .cells = 1 + (flags & 1),
                           .rows = 1 + (flags >> 1 & 1),
                           .units = 3,
                           .left_out = flags & 4};
                assert_total(&w, &tamis_settings()[i]);
                w.add_remove = true;
                assert_total(&w, &tamis_settings()[i]);
            }
        }
    }
}

static void totals_are_exact_when_weights_move(void **state)
{
    static const int ranges[][2] = {{-1, 2}, {1, 2}, {-2, -1}};
    static const struct {
        int cells, rows, units;
    } sizes[] = {{1, 1, 3}, {2, 1, 2}, {1, 2, 2}, {1, 1, 1}};
    (void)state;
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &tamis_settings()[i];
        for (size_t r = 0; r < 3 && s->may_protect_design; r++) {
            for (size_t k = 0; k < 4; k++) {
                for (int flags = 0; flags < 4; flags++) {
                    world w = {.a = ranges[r][0],
                               .b = ranges[r][1],
                               .w0 = 1,
                               .w1 = 2,
                               .cells = sizes[k].cells,
                               .rows = sizes[k].rows,
                               .units = sizes[k].units,
                               .left_out = flags & 1,
                               .add_remove = flags & 2,
                               .design_protected = true};
                    assert_total(&w, s);
                }
            }
        }
    }
}

/* ---- Hajek ---- */

typedef struct record {
    int w, x, cell;
} record;

static void shares(double z[CELLS], const record *r, int n)
{
    double all = 0;
    z[0] = z[1] = 0;
    for (int i = 0; i < n; i++) {
        all += r[i].w;
        z[r[i].cell] += (double)r[i].w * r[i].x;
    }
    for (int i = 0; i < CELLS; i++) z[i] /= all;
}

static record record_of(const world *w, int code)
{
    int weights = w->w1 - w->w0 + 1, values = w->b - w->a + 1;
    return (record){w->w0 + code % weights, w->a + code / weights % values, code / weights / values};
}

/* The largest distances of shares over all samples of n records; `moving`: all weights may be others afterwards. */
static void hajek_worst(double z[3], const world *w)
{
    int weights = w->w1 - w->w0 + 1, kinds = weights * (w->b - w->a + 1) * w->cells, samples = 1, afters = kinds;
    for (int i = 0; i < w->units; i++) samples *= kinds;
    for (int i = 1; i < w->units && w->design_protected; i++) afters *= weights;
    z[0] = z[1] = z[2] = 0;
    for (int code = 0; code < samples; code++) {
        record before[3], after[3];
        for (int i = 0, rest = code; i < w->units; i++, rest /= kinds) before[i] = record_of(w, rest % kinds);
        for (int next = 0; next < afters; next++) {
            memcpy(after, before, sizeof after);
            after[0] = record_of(w, next % kinds);
            for (int i = 1, rest = next / kinds; i < w->units && w->design_protected; i++, rest /= weights)
                after[i].w = w->w0 + rest % weights;
            double p[CELLS], q[CELLS], one, two;
            shares(p, before, w->units);
            shares(q, after, w->units);
            one = fabs(p[0] - q[0]);
            two = fabs(p[1] - q[1]);
            z[0] = fmax(z[0], one + two);
            z[1] = fmax(z[1], one * one + two * two);
            z[2] = fmax(z[2], fmax(one, two));
        }
    }
}

static void hajek_means_are_exact(void **state)
{
    static const int ranges[][2] = {{-1, 2}, {0, 2}, {1, 1}, {-2, -1}};
    const tamis_setting *s = setting("sample given population");
    (void)state;
    for (size_t r = 0; r < 4; r++) {
        for (int units = 1; units <= 3; units++) {
            for (int flags = 0; flags < 8; flags++) {
                world w = {.a = ranges[r][0],
                           .b = ranges[r][1],
                           .w0 = 1,
                           .w1 = flags & 2 ? 1 : 3,
                           .cells = 1 + (flags & 1),
                           .rows = 1,
                           .units = units,
                           .design_protected = flags & 4};
                if (w.b - w.a > 1 && w.cells == 2 && units == 3 && w.w1 == 3) continue; /* too many samples */
                if (w.cells == 2 && w.design_protected && w.w1 > w.w0) continue;        /* a bound, tested below */
                double z[3];
                tamis_sensitivity found;
                hajek_worst(z, &w);
                assert_int_equal(ask(&found, &w, s, TAMIS_HAJEK_MEAN, NULL), TAMIS_OK);
                assert_true(fabs(tmi_number_nearest(found.l1) - z[0]) < 1e-12);
                assert_true(fabs(tmi_number_nearest(found.l2_squared) - z[1]) < 1e-12);
                assert_true(fabs(tmi_number_nearest(found.largest) - z[2]) < 1e-12);
                tamis_sensitivity_clear(&found);
            }
        }
    }
}

/* Where records may be left out, all others may be: a mean of one record alone moves over its whole range. */
static void hajek_means_of_one_record(void **state)
{
    static const world left_out = {.a = -1, .b = 2, .w0 = 1, .w1 = 1, .cells = 1, .rows = 1, .units = 3, .left_out = true},
                       added = {.a = -1, .b = 2, .w0 = 1, .w1 = 1, .cells = 1, .rows = 1, .units = 3, .add_remove = true},
                       plain = {.a = -1, .b = 2, .w0 = 1, .w1 = 1, .cells = 1, .rows = 1, .units = 3};
    const struct {
        const world *w;
        const char *setting;
    } cases[] = {{&left_out, "sample given population"},
                 {&added, "sample given population"},
                 {&plain, "respondents given frame"}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tamis_sensitivity found;
        assert_int_equal(ask(&found, cases[i].w, setting(cases[i].setting), TAMIS_HAJEK_MEAN, NULL), TAMIS_OK);
        assert_int_equal(tmi_number_compare_int(found.l1, 3), 0);
        tamis_sensitivity_clear(&found);
    }
}

/* With several cells or rows and weights that move: its range, which nothing exceeds. */
static void hajek_tables_with_moving_weights_are_bounded(void **state)
{
    world w = {.a = 1, .b = 2, .w0 = 1, .w1 = 3, .cells = 2, .rows = 1, .units = 2, .design_protected = true};
    tamis_sensitivity found;
    double z[3];
    (void)state;
    hajek_worst(z, &w);
    assert_int_equal(ask(&found, &w, setting("sample given nothing"), TAMIS_HAJEK_MEAN, NULL), TAMIS_OK);
    assert_true(tmi_number_compare_int(found.l1, 4) == 0 && z[0] <= 4);
    assert_true(tmi_number_compare_int(found.largest, 2) == 0 && z[2] <= 2);
    tamis_sensitivity_clear(&found);
}

/* A mean of many records with weights that move: the bisection finds the peak that a scan finds. */
static void the_peak_of_moving_weights_is_found(void **state)
{
    (void)state;
    for (int n = 1; n <= 40; n++) {
        world w = {.a = 0, .b = 1, .w0 = 1, .w1 = 1 + n % 5, .cells = 1, .rows = 1, .units = n, .design_protected = true};
        tamis_sensitivity found;
        double most = 0;
        for (int k = 0; k < n; k++) {
            double up = (k + 1.0) * w.w1 / ((k + 1.0) * w.w1 + n - 1 - k), down = k / (k + (double)(n - k) * w.w1);
            most = fmax(most, up - down);
        }
        assert_int_equal(ask(&found, &w, setting("frame given nothing"), TAMIS_HAJEK_MEAN, NULL), TAMIS_OK);
        assert_true(fabs(tmi_number_nearest(found.l1) - most) < 1e-12);
        tamis_sensitivity_clear(&found);
    }
}

/* ---- the ten settings differ ---- */

/* Weights 2..3 in the sample, 2..4 in the frame, 2..5 in the population, 2..6 anywhere; values 1..2, ten units. */
static tamis_status in_the_small_country(tamis_sensitivity *z, const tamis_setting *s, bool design_protected, tamis_error *err)
{
    tamis_number *n[7];
    for (int i = 0; i < 7; i++) n[i] = whole(i);
    tamis_contribution c = {.values = {n[1], n[2]},
                            .weights = {{n[2], n[6]}, {n[2], n[5]}, {n[2], n[4]}, {n[2], n[3]}},
                            .design_protected = design_protected,
                            .units = 10,
                            .rows_per_unit = 1,
                            .cells = 1};
    tamis_status status = tamis_sensitivity_of(z, s, TAMIS_HT_TOTAL, &c, err);
    for (int i = 0; i < 7; i++) tamis_number_free(n[i]);
    return status;
}

/* For each setting: L1 with public and with protected strata (-1: refused), and whether outsiders get a number. No two
 * rows are alike, so every setting differs from its neighbours in a number or in a refusal. */
static void every_setting_has_its_own_answer(void **state)
{
    static const struct {
        const char *name;
        int64_t open, closed;
        int outsider;
    } rows[] = {
        {"population given nothing", 8, 12 + 9 * 4 * 2, 1}, /* 4 * 2 - 0;  6 * 2 - 0 */
        {"frame given nothing", 6, 10 + 9 * 4 * 2, 1},      /* 4 * 2 - 2 * 1;  6 * 2 - 2 * 1 */
        {"frame given population", 6, 8 + 9 * 3 * 2, 1},    /* 5 * 2 - 2 * 1 */
        {"sample given nothing", 6, 10 + 9 * 4 * 2, 0},
        {"sample given population", 6, 8 + 9 * 3 * 2, 0},
        {"sample given frame", 6, -1, 0},
        {"respondents given nothing", 8, 12 + 9 * 4 * 2, 0},
        {"respondents given population", 8, 10 + 9 * 3 * 2, 0},
        {"respondents given frame", 8, -1, 0},
        {"respondents given sample", 6, -1, 0}, /* 3 * max(2, 1) */
    };
    (void)state;
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &tamis_settings()[i];
        tamis_sensitivity z;
        tamis_error err;
        assert_string_equal(s->name, rows[i].name);
        assert_int_equal(in_the_small_country(&z, s, false, &err), TAMIS_OK);
        assert_int_equal(tmi_number_compare_int(z.l1, rows[i].open), 0);
        tamis_sensitivity_clear(&z);
        tamis_status status = in_the_small_country(&z, s, true, &err);
        assert_int_equal(status, rows[i].closed < 0 ? TAMIS_REFUSED : TAMIS_OK);
        if (status == TAMIS_OK) assert_int_equal(tmi_number_compare_int(z.l1, rows[i].closed), 0);
        else assert_true(!z.l1 && strstr(err.message, "given: population"));
        tamis_sensitivity_clear(&z);
        assert_int_equal(tamis_setting_outsider(s, 1, 0, NULL) == TAMIS_OK, rows[i].outsider);
    }
    for (size_t i = 0; i < TAMIS_SETTINGS; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(rows[i].open != rows[j].open || rows[i].closed != rows[j].closed ||
                        rows[i].outsider != rows[j].outsider ||
                        tamis_settings()[i].size_is_public != tamis_settings()[j].size_is_public);
}

/* ---- the paper ---- */

/* 4.5.2: |max wx - min wx| bounds pairs that differ in one record, not all pairs of samples from one frame. */
static void the_paper_bounds_single_changes_only(void **state)
{
    static const int w[] = {1, 2, 4}, x[] = {1, 3, 2};
    int one = 0, any = 0, high = 0, low = 99; /* all samples of two of three units */
    (void)state;
    for (int i = 0; i < 3; i++) {
        high = w[i] * x[i] > high ? w[i] * x[i] : high;
        low = w[i] * x[i] < low ? w[i] * x[i] : low;
        for (int j = 0; j < 3; j++) {
            if (i == j) continue;
            int change = abs(w[i] * x[i] - w[j] * x[j]); /* the third unit stays */
            if (change > one) one = change;
        }
    }
    assert_int_equal(one, high - low); /* attained */
    for (int a = 0; a < 4; a++) {      /* four units 1, 1, 8, 8: {1, 1} and {8, 8} differ by twice the bound */
        static const int wx[] = {1, 1, 8, 8};
        for (int b = 0; b < a; b++)
            for (int c = 0; c < 4; c++)
                for (int d = 0; d < c; d++)
                    if (abs(wx[a] + wx[b] - wx[c] - wx[d]) > any) any = abs(wx[a] + wx[b] - wx[c] - wx[d]);
    }
    assert_int_equal(any, 2 * (8 - 1));
}

/* A number as text, for contributions in exact decimals. */
static void assert_exact(const tamis_number *x, const char *expected)
{
    char *written;
    assert_int_equal(tamis_number_write(&written, x, NULL), TAMIS_OK);
    assert_string_equal(written, expected);
    tamis_free(written);
}

/* The two bounds of 4.5.2 in exact fractions: frame-invariant, and frame-agnostic with n = 200. */
static void bounds_of_4_5_2(void **state)
{
    tamis_number *a = number("-1/2"), *b = number("3"), *w0 = number("10.1"), *w1 = number("30.97"), *N = number("6194");
    tamis_contribution c = {
        .values = {a, b}, .weights = {{w0, w1}}, .units = 200, .rows_per_unit = 1, .cells = 1, .population = N};
    tamis_sensitivity z;
    (void)state;
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HT_TOTAL, &c, NULL), TAMIS_OK);
    assert_exact(z.l1, "21679/200"); /* 30.97 * 3.5 */
    tamis_sensitivity_clear(&z);
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HT_MEAN, &c, NULL), TAMIS_OK);
    assert_exact(z.l1, "7/400"); /* 30.97 * 3.5 / 6194 */
    tamis_sensitivity_clear(&z);
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HAJEK_TOTAL, &c, NULL), TAMIS_OK);
    assert_exact(z.l1, "67139863/204087"); /* 6194 * 3.5 * 30.97 / (199 * 10.1 + 30.97) */
    tamis_sensitivity_clear(&z);
    c.design_protected = 1;
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given nothing"), TAMIS_HT_TOTAL, &c, NULL), TAMIS_OK);
    assert_exact(z.l1, "2513557/200"); /* + 199 * 20.87 * 3 */
    tamis_sensitivity_clear(&z);
    tamis_number_free(a);
    tamis_number_free(b);
    tamis_number_free(w0);
    tamis_number_free(w1);
    tamis_number_free(N);
}

/* 4.4: within strata the range is smaller than across them. */
static void strata_reduce_the_sensitivity(void **state)
{
    tamis_number *n[6];
    tamis_sensitivity z;
    (void)state;
    for (int i = 0; i < 6; i++) n[i] = whole((int64_t[]){0, 10, 100, 120, 1, 5}[i]);
    tamis_contribution strata[] = {
        {.values = {n[0], n[1]}, .weights = {{n[5], n[5]}}, .units = 4, .rows_per_unit = 1, .cells = 1}, /* 5 * 10 */
        {.values = {n[2], n[3]}, .weights = {{n[4], n[4]}}, .units = 3, .rows_per_unit = 1, .cells = 1}, /* 1 * 20 */
    };
    assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given frame"), strata, 2, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_compare_int(z.l1, 50), 0);
    assert_int_equal(tmi_number_compare_int(z.l2_squared, 2500), 0);
    assert_int_equal(tmi_number_compare_int(z.largest, 50), 0);
    tamis_sensitivity_clear(&z);
    const tamis_contribution turned[] = {strata[1], strata[0]}; /* the order of the strata does not matter */
    assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given frame"), turned, 2, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_compare_int(z.l1, 50), 0);
    assert_int_equal(tmi_number_compare_int(z.l2_squared, 2500), 0);
    assert_int_equal(tmi_number_compare_int(z.largest, 50), 0);
    tamis_sensitivity_clear(&z);
    strata[0].design_protected = strata[1].design_protected = 1; /* values 0..120, weights 1..5, seven units */
    assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given population"), strata, 2, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_compare_int(z.l1, 5 * 120 + 6 * 4 * 120), 0);
    tamis_sensitivity_clear(&z);
    tamis_error err;
    assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given frame"), strata, 2, &err), TAMIS_REFUSED);
    tamis_contribution open = strata[1]; /* one stratum of two has no bound: then all have none, in either order */
    open.weights[0] = (tamis_span){0};
    for (int i = 0; i < 2; i++) {
        const tamis_contribution both[] = {i ? open : strata[0], i ? strata[0] : open};
        assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given population"), both, 2, &err), TAMIS_REFUSED);
        assert_non_null(strstr(err.message, "the weights have no bound"));
    }
    strata[0].design_protected = 0;
    assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given population"), strata, 2, &err), TAMIS_INVALID);
    assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given frame"), strata, 0, &err), TAMIS_INVALID);
    assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given frame"), NULL, 2, &err), TAMIS_INVALID);
    assert_int_equal(tamis_sensitivity_of_strata(NULL, setting("sample given frame"), strata, 2, &err), TAMIS_INVALID);
    strata[1].design_protected = 0;
    strata[1].weights[0] = (tamis_span){0};
    assert_int_equal(tamis_sensitivity_of_strata(&z, setting("sample given frame"), strata, 2, &err), TAMIS_REFUSED);
    assert_null(z.l1);
    for (int i = 0; i < 6; i++) tamis_number_free(n[i]);
}

/* ---- what is refused ---- */

static void refuses_what_nothing_bounds(void **state)
{
    tamis_number *one = whole(1), *two = whole(2);
    tamis_contribution c = {.values = {one, two}, .units = 5, .rows_per_unit = 1, .cells = 1};
    tamis_sensitivity z;
    tamis_error err;
    (void)state;
    c.weights[TAMIS_FRAME] = (tamis_span){one, two}; /* known for the frame: of no use where the frame may change */
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HT_TOTAL, &c, &err), TAMIS_OK);
    tamis_sensitivity_clear(&z);
    c.design_protected = 1;
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given nothing"), TAMIS_HT_TOTAL, &c, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "given: frame"));
    tamis_contribution unbounded = {.values = {one, two}, .units = 5, .rows_per_unit = 1, .cells = 1};
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HT_TOTAL, &unbounded, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "declare a largest weight"));
    assert_null(strstr(err.message, "given: frame")); /* that is what was chosen */
    c.weights[TAMIS_NOTHING] = (tamis_span){one, two};
    c.units = 0;
    assert_int_equal(tamis_sensitivity_of(&z, setting("frame given nothing"), TAMIS_HT_TOTAL, &c, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "{protect: sample, given: frame}"));
    assert_int_equal(tamis_sensitivity_of(&z, setting("respondents given nothing"), TAMIS_HT_TOTAL, &c, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "{protect: respondents, given: frame}"));
    assert_int_equal(tamis_sensitivity_of(&z, setting("frame given nothing"), TAMIS_HAJEK_MEAN, &c, &err), TAMIS_OK);
    assert_int_equal(tmi_number_compare_int(z.l1, 1), 0);
    tamis_sensitivity_clear(&z);
    tamis_number_free(one);
    tamis_number_free(two);
}

static void refuses_bad_input(void **state)
{
    tamis_number *zero = whole(0), *one = whole(1), *two = whole(2), *minus = whole(-1);
    const tamis_contribution good = {
        .values = {one, two}, .weights = {{one, two}}, .units = 5, .rows_per_unit = 1, .cells = 1, .population = two};
    tamis_contribution bad[11];
    static const char *const names[] = {
        "values",        "values", "weights[nothing]", "weights[nothing]", "weights[sample]", "units", "units",
        "rows_per_unit", "cells",  "population",       "population"};
    (void)state;
    for (size_t i = 0; i < 11; i++) bad[i] = good;
    bad[0].values.least = NULL;
    bad[1].values = (tamis_span){two, one};
    bad[2].weights[0].most = NULL;
    bad[3].weights[0].least = minus;
    bad[4].weights[3] = (tamis_span){two, one};
    bad[5].units = -1;
    bad[6].units = INT64_MAX;
    bad[7].rows_per_unit = 0;
    bad[8].cells = 0;
    bad[9].population = NULL;
    bad[10].population = zero;
    tamis_sensitivity z;
    tamis_error err;
    for (size_t i = 0; i < 11; i++) {
        assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HT_MEAN, &bad[i], &err), TAMIS_INVALID);
        assert_int_equal(strncmp(err.message, names[i], strlen(names[i])), 0);
        assert_true(!z.l1 && !z.l2_squared && !z.largest);
    }
    tamis_contribution weightless = good;
    weightless.weights[0].least = zero;
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HAJEK_MEAN, &weightless, &err), TAMIS_INVALID);
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HT_TOTAL, &weightless, &err), TAMIS_OK);
    tamis_sensitivity_clear(&z);
    assert_int_equal(tamis_sensitivity_of(&z, NULL, TAMIS_HT_TOTAL, &good, &err), TAMIS_INVALID);
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HT_TOTAL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_sensitivity_of(&z, setting("sample given frame"), (tamis_estimator)9, &good, &err), TAMIS_INVALID);
    assert_int_equal(tamis_sensitivity_of(NULL, setting("sample given frame"), TAMIS_HT_TOTAL, &good, &err), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_sensitivity_of(&z, setting("sample given frame"), TAMIS_HAJEK_TOTAL, &good, NULL),
                           assert_true(!z.l1 && !z.l2_squared && !z.largest));
    tamis_sensitivity_clear(&z);
    tamis_sensitivity_clear(NULL);
    tamis_number_free(zero);
    tamis_number_free(one);
    tamis_number_free(two);
    tamis_number_free(minus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_exact),
        cmocka_unit_test(totals_are_exact_when_weights_move),
        cmocka_unit_test(hajek_means_are_exact),
        cmocka_unit_test(hajek_means_of_one_record),
        cmocka_unit_test(hajek_tables_with_moving_weights_are_bounded),
        cmocka_unit_test(the_peak_of_moving_weights_is_found),
        cmocka_unit_test(every_setting_has_its_own_answer),
        cmocka_unit_test(the_paper_bounds_single_changes_only),
        cmocka_unit_test(bounds_of_4_5_2),
        cmocka_unit_test(strata_reduce_the_sensitivity),
        cmocka_unit_test(refuses_what_nothing_bounds),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
