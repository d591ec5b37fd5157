/* What is said before the data: which tables, what they may change by, how the budget is split. */
#include "tests/test.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/json.h"
#include "num/number.h"
#include "schedule/schedule.h"
#include "tests/base/memory_that_fails.h"
#include "tests/release/plans.h"

#define SRS "srs: {population: 1000, sample: 10}"

static void assert_number(const tamis_number *number, const char *expected)
{
    char *written;
    assert_int_equal(tamis_number_write(&written, number, NULL), TAMIS_OK);
    assert_string_equal(written, expected);
    tamis_free(written);
}

static const tmi_measurement *measurement(const tmi_schedule *s, const char *name)
{
    for (size_t i = 0; i < s->measurement_count; i++) {
        tmi_text text;
        tmi_text_init(&text);
        tmi_measurement_name(&text, &s->measurements[i], &s->workload);
        bool found = strcmp(text.bytes, name) == 0;
        tmi_text_clear(&text);
        if (found) return &s->measurements[i];
    }
    fail_msg("no measurement %s", name);
    return NULL;
}

/* Its sensitivity, and the scale that follows from it and from its part of the budget. */
static void assert_measurement(const tmi_schedule *s, const char *name, size_t numbers, int64_t sensitivity)
{
    const tmi_measurement *m = measurement(s, name);
    assert_int_equal(m->numbers, numbers);
    assert_int_equal(m->laws[0].l1, sensitivity);
    tamis_number *l1, *scale;
    assert_int_equal(tmi_number_ratio(&l1, sensitivity, 1, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_div(&scale, l1, m->part, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_compare(scale, m->laws[0].scale), 0);
    tamis_number_free(l1);
    tamis_number_free(scale);
}

static void assert_sum(const tmi_schedule *s, const char *expected)
{
    tamis_number *sum, *next;
    assert_int_equal(tmi_number_ratio(&sum, 0, 1, NULL), TAMIS_OK);
    for (size_t i = 0; i < s->measurement_count; i++) {
        assert_int_equal(tmi_number_add(&next, sum, s->measurements[i].part, NULL), TAMIS_OK);
        tamis_number_free(sum);
        sum = next;
    }
    assert_number(sum, expected);
    assert_number(s->spent, expected);
    tamis_number_free(sum);
}

/* Counts, sums, squares and means by g are all read from one table: each row adds m^2 = 40^2 to it, spread over four levels. */
static void tables_are_shared_and_the_budget_is_split(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "3",
                               "  - count: units\n" /* known */
                               "  - {count: units, by: g}\n"
                               "  - {mean: x, by: g}\n"
                               "  - {total: x, by: g, budget_share: 3}\n");
    tmi_schedule s;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(s.measurement_count, 1);
    assert_measurement(&s, "rows, sums and squares of x by g", 12, 2 * 1600);
    assert_sum(&s, "3");
    assert_true(s.workload.maps[0].known && !s.workload.maps[1].known);
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
    plan = plan_of(SRS, "3", "  - {count: units, by: g}\n  - {mean: x, by: [g, h]}\n  - {total: x}\n  - {share: {h: [u, v]}}\n");
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_sum(&s, "3");
    assert_string_equal(tmi_cell_value(plan->statistics[1].by, 2, 4, 0), "b");
    assert_string_equal(tmi_cell_value(plan->statistics[1].by, 2, 4, 1), "v");
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

/* A number by itself never leaves its only cell: half of the sensitivity of a table, in half steps. */
static void a_number_by_itself_costs_half(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "3", "  - {mean: x}\n");
    tmi_schedule s;
    assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(s.measurement_count, 1);
    assert_int_equal(s.measurements[0].marginal.form, TMI_CENTRED);
    assert_int_equal(s.measurements[0].laws[0].l1, 2 * 1600); /* in steps of one half */
    tmi_schedule_clear(&s);
    tamis_plan_free(plan);
}

static double noise_of(const char *statistics, size_t i)
{
    tamis_plan *plan = plan_of(SRS, "3", statistics);
    tamis_preview *preview;
    tmi_value *json;
    char *text;
    assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
    assert_int_equal(tamis_preview_json(&text, preview, NULL), TAMIS_OK);
    assert_int_equal(tmi_json_read(&json, text, strlen(text), NULL), TAMIS_OK);
    const double noise = tmi_value_real(tmi_value_get(tmi_value_at(tmi_value_get(json, "statistics"), i), "noise_sd"));
    tmi_value_free(json);
    tamis_free(text);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
    return noise;
}

/* A larger share is less noise, for the others more; the order in a plan does not matter. */
static void shares_decide(void **state)
{
    (void)state;
    static const char equal[] = "  - {mean: x, by: g}\n  - {count: units, by: h}\n",
                      other[] = "  - {count: units, by: h}\n  - {mean: x, by: g}\n",
                      more[] = "  - {mean: x, by: g}\n  - {count: units, by: h, budget_share: 8}\n";
    assert_true(noise_of(equal, 0) == noise_of(other, 1) && noise_of(equal, 1) == noise_of(other, 0));
    assert_true(noise_of(more, 1) < 0.95 * noise_of(equal, 1) && noise_of(more, 0) > 1.02 * noise_of(equal, 0));
    /* one fact is measured once: a margin, an indicator and a `where` of a table cost nothing */
    const double alone = noise_of("  - {count: units, by: [g, h]}\n", 0);
    assert_true(noise_of("  - {count: units, by: [g, h]}\n  - {table: [h, g]}\n  - {count: units, by: h, where: {g: a}}\n", 0) ==
                alone);
}

static void a_plan_that_measures_nothing_spends_nothing(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("census: {population: 5}", "3", "  - count: units\n");
    tamis_preview *preview;
    char *text;
    assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
    tamis_plan_free(plan); /* the preview holds what it needs */
    assert_int_equal(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "known"));
    assert_non_null(strstr(text, "epsilon 0"));
    tamis_free(text);
    assert_int_equal(tamis_preview_json(&text, preview, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "\"would_spend\": {\n    \"epsilon\": {\n      \"lower\": 0,\n      \"upper\": 0\n    }"));
    tamis_free(text);
    tamis_preview_free(preview);
}

