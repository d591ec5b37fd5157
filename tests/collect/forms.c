/* Counts of several positions, whole reports and categories, against their definitions: every answer of everybody, every
 * report. */
#include "tests/test.h"

#include "collect/anonymous/blanket.h"
#include "collect/anonymous/categories.h"
#include "collect/anonymous/clones.h"
#include "collect/anonymous/randomizer.h"
#include "collect/anonymous/reports.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"

#define KEYS 4096

/* ---- by definition, in doubles: sums of positive numbers, to 12 digits ---- */

static double lie_of(const tamis_reports *r, bool one) { return tmi_number_nearest(one ? r->lie_one : tmi_lie_zero(r)); }

static double probability(const tamis_reports *r, int answer, int report)
{
    double p = 1;
    if (r->form == TAMIS_REPORT_CATEGORIES)
        return answer == report ? 1 - lie_of(r, true) : lie_of(r, true) / (double)(r->positions - 1);
    for (int i = 0; i < r->positions; i++) {
        bool one = answer >> i & 1, reported = report >> i & 1;
        p *= one == reported ? 1 - lie_of(r, one) : lie_of(r, one);
    }
    return p;
}

/* What is published of one report, such that what is published of all is the sum: 16 bits per report would overflow, 6 reports
 * do not. */
static int64_t key(const tamis_reports *r, int report)
{
    int64_t z = 0;
    if (r->form != TAMIS_REPORT_COUNTS) return INT64_C(1) << (3 * report);
    for (int i = 0; i < r->positions; i++)
        if (report >> i & 1) z += INT64_C(1) << (3 * i);
    return z;
}

typedef struct outcome {
    int64_t key;
    double p[2];
} outcome;

static size_t outcomes(outcome *list, const tamis_reports *r, const double (*law)[8], int kinds, const int *answers, int other)
{
    size_t count = 0;
    int n = (int)r->reports, reports[8] = {0};
    for (;;) {
        double p = 1, q = 1;
        int64_t k = 0;
        for (int i = 0; i < n; i++) {
            p *= law[answers[i]][reports[i]];
            q *= law[i == 0 ? other : answers[i]][reports[i]];
            k += key(r, reports[i]);
        }
        size_t j = 0;
        while (j < count && list[j].key != k) j++;
        if (j == count) list[count++] = (outcome){.key = k};
        assert_true(count < KEYS);
        list[j].p[0] += p;
        list[j].p[1] += q;
        int i = 0;
        while (i < n && ++reports[i] == kinds) reports[i++] = 0;
        if (i == n) return count;
    }
}

static bool is_answer(const tamis_reports *r, int x)
{
    int ones = __builtin_popcount((unsigned)x);
    return r->form == TAMIS_REPORT_CATEGORIES || r->ones == 0 || (r->exactly ? ones == r->ones : ones <= r->ones);
}

static double by_definition(const tamis_reports *r, double e)
{
    static outcome list[KEYS];
    int kinds = r->form == TAMIS_REPORT_CATEGORIES ? (int)r->positions : 1 << r->positions, answers[8] = {0}, n = (int)r->reports;
    double delta = 0, law[8][8];
    assert_true(kinds <= 8);
    for (int x = 0; x < kinds; x++)
        for (int y = 0; y < kinds; y++) law[x][y] = probability(r, x, y);
    for (;;) {
        bool possible = true;
        for (int i = 0; i < n; i++) possible &= is_answer(r, answers[i]) && (i < 2 || answers[i] >= answers[i - 1]);
        for (int other = 0; possible && other < kinds; other++) {
            if (!is_answer(r, other) || other == answers[0]) continue;
            double sum = 0;
            size_t count = outcomes(list, r, law, kinds, answers, other);
            for (size_t j = 0; j < count; j++) sum += fmax(0, list[j].p[0] - e * list[j].p[1]);
            delta = fmax(delta, sum);
        }
        int i = 0;
        while (i < n && ++answers[i] == kinds) answers[i++] = 0;
        if (i == n) return delta;
    }
}

