"""The example of a collection, and randomized-response data of others where they are at hand (TAMIS_SHARED, or ../shared)."""
import csv
import json
import tempfile

from kit import *

SHARED = pathlib.Path(os.environ.get("TAMIS_SHARED", TOP.parent / "shared"))


@case
def a_collection_from_end_to_end():
    with tempfile.TemporaryDirectory() as folder:
        script = TOP / "examples" / "collection" / "clients.py"
        done = subprocess.run([sys.executable, script, "--tamis", PLAIN or TAMIS, "--clients", "20000"], cwd=folder, env=environment(),
                              capture_output=True, text=True, timeout=500)
        assert done.returncode == 0, done.stderr
        out = pathlib.Path(folder) / "collection"
        rows = list(csv.DictReader(open(out / "answers.csv")))
        said = json.loads((out / "tally" / "release.json").read_text())
        for result in said["results"]:
            truth = sum(int(row[result["column"]]) for row in rows) / len(rows)
            assert abs(result["estimate"] - truth) < 8 * result["noise_sd"]  # false alarm: below 10^-14
        assert tamis("verify", out / "tally").returncode == OK
        picture = (out / "shares.svg").read_text()
        assert picture.count('class="interval"') == 1 + len(said["results"]) and "20,000 randomized reports" in picture


def shared(*parts):
    path = SHARED.joinpath("data", *parts)
    if not path.exists():
        raise Skip(f"there is no data/{'/'.join(parts)}")
    return path


def reference(name):
    return {r["id"]: r for r in json.loads(shared(name, "reference.json").read_text())["results"]}


@case
def the_survey_of_warner():
    """Warner's device with p = 0.7 is a lie probability of 0.3; a simple random sample of 125 of 802."""
    rows = list(csv.DictReader(open(shared("randomized_response", "WarnerData.csv"))))
    warner = reference("randomized_response")["Warner"]
    values = dict(zip(warner["names"], warner["value"]))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "reports.csv"
        path.write_text("z\n" + "".join(row["z"] + "\n" for row in rows))
        done = tamis("tally", path, "--lie", "3/10", "--population", int(values["N"]), "--json")
    assert done.returncode == OK, done.stderr
    said = json.loads(done.stdout)
    result = said["results"][0]
    assert abs(result["estimate"] - values["mean"]) < 1e-12 and abs(result["se"] - values["se_mean"]) < 1e-12
    assert result["interval"]["lower"] < values["mean"] < result["interval"]["upper"]
    assert abs(said["guarantee"]["local"]["epsilon"]["upper"] - warner["epsilon_local"][0]) < 1e-12


@case
def the_demonstration_of_rappor():
    """A bit is reported with probability q = 3/4 if it is set and p = 1/2 if not: lies of 1/4 and 1/2. Two bits of the first cohort."""
    counts = [int(x) for x in next(csv.reader(open(shared("rappor", "counts.csv"))))]
    found = reference("rappor")
    n, bits = counts[0], (1, 2)
    ones = [counts[1 + bit] for bit in bits]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "reports.csv"
        low, high = min(ones), max(ones)
        middle = "1,0\n" if ones[0] > ones[1] else "0,1\n"
        path.write_text("a,b\n" + "1,1\n" * low + middle * (high - low) + "0,0\n" * (n - high))
        done = tamis("tally", path, "--lie", "1/4", "--lie-zero", "1/2", "--json")
    assert done.returncode == OK, done.stderr
    for bit, result in zip(bits, json.loads(done.stdout)["results"]):
        assert abs(result["estimate"] * n - found["bit_estimates"]["value"][0][bit]) < 1e-3
        assert abs(result["se"] * n - found["bit_estimate_sd"]["value"][0][bit]) < 1e-3


main()
