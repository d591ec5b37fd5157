"""Differences, quotients and contrasts in plans and releases: what is refused and why, what comes out, and that both verifiers believe it."""
import csv

from kit import *

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

HEAD = """tamis: 1
survey: contrasts
source: {{file: rows.csv}}
design: {design}
privacy: {{unit: person, epsilon: {epsilon}}}
columns:
  x: {{from: 0, to: 40, step: 1, typical: {{mean: 20, sd: 8}}}}
  y: {{from: 0, to: 10, step: 1}}
  g: {{values: [a, b]}}
  h: {{values: [u, v, w]}}
statistics:
{statistics}{more}ledger: a.ledger
budget: {{epsilon: 10000}}
"""
SRS = "{srs: {population: 3000, sample: 300}}"
CLUSTERS = "{cluster: {by: c, population: 500, sample: 60, smallest: 1, largest: 9}, typical: {cluster: {mean: 5, sd: 1}}}"


def rows(folder):
    seed, lines = 7, ["x,y,g,h,c"]
    for i in range(300):
        seed = (seed * 1103515245 + 12345) % 2 ** 31
        a = seed >> 8
        lines.append(f"{(a % 41 + i % 20) % 41},{a % 11},{'ab'[a % 7 > 2]},{'uvw'[a // 64 % 3]},{i // 5}")
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")


def plan(folder, statistics, design=SRS, epsilon=4, more=""):
    text = HEAD.format(design=design, epsilon=epsilon, statistics="".join(f"  - {s}\n" for s in statistics), more=more)
    (folder / "p.yaml").write_text(text)
    return folder / "p.yaml"


def release(statistics, **how):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows(folder)
        done = with_memory("release", plan(folder, statistics, **how), "--out", folder / "out", "--json", cwd=folder)
        assert done.returncode == OK, done.stderr
        checked = tamis("verify", folder / "out")
        assert checked.returncode == OK, checked.stdout + checked.stderr
        assert verifier.verify(folder / "out") == [], verifier.verify(folder / "out")
        with open(folder / "out" / "release.csv", newline="") as file:
            table = list(csv.DictReader(file))
        return json.loads(done.stdout)["results"], table, json.loads((folder / "out" / "certificate.json").read_text())


REFUSED = {
    "{difference: {mean: x}}": "expected one of between and minus",
    "{difference: {mean: x, between: {g: [a, a]}}}": "two different values",
    "{difference: {mean: x, between: {g: [a, q]}}}": "g",
    "{difference: {mean: x, between: {g: [a]}}}": "a category and two of its values",
    "{difference: {mean: x, between: {x: [1, 2]}}}": "this column is a number",
    "{difference: {mean: x, between: {g: [a, b]}, minus: {mean: y}}}": "one of between and minus",
    "{difference: {mean: x, minus: {mean: x}}}": "the difference of a number and itself is 0",
    "{difference: {mean: x, minus: {total: y}}}": "both to be counts or totals, or both",
    "{difference: {mean: x, minus: {mean: y, between: {g: [a, b]}}}}": "does not belong in minus",
    "{difference: {mean: x, between: {g: [a, b]}}, by: g}": "cannot be in `by` too",
    "{difference: {median: x, between: {g: [a, b]}}}": "are not compared",
    "{difference: {gini: x, between: {g: [a, b]}}}": "are not compared",
    "{difference: {variance: x, between: {g: [a, b]}}}": "are not compared",
    "{difference: {mean: x, between: {g: [a, b]}}, shrink: yes}": "is not for contrasts",
    "{difference: {mean: x, by: g}}": "is for contrasts",
    "{quotient: {mean: x, minus: {mean: y}}}": "is a ratio",
    "{quotient: {mean: x}}": "expected between",
    "{contrast: {mean: x, by: h, weights: [1, -1]}}": "expected 3 weights",
    "{contrast: {mean: x, by: [g, h], weights: [1, -1]}}": "expected one column",
    "{contrast: {mean: x, by: h, weights: [1, 0, 0]}}": "at least two weights that are not 0",
    "{contrast: {mean: x, by: h}}": "expected the keys by and weights",
    "{contrast: {mean: x, between: {g: [a, b]}}}": "is for differences",
    "{difference: {between: {g: [a, b]}}}": "expected what is compared",
    "{difference: 3}": "expected",
}


