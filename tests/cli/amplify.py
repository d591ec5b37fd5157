"""tamis privacy amplify: the texts of golden/amplify-*.txt (`amplify.py TAMIS --write` writes them anew), numbers on the
safe side, plans, and refusals."""
import json
import math
import re
import xml.etree.ElementTree as xml
from fractions import Fraction

from kit import *

API_SURVEY = ["--population", "6194", "--sample", "200"]
STRATA = '{"stratified": {"within": "srs", "strata": [{"population": 50, "sample": 5}, {"population": 10, "sample": 10}]}}'
CLUSTERS = '{"cluster": {"population": 4, "sample": 1, "smallest": 2, "largest": 2}}'
SYSTEMATIC = '{"systematic": {"population": 9, "sample": 3, "order": "public"}}'

TEXTS = {
    "srs": [*API_SURVEY, "--epsilon", "1"],
    "inverse": [*API_SURVEY, "--epsilon", "0.1", "--delta", "1e-9", "--inverse", "--ascii"],
    "releases": ["--population", "100", "--sample", "1", "--epsilon", "1", "--releases", "10", "--ascii"],
    "strata": ["--design", STRATA, "--epsilon", "1/2", "--delta", "1e-6", "--ascii"],
}


def amplify(*arguments, **options):
    return tamis("privacy", "amplify", *arguments, **options)


golden("amplify", TEXTS, amplify)


def told(*arguments):
    done = amplify(*arguments, "--json")
    assert done.returncode == OK and done.stderr == "", done
    return json.loads(done.stdout)


def holds(bound, value):
    return bound["lower"] <= value * (1 + 1e-12) and value * (1 - 1e-12) <= bound["upper"]


@case
def the_json_has_enclosures():
    out = told("--design", STRATA, "--epsilon", "1/2", "--delta", "1e-6")
    assert out["theorem"] == "stratified" and out["worst"] == 50 and len(out["parts"]) == 2
    assert out["sample"] == {"epsilon": "1/2", "delta": "1/1000000"}
    assert holds(out["outsider"]["epsilon"], 0.5) and holds(out["parts"][0]["epsilon"], math.log(1 + 0.1 * math.expm1(0.5)))
    assert out["parts"][1]["take_all"] is True and [m["who"] for m in out["meaning"]][-1] == "outsider"
    assert [row["epsilon"] for row in out["curve"]] == ["0.1", "0.2", "0.5", "1", "2", "5", "10"]


@case
def ten_releases_are_composed_first():
    out = told("--population", "100", "--sample", "1", "--epsilon", "1", "--releases", "10")
    assert holds(out["outsider"]["epsilon"], math.log(1 + math.expm1(10) / 100)) and out["outsider"]["epsilon"]["upper"] > 5.3993


@case
def the_neighbour_never_meets_less_than_the_outsider():
    """All releases count, and a step of the frame may be two of the mechanism."""
    for arguments, steps in ((("--releases", "10"), 10), (("--mechanism", "add_remove"), 2),
                             (("--mechanism", "add_remove", "--releases", "3"), 6)):
        for design in ('{"census": {"population": 9}}', '{"srs": {"population": 100, "sample": 1}}'):
            who = told("--design", design, "--epsilon", "1", *arguments)["meaning"]
            assert [m["who"] for m in who] == ["nosy neighbour", "journalist", "outsider"]
            assert holds(who[0]["odds"], math.exp(steps)) and who[0]["odds"] == who[1]["odds"], (design, who)
            assert who[2]["odds"]["upper"] <= who[0]["odds"]["upper"] * (1 + 1e-12)
    text = amplify("--design", '{"census": {"population": 9}}', "--epsilon", "1", "--mechanism", "add_remove").stdout
    assert "a sampled person, who is added or removed" in text and "knows who was sampled         7.39" in text, text


@case
def an_outsider_has_a_delta_too():
    done = tamis("privacy", "meaning", "--epsilon", "1", "--delta", "1e-6", "--outsider", "0.05", "--json")
    assert [m["except"]["upper"] >= 1.1e-5 for m in json.loads(done.stdout)["meaning"]] == [True] * 3, done.stdout


@case
def a_long_number_is_cut_visibly():
    tiny = "0." + 40 * "0" + "9"
    assert amplify("--design", '{"census": {"population": 9}}', "--epsilon", tiny).stdout.count("0.0000000000000000000000000000... ") == 2


