/* Releases with private bounds: what the first stage counts and costs, the law of what it finds, and that everything after it is
 * that of a plan with the bound that was found. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <tamis/verify.h>
#include <unistd.h>

#include "ledger/ledger.h"
#include "measure/request/bounds.h"
#include "num/number.h"
#include "release/release.h"
#include "rng/noise.h"
#include "schedule/schedule.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ledger/kit.h"
#include "tests/release/array_engine.h"
#include "tests/release/place.h"

#define SRS "srs: {population: 80, sample: 8}"
#define STRATA "stratified: {by: s, within: srs, strata: {p: {population: 90, sample: 4}, q: {population: 30, sample: 4}}}"
#define SUMS "  - {total: x, by: g}\n  - {mean: x}\n"
#define PRIVATE "{from: 0, to: {private: 1/4, beyond: 64}, step: 0.5}"

/* `x` is the column in full, `privacy` what comes after the unit. */
static tamis_status try_plan(tamis_plan **plan, const char *design, const char *privacy, const char *x, const char *statistics,
                             tamis_error *err)
{
    char text[4096];
    const char *coin = strstr(privacy, "rho")     ? "rho: 6000"
                       : strstr(privacy, "delta") ? "epsilon: 6000, delta: 1/2"
                                                  : "epsilon: 6000";
    snprintf(
        text, sizeof text,
        "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\nprivacy: {unit: person, %s}\ncolumns:\n  x: %s\n"
        "  y: {from: 0, to: 9, step: 1}\n  g: {values: [a, b]}\n  h: {values: [u, v, w]}\n  s: {values: [p, q]}\nstatistics:\n%s"
        "budget: {%s}\n",
        design, privacy, x, statistics, coin);
    return tamis_plan_read_text(plan, "p.yaml", text, strlen(text), err);
}