@case
def what_cannot_be_compared_is_refused_with_the_reason():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for statistic, words in REFUSED.items():
            done = tamis("check", plan(folder, [statistic]), cwd=folder)
            assert done.returncode == INVALID and words in " ".join(done.stderr.split()), (statistic, done.stderr)
        one = "{difference: {mean: x, between: {g: [a, b]}}}"
        done = tamis("check", plan(folder, [one, one]), cwd=folder)
        assert done.returncode == INVALID and "duplicate statistic" in done.stderr, done.stderr
        done = tamis("check", plan(folder, [one], more="calibrate: {to: [{count: units, by: h, totals: [1000, 1000, 1000]}]}\n"), cwd=folder)
        assert done.returncode == INVALID and "without calibrate" in done.stderr, done.stderr
        nonresponse = "{srs: {population: 3000, sample: 300}, nonresponse: yes}"
        done = tamis("check", plan(folder, ["{difference: {total: x, between: {g: [a, b]}}}"], design=nonresponse), cwd=folder)
        assert done.returncode == INVALID and "with nonresponse, totals and counts need" in " ".join(done.stderr.split()), done.stderr
        assert tamis("check", plan(folder, [one], design=nonresponse), cwd=folder).returncode == OK
        text = plan(folder, ["{difference: {total: x, between: {g: [a, b]}}}"]).read_text().replace("to: 40,", "to: 40, contribution: 200,", 1)
        (folder / "p.yaml").write_text(text)
        done = tamis("check", folder / "p.yaml", cwd=folder)
        assert done.returncode == INVALID and "without `contribution`" in done.stderr, done.stderr


PARTS = ["{mean: x, by: g}", "{total: y, by: [h, g]}", "{share: {h: u}}", "{share: {h: v}}"]
CONTRASTS = ["{difference: {mean: x, between: {g: [a, b]}}}", "{quotient: {mean: x, between: {g: [b, a]}}}",
             "{contrast: {mean: x, by: g, weights: [2, -3]}}", "{difference: {total: y, between: {g: [b, a]}}, by: h}",
             "{difference: {share: {h: u}, minus: {share: {h: v}}}}"]


@case
def a_contrast_is_made_of_the_numbers_beside_it():
    for design in (SRS, CLUSTERS):
        found, table, certificate = release(PARTS + CONTRASTS, design=design, epsilon=50)
        mean, total = [r["estimate"] for r in found[:2]], {(r["group"]["h"], r["group"]["g"]): r["estimate"] for r in found[2:8]}
        share, contrasts = [r["estimate"] for r in found[8:10]], found[10:]
        wanted = [mean[0] - mean[1], mean[1] / mean[0], 2 * mean[0] - 3 * mean[1], *(total[h, "b"] - total[h, "a"] for h in "uvw"), share[0] - share[1]]
        for r, value in zip(contrasts, wanted, strict=True):
            assert abs(r["estimate"] - value) < 1e-9 * (1 + abs(value)), (r, value)
            assert r["interval"]["lower"] < r["estimate"] < r["interval"]["upper"] and r["se"] > 0, r
        assert contrasts[0]["statistic"] == "difference" and contrasts[0]["column"] == "x" and contrasts[0]["of"] == "mean"
        assert contrasts[0]["between"] == {"g": ["a", "b"]} and contrasts[2]["weights"] == [2, -3]
        assert contrasts[6]["minus"] == {"statistic": "share", "column": "h=v"}, contrasts[6]
        assert [r["contrast"] for r in table[10:]][:3] == ["mean, g: a minus b", "mean, g: b divided by a", "mean, g: 2 a - 3 b"], table[10]
        # two shares that exclude each other vary against each other
        assert contrasts[6]["sampling_se"] > 1.05 * (found[8]["sampling_se"] ** 2 + found[9]["sampling_se"] ** 2) ** 0.5 or design == CLUSTERS
        if design == SRS:  # no table but those of the parts: their axes are in the same tables without the contrasts
            alone = release(PARTS, design=design, epsilon=50)[2]
            tables = [sorted(json.dumps(m["axes"], sort_keys=True) for m in c["measurements"]) for c in (certificate, alone)]
            assert tables[0] == tables[1], tables


