"""The account in a certificate: the budget of the day and how it was raised, the waves and their rotation groups, and the sums before
and after the release. A part of verifier.py, apart because of its length."""
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from math import erfc, exp, sqrt

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


def dec(x):
    x = Fraction(x)
    return Decimal(x.numerator) / Decimal(x.denominator)


def sums_of(told):
    return {k: Fraction(v) for k, v in told.items()}


def kind(coin):
    return "rho" if "rho" in coin else "approximate" if Fraction(coin.get("delta", 0)) > 0 else "pure"


def says(sentence, before, coin):
    """Whether the sentence names the amount after some words: exactly, or in decimals that are rounded up."""
    found = re.search(before + r" (?:rho|epsilon) ([\d./e+-]*\d)(?: and delta ([\d./e+-]*\d))?", sentence)
    told = [Fraction(x) for x in found.groups(default="0")] if found else []
    if "outsider" in coin:
        found = re.search(before + r" outsider ([\d./e+-]*\d) and insider ([\d./e+-]*\d)", sentence)
        told, true = map(Fraction, found.groups() if found else (0, 0)), map(Fraction, (coin["outsider"], coin["insider"]))
        return all(t <= x <= t * (1 + Fraction(1, 10000)) for t, x in zip(true, told))
    true = [Fraction(coin["rho"] if "rho" in coin else coin["epsilon"]), Fraction(coin.get("delta", 0))]
    return bool(told) and all(t <= x <= t * (1 + Fraction(1, 10000)) for t, x in zip(true, told)) and before + (" rho" if "rho" in coin else " epsilon") in sentence


def within(x, y):
    if "outsider" in x or "outsider" in y:
        return all(k in x and k in y and Fraction(x[k]) <= Fraction(y[k]) for k in ("outsider", "insider"))
    return ("rho" in x) == ("rho" in y) and all(Fraction(x.get(k, 0)) <= Fraction(y.get(k, 0)) for k in ("epsilon", "delta", "rho"))


def moved(scale, l1, squares):
    """The rho of integers with discrete Laplace noise that move by at most l1 in all and by `squares` in the sum of squares:
    (A^2/B) kl(B/A), kl(h) = lam (h - (1 - e^(-lam h)) / sinh(lam)). 160 digits: much of it cancels where scales are large."""
    B = min(squares, Fraction(l1) ** 2)
    A = min(Fraction(l1), B)
    if A == 0:
        return Decimal(0)
    with localcontext() as context:
        context.prec = 160
        lam, h = 1 / dec(scale), dec(B / A)
        return dec(A * A / B) * lam * (h - 2 * (1 - (-lam * h).exp()) / (lam.exp() - (-lam).exp()))


def any_rho(eps):
    """Of any mechanism with this epsilon: eps tanh(eps/2)."""
    eps = dec(eps)
    return eps * (1 - 2 / (eps.exp() + 1))


def selected(eps, count):
    """Of `count` selections with ranges of eps/count: 4 ln cosh(eps/(4 count)) each."""
    x = dec(eps) / (4 * count)
    return count * 4 * ((x.exp() + (-x).exp()) / 2).ln()


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def any_mu_squared(eps):
    """Of any mechanism with this epsilon: 4 Phi^-1(e^eps / (1 + e^eps))^2, in doubles by the tail 1 / (1 + e^eps); the first two terms of
    its series where doubles around 1/2 are too coarse."""
    if Fraction(eps) < Fraction(1, 1000):
        return PI / 2 * dec(eps) ** 2 * (1 + 2 * dec(eps) ** 2 * (PI / 48 - Decimal(1) / 12))
    eps = float(Fraction(eps))
    low, high, tail = 0.0, 3 * (eps + eps ** 0.5), exp(-eps) / (1 + exp(-eps))
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if erfc(middle / sqrt(2)) / 2 > tail else (low, middle)
    return Decimal(2 * high) ** 2