@case
def what_may_be_spent_meets_the_target():
    out = told(*API_SURVEY, "--epsilon", "0.1", "--delta", "1e-9", "--inverse")
    assert holds(out["may_be_spent"]["epsilon"], math.log(1 + 6194 / 200 * math.expm1(0.1)))
    assert out["outsider"]["epsilon"]["upper"] <= 0.1 and out["outsider"]["delta"]["upper"] <= 1e-9 * (1 + 1e-15)
    shown = amplify(*API_SURVEY, "--epsilon", "0.1", "--inverse").stdout.split("a sampled person ")[1].split()[0]
    assert told(*API_SURVEY, "--epsilon", shown)["outsider"]["epsilon"]["upper"] <= 0.1  # the printed number too


@case
def a_plan_with_a_secret_sample_has_an_outsider():
    with folder_with_plan() as folder:
        plan = pathlib.Path(folder) / "plan.yaml"
        text = plan.read_text()
        done = amplify("plan.yaml", cwd=folder)
        assert done.returncode == REFUSED and "it is known who was sampled" in done.stderr, done.stderr
        plan.write_text(re.sub(r"protect: sample.*\n", "protect: frame\n  secret_sample: yes\n", text).replace("given: frame", "given: population"))
        done = amplify("plan.yaml", "--json", cwd=folder)
        assert done.returncode == OK, done.stderr
        out = json.loads(done.stdout)
        eps = eval(out["sample"]["epsilon"])
        assert out["theorem"] == "srs" and holds(out["outsider"]["epsilon"], math.log(1 + 200 / 6194 * math.expm1(eps)))


@case
def a_picture_is_xml_and_gone_after_a_refusal():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.svg")
        assert amplify("--design", CLUSTERS, "--epsilon", "1", "--svg", path).returncode == OK
        assert xml.parse(path).getroot().tag.endswith("svg")
        os.unlink(path)
        assert amplify("--design", CLUSTERS, "--epsilon", "1", "--svg", path, "--as-srs").returncode == REFUSED
        assert not os.path.exists(path)


REFUSALS = {
    "clusters as if they were a simple random sample": (["--design", CLUSTERS, "--as-srs"], "differ in 2 records"),
    "a public list as if it were a simple random sample": (["--design", SYSTEMATIC, "--as-srs"], "differ in 3 records"),
    "a known sample": ([*API_SURVEY, "--known-sample"], "it is known who was sampled"),
    "nonresponse": ([*API_SURVEY, "--nonresponse"], "nonresponse does not amplify"),
    "one release of several": ([*API_SURVEY, "--one-of-several"], "composed first and amplified once"),
    "Brewer's method": (["--design", '{"pps": {"method": "brewer", "probabilities": ["1/2", "1/2"]}}'], "no proved coupling"),
    "records that come and go": (["--design", SYSTEMATIC, "--neighbours", "add_remove"], "changes how the others are drawn"),
}


def each_refusal(name, arguments, words):
    def is_refused():
        done = amplify(*arguments, "--epsilon", "1")
        assert done.returncode == REFUSED and words in done.stderr and done.stdout == "", done

    case(is_refused, f"refused: {name}")


for name, (arguments, words) in REFUSALS.items():
    each_refusal(name, arguments, words)

WRONG = {
    "no design": (["--epsilon", "1"], "give exactly one of"),
    "two designs": ([*API_SURVEY, "--design", CLUSTERS, "--epsilon", "1"], "give exactly one of"),
    "no epsilon": (API_SURVEY, "--epsilon is needed"),
    "an epsilon that is no number": ([*API_SURVEY, "--epsilon", "much"], "--epsilon:"),
    "an infinite epsilon": ([*API_SURVEY, "--epsilon", "inf"], "--epsilon:"),
    "a negative epsilon": ([*API_SURVEY, "--epsilon", "-1"], "--epsilon must not be negative"),
    "a huge epsilon": ([*API_SURVEY, "--epsilon", "1e7"], "--epsilon must not exceed 10^6"),
    "a delta above 1": ([*API_SURVEY, "--epsilon", "1", "--delta", "2"], "--delta must be between 0 and 1"),
    "a sample above the population": (["--population", "5", "--sample", "6", "--epsilon", "1"], "--sample cannot be more"),
    "half a person": (["--population", "5", "--sample", "1/2", "--epsilon", "1"], "--sample needs a whole number"),
    "a design that is no JSON": (["--design", "srs", "--epsilon", "1"], "--design:"),
    "an unknown neighbour": ([*API_SURVEY, "--epsilon", "1", "--neighbours", "both"], "replace"),
    "no releases": ([*API_SURVEY, "--epsilon", "1", "--releases", "0"], "--releases needs a whole number"),
    "a picture nowhere": ([*API_SURVEY, "--epsilon", "1", "--svg", "/nowhere/a.svg"], "--svg: cannot write"),
}


