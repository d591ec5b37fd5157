"""tamis study bounds"""
import csv
import statistics

from kit import *

COVERAGE = TOP / "examples" / "coverage"
PLAN = (COVERAGE / "api-srs.yaml").read_text()
ROWS = list(csv.DictReader((COVERAGE / "api.csv").open()))


def bounds(text, *arguments, population=COVERAGE / "api.csv"):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "plan.yaml").write_text(text)
        return tamis("study", "bounds", "plan.yaml", "--population", population, *arguments, cwd=folder)


def told(text, *arguments, **more):
    done = bounds(text, "--json", *arguments, **more)
    assert done.returncode == OK and done.stderr == "", done
    return json.loads(done.stdout)


@case
def noise_and_bias_are_those_of_the_plan_with_that_range():
    """The bias of every range that was tried, computed here from the population; the noise, by check of a plan with that range."""
    enroll = [float(r["enroll"]) for r in ROWS if r["enroll"]]
    mean, sd = statistics.fmean(enroll), statistics.stdev(enroll)
    column = next(c for c in told(PLAN)["columns"] if c["column"] == "enroll")
    assert len(column["tried"]) >= 12 and column["tried"][0]["to"] == 4000 and column["tried"][0]["error_lower_by"] == 0, column
    assert abs(column["outside"] - sum(x > 4000 for x in enroll) / len(enroll)) < 1e-12
    line = re.search(r"enroll: \{from: 0, to: 4000, step: 1.*\n", PLAN).group(0)
    for trial in column["tried"]:
        total = next(s for s in trial["statistics"] if s["statistic"] == "total of enroll")
        bias = sum(min(x, trial["to"]) - x for x in enroll)
        assert abs(total["bias"] - bias) < 1e-6 * abs(bias) + 1e-6, (trial, bias)
        guess = f"typical: {{mean: {min(mean, trial['to'])!r}, sd: {sd!r}}}"
        plan = PLAN.replace(line, f"enroll: {{from: 0, to: {trial['to']}, step: 1, {guess}}}\n")
        if trial["to"] < 1000:
            continue  # a guess of the standard deviation has to fit the range
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "plan.yaml").write_text(plan)
            done = tamis("check", "plan.yaml", "--json", cwd=folder)
        assert done.returncode == OK, done
        own = next(s for s in json.loads(done.stdout)["statistics"] if s["statistic"] == "total" and s["column"] == "enroll")
        assert abs(own["noise_sd"] / total["noise_sd"] - 1) < 1e-6, (trial["to"], own["noise_sd"], total)
        now = next(s for s in column["tried"][0]["statistics"] if s["statistic"] == "total of enroll")
        assert trial["to"] != 4000 or now == total


@case
def weights_of_units_are_advised():
    """Households of 1 to 8 persons with weights of 8 on average: the smallest bound that takes off less than 1 %."""
    homes = [1 + (7 * k) % 5 for k in range(300)] + [8] * 2
    rows = [(f"h{k}", 20 + (k + i) % 50) for k, n in enumerate(homes) for i in range(n)]
    plan = ("tamis: 1\nsurvey: s\nsource: {file: s.csv}\ndesign: {weights: {population: 8000}, weight: w, max_weight: 12%s, typical: {sample: 1000}}\n"
            "privacy: {unit: household, id: h, rows_per_unit: 8, epsilon: 2}\ncolumns: {x: {from: 0, to: 100, step: 1}}\nstatistics: [{mean: x}]\n")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "all.csv")
        file.write_text("h,x\n" + "".join(f"{h},{x}\n" for h, x in rows))
        found = told(plan % "", population=file)["units"]
        assert [u["max_unit_weight"] for u in found] == [16, 24, 32, 40, 48, 56], found
        for u in found:
            beyond = sum(max(0, 8 * n - u["max_unit_weight"]) for n in homes) / (8 * sum(homes))
            assert abs(u["weight_beyond"] - beyond) < 1e-12 and abs(u["noise_part"] - u["max_unit_weight"] / 96) < 1e-6, (u, beyond)
        assert [u["max_unit_weight"] for u in found if u["advised"]] == [40], found
        text = " ".join(bounds(plan % "", population=file).stdout.split())
        assert "max_unit_weight: 40, 5 rows of the mean weight, would lower the noise of estimates to 42 % of what it is" in text, text
        assert not any(u["advised"] for u in told(plan % ", max_unit_weight: 40", population=file)["units"])
    assert "units" not in told(PLAN)


