/* The paper on K-randomization, claim by claim, in exact integers: q = r/d, and the masses P(n, m, s) times d^n.
 * docs/papers.md#krand. */
#include "tests/test.h"

#include <gmp.h>

#include "num/number_gmp.h"

#define MOST 24

/* mass[n][m][s + 1]: s from -1 to n + 1. */
static mpz_t mass[MOST + 1][MOST + 1][MOST + 3];
static int lie, tell, whole; /* q, p and 1 in units of 1/d */
static const int fractions[][2] = {{1, 4}, {1, 10}, {2, 5}, {1, 20}, {3, 7}, {1, 3}};
#define FRACTIONS (sizeof fractions / sizeof *fractions)

static mpz_ptr P(int n, int m, int s) { return mass[n][m][s + 1]; }

/* Adds one report after the other: the ones first. */
static void fill(const int fraction[2])
{
    lie = fraction[0];
    whole = fraction[1];
    tell = whole - lie;
    for (int n = 0; n <= MOST; n++)
        for (int m = 0; m <= n; m++) {
            for (int s = -1; s <= n + 1; s++) mpz_set_ui(P(n, m, s), n == 0 && s == 0);
            for (int s = 0; s <= n && n > 0; s++) {
                bool one = n == m; /* the last one to report has a one only if all do */
                mpz_mul_si(P(n, m, s), P(n - 1, one ? m - 1 : m, s - 1), one ? tell : lie);
                mpz_t x;
                mpz_init(x);
                mpz_mul_si(x, P(n - 1, one ? m - 1 : m, s), one ? lie : tell);
                mpz_add(P(n, m, s), P(n, m, s), x);
                mpz_clear(x);
            }
        }
}

static int set_up(void **state)
{
    (void)state;
    for (int n = 0; n <= MOST; n++)
        for (int m = 0; m <= MOST; m++)
            for (int s = 0; s < MOST + 3; s++) mpz_init(mass[n][m][s]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int n = 0; n <= MOST; n++)
        for (int m = 0; m <= MOST; m++)
            for (int s = 0; s < MOST + 3; s++) mpz_clear(mass[n][m][s]);
    return 0;
}

/* sign of a b - c d */
static int compare(mpz_srcptr a, mpz_srcptr b, mpz_srcptr c, mpz_srcptr d)
{
    mpz_t x, y;
    mpz_inits(x, y, NULL);
    mpz_mul(x, a, b);
    mpz_mul(y, c, d);
    int sign = mpz_cmp(x, y);
    mpz_clears(x, y, NULL);
    return sign;
}

/* a x + b y == c z, a, b and c small */
static bool adds_up(long a, mpz_srcptr x, long b, mpz_srcptr y, long c, mpz_srcptr z)
{
    mpz_t sum, other;
    mpz_inits(sum, other, NULL);
    mpz_mul_si(sum, x, a);
    mpz_mul_si(other, y, b);
    mpz_add(sum, sum, other);
    mpz_mul_si(other, z, c);
    bool equal = mpz_cmp(sum, other) == 0;
    mpz_clears(sum, other, NULL);
    return equal;
}

static tamis_number *lie_number(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d/%d", lie, whole);
    return number(text);
}

/* The enclosure holds x / (y d^power). */
static void assert_holds(tamis_bound b, mpz_srcptr x, mpz_srcptr y, int power)
{
    mpq_t z, end;
    mpq_inits(z, end, NULL);
    mpz_set(mpq_numref(z), x);
    mpz_ui_pow_ui(mpq_denref(z), (unsigned long)whole, (unsigned long)power);
    if (y) mpz_mul(mpq_denref(z), mpq_denref(z), y);
    mpq_canonicalize(z);
    mpq_set_d(end, b.lower);
    assert_true(mpq_cmp(end, z) <= 0);
    if (isfinite(b.upper)) mpq_set_d(end, b.upper);
    assert_true(mpq_cmp(end, z) >= 0 && b.upper - b.lower <= 1e-11 * b.upper);
    mpq_clears(z, end, NULL);
}

