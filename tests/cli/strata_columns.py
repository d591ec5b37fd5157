#!/usr/bin/python3
"""Strata by several columns: the same numbers as strata by one column that the source joins, whatever the cells contain."""
import csv
import json
import pathlib
import random
import sys
import tempfile

from kit import INVALID, OK, TOP, case, main, with_memory as tamis

sys.path.insert(0, str(TOP / "tests"))
import verifier  # noqa: E402

# Texts of which a plain joined key would make the same: with blanks, the sign that joins names, its doubles, quotes and commas.
STRATA = {("north", "urban"): (4000, 40), ("north", "rural"): (1000, 30), ("a \u00d7 b", "c"): (800, 20), ("a", "b \u00d7 c"): (300, 10),
          ("a", "\u00d7"): (200, 8), ("a \u00d7", "\u00d7 \u00d7"): (200, 8), ("it's, \"so\"", "urban"): (90, 6), ("", ""): None}
STRATA.pop(("", ""))
STATISTICS = """statistics:
  - {total: x, by: region}
  - {total: x, by: [region, area]}
  - {count: units, by: area}
  - {mean: x, by: [region, g]}
  - {share: {g: a}, where: {region: north}}
  - {mean: x, where: {region: a, area: "\u00d7"}}
  - {median: x, by: region}
"""


def joined(cells):
    return " \u00d7 ".join(c.replace("\u00d7", "\u00d7\u00d7") for c in cells)


def prepare(folder, design, columns, epsilon="1", privacy="", statistics=STATISTICS, strata=STRATA):
    (folder / "plan.yaml").write_text(f"""tamis: 1
survey: s
source: {{file: sample.csv}}
design: {json.dumps(design, ensure_ascii=False)}
privacy: {{unit: person, epsilon: {epsilon}{privacy}}}
columns: {json.dumps({**columns, "g": {"values": ["a", "b"]}, "x": {"from": 0, "to": 100, "step": 1}}, ensure_ascii=False)}
{statistics}budget: {{epsilon: 1000000}}
""")
    stream = random.Random(5)
    with (folder / "sample.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["region", "h", "g", "x", "area", "psu"])
        for (r, a), (_, n) in strata.items():
            for i in range(n):
                out.writerow([f" {r} ", joined((r, a)), stream.choice("ab"), stream.randrange(100), a, i // 3])


def sizes(N, n):
    return {"population": N, "sample": n}


def nested(strata=STRATA):
    maps = {}
    for (r, a), of in strata.items():
        maps.setdefault(r, {})[a] = sizes(*of)
    return {"stratified": {"by": ["region", "area"], "within": "srs", "strata": maps}}


def plain(strata=STRATA):
    """One column, joined in the source, and the same two columns as recodes of it."""
    design = {"stratified": {"by": "h", "within": "srs", "strata": {joined(k): sizes(*of) for k, of in strata.items()}}}
    columns = {name: {"strata": {}} for name in ("region", "area")}
    for k in strata:
        for name, value in zip(columns, k):
            columns[name]["strata"].setdefault(value, []).append(joined(k))
    return design, {"h": {"values": [joined(k) for k in strata]}, **columns}


def numbers(done):
    assert done.returncode == OK, done.stderr
    return {(r["statistic"], r["column"], *sorted(r["group"].items())): r for r in json.loads(done.stdout)["results"]}


@case
def estimates_are_those_of_one_joined_column():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder, nested(), {})
        ours = numbers(tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder))
        prepare(folder, *plain())
        theirs = numbers(tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder))
    assert ours.keys() == theirs.keys() and len(ours) > 50
    for key, r in ours.items():
        assert (r["estimate"], r["se"], r["interval"]) == (theirs[key]["estimate"], theirs[key]["se"], theirs[key]["interval"]), key