@case
def contributions_of_units_are_advised():
    """Households of 1 to 4 persons, some of them rich: what each bound takes off is computed here, and the one that is advised takes off at most 1 %."""
    homes = [[10 + (13 * k + 7 * i) % 60 + (200 if k % 97 == 0 else 0) for i in range(1 + k % 4)] for k in range(900)]
    plan = ("tamis: 1\nsurvey: s\nsource: {file: s.csv}\ndesign: {srs: {population: 9000, sample: 300}}\n"
            "privacy: {unit: household, id: h, rows_per_unit: 4, epsilon: 2}\ncolumns: {x: {from: 0, to: 1000, step: 1, missing: none, typical: {mean: 40, sd: 30}}}\n"
            "statistics: [{total: x}%s]\n")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "all.csv")
        file.write_text("h,x\n" + "".join(f"h{k},{x}\n" for k, home in enumerate(homes) for x in home))
        found = told(plan % "", population=file)["columns"][0]["totals"]
        sums = [30 * sum(home) for home in homes]  # each household represents 30
        assert len(found) >= 5 and [t["unit_contribution"] for t in found] == sorted(t["unit_contribution"] for t in found), found
        for t in found:
            beyond = sum(max(0, x - t["unit_contribution"]) for x in sums) / sum(sums)
            assert abs(t["share_beyond"] - beyond) < 1e-9 and 0 < t["noise_part"] < 0.5, (t, beyond)
        advised = [t for t in found if t["advised"]]
        assert len(advised) == 1 and advised[0]["share_beyond"] <= 0.01 and advised[0]["error_lower_by"] == max(t["error_lower_by"] for t in found if t["share_beyond"] <= 0.01), found
        text = " ".join(bounds(plan % "", population=file).stdout.split())
        assert f"unit_contribution of x: {advised[0]['unit_contribution']:g} would lower the noise of its totals to" in text, text
        with_it = plan.replace("missing: none", f"missing: none, unit_contribution: {advised[0]['unit_contribution']:g}") % ""
        assert not any(t["advised"] and t["noise_part"] < 0.9 for t in told(with_it, population=file)["columns"][0]["totals"])
        assert "totals" not in told(plan.replace("{total: x}", "{mean: x}") % "", population=file)["columns"][0]
        pathlib.Path(folder, "plan.yaml").write_text(plan % "")
        pathlib.Path(folder, "s.csv").write_text("h,x\n")
        declared = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)["declare"]
        own = next(d for d in declared if d["declare"] == "unit_contribution")
        assert own["columns"] == ["x"] and own["error_lower_by"] > 0.3, declared


@case
def the_advice_is_the_smallest_error():
    study = told(PLAN)
    for column in study["columns"]:
        best = max(column["tried"], key=lambda t: t["error_lower_by"])
        assert column["advice"]["error_lower_by"] == best["error_lower_by"] > 0.01, column["advice"]
        assert (column["advice"]["from"], column["advice"]["to"]) == (best["from"], best["to"])
    done = bounds(PLAN)
    text = " ".join(done.stdout.split())
    assert done.returncode == OK and all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout
    assert re.search(r"enroll: to 2400 instead of 4000 would lower the error of the total of enroll by 1\d %", text), text
    assert "the bias would be -28,000, 18 % of the standard error" in text and "0.016 % of the values are outside" in text, text


@case
def each_line_says_why_it_is_marked():
    """Exactly one range of a column is best; one with a smaller error that is not advised says why."""
    columns, lines = told(PLAN)["columns"], bounds(PLAN).stdout.splitlines()
    for column in columns:
        mine = [line for line in lines if re.match(rf"{column['column']} +[\d-]", line)]
        assert len(mine) == len(column["tried"]) and sum("the plan's" in line for line in mine) == 1, mine
        best = [line for line in mine if line.endswith("best: the smallest error")]
        assert len(best) == 1 and best[0].split()[1:3] == [f"{column['advice'][end]:g}" for end in ("from", "to")], best
    plan, population = (COVERAGE / "persons-suppress.yaml").read_text(), COVERAGE / "persons.csv"
    assert "not advised: its bias is too large" in bounds(plan, "--column", "wage", population=population).stdout


