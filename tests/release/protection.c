/* What a release promises, computed again from its schedule: scales, parts of the budget, conversions; that a unit's rows are
 * bounded, that a repeated release returns the numbers of each table, that outsiders are told of the whole account, and
 * that probabilities of a frame bound the weights.                                                                           */
#include "tests/test.h"

#include <tamis/experimental/profile.h>

#include "engine/files/source.h"
#include "measure/request/request.h"
#include "num/exact.h"
#include "release/release.h"
#include "tests/ledger/kit.h"
#include "tests/release/array_engine.h"
#include "tests/release/plans.h"

#define SRS "srs: {population: 80, sample: 8}"
#define STATISTICS "  - {count: units, by: [g, h]}\n  - {total: x}\n  - {mean: x, by: g}\n"
#define APART "stratified: {by: s, within: srs, strata: {p: {population: 70, sample: 4}, q: {population: 10, sample: 4}}}"

static const array_row rows[] = {
    {.x = 12.3, .g = "a", .h = "u", .s = "p", .u = "1"},  {.x = 500, .g = "a", .h = "v", .s = "p", .u = "1"},
    {.x = -3, .g = "b", .h = "u", .s = "p", .u = "1"},    {.x = 17, .g = "b", .h = "w", .s = "p", .u = "2"},
    {.x = 20.25, .g = "b", .h = "w", .s = "q", .u = "3"}, {.x = 29.9, .g = "a", .h = "w", .s = "q", .u = "4"},
    {.x = 15, .g = "b", .h = "v", .s = "q", .u = "5"},    {.x = 11, .g = "a", .h = "u", .s = "q", .u = " 5 "},
};

/* ---- scales ---- */

/* epsilon scale >= l1 for every law, or 2 rho scale^2 >= l2^2, exactly, and no more than 2^-19 above. */
static void check_scale(const tmi_schedule *s, const tmi_measurement *m, const tmi_noise_law *law)
{
    tmi_exact e = TMI_EXACT(NULL);
    tmi_term needed = tmi_int(&e, law->l1), found = tmi_mul(&e, m->part, law->scale);
    if (s->gaussian) {
        needed = law->l2_squared;
        found = tmi_mul(&e, tmi_mul(&e, tmi_int(&e, 2), m->part), tmi_mul(&e, law->scale, law->scale));
    }
    assert_true(law->l1 > 0 && tmi_number_sign(law->l2_squared) > 0);
    assert_true(tmi_number_compare(found, needed) >= 0);
    tmi_term most = tmi_mul(&e, needed, tmi_div(&e, tmi_int(&e, 1 << 18), tmi_int(&e, (1 << 18) - 1)));
    assert_true(tmi_number_compare(found, most) <= 0);
    tmi_exact_clear(&e);
}

