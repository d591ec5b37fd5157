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


def limits(stream, x, tables, scale, groups):
    """b_U s of every number: the variance that an interval uses, in one run. `scale`: of the noise of the groups' cells."""
    place, sign, factor, count = pair(stream, x.strata)
    groups = min(groups, count)
    of = stream.integers(0, groups, count)
    signed = np.zeros((len(x.strata), groups))
    signed[np.arange(len(x.strata)), of[place]] = sign * factor ** 0.5
    noise = 2 * scale ** 2 * tables.norms
    q = x.clusters @ signed + tables.draw(stream, scale, groups)
    b = x.phi * ((q ** 2).sum(axis=1) - groups * noise) / np.where(x.squares > 0, x.squares, np.nan)
    out, kinds = np.zeros(len(b)), np.array(x.kinds)
    for k in tables.cells:
        for kind in set(x.kinds):
            own = (tables.of == k) & (kinds == kind) & (x.squares > 0)
            if not own.any():
                continue
            mean = max(b[own].mean(), x.mean_weight)
            for _ in range(2):
                sd = (2 / groups) ** 0.5 * (mean + x.phi * groups * noise[own] / x.squares[own])
                mean = max((b[own] / sd ** 2).sum() / (1 / sd ** 2).sum(), x.mean_weight)
            variance = 1 / (1 / sd ** 2).sum()
            differ = np.clip(np.mean((b[own] - mean) ** 2 - sd ** 2), mean ** 2 / 4, mean ** 2)
            part = differ / (differ + sd ** 2)
            out[own] = (np.maximum(part * b[own] + (1 - part) * mean, x.mean_weight) + 0.84 * (
                part * sd ** 2 + (1 - part) ** 2 * variance) ** 0.5) * x.squares[own]
    return out


class Chosen:
    """The recipe for a survey, with the f and G that have the smallest widths, in the geometric mean."""

    def __init__(self, survey, path, epsilon, runs=20):
        stream, self.tables = np.random.default_rng(1), Tables(survey, path)
        x = Numbers(survey, hand.read(path, columns_of(survey)))
        plain, best = x.variances(), None
        for f in PARTS:
            own = 2 * survey["max_weight"] * self.tables.count / ((1 - f) * epsilon)
            scale = 2 * x.bound * 1.5 ** 0.5 * self.tables.count / (0.95 * f * epsilon)
            for groups in GROUPS:
                v = np.mean([limits(stream, x, self.tables, scale, groups) for _ in range(runs)], axis=0)
                ratio = self.half(v, own) / (T * np.sqrt(np.where(plain > 0, plain, np.nan)))
                fit = np.nanmean(np.log(ratio))
                if best is None or fit < best[0]:
                    best = fit, f, groups, ratio, own, scale
        _, self.part, self.groups, self.ratio, self.own, self.scale = best

    def half(self, variance, scale):
        return np.sqrt(T ** 2 * variance + 2.118 ** 2 * 2 * scale ** 2 * self.tables.centred)

    def intervals(self, stream, numbers, estimates):
        """Of a sample whose estimates without protection are given."""
        half = self.half(limits(stream, numbers, self.tables, self.scale, self.groups), self.own)
        middle = np.array(estimates) + self.tables.draw(stream, self.own)
        return np.stack([middle - half, middle + half], axis=1)


def widths(survey, path, epsilon):
    """Width of each number's interval over that without protection, for the f and G with the smallest geometric mean."""
    return Chosen(survey, path, epsilon).ratio
