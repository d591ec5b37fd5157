/* No measurement is returned as another one. Every key of a plan is changed in turn, and each change must either be refused by
 * the account (another survey, a frozen field), or make another identity, which is paid for with fresh noise, or leave everything
 * that shapes the integers as it was: the question that an engine is asked, letter by letter, and the noise laws.
 *
 * The keys are those that the reader itself lists when it meets an unknown one: a new key without a line here fails. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <tamis/experimental/caller.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "engine/files/source.h"
#include "ledger/book.h"
#include "measure/request/request.h"
#include "num/law/noise.h"
#include "plan/json.h"
#include "release/identity.h"
#include "report/promise.h"
#include "tests/rng/scripted_bits.h"

/* ---- plans to change ---- */

#define TAIL \
    "columns:\n  x: {from: 0, to: 10, step: 1}\n  y: {from: 0, to: 6, step: 1}\n  g: {values: [a, b]}\n  h: {values: [u, v]}\n" \
    "statistics:\n  - {total: x}\n  - {mean: x, by: h}\n  - {ratio: {of: x, to: y}}\n" \
    "  - {share: {h: u}, where: {y: {from: 1, to: 3}}}\n  - {histogram: y, cuts: [2]}\n"
#define HEAD "tamis: 1\nsurvey: s\n"
#define FILE_A "source: {file: a.csv}\n"
#define PERSON "privacy: {unit: person, epsilon: 1}\n"
#define UNITS "privacy: {unit: person, id: i, rows_per_unit: 3, epsilon: 1}\n"
#define BUDGET "budget: {epsilon: 4}\n"
#define WITH(design, privacy) HEAD FILE_A "design: {" design "}\n" privacy TAIL BUDGET

#define STRATA "stratified: {by: g, within: srs, strata: {a: {population: 900, sample: 20}, b: {population: 100, sample: 20}}}"
static const char strata[] = WITH(STRATA, PERSON);
/* Weights that share no coarse grid: the largest is always 2^30 points, so that only the others betray a change. */
static const char uneven[] = HEAD FILE_A
    "design: {stratified: {by: k, within: srs, strata: {a: {population: 90001, sample: 30}, "
    "b: {population: 90007, sample: 31}, c: {population: 90011, sample: 29}}}, regularise: 0.3}\n" PERSON
    "columns:\n  x: {from: 0, to: 10, step: 1}\n  k: {values: [a, b, c]}\nstatistics:\n  - {total: x}\n" BUDGET;
static const char srs[] = WITH("srs: {population: 900, sample: 30}", PERSON);
static const char units[] = WITH("srs: {population: 900, sample: 30}", UNITS);
static const char usual[] = HEAD FILE_A
    "design: {srs: {population: 900, sample: 30}}\n" PERSON
    "columns:\n  x: {from: 0, to: 10, step: 1, typical: {mean: 7}}\nstatistics:\n  - {total: x}\n  - {mean: x}\n" BUDGET;
static const char shrunk[] = HEAD FILE_A
    "design: {srs: {population: 900, sample: 30}}\n" PERSON "columns:\n  x: {from: 0, to: 10, step: 1}\n"
    "  k: {values: [a, b, c, d, e]}\nstatistics:\n  - {mean: x, by: k, shrink: yes}\n" BUDGET;
static const char panel[] = HEAD FILE_A
    "design: {weights: {strata: l, cluster: c, psus: psus-one.csv, population: 900}, weight: w, max_weight: 50}\n" PERSON
    "columns:\n  x: {from: 0, to: 10, step: 1}\nstatistics:\n  - {mean: x, for_change: yes}\n" BUDGET;
static const char chosen[] = HEAD FILE_A
    "design: {srs: {population: 900, sample: 30}}\n" PERSON "columns:\n  x: {from: 0, to: 10, step: 1}\n  h: {values: [u, v]}\n"
    "statistics:\n  - {quantile: x, at: [0.25], where: {h: u}, method: inverse}\n  - {share_below: x, line: 5}\n" BUDGET;
#define CONTRASTS \
    "columns:\n  x: {from: 0, to: 10, step: 1}\n  y: {from: 0, to: 6, step: 1}\n  h: {values: [u, v, w]}\n" \
    "statistics:\n  - {difference: {mean: x, between: {h: [u, v]}}}\n  - {quotient: {total: y, between: {h: [u, v]}}}\n" \
    "  - {contrast: {mean: y, by: h, weights: [1, 1, -2]}}\n  - {difference: {share: {h: u}, minus: {share: {h: v}}}}\n"
