#!/usr/bin/python3
"""Quantiles that a mechanism chooses, in releases: every design, both verifiers, the ledger, the same release again, forged
certificates, and the exact quantiles where the budget leaves no noise."""
import copy
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
from fractions import Fraction

from kinds import KINDS, STRATA, write
from kit import ENGINES, HERE, INVALID, OK, REFUSED, SYSTEM, TAMIS, Skip, case, environment, main, tamis, with_memory

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

CHOSEN = """  - {median: x, method: mechanism}
  - {quantile: x, at: [0.25, 0.75], by: h, method: mechanism}
  - {quantile: x, at: [0.4], where: {g: a}, method: inverse, budget_share: 3}
  - {quantile: x, at: [0.1, 0.5, 0.9], method: split}
"""


PLENTY = (KINDS["srs"][0], KINDS["srs"][1], ("epsilon: 1000", "{epsilon: 4000}"))  # so much that nothing is left to chance


class place(tempfile.TemporaryDirectory):
    def __enter__(self):
        return pathlib.Path(super().__enter__())


def plan(folder, kind, statistics=CHOSEN):
    """The plan of a kind with other statistics."""
    write(folder, *kind)
    text = (folder / "plan.yaml").read_text()
    head, rest = text.split("statistics:\n")
    (folder / "plan.yaml").write_text(head + "statistics:\n" + statistics + rest[rest.index("budget:"):])


def read(folder, name="certificate.json"):
    return json.loads((folder / name).read_text())


def problems(folder):
    done = tamis("verify", folder, "--json")
    assert done.returncode in (OK, INVALID), done.stderr
    return [p["field"] for p in json.loads(done.stdout)["problems"]]


def resigned(folder, certificate):
    body = {k: v for k, v in certificate.items() if k not in ("guarantee", "hash")}
    certificate["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    (folder / "certificate.json").write_text(json.dumps(certificate))


def spent(certificate):
    coin = "rho" if "rho" in certificate["composition"] else "epsilon"
    parts = [Fraction(m[coin]) for m in certificate["measurements"] + certificate["choices"]]
    assert sum(parts) == Fraction(certificate["composition"][coin])
    return [Fraction(c[coin]) / sum(parts) for c in certificate["choices"]]


def of_kind(name, kind):
    def a_release_of_this_design_follows():
        with place() as folder:
            plan(folder, kind)
            done = with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
            if name.startswith(("protected strata", "two stages, unequal")):  # of different weights, or of fine ones
                assert done.returncode == REFUSED and "method: distribution" in done.stderr, done.stderr
                return
            assert done.returncode == OK, done.stderr
            certificate = read(folder / "out")
            assert spent(certificate) == [Fraction(1, 12), Fraction(1, 12), Fraction(3, 12), Fraction(1, 12)]
            assert problems(folder / "out") == [] == verifier.verify(folder / "out"), (problems(folder / "out"), verifier.verify(folder / "out"))
            done = tamis("ledger", "verify", *folder.glob("*.ledger"), "--against", folder / "out")
            assert done.returncode == OK, done.stdout + done.stderr
            assert [c["neighbours"] for c in certificate["choices"]] == ["replace", "add_remove", "replace", "replace"]
            again = with_memory("release", "plan.yaml", "--quiet", "--out", "again", cwd=folder)
            assert again.returncode == OK, again.stderr
            assert (folder / "out/measurements.json").read_bytes() == (folder / "again/measurements.json").read_bytes()
            assert read(folder / "out", "release.json")["results"] == read(folder / "again", "release.json")["results"]
            assert problems(folder / "again") == [] == verifier.verify(folder / "again")
    a_release_of_this_design_follows.__name__ = f"a release of {name} follows"
    case(a_release_of_this_design_follows)


for name, kind in KINDS.items():
    of_kind(name, kind)


@case
def another_order_of_statistics_is_the_same_release():
    """Of two statistics that differ in nothing that is measured, each has its own draw, and both are found again."""
    own = ["  - {median: x, method: inverse}\n", "  - mean: x\n", "  - {quantile: x, at: [1/2], method: inverse}\n", "  - {quantile: x, at: [1/4]}\n"]
    with place() as folder:
        plan(folder, PLENTY, "".join(own))
        assert with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder).returncode == OK
        plan(folder, PLENTY, "".join(own[::-1]))
        done = with_memory("release", "plan.yaml", "--quiet", "--out", "again", cwd=folder)
        assert done.returncode == OK and read(folder / "again")["ledger"]["repeated"], done.stderr
        first, second = (read(folder / f, "release.json")["results"] for f in ("out", "again"))
        assert [r["estimate"] for r in first] == [r["estimate"] for r in second[::-1]], (first, second)
        assert problems(folder / "again") == [] == verifier.verify(folder / "again")


