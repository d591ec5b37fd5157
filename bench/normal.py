"""How much less noise epsilon and delta need with rounded normal noise, whose guarantee is known exactly, than with the discrete Gaussian
by the conversion of its rho (Canonne, Kamath, Steinke 2020): the numbers of docs/composition.md.

    python3 bench/normal.py
"""
from math import erfc, exp, log, log1p, sqrt


def tail(x):
    return erfc(x / sqrt(2)) / 2


def normal_delta(squared, eps):
    mu = sqrt(squared)
    return tail(eps / mu - mu / 2) - exp(eps) * tail(eps / mu + mu / 2)


def converted_delta(rho, eps):
    """The least over all orders; its logarithm is convex."""
    low, high = 1 + 1e-9, 2 + (eps + 100) / rho
    for _ in range(200):
        a = (low + high) / 2
        low, high = (low, a) if (2 * a - 1) * rho - eps + log1p(-1 / a) > 0 else (a, high)
    return exp((low - 1) * (low * rho - eps) - log(low - 1) + low * log1p(-1 / low))


def largest(delta_of, eps, delta):
    low, high = 0.0, eps
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, eps) <= delta else (low, middle)
    return low


for delta in (1e-6, 1e-9):
    saved = []
    for eps in (0.1, 0.5, 1, 2, 4, 8):
        exact, converted = largest(lambda rho, e: normal_delta(2 * rho, e), eps, delta), largest(converted_delta, eps, delta)
        saved.append(f"epsilon {eps}: {100 * (1 - sqrt(converted / exact)):.1f} %")
    print(f"delta {delta:g}: noise smaller by", ", ".join(saved))
