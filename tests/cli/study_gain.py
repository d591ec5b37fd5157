"""tamis study gain, rate, allocation, epsilon and plan: what they say, in all forms, and what is refused."""
import csv
import io
import json
import math
import xml.etree.ElementTree as xml

from kit import *

MEAN = ["--population", "10001", "--epsilon", "0.1", "--range", "0:1", "--sd", "0.2"]
INCOMES = ["--statistic", "median", "--values", "lognormal:5,0.5", "--range", "0:1000", "--population", "1001", "--delta", "1e-4"]


def study(*arguments, **options):
    options.setdefault("cwd", API)
    return tamis("study", *arguments, **options)


def told(*arguments, **options):
    done = study(*arguments, "--json", "--quiet", **options)
    assert done.returncode == OK and done.stderr == "", done
    return json.loads(done.stdout)


def by(results, *keys):
    return {tuple(r[key] for key in keys): r for r in results}


@case
def the_mean_by_its_formula():
    found = told("gain", *MEAN, "--statistic", "mean", "--rate", "0.1")
    results = by(found["results"], "mechanism", "setting")
    n, eps_n = 1000, math.log1p(10001 / 1000 * math.expm1(0.1))
    sampling = math.sqrt((1 - n / 10001) * 0.04 / n)
    for setting, noise in (("census", math.sqrt(2) / (0.1 * 10001)), ("sample given frame", math.sqrt(2) / (0.1 * n)),
                           ("secret sample", math.sqrt(2) / (eps_n * n))):
        r = results["laplace", setting]
        assert math.isclose(r["standard_error"], math.hypot(noise, 0 if setting == "census" else sampling), rel_tol=1e-9), r
        assert r["error"] == 0, r
    assert list(results) == [("laplace", s) for s in ("census", "sample given frame", "secret sample")]
    done = study("gain", *MEAN)
    assert done.returncode == OK and "never needs less noise" in done.stdout and all(len(l) < 80 for l in done.stdout.splitlines())


@case
def every_mechanism_of_a_median():
    found = told("gain", *INCOMES, "--epsilon", "0.1", "--runs", "60")
    results = by(found["results"], "mechanism", "setting")
    assert {m for m, _ in results} == {"laplace", "gaussian", "inverse", "smooth", "smooth-paper", "counts", "smooth-pure", "threshold", "tree", "prefix"}
    assert len(results) == 10 * 3
    for (mechanism, setting), r in results.items():
        assert r["standard_error"] >= r["sampling_error"] * (1 - 0.3) and r["standard_error"] > 0, r
        assert (r["sampling_error"] == 0) == (setting == "census"), r
    for setting in ("census", "sample given frame", "secret sample"):
        ours, usual = results["smooth", setting], results["smooth-paper", setting]
        assert ours["standard_error"] < usual["standard_error"], setting
    assert results["smooth-paper", "secret sample"]["ratio_to_census"] < 1 < results["inverse", "secret sample"]["ratio_to_census"]


QUANTILES = ["--values", "lognormal:5,0.5", "--range", "0:1000", "--population", "4001", "--epsilon", "1", "--runs", "40"]
FEW_RUNS = [*QUANTILES[:-1], "6"]  # where 22 rates are tried