static tamis_plan *private_plan(const char *design, const char *privacy, const char *x, const char *statistics)
{
    tamis_plan *plan;
    tamis_error err = {0};
    if (try_plan(&plan, design, privacy, x, statistics, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

static double value_of(const tamis_number *x) { return tmi_number_nearest(x); }

/* ---- the budget ---- */

static void the_parts_add_up_to_the_budget(void **state)
{
    static const char *const losses[] = {"epsilon: 3", "rho: 1/10", "epsilon: 3, delta: 1e-6",
                                         "id: u, rows_per_unit: 3, epsilon: 3"};
    static const char *const shares[] = {"1/8", "1/3"};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 2; k++) {
            char x[128];
            snprintf(x, sizeof x, "{from: 0, to: {private: %s, beyond: 64}, step: 0.5}", shares[k]);
            tamis_plan *plan = private_plan(SRS, losses[i], x, SUMS "  - {median: y, method: inverse}\n");
            tmi_schedule s;
            assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
            assert_int_equal(s.bound_task_count, 1);
            const tmi_bound_task *t = &s.bound_tasks[0];
            double sum = value_of(t->part);
            for (size_t m = 0; m < s.measurement_count; m++) sum += value_of(s.measurements[m].part);
            for (size_t q = 0; q < s.quantile_task_count; q++) sum += value_of(s.quantile_tasks[q].part);
            assert_true(close_to(sum, value_of(s.spent)));
            if (!s.gaussian) assert_int_equal(tmi_number_compare(s.spent, plan->privacy.loss.epsilon), 0);
            tamis_number *share = number(shares[k]);
            assert_true(close_to(value_of(t->part), value_of(share) * value_of(s.spent)));
            tamis_number_free(share);
            /* what the mechanism loses for a unit, by the rate per row and the rows of a unit */
            const double rows = i == 3 ? 3 : 1, epsilon = value_of(t->rate) * rows;
            if (s.gaussian)
                assert_true(epsilon * epsilon <= 8 * value_of(t->part) && epsilon * epsilon > 7.99 * value_of(t->part));
            else assert_true(close_to(epsilon, value_of(t->part)));
            assert_true((double)t->worth >= 2 / value_of(t->rate) && (double)t->worth < 2 / value_of(t->rate) + 1);
            if (!s.gaussian) { /* in an account of rho: no less than a selection, with everything else */
                tamis_number *all, *tables, *own;
                tmi_bound_task kept = *t;
                assert_int_equal(tmi_schedule_rho(&all, &s, NULL), TAMIS_OK);
                s.bound_task_count = 0;
                assert_int_equal(tmi_schedule_rho(&tables, &s, NULL), TAMIS_OK);
                assert_true(value_of(all) > value_of(tables) + 4 * log(cosh(value_of(kept.part) / 4)) - 1e-9);
                tamis_number_free(all);
                tamis_number_free(tables);
                s.bound_task_count = 1;
                assert_int_equal(tmi_schedule_mu_squared(&own, &s, NULL), TAMIS_OK);
                tamis_number_free(own);
            }
            tmi_schedule_clear(&s);
            tamis_plan_free(plan);
        }
}

/* With epsilon and delta a plan whose tables would have rounded normal noise, which counts as mu^2, has the discrete Gaussian. */
static void a_bound_has_no_mu(void **state)
{
    static const char *const ranges[] = {"{from: 0, to: 64, step: 0.5}", PRIVATE};
    static const tmi_gaussian wanted[] = {TMI_ROUNDED_NORMAL, TMI_DISCRETE_GAUSSIAN};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tamis_plan *plan = private_plan(SRS, "epsilon: 1/2, delta: 1/10", ranges[i],
                                        "  - {total: x}\n  - {count: units, by: [g, h]}\n");
        tmi_schedule s;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(s.gaussian, wanted[i]);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* ---- what is counted ---- */

/* All files of one unit with up to three rows, each of them missing, small, in the middle, large or beyond, of which two count,
 * beside three rows of others: whatever the unit has, the rows above the candidates move within a range of two. */
static void a_unit_moves_the_counts_within_its_rows(void **state)
{
    static const double values[] = {NAN, 0.4, 9, 40, 1e6};
    enum { VALUES = 5, FILES = 1 + VALUES + VALUES * VALUES + VALUES * VALUES * VALUES, MOST = 16 };
    static tmi_int128 above[FILES][MOST];
    tamis_plan *plan = private_plan(SRS, "id: u, rows_per_unit: 2, epsilon: 1", PRIVATE, SUMS);
    tmi_schedule s;
    tamis_rng *rng;
    size_t count = 0, files = 0;
    int widest = 0;
    (void)state;
    bits_from_seed(11);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    tmi_bound_query query;
    assert_int_equal(tmi_bound_query_make(&query, &s, NULL), TAMIS_OK);
    assert_int_equal(tmi_bound_query_draw(&query, rng, NULL), TAMIS_OK); /* the key is the same for both files */
    count = tmi_table_cells(&query.tables[0]);
    assert_int_equal(count, 8); /* 64, 32, ... 1/2: 128 steps and their halves */
    for (size_t rows_of_unit = 0; rows_of_unit <= 3; rows_of_unit++) {
        size_t kinds = 1;
        for (size_t k = 0; k < rows_of_unit; k++) kinds *= VALUES;
        for (size_t kind = 0; kind < kinds; kind++, files++) {
            array_row file[6] = {{.x = 3, .u = "b"}, {.x = 20, .u = "b"}, {.x = 64, .u = "c"}};
            for (size_t k = 0, code = kind; k < rows_of_unit; k++, code /= VALUES)
                file[3 + k] = (array_row){.x = values[code % VALUES], .u = "a"};
            array_engine engine = array_engine_of(file, 3 + rows_of_unit);
            memset(query.truth, 0, count * sizeof *query.truth); /* this engine adds to what is there */
            assert_int_equal(engine.engine.aggregate(&engine.engine, query.answers, &query.request, NULL, NULL), TAMIS_OK);
            tmi_rows_above_candidates(above[files], &query, 0);
            assert_true(above[files][count - 1] == 0);
        }
    }
    assert_int_equal(files, FILES);
    for (size_t a = 0; a < files; a++)
        for (size_t b = 0; b < files; b++) {
            tmi_int128 least = 0, most = 0;
            for (size_t j = 0; j < count; j++) {
                const tmi_int128 d = above[a][j] - above[b][j];
                least = d < least ? d : least;
                most = d > most ? d : most;
            }
            assert_true(most - least <= 2);
            widest = most - least > widest ? (int)(most - least) : widest;
        }
    assert_int_equal(widest, 2);
    tmi_bound_query_clear(&query);
    tmi_schedule_clear(&s);
    tamis_rng_free(rng);
    tamis_plan_free(plan);
}

/* ---- the law ---- */

static const array_row spread[] = {
    {.x = 1, .g = "a", .h = "u"}, {.x = 2, .g = "a", .h = "v"}, {.x = 3, .g = "b", .h = "u"},  {.x = 5, .g = "b", .h = "w"},
    {.x = 6, .g = "b", .h = "w"}, {.x = 7, .g = "a", .h = "w"}, {.x = 33, .g = "b", .h = "v"}, {.x = NAN, .g = "a", .h = "u"},
};

/* What is found in many releases, against the law by its definition: the rows above a candidate are counted here. A share of n
 * answers is off by more than d with probability below 2 exp(-2 n d^2). */
static void what_is_found_has_the_declared_law(void **state)
{
    enum { CANDIDATES = 8 };
    const int runs = test_size(1200, 6000);
    const double off = sqrt(log(2 * CANDIDATES / 1e-11) / (2.0 * runs));
    tamis_plan *plan = private_plan(SRS, "epsilon: 8", PRIVATE, "  - {total: x}\n");
    array_engine engine = array_engine_of(spread, 8);
    double law[CANDIDATES], sum = 0;
    int found[CANDIDATES] = {0};
    (void)state;
    for (int r = 0; r < runs; r++) {
        tamis_release *release;
        bits_from_seed(5000 + (uint64_t)r);
        assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_OK);
        assert_true(release->schedule.plan->bounds[0].found);
        found[release->schedule.plan->bounds[0].halvings]++;
        tamis_release_free(release);
    }
    for (int h = 0; h < CANDIDATES; h++) { /* epsilon 2, so that a doubling is worth 1 row */
        int above = 0;
        for (size_t i = 0; i < 8; i++) above += spread[i].x > 64.0 / (1 << h);
        sum += law[h] = exp(-2.0 * (above - h));
    }
    for (int h = 0; h < CANDIDATES; h++) {
        const double share = (double)found[h] / runs;
        if (fabs(share - law[h] / sum) > off) fail_msg("halvings %d: %g in place of %g", h, share, law[h] / sum);
    }
    assert_true(off < 0.12);
    tamis_plan_free(plan);
}

/* ---- what comes after it ---- */

/* Tables of a schedule as a certificate has them, with parts that add up to a budget of their own. */
static void certify(tmi_certified_tables *c, const tmi_schedule *s)
{
    *c = (tmi_certified_tables){.gaussian = s->gaussian,
                                .separate_strata = s->workload.separate_strata,
                                .shared_classes = s->workload.shared_classes,
                                .clamped = s->sampling.most_clamped,
                                .count = s->measurement_count};
    c->marginals = calloc(c->count, sizeof *c->marginals);
    c->parts = calloc(c->count, sizeof *c->parts);
    for (size_t k = 0; k < c->count; k++) {
        c->marginals[k] = s->measurements[k].marginal;
        c->parts[k] = s->measurements[k].part;
    }
}

/* The tables of the same plan with a public bound, any of the candidates, and the rest of the budget have the same sensitivities,
 * laws and clamps: nothing that is settled before the bound is known depends on it. */
static void a_public_bound_means_the_same_tables(void **state)
{
    static const char *const designs[] = {SRS, "weights: {population: 240}, weight: w, max_weight: 50", STRATA,
                                          "cluster: {by: c, population: 60, sample: 6, smallest: 1, largest: 9}"};
    (void)state;
    for (size_t d = 0; d < 4; d++) {
        tamis_plan *plan = private_plan(designs[d], "epsilon: 4",
                                        "{from: 0, to: {private: 1/4, beyond: 64}, step: 0.5, typical: {mean: 4, sd: 3}}",
                                        SUMS "  - {variance: x}\n");
        tmi_schedule s;
        tmi_certified_tables certified;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        certify(&certified, &s);
        for (int h = 0; h <= s.plan->bounds[0].most; h++) {
            char x[128];
            tmi_schedule other;
            tamis_error err = {0};
            snprintf(x, sizeof x, "{from: 0, to: %g, step: %.17g}", ldexp(64, -h), ldexp(0.5, -h));
            tamis_plan *public = private_plan(designs[d], "epsilon: 3", x, SUMS "  - {variance: x}\n");
            if (tmi_schedule_make(&other, public, &certified, &err) != TAMIS_OK) fail_msg("%s", err.message);
            assert_int_equal(tmi_schedule_set_bound(&s, 0, h, NULL), TAMIS_OK);
            assert_true(other.plan->columns[0].grid.high == s.plan->bounds[0].column.grid.high);
            assert_true(other.plan->columns[0].grid.step == s.plan->bounds[0].column.grid.step);
            assert_true(other.plan->columns[0].grid.to == s.plan->bounds[0].column.grid.to);
            for (size_t k = 0; k < s.measurement_count; k++) {
                const tmi_measurement *a = &s.measurements[k], *b = &other.measurements[k];
                assert_true(a->shift == b->shift && a->high == b->high && a->limit == b->limit && a->numbers == b->numbers &&
                            a->moved == b->moved && a->within == b->within && a->rounded == b->rounded);
                for (size_t l = 0; l < a->strata; l++) {
                    assert_true(a->laws[l].l1 == b->laws[l].l1);
                    assert_int_equal(tmi_number_compare(a->laws[l].l2_squared, b->laws[l].l2_squared), 0);
                    assert_int_equal(tmi_number_compare(a->laws[l].scale, b->laws[l].scale), 0);
                }
            }
            tmi_schedule_clear(&other);
            tamis_plan_free(public);
        }
        free(certified.marginals);
        free(certified.parts);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* With so much epsilon that nothing is left to chance, the total is that of the values clamped at the bound that was found. */
static void values_are_clamped_at_what_was_found(void **state)
{
    tamis_plan *plan = private_plan(SRS, "epsilon: 3000", PRIVATE, "  - {total: x}\n  - {total: y}\n  - {mean: x}\n");
    array_engine engine = array_engine_of(spread, 8);
    tamis_release *r;
    (void)state;
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_OK);
    assert_int_equal(engine.aggregates, 2);
    const tmi_private_bound *bound = &r->schedule.plan->bounds[0];
    const int halvings = bound->halvings; /* a doubling is worth 1 row, and two spare more than two of them at 8 and 1 */
    assert_int_equal(halvings, 3);
    double sum = 0, rows_with = 0;
    for (size_t i = 0; i < 8; i++)
        if (!isnan(spread[i].x)) sum += fmin(spread[i].x, ldexp(64, -halvings)), rows_with++;
    assert_true(fabs(r->results.list[0].estimate - 10 * sum) < 0.05 * sum);
    assert_true(fabs(r->results.list[2].estimate - sum / rows_with) < 0.01 * sum);
    assert_true(r->results.list[2].upper <= ldexp(64, -halvings) + 1e-9); /* nobody can be above it */
    /* one row is above 8: a doubling is worth 1, and log(8 / 0.05) is 5.1 rows of epsilon 750 */
    assert_true(tmi_rows_above(&r->schedule.bound_tasks[0], bound, 0.95) == 4);
    assert_int_equal(tmi_schedule_set_bound(&r->schedule, 0, 0, NULL), TAMIS_OK);
    assert_true(isnan(tmi_rows_above(&r->schedule.bound_tasks[0], bound, 0.95)));
    tamis_release_free(r);
    tamis_plan_free(plan);
}

/* ---- order ---- */

static uint8_t bytes[1 << 20];

static void bits_are_drawn_before_the_data_are_read(void **state)
{
    tamis_plan *plan = private_plan(SRS, "epsilon: 20", PRIVATE, SUMS);
    array_engine engine = array_engine_of(spread, 8);
    tamis_release *r;
    uint32_t word = 1;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)((word = word * 1664525 + 1013904223) >> 24);
    bits_from_bytes(bytes, sizeof bytes);
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_OK);
    assert_int_equal(engine.aggregates, 2);
    assert_int_equal(engine.bits_before, bits_taken());
    const size_t all = bits_taken();
    tamis_release_free(r);
    bits_from_bytes(bytes, all - 8); /* one word less, and no row is read */
    engine.aggregates = 0;
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_SYSTEM);
    assert_null(r);
    assert_int_equal(engine.aggregates, 0);
    bits_from_seed(7);
    tamis_plan_free(plan);
}

