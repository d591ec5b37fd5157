#!/usr/bin/python3
"""regularise: weights shrunk towards their mean, less noise in exchange for a reported bias."""
import json
import math
import pathlib
import tempfile

from kit import INVALID, OK, budget, case, main, with_memory as tamis

PLAN = """tamis: 1
survey: s
source: {{file: sample.csv}}
design: {design}
privacy: {{unit: person, {id}{loss}}}
columns:
  x: {{from: 0, to: 10, step: 1, missing: 0}}
  g: {{values: [a, b]}}
statistics:
  - total: x
  - mean: x
  - {{share: {{x: {{from: 5}}}}, by: g}}
  - variance: x
"""
STRATA = "{{stratified: {{by: g, within: srs, strata: {{a: {{population: 900, sample: 20}}, b: {{population: 100, sample: 20}}}}}}{}}}"
SHARE = 0.4


def release(design, rows, frame=None, loss="epsilon: 1000000", unit=""):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "plan.yaml").write_text(PLAN.format(design=design, id=unit, loss=loss) + budget(loss))
        (folder / "sample.csv").write_text("id,x,g\n" + "".join(f"{i},{x},{g}\n" for i, x, g in rows))
        if frame:
            (folder / "frame.csv").write_text("id,p\n" + "".join(f"{i},{p:.12f}\n" for i, p in frame.items()))
        done = tamis("release", "plan.yaml", "--json", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr
        certificate = json.loads((folder / "out" / "certificate.json").read_text())
        return {(r["statistic"], r["group"].get("g")): r for r in json.loads(done.stdout)["results"]}, certificate


def near(result, value, of="estimate"):
    assert abs(result[of] - value) <= 60 * result["noise_sd"] + 1e-4 * abs(value) + 1e-9, (result, value)


def rows(high):
    """The worst values for the bias: `high` where weights are largest, 0 elsewhere, or with another sign."""
    return [(i, 10 * (("a" if i < 20 else "b") == high), "a" if i < 20 else "b") for i in range(40)]


@case
def the_bias_of_strata_is_as_told_and_attained():
    weights = {"a": 45, "b": 5}
    moved = {g: w + SHARE * (25 - w) for g, w in weights.items()}
    for high in "ab":
        told, certificate = release(STRATA.format(", regularise: 0.4"), rows(high))
        total = told["total", None]
        near(total, 20 * 10 * moved[high])
        change = abs(20 * 10 * (moved[high] - weights[high]))
        assert math.isclose(total["bias_at_most"], change, rel_tol=1e-9), (total, change)
        assert math.isclose(told["mean", None]["bias_at_most"], change / 1000, rel_tol=1e-3)
        assert any("shrunk towards their mean" in note for note in total["notes"])
        assert told["variance", None]["bias_at_most"] > 0
        for g in "ab":  # the weights of a stratum are all alike, so that its shares stay
            near(told["share", g], float(g == high))
        assert certificate["sampling"]["weights"] == ["37", "13"]


@case
def noise_falls_with_the_largest_weight():
    loss = "epsilon: 1"
    before, _ = release(STRATA.format(""), rows("a"), loss=loss)
    after, _ = release(STRATA.format(", regularise: 0.4"), rows("a"), loss=loss)
    assert after["total", None]["noise_sd"] < 0.95 * before["total", None]["noise_sd"], (after["total", None], before["total", None])
    assert "bias_at_most" not in before["total", None]


@case
def the_sampling_error_is_that_of_the_moved_weights():
    data = [(i, (i * 7) % 11 if i < 20 else (i * 3) % 5, "a" if i < 20 else "b") for i in range(40)]
    told, _ = release(STRATA.format(", regularise: 0.4"), data)
    variance = 0
    for g, w in (("a", 45), ("b", 5)):
        x = [v for _, v, h in data if h == g]
        mean = sum(x) / 20
        variance += (1 - 1 / w) * (w + SHARE * (25 - w)) ** 2 * 20 / 19 * sum((v - mean) ** 2 for v in x)
    result = told["total", None]
    assert math.isclose(result["sampling_se"], math.sqrt(variance), rel_tol=0.01), (result, math.sqrt(variance))


@case
def weights_of_a_frame_are_moved():
    frame = {f"u{i:02}": (i + 1) / 82 for i in range(40)}  # ten in all
    drawn = [f"u{i:02}" for i in range(3, 40, 4)]
    design = "{pps: {method: sampford, probability: p, sample: 10, frame: frame.csv}, regularise: 0.4}"
    told, certificate = release(design, [(u, i % 11, "ab"[i % 2]) for i, u in enumerate(drawn)], frame, unit="id: id, ")
    moved = {u: 1 / p + SHARE * (4 - 1 / p) for u, p in frame.items()}
    near(told["total", None], sum(moved[u] * (i % 11) for i, u in enumerate(drawn)))
    worst = SHARE * 10 / 2 * sum(abs(4 * p - 1) for p in frame.values())  # over all samples, with the worst values
    assert told["total", None]["bias_at_most"] >= worst, (told["total", None], worst)
    step = certificate["sampling"]["step"].split("/")
    assert math.isclose(certificate["sampling"]["largest_point"] / int(step[-1]) * int(step[0]), max(moved.values()), rel_tol=1e-6)


@case
def another_share_is_another_release():
    with tempfile.TemporaryDirectory() as place:
        folder, repeated = pathlib.Path(place), []
        (folder / "sample.csv").write_text("id,x,g\n" + "".join(f"{i},{x},{g}\n" for i, x, g in rows("a")))
        for i, share in enumerate(("", ", regularise: 0.3", ", regularise: 0.4", ", regularise: 0.4", "")):
            plan = PLAN.format(design=STRATA.format(share), id="", loss="epsilon: 1") + "budget: {epsilon: 10}\n"
            (folder / "plan.yaml").write_text(plan)
            done = tamis("release", "plan.yaml", "--json", "--quiet", "--out", f"out{i}", cwd=folder)
            assert done.returncode == OK, done.stderr
            repeated.append(json.loads(done.stdout)["ledger"]["repeated"])
        assert repeated == [False, False, False, True, True], repeated


@case
def only_public_weights_are_moved():
    for design in ("{srs: {population: 100, sample: 10}, regularise: 0.3}", "{weights: {}, weight: w, max_weight: 9, regularise: 0.3}",
                   "{pps: {method: sampford, probability: p, sample: 10}, max_weight: 9, regularise: 0.3}",
                   STRATA.format(", regularise: 0"), STRATA.format(", regularise: 1"), STRATA.format(", regularise: much")):
        with tempfile.TemporaryDirectory() as place:
            (pathlib.Path(place) / "plan.yaml").write_text(PLAN.format(design=design, id="", loss="epsilon: 1"))
            done = tamis("check", "plan.yaml", cwd=place)
            assert done.returncode == INVALID and "regularise" in done.stderr, done


main()