class Account:
    def account(self):
        a = self.c["account"]
        if a is None:
            return
        self.check(set(a) <= {"before", "after", "groups", "counted_as_rho", "counted_as_mu_squared", "cap", "raised", "waves", "statement", "new_account"}, "account")
        self.cap = a["cap"]
        self.counted = self.counts_as(a)
        self.squared = self.counts_as_mu(a)
        self.entry(a)
        self.raises(a)
        self.waves(a)
        groups = a.get("groups", [])
        own = (self.c["plan"].get("wave") or {}).get("groups", [])
        self.check("groups" not in a or len({g["group"] for g in groups}) == len(groups) > 0, "account.groups")
        self.check(set(own) <= {g["group"] for g in groups}, "account.groups", "a group of the wave is missing")
        if "strata" in self.cap:
            self.account_by_strata(a)
            return
        # everybody loses by a wave without groups, and the people of its groups by another one
        self.sums = [self.add("account", a, not own)] + [self.add("account.groups", g, not own or g["group"] in own) for g in groups]

    def counts_as(self, a):
        """What this release adds where rhos are added up."""
        if self.rho or "counted_as_rho" not in a:
            self.check("counted_as_rho" not in a, "account.counted_as_rho", "a rho counts as itself")
            return self.spent if self.rho else self.spent ** 2 / 2
        said = Fraction(a["counted_as_rho"])
        own = sum(max(moved(Fraction(law["scale"]), law["sensitivity"], Fraction(law["sensitivity_l2_squared"])) for law in m["noise"])
                  for m in self.c["measurements"])
        for c in self.c.get("choices", []):
            part, count = Fraction(c["epsilon"]), len(c["at"])
            selections = {"inverse": count, "joint": 1, "split": count.bit_length()}.get(c["method"])
            own += selected(part, selections) if selections else any_rho(part)
        own += sum(selected(Fraction(b["epsilon"]), 1) for b in self.c.get("bounds", []))
        own = min(own, any_rho(self.spent))
        self.check(own <= dec(said) <= own * (1 + Decimal("1e-8")) + Decimal("1e-40"), "account.counted_as_rho")
        self.check(kind(self.cap) != "pure", "account.counted_as_rho", "an account of epsilon counts no rhos")
        return said

    def counts_as_mu(self, a):
        """What this release adds where mu^2 is added up; None: it cannot be added."""
        said = a.get("counted_as_mu_squared")
        if self.rho or said is None:
            self.check(said is None, "account.counted_as_mu_squared", "a rho counts as itself")
            return 2 * self.spent if self.normal else None
        said = Fraction(said)
        tables = sum(max(min(Fraction(law["sensitivity_l2_squared"]), Fraction(law["sensitivity"]) ** 2) / Fraction(law["scale"]) ** 2 for law in m["noise"])
                     for m in self.c["measurements"])
        own = PI / 2 * dec(tables) + sum(any_mu_squared(c["epsilon"]) for c in self.c.get("choices", []) + self.c.get("bounds", []))
        own = min(own, any_mu_squared(self.spent))
        self.check(own * (1 - Decimal("1e-12")) <= dec(said) <= own * (1 + Decimal("1e-8")) + Decimal("1e-40"), "account.counted_as_mu_squared")
        self.check(kind(self.cap) == "approximate", "account.counted_as_mu_squared", "only an account of epsilon and delta counts mu^2")
        return said

    def entry(self, a):
        ledger, reason = self.c["ledger"], a["new_account"]
        before = [x for told in [a, *a.get("groups", [])] for x in sums_of(told["before"]).values()]
        claim = ledger.get("claim", 0)
        self.check("claim" not in ledger or claim > ledger["entry"], "ledger.claim")
        self.later = ledger["repeated"] or claim > 0  # the certificate was written later than the charge
        self.check("clock_behind" not in ledger or (ledger["clock_behind"] is True and not self.later), "ledger.clock_behind")
        # the first charge, or a later one if all before it were voided, each by an entry of its own
        self.check(ledger["created"] if ledger["entry"] == 2 else not ledger["created"] or self.later or ledger["entry"] >= 4, "ledger.created")
        self.check(not ledger["created"] or not any(before), "account.before", "a new ledger has no charge before")
        self.check(reason is None or (isinstance(reason, str) and reason != ""), "account.new_account")
        self.check(re.fullmatch("[0-9a-f]{64}", ledger["hash"]) and re.fullmatch(TIME, ledger["time"]), "ledger")
        self.check(ledger["entry"] >= 2 and (ledger["entry"] > 2 or not any(before)), "ledger.entry")

    def raises(self, a):
        raised, ledger = a.get("raised", []), self.c["ledger"]
        caps = [r["from"] for r in raised] + [self.cap]
        numbers = [r["entry"] for r in raised]
        self.check("raised" not in a or raised, "account.raised")
        self.check([r["to"] for r in raised] == caps[1:], "account.raised", "does not lead to the cap")
        self.check(all(within(x, y) and x != y and kind(x) == kind(y) for x, y in zip(caps, caps[1:])), "account.raised")
        self.check(numbers == sorted(set(numbers)) and all(n > 2 for n in numbers), "account.raised")
        self.check(self.later or all(n < ledger["entry"] for n in numbers), "account.raised", "is later than the charge")
        self.check(all(r["reason"] and re.fullmatch(TIME, r["time"]) for r in raised), "account.raised")
        self.check(within(self.c["plan"]["budget"], self.cap), "plan.budget", "is above the cap")
        words = a["statement"]
        self.check(words.startswith("All releases of this survey together may spend ") and ("unless raised" in words) == ("outsider" not in self.cap),
                   "account.statement")
        self.check(not raised or "outsider" not in self.cap, "account.raised", "a target for outsiders cannot be raised")
        times = [f"{len(raised)} times, first" if len(raised) > 1 else "once,"] if raised else []
        self.check(re.findall(r"the budget was raised (once,|\d+ times, first) from", words) == times, "account.statement")
        self.check(says(words, "may spend", self.cap), "account.statement")
        self.check(not raised or says(words, times[0] + " from", raised[0]["from"]), "account.statement")
        self.check(("at the highest cap" in words) == (bool(raised) and kind(self.cap) != "pure"), "account.statement")

    def waves(self, a):
        waves, own = a.get("waves", [None]), self.c["plan"].get("wave")
        names = [w and w["name"] for w in waves]
        known = {g for w in waves if w for g in w.get("groups", [])}
        self.check("waves" not in a or waves != [None], "account.waves")
        self.check(own in waves and len(set(names)) == len(names), "account.waves")
        # each wave has an entry and a first charge; that none is left out only the ledger knows
        self.check(self.later or self.c["ledger"]["entry"] >= 2 * len(waves) + len(a.get("raised", [])), "account.waves", "too many")
        self.check("strata" in self.cap or {g["group"] for g in a.get("groups", [])} <= known, "account.groups", "a group is in no wave")
        if own and own.get("groups"):
            self.check(self.c["plan"]["privacy"]["design_variables"] == "public", "plan.wave", "groups are a public design variable")
        grouped = any(w and w.get("groups") for w in waves)
        apart = len(waves) > 1 and (grouped or not all(w and w.get("same_sample") for w in waves[1:]))
        self.check(not apart or self.c["amplification"]["theorem"] is None, "amplification.theorem", "the waves have several samples")

    def add(self, field, told, charged):
        """The sums `after` of one group, or of everybody, and whether they count in rho."""
        budget = self.c["plan"]["budget"]
        before, after = sums_of(told["before"]), sums_of(told["after"])
        in_rho, more = "rho" in self.cap, dict(before)
        # what is added up from the first rho on: mu^2, if that one was normal
        in_mu = "mu_squared" in before or (charged and self.normal and before["rho"] == 0 and not in_rho)
        if charged and in_mu:
            self.check(self.squared is not None, field, "a rho cannot be added to mu^2")
            more["mu_squared"] = more.get("mu_squared", Fraction(0)) + (self.squared or 0)
        elif charged and (self.rho or before["rho"] > 0 or in_rho):
            more["rho"] += self.counted
        elif charged:
            more["epsilon"] += self.spent
        self.check(min(before.values()) >= 0, field + ".before")
        self.check(not in_rho or before["epsilon"] == before["delta"] == 0, field + ".before")
        self.check("mu_squared" not in after or (after["rho"] == 0 and not in_rho), field + ".after", "counts both rho and mu^2")
        right = all(after.get(k, -1) >= more[k] for k in more) if self.later else after == more
        if self.later and not right and charged and not self.rho:  # charged when the account counted in rho, by rhos that are voided since
            added = {"mu_squared": self.squared or 0} if "mu_squared" in after else {"rho": self.counted}
            right = all(after.get(k, -1) >= before.get(k, 0) + added.get(k, 0) for k in {*before, *added}) and after[next(iter(added))] > 0
        self.check(right, field + ".after")
        for limit in [self.cap] if self.later else [self.cap, budget]:
            coin = "rho" if in_rho else "epsilon"
            self.check(after[coin] <= Fraction(limit[coin]), field + ".after", "exceeds the budget")
        return after, in_rho or after["rho"] > 0 or "mu_squared" in after

    def spending(self, convert, convert_mu):
        """Spent and left of the worst: for each number the ends between which the true one lies. `convert`: of a rho at a delta;
        `convert_mu`: of mu^2."""
        spent, left = {}, {}

        def worst(values, name, ends, choose):
            values[name] = tuple(choose(x, y) for x, y in zip(values[name], ends)) if name in values else ends
        for i, (after, concentrated) in enumerate(self.sums):
            if "strata" in self.cap:
                told, rest = {"epsilon": (dec(after["epsilon"]),) * 2}, {"epsilon": (dec(self.caps_of_sums[i] - after["epsilon"]),) * 2}
                told["delta"] = rest["delta"] = (Decimal(0),) * 2
            elif "rho" in self.cap:
                told, rest = {"rho": (dec(after["rho"]),) * 2}, {"rho": (dec(Fraction(self.cap["rho"]) - after["rho"]),) * 2}
            else:
                E, D = Fraction(self.cap["epsilon"]), Fraction(self.cap.get("delta", 0))
                eps, left_eps, delta = (dec(after["epsilon"]),) * 2, (dec(E - after["epsilon"]),) * 2, after["delta"]
                if concentrated:
                    low, high = convert_mu(after["mu_squared"], D - delta) if "mu_squared" in after else convert(after["rho"], D - delta)
                    eps, left_eps, delta = (eps[0] + low, eps[1] + high), (max(left_eps[0] - high, Decimal(0)), left_eps[1] - low), D
                told, rest = {"epsilon": eps, "delta": (dec(delta),) * 2}, {"epsilon": left_eps, "delta": (dec(D - delta),) * 2}
            for name in told:
                worst(spent, name, told[name], max)
                worst(left, name, rest[name], min)
        return tuple({k: v[0] if v[0] == v[1] else v for k, v in values.items()} for values in (spent, left))
