#!/usr/bin/python3
"""A certificate of every design: tamis verify and tests/verifier.py both believe it, and both find a number that was changed,
also where the hash was made anew."""
import copy
import hashlib
import json
import pathlib
import sys
import tempfile

from kit import HERE, INVALID, OK, case, main, tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

UNITS = 24
ROWS = [{"id": f"u{i:02}", "x": i % 7, "g": "ab"[i % 2], "d": f"c{i % 6}", "m": 20, "k": 4, "p": f"{0.2 + 0.02 * i:.2f}", "w": 3 + i % 4}
        for i in range(UNITS)]
PLAN = """tamis: 1
survey: s
source: {{file: sample.csv}}
design: {design}
privacy: {{unit: person, {id}{setting}, {loss}}}
columns:
  x: {{from: -2, to: 6, step: 1{missing}}}
  g: {{values: [a, b]}}
  h: {{values: [u, v, w]}}
statistics:
  - total: x
  - {{count: units, by: h}}
budget: {budget}
"""
OPEN = "protect: sample, given: frame"
SECRET = "protect: frame, given: population, secret_sample: yes"
HIDDEN = "protect: population, given: nothing, design_variables: protected"
ID = "id: id, "
PURE, RHO, BOTH = ("epsilon: 1", "{epsilon: 3}"), ("rho: 1/10", "{rho: 1}"), ("epsilon: 1, delta: 1e-6", "{epsilon: 3, delta: 1e-5}")

SRS = "{srs: {population: 100, sample: 24}}"
STRATA = "{stratified: {by: g, within: srs, strata: {b: {population: 70, sample: 12}, a: {population: 30, sample: 12}}}}"
CLUSTER = "{cluster: {by: d, population: 30, sample: 6, smallest: 2, largest: 5}}"
TWO_STAGE = "{two_stage: {first: {by: d, population: 30, sample: 6}, second: {population: m, sample: 4}}, max_weight: 60}"
POISSON = "{poisson: {probability: p, frame: frame.csv}}"
PPS = "{pps: {method: pivotal, probability: p, sample: 24, frame: frame.csv}}"
KINDS = {
    "srs": (SRS, OPEN, PURE), "srs, outsider, rho": (SRS, SECRET, RHO), "srs, outsider, epsilon and delta": (SRS, SECRET, BOTH),
    "with replacement": ("{srs_with_replacement: {population: 100, sample: 24}}", SECRET, BOTH, ID + "rows_per_unit: 3, "),
    "bernoulli": ("{bernoulli: {rate: 1/4}}", SECRET, PURE),
    "bernoulli, several rows": ("{bernoulli: {rate: 1/4}}", SECRET, PURE, ID + "rows_per_unit: 2, "),
    "weights, several rows": ("{weights: {}, weight: w, max_weight: 8}", OPEN, RHO, ID + "rows_per_unit: 2, "),
    "systematic": ("{systematic: {population: 100, sample: 24, order: public}}", SECRET, BOTH),
    "systematic in random order": ("{systematic: {population: 100, sample: 24, order: random}}", SECRET, PURE),
    "census": ("{census: {population: 24}}", OPEN, PURE),
    "strata": (STRATA, SECRET, BOTH),
    "strata of which one is taken whole": (STRATA.replace("population: 30", "population: 12"), SECRET, PURE),
    "protected strata": (STRATA, HIDDEN, PURE), "protected strata, rho": (STRATA, HIDDEN, RHO),
    "protected strata, several rows": (STRATA, HIDDEN, PURE, ID + "rows_per_unit: 2, "),
    "protected strata of clusters": (f"{{stratified: {{by: g, within: {{cluster: {CLUSTER[10:-2].replace('population: 30, sample: 6, ', '')}}}}}, strata: "
                                     "{a: {population: 9, sample: 3}, b: {population: 8, sample: 3}}}}", HIDDEN, PURE),
    "weights moved, strata": (STRATA[:-1] + ", regularise: 0.4}", OPEN, PURE),
    "weights moved, a frame": (PPS[:-1] + ", regularise: 1/3}", SECRET, RHO, ID),
    "poisson": (POISSON, SECRET, BOTH, ID), "poisson without a frame": ("{poisson: {probability: p}, max_weight: 5}", SECRET, PURE),
    "unequal probabilities": (PPS, SECRET, RHO, ID), "unequal probabilities, no coupling": (PPS.replace("pivotal", "brewer"), SECRET, PURE, ID),
    "clusters": (CLUSTER, SECRET, BOTH), "clusters, sample": (CLUSTER, OPEN, RHO),
    "two stages": (TWO_STAGE, SECRET, BOTH), "two stages, a column": (TWO_STAGE.replace("sample: 4}", "sample: k}"), SECRET, PURE),
    "weights": ("{weights: {cluster: d}, weight: w, max_weight: 8}", OPEN, PURE),
    "weights, population": ("{weights: {population: 100}, weight: w, max_weight: 8}", OPEN, PURE),
    "final weights": ("{weights: {}, weight: w, max_weight: 8, weights_are: final}", OPEN, RHO),
    "nonresponse": (SRS.replace("sample: 24}", "sample: 30}").replace("}}", "}, nonresponse: yes}"), "protect: respondents, given: frame", PURE),
    "nothing is missing": (SRS, OPEN, PURE, "", ", missing: 0"),
}