/* The same plan again, also in another order, gives back the numbers and the bounds; another guess asks for the same. */
static void a_repeated_release_has_its_bounds(void **state)
{
    static const char two[] = "  - {mean: x}\n  - {mean: y}\n", other[] = "  - {mean: y}\n  - {mean: x}\n";
    tamis_plan *plan = private_plan(SRS, "epsilon: 20", PRIVATE, two), *again = private_plan(SRS, "epsilon: 20", PRIVATE, other);
    array_engine engine = array_engine_of(spread, 8);
    tamis_release *first, *second;
    char *text, *kept;
    int ok;
    (void)state;
    assert_int_equal(tmi_release_with(&first, plan, &engine.engine, &(tmi_run){.ledger = path}, NULL), TAMIS_OK);
    engine.aggregates = 0;
    assert_int_equal(tmi_release_with(&second, again, &engine.engine, &(tmi_run){.ledger = path, .folder = out}, NULL), TAMIS_OK);
    assert_int_equal(engine.aggregates, 0);
    assert_true(tamis_release_is_repeated(second));
    assert_true(second->schedule.plan->bounds[0].found);
    assert_int_equal(second->schedule.plan->bounds[0].halvings, first->schedule.plan->bounds[0].halvings);
    assert_true(first->results.list[0].estimate == second->results.list[1].estimate);
    assert_int_equal(tamis_release_measurements_json(&kept, second, NULL), TAMIS_OK);
    assert_non_null(strstr(kept, "\"halvings\""));
    tamis_free(kept);
    assert_int_equal(tamis_verify_text(&ok, &text, out, NULL, NULL), TAMIS_OK);
    if (!ok) fail_msg("%s", text);
    tamis_free(text);
    tamis_release_free(first);
    tamis_release_free(second);
    tamis_plan_free(plan);
    tamis_plan_free(again);
}

