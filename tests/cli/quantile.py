"""tamis quantile"""
import json
import math

from kit import *


def folder():
    return pathlib.Path(tempfile.mkdtemp(prefix="tamis-quantile-"))


def write(values, name="data.csv", weights=None):
    """A file of its own, in a folder of its own."""
    path = folder() / name
    rows = [f"{v},{w}" for v, w in zip(values, weights or [1] * len(values))]
    path.write_text("\n".join(["income,w", *rows]) + "\n")
    return path


def quantile(path, *arguments, at="0.5", bounds=(0, 1000), epsilon="1", **options):
    promise = [] if epsilon is None else ["--epsilon", epsilon]
    return tamis("quantile", path, "--column", "income", "--at", at, "--from", bounds[0], "--to", bounds[1], *promise,
                 "--engine", "memory", *arguments, **options)


def result(*arguments, **options):
    done = quantile(*arguments, "--json", **options)
    assert done.returncode == OK, done.stderr
    return json.loads(done.stdout)


@case
def prints_results_and_guarantee():
    path = write(range(1000))
    told = result(path, at="0.1,0.5,0.9")
    assert [r["at"] for r in told["results"]] == [0.1, 0.5, 0.9]
    for r in told["results"]:
        assert r["statistic"] == "quantile" and r["column"] == "income" and r["method"] == "joint"
        assert abs(r["estimate"] - 1000 * r["at"]) < 200  # e^-50 otherwise
        assert r["estimate"] == int(r["estimate"])
    sample = told["guarantee"]["sample"]
    assert sample["epsilon"] == {"lower": 1, "upper": 1} and sample["delta"] == {"lower": 0, "upper": 0}
    assert told["guarantee"]["outsider"] is None and told["guarantee"]["outsider_reason"]
    assert told["guarantee"]["specification"]["invariants"] == {"rows": 1000}
    assert told["spent"]["epsilon"]["upper"] == 1 and told["left"]["epsilon"]["lower"] == 0
    assert told["ledger"]["created"] is True and told["ledger"]["repeated"] is False


@case
def speaks_to_people():
    done = quantile(write(range(1000)))
    assert done.returncode == OK and done.stderr == ""
    for words in ("rank error", "Guarantee: epsilon 1, delta 0", "This call created the ledger"):
        assert words in " ".join(done.stdout.split())
    assert all(len(line) <= 130 for line in done.stdout.splitlines())


@case
def charges_the_ledger_beside_the_file():
    path = write(range(100))
    assert quantile(path, "--budget", "2").returncode == OK
    ledger = path.with_name("data.csv.ledger")
    account = json.loads(tamis("ledger", "show", ledger, "--json").stdout)["accounts"][0]
    assert account["survey"] == "data.csv" and account["spent"]["epsilon"]["upper"] == 1
    assert quantile(path, at="0.25").returncode == OK
    refused = quantile(path, at="0.75")
    assert refused.returncode == REFUSED and "nothing was spent" in refused.stderr
    assert tamis("ledger", "raise", ledger, "--survey", "data.csv", "--epsilon", "3", "--reason", "approved").returncode == OK
    assert quantile(path, at="0.75").returncode == OK
    assert tamis("ledger", "verify", ledger).returncode == OK


@case
def a_repeated_call_returns_the_same():
    path = write(range(100))
    first = result(path, "--budget", "2", epsilon="0.1")
    path.write_text("income,w\n")  # the data are not read again
    for _ in range(3):
        again = result(path, epsilon="0.1")
        assert again["results"] == first["results"] and again["ledger"]["repeated"] is True
        assert again["spent"]["epsilon"]["upper"] == first["spent"]["epsilon"]["upper"]
    paid = result(path, "--again", epsilon="0.1")
    assert paid["ledger"]["repeated"] is False and paid["spent"]["epsilon"]["lower"] > 0.19


@case
def a_full_disk_behind_stdout_is_told_with_the_charge():
    path = write(range(100))
    with open("/dev/full", "w") as full:
        done = quantile(path, stdout=full)
    assert done.returncode == SYSTEM and f"epsilon 1 (entry 2 of {path}.ledger) was charged" in done.stderr, done.stderr
    assert "costs nothing" in done.stderr and quantile(path).returncode == OK