@case
def releases_are_verified_and_true_without_noise():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tables = []
        for design, columns in ((nested(), {}), plain()):
            prepare(folder, design, columns)
            done = tamis("check", "plan.yaml", "--json", cwd=folder)
            assert done.returncode == OK, done.stderr
            tables.append([{k: v for k, v in m.items() if k in ("scale", "cells", "sensitivity", "noise_sd")}
                           for m in json.loads(done.stdout).get("measurements", [])])
        assert tables[0] == tables[1] and tables[0]
        prepare(folder, nested(), {}, epsilon="900")
        released = numbers(tamis("release", "plan.yaml", "--out", "out", "--json", "--quiet", cwd=folder))
        truth = numbers(tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder))
        for key, r in released.items():
            if r["estimate"] is not None and truth[key]["estimate"] is not None and key[0] != "median":
                assert abs(r["estimate"] - truth[key]["estimate"]) < 0.05 * (1 + abs(truth[key]["estimate"])), (key, r, truth[key])
        assert tamis("verify", "out", cwd=folder).returncode == OK
        assert verifier.verify(folder / "out") == [], verifier.verify(folder / "out")
        said = json.loads((folder / "out" / "measurements.json").read_text())["design"]["stratified"]["strata"]
        assert {k: (v["population"], v["sample"]) for k, v in said.items()} == {joined(k): v for k, v in STRATA.items()}


@case
def a_changed_size_is_found_by_both_verifiers():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder, nested(), {})
        assert tamis("release", "plan.yaml", "--out", "out", "--quiet", cwd=folder).returncode == OK
        path = folder / "out" / "certificate.json"
        body = json.loads(path.read_text())
        body["plan"]["design"]["stratified"]["strata"]["north"]["urban"]["population"] = 400
        text = json.dumps({k: v for k, v in body.items() if k not in ("guarantee", "hash")}, sort_keys=True, ensure_ascii=False)
        body["hash"] = verifier.hashlib.sha256(text.encode()).hexdigest()
        path.write_text(json.dumps(body, ensure_ascii=False))
        assert tamis("verify", "out", cwd=folder).returncode != OK
        assert verifier.verify(folder / "out") != []


@case
def three_columns_clusters_bounds_by_stratum_and_outsiders():
    strata = {("n", "1"): (50, 8), ("n", "2"): (40, 6), ("s", "1"): (30, 5)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        design = nested(strata)
        design["stratified"]["within"] = {"cluster": {"by": "psu", "smallest": 1, "largest": 3}}
        whole = {k: (N, 3 * n) for k, (N, n) in strata.items()}
        statistics = "statistics: [{total: x, by: region}, {mean: x, by: area}]\n"
        prepare(folder, design, {}, epsilon="5", privacy=", protect: frame, given: population, secret_sample: yes", statistics=statistics, strata=whole)
        assert tamis("release", "plan.yaml", "--out", "out", "--quiet", cwd=folder).returncode == OK
        assert verifier.verify(folder / "out") == [] and tamis("verify", "out", cwd=folder).returncode == OK
        parts = json.loads((folder / "out" / "release.json").read_text())["guarantee"]["outsider"]["by_stratum"]
        assert {p["stratum"] for p in parts} == {joined(k) for k in strata}

        design = {"stratified": {"by": ["region", "area", "g"], "within": "srs",
                                 "strata": {"n": {"1": {"a": sizes(90, 9), "b": sizes(80, 8)}, "2": {"b": sizes(70, 7)}}, "s": {"2": {"a": sizes(60, 6)}}}}}
        prepare(folder, design, {}, strata={})
        (folder / "tamis.ledger").unlink()
        rows = [("n", "1", "a", 9), ("n", "1", "b", 8), ("n", "2", "b", 7), ("s", "2", "a", 6)]
        (folder / "sample.csv").write_text("region,area,g,x\n" + "".join(f"{r},{a},{g},{i}\n" for r, a, g, n in rows for i in range(n)))
        ends = {joined(row[:3]): 10 * (i + 1) for i, row in enumerate(rows)}
        plan = (folder / "plan.yaml").read_text().split("columns:")[0] + "columns: " + json.dumps(
            {"x": {"from": 0, "to": ends, "step": 1}}, ensure_ascii=False) + "\nstatistics: [{total: x, by: [region, area, g]}, {count: units, by: area}]\nbudget: {epsilon: 1000000}\n"
        (folder / "plan.yaml").write_text(plan)
        truth = numbers(tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder))
        want = {row[:3]: 10 * sum(range(row[3])) for row in rows}
        for r, a, g in [(r, a, g) for r in "ns" for a in "12" for g in "ab"]:
            assert truth["total", "x", ("area", a), ("g", g), ("region", r)]["estimate"] == want.get((r, a, g), 0), (r, a, g)
        done = tamis("release", "plan.yaml", "--out", "three", "--quiet", cwd=folder)
        assert done.returncode == OK, done.stderr
        assert verifier.verify(folder / "three") == []
        done = tamis("verify", "three", cwd=folder)
        assert done.returncode == OK, done.stdout + done.stderr


