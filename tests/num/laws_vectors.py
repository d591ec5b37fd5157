"""Writes tests/num/laws_vectors.h: probabilities computed by mpmath with 60 digits or more, stored with 40.

Run by hand when a row is added: python3 laws_vectors.py > laws_vectors.h
The sums are taken term by term, outwards from k until the terms are below 1e-60 of the sum: slow and simple.
"""
from fractions import Fraction
from mpmath import mp, mpf, exp, log, loggamma, nstr, erfc, sqrt

mp.dps = 75


def real(x):
    x = Fraction(x)
    return mpf(x.numerator) / x.denominator


def logchoose(n, k):
    return loggamma(mpf(n + 1)) - loggamma(mpf(k + 1)) - loggamma(mpf(n - k + 1))


def text(x):
    return nstr(x, 40, min_fixed=1, max_fixed=0)


def outwards(mass, ratio, k, last, step):
    total, term = mpf(1), mpf(1)
    while k != last:
        term *= ratio(k, step)
        k += step
        total += term
        if term < total * mpf(10) ** -60:
            break
    return total * mass


def hypergeometric(N, K, n, k):
    mass = lambda k: exp(logchoose(K, k) + logchoose(N - K, n - k) - logchoose(N, n))

    def ratio(k, step):
        if step > 0:
            return mpf((K - k) * (n - k)) / ((k + 1) * (N - K - n + k + 1))
        return mpf(k * (N - K - n + k)) / ((K - k + 1) * (n - k + 1))

    up = outwards(mass(k), ratio, k, min(n, K), 1) if k * N > n * K else None
    down = outwards(mass(k), ratio, k, max(0, n + K - N), -1) if k * N <= n * K else None
    if up is None:
        up = 1 - down + mass(k)
    else:
        down = 1 - up + mass(k)
    return mass(k), up, down


def binomial(n, p, k):
    q = 1 - Fraction(p)
    odds = Fraction(p) / q
    mass = lambda k: exp(logchoose(n, k) + k * log(real(p)) + (n - k) * log(real(q)))

    def ratio(k, step):
        return real(odds) * (n - k) / (k + 1) if step > 0 else k / real(odds) / (n - k + 1)

    if k > n * Fraction(p):
        up = outwards(mass(k), ratio, k, n, 1)
        return mass(k), up, 1 - up + mass(k)
    down = outwards(mass(k), ratio, k, 0, -1)
    return mass(k), 1 - down + mass(k), down


print("/* Written by laws_vectors.py. */")
print("static const struct { int64_t population, ones, sample, k; const char *mass, *at_least, *at_most; } "
      "hypergeometric_vectors[] = {")
for N, K, n, k in [(330000000, 10000000, 1000000, 29618), (330000000, 10000000, 1000000, 30303), (330000000, 165000000, 1000000, 500000),
                   (330000000, 165000000, 1000000, 506000), (10**12, 10**6, 10**6, 1), (10**12, 10**6, 10**6, 12),
                   (10**12, 3, 5 * 10**11, 2), (10**12, 10**9, 10**6, 1200), (2**40, 2**39, 3000, 1000), (1000, 999, 500, 499),
                   (400, 37, 40, 12), (60000, 6000, 6000, 600)]:
    m, u, d = hypergeometric(N, K, n, k)
    print(f'    {{{N}, {K}, {n}, {k}, "{text(m)}", "{text(u)}",\n     "{text(d)}"}},')
print("};")
print("static const struct { int64_t trials; const char *probability; int64_t k; const char *mass, *at_least, *at_most; } "
      "binomial_vectors[] = {")
for n, p, k in [(10**6, "0.03", 30000), (10**6, "0.03", 29000), (10**6, "0.03", 31500), (10**12, "1e-12", 0), (10**12, "1e-12", 1),
                (10**12, "1e-12", 40), (10**12, "1e-9", 1100), (10**9, "1/3", 333333000), (2**40, "1e-30", 3), (100, "0.999", 100),
                (100, "0.999", 90), (50, "1e-100", 2), (10**5, "0.5", 51000)]:
    m, u, d = binomial(n, p, k)
    print(f'    {{{n}, "{p}", {k}, "{text(m)}", "{text(u)}",\n     "{text(d)}"}},')
print("};")


def laplace(scale, k):
    q = exp(-1 / real(scale))
    return (1 - q) / (1 + q) * q ** abs(k), q**k / (1 + q) if k > 0 else 1 - q ** (1 - k) / (1 + q)


def gaussian_sum(v, a):
    """f(a) + f(a+1) + ..., a >= 1, in units of 1."""
    first, term, total, ratio, step = exp(-real(Fraction(a * a) / (2 * v))), mpf(1), mpf(0), exp(-real(Fraction(2 * a + 1) / (2 * v))), exp(-real(1 / v))
    while term > total * mpf(10) ** -55:
        total += term
        term *= ratio
        ratio *= step
    return first * total


def gaussian(scale, k):
    v = Fraction(scale) ** 2
    whole = 1 + 2 * gaussian_sum(v, 1)
    tail = gaussian_sum(v, k if k > 0 else 1 - k) / whole
    return exp(-real(Fraction(k * k) / (2 * v))) / whole, tail if k > 0 else 1 - tail


for name, law, rows in [
    ("laplace", laplace, [("1", 0), ("1", 1), ("1", -3), ("1/1000", 0), ("0.1", 2), ("1000", 5000), ("1e6", 1), ("1e16", 123456789), ("2/3", -7), ("1e-6", 0), ("7", 3000)]),
    ("gaussian", gaussian, [("1", 0), ("1", 1), ("1", -3), ("1", 30), ("1/10", 0), ("1/10", 1), ("0.3", 2), ("10", 5), ("10", -60), ("1000", 1), ("1000", 500),
                            ("1000", 3000), ("1000", -1), ("1000", 12000), ("20000", 100), ("20000", 100000), ("3333.3", 40000), ("150", 1)]),
]:
    print(f"static const struct {{ const char *scale; int64_t k; const char *mass, *at_least; }} {name}_vectors[] = {{")
    for scale, k in rows:
        mass, tail = law(scale, k)
        print(f'    {{"{scale}", {k}, "{text(mass)}", "{text(tail)}"}},')
    print("};")
print("static const struct { const char *x, *at_least; } normal_vectors[] = {")
for x in ["0", "1", "-1", "1.96", "-3", "8.5", "37", "-8", "1e-20"]:
    print(f'    {{"{x}", "{text(erfc(real(x) / sqrt(mpf(2))) / 2)}"}},')
print("};")