@case
def nobody_has_to_ask_for_the_parts():
    for design in (SRS, CLUSTERS):
        found, _, certificate = release(CONTRASTS, design=design)
        assert len(found) == 7 and all(r["estimate"] is not None for r in found), found
        assert [s for s in certificate["plan"]["statistics"] if "mean" in s] == []


@case
def two_means_of_the_same_rows_have_an_error_of_their_own():
    """From a table of both columns; two ratios have four, and then the error is a bound, as the result says."""
    for design, epsilon in ((SRS, 4), (CLUSTERS, 50)):
        found = release(["{difference: {mean: x, minus: {mean: y}}}"], design=design, epsilon=epsilon)[0]
        assert not any("at most the sum" in n for n in found[0].get("notes", [])), found
    certificate = release(["{difference: {mean: x, minus: {mean: y}}}"])[2]
    assert any(["number" in a for a in m["axes"]] == [True, True] for m in certificate["measurements"]), certificate
    found = release(["{difference: {ratio: {of: x, to: y}, minus: {mean: x}}}"])[0]
    assert any("at most the sum" in n for n in found[0]["notes"]), found


@case
def numbers_that_nobody_asked_for_have_no_standard_errors_measured():
    part = "{mean: x, by: g}"
    for asked, measured in ((["{difference: {mean: x, between: {g: [a, b]}}}"], 1),
                            (["{difference: {mean: x, between: {g: [a, b]}}}", part], 2)):
        found, _, certificate = release(asked, design=CLUSTERS, epsilon=50)
        assert found[0]["interval"]["lower"] < found[0]["estimate"] < found[0]["interval"]["upper"], found
        stage = [m for m in certificate["measurements"] if m["weighed_by"] == "psus"]
        assert len(stage) == measured, certificate["measurements"]


@case
def small_groups_are_withheld_and_differences_of_0_are_not():
    more = "postprocess: {suppress: {cv_above: 0.0001}}\n"
    found = release(["{difference: {mean: x, between: {g: [a, b]}}}", "{quotient: {mean: x, between: {g: [a, b]}}}"], more=more)[0]
    assert found[0]["estimate"] is not None and found[1]["estimate"] is None, found
    more = "postprocess: {suppress: {units_below: 200}}\n"
    found = release(["{difference: {mean: x, between: {g: [a, b]}}}"], more=more)[0]
    assert found[0]["estimate"] is None, found


@case
def the_preview_foresees_them():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows(folder)
        for design in (SRS, CLUSTERS):
            made = plan(folder, CONTRASTS, design=design, epsilon=20)
            told = json.loads(tamis("check", made, "--json", cwd=folder).stdout)["statistics"]
            found = [release(CONTRASTS, design=design, epsilon=20)[0] for _ in range(5)]  # a measured standard error may be far off once
            for s, i in zip(told, (0, 1, 2, 4, 6)):
                seen = sorted(results[i]["se"] for results in found)[2]
                assert s["contrast"] and 1 / 3 < s["se"] / seen < 3, (s, seen)


@case
def quotients_of_groups_that_differ_in_size_are_foreseen():
    """Shares of the groups are public guesses."""
    asked = ["{quotient: {count: units, between: {g: [a, b]}}}", "{quotient: {total: x, between: {g: [b, a]}}}"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows(folder)
        text = plan(folder, asked).read_text().replace("g: {values: [a, b]}", "g: {values: [a, b], typical: {a: 0.1, b: 0.9}}")
        (folder / "p.yaml").write_text(text)
        lines = (folder / "rows.csv").read_text().splitlines()
        lines = lines[:1] + [",".join([*line.split(",")[:2], "a" if i % 10 == 0 else "b", *line.split(",")[3:]]) for i, line in enumerate(lines[1:])]
        (folder / "rows.csv").write_text("\n".join(lines) + "\n")
        told = json.loads(tamis("check", folder / "p.yaml", "--json", cwd=folder).stdout)["statistics"]
        done = with_memory("release", folder / "p.yaml", "--out", folder / "out", "--json", cwd=folder)
        assert done.returncode == OK, done.stderr
        for s, r in zip(told, json.loads(done.stdout)["results"], strict=True):
            assert 1 / 1.6 < s["se"] / r["se"] < 1.6, (s["se"], r)


main()
