"""Private bounds of columns: what they cost, which candidates they have, and the grids that they lead to. A part of verifier.py;
docs/certificate.md, point 3."""
from fractions import Fraction
from math import ceil, log

KEYS = {"name", "column", "halvings_at_most", "worth", "rows_per_unit", "found_with_epsilon", "rate", "inequality", "found"}
USES = ("total", "mean", "variance")


class Bounds:
    """A verifier has `c`, `spent`, `rho`, `check`, `rows_per_unit`; see verifier.py."""

    def private_columns(self):
        """The columns with a private bound, in the order in which statistics use them."""
        def named(t):
            if not isinstance(t, dict):
                return
            for key, about in t.items():
                if key in USES and isinstance(about, str):
                    yield about
                elif key == "ratio":
                    yield from (x for x in (about["of"], about["to"]) if isinstance(x, str))
                elif key in ("difference", "quotient", "contrast", "minus"):
                    yield from named(about)
        listed = []
        for t in self.c["plan"]["statistics"]:
            for name in named(t):
                to = self.c["plan"]["columns"][name]["to"]
                if isinstance(to, dict) and "private" in to and name not in listed:
                    listed.append(name)
        return listed

    def bounds(self):
        """Sets `found`: of each column with a private bound the grid that its candidate means."""
        list_of, wanted, self.found = self.c.get("bounds", []), self.private_columns(), {}
        self.check("bounds" not in self.c or list_of != [], "bounds")
        self.check([b["column"]["column"] for b in list_of] == wanted, "bounds", "are not the private bounds of the plan")
        if self.problems:
            return
        coin = "rho" if self.rho else "epsilon"
        for i, b in enumerate(list_of):
            field, declared = f"bounds[{i}]", self.c["plan"]["columns"][b["column"]["column"]]
            self.column_is_the_plans(b["column"], field + ".column")
            self.check(set(b) == KEYS | {coin}, field)
            share, beyond, step = Fraction(declared["to"]["private"]), Fraction(declared["to"]["beyond"]), Fraction(declared["step"])
            self.check(0 < share and Fraction(b[coin]) == share * self.spent, f"{field}.{coin}")
            steps = beyond / step
            most = 0
            while most < 10 and steps / 2 ** (most + 1) >= 1:
                most += 1
            self.check(Fraction(declared["from"]) == 0 and steps.denominator == 1 and b["halvings_at_most"] == most >= 1, field + ".halvings_at_most")
            epsilon, rate = Fraction(b["found_with_epsilon"]), Fraction(b["rate"])
            self.check(b["rows_per_unit"] == self.rows_per_unit() and epsilon > 0 and rate * self.rows_per_unit() == epsilon, field + ".rate")
            if self.rho:  # a selection in a range of epsilon has rho = epsilon^2 / 8
                square = 8 * Fraction(b[coin])
                self.check(epsilon ** 2 <= square < (epsilon * (1 + Fraction(1, 2 ** 18))) ** 2, field + ".found_with_epsilon")
            else:
                self.check(epsilon == Fraction(b[coin]), field + ".found_with_epsilon")
            self.check(b["worth"] == min(ceil(2 / rate), 2 ** 40), field + ".worth")
            halvings = b["found"]["halvings"]
            self.check(set(b["found"]) == {"halvings", "to"} and type(halvings) is int and 0 <= halvings <= most, field + ".found")
            self.check(not self.problems and Fraction(b["found"]["to"]) == beyond / 2 ** halvings, field + ".found")
            self.found[b["column"]["column"]] = {"from": Fraction(0), "to": beyond / 2 ** halvings, "step": step / 2 ** halvings}
        used = {n["number"]["column"]["column"] for m in self.c["measurements"] for n in m["axes"] if "number" in n}
        self.check(set(wanted) <= used, "bounds", "of a column that is not measured")
        for t in self.c["plan"]["statistics"]:
            self.check(not any(k in t for k in ("change", "for_change")) or not set(self.private_columns()) & set(map(str, t.values())), "plan.statistics",
                       "a change of a column with a private bound is not covered")
        self.check(not wanted or "outsider" not in self.c["plan"]["privacy"], "plan.privacy", "private bounds with a target for outsiders are not covered")

    def bounds_of_results(self, told):
        """release.json has the bounds, and how many rows are above each at most: by the law of the choice, whatever the data are."""
        bounds = self.c.get("bounds", [])
        self.check([b["column"] for b in told.get("bounds", [])] == [b["column"]["column"] for b in bounds], "release.json.bounds")
        for own, b in zip(told.get("bounds", []), bounds):
            halvings, most = b["found"]["halvings"], b["halvings_at_most"]
            above = b["worth"] * halvings + log((most + 1) / (1 - own["confidence"])) / Fraction(b["rate"])
            self.check(Fraction(own["to"]) == Fraction(b["found"]["to"]) or abs(own["to"] - float(Fraction(b["found"]["to"]))) <= 1e-9 * own["to"], "release.json.bounds")
            if halvings == 0:  # above the largest candidate nothing is counted
                self.check(own["rows_above_at_most"] is None, "release.json.bounds")
                continue
            self.check(own["confidence"] == 0.95 and above - 1e-6 <= own["rows_above_at_most"] <= above + 1 + 1e-6, "release.json.bounds")

    def bounds_of_file(self, told):
        """measurements.json has the same bounds."""
        self.check(sorted(map(str, told.get("bounds", []))) == sorted(map(str, self.c.get("bounds", []))), "measurements.json.bounds",
                   "are not those of the certificate")
