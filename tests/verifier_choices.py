"""Quantiles that a mechanism chooses, and statistics that are read from distribution functions. A part of verifier.py;
docs/certificate.md, point 7."""
import itertools
from fractions import Fraction
from math import prod

OF_DISTRIBUTION = {"quantile", "median", "iqr", "share_below", "poverty", "gini", "s80s20"}
METHODS = {"inverse", "joint", "split", "threshold", "histogram_method", "smooth", "tree", "prefix"}


def concentration(method, count):
    """c: what is found with epsilon is epsilon^2 / c zero-concentrated."""
    return {"inverse": 8 * count, "joint": 8, "split": 8 * count.bit_length(), "threshold": 2 * count,
            "histogram_method": 2 * count, "smooth": 2 * count}[method]


class Choices:
    """A verifier has `c`, `strata`, `spent`, `rho`, `protected`, `check`; see verifier.py."""

    def chosen_statistics(self):
        return [i for i, t in enumerate(self.c["plan"]["statistics"])
                if ("quantile" in t or "median" in t) and t["method"] not in ("distribution", "histogram")]  # the old word

    def choices(self):
        list_of, wanted = self.c.get("choices", []), self.chosen_statistics()
        self.check("choices" not in self.c or list_of != [], "choices")
        self.check([c["statistic"] for c in list_of] == wanted, "choices", "are not the quantiles of the plan that a mechanism chooses")
        if self.problems:
            return
        for i, c in enumerate(list_of):
            self.choice(c, self.c["plan"]["statistics"][c["statistic"]], f"choices[{i}]")

    def choice(self, c, t, field):
        coin, kind = "rho" if self.rho else "epsilon", "quantile" if "quantile" in t else "median"
        shares = sum(Fraction(s.get("budget_share", 1)) for s in self.c["plan"]["statistics"])
        part = Fraction(c[coin])
        self.check(("rho" in c) != ("epsilon" in c), field, "has no part of the budget")
        rest = self.spent - sum(Fraction(b[coin]) for b in self.c.get("bounds", []))  # what private bounds leave
        self.check(part == rest * Fraction(t.get("budget_share", 1)) / (2 * shares), f"{field}.{coin}")
        self.check(c["column"]["column"] == t[kind], field + ".column")
        self.column_is_the_plans(c["column"], field + ".column")
        at = t["at"] if kind == "quantile" else ["1/2"]
        self.check([Fraction(x) for x in c["at"]] == [Fraction(x) for x in at], field + ".at")
        by = t.get("by", [])
        self.check([b["column"] if "column" in b else {b["of"][0]["column"]: b["cuts"]} for b in c["by"]] == by, field + ".by")
        for b in c["by"]:
            self.column_is_the_plans(b, field + ".by")
        self.check((c["where"] or {}).get("indicator") == t.get("where"), field + ".where")
        if c["where"]:
            self.column_is_the_plans(c["where"], field + ".where")
        self.check(c["groups"] == prod(self.size(b) for b in by), field + ".groups")
        self.grid_of_choice(c, field)
        self.method(c, t, len(at), field)
        self.neighbours(c, by, field)
        self.loss(c, part, len(at), field)

    def grid_of_choice(self, c, field):
        def of(key, choose):
            v = c["column"][key]
            return choose(Fraction(x) for x in v.values()) if isinstance(v, dict) else Fraction(v)
        grid = {"from": of("from", min), "to": of("to", max), "step": of("step", min)}
        self.check({k: Fraction(v) for k, v in c["grid"].items()} == grid, field + ".grid")
        low, high = self.ends(c["column"])
        skewed = low >= 0 and high - low >= 1000 and c["method"] not in ("histogram_method", "smooth", "tree", "prefix")
        self.check((c["log_unit"] and Fraction(c["log_unit"])) == (grid["step"] if skewed else None), field + ".log_unit")

    def method(self, c, t, count, field):
        asked, found = t["method"], c["method"]
        ruled = {"split"} if count > 10 else {"joint", "split"} if count > 1 else {"inverse", "threshold"}
        self.check(found in METHODS and found in (ruled if asked == "mechanism" else {asked}), field + ".method")
        if (asked == "mechanism" and found == "threshold") or found == "smooth":
            self.check(c["rows"] is not None, field + ".method")
        self.check({"prefix": self.rho, "tree": not self.rho}.get(found, True), field + ".method", "is not paid in this coin")

    def neighbours(self, c, by, field):
        s = self.c["sampling"]
        stays = by == [] or (all(map(self.is_of_strata, by)) and not self.protected and "id" not in self.c["plan"]["privacy"])
        self.check(c["neighbours"] == ("replace" if stays else "add_remove"), field + ".neighbours")
        self.check(c["rows_per_unit"] == self.rows_per_unit(), field + ".rows_per_unit")
        own = s["weights"] is None
        differ = own or len({Fraction(w) for w in s["weights"]}) > 1
        one_each = any(self.is_of_strata(b) and len(self.listed(b)) == len(self.strata) for b in by)  # groups in one stratum each
        weighed = differ and (own or not one_each)
        self.check(not (weighed and self.protected), field, "weights that a record may move are not covered")
        most = None if not weighed else s["largest_point"] if own else max(s["points"])
        self.check(c["max_weight"] == most, field + ".max_weight")
        if c["rows"] is not None:
            public = s["rows_fixed"] and c["where"] is None and not weighed and self.kind not in ("cluster", "two_stage")
            public = public and self.rows_per_unit() == 1 and c["column"].get("missing") == "none"
            drawn = [z.get("sample", z.get("population", 0)) for _, z in self.strata]
            if by:  # smooth sensitivity in public strata, or in what follows from them
                public = public and c["method"] == "smooth" and stays and all(n > 0 for n in drawn)
                keys = list(zip(*map(self.in_strata, by))) if public else []
                drawn = [sum(n for n, own in zip(drawn, keys) if own == g) for g in itertools.product(*map(self.listed, by))] if public else drawn
            else:
                drawn = sum(drawn)
            self.check(public and c["rows"] == drawn, field + ".rows", "are not public, or values may be missing")

    def loss(self, c, part, count, field):
        """The part is what all groups together cost. Prefix sums: two squared norms where a record may move, so half of rho each."""
        if c["method"] == "prefix":
            self.check(Fraction(c["found_with_rho"]) * (2 if c["neighbours"] == "add_remove" else 1) == part, field + ".found_with_rho")
            return
        each = Fraction(c["found_with_epsilon"])
        whole = 2 * each if c["neighbours"] == "add_remove" else each
        if not self.rho:
            self.check(whole == part, field + ".found_with_epsilon")
            return
        square = concentration(c["method"], count) * part
        self.check(whole > 0 and whole ** 2 <= square < (whole * (1 + Fraction(1, 2 ** 18))) ** 2, field + ".found_with_epsilon")

    def shares_of(self, t):
        """The shares that a statistic of a distribution is read from: of the rows below each cut."""
        kind = next(k for k in t if k in OF_DISTRIBUTION)
        column = self.c["plan"]["columns"][t[kind]]
        low, step = self.ends(column)[0], self.step(column)
        rest = {k: t[k] for k in ("by", "where") if k in t}
        for cut in t["cuts"]:
            point = self.points(column, [cut], True)[0]
            yield {"share": {t[kind]: {"from": str(low * step), "to": str((point - 1) * step)}}, **rest}

    # ---- the files ----

    def chosen_points(self, told):
        """measurements.json has every choice with its points: on the grid, ascending in each group."""
        ours = [{k: v for k, v in c.items() if k != "statistic"} for c in self.c.get("choices", [])]
        theirs = told.get("choices", [])
        bare = [{k: v for k, v in c.items() if k != "points"} for c in theirs]
        self.check(("choices" in told) == ("choices" in self.c), "measurements.json.choices")
        self.check(sorted(map(str, ours)) == sorted(map(str, bare)), "measurements.json.choices", "are not those of the certificate")
        for i, c in enumerate(theirs):
            low, high = self.ends(c["column"])
            points, each = c["points"], len(c["at"])
            right = len(points) == c["groups"] * each and all(isinstance(p, int) and low <= p <= high for p in points)
            right = right and all(points[k - 1] <= points[k] for k in range(len(points)) if k % each > 0)
            self.check(right, f"measurements.json.choices[{i}].points")

    def check_chosen(self, statistic, results, choices):
        """The estimates are the points, in order; of equal choices any."""
        own = next((c for c in self.c.get("choices", []) if c["statistic"] == statistic), None)
        if own is None:
            return
        bare = {k: v for k, v in own.items() if k != "statistic"}
        found = [c for c in choices if {k: v for k, v in c.items() if k != "points"} == bare]
        step = Fraction(own["grid"]["step"])

        def agrees(c):
            return all(r["estimate"] is None or abs(r["estimate"] - p * step) <= 1e-9 * abs(p * step) for r, p in zip(results, c["points"]))
        self.check(any(agrees(c) for c in found), "release.json.results", "an estimate is not the point that was chosen")