static const char contrasts[] = HEAD FILE_A "design: {srs: {population: 900, sample: 30}}\n" PERSON CONTRASTS BUDGET;
static const char since[] = HEAD FILE_A "design: {srs: {population: 900, sample: 30}}\n" PERSON
                                        "columns:\n  y: {from: 0, to: 6, step: 1}\n"
                                        "statistics:\n  - {change: {mean: y}, since: nowhere}\n" BUDGET;
static const char overlap[] = HEAD FILE_A
    "design: {srs: {population: 90000, sample: 9000}}\n" PERSON
    "columns:\n  y: {from: 0, to: 6, step: 1}\n  w: {from: 0, to: 6, step: 1}\n"
    "statistics:\n  - {change: {mean: y}, since: nowhere, overlap: {size: 9000, before: w}}\n" BUDGET;
static const char clusters[] = HEAD FILE_A
    "design: {cluster: {by: c, population: 90, sample: 12, smallest: 1, largest: 9}}\n" PERSON CONTRASTS BUDGET;
#define MODELS \
    "columns:\n  x: {from: 0, to: 10, step: 1}\n  h: {values: [u, v, w]}\n  g: {values: [a, b]}\n" \
    "statistics:\n  - {regression: {of: x, on: [h, g]}, baseline: {h: v}, typical: {vif: 2}}\n" \
    "  - {regression: {of: {x: {from: 3}}, on: [g], family: logistic}}\n"
static const char models[] = HEAD FILE_A "design: {srs: {population: 900, sample: 30}}\n" PERSON MODELS BUDGET;
static const char model_clusters[] = HEAD FILE_A
    "design: {cluster: {by: c, population: 90, sample: 12, smallest: 1, largest: 9}}\n" PERSON MODELS BUDGET;
static const char secret[] = WITH("srs: {population: 900, sample: 30}",
                                  "privacy: {unit: person, protect: frame, given: population, secret_sample: yes, epsilon: 1}\n");
static const char approximate[] = HEAD FILE_A "design: {srs: {population: 900, sample: 30}}\n"
                                              "privacy: {unit: person, epsilon: 0.1, delta: 1e-2}\n" TAIL
                                              "budget: {epsilon: 4, delta: 1e-1}\n";
static const char unused_delta[] = HEAD FILE_A "design: {srs: {population: 900, sample: 30}}\n"
                                               "privacy: {unit: person, epsilon: 1, delta: 1e-9}\n" TAIL
                                               "budget: {epsilon: 4, delta: 1e-5}\n";
static const char zero_concentrated[] = HEAD FILE_A "design: {srs: {population: 900, sample: 30}}\n"
                                                    "privacy: {unit: person, rho: 0.1}\n" TAIL "budget: {rho: 1}\n";
static const char target[] = HEAD FILE_A
    "design: {" STRATA "}\n"
    "privacy: {unit: person, protect: frame, given: population, secret_sample: yes, outsider: 0.5, insider: 3}\n" TAIL
    "budget: {outsider: 1, insider: 8}\n";
static const char census[] = WITH("census: {population: 900}", PERSON);
static const char again[] = WITH("srs_with_replacement: {population: 900, sample: 30}", UNITS);
static const char bernoulli[] = WITH("bernoulli: {rate: 1/10, population: 900}", PERSON);
static const char poisson[] = WITH("poisson: {probability: p, population: 900}, max_weight: 50, weight_step: 1/8", PERSON);
static const char pps[] = WITH("pps: {method: sampford, probability: p, sample: 30, population: 900}, max_weight: 50", PERSON);
static const char framed[] = WITH("pps: {method: sampford, probability: p, sample: 2, frame: frame-one.csv}, regularise: 0.3",
                                  "privacy: {unit: person, id: i, epsilon: 1}\n");
static const char framed_poisson[] = WITH("poisson: {probability: p, frame: frame-one.csv}",
                                          "privacy: {unit: person, id: i, epsilon: 1}\n");
