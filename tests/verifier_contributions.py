"""Totals whose contributions are bounded: the points of a contribution, units that are certain to be drawn, and the sizes of a frame. A
part of verifier.py, apart because of its length; docs/certificate.md, point 4."""
from fractions import Fraction
from math import floor

MOST_POINTS = 2 ** 24


def near(x, y):
    """Steps are doubles in the certificate."""
    return abs(Fraction(x) - y) <= y / 10 ** 12


class Contributions:
    """A verifier has `c`, `frame`, `within`, `strata`, `protected`, `check`; see verifier.py."""

    def contributed(self, t):
        """Whether a statistic is read from contributions: a total, or one over the public number of units."""
        name = t.get("total", t.get("mean") if t.get("method") == "known_size" else None)
        column = self.c["plan"]["columns"].get(name, {}) if isinstance(name, str) else {}
        return "contribution" in column or self.by_size(column)

    def by_size(self, column):
        return isinstance(column.get("to"), dict) and "of" in column["to"]

    def any_contributed(self):
        return any(self.contributed(t) for t in self.c["plan"]["statistics"])

    def contribution_parts(self):
        """2 where certain units are measured apart: bounds are relative to sizes, and everybody knows that these are in the sample."""
        columns = self.c["plan"]["columns"]
        relative = any(self.contributed(t) and self.by_size(columns[t.get("total", t.get("mean"))]) for t in self.c["plan"]["statistics"])
        design = self.c["plan"]["design"]
        if not relative or not self.frame or "weight" in design or "max_weight" in design or not self.c["sampling"]["rows_fixed"]:
            return 1
        certain = sum(f["certain"] for f in self.frame["strata"])
        return 2 if 0 < certain < sum(z["sample"] for _, z in self.strata) else 1

    def contribution(self, number, field):
        """A contribution has at most 2^24 steps up to its bound, and as many below 0 if values can be."""
        told, column, design = number["contribution"], number["column"], self.c["plan"]["design"]
        low, high, shift = told["low"], told["high"], told["shift"]
        self.check(not self.protected and self.c["sampling"]["weights"] is None, field, "weights may move, or rows have none")
        self.check(not self.clustered() and "calibrate" not in self.c["plan"], field, "is not for such a plan")
        self.check(1 <= high <= MOST_POINTS and low == (-high if Fraction(column["from"]) < 0 else 0), field)
        self.check(number["degree"] == 2 and number["missing"] == "zero", field, "missing values count as 0")
        steps = [Fraction(s) for s in told["step"]]
        self.check(len(steps) == self.contribution_parts(), field + ".step")
        if not (self.frame and "weight" not in design):
            self.check("contribution" in column, field)
            points = Fraction(column["contribution"]) / Fraction(self.c["sampling"]["step"]) / Fraction(column["step"])
            first = next(k for k in range(300) if points / 2 ** k <= MOST_POINTS)
            self.check(shift == first and high == floor(points / 2 ** shift), field + ".shift")
            self.check(near(steps[0], Fraction(self.c["sampling"]["step"]) * Fraction(column["step"]) * 2 ** shift), field + ".step")
            return
        self.check(high == MOST_POINTS, field + ".high")
        for part, step in enumerate(steps):
            self.check(near(step, self.largest(column, part) / high), field + ".step", "is not that of the largest contribution")

    def bounded_by_unit(self, t):
        """Whether a statistic is a total of which a unit adds at most so much."""
        return isinstance(t.get("total"), str) and "unit_contribution" in self.c["plan"]["columns"].get(t["total"], {})

    def any_bounded_by_unit(self):
        return any(self.bounded_by_unit(t) for t in self.c["plan"]["statistics"])

    def is_of_units(self, m):
        """Whether the rows of a table weigh what they add to totals; counts of rows are made in the same world."""
        return "unit_contribution" in m and m["weighed_by"] != "none"

    def largest_addition(self, m):
        return min(m["unit_contribution"]["high"], m["unit_contribution"]["largest_sum_of_unit"])

    def unit_contribution(self, m, field):
        """What a row adds to a total: weight times value on a grid of at most 2^24 steps up to what a unit adds; at most that, and what the
        largest weight and value make of it."""
        self.check(("unit_contribution" in m) or m["weighed_by"] != "unit contribution", field, "says nothing about units")
        if "unit_contribution" not in m or self.problems:
            return
        told, s, field = m["unit_contribution"], self.c["sampling"], field + ".unit_contribution"
        column, step = told["column"], Fraction(s["step"])
        self.column_is_the_plans(column, field + ".column")
        self.check(m["weighed_by"] in ("unit contribution", "psus", "none") and "unit_contribution" in column, field)
        self.check(not self.protected and s["weights"] is None and "calibrate" not in self.c["plan"], field, "weights may move, or rows have none")
        self.check(self.rows_per_unit() > 1 and (self.clustered() or self.kind == "census"), field, "is not for such a plan")
        if self.problems:
            return
        points = Fraction(column["unit_contribution"]) / step / Fraction(column["step"])
        shift = next(k for k in range(1000) if points / 2 ** k <= MOST_POINTS)
        self.check(told["shift"] == shift and told["largest_sum_of_unit"] == floor(points / 2 ** shift) >= 1, field + ".shift")
        most = Fraction(s["largest_point"] * max(map(abs, self.ends(column))), 2 ** shift)
        self.check(abs(told["high"] - min(floor(most) + 1, 2 ** 50)) <= most / 2 ** 50, field + ".high")
        self.check(told["low"] == (-told["high"] if Fraction(column["from"]) < 0 else 0), field + ".low")
        self.check(near(told["step"], step * Fraction(column["step"]) * 2 ** shift), field + ".step")

    def largest(self, column, part):
        """The largest contribution of units that are not certain, of certain ones, or of all."""
        if "contribution" in column:
            return Fraction(column["contribution"])
        f = next(s for s in self.frame["sizes"] if s["column"] == column["to"]["of"])
        ends = [f["open"], f["certain"]] if self.contribution_parts() == 1 else [f["open"] if part == 0 else f["certain"]]
        weight = 1 if part == 1 else 1 / min(Fraction(s["smallest"]) for s in self.frame["strata"])
        below = max(0, -Fraction(column["from"])) * weight
        return max([Fraction(column["to"]["times"]) * Fraction(e) for e in ends if e is not None] + [below])

    def sizes(self, rows):
        """The largest sizes of the frame's file: over the probability of units that are not certain, and of certain ones."""
        wanted = sorted({c["to"]["of"] for c in self.c["plan"]["columns"].values() if self.by_size(c)})
        told = self.frame.get("sizes", [])
        self.check(sorted(s["column"] for s in told) == wanted, "frame.sizes")
        for s in told if rows is not None else []:
            worth = {True: [], False: []}
            for row in rows:
                pi, size = Fraction(row[self.within["probability"]].strip()), Fraction(row[s["column"]].strip())
                worth[pi == 1].append(size / pi)
            right = [None if e is None else Fraction(e) for e in (s["open"], s["certain"])] == [max(worth[k], default=None) for k in (False, True)]
            self.check(right, "frame.sizes", "are not those of the frame's file")
        return rows
