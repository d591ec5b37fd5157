#!/usr/bin/env python3
"""Writes interval.inc: intervals of counts by trying every K, hypergeometric masses as exact fractions, noise with 60 digits."""
from fractions import Fraction
from math import comb
from pathlib import Path

from mpmath import exp, mp, mpf

mp.dps = 60


def interval(N, n, noisy, scale, confidence):
    b = Fraction(scale)
    p = exp(-mpf(b.denominator) / b.numerator)
    half = (1 - Fraction(confidence)) / 2
    half = mpf(half.numerator) / half.denominator

    def at_most(j):  # P(X <= j)
        return 1 - p ** (j + 1) / (1 + p) if j >= 0 else p ** (-j) / (1 + p)

    low, high = N, 0
    for K in range(N + 1):
        below = above = mpf(0)
        for k in range(max(0, n + K - N), min(n, K) + 1):
            mass = mpf(comb(K, k) * comb(N - K, n - k)) / comb(N, n)
            below += mass * at_most(noisy - k)
            above += mass * at_most(k - noisy)
        if below > half:
            high = K
        if above > half:
            low = min(low, K)
    return low, high


lines = []
for N, n in ((1, 1), (2, 1), (10, 4), (37, 12), (60, 60), (211, 30)):
    for scale in ("1/10", "1", "5/2", "20"):
        for confidence in ("0.5", "0.95", "0.999"):
            for noisy in sorted({-2, 0, n // 3, n // 2 + 1, n, n + 5}):
                low, high = interval(N, n, noisy, scale, confidence)
                lines.append(f'{{{N}, {n}, {noisy}, "{scale}", "{confidence}", {low}, {high}}},\n')
Path(__file__).with_name("interval.inc").write_text("".join(lines))
