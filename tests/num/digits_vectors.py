"""Writes tests/num/digits_vectors.h: binary digits of probabilities computed by mpmath with 4000 bits.

Run by hand when a row is added: python3 digits_vectors.py > digits_vectors.h
"""
from fractions import Fraction
from mpmath import mp, mpf, exp, floor

mp.prec = 4000


def words(p, first, count):
    whole = int(floor(p * mpf(2) ** (first + 64 * count)))
    whole %= 2 ** (64 * count)
    return [(whole >> 64 * (count - 1 - i)) & (2**64 - 1) for i in range(count)]


def real(x):
    x = Fraction(x)
    return mpf(x.numerator) / x.denominator


def share(variance, m, half, j):
    w = lambda k: exp(-real(Fraction(k * k * 4**m, 2) / Fraction(variance))) * (mpf(1) / 2 if half and k == 0 else 1)
    n = 0
    while w(n) > mpf(2) ** -3000:
        n += 1
    return sum(w(k) for k in range(j + 1)) / sum(w(k) for k in range(max(n, j + 1)))


def row(values):
    return "{" + ", ".join(f"UINT64_C(0x{w:016x})" for w in values) + "}"


print("/* Written by digits_vectors.py. */")
print("static const struct { int kind; const char *x; unsigned i; uint64_t first, words[3]; } source_vectors[] = {")
for x, first in [("1", 0), ("1/10", 0), ("7/3", 5), ("0.001", 64), ("1e-12", 128), ("30.5", 0), ("1000", 1400), ("700", 0), ("1e6", 0)]:
    print(f'    {{TMI_DIGITS_EXP, "{x}", 0, {first}, {row(words(exp(-real(x)), first, 3))}}},')
for x, i, first in [("1", 0, 0), ("1/10", 3, 0), ("1e-6", 0, 64), ("1e-6", 20, 0), ("1e-15", 50, 7), ("1/1024", 80, 0), ("5", 4, 100)]:
    y = real(x) * mpf(2) ** i
    print(f'    {{TMI_DIGITS_LOGISTIC, "{x}", {i}, {first}, {row(words(1 / (1 + exp(y)) if y < 4000 else mpf(0), first, 3))}}},')
print("};")
print("static const struct { const char *variance; unsigned m; bool half; size_t j; uint64_t words[5]; } share_vectors[] = {")
for variance, m, half, js in [("1", 0, True, [0, 1, 7, 12]), ("1", 0, False, [0]), ("1/1000", 0, True, [0]), ("100", 0, True, [0, 9, 100, 150]),
                              ("1000000", 5, False, [0, 31, 200]), ("2.5e11", 14, False, [1, 40])]:
    for j in js:
        print(f'    {{"{variance}", {m}, {str(half).lower()}, {j}, {row(words(share(variance, m, half, j), 0, 5))}}},')
print("};")
