"""Intervals of clustered surveys by a recipe that was simulated before tamis had them, for comparison.

A part f of epsilon is for variances. Primary sampling units are paired within strata; the weights in the differences of pairs are at
most 1.5 times the mean. With fewer than 100 pairs the differences, each with a random sign, are added up in G groups: with q the
noisy signed totals of a statistic's numbers c, the sum of (q c)^2, less what the noise adds, estimates the sampling variance V. With
more pairs the squared differences D are added up themselves, beyond a bound B only linearly (Huber), in two stages for each table and
family: a fifth of its budget for the typical size of |D|, which B is a multiple of, the rest for the sums. Either way the ratio b of V to
the weighted squares s is shrunk to the mean of the numbers of the same table and family, and raised by 0.84 standard deviations. The
recipe is given what costs it something: s, the ratio of the squared weights with and without their bound, and the best f and G are
known to it.
"""
import math

import numpy as np

import hand

PARTS = (0.1, 0.2, 0.3, 0.4)
GROUPS = (8, 16, 32, 64)
T = 2.0  # about the quantile of Student's distribution, here and in the intervals that it is compared with


def family(kind):
    return "totals" if kind in ("count", "table", "total") else "shares" if kind == "share" else "means"


def pair(stream, strata):
    """For each cluster its pair, sign and factor; clusters that are left over have sign 0."""
    place, sign, factor, count = np.zeros(len(strata), int), np.zeros(len(strata)), np.ones(len(strata)), 0
    for h in np.unique(strata):
        own = stream.permutation(np.flatnonzero(strata == h))
        pairs = len(own) // 2
        place[own[:2 * pairs]] = count + np.arange(2 * pairs) // 2
        sign[own[:2 * pairs]] = np.where(np.arange(2 * pairs) % 2, -1, 1)
        factor[own] = len(own) / max(2 * pairs, 1)
        count += pairs
    return place, sign, factor, count


def columns_of(survey):
    return sorted(set(survey["columns"]) | {survey[k] for k in ("weight", "strata", "cluster")})


def weights_of(survey, data):
    return np.clip(hand.as_numbers(data[survey["weight"]]), 0, survey["max_weight"])


def asked_of(survey, data):
    w = weights_of(survey, data)
    return [hand.Asked(survey, data, w, what, by) for what, by in survey["statistics"]]


def places(survey, data):
    """The statistic of each number."""
    return np.repeat(np.arange(len(survey["statistics"])), [len(list(a.groups())) for a in asked_of(survey, data)])


class Numbers:
    """All numbers of a sample: what each record adds to the linearised statistic, by cluster."""

    def __init__(self, survey, data):
        w = weights_of(survey, data)
        bounded = np.minimum(w, 1.5 * w.mean())
        labels, at = np.unique(np.stack([data[survey["strata"]], data[survey["cluster"]]]), axis=1, return_inverse=True)
        at = at.reshape(-1)
        self.strata, self.mean_weight, self.bound = labels[0], w.mean(), 1.5 * w.mean()
        self.phi = (w ** 2).sum() / (bounded ** 2).sum()
        self.clusters, self.full, self.squares, self.kinds = [], [], [], []
        for a in asked_of(survey, data):
            records = np.ones((len(w), 1))
            for c in a.columns:
                records = (records[:, :, None] * c.matrix[:, None, :]).reshape(len(w), -1)
            for c, _ in a.combinations():
                z = records @ c.reshape(-1)
                self.clusters.append(np.bincount(at, bounded * z, labels.shape[1]))
                self.full.append(np.bincount(at, w * z, labels.shape[1]))
                self.squares.append((w * z ** 2).sum())
                self.kinds.append(family(a.kind))
        self.clusters, self.full, self.squares = np.array(self.clusters), np.array(self.full), np.array(self.squares)

    def variances(self):
        """Without protection, as if clusters were drawn with replacement."""
        v = 0
        for h in np.unique(self.strata):
            own = self.full[:, self.strata == h]
            n = own.shape[1]
            v = v + own.var(axis=1, ddof=1) * n
        return v


