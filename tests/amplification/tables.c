/* What sampling adds, against brute force over all mechanisms.
 *
 * A table with two outcomes gives to every sample s the probability u(s) of the first. It is eps-private if u(s) <= E
 * u(s') and 1 - u(s) <= E (1 - u(s')) for samples one step apart. Multiplied by a small number it stays private and
 * keeps its ratios, and only the first condition is left. So the worst ratio of two mixtures of u over all private tables
 * is that over a cone, attained on its extreme rays: there the tight conditions connect all samples, and u = E^k with
 * integers k that differ by at most 1 from one step to the next. These are finitely many, and with E = 2 or 3 all
 * arithmetic is exact: nothing below is sampled. A sample is told by how often each of two or three values occurs.   */
#include "tests/test.h"

#include "tests/amplification/claims.h"

enum { MOST_UNITS = 7, VALUES = 3, MOST_STATES = 120, MOST_POPULATIONS = 729, SHIFT = 14 };

typedef __int128 wide;

/* ---- the law of the sample, for every population ---- */

/* How often each value occurs in a sample. */
typedef struct counts {
    int of[VALUES];
} counts;

typedef struct sampled {
    int units, values, populations;
    int64_t whole;                                /* common denominator */
    int64_t share[MOST_POPULATIONS][MOST_STATES]; /* of it, by population and state */
    counts state[MOST_STATES];
    int states;
} sampled;

static int size_of(counts c) { return c.of[0] + c.of[1] + c.of[2]; }

/* The value of a unit in population x, a number with one digit a unit. */
static int value_of(const sampled *s, int x, int unit)
{
    for (; unit > 0; unit--) x /= s->values;
    return x % s->values;
}

static int power(int x, int k) { return k == 0 ? 1 : x * power(x, k - 1); }

/* Every sample of up to MOST_UNITS records: the states are the same for every design. */
static void list_states(sampled *s)
{
    for (int size = 0; size <= MOST_UNITS; size++)
        for (int ones = 0; ones <= size; ones++)
            for (int twos = 0; twos <= (s->values == 3 ? size - ones : 0); twos++)
                s->state[s->states++] = (counts){{size - ones - twos, ones, twos}};
}

static int find(const sampled *s, counts c)
{
    for (int i = 0; i < s->states; i++)
        if (memcmp(&s->state[i], &c, sizeof c) == 0) return i;
    fail();
    return 0;
}

static int64_t gcd(int64_t a, int64_t b) { return b == 0 ? a : gcd(b, a % b); }

/* Probabilities that are not rational are cut after 40 bits. */
static void fraction(int64_t *p, int64_t *q, const tamis_law *law, size_t j)
{
    const tamis_number *exact = tamis_law_exact(law, j);
    char *text;
    if (!exact) {
        *q = INT64_C(1) << 40;
        *p = llround(ldexp(tamis_law_probability(law, j).lower, 40));
        return;
    }
    assert_int_equal(tamis_number_write(&text, exact, NULL), TAMIS_OK);
    char *slash = strchr(text, '/');
    *p = strtoll(text, NULL, 10);
    *q = slash ? strtoll(slash + 1, NULL, 10) : 1;
    tamis_free(text);
}

static sampled *sample_all(const tamis_design *design, int values)
{
    sampled *s = calloc(1, sizeof *s);
    tamis_law *law;
    int64_t p, q;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    s->units = (int)tamis_design_population(design);
    s->values = values;
    s->populations = power(values, s->units);
    assert_true(s->units <= MOST_UNITS && s->populations <= MOST_POPULATIONS);
    list_states(s);
    s->whole = 1;
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        fraction(&p, &q, law, j);
        s->whole = s->whole / gcd(s->whole, q) * q;
    }
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        size_t size = tamis_law_sample(&units, law, j);
        fraction(&p, &q, law, j);
        for (int x = 0; x < s->populations; x++) {
            counts c = {0};
            for (size_t i = 0; i < size; i++) c.of[value_of(s, x, units[i])]++;
            s->share[x][find(s, c)] += s->whole / q * p;
        }
    }
    tamis_law_free(law);
    return s;
}

/* ---- all tables ---- */

