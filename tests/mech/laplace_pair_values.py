#!/usr/bin/python3
"""Writes laplace_pair_values.h: delta of pairs of Laplace laws by bisection and cumulative laws with 120 digits.

The sign of p - e^eps q is bisected on each of the three pieces that 0 and the shift cut from the line, and the
probabilities of the pieces where it is positive are added up. No closed form of a crossing is used.
"""
from fractions import Fraction

from mpmath import mp, mpf, exp

mp.dps = 120


def number(text):
    f = Fraction(text)
    return mpf(f.numerator) / mpf(f.denominator)


def cdf(x, centre, b):
    """Probability below x, and above x, each without cancellation."""
    if x == mp.inf:
        return mpf(1), mpf(0)
    if x == -mp.inf:
        return mpf(0), mpf(1)
    tail = exp(-abs(x - centre) / b) / 2
    return (tail, 1 - tail) if x < centre else (1 - tail, tail)


def mass(low, high, centre, b):
    (a, above_low), (c, above_high) = cdf(low, centre, b), cdf(high, centre, b)
    return above_low - above_high if low >= centre else c - a


def delta(eps, shift, b1, b2):
    eps, shift, b1, b2 = (number(x) for x in (eps, shift, b1, b2))
    shift = abs(shift)

    def positive(x):
        return -abs(x - shift) / b1 - mp.log(b1) > eps - abs(x) / b2 - mp.log(b2)

    def cross(low, high):
        for _ in range(1200):
            middle = (low + high) / 2
            if positive(middle) == positive(low):
                low = middle
            else:
                high = middle
        return low

    far = mpf(10) ** 40 * (1 + shift + b1 + b2)
    total = mpf(0)
    for low, high in ((-far, mpf(0)), (mpf(0), shift), (shift, far)):
        if low == high:
            continue
        cuts = [low, high] if positive(low) == positive(high) else [low, cross(low, high), high]
        for a, b in zip(cuts, cuts[1:]):
            if positive((a + b) / 2):
                a = -mp.inf if a == -far else a
                b = mp.inf if b == far else b
                total += mass(a, b, shift, b1) - exp(eps) * mass(a, b, mpf(0), b2)
    return total


SCALES = ["1", "1.0001", "3/2", "7", "100", "1/3", "0.001", "0.9999", "1.000000000001"]
CASES = [(eps, shift, b1, "1") for eps in ("0", "1e-9", "0.1", "1", "5", "30") for shift in ("0", "1/1000", "1", "-4", "50")
         for b1 in SCALES]
CASES += [("2", "1", "1e-30", "1e30"), ("0", "1", "1e30", "1e-30"), ("60", "1", "1e-30", "1e30"), ("1", "1", "1e20", "1e-5"),
          ("0.693147180559945309417232121458", "0", "1", "2"), ("0.6931471805599453094172321214582", "0", "1", "2"),
          ("0.193147180559945309417232", "1", "1", "2"), ("0.193147180559945309417233", "1", "1", "2"),
          ("1.193147180559945309417232", "1", "1", "2"), ("1.193147180559945309417233", "1", "1", "2"),
          ("0.306852819440054690582767", "1", "2", "1"), ("0.306852819440054690582768", "1", "2", "1")]

with open("laplace_pair_values.h", "w") as out:
    out.write("/* Written by laplace_pair_values.py. */\n"
              "static const struct { const char *eps, *shift, *b1, *b2, *delta; } values[] = {\n")
    for case in CASES:
        value = delta(*case)
        # What lies far below the doubles is written as 0.
        text = "0" if value < mpf(10) ** -900 else mp.nstr(value, 30, min_fixed=0, max_fixed=0)
        out.write("    {" + ", ".join(f'"{x}"' for x in case) + f', "{text}"}},\n')
    out.write("};\n")
