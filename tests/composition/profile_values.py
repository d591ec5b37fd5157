"""Profiles of single mechanisms from their definition, for tests/composition/profile.c: the integral or the sum of
(p - e^eps q)+, never a closed form of it. Prints tests/composition/profile_values.h.

    python3 tests/composition/profile_values.py > tests/composition/profile_values.h
"""
from mpmath import mp, mpf, exp, quad, sqrt, pi, inf, log, nsum

mp.dps = 60


def rr(eps0, eps):
    p = exp(eps0) / (1 + exp(eps0))
    return max(p - exp(eps) * (1 - p), 0)


def laplace(scale, sensitivity, eps):
    b, s = mpf(scale), mpf(sensitivity)
    f = lambda x: exp(-abs(x) / b) / (2 * b)
    end = (s - b * eps) / 2  # the loss (|x-s| - |x|)/b falls through eps here
    if s / b <= eps:
        return mpf(0)
    g = lambda x: f(x) - exp(eps) * f(x - s)
    far = -150 * b
    return quad(g, [far, far / 4, far / 16, 0]) + quad(g, [0, end])


def gaussian(scale, sensitivity, eps):
    d, s = mpf(scale), mpf(sensitivity)
    f = lambda x: exp(-x * x / (2 * d * d)) / (d * sqrt(2 * pi))
    end = s / 2 - eps * d * d / s
    top = f(end)  # the error of quad is absolute
    g = lambda x: (f(x) - exp(eps) * f(x - s)) / top
    return top * quad(g, [end - d * k / 40 for k in (800, 400, 200, 100, 60, 40, 30, 20, 15, 10, 7, 5, 4, 3, 2, 1, 0)])


def discrete(weight, reach, sensitivity, eps):
    total = sum(weight(k) for k in range(-reach, reach + 1))
    return sum(max(weight(k) - exp(eps) * weight(k - sensitivity), 0) for k in range(-reach, reach + 1)) / total


def discrete_laplace(scale, sensitivity, eps):
    return discrete(lambda k: exp(-abs(k) / mpf(scale)), int(150 * mpf(scale)) + 200, int(sensitivity), eps)


def discrete_gaussian(scale, sensitivity, eps):
    return discrete(lambda k: exp(-k * k / (2 * mpf(scale) ** 2)), int(18 * mpf(scale)) + 60, int(sensitivity), eps)


CASES = ([(rr, a, "0", e) for a in ("0.1", "1", "7") for e in ("0", "0.05", "0.9", "8")]
         + [(laplace, b, s, e) for b, s in (("1", "1"), ("10", "1"), ("0.5", "3")) for e in ("0", "0.01", "0.7", "5")]
         + [(gaussian, b, s, e) for b, s in (("1", "1"), ("20", "1"), ("2", "3")) for e in ("0", "0.1", "1", "9")]
         + [(discrete_laplace, b, s, e) for b, s in (("1", "1"), ("10", "1"), ("3.5", "7"), ("0.4", "2"))
            for e in ("0", "0.02", "0.6", "4.9")]
         + [(discrete_gaussian, b, s, e) for b, s in (("1", "1"), ("10", "1"), ("3.5", "7"), ("0.4", "2"))
            for e in ("0", "0.02", "0.6", "1.5")])

print("/* Printed by tests/composition/profile_values.py: do not edit. */")
for law, a, b, eps in CASES:
    value = law(mpf(a), mpf(eps)) if law is rr else law(a, b, mpf(eps))
    text = mp.nstr(value, 40) if value > mpf("1e-900") else "0"
    print(f'{{"{law.__name__}", "{a}", "{b}", "{eps}", "{text}"}},')
