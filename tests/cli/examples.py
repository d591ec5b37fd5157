"""The plans under examples/ that publish a survey: each is checked and released, and what comes out is compared with the
same numbers computed here from the file, without noise."""
import csv
import json
import math
import re

from kit import *

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

# Statistics that are read from a distribution function, which is known at its cuts alone: how far that may put them off, in
# sampling errors. Incomes of a sample have gaps and heaps between cuts, which move a quantile more than a measure of all.
READ_BETWEEN_CUTS = {"quantile": 1.5, "median": 1.5, "poverty": 0.5, "gini": 0.5, "s80s20": 0.5}
FAR = 18  # times the standard deviation of the noise: beyond it in less than one of 10^9 releases, all cells together


def rows(folder, file):
    with open(TOP / "examples" / folder / file, newline="") as opened:
        return list(csv.DictReader(opened))


def number(row, column, low, high):
    return min(max(float(row[column]), low), high)


def weighted(units, weight, value=lambda row: 1):
    return sum(weight(row) * value(row) for row in units)


def mean(units, weight, value):
    return weighted(units, weight, value) / weighted(units, weight)


def schools():
    units = rows("schools", "apistrat.csv")
    weight = lambda row: {"E": 4421 / 100, "M": 1018 / 50, "H": 755 / 50}[row["stype"]]
    for stype in "EMH":
        part = [row for row in units if row["stype"] == stype]
        yield "total", "enroll", {"stype": stype}, weighted(part, weight, lambda row: number(row, "enroll", 0, 4000))
        yield "share", "awards=Yes", {"stype": stype}, mean(part, weight, lambda row: row["awards"] == "Yes")
    yield "mean", "api00", {}, mean(units, weight, lambda row: number(row, "api00", 200, 1000))


def demo():
    units = rows("demo", "sample.csv")
    weight = lambda row: {"16-24": 9000 / 1500, "25-64": 38000 / 6000, "65+": 17000 / 2500}[row["age"]]
    for status in ("employed", "unemployed", "inactive"):
        yield "count", None, {"status": status}, weighted([row for row in units if row["status"] == status], weight)
    for age in ("16-24", "25-64", "65+"):
        part = [row for row in units if row["age"] == age]
        working = [row for row in part if row["status"] == "employed"]
        labour = [row for row in part if row["status"] != "inactive"]
        yield "ratio", "status=unemployed/status=employed|unemployed", {"age": age}, mean(labour, weight, lambda row: row["status"] == "unemployed")
        yield "share", "volunteer=yes", {"age": age}, mean(part, weight, lambda row: row["volunteer"] == "yes")
        yield "mean", "hours", {"age": age}, mean(working, weight, lambda row: number(row, "hours", 0, 80))


def households():
    units = rows("households", "eusilc.csv")
    weight = lambda row: float(row["weight"])
    for state in {row["state"] for row in units}:
        part = [row for row in units if row["state"] == state]
        yield "count", None, {"state": state}, weighted(part, weight)
        yield "table", None, {"state": state}, weighted(part, weight, lambda row: row["size"] == "1")
    yield "total", "size", {}, weighted(units, weight, lambda row: number(row, "size", 1, 9))
    yield "mean", "income", {}, mean(units, weight, lambda row: number(row, "income", 0, 80000))
    yield "share", "income=..10000", {}, mean(units, weight, lambda row: float(row["income"]) <= 10000)


def postgres():
    """The same rows as households has, in a server."""
    for statistic, column, group, value in households():
        if statistic in ("count", "total", "mean"):
            yield statistic, column, group, value


def municipalities():
    units = rows("municipalities", "sample.csv")
    weight = lambda row: 1 / float(row["inclusion_probability"])
    for region in ("Flanders", "Wallonia", "Brussels"):
        yield "count", None, {"region": region}, weighted([row for row in units if row["region"] == region], weight)
    yield "mean", "income", {}, mean(units, weight, lambda row: number(row, "income", 15000, 45000))
    yield "share", "inhabitants=20000..", {}, mean(units, weight, lambda row: int(row["inhabitants"]) >= 20000)


def share_below(values, line):
    return sum(v < line for v in values) / len(values)


def gini(values):
    values = sorted(values)
    return sum((2 * i + 1 - len(values)) * v for i, v in enumerate(values)) / len(values) / sum(values)


def incomes():
    units = [{**row, "income": number(row, "income", 0, 100000)} for row in rows("incomes", "sample.csv")]
    of = lambda **group: sorted(row["income"] for row in units if all(row[k] == v for k, v in group.items()))
    quantile = lambda values, at: values[math.ceil(round(at * len(values), 6)) - 1]
    line = 0.6 * quantile(of(), 0.5)
    yield "median", "income", {"at": 0.5}, quantile(of(), 0.5)
    for at in (0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9):
        yield "quantile", "income", {"at": at}, quantile(of(), at)
    yield "poverty", "income", {}, share_below(of(), line)
    for region in ("east", "south", "west"):
        yield "poverty", "income", {"region": region}, share_below(of(region=region), line)
    yield "gini", "income", {}, gini(of())
    for sex in ("female", "male"):
        yield "median", "income", {"sex": sex, "at": 0.5}, quantile(of(sex=sex), 0.5)
        yield "gini", "income", {"sex": sex}, gini(of(sex=sex))
    yield "s80s20", "income", {}, sum(of()[4000:]) / sum(of()[:1000])


def key(statistic, column, group):
    return statistic, column, tuple(sorted(group.items()))


