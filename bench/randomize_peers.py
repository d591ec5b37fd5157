"""What bench/randomize.c does, in other libraries: one JSON object per line; n counts bits.

OpenDP's randomized response on bit vectors flips each bit with probability f / 2. numpy, which is not private and not exact, compares
doubles with the lie probability.
"""
import importlib

from timing import measure


def opendp():
    dp = importlib.import_module("opendp.prelude")
    np = importlib.import_module("numpy")
    dp.enable_features("contrib")
    n = 1 << 10  # short runs, as in randomize.c: a long one is interrupted by whatever else the machine does
    data = np.zeros(n // 8, dtype=np.uint8)
    space = dp.bitvector_domain(max_weight=n)
    for lie, f in (("1/4", 0.5), ("1/3", 2 / 3)):
        response = dp.m.make_randomized_response_bitvec(space, dp.discrete_distance(), f=f)
        measure(f"opendp: randomize bits, lie {lie}", n, lambda: response(data))


def numpy():
    np = importlib.import_module("numpy")
    rng, n = np.random.default_rng(), 1 << 16
    data = np.zeros(n // 8, dtype=np.uint8)
    for lie, p in (("1/4", 1 / 4), ("1/3", 1 / 3)):
        measure(f"numpy: randomize bits, lie {lie}", n, lambda: data ^ np.packbits(rng.random(n, dtype=np.float32) < p))


for peer in (opendp, numpy):
    try:
        peer()
    except ImportError:
        pass  # an absent peer leaves a gap