/* (2.1): the sum over all synthetic collections, by their distance from the original one. */
static void the_law_is_a_sum_over_all_reports(void **state)
{
    mpz_t sum, term;
    (void)state;
    mpz_inits(sum, term, NULL);
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        for (int n = 1; n <= 9; n++)
            for (int m = 0; m <= n; m++)
                for (int s = 0; s <= n; s++) {
                    mpz_set_ui(sum, 0);
                    for (int y = 0; y < 1 << n; y++) {
                        if (__builtin_popcount((unsigned)y) != s) continue;
                        int distance = __builtin_popcount((unsigned)(y ^ ((1 << m) - 1)));
                        mpz_set_ui(term, 1);
                        for (int i = 0; i < n; i++) mpz_mul_si(term, term, i < distance ? lie : tell);
                        mpz_add(sum, sum, term);
                    }
                    assert_int_equal(mpz_cmp(sum, P(n, m, s)), 0);
                }
    }
    mpz_clears(sum, term, NULL);
}

/* Proposition 1.1: a bound for single results is one for all sets, with the same factor. */
static void single_results_decide_the_pure_eps(void **state)
{
    (void)state;
    fill(fractions[0]);
    for (int m = 0; m < 6; m++)
        for (int set = 1; set < 1 << 7; set++) {
            mpz_t one, zero;
            mpz_inits(one, zero, NULL);
            for (int s = 0; s <= 6; s++)
                if (set >> s & 1) {
                    mpz_add(one, one, P(6, m + 1, s));
                    mpz_add(zero, zero, P(6, m, s));
                }
            mpz_mul_si(zero, zero, tell); /* at most p/q times, both ways */
            mpz_mul_si(one, one, lie);
            assert_true(mpz_cmp(one, zero) <= 0);
            mpz_clears(one, zero, NULL);
        }
}

static void recursions_over_n_and_m(void **state)
{
    (void)state;
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        for (int n = 1; n <= MOST; n++)
            for (int m = 0; m <= n; m++)
                for (int s = 0; s <= n; s++) { /* (3.2) and (3.3) */
                    if (m >= 1) assert_true(adds_up(tell, P(n - 1, m - 1, s - 1), lie, P(n - 1, m - 1, s), 1, P(n, m, s)));
                    if (m < n) assert_true(adds_up(lie, P(n - 1, m, s - 1), tell, P(n - 1, m, s), 1, P(n, m, s)));
                }
    }
}

/* (3.4), times p q; also at s = n, where the left side is 0. */
static void three_terms(void **state)
{
    (void)state;
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        for (int n = 1; n <= MOST; n++)
            for (int m = 0; m <= n; m++)
                for (int s = 0; s <= n; s++)
                    assert_true(adds_up((long)(m - s) * tell * tell + (long)(n - m - s) * lie * lie, P(n, m, s),
                                        (long)(n - s + 1) * tell * lie, P(n, m, s - 1), (long)(s + 1) * tell * lie,
                                        P(n, m, s + 1)));
    }
}

/* rho falls in s and grows in m; pi falls in s, grows in m, and falls where both grow. */
static void ratios_are_monotone(void **state)
{
    (void)state;
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        for (int n = 1; n <= 14; n++)
            for (int m = 0; m <= n; m++)
                for (int s = 1; s <= n; s++) {
                    if (s < n) assert_true(compare(P(n, m, s + 1), P(n, m, s - 1), P(n, m, s), P(n, m, s)) <= 0);
                    if (m < n) assert_true(compare(P(n, m + 1, s), P(n, m, s - 1), P(n, m, s), P(n, m + 1, s - 1)) >= 0);
                    if (m < n) assert_true(compare(P(n, m, s - 1), P(n, m + 1, s), P(n, m + 1, s - 1), P(n, m, s)) >= 0);
                    if (m + 1 < n) assert_true(compare(P(n, m, s), P(n, m + 2, s), P(n, m + 1, s), P(n, m + 1, s)) <= 0);
                    if (m + 1 < n) assert_true(compare(P(n, m, s - 1), P(n, m + 2, s), P(n, m + 1, s - 1), P(n, m + 1, s)) >= 0);
                }
    }
}