def write(folder, design, setting, coin, unit="", missing=""):
    text = PLAN.format(design=design, id=unit, setting=setting, loss=coin[0], budget=coin[1], missing=missing)
    if "nonresponse" in design:
        text = text.replace("  - total: x\n  - {count: units, by: h}\n", "  - mean: x\n")
    (folder / "plan.yaml").write_text(text)
    rows = [{**row, "h": "uvw"[i % 3]} for i, row in enumerate(ROWS)]
    (folder / "sample.csv").write_text("\n".join([",".join(rows[0])] + [",".join(map(str, row.values())) for row in rows]) + "\n")
    listed = [(row["id"], float(row["p"])) for row in rows] + [(f"v{i}", 0.3) for i in range(20)]
    scale = UNITS / sum(p for _, p in listed) if "pps" in design else 1
    (folder / "frame.csv").write_text("id,p\n" + "".join(f"{u},{min(1, p * scale):.12f}\n" for u, p in listed))


def leaves(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path, value
    for key, inner in items or ():
        yield from leaves(inner, path + (key,))


def resigned(certificate, path, value):
    c = copy.deepcopy(certificate)
    at = c
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    body = {k: v for k, v in c.items() if k not in ("guarantee", "hash")}
    c["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return c


def better(certificate, path, value):
    """A change that would promise more than was kept: less sensitivity, less noise, less loss, rarer units; None: no such thing."""
    key = path[-1]
    if path[0] == "measurements":
        if key in ("sensitivity", "cells_of_a_record") and value > 1:
            return value - 1
        if key == "may_be_left_out":
            return False if value else None
        if key in ("sensitivity_l2_squared", "scale"):
            return str(verifier.Fraction(value) / 2)
        if key == "high" and value > 0:
            return value - 1
    if path[0] == "guarantee" and key == "upper":
        return value * 0.99 if value > 0 else None
    if path[0] == "amplification" and key == "epsilon":
        return str(verifier.Fraction(value) * verifier.Fraction(99, 100))
    if path[0] == "sampling" and key == "largest_point":
        return value - 1
    if path[0] == "composition" and key in ("epsilon", "rho"):
        return str(verifier.Fraction(value) / 2)
    if path[0] == "frame" and key == "certain" and certificate["guarantee"]["outsider"]:
        return value + 1
    if path[0] == "account" and path[1] == "after" and value != "0":
        return str(verifier.Fraction(value) / 2)
    return None


def each(name, kind):
    def both_verifiers_agree():
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            write(folder, *kind)
            done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
            assert done.returncode == OK, done.stderr
            file = folder / "out" / "certificate.json"
            certificate = json.loads(file.read_text())
            done = tamis("verify", folder / "out", "--json")
            assert done.returncode == OK and set(json.loads(done.stdout)["files"].values()) == {"match"}, done.stdout
            assert json.loads(done.stdout)["frame"] == ("match" if "frame" in certificate else None), done.stdout
            assert verifier.verify(folder / "out") == [], verifier.verify(folder / "out")
            done = tamis("ledger", "verify", *folder.glob("*.ledger"), "--against", folder / "out")
            assert done.returncode == OK, done.stdout + done.stderr
            assert (certificate["guarantee"]["outsider"] is None) == ("reason" in certificate["amplification"])
            tried = 0
            for path, value in leaves(certificate):
                wish = better(certificate, path, value)
                if wish is None or wish == value:
                    continue
                file.write_text(json.dumps(resigned(certificate, path, wish)))
                assert verifier.verify(file) != [], (path, value, wish)
                if tried % 7 == 0:
                    done = tamis("verify", file, "--json")
                    assert done.returncode == INVALID, (path, value, wish, done.stdout)
                tried += 1
            assert tried >= 10, tried

    case(both_verifiers_agree, f"{name}: both verifiers believe it, and no better promise")


for name, kind in KINDS.items():
    each(name, kind)


main()
