"""Releases of every design: at a budget so large that the noise is next to nothing, the numbers are those that the weights give."""
import csv
import json
import random

from kit import *

sys.path.insert(0, str(HERE.parent))
from tap import LONG  # noqa: E402

tamis = with_memory  # noqa: F405

COLUMNS = """columns:
  x: {from: 0, to: 100, step: 0.5, typical: 40}
  y: {from: 1, to: 50, step: 1, typical: 20}
  g: {values: [a, b, c]}
  s: {values: [p, q]}
"""
STATISTICS = """statistics:
  - total: x
  - {count: units, by: g}
  - {mean: x, by: g}
  - {share: {g: a}}
  - {ratio: {of: x, to: y}}
  - {variance: x}
  - {total: x, where: {y: {from: 1, to: 20}}}
  - {table: [g, s]}
  - {histogram: y, cuts: [20]}
"""
SECRET = "protect: frame, given: population, secret_sample: yes"
DICE = random.Random(5)
STRATA = "stratified: {by: s, within: srs, strata: {p: {population: 900, sample: 80}, q: {population: 600, sample: 70}}}"
FAR = 18  # Laplace noise is beyond it in less than one of 10^10 draws


def person(**more):
    x = min(max(round(DICE.gauss(40, 15) * 2) / 2, 0), 100)
    return dict({"x": x, "y": DICE.randint(5, 40), "g": DICE.choice("aabc"), "s": DICE.choice("pq")}, **more)


def release(rows, design, privacy="epsilon: 100000", statistics=STATISTICS, extra="", status=OK, unprotected=False, columns=COLUMNS):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "d.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        pathlib.Path(folder, "p.yaml").write_text(
            f"tamis: 1\nsurvey: s\nsource: {{file: d.csv}}\ndesign: {{{design}}}\nprivacy: {{unit: person, {privacy}}}\n{budget(privacy)}"
            + columns + statistics + extra)
        done = tamis("release", "p.yaml", "--out", "o", "--json", "--quiet", cwd=folder)
        assert done.returncode == status, (design, done.returncode, done.stderr)
        if unprotected:
            plain = tamis("estimate", "p.yaml", "--json", "--quiet", cwd=folder)
            return json.loads(done.stdout)["results"], json.loads(plain.stdout)["results"]
        return json.loads(done.stdout) if status == OK else done.stderr


def truths(rows, weight):
    """The estimates in the order of STATISTICS, plainly."""
    def total(value, keep=lambda r: True):
        return sum(weight(r) * value(r) for r in rows if keep(r))

    def one(r):
        return 1

    def x(r):
        return r["x"]

    yield total(x)
    for g in "abc":
        yield total(one, lambda r: r["g"] == g)
    for g in "abc":
        yield total(x, lambda r: r["g"] == g) / total(one, lambda r: r["g"] == g)
    yield total(one, lambda r: r["g"] == "a") / total(one)
    yield total(x) / total(lambda r: r["y"])
    yield len(rows) / (len(rows) - 1) * (total(lambda r: r["x"] ** 2) / total(one) - (total(x) / total(one)) ** 2)
    yield total(x, lambda r: r["y"] <= 20)
    for g in "abc":
        for s in "pq":
            yield total(one, lambda r: r["g"] == g and r["s"] == s)
    yield total(one, lambda r: r["y"] < 20)
    yield total(one, lambda r: r["y"] >= 20)


def compare(rows, weight, design, privacy="epsilon: 100000"):
    told = release(rows, design, privacy)
    expected = list(truths(rows, weight))
    assert len(told["results"]) == len(expected)
    for result, truth in zip(told["results"], expected):
        near = 1e-2 if result["statistic"] == "variance" else 1e-3  # the grid of weights, and n/(n-1) of a weighted variance
        assert abs(result["estimate"] - truth) <= near * abs(truth) + FAR * result["noise_sd"], (design, result, truth)
        assert result["sampling_se"] > 0 and result["se"] >= result["noise_sd"], (design, result)
        assert result["interval"]["lower"] <= result["estimate"] + 1e-9 and result["estimate"] <= result["interval"]["upper"] + 1e-9
    return told


@case
def rows_alike():
    rows = [person() for _ in range(200)]
    compare(rows, lambda r: 10, "srs: {population: 2000, sample: 200}")
    compare(rows, lambda r: 10, "systematic: {population: 2000, sample: 200, order: public}")
    told = compare(rows, lambda r: 10, "bernoulli: {rate: 1/10, population: 2000}", f"epsilon: 100000, {SECRET}")
    assert told["guarantee"]["outsider"]["theorem"] == "poisson"


