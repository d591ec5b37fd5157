"""tamis privacy compose: the texts of golden/compose-*.txt (`compose.py TAMIS --write` writes them anew), numbers on the safe
side, the same as the calculator's, and what is told about bad lists."""
import json
import math
import xml.etree.ElementTree as xml

from kit import *

YEAR = API / "releases.yaml"
SIZES = ["--population", "6194", "--sample", "200"]
TEN = "- {law: laplace, eps: 1, count: 10}\n"

TEXTS = {
    "year": [YEAR, "--delta", "1e-6", "--ascii"],
    "year-outsider": [YEAR, *SIZES],
}


def compose(*arguments, **options):
    return tamis("privacy", "compose", *arguments, **options)


golden("compose", TEXTS, compose)


def of_list(text, *arguments):
    """The command on a file that holds this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "list"
        path.write_text(text)
        return compose(path, *arguments)


def told(text, *arguments):
    done = of_list(text, *arguments, "--json")
    assert done.returncode == OK and done.stderr == "", done
    return json.loads(done.stdout)


def holds(bound, value):
    return bound["lower"] <= value * (1 + 1e-12) and value * (1 - 1e-12) <= bound["upper"]


@case
def ten_releases_are_composed_first_and_amplified_once():
    out = told(TEN, "--population", "100", "--sample", "1")
    assert list(out) == ["releases", "design", "pure", "curve", "sampled", "outsider", "meaning"]
    assert out["releases"] == 10 and out["design"] == {"srs": {"population": 100, "sample": 1}}
    assert holds(out["sampled"]["epsilon"], 10) and holds(out["pure"], 10) and out["sampled"]["delta"] == "0"
    exact = math.log(1 + math.expm1(10) / 100)
    assert f"{exact:.4f}" == "5.3993"
    assert holds(out["outsider"]["epsilon"], exact) and out["outsider"]["epsilon"]["upper"] < exact * (1 + 1e-9)
    assert all("outsider" in point for point in out["curve"]) and out["curve"][-1]["outsider"]["upper"] == 0
    assert [m["who"] for m in out["meaning"]][-1] == "outsider"
    rows = of_list(TEN, "--population", "100", "--sample", "1").stdout
    assert "sum of the epsilons                          10       0" in rows and "secret  5.3994   0" in rows, rows


@case
def the_numbers_are_those_of_the_calculator():
    releases = [{"law": "laplace", "eps": "0.1", "count": 10}, {"law": "randomized_response", "eps": "1/2"}]
    for given, name in ("delta", "epsilon"), ("epsilon", "delta"):
        value = {"delta": "1e-3", "epsilon": "1"}[given]
        inner = {"releases": releases, {"delta": "delta", "epsilon": "eps"}[given]: value}
        question = {"id": "q", "area": "composition", "kind": "releases", "in": inner}
        wanted = next(iter(json.loads(tamis("compute", input=json.dumps(question)).stdout)["out"].values()))
        out = told(json.dumps(releases), f"--{given}", value)
        assert out["answer"][name] == out["sampled"][name] == wanted, (out["answer"], wanted)
        assert "outsider" not in out and "design" not in out
        assert holds(out["pure"], 1.5)


@case
def an_outsider_has_the_amplified_curve():
    eps, rate = 1.0, 200 / 6194
    inside = told(TEN, "--epsilon", str(eps))["sampled"]["delta"]["upper"]
    out = told(TEN, *SIZES, "--epsilon", repr(math.log1p(rate * math.expm1(eps))))
    assert abs(out["outsider"]["delta"]["upper"] / (rate * inside) - 1) < 1e-9
    everybody = told(TEN, "--population", "9", "--sample", "9", "--epsilon", "1")
    assert abs(everybody["outsider"]["delta"]["upper"] / inside - 1) < 1e-9


@case
def adding_up_is_told_only_where_all_are_pure():
    assert "sum of the epsilons" in of_list(TEN, "--delta", "0.01").stdout
    done = of_list(TEN + "- {law: claim, eps: 1, delta: 1e-3}\n", "--delta", "1e-6")
    assert done.returncode == OK and "sum of the epsilons" not in done.stdout and "none suffices" in done.stdout, done
    assert "a sampled person" in of_list("[{law: gaussian, scale: 3}]").stdout


@case
def a_long_number_is_used_whole():
    tiny = "0." + "0" * 70 + "1"
    out = told("[{law: gaussian, scale: 3}]", "--delta", tiny)
    assert out["sampled"]["delta"] == "1/1" + "0" * 71 and out["sampled"] == out["answer"], out["sampled"]
    assert "0.0000000000000000000000000000..." in of_list("[{law: gaussian, scale: 3}]", "--delta", tiny).stdout


@case
def a_picture_is_xml():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.svg")
        assert of_list(TEN, "--svg", path).returncode == OK
        assert xml.parse(path).getroot().tag.endswith("svg")


BAD = {
    "an empty list": ("[]", "the list has no release"),
    "an empty file": ("", "expected a list"),
    "no list": ("law: laplace\nscale: 1\n", "expected a list"),
    "no YAML": ("[{law: ", "not valid YAML"),
    "a number for a release": ("[3]", "release 1: must be an object"),
    "no law": ("[{scale: 3}]", "law: missing"),
    "an unknown law": ("[{law: box, scale: 3}]", "law: must be laplace, gaussian"),
    "an unknown field": ("[{law: laplace, scale: 3, rate: 0.1}]", "'rate' is not a field of a release"),
    "a missing scale": (TEN + "- {law: gaussian}\n", "release 2: law: gaussian needs scale"),
    "a negative scale": ("[{law: laplace, scale: -1}]", "scale: must be positive"),
    "a negative eps": ("[{law: randomized_response, eps: -1}]", "eps: must not be negative"),
    "an infinite eps": ("[{law: laplace, eps: .inf}]", "eps:"),
    "count 0": ("[{law: laplace, eps: 1, count: 0}]", "count: must be between 1 and 2^30"),
    "eps and sensitivity": ("[{law: laplace, eps: 1, sensitivity: 2}]", "sensitivity: only with a scale"),
    "a response and sensitivity": ("[{law: randomized_response, eps: 1, sensitivity: 2}]", "sensitivity: only with a scale"),
    "rho and sensitivity": ("[{law: zcdp, rho: 1, sensitivity: 2}]", "sensitivity: only with a scale"),
    "eps and scale": ("[{law: laplace, eps: 1, scale: 1}]", "laplace needs either scale or eps"),
    "half a person": ("[{law: discrete_laplace, scale: 1, sensitivity: 1/2}]", "must be an integer"),
}


def each_bad_list(name, text, words):
    def is_invalid():
        done = of_list(text)
        assert done.returncode == INVALID and words in done.stderr and "list" in done.stderr and done.stdout == "", done

    case(is_invalid, f"invalid: {name}")


for name, (text, words) in BAD.items():
    each_bad_list(name, text, words)


@case
def a_file_that_is_not_there_is_invalid():
    done = compose("/nowhere/list.yaml")
    assert done.returncode == INVALID and "/nowhere/list.yaml" in done.stderr and done.stdout == "", done


WRONG = {
    "a sample without a population": (["--sample", "3"], "--sample needs --population"),
    "a population without a sample": (["--population", "3"], "--population needs --sample"),
    "a sample above the population": (["--population", "3", "--sample", "4"], "--sample cannot be more"),
    "no sample": (["--population", "3", "--sample", "0"], "--sample needs a whole number"),
    "half a population": (["--population", "1/2", "--sample", "1"], "--population needs a whole number"),
    "epsilon and delta": (["--epsilon", "1", "--delta", "0.1"], "give either --epsilon or --delta"),
    "a negative epsilon": (["--epsilon", "-1"], "--epsilon must not be negative"),
    "a delta above 1": (["--delta", "2"], "--delta must be between 0 and 1"),
    "an epsilon that is no number": (["--epsilon", "nan"], "--epsilon:"),
    "a picture nowhere": (["--svg", "/nowhere/a.svg"], "--svg: cannot write"),
}


def each_mistake(name, arguments, words):
    def is_wrong_usage():
        is_usage_error(of_list(TEN, *arguments), words)

    case(is_wrong_usage, f"wrong usage: {name}")


for name, (arguments, words) in WRONG.items():
    each_mistake(name, arguments, words)


@case
def a_list_is_needed():
    assert compose().returncode == USAGE


main()