/* The parts add up to the whole, and the whole is what the plan allows. */
static void check_budget(const char *design, const char *loss, const char *delta)
{
    char privacy[200];
    tmi_schedule s;
    tmi_exact e = TMI_EXACT(NULL);
    snprintf(privacy, sizeof privacy, "%s%s%s", loss, *delta ? ", delta: " : "", delta);
    tamis_plan *plan = plan_of(design, privacy, STATISTICS);
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    tmi_term sum = tmi_int(&e, 0);
    for (size_t i = 0; i < s.measurement_count; i++) {
        const tmi_measurement *m = &s.measurements[i];
        sum = tmi_add(&e, sum, m->part);
        for (size_t h = 0; h < m->strata; h++) check_scale(&s, m, &m->laws[h]);
    }
    assert_int_equal(tmi_number_compare(sum, s.spent), 0);
    if (!s.gaussian) {
        assert_int_equal(tmi_number_compare(s.spent, plan->privacy.loss.epsilon), 0);
    } else {
        tamis_profile *profile;
        tamis_bound found, told;
        if (s.gaussian == TMI_ROUNDED_NORMAL) {
            tmi_term squared = tmi_add(&e, s.spent, s.spent);
            assert_int_equal(tamis_profile_normal(&profile, squared, NULL), TAMIS_OK);
        } else {
            assert_int_equal(tamis_profile_zcdp(&profile, s.spent, NULL), TAMIS_OK);
        }
        assert_int_equal(tamis_profile_delta(&found, profile, plan->privacy.loss.epsilon, NULL), TAMIS_OK);
        assert_true(found.upper <= tmi_number_nearest(plan->privacy.loss.delta));
        assert_int_equal(tamis_profile_epsilon(&told, profile, s.delta, NULL), TAMIS_OK);
        assert_true(tmi_number_nearest(s.epsilon) >= told.upper ||
                    tmi_number_compare(s.epsilon, plan->privacy.loss.epsilon) == 0);
        tamis_profile_free(profile);
    }
    tmi_exact_clear(&e);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

static void noise_is_large_enough_for_the_budget(void **state)
{
    (void)state;
    static const char *const designs[] = {SRS, APART, "bernoulli: {rate: 1/10}",
                                          "weights: {population: 90}, weight: w, max_weight: 50"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        check_budget(designs[i], "1", "");
        check_budget(designs[i], "1/3", "");
        check_budget(designs[i], "1/3", "1e-6");
        check_budget(designs[i], "1", "1e-3");
    }
}

static tamis_plan *plan_with_rho(const char *rho)
{
    char text[400];
    tamis_plan *plan;
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 80, sample: 8}}\n"
             "privacy: {unit: person, rho: %s}\nstatistics: [{count: units, by: g}]\ncolumns: {g: {values: [a, b]}}\n",
             rho);
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), NULL), TAMIS_OK);
    return plan;
}

/* The epsilon of a rho is the upper end of its enclosure. A scale is not below the root that it should be, also where that is
 * just above a number of few digits: here the square is 4 + 1e-30. */