/* (s+1) gamma_m(s) = (mu_m - s)/(pq) - n + 2s, times p q d^2. */
static void gamma_by_the_mean(void **state)
{
    (void)state;
    for (size_t f = 0; f < FRACTIONS; f++) {
        long q = fractions[f][0], d = fractions[f][1], p = d - q;
        for (long n = 1; n <= 40; n++)
            for (long m = 0; m <= n; m++)
                for (long s = 0; s <= n; s++)
                    assert_true((m - s) * p * p + (n - m - s) * q * q ==
                                (n * q + m * (p - q)) * d - s * d * d - (n - 2 * s) * p * q);
    }
}

static int floor_div(int x, int y) { return x >= 0 ? x / y : -((y - 1 - x) / y); }

/* Whether R_m(delta) <= R_0(delta + 1) at delta = k/d; true where a side is not defined. All delta in ((k-1)/d, k/d] are alike.
 * */
static bool location_claim(int n, int m, int k)
{
    int s = floor_div(n * lie + m * (tell - lie) - k, whole), t = floor_div(n * lie - k - whole, whole);
    if (s < 1 || t < 1) return true;
    return compare(P(n, m, s), P(n, 0, t - 1), P(n, 0, t), P(n, m, s - 1)) <= 0;
}

/* Proposition 3.2 is not proved. Beyond one standard deviation no case contradicts; nearer to the mean some do. */
static void the_open_proposition(void **state)
{
    int checked = 0;
    (void)state;
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        for (int n = 1; n <= MOST; n++)
            for (int m = 0; m <= n; m++)
                for (int k = 1; k <= n * whole; k++) {
                    if (k * k <= n * tell * lie) continue; /* delta <= sigma */
                    assert_true(location_claim(n, m, k));
                    checked++;
                }
    }
    assert_true(checked > 100000);
    fill(fractions[1]);
    assert_false(location_claim(21, 6, 1)); /* q = 0.1, delta = 0.1 < sigma */
}

/* Sums of masses: 3.1.3. */
static void distribution_functions(void **state)
{
    mpz_t F[MOST + 1][MOST + 2], x;
    (void)state;
    mpz_init(x);
    for (int m = 0; m <= MOST; m++)
        for (int s = 0; s < MOST + 2; s++) mpz_init(F[m][s]);
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        for (int n = 1; n <= 14; n++) {
            for (int m = 0; m <= n; m++) { /* F[m][s + 1] */
                mpz_set_ui(F[m][0], 0);
                for (int s = 0; s <= n; s++) mpz_add(F[m][s + 1], F[m][s], P(n, m, s));
            }
            for (int m = 1; m <= n; m++)
                for (int s = 0; s <= n; s++) {
                    mpz_sub(x, F[m - 1][s + 1], F[m][s + 1]); /* (p - q) P(n-1, m-1, s) */
                    assert_true(adds_up(tell - lie, P(n - 1, m - 1, s > n - 1 ? -1 : s), 0, x, 1, x));
                    if (s < n) {
                        mpz_sub(x, F[m][s + 2], F[m - 1][s + 1]);
                        assert_true(adds_up(lie, P(n - 1, m - 1, s), lie, P(n - 1, m - 1, s + 1), 1, x));
                        assert_true(mpz_cmp(F[m - 1][s + 1], F[m][s + 2]) <= 0);
                        mpz_sub(x, P(n, m, s + 1), P(n, m - 1, s)); /* q {P(s+1) - P(s-1)} */
                        assert_true(adds_up(lie, P(n - 1, m - 1, s + 1), -lie, P(n - 1, m - 1, s - 1), 1, x));
                    }
                    assert_true(mpz_cmp(F[m][s + 1], F[m - 1][s + 1]) <= 0);
                    mpz_sub(x, P(n, m, s), P(n, m - 1, s)); /* (p - q) {P(s-1) - P(s)} */
                    assert_true(adds_up(tell - lie, P(n - 1, m - 1, s - 1), lie - tell, P(n - 1, m - 1, s), 1, x));
                }
        }
    }
    for (int m = 0; m <= MOST; m++)
        for (int s = 0; s < MOST + 2; s++) mpz_clear(F[m][s]);
    mpz_clear(x);
}

