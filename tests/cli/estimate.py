"""tamis estimate against R: the survey and sampling packages' numbers for real surveys, to 1e-9.

tests/data/estimates/cases.json and stages.json hold, for each R design, the plan that says the same, and for each call of R (`call`, literal)
its estimates and standard errors; README.md there names the sources of the data.
"""
import csv
import json
import math
import pathlib
import tempfile

from kit import INVALID, OK, TOP, case, main, tamis

DATA = TOP / "tests" / "data" / "estimates"
CASES = [entry for name in ("cases.json", "stages.json") for entry in json.loads((DATA / name).read_text())]
CLOSE = 1e-9
COARSER = {"maxentropy": 1e-6,  # R's joint probabilities of this design are right to about 1e-7
           "dcal_raking": 1e-8}  # R stops raking at 1e-7


def columns_of(statistics, plan, rows):
    """Bounds and values as the file has them: public here."""
    numbers = {n for s in statistics for n in s["numbers"]}
    categories = {c for s in statistics for c in s["categories"]}
    for control in plan.get("calibrate", {}).get("to", []):
        categories.update({control["by"]} if "by" in control else ())
        numbers.update({control["total"]} if "total" in control else ())
    columns = {}
    for name in numbers:
        values = [float(r[name]) for r in rows if r[name] != ""]
        columns[name] = {"from": min(0, int(min(values)) - 1), "to": int(max(values)) + 1, "step": 1}
    for name in categories - numbers:
        columns[name] = {"values": sorted({r[name] for r in rows if r[name] != ""})}
    return columns


def write_statistic(s):
    """The statistics of one call, with the results that belong to them."""
    where = None
    if s["where"]:
        column, relation, value = s["where"]
        where = {column: value if relation == "==" else [str(i) for i in range(1, int(value) + 1)]}
    if "share" in s["statistic"]:
        column = s["statistic"]["share"]
        written = [{"share": {column: value}} for value in s["groups"]]
    else:
        written = [dict(s["statistic"])]
    if where:
        written = [dict(w, where=where) for w in written]
    return written


def near(a, b, close):
    return a == b or abs(a - b) <= close * max(abs(a), abs(b)) + 1e-12


def compare(found, statistic, close):
    """The results of one call, in the plan's order or by their groups."""
    if statistic["groups"] and isinstance(statistic["groups"][0], dict):
        by_group = {json.dumps(r["group"], sort_keys=True): r for r in found}
        found = [by_group[json.dumps(g, sort_keys=True)] for g in statistic["groups"]]
    faults = []
    assert len(found) == len(statistic["estimate"]), (statistic["call"], len(found))
    for r, estimate, se in zip(found, statistic["estimate"], statistic["se"]):
        if se is None:
            if r["se"] is not None or not near(r["estimate"], estimate, close):
                faults.append((statistic["call"], r["estimate"], r["se"], estimate, se))
        elif r["estimate"] is None or r["se"] is None or not near(r["estimate"], estimate, close) or not near(r["se"], se, close):
            faults.append((statistic["call"], r["estimate"], r["se"], estimate, se))
    return faults