static const struct {
    tamis_report_form form;
    int reports, positions, ones;
    const char *u, *v;
    int exactly;
} collections[] = {
    {TAMIS_REPORT_COUNTS, 2, 2, 0, "1/4", NULL, 0},     {TAMIS_REPORT_COUNTS, 3, 2, 1, "1/5", NULL, 0},
    {TAMIS_REPORT_COUNTS, 3, 2, 0, "1/2", "1/10", 0},   {TAMIS_REPORT_COUNTS, 2, 3, 1, "1/3", "1/4", 0},
    {TAMIS_REPORT_WHOLE, 3, 2, 0, "1/10", NULL, 0},     {TAMIS_REPORT_WHOLE, 3, 2, 1, "1/4", NULL, 0},
    {TAMIS_REPORT_WHOLE, 3, 2, 0, "1/2", "1/10", 0},    {TAMIS_REPORT_WHOLE, 2, 3, 1, "1/3", "1/5", 0},
    {TAMIS_REPORT_WHOLE, 3, 2, 1, "1/2", "1/10", 1},    {TAMIS_REPORT_WHOLE, 2, 3, 2, "1/3", "1/5", 1},
    {TAMIS_REPORT_CATEGORIES, 4, 3, 0, "1/4", NULL, 0}, {TAMIS_REPORT_CATEGORIES, 3, 4, 0, "1/2", NULL, 0},
    {TAMIS_REPORT_COUNTS, 4, 2, 1, "1/2", "1/10", 1},   {TAMIS_REPORT_COUNTS, 3, 3, 1, "1/8", "2/5", 1},
    {TAMIS_REPORT_COUNTS, 3, 3, 2, "1/2", "1/10", 1},
};
static const char *const losses[] = {"0", "0.2", "0.7", "1.5"};

static tamis_reports collection(size_t i)
{
    return (tamis_reports){.reports = collections[i].reports,
                           .form = collections[i].form,
                           .positions = collections[i].positions,
                           .ones = collections[i].ones,
                           .exactly = collections[i].exactly,
                           .lie_one = number(collections[i].u),
                           .lie_zero = collections[i].v ? number(collections[i].v) : NULL};
}

static void forget(tamis_reports *r)
{
    tamis_number_free((tamis_number *)(uintptr_t)r->lie_one);
    tamis_number_free((tamis_number *)(uintptr_t)r->lie_zero);
}

static void every_form_by_the_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        tamis_reports r = collection(i);
        bool exact = r.form != TAMIS_REPORT_COUNTS;
        for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
            tamis_number *eps = number(losses[k]);
            double wanted = by_definition(&r, exp(strtod(losses[k], NULL)));
            tamis_bound delta;
            assert_int_equal(tamis_anonymous_delta(&delta, &r, eps, NULL), TAMIS_OK);
            bool good = delta.lower <= wanted + 1e-12 && delta.upper >= wanted - 1e-12;
            if (exact) good &= delta.upper - delta.lower < 1e-12;
            else good &= delta.upper <= (r.exactly ? 3 : 1.7) * wanted + 1e-3; /* the worst composition of each position */
            if (!good) fail_msg("%zu at %s: %g in [%g, %g]", i, losses[k], wanted, delta.lower, delta.upper);
            tamis_number_free(eps);
        }
        forget(&r);
    }
}

/* Epsilon at delta: at the lower end some collection has at least delta, at the upper end none has more. */
static void both_ends_of_epsilon(void **state)
{
    tamis_number *delta = number("1/20");
    (void)state;
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        tamis_reports r = collection(i);
        tamis_bound eps;
        assert_int_equal(tamis_anonymous_epsilon(&eps, &r, delta, NULL), TAMIS_OK);
        bool good = eps.lower == 0 || by_definition(&r, exp(eps.lower * (1 - 1e-9))) >= 0.05 - 1e-12;
        good &= by_definition(&r, exp(eps.upper)) <= 0.05 + 1e-12;
        if (!good) fail_msg("%zu: [%.17g, %.17g]", i, eps.lower, eps.upper);
        forget(&r);
    }
    tamis_number_free(delta);
}

