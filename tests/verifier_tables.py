"""The noisy tables of a certificate: what each row adds, what one record can change, the noise, and whether the tables are enough for
the statistics of the plan. A part of verifier.py, apart because of its length; docs/certificate.md, points 3 to 6."""
import hashlib
from fractions import Fraction
from itertools import combinations, product
from math import ceil, floor, isqrt, prod, sqrt

from verifier_choices import OF_DISTRIBUTION

STEPS = 2 ** 20  # that standard errors move by
COEFFICIENT = 2 ** 16  # the largest one of totals of clusters
SECOND = {"psus", "squares", "groups"}  # how rows are weighed in tables of the second stage: by method
BLOCKS = 64  # at most
GROUPS = 32  # of clusters, for changes between waves
FORMS = {  # coefficients of the levels in each released number, in steps of 1/2 (RAW of degree 1: of 1)
    ("raw", 1): [[0, 1]], ("centred", 1): [[-1, 1], [1, 1]],
    ("raw", 2): [[0, 1, 2], [0, 1, 0]], ("centred", 2): [[-1, 0, 1], [0, 1, 0], [1, 1, 1]],
}
GRAMS = {"gram sums": (2, 3, 1), "gram squares": (8, 8, 7)}  # coefficients of 1, of products u u' and of 3/2 (u^2 - 1/3); steps are one over the second


def gram_rows(numbers):
    """The released numbers of a cell of a table of products: 1, each u, each square, each pair. A square is marked by its number twice."""
    return [()] + [(j,) for j in range(numbers)] + [(j, j) for j in range(numbers)] + list(combinations(range(numbers), 2))


def gram_coefficient(form, row, levels):
    """Of one combination of levels: 0, 1, 2 are u = -1, the middle of the parabola, u = 1."""
    one, product, square = GRAMS[form]
    if len(row) == 2 and row[0] == row[1]:
        return square * (1, -2, 1)[levels[row[0]]]
    return (product if row else one) * prod((-1, 0, 1)[levels[j]] for j in row)


def gram_numbers(axes):
    return [a for a in axes if a.number]


SUMS = {"count", "table", "histogram", "total"}
CONTRASTS = {"difference", "quotient", "contrast", "change", "regression", "correlation"}  # the last one is of the means of all combinations of its categories
COMPARED = ("count", "total", "mean", "share", "ratio")


class Axis:
    """One axis of a table. A number has `widths`, the steps of its grid in each stratum, a degree, and perhaps a level of missing
    values; classes have a number of levels only."""

    def __init__(self, told, strata):
        self.told, self.number = told, told.get("number")
        if self.number:
            self.contributed = "contribution" in self.number
            points = self.number.get("contribution")
            grids = [{"from": points["low"], "to": points["high"], "step": 1}] * len(strata) if points else self.number["grid"] if isinstance(self.number["grid"], list) else [self.number["grid"]] * len(strata)
            self.widths = [floor(Fraction(g["to"]) / Fraction(g["step"])) - ceil(Fraction(g["from"]) / Fraction(g["step"])) for g in grids]
            self.degree, self.missing = self.number["degree"], self.number["missing"] == "level"
            self.levels = self.degree + 1 + self.missing
            self.times = [1, 2, 1][:self.levels] if self.degree == 2 else [1, 1]  # 2 t (1-t) is twice what is rounded
            self.times += [1] * self.missing
        else:
            counts = [(len(c["classes"]) if "classes" in c else len(c["begin"]) + 1, c["rest"]) for c in told["crossed"]]
            self.levels = prod(count + rest for count, rest in counts)
            single = len(counts) == 1 and (counts[0][0] == 2 or self.levels == 2)  # two classes are the values of a number
            self.degree, self.missing, self.times = int(single), single and self.levels == 3, [1] * self.levels