/* pi(s; m) / pi(s; m-1) = (1 + (p-q) {P'(s-1) - P'(s)} / P(n, m-1, s)) / (the same with m), P' of n - 1 people: both are P(m)^2 /
 * (P(m-1) P(m+1)) by the identities of the masses. */
static void ratios_of_the_privacy_ratio(void **state)
{
    mpz_t a, b;
    (void)state;
    mpz_inits(a, b, NULL);
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        for (int n = 2; n <= 14; n++)
            for (int m = 1; m < n; m++)
                for (int s = 0; s <= n; s++) {
                    mpz_sub(a, P(n - 1, m - 1, s - 1), P(n - 1, m - 1, s));
                    mpz_mul_si(a, a, tell - lie);
                    mpz_add(a, a, P(n, m - 1, s)); /* numerator times P(n, m-1, s) */
                    mpz_sub(b, P(n - 1, m, s - 1), P(n - 1, m, s));
                    mpz_mul_si(b, b, tell - lie);
                    mpz_add(b, b, P(n, m, s));
                    assert_int_equal(mpz_cmp(a, P(n, m, s)), 0);
                    assert_int_equal(mpz_cmp(b, P(n, m + 1, s)), 0);
                }
    }
    mpz_clears(a, b, NULL);
}

/* The functions of the library against all of this. */
static void functions_enclose_the_fractions(void **state)
{
    mpz_t sum;
    (void)state;
    mpz_init(sum);
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        tamis_number *q = lie_number();
        for (int n = 1; n <= MOST; n += n < 4 ? 1 : 7)
            for (int m = 0; m <= n; m += 1 + n / 8) {
                mpz_set_ui(sum, 0);
                for (int s = 0; s <= n; s++) {
                    tamis_bound b;
                    mpz_add(sum, sum, P(n, m, s));
                    assert_int_equal(tamis_anonymous_mass(&b, n, m, q, s, NULL), TAMIS_OK);
                    assert_holds(b, P(n, m, s), NULL, n);
                    assert_int_equal(tamis_anonymous_at_most(&b, n, m, q, s, NULL), TAMIS_OK);
                    assert_holds(b, sum, NULL, n);
                    if (m == n) continue;
                    assert_int_equal(tamis_anonymous_ratio(&b, n, m, q, s, NULL), TAMIS_OK);
                    assert_holds(b, P(n, m, s), P(n, m + 1, s), 0);
                }
            }
        tamis_number_free(q);
    }
    mpz_clear(sum);
}