static void scales_out_of_range_are_refused(void **state)
{
    (void)state;
    tamis_preview *preview;
    tamis_error err = {0};
    tamis_plan *plan = plan_of(SRS, "1000000", "  - {count: units, by: g}\n"); /* the largest that a plan may say */
    assert_int_equal(tamis_preview_new(&preview, plan, &err), TAMIS_OK);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
    plan = plan_of(SRS, "1e-300", "  - {total: x}\n");
    assert_int_equal(tamis_preview_new(&preview, plan, &err), TAMIS_INVALID);
    assert_null(preview);
    assert_string_equal(err.message, "p.yaml:5:34: privacy.epsilon: too small: the noise scale of the rows, sums "
                                     "and squares of x would be above "
                                     "36028797018963968 steps");
    tamis_plan_free(plan);
}

/* Noise that is 0 more often than not: tanh(1/(2 scale)) > 1/2, a scale below 1 / log 3 = 0.9102. */
static void noise_that_hides_nothing_is_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *epsilon, *words;
    } cases[] = {{"2.19", NULL}, {"2.20", "at least 50 of 100"}, {"1000", "at least 99 of 100"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_of(SRS, cases[i].epsilon, "  - {count: units, by: g}\n"); /* scale 2 / epsilon */
        tamis_preview *preview;
        char *text;
        assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
        assert_int_equal(tamis_preview_json(&text, preview, NULL), TAMIS_OK);
        assert_true(!strstr(text, "\"warnings\": []") == !!cases[i].words);
        assert_true(!cases[i].words || (strstr(text, cases[i].words) && strstr(text, "unprotected: the rows by g")));
        tamis_free(text);
        assert_int_equal(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, NULL), TAMIS_OK);
        assert_true(!strstr(text, "WARNING, practically unprotected: the rows by g") == !cases[i].words);
        tamis_free(text);
        tamis_preview_free(preview);
        tamis_plan_free(plan);
    }
}