static const char systematic[] = WITH("systematic: {population: 900, sample: 30, order: public}", PERSON);
static const char cluster[] = WITH("cluster: {by: c, population: 90, sample: 12, smallest: 1, largest: 9}", PERSON);
static const char stages[] = WITH(
    "two_stage: {first: {by: c, population: 90, sample: 12}, second: {population: m, sample: 5}}, max_weight: 200", PERSON);
static const char random_stages[] = WITH(
    "two_stage: {first: {by: c, population: 90, sample: 12}, second: {method: bernoulli, rate: 1/5}}, weight: w, max_weight: 200",
    PERSON);
static const char unequal_stages[] = WITH(
    "two_stage: {first: {by: c, pps: {method: sampford, probability: p, sample: 12, population: 90}}, second: {population: m, "
    "sample: 5}}, max_weight: 200",
    PERSON);
static const char replicated[] = WITH(
    "weights: {strata: l, cluster: c}, weight: w, max_weight: 50, replicates: {weights: [r1, r2], type: jk1, scale: 0.5}",
    PERSON);
static const char weights[] = WITH("weights: {strata: l, cluster: c, population: 900}, weight: w, max_weight: 50", PERSON);
static const char guessed[] = WITH(
    "weights: {strata: l, cluster: c}, weight: w, max_weight: 50, typical: {population: 900, sample: 90}", PERSON);
static const char bounded[] = HEAD FILE_A "design: {srs: {population: 900, sample: 30}}\n" PERSON
                                          "columns:\n  x: {from: 0, to: {private: 1/8, beyond: 10}, step: 1, typical: {mean: 1, "
                                          "sd: 1}}\nstatistics:\n  - {total: x}\n" BUDGET;
static const char deff[] = WITH("weights: {deff: 1.5}, weight: w, max_weight: 50", PERSON);
static const char duckdb[] = HEAD
    "source: {file: a.duckdb, table: t}\ndesign: {srs: {population: 900, sample: 30}}\n" PERSON TAIL BUDGET;
static const char postgres[] = HEAD
    "source: {postgres: {connection: service=s, table: t}}\ndesign: {srs: {population: 900, sample: 30}}\n" PERSON TAIL BUDGET;
static const char asked[] = HEAD "source: {command: [sql-one], dialect: duckdb, table: t}\n"
                                 "design: {srs: {population: 900, sample: 30}}\n" PERSON TAIL BUDGET;
static const char households[] = WITH("weights: {population: 900}, weight: w, max_weight: 50", UNITS);
static const char shards[] = HEAD "source: {postgres: {connections: [service=s, service=t], table: t}, sharded_by: id}\n"
                                  "design: {srs: {population: 900, sample: 30}}\n" UNITS TAIL BUDGET;
static const char respondents[] = WITH(
    STRATA ", nonresponse: yes", PERSON) "calibrate: {to: [{count: units, by: h, totals: {u: 300, v: 700}}], method: linear}\n";
static const char totals[] = WITH(STRATA, PERSON) "calibrate: {to: [{count: units, by: h, totals: {u: 300, v: 700}}]}\n"
                                                  "postprocess: {nonnegative: yes, consistent: no, caution: {cv_above: 0.1, "
                                                  "units_below: 30}, unreliable: {cv_above: 0.2, "
                                                  "units_below: 20}, suppress: {cv_above: 0.3, units_below: 10}}\n";
static const char wave[] = WITH(STRATA, PERSON) "wave: {name: w1, groups: [A, B], same_sample: no}\n";
static const char book[] = WITH(STRATA, PERSON) "ledger: {file: book.ledger, existing: no}\n";

/* ---- what a change does ---- */

typedef enum outcome {
    NO_PLAN,  /* neither can be released */
    ACCOUNT,  /* another account */
    FROZEN,   /* refused by the account */
    FRESH,    /* other integers, paid for */
    THE_SAME, /* nothing that shapes the integers */
    MIXED_UP  /* other integers under the same identity: never */
} outcome;

static const char *const outcome_names[] = {"no plan",        "another account", "frozen",
                                            "fresh integers", "the same",        "one identity of different integers"};

static const struct line {
    const char *key, *plan, *from, *to;
    outcome is;
} lines[] = {
#include "tests/release/identity.inc"
};
#define LINES (sizeof lines / sizeof *lines)

/* ---- both sides ---- */