/* As many as are sent whatever the answers are: reports times the sum, over all reports, of the smallest probability that an
 * answer gives them, (lie_one + lie_zero)^bits. */
static void reports_that_look_alike(void **state)
{
    tamis_number *one = number("3/8"), *zero = number("1/8"), *quarter = number("1/4");
    tamis_reports r = {.reports = 320, .form = TAMIS_REPORT_WHOLE, .positions = 4, .lie_one = one, .lie_zero = zero};
    (void)state;
    assert_true(tamis_reports_alike(&r) == 20);
    r.positions = 3;
    assert_true(tamis_reports_alike(&r) == 40);
    r.lie_one = quarter;
    assert_true(fabs(tamis_reports_alike(&r) - 320 * 0.375 * 0.375 * 0.375) < 1e-12);
    r.lie_zero = NULL;
    assert_true(tamis_reports_alike(&r) == 40);
    r.positions = 1;
    assert_true(isinf(tamis_reports_alike(&r)));
    r.positions = 4;
    r.form = TAMIS_REPORT_COUNTS;
    assert_true(isinf(tamis_reports_alike(&r)));
    r.reports = 0;
    assert_true(isnan(tamis_reports_alike(&r)) && isnan(tamis_reports_alike(NULL)));
    tamis_number_free(one);
    tamis_number_free(zero);
    tamis_number_free(quarter);
}

/* What an enumeration keeps of its questions changes no answer, in whatever order they are asked. */
static void questions_do_not_change_answers(void **state)
{
    static const char *const order[] = {"0", "1.1", "0.5", "0.9", "0.9", "0.1", "1.6", "0.7", "0.45", "0"};
    (void)state;
    for (size_t i = 4; i < sizeof collections / sizeof *collections; i++) {
        tamis_reports r = collection(i);
        tmi_randomizer table;
        tmi_enumeration *all = NULL, *fresh;
        r.reports = 6;
        if (r.form != TAMIS_REPORT_COUNTS) {
            assert_int_equal(tmi_randomizer_init(&table, &r, NULL), TAMIS_OK);
            assert_int_equal(tmi_enumeration_new(&all, &table, r.reports, NULL), TAMIS_OK);
        }
        for (size_t k = 0; all && k < sizeof order / sizeof *order; k++) {
            tamis_number *eps = number(order[k]);
            const tmi_loss_at at = {.eps = eps};
            tamis_bound kept, alone;
            assert_int_equal(tmi_enumeration_delta(&kept, all, &at, NULL), TAMIS_OK);
            assert_int_equal(tmi_enumeration_new(&fresh, &table, r.reports, NULL), TAMIS_OK);
            assert_int_equal(tmi_enumeration_delta(&alone, fresh, &at, NULL), TAMIS_OK);
            assert_true(kept.lower == alone.lower && kept.upper == alone.upper);
            tmi_enumeration_free(fresh);
            tamis_number_free(eps);
        }
        tmi_enumeration_free(all);
        if (r.form != TAMIS_REPORT_COUNTS) tmi_randomizer_clear(&table);
        forget(&r);
    }
}

