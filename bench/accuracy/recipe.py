"""Intervals of clustered surveys by a recipe that was simulated before tamis had them, for comparison.

A part f of epsilon is for variances. Pairs of primary sampling units within strata, each difference with a random sign, are added up
in G groups; the weights in them are at most 1.5 times the mean. With q the noisy signed totals of a statistic's numbers c, the
sum of (q c)^2, less what the noise adds, estimates the sampling variance V. Its ratio b to the weighted squares s is shrunk to the
mean of the numbers of the same table and family, and raised by 0.84 standard deviations. The recipe is given what costs it
something: s, the ratio of the squared weights with and without their bound, and the best f and G are known to it.
"""
import numpy as np

import hand

PARTS = (0.1, 0.2, 0.3, 0.4)
T = 2.0  # about the quantile of Student's distribution, here and in the intervals that it is compared with


def family(kind):
    return "totals" if kind in ("count", "table", "total") else "shares" if kind == "share" else "means"


def pair(stream, strata, clusters):
    """For each cluster its pair, sign and factor; clusters that are left over have sign 0."""
    place, sign, factor, count = np.zeros(len(clusters), int), np.zeros(len(clusters)), np.ones(len(clusters)), 0
    for h in np.unique(strata):
        own = stream.permutation(np.flatnonzero(strata == h))
        for k in range(len(own) // 2):
            place[own[2 * k:2 * k + 2]] = count
            sign[own[2 * k:2 * k + 2]] = 1, -1
            count += 1
        factor[own] = len(own) / max(2 * (len(own) // 2), 1)
    return place, sign, factor, count


class Numbers:
    """All numbers of a survey: what each record adds to the linearised statistic, by cluster."""

    def __init__(self, survey, path):
        data = hand.read(path, sorted(set(survey["columns"]) | {survey[k] for k in ("weight", "strata", "cluster")}))
        w = np.clip(hand.as_numbers(data[survey["weight"]]), 0, survey["max_weight"])
        bounded = np.minimum(w, 1.5 * w.mean())
        labels, at = np.unique(np.stack([data[survey["strata"]], data[survey["cluster"]]]), axis=1, return_inverse=True)
        at = at.reshape(-1)
        self.strata, self.mean_weight, self.bound = labels[0], w.mean(), 1.5 * w.mean()
        self.phi = (w ** 2).sum() / (bounded ** 2).sum()
        self.clusters, self.full, self.squares, self.kinds, self.places = [], [], [], [], []
        for i, (what, by) in enumerate(survey["statistics"]):
            a = hand.Asked(survey, data, w, what, by)
            records = np.ones((len(w), 1))
            for c in a.columns:
                records = (records[:, :, None] * c.matrix[:, None, :]).reshape(len(w), -1)
            for c, _ in a.combinations():
                z = records @ c.reshape(-1)
                self.clusters.append(np.bincount(at, bounded * z, labels.shape[1]))
                self.full.append(np.bincount(at, w * z, labels.shape[1]))
                self.squares.append((w * z ** 2).sum())
                self.kinds.append(family(a.kind))
                self.places.append(i)
        self.clusters, self.full, self.squares = np.array(self.clusters), np.array(self.full), np.array(self.squares)

    def variances(self):
        """Without protection, as if clusters were drawn with replacement."""
        v = 0
        for h in np.unique(self.strata):
            own = self.full[:, self.strata == h]
            n = own.shape[1]
            v = v + own.var(axis=1, ddof=1) * n
        return v


def limits(stream, x, noise, groups, tables):
    """b_U s of every number: the variance that an interval uses, in one run. `noise`: of q c."""
    place, sign, factor, count = pair(stream, x.strata, x.strata)
    groups = min(groups, count)
    of = stream.integers(0, groups, count)
    q = np.zeros((len(x.squares), groups))
    for c in np.flatnonzero(sign):
        q[:, of[place[c]]] += sign[c] * factor[c] ** 0.5 * x.clusters[:, c]
    q += stream.normal(size=q.shape) * noise[:, None] ** 0.5
    b = x.phi * ((q ** 2).sum(axis=1) - groups * noise) / np.where(x.squares > 0, x.squares, np.nan)
    out = np.zeros(len(b))
    for pool in set(zip(tables, x.kinds)):
        own = np.array([p == pool for p in zip(tables, x.kinds)]) & (x.squares > 0)
        mean = max(b[own].mean(), x.mean_weight) if own.any() else x.mean_weight
        for _ in range(2):
            sd = (2 / groups) ** 0.5 * (mean + x.phi * groups * noise[own] / x.squares[own])
            mean = max((b[own] / sd ** 2).sum() / (1 / sd ** 2).sum(), x.mean_weight)
        variance = 1 / (1 / sd ** 2).sum()
        differ = np.clip(np.mean((b[own] - mean) ** 2 - sd ** 2), mean ** 2 / 4, mean ** 2)
        part = differ / (differ + sd ** 2)
        out[own] = (np.maximum(part * b[own] + (1 - part) * mean, x.mean_weight) + 0.84 * (
            part * sd ** 2 + (1 - part) ** 2 * variance) ** 0.5) * x.squares[own]
    return out


def widths(survey, path, epsilon, runs=20):
    """Width of each number's interval over that without protection, for the f and G with the smallest geometric mean."""
    stream, x = np.random.default_rng(1), Numbers(survey, path)
    plain, best = x.variances(), None
    base, chosen, norms = hand.strategy(survey, path)
    tables = [chosen[i] for i in x.places]
    for f in PARTS:
        noise = np.array(base) * survey["max_weight"] / ((1 - f) * epsilon)
        scale = 2 * x.bound * 1.5 ** 0.5 * len(set(chosen)) / (0.95 * f * epsilon)
        for groups in (8, 16, 32, 64):
            v = np.mean([limits(stream, x, 2 * scale ** 2 * np.array(norms), groups, tables) for _ in range(runs)], axis=0)
            ratio = np.sqrt((T ** 2 * v + (2.118 * noise) ** 2) / (T ** 2 * np.where(plain > 0, plain, np.nan)))
            fit = np.nanmean(np.log(ratio))
            if best is None or fit < best[0]:
                best = fit, f, groups, ratio
    return best[3], best[1], best[2], x.places
