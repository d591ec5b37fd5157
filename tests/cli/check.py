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
    done = check(PLAN)
    assert done.returncode == OK and done.stderr == "", done
    assert "california-schools-2000" in done.stdout and "epsilon" in done.stdout
    assert "One ledger keeps count" in done.stdout and "The account" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


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
    is_usage_error(tamis("check", "a.yaml", "b.yaml"), "'b.yaml' is one argument too many")
    is_usage_error(tamis("check", "a.yaml", "--out", "x"), "unknown option --out")


main()
