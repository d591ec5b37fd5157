"""tamis study quantile"""
import csv
import io
import json

from kit import *

ASKED = ("--values", "lognormal:5,0.5", "--rows", "200", "--from", "0", "--to", "1000", "--epsilon", "1")
LAW = (*ASKED, "--runs", "10")


def study(*arguments, **options):
    return tamis("study", "quantile", *arguments, **options)


@case
def compares_every_method():
    told = json.loads(study(*LAW, "--json").stdout)
    methods = {r["method"] for r in told["results"]}
    assert methods == {"auto", "inverse", "joint", "split", "threshold", "smooth", "histogram_method", "tree", "prefix", "sampling"}
    assert told["rows"] == 200 and told["runs"] == 10 and told["rho"] == 0.5 and told["auto"] == "joint" and told["best"] in methods
    for r in told["results"]:
        assert 0 <= r["median_error"] <= r["error_95"] <= 1000 and r["rms_error"] <= 1000, r
    assert [r["at"] for r in told["results"][:4]] == [0.25, 0.5, 0.75, None]


@case
def speaks_to_people():
    done = study(*ASKED, "--at", ",".join(f"0.{k}" for k in range(1, 10)), "--runs", "2")
    assert done.returncode == OK and done.stderr == ""
    lines = done.stdout.splitlines()
    assert all(len(line) <= 79 for line in lines) and "Smallest error of all quantiles together" in done.stdout
    assert lines[4].split()[-1] == "all" and any(line.startswith("sampling alone") for line in lines)


@case
def writes_a_picture_and_numbers():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tamis-study-"))
    for at in ("0.5", "0.25,0.5"):
        done = study(*LAW, "--at", at, "--svg", folder / "q.svg", "--csv", folder / "q.csv")
        assert done.returncode == OK, done.stderr
        assert (folder / "q.svg").read_text().startswith("<svg")
        rows = list(csv.DictReader(io.StringIO((folder / "q.csv").read_text())))
        assert {"method", "at", "median_error", "error_95", "rms_error"} == set(rows[0])


@case
def equal_seeds_give_equal_studies():
    first = study(*LAW, "--json", "--threads", "1").stdout
    assert study(*LAW, "--json", "--threads", "2").stdout == first
    assert study(*LAW, "--json", "--seed", "1").stdout != first


@case
def a_public_file_is_a_population():
    path = pathlib.Path(tempfile.mkdtemp(prefix="tamis-study-")) / "public.csv"
    path.write_text("income\n" + "\n".join(str(k) for k in range(500)) + "\n")
    asked = ("--population", path, "--column", "income", "--from", "0", "--to", "1000", "--epsilon", "1", "--runs", "4", "--json")
    told = json.loads(study(*asked, "--at", "0.5").stdout)
    assert told["rows"] == 500 and told["column"] == "income"
    assert all(r["median_error"] == 0 for r in told["results"] if r["method"] == "sampling")  # every file is all of it
    told = json.loads(study(*asked, "--at", "0.5", "--rows", "100").stdout)
    assert told["rows"] == 100 and any(r["median_error"] > 0 for r in told["results"] if r["method"] == "sampling")
    assert not path.with_name("public.csv.ledger").exists()
    assert study(*asked, "--rows", "501").returncode == USAGE


@case
def neighbours_and_delta_are_taken_over():
    told = json.loads(study(*LAW, "--neighbours", "add_remove", "--json").stdout)
    assert told["neighbours"] == "add_remove" and "smooth" not in {r["method"] for r in told["results"]}
    told = json.loads(study(*LAW, "--delta", "1e-6", "--json").stdout)
    assert told["delta"] == 1e-6


@case
def wrong_usage_is_named():
    base = ("--from", "0", "--to", "1000", "--epsilon", "1")
    is_usage_error(study(*base), "either --values LAW or --population FILE")
    is_usage_error(study(*base, "--values", "uniform", "--population", "x.csv"), "either --values LAW or --population FILE")
    is_usage_error(study(*base, "--population", "x.csv"), "--column")
    is_usage_error(study(*base, "--values", "uniform", "--column", "x"), "--column")
    is_usage_error(study(*base, "--values", "magic"), "values")
    for option, value in (("--rows", "0"), ("--rows", "x"), ("--bins", "0"), ("--bins", "5000"), ("--runs", "0"), ("--runs", "100001"),
                          ("--at", "0.5,0.1"), ("--at", "2"), ("--at", "x"), ("--delta", "1"), ("--step", "0"), ("--log-unit", "0")):
        is_usage_error(study(*base, "--values", "uniform", option, value), option[2:])
    is_usage_error(study("--values", "uniform", "--from", "5", "--to", "1", "--epsilon", "1"), "from must be less than to")
    is_usage_error(study("--values", "uniform", "--from", "0", "--to", "1", "--epsilon", "0"), "epsilon")
    assert study(*base, "--population", "none.csv", "--column", "x").returncode == INVALID


main()