FORGERIES = {
    "a choice is left out": lambda c: c["choices"].pop(1),
    "all are left out": lambda c: c.pop("choices"),
    "a part is halved": lambda c: c["choices"][0].update(epsilon=str(Fraction(c["choices"][0]["epsilon"]) / 2)),
    "an epsilon is halved": lambda c: c["choices"][0].update(found_with_epsilon=str(Fraction(c["choices"][0]["found_with_epsilon"]) / 2)),
    "an epsilon is doubled": lambda c: c["choices"][1].update(found_with_epsilon=str(Fraction(c["choices"][1]["found_with_epsilon"]) * 2)),
    "moved becomes replaced": lambda c: c["choices"][1].update(neighbours="replace"),
    "moved becomes replaced, with its epsilon": lambda c: c["choices"][1].update(
        neighbours="replace", found_with_epsilon=str(Fraction(c["choices"][1]["found_with_epsilon"]) * 2)),
    "replaced becomes moved": lambda c: c["choices"][0].update(neighbours="add_remove"),
    "a largest weight is lower": lambda c: c["choices"][0].update(max_weight=c["choices"][0]["max_weight"] - 1),
    "there are no weights": lambda c: c["choices"][0].update(max_weight=None),
    "rows of a unit": lambda c: c["choices"][0].update(rows_per_unit=2),
    "another position": lambda c: c["choices"][0].update(at=["2/5"]),
    "another position of several": lambda c: c["choices"][1]["at"].reverse(),
    "another method": lambda c: c["choices"][1].update(method="inverse"),
    "an unknown method": lambda c: c["choices"][1].update(method="exact"),
    "another column": lambda c: c["choices"][0]["column"].update({"from": "-1"}),
    "another grid": lambda c: c["choices"][0]["grid"].update(step="2"),
    "fewer groups": lambda c: c["choices"][1].update(groups=2),
    "no groups": lambda c: c["choices"][1].update(by=[]),
    "no condition": lambda c: c["choices"][2].update(where=None),
    "a public number of rows": lambda c: c["choices"][0].update(rows=24),
    "a log unit": lambda c: c["choices"][0].update(log_unit="1"),
    "another statistic": lambda c: c["choices"][0].update(statistic=1),
    "an extra field": lambda c: c["choices"][0].update(more=1),
}
SENTENCES = {"an extra field"}  # found by tamis alone


@case
def forged_choices_are_found():
    with place() as folder:
        plan(folder, KINDS["strata of which one is taken whole"])
        assert with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder).returncode == OK
        out, genuine = folder / "out", read(folder / "out")
        assert problems(out) == [] == verifier.verify(out)
        for name, forge in FORGERIES.items():
            forged = copy.deepcopy(genuine)
            forge(forged)
            assert forged != genuine, name
            resigned(out, forged)
            assert any(p.startswith(("choices", "composition", "plan", "hash")) for p in problems(out)), (name, problems(out))
            if name not in SENTENCES:
                assert verifier.verify(out / "certificate.json") != [], name