def each_mistake(name, arguments, words):
    def is_wrong_usage():
        done = amplify(*arguments)
        assert done.returncode == USAGE and words in done.stderr and done.stdout == "", done

    case(is_wrong_usage, f"wrong usage: {name}")


for name, (arguments, words) in WRONG.items():
    each_mistake(name, arguments, words)

THREE = ('{"stratified": {"within": "srs", "strata": [{"population": 200, "sample": 100}, {"population": 2000, "sample": 100}, '
         '{"population": 20000, "sample": 100}]}}')


@case
def one_epsilon_per_stratum():
    """tamis privacy strata: weights 2, 20 and 200, outsiders 0.5."""
    for insider, scale in (("5", 41.0404), ("3", 66.6667)):
        done = tamis("privacy", "strata", "--outsider", "0.5", "--insider", insider, "--to", "1", "--design", THREE, "--json")
        assert done.returncode == OK and done.stderr == "", done
        out = json.loads(done.stdout)
        assert abs(out["scale"]["crossing"]["upper"] - scale) < 1e-3 and abs(out["scale"]["uniform"]["upper"] - 240.443) < 1e-3, out
        for stratum, f in zip(out["strata"], (1 / 2, 1 / 20, 1 / 200)):
            epsilon = float(Fraction(stratum["epsilon"]))
            assert 0 <= min(float(insider), math.log1p(math.expm1(0.5) / f)) - epsilon < 1e-8, stratum
            assert stratum["outsider"]["upper"] <= 0.5 and holds(stratum["weight"], 1 / f), stratum
    done = tamis("privacy", "strata", "--outsider", "0.5", "--insider", "5", "--to", "1", "--design", THREE)
    assert done.returncode == OK and "scale 41.041\n" in done.stdout and "240.45" in done.stdout and all(len(x) <= 80 for x in done.stdout.splitlines())
    done = tamis("privacy", "strata", "--outsider", "1", "--insider", "5", "--design", SYSTEMATIC)
    assert done.returncode == OK and "Laplace" not in done.stdout, done


@case
def epsilons_of_strata_are_refused_without_a_theorem():
    asked = ("privacy", "strata", "--outsider", "0.5", "--insider", "5")
    for design in ('{"pps": {"method": "brewer", "probabilities": ["1/2", "1/2"]}}', '{"srs_with_replacement": {"population": 5, "sample": 2}}'):
        assert tamis(*asked, "--design", design).returncode == REFUSED, design
    is_usage_error(tamis("privacy", "strata", "--design", THREE), "--outsider and --insider")
    is_usage_error(tamis(*asked), "give exactly one of")
    is_usage_error(tamis(*asked, "--design", THREE, "--from", "1"), "--from needs --to")
    is_usage_error(tamis(*asked, "--design", "{}"), "--design")
    for wrong in ("200", "200:", "5:9", "200:100,", "a:b", ",".join(["9:3"] * 65)):
        is_usage_error(tamis(*asked, "--strata", wrong), "--strata needs UNITS:SAMPLED")
    listed = tamis(*asked, "--strata", "200:100,2000:100,20000:100", "--json")
    assert listed.returncode == OK and listed.stdout == tamis(*asked, "--design", THREE, "--json").stdout
    assert tamis("privacy", "strata", "--outsider", "0", "--insider", "5", "--design", THREE).returncode == INVALID
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder) / "plan.yaml"
        text = ("tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {stratified: {by: g, within: srs, strata: {a: {population: 90, sample: 9}, "
                "b: {population: 20, sample: 10}}}}\ncolumns: {g: {values: [a, b]}}\nstatistics: [{count: units}]\nprivacy: ")
        plan.write_text(text + "{unit: person, epsilon: 1, protect: frame, given: population, secret_sample: yes}\n")
        done = tamis(*asked, "--to", "1", plan)
        assert done.returncode == OK and re.search(r"^a +90 +10 +2\.01", done.stdout, re.M), done.stdout
        plan.write_text(text + "{unit: person, epsilon: 1}\n")  # the sample is not secret
        assert tamis(*asked, plan).returncode == REFUSED


main()