class Tables:
    """The tables of the careful hand, and each number as a combination of the cells of the one that it is read from."""

    def __init__(self, survey, path):
        data = hand.read(path, columns_of(survey))
        tables, _, (_, _, chosen, _) = hand.strategy_of(survey, path)
        asked, levels = asked_of(survey, data), {}
        for a in asked:
            levels.update((c.key, c.matrix.shape[1]) for c in a.columns)
        self.count, self.of, rows = len(set(chosen)), [], {}
        for a, k in zip(asked, chosen):
            axes = sorted(tables[k])
            own = [c.key for c in a.columns]
            for c, _ in a.combinations():
                c = np.moveaxis(c, range(len(own)), np.argsort(np.argsort(own)))
                c = c.reshape([levels[x] if x in own else 1 for x in axes])
                rows.setdefault(k, []).append(np.broadcast_to(c, [levels[x] for x in axes]).reshape(-1))
                self.of.append(k)
        self.of = np.array(self.of)
        self.cells = {k: np.array(v) for k, v in rows.items()}
        self.norms = self.spread(lambda c: (c ** 2).sum(axis=1))
        self.centred = self.spread(lambda c: np.maximum((c ** 2).sum(axis=1) - c.sum(axis=1) ** 2 / c.shape[1], 0))

    def spread(self, what):
        out = np.zeros(len(self.of))
        for k, c in self.cells.items():
            out[self.of == k] = what(c)
        return out

    def draw(self, stream, scale, groups=None):
        """Laplace noise of all numbers, in each group; without groups that of the estimates, whose cells have a known sum."""
        out = np.zeros((len(self.of), groups or 1))
        for k, c in self.cells.items():
            cells = stream.laplace(scale=scale, size=(c.shape[1], groups or 1))
            out[self.of == k] = c @ (cells if groups else cells - cells.mean(axis=0))
        return out if groups else out[:, 0]


def shrunk(x, tables, b, spread):
    """b_U s of every number from the ratios b, whose standard deviation is spread(mean, numbers)."""
    out, kinds = np.zeros(len(b)), np.array(x.kinds)
    for k in tables.cells:
        for kind in set(x.kinds):
            own = (tables.of == k) & (kinds == kind) & (x.squares > 0)
            if not own.any():
                continue
            mean = max(b[own].mean(), x.mean_weight)
            for _ in range(2):
                sd = spread(mean, own)
                mean = max((b[own] / sd ** 2).sum() / (1 / sd ** 2).sum(), x.mean_weight)
            variance = 1 / (1 / sd ** 2).sum()
            differ = np.clip(np.mean((b[own] - mean) ** 2 - sd ** 2), mean ** 2 / 4, mean ** 2)
            part = differ / (differ + sd ** 2)
            out[own] = (np.maximum(part * b[own] + (1 - part) * mean, x.mean_weight) + 0.84 * (
                part * sd ** 2 + (1 - part) ** 2 * variance) ** 0.5) * x.squares[own]
    return out


def squares_of(x):
    return np.where(x.squares > 0, x.squares, np.nan)


def by_groups(stream, x, tables, epsilon, groups):
    """b_U s of every number, the variance that an interval uses, in one run: signed groups."""
    scale = 2 * x.bound * 1.5 ** 0.5 * tables.count / epsilon
    place, sign, factor, count = pair(stream, x.strata)
    groups = min(groups, count)
    of = stream.integers(0, groups, count)
    signed = np.zeros((len(x.strata), groups))
    signed[np.arange(len(x.strata)), of[place]] = sign * factor ** 0.5
    noise = 2 * scale ** 2 * tables.norms
    q = x.clusters @ signed + tables.draw(stream, scale, groups)
    b = x.phi * ((q ** 2).sum(axis=1) - groups * noise) / squares_of(x)
    return shrunk(x, tables, b, lambda mean, own: (2 / groups) ** 0.5 * (mean + x.phi * groups * noise[own] / x.squares[own]))


def huber(k):
    """The mean of Huber's square of a normal number with standard deviation k, the bound being 1."""
    inside = math.erf(1 / k / 2 ** 0.5)
    return k * k * inside + 2 * k * math.exp(-0.5 / k ** 2) / (2 * math.pi) ** 0.5 - (1 - inside)


SIZES = np.geomspace(1e-3, 50, 400)
MEANS = np.array([huber(k) for k in SIZES])