@case
def forged_points_are_found():
    """Points that were not chosen: the estimates do not follow; nor do points that no mechanism chooses."""
    with place() as folder:
        plan(folder, PLENTY)
        assert with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder).returncode == OK
        out, genuine, numbers = folder / "out", read(folder / "out"), read(folder / "out", "measurements.json")
        for change in (lambda c: c[0]["points"].__setitem__(0, c[0]["points"][0] + (1 if c[0]["points"][0] < 6 else -1)),
                       lambda c: c[0]["points"].__setitem__(0, 7), lambda c: c[0]["points"].append(1), lambda c: c[0]["points"].clear(),
                       lambda c: c[1]["points"].__setitem__(slice(0, 2), [6, -2]), lambda c: c[0].update(points=["1"]),
                       lambda c: c.pop(), lambda c: c.append(c[0]), lambda c: c[0].update(epsilon="1/1000"), lambda c: c[0].pop("points")):
            forged = copy.deepcopy(numbers)
            change(forged["choices"])
            (out / "measurements.json").write_text(json.dumps(forged))
            certificate = copy.deepcopy(genuine)
            certificate["files"]["measurements.json"] = hashlib.sha256((out / "measurements.json").read_bytes()).hexdigest()
            resigned(out, certificate)
            assert problems(out) != [] and verifier.verify(out) != [], forged["choices"]


def quantile(values, q):
    """The points that are a quantile, or one record away from it, as a cut between two records may be: at most q of the rows and one
    more below, at most 1 - q and one more above."""
    n = len(values)
    return {x for x in range(-2, 7) if sum(v < x for v in values) <= q * n + 1 and sum(v > x for v in values) <= (1 - q) * n + 1}


@case
def with_a_huge_budget_the_quantiles_are_exact():
    """On every engine, with groups and a condition. A wrong point has probability below e^-60."""
    rows = [(i % 7 - (i % 3 == 0), "uvw"[i % 3 if i % 5 else 0], "ab"[i % 2]) for i in range(24)]
    with place() as folder:
        plan(folder, PLENTY,
             "  - {median: x, method: inverse}\n  - {quantile: x, at: [1/4, 3/4], by: h}\n  - {quantile: x, at: [3/10], where: {g: a}}\n"
             "  - {quantile: x, at: [1/10, 1/2], by: h, method: split}\n")
        (folder / "sample.csv").write_text("x,h,g\n" + "".join(f"{x},{h},{g}\n" for x, h, g in rows))
        for engine in ENGINES:
            done = tamis("release", "plan.yaml", "--quiet", "--again", "--engine", engine, "--out", engine, cwd=folder)
            assert done.returncode == OK, done.stderr
            points = [c["points"] for c in read(folder / engine, "measurements.json")["choices"]]
            wanted = [[quantile([r[0] for r in rows], 0.5)],
                      [quantile([r[0] for r in rows if r[1] == h], q) for h in "uvw" for q in (0.25, 0.75)],
                      [quantile([r[0] for r in rows if r[2] == "a"], 0.3)],
                      [quantile([r[0] for r in rows if r[1] == h], q) for h in "uvw" for q in (0.1, 0.5)]]
            for got, sets in zip(points, wanted):
                assert len(got) == len(sets) and all(p in s for p, s in zip(got, sets)), (engine, points, wanted)


@case
def a_text_that_is_not_listed_is_the_first_value_of_a_complete_column():
    """In the groups of a chosen quantile as in tables and conditions: most rows of the group a are others."""
    with place() as folder:
        plan(folder, PLENTY, "  - {median: x, by: g}\n  - {median: x, by: g, where: {g: a}}\n")
        text = (folder / "plan.yaml").read_text()
        (folder / "plan.yaml").write_text(text.replace("g: {values: [a, b]}", "g: {values: [a, b], missing: none}"))
        rows = ["1,u,a"] * 5 + ["3,u,b"] * 5 + ["5,u,z"] * 14
        (folder / "sample.csv").write_text("x,h,g\n" + "\n".join(rows) + "\n")
        for engine in ENGINES:
            done = tamis("release", "plan.yaml", "--quiet", "--again", "--engine", engine, "--out", engine, cwd=folder)
            assert done.returncode == OK, done.stderr
            points = [c["points"] for c in read(folder / engine, "measurements.json")["choices"]]
            assert points[0] == [5, 3] and points[1][0] == 5, (engine, points)


