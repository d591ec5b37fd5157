"""Quantiles, poverty, Gini and S80/S20 of tamis estimate against R: survey's svyquantile and laeken, to 1e-9.

tests/data/estimates/quantiles.json holds each call of R with its quantiles, intervals and standard errors; the plans of the designs
are in cases.json. Standard errors of the measures of inequality, which laeken does not compute, are compared with linear values and
variances written out here, and with the jackknife.

R's rounded sums miss two kinds of quantiles, which tamis finds. With equal weights, where n p is a whole number, R may give the
value after the right one. Where the first row alone has more than the share p of the weight, R gives the second one. Both are
recognised here, and their number is fixed.
"""
import csv
import json
import math
import pathlib
import tempfile

from kit import INVALID, OK, TOP, case, main, with_memory as tamis

DATA = TOP / "tests" / "data" / "estimates"
REFERENCE = json.loads((DATA / "quantiles.json").read_text())
SCORES = json.loads((DATA / "score.json").read_text())
PLANS = {(c["data"], c["design"]): c for c in json.loads((DATA / "cases.json").read_text())}
CLOSE = 1e-9
TIES, FIRST_ROWS = 7, 25  # that R misses


def near(a, b, close=CLOSE):
    return (a is None) == (b is None) and (a is None or abs(a - b) <= close * max(abs(a), abs(b)) + 1e-12)


def read(file):
    with open(DATA / file, newline="") as source:
        return list(csv.DictReader(source))


def number_column(rows, name):
    values = [float(r[name]) for r in rows if r[name] != ""]
    return {"from": min(0, int(min(values)) - 1), "to": int(max(values)) + 1, "step": 1}


def run(plan, *more, code=OK):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.yaml"
        path.write_text(json.dumps(plan))
        done = tamis("estimate", path, "--quiet", *more)
    assert done.returncode == code, (done.returncode, done.stderr)
    return done


def estimate(entry, columns, statistics, **change):
    """The results of the plan of a design in cases.json."""
    rows, given = read(entry["file"]), entry["plan"]
    design = json.dumps(given["design"])
    for frame in ("mu284_frame_A.csv", "mu284_frame_B.csv", "belgium_frame.csv"):
        design = design.replace(f'"{frame}"', json.dumps(str(DATA / frame)))
    for control in given.get("calibrate", {}).get("to", []):
        if "by" in control:
            columns[control["by"]] = {"values": sorted({r[control["by"]] for r in rows})}
        if "total" in control:
            columns[control["total"]] = number_column(rows, control["total"])
    plan = {"tamis": 1, "survey": "s", "source": {"file": str(DATA / entry["file"])}, "design": json.loads(design),
            "privacy": {"unit": "record", "epsilon": 1, **given.get("privacy", {})}, "columns": columns, "statistics": statistics}
    plan.update({k: given[k] for k in ("calibrate",) if k in given}, **change)
    return json.loads(run(plan, "--json").stdout)["results"]


def ends(result):
    return [result["interval"]["lower"], result["interval"]["upper"]] if result["interval"] else [None, None]


class Count:
    ties = first_rows = 0


def compare(found, call, i, values):
    """One quantile; where R missed it, why."""
    r_numbers = [call["quantile"][i]] + call.get("ci95", [[]] * 99)[i]
    numbers = [found["estimate"]] + (ends(found) if "ci95" in call else [])
    if None in r_numbers:  # R has one end of an interval, or none
        assert found["interval"] is None and found["se"] is None and found["reason"], (call, found)
        r_numbers, numbers = r_numbers[:1], numbers[:1]
    elif all(map(near, r_numbers, numbers)):
        assert "se" not in call or near(found["se"], call["se"][i]), (call, found)
        return
    different = sorted(set(values))
    if all(near(r, x) or (r, x) == (values[1], values[0]) for r, x in zip(r_numbers, numbers)):
        Count.first_rows += not all(map(near, r_numbers, numbers))
    else:
        whole = abs(len(values) * call["at"][i] - round(len(values) * call["at"][i])) < 1e-9
        assert "ci95" not in call and whole and different.index(r_numbers[0]) == different.index(numbers[0]) + 1, (call, found)
        Count.ties += 1


