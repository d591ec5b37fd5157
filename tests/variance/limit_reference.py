"""Reference values of tests/variance/limit.c: the posterior predictive limit of docs/intervals.md in plain Python, written from that page
and not from src/variance. Run it to print the numbers that the test has."""
from math import erf, exp, inf, log, pi, sqrt

N = 64
LN_D = [log(0.08) + i * (log(600) - log(0.08)) / (N - 1) for i in range(N)]
CENTRES = [log(0.3) + k * (log(60) - log(0.3)) / 21 for k in range(22)]
EDGES = [-3 + j / 2 for j in range(13)]
GRID_DEGREES = 600


def density(x, mean, sd):
    return exp(-((x - mean) / sd) ** 2 / 2) / (sd * sqrt(2 * pi))


def root(f, low, high):
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2


def mean_of(f, low, high):
    """The mean of f over an interval, by Simpson's rule on both sides of 0, where f has an edge."""
    if low == high:
        return f(low)
    total = 0
    for a, b in ((low, min(max(low, 0), high)), (min(max(low, 0), high), high)):
        steps = 2 * (int((b - a) / 0.02) // 2 + 10)
        h = (b - a) / steps
        total += h / 3 * sum((1 if k in (0, steps) else 4 if k % 2 else 2) * f(a + k * h) for k in range(steps + 1))
    return total / (high - low)


def limits(numbers, rows, cv, drawn, within, smaller=1):
    """`smaller`: of rows that are drawn one by one, design effects that are looked at are smaller by this factor, but for what clusters of
    one row have at most."""
    size = rows * (1 + cv ** 2)
    result = [None] * len(numbers)
    grid, centres = [x - log(smaller) for x in LN_D], [x - log(smaller) for x in CENTRES]
    flat = [float(log(0.3 / smaller) - 1e-9 <= x <= log(10 * size)) for x in grid]
    models = []  # of a statistic: its centre, and prior masses of its numbers
    for centre in centres:
        for width in (0.8, 1.3):
            p = [density(x, centre, width) for x in grid]
            models.append((centre, [0.95 * a / sum(p) + 0.05 * b / sum(flat) for a, b in zip(p, flat)]))
    likelihoods = []
    for n in numbers:
        likelihoods.append([])
        for x in grid:
            degrees = max(1, min(n["degrees"], n["rows"] / (exp(x) if n["power"] == 1 else 1)))
            c = 2 / 9 * (1 / degrees + 1 / GRID_DEGREES)
            ends = [sqrt(n["squares"] * exp(x) * max(0, 1 - c + z * sqrt(c)) ** 3) ** n["power"] for z in EDGES]
            total = 0
            for j in range(12):
                mass = (erf(inf if j == 11 else EDGES[j + 1] / sqrt(2)) - erf(-inf if j == 0 else EDGES[j] / sqrt(2))) / 2
                total += mass * mean_of(lambda u: exp(-u * u / 2 if n["gaussian"] else -abs(u)),
                                        (ends[j] - n["measured"]) / n["scale"], (ends[j + 1] - n["measured"]) / n["scale"])
            likelihoods[-1].append(total)
    evidences = [[sum(a * b for a, b in zip(prior, lik)) for _, prior in models] for lik in likelihoods]
    for family, alike in (("totals", 0.05), ("means", 0.02)):
        statistics = {}
        for i, n in enumerate(numbers):
            if n["family"] == family:
                statistics.setdefault(n["statistic"], []).append(i)
        expected = log(1.3 * (1 + (size - 1) * alike))
        # weights of every centre of the family, jointly with those of one statistic
        families = []
        for top in centres:
            apart = [density(c, top, 0.7) for c in centres]
            weight = density(top, expected, 1.2)
            own = {}
            for name, members in statistics.items():
                own[name] = []
                for k, (centre, _) in enumerate(models):
                    w = density(centre, top, 0.7) / sum(apart)
                    for i in members:
                        w *= evidences[i][k]
                    own[name].append(w)
                weight *= sum(own[name])
            families.append((weight, own))
        for name, members in statistics.items():
            weights = [0.0] * len(models)
            for weight, own in families:
                for k in range(len(models)):
                    weights[k] += weight * own[name][k] / sum(own[name])
            for i in members:
                n = numbers[i]
                posterior = [0.0] * N
                for k, (_, prior) in enumerate(models):
                    for d in range(N):
                        posterior[d] += weights[k] / sum(weights) * prior[d] * likelihoods[i][d] / evidences[i][k]
                z = root(lambda u: erf(u / sqrt(2)) - n["confidence"], 0, 10)
                v = n["degrees"]
                student = 1 + (z ** 2 + 1) / (4 * v) + (5 * z ** 4 + 16 * z ** 2 + 3) / (96 * v ** 2)

                def variance(d):
                    return student ** 2 * n["squares"] * ((1 - drawn) * d + drawn * min(d, within))
                whole = [variance(exp(x)) + n["noise"] for x in grid]
                h = root(lambda u: sum(p * erf(u / sqrt(2 * w)) for p, w in zip(posterior, whole)) - n["confidence"], 0, 1e5)
                sd = n["scale"] * (1 if n["gaussian"] else sqrt(2))
                effect = sum(p * exp(x) for p, x in zip(posterior, grid))
                seen = max(0, n["measured"])
                taken = n["power"] * sqrt(seen * sqrt(n["squares"] * effect) ** n["power"])
                kept = seen * max(0, min(1, 2 - 2 * sd / taken)) if taken > 0 else 0
                own = variance(kept ** (2 / n["power"]) / n["squares"])
                result[i] = (max((h / z) ** 2 - n["noise"], own), effect)
    return result


def number(family, statistic, squares, noise, measured, scale, gaussian, degrees, confidence=0.95, rows=inf, power=1):
    return dict(power=power, family=family, statistic=statistic, squares=squares, noise=noise, measured=measured, scale=scale, gaussian=gaussian, degrees=degrees,
                confidence=confidence, rows=rows)


CASES = [
    ([number("totals", 1, 100, 30, 22, 4, False, 15)], 20, 0.5, 0, 1),
    ([number("totals", 1, 100, 30, 22, 4, False, 15), number("totals", 1, 9, 1, 4, 9, False, 15), number("totals", 2, 50, 5, 40, 2, False, 15, rows=60),
      number("means", 3, 4, 1, 2.5, 0.5, False, 15), number("means", 4, 4, 1, -3, 2, False, 15, 0.9)], 20, 0.5, 0, 1),
    ([number("means", 1, 1, 0.2, 1.4, 0.3, True, 60), number("means", 1, 2, 0.2, 1.1, 0.8, True, 60)], 8, 1, 0.4, 1.7),
    # variances of rows that were drawn one by one
    ([number("totals", 1, 100, 30, 90, 40, False, 500, rows=40, power=2), number("totals", 1, 9, 1, -4, 9, False, 500, rows=7, power=2),
      number("totals", 2, 50, 5, 12, 1, False, 500, power=2), number("means", 3, 4, 1, 5, 2, False, 500, 0.9, power=2)], 1, 0, 0, 1, 8),
    ([number("means", 1, 1, 0.2, 1.4, 0.3, True, 60, power=2), number("means", 1, 2, 0.2, 1.1, 0.8, True, 60, rows=20, power=2)], 1, 0, 0, 1, 8),
]

if __name__ == "__main__":
    for case in CASES:
        for variance, effect in limits(*case):
            print(f"{variance:.9f}, {effect:.9f}")