typedef struct side {
    bool released; /* there is a schedule */
    char *survey, *frozen, *identity, *question;
    tmi_text laws;
} side;

static tamis_status take_question(void *context, tamis_reply *reply, const char *question, tamis_error *err)
{
    (void)reply, (void)err;
    tmi_text_put(context, question);
    return TAMIS_SYSTEM;
}

/* What an engine is asked when random bits are always the same: for tables, then for lists of points, from sums. */
static char *question_of(const tmi_schedule *s)
{
    tmi_query query = {0};
    tmi_engine *engine = NULL;
    tamis_rng *rng = NULL;
    char *question = NULL;
    tmi_text text;
    tmi_point_list list;
    tmi_text_init(&text);
    bits_from_seed(11);
    assert_int_equal(tmi_engine_asking(&engine, take_question, &text, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make(&query, s, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_make_room(&query, NULL), TAMIS_OK);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tmi_query_draw(&query, rng, NULL), TAMIS_OK);
    engine->aggregate(engine, query.answers, &query.request, NULL, NULL);
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        const size_t before = text.length;
        assert_int_not_equal(tmi_engine_points(&list, engine, &query.lists[i], NULL, NULL), TAMIS_OK);
        assert_true(text.length > before);
    }
    assert_int_equal(tmi_text_take(&question, &text, NULL), TAMIS_OK);
    tamis_rng_free(rng);
    tmi_query_clear(&query);
    engine->free(engine);
    return question;
}

static void put_laws(tmi_text *text, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        tmi_text_format(text, "%zu numbers within %lld:", m->numbers, (long long)m->limit);
        for (size_t h = 0; h < m->strata; h++) {
            tmi_text_put(text, s->gaussian ? " gaussian " : " laplace ");
            tmi_text_number(text, m->laws[h].scale);
        }
        tmi_text_put(text, "\n");
    }
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        const tmi_quantile_task *c = &s->quantile_tasks[i];
        const tamis_quantile_setup setup = tmi_quantile_task_setup(c, s->plan, 0);
        tmi_text_format(text, "method %d add_remove %d rows %lld of %lld weight %lld epsilon ", (int)setup.method,
                        setup.add_remove, (long long)setup.rows_per_unit, (long long)setup.rows, (long long)setup.max_weight);
        tmi_text_number(text, setup.epsilon);
        for (size_t k = 0; k < setup.at_count; k++) {
            tmi_text_put(text, " at ");
            tmi_text_number(text, setup.at[k]);
        }
        if (setup.log_unit) tmi_text_put(text, " log_unit ");
        if (setup.log_unit) tmi_text_number(text, setup.log_unit);
        tmi_text_put(text, "\n");
    }
}

/* What an account fixes for the plan's wave: the frozen fields as they are kept, and the wave but for its name, which leads to
 * it. */
static char *fixed_by(const tamis_plan *plan, const tmi_frame_facts *frame)
{
    char *fixed = NULL;
    tmi_value *frozen, *kept;
    tmi_text text;
    assert_int_equal(tmi_plan_frozen_json(&frozen, plan, frame, NULL), TAMIS_OK);
    assert_int_equal(tmi_frozen_kept(&kept, frozen, false, NULL), TAMIS_OK);
    tmi_text_init(&text);
    assert_int_equal(tmi_json_canonical(&text, kept, NULL), TAMIS_OK);
    tmi_text_format(&text, " same sample: %d groups:", plan->wave.same_sample);
    for (size_t i = 0; i < plan->wave.group_count; i++) tmi_text_format(&text, " %s", plan->wave.groups[i]);
    assert_int_equal(tmi_text_take(&fixed, &text, NULL), TAMIS_OK);
    tmi_value_free(frozen);
    tmi_value_free(kept);
    return fixed;
}