def released(name, folder, times=1):
    """With so many times the epsilon; rho is of the order of its square."""
    place = pathlib.Path(folder, f"{name}-{times}")
    shutil.copytree(TOP / "examples" / name, place)
    plan = place / "plan.yaml"
    plan.write_text(re.sub(r"(epsilon|rho): (\d+)", lambda m: f"{m[1]}: {times ** (1 + (m[1] == 'rho')) * int(m[2])}", plan.read_text()))
    done = tamis("release", "plan.yaml", "--json", "--quiet", cwd=place, env=ENV)
    assert done.returncode == OK and done.stderr == "", done.stderr
    return place, json.loads(done.stdout)


def example(name, truth):
    def numbers_are_those_of_the_file_and_noise():
        with tempfile.TemporaryDirectory() as folder:
            wanted = {key(*cell): value for *cell, value in truth()}
            for times in (1, 300):  # as it is, and with next to no noise
                place, told = released(name, folder, times)
                group = lambda r: r["group"] | ({"at": r["at"]} if "at" in r else {})
                results = {key(r["statistic"], r["column"], group(r)): r for r in told["results"]}
                assert set(results) == set(wanted), set(results) ^ set(wanted)
                for cell, value in wanted.items():
                    r = results[cell]
                    if times == 1 and r["estimate"] is None:  # the noise has left nothing to divide by
                        assert "noise" in r["reason"], r
                        continue
                    assert r["noise_sd"] > 0 and r["se"] >= 0.9 * r["noise_sd"], r
                    between = READ_BETWEEN_CUTS.get(cell[0], 0) * r["sampling_se"]
                    assert abs(r["estimate"] - value) < FAR * r["noise_sd"] + 1e-6 * value + between, (r, value)
                    assert times == 1 or FAR * r["noise_sd"] < 0.1 * value, r
                    assert times == 1 or r["interval"]["lower"] < r["interval"]["upper"], r
                assert told["protected"] is True and (told["guarantee"]["outsider"] is not None) == (name == "demo")  # its sample is secret
                done = tamis("verify", place / "plan-release" / "certificate.json")
                assert done.returncode == OK, (done.stdout, done.stderr)
                assert verifier.verify(place / "plan-release" / "certificate.json") == []
                assert tamis("ledger", "verify", next(place.glob("*.ledger")), cwd=place).returncode == OK

    def plan_can_be_checked_without_the_data():
        with tempfile.TemporaryDirectory() as folder:
            for public in ("plan.yaml", "frame.csv"):
                if (TOP / "examples" / name / public).exists():
                    shutil.copy(TOP / "examples" / name / public, folder)
            done = tamis("check", "plan.yaml", cwd=folder)
            warnings = [line for line in done.stdout.splitlines() if "WARNING" in line]
            wanted = {"municipalities": ["count of units by region (1 of 3 groups)"],  # Brussels has 19 of them
                      "households": ["table of units where size=1 by state (1 of 9 groups)"]}.get(name, [])  # Burgenland is small
            assert done.returncode == OK and len(warnings) == len(wanted) and all(w in t for w, t in zip(wanted, warnings)), done
            assert "Assumed" not in done.stdout, done

    def readme_is_short_and_names_the_source():
        text = (TOP / "examples" / name / "README.md").read_text()
        assert len(text.splitlines()) <= 16 and "taken from" in text and "licence" in text

    def readme_can_be_followed_to_the_letter():
        lines = re.findall(r"`((?:cut|tamis)\s[^`]+)`", (TOP / "examples" / name / "README.md").read_text())
        with tempfile.TemporaryDirectory() as folder:
            place = shutil.copytree(TOP / "examples" / name, pathlib.Path(folder, name))
            for line in lines:
                done = shell(f"export {' '.join(f'{k}={v}' for k, v in ENV.items())}; {line}", cwd=place)
                assert done.returncode == OK and done.stderr == "" and done.stdout, (line, done)
        assert "tamis release plan.yaml" in lines

    for function in (numbers_are_those_of_the_file_and_noise, plan_can_be_checked_without_the_data, readme_can_be_followed_to_the_letter,
                     readme_is_short_and_names_the_source):
        case(function, f"{name}: {function.__name__.replace('_', ' ')}")


example("schools", schools)
example("demo", demo)
example("households", households)
example("incomes", incomes)
example("municipalities", municipalities)
example("postgres", postgres)


@case
def a_sample_with_unequal_probabilities_is_one_of_its_frame():
    """Every drawn unit stands in the frame as it is, with the probability that its size gives."""
    frame = {row["ins"]: row for row in rows("municipalities", "frame.csv")}
    sample = rows("municipalities", "sample.csv")
    assert len(frame) == 589 and len(sample) == len({row["ins"] for row in sample}) == 150
    assert all(frame[row["ins"]][column] == row[column] for row in sample for column in frame[row["ins"]] if column != "inclusion_probability")
    sure = [row for row in frame.values() if row["ins"] in {s["ins"] for s in sample if s["inclusion_probability"] == "1"}]
    rest = sum(int(row["size"]) for row in frame.values()) - sum(int(row["size"]) for row in sure)
    for row in sample:
        expected = min(1, (150 - len(sure)) * int(row["size"]) / rest)
        for drawn in (row, frame[row["ins"]]):
            assert math.isclose(float(drawn["inclusion_probability"]), expected, rel_tol=1e-12), row


@case
def every_plan_under_examples_is_named_here():
    found = {path.parent.name for path in (TOP / "examples").glob("*/plan.yaml")} - {"api"}  # api: release.py
    assert found == {match for match in re.findall(r'^example\("(\w+)"', pathlib.Path(__file__).read_text(), re.M)}


with tempfile.TemporaryDirectory() as services:
    ENV = serve(services)  # where libpq finds the service of examples/postgres
    main()