@case
def another_measure_is_another_call():
    """`auto` spreads the noise over the logarithm here, `--method inverse` does not: neither gets the other's numbers."""
    path = write(range(100))
    assert result(path, "--budget", "5")["ledger"]["repeated"] is False
    assert result(path, "--method", "inverse")["ledger"]["repeated"] is False
    assert result(path, "--method", "inverse", "--log-unit", "1")["ledger"]["repeated"] is True  # what `auto` took


@case
def another_name_is_the_same_ledger():
    path = write(range(100))
    link = path.with_name("other.csv")
    link.symlink_to(path)
    assert quantile(path).returncode == OK
    assert quantile(link, at="0.25").returncode == REFUSED
    assert not link.with_name("other.csv.ledger").exists()


@case
def a_second_name_is_refused():
    """Its ledger would not be found by that name. A copy is another file, as known-issues.md says."""
    path = write(range(100))
    link = path.with_name("other.csv")
    os.link(path, link)
    for name in (path, link):
        done = quantile(name)
        assert done.returncode == REFUSED and "hard link" in done.stderr and "nothing was spent" in done.stderr, done
    assert sorted(p.name for p in path.parent.iterdir()) == ["data.csv", "other.csv"]
    link.unlink()
    assert quantile(path).returncode == OK


@case
def neighbours_are_fixed_by_the_first_call():
    path = write(range(100))
    told = result(path, "--neighbours", "add_remove", "--budget", "5")
    assert told["guarantee"]["specification"]["invariants"] == {}
    assert "added or removed" in told["guarantee"]["specification"]["input_premetric"]["step"]
    assert told["results"][0]["prior_share"] is None
    assert quantile(path, at="0.25").returncode == REFUSED


@case
def engines_agree():
    for engine in ENGINES:
        path = write([500] * 1000)
        done = tamis("quantile", path, "--column", "income", "--from", "0", "--to", "1000", "--epsilon", "1", "--engine", engine,
                     "--json")
        assert json.loads(done.stdout)["results"][0]["estimate"] == 500, done.stderr


@case
def weights_count():
    # 900 rows of weight 1 at 100, 100 of weight 40 at 900: most of the weight is at 900
    path = write([100] * 900 + [900] * 100, weights=[1] * 900 + [40] * 100)
    told = result(path, "--weight", "w", "--max-weight", "40", epsilon="2")
    assert told["results"][0]["estimate"] == 900 and "largest_weights" in told["results"][0]["rank_error"]
    path = write([100] * 900 + [900] * 100, weights=[1] * 900 + [40] * 100)
    assert result(path, epsilon="2")["results"][0]["estimate"] == 100
    is_usage_error(quantile(path, "--weight", "w"), "--weight and --max-weight")
    is_usage_error(quantile(path, "--max-weight", "3"), "--weight and --max-weight")


@case
def heaped_values_are_found():
    values = list(range(350)) + [500] * 300 + list(range(650, 1000))
    for method in ("inverse", "joint", "split"):
        found = [r["estimate"] for r in result(write(values), "--method", method, at="0.4,0.5", epsilon="4")["results"]]
        assert found == [500, 500], (method, found)


@case
def tails_are_found():
    told = result(write(range(1000)), "--method", "threshold", "--complete", at="0.99")
    assert told["results"][0]["method"] == "threshold" and told["results"][0]["estimate"] > 800
    told = result(write(range(1000)), "--complete", at="0.99")
    assert told["results"][0]["method"] == "threshold"


@case
def every_method_finds_quantiles():
    heaps = [100, 300, 500, 700, 900]  # 200 rows each: with this epsilon a miss has a probability below e^-50
    for method in ("smooth", "histogram_method", "tree", "prefix"):
        promise = ("--rho", "100") if method == "prefix" else ("--epsilon", "60")
        told = result(write(heaps * 200), "--method", method, *promise, at="0.1,0.5,0.9", epsilon=None)
        for r in told["results"]:
            assert r["method"] == method and r["prior_share"] is None
            assert (r["rank_error"] is None) == (method == "smooth"), r
            assert 0 <= r["estimate"] - 1000 * r["at"] < (5 if method == "histogram_method" else 1), (method, r)