@case
def the_ledger_shows_each_stratum_with_its_own_loss():
    secret = ", protect: frame, given: population, secret_sample: yes"
    for target in (False, True):  # the same epsilon for everybody who is sampled, and one for each stratum
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            prepare(folder, nested(), {}, privacy=secret, statistics="statistics: [{total: x, by: region}]\n")
            if target:
                text = (folder / "plan.yaml").read_text().replace("epsilon: 1000000", "outsider: 1, insider: 8")
                (folder / "plan.yaml").write_text(text.replace("epsilon: 1,", "outsider: 0.1, insider: 5,"))
            done = tamis("release", "plan.yaml", "--out", "out", "--quiet", cwd=folder)
            assert done.returncode == OK, done.stderr
            told = json.loads((folder / "out" / "release.json").read_text())["guarantee"]["outsider"]["by_stratum"]
            told = {p["stratum"]: p["epsilon"]["upper"] for p in told}
            shown = json.loads(tamis("ledger", "show", "tamis.ledger", "--json", cwd=folder).stdout)["accounts"][0]["outsider"]["by_stratum"]
            assert [p["stratum"] for p in shown] == sorted(map(joined, STRATA), key=str.encode), shown
            for part in shown:
                assert abs(part["epsilon"]["upper"] / told[part["stratum"]] - 1) < 1e-6, (target, part, told)
            text = tamis("ledger", "show", "tamis.ledger", cwd=folder).stdout
            at = [text.index(f"\n    {p['stratum']}: ") for p in shown]
            assert at == sorted(at) and "others: " not in text, text


@case
def what_does_not_fit_is_reported():
    good = nested()
    tries = [("duplicate in the list", {**good["stratified"], "by": ["region", "region"]}, {}),
             ("2 to 4 columns", {**good["stratified"], "by": ["region"]}, {}),
             ("expected a map from the values of area", {**good["stratified"], "strata": {"north": []}}, {}),
             ("there is none for south", good["stratified"], {"region": {"values": [r for r, _ in dict.fromkeys((r, 0) for r, _ in STRATA)] + ["south"]}}),
             ("expected one of the values of region", good["stratified"], {"region": {"values": ["north"]}}),
             ("expected a sample no larger", {**good["stratified"], "strata": {"n": {"u": sizes(5, 6)}}}, {}),
             ("without `missing`", good["stratified"], {"area": {"values": sorted({a for _, a in STRATA}), "missing": "category"}}),
             ("without `typical`", good["stratified"], {"area": {"values": sorted({a for _, a in STRATA}), "typical": {"c": 0.1}}}),
             ("the values of area follow from another column", good["stratified"], {"area": {"of": "q", "parts": {a: [a] for a in sorted({a for _, a in STRATA})}}, "q": {"values": sorted({a for _, a in STRATA})}}),
             ("the values of area follow from another column", good["stratified"], {"area": {"strata": {"c": [joined(k) for k in STRATA]}}})]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for words, design, columns in tries:
            prepare(folder, {"stratified": design}, columns)
            done = tamis("check", "plan.yaml", cwd=folder)
            assert done.returncode == INVALID and words in done.stderr and "plan.yaml:4:" in done.stderr + "plan.yaml:4:" * ("values" in str(columns)), (words, done.stderr)
        prepare(folder, good, {}, strata={**STRATA, ("north", "urban"): (4000, 41)})
        done = tamis("release", "plan.yaml", cwd=folder)
        assert done.returncode == INVALID and "in the stratum north \u00d7 urban" in done.stderr or "164" not in done.stderr, done.stderr


@case
def a_study_draws_from_such_strata():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder, nested(), {}, epsilon="8", statistics="statistics: [{total: x, by: region}, {mean: x, by: area}]\n")
        stream = random.Random(8)
        with (folder / "population.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["region", "area", "g", "x"])
            for (r, a), (N, _) in STRATA.items():
                out.writerows([r, a, stream.choice("ab"), stream.randrange(100)] for _ in range(N))
        done = tamis("study", "coverage", "plan.yaml", "--population", "population.csv", "--runs", "40", "--json", "--quiet", cwd=folder)
        assert done.returncode == OK, done.stderr
        covered = [r["protected"]["coverage"] for r in json.loads(done.stdout)["results"] if r.get("protected", {}).get("coverage") is not None]
        assert covered and min(covered) > 0.6, covered  # 40 samples of 0.95: below 0.6 in less than one of 10^12


main()