class Tables:
    """A verifier has `c`, `strata`, `kind`, `within`, `protected`, `check`; see verifier.py."""

    # ---- what a table is ----

    def column_is_the_plans(self, column, field):
        """A column in a table is described as in the plan; those of an indicator or of cuts are."""
        for own in column["of"] if isinstance(column.get("of"), list) else [column]:
            plan = self.c["plan"]["columns"].get(own["column"])
            keys = {"from", "to", "step", "values", "strata", "of", "parts", "missing", "missing_codes", "contribution", "unit_contribution"}
            right = plan is not None and {k: v for k, v in own.items() if k != "column"} == {k: v for k, v in plan.items() if k in keys}
            self.check(right, field, "is not what the plan says of the column")

    def is_complete(self, column):
        """Whether every row has a value of a column, so that there is no class for the rest."""
        if isinstance(column.get("of"), list):
            return all(self.is_complete(c) for c in column["of"])
        if "parts" in column:
            of = self.follows_from(column["column"])
            return self.is_complete({"column": of, **self.c["plan"]["columns"][of]})
        if self.is_of_strata(column["column"]) and column.get("missing") != "none":
            return self.c["sampling"]["rows_fixed"] and "id" not in self.c["plan"]["privacy"]
        return column.get("missing") == "none" or ("from" in column and "missing" in column and not isinstance(column["from"], dict))

    def axis(self, told, field):
        a = Axis(told, self.strata)
        self.check(told["levels"] == a.levels >= 2, field + ".levels")
        if a.number:
            column = a.number["column"]
            self.column_is_the_plans(column, field + ".number.column")
            if a.contributed:
                self.contribution(a.number, field + ".number.contribution")
                return a
            grid = a.number["grid"]
            if column["column"] in self.found:
                right = {k: Fraction(v) for k, v in grid.items()} == self.found[column["column"]]
                self.check(right and a.degree in (1, 2) and min(a.widths) >= 0, field + ".number.grid")
                self.check((a.number["missing"] is None) == self.is_complete(column), field + ".number.missing")
                return a
            names = [n for n, _ in self.strata]
            wanted = [{k: column[k][n] if isinstance(column[k], dict) else column[k] for k in ("from", "to", "step")} for n in names]
            self.check(grid == (wanted if any(isinstance(column[k], dict) for k in ("from", "to", "step")) else wanted[0]), field + ".number.grid")
            self.check(a.degree in (1, 2) and min(a.widths) >= 0, field + ".number")
            complete = self.is_complete(column)
            self.check((a.number["missing"] is None) == complete, field + ".number.missing")
            if a.number["missing"] == "zero":
                self.check(isinstance(grid, dict) and Fraction(grid["from"]) <= 0 <= Fraction(grid["to"]), field + ".number.missing")
            return a
        for i, c in enumerate(told["crossed"]):
            self.column_is_the_plans(c["column"], f"{field}.crossed[{i}].column")
            where = c.get("missing_is_no", False)
            self.check(c["rest"] == (not where and not self.is_complete(c["column"])), f"{field}.crossed[{i}].rest")
            if "classes" in c:
                values = list(c["column"]["values"]) + ["missing"] * (c["column"].get("missing") == "category")
                listed = [v for k in c["classes"] for v in k]
                self.check(sorted(listed) == sorted(values) and all(c["classes"]), f"{field}.crossed[{i}].classes", "do not divide the values")
            else:
                low, high = (0, 1) if "indicator" in c["column"] else self.ends(c["column"])
                ends = [low] + c["begin"] + [high + 1]
                self.check(all(x < y for x, y in zip(ends, ends[1:])), f"{field}.crossed[{i}].begin", "do not divide the range")
        return a

    def ends(self, column):
        """The grid points of a number, over all strata."""
        def of(key, choose):
            v = column[key]
            return choose(Fraction(x) for x in v.values()) if isinstance(v, dict) else Fraction(v)
        return ceil(of("from", min) / of("step", min)), floor(of("to", max) / of("step", min))

    def shape(self, m, field):
        """Sizes. Axes with the same number in `table` are the same axis, and the first world has no condition."""
        s, axes = self.c["sampling"], [self.axis(a, f"{field}.axes[{i}]") for i, a in enumerate(m["axes"])]
        places = m["table"]["axes"]
        twice = [p for p, a in zip(places, axes) if a.number and places.count(p) == 2 and m["weighed_by"] == "squares"]  # quadratic in it
        self.check(len(places) == len(axes) and places == sorted([*set(places), *set(twice)]), field + ".table.axes")
        for place, axis in zip(places, m["axes"]):
            self.check(self.places.setdefault(place, axis) == axis, field + ".table.axes", "name another axis elsewhere")
        world = m.get("where"), m.get("unit_contribution")
        self.check(self.worlds.setdefault(m["table"]["world"], world) == world, field + ".table.world")
        self.check((m["table"]["world"] == 0) == (world == (None, None)), field + ".table.world")
        self.unit_contribution(m, field)
        if "where" in m:
            self.column_is_the_plans(m["where"], field + ".where")
            self.check(m["where"]["indicator"] in [t.get("where") for t in self.c["plan"]["statistics"]], field + ".where")
        grouped = m["weighed_by"] in SECOND
        levels = prod(a.levels for a in axes if a.number)
        cells = prod(a.levels for a in axes if not a.number)
        if m["form"] in GRAMS:
            right = len(gram_numbers(axes)) >= 3 and all(a.degree == 2 and not a.missing for a in gram_numbers(axes)) and not grouped
            self.check(right and not self.protected and m["weighed_by"] == self.main(), field + ".form", "is not for such a table")
            levels = len(gram_rows(len(gram_numbers(axes))))
        elif m["form"] != "full":
            self.check(len(axes) == 1 and axes[0].degree > 0 and not grouped, field + ".form", "is not for such a table")
            if self.problems:
                return None
            cells, levels = 1, len(FORMS[m["form"], axes[0].degree])
        self.check((m["cells"], m["levels"]) == (cells, levels), field + ".cells")
        contributed = m["weighed_by"] == "contribution"
        self.check(all(a.contributed == contributed for a in axes if a.number), field + ".axes", "contributions are weighed already")
        wanted = self.contribution_parts() if contributed else len(self.strata) if s["apart"] and not grouped else 1
        self.check(m["strata"] == wanted, field + ".strata")
        slots = sum(h["slots"] for h in s.get("psu_strata", [])) if m["weighed_by"] in ("psus", "groups") else 1
        self.check(m["slots"] == slots >= 1, field + ".slots")
        self.check(m["weighed_by"] in self.weighings(), field + ".weighed_by", "nothing is read from such a table")
        by_stratum = any(isinstance(a.number.get("grid"), list) for a in axes if a.number)
        self.check(s["apart"] or not by_stratum, field, "ranges by stratum are measured apart")
        return axes

    def weighings(self):
        """How rows may be weighed: for estimates; for suppression; for sampling variances."""
        s, main = self.c["sampling"], self.main()
        second = {"psus" if self.clustered() else "squares"} | ({"groups"} if any("for_change" in t for t in self.c["plan"]["statistics"]) else set())
        used = {main} | ({"unit contribution"} if self.any_bounded_by_unit() else set()) | ({"contribution"} if self.any_contributed() else set()) | ({"none"} if "suppress" in self.c["plan"]["postprocess"] else set())
        if "deff" in self.c["plan"]["design"].get("weights", {}) and not self.clustered():
            return used | {"none"}
        if not self.measured():
            return used | (second if self.measures_lines() else set())
        return used | second | ({"spread", "clamped spread"} if s["weights"] is None else set())

    def measured(self):
        """Sampling variances are measured in a second stage: of clusters, and where weights are in the tables."""
        census = self.kind == "census"
        public = "deff" in self.c["plan"]["design"].get("weights", {})
        return not census and (self.clustered() or (not public and self.main() == "weight" and not self.alike()))

    def measures_lines(self):
        """Sampling errors of models with numbers are measured in every design that leaves something to chance."""
        return self.kind != "census" and any(map(self.is_line, self.c["plan"]["statistics"]))

    def is_line(self, t):
        """Models with numbers, and correlations."""
        return "correlation" in t or ("regression" in t and bool(self.numbers_in(t)))

    def alike(self):
        """Weights of strata that hardly differ: variances are those of own squares, times a public factor."""
        s = self.c["sampling"]
        if s["weights"] is None or any(z.get("sample") == 1 for _, z in self.strata):
            return False
        ratios = [p * Fraction(s["spread_step"]) / Fraction(w) for p, w in zip(s["spread_points"], s["weights"])]
        return max(ratios) <= Fraction(13, 10) * min(ratios)

    def main(self):
        s = self.c["sampling"]
        return "none" if s["apart"] or (s["weights"] is not None and len({Fraction(w) for w in s["weights"]}) == 1) else "weight"

    def clustered(self):
        several = self.rows_per_unit() > 1 and self.kind != "srs_with_replacement" and "deff" not in self.within
        return self.kind in ("cluster", "two_stage") or "cluster" in self.within or several

    def scattered(self):
        """Clusters go to slots by a hash of their labels: where nobody knows how many they are, or nobody checks it."""
        silent = self.c["plan"]["design"].get("nonresponse") in (True, "yes") or self.c["setting"]["protect"] == "respondents"
        unchecked = self.kind in ("weights", "bernoulli", "poisson") or silent or self.protected or self.rate_inside() is not None
        return self.clustered() and "psus" not in self.within and unchecked

    def rows_per_unit(self):
        return int(self.c["plan"]["privacy"].get("rows_per_unit", 1))

    def rows_of_unit(self, m):
        """What a unit adds at most, in rows of the largest weight W. Weights of at most W that add up to M have squares w (w - c) that
        add up to M (W - c) at most."""
        s, by = self.c["sampling"], m["weighed_by"]
        if self.is_of_units(m):
            return min(Fraction(self.rows_per_unit()), Fraction(m["unit_contribution"]["largest_sum_of_unit"], self.largest_addition(m)))
        if "largest_sum_of_unit" not in s or by in ("none", "contribution"):
            return Fraction(self.rows_per_unit())
        most = s["largest_point" if by in ("weight", "spread") else "largest_point_in_totals"]
        return min(Fraction(self.rows_per_unit()), Fraction(s["largest_sum_of_unit"], most))

    # ---- what a row adds, and a record changes ----

    def weight(self, m, h):
        """The largest weight of a row of stratum h, in steps."""
        s, by = self.c["sampling"], m["weighed_by"]
        if by in ("none", "contribution"):
            return 1
        if self.is_of_units(m):
            return self.largest_addition(m)
        if by in ("spread", "clamped spread", "squares"):
            if s["weights"] is not None:
                return 1 if by == "squares" and len({Fraction(w) for w in s["weights"]}) == 1 else s["spread_points"][h]
            most = s["largest_point" if by == "spread" else "largest_point_in_totals"]
            whole = "regularise" in self.c["plan"]["design"] or self.clustered() or self.kind == "weights"
            return most * max(0, most - (0 if whole else round(1 / Fraction(s["step"]))))
        if s["weights"] is None:
            return s["largest_point_in_totals" if by in ("psus", "groups") else "largest_point"]
        return 1 if self.main() == "none" and not s["apart"] else s["points"][h]

    def row(self, m, axes, h):
        """All levels of a row add up to its weight times the m^d, whatever it contains."""
        return self.weight(m, h) * prod(a.widths[h] ** a.degree for a in axes if a.number)

    def steps(self, m, axes):
        """In how many steps a released number has what a row adds."""
        if m["form"] in GRAMS:
            return GRAMS[m["form"]][1]
        return 1 if m["form"] == "full" or (m["form"] == "raw" and axes[0].degree == 1) else 2

    def rounding(self, m, axes):
        """What rounding does to all numbers of a row: less than 1 for each level, as often as it counts."""
        if not m["rounded"]:
            return 0
        if m["form"] in GRAMS:
            levels = list(product(range(3), repeat=len(gram_numbers(axes))))
            return sum(abs(gram_coefficient(m["form"], row, l)) * 2 ** l.count(1) for row in gram_rows(len(gram_numbers(axes))) for l in levels)
        if m["form"] != "full":
            rows = FORMS[m["form"], axes[0].degree]
            return sum(abs(c) * t for row in rows for c, t in zip(row, axes[0].times))
        return prod(sum(a.times) for a in axes if a.number)

    def changes(self, m, axes, most):
        """L1 and the square of L2 of what one record changes.

        In a full table it leaves numbers that add up to `own` and enters numbers that do; under L2 these are worst in one place each. A number by itself has one place. Two records whose t differ by d > 0 differ in
        t(1-t) by at most d (1-d), together d (2-d) <= 1; and from a record that adds nothing t + t(1-t) = 1 - (1-t)^2 in RAW, and
        |t - 1/2| + t(1-t) + 1/2 <= 1 in CENTRED. Both are convex in the two weights, so 0 and the largest are worst."""
        K, s = self.rows_of_unit(m), self.c["sampling"]
        if m["form"] in GRAMS:
            return self.gram_changes(m, axes, most)
        full, steps = m["form"] == "full", self.steps(m, axes)
        rounding = self.rounding(m, axes)
        own = K * Fraction(steps * most, 2 ** m["shift"]) + self.rows_per_unit() * (1 if full else 2) * rounding
        moved = Fraction(0)
        if self.protected and m["weighed_by"] != "none":  # a record may move the weights of all others
            self.check(s["weights"] is not None and self.rows_are_bounded(), "measurements", "no bound is known with protected weights")
            points = s["points" if m["weighed_by"] in ("weight", "psus", "groups") else "spread_points"]
            if max(points) > 0 and len({Fraction(w) for w in s["weights"]}) > 1:
                share = Fraction(max(points) - min(points), max(points))
                moved = (s["rows"] - K) * (Fraction(steps * most, 2 ** m["shift"]) * share + 2 * rounding)
        if self.is_of_units(m) and m["unit_contribution"]["low"] < 0:  # what leaves and what enters may have other signs
            return 2 * own, 4 * own ** 2
        places = full and (len(axes) > 0 or m["weighed_by"] in SECOND)
        if not places:
            return own + moved, (own + moved) ** 2
        return 2 * own + moved, (own + moved) ** 2 + own ** 2

    def gram_changes(self, m, axes, most):
        """Of sums of products, which is strategy/axis.h: with m numbers, the 1 among them, two records in one cell differ by product times m in
        length if k^2, k = 3 square/(2 product), is from 1/2 to (m+1)/2 or less than that; added up, by product (m^2 - d)/2 + 3 square d/2 if k
        is at least 1/2, d = m - 1. In two cells each adds at most what a row does where all numbers are at an end."""
        one, product, square = GRAMS[m["form"]]
        d, k = len(gram_numbers(axes)), Fraction(3 * square, 2 * product)
        size, squared = one + d * square + d * (d + 1) // 2 * product, one ** 2 + d * square ** 2 + d * (d + 1) // 2 * product ** 2
        change, longest = Fraction(product * ((d + 1) ** 2 - d) + 3 * square * d, 2), product * (d + 1)
        squared = squared if 2 * squared > longest ** 2 else longest ** 2  # a record that stays in its cell moves less than one that leaves it
        self.check(2 * k >= 1 and 2 * k ** 2 <= d + 2 and size <= change and squared <= longest ** 2, "measurements", "no bound is known of such products")
        K, unit, rounding = self.rows_of_unit(m), Fraction(most, 2 ** m["shift"]), self.rows_per_unit() * self.rounding(m, axes)
        if m["cells"] == 1:
            return K * unit * ceil(change) + 2 * rounding, (K * unit * longest + 2 * rounding) ** 2
        root = isqrt(squared << 20)
        root += root * root < squared << 20
        return 2 * (K * unit * size + rounding), 2 * (K * unit * Fraction(root, 2 ** 10) + rounding) ** 2

    def rows_are_bounded(self):
        return self.c["sampling"]["rows"] != 2 ** 30

    def grid_of_sums(self, m, field, axes, largest):
        """How rows are rounded, and where sums are clamped."""
        rows = self.c["sampling"]["rows"]
        bits = min(32, 60 - rows.bit_length()) - (2 if m["form"] in GRAMS else 0)
        shift = next(k for k in range(200) if Fraction(largest, 2 ** k) <= 2 ** bits)
        self.check(m["shift"] == shift, field + ".shift")
        self.check(m["rounded"] == (shift > 0 or largest >= 2 ** 53), field + ".rounded")
        self.check(m["clamp"] == ceil(Fraction(largest, 2 ** shift)) + (2 if m["rounded"] else 0), field + ".clamp")
        steps = self.steps(m, axes)
        if m["weighed_by"] in SECOND:
            return
        self.check(m["limit"] == 2 ** 62 - rows * max(1, m["clamp"] * steps + self.rounding(m, axes)), field + ".limit")

    def noisy_table(self, m, field, rho):
        part = Fraction(m["rho" if rho else "epsilon"])
        self.check(part > 0 and ("rho" in m) != ("epsilon" in m), field, "has no part of the budget")
        axes = self.shape(m, field)
        if axes is None:
            return
        contributed = m["weighed_by"] == "contribution"
        each = [self.row(m, axes, 0)] * m["strata"] if contributed else [self.row(m, axes, h) for h in range(len(self.strata))]
        laws = m["noise"]
        self.check(len(laws) == m["strata"], field + ".noise")
        names = [None] if m["strata"] == 1 else ["open", "certain"] if contributed else [n for n, _ in self.strata]
        self.check([law.get("units" if contributed else "stratum") for law in laws] == names, field + ".noise")
        self.grid_of_sums(m, field, axes, max(each))
        for h, law in enumerate(laws):
            here = f"{field}.noise[{h}]"
            most = each[h] if len(laws) > 1 else max(each)
            self.check(Fraction(law["row_adds_at_most"]) == most, here + ".row_adds_at_most")
            l1, l2 = self.changes(m, axes, most)
            if m["weighed_by"] in SECOND:
                self.second_stage(m, field, axes, l1)
                l1, l2 = STEPS, STEPS ** 2
            self.check(law["sensitivity"] == ceil(l1), here + ".sensitivity")
            self.check(Fraction(law["sensitivity_l2_squared"]) == l2, here + ".sensitivity_l2_squared")
            self.check(law["law"] == self.c["composition"]["noise"], here + ".law")
            scale = Fraction(law["scale"])
            if rho:
                right = scale ** 2 >= max(l2, 1 if l2 == 0 else 0) / (2 * part)
            else:
                right = scale * part >= max(l1, 1)
            self.check(right, here + ".scale", "is too small")
            if self.epsilons:
                self.cost(m, axes, each, h, scale)

    # ---- standard errors ----

    def second_stage(self, m, field, axes, l1):
        """Standard errors and variances move by a fixed number of steps; measurements.json says in which steps each was released
        (errors_said)."""
        right = self.measured() or self.is_line(m["of"])
        self.check(right and m["form"] == "full", field, "no sampling errors are measured here")
        self.check(not self.c["sampling"]["apart"] or not self.leaves_out_strata(m["of"]), field + ".of", "rows of all strata would be in each number")
        self.check(m["table_moves"] == ceil(l1), field + ".table_moves")
        if m["weighed_by"] == "squares":  # in its place, a record is rounded before and after: l1 has two of its places, once each
            own = self.rows_of_unit(m) * Fraction(self.row_at_most(m, axes), 2 ** m["shift"]) + self.rows_per_unit() * self.rounding(m, axes)
            within = l1 - own + self.rows_per_unit() * self.rounding(m, axes)
            self.check(m["moves_within"] == ceil(within), field + ".moves_within")
        self.check(m["limit"] == 2 ** 62 - 2 ** 60, field + ".limit")
        statistics, i = self.c["plan"]["statistics"], m["table"]["statistic"]
        self.check(i >= len(statistics) or all(statistics[i].get(k) == v for k, v in m["of"].items()), field + ".of")
        together = self.numbers_of(m) > 1 and self.is_calibrated() and self.fit_together(m)
        self.check(("together" in m) == together or (together and i >= len(statistics)), field + ".together")
        self.check(m["overlap"] >= 1 and all(Fraction(m[k]) >= 0 for k in ("mean_weight", "rows_of_psu", "cv_of_psus")), field)
        if "regression" in m["of"]:
            self.check(m["overlap"] >= len(self.coefficients(m["of"])), field + ".overlap", "a row is in all coefficients of its group")
        self.check(2 * self.spare(m) <= STEPS, field + ".overlap", "leaves no room for rounding")

    def leaves_out_strata(self, t):
        """Whether a statistic has groups, domains or cells of public strata."""
        within = [v for v in t.values() if isinstance(v, dict)]
        names = [*t.get("by", []), *t.get("where", {})] + [by for v in within if isinstance(v.get("on", v.get("by")), list) for by in v.get("on", v.get("by"))]
        return any(self.is_of_strata(name) for name in names + [name for v in within for name in v.get("between", {})])

    def row_at_most(self, m, axes):
        """What a row adds at most, of any stratum."""
        return max(self.row(m, axes, h) for h in range(len(self.strata)))

    def layout(self):
        """Strata of slots: clusters, slots, lambda. Slot k has the clusters k, k + slots, ..."""
        return [(h["psus"], h["slots"], 1 - Fraction(h["psus"], h["population"]) if "population" in h else Fraction(1))
                for h in self.c["sampling"].get("psu_strata", [])]

    def block_parts(self, blocks):
        """What the standard error of each block compares: clusters in each slot, and the factor of the squares in steps of 2^-24."""
        for h, (psus, slots, rest) in enumerate(self.layout()):
            sizes = [psus // slots + (k < psus % slots) for k in range(slots)]
            dealt = [sizes[b::blocks] for b in range(blocks)] if slots >= 2 * blocks else [sizes]
            for b in {tuple(x): x for x in dealt}.values():
                m, squares = sum(b), sum(x * x for x in b)
                yield b, m, squares, ceil(2 ** 24 * rest * Fraction(m * m, m * m - squares))

    @staticmethod
    def root_up(x):
        """The least g with (g 2^-10)^2 >= x."""
        wanted = ceil(x * 2 ** 20)
        g = isqrt(wanted)
        return g + (g * g < wanted)

    def one_slot(self, blocks):
        """By how much a standard error moves if one slot's total moves by 1: the norm of a unit vector."""
        return max(self.root_up(Fraction(f, 2 ** 24) * (1 - Fraction(2 * min(b), m) + Fraction(q, m * m))) for b, m, q, f in self.block_parts(blocks))

    def two_slots(self):
        """The same if two totals move by 1, in one stratum or in two."""
        both = self.root_up(2 * Fraction(self.one_slot(1), 2 ** 10) ** 2)
        return max([both] + [self.root_up(Fraction(f, 2 ** 24) * max(2, 2 - Fraction(8 * min(b), m) + Fraction(4 * q, m * m)))
                             for b, m, q, f in self.block_parts(1)])

    def spare(self, m, numbers=None, most=None):
        """Steps for rounding: a unit is in 2 K overlap numbers and slots, before and after; or all move. A variance is rounded once."""
        moved = 2 * self.rows_per_unit() * ((numbers or self.numbers_of(m)) if "together" in m else m["overlap"])
        if m["weighed_by"] == "squares":
            return (numbers or self.numbers_of(m)) if self.all_move() else moved
        if m["weighed_by"] == "groups":
            return GROUPS * self.numbers_of(m) if self.all_move() else moved
        slots = most or sum(s for _, s, _ in self.layout())
        rounding = ceil(sqrt(3 * BLOCKS * slots) / 2) + 1 + BLOCKS // 64
        if self.all_move():
            return (numbers or self.numbers_of(m)) * (3 + (3 + 2 * slots + 2 * rounding) // 8)
        return moved * (3 + (3 + 2 * rounding) // 8)

    def fit_together(self, m):
        """Whether rounding leaves half of the steps if a row moves all numbers of the statistic, with as many slots as there may be."""
        drawn = sum(z.get("sample", 0) for _, z in self.strata)
        return 2 * self.spare({**m, "together": True}, most=drawn if self.all_move() and 0 < drawn < 2 ** 16 else 2 ** 16) <= STEPS

    def is_calibrated(self):
        """To counts that the design does not fix anyway, or to totals."""
        s, strata = self.c["sampling"], self.c["plan"]["design"].get("stratified", {}).get("by")
        fixed = s["rows_fixed"] and s["weights"] is not None and not self.clustered() and all("population" in z for _, z in self.strata)
        known = [[]] + ([[strata]] if strata and not self.protected else [])
        return any(not fixed or "total" in c or c.get("by", []) not in known for c in self.controls())

    def all_move(self):
        """With protected design variables a record may move the weights of all others."""
        return self.protected and len({Fraction(w) for w in self.c["sampling"]["weights"] or [0, 1]}) > 1

    def has_numbers(self, m, count):
        """A table has its cells and levels, standard errors one number for each group of their statistic."""
        if m["weighed_by"] not in SECOND:
            return count == m["strata"] * m["cells"] * m["levels"]
        statistics, i = self.c["plan"]["statistics"], m["table"]["statistic"]
        if i >= len(statistics) and not self.is_compared(m["of"]):  # a share that a distribution function has
            return 1 <= count <= m["cells"]
        return count == self.numbers_of(m) * (GROUPS if m["weighed_by"] == "groups" else 1)

    def numbers_of(self, m):
        """Groups of the statistic whose standard errors these are; of a share of a distribution function at most the cells."""
        statistics, i = self.c["plan"]["statistics"], m["table"]["statistic"]
        if i >= len(statistics) and not self.is_compared(m["of"]):
            return m["cells"]
        t = statistics[i] if i < len(statistics) else m["of"]
        groups = t.get("by", []) + t.get("table", []) + ([{t["histogram"]: t["cuts"]}] if "histogram" in t else [])
        return prod(self.size(by) for by in groups) * (len(self.coefficients(t)) if "regression" in t else 1)

    # ---- models ----

    def numbers_in(self, t):
        """Predictors of a model that are numbers and not cut."""
        return [by for by in t["regression"]["on"] if isinstance(by, str) and "from" in self.c["plan"]["columns"][by]]

    def coefficients(self, t):
        """The terms of a model: for each one the values that it asks for, by the place of their column in `on`; None of a number."""
        on = t["regression"]["on"]
        names = [by if isinstance(by, str) else next(iter(by)) for by in on]
        others = [[None] if by in self.numbers_in(t) else [v for v in range(self.size(by)) if v != self.code_of(by, t.get("baseline", {}).get(name))] for by, name in zip(on, names)]
        made = [{}] + [{k: v} for k, values in enumerate(others) for v in values]
        for pair in t["regression"].get("interactions", []):
            a, b = sorted(names.index(name) for name in pair)
            made += [{a: v, b: w} for v in others[a] for w in others[b]]
        return made

    def code_of(self, by, value):
        """The place of a baseline among the values of a category or the bins of cuts; the first unless it is given."""
        if value is None:
            return 0
        if isinstance(by, str):
            return (self.listed(by) + ["missing"]).index(value)
        number, cuts = next(iter(by.items()))
        column = self.c["plan"]["columns"][number]
        ends = [Fraction(x) for x in [column["from"], *cuts, column["to"]]]
        return next(k for k in range(len(ends) - 1) if Fraction(value.strip("[]()").split(",")[0]) == ends[k])

    # ---- contrasts ----

    def terms(self, t):
        """What a contrast is made of: statistics, and for each number its statistic, its value of what is compared, and its weight."""
        kind = next(iter(CONTRASTS & set(t)))
        c, rest = t[kind], {k: t[k] for k in ("where",) if k in t}
        if kind == "correlation":
            return [{"product": c, **rest, "by": t.get("by", [])}], []
        if kind == "regression":
            about, numbers = "mean" if isinstance(c["of"], str) else "share", self.numbers_in(t) + [c["of"]]
            if len(numbers) > 1:
                by = t.get("by", []) + [x for x in c["on"] if x not in numbers]
                return [{"product": list(pair), **rest, "by": by} for pair in combinations(numbers, 2)], []
            return [{about: c["of"], **rest, "by": t.get("by", []) + c["on"]}], []
        about = {k: c[k] for k in COMPARED if k in c}
        if kind == "change":
            return [{**about, **rest, "by": t.get("by", [])}], [(0, None, 1)]
        if "minus" in c:
            return [{**about, **rest, "by": t.get("by", [])}, {**c["minus"], **rest, "by": t.get("by", [])}], [(0, None, 1), (1, None, -1)]
        across = c["by"][0] if kind == "contrast" else next(iter(c["between"]))
        of = [{**about, **rest, "by": t.get("by", []) + [across]}]
        if kind == "contrast":
            return of, [(0, code, Fraction(w)) for code, w in enumerate(c["weights"]) if Fraction(w) != 0]
        values = self.listed(across) + ["missing"]
        return of, [(0, values.index(v), w) for v, w in zip(c["between"][across], (1, -1))]

    def is_compared(self, of):
        """Whether standard errors are those of a statistic that a contrast is made of."""
        parts = [s for t in self.c["plan"]["statistics"] if CONTRASTS & set(t) for s in self.terms(t)[0]]
        own = {k: v for k, v in of.items() if k in COMPARED + ("where",)}
        return any(own == {k: v for k, v in s.items() if k != "by"} and sorted(map(str, of.get("by", []))) == sorted(map(str, s["by"])) for s in parts)

    def errors_said(self, told):
        """All standard errors of a measurement together move by gain * coefficient * table_moves / 2 * overlap, in units of totals
        before the shift, and with their steps of divisor/64 by no more than what rounding leaves of the steps. Variances move by
        range * table_moves * overlap."""
        own, said = [m for m in self.c["measurements"] if m["weighed_by"] in SECOND], told.get("standard_errors", [])
        self.check(len(said) == len(own) and ("standard_errors" in told) == bool(own), "measurements.json.standard_errors")
        if self.problems:
            return
        for i, m in enumerate(own):
            here = f"measurements.json.standard_errors[{i}]"
            groups = m["weighed_by"] == "groups"
            numbers = [s["numbers"] for s in said if s["of"] == m["of"] and ("weighed_by" in s) == groups]
            values = [t["values"] for t in told["measurements"] if t.get("of") == m["of"] and (t["weighed_by"] == "groups") == groups]
            self.check(len(numbers) == len(values) == 1 and len(numbers[0]) * (GROUPS if groups else 1) == len(values[0]), here)
            if groups and numbers:
                self.groups_said(m, numbers[0], here)
                continue
            single = bool(values) and len(values[0]) == 1 and not self.all_move()
            for t in numbers[0] if numbers else []:
                if m["weighed_by"] == "squares":
                    self.squares_said(m, t, single, len(values[0]), here)
                    continue
                b = t["blocks"]
                self.check(0 <= t["range"] <= 2 * COEFFICIENT and 1 <= b <= BLOCKS and b & (b - 1) == 0, here)
                signs = self.is_of_units(m) and m["unit_contribution"]["low"] < 0
                self.check(not signs or t["range"] in (0, 2 * COEFFICIENT), here + ".range", "is that of both signs")
                if self.problems:
                    return
                gain = 2 * self.one_slot(b)
                if b == 1 and single:
                    gain = max(self.two_slots(), ceil(Fraction(self.one_slot(1) * t["range"], COEFFICIENT)))
                moves = ceil(Fraction(gain * COEFFICIENT * m["table_moves"] * m["overlap"], 2 ** 11)) * Fraction(2) ** -t["shift"]
                self.check(2 ** 23 < moves <= 2 ** 24, here + ".shift")
                self.check(t["divisor"] == ceil(64 * moves / (STEPS - self.spare(m, len(values[0])))), here + ".divisor", "is not the least that is enough")

    def groups_said(self, m, numbers, here):
        """Totals of groups of clusters: each cluster is in one of them, with a factor in steps of 2^-10, of the root of n/(n - 1) in a
        stratum of n clusters, n odd. So all of them move by the largest factor times coefficient * table_moves * overlap."""
        factor = max(self.root_up(Fraction(n, n - 1)) if n % 2 else 2 ** 10 for n, _, _ in self.layout())
        moves, room = COEFFICIENT * m["table_moves"] * m["overlap"] * factor, STEPS - self.spare(m)
        shift = next(k for k in range(200) if (moves >> k) // room < 2 ** 60)
        for t in numbers:
            right = (t["blocks"], t["shift"], t["divisor"]) == (1, shift, ceil(Fraction(moves, room << shift))) and 0 <= t["range"] <= 2 * COEFFICIENT
            self.check(right, here + ".divisor", "is not the least that is enough")

    def for_changes(self):
        """Totals of groups of clusters are those of the statistics that are for changes, which are of clusters of a public list, each in a
        slot of its own."""
        wanted = [i for i, t in enumerate(self.c["plan"]["statistics"]) if "for_change" in t]
        told = [m["table"]["statistic"] for m in self.c["measurements"] if m["weighed_by"] == "groups"]
        self.check(sorted(told) == wanted, "measurements", "totals of groups are not those of the plan")
        self.check(("pairs" in self.c.get("psus", {})) == bool(wanted), "psus.pairs")
        if not wanted or self.problems:
            return
        pairs = self.c["psus"]["pairs"]
        self.check(all(slots == n for n, slots, _ in self.layout()), "sampling.psu_strata", "clusters share slots")
        self.check(len(pairs) == GROUPS and min(pairs) >= 0 and sum(pairs) == sum(n // 2 for n, _, _ in self.layout()), "psus.pairs")
        rows = self.beside(self.within["psus"], self.c["psus"]["sha256"], "psus")
        if rows is not None and len(self.layout()) == len(self.c["psus"]["clusters"]):
            self.check(self.pairs_of(rows) == pairs, "psus.pairs", "are not those of the file")

    def pairs_of(self, rows):
        """How many pairs of clusters each group has: within strata neighbours by the bits of the hashes of their labels."""
        stratum, label, counts = self.within.get("strata"), self.within["cluster"], [0] * GROUPS
        listed = sorted({(row[stratum].strip() if stratum else "", row[label].strip()) for row in rows})
        hashes = {}
        for s, c in listed:
            hashes.setdefault(s, []).append(int.from_bytes(hashlib.sha256(f"{s}\0{c}".encode()).digest()[:8], "big"))

        def pair(own, bit):
            if len(own) < 2:
                return own
            if bit < 0:
                parts = [own[:1], own[1:]]
            else:
                parts = [[h for h in own if h >> bit & 1 == side] for side in (0, 1)]
            left = pair(parts[0], bit - 1) + pair(parts[1], bit - 1)
            if len(left) < 2:
                return left
            counts[sum(left) % 2 ** 64 % GROUPS] += 1
            return []

        for own in hashes.values():
            pair(sorted(own), 63)
        return counts

    def squares_said(self, m, t, single, numbers, here):
        """A sum of squares is divided by 2^shift * divisor, the least that is enough; products of whole numbers of 14 bits, doubled."""
        most = self.numbers_of(m) if "together" in m else 1
        pairs = max(1, sum("number" in a for a in m["axes"]) - 1)  # of the ends of more numbers there are more products, of fewer bits
        self.check(0 <= t["range"] <= most * (2 ** ((30 - pairs) // 2 * 2 + pairs) + 2 ** 17) + 2 ** 20 and t["blocks"] == 1 and t["shift"] >= 0, here)
        moves = m["moves_within" if single else "table_moves"] * max(t["range"], 1) * m["overlap"]
        shift = next(k for k in range(200) if moves >> k < 2 ** 60)
        right = t["shift"] == shift and t["divisor"] == ceil(Fraction(moves, 2 ** shift * (STEPS - self.spare(m, numbers))))
        self.check(right, here + ".divisor", "is not the least that is enough")

    def psus(self):
        """The strata in which clusters are compared: those of the design or of the list, of which a single cluster joins others; all
        of one where there is no room. A stratum whose clusters were all drawn has none."""
        s = self.c["sampling"]
        self.check(not s["apart"] or (self.strata[0][0] is not None and not self.protected), "sampling.apart", "strata are not public")
        self.check(not s["apart"] or s["weights"] is not None, "sampling.apart", "rows have weights of their own")
        if s["weights"] is None and self.measured():
            self.check(1 <= s["largest_point_in_totals"] <= s["largest_point"], "sampling.largest_point_in_totals")
        measured = any(m["weighed_by"] == "psus" for m in self.c["measurements"])
        self.check(("psu_strata" in s) == measured, "sampling.psu_strata")
        if not measured or not self.clustered():
            return
        told = s["psu_strata"]
        slots = sum(h["slots"] for h in told)
        self.check(all(2 <= h["slots"] <= h["psus"] for h in told) and slots <= 2 ** 16, "sampling.psu_strata")
        if self.scattered():
            self.check(len(told) == 1 and told[0] == {"psus": slots, "slots": slots} and slots in [2 ** k for k in range(1, 9)], "sampling.psu_strata")
            return
        wanted, lonely = [], 0
        for m, M in self.clusters():
            if M and M <= m:
                continue
            lonely += m == 1
            if m > 1:
                wanted.append({"psus": m, **({"population": M} if M else {})})
        if lonely == 1 and wanted:
            wanted[-1] = {"psus": wanted[-1]["psus"] + 1}
        elif lonely > 0:
            wanted.append({"psus": lonely})
        found = [{k: v for k, v in h.items() if k != "slots"} for h in told]
        joined = [{"psus": sum(h["psus"] for h in wanted)}]
        self.check(found == wanted or found == joined, "sampling.psu_strata")

    def clusters(self):
        """Clusters that were drawn in each stratum, and of how many, where that is in one stage; else None."""
        if "psus" in self.within:
            return [(m, None) for m in self.c["psus"]["clusters"]]
        whole = self.kind in ("srs", "systematic", "cluster") and self.c["plan"]["design"].get("nonresponse") not in (True, "yes")
        each = [(self.first_stage(z)["sample"], self.first_stage(z).get("population") if whole else None) for _, z in self.strata]
        if not self.protected or len(each) == 1:
            return each
        return [(sum(m for m, _ in each), sum(M for _, M in each) if whole else None)]

    # ---- whether the tables are enough ----

    def enough(self):
        """Every statistic is read from one table that has all of its columns, or from a number by itself; a ratio of columns that every row
        has, from its two sums."""
        if self.problems:  # a table that is none says nothing
            return
        for i, t in enumerate(self.c["plan"]["statistics"]):
            weighed = "unit contribution" if self.bounded_by_unit(t) else "contribution" if self.contributed(t) else self.main()
            self.read = [(m, [Axis(a, self.strata) for a in m["axes"]]) for m in self.c["measurements"] if m["weighed_by"] == weighed]
            read = self.shares_of(t) if OF_DISTRIBUTION & set(t) else self.terms(t)[0] if CONTRASTS & set(t) else [t]
            read = [x for s in read for x in self.sums_of(s)]
            right = all(self.is_known(x) or any(self.is_read_from(x, m, axes) for m, axes in self.read) for x in read)
            self.check(right, "measurements", f"statistic {i + 1} of the plan does not follow from the tables")

    def sums_of(self, t):
        """A ratio of columns that every row has is read from two sums."""
        if "ratio" in t and all(isinstance(x, str) and self.is_complete({"column": x, **self.c["plan"]["columns"][x]}) for x in t["ratio"].values()):
            return [{"total" if k == "ratio" else k: x if k == "ratio" else v for k, v in t.items()} for x in t["ratio"].values()]
        return [t]

    def controls(self):
        return self.c["plan"].get("calibrate", {}).get("to", [])

    def is_known(self, t):
        """A count that the design fixes, or to which results are calibrated."""
        by, where = t.get("by", []), t.get("where", {})
        if "count" not in t:
            return False
        if not where and any("total" not in c and sorted(map(str, c.get("by", []))) == sorted(map(str, by)) for c in self.controls()):
            return True
        sizes = all("population" in z for _, z in self.strata)
        declared = sizes and self.kind not in ("cluster", "two_stage") and not self.counts_rows()
        about = [*by, *where]
        return declared and (not about or (all(map(self.is_of_strata, about)) and not self.protected))

    def counts_rows(self):
        return self.rows_per_unit() > 1 and self.kind != "srs_with_replacement"

    def is_read_from(self, t, m, axes):
        kind = next(k for k in t if k in SUMS | {"mean", "share", "ratio", "variance", "product"})
        about = t["product"] if kind == "product" else list(t["ratio"].values()) if kind == "ratio" else [t[kind]] if kind not in ("count", "table", "histogram") else []
        groups = t.get("by", []) + (t["table"] if kind == "table" else [{t["histogram"]: t["cuts"]}] if kind == "histogram" else [])
        groups = groups + [by for c in self.controls() for by in c.get("by", [])]
        about = about + [c["total"] for c in self.controls() if "total" in c]  # whose products with everything are needed
        own = m.get("where", {}).get("indicator")
        if own is not None and own != t.get("where"):
            return False
        right = all(any(self.divides(c, by) for a in axes for c in a.told.get("crossed", [])) or self.is_trivial(by) for by in groups)
        if "where" in t and own is None:
            right = right and self.selects(axes, t["where"])
        if self.bounded_by_unit(t):  # rows weigh what they add
            return right and m["unit_contribution"]["column"]["column"] == t["total"] and ("where" not in t or own is not None or self.selects(axes, t["where"]))
        right = right and all(self.has(axes, x) for x in about)
        if not right or m["form"] == "full" or m["form"] in GRAMS:
            return right
        axis = axes[0]
        if m["form"] == "centred":  # rows that have a value, and sums
            return bool(about or groups) or not axis.missing
        grids = axis.number["grid"] if axis.number and isinstance(axis.number["grid"], list) else [axis.number["grid"]] if axis.number else []
        lows = [axis.number["contribution"]["low"]] if axis.number and axis.contributed else [g["from"] for g in grids]
        of_zero = axis.number and all(Fraction(low) == 0 for low in lows)
        of_second = axis.number is None and self.holds_in(axis.told["crossed"][0], about[0])[1:2] == [True] if about else False
        return bool(about) and ((kind == "total" and bool(of_zero or of_second)) or (not axis.missing and self.rows_follow(m)))

    def rows_follow(self, m):
        """The number of rows, or their weight, is public or in another table."""
        s, where = self.c["sampling"], m.get("where")
        fixed = s["weights"] is not None or m["weighed_by"] == "contribution"
        if s["rows_fixed"] and where is None and fixed and not self.counts_rows() and self.kind not in ("cluster", "two_stage"):
            return True
        return any(x.get("where") == where and (x["form"] == "full" or x["form"] in GRAMS or (x["form"] == "centred" and not a[0].missing)) for x, a in self.read)

    def points(self, column, values, up):
        """Values as points of a column's grid: the first not below, or the last not above."""
        step = self.step(column)
        return [ceil(Fraction(v) / step) if up else floor(Fraction(v) / step) for v in values]

    def step(self, column):
        step = column["step"]
        return min(Fraction(x) for x in step.values()) if isinstance(step, dict) else Fraction(step)

    def is_trivial(self, by):
        """Strata that are measured apart, or a column with one value that every row has."""
        if not isinstance(by, str):
            return False
        column = {"column": by, **self.c["plan"]["columns"].get(by, {})}
        apart = self.c["sampling"]["apart"] and self.is_of_strata(by)
        return apart or (len(column.get("values", column.get("strata", column.get("parts", [])))) == 1 and self.is_complete(column))

    def strata_of(self, name, values):
        """The strata in which a column that follows from them has one of these values."""
        return [n for (n, _), v in zip(self.strata, self.in_strata(name)) if v in values]

    def divides(self, c, by):
        """Whether classes tell the values of a `by` apart: of a category all, of a number its cuts."""
        name, cuts = (by, None) if isinstance(by, str) else next(iter(by.items()))
        if self.follows_from(name) is not None and c["column"].get("column") == self.follows_from(name):  # each class has one value of a recode
            return all(sum(bool(set(k) & set(self.parts_of(name, [v]))) for v in self.listed(name)) == 1 for k in c["classes"])
        if c["column"].get("column") != name:
            return False
        if cuts is None:
            return all(len(k) == 1 for k in c.get("classes", [[0, 0]]))
        low, high = self.ends(c["column"])
        return "begin" in c and all(k in c["begin"] for k in self.points(c["column"], cuts, True) if low < k <= high)

    def holds_in(self, c, indicator):
        """For each class whether a condition holds in it; None: in parts of one."""
        if "indicator" in c["column"]:
            return [False, True] if c["column"]["indicator"] == indicator else [None]
        wanted = indicator.get(c["column"]["column"]) if isinstance(indicator, dict) and len(indicator) == 1 else None
        (name, values), *more = indicator.items() if isinstance(indicator, dict) else [(None, None)]
        if not more and self.follows_from(name) is not None and c["column"]["column"] == self.follows_from(name):
            wanted = self.parts_of(name, values)
        if wanted is None:
            return [None]
        if "classes" in c:
            inside = [sum(v in wanted for v in k) for k in c["classes"]]
            return [True if n == len(k) else False if n == 0 else None for n, k in zip(inside, c["classes"])]
        (low, high), (least,), (most,) = self.ends(c["column"]), self.points(c["column"], [wanted["from"]], True), self.points(c["column"], [wanted["to"]], False)
        starts, stops = [low] + c["begin"], [b - 1 for b in c["begin"]] + [high]
        return [True if least <= a and b <= most else False if b < least or most < a else None for a, b in zip(starts, stops)]

    def answers(self, axes, indicator, of_where):
        found = [self.holds_in(c, indicator) for a in axes for c in a.told.get("crossed", []) if c.get("missing_is_no", False) in (False, of_where)]
        return any(None not in f for f in found) or (len(indicator) == 1 and self.holds_always(indicator))

    def holds_always(self, indicator):
        (name, wanted), = indicator.items()
        column = {"column": name, **self.c["plan"]["columns"][name]}
        if not self.is_complete(column):
            return False
        if isinstance(wanted, list):
            return set(wanted) >= set(self.listed(name))
        return (self.points(column, [wanted["from"]], True)[0], self.points(column, [wanted["to"]], False)[0]) == self.ends(column)

    def selects(self, axes, where):
        """As a whole, or one condition after the other."""
        apart = self.c["sampling"]["apart"]  # a condition on strata says which of their tables count
        return self.answers(axes, where, True) or all((apart and self.is_of_strata(k)) or self.answers(axes, {k: v}, True) for k, v in where.items())

    def has(self, axes, x):
        if isinstance(x, dict):
            return self.answers(axes, x, False)
        return any(a.number and a.number["column"]["column"] == x for a in axes)