/* The bounds that are used when there are many reports, where the truth is known. */
static void bounds_and_attacks_enclose_the_truth(void **state)
{
    (void)state;
    for (size_t i = 4; i < sizeof collections / sizeof *collections; i++)
        for (int n = 2; n <= 8; n += 3) {
            tamis_reports r = collection(i);
            if (r.form == TAMIS_REPORT_COUNTS) {
                forget(&r);
                continue;
            }
            tmi_randomizer table;
            r.reports = n;
            tmi_enumeration *all;
            assert_int_equal(tmi_randomizer_init(&table, &r, NULL), TAMIS_OK);
            assert_int_equal(tmi_enumeration_new(&all, &table, n, NULL), TAMIS_OK);
            for (size_t k = 0; all && k < sizeof losses / sizeof *losses; k++) {
                tamis_number *eps = number(losses[k]);
                tmi_loss_at at = {.eps = eps};
                tamis_bound exact, local, clones;
                double blanket, attack = 0;
                assert_int_equal(tmi_enumeration_delta(&exact, all, &at, NULL), TAMIS_OK);
                assert_int_equal(tmi_blanket_delta(&blanket, &table, n, &at, 0, NULL), TAMIS_OK);
                assert_true(blanket >= exact.lower);
                if (r.form == TAMIS_REPORT_CATEGORIES) {
                    tamis_bound same;
                    assert_int_equal(tmi_categories_delta(&same, r.positions, r.lie_one, n, &at, TMI_ENDS_BOTH, NULL), TAMIS_OK);
                    assert_true(same.upper >= exact.lower && fabs(same.upper - blanket) <= 0.02 * blanket + 1e-6);
                    attack = same.lower;
                } else {
                    assert_int_equal(tmi_attack_delta(&attack, &r, eps, NULL), TAMIS_OK);
                }
                assert_true(attack <= exact.upper);
                assert_int_equal(tamis_anonymous_local(&local, &r, NULL), TAMIS_OK);
                tamis_number *eps0;
                assert_int_equal(tmi_number_double(&eps0, local.upper, NULL), TAMIS_OK);
                for (int year = 2021; year <= 2023; year += 2) {
                    assert_int_equal(tamis_clones_delta(&clones, n, eps0, year, eps, NULL), TAMIS_OK);
                    assert_true(clones.upper >= exact.lower);
                }
                tamis_number_free(eps0);
                tamis_number_free(eps);
            }
            tmi_enumeration_free(all);
            tmi_randomizer_clear(&table);
            forget(&r);
        }
}

/* 2q clones, the share for one bit, are too many for two bits. */
static void clones_of_single_bits_are_unsound_for_two(void **state)
{
    tamis_number *q = number("1/10"), *one = number("1"), *share = number("1/5"), *more = number("81/82"), *less = number("1/82");
    tamis_reports r = {.reports = 4, .form = TAMIS_REPORT_WHOLE, .positions = 2, .lie_one = q};
    tamis_bound exact, wrong;
    (void)state;
    assert_int_equal(tamis_anonymous_exact_delta(&exact, &r, one, NULL), TAMIS_OK);
    tmi_clones clones = {.n = 4, .more = more, .less = less, .share = share};
    assert_int_equal(tmi_clones_delta(&wrong, &clones, &(tmi_loss_at){.exp_eps = one}, NULL), TAMIS_OK);
    assert_true(fabs(exact.upper - 0.77624) < 1e-5 && fabs(wrong.upper - 0.73658) < 1e-5);
    tamis_number *all[] = {q, one, share, more, less};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
}

