"""The clamped mean of bench/sums.c in other libraries: one JSON object per line, on one core.

numpy is not private and stands here for a clamped mean without any care. diffprivlib clips, adds floats and adds noise; OpenDP's
vector is made once, outside the clock.
"""
import importlib
import time

from timing import measure


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
        measure(f"numpy: clamped mean {n}", n, lambda: numpy.clip(values, 0, 100).mean(), clock=time.process_time)
        if diffprivlib is not None:
            measure(f"diffprivlib: clamped mean {n}", n, lambda: diffprivlib.tools.mean(values, epsilon=1, bounds=(0, 100)), clock=time.process_time)
        if opendp is not None and n <= 10**7: # the vector of 10^8 takes minutes
            opendp.enable_features("contrib")
            space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False), size=n), opendp.symmetric_distance()
            chain = space >> opendp.t.then_clamp((0.0, 100.0)) >> opendp.t.then_mean() >> opendp.m.then_laplace(scale=1.0)
            data = values.tolist()
            measure(f"opendp: clamped mean {n}", n, lambda: chain(data), clock=time.process_time)


main()
