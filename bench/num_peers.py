"""The hypergeometric tails of bench/num.c in scipy: one JSON object per line. Not certified; how far it is off is for
those to say who need to rely on it."""
from scipy.stats import hypergeom

from timing import measure

for what, population, ones, sample, k in [
        ("scipy: hypergeometric tail, N=3.3e8 n=1e6 K=1e7, 4 sd below the mean", 330_000_000, 10_000_000, 1_000_000, 29_618),
        ("scipy: hypergeometric tail, N=3.3e8 n=1e6 K=N/2, at the mean", 330_000_000, 165_000_000, 1_000_000, 500_000)]:
    measure(what, 1, lambda: hypergeom.cdf(k, population, ones, sample), value=float(hypergeom.cdf(k, population, ones, sample)))
