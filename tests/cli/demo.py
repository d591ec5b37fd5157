"""tamis demo: a first look at tamis. Its town is made again by its script, and its truth is beside what is published."""
import csv
import importlib.util
import math

from kit import *

DEMO = TOP / "examples" / "demo"
FILES = {"release.json", "release.csv", "release.sdmx.csv", "release.xlsx", "measurements.json", "certificate.json", "registry.yaml",
         "report.html"}


def truth():
    return list(csv.DictReader((DEMO / "truth.csv").open()))


@case
def the_script_makes_the_same_files():
    found = importlib.util.spec_from_file_location("make", DEMO / "make.py")
    make = importlib.util.module_from_spec(found)
    found.loader.exec_module(make)
    with tempfile.TemporaryDirectory() as folder:
        make.write(pathlib.Path(folder))
        for name in ("sample.csv", "truth.csv"):
            assert pathlib.Path(folder, name).read_bytes() == (DEMO / name).read_bytes(), name


@case
def the_truth_is_that_of_the_numbers_that_are_published():
    """Unprotected estimates do not change from run to run: each is within four standard errors of the truth."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("plan.yaml", "sample.csv"):
            shutil.copy(DEMO / name, folder)
        done = tamis("estimate", "plan.yaml", "--json", "--quiet", cwd=folder)
        results = json.loads(done.stdout)["results"]
    rows = truth()
    assert len(rows) == len(results) == 12, len(results)
    for row, result in zip(rows, results):
        assert row["group"] in result["group"].values(), (row, result)
        assert abs(float(row["value"]) - result["estimate"]) <= 4 * result["se"], (row, result)


@case
def results_the_promise_and_the_way_on():
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            done = tamis("demo", env={"TMPDIR": folder})
            assert done.returncode == OK and done.stderr == "", done
            place = re.search(r"The report is (.+)/report.html: open it in a browser", done.stdout).group(1)
            assert place.startswith(folder) and FILES == set(os.listdir(place))
            assert f"\n{os.path.dirname(place)} is yours to keep or to delete.\n" in done.stdout
            plan = re.search(r"The plan is (.+)\n", done.stdout).group(1)
            assert (DEMO / "plan.yaml").read_text() == pathlib.Path(plan).read_text()
            assert all(len(line) <= 80 for line in done.stdout.splitlines() if folder not in line and plan not in line), done.stdout
            assert "ledger" not in done.stdout  # not the first thing that a newcomer should read
            compare(done.stdout, pathlib.Path(place))
            assert tamis("verify", place).returncode == OK
        assert len(os.listdir(folder)) == 2


def compare(text, place):
    """The table has the numbers of release.csv and of truth.csv; the promise is that of release.json."""
    rows = re.findall(r"^  (\S+) +(-?[\d,.]+) +(-?[\d,.]+) to (-?[\d,.]+)(?: \*)? +([\d,.]+)$", text, re.M)
    released = list(csv.DictReader((place / "release.csv").open()))
    assert len(rows) == len(released) == len(truth()), text
    number = lambda shown: float(shown.replace(",", ""))  # noqa: E731
    for row, result, true in zip(rows, released, truth()):
        assert row[0] == true["group"] and row[0] in (result["status"], result["age"]), row
        for shown, exact in ((row[1], result["estimate"]), (row[2], result["lower"]), (row[3], result["upper"]), (row[4], true["value"])):
            assert math.isclose(number(shown), float(exact), rel_tol=0.06, abs_tol=0.002), (row, result)
    meaning = {part["who"]: part["posterior"]["0.1"]["upper"] for part in json.loads((place / "release.json").read_text())["guarantee"]["meaning"]}
    for who, words in (("nosy neighbour", "a suspicion of 10 % about an answer can become"), ("outsider", "who does not know who was asked:")):
        said = float(re.search(re.escape(words) + r" ([\d.]+) % at most", text).group(1))
        assert 0 <= said - 100 * meaning[who] < 0.1001, (who, said, meaning)


@case
def a_json_form_and_an_out():
    with tempfile.TemporaryDirectory() as folder:
        assert "delete" not in tamis("demo", "--out", "kept", cwd=folder).stdout
        shutil.rmtree(os.path.join(folder, "kept"))
        done = tamis("demo", "--json", "--out", "town", cwd=folder)
        assert done.returncode == OK and json.loads(done.stdout)["survey"] == "town-2026", done
        assert os.listdir(folder) == ["town"]
        is_usage_error(tamis("demo", "--out", "town", cwd=folder), "--out town already exists")


@case
def nothing_is_left_behind_when_it_fails():
    done = tamis("demo", env={"TMPDIR": "/no/such/folder"})
    assert done.returncode == SYSTEM and done.stderr.startswith("tamis: cannot create a temporary folder"), done


main()
