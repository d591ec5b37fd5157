"""Counts and totals of release.json, computed again from measurements.json: the best linear unbiased combination of all noisy numbers
and of the numbers of rows that the design fixes. A part of verifier.py: least squares over the cells of one large table, which is
another way than that of tamis, and feasible where the table is small.

The cells of that table are the levels of all axes, crossed; a table of the certificate has their sums over the axes that it does not
have, a number by itself sums with the coefficients of its form."""
import itertools
from fractions import Fraction
from math import ceil, erfc, exp, prod, sinh, sqrt

from verifier_choices import OF_DISTRIBUTION
from verifier_tables import CONTRASTS, FORMS, GRAMS, SUMS, Axis, gram_coefficient, gram_rows

LARGEST = 100  # cells
FARTHEST = 1e8  # ratio of variances: beyond it doubles do not solve the equations


def solved(matrix, right):
    """Any solution of a consistent system: what is not determined is 0."""
    n, rows = len(matrix), [list(r) + [b] for r, b in zip(matrix, right)]
    pivots, top = [], 0
    for c in range(n):
        best = max(range(top, n), key=lambda i: abs(rows[i][c]), default=None)
        if best is None or abs(rows[best][c]) < 1e-9:
            continue
        rows[top], rows[best] = rows[best], rows[top]
        for i in range(n):
            if i != top and rows[i][c] != 0:
                f = rows[i][c] / rows[top][c]
                rows[i] = [x - f * y for x, y in zip(rows[i], rows[top])]
        pivots.append((top, c))
        top += 1
    found = [0.0] * n
    for i, c in pivots:
        found[c] = rows[i][n] / rows[i][c]
    return found


def variance_of(law, scale):
    """Of one noisy integer; of Gaussian noise for all but the smallest scales."""
    if law == "discrete_laplace":
        return 1 / (2 * sinh(1 / (2 * scale)) ** 2)
    if law == "rounded_normal" and scale < 3:
        return sum((2 * k - 1) * erfc((k - 0.5) / scale / sqrt(2)) for k in range(1, 60))
    return scale ** 2 + (1 / 12 if law == "rounded_normal" else 0)


def variance(law):
    return variance_of(law["law"], float(Fraction(law["scale"])))


