#!/usr/bin/python3
"""A second verifier of certificates, written from docs/certificate.md alone, in plain Python (with the files verifier_*.py beside it).

    tests/verifier.py FOLDER|CERTIFICATE.json [NAME.pub]

Shares no code with tamis. Exact fractions where the file is exact; 60 decimal digits, rounded outwards by far more than
their error, where logarithms are needed. Prints what does not hold, one per line; exit 3 if there is anything.
"""
import base64
import csv
import functools
import hashlib
import json
import pathlib
import re
import sys
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from math import erfc, exp, floor, log, sqrt

from ed25519 import ed25519
from verifier_account import Account
from verifier_bounds import Bounds
from verifier_changes import Changes
from verifier_choices import Choices
from verifier_contributions import Contributions
from verifier_files import Files
from verifier_reading import Reading
from verifier_strata import Strata
from verifier_tables import Tables

getcontext().prec = 60
DUST = Decimal("1e-40")
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651")


def dec(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


class Verifier(Account, Bounds, Changes, Choices, Contributions, Files, Reading, Strata, Tables):
    def __init__(self, path, key=None):
        self.path, self.key = pathlib.Path(path), key
        self.whole = self.path.is_dir()
        if self.whole:
            self.path /= "certificate.json"
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
        self.check(FILES <= set(self.c["files"]) <= FILES | MORE_FILES, "files")
        for name in self.c["files"]:
            beside = self.path.parent / name
            if beside.exists():
                right = hashlib.sha256(beside.read_bytes()).hexdigest() == self.c["files"][name]
                self.check(right, "files." + name, "another file")
            else:
                self.check(not self.whole, "files." + name, "is missing")
        self.signature()

    def signature(self):
        file, signer = self.path.with_name("certificate.sig"), self.c["signed_by"]
        self.check(file.exists() == (signer is not None) or not (self.whole or file.exists()), "certificate.sig")
        if self.key is None:
            return
        der = base64.b64decode("".join(pathlib.Path(self.key).read_text().splitlines()[1:-1]))
        self.check(hashlib.sha256(der).hexdigest() == signer, "signed_by", "another key, or none")
        message = f"tamis certificate {self.c['hash']}\n".encode()
        right = file.exists() and ed25519(der[-32:], message, file.read_bytes())
        self.check(right, "certificate.sig", "is not the signature of this certificate by this key")

    # ---- the design ----

    def join_strata(self):
        """Strata by several columns as strata by one that is joined from them; the columns follow from it."""
        plan = self.c["plan"]
        s = plan["design"].get("stratified", {})
        if not isinstance(s.get("by"), list):
            return
        def joined(texts):
            return " \u00d7 ".join(t.replace("\u00d7", "\u00d7\u00d7") for t in texts)
        cells = [((), s["strata"])]
        for column in s["by"]:
            cells = [(at + (v,), inner[v]) for at, inner in cells for v in plan["columns"][column]["values"] if v in inner]
        self.check(len({joined(at) for at, _ in cells}) == len(cells), "plan.design.stratified.strata", "two have one name")
        for i, column in enumerate(s["by"]):
            values = plan["columns"][column].pop("values")
            plan["columns"][column]["strata"] = {v: [joined(at) for at, _ in cells if at[i] == v] for v in values}
        plan["columns"][joined(s["by"])] = {"values": [joined(at) for at, _ in cells]}
        plan["design"]["stratified"] = {**s, "by": joined(s["by"]), "strata": {joined(at): sizes for at, sizes in cells}}

    def is_of_strata(self, name):
        """Whether a column is that of the strata, or is declared to follow from it."""
        by = self.c["plan"]["design"].get("stratified", {}).get("by")
        return isinstance(name, str) and by is not None and (name == by or "strata" in self.c["plan"]["columns"].get(name, {}))

    def in_strata(self, name):
        """The values of such a column, stratum by stratum."""
        recode = self.c["plan"]["columns"].get(name, {}).get("strata")
        return [n if recode is None else next(v for v, strata in recode.items() if n in strata) for n, _ in self.strata]

    def listed(self, name):
        """The values of a category in the order of the plan."""
        column = self.c["plan"]["columns"][name]
        recode = column.get("strata") or column.get("parts")
        if not recode:
            return list(column["values"])
        of = self.listed(self.follows_from(name))
        return sorted(recode, key=lambda value: min(of.index(part) for part in recode[value]))

    def follows_from(self, name):
        """The category of which a column is declared to be a recode; None: it is none."""
        column = self.c["plan"]["columns"].get(name, {}) if isinstance(name, str) else {}
        return column["of"] if "parts" in column else self.c["plan"]["design"]["stratified"]["by"] if "strata" in column else None

    def parts_of(self, name, values):
        """The values of that category in which a recode of it has one of these values."""
        column = self.c["plan"]["columns"][name]
        return [part for value in values if value in column["parts"] for part in column["parts"][value]] if "parts" in column else self.strata_of(name, values)

    def design(self):
        """The kind of design, its own keys, and (name, sizes) of its strata in the order of the plan; one without a name."""
        design = self.c["plan"]["design"]
        if "stratified" not in design:
            self.kind = next(k for k in design if k in KINDS)
            self.within, self.strata = design[self.kind], [(None, design[self.kind])]
        else:
            s = design["stratified"]
            self.kind = next(iter(s["within"]))
            self.within = s["within"][self.kind]
            self.strata = [(n, {**self.within, **s["strata"][n]}) for n in self.c["plan"]["columns"][s["by"]]["values"]]
        self.protected = self.c["setting"]["design_variables"] == "protected"
        self.frame = self.c.get("frame")
        if self.frame:
            for f in self.frame["strata"]:
                low, high = Fraction(f["smallest"]), Fraction(f["largest"] or 1)
                right = 0 < low <= high <= 1 and 0 <= f["certain"] <= f["units"] and (f["largest"] is None) == (f["certain"] == f["units"])
                self.check(right and len(self.frame["strata"]) == len(self.strata), "frame.strata", "contradict each other")
            for f, (_, z) in zip(self.frame["strata"], self.strata):
                self.check(self.possible(f, z), "frame.strata", "no frame has such numbers")
            self.frame_file()
        self.check(bool(self.frame) == ("frame" in self.within), "frame")
        self.check(("psus" in self.c) == ("psus" in self.within), "psus")
        if "psus" in self.c:
            self.listed_clusters()

    def beside(self, name, sha256, field):
        """The rows of a public file, if it is here or in the folder above."""
        for place in (self.path.parent, self.path.parent.parent):
            file = place / name
            if file.suffix != ".csv" or not file.exists():
                continue
            if hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
                self.check(place != self.path.parent, field + ".sha256", "another file")
                continue
            with file.open(newline="") as opened:
                return list(csv.DictReader(opened))
        return None

    def listed_clusters(self):
        """The sampled clusters: so many in each stratum, these in the order of their names."""
        told, names = self.c["psus"], (self.within.get("strata"), self.within["cluster"])
        self.check(re.fullmatch("[0-9a-f]{64}", told["sha256"]) and told["clusters"] and min(told["clusters"]) > 0, "psus")
        rows = self.beside(self.within["psus"], told["sha256"], "psus")
        if rows is not None:
            listed = sorted({(row[names[0]].strip() if names[0] else "", row[names[1]].strip()) for row in rows})
            counts = [sum(s == x for s, _ in listed) for x in sorted({s for s, _ in listed})]
            self.check(counts == told["clusters"], "psus.clusters", "are not those of the file")

    def possible(self, f, sizes):
        """Whether units with such probabilities exist: one has the smallest, one the largest, and they add up to the sample."""
        low, high, others = Fraction(f["smallest"]), Fraction(f["largest"] or 1), f["units"] - f["certain"] - 1
        if sizes.get("population", f["units"]) != f["units"] or (others == 0 and low != high) or low < Fraction(1, 2 ** 40):
            return False
        if self.kind != "pps":
            return True
        rest, dust = sizes["sample"] - f["certain"], Fraction(sizes["sample"], 999000)
        least, most = (others * low + high, low + others * high) if others >= 0 else (0, 0)
        return least <= rest + dust and most >= rest - dust

    def frame_file(self):
        """The same numbers from the file, if it is here or in the folder above."""
        rows = self.sizes(self.beside(self.within["frame"], self.frame["sha256"], "frame"))
        if rows is None:
            return
        by = self.c["plan"]["design"].get("stratified", {}).get("by")
        listed = {name: [] for name, _ in self.strata}
        for row in rows:
            listed[row[by].strip() if by else None].append(Fraction(row[self.within["probability"]].strip()))
        for (name, _), f in zip(self.strata, self.frame["strata"]):
            pi, open_ones = listed[name], [p for p in listed[name] if p < 1]
            right = (f["units"], f["certain"]) == (len(pi), len(pi) - len(open_ones)) and Fraction(f["smallest"]) == min(pi)
            self.check(right and (f["largest"] is None or Fraction(f["largest"]) == max(open_ones)), "frame.strata",
                       "are not those of the frame's file")

    def sampling(self):
        """What a row stands for."""
        s, design = self.c["sampling"], self.c["plan"]["design"]
        step = Fraction(s["step"])
        self.check(s["rows"] == self.rows(), "sampling.rows")
        if s["weights"] is None:
            bounds = [Fraction(design["max_weight"])] if "max_weight" in design else []
            if self.frame and "weight" not in design:
                bounds.append(1 / min(Fraction(f["smallest"]) for f in self.frame["strata"]))
            of_sizes = not bounds and ("max_unit_weight" in design or self.any_bounded_by_unit())  # else weights that follow from sizes come after the noise
            most = max(self.of_sizes()) if of_sizes else self.moved(min(bounds)) if bounds else 0
            self.check(most - step < s["largest_point"] * step <= most + (step / 2 if of_sizes else 0), "sampling.largest_point")
            unit = floor(Fraction(design["max_unit_weight"]) / step) if "max_unit_weight" in design else None
            bounds_unit = unit is not None and unit < self.rows_per_unit() * s["largest_point"]
            self.check(s.get("largest_sum_of_unit") == (unit if bounds_unit else None), "sampling.largest_sum_of_unit")
            return
        sizes = [self.first_stage(z) for _, z in self.strata]
        first = self.of_sizes()
        weights = [self.moved(w) for w in first]
        self.check([Fraction(w) for w in s["weights"]] == weights, "sampling.weights")
        self.check(all(abs(p * step - w) <= step / 2 for p, w in zip(s["points"], weights)), "sampling.points")
        spreads = [self.spread(z, own, used) for z, own, used in zip(sizes, first, weights)]
        step = Fraction(s["spread_step"])
        dust = max(spreads) / 10 ** 12
        self.check(all(abs(p * step - a) <= step / 2 + dust for p, a in zip(s["spread_points"], spreads)), "sampling.spread_points")

    def of_sizes(self):
        """How many units a row of each stratum represents, by the sizes of the design."""
        sizes = [self.first_stage(z) for _, z in self.strata]
        inside = self.rate_inside() or 1
        return [1 / Fraction(z["rate"]) if "rate" in z else Fraction(z["population"], z.get("sample", z["population"])) / inside for z in sizes]

    def rate_inside(self):
        """Of the units of a drawn cluster, each of which is drawn by itself; None: a fixed number is drawn, or no cluster."""
        rate = self.within.get("second", {}).get("rate")
        return None if rate is None else Fraction(rate)

    def spread(self, sizes, w, used):
        """The factor of a square in the variance of a total: (1 - pi) w^2 n/(n-1); of a unit that shows no variance 0."""
        n, replaced = sizes.get("sample"), self.kind == "srs_with_replacement"
        if self.kind == "census" or (n is not None and n == sizes.get("population") and not replaced and not self.rate_inside()):
            return Fraction(0)
        if "rate" in sizes:
            return w * (w - 1)
        if n == 1:
            return Fraction(0)
        return (used ** 2 if replaced else (1 - 1 / w) * used ** 2) * Fraction(n, n - 1)

    def moved(self, w):
        """A weight, moved towards the mean if the plan says so."""
        share = Fraction(self.c["plan"]["design"].get("regularise", 0))
        if share == 0:
            return w
        units = sum(f["units"] for f in self.frame["strata"]) if self.frame else sum(z["population"] for _, z in self.strata)
        return w + share * (Fraction(units, sum(z["sample"] for _, z in self.strata)) - w)

    def rows(self):
        """At most so many rows are in the file; 2^30 where nobody knows."""
        K = int(self.c["plan"]["privacy"].get("rows_per_unit", 1))
        drawn = [z.get("sample") for _, z in self.strata]
        if self.kind in ("bernoulli", "poisson", "census") or (self.kind == "weights" and "cluster" not in self.within):
            drawn = [f["units"] for f in self.frame["strata"]] if self.frame else [z.get("population") for _, z in self.strata]
        if self.kind == "two_stage" or None in drawn:
            return 2 ** 30
        return sum(drawn) * K * (self.within["largest"] if self.kind == "cluster" else 1)

    def first_stage(self, sizes):
        """The sizes of the clusters that were drawn: a design of theirs has them under its name, strata have them themselves."""
        first = sizes.get("first", sizes)
        first = next((first[kind] for kind in ("pps", "systematic") if kind in first), first)
        return {**first, **{key: sizes[key] for key in ("population", "sample") if key in sizes}}

    # ---- the budget ----

    def composition(self):
        c = self.c["composition"]
        self.rho = "rho" in c
        coin = "rho" if self.rho else "epsilon"
        self.spent = Fraction(c[coin])
        self.check(self.spent == sum(Fraction(m[coin]) for m in self.c["measurements"] + self.c.get("choices", []) + self.c.get("bounds", [])), "composition", "is not the sum of the parts")
        loss = self.c["plan"]["privacy"]
        self.normal = c["noise"] == "rounded_normal"
        self.check(self.normal or c["noise"] == ("discrete_gaussian" if self.rho else "discrete_laplace"), "composition.noise")
        self.check(not self.normal or (self.rho and "delta" in loss and not self.c.get("choices") and not self.c.get("bounds")), "composition.noise")
        if self.rho and "rho" not in loss:
            at = (normal_delta(2 * dec(self.spent), dec(loss["epsilon"])) if self.normal
                  else rho_delta(dec(self.spent), dec(loss["epsilon"])))
            self.check(at <= dec(loss["delta"]), "composition", "is more than the plan allows")
        else:
            asked = max(map(Fraction, self.c["sampling"].get("epsilons", [0]))) if "outsider" in loss else Fraction(loss[coin])
            self.check(self.spent == asked, "composition", "is not what the plan asks for")

    # ---- the guarantee ----

    def enclosure(self, field, told, value, width=Decimal("1e-9")):
        """A true number that is known to 40 digits lies between the two that are told, and they are near to it."""
        if told is None:
            return
        ends = {k: Decimal(v) if not isinstance(v, str) else None for k, v in told.items()}  # a double is exactly what it is
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
        eps = normal_epsilon(2 * dec(self.spent), dec(delta)) if self.normal else rho_epsilon(dec(self.spent), dec(delta))
        eps = min(eps, dec(loss["epsilon"])) if "epsilon" in loss else eps
        return (eps, eps), dec(delta)

    def guarantee(self):
        g = self.c.get("guarantee", {})
        self.check(set(g) <= {"sample", "outsider", "spent", "left"}, "guarantee", "has a field that does not belong here")
        eps, delta = self.sample_loss()
        if "sample" in g:
            self.pair("guarantee.sample", g["sample"], epsilon=eps, delta=delta)
        if self.c["account"] is None:
            self.check(g.get("spent") is None and g.get("left") is None, "guarantee.spent")
        else:
            spent, left = self.spending(lambda rho, delta: (Decimal(gaussian_epsilon(float(rho), float(delta))), rho_epsilon(dec(rho), dec(delta))),
                                        lambda squared, delta: (normal_epsilon(dec(squared), dec(delta)) - DUST, normal_epsilon(dec(squared), dec(delta))))
            self.pair("guarantee.spent", g.get("spent"), **spent)
            self.pair("guarantee.left", g.get("left"), **left)
        if "outsider" in g:
            self.outsider(g["outsider"])

    def outsider(self, told):
        c = self.c["amplification"]
        if c["theorem"] is None:
            self.check(told is None, "guarantee.outsider")
            return
        s, design = self.c["setting"], self.c["plan"]["design"]
        may = s["secret_sample"] and s["protect"] in ("frame", "population") and not self.protected
        self.check(may and design.get("weights_are") != "final" and self.kind not in ("weights", "census"), "amplification.theorem",
                   "nothing may be claimed for an outsider")
        theorem, parts = self.parts()
        self.check(c["theorem"] == theorem, "amplification.theorem")
        if told is None or theorem is None:
            self.check(told is None, "guarantee.outsider")
            return
        self.check(told.get("theorem", theorem) == theorem, "guarantee.outsider.theorem")
        eps, delta = dec(c["epsilon"]), dec(c["delta"])
        own = [dec(e) for e in c.get("strata", [])] or [eps] * len(parts)
        losses = [self.amplified(q, steps, e, delta) for (_, _, q, steps), e in zip(parts, own)]
        if self.profile is not None:
            points, losses = losses, [(self.by_profile(q, steps, e, d), d) for (_, _, q, steps), (e, d) in zip(parts, losses)]
            self.check(points != losses, "amplification.profile", "says no more than epsilon and delta")
        ends = [e if isinstance(e, tuple) else (e, e) for e, _ in losses]
        low, high = (max(e[i] for e in ends) for i in (0, 1))
        most = (low, high) if low < high else high
        self.pair("guarantee.outsider", told, epsilon=most, delta=max(d for _, d in losses))
        if "by_stratum" not in told:
            return
        self.check(len(told["by_stratum"]) == len(parts) > 1, "guarantee.outsider.by_stratum")
        for part, (name, take_all, *rest), (e, d) in zip(told["by_stratum"], parts, losses):
            field = "guarantee.outsider.by_stratum"
            self.check(part.get("stratum", name) == name and part.get("take_all", take_all) == take_all, field)
            sampled = {"sampled": own[parts.index((name, take_all, *rest))]} if "strata" in c else {}
            self.pair(field, {k: v for k, v in part.items() if k not in ("stratum", "take_all")}, epsilon=e, delta=d, **sampled)

    def parts(self):
        """The theorem, and (stratum, take_all, q, steps) of the units that lose most: drawn with probability q, and if one is not,
        the sample differs in so many records. steps is ("draws", n) with replacement."""
        kind, parts = self.kind, []
        theorem = {"bernoulli": "poisson", "pps": "strongly_rayleigh"}.get(kind, kind)
        for h, (name, z) in enumerate(self.strata):
            z = self.first_stage(z)
            if self.frame:
                f = self.frame["strata"][h]
                likely = [(Fraction(f["largest"]), 1)] if f["largest"] else []
                parts += [(name, q == 1, q, k) for q, k in likely + [(Fraction(1), 1)] * (f["certain"] > 0)]
                continue
            q = Fraction(z["rate"]) if "rate" in z else Fraction(z["sample"], z.get("population", z["sample"]))
            steps = 1
            if kind == "systematic" and self.within["order"] == "public":
                steps = z["sample"]
            elif kind == "srs_with_replacement":
                q, steps = Fraction(1, z["population"]), ("draws", z["sample"])
            elif kind == "cluster":
                steps = self.within["largest"]
            elif kind == "two_stage":
                second = self.within["second"]
                steps = second.get("sample", 1)
                if self.rate_inside():  # nothing is claimed for the first stage: each unit of a cluster by itself
                    q = self.rate_inside()
                elif not self.simple_clusters():  # nothing is claimed for the first stage: a simple random sample of the smallest cluster
                    q, steps = Fraction(steps, second["smallest"]) if isinstance(steps, int) and second.get("smallest", 0) > steps else Fraction(1), 1
                elif isinstance(steps, int) and second.get("smallest", 0) > steps:  # the part of a cluster that is drawn at most
                    steps = ("stages", Fraction(steps, second["smallest"]), steps)
            always = q == 1 and kind != "srs_with_replacement" and (not isinstance(steps, tuple) or steps[1] == 1)
            parts.append((name, always, q, steps))
        if kind == "systematic" and self.within["order"] == "random":
            theorem = "srs"
        proved = kind in PROVED and (kind != "pps" or self.within["method"] in COUPLED) and (kind not in ("pps", "poisson") or self.frame)
        if kind == "two_stage":
            second = self.within["second"]
            proved = "method" not in second and isinstance(second["sample"], int) or self.rate_inside() is not None
            if self.rate_inside():
                theorem = "within_clusters"
            elif not self.simple_clusters():
                theorem, proved = "within_clusters", proved and second.get("smallest", 0) > second["sample"]
        return (None if not proved else "stratified" if self.strata[0][0] is not None else theorem), parts

    def simple_clusters(self):
        return not {"pps", "systematic"} & set(self.within["first"])

    def amplified(self, q, steps, eps, delta):
        """src/amplification/mixture.h: with E = e^eps and a unit that is missing k steps away,
        G = (q + (1-q) E^-k) / (q/E + (1-q) E^-k), D = G q delta/E + (G-1) (1-q) delta (E^-1 + ... + E^-k)."""
        q = dec(q)
        if isinstance(steps, tuple) and steps[0] == "stages":  # missing from its drawn cluster by one step, or with its cluster by k
            f, k = dec(steps[1]), steps[2]
            near, far = (-eps).exp(), (-k * eps).exp()
            S = q * (1 - f) * near + (1 - q) * far
            G = (q * f + S) / (q * f * near + S)
            slip = delta * k if eps == 0 else delta * near * (1 - far) / (1 - near)
            return G.ln(), min(Decimal(1), G * q * f * near * delta + (G - 1) * (q * (1 - f) * near * delta + (1 - q) * slip))
        if isinstance(steps, tuple):  # each draw is a sample of one; they add up
            n, one = steps[1], (1 + q * (eps.exp() - 1)).ln()
            if eps == 0 or delta == 0:
                return n * one, n * q * delta
            return n * one, delta * ((n * one).exp() - 1) / (eps.exp() - 1)
        near, far = (-eps).exp(), (-steps * eps).exp()
        G = (q + (1 - q) * far) / (q * near + (1 - q) * far)
        slip = delta * steps if eps == 0 else delta * near * (1 - far) / (1 - near)
        return G.ln(), min(Decimal(1), G * q * near * delta + (G - 1) * (1 - q) * slip)

    def by_profile(self, q, steps, eps, delta):
        """src/amplification/split.c: the smaller of eps and of what the profile of the loss gives at the same delta, which is that of
        a double. Of a rho only an enclosure is known."""
        if not isinstance(steps, int) and steps[0] != "stages" or not 0 < delta < 1:
            return eps
        q, rate, k = (dec(q), dec(steps[1]), steps[2]) if isinstance(steps, tuple) else (dec(q), Decimal(1), steps)
        absent = {1: q * (1 - rate)}
        absent[k] = absent.get(k, Decimal(0)) + 1 - q
        if k == 1:  # one point of the profile, and eps is it
            return eps
        outsider, told = self.c["guarantee"]["outsider"], self.profile
        uppers = [Decimal(x["delta"]["upper"]) for x in [outsider, *outsider.get("by_stratum", [])] if "upper" in (x.get("delta") or {})]
        delta = min((u for u in uppers if delta <= u <= delta * (1 + Decimal("1e-12"))), default=delta)
        pure, loss = dec(told["epsilon"]), dec(told.get("mu_squared") or told["rho"])
        ends = []
        for exact in [normal_delta] if "mu_squared" in told else [lambda rho, x: normal_delta(2 * rho, x), rho_delta]:
            def exceeds(x):
                return split_delta(q * rate, absent, pure, loss, "rho" in told, exact, x) > delta
            low, high = Decimal(0), eps if exceeds(Decimal(0)) else Decimal(0)
            ends.append(None if exceeds(high) else high)
            for _ in range(100 if high > 0 and ends[-1] else 0):
                middle = (low + high) / 2
                low, high = (middle, high) if exceeds(middle) else (low, middle)
                ends[-1] = high
        return eps if ends[-1] is None else ends[0] if len(ends) == 1 else tuple(ends)

    def parts_of_loss(self):
        """What the loss of a sampled unit is made of: pure epsilons, and after them mu^2 or rho; None if that is not known."""
        if self.c["account"] is None:
            sums = [({"epsilon": Fraction(0), "delta": Fraction(0), **({"mu_squared": 2 * self.spent} if self.normal else {"rho": self.spent})}, self.rho)]
        else:
            sums = self.sums
        counted = [after for after, concentrated in sums if concentrated]
        if not counted or any(after["delta"] for after, _ in sums):
            return None
        in_mu = all("mu_squared" in after for after in counted)
        most = max(after["mu_squared"] / (1 if in_mu else 2) if "mu_squared" in after else after["rho"] for after in counted)
        return {"epsilon": max(after["epsilon"] for after, _ in sums), "mu_squared" if in_mu else "rho": most}

    def loss_of(self, after, concentrated):
        """The epsilon and delta of sums: rhos are converted at the delta that is told, or at what the cap leaves."""
        if "rho" in self.cap:
            at = dec(self.c["composition"].get("told_at_delta", "1/1000000000"))
            return rho_epsilon(dec(after["rho"]), at), at
        if concentrated:
            at = dec(self.cap["delta"])
            left = at - dec(after["delta"])
            more = normal_epsilon(dec(after["mu_squared"]), left) if "mu_squared" in after else rho_epsilon(dec(after["rho"]), left)
            return dec(after["epsilon"]) + more, at
        return dec(after["epsilon"]), dec(after["delta"])

    def amplification(self):
        """What a sampled unit has lost by the whole account, which is what is amplified: at least that, and hardly more."""
        c = self.c["amplification"]
        eps, delta = dec(c["epsilon"]), dec(c["delta"])
        if self.c["account"] is None:
            true, at = self.sample_loss()
            true = true[1] if isinstance(true, tuple) else true
        else:
            losses = [self.loss_of(*sums) for sums in self.sums]
            true, at = max(x for x, _ in losses), max(x for _, x in losses)
        self.check(true - DUST <= eps <= true * (1 + Decimal("1e-6")) + Decimal("1e-9"), "amplification.epsilon")
        self.check(delta == at, "amplification.delta")
        self.profile = c.get("profile")
        right = self.profile is None or {k: Fraction(v) for k, v in self.profile.items()} == self.parts_of_loss() and c["theorem"] is not None
        self.check(right, "amplification.profile")
        self.profile = self.profile if right else None
        strata = "strata" in self.cap if self.c["account"] else self.has_target()
        self.check(("strata" in c) == strata, "amplification.strata")
        if strata:
            true = [after["epsilon"] for after, _ in self.sums] if self.c["account"] else self.costs
            self.check(len(c["strata"]) == len(true) and all(t <= Fraction(x) <= t * (1 + Fraction(1, 10 ** 8)) for t, x in zip(true, c["strata"])),
                       "amplification.strata")

    def engine(self):
        """What an engine that was asked in SQL says of itself: nothing follows from it but that the plan names the same table."""
        told, source = self.c.get("engine"), self.c["plan"]["source"]
        if told is not None:
            self.check(set(told) == {"dialect", "experimental", "version", "table", "rows_version", "statements"}
                       and re.fullmatch("[0-9a-f]{64}", told["statements"]) is not None, "engine")
            self.check("dialect" not in source or (told["dialect"], told["table"]) == (source["dialect"], source["table"]), "engine")

    def run(self):
        self.file()
        if self.problems:  # what was changed proves nothing
            return self.problems
        self.join_strata()
        self.engine()
        self.design()
        self.sampling()
        self.composition()
        self.bounds()
        self.psus()
        self.for_changes()
        self.targets()
        self.costs = [Fraction(0)] * len(self.epsilons)
        self.places, self.worlds = {}, {}
        for i, m in enumerate(self.c["measurements"]):
            self.noisy_table(m, f"measurements[{i}]", self.rho)
        self.choices()
        self.enough()
        self.account()
        self.amplification()
        self.guarantee()
        self.measurements()
        self.release()
        return self.problems


FILES = {"release.json", "release.csv", "measurements.json", "registry.yaml", "report.html"}
MORE_FILES = {"release.sdmx.csv", "release.xlsx"}  # early releases have neither, and very large ones no spreadsheet
PROVED = {"srs", "srs_with_replacement", "bernoulli", "poisson", "pps", "systematic", "cluster", "two_stage"}
KINDS = PROVED | {"weights", "census"}
COUPLED = {"conditional_poisson", "sampford", "pivotal", "pivotal_random"}  # with one exchange


def log_delta(rho, eps, a):
    """The logarithm of the delta that order a proves: Canonne, Kamath, Steinke (2020), Corollary 13."""
    return (a - 1) * (a * rho - eps) - (a - 1).ln() + a * (1 - 1 / a).ln()


@functools.lru_cache(maxsize=None)
def rho_delta(rho, eps):
    """The least delta over all orders: its logarithm is convex in a, and the derivative is 0 where it is least. The error of a
    hardly counts there."""
    low, high = Decimal("1.0000001"), Decimal(2) + (eps + 100) / rho
    for _ in range(90):
        a = (low + high) / 2
        if (2 * a - 1) * rho - eps + (1 - 1 / a).ln() > 0:
            high = a
        else:
            low = a
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


def normal_tail(x):
    """P(Z >= x): by the power series of Mills' ratio, whose terms are positive, or far out by its continued fraction."""
    if x < 0:
        return 1 - normal_tail(-x)
    with localcontext() as context:
        context.prec = 120
        density = (-x * x / 2).exp() / (2 * PI).sqrt()
        if x < 6:
            term = total = x
            n = 1
            while term > Decimal("1e-110"):
                n += 2
                term *= x * x / n
                total += term
            return Decimal("0.5") - density * total
        ratio = x
        for k in range(400, 0, -1):
            ratio = x + k / ratio
        return density / ratio


@functools.lru_cache(maxsize=None)
def normal_delta(squared, eps):
    """The delta of the normal mechanism of mu^2."""
    mu = squared.sqrt()
    return normal_tail(eps / mu - mu / 2) - eps.exp() * normal_tail(eps / mu + mu / 2)


def split_delta(w, absent, pure, loss, is_rho, exact, eps):
    """w sum over s of l_s delta_s(log t_s/l_s): samples that are s steps apart have s times the pure epsilon and s^2 times the
    rest. The shares l are those of Neyman and Pearson for normal noise, found in doubles: any are valid, and near the best ones
    the sum hardly depends on them."""
    gain = eps.exp() - 1
    t = {s: (1 + gain if s == 1 else 0) + gain * absent.get(s, 0) / w for s in {1, *absent}}
    mu = sqrt((2 if is_rho else 1) * float(loss))
    logs = {s: float(x.ln()) - s * float(pure) - (s * mu) ** 2 / 2 for s, x in t.items() if x > 0}
    low = min((-x - log(len(logs))) / (s * mu) for s, x in logs.items())
    high = min(-x / (s * mu) for s, x in logs.items())
    for _ in range(100):
        z = (low + high) / 2
        low, high = (z, high) if sum(exp(x + z * s * mu) for s, x in logs.items()) < 1 else (low, z)
    shares = {s: Decimal(exp(x + low * s * mu)) for s, x in logs.items()}
    largest = max(shares, key=shares.get)
    shares[largest] = 1 - sum(x for s, x in shares.items() if s != largest)
    total = Decimal(0)
    for s, share in shares.items():
        at = (t[s] / share).ln() - s * pure if share > 0 else Decimal(0)
        total += share * (exact(s * s * loss, at) if at > 0 or exact is not rho_delta else 1)
    return w * total


@functools.lru_cache(maxsize=None)
def normal_epsilon(squared, delta):
    """The epsilon at which mu^2 has this delta."""
    if squared == 0:
        return Decimal(0)
    low, high = Decimal(0), squared + 2 * (squared * -delta.ln()).sqrt() + 1
    for _ in range(60):
        middle = (low + high) / 2
        if normal_delta(squared, middle) > delta:
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


def verify(path, key=None):
    try:
        return Verifier(path, key).run()
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError) as fault:
        return [f"certificate: not one, or changed: {fault!r}"]


if __name__ == "__main__":
    found = verify(*sys.argv[1:3])
    print("\n".join(found) if found else "no problem found")
    sys.exit(3 if found else 0)
