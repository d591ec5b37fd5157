#!/usr/bin/python3
"""tamis estimate with replicate weights against R's svrepdesign, to 1e-9; and that a release does not read them.

tests/data/estimates/replicates.json was made by replicates.R beside it.
"""
import csv
import json
import pathlib
import tempfile

from kit import INVALID, OK, REFUSED, TOP, case, main, tamis

DATA = TOP / "tests" / "data" / "estimates"
CASES = json.loads((DATA / "replicates.json").read_text())
CLOSE = 1e-9


def plan_of(replicates, statistics, source=DATA / "replicates.csv", **more):
    return {"tamis": 1, "survey": "replicates", "source": {"file": str(source)}, "privacy": {"unit": "row", "epsilon": 1},
            "design": {"weights": {"strata": "h", "cluster": "psu"}, "weight": "w", "max_weight": 100, "replicates": replicates},
            "columns": {"x": {"from": 0, "to": 200, "step": 1}, "y": {"from": 0, "to": 200, "step": 1}, "k": {"values": ["a", "b", "c"]},
                        "z": {"values": ["no", "yes"]}}, "statistics": statistics, **more}


def run(plan, *words, status=OK):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.json"
        path.write_text(json.dumps(plan))
        done = tamis("estimate", path, "--engine", "memory", "--json")
        assert done.returncode == status, (done.returncode, done.stderr)
        if status == OK:
            return json.loads(done.stdout)["results"]
        assert all(w in done.stderr for w in words), done.stderr


def near(a, b):
    return abs(a - b) <= CLOSE * max(abs(a), abs(b)) + 1e-11


@case
def estimates_are_those_of_svrepdesign():
    compared = 0
    for entry in CASES:
        rounds = [[r for r in entry["results"] if "quantile" not in r["statistic"]]]
        rounds += [[r] for r in entry["results"] if "quantile" in r["statistic"]]  # the same one with another interval is a duplicate in a plan
        found = [x for some in rounds for x in run(plan_of(entry["replicates"], [r["statistic"] for r in some]))]
        for r in [r for some in rounds for r in some]:
            count = 1 if "regression" in r["statistic"] else len(r["estimate"])
            here, found = found[:count], found[count:]
            if "regression" in r["statistic"]:
                here = here[0]["terms"]
            assert len(here) == len(r["estimate"]), (r["statistic"], here)
            for k, one in enumerate(here):
                assert near(one["estimate"], r["estimate"][k]) and near(one["se"], r["se"][k]), (entry["replicates"], r, one)
                if "lower" in r:
                    for end in ("lower", "upper"):
                        assert one["interval"] is not None and near(one["interval"][end], r[end][k]), (entry["replicates"], r, one)
                if "mean" in r["statistic"] and "by" not in r["statistic"]:
                    assert one["df"] == entry["df"], (entry, one)
                compared += 1
        assert not found
    assert compared > 150, compared


@case
def what_does_not_fit_is_reported():
    mean = [{"mean": "x"}]
    run(plan_of({"weights": "nothing*", "type": "brr"}, mean), "0 columns of the source match nothing*", status=INVALID)
    run(plan_of({"weights": "jkn*", "type": "jkn", "rscales": [1, 1]}, mean), "there are 2, but 16 columns", status=INVALID)
    run(plan_of({"weights": "jkn*", "type": "jkn"}, mean), "expected the key rscales", status=INVALID)
    run(plan_of({"weights": "fay*", "type": "fay"}, mean), "expected the key rho", status=INVALID)
    run(plan_of({"weights": "brr*", "type": "brr", "scale": 2}, mean), "follows from the number of replicates", status=INVALID)
    run(plan_of({"weights": "brr", "type": "brr"}, mean), "with one *", status=INVALID)
    run(plan_of({"weights": ["brr1", "no_such"], "type": "brr"}, mean), "no_such", status=INVALID)
    controls = {"calibrate": {"to": [{"count": "units", "totals": 5000}]}}
    run(plan_of({"weights": "brr*", "type": "brr"}, mean, **controls), "replicate weights are calibrated before", status=REFUSED)
    with tempfile.TemporaryDirectory() as folder:
        rows = list(csv.reader((DATA / "replicates.csv").open()))
        rows[3][rows[0].index("brr2")] = ""
        path = pathlib.Path(folder) / "rows.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        run(plan_of({"weights": "brr*", "type": "brr"}, mean, source=path), "brr2: a replicate weight is missing, or no number, in some row", status=INVALID)


@case
def a_release_does_not_read_them():
    """It is the same without their columns, and with any cells in them; certificate and report say where errors come from."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = list(csv.DictReader((DATA / "replicates.csv").open()))
        with (folder / "rows.csv").open("w", newline="") as file:
            out = csv.DictWriter(file, ["h", "psu", "w", "x", "y", "k", "z"], extrasaction="ignore")
            out.writeheader()
            out.writerows(rows)
        plan = plan_of({"weights": "brr*", "type": "brr"}, [{"mean": "x"}], source="rows.csv", budget={"epsilon": 2})
        (folder / "plan.yaml").write_text(json.dumps(plan))
        done = tamis("release", "plan.yaml", "--out", "out", "--quiet", cwd=folder)
        assert done.returncode == OK, done.stderr
        assert tamis("verify", "out", cwd=folder).returncode == OK
        for file in ("report.html", "certificate.json"):
            assert "a release does not read them" in (folder / "out" / file).read_text(), file
        # the same account and the same release without the key: nothing of it is part of a release
        del plan["design"]["replicates"]
        (folder / "plan.yaml").write_text(json.dumps(plan))
        again = tamis("release", "plan.yaml", "--out", "again", "--quiet", "--json", cwd=folder)
        assert again.returncode == OK, again.stderr
        assert json.loads(again.stdout)["spent"] == json.loads((folder / "out" / "release.json").read_text())["spent"]


main()