@case
def rank_errors_bound_levels_and_values():
    """1000 rows from 0 to 999: the quantile of level q is 1000 q, so that every claim can be looked at."""
    for method in ("inverse", "joint", "split", "threshold", "histogram_method", "tree", "prefix"):
        promise = ("--rho", "50") if method == "prefix" else ("--epsilon", "30")
        path = write(range(1000))
        told = result(path, "--method", method, *promise, at="0.25,0.5,0.75", epsilon=None)
        for r in told["results"]:  # these fail with probability 0.05 at most, and as the bounds are wide far less often
            error = r["rank_error"]
            assert 0 < error["records"] < 120 and error["confidence"] == 0.95, (method, r)
            assert abs(error["level_from"] - (r["at"] - error["records"] / 1000)) < 1e-9, (method, r)
            assert error["cell_from"] - 1 <= 1000 * r["at"] + error["records"], (method, r)
            assert r["estimate"] + 1 >= 1000 * r["at"] - error["records"], (method, r)
            assert (error["cell_from"] == r["estimate"]) == (method in ("inverse", "joint", "split")), (method, r)
        middle = told["results"][1]["interval"]
        assert middle["confidence"] == 0.95 and told["results"][1]["reason"] is None
        assert middle["lower"] == told["results"][0]["rank_error"]["cell_from"] and middle["upper"] == told["results"][2]["estimate"]
        assert told["results"][0]["interval"]["lower"] == 0 and told["results"][2]["interval"]["upper"] == 1000
        text = " ".join(quantile(path, "--method", method, *promise, at="0.25,0.5,0.75", epsilon=None).stdout.split())
        assert "levels interval" in text and "`interval` then contains the quantile of the file" in text, text
        assert ("Estimates are cuts" in text) == (method in ("threshold", "histogram_method", "tree", "prefix"))
    one = result(write(range(1000)))["results"][0]
    assert one["interval"] is None and "in the same call" in one["reason"] and one["rank_error"]["level_from"] > 0.4
    one = result(write(range(1000)), "--neighbours", "add_remove")["results"][0]  # the number of rows is not public
    assert one["rank_error"]["records"] > 0 and one["rank_error"]["level_from"] is None and "not public" in one["reason"]
    for method, words in (("joint", "needs the number of rows"), ("split", "needs the number of rows")):
        told = result(write(range(1000)), "--method", method, "--neighbours", "add_remove", at="0.25,0.5")
        assert told["results"][0]["rank_error"] is None and words in told["results"][0]["reason"]
    text = " ".join(quantile(write(range(1000)), "--method", "smooth").stdout.split())
    assert "No bound of the rank error is known for method smooth here: the noise is a distance in values" in text


@case
def the_old_word_for_histogram_method_names_the_new_ones():
    path = write(range(10))
    done = quantile(path, "--method", "histogram")
    is_usage_error(done, "histogram_method")
    ledger = path.with_name("data.csv.ledger")
    assert not ledger.exists()
    assert result(path, "--method", "histogram_method")["results"][0]["method"] == "histogram_method"
    kept = ledger.read_bytes()  # entries of ledgers have the old word, so that what was asked before is found
    assert b"histogram" in kept and b"histogram_method" not in kept


@case
def bins_are_the_users_choice():
    for method in ("histogram_method", "tree"):
        told = result(write(range(1000)), "--method", method, "--bins", "5", bounds=(0, 1000), epsilon="20")
        assert told["results"][0]["estimate"] == 600, (method, told["results"])  # the first cut with half of the rows below
    path = write(range(10))
    for arguments in (("--method", "tree", "--bins", "1"), ("--method", "tree", "--bins", "0"), ("--method", "tree", "--bins", "5000"),
                      ("--method", "tree", "--bins", "x"), ("--bins", "5"), ("--method", "histogram_method", "--bins", "1001")):
        is_usage_error(quantile(path, *arguments), "bins")
    assert not path.with_name("data.csv.ledger").exists()


@case
def smooth_takes_a_delta():
    path = write(range(1000))
    told = result(path, "--method", "smooth", "--delta", "1/10", "--budget", "2", "--budget-delta", "3/10")
    budget = told["guarantee"]["specification"]["budget"]
    assert budget == {"epsilon": "1", "delta": "1/10"} and told["guarantee"]["sample"]["delta"]["upper"] >= 0.1
    assert told["spent"]["delta"]["upper"] >= 0.1 and 0.19 < told["left"]["delta"]["lower"] <= 0.2
    assert "delta" in told["guarantee"]["specification"]["divergence"]
    again = result(path, "--method", "smooth", "--delta", "1/10")
    assert again["ledger"]["repeated"] is True and again["results"] == told["results"]
    assert quantile(path, at="0.25").returncode == OK  # a pure epsilon fits an account with delta
    text = quantile(write(range(1000)), "--method", "smooth", "--delta", "1/10").stdout
    assert "Guarantee: epsilon 1, delta 0.1" in " ".join(text.split())