/* Both texts say what they must: guarantee, why there is no outsider's number, that nothing keeps count. */
static void texts_are_complete(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "0.1", "  - {count: units, by: g}\n  - {mean: x}\n");
    tamis_preview *preview;
    tamis_error err = {0};
    char *text;
    assert_int_equal(tamis_preview_new(&preview, plan, &err), TAMIS_OK);
    assert_int_equal(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, &err), TAMIS_OK);
    static const char *const words[] = {"epsilon 0.1",
                                        "Outsider: no separate guarantee",
                                        "releases in one ledger",
                                        "noise above 1/3 of size",
                                        "rows by g",
                                        "± is one standard deviation",
                                        "Assumed, because the plan does not say",
                                        "groups are of equal size",
                                        "centred sums and squares of x",
                                        "are in the units of the data",
                                        "  a  a replaced record",
                                        "Declared public, not checked",
                                        "  - x: from 10 to 30 in steps of 1/2"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strstr(text, words[i])) fail_msg("%s is missing in\n%s", words[i], text);
    }
    tamis_free(text);
    assert_int_equal(tamis_preview_json(&text, preview, &err), TAMIS_OK);
    tmi_value *json;
    assert_int_equal(tmi_json_read(&json, text, strlen(text), &err), TAMIS_OK);
    const tmi_value *guarantee = tmi_value_get(json, "guarantee");
    assert_int_equal(tmi_value_kind_of(tmi_value_get(guarantee, "outsider")), TMI_VALUE_NULL);
    assert_non_null(tmi_value_get(guarantee, "outsider_reason"));
    assert_int_equal(tmi_value_size(tmi_value_get(json, "measurements")), 2);
    assert_int_equal(tmi_value_size(tmi_value_get(json, "statistics")), 2);
    const tmi_value *first = tmi_value_at(tmi_value_get(json, "measurements"), 0);
    assert_string_equal(tmi_value_string(tmi_value_get(tmi_value_at(tmi_value_get(first, "noise"), 0), "law")),
                        "discrete_laplace");
    assert_non_null(tmi_value_get(first, "epsilon"));
    tmi_value_free(json);
    tamis_free(text);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
}

/* The plan's own unit, and no sample where there is none. */
static void the_promise_is_in_the_words_of_the_plan(void **state)
{
    (void)state;
    static const struct {
        const char *design;
        bool census;
    } cases[] = {{SRS, false}, {"census: {population: 10}", true}};
    for (size_t i = 0; i < 2; i++) {
        tamis_plan *plan = plan_of(cases[i].design, "1", "  - total: x\n");
        tamis_preview *preview;
        char *text;
        assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
        assert_int_equal(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, NULL), TAMIS_OK);
        assert_true(!strstr(text, "Every person: epsilon 1") == !cases[i].census);
        assert_true(!strstr(text, "Sampled person: epsilon 1") == cases[i].census);
        assert_true(!strstr(text, "about each sampled person") || !cases[i].census);
        tamis_free(text);
        tamis_preview_free(preview);
        tamis_plan_free(plan);
    }
}

/* One line: however the paragraphs were broken. */
static void unwrap(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (!isspace((unsigned char)*from)) *to++ = *from;
        else if (to > text && to[-1] != ' ') *to++ = ' ';
    }
    *to = '\0';
}

/* Each of the ten settings is accepted for a simple random sample, named, and gives outsiders a number where the sample
 * is secret and the setting begins before it. */