static size_t charges(void)
{
    tamis_ledger *ledger;
    if (access(path, F_OK) != 0) return 0;
    assert_int_equal(tamis_ledger_look(&ledger, path, NULL), TAMIS_OK);
    size_t count = ledger->book.charge_count;
    tamis_ledger_free(ledger);
    return count;
}

static void every_allocation_may_fail(void **state)
{
    tamis_plan *plan = private_plan(SRS, "epsilon: 20", PRIVATE, "  - {total: x}\n");
    array_engine engine = array_engine_of(spread, 8);
    tamis_release *release = NULL;
    size_t charged = 0, uncharged = 0;
    const tmi_run run = {.folder = out, .ledger = path, .again = true};
    (void)state;
    ALLOCATIONS_FAIL(k_ + 20 + k_ / 8, (unlink(path), tmi_release_with(&release, plan, &engine.engine, &run, NULL)), {
        assert_null(release);
        assert_int_equal(access(out, F_OK), -1);
        if (charges() == 1) charged++;
        else uncharged++;
    });
    assert_true(charged > 5 && uncharged > 5);
    tamis_release_free(release);
    tmi_schedule s;
    EVERY_ALLOCATION_FAILS(tmi_schedule_make(&s, plan, NULL, NULL), assert_true(!s.plan && !s.bounded));
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* ---- what is refused ---- */

static void what_needs_a_known_grid_is_refused(void **state)
{
    static const struct {
        const char *statistics, *privacy;
    } cases[] = {
        {"  - {quantile: x, at: [0.5]}\n", "epsilon: 1"},
        {"  - {median: x, method: inverse}\n", "epsilon: 1"},
        {"  - {gini: x}\n", "epsilon: 1"},
        {"  - {share_below: x, line: 9}\n", "epsilon: 1"},
        {"  - {histogram: x, cuts: [4, 8]}\n", "epsilon: 1"},
        {"  - {count: units, by: {x: [4, 8]}}\n", "epsilon: 1"},
        {"  - {share: {x: {from: 0, to: 9}}}\n", "epsilon: 1"},
        {"  - {mean: y, where: {x: {from: 0, to: 9}}}\n", "epsilon: 1"},
        {"  - {correlation: [x, y]}\n", "epsilon: 1"},
        {"  - {regression: {of: y, on: [x]}}\n", "epsilon: 1"},
        {"  - {regression: {of: x, on: [g]}}\n", "epsilon: 1"},
        {"  - {change: {mean: x}, since: before}\n", "epsilon: 1"},
        {"  - {total: x}\ncalibrate: {to: [{total: x, totals: 900}]}\n", "epsilon: 1"},
    };
    array_engine engine = array_engine_of(spread, 8);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = private_plan(SRS, cases[i].privacy, PRIVATE, cases[i].statistics);
        tamis_release *release;
        tamis_error err = {0};
        assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &(tmi_run){0}, &err), TAMIS_REFUSED);
        if (!strstr(err.message, "private bound") || !strstr(err.message, "nearest setting that works"))
            fail_msg("%s: %s", cases[i].statistics, err.message);
        tamis_plan_free(plan);
    }
    assert_int_equal(engine.aggregates + engine.describes, 0);
}