@case
def standard_errors_without_noise():
    """Squares about centres, and rows that are missing: the sampling errors are those of the usual formula."""
    rows = [person() for _ in range(190)] + [dict(person(), x="") for _ in range(6)] + [dict(person(), y="") for _ in range(4)]
    statistics = "statistics:\n  - {mean: y}\n  - {ratio: {of: x, to: y}}\n  - {ratio: {of: y, to: x}, by: g}\n  - {mean: x, by: s}\n"
    for design in ("srs: {population: 2000, sample: 200}", "bernoulli: {rate: 1/10, population: 2000}"):
        own, plain = release(rows, design, "epsilon: 1e6" if "srs" in design else f"epsilon: 1e6, {SECRET}", statistics, unprotected=True)
        for a, b in zip(own, plain):
            assert abs(a["estimate"] - b["estimate"]) < 1e-4 * abs(b["estimate"]), (design, a, b)
            assert abs(a["sampling_se"] - b["se"]) < 0.01 * b["se"], (design, a, b)


@case
def strata():
    rows = [person(s="p") for _ in range(60)] + [person(s="q") for _ in range(40)]
    for p, q in ((6000, 400), (700, 400)):  # worth measuring apart, and not
        design = f"stratified: {{by: s, within: srs, strata: {{p: {{population: {p}, sample: 60}}, q: {{population: {q}, sample: 40}}}}}}"
        told = release(rows, design, f"epsilon: 100000, {SECRET}", STATISTICS.replace("  - {table: [g, s]}\n", ""))
        weight = {"p": p / 60, "q": q / 40}
        expected = list(truths(rows, lambda r: weight[r["s"]]))
        for result, truth in zip(told["results"], expected[:11] + expected[17:]):
            assert abs(result["estimate"] - truth) <= 1e-2 * abs(truth) + FAR * result["noise_sd"], (result, truth)
            assert result["sampling_se"] > 0, result
        assert [part["stratum"] for part in told["guarantee"]["outsider"]["by_stratum"]] == ["p", "q"]


@case
def weights_and_probabilities():
    rows = [person(w=round(DICE.uniform(1, 20), 3)) for _ in range(300)]
    compare(rows, lambda r: r["w"], "weights: {population: 3000}, weight: w, max_weight: 20")
    compare(rows, lambda r: r["w"], "srs: {population: 3000, sample: 300}, weight: w, max_weight: 20")
    rows = [person(pi=round(DICE.uniform(0.05, 0.5), 3)) for _ in range(300)]
    compare(rows, lambda r: 1 / r["pi"], "poisson: {probability: pi}, max_weight: 20")
    compare(rows, lambda r: 1 / r["pi"], "pps: {method: sampford, probability: pi, sample: 300}, max_weight: 20")


