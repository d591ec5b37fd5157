"""tamis estimate against R: correlations from svyvar, and linear, logistic and Poisson models of svyglm, to 1e-9.

tests/data/estimates/models.json was made by models.R beside it; the plans of its designs are in cases.json.
"""
import csv
import json
import pathlib
import tempfile

from kit import OK, TOP, case, main, tamis

DATA = TOP / "tests" / "data" / "estimates"
PLANS = {(c["data"], c["design"]): c for c in json.loads((DATA / "cases.json").read_text())}
MODELS = json.loads((DATA / "models.json").read_text())
CLOSE = 1e-9
NUMBERS = ("api00", "api.stu", "enroll", "P85", "REV84", "RMT85")
CATEGORIES = ("stype", "comp.imp", "HI_CHOL", "RIAGENDR", "race", "agecat")


def columns_of(rows, strata):
    columns = {}
    for name in rows[0]:
        values = [r[name] for r in rows if r[name] != ""]
        if name in NUMBERS:
            columns[name] = {"from": 0, "to": 100000, "step": 1}
        elif name in CATEGORIES:
            columns[name] = {"values": sorted(set(values))}
    columns.pop(strata, None)  # the design declares it
    return columns


def near(a, b):
    return (a is None) == (b is None) and (a is None or abs(a - b) <= CLOSE * max(abs(a), abs(b)) + 1e-12)


def run(plan):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.json"
        path.write_text(json.dumps(plan))
        done, text = (tamis("estimate", path, "--engine", "memory", *more) for more in (("--json",), ()))
        assert done.returncode == OK and text.returncode == OK, done.stderr + text.stderr
        return json.loads(done.stdout)["results"], text.stdout


def plan_of(design, statistics):
    entry = next(c for (data, name), c in PLANS.items() if (name == design and data in ("api", "mu284")) or (data, design) == ("nhanes0910", "nhanes"))
    with open(DATA / entry["file"], newline="") as file:
        rows = list(csv.DictReader(file))
    strata = entry["plan"]["design"].get("stratified", {}).get("by")
    columns = columns_of(rows, strata)
    if strata:  # in the order of the others, which R's factors have
        columns[strata] = {"values": sorted({r[strata] for r in rows})}
    return {"tamis": 1, "survey": "models", "source": {"file": str(DATA / entry["file"])}, **entry["plan"],
            "privacy": {"unit": "row", "protect": "sample", "given": "frame", "epsilon": 1, **entry["plan"].get("privacy", {})},
            "columns": columns, "statistics": statistics}


@case
def correlations_and_models_are_those_of_r():
    compared = 0
    for design in dict.fromkeys(e["design"] for e in MODELS):
        entries = [e for e in MODELS if e["design"] == design]
        for r, e in zip(run(plan_of(design, [e["statistic"] for e in entries]))[0], entries, strict=True):
            if r["statistic"] == "correlation":
                assert near(r["estimate"], e["estimate"][0]) and near(r["se"], e["se"][0]), (design, e["statistic"], r)
                compared += 1
                continue
            terms = {t["term"]: t for t in r["terms"]}
            here = [t for t in r["terms"] if not (t.get("reason") or "").startswith("not determined")]  # R drops what it was not given
            assert len(here) == sum(x is not None for x in e["estimate"]), (design, e["statistic"], list(terms))
            for k, t in enumerate(here):
                ends = t["interval"] or {"lower": None, "upper": None}
                for key, value in (("estimate", t["estimate"]), ("se", t["se"])):
                    assert near(value, e[key][k]), (design, e["statistic"], t["term"], key, value, e[key][k])
                for key in ("lower", "upper"):  # an end may be near 0, where digits of its parts cancel
                    assert abs(ends[key] - e[key][k]) <= CLOSE * (abs(t["estimate"]) + 2 * t["se"]), (design, e["statistic"], t, e[key][k])
                assert abs(t["p"] - e["p"][k]) < 1e-9, (design, e["statistic"], t, e["p"][k])
                compared += 1
            assert r["df"] == e["df"], (design, e["statistic"], r["df"], e["df"])
            for name, p in e.get("joint", {}).items():
                assert abs(r["joint"][name]["p"] - p) < 1e-8, (design, e["statistic"], name, r["joint"], p)
    assert compared > 150, compared