def check(entry):
    with open(DATA / entry["file"], newline="") as file:
        rows = list(csv.DictReader(file))
    statistics, sizes, seen = [], [], []
    for s in entry["statistics"]:
        written = write_statistic(s)
        if written[0] in statistics:
            continue
        statistics += written
        sizes.append(len(written))
        seen.append(s)
    plan = {"tamis": 1, "survey": entry["data"], "source": {"file": str(DATA / entry["file"])},
            "design": json.loads(json.dumps(entry["plan"]["design"])),
            "privacy": {"unit": "record", "epsilon": 1, **entry["plan"].get("privacy", {})},
            "columns": columns_of(entry["statistics"], entry["plan"], rows), "statistics": statistics}
    text = json.dumps(plan["design"])
    for frame in ("mu284_frame_A.csv", "mu284_frame_B.csv", "belgium_frame.csv"):
        text = text.replace(f'"{frame}"', json.dumps(str(DATA / frame)))
    plan["design"] = json.loads(text)
    if "calibrate" in entry["plan"]:
        plan["calibrate"] = entry["plan"]["calibrate"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.yaml"
        path.write_text(json.dumps(plan))
        done = tamis("estimate", path, "--json")
    assert done.returncode == OK, done.stderr
    close = next((c for word, c in COARSER.items() if word in entry["design"]), CLOSE)
    results, faults, at = json.loads(done.stdout)["results"], [], 0
    for s, written in zip(seen, sizes):
        cells = len(s["estimate"])
        faults += compare(results[at:at + cells], s, close)
        at += cells
    assert at == len(results), (at, len(results))
    assert not faults, faults[:3]


def add(entry):
    def run():
        check(entry)

    run.__name__ = f"{entry['data']} {entry['design']}: {len(entry['statistics'])} calls of R"
    case(run, run.__name__)


for entry in CASES:
    add(entry)


def refused(change, *words):
    """The stratified schools with one thing changed: nothing on stdout, one message with these words and no value."""
    plan = {"tamis": 1, "survey": "schools", "source": {"file": str(DATA / "api_apistrat.csv")},
            "design": {"stratified": {"by": "stype", "within": "srs",
                                      "strata": {"E": {"population": 4421, "sample": 100}, "M": {"population": 1018, "sample": 50},
                                                 "H": {"population": 755, "sample": 50}}}},
            "privacy": {"unit": "school", "epsilon": 1}, "columns": {"enroll": {"from": 0, "to": 4000, "step": 1}},
            "statistics": [{"total": "enroll"}]}
    change(plan)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.yaml"
        path.write_text(json.dumps(plan))
        done = tamis("estimate", path)
    assert done.returncode == INVALID and done.stdout == "", (done.returncode, done.stdout, done.stderr)
    for word in words:
        assert word in done.stderr, done.stderr


@case
def a_file_that_contradicts_the_design_is_told():
    def more(plan):
        plan["design"]["stratified"]["strata"]["M"]["sample"] = 51

    def weighted(plan):
        plan["design"].update(weight="nothing", max_weight=10)

    refused(more, "50 rows in stratum M", "declares 51")
    refused(weighted, "nothing")


@case
def a_weight_that_is_missing_is_told():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "s.csv"
        file.write_text("w,x\n2,1\n,5\n")

        def change(plan):
            plan["source"]["file"] = str(file)
            plan["design"] = {"weights": {}, "weight": "w", "max_weight": 10}
            plan["columns"] = {"x": {"from": 0, "to": 10, "step": 1}}
            plan["statistics"] = [{"total": "x"}]

        refused(change, "a row has no weight")


def estimate(rows, design, privacy, statistics, columns):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "d.csv").write_text("\n".join([",".join(rows[0])] + [",".join(map(str, r.values())) for r in rows]) + "\n")
        pathlib.Path(folder, "p.yaml").write_text(
            f"tamis: 1\nsurvey: s\nsource: {{file: d.csv}}\ndesign: {{{design}}}\nprivacy: {{{privacy}}}\ncolumns: {columns}\nstatistics: {statistics}\n")
        json_, text = (tamis("estimate", "p.yaml", "--quiet", *more, cwd=folder) for more in (["--json"], []))
        assert json_.returncode == OK and text.returncode == OK, (json_, text)
        return json.loads(json_.stdout), text.stdout