@case
def any_quantile_several_and_groups():
    one = told("gain", *QUANTILES, "--at", "0.5")
    median = told("gain", *QUANTILES, "--statistic", "median")
    assert one["results"] == median["results"] and one["statistic"] == "quantile" and one["at"] == median["at"] == [0.5]
    high = by(told("gain", *QUANTILES, "--at", "0.9")["results"], "mechanism", "setting")
    low = by(one["results"], "mechanism", "setting")
    for setting in ("census", "sample given frame", "secret sample"):  # incomes are far apart at 0.9, and the noise of a range is the same
        assert high["inverse", setting]["standard_error"] > 1.5 * low["inverse", setting]["standard_error"]
    assert math.isclose(high["laplace", "census"]["standard_error"], low["laplace", "census"]["standard_error"])
    both = told("gain", *QUANTILES, "--at", "0.25,0.5,0.75")
    several = by(both["results"], "mechanism", "setting")
    assert {"joint", "split"} <= {m for m, _ in several} and not {"joint", "split"} & {m for m, _ in low}
    assert math.isclose(several["laplace", "census"]["standard_error"], 3 * low["laplace", "census"]["standard_error"], rel_tol=1e-9)
    assert several["joint", "census"]["standard_error"] < several["smooth-pure", "census"]["standard_error"]
    grouped = told("gain", *QUANTILES, "--at", "0.25,0.5,0.75", "--groups", "5")
    assert grouped["population"] == 800 and grouped["groups"] == 5
    of_groups = by(grouped["results"], "mechanism", "setting")
    assert not any("smooth" in m for m, _ in of_groups)  # how many rows a group has is not public
    assert math.isclose(of_groups["laplace", "census"]["standard_error"], 6 * low["laplace", "census"]["standard_error"], rel_tol=1e-9)
    assert of_groups["joint", "census"]["standard_error"] > 2 * several["joint", "census"]["standard_error"]  # a fifth of the rows
    text = study("gain", *QUANTILES, "--at", "0.25,0.5,0.75", "--groups", "5").stdout
    assert "the quantiles 0.25, 0.5, 0.75 of each of 5 groups of 800 values" in " ".join(text.split()), text
    found = told("rate", *FEW_RUNS, "--at", "0.25,0.75", "--mechanism", "joint")
    assert found["best"]["rate"] == 1 and all(r["mechanism"] == "joint" for r in found["results"]) and len(found["results"]) == 22
    text = study("rate", *FEW_RUNS, "--at", "0.25,0.75", "--delta", "1e-6").stdout
    assert all(len(line) < 80 for line in text.splitlines()) and "prefix" in text
    for arguments, word in ((["--at", "0.5", "--statistic", "mean"], "--at is for"), (["--statistic", "quantile"], "--at is missing"),
                            (["--at", "0.5,0.4"], "--at"), (["--at", "1.5"], "--at"), (["--at", "0.5", "--groups", "0"], "--groups must be"),
                            (["--at", "0.5", "--groups", "3000"], "--groups: must be"), (["--groups", "2"], "are for quantiles"),
                            (["--at", "0.5", "--mechanism", "joint"], "is for several quantiles"), (["--at", "0.5", "--step", "0"], "--step"),
                            (["--at", "0.5", "--groups", "2", "--mechanism", "smooth-pure"], "is for one file"),
                            (["--at", "0.5", "--mechanism", "prefix"], "--mechanism: prefix needs a delta")):
        is_usage_error(study("gain", *QUANTILES, *arguments), word)
    is_usage_error(study("gain", *QUANTILES, "--mechanism", "histogram"), "counts")


@case
def the_same_for_every_number_of_threads():
    texts = [study("rate", *INCOMES, "--epsilon", "0.3", "--runs", "8", "--seed", "3", "--threads", threads).stdout
             for threads in (1, 2, 5)]
    assert texts[0] == texts[1] == texts[2] != ""
    assert study("rate", *INCOMES, "--epsilon", "0.3", "--runs", "8", "--seed", "4").stdout != texts[0]


@case
def rates_and_a_sentence():
    found = told("rate", *MEAN)
    assert found["best"]["rate"] == 1 and found["advice"].startswith("Take everybody"), found["best"]
    found = told("rate", *INCOMES, "--epsilon", "0.1", "--mechanism", "smooth-paper", "--runs", "60")
    best = found["best"]
    assert found["advice"].startswith("Sample ") and "falls by" in found["advice"] and "must be secret" in found["advice"]
    errors = {r["rate"]: r["standard_error"] for r in found["results"]}
    assert best["standard_error"] == min(errors.values()) < errors[1] == best["standard_error_of_census"]


@case
def files_of_pictures_and_numbers():
    with tempfile.TemporaryDirectory() as folder:
        done = study("rate", *MEAN, "--svg", f"{folder}/a.svg", "--csv", f"{folder}/a.csv")
        assert done.returncode == OK, done
        xml.parse(f"{folder}/a.svg")
        rows = list(csv.DictReader(open(f"{folder}/a.csv")))
        assert len(rows) == 22 and float(rows[-1]["rate"]) == 1 and rows[0]["mechanism"] == "laplace"
        is_usage_error(study("rate", *MEAN, "--svg", f"{folder}/no/a.svg"), "cannot write")


