"""tamis study coverage on the populations of examples/coverage: truths, how often intervals hold them, what is left behind."""
import csv
import json
import math
import re
import tempfile

from kit import *

PLACE = TOP / "examples" / "coverage"
PLANS = sorted(path.stem for path in PLACE.glob("*.yaml"))


MORE = {"belgium-pps": ["--size", "size"], "mu284-pps": ["--size", "size"], "persons-nonresponse": ["--response", "response"],
        "persons-weights": ["--drawn-by", "persons-drawn.yaml"],
        "persons-inequality": ["--drawn-by", "persons-drawn.yaml"],
        "persons-contrasts-weights": ["--drawn-by", "persons-drawn.yaml"]}


def study(plan, *arguments, **options):
    size = MORE.get(plan, [])
    return tamis("study", "coverage", f"{plan}.yaml", "--population", f"{plan.split('-')[0]}.csv", *size, *arguments, cwd=PLACE, **options)


def truths(population):
    with open(PLACE / f"{population}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    if population == "api":
        enroll = [min(float(r["enroll"]), 4000) for r in rows if r["enroll"]]
        scores = [float(r["api00"]) for r in rows]
        return {"total": sum(enroll), "mean": sum(scores) / len(scores), "share": sum(r["awards"] == "Yes" for r in rows) / len(rows)}
    if population == "belgium":
        return {"total": sum(min(float(r["Tot04"]), 100000) for r in rows), "mean": sum(float(r["averageincome"]) for r in rows) / len(rows),
                "share": sum(float(r["Tot04"]) >= 20000 for r in rows) / len(rows)}
    if population == "persons":
        return {"total": sum(min(float(r["wage"]), 60000) for r in rows), "mean": sum(min(float(r["wage"]), 60000) for r in rows) / len(rows),
                "share": sum(r["activity"] == "1" for r in rows) / len(rows)}
    return {"total": sum(min(float(r["P85"]), 100) for r in rows), "mean": sum(float(r["SS82"]) for r in rows) / len(rows),
            "share": sum(float(r["CS82"]) >= 10 for r in rows) / len(rows)}


@case
def every_plan_finds_the_truth_of_its_population():
    assert len(PLANS) == 28
    for plan in PLANS:
        before = set(os.listdir(PLACE))
        done = study(plan, "--runs", "2", "--json", "--quiet")
        assert done.returncode == OK and done.stderr == "" and set(os.listdir(PLACE)) == before, (plan, done.stderr)
        told = json.loads(done.stdout)
        assert told["runs"] == 2 and told["survey"] == plan
        wanted = truths(plan.split("-")[0])
        found = {r["statistic"]: r["truth"] for r in told["results"] if not r["group"]}
        for statistic, value in wanted.items():
            if plan in ("persons-bounds", "api-pps-two-stage") or statistic not in found:  # these have bounds of their own
                continue
            assert abs(found[statistic] - value) < 1e-9 * value, (plan, statistic, found[statistic], value)
        for r in told["results"]:
            given, coverage = r["protected"]["intervals"], r["protected"]["coverage"]
            assert 0 <= given <= 2 and (coverage is None if given == 0 else 0 <= coverage <= 1), r
            assert 0 < r["protected"]["noise_sd"] <= r["protected"]["se"] * (1 + 1e-9), r


@case
def coefficients_have_their_terms_and_their_truths():
    """Those of least squares, and Pearson's r, of the whole population within the plan's bounds."""
    with open(PLACE / "persons.csv", newline="") as file:
        rows = [(min(float(r["wage"]), 60000), min(float(r["income"]), 60000), float(r["age"])) for r in csv.DictReader(file)]
    n = len(rows)
    wage, income, age = ([x - sum(column) / n for x in column] for column in zip(*rows))

    def product(x, y):
        return sum(a * b for a, b in zip(x, y))
    slope, mean = product(wage, age) / product(age, age), [sum(column) / n for column in zip(*rows)]
    wanted = {("wage", "age"): slope, ("wage", "(intercept)"): mean[0] - slope * mean[2],
              **{(f"{x}, {y}", None): product(a, b) / math.sqrt(product(a, a) * product(b, b))
                 for x, y, a, b in (("income", "age", income, age), ("wage", "income", wage, income))}}
    with tempfile.TemporaryDirectory() as name:
        sheet = pathlib.Path(name) / "sheet.csv"
        told = json.loads(study("persons-lines", "--runs", "2", "--csv", sheet, "--json", "--quiet").stdout)["results"]
        with open(sheet, newline="") as file:
            assert len({r["statistic"] for r in csv.DictReader(file)}) == len(told) == 7
    found = {(r["column"], r.get("term")): r["truth"] for r in told}
    assert {key for key in found if key[0] == "income"} == {("income", term) for term in ("(intercept)", "age", "sex=m")}, found
    for key, value in wanted.items():
        assert math.isclose(found[key], value, rel_tol=1e-9), (key, found[key], value)


@case
def intervals_that_promise_little_hold_less():
    """60 samples, intervals of 99.9 % and of 30 %: the first ones hold the truth more often, the second ones not always and not
    never; each fails in fewer than one of 10^8 runs."""
    shares = []
    for confidence in (0.999, 0.3):
        with tempfile.TemporaryDirectory() as folder:
            text = (API / "study.yaml").read_text()
            text = re.sub(r"statistics:.*", f"statistics: [{{mean: api00, confidence: {confidence}}}]\n", text, flags=re.S)
            pathlib.Path(folder, "p.yaml").write_text(text)
            done = tamis("study", "coverage", "p.yaml", "--population", API / "apisrs.csv", "--runs", "60", "--json", "--quiet", cwd=folder)
            result, = json.loads(done.stdout)["results"]
            assert result["protected"]["intervals"] == result["unprotected"]["intervals"] == 60
            shares.append((result["protected"]["coverage"], result["unprotected"]["coverage"]))
            assert 0.3 * result["protected"]["se"] < result["rmse"] < 3 * result["protected"]["se"] and 0 < result["rmse_error"] < result["rmse"]
    (much, much_bare), (little, little_bare) = shares
    assert much > 0.85 and much_bare > 0.85 and 0 < little < much and 0 < little_bare < much_bare, shares


@case
def a_table_for_people():
    done = study("mu284-srs", "--runs", "3")
    assert done.returncode == OK and "3 samples of a public population of 284" in done.stdout and "±" in done.stdout, done
    assert "no ledger was charged" in done.stdout and " ".join(done.stdout.split()).count("table of units by REG") == 8


@case
def a_picture():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.svg")
        done = study("mu284-two-stage", "--runs", "4", "--threads", "2", "--svg", path, "--quiet")
        assert done.returncode == OK and path.read_text().startswith("<svg"), done
        numbers = pathlib.Path(folder, "a.csv")
        done = study("mu284-srs", "--runs", "4", "--csv", numbers, "--json", "--quiet")
        rows, facts = list(csv.DictReader(numbers.open())), json.loads(done.stdout)["results"]
        assert [float(row["protected"]) for row in rows] == [fact["protected"]["coverage"] for fact in facts], rows
        assert rows[0]["statistic"].split()[0] == facts[0]["statistic"], rows
        path.unlink()
        done = tamis("study", "coverage", "mu284-srs.yaml", "--population", "belgium.csv", "--svg", path, cwd=PLACE)
        assert done.returncode == INVALID and not path.exists(), done


@case
def what_is_missing_is_told():
    is_usage_error(tamis("study", "coverage", "mu284-srs.yaml", cwd=PLACE), "--population FILE is missing")
    is_usage_error(study("mu284-srs", "--runs", "0"), "--runs must be")
    is_usage_error(study("mu284-srs", "--runs", "1e9"), "--runs must be")
    is_usage_error(study("mu284-srs", "--threads", "0"), "--threads must be")
    is_usage_error(study("mu284-srs", "--svg", "/no/such/folder/a.svg"), "--svg")
    is_usage_error(study("mu284-srs", "--csv", "/no/such/folder/a.csv"), "--csv: cannot write")
    is_usage_error(tamis("study", "coverage", "mu284-pps.yaml", "--population", "mu284.csv", cwd=PLACE), "--size: a column of sizes")
    done = tamis("study", "coverage", "mu284-srs.yaml", "--population", "belgium.csv", cwd=PLACE)
    assert done.returncode == INVALID and done.stdout == "", done
    persons = ["--population", "persons.csv"]
    done = tamis("study", "coverage", "persons-nonresponse.yaml", *persons, cwd=PLACE)
    assert done.returncode == REFUSED and "--response COLUMN" in done.stderr, done
    done = tamis("study", "coverage", "persons-weights.yaml", *persons, cwd=PLACE)
    assert done.returncode == REFUSED and "--drawn-by PLAN" in done.stderr, done
    done = tamis("study", "coverage", "persons-weights.yaml", *persons, "--drawn-by", "no-such.yaml", cwd=PLACE)
    assert done.returncode == INVALID and done.stdout == "", done


@case
def what_clamping_does_is_reported():
    """The population is public: what the bounds take from it is known."""
    with open(PLACE / "persons.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    lost = sum(min(float(r["wage"]), 60000) - float(r["wage"]) for r in rows)
    done = study("persons-consistent", "--runs", "3", "--json", "--quiet")
    result, = [r for r in json.loads(done.stdout)["results"] if r["statistic"] == "total" and not r["group"]]
    bias = result["clamping_bias"]
    assert abs(bias["value"] - lost) < 1e-6 * abs(lost) and -1 < bias["in_standard_errors"] < 0, (bias, lost)


@case
def chance_alone_is_not_flagged():
    """Three samples prove nothing: no number is too low, whatever they are. A width of 0 without protection gives no ratio."""
    done = study("belgium-srs", "--runs", "3", "--json", "--quiet")
    results = json.loads(done.stdout)["results"]
    assert all(r["passes"] for r in results), results
    assert all(r["width_ratio"] is None or r["width_ratio"] < 1e6 for r in results), results


main()