@case
def what_a_release_would_cut_is_told():
    rows = [{"h": f"h{k // 4}", "w": w, "x": k} for k, w in enumerate([5, 20, 30, 5, 6, 7, 8, 9, 40, 1])]
    told, text = estimate(rows, "weights: {}, weight: w, max_weight: 20", "epsilon: 1, id: h, rows_per_unit: 3", "[{mean: x}]",
                          "{x: {from: 0, to: 9, step: 1}}")
    assert told["rows_beyond_rows_per_unit"] == 2 and told["weights_above_max_weight"] == 2, told
    assert "h: 2 rows are beyond rows_per_unit" in text and "w: 2 weights are above max_weight" in text, text
    told, text = estimate(rows, "weights: {}, weight: w, max_weight: 40", "epsilon: 1, id: h, rows_per_unit: 4", "[{mean: x}]",
                          "{x: {from: 0, to: 9, step: 1}}")
    assert told["rows_beyond_rows_per_unit"] == 0 and told["weights_above_max_weight"] == 0, told
    assert "beyond" not in text and "above" not in text, text
    told, text = estimate(rows, "weights: {}, weight: w, max_weight: 20, max_unit_weight: 35", "epsilon: 1, id: h, rows_per_unit: 4", "[{mean: x}]",
                          "{x: {from: 0, to: 9, step: 1}}")
    assert told["units_above_max_unit_weight"] == 1 and abs(told["weight_beyond_max_unit_weight"] - 15 / 101) < 1e-12, told  # 50, 30 and 21
    assert "h: 1 unit has more weight than max_unit_weight; a release takes 15 % off" in text, text
    told, text = estimate(rows, "weights: {}, weight: w, max_weight: 20", "epsilon: 1, id: h, rows_per_unit: 4", "[{total: x}, {mean: x}]",
                          "{x: {from: 0, to: 8, step: 1, unit_contribution: 150}}")
    added = [[20 * 1, 20 * 2, 5 * 3], [6 * 4, 7 * 5, 8 * 6, 9 * 7], [20 * 8, 1 * 8]]  # of weights and values within their bounds
    assert [sum(u) for u in added] == [75, 170, 168] and told["columns"]["x"]["units_above_unit_contribution"] == 2, told
    assert abs(told["columns"]["x"]["share_beyond_unit_contribution"] - 38 / 413) < 1e-12, told
    plain = sum(r["w"] * r["x"] for r in rows)
    assert abs(told["results"][0]["clamping"] - (75 + 150 + 150 - plain)) < 1e-9 and "clamping" not in told["results"][1], told["results"]
    assert told["results"][0]["estimate"] == plain and told["results"][0]["clamped_contributions"] == 7, told["results"]  # 30 2, and those of two units
    assert "x: 2 units add more to totals than unit_contribution; a release takes 9.2 % off what all add" in " ".join(text.split()), text
    assert "total of x: a release shrinks 7 contributions to fit the plan's bounds" in " ".join(text.split()), text


@case
def fractions_in_a_frame_are_numbers():
    """The probabilities and sizes of the frame, as a release reads them: 1/3 is a number, and what a row says itself is not read."""
    plan = ("tamis: 1\nsurvey: s\nsource: {file: d.csv}\nstatistics: [{total: x}]\nprivacy: {epsilon: 1, id: u}\n"
            "columns: {x: {from: 0, to: {times: 2, of: z}, step: 1}}\n"
            "design: {pps: {method: sampford, probability: p, sample: 2, frame: frame.csv}}\n")
    with tempfile.TemporaryDirectory() as folder:
        def told(third, rows="u,x\n1,1\n2,2\n"):
            frame = "u,p,z\n" + "".join(f"{u},{third},{z}\n" for u, z in enumerate(["7/2"] * 3 + ["3.5"] * 3))
            for name, text in ("d.csv", rows), ("frame.csv", frame), ("p.yaml", plan):
                pathlib.Path(folder, name).write_text(text)
            return tamis("estimate", "p.yaml", "--json", "--quiet", cwd=folder)
        exact, rounded = told("1/3"), told("0.333333333333333")
        assert exact.returncode == rounded.returncode == OK, (exact, rounded)
        one, two = (json.loads(done.stdout)["results"][0] for done in (exact, rounded))
        assert one["estimate"] == 9 and math.isclose(one["se"], two["se"], rel_tol=1e-9), (one, two)
        done = told("1/3", "u,x\n1,1\nstranger,2\n")
        assert done.returncode == INVALID and "u: a row's unit is not in design.frame" in done.stderr, done.stderr