/* tau(m) is tau(m-1) or one more, and the same exactly if F(m-1) - alpha >= (p - q) P(n-1, m-1). */
static void quantiles(void **state)
{
    static const char *const levels[] = {"1/100", "1/3", "0.5", "0.95"};
    (void)state;
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        tamis_number *q = lie_number();
        for (int n = 1; n <= MOST; n += 5)
            for (int k = 0; k < 4; k++) {
                tamis_number *alpha = number(levels[k]);
                int64_t before = -1;
                for (int m = 0; m <= n; m++) {
                    int64_t tau;
                    mpq_t cdf, step;
                    assert_int_equal(tamis_anonymous_quantile(&tau, n, m, q, alpha, NULL), TAMIS_OK);
                    mpq_inits(cdf, step, NULL);
                    mpz_ui_pow_ui(mpq_denref(cdf), (unsigned long)whole, (unsigned long)n);
                    mpz_set(mpq_denref(step), mpq_denref(cdf));
                    if (m > 0) {
                        for (int s = 0; s <= before; s++) mpz_add(mpq_numref(cdf), mpq_numref(cdf), P(n, m - 1, s));
                        if (before < n) mpz_mul_si(mpq_numref(step), P(n - 1, m - 1, (int)before), tell - lie);
                        mpq_canonicalize(cdf);
                        mpq_canonicalize(step);
                        mpq_sub(cdf, cdf, alpha->value);
                        assert_true(tau == before || tau == before + 1);
                        assert_true((tau == before) == (mpq_cmp(cdf, step) >= 0));
                    }
                    mpq_clears(cdf, step, NULL);
                    before = tau;
                }
                tamis_number_free(alpha);
            }
        tamis_number_free(q);
    }
}

/* Claim 4.1, for a fixed s and both values of the person; and that the largest delta is elsewhere. */
static void maximal_collections(void **state)
{
    (void)state;
    for (size_t f = 0; f < FRACTIONS; f++) {
        fill(fractions[f]);
        for (int n = 2; n <= 14; n++) {
            int one = (int)tamis_anonymous_maximal(n, 1), zero = (int)tamis_anonymous_maximal(n, 0);
            assert_true(one == n - 1 && zero == 0);
            for (int m = 0; m < n; m++)
                for (int s = 0; s <= n; s++) { /* P(x' = 0) / P(x = 1) is largest at m = one, the inverse at m = zero */
                    assert_true(compare(P(n, one, s), P(n, m + 1, s), P(n, m, s), P(n, one + 1, s)) >= 0);
                    assert_true(compare(P(n, zero + 1, s), P(n, m, s), P(n, m + 1, s), P(n, zero, s)) >= 0);
                }
        }
    }
    tamis_number *q = number("1/20"), *e = number("1");
    tamis_reports r = {.reports = 14, .positions = 1, .lie_one = q};
    tamis_bound all, ends;
    tamis_anonymous_worst worst;
    assert_int_equal(tamis_anonymous_bit_delta(&all, &worst, &r, e, 0, 13, NULL), TAMIS_OK);
    assert_int_equal(tamis_anonymous_bit_delta(&ends, NULL, &r, e, 13, 13, NULL), TAMIS_OK);
    assert_true((worst.ones == 6 || worst.ones == 7) && fabs(all.upper - 0.517) < 1e-3 && fabs(ends.upper - 0.462) < 1e-3);
    tamis_number_free(q);
    tamis_number_free(e);
}

/* Lemmas 5.1 to 5.3 and Corollary 5.1 on random integers. */
static void ratios_of_sums(void **state)
{
    uint64_t stream = 7;
    int held = 0;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        int64_t a[4], b[4], x[4], y[4];
        for (int k = 0; k < 4; k++) {
            a[k] = 1 + (int64_t)(next_number(&stream) % 40);
            b[k] = 1 + (int64_t)(next_number(&stream) % 40);
            x[k] = 1 + (int64_t)(next_number(&stream) % 40);
            y[k] = 1 + (int64_t)(next_number(&stream) % 40);
        }
        int64_t top = a[0] + a[1] + a[2], bottom = b[0] + b[1] + b[2]; /* 5.1 */
        assert_true(top * b[0] <= a[0] * bottom || top * b[1] <= a[1] * bottom || top * b[2] <= a[2] * bottom);
        /* 5.2, two terms: a for a_i, b for a'_i, x for lambda, y for mu */
        if (x[0] * y[1] >= x[1] * y[0] && a[0] * b[1] >= b[0] * a[1]) {
            held++;
            assert_true((a[0] * x[0] + a[1] * x[1]) * (b[0] * y[0] + b[1] * y[1]) >=
                        (b[0] * x[0] + b[1] * x[1]) * (a[0] * y[0] + a[1] * y[1]));
        }
        /* Corollary 5.1: q = x0 < p = x1 */
        if (x[0] < x[1] && a[1] * b[0] >= b[1] * a[0])
            assert_true((x[0] * a[0] + x[1] * a[1]) * (x[1] * b[0] + x[0] * b[1]) >=
                        (x[0] * b[0] + x[1] * b[1]) * (x[1] * a[0] + x[0] * a[1]));
        /* 5.3: a, b, c and a', b', c'; b and c may be 0 */
        int64_t c = y[2] % 3, d = y[3] % 3, g = x[2] % 3, h = x[3] % 3;
        if (a[0] * h >= a[1] * g && a[0] * d <= a[1] * c && c * h >= d * g && g * x[0] + a[0] * y[0] > 0)
            assert_true((a[0] * x[0] + c * y[0]) * (h * x[0] + a[1] * y[0]) >=
                        (a[1] * x[0] + d * y[0]) * (g * x[0] + a[0] * y[0]));
    }
    assert_true(held > 10000);
}