@case
def the_words_fit_what_was_chosen():
    """Not all quantiles are chosen, and what is published follows from chosen ones too."""
    for more, words in (("", "Quantiles are points"), ("  - {median: x, by: g, method: distribution}\n", "Some quantiles are points")):
        with place() as folder:
            plan(folder, KINDS["srs"], "  - {median: x, method: inverse}\n" + more)
            done = with_memory("release", "plan.yaml", "--out", "out", cwd=folder)
            assert done.returncode == OK and words in " ".join(done.stdout.split()), done.stdout
            registry = (folder / "out/registry.yaml").read_text()
            assert words in registry and "noisy tables and the chosen quantiles alone" in registry, registry
            assert "of all tables and chosen quantiles of a release add up" in registry, registry


@case
def check_lists_choices():
    with place() as folder:
        plan(folder, KINDS["srs, outsider, rho"])
        told = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)
        assert [c["method"] for c in told["choices"]] == ["inverse", "joint", "inverse", "split"]
        assert all("points" not in c and "rho" in c for c in told["choices"])
        done = tamis("check", "plan.yaml", "--all", cwd=folder)
        assert "chosen by a mechanism" in done.stdout and "moved" in done.stdout, done.stdout


# ---- prefix, tree, smooth ----

BINNED = """  - {{median: x, method: {0}}}
  - {{quantile: x, at: [0.25, 0.75], by: h, method: {0}}}
  - {{quantile: x, at: [0.4], where: {{g: a}}, method: {0}, budget_share: 3}}
"""
WEIGHTED = "{weights: {population: 100}, weight: w, max_weight: 8, weight_step: 1}"
COMPLETE = KINDS["srs"][:3] + ("", ", missing: none")
METHODS = {
    "prefix": [KINDS["srs, outsider, rho"], KINDS["srs, outsider, epsilon and delta"], KINDS["with replacement"], (WEIGHTED, *KINDS["final weights"][1:])],
    "tree": [KINDS["srs"], KINDS["bernoulli, several rows"], (WEIGHTED, *KINDS["weights"][1:])],
    "smooth": [COMPLETE, COMPLETE[:2] + KINDS["final weights"][2:3] + COMPLETE[3:]],
    "histogram_method": [KINDS["srs"], KINDS["srs, outsider, rho"], KINDS["bernoulli, several rows"], KINDS["weights"], KINDS["strata"]],
}


def of_method(method, number, kind):
    def a_release_by_this_method_follows():
        with place() as folder:
            single = f"  - {{quantile: x, at: [0.25, 0.5], method: {method}}}\n  - mean: x\n"
            plan(folder, kind, single if method == "smooth" else BINNED.format(method))
            done = with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
            assert done.returncode == OK, done.stderr
            out = folder / "out"
            assert problems(out) == [] == verifier.verify(out), (problems(out), verifier.verify(out))
            done = tamis("ledger", "verify", *folder.glob("*.ledger"), "--against", out)
            assert done.returncode == OK, done.stdout + done.stderr
            assert with_memory("release", "plan.yaml", "--quiet", "--out", "again", cwd=folder).returncode == OK
            assert (out / "measurements.json").read_bytes() == (folder / "again/measurements.json").read_bytes()
            genuine = read(out)
            coin, found = ("rho", "found_with_rho") if method == "prefix" else ("epsilon", "found_with_epsilon")
            for c in genuine["choices"]:
                assert c["method"] == method and c["log_unit"] is None
                if coin in c:
                    assert Fraction(c[coin]) == Fraction(c[found]) * (2 if c["neighbours"] == "add_remove" else 1)
            for i, c in enumerate(genuine["choices"]):
                for change in ({found: str(Fraction(c[found]) * 2)}, {"method": "inverse"}, {"max_weight": 1}, {"rows_per_unit": 9},
                               {"neighbours": "replace" if c["neighbours"] == "add_remove" else "add_remove"}):
                    forged = copy.deepcopy(genuine)
                    forged["choices"][i].update(change)
                    resigned(out, forged)
                    assert problems(out) != [] and verifier.verify(out / "certificate.json") != [], (i, change)
    a_release_by_this_method_follows.__name__ = f"a release by {method} follows, design {number}"
    case(a_release_by_this_method_follows)


for name, kinds in METHODS.items():
    for number, kind in enumerate(kinds):
        of_method(name, number, kind)