class Reading:
    """A verifier has `c`, `strata`, `check`, `main`, `holds_in`, `answers`; see verifier.py and verifier_tables.py."""

    def readings(self, results, numbers, choices):
        results, self.solutions = list(results), {}
        for i, t in enumerate(self.c["plan"]["statistics"]):
            kind = next(k for k in t if k in SUMS | {"mean", "share", "ratio", "variance"} | OF_DISTRIBUTION | CONTRASTS)
            groups = t.get("by", []) + (t["table"] if kind == "table" else [{t["histogram"]: t["cuts"]}] if kind == "histogram" else [])
            sizes = [self.size(by) for by in groups]
            count = prod(sizes) * (len(t["at"]) if kind == "quantile" else 1)
            own, results = results[:count], results[count:]
            self.check_chosen(i, own, choices)
            if kind not in SUMS | CONTRASTS or self.is_known(t) or self.contributed(t):
                continue
            for codes, r in zip(itertools.product(*map(range, sizes)), own):
                if kind == "regression":
                    self.model(numbers, t, codes, r)
                    continue
                try:
                    value = self.contrast(numbers, t, kind, codes) if kind in CONTRASTS else self.sum_of(numbers, t, kind, groups, codes)
                except StopIteration:
                    self.check(False, "measurements.json.measurements", "no table has what a statistic is about")
                    return
                if value is None or r["estimate"] is None:
                    continue
                if kind == "change":
                    before = next(e for e in self.c["earlier"] if e["statistic"] == i)["numbers"][own.index(r)]
                    value -= float(before["estimate"])
                near = 1e-7 * (abs(value) + (r["noise_sd"] or 0)) + 1e-9
                self.check(abs(value - r["estimate"]) <= near, "release.json.results", f"the estimate of a {kind} is not the best one")

    def sum_of(self, numbers, t, kind, groups, codes):
        """The estimate of a count or total in a group; None: this way is not one for it."""
        of_unit = t["total"] if self.bounded_by_unit(t) else None  # read as a count of rows that weigh what they add
        tables = [m for m in numbers if m["weighed_by"] == ("unit contribution" if of_unit else self.main())]
        tables = [m for m in tables if not of_unit or m["unit_contribution"]["column"]["column"] == of_unit]
        inside = [m for m in tables if m.get("where", {}).get("indicator") == t.get("where") and "where" in t]
        world = inside or [m for m in tables if "where" not in m]
        key = of_unit, str(t.get("where")) if inside else None
        if key not in self.solutions:
            self.solutions[key] = self.solution(world)
        if self.solutions[key] is None:
            return None
        return self.functional(self.solutions[key], t, "count" if of_unit else kind, list(zip(groups, codes)), inside)

    def correlation(self, numbers, t, codes):
        """From the noisy sums of squares and products; None: of numbers that may be missing."""
        of, (x, y) = self.terms(t)[0][0], t["correlation"]
        if not all(self.is_complete({"column": k, **self.c["plan"]["columns"][k]}) for k in (x, y)):
            return None
        rest = {k: of[k] for k in ("where",) if k in of}
        asked = [("count", "units"), ("total", x), ("total", y), ("product", [x, x]), ("product", [x, y]), ("product", [y, y])]
        found = [self.sum_of(numbers, {kind: about, **rest}, kind, of["by"], codes) for kind, about in asked]
        if None in found or found[0] <= 0:
            return None
        N, X, Y, XX, XY, YY = found
        xx, xy, yy = XX / N - (X / N) ** 2, XY / N - X * Y / N ** 2, YY / N - (Y / N) ** 2
        return xy / sqrt(xx * yy) if xx > 0 and yy > 0 else None

    def contrast(self, numbers, t, kind, codes):
        """The estimate of a contrast of counts or totals; None: it is of others, or one of them is known."""
        if kind == "correlation":
            return self.correlation(numbers, t, codes)
        parts, terms = self.terms(t)
        values = []
        for part, code, weight in terms:
            of = parts[part]
            own = next((k for k in of if k in SUMS), None)
            if own is None or self.is_known(of):
                return None
            values.append(self.sum_of(numbers, of, own, of["by"], [*codes] + ([code] if code is not None else [])))
        if None in values or (kind == "quotient" and values[1] <= 0):
            return None
        return values[0] / values[1] if kind == "quotient" else sum(float(w) * v for (_, _, w), v in zip(terms, values))

    def model(self, numbers, t, codes, r):
        """The published coefficients make the score 0: the sum over the cells of X (Y - mu(X beta) N)."""
        m, of, terms = t["regression"], self.terms(t)[0][0], self.coefficients(t)
        if self.numbers_in(t):
            self.line(numbers, t, codes, r)
            return
        beta = [x["estimate"] for x in r["terms"]]
        column = None if not isinstance(m["of"], str) else {"column": m["of"], **self.c["plan"]["columns"][m["of"]]}
        if len(beta) != len(terms) or None in beta or (column and not self.is_complete(column)):
            self.check(len(beta) == len(terms), "release.json.results", "a model has other terms")
            return
        score, size = [0.0] * len(terms), 1e-9
        rows = {k: of[k] for k in ("where",) if k in of}
        if column is None:  # rows that have a value of every column of the indicator, which are categories here
            if any(k in of.get("where", {}) or "values" not in self.c["plan"]["columns"].get(k, {}) for k in m["of"]):
                return
            rows = {"where": {**of.get("where", {}), **{k: self.listed(k) for k in m["of"]}}}
        for cell in itertools.product(*(range(self.size(by)) for by in m["on"])):
            place = [*codes, *cell]
            try:
                Y = self.sum_of(numbers, {"total": m["of"], **{k: of[k] for k in ("where",) if k in of}}, "total", of["by"], place)
                N = self.sum_of(numbers, {"count": "units", **rows}, "count", of["by"], place)
            except (StopIteration, KeyError, ValueError):
                return
            if Y is None or N is None:
                return
            x = [float(all(cell[k] == v for k, v in term.items())) for term in terms]
            eta = sum(a * b for a, b in zip(x, beta))
            mu = {"linear": lambda: eta, "logistic": lambda: 1 / (1 + exp(-eta)), "poisson": lambda: exp(eta)}[m["family"]]()
            size += abs(Y) + abs(mu * N)
            score = [s + a * (Y - mu * N) for s, a in zip(score, x)]
        self.check(max(map(abs, score)) <= 1e-6 * size, "release.json.results", "the coefficients of a regression are not those of its cells")

    def line(self, numbers, t, codes, r):
        """The same of a model with numbers: the sum over all rows of X (y - X'beta), from sums of products of two of 1, the numbers and y."""
        m, of, terms = t["regression"], self.terms(t)[0][0], self.coefficients(t)
        beta, on = [x["estimate"] for x in r["terms"]], m["on"]
        self.check(len(beta) == len(terms), "release.json.results", "a model has other terms")
        rest = {k: of[k] for k in ("where",) if k in of}
        columns = [m["of"], *self.numbers_in(t)]
        if len(beta) != len(terms) or None in beta or not isinstance(m["of"], str) or \
                not all(self.is_complete({"column": x, **self.c["plan"]["columns"][x]}) for x in columns):
            return
        categories = [k for k, by in enumerate(on) if by not in columns]
        score, size = [0.0] * len(terms), [1e-9] * len(terms)

        def sums(names, place):
            kind = ("count", "total", "product")[len(names)]
            return self.sum_of(numbers, {kind: names if len(names) > 1 else names[0] if names else "units", **rest}, kind, of["by"], place)
        for cell in itertools.product(*(range(self.size(on[k])) for k in categories)):
            held = dict(zip(categories, cell))
            x = [float(all(v is None or held[k] == v for k, v in term.items())) for term in terms]
            names = [[on[k] for k, v in term.items() if v is None] for term in terms]
            for i in range(len(terms)):
                try:
                    found = [sums(names[i] + [m["of"]], [*codes, *cell])] + [sums(names[i] + names[j], [*codes, *cell]) for j in range(len(terms))]
                except (StopIteration, KeyError, ValueError):
                    return
                if None in found:
                    return
                parts = [x[i] * found[0]] + [-x[i] * x[j] * beta[j] * found[j + 1] for j in range(len(terms))]
                score[i] += sum(parts)
                size[i] += sum(map(abs, parts))
        self.check(all(abs(s) <= 1e-6 * z for s, z in zip(score, size)), "release.json.results", "the coefficients of a regression are not those of its sums")

    def size(self, by):
        if not isinstance(by, str):
            return len(next(iter(by.values()))) + 1
        return len(self.listed(by)) + (self.c["plan"]["columns"][by].get("missing") == "category")

    def solution(self, world):
        """The axes and, for each stratum that is measured apart, the cells; None: too many, or too different."""
        axes = {}
        for m in world:
            for told in m["axes"]:
                axes.setdefault(str(told), Axis(told, self.strata))
        names, axes = list(axes), list(axes.values())
        variances = [variance(m["noise"][0]) * self.unit(m, [Axis(a, self.strata) for a in m["axes"]], 0) ** 2 for m in world]
        if prod(a.levels for a in axes) > LARGEST or max(variances) > FARTHEST * min(variances):
            return None
        cells = list(itertools.product(*(range(a.levels) for a in axes)))
        apart = self.c["sampling"]["apart"]
        return axes, cells, [self.stratum(world, names, axes, cells, h) for h in range(len(self.strata) if apart else 1)]

    def stratum(self, world, names, axes, cells, h):
        rows, values, weights = [], [], []
        for m in world:
            own = [names.index(str(told)) for told in m["axes"]]
            unit = self.unit(m, [axes[k] for k in own], h)
            first = self.unit(m, [axes[k] for k in own], 0)
            count = m["cells"] * m["levels"]
            for k, value in enumerate(m["values"][h * count:(h + 1) * count]):
                rows.append([self.coefficient(m, axes, own, k, cell) for cell in cells])
                values.append(value * unit)
                weights.append(1 / (variance(m["noise"][0]) * first ** 2))
        facts = self.facts(world, names, axes, cells, h)
        scale, n = max(weights), len(cells)
        matrix = [[0.0] * (n + len(facts)) for _ in range(n + len(facts))]
        right = [0.0] * n + [float(b) for _, b in facts]
        for row, value, w in zip(rows, values, weights):
            used = [i for i in range(n) if row[i] != 0]
            for i in used:
                right[i] += row[i] * value * w / scale
                for j in used:
                    matrix[i][j] += row[i] * row[j] * w / scale
        for k, (row, _) in enumerate(facts):
            for i in range(n):
                matrix[i][n + k] = matrix[n + k][i] = float(row[i])
        return solved(matrix, right)[:n]

    def unit(self, m, axes, h):
        """What a step of the integers is worth, in rows or in weights."""
        steps = self.steps(m, axes)
        unit = Fraction(2 ** m["shift"], steps * prod(a.widths[h] ** a.degree for a in axes if a.number))
        if m["weighed_by"] == "unit contribution":
            return float(unit * Fraction(m["unit_contribution"]["step"]))
        return float(unit * (1 if m["weighed_by"] == "none" else Fraction(self.c["sampling"]["step"])))

    def coefficient(self, m, axes, own, k, cell):
        """Of a cell of the large table in number k: cells of classes, then levels of numbers."""
        if m["form"] in GRAMS:
            numbers, classes = [j for j in own if axes[j].number], [j for j in own if not axes[j].number]
            index, rows = 0, gram_rows(len(numbers))
            for j in classes:
                index = index * axes[j].levels + cell[j]
            own_row = gram_coefficient(m["form"], rows[k % len(rows)], [cell[j] for j in numbers]) / GRAMS[m["form"]][1]
            return own_row if index == k // len(rows) else 0
        if m["form"] != "full":
            row = FORMS[m["form"], axes[own[0]].degree][k]
            level = cell[own[0]]
            steps = 1 if m["form"] == "raw" and axes[own[0]].degree == 1 else 2
            return row[level] / steps if level < len(row) else 0
        index = 0
        for j in [j for j in own if not axes[j].number] + [j for j in own if axes[j].number]:
            index = index * axes[j].levels + cell[j]
        return 1 if index == k else 0

    def facts(self, world, names, axes, cells, h):
        """The rows that the design fixes: of all, and of the strata where these are an axis."""
        s = self.c["sampling"]
        if not s["rows_fixed"] or "where" in world[0] or s["weights"] is None or self.counts_rows() or self.kind in ("cluster", "two_stage"):
            return []
        each = [z.get("sample", z.get("population")) * (s["points"][k] * Fraction(s["step"]) if self.main() == "weight" else 1) for k, (_, z) in enumerate(self.strata)]
        facts = [([1] * len(cells), each[h] if s["apart"] else sum(each))]
        for j, a in enumerate(axes):
            c = a.told.get("crossed", [{}])[0]
            if not s["apart"] and not self.protected and c.get("column", {}).get("column") == self.c["plan"]["design"].get("stratified", {}).get("by", 0) \
                    and len(a.told["crossed"]) == 1:
                of_class = [sum(n for n, (name, _) in zip(each, self.strata) if name in k) for k in c["classes"]]
                facts += [([int(cell[j] == k) for cell in cells], n) for k, n in enumerate(of_class)]
        return facts

    def functional(self, solution, t, kind, groups, inside):
        """The estimate: the sum over the cells of a factor per axis; None: this axis is not one for it."""
        axes, cells, strata = solution
        factors = [[1.0] * a.levels for a in axes]
        added = set(range(len(strata)))  # the strata whose tables are added up
        for name, wanted in t.get("where", {}).items():
            if self.c["sampling"]["apart"] and self.is_of_strata(name):
                added &= {h for h, v in enumerate(self.in_strata(name)) if v in wanted}
        for by, code in groups:
            if self.c["sampling"]["apart"] and self.is_of_strata(by):
                added &= {h for h, v in enumerate(self.in_strata(by)) if v == self.listed(by)[code]}
                continue
            inside_of = [(j, self.group(a.told["crossed"], by, code)) for j, a in enumerate(axes) if not a.number]
            inside_of = [(j, v) for j, v in inside_of if v]
            if len(inside_of) != 1:
                return None
            self.multiply(factors, *inside_of[0])
        if "where" in t and not inside:
            for name, wanted in t["where"].items():
                if self.c["sampling"]["apart"] and self.is_of_strata(name):
                    continue
                found = [(j, self.holds(a, {name: wanted})) for j, a in enumerate(axes) if not a.number and len(a.told["crossed"]) == 1]
                found = [(j, v) for j, v in found if v]
                if len(found) != 1:
                    return None
                self.multiply(factors, *found[0])
        powers = {}
        if kind == "product":
            for name in t["product"]:
                j = next(j for j, a in enumerate(axes) if a.number and a.number["column"]["column"] == name)
                powers[j] = powers.get(j, 0) + 1
        number = None
        if kind == "total" and isinstance(t["total"], str):
            number = next(j for j, a in enumerate(axes) if a.number and a.number["column"]["column"] == t["total"])
        elif kind == "total":
            found = [(j, self.holds(a, t["total"])) for j, a in enumerate(axes) if not a.number and len(a.told["crossed"]) == 1]
            found = [(j, v) for j, v in found if v]
            if len(found) != 1:
                return None
            self.multiply(factors, *found[0])
        total = 0.0
        for h, theta in enumerate(strata):
            if h not in added:
                continue
            own = [list(f) for f in factors]
            if number is not None:
                self.multiply(own, number, self.values(axes[number], h))
            for j, power in powers.items():
                x = self.values(axes[j], h)
                self.multiply(own, j, x if power == 1 else [x[0] ** 2, x[0] * x[2], x[2] ** 2] + [0.0] * axes[j].missing)
            weight = 1 if self.main() == "weight" else float(Fraction(self.c["sampling"]["weights"][h]))
            total += weight * sum(x * prod(own[j][k] for j, k in enumerate(cell)) for x, cell in zip(theta, cells))
        return total

    def multiply(self, factors, j, vector):
        factors[j] = [x * y for x, y in zip(factors[j], vector)]

    def values(self, axis, h):
        """x at the levels: t is 0, 1/2, 1 there, and a missing value is 0."""
        grid = axis.number["grid"][h] if isinstance(axis.number["grid"], list) else axis.number["grid"]
        step = Fraction(grid["step"])
        low = ceil(Fraction(grid["from"]) / step)
        return [float(step * (low + Fraction(k * axis.widths[h], axis.degree))) for k in range(axis.degree + 1)] + [0.0] * axis.missing

    def group(self, crossed, by, code):
        """The levels of a group among crossed classes; None: they do not have the column."""
        vectors = []
        name, cuts = (by, None) if isinstance(by, str) else next(iter(by.items()))
        found = False
        for c in crossed:
            count = len(c["classes"]) if "classes" in c else len(c["begin"]) + 1
            vector = [1.0] * (count + c["rest"])
            if self.divides(c, by):
                found = True
                if cuts is None:
                    value = (self.listed(name) + ["missing"])[code]
                    values = [value] if c["column"]["column"] == name else self.parts_of(name, [value])
                    vector = [float(any(v in k for v in values)) for k in c["classes"]] + [0.0] * c["rest"]
                else:
                    low, high = self.ends(c["column"])
                    points = [low] + self.points(c["column"], cuts, True) + [high + 1]
                    starts = [low] + c["begin"]
                    vector = [float(points[code] <= k < points[code + 1]) for k in starts] + [0.0] * c["rest"]
            vectors.append(vector)
        return [prod(v) for v in itertools.product(*vectors)] if found else None

    def holds(self, axis, indicator):
        held = self.holds_in(axis.told["crossed"][0], indicator)
        return None if None in held else [float(x) for x in held] + [0.0] * axis.told["crossed"][0]["rest"]
