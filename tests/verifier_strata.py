"""Targets for outsiders: an epsilon for each stratum, and what a release costs each of them. A part of verifier.py, apart because of its
length."""
from decimal import Decimal
from fractions import Fraction
from math import ceil

NEAR = Decimal("1e-8")  # by how much an epsilon may be below the largest one that is allowed
STEPS = 2 ** 20         # of what is measured of standard errors


def dec(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


class Strata:
    def has_target(self):
        return "outsider" in self.c["plan"]["privacy"]

    def targets(self):
        """The epsilons of the strata are the largest that target and insider allow, a little less than them at most."""
        self.epsilons = [Fraction(e) for e in self.c["sampling"].get("epsilons", [])]
        self.check(bool(self.epsilons) == self.has_target(), "sampling.epsilons")
        if self.has_target():
            self.meets(self.c["plan"]["privacy"], self.epsilons, "sampling.epsilons")
        privacy = self.c["plan"]["privacy"]
        if self.has_target() or "outsider" in self.c["plan"].get("budget", {}):
            self.check(not self.protected and privacy["secret_sample"] is True and privacy["protect"] in ("frame", "population"), "plan.privacy",
                       "there is no target for outsiders here")
            self.check("stratified" in self.c["plan"]["design"] and self.kind in ("srs", "systematic", "bernoulli") and self.rows_per_unit() == 1
                       and "wave" not in self.c["plan"] and not self.c.get("choices"), "plan.privacy", "no theorem covers a target for outsiders here")
        if self.has_target():
            self.check("outsider" in self.c["plan"].get("budget", {}), "plan.budget", "is no target for outsiders")
            self.check(not self.rho, "composition", "a target for outsiders is a pure epsilon")

    def meets(self, target, epsilons, field):
        outsider, insider = dec(target["outsider"]), Fraction(target["insider"])
        _, parts = self.parts()
        self.check(len(parts) == len(epsilons), field)
        for (_, _, q, steps), e in zip(parts, epsilons):
            self.check(0 < e <= insider and self.amplified(q, steps, dec(e), Decimal(0))[0] <= outsider, field, "exceeds the target")
            more = dec(e) * (1 + NEAR)
            self.check(more >= dec(insider) or self.amplified(q, steps, more, Decimal(0))[0] >= outsider, field, "is too small")

    def moves(self, m, axes, each, h):
        """By how much a record of stratum h moves a table, exchanged for another one of h."""
        if m["weighed_by"] in ("psus", "squares", "groups"):
            return Fraction(STEPS)
        return self.changes(m, axes, max(each) if m["weighed_by"] == "contribution" else each[h])[0]

    def strata_in(self, m, k):
        return [k] if m["strata"] > 1 and m["weighed_by"] != "contribution" else range(len(self.strata))

    def cost(self, m, axes, each, k, scale):
        """The law k of a table: its scale is enough for the part of each stratum, and what it costs them is added up."""
        part, largest = Fraction(m["epsilon"]), max(self.epsilons)
        for h in self.strata_in(m, k):
            l1 = self.moves(m, axes, each, h)
            self.check(scale * part * self.epsilons[h] >= l1 * largest, "measurements.noise.scale", "is too small for a stratum")
            self.costs[h] += ceil(l1) / scale if m["weighed_by"] == "contribution" else l1 / scale

    def charge(self, h):
        """What is charged to a stratum: at least what it costs, at most its epsilon, and hardly more than the cost."""
        name = self.strata[h][0]
        own = [g for g in self.c["account"]["groups"] if g["group"] == name]
        self.check(len(own) == 1, "account.groups")
        charge = Fraction(own[0]["after"]["epsilon"]) - Fraction(own[0]["before"]["epsilon"]) if own else Fraction(0)
        if not self.has_target():
            return self.spent
        if not self.later:
            self.check(self.costs[h] <= charge <= min(self.epsilons[h], self.costs[h] * (1 + Fraction(1, 10 ** 8))), "account.groups",
                       "is not what the release costs the stratum")
            return charge
        return self.costs[h]

    def account_by_strata(self, a):
        """Sums of the strata, each within its cap, which follow from outsider and insider of the budget."""
        cap = self.cap
        self.check(set(cap) == {"epsilon", "outsider", "insider", "strata"}, "account.cap")
        caps = {s["stratum"]: Fraction(s["epsilon"]) for s in cap["strata"]}
        names = [name for name, _ in self.strata]
        self.check([s["stratum"] for s in cap["strata"]] == names == [g["group"] for g in a.get("groups", [])], "account.groups")
        self.meets(cap, [caps[n] for n in names], "account.cap")
        self.check(Fraction(cap["epsilon"]) == max(caps.values()), "account.cap")
        self.check(not any(Fraction(x) for when in ("before", "after") for x in a[when].values()), "account.before", "everybody is in a stratum")
        budget = [min(caps[n], *self.most_in(h, self.c["plan"]["budget"])) for h, n in enumerate(names)]
        self.sums = []
        for h, (n, g) in enumerate(zip(names, a["groups"])):
            before, after = ({k: Fraction(v) for k, v in g[when].items()} for when in ("before", "after"))
            self.check(before["delta"] == before["rho"] == after["delta"] == after["rho"] == 0 <= before["epsilon"], "account.groups")
            more = before["epsilon"] + self.charge(h)
            self.check(after["epsilon"] >= more if self.later else after["epsilon"] == more, "account.groups.after")
            self.check(after["epsilon"] <= (caps[n] if self.later else budget[h]), "account.groups.after", "exceeds the budget")
            self.sums.append((after, False))
        self.caps_of_sums = [caps[n] for n in names]

    def most_in(self, h, target):
        """No epsilon of a stratum is above these: the insider's, and one at which outsiders lose more than their target."""
        _, _, q, steps = self.parts()[1][h]
        insider, low, high = Fraction(target["insider"]), Decimal(0), dec(target["insider"])
        if self.amplified(q, steps, high, Decimal(0))[0] <= dec(target["outsider"]):
            return [insider]
        for _ in range(60):
            middle = (low + high) / 2
            if self.amplified(q, steps, middle, Decimal(0))[0] <= dec(target["outsider"]):
                low = middle
            else:
                high = middle
        return [insider, Fraction(high)]