@case
def public_data_and_a_released_wave_are_populations():
    found = told("gain", "--statistic", "median", "--values", "apisrs.csv", "--column", "api00", "--range", "200:1000", "--epsilon", "1",
                 "--runs", "10")
    assert found["population"] == 200 and found["clamped"] == 0
    with folder_with_plan() as folder:
        text = (folder / "plan.yaml").read_text()
        (folder / "plan.yaml").write_text(text.replace("statistics:\n", "statistics:\n" + "".join(
            f"  - share: {{api00: {{to: {value}}}}}\n" for value in (500, 650, 800))).replace("epsilon: 6", "epsilon: 600").replace("epsilon: 12", "epsilon: 1200"))
        assert with_memory("release", "plan.yaml", "--out", "wave", cwd=folder).returncode == OK
        released = [r for r in json.loads((folder / "wave" / "release.json").read_text())["results"]
                    if r["statistic"] == "share"]
        assert len(released) == 3
        found = told("gain", "--statistic", "median", "--values", "wave/release.json", "--column", "api00", "--range", "200:1000",
                     "--epsilon", "1", "--population", "6194", "--runs", "10", cwd=folder)
        assert found["population"] == 6194 and 50 < found["sd"] < 250, found["sd"]


@case
def strata():
    found = told("allocation", "strata.csv", "--sample", "200", "--epsilon", "0.05")
    errors = found["standard_error_of_mean"]
    for promise in ("sample_given_frame", "secret_sample"):
        assert sum(r[promise] for r in found["results"]) == sum(r["neyman"] for r in found["results"]) == 200
        assert errors[promise][promise] <= min(errors[promise].values()), errors
    assert [r["stratum"] for r in found["results"]] == ["elementary", "middle", "high"]


@case
def the_smallest_epsilon():
    found = told("epsilon", "plan.yaml", "mean api00=20", "total enroll=400000")
    rows = [r for r in found["results"] if r["epsilon"] == found["epsilon"]]
    assert all(r["error"] <= r["allowed"] for r in rows if r["allowed"] is not None)
    assert {r["epsilon"] for r in found["results"]} == {found["epsilon"] / 2 ** k for k in range(4)}
    with folder_with_plan() as folder:
        text = (folder / "plan.yaml").read_text().replace("epsilon: 6", f"epsilon: {found['epsilon']}").replace("epsilon: 12", "epsilon: 1000")
        (folder / "plan.yaml").write_text(text)
        preview = json.loads(tamis("check", "plan.yaml", "--json", cwd=folder).stdout)["statistics"]
        assert max(s["se"] for s in preview if (s["statistic"], s["column"], s["by"]) == ("mean", "api00", [])) <= 20
    for error in ("0.5", "0.6", "0.7", "0.8", "0.9", "1", "1.1", "1.3", "1.7", "2"):  # three digits are meant, and no more are printed
        printed = re.search(r'"epsilon": ([\d.]+)', study("epsilon", "plan.yaml", "--error", error, "--json").stdout)[1]
        assert len(printed.replace(".", "").strip("0")) <= 3, printed
    with folder_with_plan() as folder:  # a ledger that would refuse so large a release does not stop the study
        assert with_memory("release", "plan.yaml", "--out", "first", cwd=folder).returncode == OK
        assert told("epsilon", "plan.yaml", "mean api00=20", "total enroll=400000", cwd=folder) == found
        before = sorted(os.listdir(folder))
        assert study("epsilon", "plan.yaml", "--error", "0.5", cwd=folder).returncode == OK
        assert sorted(os.listdir(folder)) == before, "a study charges no ledger"


@case
def the_errors_of_a_plan():
    found = told("plan", "plan.yaml")
    preview = json.loads(tamis("check", "plan.yaml", "--json", cwd=API).stdout)["statistics"]
    wanted = [g["se"] for s in preview if not s["known"] for g in s.get("groups", [s])]
    assert [r["formula"] for r in found["results"]] == wanted and found["population"] is None
    found = told("plan", "study.yaml", "--population", "apisrs.csv", "--runs", "20")
    assert found["runs"] == 20 and all(r["simulated"] > 0 for r in found["results"]), found
    done = study("plan", "plan.yaml", "--runs", "5", "--seed", "2")
    assert done.returncode == OK and "made up" in done.stdout, done


