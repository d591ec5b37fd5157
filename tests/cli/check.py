"""tamis check"""
import json
import re

from kit import *


def check(text, *arguments):
    """Checks a plan that stands alone: no data beside it."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "plan.yaml").write_text(text)
        return tamis("check", "plan.yaml", *arguments, cwd=folder)


PLAN = (API / "plan.yaml").read_text()


@case
def prints_a_preview_that_fits_the_terminal():
    """A screen of 24 lines: errors, what is assumed, what helps, what it costs. --all has the rest."""
    plans = sorted(plan for plan in (TOP / "examples").rglob("*.yaml") if "source:" in plan.read_text())
    assert len(plans) > 20
    for plan in plans:
        done = tamis("check", plan.name, cwd=plan.parent)
        lines = done.stdout.splitlines()
        assert done.returncode == OK and done.stderr == "" and len(lines) <= 24 and all(len(line) <= 80 for line in lines), done.stdout
        assert "noise ±" in done.stdout and "Costs each sampled" in done.stdout and lines[-1].startswith("--all: "), done.stdout
    short, whole = check(PLAN), check(PLAN, "--all")
    assert "Helps most: " in short.stdout and "nothing spent yet; leaves epsilon 6." in short.stdout, short
    assert "releases in one ledger" in whole.stdout and "The account" in whole.stdout and "who wants to know" in whole.stdout
    assert all(len(line) <= 80 for line in whole.stdout.splitlines())


@case
def what_is_not_known_is_said():
    """Never a CV of 100 % of a range: without a guess of the size no CV, without the size of the sample no sampling error."""
    plan = ("tamis: 1\nsurvey: w\nsource: {file: a.csv}\ndesign: {weights: {strata: state}, weight: w, max_weight: 50TYPICAL}\n"
            "privacy: {epsilon: 1}\ncolumns:\n  x: {from: 0, to: 100, step: 1GUESS}\nstatistics: [{mean: x}, {median: x}]\nbudget: {epsilon: 1}\n")
    for typical, guess, known in (("", "", 1), (", typical: {population: 9000, sample: 500}", "", 3),
                                  (", typical: {population: 9000, sample: 500}", ", typical: {mean: 50, sd: 9}", 4)):
        text = plan.replace("TYPICAL", typical).replace("GUESS", guess)
        for more in ([], ["--all"]):
            line = next(line for line in check(text, *more).stdout.splitlines() if line.startswith("mean of x "))
            assert re.fullmatch(r"mean of x" + r" +[\d.,]+( %)?" * known + " +not known" * (4 - known), line), line
        told = json.loads(check(text, "--json").stdout)["statistics"][0]
        assert (told["se"] is None, told["cv"] is None) == (known < 3, known < 4), told
        assert (told["helps_most"] is None) == (known < 3), told


@case
def says_what_could_be_declared():
    """Each tried on the plan, the best first, and only what gains at least five per cent; no more than the screen has room for."""
    plan = ("tamis: 1\nsurvey: w\nsource: {file: a.csv}\ndesign: {weights: {strata: state, cluster: psu}, weight: w, max_weight: 50, "
            "typical: {population: 500000, sample: 30000, cluster: 100}}\nprivacy: {epsilon: 1}\ncolumns:\n"
            "  x: {from: 0, to: 200000, step: 1, typical: {mean: 30000, sd: 25000}}\n  g: {values: [f, m], typical: {f: 0.5}}\n"
            "statistics: [{mean: x}, {total: x}, {table: [g]}, {mean: x, by: g}]\nbudget: {epsilon: 1}\n")
    told = json.loads(check(plan, "--json").stdout)["declare"]
    gains = [one["error_lower_by"] for one in told]
    assert {"psus", "deff"} <= {one["declare"] for one in told} and min(gains) >= 0.05 and gains == sorted(gains, reverse=True), told
    short, whole = check(plan).stdout, check(plan, "--all").stdout
    assert "If the list of sampled clusters is public, declare `psus`: errors" in short and len(short.splitlines()) <= 24, short
    assert whole.split("What the plan could declare\n")[1].split("\n\n")[0].count("  - If ") == len(told), whole
    plain = plan.replace("{weights: {strata: state, cluster: psu}, weight: w, max_weight: 50, typical: {population: 500000, sample: 30000, cluster: 100}}",
                         "{srs: {population: 9000, sample: 300}}")
    assert "If no value is missing, declare `missing: none` of x, g: errors" in check(plain).stdout, check(plain).stdout
    complete = plain.replace("}}\n  g", "}, missing: none}\n  g").replace("{f: 0.5}}", "{f: 0.5}, missing: none}")
    assert json.loads(check(complete, "--json").stdout)["declare"] == [], check(complete, "--json").stdout
    assert "declare `" not in check(complete).stdout and "could declare" not in check(complete, "--all").stdout


@case
def rows_of_units_are_counted_out():
    plan = ("tamis: 1\nsurvey: h\nsource: {file: a.csv}\ndesign: {srs: {population: 50000, sample: 1560}, typical: {rows: 2.3}}\n"
            "privacy: {unit: household, id: hid, rows_per_unit: 6, epsilon: 1}\ncolumns: {sex: {values: [f, m]}}\n"
            "statistics: [{count: units, by: sex}]\nbudget: {epsilon: 1}\n")
    assert "1,560 × 2.3 rows per household = 3,588 rows, of 115,000 in the population" in check(plan).stdout, check(plan).stdout
    assert "×" not in check(PLAN).stdout


@case
def tables_fit_the_terminal_with_long_names_and_numbers():
    plans = [TOP / "examples" / "coverage" / f"{name}.yaml" for name in ("persons-suppress", "persons-calibrated", "belgium-srs")]
    for text in [PLAN] + [plan.read_text() for plan in plans]:
        names = re.findall(r"(?m)^  (\w+):", re.search(r"(?m)^columns:\n((?:[ #].*\n|\n)+)", text).group(1))
        for name in names:
            text = re.sub(rf"\b{name}\b", name + "_of_household_reference_person", text)
        for more in ([], ["--all"], ["--compare"]):
            done = check(text, *more)
            assert done.returncode == OK and all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout
            joined = re.sub(r"\s", "", done.stdout)
            assert any(f"of{name}_of_household_reference_person" in joined for name in names), done.stdout


@case
def reads_no_data():
    assert check(PLAN.replace("apisrs.csv", "no-such-file.csv")).returncode == OK


@case
def prints_one_json_object():
    done = check(PLAN, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == OK and done.stderr == "" and told["survey"] == "california-schools-2000"


@case
def tells_every_error_with_its_place():
    text = PLAN.replace("sample: 200", "sample: 7000").replace("epsilon: ", "epsilon: -").replace("mean: api00", "mean: api99")
    done = check(text)
    assert done.returncode == INVALID and done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) >= 4 and all(re.match(r"plan\.yaml:\d+:\d+: ", line) for line in lines), done.stderr
    places = [tuple(map(int, line.split(":")[1:3])) for line in lines]
    assert places == sorted(places)


@case
def budgets_beyond_all_bounds_are_told():
    municipalities = (TOP / "examples" / "municipalities" / "plan.yaml").read_text().replace(", frame: frame.csv}", "}\n  max_weight: 8")
    for text in (municipalities.replace("rho: 1", "rho: 1000000"), PLAN.replace("epsilon: 6", "epsilon: 1e30"),
                 PLAN.replace("epsilon: 6", "epsilon: 1e-30"), PLAN.replace("epsilon: 6", "rho: 1e300")):
        done = check(text)
        assert done.returncode == INVALID and re.match(r"plan\.yaml:\d+:\d+: privacy\.(rho|epsilon): ", done.stderr), done


@case
def counts_that_the_design_states_need_no_table():
    strata = "srs, strata: {E: {population: 4421, sample: 100}, M: {population: 1018, sample: 50}, H: {population: 755, sample: 50}}}"
    plan = PLAN.replace("srs: {population: 6194, sample: 200}", "stratified: {by: stype, within: " + strata)
    for statistics in ("  - {count: units, by: stype}\n", "  - {count: units, by: stype}\n  - {total: enroll, by: stype}\n"):
        done = check(re.sub("statistics:\n.*budget", "statistics:\n" + statistics + "budget", plan, flags=re.S))
        assert done.returncode == OK and re.search(r"count of units by\s+stype\s+known", done.stdout), done


@case
def comparisons_say_what_is_not_predicted():
    plan = PLAN.replace("srs: {population: 6194, sample: 200}", "weights: {}\n  weight: pw\n  max_weight: 40")
    done = check(plan, "--compare")
    assert done.returncode == OK and re.search("total of enroll +- +- +- +-\n", done.stdout) and "inf" not in done.stdout, done
    assert "no sampling error can be predicted" in " ".join(done.stdout.split()), done.stdout
    guessed = check(plan.replace("max_weight: 40", "max_weight: 40\n  typical: {sample: 200, population: 6000}"), "--compare").stdout
    assert "can be predicted" not in " ".join(guessed.split()), guessed


@case
def strata_without_sampling_errors_are_told():
    strata = "srs, strata: {E: {population: 4421, sample: 100}, M: {population: 1018, sample: 1}}}"
    plan = PLAN.replace("srs: {population: 6194, sample: 200}", "stratified: {by: stype, within: " + strata).replace("[E, M, H]", "[E, M]")
    clusters = plan.replace("within: srs", "within: {cluster: {by: dnum, smallest: 1, largest: 9}}")
    assert "no sampling errors" not in check(clusters).stdout  # the cluster is compared with those of the other stratum
    single = PLAN.replace("srs: {population: 6194, sample: 200}", "cluster: {by: dnum, population: 700, sample: 1, smallest: 1, largest: 9}")
    for text, word in ((plan, "only one sampled unit"), (single, "only one cluster was drawn")):
        done = check(text)
        assert done.returncode == OK and "WARNING, no sampling errors and no intervals" in done.stdout, done
        assert word in " ".join(done.stdout.split()), done.stdout
        assert any(word in told for told in json.loads(check(text, "--json").stdout)["warnings"])
        assert "no sampling errors" not in check(text.replace("sample: 1}", "sample: 2}").replace("sample: 1,", "sample: 2,")).stdout
        assert "no sampling errors" not in check(text.replace("population: 1018", "population: 1").replace("population: 700", "population: 1")).stdout


def many_means(count):
    columns = "".join(f"  x{i}: {{from: 0, to: {100 if i % 2 else 50}, step: 1}}\n" for i in range(count))
    return ("tamis: 1\nsurvey: many\nsource: {file: a.csv}\ndesign: {srs: {population: 10000, sample: 1000}}\n"
            f"privacy: {{unit: employee, epsilon: 4}}\nbudget: {{epsilon: 4}}\ncolumns:\n{columns}statistics:\n"
            + "".join(f"  - {{mean: x{i}}}\n" for i in range(count)))


@case
def what_is_alike_shares_a_line():
    done = check(many_means(200))
    assert done.returncode == OK and len(done.stdout.splitlines()) <= 23 and "mean of x0 and 199 more" in done.stdout, done.stdout
    assert re.search(r"mean of x0 and 199 more +4\.\d–8\.\d ", done.stdout), done.stdout
    each = re.sub(" +", " ", re.sub("\n +", " ", check(many_means(200), "--all").stdout))  # without breaks in names
    for i in range(200):
        assert f"mean of x{i} " in each and f" - x{i}: from 0 to " in each and f"squares of x{i} " in each
    assert "more" not in each.split("What would be guaranteed")[0]
    assert len(json.loads(check(many_means(200), "--json").stdout)["statistics"]) == 200
    few = check(many_means(3)).stdout
    assert all(f"mean of x{i} " in few for i in range(3)) and " more" not in few.split("What would be guaranteed")[0]


@case
def warnings_that_are_alike_share_lines():
    done = check(many_means(200).replace("epsilon: 4", "epsilon: 4000"))
    told = json.loads(check(many_means(200).replace("epsilon: 4", "epsilon: 4000"), "--json").stdout)
    assert len(told["warnings"]) == len(told["measurements"]) > 50, told["warnings"]
    assert done.returncode == OK and len(done.stdout.splitlines()) < 120, done.stdout
    assert f"{len(told['warnings']) - 3} more tables" in done.stdout, done.stdout
    drowned = check(many_means(200).replace("epsilon: 4", "epsilon: 0.1")).stdout
    assert drowned.count("WARNING: ") == 1 and "and 199 more: the noise exceeds a third" in drowned, drowned


@case
def a_unit_has_its_article():
    for unit, words in (("employee", "such an employee's"), ("school", "such a school's"), ("university", "such a university's"),
                        ("hour", "such an hour's"), ("European", "such a European's")):
        text = " ".join(check(PLAN.replace("unit: school", f"unit: {unit}"), "--all").stdout.split())
        assert words in text, (words, text)


WEIGHTS = """tamis: 1
survey: w
source: {file: a.csv}
design: {weights: {strata: state, cluster: psu}, weight: w, max_weight: 50}
privacy: {epsilon: 1}
budget: {epsilon: 1}
columns:
  x: {from: 0, to: 100, step: 1}
  y: {from: 0, to: 10, step: 1}
  g: {values: [a, b, c]}
