"""Compositions from their definition, for tests/composition/compose.c: the expectation of (1 - e^(eps - L))+ over all
combinations of atoms, integrated over the continuous part of at most one or two losses. No generating function, no lattice,
no residues. Prints tests/composition/compose_values.h.

    python3 tests/composition/compose_values.py > tests/composition/compose_values.h
"""
from itertools import product
from mpmath import mp, mpf, exp, quad, sqrt, ncdf, mpf as F

mp.dps = 40


class Law:
    """Atoms [(loss, mass)] and pieces [(from, to, density)] of one loss under P."""
    def __init__(self, atoms=(), pieces=()):
        self.atoms, self.pieces = list(atoms), list(pieces)


def rr(e):
    e = mpf(e)
    return Law([(e, 1 / (1 + exp(-e))), (-e, 1 / (1 + exp(e)))])


def laplace(scale, s):
    a = mpf(s) / mpf(scale)
    return Law([(a, mpf(1) / 2), (-a, exp(-a) / 2)], [(-a, a, lambda x: exp((x - a) / 2) / 4)])


def gaussian(scale, s):
    m = mpf(s) / mpf(scale)
    return m * m


def discrete_laplace(scale, D):
    D, b = int(D), mpf(scale)
    p = exp(-1 / b)
    atoms = [(D / b, 1 / (1 + p)), (-D / b, p**D / (1 + p))]
    return Law(atoms + [((D - 2 * k) / b, (1 - p) / (1 + p) * p**k) for k in range(1, D)])


def discrete_gaussian(scale, D):
    D, v, reach = int(D), mpf(scale) ** 2, int(16 * mpf(scale)) + 30
    w = {k: exp(-k * k / (2 * v)) for k in range(-reach, reach + 1)}
    total = sum(w.values())
    return Law([((D * D - 2 * k * D) / (2 * v), x / total) for k, x in w.items()])


def last(gauss, eps):
    """E (1 - e^(eps - L))+ of the Gaussian, or of no loss at all; eps may be negative."""
    if gauss == 0:
        return max(1 - exp(eps), mpf(0))
    m = sqrt(gauss)
    return ncdf(m / 2 - eps / m) - exp(eps) * ncdf(-m / 2 - eps / m)


def delta(laws, gauss, eps, corners):
    if not laws:
        return last(gauss, eps)
    law, rest = laws[0], laws[1:]
    sum_ = sum(p * delta(rest, gauss, eps - x, corners) for x, p in law.atoms)
    for lo, hi, density in law.pieces:
        cuts = sorted({lo, hi, *[eps - c for c in corners[len(rest)] if lo < eps - c < hi]})
        sum_ += quad(lambda x: density(x) * delta(rest, gauss, eps - x, corners), cuts)
    return sum_


def value(list_, eps):
    laws, gauss = [], mpf(0)
    for name, a, b, times in list_:
        for _ in range(times):
            if name == "gaussian":
                gauss += gaussian(a, b)
            else:
                laws.append(rr(a) if name == "rr" else globals()[name](a, b))
    laws.sort(key=lambda law: len(law.pieces), reverse=True)
    merged = [law for law in laws if law.pieces]
    atoms = {mpf(0): mpf(1)}
    for law in laws:
        if not law.pieces:
            new = {}
            for (x, p), (y, q) in product(atoms.items(), law.atoms):
                key = mp.nstr(x + y, 30)
                new[key] = (x + y, new.get(key, (0, mpf(0)))[1] + p * q)
            atoms = dict(new.values())
    merged.append(Law(list(atoms.items())))
    corners, sums = [[] for _ in range(len(merged) + 1)], [mpf(0)]
    for i, law in enumerate(reversed(merged)):  # where the rest has a kink
        corners[i] = sums
        sums = sorted({mpf(mp.nstr(x + y, 30)) for x in sums for y in [a for a, _ in law.atoms]})
        if len(sums) > 200:
            sums = []
    return delta(merged, gauss, mpf(eps), corners)


LISTS = {
    "responses": [("rr", "1", "0", 3), ("rr", "0.4", "0", 2), ("rr", "0.15", "0", 4)],
    "many responses": [("rr", "0.1", "0", 40)],
    "one lattice": [("discrete_laplace", "2", "1", 2), ("discrete_laplace", "2", "3", 2), ("rr", "0.5", "0", 1)],
    "two lattices": [("discrete_laplace", "3", "2", 3), ("discrete_laplace", "7", "5", 2), ("rr", "0.3", "0", 2)],
    "discrete Gaussians": [("discrete_gaussian", "2", "1", 2)],
    "discrete mixture": [("discrete_gaussian", "1.5", "1", 1), ("discrete_laplace", "3", "2", 1), ("rr", "0.3", "0", 1)],
    "two Laplace": [("laplace", "2", "1", 1), ("laplace", "3", "2", 1)],
    "Laplace twice": [("laplace", "2", "1", 2)],
    "Laplace and atoms": [("laplace", "2", "1", 1), ("rr", "0.7", "0", 2), ("discrete_laplace", "3", "2", 1)],
    "Gaussians": [("gaussian", "3", "1", 2), ("gaussian", "5", "2", 1)],
    "Gaussian and responses": [("gaussian", "2", "1", 1), ("rr", "0.5", "0", 3)],
    "Gaussian and Laplace": [("gaussian", "2", "1", 1), ("laplace", "3", "2", 1)],
    "Gaussian and discrete": [("gaussian", "4", "1", 1), ("discrete_gaussian", "2", "1", 1), ("discrete_laplace", "5", "3", 2)],
    "a little Gaussian": [("gaussian", "50", "1", 1), ("rr", "0.8", "0", 2)],
}

print("/* Printed by tests/composition/compose_values.py: do not edit. */")
for name, list_ in LISTS.items():
    for eps in ("0", "0.3", "1.25", "2.4"):
        text = ", ".join(f'{{"{law}", "{a}", "{b}", {n}}}' for law, a, b, n in list_)
        print(f'{{"{name}", {{{text}}}, "{eps}", "{mp.nstr(value(list_, eps), 25)}"}},', flush=True)