def made_up(rows, statistics):
    """Rows of x, y, g and h, drawn by simple random sampling."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "rows.csv"
        source.write_text("x,y,g,h\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
        return run({"tamis": 1, "survey": "models", "source": {"file": str(source)}, "design": {"srs": {"population": 1000, "sample": len(rows)}},
                    "privacy": {"unit": "row", "epsilon": 1}, "statistics": statistics,
                    "columns": {"x": {"from": 0, "to": 100, "step": 1}, "y": {"from": 0, "to": 100, "step": 1},
                                "g": {"values": ["a", "b", "c"]}, "h": {"values": ["u", "v"]}}})


ROWS = [((i * 37) % 41, (i * 53) % 29 + i % 7, "ab"[i % 2], "uv"[i * i % 3 == 1]) for i in range(60)]


@case
def groups_are_models_of_their_own():
    one = {"regression": {"of": "y", "on": ["x", "h"]}}
    apart = made_up(ROWS, [{**one, "where": {"g": v}} for v in "ab"])[0]
    grouped = made_up(ROWS, [{**one, "by": "g"}])[0]
    assert len(grouped) == 3 and [r["group"]["g"] for r in grouped] == ["a", "b", "c"], grouped
    for r, other in zip(grouped, apart):
        assert [t["estimate"] for t in r["terms"]] == [t["estimate"] for t in other["terms"]] and r["df"] == other["df"]
    assert all(t["estimate"] is None and "rows" in t["reason"] for t in grouped[2]["terms"]), grouped[2]  # nobody is in c


@case
def what_the_rows_do_not_tell_has_a_reason():
    found, text = made_up([(i % 5, i % 5, "a", "uv"[i % 2]) for i in range(20)],
                          [{"regression": {"of": "y", "on": ["g", "h"]}},                                  # everybody is in a
                           {"regression": {"of": {"h": "u"}, "on": [{"y": [2]}], "family": "logistic"}},
                           {"regression": {"of": {"g": "a"}, "on": ["h"], "family": "logistic"}},          # always true
                           {"correlation": ["x", "y"]}])
    linear, logistic, always, r = found
    terms = {t["term"]: t for t in linear["terms"]}
    assert terms["h=v"]["estimate"] is not None and all("not determined" in terms[k]["reason"] for k in ("g=b", "g=c")), terms
    assert all(t["estimate"] is not None and t["exp"]["estimate"] > 0 for t in logistic["terms"]), logistic
    assert all("same value" in t["reason"] for t in always["terms"]), always
    assert abs(r["estimate"] - 1) < 1e-12 and r["se"] < 1e-7, r
    assert "h=v" in text and "not determined" in text, text
    apart = [(0, 0, "ab"[i % 2], "uv"[i % 2]) for i in range(20)]  # g tells h without exception
    (told,), _ = made_up(apart, [{"regression": {"of": {"h": "u"}, "on": ["g"], "family": "logistic"}}])
    assert all(t["estimate"] is None and "without exception" in t["reason"] for t in told["terms"]), told
    (told,), _ = made_up(ROWS[:3], [{"regression": {"of": "y", "on": ["x", "h"]}}])
    assert all("no more rows" in t["reason"] for t in told["terms"]), told


@case
def a_perfect_line_is_found():
    (told,), _ = made_up([(i, 3 * i % 100 if i < 33 else 99, "a", "u") for i in range(33)], [{"regression": {"of": "y", "on": ["x"]}}])
    assert abs(told["terms"][1]["estimate"] - 3) < 1e-12 and abs(told["terms"][0]["estimate"]) < 1e-10 and abs(told["r2"] - 1) < 1e-12, told


main()