/* It is kept in the ledger as JSON: who reads it there finds all measurements, all choices, and how rows are weighed. */
static void assert_tells(const char *identity, const tmi_schedule *s)
{
    tmi_value *document;
    assert_int_equal(tmi_json_read(&document, identity, strlen(identity), NULL), TAMIS_OK);
    const tmi_value *measurements = tmi_value_field(document, "measurements", TMI_VALUE_LIST),
                    *quantile_tasks = tmi_value_field(document, "choices", TMI_VALUE_LIST),
                    *sampling = tmi_value_field(document, "sampling", TMI_VALUE_MAP);
    assert_int_equal(measurements ? tmi_value_size(measurements) : 0, s->measurement_count);
    assert_int_equal(quantile_tasks ? tmi_value_size(quantile_tasks) : 0, s->quantile_task_count);
    static const char *const flags[] = {"stages", "from_frame", "stays", "of_units", "scattered"};
    const bool known[] = {s->sampling.stages, s->sampling.from_frame, s->sampling.public_strata, s->sampling.of_units,
                          s->sampling.scattered};
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(tmi_value_get(sampling, flags[i]));
        assert_int_equal(tmi_value_true(sampling, flags[i]), known[i]);
    }
    static const char *const sizes[] = {"rows", "most", "most_clamped"};
    const int64_t numbers[] = {s->sampling.rows, s->sampling.most, s->sampling.most_clamped};
    for (size_t i = 0; i < 3; i++) {
        const tmi_value *said = tmi_value_field(sampling, sizes[i], TMI_VALUE_INTEGER);
        assert_non_null(said);
        assert_int_equal(tmi_value_integer(said), numbers[i]);
    }
    tmi_value_free(document);
}

static side side_of(const char *text)
{
    side s = {0};
    tamis_plan *plan = NULL;
    tmi_schedule schedule;
    tmi_text_init(&s.laws);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), NULL) != TAMIS_OK) return s;
    if (tmi_schedule_make(&schedule, plan, NULL, NULL) == TAMIS_OK) {
        s.released = true;
        s.survey = strdup(plan->survey);
        s.frozen = fixed_by(plan, tmi_frame_of(&schedule));
        assert_int_equal(tmi_release_identity(&s.identity, &schedule, NULL), TAMIS_OK);
        assert_tells(s.identity, &schedule);
        s.question = question_of(&schedule);
        put_laws(&s.laws, &schedule);
        tmi_schedule_clear(&schedule);
    }
    tamis_plan_free(plan);
    return s;
}

static void side_clear(side *s)
{
    free(s->survey);
    tmi_free(s->frozen);
    tmi_free(s->identity);
    tmi_free(s->question);
    tmi_text_clear(&s->laws);
}

/* As the account decides (src/ledger/ledger.c): the survey names it, frozen fields are compared, then the identity. */
static outcome outcome_of(const side *a, const side *b)
{
    if (!a->released || !b->released) return NO_PLAN;
    if (strcmp(a->survey, b->survey) != 0) return ACCOUNT;
    if (strcmp(a->frozen, b->frozen) != 0) return FROZEN;
    if (strcmp(a->identity, b->identity) != 0) return FRESH;
    return strcmp(a->question, b->question) == 0 && strcmp(a->laws.bytes, b->laws.bytes) == 0 ? THE_SAME : MIXED_UP;
}

static char *changed(const struct line *l)
{
    const char *at = strstr(l->plan, l->from);
    if (!at) fail_msg("%s: '%s' is not in its plan", l->key, l->from);
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_add(&text, l->plan, (size_t)(at - l->plan));
    tmi_text_put(&text, l->to);
    tmi_text_put(&text, at + strlen(l->from));
    char *whole = NULL;
    assert_int_equal(tmi_text_take(&whole, &text, NULL), TAMIS_OK);
    return whole;
}

static void every_change_is_fresh_or_shapes_nothing(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        const struct line *l = &lines[i];
        char *text = changed(l);
        side before = side_of(l->plan), after = side_of(text);
        if (!before.released) fail_msg("%s: its plan cannot be released", l->key);
        const outcome is = outcome_of(&before, &after);
        if (is != l->is) {
            wrong++;
            print_error("%s, '%s' to '%s': %s, expected: %s\n", l->key, l->from, l->to, outcome_names[is], outcome_names[l->is]);
        }
        side_clear(&before);
        side_clear(&after);
        tmi_free(text);
    }
    assert_int_equal(wrong, 0);
}

/* ---- every key has a line ---- */

#define UNKNOWN "zzzzzzzzzzzzzzzz: 1"

