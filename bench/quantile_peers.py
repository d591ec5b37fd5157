"""Quantiles of the same kind of data as in bench/quantile.c in other libraries: one JSON object per line.

numpy is not private at all: partition finds one order statistic, sort all of them. OpenDP chooses among candidates by the exponential
mechanism (here 1001 of them; tamis has 10^6 + 1); diffprivlib by the exponential mechanism on the intervals between records.
"""
import importlib
import time

from timing import measure

BOUNDS = (0.0, 1e6)


def data(np, n):
    return np.round(np.random.default_rng(15).lognormal(10.5, 0.8, n))


def numpy():
    np = importlib.import_module("numpy")
    values = data(np, 10**7)
    measure("numpy: partition", 10**7, lambda: np.partition(values, 5 * 10**6), clock=time.process_time)
    measure("numpy: sort of 10^6", 10**6, lambda: np.sort(values[:10**6]), clock=time.process_time)


def opendp():
    np = importlib.import_module("numpy")
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    values = data(np, 10**7)
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    candidates = [float(c) for c in range(0, 10**6 + 1, 1000)]
    scores = space >> dp.t.then_quantile_score_candidates(candidates, alpha=0.5)
    median = scores >> dp.m.then_noisy_max(dp.max_divergence(), scale=1.0, negate=True)
    measure("opendp: median, 1001 candidates", 10**7, lambda: median(values), clock=time.process_time)


def diffprivlib():
    np = importlib.import_module("numpy")
    tools = importlib.import_module("diffprivlib.tools")
    values = data(np, 10**7)
    measure("diffprivlib: median", 10**7, lambda: tools.median(values, epsilon=1.0, bounds=BOUNDS), clock=time.process_time)


for peer in (numpy, opendp, diffprivlib):
    try:
        peer()
    except Exception as problem:  # what cannot be imported, or has changed, leaves its columns empty
        import sys
        print(f"{peer.__name__}: {problem}", file=sys.stderr)