/* For one bit the blanket is the clone bound of 2023, and the exact eps is at most 0.86 of it. */
static void one_bit_beats_the_blanket(void **state)
{
    static const double values[][2] = {{1, .1487}, {2, .3971}};
    tamis_number *delta = number("1e-6");
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[64];
        snprintf(text, sizeof text, "%.17g", 1 / (1 + exp(values[i][0])));
        tamis_number *q = number(text), *eps0, *eps = NULL;
        tamis_reports r = {.reports = 1000, .positions = 1, .lie_one = q};
        tamis_bound exact, clones;
        tmi_randomizer table;
        double blanket;
        assert_int_equal(tamis_anonymous_epsilon(&exact, &r, delta, NULL), TAMIS_OK);
        assert_true(exact.upper <= 0.86 * values[i][1]);
        snprintf(text, sizeof text, "%.17g", values[i][1]);
        eps = number(text);
        snprintf(text, sizeof text, "%.17g", values[i][0]);
        eps0 = number(text);
        assert_int_equal(tamis_clones_delta(&clones, 1000, eps0, 2023, eps, NULL), TAMIS_OK);
        assert_true(fabs(log(clones.upper / 1e-6)) < 0.02); /* four digits of eps */
        assert_int_equal(tmi_randomizer_init(&table, &r, NULL), TAMIS_OK);
        assert_int_equal(tmi_blanket_delta(&blanket, &table, 1000, &(tmi_loss_at){.eps = eps}, 0, NULL), TAMIS_OK);
        assert_true(blanket >= clones.lower && blanket <= 1.1 * clones.upper);
        tmi_randomizer_clear(&table);
        tamis_number_free(q);
        tamis_number_free(eps0);
        tamis_number_free(eps);
    }
    tamis_number_free(delta);
}

/* With seven bits there is no table, and with two lie probabilities no exchange bound: the bound is that of clones with the
 * share of the whole report. */
static void many_bits_have_clones_of_the_whole_report(void **state)
{
    tamis_number *q = number("2/5"), *zero = number("0.399"), *eps = number("1/2"), *eps0;
    tamis_reports r = {.reports = 300, .form = TAMIS_REPORT_WHOLE, .positions = 7, .lie_one = q, .lie_zero = zero};
    tamis_bound delta, local, clones;
    (void)state;
    assert_int_equal(tamis_anonymous_local(&local, &r, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_double(&eps0, local.upper, NULL), TAMIS_OK);
    assert_int_equal(tamis_anonymous_delta(&delta, &r, eps, NULL), TAMIS_OK);
    assert_int_equal(tamis_clones_delta(&clones, 300, eps0, 2023, eps, NULL), TAMIS_OK);
    assert_true(delta.upper >= clones.lower && delta.upper <= 1.05 * clones.upper && delta.lower > 0 &&
                delta.lower < delta.upper);
    tamis_number_free(q);
    tamis_number_free(zero);
    tamis_number_free(eps);
    tamis_number_free(eps0);
}

/* 1/n E(Z_1 + ... + Z_n)+ over all outcomes of n steps, from the sum so far on. */
static double mean_excess(const double *p, const double *z, int values, int n, int left, double sum)
{
    double mean = 0;
    if (left == 0) return fmax(0, sum) / n;
    for (int i = 0; i < values; i++) mean += p[i] * mean_excess(p, z, values, n, left - 1, sum + z[i]);
    return mean;
}

/* Others who all have the third category attain the blanket or come near it: here neither they nor any other composition do. */
static void the_blanket_is_not_always_attained(void **state)
{
    tamis_number *lie = number("1/2"), *e = number("6/5");
    tamis_reports r = {.reports = 5, .form = TAMIS_REPORT_CATEGORIES, .positions = 3, .lie_one = lie};
    const double E = 1.2, up = (0.5 - E * 0.25) / 0.25, down = (0.25 - E * 0.5) / 0.25;
    const double blanket = mean_excess((const double[]){0.25, 0.25, 0.25, 0.25}, (const double[]){up, down, 1 - E, 0}, 4, 5, 5,
                                       0);
    const double third = mean_excess((const double[]){0.25, 0.25, 0.5}, (const double[]){up, down, (1 - E) / 2}, 3, 5, 5, 0);
    tamis_bound exact, bound;
    (void)state;
    assert_int_equal(tamis_anonymous_exact_delta(&exact, &r, e, NULL), TAMIS_OK);
    assert_true(close_to(exact.upper, third) && exact.upper < 0.99 * blanket);
    assert_int_equal(tmi_categories_delta(&bound, 3, lie, 5, &(tmi_loss_at){.exp_eps = e}, TMI_ENDS_BOTH, NULL), TAMIS_OK);
    assert_true(bound.upper >= blanket * (1 - 1e-12) && bound.upper <= 1.001 * blanket);
    assert_true(bound.lower <= third * (1 + 1e-12) && bound.lower >= 0.97 * third);
    tamis_number_free(lie);
    tamis_number_free(e);
}

/* The blanket of categories against the sum over all outcomes of its steps, and others of a third category likewise. */
static void sums_over_categories(void **state)
{
    static const char *const lies[] = {"1/10", "1/2", "3/5"}, *const exps[] = {"1", "1.05", "6/5", "3/2", "4"};
    (void)state;
    for (int k = 3; k <= 7; k += 2)
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 5; j++)
                for (int n = 1; n <= 7; n++) {
                    tamis_number *lie = number(lies[i]), *e = number(exps[j]);
                    const double E = tmi_number_nearest(e), o = tmi_number_nearest(lie) / (k - 1),
                                 t = 1 - tmi_number_nearest(lie);
                    const double blanket = mean_excess((const double[]){o, o, (k - 2) * o, 1 - k * o},
                                                       (const double[]){t / o - E, 1 - E * t / o, 1 - E, 0}, 4, n, n, 0);
                    const double third = mean_excess((const double[]){o, o, t, (k - 3) * o},
                                                     (const double[]){t / o - E, 1 - E * t / o, (1 - E) * o / t, 1 - E}, 4, n, n,
                                                     0);
                    tamis_bound bound;
                    assert_int_equal(tmi_categories_delta(&bound, k, lie, n, &(tmi_loss_at){.exp_eps = e}, TMI_ENDS_BOTH, NULL),
                                     TAMIS_OK);
                    assert_true(bound.upper >= blanket * (1 - 1e-12) - 1e-15 && bound.upper <= 1.002 * blanket + 1e-15);
                    assert_true(bound.lower <= third * (1 + 1e-12) + 1e-15);
                    tamis_number_free(lie);
                    tamis_number_free(e);
                }
}

