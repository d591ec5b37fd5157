"""The clamped mean of bench/sums.c in other libraries: one JSON object a line, the best of several runs, on one core.

numpy is not private and stands here for a clamped mean without any care. diffprivlib clips, adds floats and adds noise; OpenDP's
vector is made once, outside the clock.
"""
import importlib
import json
import time


def measure(what, n, call, seconds=1.0):
    best, began = float("inf"), time.process_time()
    while best == float("inf") or time.process_time() - began < seconds:
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    print(json.dumps({"what": what, "n": n, "seconds": best}), flush=True)


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def main():
    numpy, diffprivlib, opendp = library("numpy"), library("diffprivlib"), library("opendp.prelude")
    if numpy is None:
        return
    for n in (10**6, 10**7, 10**8):
        values = numpy.random.default_rng(1).uniform(-10, 110, n)
        measure(f"numpy: clamped mean {n}", n, lambda: numpy.clip(values, 0, 100).mean())
        if diffprivlib is not None:
            measure(f"diffprivlib: clamped mean {n}", n, lambda: diffprivlib.tools.mean(values, epsilon=1, bounds=(0, 100)))
        if opendp is not None and n <= 10**7: # the vector of 10^8 takes minutes
            opendp.enable_features("contrib")
            space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False), size=n), opendp.symmetric_distance()
            chain = space >> opendp.t.then_clamp((0.0, 100.0)) >> opendp.t.then_mean() >> opendp.m.then_laplace(scale=1.0)
            data = values.tolist()
            measure(f"opendp: clamped mean {n}", n, lambda: chain(data))


main()