@case
def rows_and_the_list_of_clusters_are_compared():
    """Labels begin again in each stratum: 1, 2 in p and 2, 3 in q. The list has 3 in p, which no row has, and not 3 in q."""
    plan = ("tamis: 1\nsurvey: s\nsource: {file: d.csv}\ncolumns: {x: {from: 0, to: 9, step: 1}}\nstatistics: [{total: x}]\n"
            "privacy: {epsilon: 1}\nbudget: {epsilon: 9}\nledger: l\n"
            "design: {weights: {STRATAcluster: c, psus: psus.csv}, weight: w, max_weight: 4}\n")
    rows = "x,w,s,c\n" + "1,2,p,1\n1,2,p,2\n5,2,q,2\n3,2,q,3\n4,2,q,3\n"
    cases = [("strata: s, ", "s,c\np,1\np,2\np,3\nq,2\n", 2, 1), ("strata: s, ", "s,c\np,1\np,2\nq,3\nq,2\n", 0, 0),
             ("", "c\n1\n3\n8\n9\n", 2, 2), ("strata: s, ", "s,c\nr,1\nr,2\np,1\np,2\n", 3, 2)]
    for strata, listed, unlisted, empty in cases:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ("d.csv", rows), ("psus.csv", listed), ("p.yaml", plan.replace("STRATA", strata)):
                pathlib.Path(folder, name).write_text(text)
            json_, text, release = (tamis(*words, "--quiet", cwd=folder) for words in (
                ("estimate", "p.yaml", "--json"), ("estimate", "p.yaml"), ("release", "p.yaml", "--out", "out")))
            assert json_.returncode == text.returncode == release.returncode == OK, (json_, text, release)
            assert json.loads(json_.stdout)["psus"] == {"rows_not_listed": unlisted, "clusters_without_rows": empty}, json_.stdout
            assert ("in the list; a release counts" in text.stdout) == (unlisted > 0), text.stdout
            assert ("no rows; a release takes" in text.stdout) == (empty > 0), text.stdout
            published = "".join(path.read_text(errors="replace") for path in pathlib.Path(folder, "out").iterdir())
            assert "not_listed" not in published and "without_rows" not in published


@case
def what_is_declared_of_two_stages_is_compared():
    rows = [{"psu": f"p{c}", "N": 20 + c, "ssu": f"s{c}{i // 2}", "w": 10 * (20 + c) / 4, "x": 3 * c + i} for c in range(6) for i in range(4)]
    design = "two_stage: {first: {by: psu, population: 60, sample: 6}, second: {population: N, sample: 4, smallest: 20}}, max_weight: 1000, variance: with_replacement"

    def told(change):
        changed = [dict(r) for r in rows]
        change(changed)
        return estimate(changed, design, "unit: row, epsilon: 1", "[{total: x}]", "{x: {from: 0, to: 99, step: 1}}")[0]["clusters"]

    def set_sizes(list_of_rows, size, some):
        for r in list_of_rows:
            if r["psu"] in some:
                r["N"] = size
    assert told(lambda r: None) == {"other_sample": 0, "below_smallest": 0, "rows_differ": 0}
    assert told(lambda r: r.pop()) == {"other_sample": 1, "below_smallest": 0, "rows_differ": 0}
    assert told(lambda r: set_sizes(r, 9, {"p1", "p4"})) == {"other_sample": 0, "below_smallest": 2, "rows_differ": 0}
    assert told(lambda r: r[7].update(N=40)) == {"other_sample": 0, "below_smallest": 0, "rows_differ": 1}
    # two units are drawn of a cluster of three: the third row is one too many, which a cluster of nonrespondents would hide
    assert told(lambda r: set_sizes(r, 3, {"p2"})) == {"other_sample": 1, "below_smallest": 1, "rows_differ": 0}