/* The maps of a plan, by the path of their keys, each with a plan in which such a map holds a key that nobody knows. */
static const struct map {
    const char *path, *plan;
} maps[] = {
    {"", WITH(STRATA, PERSON) UNKNOWN},
    {"wave.", HEAD "wave: {" UNKNOWN "}\n"},
    {"source.", HEAD "source: {" UNKNOWN "}\n"},
    {"source.postgres.", HEAD "source: {postgres: {" UNKNOWN "}}\n"},
    {"design.", WITH(UNKNOWN, PERSON)},
    {"design.stratified.", WITH("stratified: {" UNKNOWN "}", PERSON)},
    {"design.stratified.strata.a.", WITH("stratified: {by: g, within: srs, strata: {a: {" UNKNOWN "}}}", PERSON)},
    {"design.srs.", WITH("srs: {" UNKNOWN "}", PERSON)},
    {"design.census.", WITH("census: {" UNKNOWN "}", PERSON)},
    {"design.srs_with_replacement.", WITH("srs_with_replacement: {" UNKNOWN "}", PERSON)},
    {"design.bernoulli.", WITH("bernoulli: {" UNKNOWN "}", PERSON)},
    {"design.poisson.", WITH("poisson: {" UNKNOWN "}", PERSON)},
    {"design.pps.", WITH("pps: {" UNKNOWN "}", PERSON)},
    {"design.systematic.", WITH("systematic: {" UNKNOWN "}", PERSON)},
    {"design.cluster.", WITH("cluster: {" UNKNOWN "}", PERSON)},
    {"design.two_stage.", WITH("two_stage: {" UNKNOWN "}", PERSON)},
    {"design.two_stage.first.", WITH("two_stage: {first: {" UNKNOWN "}}", PERSON)},
    {"design.two_stage.second.", WITH("two_stage: {second: {" UNKNOWN "}}", PERSON)},
    {"design.weights.", WITH("weights: {" UNKNOWN "}", PERSON)},
    {"design.replicates.", WITH(STRATA ", replicates: {" UNKNOWN "}", PERSON)},
    {"design.typical.", WITH(STRATA ", typical: {" UNKNOWN "}", PERSON)},
    {"design.typical.rows.", WITH("srs: {population: 900, sample: 30}, typical: {rows: {" UNKNOWN "}}", UNITS)},
    {"design.typical.cluster.",
     WITH("cluster: {by: c, population: 90, sample: 12, smallest: 1, largest: 9}, typical: {cluster: {" UNKNOWN "}}", PERSON)},
    {"privacy.", HEAD FILE_A "privacy: {" UNKNOWN "}\n"},
    {"columns.x.", HEAD FILE_A "columns: {x: {" UNKNOWN "}}\n"},
    {"columns.x.values.", HEAD FILE_A "columns: {x: {values: {" UNKNOWN "}}}\n"},
    {"columns.x.typical.", HEAD FILE_A "columns: {x: {from: 0, to: 1, step: 1, typical: {" UNKNOWN "}}}\n"},
    {"statistics.", HEAD FILE_A TAIL "  - {" UNKNOWN "}\n"},
    {"statistics.ratio.", HEAD FILE_A TAIL "  - {ratio: {" UNKNOWN "}}\n"},
    {"statistics.where.y.", HEAD FILE_A TAIL "  - {total: x, where: {y: {" UNKNOWN "}}}\n"},
    {"budget.", HEAD FILE_A "budget: {" UNKNOWN "}\n"},
    {"ledger.", HEAD FILE_A "ledger: {" UNKNOWN "}\n"},
    {"calibrate.", WITH(STRATA, PERSON) "calibrate: {" UNKNOWN "}\n"},
    {"calibrate.to.", WITH(STRATA, PERSON) "calibrate: {to: [{" UNKNOWN "}]}\n"},
    {"postprocess.", HEAD FILE_A "postprocess: {" UNKNOWN "}\n"},
    {"postprocess.caution.", HEAD FILE_A "postprocess: {caution: {" UNKNOWN "}}\n"},
    {"postprocess.unreliable.", HEAD FILE_A "postprocess: {unreliable: {" UNKNOWN "}}\n"},
    {"postprocess.suppress.", HEAD FILE_A "postprocess: {suppress: {" UNKNOWN "}}\n"},
};
#define MAPS (sizeof maps / sizeof *maps)