@case
def clusters_stages_and_households():
    rows = [person(c=f"c{k}") for k in range(50) for _ in range(DICE.randint(2, 8))]
    compare(rows, lambda r: 10, "cluster: {by: c, population: 500, sample: 50, smallest: 1, largest: 10}")
    rows = []
    for k in range(20):
        size, drawn = DICE.randint(8, 30), DICE.randint(3, 6)
        rows += [person(c=f"k{k}", N=size, n=drawn) for _ in range(drawn)]
    compare(rows, lambda r: 10 * r["N"] / r["n"],
            "two_stage: {first: {by: c, population: 200, sample: 20}, second: {population: N, sample: n}}, max_weight: 200")
    compare(rows, lambda r: 10 * r["N"] / r["n"],
            "two_stage: {first: {by: c, systematic: {population: 200, sample: 20, order: random}}, "
            "second: {population: N, sample: n, method: systematic}}, max_weight: 200")
    chance = {f"k{k}": round(DICE.uniform(0.05, 1), 5) for k in range(20)}
    rows = [dict(r, pi=chance[r["c"]], s="p" if int(r["c"][1:]) < 8 else "q") for r in rows]
    first, second = "pps: {method: systematic, probability: pi", "population: N, sample: n"
    compare(rows, lambda r: r["N"] / r["n"] / r["pi"],
            f"two_stage: {{first: {{by: c, {first}, sample: 20}}}}, second: {{{second}}}}}, max_weight: 250")
    compare(rows, lambda r: r["N"] / r["n"] / r["pi"],
            f"stratified: {{by: s, within: {{two_stage: {{first: {{by: c, {first}}}}}, second: {{{second}}}}}}}, "
            "strata: {p: {sample: 8}, q: {sample: 12, population: 100}}}, max_weight: 250")
    told = compare([dict(r, N=max(r["N"], 6)) for r in rows], lambda r: max(r["N"], 6) / 6 / r["pi"],
                   f"two_stage: {{first: {{by: c, {first}, sample: 20}}}}, second: {{population: N, sample: 6}}}}, max_weight: 250",
                   f"epsilon: 100000, {SECRET}")
    assert told["guarantee"]["outsider"] is None
    inside = "second: {method: bernoulli, rate: 1/4}"  # three of 23 drawn clusters have no row
    told = compare(rows, lambda r: 40, f"two_stage: {{first: {{by: c, population: 230, sample: 23}}, {inside}}}", f"epsilon: 100000, {SECRET}")
    assert told["guarantee"]["outsider"]["theorem"] == "within_clusters"
    compare(rows, lambda r: 4 / r["pi"], f"two_stage: {{first: {{by: c, {first}, sample: 23}}}}, {inside}}}, max_weight: 250")
    weight = {"p": 40, "q": 20}
    compare(rows, lambda r: weight[r["s"]], f"stratified: {{by: s, within: {{two_stage: {{first: {{by: c}}, {inside}}}}}, "
            "strata: {p: {population: 100, sample: 10}, q: {sample: 13, population: 65}}}")
    rows = [person(c=f"h{k}") for k in range(100) for _ in range(DICE.randint(1, 4))]
    compare(rows, lambda r: 10, "srs: {population: 1000, sample: 100}", "id: c, rows_per_unit: 4, epsilon: 100000")


@case
def rows_of_households():
    """Rows are what is counted, and of more than rows_per_unit each has the same chance."""
    design, statistics = "srs: {population: 20000, sample: 2000}", "statistics:\n  - {count: units}\n  - {count: units, by: s}\n"
    rows = [person(c=f"h{k}", s=s) for k in range(2000) for s in "pppqq"]
    told, plain = release(rows, design, "id: c, rows_per_unit: 5, epsilon: 100000", statistics, unprotected=True)
    for own, other in zip(told, plain):
        assert other["estimate"] == {"p": 60000, "q": 40000}.get(own["group"].get("s"), 100000), other
        assert abs(own["estimate"] - other["estimate"]) <= 1e-6 + FAR * own["noise_sd"], (own, other)
    told = release(rows, design, "id: c, rows_per_unit: 2, epsilon: 100000", statistics)
    numbers = [r["estimate"] for r in told["results"]]
    assert abs(numbers[0] - 40000) < 50 and abs(numbers[1] - 24000) < 3000, told["results"]  # 10 standard deviations: 10 sqrt(2000 0.36)
    assert any("chosen at random" in line for line in told["not_covered"])