def check(group):
    entry = PLANS[group["data"], group["design"]]
    rows = read(entry["file"])
    kinds = sorted({(c["interval"], len(c["at"])) for c in group["quantiles"]})
    for interval, count in kinds:  # a plan has a statistic once
        calls = [c for c in group["quantiles"] if (c["interval"], len(c["at"])) == (interval, count)]
        columns = {c["column"]: number_column(rows, c["column"]) for c in calls}
        results = estimate(entry, columns, [{"quantile": c["column"], "at": c["at"], "interval": interval} for c in calls])
        assert len(results) == count * len(calls)
        for k, found in enumerate(results):
            call = calls[k // count]
            values = sorted(float(r[call["column"]]) for r in rows if r[call["column"]] != "")
            assert found["at"] == call["at"][k % count] and found["column"] == call["column"]
            compare(found, call, k % count, values)


def add(group):
    def one():
        check(group)

    one.__name__ = f"{group['data']} {group['design']}: {len(group['quantiles'])} calls of svyquantile"
    case(one, one.__name__)


for group in REFERENCE["survey"]:
    add(group)


def add_score(data, design):
    calls = {}
    for c in SCORES:
        if (c["data"], c["design"]) == (data, design):
            calls.setdefault((c["column"], c.get("by")), []).append(c)

    def one():
        """Ends are those of R, or none where R stops with an error; quantiles, which rounded sums may miss, are compared above."""
        entry = PLANS[data, design]
        rows = read(entry["file"])
        for (column, by), groups in calls.items():
            columns, asked = {column: number_column(rows, column)}, {"quantile": column, "at": groups[0]["at"], "interval": "score"}
            if by:
                columns[by], asked["by"] = {"values": [c["group"] for c in groups]}, by
            results = estimate(entry, columns, [asked])
            assert len(results) == sum(len(c["at"]) for c in groups)
            for found, ci in zip(results, [ci for c in groups for ci in c["ci95"]]):
                assert all(map(near, ends(found), ci or [None, None])) and (ci or found["reason"]), (found, ci)

    case(one, f"{data} {design}: score intervals of R, of {sum(map(len, calls.values()))} columns and groups")


for pair in sorted({(c["data"], c["design"]) for c in SCORES}):
    add_score(*pair)


@case
def r_misses_as_many_as_it_did():
    assert (Count.ties, Count.first_rows) == (TIES, FIRST_ROWS), (Count.ties, Count.first_rows)


SILC = PLANS["eusilc", "d"]
STATES = ["Burgenland", "Carinthia", "Lower Austria", "Salzburg", "Styria", "Tyrol", "Upper Austria", "Vienna", "Vorarlberg"]


def silc(statistics, **change):
    return estimate(SILC, {"eqIncome": {"from": 0, "to": 200000, "step": 1}, "db040": {"values": STATES},
                           "rb090": {"values": ["female", "male"]}}, statistics, **change)


@case
def inequality_agrees_with_laeken():
    for call in REFERENCE["laeken"]:
        percent = 1 if call["statistic"] == "s80s20" else 100
        if call["groups"]:
            found = silc([{call["statistic"]: "eqIncome", "by": "db040"}])
            assert [r["group"]["db040"] for r in found] == call["groups"]
            assert all(near(percent * r["estimate"], v) for r, v in zip(found, call["value"])), call["call"]
        else:
            found = silc([{call["statistic"]: "eqIncome"}])
            assert near(percent * found[0]["estimate"], call["value"]), (call["call"], found)


def total_se(rows, linear):
    """Of a weighted total: clusters as if drawn with replacement, within strata."""
    strata = {}
    for r, z in zip(rows, linear):
        clusters = strata.setdefault(r["db040"], {})
        clusters[r["db030"]] = clusters.get(r["db030"], 0) + float(r["rb050"]) * z
    variance = 0
    for clusters in strata.values():
        n, mean = len(clusters), math.fsum(clusters.values()) / len(clusters)
        variance += n / (n - 1) * math.fsum((t - mean) ** 2 for t in clusters.values())
    return variance ** 0.5


def quantile(pairs, p):
    total, sum_ = math.fsum(w for _, w in pairs), 0
    for x, w in pairs:
        sum_ += w
        if sum_ >= p * total:
            return x
    raise AssertionError(p)


def kernel(pairs, at, width):
    total = math.fsum(w for _, w in pairs)
    return math.fsum(w * math.exp(-((x - at) / width) ** 2 / 2) for x, w in pairs) / (total * width * math.sqrt(2 * math.pi))


@case
def standard_errors_of_inequality_follow_osier():
    """Deville's and Osier's linear values, as the package convey has them: with densities for S80/S20 too, where tamis needs none,
    so these agree to 2 % only."""
    rows = read(SILC["file"])
    x, w = [float(r["eqIncome"]) for r in rows], [float(r["rb050"]) for r in rows]
    pairs = sorted(zip(x, w))
    N, Y = math.fsum(w), math.fsum(a * b for a, b in pairs)
    width = (math.fsum(b * (a - Y / N) ** 2 for a, b in pairs) / N) ** 0.5 * N ** -0.2
    below, sum_w, sum_y = {}, 0, 0
    for a, b in pairs:
        sum_w, sum_y = sum_w + b, sum_y + a * b
        below[a] = (sum_w, sum_y)
    gini = silc([{"gini": "eqIncome"}])[0]
    linear = [2 * (a * below[a][0] + Y - below[a][1]) / (N * Y) - (gini["estimate"] + 1) * (1 / N + a / Y) for a in x]
    assert near(gini["se"], total_se(rows, linear), 1e-8), gini

    median = quantile(pairs, 0.5)
    for part in (0.6, 0.4):
        poverty = silc([{"poverty": "eqIncome", "line": part}])[0]
        rate = math.fsum(b for a, b in pairs if a < part * median) / N
        slope = part * kernel(pairs, part * median, width) / kernel(pairs, median, width)
        linear = [((a < part * median) - rate - slope * ((a <= median) - 0.5)) / N for a in x]
        assert near(poverty["estimate"], rate) and near(poverty["se"], total_se(rows, linear), 1e-8), poverty

    for found in silc([{"poverty": "eqIncome", "by": "db040"}]):  # one line for all groups, and its error
        inside = [r["db040"] == found["group"]["db040"] for r in rows]
        own = sorted((a, b) for a, b, i in zip(x, w, inside) if i)
        rate = math.fsum(b for a, b in own if a < 0.6 * median) / math.fsum(b for _, b in own)
        slope = 0.6 * kernel(own, 0.6 * median, width) / kernel(pairs, median, width)
        weight = math.fsum(b for _, b in own)
        linear = [i * ((a < 0.6 * median) - rate) / weight - slope * ((a <= median) - 0.5) / N for a, i in zip(x, inside)]
        assert near(found["estimate"], rate) and near(found["se"], total_se(rows, linear), 1e-8), found

    found = silc([{"iqr": "eqIncome"}, {"quantile": "eqIncome", "at": [0.25, 0.75]}])
    lower, upper = quantile(pairs, 0.25), quantile(pairs, 0.75)  # R's qrule "math"
    at = [1 / (N * kernel(pairs, q, width)) for q in (lower, upper)]
    linear = [at[1] * (0.75 - (a <= upper)) - at[0] * (0.25 - (a <= lower)) for a in x]
    assert near(found[0]["estimate"], upper - lower) and near(found[0]["se"], total_se(rows, linear), 1e-8), found[0]
    assert near(found[0]["estimate"], found[2]["estimate"] - found[1]["estimate"]), found
    woodruff = math.hypot(found[1]["se"], found[2]["se"])  # as if the quartiles were independent
    assert 0.6 * woodruff < found[0]["se"] < 1.1 * woodruff, (found[0]["se"], woodruff)

    def partial(p):
        """The total up to a quantile, with the densities of values and of totals."""
        q = quantile(pairs, p)
        values = kernel(pairs, q, width)
        totals = math.fsum(b * a * math.exp(-((a - q) / width) ** 2 / 2) for a, b in pairs) / (N * width * math.sqrt(2 * math.pi))
        return (math.fsum(a * b for a, b in pairs if a <= q),
                [(a if a <= q else 0) + totals / values * (p - (a <= q)) for a in x])

    (lower, lower_linear), (upper, upper_linear) = partial(0.2), partial(0.8)
    ratio = silc([{"s80s20": "eqIncome"}])[0]
    linear = [(a - u - (Y - upper) / lower * v) / lower for a, u, v in zip(x, upper_linear, lower_linear)]
    assert near(ratio["estimate"], (Y - upper) / lower) and near(ratio["se"], total_se(rows, linear), 0.02), ratio


@case
def the_jackknife_agrees_on_gini():
    entry = PLANS["belgium", "srs"]
    x = [float(r["averageincome"]) for r in read(entry["file"])]
    found = estimate(entry, {"averageincome": number_column(read(entry["file"]), "averageincome")}, [{"gini": "averageincome"}])[0]

    def gini(values):
        return sum(abs(a - b) for a in values for b in values) / (2 * len(values) * sum(values))

    without = [gini(x[:i] + x[i + 1:]) for i in range(len(x))]
    mean, n = sum(without) / len(without), len(x)
    se = ((1 - n / 589) * (n - 1) / n * sum((g - mean) ** 2 for g in without)) ** 0.5
    assert near(found["estimate"], gini(x)) and near(found["se"], se, 0.03), (found, se)


@case
def share_below_is_a_share():
    rows = read(SILC["file"])
    below, share = silc([{"share_below": "eqIncome", "line": 10859.236, "by": "rb090"},
                         {"share": {"eqIncome": {"to": 10859}}, "by": "rb090"}])[::2]
    assert not any(10859 < float(r["eqIncome"]) < 10859.236 for r in rows)  # else they would not be the same
    assert below["line"] == 10859.236 and "line" not in share
    for key in ("estimate", "se", "df", "interval", "group"):
        assert below[key] == share[key], (below, share)
    exact = silc([{"share_below": "eqIncome", "line": x} for x in (rows[0]["eqIncome"], "200000")])
    weight = sum(float(r["rb050"]) for r in rows if float(r["eqIncome"]) < float(rows[0]["eqIncome"]))
    assert near(exact[0]["estimate"], weight / sum(float(r["rb050"]) for r in rows)), exact[0]  # the line itself is not below
    assert exact[1]["estimate"] == 1 and exact[1]["se"] == 0


@case
def groups_have_quantiles_of_their_own():
    """A stratum as a group: the same as a sample of that stratum alone, degrees of freedom included, as of R's subset."""
    entry = PLANS["api", "dstrat"]
    rows = read(entry["file"])
    columns = {"enroll": number_column(rows, "enroll"), "stype": {"values": ["E", "M", "H"]}}
    ask = {"quantile": "enroll", "at": [0.1, 0.5, 0.8]}
    grouped = estimate(entry, dict(columns), [dict(ask, by="stype"), {"median": "enroll", "where": {"stype": "M"}}])
    assert len(grouped) == 10 and [r["at"] for r in grouped[:6]] == [0.1, 0.5, 0.8] * 2
    for k, (stype, population, sample) in enumerate((("E", 4421, 100), ("M", 1018, 50), ("H", 755, 50))):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "one.csv"
            file.write_text("enroll\n" + "".join(r["enroll"] + "\n" for r in rows if r["stype"] == stype))
            alone = json.loads(run({"tamis": 1, "survey": "s", "source": {"file": str(file)}, "privacy": {"epsilon": 1},
                                    "design": {"srs": {"population": population, "sample": sample}},
                                    "columns": {"enroll": columns["enroll"]}, "statistics": [ask]}, "--json").stdout)["results"]
        for one, other in zip(alone, grouped[3 * k:]):
            assert other["group"] == {"stype": stype} and one["df"] == other["df"] == sample - 1, other
            assert one["estimate"] == other["estimate"] and ends(one) == ends(other) and near(one["se"], other["se"]), (one, other)
    assert grouped[9]["estimate"] == grouped[4]["estimate"] and ends(grouped[9]) == ends(grouped[4])


def small(values, statistics, design=None, columns=None, *more, code=OK):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "d.csv"
        file.write_text("x,g\n" + "".join(f"{x},{'a' if i % 2 else 'b'}\n" for i, x in enumerate(values)))
        plan = {"tamis": 1, "survey": "s", "source": {"file": str(file)}, "privacy": {"epsilon": 1},
                "design": design or {"srs": {"population": 1000, "sample": len(values)}},
                "columns": columns or {"x": {"from": 0, "to": 100, "step": 1}, "g": {"values": ["a", "b", "c"]}},
                "statistics": statistics}
        return run(plan, *more, code=code)


@case
def missing_values_and_empty_groups():
    values = [3, "", 8, 1, "", 9, 4, 4, 7, 2]
    asked = [{"quantile": "x", "at": [0.25, 0.5], "by": "g"}, {"poverty": "x", "by": "g"}, {"median": "x"}]
    results = json.loads(small(values, asked, None, None, "--json").stdout)["results"]
    assert len(results) == 10 and results[-1]["df"] == 7 and results[-1]["estimate"] == 4  # 1 2 3 4 4 7 8 9
    for r in (results[4], results[5], results[8]):
        assert r["group"] == {"g": "c"} and r["estimate"] is None and r["reason"] == "no row of this group has a value", r


@case
def a_census_has_exact_quantiles():
    results = json.loads(small(range(1, 21), [{"quantile": "x", "at": [0.05, 0.5, 0.95]}, {"gini": "x"}],
                               {"census": {"population": 20}}, None, "--json").stdout)["results"]
    for r, expected in zip(results, (1, 10, 19)):
        assert r["estimate"] == expected and r["se"] == 0 and ends(r) == [expected] * 2, r
    assert near(results[3]["estimate"], 0.3166666666666667) and results[3]["se"] == 0  # (n^2 - 1) / (6 n mean), n = 20


@case
def intervals_that_cannot_be_given_say_why():
    few = [{"quantile": "x", "at": 0.05}, {"median": "x", "interval": "score"}, {"s80s20": "x"}, {"gini": "x"}]
    low, score, ratio, gini = json.loads(small([0, 0, 0, 0, 5], few, None, None, "--json").stdout)["results"]
    assert low["estimate"] == 0 and score["interval"] is None and "does not reject" in score["reason"], score
    assert ratio["estimate"] is None and ratio["reason"] == "the denominator is 0", ratio
    assert near(gini["estimate"], 0.8), gini
    one = json.loads(small([1, 9, 4, 2, 7, 3], [{"quantile": "x", "at": 0.1}], None, None, "--json").stdout)["results"][0]
    assert one["estimate"] == 1 and one["interval"] is None and "beta or xlogit" in one["reason"], one
    beta = json.loads(small([1, 9, 4, 2, 7, 3], [{"quantile": "x", "at": 0.1, "interval": "beta"}], None, None,
                            "--json").stdout)["results"][0]
    assert beta["interval"]["lower"] == 1 and beta["interval"]["upper"] >= 2 and beta["se"] > 0, beta


@case
def texts_name_the_quantile_and_the_line():
    asked = [{"quantile": "x", "at": [0.25, 0.5]}, {"quantile": "x", "at": [0.1, 0.9], "by": "g"}, {"share_below": "x", "line": 4.5},
             {"poverty": "x", "line": 0.5}, {"mean": "x"}]
    text = small(range(30), asked).stdout
    for words in ("quantile 0.25 of x", "quantile 0.5 of x", "quantile of x by g", "  a, quantile 0.1", "share_below 4.5 of x",
                  "poverty 0.5 of x"):
        assert words in text, text


@case
def the_poverty_line_of_one_listed_group_is_that_of_everybody():
    """Those whose group is not listed count for the median: in the estimate, and in a release with hardly any noise."""
    plan = {"tamis": 1, "survey": "s", "source": {"file": "d.csv"}, "privacy": {"unit": "person", "epsilon": 400}, "budget": {"epsilon": 400},
            "design": {"srs": {"population": 1000, "sample": 300}}, "columns": {"x": {"from": 0, "to": 100, "step": 1}, "g": {"values": ["a"]}},
            "statistics": [{"poverty": "x", "by": "g", "cuts": list(range(5, 100, 5))}]}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "d.csv").write_text("x,g\n" + "10,a\n12,a\n" * 30 + "90,z\n" * 240)
        (pathlib.Path(folder) / "plan.yaml").write_text(json.dumps(plan))
        for command in ("estimate", "release"):
            done = tamis(command, "plan.yaml", "--json", cwd=folder)
            assert done.returncode == OK and json.loads(done.stdout)["results"][0]["estimate"] > 0.99, (command, done.stdout, done.stderr)


@case
def a_line_outside_of_the_range_is_invalid():
    done = small(range(30), [{"share_below": "x", "line": 0}], code=INVALID)
    assert "line" in done.stderr


main()