@case
def bad_input_is_named():
    for arguments, word in (
            (["--epsilon", "0", "--range", "0:1", "--sd", "0.2", "--population", "9"], "--epsilon: must be positive"),
            (["--epsilon", "-1", "--range", "0:1", "--sd", "0.2", "--population", "9"], "--epsilon: must be positive"),
            (["--epsilon", "x", "--range", "0:1", "--sd", "0.2", "--population", "9"], "--epsilon"),
            (["--epsilon", "1", "--range", "0:inf", "--sd", "0.2", "--population", "9"], "--range must be two finite numbers"),
            (["--epsilon", "1", "--range", "1:0", "--sd", "0.2", "--population", "9"], "--range: must have two finite ends"),
            (["--epsilon", "1", "--range", "0", "--sd", "0.2", "--population", "9"], "--range must be"),
            (["--epsilon", "1", "--range", "0:1", "--sd", "0", "--population", "9"], "--sd: must be positive"),
            (["--epsilon", "1", "--range", "0:1", "--population", "9"], "--sd: the standard deviation is needed"),
            (["--epsilon", "1", "--range", "0:1", "--sd", "0.2", "--population", "0"], "--population must be"),
            (["--epsilon", "1", "--range", "0:1", "--sd", "0.2", "--population", "9", "--delta", "2"], "--delta: must be"),
            (["--epsilon", "1", "--range", "0:1", "--values", "gamma:1,2"], "--values: must be beta:A,B"),
            (["--epsilon", "1", "--range", "0:1", "--values", "uniform", "--runs", "1"], "--runs: must be"),
            (["--epsilon", "1", "--range", "0:1", "--values", "uniform", "--seed", "-1"], "--seed must be"),
            (["--epsilon", "1", "--range", "0:1", "--values", "uniform", "--mechanism", "gaussian"], "--mechanism: gaussian needs a delta"),
            (["--range", "0:1", "--values", "uniform"], "--epsilon E is missing")):
        for command in ("gain", "rate"):
            is_usage_error(study(command, *arguments), word)
        is_usage_error(study("gain", *arguments, "--json"), word)
    for rate in ("0", "-0.1", "1.001", "x"):
        is_usage_error(study("gain", *MEAN, "--rate", rate), "--rate")
    with tempfile.TemporaryDirectory() as folder:
        for text, word in (("x\n", "empty"), ("x\n3\n3\n3\n", "the same"), ("x\na\nb\n", "empty")):
            pathlib.Path(folder, "a.csv").write_text(text)
            done = study("gain", "--epsilon", "1", "--range", "0:9", "--values", f"{folder}/a.csv", "--column", "x")
            assert done.returncode == INVALID and word in done.stderr and done.stdout == "", done
    is_usage_error(study("allocation", "strata.csv", "--sample", "2", "--epsilon", "1"), "--sample: too small")
    is_usage_error(study("allocation", "strata.csv", "--sample", "200", "--epsilon", "0"), "--epsilon: must be positive")
    assert study("allocation", "apisrs.csv", "--sample", "200", "--epsilon", "1").returncode == INVALID
    is_usage_error(study("epsilon", "plan.yaml"), "which error")
    assert study("epsilon", "plan.yaml", "mean nothing=1").returncode == INVALID
    assert study("epsilon", "plan.yaml", "mean api00=0.001").returncode == UNABLE
    assert study("epsilon", "no.yaml", "mean api00=1").returncode == INVALID
    assert study("plan", "no.yaml").returncode == INVALID


@case
def ctrl_c_stops_a_long_study():
    sent = []

    def act(process, text):
        if "%" in text and not sent:
            sent.append(time.monotonic())
            process.send_signal(signal.SIGINT)

    code, text = on_terminal(["study", "rate", *INCOMES, "--epsilon", "0.1", "--runs", "1000000"], act=act, LSAN_OPTIONS=CANCELLED)
    assert sent and code == SYSTEM and "cancelled" in text and time.monotonic() - sent[0] < 60, (code, text[-300:])


main()