@case
def weights_of_households():
    """The weights of a household are multiplied by one factor, so that they add up to max_unit_weight at most; noise follows that bound."""
    rows = [person(c=f"h{k}", w=round(DICE.uniform(1, 20), 3)) for k in range(150) for _ in range(1 + k % 5)]
    privacy, design = "id: c, rows_per_unit: 5, epsilon: 100000", "weights: {}, weight: w, max_weight: 20"
    sums = {}
    for r in rows:
        sums[r["c"]] = sums.get(r["c"], 0) + r["w"]
    bounded = compare(rows, lambda r: r["w"] * min(1, 30 / sums[r["c"]]), design + ", max_unit_weight: 30", privacy)
    plain = compare(rows, lambda r: r["w"], design, privacy)
    assert bounded["results"][0]["noise_sd"] < 0.6 * plain["results"][0]["noise_sd"], (bounded["results"][0], plain["results"][0])
    loose = compare(rows, lambda r: r["w"], design + ", max_unit_weight: 100", privacy)
    assert loose["results"][0]["noise_sd"] == plain["results"][0]["noise_sd"]
    homes = {r["c"]: sum(other["c"] == r["c"] for other in rows) for r in rows}
    rows = [dict(r, s="p" if int(r["c"][1:]) < 60 else "q", a=int(r["c"][1:]) // 10, N=20, pi=0.2 + 0.02 * (int(r["c"][1:]) // 10)) for r in rows]
    weights = {"srs: {population: 1500, sample: 150}": lambda r: 10, "bernoulli: {rate: 1/10}": lambda r: 10,
               "stratified: {by: s, within: srs, strata: {p: {population: 720, sample: 60}, q: {population: 450, sample: 90}}}":
               lambda r: 12 if r["s"] == "p" else 5,
               "two_stage: {first: {by: a, population: 90, sample: 15}, second: {population: N, sample: 10}}, max_weight: 12": lambda r: 12,
               "two_stage: {first: {by: a, pps: {method: systematic, probability: pi, sample: 15}}, second: {population: N, sample: 10}}, "
               "max_weight: 12": lambda r: 2 / r["pi"],
               "two_stage: {first: {by: a, population: 60, sample: 16}, second: {method: bernoulli, rate: 1/4}}": lambda r: 15,
               "two_stage: {first: {by: a, pps: {method: systematic, probability: pi, sample: 16}}, second: {method: bernoulli, rate: 1/2}}, "
               "max_weight: 12": lambda r: 2 / r["pi"]}
    for design, weight in weights.items():  # which follow from sizes
        bounded = compare(rows, lambda r: weight(r) * min(1, 30 / (weight(r) * homes[r["c"]])), design + ", max_unit_weight: 30", privacy)
        plain = compare(rows, weight, design, privacy)
        assert bounded["results"][0]["noise_sd"] < 0.7 * plain["results"][0]["noise_sd"], (bounded["results"][0], plain["results"][0])
    each = sorted((r["x"], 10 * min(1, 30 / (10 * homes[r["c"]]))) for r in rows)
    half = next(x for k, (x, _) in enumerate(each) if sum(w for _, w in each[:k + 1]) >= sum(w for _, w in each) / 2)
    for method in ("tree", "inverse"):  # mechanisms that add up weights
        told = release(rows, "srs: {population: 1500, sample: 150}, max_unit_weight: 30", privacy.replace("100000", "900"), f"statistics:\n  - {{quantile: x, at: [0.5], method: {method}}}\n")
        assert abs(told["results"][0]["estimate"] - half) <= 1, (method, told["results"], half)


def bounded_by(most):
    return COLUMNS.replace("typical: 40}", f"typical: 40, unit_contribution: {most}}}")


@case
def contributions_of_households():
    """What a household adds to a total is multiplied by one factor, so that it is unit_contribution at most; means are not. Groups cost nothing."""
    rows = [person(c=f"h{k}", w=round(DICE.uniform(1, 20), 3)) for k in range(150) for _ in range(1 + k % 5)]
    privacy, designs = "id: c, rows_per_unit: 5, epsilon: 100000", {"weights: {}, weight: w, max_weight: 20": lambda r: r["w"],
                                                                    "srs: {population: 1500, sample: 150}": lambda r: 10,
                                                                    "srs: {population: 1500, sample: 150}, max_unit_weight: 30": lambda r: 10}
    statistics = "statistics:\n  - {total: x}\n  - {total: x, by: g}\n  - {total: x, where: {s: p}}\n  - {mean: x}\n  - {count: units, by: g}\n"
    for design, weight in designs.items():
        added, homes = {}, {}
        for r in rows:
            added[r["c"]] = added.get(r["c"], 0) + weight(r) * r["x"]
            homes[r["c"]] = homes.get(r["c"], 0) + 1

        def own(r):  # of weights: of means and counts alone
            return min(1, 30 / (10 * homes[r["c"]])) if "max_unit_weight" in design else 1

        def factor(r):
            return min(1, 900 / added[r["c"]])

        def total(keep, f=factor):
            return sum(f(r) * weight(r) * r["x"] for r in rows if keep(r))
        assert sum(a > 900 for a in added.values()) > 30
        told = release(rows, design, privacy, statistics, columns=bounded_by(900))["results"]
        wanted = [total(lambda r: True)] + [total(lambda r: r["g"] == g) for g in "abc"] + [total(lambda r: r["s"] == "p")]
        wanted += [total(lambda r: True, own) / sum(own(r) * weight(r) for r in rows)]
        wanted += [sum(own(r) * weight(r) for r in rows if r["g"] == g) for g in "abc"]
        for result, truth in zip(told, wanted, strict=True):
            assert abs(result["estimate"] - truth) <= 1e-3 * abs(truth) + FAR * result["noise_sd"], (design, result, truth)
            assert result["sampling_se"] > 0, result
        plain = release(rows, design, privacy, statistics)["results"]
        assert told[0]["noise_sd"] < 0.6 * plain[0]["noise_sd"], (told[0], plain[0])
    few = release(rows, "srs: {population: 1500, sample: 150}", privacy, "statistics:\n  - {total: x}\n", columns=bounded_by(900))["results"]
    by = release(rows, "srs: {population: 1500, sample: 150}", privacy, "statistics:\n  - {total: x, by: g}\n", columns=bounded_by(900))["results"]
    assert max(r["noise_sd"] for r in by) < 2.1 * few[0]["noise_sd"], (few, by)


@case
def what_units_add_is_not_bounded_where_that_is_not_proved():
    rows = [person(c=f"h{k // 2}", w=10) for k in range(300)]
    households, total, weights = "id: c, rows_per_unit: 2, epsilon: 1", "statistics:\n  - {total: x}\n", "weights: {%s}, weight: w, max_weight: 10"
    counts = "calibrate: {to: [{count: units, by: g, totals: {a: 500, b: 300, c: 200}}]}\n"
    protected = "protect: population, given: nothing, design_variables: protected"
    for bound, design, privacy, extra, status, words in [
            (900, weights % "deff: 2", households, "", REFUSED, "`unit_contribution` of x: a public `deff` needs the squares of the values"),
            (900, weights % "", households, counts, REFUSED, "`unit_contribution` of x: it bounds weights of the design, which `calibrate` changes"),
            (900, STRATA, f"{households}, {protected}", "", REFUSED, "`unit_contribution` of x: with `design_variables: protected` one record moves"),
            ("1e-9", weights % "", households, "", INVALID, "columns.x.unit_contribution: must be at least one step of the column times one of the weights"),
            ("1e300", weights % "", households, "", INVALID, "columns.x.unit_contribution: far beyond any weight times value")]:
        said = release(rows, design, privacy, total, extra, status, columns=bounded_by(bound))
        assert words in said, (design, said)


@case
def rows_of_units_that_were_drawn_one_by_one():
    """All five rows of a household are alike: the error is that of 400 households, not of 2,000 persons."""
    rows = [dict(r, c=f"h{k}", w=10) for k in range(400) for r in [person()] * 5]
    right = (10 * 9 * sum((5 * r["x"]) ** 2 for r in rows[::5])) ** 0.5
    for design in ("bernoulli: {rate: 1/10}", "weights: {}, weight: w, max_weight: 10"):
        told, plain = release(rows, design, "id: c, rows_per_unit: 5, epsilon: 100000", "statistics:\n  - {total: x}\n", unprotected=True)
        if "bernoulli" in design:
            assert abs(plain[0]["se"] / right - 1) < 1e-9 and plain[0]["df"] == 399, (plain, right)
        assert 0.3 < told[0]["sampling_se"] / right < 2.5, (design, told, right)  # 32 variance units at random


@case
def means_by_known_size():
    rows = [person(w=DICE.choice([5, 10, 20])) for _ in range(190)] + [dict(person(w=10), x="") for _ in range(10)]
    statistics = "statistics:\n  - {mean: x, method: known_size}\n  - {total: x}\n  - {share: {g: a}, method: known_size}\n  - {total: {g: a}}\n"
    for design, privacy in (("bernoulli: {rate: 1/10, population: 2000}", f"epsilon: 100000, {SECRET}"),
                            ("srs: {population: 2000, sample: 200}", "epsilon: 100000"),
                            ("weights: {population: 2000}, weight: w, max_weight: 20", "epsilon: 100000")):
        told, plain = release(rows, design, privacy, statistics, unprotected=True)
        for results in (told, plain):
            for mean, total in (results[:2], results[2:]):
                for key in ("estimate", "se", "sampling_se"):
                    assert abs(mean[key] - total[key] / 2000) <= 0.01 * mean[key], (design, key, mean, total)
                for key in ("lower", "upper"):
                    assert abs(mean["interval"][key] - total["interval"][key] / 2000) <= 0.01 * mean["estimate"], (design, mean, total)
    said = release([dict(r, c=i // 2) for i, r in enumerate(rows)], "srs: {population: 1000, sample: 100}", "id: c, rows_per_unit: 2, epsilon: 1",
                   statistics, status=INVALID)
    assert "statistics[1].method: expected ratio" in said


@case
def a_light_stratum_has_a_mean_beside_a_heavy_one():
    rows = [person(s="pq"[i // 4]) for i in range(8)]
    told = release(rows, "stratified: {by: s, within: srs, strata: {p: {population: 60, sample: 4}, q: {population: 10, sample: 4}}}",
                   "epsilon: 1000", "statistics:\n  - {mean: x, by: s}\n")
    for result in told["results"]:
        values = [r["x"] for r in rows if r["s"] == result["group"]["s"]]
        assert result["estimate"] is not None and abs(result["estimate"] - sum(values) / 4) < 3, result


@case
def other_budgets():
    rows = [person() for _ in range(100)]
    told = release(rows, "srs: {population: 1000, sample: 100}", "rho: 0.5")
    assert told["spent"]["rho"]["upper"] == 0.5 and told["guarantee"]["sample"]["delta"]["upper"] > 0
    design, count = "srs: {population: 1000, sample: 100}", "statistics:\n  - {count: units, by: g}\n"
    approximate, pure = (release(rows, design, loss, count) for loss in ("epsilon: 0.1, delta: 0.01", "epsilon: 0.1"))
    assert approximate["guarantee"]["sample"]["epsilon"]["upper"] <= 0.1 and approximate["guarantee"]["sample"]["delta"]["upper"] <= 0.01
    assert approximate["results"][0]["noise_sd"] < pure["results"][0]["noise_sd"] / 1.2  # Gaussian noise, where delta is worth something
    unused, pure = (release(rows, design, loss, count) for loss in ("epsilon: 1, delta: 1e-6", "epsilon: 1"))
    assert unused["guarantee"]["sample"] == pure["guarantee"]["sample"] and unused["results"][0]["noise_sd"] == pure["results"][0]["noise_sd"]


@case
def contradictions_are_told_before_the_charge():
    rows = [person(c=f"c{k}") for k in range(10) for _ in range(3)]
    for design, privacy, words in (
            ("srs: {population: 100, sample: 29}", "epsilon: 1", "30 rows"),
            ("srs: {population: 100, sample: 11}", "epsilon: 1, id: c, rows_per_unit: 3", "10 units"),
            ("cluster: {by: c, population: 90, sample: 9, smallest: 1, largest: 4}", "epsilon: 1", "10 clusters")):
        assert words in release(rows, design, privacy, status=INVALID)
    release(rows, "srs: {population: 100, sample: 29}, nonresponse: yes", "epsilon: 1", "statistics:\n  - mean: x\n")


ONE = "calibrate: {to: [{count: units, by: g, totals: {a: 520, b: 240, c: 240}}]}\n"
TWO = "calibrate: {%sto: [{count: units, by: g, totals: {a: 520, b: 240, c: 240}}, {count: units, by: s, totals: [450, 550]}]}\n"


NUMBER = "calibrate: {to: [{count: units, by: g, totals: {a: 520, b: 240, c: 240}}, {total: y, totals: 22500}]}\n"
NUMBERS = "calibrate: {to: [{total: y, by: s, totals: {p: 10500, q: 12000}}]}\n"

# Two margins and all of STATISTICS take ten seconds: everything is crossed with both. The other designs have all of them.
FEW = "statistics:\n  - total: x\n  - {count: units, by: g}\n  - {mean: x, by: g}\n  - {ratio: {of: x, to: y}}\n"


@case
def calibrated_as_without_protection():
    """Counts, totals, means, shares and ratios are those of R's weights, and so are their sampling errors."""
    rows, ratios = [person(c=f"c{k % 25}", w=8 + k % 5) for k in range(100)], []
    for design, calibrate in (
            ("srs: {population: 1000, sample: 100}", ONE), ("srs: {population: 1000, sample: 100}", TWO % "method: raking, "),
            ("srs: {population: 1000, sample: 140}, nonresponse: yes", TWO % ""),
            ("stratified: {by: s, within: srs, strata: {p: {population: 450, sample: 70}, q: {population: 550, sample: 80}}}, "
             "nonresponse: yes", TWO % ""), ("weights: {}, weight: w, max_weight: 20", TWO % "method: raking, "),
            ("cluster: {by: c, population: 250, sample: 25, smallest: 1, largest: 8}", ONE),
            ("srs: {population: 1000, sample: 100}", NUMBER),
            ("stratified: {by: s, within: srs, strata: {p: {population: 450, sample: 70}, q: {population: 550, sample: 80}}}, "
             "nonresponse: yes", NUMBERS), ("weights: {}, weight: w, max_weight: 20", NUMBER),
            ("cluster: {by: c, population: 250, sample: 25, smallest: 1, largest: 8}", NUMBERS)):
        statistics = FEW if "s, totals" in calibrate and "weights" not in design and not LONG else STATISTICS
        told, plain = release(rows, design, "epsilon: 1000000", statistics, calibrate, unprotected=True)
        for r, e in zip(told, plain):
            if r["statistic"] == "variance":
                continue
            assert any("calibrated" in n or "raked" in n for n in r["notes"]), (design, r)
            assert abs(r["estimate"] - e["estimate"]) <= FAR * r["noise_sd"] + 1e-3 * abs(e["estimate"]), (design, r, e)
            if "weights" in design and (r["group"] or "bin" in r):  # a group of few rows knows its variance so well as they allow
                assert 0.9 * e["se"] < r["sampling_se"] < 1.5 * e["se"] + 5e-3 * abs(e["estimate"]) or e["se"] < 1e-9, (design, r, e)
                continue
            if "cluster" in design and e["se"] > 1e-9:  # as measured, and an upper limit
                assert 0.4 < r["sampling_se"] / e["se"] < 3, (design, r, e)
                ratios.append(r["sampling_se"] / e["se"])
                continue
            if "nonresponse" in design and "total: y" in calibrate:  # a bound: residuals may be largest where factors are
                assert 0.95 * e["se"] - 5e-3 * abs(e["estimate"]) <= r["sampling_se"] <= 2 * e["se"] + 5e-3 * abs(e["estimate"]), (design, r, e)
                continue
            assert abs(r["sampling_se"] - e["se"]) <= (0.1 if "raking" in calibrate else 0.05) * e["se"] + 5e-3 * abs(e["estimate"]), (design, r, e)
    assert 0.8 < sum(ratios) / len(ratios) < 1.8, ratios


@case
def nonresponse_that_follows_the_number():
    """Few of those with a small y answer, and their x varies most: their factors are large, and so are their residuals."""
    rows = [person(y=5 + 15 * (k % 10 > 2), x=(0 if k % 2 else 60) if k % 10 <= 2 else 30) for k in range(200)]
    told, plain = release(rows, "srs: {population: 1000, sample: 300}, nonresponse: yes", "epsilon: 1000000",
                          "statistics:\n  - total: x\n  - mean: x\n", "calibrate: {to: [{count: units, totals: 1000}, {total: y, totals: 11000}]}\n",
                          unprotected=True)
    for r, e in zip(told, plain):
        assert 0.99 * e["se"] < r["sampling_se"] < 2 * e["se"], (r, e)


@case
def rows_outside_a_domain_have_residuals():
    """A domain with tables of its own: what calibration explains is taken off rows that are not in it too."""
    rows = [person(w=8 + k % 5) for k in range(100)]
    for calibrate in (ONE, NUMBER.replace("total: y, totals: 22500", "total: x, totals: 41000")):
        told, plain = release(rows, "weights: {}, weight: w, max_weight: 20", "epsilon: 1000000",
                              "statistics:\n  - {total: x, where: {y: {from: 1, to: 20}}}\n  - {count: units, by: s}\n", calibrate, unprotected=True)
        assert abs(told[0]["sampling_se"] / plain[0]["se"] - 1) < 0.1, (calibrate, told[0], plain[0])
    rows = []  # clusters that lie mostly within the domain or outside of it: their residuals in the two do not add up as squares
    for k in range(30):
        for j in range(2 + k % 9):
            rows.append(person(c=f"c{k}", y=10 if (j % 8 > 0) == (k % 2 > 0) else 30, x=60 + 10 * (j % 2)))
    size = 10 * len(rows)
    for calibrate in (f"{{count: units, by: g, totals: [{size // 2}, {size // 4}, {size // 4}]}}",
                      f"{{count: units, totals: {size}}}, {{total: x, totals: {64 * size}}}"):
        told, plain = release(rows, "cluster: {by: c, population: 300, sample: 30, smallest: 1, largest: 12}", "epsilon: 1000000",
                              "statistics:\n  - {total: x, where: {y: {from: 1, to: 20}}}\n  - {count: units, by: s}\n",
                              f"calibrate: {{to: [{calibrate}]}}\n", unprotected=True)
        assert 0.97 < told[0]["sampling_se"] / plain[0]["se"] < 1.2, (calibrate, told[0], plain[0])


@case
def standard_errors_follow_from_the_design_in_every_setting():
    """A protected number of rows changes noise, not the design: a count's standard error is that of `tamis estimate`, and fits its interval."""
    rows = [person(s="pq"[i >= 200]) for i in range(450)]
    strata = "stratified: {by: s, within: srs, strata: {p: {population: 900, sample: 200}, q: {population: 1600, sample: 250}}}"
    statistics = "statistics:\n  - {count: units, by: g}\n  - {mean: x, by: g}\n  - {share: {g: a}}\n  - total: x\n"
    for design, setting in (("srs: {population: 3000, sample: 450}", "protect: respondents, given: frame"),
                            ("srs: {population: 3000, sample: 450}", "given: population, design_variables: protected"),
                            (strata, "protect: respondents"), (strata, "protect: respondents, given: nothing"), (strata, "protect: sample")):
        told, plain = release(rows, design, f"epsilon: 1000000, {setting}", statistics, unprotected=True)
        for r, e in zip(told, plain):
            assert abs(r["sampling_se"] - e["se"]) < 0.01 * e["se"], (design, setting, r, e)
            half = (r["interval"]["upper"] - r["interval"]["lower"]) / 2
            assert abs(half - 1.96 * r["se"]) < 0.08 * half, (design, setting, r)


@case
def margins_of_calibrated_tables_add_up():
    rows = [person(t="pq"[i % 2]) for i in range(100)]
    told = release(rows, "srs: {population: 1000, sample: 100}", "epsilon: 5", "  t: {values: [p, q], missing: none}\nstatistics:\n  - {count: units, by: g}\n  - {table: [g, t]}\n",
                   ONE + "postprocess: {consistent: yes}\n")  # a complete column: else rows without a value are in no cell
    for g, total in {"a": 520, "b": 240, "c": 240}.items():
        cells = [r["estimate"] for r in told["results"] if r["group"]["g"] == g and "t" in r["group"]]
        assert abs(sum(cells) - total) < 1e-6 and all(any("calibrated" in note for note in r["notes"]) for r in told["results"]), told["results"]


@case
def calibration_is_right_or_refused():
    rows, design = [person() for _ in range(100)], "srs: {population: 1000, sample: 140}, nonresponse: yes"
    for statistics, to, named in (
            ("total: x", "{method: raking, to: [{total: y, totals: 20000}]}", "method: linear"),
            ("total: x", "{to: [{total: y, totals: 20000}, {total: x, totals: 40000}]}", "totals of one number, and here are those of y and x"),
            ("total: x", "{to: [{total: {g: a}, totals: 500}]}", "the total of g=a is a count"),
            ("total: x", "{to: [{total: {y: {from: 5, to: 9}}, totals: 500}]}", "is a count"),
            ("variance: y", "{to: [{total: y, totals: 20000}]}", "the variance of y, to whose total")):
        words = release(rows, design, "epsilon: 5", f"statistics:\n  - {statistics}\n", f"calibrate: {to}\n", REFUSED)
        assert named in words and "nearest" in words, words
    for to, named in (  # rows: 1000 in the population, of 1 to 50 each
            ("{total: y, totals: -5}", "from 0 to 50000"), ("{total: y, totals: 1e308}", "from 0 to 50000"), ("{total: y, totals: 50001}", "from 0 to 50000"),
            ("{total: y, by: s, totals: [30000, 20001]}", "from 0 to 50000"), ("{total: y, by: s, totals: [30000, -1]}", "from 0 to 50000")):
        words = release(rows, design, "epsilon: 5", "statistics:\n  - total: x\n", f"calibrate: {{to: [{to}]}}\n", INVALID)
        assert named in words and ".totals" in words and "p.yaml:" in words, words
    few = release(rows[:9], "srs: {population: 1000, sample: 140}, nonresponse: yes", "epsilon: 1/10", "statistics:\n  - mean: x\n  - total: x\n", NUMBERS)
    assert few["results"][0]["notes"][0].startswith("not calibrated") and few["results"][1]["estimate"] is None, few["results"]
    words = release(rows, design, "epsilon: 5", "statistics:\n  - {count: units, by: g}\n", status=INVALID)
    assert "need calibrate" in words, words

main()
