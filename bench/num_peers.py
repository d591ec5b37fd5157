"""The hypergeometric tails of bench/num.c in scipy: one JSON object a line. Not certified; how far it is off is for
those to say who need to rely on it."""
import json
import time

from scipy.stats import hypergeom

for what, population, ones, sample, k in [
        ("scipy: hypergeometric tail, N=3.3e8 n=1e6 K=1e7, 4 sd below the mean", 330_000_000, 10_000_000, 1_000_000, 29_618),
        ("scipy: hypergeometric tail, N=3.3e8 n=1e6 K=N/2, at the mean", 330_000_000, 165_000_000, 1_000_000, 500_000)]:
    best, began = float("inf"), time.perf_counter()
    while best == float("inf") or time.perf_counter() - began < 0.3:
        start = time.perf_counter()
        value = hypergeom.cdf(k, population, ones, sample)
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"what": what, "n": 1, "seconds": best, "value": float(value)}), flush=True)