def by_pairs(stream, x, tables, epsilon, _):
    """The same by Huber's squares of the differences of pairs."""
    place, sign, factor, count = pair(stream, x.strata)
    d = np.zeros((len(x.squares), count))
    for side in (1, -1):
        own = sign == side
        d[:, place[own]] += side * factor[own] ** 0.5 * x.clusters[:, own]
    d, kinds = np.abs(d), np.array(x.kinds)
    most = x.bound * factor.max() ** 0.5  # what a record adds to a difference, times its part in the number
    pools = [(k, kind) for k in tables.cells for kind in sorted(set(kinds[tables.of == k]))]
    b, noise = np.full(len(x.squares), np.nan), np.zeros(len(x.squares))
    for k, kind in pools:
        own = (tables.of == k) & (kinds == kind) & (x.squares > 0)
        if not own.any():
            continue
        part, s = np.abs(tables.cells[k][own[tables.of == k]]), x.squares[own]
        first = 2 * most * (part / s[:, None] ** 0.5).sum(axis=0).max() / (0.2 * epsilon / len(pools))
        size = (d[own] / s[:, None] ** 0.5).sum() + stream.laplace(scale=first) + first / 2 ** 0.5
        ratio = max(1.5 * math.pi / 2 * count * (max(size, 0) / (own.sum() * count)) ** 2, x.mean_weight / 2)
        tau, largest = (ratio * s / count) ** 0.5, part.max(axis=1)
        together = (part / largest[:, None]).sum(axis=0).max()  # numbers that one record is in
        scale = 4 * tau * most * largest * together / (0.8 * epsilon / len(pools))
        relative = ((ratio / 1.5 * s / (2 ** 0.5 * scale)) ** 2).sum() ** -0.5
        bound = np.clip(0.15 / relative, 2.5, 12) * tau
        sums = np.where(d[own] < bound[:, None], d[own] ** 2, 2 * bound[:, None] * d[own] - bound[:, None] ** 2).sum(axis=1)
        scale = scale * bound / tau
        sums += stream.laplace(size=len(s)) * scale
        found = count * (bound * np.interp(np.maximum(sums, 0) / count / bound ** 2, MEANS, SIZES)) ** 2
        b[own], noise[own] = x.phi * np.where(sums > 0, found, sums) / s, x.phi * 2 ** 0.5 * scale / s
    return shrunk(x, tables, b, lambda mean, own: (4 / count * mean ** 2 + noise[own] ** 2) ** 0.5)


class Chosen:
    """The recipe for a survey, with the f and G that have the smallest widths, in the geometric mean."""

    def __init__(self, survey, path, epsilon, runs=20):
        stream, self.tables = np.random.default_rng(1), Tables(survey, path)
        x = Numbers(survey, hand.read(path, columns_of(survey)))
        plain, best = x.variances(), None
        many = pair(stream, x.strata)[3] >= 100
        self.limits = by_pairs if many else by_groups
        for f in PARTS:
            own = 2 * survey["max_weight"] * self.tables.count / ((1 - f) * epsilon)
            for groups in (None,) if many else GROUPS:
                v = np.mean([self.limits(stream, x, self.tables, 0.95 * f * epsilon, groups) for _ in range(runs)], axis=0)
                ratio = self.half(v, own) / (T * np.sqrt(np.where(plain > 0, plain, np.nan)))
                fit = np.nanmean(np.log(ratio))
                if best is None or fit < best[0]:
                    best = fit, ratio, own, (0.95 * f * epsilon, groups)
        _, self.ratio, self.own, self.chosen = best

    def half(self, variance, scale):
        return np.sqrt(T ** 2 * variance + 2.118 ** 2 * 2 * scale ** 2 * self.tables.centred)

    def intervals(self, stream, numbers, estimates):
        """Of a sample whose estimates without protection are given."""
        half = self.half(self.limits(stream, numbers, self.tables, *self.chosen), self.own)
        middle = np.array(estimates, float) + self.tables.draw(stream, self.own)
        return np.stack([middle - half, middle + half], axis=1)


def widths(survey, path, epsilon):
    """Width of each number's interval over that without protection, for the f and G with the smallest geometric mean."""
    return Chosen(survey, path, epsilon).ratio
