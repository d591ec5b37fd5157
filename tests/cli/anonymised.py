"""Anonymised reports by their definition: every answer of everybody, every report. Shares nothing with the library."""
import itertools
import math


class Collection:
    """`answers`: the answers that a person may give, as tuples of bits, or as numbers of categories. `published` makes of all reports
    what the attacker sees."""

    def __init__(self, answers, reports, chance, published):
        self.deltas = {}
        kinds = sorted({y for x in answers for y in chance(x)})
        self.local = max(math.log(chance(x)[y] / chance(z)[y]) for x in answers for z in answers for y in kinds)
        self.pairs = []
        for others in itertools.combinations_with_replacement(answers, reports - 1):
            laws = {}
            for x in answers:
                law = {}
                for each in itertools.product(kinds, repeat=reports):
                    p = math.prod(chance(a)[y] for a, y in zip((x, *others), each))
                    seen = published(each)
                    law[seen] = law.get(seen, 0) + p
                laws[x] = law
            self.pairs += [(laws[x], laws[z]) for x in answers for z in answers if x != z]

    def delta(self, eps):
        if eps not in self.deltas:
            e = math.exp(eps)
            self.deltas[eps] = max(sum(max(0, p - e * q[seen]) for seen, p in law.items()) for law, q in self.pairs)
        return self.deltas[eps]

    def holds_delta(self, bound, eps):
        return bound["lower"] <= self.delta(eps) + 1e-12 and self.delta(eps) <= bound["upper"] + 1e-12

    def holds_epsilon(self, bound, delta):
        """At the lower end delta is not met yet, or only just; at the upper end it is."""
        below = bound["lower"] == 0 or self.delta(bound["lower"] * (1 - 1e-9)) >= delta - 1e-12
        return below and self.delta(bound["upper"]) <= delta + 1e-12

    def holds_local(self, bound):
        return bound["lower"] <= self.local * (1 + 1e-12) and self.local <= bound["upper"] * (1 + 1e-12)


def bits_chance(lie_one, lie_zero):
    def chance(answer):
        law = {}
        for report in itertools.product((0, 1), repeat=len(answer)):
            law[report] = math.prod((1 - lie_one if y else lie_one) if x else (lie_zero if y else 1 - lie_zero) for x, y in zip(answer, report))
        return law
    return chance


def categories_chance(count, lie):
    return lambda answer: {y: 1 - lie if y == answer else lie / (count - 1) for y in range(count)}


def counts(reports):
    return tuple(map(sum, zip(*reports)))


def whole(reports):
    return tuple(sorted(reports))


def vectors(bits, least=0, most=None):
    return [x for x in itertools.product((0, 1), repeat=bits) if least <= sum(x) <= (bits if most is None else most)]