/* Reference values of the same sums, in doubles by another program: delta 1e-6. */
static void many_reports_of_categories(void **state)
{
    static const struct {
        int k;
        const char *lie;
        int n;
        double eps;
    } cases[] = {{100, "3/4", 1000000, 0.0123}, {100, "1/2", 1000000, 0.0331}, {100, "3/4", 100000, 0.0427}};
    tamis_number *delta = number("1e-6");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *lie = number(cases[i].lie);
        tamis_reports r = {.reports = cases[i].n, .form = TAMIS_REPORT_CATEGORIES, .positions = cases[i].k, .lie_one = lie};
        tamis_bound eps;
        assert_int_equal(tamis_anonymous_epsilon(&eps, &r, delta, NULL), TAMIS_OK);
        assert_true(fabs(eps.upper / cases[i].eps - 1) < 0.01 && eps.lower > 0.99 * eps.upper && eps.lower <= eps.upper);
        tamis_number_free(lie);
    }
    tamis_number_free(delta);
}

static void positions_that_differ(void **state)
{
    tamis_number *u = number("1/2"), *v = number("1/10"), *delta = number("1e-5");
    tamis_reports r = {.reports = 300, .positions = 10, .lie_one = u, .lie_zero = v};
    tamis_bound local, eps, two;
    (void)state;
    assert_int_equal(tamis_reports_differing(&r), 10);
    assert_int_equal(tamis_anonymous_local(&local, &r, NULL), TAMIS_OK);
    assert_true(local.lower <= 10 * log(5) && local.upper >= 10 * log(5));
    r.ones = 1;
    assert_int_equal(tamis_reports_differing(&r), 2);
    assert_int_equal(tamis_anonymous_local(&local, &r, NULL), TAMIS_OK);
    assert_true(local.lower <= log(9) && local.upper >= log(9)); /* (1/2)/(1/10) (9/10)/(1/2) */
    assert_int_equal(tamis_anonymous_epsilon(&eps, &r, delta, NULL), TAMIS_OK);
    assert_true(eps.lower > 0 && eps.upper <= 1.1 * eps.lower);
    r.exactly = 1; /* the one-hot code of a category */
    assert_int_equal(tamis_reports_differing(&r), 2);
    assert_int_equal(tamis_anonymous_local(&local, &r, NULL), TAMIS_OK);
    assert_true(local.lower <= log(9) && local.upper >= log(9));
    r.ones = 7;
    assert_int_equal(tamis_reports_differing(&r), 6);
    assert_int_equal(tamis_anonymous_local(&local, &r, NULL), TAMIS_OK);
    assert_true(local.lower <= 3 * log(9) && local.upper >= 3 * log(9));
    r.ones = 10;
    assert_int_equal(tamis_reports_differing(&r), 0);
    assert_int_equal(tamis_anonymous_local(&local, &r, NULL), TAMIS_INVALID);
    r.exactly = 0;
    r.ones = 3;
    assert_int_equal(tamis_reports_differing(&r), 6);
    r.ones = 7;
    assert_int_equal(tamis_reports_differing(&r), 10);
    r.positions = 1; /* one position alone is less */
    r.ones = 0;
    assert_int_equal(tamis_anonymous_epsilon(&two, &r, delta, NULL), TAMIS_OK);
    assert_true(two.upper < eps.lower);
    tamis_number_free(u);
    tamis_number_free(v);
    tamis_number_free(delta);
}