static void what_follows_from_a_rho_is_rounded_up(void **state)
{
    (void)state;
    static const char *const rhos[] = {"1/7", "1/4", "1000000000000000000000000000000/4000000000000000000000000000001"};
    for (size_t i = 0; i < 3; i++) {
        tamis_plan *plan = plan_with_rho(rhos[i]);
        tmi_schedule s;
        tamis_profile *profile;
        tamis_bound told;
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tamis_profile_zcdp(&profile, plan->privacy.loss.rho, NULL), TAMIS_OK);
        assert_int_equal(tamis_profile_epsilon(&told, profile, s.delta, NULL), TAMIS_OK);
        assert_true(told.lower < told.upper && tmi_number_nearest(s.epsilon) == told.upper);
        assert_int_equal(s.measurement_count, 1);
        check_scale(&s, &s.measurements[0], &s.measurements[0].laws[0]);
        tamis_profile_free(profile);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* Tables and parts that a certificate says: the parts are at most the whole together, each above 0; the tables are some that the
 * plan has, each once, and determine what is asked for. The plan has the axes g and h. */
static void parts_that_are_too_large_are_refused(void **state)
{
    (void)state;
    enum { G = 1, H = 2 };
    static const struct {
        const char *privacy;
        tmi_gaussian gaussian;
        const char *parts[3];
        int tables[2];
        bool allowed;
    } cases[] = {{"1", TMI_NOT_GAUSSIAN, {"1/2", "1/2"}, {G, H}, true},
                 {"1", TMI_NOT_GAUSSIAN, {"1/2", "51/100"}, {G, H}, false},
                 {"1", TMI_NOT_GAUSSIAN, {"1", "0"}, {G, H}, false},
                 {"1", TMI_NOT_GAUSSIAN, {"3/2", "-1/2"}, {G, H}, false},
                 {"1", TMI_NOT_GAUSSIAN, {"1"}, {G + H}, true},
                 {"1", TMI_NOT_GAUSSIAN, {"1"}, {G}, false},
                 {"1", TMI_NOT_GAUSSIAN, {"1/2", "1/2"}, {G, 4}, false},
                 {"1", TMI_NOT_GAUSSIAN, {"1/2", "1/2"}, {G, G}, false},
                 {"1", TMI_DISCRETE_GAUSSIAN, {"1/100", "1/100"}, {G, H}, false},
                 {"1, delta: 1e-6", TMI_DISCRETE_GAUSSIAN, {"1/200", "1/200"}, {G, H}, true},
                 {"1, delta: 1e-6", TMI_DISCRETE_GAUSSIAN, {"1/10", "1/10"}, {G, H}, false},
                 /* 0.026 is too much for the conversion of rho, and allowed where mu^2 = 2 rho */
                 {"1, delta: 1e-6", TMI_DISCRETE_GAUSSIAN, {"13/1000", "13/1000"}, {G, H}, false},
                 {"1, delta: 1e-6", TMI_ROUNDED_NORMAL, {"13/1000", "13/1000"}, {G, H}, true},
                 {"1, delta: 1e-6", TMI_ROUNDED_NORMAL, {"15/1000", "14/1000"}, {G, H}, false},
                 {"1", TMI_ROUNDED_NORMAL, {"1/1000", "1/1000"}, {G, H}, false},
                 {"1, delta: 1e-6", TMI_NOT_GAUSSIAN, {"1/2", "1/2"}, {G, H}, true},
                 {"1, delta: 1e-6", TMI_NOT_GAUSSIAN, {"1/2", "1"}, {G, H}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_of(SRS, cases[i].privacy, "  - {count: units, by: g}\n  - {count: units, by: h}\n");
        tamis_number *list[2] = {NULL};
        tmi_marginal marginals[2] = {0};
        tmi_certified_tables certified = {.gaussian = cases[i].gaussian,
                                          .shared_classes = true,
                                          .marginals = marginals,
                                          .parts = list};
        tmi_schedule s;
        for (; cases[i].parts[certified.count]; certified.count++) {
            tmi_marginal *marginal = &marginals[certified.count];
            list[certified.count] = number_of(cases[i].parts[certified.count]);
            for (size_t axis = 0; axis < 3; axis++)
                if (cases[i].tables[certified.count] >> axis & 1) marginal->axes[marginal->axis_count++] = axis;
        }
        if (tmi_schedule_make(&s, plan, &certified, NULL) != (cases[i].allowed ? TAMIS_OK : TAMIS_INVALID))
            fail_msg("case %zu", i);
        if (cases[i].allowed) tmi_schedule_clear(&s);
        for (size_t k = 0; k < certified.count; k++) tamis_number_free(list[k]);
        tamis_plan_free(plan);
    }
}

/* ---- units ---- */

static tamis_release *release(const tamis_plan *plan, tmi_engine *engine, const char *ledger, bool again)
{
    tamis_release *r;
    tamis_error err = {0};
    static uint64_t seed;
    bits_from_seed(++seed);
    const tmi_run run = {.ledger = ledger, .again = again};
    if (tmi_release_with(&r, plan, engine, &run, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return r;
}

/* Five units, one of which has three rows and one two, the same id with blanks around it: of each one row counts. So little noise
 * that it is 0. */
static void rows_of_a_unit_are_bounded(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("bernoulli: {rate: 1/10}", "100000, id: u, rows_per_unit: 1", "  - {count: units}\n");
    tamis_source *source;
    tmi_engine *engine;
    const char *ids[8];
    for (size_t i = 0; i < 8; i++) ids[i] = rows[i].u;
    assert_int_equal(tamis_source_new(&source, 8, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_texts(source, "u", ids, NULL), TAMIS_OK);
    assert_int_equal(tmi_engine_of_source(&engine, source, 1, NULL), TAMIS_OK);
    tamis_release *r = release(plan, engine, NULL, false);
    int64_t sum = 0;
    for (size_t cell = 0; cell < r->schedule.measurements[0].numbers; cell++) sum += (int64_t)r->noisy[0][cell];
    assert_int_equal(sum, 5);
    tamis_release_free(r);
    engine->free(engine);
    tamis_source_free(source);
    tamis_plan_free(plan);
}

/* ---- again ---- */

/* Two tables of twelve numbers, too large to be joined: each gets back its own, whatever the order in the plan. */
static void a_repeated_release_returns_its_own_numbers(void **state)
{
    (void)state;
#define CELLS "  - {count: units, by: [g, h]}\n"
#define BINS "  - {count: units, by: {x: [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}}\n"
    tamis_plan *first = plan_of(SRS, "1", CELLS BINS), *then = plan_of(SRS, "1", BINS CELLS);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *a = release(first, &engine.engine, path, false), *b = release(then, &engine.engine, path, false);
    assert_int_equal(engine.aggregates, 1);
    assert_int_equal(a->schedule.measurement_count, 2);
    assert_int_equal(b->schedule.measurement_count, 2);
    assert_int_equal(a->schedule.measurements[0].numbers, a->schedule.measurements[1].numbers);
    for (size_t i = 0; i < a->schedule.measurement_count; i++) {
        size_t j = 0;
        tmi_text x, y;
        tmi_text_init(&x);
        tmi_measurement_name(&x, &a->schedule.measurements[i], &a->schedule.workload);
        for (;; j++) {
            tmi_text_init(&y);
            tmi_measurement_name(&y, &b->schedule.measurements[j], &b->schedule.workload);
            const bool same = strcmp(x.bytes, y.bytes) == 0;
            tmi_text_clear(&y);
            if (same) break;
        }
        assert_memory_equal(a->noisy[i], b->noisy[j], a->schedule.measurements[i].numbers * sizeof **a->noisy);
        tmi_text_clear(&x);
    }
    tamis_release_free(a);
    tamis_release_free(b);
    tamis_plan_free(first);
    tamis_plan_free(then);
}

#define SECRET "protect: frame, given: population, secret_sample: yes"

/* Two releases of one sample: an outsider's number is that of both of them, also where one is returned as it was, and the account
 * has been charged twice. */
static void outsiders_are_told_of_the_whole_account(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "1, " SECRET, STATISTICS "budget: {epsilon: 2}\n"),
               *both = plan_of(SRS, "2, " SECRET, STATISTICS);
    array_engine engine = array_engine_of(rows, 8);
    tmi_schedule s;
    tmi_promised alone = {0};
    tamis_error err = {0};
    tamis_release *a = release(plan, &engine.engine, path, false), *b = release(plan, &engine.engine, path, true), *c;
    assert_int_equal(tmi_schedule_make(&s, both, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_promise_alone(&alone, &s, NULL), TAMIS_OK);
    assert_true(a->promised.outsider.proved && b->promised.outsider.proved && alone.outsider.proved);
    assert_true(a->promised.outsider.epsilon.upper < b->promised.outsider.epsilon.lower);
    assert_true(b->promised.outsider.epsilon.upper == alone.outsider.epsilon.upper);
    assert_int_equal(tmi_release_with(&c, plan, &engine.engine, &(tmi_run){.ledger = path, .again = true}, &err), TAMIS_REFUSED);
    c = release(plan, &engine.engine, path, false);
    assert_non_null(c->account.charged.measurements);
    assert_true(c->promised.outsider.epsilon.upper == alone.outsider.epsilon.upper);
    tamis_release_free(c);
    tmi_promised_clear(&alone);
    tmi_schedule_clear(&s);
    tamis_release_free(a);
    tamis_release_free(b);
    tamis_plan_free(plan);
    tamis_plan_free(both);
}

/* Where nothing is proved nothing is told. */
static void outsiders_are_told_nothing_that_is_not_proved(void **state)
{
    (void)state;
    static const struct {
        const char *design, *privacy;
        bool proved;
    } cases[] = {
        {SRS, SECRET, true},
        {SRS, "protect: frame, given: population", false},
        {SRS, "secret_sample: yes", false},
        {"srs: {population: 80, sample: 8}, weight: w, max_weight: 50, weights_are: final", SECRET, false},
        {"weights: {population: 80}, weight: w, max_weight: 50", SECRET, false},
        {"census: {population: 8}", SECRET, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char privacy[200];
        tmi_schedule s;
        snprintf(privacy, sizeof privacy, "1, %s", cases[i].privacy);
        tamis_plan *plan = plan_of(cases[i].design, privacy, STATISTICS);
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        tmi_promised p = {0};
        assert_int_equal(tmi_promise_alone(&p, &s, NULL), TAMIS_OK);
        assert_int_equal(p.outsider.proved, cases[i].proved);
        if (!cases[i].proved) assert_true(p.outsider.reason[0] != '\0');
        tmi_promised_clear(&p);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* ---- frames ---- */

static void write_frame(char *file, size_t size, const char *lines)
{
    snprintf(file, size, "%s/frame.csv", folder);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(lines, out);
    fclose(out);
}

/* The smallest probability of all strata bounds the weights: 1 / (1/10) here, unless max_weight is less. */
static void the_smallest_probability_bounds_the_weights(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        double most;
    } cases[] = {{"", 10}, {", max_weight: 4", 4}, {", max_weight: 40", 10}};
    char file[200], design[600];
    write_frame(file, sizeof file, "u,w,s\n1,1/2,p\n2,1/2,p\n3,1/10,q\n4,4/10,q\n5,1/2,q\n");
    for (size_t i = 0; i < 3; i++) {
        tmi_schedule s;
        tamis_error err = {0};
        snprintf(design, sizeof design,
                 "stratified: {by: s, within: {pps: {method: sampford, probability: w, frame: '%s'}}, "
                 "strata: {p: {sample: 1}, q: {sample: 1}}}%s",
                 file, cases[i].more);
        tamis_plan *plan = plan_of(design, "1, id: u", "  - {count: units, by: g}\n");
        if (tmi_schedule_make(&s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
        const double most = (double)s.sampling.most * tmi_number_nearest(s.sampling.step);
        assert_true(most <= cases[i].most && most > 0.999999 * cases[i].most);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

static void frames_that_contradict_the_plan_are_refused(void **state)
{
    (void)state;
    static const char *const frames[] = {"u,w\n1,1/2\n2,1/2\n3,1\n", "u,w\n1,1/2\n2,1/2\n2,1\n", "u,w\n1,1/2\n2,1/4\n3,1\n",
                                         "u,w\n1,0\n2,1\n3,1\n"};
    char file[200], design[400];
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        tmi_schedule s;
        write_frame(file, sizeof file, frames[i]);
        snprintf(design, sizeof design, "pps: {method: sampford, probability: w, sample: 2, frame: '%s'}", file);
        tamis_plan *plan = plan_of(design, "1, id: u", "  - {count: units, by: g}\n");
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), i == 0 ? TAMIS_OK : TAMIS_INVALID);
        if (i == 0) tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_large_enough_for_the_budget),          cmocka_unit_test(what_follows_from_a_rho_is_rounded_up),
        cmocka_unit_test(parts_that_are_too_large_are_refused),          cmocka_unit_test(rows_of_a_unit_are_bounded),
        IN_A_FOLDER(a_repeated_release_returns_its_own_numbers),         IN_A_FOLDER(outsiders_are_told_of_the_whole_account),
        cmocka_unit_test(outsiders_are_told_nothing_that_is_not_proved), IN_A_FOLDER(the_smallest_probability_bounds_the_weights),
        IN_A_FOLDER(frames_that_contradict_the_plan_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