static void what_is_allowed_works(void **state)
{
    static const struct {
        const char *design, *privacy, *x, *statistics;
    } cases[] = {
        {SRS, "epsilon: 2", PRIVATE, "  - {ratio: {of: x, to: y}}\n  - {variance: x, by: g}\n"},
        {SRS, "rho: 1/4", PRIVATE, "  - {difference: {mean: x, between: {g: [a, b]}}}\n"},
        {SRS, "epsilon: 2, delta: 1e-4", PRIVATE, "  - {mean: x, by: [g, h]}\n"},
        {SRS, "id: u, rows_per_unit: 2, epsilon: 2", PRIVATE, "  - {total: x, where: {g: a}}\n"},
        {SRS, "epsilon: 2", "{from: 0, to: {private: 1/4, beyond: 64}, step: 0.5, missing: none}", "  - {total: x}\n"},
        {SRS, "epsilon: 2", "{from: 0, to: {private: 1/4, beyond: 64}, step: 0.5, missing: 0}", "  - {total: x, by: g}\n"},
        {"weights: {population: 240}, weight: w, max_weight: 50", "epsilon: 2", PRIVATE, SUMS},
        {"cluster: {by: c, population: 60, sample: 2, smallest: 1, largest: 9}", "epsilon: 2", PRIVATE, SUMS},
        {SRS, "epsilon: 2", PRIVATE, "  - {total: x}\n  - {median: y, method: inverse}\n  - {regression: {of: y, on: [g]}}\n"},
        {"census: {population: 8}", "epsilon: 2", PRIVATE, SUMS},
    };
    (void)state;
    bits_from_seed(3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = private_plan(cases[i].design, cases[i].privacy, cases[i].x, cases[i].statistics);
        array_row file[8];
        static const char *const labels[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
        for (size_t k = 0; k < 8; k++) {
            file[k] = spread[k];
            file[k].u = labels[k];
            file[k].c = labels[k / 4];
            file[k].w = 10 + (double)k;
            file[k].y = (double)k;
        }
        array_engine engine = array_engine_of(file, 8);
        tamis_release *release;
        tamis_error err = {0};
        char *text, line[512];
        int ok;
        snprintf(line, sizeof line, "rm -rf '%s' '%s'", out, path);
        assert_int_equal(system(line), 0);
        if (tmi_release_with(&release, plan, &engine.engine, &(tmi_run){.folder = out, .ledger = path}, &err) != TAMIS_OK)
            fail_msg("%zu: %s", i, err.message);
        assert_int_equal(tamis_verify_text(&ok, &text, out, NULL, NULL), TAMIS_OK);
        if (!ok) fail_msg("%zu: %s", i, text);
        tamis_free(text);
        snprintf(line, sizeof line, "python3 '%s/verifier.py' '%s' >/dev/null", TESTS_FOLDER, out);
        if (system(line) != 0) fail_msg("%zu: the second verifier", i);
        tamis_release_free(release);
        tamis_plan_free(plan);
    }
}

static void wrong_words_are_named(void **state)
{
    static const struct {
        const char *x, *says;
    } cases[] = {
        {"{from: 0, to: {private: 1/8}, step: 1}", "expected both keys"},
        {"{from: 0, to: {beyond: 64}, step: 1}", "expected both keys"},
        {"{from: 0, to: {private: 1, beyond: 64}, step: 1}", "above 0 and below 1"},
        {"{from: 0, to: {private: 0, beyond: 64}, step: 1}", "above 0 and below 1"},
        {"{from: 0, to: {private: 1/8, beyond: 64.5}, step: 1}", "a multiple of `step`"},
        {"{from: 0, to: {private: 1/8, beyond: 1}, step: 1}", "a multiple of `step`"},
        {"{from: 1, to: {private: 1/8, beyond: 64}, step: 1}", "expected `from: 0`"},
        {"{from: -64, to: {private: 1/8, beyond: 64}, step: 1}", "expected `from: 0`"},
        {"{from: 0, to: {private: 1/8, beyond: 64}}", "expected the key step"},
        {"{from: 0, to: {private: 1/8, beyond: 64, at: 3}, step: 1}", "unknown key"},
        {"{from: 0, to: {private: 1/8, beyond: 64}, step: 1, contribution: 9}", "two bounds of one thing"},
        {"{from: 0, to: {private: 1/8, beyond: 64}, step: 1, unit_contribution: 9}", "two bounds of one thing"},
        {"{from: 0, to: {private: 1/8, beyond: 64}, step: 1, missing: 3}", "any other value may be above"},
        {"{from: {p: 0, q: 0}, to: {private: 1/8, beyond: 64}, step: 1}", "columns.x.from"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan;
        tamis_error err = {0};
        assert_int_equal(try_plan(&plan, SRS, "epsilon: 1", cases[i].x, SUMS, &err), TAMIS_INVALID);
        if (!strstr(err.message, cases[i].says) || !strstr(err.message, "p.yaml:7:")) fail_msg("%s: %s", cases[i].x, err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_add_up_to_the_budget),
        cmocka_unit_test(a_bound_has_no_mu),
        cmocka_unit_test(a_unit_moves_the_counts_within_its_rows),
        cmocka_unit_test(what_is_found_has_the_declared_law),
        cmocka_unit_test(a_public_bound_means_the_same_tables),
        cmocka_unit_test(values_are_clamped_at_what_was_found),
        cmocka_unit_test(bits_are_drawn_before_the_data_are_read),
        IN_A_PLACE(a_repeated_release_has_its_bounds),
        IN_A_PLACE(every_allocation_may_fail),
        cmocka_unit_test(what_needs_a_known_grid_is_refused),
        IN_A_PLACE(what_is_allowed_works),
        cmocka_unit_test(wrong_words_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
