/* The law of a draw, exactly: every random number that it asks for is tried, and the probabilities of the samples that come
 * out are added up and compared with the law, which is computed another way.
 *
 * A draw asks for bytes, time and again. One byte is a uniform integer of a few bits, and some values are refused and asked
 * for again (tests/rng/uniform.c); eight bytes are the first digits of a U in [0, 1), on which the choices lie side by
 * side, and their ends are found by bisection. Two answers are the same choice if whatever follows leads to the same
 * samples; that is tried with a few continuations. A byte was refused if all is as if it had not been asked for. A draw that
 * begins again, after several answers, where it was before is not followed any further: what was reached from there counts for
 * more by as much.                                                                                                   */
#include "tests/test.h"

#include <math.h>

#include "tests/base/memory_that_fails.h"
#include "tests/rng/scripted_bits.h"
#include "tests/survey/frames.h"

#define TAKES 64
#define VALUES 32                /* of a byte: the denominators here need five bits */
#define PROBES 10                /* continuations */
#define FINE (UINT64_C(1) << 59) /* choices are longer than 1/32 */
#define NEAR (UINT64_C(1) << 24) /* their ends are found to 2^-40 */
#define SAMPLES 256

typedef struct script {
    uint64_t answers[TAKES], probe;
    size_t count, takes, wanted; /* wanted: bytes of the first take beyond the answers, 0 if there is none */
} script;

typedef struct outcome {
    uint32_t set;
    size_t after; /* takes beyond the answers */
} outcome;

typedef struct signature {
    outcome of[PROBES];
} signature;

static tamis_rng *rng;
static const tamis_sampler *sampler;
static double found[SAMPLES]; /* by set of units */
static struct place {
    signature here;
    double back; /* the weight of what came back to it */
} places[TAKES]; /* on the way from the beginning, by the number of answers */

/* splitmix64 */
static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Beyond the answers, anything: the same for each probe. */
static bool answer(void *context, uint8_t *bytes, size_t n)
{
    script *s = context;
    uint64_t word = s->takes < s->count ? s->answers[s->takes] : mixed(s->probe << 32 | (s->takes - s->count));
    if (s->takes == s->count) s->wanted = n;
    if (s->takes >= s->count && n == 1) word = word >> 40 & (VALUES - 1);
    assert_true(n == 1 || n == 8);
    for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)(word >> 8 * i);
    s->takes++;
    return true;
}

static outcome run(script *s, uint64_t probe)
{
    tamis_drawn drawn;
    outcome o = {0};
    s->probe = probe;
    s->takes = s->wanted = 0;
    bits_from(answer, s);
    assert_int_equal(tamis_sampler_draw(&drawn, sampler, rng, NULL, NULL), TAMIS_OK);
    for (size_t i = 0; i < drawn.count; i++) o.set |= UINT32_C(1) << drawn.units[i];
    tamis_drawn_clear(&drawn);
    o.after = s->takes - s->count;
    return o;
}

static void sign(signature *sig, script *s)
{
    for (uint64_t i = 0; i < PROBES; i++) sig->of[i] = run(s, i);
}

static bool same(const signature *a, const signature *b)
{
    for (int i = 0; i < PROBES; i++)
        if (a->of[i].set != b->of[i].set || a->of[i].after != b->of[i].after) return false;
    return true;
}

static void explore(script *s, double weight);

static void follow(script *s, uint64_t word, double weight)
{
    s->answers[s->count++] = word;
    explore(s, weight);
    s->count--;
}

static void each_byte(script *s, double weight)
{
    signature before, seen[VALUES];
    int number[VALUES] = {0}, first[VALUES], kinds = 0, accepted = 0;
    sign(&before, s);
    for (int b = 0; b < VALUES; b++) {
        signature now;
        int k = 0;
        s->answers[s->count++] = (uint64_t)b;
        sign(&now, s);
        s->count--;
        if (same(&now, &before)) continue;
        accepted++;
        while (k < kinds && !same(&now, &seen[k])) k++;
        if (k == kinds) seen[kinds] = now, first[kinds++] = b;
        number[k]++;
    }
    for (int k = 0; k < kinds; k++) follow(s, (uint64_t)first[k], weight * number[k] / accepted);
}

/* Where the choice at `low` ends, the choice at `high` being the next one: one continuation tells them apart. */
static uint64_t end_of(script *s, uint64_t low, const signature *at_low, uint64_t high, const signature *at_high)
{
    uint64_t probe = 0;
    while (at_low->of[probe].set == at_high->of[probe].set && at_low->of[probe].after == at_high->of[probe].after) probe++;
    while (high - low > NEAR) {
        uint64_t middle = low + (high - low) / 2;
        s->answers[s->count++] = middle;
        outcome o = run(s, probe);
        s->count--;
        if (o.set == at_low->of[probe].set && o.after == at_low->of[probe].after) low = middle;
        else high = middle;
    }
    return low;
}