static void the_smallest_lie(void **state)
{
    tamis_number *eps = number("0.5"), *delta = number("1e-4"), *loss = number("1");
    tamis_reports r = {.reports = 500, .positions = 1};
    int64_t m;
    (void)state;
    assert_int_equal(tamis_anonymous_lie(&m, &r, 10, eps, delta, NULL), TAMIS_OK);
    for (int less = 0; less < 2; less++) {
        tamis_number *q;
        tamis_bound d;
        assert_int_equal(tmi_number_ratio(&q, m - less, 1024, NULL), TAMIS_OK);
        r.lie_one = q;
        assert_int_equal(tamis_anonymous_delta(&d, &r, eps, NULL), TAMIS_OK);
        assert_true(less ? d.lower > 1e-4 : d.upper <= 1e-4);
        tamis_number_free(q);
    }
    assert_int_equal(tamis_anonymous_lie_local(&m, &r, 16, loss, NULL), TAMIS_OK);
    assert_int_equal(m, (int64_t)ceil(65536 / (1 + exp(1))));
    assert_int_equal(tamis_anonymous_lie(&m, &r, 2, delta, delta, NULL), TAMIS_UNABLE);
    assert_int_equal(m, 0);
    tamis_number_free(eps);
    tamis_number_free(delta);
    tamis_number_free(loss);
}