typedef struct search {
    const sampled *big, *small; /* small: the frame without the last unit; NULL if records are replaced */
    tamis_neighbours mechanism;
    int64_t power[2 * SHIFT + 1];
    int count, state[MOST_STATES], k[MOST_STATES]; /* states that are compared, and their tables */
    wide above, below;                             /* the worst ratio */
    long tables;
} search;

static bool one_step(const search *s, int i, int j)
{
    counts a = s->big->state[s->state[i]], b = s->big->state[s->state[j]];
    int apart = 0;
    for (int v = 0; v < VALUES; v++) apart += abs(a.of[v] - b.of[v]);
    const bool replaced = size_of(a) == size_of(b) && apart == 2;
    return s->mechanism == TAMIS_REPLACE ? replaced : apart == 1 || (replaced && s->mechanism == TAMIS_ANY_ONE);
}

static wide expected(const search *s, const sampled *frame, int x)
{
    wide sum = 0;
    for (int i = 0; i < s->count; i++) sum += (wide)frame->share[x][s->state[i]] * s->power[s->k[i] + SHIFT];
    return sum;
}

static void keep(search *s, wide p, wide q)
{
    if (q == 0) {
        assert_true(p == 0);
    } else if (p * s->below > s->above * q) {
        s->above = p;
        s->below = q;
    }
}

static void judge(search *s)
{
    static wide p[MOST_POPULATIONS];
    s->tables++;
    for (int x = 0; x < s->big->populations; x++) p[x] = expected(s, s->big, x);
    if (s->small) { /* the last unit is the last digit */
        for (int x = 0; x < s->big->populations; x++) {
            wide q = expected(s, s->small, x % s->small->populations);
            keep(s, p[x] * s->small->whole, q * s->big->whole);
            keep(s, q * s->big->whole, p[x] * s->small->whole);
        }
        return;
    }
    for (int unit = 0, digit = 1; unit < s->big->units; unit++, digit *= s->big->values)
        for (int x = 0; x < s->big->populations; x++)
            for (int v = 0, own = value_of(s->big, x, unit); v < s->big->values; v++) keep(s, p[x], p[x + (v - own) * digit]);
}

static void extend(search *s, int i)
{
    int low = -SHIFT, high = SHIFT;
    if (i == s->count) {
        judge(s);
        return;
    }
    for (int j = 0; j < i; j++) {
        if (!one_step(s, i, j)) continue;
        low = s->k[j] - 1 > low ? s->k[j] - 1 : low;
        high = s->k[j] + 1 < high ? s->k[j] + 1 : high;
    }
    if (i == 0) low = high = 0;
    for (int k = low; k <= high; k++) {
        s->k[i] = k;
        extend(s, i + 1);
    }
}

static bool reached(const sampled *s, int size)
{
    for (int i = 0; s && i < s->states; i++)
        for (int x = 0; x < s->populations && size_of(s->state[i]) == size; x++)
            if (s->share[x][i] > 0) return true;
    return false;
}

/* e^eps of the worst table. */
static double worst_table(const tamis_design *big, const tamis_design *small, int values, tamis_neighbours mechanism, int64_t E)
{
    search s = {.big = sample_all(big, values),
                .small = small ? sample_all(small, values) : NULL,
                .mechanism = mechanism,
                .above = 1,
                .below = 1};
    int largest = 0;
    s.power[0] = 1;
    for (int k = 1; k <= 2 * SHIFT; k++) s.power[k] = s.power[k - 1] * E;
    for (int size = 0; size <= MOST_UNITS; size++)
        if (reached(s.big, size) || reached(s.small, size)) largest = size;
    for (int size = 0; size <= largest; size++) { /* samples of different sizes do not compare if records are replaced */
        if (mechanism == TAMIS_REPLACE) s.count = 0;
        for (int i = 0; i < s.big->states; i++)
            if (size_of(s.big->state[i]) == size) s.state[s.count++] = i;
        if (mechanism == TAMIS_REPLACE && (reached(s.big, size) || reached(s.small, size))) extend(&s, 0);
    }
    if (mechanism != TAMIS_REPLACE) extend(&s, 0);
    assert_true(s.tables > 0);
    free((void *)(uintptr_t)s.big);
    free((void *)(uintptr_t)s.small);
    return (double)s.above / (double)s.below;
}

/* ---- claims ---- */

static const char *const log_of[] = {"", "", "0.6931471805599453094172321214581765680755", "1.0986122886681098"};