@case
def smooth_spends_no_delta_where_noise_without_one_is_smaller():
    path = write(range(1000))
    told = result(path, "--method", "smooth", "--delta", "1e-6", "--budget", "2", "--budget-delta", "3e-6")
    assert told["guarantee"]["specification"]["budget"] == {"epsilon": "1", "delta": "0"}
    assert told["guarantee"]["sample"]["delta"]["upper"] == 0 and told["spent"]["delta"]["upper"] == 0
    assert told["left"]["delta"]["lower"] >= 2.99e-6
    same = result(path, "--method", "smooth")  # the same noise: the same numbers, and nothing to pay
    assert same["ledger"]["repeated"] is True and same["results"] == told["results"]
    text = " ".join(quantile(write(range(1000)), "--method", "smooth", "--delta", "1e-6").stdout.split())
    assert "Guarantee: epsilon 1, delta 0, " in text and "no delta is spent" in text
    path = write(range(10))
    for delta in ("0", "1", "-1", "x"):
        is_usage_error(quantile(path, "--method", "smooth", "--delta", delta), "delta")
    is_usage_error(quantile(path, "--delta", "0.1"), "only method smooth")
    is_usage_error(quantile(path, "--method", "smooth", "--budget-delta", "0.1"), "--budget-delta")
    assert not path.with_name("data.csv.ledger").exists()


@case
def smooth_is_for_replaced_rows_without_weights():
    path = write(range(10))
    is_usage_error(quantile(path, "--method", "smooth", "--neighbours", "add_remove"), "rows that are replaced")
    is_usage_error(quantile(path, "--method", "smooth", "--weight", "w", "--max-weight", "1"), "--max-weight")
    assert not path.with_name("data.csv.ledger").exists()


@case
def prefix_counts_in_rho():
    path = write(range(1000))
    told = result(path, "--rho", "1/2", "--budget", "1", epsilon=None)
    assert told["results"][0]["method"] == "prefix"
    assert told["guarantee"]["specification"]["budget"] == {"rho": "1/2"}
    sample = told["guarantee"]["sample"]
    assert 6 < sample["epsilon"]["upper"] < 7 and sample["delta"]["upper"] >= 1e-9
    assert told["spent"] == {"rho": {"lower": 0.5, "upper": 0.5}} and told["left"] == {"rho": {"lower": 0.5, "upper": 0.5}}
    left = result(path, at="0.25", epsilon="1")["left"]["rho"]["lower"]
    assert 0 <= 0.5 - math.tanh(0.5) - left < 1e-9, left  # an epsilon of 1 counts as a rho of tanh(1/2)
    assert quantile(path, at="0.75", epsilon="0.5").returncode == REFUSED
    text = " ".join(quantile(write(range(1000)), "--rho", "1/2", epsilon=None).stdout.split())
    assert "Guarantee: rho 0.5 (zero-concentrated; epsilon 6.4" in text and "standard deviation" in text
    path = write(range(10))
    for arguments, words in (((), "--epsilon"), (("--rho", "1", "--epsilon", "1"), "beside epsilon"), (("--rho", "0"), "rho must be"),
                             (("--rho", "1", "--method", "joint"), "--rho"), (("--rho", "1", "--delta", "0.1"), "--delta")):
        is_usage_error(quantile(path, *arguments, epsilon=None), words)
    is_usage_error(quantile(path, "--method", "prefix"), "--rho")
    assert not path.with_name("data.csv.ledger").exists()


@case
def many_weighted_rows_are_added_up():
    """Where rows are added or removed their number is not public, so that too many are found after the charge: 2^24 are not."""
    path = folder() / "data.csv"
    path.write_bytes(b"income,w\n" + b"5,1\n" * (2**24 + 1))
    done = tamis("quantile", path, "--column", "income", "--from", "0", "--to", "9", "--rho", "1", "--weight", "w", "--max-weight", "1",
                 "--neighbours", "add_remove", "--json")
    path.unlink()
    assert done.returncode == OK, done.stderr
    assert json.loads(done.stdout)["results"][0]["estimate"] == 5, done.stdout