static void reports_of_a_sample(void **state)
{
    tamis_number *q = number("1/4"), *delta = number("1e-6"), *up = number("4e-5"), *rate = number("1/40"), *loss;
    tamis_number *unequal[] = {rate, q};
    tamis_reports r = {.reports = 500, .positions = 1, .lie_one = q};
    tamis_design *srs, *bernoulli, *poisson, *census, *everybody;
    tamis_bound eps, sample, pop, none;
    (void)state;
    assert_int_equal(tamis_design_srs(&srs, 20000, 500, NULL), TAMIS_OK);
    assert_int_equal(tamis_design_bernoulli(&bernoulli, 20000, rate, NULL), TAMIS_OK);
    assert_int_equal(tamis_design_poisson(&poisson, (const tamis_number *const *)unequal, 2, NULL), TAMIS_OK);
    assert_int_equal(tamis_design_census(&census, 500, NULL), TAMIS_OK);
    assert_int_equal(tamis_design_srs(&everybody, 500, 500, NULL), TAMIS_OK);
    assert_int_equal(tamis_anonymous_sample(&eps, &r, srs, delta, NULL), TAMIS_OK);
    assert_int_equal(tamis_anonymous_epsilon(&sample, &r, up, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_double(&loss, sample.upper, NULL), TAMIS_OK);
    assert_int_equal(tamis_amplify_srs(&pop, &none, 20000, 500, loss, up, NULL), TAMIS_OK);
    assert_true(close_to(eps.upper, pop.upper));
    assert_int_equal(tamis_anonymous_sample(&pop, &r, bernoulli, delta, NULL), TAMIS_OK);
    assert_true(pop.upper > eps.upper && pop.upper < 2 * eps.upper);
    assert_int_equal(tamis_anonymous_sample(&pop, &r, poisson, delta, NULL), TAMIS_REFUSED);
    assert_true(pop.lower == 0 && isinf(pop.upper));
    assert_int_equal(tamis_anonymous_sample(&pop, &r, census, delta, NULL), TAMIS_OK); /* a simple random sample of everybody */
    assert_int_equal(tamis_anonymous_sample(&eps, &r, everybody, delta, NULL), TAMIS_OK);
    assert_int_equal(tamis_anonymous_epsilon(&sample, &r, delta, NULL), TAMIS_OK);
    assert_true(pop.upper == eps.upper && pop.upper >= sample.lower);
    r.reports = 499;
    assert_int_equal(tamis_anonymous_sample(&pop, &r, srs, delta, NULL), TAMIS_INVALID);
    tamis_design *designs[] = {srs, bernoulli, poisson, census, everybody};
    for (size_t i = 0; i < 5; i++) tamis_design_free(designs[i]);
    tamis_number *all[] = {q, delta, up, rate, loss};
    for (size_t i = 0; i < 5; i++) tamis_number_free(all[i]);
}

static void every_allocation_may_fail(void **state)
{
    tamis_number *q = number("1/4"), *eps = number("1/2"), *delta = number("1e-2"), *e = number("3/2");
    tamis_reports r = {.reports = 3, .form = TAMIS_REPORT_WHOLE, .positions = 2, .lie_one = q};
    tamis_bound b;
    tamis_error err;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_anonymous_exact_delta(&b, &r, e, &err), assert_true(b.lower == 0 && b.upper == 1));
    EVERY_ALLOCATION_FAILS(tamis_anonymous_delta(&b, &r, eps, &err), assert_true(b.lower == 0 && b.upper == 1));
    r = (tamis_reports){.reports = 60, .form = TAMIS_REPORT_CATEGORIES, .positions = 5, .lie_one = q};
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 4, tamis_anonymous_delta(&b, &r, eps, &err), assert_true(b.lower == 0 && b.upper == 1));
    r = (tamis_reports){.reports = 3, .positions = 2, .lie_one = q};
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 2, tamis_anonymous_epsilon(&b, &r, delta, &err), assert_true(b.lower == 0 && isinf(b.upper)));
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 8, tamis_clones_delta(&b, 20, e, 2023, eps, &err), assert_true(b.lower == 0 && b.upper == 1));
    tamis_number *all[] = {q, eps, delta, e};
    for (size_t i = 0; i < 4; i++) tamis_number_free(all[i]);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_form_by_the_definition),
        cmocka_unit_test(both_ends_of_epsilon),
        cmocka_unit_test(reports_that_look_alike),
        cmocka_unit_test(questions_do_not_change_answers),
        cmocka_unit_test(bounds_and_attacks_enclose_the_truth),
        cmocka_unit_test(clones_of_single_bits_are_unsound_for_two),
        cmocka_unit_test(one_bit_beats_the_blanket),
        cmocka_unit_test(many_bits_have_clones_of_the_whole_report),
        cmocka_unit_test(the_blanket_is_not_always_attained),
        cmocka_unit_test(sums_over_categories),
        cmocka_unit_test(many_reports_of_categories),
        cmocka_unit_test(positions_that_differ),
        cmocka_unit_test(the_smallest_lie),
        cmocka_unit_test(reports_of_a_sample),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
