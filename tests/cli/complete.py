"""`missing: none`: columns that are declared complete."""
from kit import *

sys.path.insert(0, str(TOP / "tests"))
import verifier  # noqa: E402

PLAN = """tamis: 1
survey: complete
source: {file: data.csv}
design: {srs: {population: 1000, sample: 40}}
privacy: {epsilon: 2}
budget: {epsilon: 2}
columns:
  x: {from: 0, to: 10, step: 1, missing: HOW}
  awards: {values: ["No", "Yes"], missing: HOW}
statistics: [{mean: x}, {share: {awards: "Yes"}}, {mean: x, by: awards}, {share: {awards: "Yes", x: {from: 5}}}]
"""


def data(last):
    return "x,awards\n" + "".join(f"{i % 11},{'Yes' if i % 2 else 'No'}\n" for i in range(39)) + last + "\n"


def run(folder, command, how, last="3,No", *more):
    pathlib.Path(folder, "plan.yaml").write_text(PLAN.replace("HOW", how))
    pathlib.Path(folder, "data.csv").write_text(data(last))
    done = tamis(command, "plan.yaml", *more, "--json", cwd=folder)
    assert done.returncode == OK, done
    return json.loads(done.stdout)


@case
def nothing_is_measured_for_missing_values():
    """Whether a row has a value is no level of a table, and means have less noise."""
    with tempfile.TemporaryDirectory() as folder:
        declared, left_out = run(folder, "check", "none"), run(folder, "check", "leave_out")
    axes = lambda told: [axis for m in told["measurements"] for axis in m["axes"]]
    missing = lambda axis: axis["number"]["missing"] if "number" in axis else any(c["rest"] for c in axis["crossed"])
    assert axes(declared) and not any(map(missing, axes(declared))) and all(map(missing, axes(left_out))), (declared, left_out)
    for one, other in zip(declared["statistics"], left_out["statistics"]):
        assert one["noise_sd"] < other["noise_sd"], (one, other)
    assert any("x: from 0 to 10 in steps of 1; no value is missing" in line for line in declared["declared_public"])
    assert any("declared complete" in line for line in declared["not_covered"])
    assert not any("missing" in line for line in left_out["declared_public"])


@case
def what_is_missing_counts_all_the_same():
    """The middle of the range, the first value: of an empty cell, and of a text that the plan does not list."""
    with tempfile.TemporaryDirectory() as folder:
        whole = run(folder, "estimate", "none", "5,No")["results"]
        for last in (",", "words,Perhaps", "inf,"):
            told = run(folder, "estimate", "none", last)
            assert [r["estimate"] for r in told["results"]] == [r["estimate"] for r in whole], (last, told)
        assert run(folder, "estimate", "leave_out", ",")["results"] != whole
        text = tamis("estimate", "plan.yaml", cwd=folder).stdout
        pathlib.Path(folder, "plan.yaml").write_text(PLAN.replace("HOW", "none"))
        text = " ".join(tamis("estimate", "plan.yaml", cwd=folder).stdout.split())
        assert "x: 1 value is missing or not in the list, although the plan says that none is" in text, text


@case
def a_release_counts_them_too():
    """With an epsilon so large that the noise is below one row, for every way in which a value can be missing."""
    for last in ("5,No", ",", "words,Perhaps"):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "plan.yaml").write_text(PLAN.replace("HOW", "none").replace("epsilon: 2", "epsilon: 3000"))
            pathlib.Path(folder, "data.csv").write_text(data(last))
            done = tamis("release", "plan.yaml", "--out", "out", "--json", cwd=folder)
            assert done.returncode == OK, done
            released = [r["estimate"] for r in json.loads(done.stdout)["results"]]
            bare = [r["estimate"] for r in json.loads(tamis("estimate", "plan.yaml", "--json", cwd=folder).stdout)["results"]]
            assert all(abs(a - b) < 0.05 for a, b in zip(released, bare)), (last, released, bare)
            assert tamis("verify", "out/certificate.json", cwd=folder).returncode == OK
            assert verifier.verify(pathlib.Path(folder, "out")) == []
            certificate = json.loads(pathlib.Path(folder, "out", "certificate.json").read_text())
            assert certificate["plan"]["columns"]["x"]["missing"] == "none", certificate["plan"]["columns"]



main()