statistics: [{total: x}, {mean: x, by: g}, {share: {g: a}}, {count: units, where: {y: {from: 5}}}]
"""


@case
def rows_of_a_unit_are_guessed_with_their_spread():
    """Where a unit has several rows, their number varies, and with it a count of rows."""
    plan = WEIGHTS.replace("{epsilon: 1}\nbudget", "{epsilon: 1, id: i, rows_per_unit: 9}\nbudget").replace(
        "weights: {strata: state, cluster: psu}, weight: w, max_weight: 50", "srs: {population: 4000, sample: 100}TYPICAL")
    words = ["a unit has 5 rows on average", "the numbers of rows per unit have a standard deviation of 2"]
    for typical, left in (("", 2), (", typical: {rows: 5}", 1), (", typical: {rows: {mean: 5, sd: 3}}", 0)):
        text = " ".join(check(plan.replace("TYPICAL", typical)).stdout.split())
        assert [w in text for w in words] == [left > 1, left > 0], text
    done = check(plan.replace("TYPICAL", ", typical: {rows: {mean: 10, sd: -1}}"))
    assert done.returncode == INVALID and "expected a mean of at most rows_per_unit (9)" in done.stderr and "rows.sd" in done.stderr, done
    counted = plan.replace("[{total: x},", "[{count: units},").replace("TYPICAL", ", typical: {rows: {mean: 5, sd: SD}}")
    errors = [json.loads(check(counted.replace("SD", sd), "--json").stdout)["statistics"][0]["sampling_se"] for sd in "0 2 4".split()]
    # N sd sqrt((1 - n/N)/n), and what an interval adds because that is measured with noise, which is larger than it here
    assert errors[0] == 0 and all(1 <= e / (4000 * sd * ((1 - 100 / 4000) / 100) ** 0.5) < 3.5 for e, sd in zip(errors[1:], (2, 4))), errors


@case
def each_assumption_is_listed_and_goes_when_it_is_declared():
    """One guess after the other is written into a plan that has none: what was assumed instead is no longer listed, and in the end
    nothing is."""
    steps = [("a population of 1,000,000 units", "max_weight: 50", "max_weight: 50, typical: {population: 4000}"),
             ("a sample of 240 units: three times the population divided by the largest weight", "population: 4000}",
              "population: 4000, sample: 500}"),
             ("a cluster has 10 units on average", "sample: 500}", "sample: 500, cluster: 7}"),
             ("the sizes of clusters have a standard deviation of 0", "cluster: 7}", "cluster: {mean: 7, sd: 2}}"),
             ("an intraclass correlation of 0.05", "sd: 2}}", "sd: 2}, icc: 0.1}"),
             ("x: every unit has a value", "to: 100, step: 1", "to: 100, step: 1, typical: {share: 0.9}"),
             ("x: the mean is at three quarters of the range", "typical: {share: 0.9}", "typical: 40"),
             ("x: the standard deviation is half the largest", "typical: 40", "typical: {mean: 40, sd: 20}"),
             ("g: groups are of equal size", "values: [a, b, c]", "values: [a, b, c], typical: {a: 0.2, b: 0.3}"),
             ("y: a condition holds for half of the units", "to: 10, step: 1", "to: 10, step: 1, typical: {mean: 4, sd: 2}")]
    text = WEIGHTS
    listed = lambda plan: " ".join(check(plan).stdout.split()).split("measured with noise")[0]
    for words, before, after in steps:
        assert words in listed(text), (words, listed(text))
        assert before in text
        text = text.replace(before, after)
        assert words not in listed(text), (words, listed(text))
    assert "Assumed" not in listed(text) and json.loads(check(text, "--json").stdout)["assumed"] == []
    told = json.loads(check(WEIGHTS, "--json").stdout)["assumed"]
    assert len(told) == 10 and any("no sampling error can be predicted" in a["assumed"] for a in told), told
    assert all(a["assumed"] and "typical" in a["declare"] for a in told), told
    assert {"x"} == set(next(a for a in told if "mean" in a["assumed"])["columns"])


@case
def a_guess_moves_the_preview():
    """Ten times as many units: a mean has a tenth of the noise, a total the same but for how the budget is split; a rare group has
    a mean with more of it."""
    first = lambda text: json.loads(check(text, "--json").stdout)["statistics"]
    with_size = lambda n: WEIGHTS.replace("max_weight: 50", f"max_weight: 50, typical: {{population: {n}, sample: 50}}")
    small, large = first(with_size(1e5)), first(with_size(1e6))
    assert abs(small[0]["noise_sd"] / large[0]["noise_sd"] - 1) < 0.05 and 9 < small[1]["noise_sd"] / large[1]["noise_sd"] < 11, (small, large)
    groups = first(with_size(1e6).replace("[a, b, c]", "[a, b, c], typical: {a: 0.05, b: 0.9}"))[1]["groups"]
    assert [g["group"]["g"] for g in groups] == ["a", "b", "c"] and groups[0]["noise_sd"] > 15 * groups[1]["noise_sd"], groups
    assert all(g["se"] > g["noise_sd"] and g["sampling_se"] > 0 for g in groups)


@case
def the_change_that_helps_most_does():
    """Each change that check has tried is written into the plan: the errors are then those that it predicted."""
    plan = (TOP / "examples" / "coverage" / "persons-consistent.yaml").read_text()
    told = json.loads(check(plan, "--json").stdout)["statistics"]
    for statistic in told:
        gains = {c["change"]: c["error_lower_by"] for c in statistic["changes"]}
        assert set(gains) >= {"twice_the_budget", "delta", "secret_sample"}, gains
        assert statistic["helps_most"] == max(gains, key=gains.get) and max(gains.values()) > 0.03, statistic
        assert ("half_the_range" in gains) == (statistic["column"] == "wage") and ("half_the_groups" in gains) == bool(statistic["by"])
        assert statistic["cv"] is None or statistic["cv"] > 0 and all(g["cv"] > 0 for g in statistic.get("groups", [])), statistic
    twice = json.loads(check(plan.replace("epsilon: 1", "epsilon: 2"), "--json").stdout)["statistics"]
    delta = json.loads(check(plan.replace("epsilon: 1}", "epsilon: 1, delta: 1e-6}").replace("{epsilon: 2}", "{epsilon: 2, delta: 1e-6}"), "--json").stdout)["statistics"]
    assert plan.count("to: 60000") == 1
    half = json.loads(check(plan.replace("to: 60000", "to: 30000"), "--json").stdout)["statistics"]
    for now, change, then in ((now, change, then[i]) for i, now in enumerate(told) for change, then in
                              (("twice_the_budget", twice), ("delta", delta), ("half_the_range", half))):
        tried = [c for c in now["changes"] if c["change"] == change]
        if not tried:
            continue
        assert abs(tried[0]["noise_sd"] / then["noise_sd"] - 1) < 1e-9, (change, tried, then)
        assert change == "half_the_range" or abs(tried[0]["se"] / then["se"] - 1) < 1e-9, (change, tried, then)
        assert abs(tried[0]["error_lower_by"] - (1 - tried[0]["se"] / now["se"])) < 1e-9
    text = check(plan, "--all").stdout
    assert "helps most" in text and "tamis study bounds" in " ".join(text.split()), text


@case
def changes_of_a_plan_of_many_statistics_keep_its_tables():
    """Then twice the budget halves every noise (but for whole numbers), and the answer says on which tables it rests."""
    columns = "".join(f"  c{k}: {{values: [a, b, c], missing: none}}\n" for k in range(7))
    asked = "".join(f"  - {{table: [c{i}, c{k}]}}\n" for i in range(7) for k in range(i))
    plan = ("tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 90000, sample: 900}}\n"
            "privacy: {unit: person, epsilon: 1}\ncolumns:\n" + columns + "statistics:\n")
    for statistics, many in ((asked, True), ("".join(asked.splitlines(True)[:20]), False)):
        done = check(plan + statistics, "--json")
        assert done.returncode == OK, done
        gains = [next(c["noise_sd"] for c in s["changes"] if c["change"] == "twice_the_budget") / s["noise_sd"]
                 for s in json.loads(done.stdout)["statistics"]]
        assert not many or len(gains) == 21 and all(abs(g - 0.5) < 0.01 for g in gains), gains
        assert ("with the tables that it has now" in " ".join(check(plan + statistics, "--all").stdout.split())) == many


@case
def where_the_noise_is_small_only_a_larger_sample_helps():
    told = json.loads(check(PLAN.replace("epsilon: 6", "epsilon: 600").replace("epsilon: 12", "epsilon: 1200"), "--json").stdout)["statistics"]
    assert [s.get("helps_most") for s in told] == [None] + ["larger_sample"] * (len(told) - 1), told


@case
def strategies_are_compared():
    """Twice the budget is what the plan with twice the budget has; under the other law likewise; nothing is better by itself."""
    done = check(PLAN, "--compare", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == OK and done.stderr == ""
    strategies = {s["name"]: s for s in told["strategies"]}
    assert list(strategies) == ["this", "each_by_itself", "other_law", "twice_the_budget"]
    assert [s["law"] for s in told["strategies"]] == ["discrete_laplace"] * 2 + ["discrete_gaussian", "discrete_laplace"]
    rho = strategies["other_law"]["rho"]
    plans = {"this": PLAN, "twice_the_budget": PLAN.replace("epsilon: 6", "epsilon: 12"),
             "other_law": PLAN.replace("epsilon: 6", f"rho: {rho}", 1).replace("budget: {epsilon: 12}", f"budget: {{rho: {rho}}}")}
    for name, plan in plans.items():
        for own, other in zip(told["statistics"], json.loads(check(plan, "--json").stdout)["statistics"]):
            if own["known"]:
                assert name not in own
                continue
            assert abs(own[name]["noise_sd"] / other["noise_sd"] - 1) < 1e-9 and abs(own[name]["se"] / other["se"] - 1) < 1e-9, (name, own, other)
    measured = [s for s in told["statistics"] if not s["known"]]
    for s in measured:
        assert s["each_by_itself"]["noise_sd"] > 0.99 * s["this"]["noise_sd"] and s["twice_the_budget"]["se"] < s["this"]["se"], s
    done = check(PLAN, "--compare")
    assert done.returncode == OK and all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "each by itself" in done.stdout and "Gaussian" in done.stdout and "twice the budget" in done.stdout, done.stdout
    gaussian = (TOP / "examples" / "municipalities" / "plan.yaml").read_text().replace(", frame: frame.csv}", "}\n  max_weight: 8")
    told = json.loads(check(gaussian, "--compare", "--json").stdout)
    assert told["strategies"][2]["law"] == "discrete_laplace" and told["strategies"][2]["epsilon"] == "141/100", told["strategies"]
    nothing = PLAN[:PLAN.index("statistics:")] + "statistics:\n  - count: units\n" + "budget: {epsilon: 6}\n"
    assert "nothing is measured" in check(nothing, "--compare").stdout


@case
def what_is_no_plan_is_invalid():
    for text in ("", "a: [", "\0", "- 1", "tamis: 2", "\t", "x" * 2_000_000):
        done = check(text)
        assert done.returncode == INVALID and done.stdout == "" and done.stderr != "", (text[:9], done)


@case
def a_plan_that_cannot_be_opened_is_invalid():
    for path in ("no-such-plan.yaml", "/", "x" * 300 + ".yaml"):
        done = tamis("check", path)
        assert done.returncode == INVALID and done.stderr.startswith("tamis: ") and done.stdout == "", done


@case
def a_plan_may_have_a_name_like_an_option():
    with folder_with_plan() as folder:
        os.rename(folder / "plan.yaml", folder / "--plan.yaml")
        assert tamis("check", "--", "--plan.yaml", cwd=folder).returncode == OK
        is_usage_error(tamis("check", "--plan.yaml", cwd=folder), "unknown option --plan.yaml")


@case
def one_plan_and_no_more():
    is_usage_error(tamis("check"), "PLAN.yaml is missing")
    is_usage_error(tamis("check", "a.yaml", "b.yaml"), "unexpected argument 'b.yaml'")
    is_usage_error(tamis("check", "a.yaml", "--out", "x"), "unknown option --out")


main()