/* The old section prints P <= eps P'. For one report with q = 1/4, eps = log 3: 3/4 is not at most 1.0986/4, but it is e^eps/4.
 * And the pure eps of any number of reports is that of one: all ones has the ratio p/q. */
static void the_old_section_and_the_pure_eps(void **state)
{
    (void)state;
    fill(fractions[0]);
    assert_true(0.75 > log(3) * 0.25 && 0.75 <= exp(log(3)) * 0.25 * (1 + 1e-15));
    for (int n = 1; n <= MOST; n++) {
        assert_true(adds_up(lie, P(n, n, n), 0, P(n, n, n), tell, P(n, n - 1, n)));
        for (int m = 0; m < n; m++)
            for (int s = 0; s <= n; s++) { /* nowhere more */
                mpz_t p, q;
                mpz_inits(p, q, NULL);
                mpz_mul_si(p, P(n, m, s), tell);
                mpz_mul_si(q, P(n, m + 1, s), lie);
                assert_true(mpz_cmp(q, p) <= 0);
                mpz_mul_si(p, P(n, m, s), lie);
                mpz_mul_si(q, P(n, m + 1, s), tell);
                assert_true(mpz_cmp(p, q) <= 0);
                mpz_clears(p, q, NULL);
            }
    }
    tamis_number *q = number("1/4"), *zero = number("0");
    for (int64_t n = 1; n <= TAMIS_MAX_REPORTS; n *= 1000) {
        for (int64_t L = 1; L <= 3; L++) {
            tamis_reports r = {.reports = n, .form = TAMIS_REPORT_WHOLE, .positions = L, .lie_one = q};
            tamis_bound eps;
            assert_int_equal(tamis_anonymous_epsilon(&eps, &r, zero, NULL), TAMIS_OK);
            assert_true(fabs(eps.upper - (double)L * log(3)) < 1e-14 && eps.lower <= (double)L * log(3));
        }
    }
    tamis_number_free(q);
    tamis_number_free(zero);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(the_law_is_a_sum_over_all_reports),
        cmocka_unit_test(single_results_decide_the_pure_eps),
        cmocka_unit_test(recursions_over_n_and_m),
        cmocka_unit_test(three_terms),
        cmocka_unit_test(ratios_are_monotone),
        cmocka_unit_test(gamma_by_the_mean),
        cmocka_unit_test(the_open_proposition),
        cmocka_unit_test(distribution_functions),
        cmocka_unit_test(ratios_of_the_privacy_ratio),
        cmocka_unit_test(functions_enclose_the_fractions),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(maximal_collections),
        cmocka_unit_test(ratios_of_sums),
        cmocka_unit_test(the_old_section_and_the_pure_eps),
    };
    return cmocka_run_group_tests(all, set_up, tear_down);
}