static void every_setting_is_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &tamis_settings()[i];
        for (int flags = 0; flags < 4; flags++) {
            bool secret = flags & 1, closed = flags & 2, claims = s->may_amplify && secret && !closed;
            char privacy[200], name[60];
            snprintf(privacy, sizeof privacy, "1, protect: %s, given: %s%s%s", tamis_level_name(s->protect),
                     tamis_level_name(s->given), secret ? ", secret_sample: yes" : "",
                     closed ? ", design_variables: protected" : "");
            tamis_plan *plan = plan_of(SRS, privacy, "  - total: x\n");
            tamis_preview *preview;
            tamis_error err;
            char *text, *json;
            tamis_status status = tamis_preview_new(&preview, plan, &err);
            assert_int_equal(status, closed && !s->may_protect_design ? TAMIS_REFUSED : TAMIS_OK);
            if (status == TAMIS_REFUSED) {
                assert_non_null(strstr(err.message, "privacy.design_variables: with `given:"));
                assert_non_null(strstr(err.message, "nearest setting that works: {protect:"));
                tamis_plan_free(plan);
                continue;
            }
            assert_int_equal(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, &err), TAMIS_OK);
            assert_int_equal(tamis_preview_json(&json, preview, &err), TAMIS_OK);
            snprintf(name, sizeof name, "delta 0 (%s)", s->name);
            unwrap(text);
            assert_non_null(strstr(text, name));
            assert_int_equal(strstr(text, "Outsider: epsilon 0.01704,") != NULL, claims); /* log(1 + 1/100 (e - 1)) */
            assert_int_equal(strstr(text, "has no effect in this setting") != NULL, secret && !s->may_amplify);
            assert_int_equal(strstr(json, "\"outsider\": null") == NULL, claims);
            assert_int_equal(strstr(json, "\"outsider_reason\"") == NULL, claims);
            assert_true(strstr(json, s->domain) && strstr(json, s->universes) && strstr(json, s->neighbours));
            assert_non_null(strstr(text, "measured by largest |log(P(S) / Q(S))| over all sets S of outputs"));
            assert_int_equal(strstr(text, "or taking it away") != NULL, !s->size_is_public);
            tamis_free(text);
            tamis_free(json);
            tamis_preview_free(preview);
            tamis_plan_free(plan);
        }
    }
    tamis_plan *plan = plan_of("census: {population: 10}", "1, protect: frame, given: population, secret_sample: yes",
                               "  - total: x\n");
    tamis_preview *preview;
    char *text;
    assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
    assert_int_equal(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, NULL), TAMIS_OK);
    unwrap(text);
    assert_non_null(strstr(text, "because a census includes every person"));
    tamis_free(text);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "0.5", "  - {count: units, by: g}\n"); /* other budgets are tried */
    tamis_preview *preview = NULL;
    tamis_error err = {0};
    char *text = NULL;
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 8, tamis_preview_new(&preview, plan, &err), assert_null(preview));
    EVERY_ALLOCATION_FAILS(tamis_preview_text(&text, preview, TAMIS_DETAIL_SHORT, &err), assert_null(text));
    assert_non_null(strstr(text, "would be enough"));
    tamis_free(text);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
    plan = plan_of(SRS, "300", "  - {count: units, by: g}\n  - {mean: x, by: h}\n  - {total: x}\n");
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 8, tamis_preview_new(&preview, plan, &err), assert_null(preview));
    EVERY_ALLOCATION_FAILS(tamis_preview_json(&text, preview, &err), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, &err), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_preview_text(&text, preview, TAMIS_DETAIL_SHORT, &err), assert_null(text));
    tamis_free(text);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
}

/* The numbers in a warning; NaN where it has none. */
static void read_advice(double *loss, double *sample, const tamis_plan *plan)
{
    static const char *const words[] = {"an epsilon of ", "a rho of ", "a sample of "};
    tamis_preview *preview;
    char *json;
    *loss = *sample = NAN;
    assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
    assert_int_equal(tamis_preview_json(&json, preview, NULL), TAMIS_OK);
    const char *warning = strstr(json, "the noise exceeds a third of the size");
    for (size_t i = 0; warning && i < 3; i++) {
        const char *found = strstr(warning, words[i]);
        char digits[40] = "";
        if (!found) continue;
        for (const char *c = found + strlen(words[i]); strchr("0123456789.,", *c); c++)
            if (*c != ',' && strlen(digits) < sizeof digits - 1) digits[strlen(digits)] = *c;
        *(i < 2 ? loss : sample) = strtod(digits, NULL);
    }
    assert_true(!warning || !isnan(*loss));
    tamis_free(json);
    tamis_preview_free(preview);
}

/* A plan with what a warning asks for has no warning, and one with a tenth less still has it. */
static void what_a_warning_asks_for_is_enough(void **state)
{
    (void)state;
    static const char srs[] = "srs: {population: 100000, sample: %.0f}", census[] = "census: {population: 1000}",
                      means[] = "  - {mean: x, by: h}\n", counts[] = "  - {count: units, by: [g, h]}\n";
    static const struct {
        const char *design;
        double sample, loss;
        const char *kind, *statistics;
    } cases[] = {{srs, 50, 0.3, "%.3g", means},
                 {srs, 500, 0.011, "%.3g", counts},
                 {srs, 50, 0.3, "%.3g, delta: 1e-6", counts},
                 {srs, 60, 0.2, "%.3g, delta: 1e-6", means},
                 {census, 0, 0.02, "%.3g", means},
                 {census, 0, 0.013, "%.3g", counts}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double n = cases[i].sample, epsilon = cases[i].loss, loss, sample, none, nothing;
        char design[80], privacy[80];
        for (int what = 0; what < 4; what++) { /* first as it is, then the loss, a bit less, the sample */
            snprintf(design, sizeof design, cases[i].design, what == 3 ? sample : n);
            snprintf(privacy, sizeof privacy, cases[i].kind, what == 1 ? loss : what == 2 ? 0.9 * loss : epsilon);
            if (what == 3 && isnan(sample)) break;
            tamis_plan *plan = plan_of(design, privacy, cases[i].statistics);
            read_advice(what ? &none : &loss, what ? &nothing : &sample, plan);
            tamis_plan_free(plan);
            if (what == 0 && (isnan(loss) || isnan(sample) == (n > 0))) fail_msg("case %zu: no advice", i);
            if (what > 0 && isnan(none) == (what == 2))
                fail_msg("case %zu: loss %g or sample %g is wrong (%d)", i, loss, sample, what);
        }
    }
}

