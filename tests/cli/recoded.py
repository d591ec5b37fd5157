#!/usr/bin/python3
"""Columns that are declared to follow from the strata: numbers, engines, and what `estimate` says of rows that contradict."""
import json
import math
import pathlib
import random
import sys
import tempfile

from kit import INVALID, OK, TOP, case, main, with_memory as tamis

sys.path.insert(0, str(TOP / "tests"))
import verifier  # noqa: E402

STRATA = {"n1": (4000, 40), "n2": (1000, 30), "s1": (800, 20), "s2": (300, 10)}
PLAN = """tamis: 1
survey: s
source: {{file: sample.csv}}
design: {{stratified: {{by: h, within: srs, strata: {strata}}}}}
privacy: {{unit: person, epsilon: {epsilon}}}
columns:
  h: {{values: [n1, n2, s1, s2]}}
  region: {region}
  g: {{values: [a, b]}}
  x: {{from: 0, to: 100, step: 1}}
statistics:
  - {{total: x, by: h}}
  - {{total: x, by: region}}
  - {{count: units, by: region}}
  - {{mean: x, by: [region, g]}}
  - {{share: {{g: a}}, where: {{region: north}}}}
  - {{mean: x, where: {{h: s1}}}}
  - {{table: [g], by: [h, region]}}
  - {{median: x, by: region}}
  - {{quantile: x, at: [0.5], by: region, method: inverse}}
budget: {{epsilon: 1e4}}
"""
DECLARED, READ = "{strata: {north: [n1, n2], south: [s1, s2]}}", "{values: [north, south]}"


def rows(wrong=0):
    stream = random.Random(5)
    for h, (_, n) in STRATA.items():
        for _ in range(n):
            region = ("north", "south")[(h[0] == "s") != (wrong > 0)]
            wrong -= 1
            yield h, region, stream.choice("ab"), stream.randrange(*((10, 50) if h[0] == "n" else (50, 90)))


def prepare(folder, region=DECLARED, epsilon=1, wrong=0, columns=("h", "region", "g", "x"), alike=False):
    strata = "{" + ", ".join(f"{h}: {{population: {20 * n if alike else N}, sample: {n}}}" for h, (N, n) in STRATA.items()) + "}"
    (folder / "plan.yaml").write_text(PLAN.format(strata=strata, region=region, epsilon=epsilon))
    there = [dict(zip(("h", "region", "g", "x"), row)) for row in rows(wrong)]
    (folder / "sample.csv").write_text("".join(",".join(str(row[c]) for c in columns) + "\n" for row in [dict(zip(columns, columns)), *there]))


def results(done):
    assert done.returncode == OK, done.stderr
    told = json.loads(done.stdout)
    return {(r["statistic"], r["column"], *r["group"].values()): r for r in told["results"]}, told


@case
def regions_are_sums_of_their_strata():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        prepare(folder)
        told, _ = results(tamis("release", "plan.yaml", "--json", "--quiet", "--out", "out", cwd=folder))
        for region, strata in (("north", ("n1", "n2")), ("south", ("s1", "s2"))):
            total = told["total", "x", region]
            assert math.isclose(total["estimate"], sum(told["total", "x", h]["estimate"] for h in strata), rel_tol=1e-12)
            assert math.isclose(total["noise_sd"], math.hypot(*(told["total", "x", h]["noise_sd"] for h in strata)), rel_tol=1e-9)
            count = told["count", None, region]
            assert count["estimate"] == sum(STRATA[h][0] for h in strata) and count["noise_sd"] == 0
        for (kind, _, *group), r in told.items():
            if kind == "table" and (group[1][0] == "n") != (group[2] == "north"):
                assert r["estimate"] == r["se"] == r["noise_sd"] == 0 and r["interval"]["upper"] == 0, r


@case
def both_verifiers_read_them():
    apart = []
    for alike in (False, True):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            prepare(folder, alike=alike)
            plan = (folder / "plan.yaml").read_text()
            if alike:  # results by region alone: strata that are measured together
                plan = plan.replace("  - {total: x, by: h}\n", "").replace("where: {h: s1}", "where: {region: south}").replace("by: [h, region]", "by: region")
                (folder / "plan.yaml").write_text(plan)
            results(tamis("release", "plan.yaml", "--json", "--quiet", "--out", "out", cwd=folder))
            assert tamis("verify", "out", "--quiet", cwd=folder).returncode == OK
            assert verifier.verify(folder / "out") == []
            apart.append(json.loads((folder / "out" / "certificate.json").read_text())["sampling"]["apart"])
    assert apart == [True, False]


@case
def a_release_with_little_noise_is_the_estimate_whichever_engine_reads():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        prepare(folder, epsilon=1000, wrong=70)  # the column of that name in the file is not read
        exact, _ = results(tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder))
        for engine in ("memory", "duckdb"):
            told, _ = results(tamis("release", "plan.yaml", "--engine", engine, "--again", "--json", "--quiet", "--out", engine, cwd=folder))
            assert told.keys() == exact.keys()
            for key, r in told.items():
                if key[0] in ("median", "quantile"):
                    assert abs(r["estimate"] - exact[key]["estimate"]) < 15, (r, exact[key])  # in its own half of the range
                else:
                    assert abs(r["estimate"] - exact[key]["estimate"]) <= 10 * r["noise_sd"] + 1e-9, (r, exact[key])