@case
def a_range_that_is_too_narrow_is_widened_and_one_that_fits_is_left():
    narrow = next(c for c in told(PLAN.replace("enroll: {from: 0, to: 4000", "enroll: {from: 0, to: 1000"))["columns"] if c["column"] == "enroll")
    assert narrow["advice"]["to"] == 2000 and narrow["advice"]["error_lower_by"] > 0.3, narrow["advice"]
    fits = told(PLAN.replace("enroll: {from: 0, to: 4000", "enroll: {from: 0, to: 2400"), "--column", "enroll")
    assert [c["column"] for c in fits["columns"]] == ["enroll"] and fits["columns"][0]["advice"]["to"] == 2400, fits["columns"][0]["advice"]
    assert "from 0 to 2400 fits" in bounds(PLAN.replace("enroll: {from: 0, to: 4000", "enroll: {from: 0, to: 2400")).stdout


@case
def no_advice_rests_on_a_large_bias():
    """In one of these groups a narrower range would have a bias far above the standard error, although errors fall on average."""
    plan, population = (COVERAGE / "persons-suppress.yaml").read_text(), COVERAGE / "persons.csv"
    column = told(plan, "--column", "wage", population=population)["columns"][0]
    assert column["advice"]["to"] == 60000 and any(t["error_lower_by"] > 0.03 for t in column["tried"]), column


@case
def totals_are_scaled_to_the_population_of_the_plan():
    """Half of the population: half of the bias of its total, of a plan that is about all of it."""
    with tempfile.TemporaryDirectory() as folder:
        half = pathlib.Path(folder, "half.csv")
        with half.open("w") as file:
            writer = csv.DictWriter(file, ROWS[0].keys())
            writer.writeheader()
            writer.writerows(ROWS[::2])
        column = next(c for c in told(PLAN, population=half)["columns"] if c["column"] == "enroll")
    values = [float(r["enroll"]) for r in ROWS[::2] if r["enroll"]]
    for trial in column["tried"]:
        bias = sum(min(x, trial["to"]) - x for x in values) * 6194 / len(ROWS[::2])
        assert abs(trial["statistics"][0]["bias"] - bias) < 1e-6 * abs(bias) + 1e-6, (trial, bias)


@case
def a_picture():
    with tempfile.TemporaryDirectory() as folder:
        for more, name in ((["--column", "enroll"], "range of enroll"), ([], "ranges be")):
            path = pathlib.Path(folder, "bounds.svg")
            assert bounds(PLAN, "--svg", path, *more).returncode == OK
            svg = path.read_text()
            assert svg.startswith("<svg") and name in svg and ("noise</text>" in svg) == bool(more), svg[:300]
        path = pathlib.Path(folder, "bounds.csv")
        done = bounds(PLAN, "--csv", path, "--json")
        advised = {(row["column"], float(row["to"])) for row in csv.DictReader(path.open()) if row["advised"] == "1"}
        assert advised == {(column["column"], column["advice"]["to"]) for column in json.loads(done.stdout)["columns"]}, advised


@case
def bad_input_is_told():
    is_usage_error(bounds(PLAN, "--column", "stype"), "--column: no statistic of the plan adds up a number stype")
    done = bounds(PLAN, population="no-such-file.csv")
    assert done.returncode == INVALID and done.stdout == "", done
    counts = PLAN[:PLAN.index("statistics:")] + "statistics: [{count: units, by: stype}]\nbudget: {epsilon: 4}\n"
    assert "no range matters" in bounds(counts).stderr
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "other.csv")
        path.write_text("a,b\n1,2\n")
        assert bounds(PLAN, population=path).returncode == INVALID
    is_usage_error(tamis("study", "bounds", "plan.yaml"), "--population")


main()