@case
def drawn_clusters_without_a_row_count():
    """Units by themselves at the rate f in 3 of 12 clusters, one of which is empty: its total is 0."""
    rows = [{"psu": "a", "x": 3}, {"psu": "a", "x": 5}, {"psu": "b", "x": 7}]
    def se(sample, variance=""):
        told, _ = estimate(rows, f"two_stage: {{first: {{by: psu, population: 12, sample: {sample}}}, second: {{method: bernoulli, rate: 1/4}}}}{variance}",
                           "unit: row, epsilon: 1", "[{total: x}, {mean: x}]", "{x: {from: 0, to: 99, step: 1}}")
        return told["results"][0]["se"] ** 2
    for sample in (2, 3, 5):
        w = 12 / sample * 4
        totals = [8 * w, 7 * w] + [0] * (sample - 2)
        middle = sum(totals) / sample
        spread = sample / (sample - 1) * sum((t - middle) ** 2 for t in totals)
        assert near(se(sample), (1 - sample / 12) * spread + sample / 12 * 3 / 4 * w ** 2 * (9 + 25 + 49), CLOSE), sample
        assert near(se(sample, ", variance: with_replacement"), spread, CLOSE), sample
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "s.csv").write_text("psu,x\na,3\nb,5\nc,7\n")
        pathlib.Path(folder, "p.yaml").write_text(
            "tamis: 1\nsurvey: s\nsource: {file: s.csv}\nprivacy: {epsilon: 1}\ncolumns: {x: {from: 0, to: 9, step: 1}}\nstatistics: [{total: x}]\n"
            "design: {two_stage: {first: {by: psu, population: 12, sample: 2}, second: {method: bernoulli, rate: 1/4}}}\n")
        done = tamis("estimate", "p.yaml", cwd=folder)
        assert done.returncode == INVALID and "3 clusters" in done.stderr and "declares 2" in done.stderr, done


@case
def a_third_stage_is_a_part_of_the_second():
    """Totals of clusters vary with all that happens inside them: with the weights of all stages, the variance of clusters drawn with
    replacement, as svydesign(ids = ~psu, weights = ~w) has it."""
    rows = [{"psu": f"p{c}", "N": 20, "ssu": f"s{c}{i // 2}", "w": 3 + c + i // 2, "x": (5 * c + 7 * i) % 11} for c in range(6) for i in range(4)]
    design = ("two_stage: {first: {by: psu, population: 60, sample: 6}, second: {population: N, sample: 4}}, weight: w, max_weight: 100, "
              "variance: with_replacement")
    told = estimate(rows, design, "unit: row, epsilon: 1", "[{total: x}]", "{x: {from: 0, to: 99, step: 1}}")[0]["results"][0]
    totals = [sum(r["w"] * r["x"] for r in rows if r["psu"] == f"p{c}") for c in range(6)]
    middle = sum(totals) / 6
    assert abs(told["estimate"] - sum(totals)) < 1e-9
    assert abs(told["se"] - (6 / 5 * sum((t - middle) ** 2 for t in totals)) ** 0.5) < 1e-9, told


@case
def a_stratum_of_one_row_silences_only_its_own_groups():
    """As R's svymean(~x, subset(design, s == "p")): strata without rows of the domain are none."""
    values = {"p": [1, 5, 9], "q": [7], "r": [2, 3, 10, 1]}
    rows = [{"s": s, "x": x} for s, list_ in values.items() for x in list_]
    strata = "{p: {population: 30, sample: 3}, q: {population: 12, sample: 1}, r: {population: 40, sample: 4}}"
    told, text = estimate(rows, f"stratified: {{by: s, within: srs, strata: {strata}}}", "epsilon: 1",
                          "[{mean: x, by: s}, {total: x, where: {s: [p, r]}}, {mean: x}]", "{x: {from: 0, to: 9, step: 1}, s: {values: [p, q, r]}}")
    p, q, r, both, whole = told["results"]
    def variance(s):
        mean = sum(values[s]) / len(values[s])
        return 0.9 * sum((x - mean) ** 2 for x in values[s]) / (len(values[s]) - 1) / len(values[s])
    assert near(p["se"], variance("p") ** 0.5, CLOSE) and near(r["se"], variance("r") ** 0.5, CLOSE), (p, r)
    assert near(both["se"], (900 * variance("p") + 1600 * variance("r")) ** 0.5, CLOSE), both
    for none in (q, whole):
        assert none["se"] is None and none["interval"] is None and "one sampled unit" in none["reason"], none
    assert text.split("\n  q ")[1].split("\n")[0].split() == ["7", "none", "none", "(1)"], text


@case
def a_systematic_sample_in_order_says_so():
    rows = [{"x": k} for k in range(8)]
    for order, words in (("public", True), ("random", False)):
        told, text = estimate(rows, f"systematic: {{population: 80, sample: 8, order: {order}}}", "epsilon: 1", "[{mean: x}]", "{x: {from: 0, to: 9, step: 1}}")
        assert ("notes" in told["results"][0]) == words and ("in a public order" in text) == words, (told, text)


main()