@case
def estimate_counts_rows_that_contradict():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for wrong in (0, 3):
            prepare(folder, wrong=wrong)
            _, told = results(tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder))
            assert told["columns"]["region"]["contradicting"] == wrong
            text = tamis("estimate", "plan.yaml", cwd=folder).stdout
            assert ("declares for their" in text) == (wrong > 0)
        prepare(folder, columns=("h", "g", "x"))  # it need not be in the file
        _, told = results(tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder))
        assert told["columns"]["region"]["contradicting"] == 0
        assert tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder).returncode == OK
        prepare(folder, READ, columns=("h", "g", "x"))
        assert tamis("release", "plan.yaml", "--quiet", "--out", "other", cwd=folder).returncode == INVALID


# ---- of another category than the strata ----

DISTRICTS = [f"d{i}" for i in range(6)]
NESTED = """tamis: 1
survey: nested
source: {{file: sample.csv}}
design: {{{design}}}
privacy: {{unit: person, epsilon: {epsilon}}}
columns:
  d: {{values: [d0, d1, d2, d3, d4, d5]{missing}}}
  region: {{of: d, parts: {{north: [d0, d1, d2], east: d5, south: [d3, d4]}}}}
  g: {{values: [a, b]}}
  x: {{from: 0, to: 100, step: 1}}
statistics:
{statistics}budget: {{epsilon: 1e4}}
"""
BOTH = """  - {total: x, by: d}
  - {total: x, by: region}
  - {mean: x, by: [region, g]}
  - {share: {g: a}, where: {region: [north, east]}}
  - {count: units, by: [region, d]}
  - {difference: {mean: x, between: {region: [north, south]}}}
  - {quantile: x, at: [0.5], by: region, cuts: [20, 40, 60, 80]}
"""
PARTS = {"north": DISTRICTS[:3], "east": DISTRICTS[5:], "south": DISTRICTS[3:5]}


def put_nested(folder, design="srs: {population: 4000, sample: 400}", epsilon=1, missing="", statistics=BOTH, wrong=0):
    stream = random.Random(7)
    (folder / "plan.yaml").write_text(NESTED.format(design=design, epsilon=epsilon, missing=missing, statistics=statistics))
    rows = ["d,region,g,x,w"]
    for i in range(400):
        d = stream.choice(DISTRICTS + ["", "elsewhere"])
        region = "west" if i < wrong else next((r for r, parts in PARTS.items() if d in parts), "")
        rows.append(f"{d},{region},{stream.choice('ab')},{stream.randrange(100)},{stream.randrange(1, 20)}")
    (folder / "sample.csv").write_text("\n".join(rows) + "\n")


@case
def regions_are_sums_of_their_districts():
    for design in ("srs: {population: 4000, sample: 400}", "weights: {}, weight: w, max_weight: 20", "bernoulli: {rate: 1/10}"):
        for missing in ("", ", missing: none", ", missing: d4"):
            with tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                put_nested(folder, design, missing=missing)
                told, _ = results(tamis("release", "plan.yaml", "--json", "--quiet", "--out", "out", cwd=folder))
                for region, parts in PARTS.items():
                    total, inside = told["total", "x", region], [told["total", "x", d] for d in parts]
                    assert math.isclose(total["estimate"], sum(r["estimate"] for r in inside), rel_tol=1e-9, abs_tol=1e-6), (design, region)
                    for d in set(DISTRICTS) - set(parts):  # cells that cannot exist
                        r = told["count", None, region, d]
                        assert r["estimate"] == r["noise_sd"] == 0, r
                assert tamis("verify", "out", "--quiet", cwd=folder).returncode == OK
                assert verifier.verify(folder / "out") == [], (design, missing, verifier.verify(folder / "out"))


@case
def regions_alone_need_no_districts():
    """Asked for by region alone, classes are regions: the noise is that of three groups, not of six."""
    noise = []
    for by in ("region", "d"):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            put_nested(folder, statistics=f"  - {{total: x, by: {by}}}\n  - {{count: units, by: {by}}}\n")
            told, all_of_it = results(tamis("release", "plan.yaml", "--json", "--quiet", "--out", "out", cwd=folder))
            assert verifier.verify(folder / "out") == []
            noise.append(told["total", "x", "north" if by == "region" else "d0"]["noise_sd"])
    assert noise[0] < 1.1 * noise[1], noise  # sums of three districts have 1.7 times that noise


@case
def a_nested_release_with_little_noise_is_the_estimate_whichever_engine_reads():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for missing in ("", ", missing: none"):
            put_nested(folder, epsilon=1000, missing=missing, wrong=3)  # the column of that name in the file is not read
            exact, told = results(tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder))
            assert told["columns"]["region"]["contradicting"] >= 3
            for engine in ("memory", "duckdb"):
                found, _ = results(tamis("release", "plan.yaml", "--engine", engine, "--again", "--json", "--quiet", "--out", engine + missing[2:5], cwd=folder))
                assert found.keys() == exact.keys()
                for key, r in found.items():
                    if key[0] != "quantile":
                        assert abs(r["estimate"] - exact[key]["estimate"]) <= 10 * r["noise_sd"] + 1e-9, (r, exact[key])


main()