/* A line of its own, or a map with keys of its own. */
static bool is_covered(const char *key)
{
    char inside[202];
    snprintf(inside, sizeof inside, "%s.", key);
    for (size_t i = 0; i < LINES; i++)
        if (strcmp(lines[i].key, key) == 0) return true;
    for (size_t i = 0; i < MAPS; i++)
        if (strcmp(maps[i].path, inside) == 0) return true;
    return false;
}

static void every_key_of_a_plan_has_a_line(void **state)
{
    static const char mark[] = "zzzzzzzzzzzzzzzz: unknown key; expected one of ";
    size_t found = 0;
    int missing = 0;
    (void)state;
    for (size_t i = 0; i < MAPS; i++) {
        tamis_plan *plan = NULL;
        tamis_error err = {0};
        assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", maps[i].plan, strlen(maps[i].plan), &err), TAMIS_INVALID);
        char *list = strstr(err.message, mark), *rest = NULL;
        if (!list) fail_msg("%s: no list of keys in: %s", maps[i].path, err.message);
        list += sizeof mark - 1;
        list[strcspn(list, "\n")] = '\0';
        for (char *key = strtok_r(list, ", ", &rest); key; key = strtok_r(NULL, ", ", &rest), found++) {
            char path[200];
            snprintf(path, sizeof path, "%s%s", maps[i].path, key);
            if (is_covered(path)) continue;
            missing++;
            print_error("%s has no line in tests/release/identity.inc: say what changing it does\n", path);
        }
    }
    assert_int_equal(missing, 0);
    assert_true(found > 90); /* the walk found the keys */
}

/* ---- files that plans name ---- */

#define LIST_ONE "l,c\n1,1\n1,2\n2,1\n2,2\n"
#define FRAME_ONE "i,p\na,0.25\nb,0.75\nc,0.5\nd,0.5\n"
#define FRAME_TWO "i,p\na,0.375\nb,0.625\nc,0.5\nd,0.5\n"

static char place[64] = "/tmp/tamis-identity-XXXXXX";

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_place(void **state)
{
    (void)state;
    if (!mkdtemp(place) || chdir(place) != 0) return -1;
    write_file("psus-one.csv", LIST_ONE);
    write_file("frame-one.csv", FRAME_ONE);
    write_file("frame-two.csv", FRAME_TWO);
    return 0;
}

static int remove_place(void **state)
{
    (void)state;
    return unlink("psus-one.csv") || unlink("frame-one.csv") || unlink("frame-two.csv") || chdir("/") || rmdir(place);
}

/* The same file name with other contents is another file, for everything that shapes the integers: what is read from a frame, and
 * which clusters a list has, also if there are as many as before. */
static void files_are_known_by_their_contents(void **state)
{
    (void)state;
    static const char listed[] = WITH(
        "weights: {strata: l, cluster: c, psus: psus-one.csv, population: 900}, weight: w, max_weight: 50", PERSON);
    static const struct {
        const char *plan, *file, *before, *after;
    } files[] = {{framed, "frame-one.csv", FRAME_ONE, FRAME_TWO},
                 {framed, "frame-one.csv", FRAME_ONE, "i,p\na,0.25\nb,0.75\nc,0.5\ne,0.5\n"},
                 {framed_poisson, "frame-one.csv", FRAME_ONE, FRAME_TWO},
                 {listed, "psus-one.csv", LIST_ONE, "l,c\n1,1\n1,2\n2,1\n2,3\n"},
                 {listed, "psus-one.csv", LIST_ONE, "l,c\n1,1\n1,2\n1,3\n2,1\n2,2\n"},
                 {listed, "psus-one.csv", LIST_ONE, "l,c\n1,1\n1,2\n3,1\n3,2\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        side before = side_of(files[i].plan);
        write_file(files[i].file, files[i].after);
        side after = side_of(files[i].plan);
        const outcome is = outcome_of(&before, &after);
        if (is != FROZEN && is != FRESH) fail_msg("%s: %s: %s", files[i].file, files[i].after, outcome_names[is]);
        assert_string_not_equal(before.identity, after.identity); /* also where the account froze nothing of it */
        side_clear(&before);
        side_clear(&after);
        write_file(files[i].file, files[i].before);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_change_is_fresh_or_shapes_nothing),
        cmocka_unit_test(every_key_of_a_plan_has_a_line),
        cmocka_unit_test(files_are_known_by_their_contents),
    };
    return cmocka_run_group_tests(all, make_place, remove_place);
}
