"""tamis estimate against R: differences, quotients and contrasts as svycontrast has them, with svyby's covariances, to 1e-9.

tests/data/estimates/contrasts.json was made by contrasts.R beside it; the plans of its designs are in cases.json.
"""
import csv
import json
import pathlib
import tempfile

from kit import OK, TOP, case, main, tamis

DATA = TOP / "tests" / "data" / "estimates"
PLANS = {(c["data"], c["design"]): c for c in json.loads((DATA / "cases.json").read_text())}
CONTRASTS = json.loads((DATA / "contrasts.json").read_text())
CLOSE = 1e-9
NUMBERS = ("api00", "api.stu", "enroll")
CATEGORIES = ("stype", "comp.imp", "HI_CHOL", "RIAGENDR")


def columns_of(rows, strata):
    columns = {}
    for name in rows[0]:
        values = [r[name] for r in rows if r[name] != ""]
        if name in NUMBERS:
            columns[name] = {"from": 0, "to": 10000, "step": 1}
        elif name in CATEGORIES:
            columns[name] = {"values": sorted(set(values))}
    columns.pop(strata, None)  # the design declares it
    return columns


def near(a, b):
    return abs(a - b) <= CLOSE * max(abs(a), abs(b)) + 1e-12


def estimate(design, entries):
    entry = PLANS[("nhanes0910", "d")] if design == "nhanes" else PLANS[("api", design)]
    with open(DATA / entry["file"], newline="") as file:
        rows = list(csv.DictReader(file))
    plan = {"tamis": 1, "survey": "contrasts", "source": {"file": str(DATA / entry["file"])}, **entry["plan"],
            "privacy": {"unit": "row", "protect": "sample", "given": "frame", "epsilon": 1, **entry["plan"].get("privacy", {})},
            "columns": columns_of(rows, entry["plan"]["design"].get("stratified", {}).get("by")), "statistics": [e["statistic"] for e in entries]}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.json"
        path.write_text(json.dumps(plan))
        done = tamis("estimate", path, "--json", "--engine", "memory")
        assert done.returncode == OK, done.stderr
        return json.loads(done.stdout)["results"]


@case
def contrasts_are_those_of_r():
    compared = 0
    for design in dict.fromkeys(e["design"] for e in CONTRASTS):
        entries = [e for e in CONTRASTS if e["design"] == design]
        results = iter(estimate(design, entries))
        for e in entries:
            found = [next(results) for _ in e["estimate"]]
            if e["groups"]:
                by_group = {json.dumps(r["group"], sort_keys=True): r for r in found}
                found = [by_group[json.dumps(g, sort_keys=True)] for g in e["groups"]]
            for r, value, se in zip(found, e["estimate"], e["se"]):
                assert near(r["estimate"], value) and near(r["se"], se), (design, e["statistic"], r["estimate"], value, r["se"], se)
                compared += 1
        assert next(results, None) is None
    assert compared == sum(len(e["estimate"]) for e in CONTRASTS) > 50


@case
def the_sum_of_both_variances_would_be_wrong():
    """Two shares of one sample vary together: R's standard error is not the root of the sum of squares."""
    entries = [{"statistic": {"difference": {"share": {"stype": "E"}, "minus": {"share": {"stype": "H"}}}}},
               {"statistic": {"share": {"stype": "E"}}}, {"statistic": {"share": {"stype": "H"}}}]
    both, first, second = estimate("dsrs", entries)
    assert near(both["estimate"], first["estimate"] - second["estimate"])
    assert both["se"] > 1.2 * (first["se"] ** 2 + second["se"] ** 2) ** 0.5


main()