typedef struct attempt {
    const char *name;
    tamis_design *design, *small;
    tamis_neighbours mechanism;
    bool attained;
    int values;
} attempt;

/* One of two clusters in each of two strata, and parts of them. */
static tamis_design *four_in_two_strata(void)
{
    tamis_design *second[] = {srs(2, 1), srs(2, 1), srs(2, 1), census(1)}, *design;
    assert_int_equal(tamis_design_take_stages(&design, strata(srs(2, 1), srs(2, 1)), second, 4, NULL), TAMIS_OK);
    return design;
}

static void no_table_loses_more(void **state)
{
    attempt attempts[] = {
        {"srs 3/7", srs(7, 3), NULL, TAMIS_REPLACE, true, 2},
        {"srs 2/5", srs(5, 2), NULL, TAMIS_REPLACE, true, 2},
        {"srs 4/4", srs(4, 4), NULL, TAMIS_REPLACE, true, 2},
        {"srs, mechanism adds and removes", srs(4, 2), NULL, TAMIS_ADD_REMOVE, true, 2},
        {"with replacement 2/2", with_replacement(2, 2), NULL, TAMIS_REPLACE, true, 2},
        {"with replacement 3/4", with_replacement(4, 3), NULL, TAMIS_REPLACE, true, 2},
        {"clusters 1 of 3, size 2", stages(srs(3, 1), census(2), census(2), census(2)), NULL, TAMIS_REPLACE, true, 2},
        {"clusters 2 of 3, size 2", stages(srs(3, 2), census(2), census(2), census(2)), NULL, TAMIS_REPLACE, true, 2},
        {"clusters 1 of 2, size 3", clusters(srs(2, 1), 3, 3), NULL, TAMIS_REPLACE, true, 2},
        {"clusters 1 of 2, sizes 1 and 2", clusters(srs(2, 1), 1, 2), NULL, TAMIS_ADD_REMOVE, true, 2},
        {"clusters 1 of 2, sizes 1 and 2, replaced", clusters(srs(2, 1), 1, 2), NULL, TAMIS_REPLACE, true, 2},
        {"clusters 1 of 3, sizes 1, 1, 2", stages(srs(3, 1), census(1), census(1), census(2)), NULL, TAMIS_ADD_REMOVE, true, 2},
        {"clusters, Poisson", stages(pps("poisson", "0.25 0.5 0.5"), census(2), census(1), census(1)), NULL, TAMIS_ADD_REMOVE,
         true, 2},
        {"clusters, systematic", stages(systematic(3, 2, 0), census(1), census(2), census(1)), NULL, TAMIS_ADD_REMOVE, false, 2},
        {"systematic 1 in 2", systematic(6, 3, 0), NULL, TAMIS_REPLACE, true, 2},
        {"systematic 1 in 3", systematic(6, 2, 0), NULL, TAMIS_REPLACE, true, 2},
        {"systematic 3/7", systematic(7, 3, 0), NULL, TAMIS_REPLACE, false, 2},
        {"systematic, random order", systematic(6, 2, 1), NULL, TAMIS_REPLACE, true, 2},
        {"sampford", pps("sampford", "0.3 0.7 0.3 0.7"), NULL, TAMIS_REPLACE, true, 2},
        {"sampford", pps("sampford", "0.2 0.7 0.8 0.5 0.4 0.4"), NULL, TAMIS_REPLACE, true, 2},
        {"pivotal", pps("pivotal", "0.2 0.7 0.8 0.5 0.4 0.4"), NULL, TAMIS_REPLACE, true, 2},
        {"pivotal, random order", pps("pivotal_random", "0.3 0.7 0.3 0.7"), NULL, TAMIS_REPLACE, true, 2},
        {"conditional Poisson", pps("conditional_poisson", "0.2 0.7 0.6 0.5"), NULL, TAMIS_REPLACE, true, 2},
        {"with a unit that is always there", pps("sampford", "1 0.25 0.75"), NULL, TAMIS_REPLACE, true, 2},
        {"strata", strata(srs(4, 2), srs(3, 1)), NULL, TAMIS_REPLACE, true, 2},
        {"strata, mixed", strata(pps("sampford", "0.25 0.75"), bernoulli(1, "1/3")), NULL, TAMIS_ADD_REMOVE, true, 2},
        {"two stages, one each", stages(srs(3, 1), srs(2, 1), srs(2, 1), srs(2, 1)), NULL, TAMIS_REPLACE, true, 2},
        {"two stages", two_of(srs(2, 1), 3, 2), NULL, TAMIS_REPLACE, true, 3},
        {"two stages, all clusters", two_of(srs(2, 2), 3, 1), NULL, TAMIS_REPLACE, true, 2},
        {"Poisson", pps("poisson", "0.5 0.25 0.75"), NULL, TAMIS_ADD_REMOVE, true, 2},
        {"Poisson, mechanism replaces", pps("poisson", "0.5 0.25 0.75"), NULL, TAMIS_REPLACE, true, 2},
        {"Poisson, either", pps("poisson", "0.5 0.25 0.75"), NULL, TAMIS_ANY_ONE, true, 2},
        {"srs, either", srs(4, 2), NULL, TAMIS_ANY_ONE, true, 2},
        {"clusters of two sizes, either", clusters(srs(2, 1), 1, 2), NULL, TAMIS_ANY_ONE, true, 2},
        {"clusters of three sizes, either", stages(srs(3, 1), census(1), census(2), census(3)), NULL, TAMIS_ANY_ONE, false, 2},
        {"a small cluster that is likely, either", stages(pps("sampford", "0.8 0.1 0.1"), census(1), census(3), census(3)), NULL,
         TAMIS_ANY_ONE, false, 2},
        {"clusters 2 of 3, either", stages(srs(3, 2), census(1), census(2), census(1)), NULL, TAMIS_ANY_ONE, false, 2},
        {"Poisson clusters, either", stages(pps("poisson", "0.25 0.5 0.5"), census(2), census(1), census(1)), NULL, TAMIS_ANY_ONE,
         false, 2},
        {"two stages, one and two, either", stages(srs(3, 1), srs(2, 1), srs(2, 2), srs(2, 1)), NULL, TAMIS_ANY_ONE, false, 2},
        {"two stages, sampford", stages(pps("sampford", "0.5 0.25 0.25"), srs(2, 1), srs(2, 1), srs(2, 1)), NULL, TAMIS_REPLACE,
         true, 2},
        {"two stages, conditional Poisson", stages(pps("conditional_poisson", "0.9 0.5 0.6"), srs(2, 1), srs(2, 1), srs(2, 1)),
         NULL, TAMIS_REPLACE, true, 2},
        {"two stages, pivotal", stages(pps("pivotal", "0.9 0.5 0.6"), srs(2, 1), srs(2, 1), srs(2, 1)), NULL, TAMIS_REPLACE, true,
         2},
        {"two stages, a stratum of the first", four_in_two_strata(), NULL, TAMIS_ANY_ONE, false, 2},
        {"a stratum of two stages", strata(two_of(srs(2, 1), 2, 1), srs(3, 1)), NULL, TAMIS_REPLACE, true, 2},
        {"two stages, one of two and two of three, either", stages(srs(3, 2), srs(2, 1), srs(3, 2), srs(2, 1)), NULL,
         TAMIS_ANY_ONE, false, 2},
        {"two stages, systematic inside", two_of_systematic(srs(2, 1), 3, 1), NULL, TAMIS_REPLACE, true, 2},
        {"two stages, Bernoulli inside", stages(srs(3, 1), bernoulli(2, "1/2"), bernoulli(1, "1/3"), bernoulli(2, "1/2")), NULL,
         TAMIS_ANY_ONE, false, 2},
        {"within clusters, systematic", stages(pps("systematic", "0.25 0.5 0.25"), srs(2, 1), srs(2, 1), srs(2, 1)), NULL,
         TAMIS_REPLACE, false, 2},
        {"within clusters, systematic 2 of 3", stages(pps("systematic", "0.9 0.5 0.6"), srs(2, 1), srs(2, 1), srs(2, 1)), NULL,
         TAMIS_REPLACE, false, 2},
        {"within clusters, take all", stages(pps("systematic", "1 0.5 0.5"), srs(2, 1), srs(2, 1), srs(2, 1)), NULL,
         TAMIS_REPLACE, true, 2},
        {"within clusters, random order", stages(pps("systematic_random", "0.25 0.5 0.25"), srs(2, 1), srs(3, 2), srs(2, 1)),
         NULL, TAMIS_ANY_ONE, false, 2},
        {"within clusters, Tille", stages(pps("tille", "0.9 0.5 0.6"), srs(2, 1), srs(2, 1), srs(3, 1)), NULL, TAMIS_REPLACE,
         false, 2},
        {"within clusters, Brewer",
         stages(pps("brewer", "0.3 0.3 0.4"), bernoulli(2, "1/2"), bernoulli(2, "1/3"), bernoulli(1, "1/2")), NULL, TAMIS_ANY_ONE,
         false, 2},
        {"within clusters, whole ones too", stages(pps("systematic", "0.25 0.5 0.25"), srs(2, 1), census(2), srs(2, 1)), NULL,
         TAMIS_ANY_ONE, false, 2},
        {"census", census(3), NULL, TAMIS_REPLACE, true, 2},
        {"census, added", census(3), census(2), TAMIS_ADD_REMOVE, true, 2},
        {"Bernoulli, added", bernoulli(3, "1/3"), bernoulli(2, "1/3"), TAMIS_ADD_REMOVE, true, 2},
        {"srs, added", srs(6, 3), srs(5, 3), TAMIS_REPLACE, true, 2},
        {"srs, added, mechanism adds", srs(4, 2), srs(3, 2), TAMIS_ADD_REMOVE, true, 2},
        {"with replacement, added", with_replacement(4, 2), with_replacement(3, 2), TAMIS_REPLACE, true, 2},
        {"clusters, one grows", clusters(srs(2, 1), 1, 2), clusters(srs(2, 1), 1, 1), TAMIS_ADD_REMOVE, true, 2},
        {"two stages, mechanism adds", two_of(srs(2, 1), 2, 1), NULL, TAMIS_ADD_REMOVE, true, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        attempt *a = &attempts[i];
        for (int64_t E = 2; E <= (a->mechanism == TAMIS_REPLACE && a->values == 2 ? 3 : 2); E++) {
            double bound = exp(claimed(a->design, log_of[E], a->small ? TAMIS_ADD_REMOVE : TAMIS_REPLACE, a->mechanism));
            double worst = worst_table(a->design, a->small, a->values, a->mechanism, E);
            if (worst > bound * (1 + 1e-11)) fail_msg("%s: %.12g is lost, %.12g claimed", a->name, worst, bound);
            if (a->attained && worst < bound * (1 - 1e-9)) fail_msg("%s: %.12g is lost, %.12g claimed", a->name, worst, bound);
        }
        tamis_design_free(a->design);
        tamis_design_free(a->small);
    }
}

/* Where a missing record is one that adds nothing, clusters of unequal sizes lose what they would lose filled up. */
static void clusters_of_unequal_sizes_lose_as_if_filled_up(void **state)
{
    tamis_design *unequal = clusters(srs(2, 1), 1, 2), *equal = clusters(srs(2, 1), 2, 2);
    (void)state;
    double bound = exp(claimed(equal, log_of[2], TAMIS_REPLACE, TAMIS_ANY_ONE));
    double worst = worst_table(unequal, NULL, 2, TAMIS_ANY_ONE, 2);
    assert_true(worst <= bound * (1 + 1e-11));
    assert_true(worst >= bound * (1 - 1e-9));
    assert_true(fabs(bound - exp(claimed(unequal, log_of[2], TAMIS_REPLACE, TAMIS_ANY_ONE))) < 1e-9);
    assert_true(bound < exp(claimed(unequal, log_of[2], TAMIS_REPLACE, TAMIS_ADD_REMOVE)));
    tamis_design_free(unequal);
    tamis_design_free(equal);
}

/* A cluster that takes the place of another exchanges as many records as the larger of the two has. Neither the unit's own
 * cluster alone nor the smaller of the two bounds what is lost: some table loses more than the formula gives with these. */
static void the_larger_of_two_clusters_counts(void **state)
{
    static const struct {
        const char *pi;
        double inclusion; /* of the small cluster's unit, which loses most */
        int64_t sizes[3];
    } cases[] = {{"0.8 0.1 0.1", 0.8, {1, 3, 3}}, {"0.7 0.2 0.1", 0.7, {1, 2, 2}}, {"0.6 0.2 0.2", 0.6, {2, 2, 3}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t *n = cases[i].sizes;
        tamis_design *design = stages(pps("sampford", cases[i].pi), census(n[0]), census(n[1]), census(n[2]));
        const double w = cases[i].inclusion, worst = worst_table(design, NULL, 2, TAMIS_ANY_ONE, 2);
        const double bound = exp(claimed(design, log_of[2], TAMIS_REPLACE, TAMIS_ANY_ONE));
        double largest = 1;
        for (int c = 0; c < 3; c++) { /* by the own size, which is the smaller one for the unit that loses most */
            const double q = c == 0 ? w : strtod(c == 1 ? cases[i].pi + 4 : cases[i].pi + 8, NULL),
                         S = (1 - q) * exp2(-(double)n[c]);
            largest = fmax(largest, (q + S) / (q / 2 + S));
        }
        if (worst <= largest * (1 + 1e-9) || worst > bound * (1 + 1e-11))
            fail_msg("%zu: %.9g is lost, %.9g claimed, %.9g by the own size", i, worst, bound, largest);
        tamis_design_free(design);
    }
}

/* The tempting formula 1 + pi (e^eps - 1) is wrong where units come and go together. */
static void clusters_are_no_simple_random_samples(void **state)
{
    tamis_design *one_in_two = systematic(6, 3, 0), *pairs = stages(srs(3, 1), census(2), census(2), census(2));
    (void)state;
    assert_true(worst_table(one_in_two, NULL, 2, TAMIS_REPLACE, 2) > 1 + 1. / 2 * (2 - 1) + 0.2);
    assert_true(worst_table(pairs, NULL, 2, TAMIS_REPLACE, 2) > 1 + 1. / 3 * (2 - 1) + 0.05);
    tamis_design_free(one_in_two);
    tamis_design_free(pairs);
}

/* What is claimed within clusters is 1 + f (E - 1), whatever drew them; with many records a cluster, some first stage comes
 * near. */
static void what_holds_within_clusters_is_almost_attained(void **state)
{
    tamis_design *known = stages(pps("systematic", "0.5 0.25 0.25"), srs(3, 2), srs(2, 1), srs(2, 1)),
                 *pairs = two_of(pps("brewer", "0.5 0.5"), 3, 2);
    (void)state;
    assert_true(fabs(exp(claimed(known, log_of[2], TAMIS_REPLACE, TAMIS_ANY_ONE)) - (1 + 2. / 3)) < 1e-9);
    assert_true(fabs(exp(claimed(pairs, log_of[3], TAMIS_REPLACE, TAMIS_REPLACE)) - (1 + 2. / 3 * 2)) < 1e-9);
    /* more than the rate of the unit, and more than two proved stages */
    assert_true(worst_table(pairs, NULL, 2, TAMIS_REPLACE, 3) > 1 + 1. / 3 * 2 + 0.1);
    tamis_design_free(known);
    tamis_design_free(pairs);
}

/* Units that are drawn by themselves at the rate f inside clusters lose no more than 1 + f (E - 1), however clusters are drawn,
 * of whatever sizes: what is claimed of one unit at that rate (plan/law.c). If all clusters are drawn, some table loses that. */
static void what_holds_of_bernoulli_inside_clusters(void **state)
{
    struct {
        tamis_design *design;
        bool attained;
    } cases[] = {{stages(srs(3, 1), bernoulli(2, "1/3"), bernoulli(1, "1/3"), bernoulli(1, "1/3")), false},
                 {stages(srs(3, 2), bernoulli(1, "1/3"), bernoulli(1, "1/3"), bernoulli(2, "1/3")), false},
                 {stages(srs(3, 3), bernoulli(2, "1/3"), bernoulli(1, "1/3"), bernoulli(1, "1/3")), true},
                 {stages(systematic(3, 1, 0), bernoulli(1, "1/3"), bernoulli(2, "1/3"), bernoulli(1, "1/3")), false},
                 {stages(pps("systematic", "1 0.5 0.5"), bernoulli(2, "1/3"), bernoulli(1, "1/3"), bernoulli(1, "1/3")), true},
                 {stages(pps("sampford", "0.5 0.25 0.25"), bernoulli(1, "1/3"), bernoulli(1, "1/3"), bernoulli(2, "1/3")), false},
                 {stages(pps("brewer", "0.3 0.3 0.4"), bernoulli(2, "1/3"), bernoulli(1, "1/3"), bernoulli(1, "1/3")), false}};
    tamis_design *one = bernoulli(1, "1/3");
    (void)state;
    const double bound = exp(claimed(one, log_of[2], TAMIS_REPLACE, TAMIS_ANY_ONE));
    assert_true(fabs(bound - (1 + 1. / 3)) < 1e-9);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double worst = worst_table(cases[i].design, NULL, 2, TAMIS_ANY_ONE, 2);
        assert_true(worst <= bound * (1 + 1e-11) && worst > 1);
        if (cases[i].attained) assert_true(worst >= bound * (1 - 1e-9));
        tamis_design_free(cases[i].design);
    }
    tamis_design_free(one);
}

/* ---- approximate promises ---- */

/* A table of 0/1 samples of one size is judged at E: the smallest delta on the sample, and on the population at G. */
static double table_delta(const double *u, int last, double E)
{
    double delta = 0;
    for (int k = 0; k < last; k++)
        for (int order = 0; order < 2; order++) {
            double p = u[k + order], q = u[k + 1 - order];
            delta = fmax(delta, fmax(p - E * q, 1 - p - E * (1 - q)));
        }
    return delta;
}

static double population_delta(const sampled *s, const double *u, int size, double G)
{
    double p[1 << MOST_UNITS], delta = 0;
    for (int x = 0; x < s->populations; x++) {
        p[x] = 0;
        for (int i = 0; i < s->states; i++)
            if (size_of(s->state[i]) == size) p[x] += u[s->state[i].of[1]] * (double)s->share[x][i] / (double)s->whole;
    }
    for (int x = 0; x < s->populations; x++)
        for (int i = 0; i < s->units; i++)
            delta = fmax(delta, fmax(p[x] - G * p[x ^ 1 << i], 1 - p[x] - G * (1 - p[x ^ 1 << i])));
    return delta;
}

static void no_table_has_a_larger_delta(void **state)
{
    struct {
        tamis_design *design;
        int size;
    } cases[] = {
        {srs(6, 3), 3},
        {with_replacement(4, 3), 3},
        {clusters(srs(2, 1), 3, 3), 3},
        {stages(srs(3, 2), census(2), census(2), census(2)), 4},
        {systematic(6, 2, 0), 2},
        {two_of(srs(2, 1), 3, 2), 2},
        {pps("sampford", "0.2 0.7 0.6 0.5"), 2},
        {strata(srs(4, 2), srs(3, 1)), 3},
    };
    (void)state;
    srand(7); /* any tables will do: the claim is for all of them */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sampled *s = sample_all(cases[i].design, 2);
        for (int trial = 0; trial < 60; trial++) {
            double u[MOST_UNITS + 1], eps = (trial % 5) / 3.0;
            char text[2][40];
            tamis_amplified a;
            for (int k = 0; k <= cases[i].size; k++) u[k] = trial < 20 ? (k > trial % 4) : (rand() % 101) / 100.0;
            snprintf(text[0], sizeof text[0], "%.17g", eps);
            snprintf(text[1], sizeof text[1], "%.17g", table_delta(u, cases[i].size, exp(eps)));
            assert_int_equal(claim(&a, cases[i].design, text[0], text[1], TAMIS_REPLACE, TAMIS_REPLACE, NULL), TAMIS_OK);
            double delta = population_delta(s, u, cases[i].size, exp(a.eps.upper));
            if (delta > a.delta.upper + 1e-12) fail_msg("design %zu: delta %g, %g claimed", i, delta, a.delta.upper);
            tamis_amplified_clear(&a);
        }
        free(s);
        tamis_design_free(cases[i].design);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_table_loses_more),
        cmocka_unit_test(the_larger_of_two_clusters_counts),
        cmocka_unit_test(clusters_are_no_simple_random_samples),
        cmocka_unit_test(clusters_of_unequal_sizes_lose_as_if_filled_up),
        cmocka_unit_test(what_holds_within_clusters_is_almost_attained),
        cmocka_unit_test(what_holds_of_bernoulli_inside_clusters),
        cmocka_unit_test(no_table_has_a_larger_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