/* The choices between two words, whose signatures are known; none is shorter than FINE. */
static void split(script *s, uint64_t low, const signature *at_low, uint64_t high, const signature *at_high, double weight)
{
    if (same(at_low, at_high)) follow(s, low + (high - low) / 2, weight * ((double)(high - low) * 0x1p-64));
    else if (high - low > FINE) {
        uint64_t middle = low + (high - low) / 2;
        signature at_middle;
        s->answers[s->count++] = middle;
        sign(&at_middle, s);
        s->count--;
        split(s, low, at_low, middle, &at_middle, weight);
        split(s, middle, &at_middle, high, at_high, weight);
    } else {
        uint64_t end = end_of(s, low, at_low, high, at_high);
        follow(s, low, weight * ((double)(end - low) * 0x1p-64));
        follow(s, high, weight * ((double)(high - end) * 0x1p-64));
    }
}

static void each_word(script *s, double weight)
{
    enum { PARTS = 8 };
    signature ends[PARTS + 1];
    uint64_t at[PARTS + 1];
    for (int i = 0; i <= PARTS; i++) {
        at[i] = i < PARTS ? ((uint64_t)i << 61) + 1000 : UINT64_MAX - 1000; /* where a choice ends more digits are asked for */
        s->answers[s->count++] = at[i];
        sign(&ends[i], s);
        s->count--;
    }
    for (int i = 0; i < PARTS; i++) split(s, at[i], &ends[i], at[i + 1], &ends[i + 1], weight);
}

/* Whether all is as it was at an earlier place. */
static bool comes_back(const signature *now, const script *s, double weight)
{
    for (size_t d = 0; d < s->count; d++) {
        bool alike = true;
        for (int i = 0; i < PROBES; i++)
            alike &= now->of[i].set == places[d].here.of[i].set && now->of[i].after == places[d].here.of[i].after;
        if (!alike) continue;
        places[d].back += weight;
        return true;
    }
    return false;
}

static void explore(script *s, double weight)
{
    double before[SAMPLES], back[TAKES];
    signature now;
    sign(&now, s);
    if (run(s, 0).after == 0) {
        found[run(s, 0).set] += weight;
        return;
    }
    if (weight < 1e-12 || comes_back(&now, s, weight)) return;
    for (int i = 0; i < SAMPLES; i++) before[i] = found[i];
    for (size_t d = 0; d < s->count; d++) back[d] = places[d].back;
    places[s->count] = (struct place){.here = now};
    run(s, 0);
    if (s->wanted == 1) each_byte(s, weight);
    else each_word(s, weight);
    const double factor = weight / (weight - places[s->count].back);
    for (int i = 0; i < SAMPLES; i++) found[i] = before[i] + (found[i] - before[i]) * factor;
    for (size_t d = 0; d < s->count; d++) places[d].back = back[d] + (places[d].back - back[d]) * factor;
}

static void check(tamis_design *design)
{
    script s = {0};
    tamis_sampler *own;
    tamis_law *law;
    assert_int_equal(tamis_sampler_new(&own, design, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (int i = 0; i < SAMPLES; i++) found[i] = 0;
    sampler = own;
    explore(&s, 1);
    double sum = 0;
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        uint32_t set = 0;
        size_t size = tamis_law_sample(&units, law, j);
        for (size_t i = 0; i < size; i++) set |= UINT32_C(1) << units[i];
        double p = tamis_law_probability(law, j).upper;
        if (fabs(found[set] - p) > 1e-9)
            fail_msg("%s: sample %x has %.15g, not %.15g", tamis_design_name(design), set, found[set], p);
        sum += found[set];
    }
    assert_true(fabs(sum - 1) < 1e-9);
    bits_from_seed(1);
    tamis_law_free(law);
    tamis_sampler_free(own);
    tamis_design_free(design);
}

static void every_choice_is_tried(void **state)
{
    static const char *const listed[] = {"conditional_poisson", "sampford", "brewer", "pivotal", "tille"};
    (void)state;
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        check(pps(listed[i], "0.2 0.3 0.6 0.9"));
        check(pps(listed[i], "1 1/2 1/4 1/4"));
        if (i > 2) check(pps(listed[i], "0.5 0.4 0.1 0.8 0.2"));
    }
    check(pps("sampford", "2/3 2/3 1/3 1/3"));
    check(pps("sampford", "0.99 0.51 0.5")); /* too many trials would fail: down the tree */
    check(pps("pivotal", "0.2 0.7 0.8 0.5 0.4 0.4"));
    check(pps("pivotal_random", "0.2 0.3 0.5"));
    check(pps("systematic", "0.2 0.3 0.6 0.9"));
    check(srs(5, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_choice_is_tried)};
    if (tamis_rng_new(&rng, NULL) != TAMIS_OK) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tamis_rng_free(rng);
    return failed;
}
