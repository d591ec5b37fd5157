"""The laws of bench/noise.c in other libraries: one JSON object per line.

OpenDP samples them exactly (Canonne, Kamath and Steinke); its vector call keeps Python out of the loop. diffprivlib has
scalar calls only: its geometric mechanism is not exact. numpy is not private at all and stands here for what an inexact
sampler without any care costs.
"""
import importlib

from timing import measure

SCALES = {"1": 1.0, "10": 10.0, "1000": 1000.0, "1e6": 1e6}


def opendp():
    dp = importlib.import_module("opendp.prelude")
    np = importlib.import_module("numpy")
    dp.enable_features("contrib")
    n = 2_000  # short runs, as in noise.c
    data = np.zeros(n, dtype=np.int32)
    space = dp.vector_domain(dp.atom_domain(T=int))
    for name, scale in SCALES.items():
        laplace = dp.m.make_laplace(space, dp.l1_distance(T=int), scale)
        measure(f"opendp: discrete Laplace, scale {name}", n, lambda: laplace(data))
        gaussian = dp.m.make_gaussian(space, dp.l2_distance(T=int), scale)
        measure(f"opendp: discrete Gaussian, sigma {name}", n, lambda: gaussian(data))


def diffprivlib():
    mechanisms = importlib.import_module("diffprivlib.mechanisms")
    for name, scale in SCALES.items():
        m, n = mechanisms.Geometric(epsilon=1 / scale, sensitivity=1), 1_000
        measure(f"diffprivlib: discrete Laplace, scale {name}", n, lambda: [m.randomise(0) for _ in range(n)])


def numpy():
    np = importlib.import_module("numpy")
    rng, n = np.random.default_rng(), 100_000
    for name, scale in SCALES.items():
        measure(f"numpy: rounded Laplace, scale {name}", n, lambda: np.rint(rng.laplace(0, scale, n)).astype(np.int64))
        measure(f"numpy: rounded normal, sigma {name}", n, lambda: np.rint(rng.normal(0, scale, n)).astype(np.int64))


for peer in (opendp, diffprivlib, numpy):
    try:
        peer()
    except ImportError:
        pass  # an absent peer leaves a gap