/* A mean from 10 to 30 is not wrong by more than 20, nor a share by more than 1, however large the noise is. */
static void no_error_is_shown_above_the_range(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "0.0001", "  - {mean: x, by: g}\n  - {share: {g: a}}\n  - {total: x}\n");
    static const char *const fields[] = {"noise_sd", "sampling_se", "se"};
    tamis_preview *preview;
    tmi_value *json;
    char *text;
    assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
    assert_int_equal(tamis_preview_json(&text, preview, NULL), TAMIS_OK);
    assert_int_equal(tmi_json_read(&json, text, strlen(text), NULL), TAMIS_OK);
    for (size_t i = 0; i < 3; i++) {
        const tmi_value *statistic = tmi_value_at(tmi_value_get(json, "statistics"), i);
        const double most[] = {20, 1, INFINITY};
        for (size_t k = 0; k < 3; k++) assert_true(tmi_value_real(tmi_value_get(statistic, fields[k])) <= most[i]);
    }
    assert_true(tmi_value_real(tmi_value_get(tmi_value_at(tmi_value_get(json, "statistics"), 2), "noise_sd")) > 1e6);
    tmi_value_free(json);
    tamis_free(text);
    assert_int_equal(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "mean of x by g"));
    tamis_free(text);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    tamis_preview *preview;
    tamis_error err = {0};
    char *text = NULL;
    assert_int_equal(tamis_preview_new(NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_preview_new(&preview, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "plan"));
    assert_int_equal(tamis_preview_json(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_preview_text(&text, NULL, TAMIS_DETAIL_SHORT, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "preview"));
    assert_int_equal(tamis_preview_text(NULL, NULL, TAMIS_DETAIL_SHORT, &err), TAMIS_INVALID);
    tamis_preview_free(NULL);
}

/* Sums that could reach the end of the noise are counted in coarser steps: all rows together stay below half of it. */
static void sums_stay_away_from_the_end_of_the_noise(void **state)
{
    static const char text[] = "tamis: 1\nsurvey: s\nsource: {file: a.csv}\n"
                               "design: {srs: {population: 1000000000, sample: %s}}\n"
                               "privacy: {unit: person, epsilon: 1}\n"
                               "columns:\n  x: {from: 0, to: 4e9, step: 1}\nstatistics:\n  - total: x\n";
    (void)state;
    static const struct {
        const char *sample;
        double rows;
        int bits; /* of a row */
    } cases[] = {{"1000", 1e3, 32}, {"100000000", 1e8, 32}, {"500000000", 5e8, 31}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char filled[sizeof text + 32];
        tamis_plan *plan;
        tmi_schedule s;
        snprintf(filled, sizeof filled, text, cases[i].sample);
        assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", filled, strlen(filled), NULL), TAMIS_OK);
        assert_int_equal(tmi_schedule_make(&s, plan, NULL, NULL), TAMIS_OK);
        const tmi_measurement *m = &s.measurements[0];
        assert_int_equal(m->shift, 64 - cases[i].bits); /* x^2 has 63.8 bits */
        assert_true(m->rounded && ldexp((double)m->high, -cases[i].bits) < 1);
        const double steps = m->marginal.form == TMI_FULL ? 1 : 2;
        assert_true(ldexp((double)m->limit, -61) >= 1 &&
                    ldexp((double)m->limit + cases[i].rows * steps * (double)m->high, -62) <= 1);
        tmi_schedule_clear(&s);
        tamis_plan_free(plan);
    }
}

/* The number in the promise is never below the one that is spent. */
static void the_promise_rounds_up(void **state)
{
    (void)state;
    static const struct {
        const char *epsilon, *printed;
    } cases[] = {{"1.004", "epsilon 1.004, delta 0"}, {"1/3", "epsilon 0.333334, delta 0"}, {"6", "epsilon 6, delta 0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_plan *plan = plan_of(SRS, cases[i].epsilon, "  - total: x\n");
        tamis_preview *preview;
        char *text;
        assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
        assert_int_equal(tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, NULL), TAMIS_OK);
        assert_non_null(strstr(text, cases[i].printed));
        tamis_free(text);
        tamis_preview_free(preview);
        tamis_plan_free(plan);
    }
}

/* What the engine would refuse after the noise is drawn is refused before: a mean needs four integers per class, and rows of no
 * class count too. */
static void more_cells_than_an_engine_counts(void **state)
{
    (void)state;
    static const struct {
        const char *statistic;
        int third; /* values of the third category: 128 * 128 groups of the others */
        bool fits;
    } cases[] = {{"total", 14, true}, {"mean", 14, true}, {"mean", 15, false}};
    char *text = malloc(1 << 16);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int length = snprintf(text, 1 << 16,
                              "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {" SRS "}\n"
                              "privacy: {unit: person, epsilon: 1}\ncolumns:\n  x: {from: 10, to: 30, step: 0.5}\n");
        for (int c = 0; c < 3; c++) {
            length += snprintf(text + length, 1 << 10, "  c%d: {values: [", c);
            for (int v = 0; v < (c < 2 ? 128 : cases[i].third); v++) length += snprintf(text + length, 16, "v%d,", v);
            length += snprintf(text + length, 1 << 10, "]}\n");
        }
        snprintf(text + length, 1 << 10, "statistics:\n  - {%s: x, by: [c0, c1, c2]}\n", cases[i].statistic);
        tamis_plan *plan;
        tamis_preview *preview;
        tamis_error err = {0};
        if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
        assert_int_equal(tamis_preview_new(&preview, plan, &err), cases[i].fits ? TAMIS_OK : TAMIS_INVALID);
        if (!cases[i].fits && !strstr(err.message, "need more than 1048576 integers")) fail_msg("%s", err.message);
        tamis_preview_free(preview);
        tamis_plan_free(plan);
    }
    free(text);
}