@case
def smooth_sensitivity_works_in_public_strata():
    """Each stratum is found among its own public number of rows; a certificate that states other numbers is refused."""
    with place() as folder:
        plan(folder, (*KINDS["strata"][:3], "", ", missing: none"), "  - {median: x, by: g, method: smooth}\n  - mean: x\n")
        done = with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr
        out = folder / "out"
        assert problems(out) == [] == verifier.verify(out), (problems(out), verifier.verify(out))
        genuine = read(out)
        strata = genuine["plan"]["design"]["stratified"]["strata"]
        assert genuine["choices"][0]["rows"] == [z["sample"] for z in strata.values()] and genuine["choices"][0]["neighbours"] == "replace"
        for rows in (None, 24, [24, 24], [12]):
            forged = copy.deepcopy(genuine)
            forged["choices"][0]["rows"] = rows
            if forged == genuine:
                continue
            resigned(out, forged)
            assert problems(out) != [] and verifier.verify(out / "certificate.json") != [], rows


@case
def plans_and_certificates_with_the_old_word_are_read():
    """`histogram` was the word for `distribution`: releases made with it follow from their plans as they did."""
    with place() as folder:
        plan(folder, KINDS["srs"], "  - {median: x, method: histogram}\n")
        assert with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder).returncode == OK
        assert read(folder / "out")["plan"]["statistics"][0]["method"] == "histogram"
        assert problems(folder / "out") == [] == verifier.verify(folder / "out")
        old = (folder / "out/measurements.json").read_bytes()
        plan(folder, KINDS["srs"], "  - {median: x, method: distribution}\n")  # the same release: nothing to pay
        assert with_memory("release", "plan.yaml", "--quiet", "--out", "again", cwd=folder).returncode == OK
        assert (folder / "again/measurements.json").read_bytes() == old


@case
def with_a_huge_budget_they_are_exact_too():
    """The standard deviation of a count is below 0.06, and the nearest level is 0.4 records away: wrong with probability below 1e-9."""
    rho = (KINDS["srs"][0], KINDS["srs"][1], ("rho: 2000", "{rho: 4000}"), "", ", missing: none")
    pure = (KINDS["srs"][0], KINDS["srs"][1], ("epsilon: 2000", "{epsilon: 4000}"), "", ", missing: none")
    rows = [i % 7 for i in range(24)]
    below = lambda q: min(x for x in range(7) if sum(r <= x for r in rows) >= q * 24)  # noqa: E731
    for method, kind in (("prefix", rho), ("tree", pure), ("smooth", pure)):
        with place() as folder:
            plan(folder, kind, f"  - {{quantile: x, at: [3/10, 6/10], method: {method}}}\n")
            done = with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
            assert done.returncode == OK, done.stderr
            assert read(folder / "out", "measurements.json")["choices"][0]["points"] == [below(0.3), below(0.6)], method


@case
def a_group_without_rows_has_the_point_and_no_interval():
    """No share is known where there is nobody, but a point was chosen: it is published, with the reason why there is no interval."""
    with place() as folder:
        plan(folder, PLENTY, "  - {median: x, by: h, method: mechanism}\n")
        (folder / "sample.csv").write_text("x,h,g\n" + "".join(f"{i % 7},{'uv'[i % 2]},a\n" for i in range(24)))
        done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr
        results = read(folder / "out", "release.json")["results"]
        points = read(folder / "out", "measurements.json")["choices"][0]["points"]
        assert [r["estimate"] for r in results] == points, (results, points)
        assert [r["interval"] is None for r in results] == [False, False, True] and results[2]["reason"], results
        assert problems(folder / "out") == [] == verifier.verify(folder / "out")


LARGE = """tamis: 1
survey: large
source: {{file: sample.csv}}
design: {{srs: {{population: 1000000, sample: {rows}}}}}
privacy: {{unit: person, {loss}}}
columns: {{x: {{from: 0, to: 1000000, step: 1}}, g: {{values: [a, b]}}}}
statistics:
  - {{quantile: x, at: [{at}], method: {method}{more}}}
budget: {{epsilon: 10{coin}}}
"""
NINE = ", ".join(f"0.{i}" for i in range(1, 10))


