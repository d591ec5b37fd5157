"""The careful hand: what a statistician would do who knows differential privacy and has numpy.

Tables get equal parts of 80 % of epsilon (the rest is left for sampling variances). A number t between 0 and 1 is spread over two
levels, 1-t and t (one more for missing values), so that a record moves a table by twice its weight, whatever is in it. First each
statistic has its table, unless a larger one contains it; then two tables become one as long as that helps. Margins and indicators
are sums of cells. The population is taken as known: the sum of all numbers of a table is not noisy. Every statistic is read from
the table with the least noise for it, and the noise of a ratio is that of its numerator minus the ratio times its denominator,
divided by the denominator, at the values of the file.
"""
import csv

import numpy as np

LARGEST = 4096  # numbers of a table


def read(path, columns):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([r[name].strip() for r in rows]) for name in columns}


def as_numbers(texts):
    return np.array([float(t) if t not in ("", "NA") else np.nan for t in texts])


class Column:
    """What a record adds to the levels of a column: a matrix of rows by levels. `x` is the value of a level, `has` whether it has
    one, `groups` the levels of each group."""

    def __init__(self, survey, data, wanted):
        """`wanted`: a name, cuts of a number {name: [...]}, or an indicator {name: what}."""
        name = wanted if isinstance(wanted, str) else next(iter(wanted))
        spec, condition = survey["columns"][name], None if isinstance(wanted, str) else wanted[name]
        complete = spec.get("missing") == "none"
        if "values" in spec:  # an indicator is a margin of it
            self.key = name
            levels = [data[name] == v for v in spec["values"]]
            ones = condition if isinstance(condition, list) else [condition]
            x = [float(v in ones) for v in spec["values"]]
        else:
            self.key = str(wanted)
            value = as_numbers(data[name])
            if spec.get("missing", "leave_out") not in ("none", "leave_out"):
                value, complete = np.where(np.isnan(value), float(spec["missing"]), value), True
            there = ~np.isnan(value)
            value = np.clip(np.where(there, value, spec["from"]), spec["from"], spec["to"])
            if isinstance(condition, list):
                bins = np.searchsorted(condition, value, side="right")
                levels, x = [there & (bins == k) for k in range(len(condition) + 1)], None
            elif condition is not None:
                inside = (value >= condition.get("from", -np.inf)) & (value <= condition.get("to", np.inf))
                levels, x = [there & ~inside, there & inside], [0, 1]
            else:
                t = (value - spec["from"]) / (spec["to"] - spec["from"])
                levels, x = [np.where(there, 1 - t, 0), np.where(there, t, 0)], [spec["from"], spec["to"]]
        levels = [np.asarray(level, dtype=float) for level in levels]
        count = len(levels)
        if not complete:
            levels.append(1 - sum(levels))
        self.matrix = np.stack(levels, axis=1)
        self.has = (np.arange(len(levels)) < count).astype(float)
        self.x = np.zeros(len(levels))
        if x is not None:
            self.x[:count] = x
        self.groups = [np.eye(len(levels))[k] for k in range(count)]


class Asked:
    """One statistic: its columns, and for each of its numbers the combination of cells that it is."""

    def __init__(self, survey, data, weight, what, by):
        self.kind, of = next(iter(what.items()))
        groups = of if self.kind == "table" else by
        variables = {"total": [of], "mean": [of], "share": [of], "ratio": [of["of"], of["to"]] if self.kind == "ratio" else None}
        self.by = [Column(survey, data, g) for g in groups]
        self.variables = [Column(survey, data, v) for v in variables.get(self.kind, [])]
        self.columns = list({c.key: c for c in self.by + self.variables}.values())
        self.keys = frozenset(c.key for c in self.columns)
        self.table = weight
        for c in self.columns:
            self.table = self.table[..., None] * c.matrix[(slice(None),) + (None,) * (self.table.ndim - 1)]
        self.table = self.table.sum(axis=0)

    def product(self, factors):
        """A vector per axis, multiplied out; an axis may have several."""
        out = np.ones(self.table.shape)
        for key, vector in factors:
            shape = [1] * self.table.ndim
            shape[[c.key for c in self.columns].index(key)] = -1
            out = out * vector.reshape(shape)
        return out

    def groups(self, k=0, chosen=()):
        if k == len(self.by):
            yield list(chosen)
            return
        for level in self.by[k].groups:
            yield from self.groups(k + 1, chosen + ((self.by[k].key, level),))

    def combinations(self):
        """For each number its combination, linearised, and its value."""
        for group in self.groups():
            top = self.product(group + [(v.key, v.x) for v in self.variables[:1]])
            if self.kind in ("count", "table", "total"):
                yield top, (top * self.table).sum()
                continue
            there = [(v.key, v.has) for v in self.variables]
            below = self.product(group + there + [(v.key, v.x) for v in self.variables[1:]])
            size = (below * self.table).sum()
            r = (top * self.product(there) * self.table).sum() / size
            yield (top * self.product(there) - r * below) / size, r


def fit(tables, asked, levels):
    """The mean logarithm of the variances, of all statistics; each variance, for a budget and a largest weight of 1; the table of each
    statistic; and the squared norm of each number's combination in it."""
    variances, chosen, norms = [], [], []
    for keys, squares, sums in asked:
        best = None
        for k, t in enumerate(tables):
            if not keys <= t:
                continue
            others, size = np.prod([levels[a] for a in t - keys]), np.prod([levels[a] for a in t])
            own = np.maximum(squares * others - (sums * others) ** 2 / size, 0)
            if best is None or own.sum() < best[0].sum():
                best = own, k, squares * others
        variances.append(8 * len(tables) ** 2 * best[0])
        chosen.append(best[1])
        norms.append(best[2])
    return np.mean([np.log(v[v > 1e-20]).mean() for v in variances if (v > 1e-20).any()]), variances, chosen, norms


def strategy_of(survey, path):
    """The tables of the careful hand, the values of all numbers, and what `fit` says."""
    data = read(path, sorted(set(survey["columns"]) | {survey["weight"]}))
    weight = np.clip(as_numbers(data[survey["weight"]]), 0, survey["max_weight"])
    asked, values, levels = [], [], {}
    for what, by in survey["statistics"]:
        a = Asked(survey, data, weight, what, by)
        found = list(a.combinations())
        values.append([value for _, value in found])
        asked.append((a.keys, np.array([(c ** 2).sum() for c, _ in found]), np.array([c.sum() for c, _ in found])))
        levels.update((c.key, c.matrix.shape[1]) for c in a.columns)
    supports = {keys for keys, _, _ in asked}
    tables = sorted((s for s in supports if not any(s < t for t in supports)), key=sorted)
    best = fit(tables, asked, levels)
    while len(tables) > 1:
        tries = []
        for i in range(len(tables)):
            for j in range(i):
                joined = [t for k, t in enumerate(tables) if k not in (i, j)] + [tables[i] | tables[j]]
                if np.prod([levels[k] for k in joined[-1]]) <= LARGEST:
                    tries.append((fit(joined, asked, levels), joined))
        if not tries or min(t[0][0] for t in tries) >= best[0]:
            break
        best, tables = min(tries, key=lambda t: t[0][0])
    return tables, values, best


def noise(survey, path, epsilon, part=0.8):
    """[(statistic, value, noise SD)] of each number."""
    _, values, (_, variances, _, _) = strategy_of(survey, path)
    scale = survey["max_weight"] / (part * epsilon)
    return [(i, values[i][k], scale * v ** 0.5) for i, of in enumerate(variances) for k, v in enumerate(of)]
