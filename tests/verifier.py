#!/usr/bin/python3
"""A second verifier of certificates, written from docs/certificate.md alone, in plain Python.

    tests/verifier.py CERTIFICATE.json

Shares no code with tamis. Exact fractions where the file is exact; 60 decimal digits, rounded outwards by far more than
their error, where logarithms are needed. Prints what does not hold, a line each; exit 3 if there is anything.
"""
import functools
import hashlib
import json
import pathlib
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from math import erfc, exp, floor, sqrt

getcontext().prec = 60
DUST = Decimal("1e-40")


def dec(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


class Verifier:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.c = json.loads(self.path.read_text())
        self.problems = []

    def check(self, right, field, message="does not follow from the rest"):
        if not right:
            self.problems.append(f"{field}: {message}")

    # ---- the file ----

    def file(self):
        body = {k: v for k, v in self.c.items() if k not in ("guarantee", "hash")}
        text = json.dumps(body, sort_keys=True, ensure_ascii=False)
        self.check(hashlib.sha256(text.encode()).hexdigest() == self.c["hash"], "hash", "is not the hash of the rest")
        beside = self.path.parent / "measurements.json"
        if beside.exists():
            right = hashlib.sha256(beside.read_bytes()).hexdigest() == self.c["files"]["measurements.json"]
            self.check(right, "files.measurements.json", "another file")

    # ---- sensitivity and noise ----

    def strata(self):
        return len(self.c["sampling"].get("points") or self.c["sampling"]["weights"] or [0])

    def points(self, factor, h):
        if "grid" not in factor:
            return -factor["centre"], 1 - factor["centre"]
        grid = factor["grid"][h] if isinstance(factor["grid"], list) else factor["grid"]
        step = Fraction(grid["step"])
        low, high = -floor(-Fraction(grid["from"]) / step), floor(Fraction(grid["to"]) / step)
        return low - factor["centre"], high - factor["centre"]

    def row(self, m, h):
        """What a row of stratum h adds at least and at most, before the shift."""
        adds, s = m["row_adds"], self.c["sampling"]
        by = adds["weighed_by"]
        if by == "none":
            w = (1, 1)
        elif "points" in s:
            w = (s["points" if by == "weight" else "spread_points"][h],) * 2
        else:
            most, one = s["largest_point"], round(1 / Fraction(s["step"]))
            w = (0, most if by == "weight" else max(0, most * (most - one)))
        if "x" not in adds:
            return w
        x = self.points(adds["x"], h)
        if adds.get("y") == adds["x"]:
            far, near = max(map(abs, x)), 0 if x[0] <= 0 <= x[1] else min(map(abs, x))
            return w[0] * near ** 2, w[1] * far ** 2
        ends = [a * b for a in w for b in x]
        if "y" in adds:
            ends = [a * b for a in ends for b in self.points(adds["y"], h)]
        return min(ends), max(ends)

    def measurement(self, m, field, rho):
        K = int(self.c["plan"]["privacy"].get("rows_per_unit", 1))
        part = Fraction(m["rho" if rho else "epsilon"])
        rows = [self.row(m, h) for h in range(self.strata())]
        shifted = [tuple(floor(Fraction(end, 2 ** m["shift"]) + Fraction(1, 2)) for end in r) for r in rows]
        several = len(m["noise"]) > 1
        self.check(m["low"] == min(r[0] for r in shifted) and m["high"] == max(r[1] for r in shifted), field + ".low")
        for h, law in enumerate(m["noise"]):
            mine = [shifted[h]] if several else shifted
            low, high = min(r[0] for r in mine), max(r[1] for r in mine)
            self.check((law["low"], law["high"]) == (low, high), f"{field}.noise[{h}].low")
            far, wide = max(abs(low), abs(high)), high - low
            if m["cells_of_a_record"] > 1:
                l1, l2 = 2 * far * K, max(2 * far ** 2, wide ** 2) * K * K
            else:
                l1 = max(far, wide) * K if m["may_be_left_out"] else max(high, K * high) - min(low, K * low)  # 1 to K rows
                l2 = l1 * l1
            if self.c["setting"]["design_variables"] == "public":
                self.check(law["sensitivity"] >= l1, f"{field}.noise[{h}].sensitivity")
                self.check(Fraction(law["sensitivity_l2_squared"]) >= l2, f"{field}.noise[{h}].sensitivity_l2_squared")
            scale = Fraction(law["scale"])
            if rho:
                needed = max(Fraction(law["sensitivity_l2_squared"]), 1 if l2 == 0 else 0) / (2 * part)
                right = scale ** 2 >= needed
            else:
                right = scale * part >= max(law["sensitivity"], 1)
            self.check(right, f"{field}.noise[{h}].scale", "is too small")

    def composition(self):
        c = self.c["composition"]
        self.rho = "rho" in c
        coin = "rho" if self.rho else "epsilon"
        self.spent = Fraction(c[coin])
        self.check(self.spent == sum(Fraction(m[coin]) for m in self.c["measurements"]), "composition", "is not the sum of the parts")
        loss = self.c["plan"]["privacy"]
        if self.rho and "rho" not in loss:
            at = rho_delta(dec(self.spent), dec(loss["epsilon"]))
            self.check(at <= dec(loss["delta"]), "composition", "is more than the plan allows")
        else:
            self.check(self.spent <= Fraction(loss[coin]), "composition", "is more than the plan allows")

    # ---- the account ----

    def account(self):
        a, budget = self.c["account"], self.c["plan"]["budget"]
        if a is None:
            return
        before, after = ({k: Fraction(v) for k, v in a[when].items()} for when in ("before", "after"))
        concentrated = "rho" in budget or after["rho"] > 0
        more = dict(before)
        if concentrated and (self.rho or before["rho"] > 0 or "rho" in budget):
            more["rho"] += self.spent if self.rho else self.spent ** 2 / 2
        else:
            more["epsilon"] += self.spent
        repeated = self.c["ledger"]["repeated"]
        right = all(after[k] >= more[k] for k in more) if repeated else after == more
        self.check(right, "account.after")
        if "rho" in budget:
            self.check(after["rho"] <= Fraction(budget["rho"]), "account.after", "is beyond the budget")
        else:
            self.check(after["epsilon"] <= Fraction(budget["epsilon"]), "account.after", "is beyond the budget")
        self.after, self.concentrated = after, concentrated

    # ---- the guarantee ----

    def enclosure(self, field, told, value, width=Decimal("1e-9")):
        """A true number that is known to 40 digits lies between the two that are told, and they are near to it."""
        if told is None:
            return
        ends = {k: Decimal(repr(v)) if not isinstance(v, str) else None for k, v in told.items()}
        dust = (abs(value) + 1) * DUST
        near = abs(value) * width + Decimal("1e-30")
        if "lower" in ends:
            self.check(value - near <= ends["lower"] <= value + dust, field + ".lower")
        if "upper" in ends:
            self.check(value - dust <= ends["upper"] <= value + near, field + ".upper")
        self.check(set(ends) <= {"lower", "upper"}, field, "has a field that does not belong here")

    def between(self, field, told, low, high):
        """Where only an enclosure is known, of which the safe end is exact and the other one as good as doubles."""
        ends = {k: float(v) for k, v in (told or {}).items()}
        self.check(abs(ends.get("lower", low) - float(low)) <= 1e-6 * abs(float(low)) + 1e-9, field + ".lower")
        self.check(abs(ends.get("upper", high) - float(high)) <= 1e-6 * abs(float(high)) + 1e-9, field + ".upper")
        self.check(set(ends) <= {"lower", "upper"}, field, "has a field that does not belong here")

    def pair(self, field, told, **values):
        for key, told_one in (told or {}).items():
            if isinstance(values.get(key), tuple):
                self.between(f"{field}.{key}", told_one, *values[key])
            elif key in values:
                self.enclosure(f"{field}.{key}", told_one, values[key])
            else:
                self.check(key in ("theorem", "by_stratum"), f"{field}.{key}", "does not belong here")

    def sample_loss(self):
        if not self.rho:
            return dec(self.spent), Decimal(0)
        loss, delta = self.c["plan"]["privacy"], Fraction(self.c["composition"]["told_at_delta"])
        eps = rho_epsilon(dec(self.spent), dec(delta))
        eps = min(eps, dec(loss["epsilon"])) if "epsilon" in loss else eps
        return (eps, eps), dec(delta)

    def guarantee(self):
        g = self.c.get("guarantee", {})
        self.check(set(g) <= {"sample", "outsider", "spent", "left"}, "guarantee", "has a field that does not belong here")
        eps, delta = self.sample_loss()
        if "sample" in g:
            self.pair("guarantee.sample", g["sample"], epsilon=eps, delta=delta)
        a, budget = self.c["account"], self.c["plan"]["budget"]
        if a is None:
            self.check(g.get("spent") is None and g.get("left") is None, "guarantee.spent")
        elif "rho" in budget:
            rho = dec(self.after["rho"])
            self.pair("guarantee.spent", g.get("spent"), rho=rho)
            self.pair("guarantee.left", g.get("left"), rho=dec(budget["rho"]) - rho)
        else:
            D = Fraction(budget.get("delta", 0))
            spent, told = dec(self.after["epsilon"]), self.after["delta"]
            left = dec(budget["epsilon"]) - spent
            if self.concentrated:
                rho, told = self.after["rho"], D
                high = rho_epsilon(dec(rho), dec(D - self.after["delta"]))
                low = Decimal(gaussian_epsilon(float(rho), float(D - self.after["delta"])))
                spent, left = (spent + low, spent + high), (max(left - high, Decimal(0)), left - low)
            self.pair("guarantee.spent", g.get("spent"), epsilon=spent, delta=dec(told))
            self.pair("guarantee.left", g.get("left"), epsilon=left, delta=dec(D - told))
        if "outsider" in g:
            self.outsider(g["outsider"])

    def outsider(self, told):
        c = self.c["amplification"]
        if c["theorem"] is None:
            self.check(told is None, "guarantee.outsider")
            return
        self.check(told is not None and told.get("theorem", c["theorem"]) == c["theorem"], "guarantee.outsider.theorem")
        rates = self.rates()
        if told is None:
            return
        if rates is None:
            print(f"guarantee.outsider: the theorem {c['theorem']} is not checked here", file=sys.stderr)
            return
        eps, delta = dec(c["epsilon"]), dec(c["delta"])
        many = {name: ((1 + dec(q) * (eps.exp() - 1)).ln(), dec(q) * delta) for name, q in rates.items()}
        self.pair("guarantee.outsider", told, epsilon=max(e for e, _ in many.values()), delta=max(d for _, d in many.values()))
        for part in told.get("by_stratum", []):
            self.check(part.get("stratum") in many, "guarantee.outsider.by_stratum.stratum")
            e, d = many.get(part.get("stratum"), (Decimal(0), Decimal(0)))
            self.check(part.get("take_all", False) == (rates.get(part.get("stratum")) == 1), "guarantee.outsider.by_stratum.take_all")
            self.pair("guarantee.outsider.by_stratum", {k: v for k, v in part.items() if k in ("epsilon", "delta")}, epsilon=e, delta=d)

    def rates(self):
        """How likely a unit of each stratum is drawn: simple random and Bernoulli samples."""
        design = self.c["plan"]["design"]
        within = design["stratified"]["within"] if "stratified" in design else design
        strata = design["stratified"]["strata"] if "stratified" in design else {None: next(iter(design[k] for k in design if k in KINDS), {})}
        if not set(within) & KINDS:
            return None
        return {n: Fraction(s["rate"]) if "rate" in s else Fraction(s["sample"], s["population"]) for n, s in strata.items()}

    def run(self):
        self.file()
        if self.problems:  # what was changed proves nothing
            return self.problems
        self.composition()
        for i, m in enumerate(self.c["measurements"]):
            self.measurement(m, f"measurements[{i}]", self.rho)
        self.account()
        self.guarantee()
        return self.problems


KINDS = {"srs", "bernoulli"}


def log_delta(rho, eps, a):
    """The logarithm of the delta that order a proves: Canonne, Kamath, Steinke (2020), Corollary 13."""
    return (a - 1) * (a * rho - eps) - (a - 1).ln() + a * (1 - 1 / a).ln()


@functools.lru_cache(maxsize=None)
def rho_delta(rho, eps):
    """The least delta over all orders, by halving where its logarithm falls and rises: it is convex in a."""
    low, high = Decimal("1.0000001"), Decimal(2) + (eps + 100) / rho
    for _ in range(200):
        third = (high - low) / 3
        if log_delta(rho, eps, low + third) < log_delta(rho, eps, high - third):
            high -= third
        else:
            low += third
    return log_delta(rho, eps, low).exp()


@functools.lru_cache(maxsize=None)
def rho_epsilon(rho, delta):
    """The epsilon at which rho has this delta."""
    if rho == 0:
        return Decimal(0)
    low, high = Decimal(0), rho + 2 * (rho * -delta.ln()).sqrt() + 1
    for _ in range(60):
        middle = (low + high) / 2
        if rho_delta(rho, middle) > delta:
            low = middle
        else:
            high = middle
    return high


def gaussian_epsilon(rho, delta):
    """The epsilon of the Gaussian mechanism with this rho, below which no epsilon of rho alone can lie."""
    mu, low, high = sqrt(2 * rho), 0.0, rho + 20 * sqrt(rho) + 20
    for _ in range(80):
        e = (low + high) / 2
        d = erfc((e / mu - mu / 2) / sqrt(2)) / 2 - exp(e) * erfc((e / mu + mu / 2) / sqrt(2)) / 2
        low, high = (e, high) if d > delta else (low, e)
    return low


def verify(path):
    try:
        return Verifier(path).run()
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError) as fault:
        return [f"certificate: not one, or changed: {fault!r}"]


if __name__ == "__main__":
    found = verify(sys.argv[1])
    print("\n".join(found) if found else "no problem found")
    sys.exit(3 if found else 0)