@case
def a_joint_draw_that_takes_long_is_split_or_refused_before_the_charge():
    """81 times so many rows, or as many as an epsilon leaves within reach: two microseconds each."""
    with place() as folder:
        for rows, loss, at, more, joint in ((200000, "epsilon: 0.02", NINE, "", False), (200000, "epsilon: 0.02", "0.2, 0.5", "", True),
                                            (200000, "epsilon: 2", NINE, "", True), (2000, "epsilon: 0.02", NINE, "", True),
                                            (200000, "epsilon: 1, delta: 1/1000000", NINE, ", by: g", True),
                                            (200000, "epsilon: 0.01, delta: 1/1000000", NINE, ", by: g", False)):
            write_plan = lambda method: (folder / "plan.yaml").write_text(  # noqa: E731
                LARGE.format(rows=rows, loss=loss, at=at, method=method, more=more, coin=", delta: 1/1000" if "delta" in loss else ""))
            write_plan("mechanism")
            done = tamis("check", "plan.yaml", "--json", cwd=folder)
            assert done.returncode == OK, done.stderr
            assert json.loads(done.stdout)["choices"][0]["method"] == ("joint" if joint else "split"), (rows, loss, at)
            write_plan("joint")
            done = tamis("check", "plan.yaml", cwd=folder)
            assert done.returncode == (OK if joint else REFUSED), (rows, loss, at, done.stderr)
            assert joint or "longer than ten seconds" in done.stderr and "{method: split}" in done.stderr, done.stderr


@case
def releases_at_the_same_time_have_one_draw():
    """Three processes with one plan and one ledger: one is charged, and whoever publishes has its points."""
    for kind in (KINDS["srs"], KINDS["srs, outsider, rho"], KINDS["srs, outsider, epsilon and delta"]):
        with place() as folder:
            plan(folder, kind)
            all_of = [subprocess.Popen([TAMIS, "release", "plan.yaml", "--quiet", "--out", f"out{i}"], cwd=folder, env=environment(),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for i in range(3)]
            ended = [(p.communicate()[1], p.returncode) for p in all_of]
            assert any(code == OK for _, code in ended) and all(code in (OK, REFUSED) for _, code in ended), ended
            done = tamis("release", "plan.yaml", "--quiet", "--out", "last", cwd=folder)
            assert done.returncode == OK and read(folder / "last")["ledger"]["repeated"], done.stderr
            outs = [folder / "last"] + [folder / f"out{i}" for i, (_, code) in enumerate(ended) if code == OK]
            assert len({(o / "measurements.json").read_bytes() for o in outs}) == 1, ended
            assert all(problems(o) == [] == verifier.verify(o) for o in outs)


@case
def a_full_disk_costs_one_charge_and_one_draw():
    """Whatever could not be written, the same plan again takes over the charge, and both verifiers believe what it publishes."""
    with place() as folder:
        for room in (64, 96, 112):  # kB: the ledger, the results and the report do not fit
            disk = folder / str(room)
            disk.mkdir()
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}k", "none", disk], capture_output=True, text=True)
            if done.returncode != 0:
                raise Skip("no small disk can be mounted: " + done.stderr.strip())
            try:
                plan(disk, KINDS["srs"])
                done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=disk)
                assert done.returncode == SYSTEM and not (disk / "out").exists(), (room, done.stderr)
                assert subprocess.run(["mount", "-o", "remount,size=8m", disk]).returncode == 0
                done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=disk)
                assert done.returncode == OK, (room, done.stderr)
                assert read(disk / "out")["ledger"]["entry"] == 2, read(disk / "out")["ledger"]  # the first opens the account
                assert problems(disk / "out") == [] == verifier.verify(disk / "out")
            finally:
                subprocess.run(["umount", disk], check=True)


