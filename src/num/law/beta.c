/* The distribution function is x^a (1-x)^b / (a B(a, b)) times a continued fraction (DLMF 8.17.22), which converges fast for x
 * below the mean; above it the law of 1 - X is used. The factor in front is computed from deviances and Stirling's error terms
 * (Loader 2000), because the logarithm of a gamma function of a large number has lost the digits that matter here. The quantile
 * is found by bisection. */
#include "num/law/beta.h"

#include <math.h>

#define PI 3.14159265358979323846

/* log n! - log of Stirling's formula, of n > 0. */
static double stirling_error(double n)
{
    if (n < 16) return lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.5 * log(2 * PI);
    const double m = n * n;
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / m) / m) / m) / m) / n;
}

/* x log(x / m) + m - x, for x near m too. */
static double deviance(double x, double m)
{
    const double v = (x - m) / (x + m);
    if (fabs(v) > 0.1) return x * log(x / m) + m - x;
    double sum = (x - m) * v, power = 2 * x * v;
    for (int j = 1; j < 100; j++) {
        power *= v * v;
        const double next = sum + power / (2 * j + 1);
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

/* x^a (1-x)^b / B(a, b): a b / (a + b) times the binomial probability of a among a + b. */
static double front(double x, double a, double b)
{
    const double n = a + b;
    const double log_mass = stirling_error(n) - stirling_error(a) - stirling_error(b) - deviance(a, n * x) -
                            deviance(b, n * (1 - x));
    return a * b / n * exp(log_mass) * sqrt(n / (2 * PI * a * b));
}

#define MOST_TERMS 100000
#define TINY 1e-300

/* The fraction's denominators and numerators by Lentz's method. */
static double fraction(double x, double a, double b)
{
    double f = 1, c = 1, d = 0;
    for (int i = 1; i < MOST_TERMS; i++) {
        const double m = i / 2;
        const double term = i % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                  : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        c = 1 + term / c;
        d = 1 + term * d;
        if (fabs(c) < TINY) c = TINY;
        if (fabs(d) < TINY) d = TINY;
        d = 1 / d;
        f *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return 1 / f;
}

double tmi_beta_share(double x, double a, double b)
{
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x <= (a + 1) / (a + b + 2)) return front(x, a, b) / a * fraction(x, a, b);
    return 1 - front(x, a, b) / b * fraction(1 - x, b, a);
}

double tmi_beta_quantile(double p, double a, double b)
{
    double low = 0, high = 1;
    if (a <= 0) return 0;
    if (b <= 0) return 1;
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high || high - low < 1e-16) return middle;
        if (tmi_beta_share(middle, a, b) < p) low = middle;
        else high = middle;
    }
}