/* Beside its tables a clustered sample needs the totals of clusters in at least two slots: as many slots are taken as there
 * is room for. For 66,000 groups there are a dozen. */
static void slots_of_clusters_fill_what_tables_leave(void **state)
{
    (void)state;
    static const int seconds[] = {128, 515}; /* values of the second category, 128 of the first */
    char *text = malloc(1 << 16);
    assert_non_null(text);
    for (int i = 0; i < 2; i++) {
        int length = snprintf(text, 1 << 16,
                              "tamis: 1\nsurvey: s\nsource: {file: a.csv}\n"
                              "design: {cluster: {by: c, population: 90, sample: 30, smallest: 1, largest: 4}}\n"
                              "privacy: {unit: person, epsilon: 100}\ncolumns:\n  x: {from: 10, to: 30, step: 0.5}\n");
        for (int c = 0; c < 2; c++) {
            length += snprintf(text + length, 1 << 10, "  c%d: {values: [", c);
            for (int v = 0; v < (c == 0 ? 128 : seconds[i]); v++) length += snprintf(text + length, 16, "v%d,", v);
            length += snprintf(text + length, 1 << 10, "]}\n");
        }
        snprintf(text + length, 1 << 10, "statistics:\n  - {mean: x, by: [c0, c1]}\n");
        tamis_plan *plan;
        tamis_preview *preview;
        tamis_error err = {0};
        if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
        if (tamis_preview_new(&preview, plan, &err) != TAMIS_OK) fail_msg("%s", err.message);
        tamis_preview_free(preview);
        tamis_plan_free(plan);
    }
    free(text);
}

/* A tree holds all bins of all groups at once, 2^21 of them: here 2001 for each group, wherever the column begins. */
static void more_bins_than_a_choice_holds(void **state)
{
    (void)state;
    static const char *const ranges[] = {"from: -1000, to: 1000", "from: 5000, to: 7000"};
    char *text = malloc(1 << 14);
    assert_non_null(text);
    for (int i = 0; i < 4; i++) {
        const bool fits = i % 2 == 0; /* 1048 groups and 1049 */
        int length = snprintf(text, 1 << 14,
                              "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {" SRS "}\n"
                              "privacy: {unit: person, epsilon: 1}\ncolumns:\n  x: {%s, step: 1}\n  c: {values: [",
                              ranges[i / 2]);
        for (int v = 0; v < (fits ? 1048 : 1049); v++) length += snprintf(text + length, 16, "v%d,", v);
        snprintf(text + length, 200, "]}\nstatistics:\n  - {median: x, by: c, method: tree}\n");
        tamis_plan *plan;
        tmi_schedule schedule;
        tamis_error err = {0};
        if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
        assert_int_equal(tmi_schedule_make(&schedule, plan, NULL, &err), fits ? TAMIS_OK : TAMIS_INVALID);
        if (fits) tmi_schedule_clear(&schedule);
        else if (!strstr(err.message, "must have at most 1048 groups")) fail_msg("%s", err.message);
        tamis_plan_free(plan);
    }
    free(text);
}