@case
def errors_have_the_noise_of_the_mechanism():
    """With little budget the quantile of 24 rows is anywhere, and `check` and the release say so; with much it is exact, as no share of the
    rows is 0.45."""
    with place() as folder:
        for loss, budget, large in (("epsilon: 0.01", "{epsilon: 4000}", True), ("epsilon: 1000", "{epsilon: 4000}", False)):
            kind = (*KINDS["srs"][:2], (loss, budget))
            plan(folder, kind, "  - {quantile: x, at: [0.45], method: inverse}\n")
            told = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)["statistics"][0]
            assert (told["noise_sd"] > 1.5) == large and (told["noise_sd"] < 0.1) != large, told
            done = tamis("release", "plan.yaml", "--quiet", "--again", "--out", loss.split()[1], cwd=folder)
            assert done.returncode == OK, done.stderr
            found = read(folder / loss.split()[1], "release.json")["results"][0]
            if found["noise_sd"] is not None:  # a group without a function has none
                assert (found["noise_sd"] > 1.5) == large and (found["noise_sd"] < 0.1) != large, found
                assert found["interval"]["lower"] <= found["estimate"] <= found["interval"]["upper"], found


@case
def errors_by_strata_follow_the_rows_of_each():
    """10,000, 100 and 2,000 rows of strata of the same size: noise in values goes with one over them."""
    strata = ", ".join(f"{h}: {{population: 100000, sample: {n}}}" for h, n in (("u", 10000), ("v", 100), ("w", 2000)))
    text = LARGE.format(rows=1, loss="epsilon: 8", at="0.25, 0.75", method="inverse", more=", by: h", coin="")
    text = text.replace("{srs: {population: 1000000, sample: 1}}", f"{{stratified: {{by: h, within: srs, strata: {{{strata}}}}}}}")
    text = text.replace("g: {values: [a, b]}", "h: {values: [u, v, w]}")
    with place() as folder:
        (folder / "plan.yaml").write_text(text)
        done = tamis("check", "plan.yaml", "--json", cwd=folder)
        assert done.returncode == OK, done.stderr
        noise = [c["noise_sd"] for c in json.loads(done.stdout)["statistics"][0]["groups"]]
        for at in (0, 1):
            u, v, w = noise[at::2]
            assert 50 < v / u < 200 and 10 < v / w < 40, noise


@case
def what_a_method_cannot_do_is_refused():
    for method, kind, more, words in (
            ("prefix", KINDS["srs"], "", "needs rho, or epsilon with delta; nearest setting that works: {method: tree}, {method: distribution}"),
            ("tree", KINDS["srs, outsider, rho"], "", "needs epsilon; with rho, prefix sums have less noise; nearest setting that works: {method: prefix}"),
            ("prefix", KINDS["unequal probabilities"], "", "too fine"), ("tree", (STRATA.replace("70", "70000001"), *KINDS["srs"][1:]), "", "too fine"),
            ("smooth", KINDS["srs"], "", "`missing: none`"), ("smooth", COMPLETE, ", by: h", "how many rows are in a group is not public"),
            ("smooth", COMPLETE, ", where: {g: a}", "satisfy the condition is not public"),
            ("smooth", (*KINDS["bernoulli"][:3], "", ", missing: none"), "", "not fixed and public"),
            ("smooth", (*KINDS["strata"][:3], "", ", missing: none"), "", "different weights")):
        with place() as folder:
            plan(folder, kind, f"  - {{median: x, method: {method}{more}}}\n")
            for command in ("check", "release"):
                done = tamis(command, "plan.yaml", cwd=folder)
                assert done.returncode == REFUSED and words in done.stderr, (method, done.stderr)
            assert not list(folder.glob("*.ledger"))


# ---- auto ----

@case
def auto_takes_a_mechanism_where_rows_and_budget_are_many():
    """The method that was taken is in the plan of the certificate, and `check` names it."""
    for epsilon, taken in (("12", "distribution"), ("14", "mechanism")):  # of which half times sqrt(24): 29 and 34
        with place() as folder:
            plan(folder, (*KINDS["srs"][:2], (f"epsilon: {epsilon}", "{epsilon: 40}")), "  - median: x\n")
            done = tamis("check", "plan.yaml", "--all", cwd=folder)
            assert ("chosen by a mechanism" in done.stdout) == (taken == "mechanism"), done.stdout
            assert ("read from its noisy distribution function" in " ".join(done.stdout.split())) == (taken == "distribution"), done.stdout
            assert with_memory("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder).returncode == OK
            certificate = read(folder / "out")
            assert certificate["plan"]["statistics"][0]["method"] == taken and ("choices" in certificate) == (taken == "mechanism")
            assert problems(folder / "out") == [] == verifier.verify(folder / "out")


main()