@case
def what_does_not_compose_is_refused():
    path = write(range(100))
    assert quantile(path, "--budget", "5").returncode == OK
    for arguments, epsilon in ((("--rho", "1/2"), None), (("--method", "smooth", "--delta", "1/10"), "1")):
        refused = quantile(path, *arguments, at="0.25", epsilon=epsilon)
        assert refused.returncode == REFUSED and "nothing was spent" in refused.stderr
    account = json.loads(tamis("ledger", "show", path.with_name("data.csv.ledger"), "--json").stdout)["accounts"][0]
    assert account["spent"]["epsilon"]["upper"] == 1


@case
def odd_data_are_fine():
    assert 0 <= result(write([]))["results"][0]["estimate"] <= 1000  # the bounds alone
    for method in ("smooth", "histogram_method", "tree"):
        for values in ([], [7], ["NA"] * 5, [333] * 500 + [""] * 200):
            assert 0 <= result(write(values), "--method", method)["results"][0]["estimate"] <= 1000
    assert result(write([333] * 500 + [""] * 100), "--method", "smooth", epsilon="20")["results"][0]["estimate"] == 333
    one = result(write([7]))
    assert one["results"][0]["prior_share"] > 0.5
    assert result(write([333] * 500))["results"][0]["estimate"] == 333
    for text in ("", "NA", "nan", "inf", "twelve"):
        assert result(write([333] * 500 + [text] * 200))["results"][0]["estimate"] == 333
    far = quantile(write([5] * 20), bounds=(0, 10**12), epsilon="0.1")
    assert far.returncode == OK and "may owe more to the bounds than to the data" in " ".join(far.stdout.split())
    assert result(write([1e300, -1e300] + [4] * 500))["results"][0]["estimate"] == 4


@case
def steps_need_not_divide():
    told = result(write([4.4] * 500), "--step", "3", bounds=("0.5", "10"))
    assert told["results"][0]["estimate"] == 3
    assert result(write([4.6] * 500), "--step", "3", bounds=("0.5", "10"))["results"][0]["estimate"] == 6
    assert math.isclose(result(write([0.31] * 500), "--step", "0.01", bounds=(0, 1))["results"][0]["estimate"], 0.31)


@case
def wrong_usage_is_named_before_anything_is_read():
    path = write(range(10))
    is_usage_error(quantile(path, bounds=(5, 5)), "from must be less than to")
    is_usage_error(quantile(path, bounds=(9, 5)), "from must be less than to")
    is_usage_error(quantile(path, "--step", "0"), "step must be positive")
    is_usage_error(quantile(path, "--step", "2000", bounds=(1, 1000)), "step is too large")
    for at in ("0", "1", "1.5", "-0.5"):
        is_usage_error(quantile(path, at=at), "above 0 and below 1")
    for at in ("", "nan", "0.5,", "half"):
        is_usage_error(quantile(path, at=at), "--at must be numbers")
    is_usage_error(quantile(path, at="0.5,0.1"), "ascending")
    is_usage_error(quantile(path, at="0.5,0.5"), "ascending")
    is_usage_error(quantile(path, epsilon="0"), "epsilon")
    is_usage_error(quantile(path, "--log-unit", "0"), "log-unit")
    is_usage_error(quantile(path, "--method", "magic"), "method")
    assert not path.with_name("data.csv.ledger").exists()


@case
def missing_files_and_columns_cost_nothing():
    path = write(range(10))
    done = tamis("quantile", path, "--column", "nope", "--from", "0", "--to", "1", "--epsilon", "1", "--engine", "memory")
    assert done.returncode == INVALID and "nope" in done.stderr
    assert not path.with_name("data.csv.ledger").exists()
    assert quantile(path.with_name("none.csv")).returncode == INVALID


@case
def messages_do_not_depend_on_values():
    """The same words for very different data: only estimates differ."""
    texts = set()
    for values in ([0] * 50, list(range(50)), [999] * 25 + [""] * 25):
        done = quantile(write(values))
        assert done.returncode == OK
        lines = [line for line in done.stdout.splitlines() if not line.strip().startswith("0.5") and "/" not in line]
        texts.add("\n".join(lines))
    assert len(texts) == 1


main()