/* A joint draw of two quantiles sums over the rows that there can be: 800,000 units are few enough with one row each, and not
 * with two. */
static void long_joint_draws_are_refused(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 2; rows++) {
        char text[800];
        tamis_plan *plan;
        tmi_schedule schedule;
        tamis_error err = {0};
        snprintf(text, sizeof text,
                 "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 10000000, sample: 800000}}\n"
                 "privacy: {unit: person, id: u, rows_per_unit: %d, epsilon: 0.0001}\ncolumns:\n"
                 "  x: {from: 0, to: 10000000, step: 1}\nstatistics:\n  - {quantile: x, at: [0.2, 0.5], method: joint}\n",
                 rows);
        if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
        assert_int_equal(tmi_schedule_make(&schedule, plan, NULL, &err), rows == 1 ? TAMIS_OK : TAMIS_REFUSED);
        if (rows == 1) tmi_schedule_clear(&schedule);
        else if (!strstr(err.message, "longer than ten seconds")) fail_msg("%s", err.message);
        tamis_plan_free(plan);
    }
}

/* Before anything was spent, the rotation groups of a wave have the whole budget, and less after the release. */
static void what_the_groups_of_a_wave_have_left(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "1", "  - {total: x}\nwave: {name: w1, groups: [north, south]}\nbudget: {epsilon: 4}\n");
    tamis_preview *preview;
    char *text;
    tmi_value *json;
    assert_int_equal(tamis_preview_new(&preview, plan, NULL), TAMIS_OK);
    assert_int_equal(tamis_preview_json(&text, preview, NULL), TAMIS_OK);
    assert_int_equal(tmi_json_read(&json, text, strlen(text), NULL), TAMIS_OK);
    const tmi_value *groups = tmi_value_field(json, "rotation_groups", TMI_VALUE_MAP);
    assert_non_null(groups);
    for (int i = 0; i < 2; i++) {
        const tmi_value *epsilon = tmi_value_get(tmi_value_get(groups, i ? "would_leave" : "left"), "epsilon");
        assert_true(epsilon && tmi_value_real(tmi_value_get(epsilon, "lower")) == 4 - i);
    }
    const tmi_value *epsilon = tmi_value_get(tmi_value_get(json, "would_leave"), "epsilon"); /* and everybody */
    assert_true(epsilon && tmi_value_real(tmi_value_get(epsilon, "lower")) == 3);
    tmi_value_free(json);
    tamis_free(text);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(sums_stay_away_from_the_end_of_the_noise),
        cmocka_unit_test(the_promise_rounds_up),
        cmocka_unit_test(tables_are_shared_and_the_budget_is_split),
        cmocka_unit_test(a_number_by_itself_costs_half),
        cmocka_unit_test(shares_decide),
        cmocka_unit_test(a_plan_that_measures_nothing_spends_nothing),
        cmocka_unit_test(scales_out_of_range_are_refused),
        cmocka_unit_test(more_cells_than_an_engine_counts),
        cmocka_unit_test(slots_of_clusters_fill_what_tables_leave),
        cmocka_unit_test(more_bins_than_a_choice_holds),
        cmocka_unit_test(long_joint_draws_are_refused),
        cmocka_unit_test(what_the_groups_of_a_wave_have_left),
        cmocka_unit_test(noise_that_hides_nothing_is_warned_of),
        cmocka_unit_test(texts_are_complete),
        cmocka_unit_test(the_promise_is_in_the_words_of_the_plan),
        cmocka_unit_test(every_setting_is_checked),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(what_a_warning_asks_for_is_enough),
        cmocka_unit_test(no_error_is_shown_above_the_range),
        cmocka_unit_test(bad_arguments_are_named),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
