"""tamis privacy: the texts of golden/privacy-*.txt (`privacy.py TAMIS --write` writes them anew), numbers on the safe side,
pictures, and what is told about bad input."""
import fractions
import json
import math
import resource
import signal
import xml.etree.ElementTree as xml

from kit import *

SMALL = ["--population", "60", "--sample", "9"]
API_SURVEY = ["--population", "6194", "--sample", "200", "--ones", "400:5794"]

TEXTS = {
    "srs": ["srs", *API_SURVEY],
    "srs-epsilon": ["srs", *API_SURVEY, "--epsilon", "0.05"],
    "srs-delta-ascii": ["srs", *SMALL, "--ones", "5:55", "--laplace", "9", "--delta", "0.01", "--ascii"],
    "srs-ends": ["srs", *SMALL, "--ones", "0:60"],
    "noise": ["noise", "--discrete-laplace", "2"],
    "noise-delta": ["noise", "--gaussian", "400", "--sensitivity", "100", "--delta", "1e-6"],
    "noise-target": ["noise", "--target", "1,1e-6", "--sensitivity", "100"],
    "design": ["design", HERE / "stratified.yaml", "--laplace", "40"],
    "design-column": ["design", HERE / "stratified.yaml", "--column", "enroll", "--gaussian", "200000", "--delta", "1e-6"],
    "design-target": ["design", HERE / "stratified.yaml", "--target", "1,1e-6"],
    "srs-target": ["srs", *SMALL, "--ones", "0:60", "--laplace", "9", "--target", "1,1e-4"],
}


def little_time():
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def privacy(*arguments, **options):
    return tamis("privacy", *arguments, **options)


golden("privacy", TEXTS, privacy)


def told(*arguments):
    done = privacy(*arguments, "--json")
    assert done.returncode == OK and done.stderr == "", done
    return json.loads(done.stdout, parse_float=fractions.Fraction, parse_int=fractions.Fraction)


def computed(kind, **values):
    """The same from the calculator."""
    question = {"id": "q", "area": "ht_srs_binary", "kind": kind, "in": {key: str(value) for key, value in values.items()}}
    answer = tamis("compute", input=json.dumps(question)).stdout
    return json.loads(answer, parse_float=fractions.Fraction, parse_int=fractions.Fraction)["out"]


def same(one, other):
    return one["lower"] <= other["upper"] and other["lower"] <= one["upper"]


SIZES = dict(N=6194, n=200, mt=400, Mt=5794)


@case
def the_json_has_the_enclosures_of_the_calculator():
    out = told("srs", *API_SURVEY, "--epsilon", "1/20")
    assert list(out) == ["design", "ones", "noise", "pure", "answer", "curve"]
    assert out["design"] == {"srs": {"population": 6194, "sample": 200}} and out["ones"] == [400, 5794]
    assert same(out["pure"], computed("eps0_none", **SIZES)["eps"])
    assert out["answer"]["epsilon"] == "1/20" and out["answer"]["worst"] == [5793, 5794]
    assert same(out["answer"]["delta"], computed("delta_none_eps", **SIZES, eps="1/20")["delta"])
    curve = out["curve"]
    assert len(curve) > 20 and [fractions.Fraction(p["epsilon"]) for p in curve] == sorted(fractions.Fraction(p["epsilon"]) for p in curve)
    for point in curve[::7]:
        assert same(point["delta"], computed("delta_none_eps", **SIZES, eps=point["epsilon"])["delta"]), point
    assert all(p["delta"]["upper"] >= q["delta"]["lower"] for p, q in zip(curve, curve[1:]))
    out = told("srs", *API_SURVEY, "--delta", "1e-6")
    assert out["answer"]["delta"] == "1/1000000"
    assert same(out["answer"]["epsilon"], computed("eps_none", **SIZES, delta="1e-6")["eps"])


def printed_rows(text):
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["epsilon", "delta"]) + 2
    return [line.split()[:2] for line in lines[start:lines.index("", start)]]


@case
def what_is_printed_is_rounded_up():
    for arguments in TEXTS["srs"], TEXTS["srs-delta-ascii"], TEXTS["srs-ends"]:
        curve = {fractions.Fraction(p["epsilon"]): p["delta"]["upper"] for p in told(*arguments)["curve"]}
        rows = printed_rows(privacy(*arguments).stdout)
        assert len(rows) > 5
        for eps, delta in rows:
            exact = curve.get(fractions.Fraction(eps))
            if exact is None:  # where delta becomes 0
                exact = curve[max(e for e in curve if e <= fractions.Fraction(eps))]
            printed = fractions.Fraction(delta)
            assert exact <= printed <= exact * fractions.Fraction(1002, 1000), (eps, delta)


@case
def an_exact_epsilon_is_printed_exactly():
    for arguments, epsilon in ((["--laplace", "10"], "0.1"), (["--discrete-laplace", "20"], "0.05"), (["--laplace", "3"], "0.3334"),
                               (["--laplace", "10", "--delta", "0"], "0.1"), (["--laplace", "100001/10000"], "0.1"),
                               (["--laplace", "64"], "0.015625"), (["--discrete-laplace", "640"], "0.0015625")):
        text = privacy("noise", *arguments).stdout
        assert f"delta 0: epsilon {epsilon}\n" in text and f"exp({epsilon})" in text, text
        assert printed_rows(text)[-1] == [epsilon, "0"], text


@case
def the_scale_that_is_printed_meets_the_target():
    for kind, option in ("laplace", "b"), ("gaussian", "sigma"), ("discrete-laplace", "s"), ("discrete-gaussian", "s"):
        sizes = ["--population", "12", "--sample", "4", "--ones", "2:9"]
        text = privacy("srs", *sizes, f"--{kind}", "1", "--target", "0.3,0.01").stdout
        scale = text.split("──\n")[1].split("\n")[0].split()[-2]
        name = kind.replace("discrete-", "d")
        delta = computed(f"delta_{name}", N=12, n=4, mt=2, Mt=9, eps="0.3", **{option: scale})["delta"]["upper"]
        assert delta <= fractions.Fraction(1, 100), (kind, scale)
        enclosure = told("srs", *sizes, f"--{kind}", "1", "--target", "0.3,0.01")["scales"][0]["scale"]
        assert enclosure["lower"] <= fractions.Fraction(scale) <= enclosure["upper"] * fractions.Fraction(1002, 1000)
        less = str(float(enclosure["lower"]) * 0.99)
        assert computed(f"delta_{name}", N=12, n=4, mt=2, Mt=9, eps="0.3", **{option: less})["delta"]["lower"] > fractions.Fraction(1, 100)


def tail(x):
    return math.erfc(x / math.sqrt(2)) / 2


@case
def noise_alone_follows_its_formulas():
    for scale, sensitivity in (2, 1), (5, 3), (0.5, 1):
        ratio = sensitivity / scale
        for eps in 0, 0.25, 1.5:
            arguments = ["--sensitivity", str(sensitivity), "--epsilon", str(eps)]
            wanted = {"laplace": max(0, 1 - math.exp((eps - ratio) / 2)),
                      "gaussian": tail(eps / ratio - ratio / 2) - math.exp(eps) * tail(eps / ratio + ratio / 2)}
            for law, delta in wanted.items():
                out = told("noise", f"--{law}", str(scale), *arguments)
                assert out["noise"] == {"law": law, "scale": str(fractions.Fraction(str(scale)))}
                assert abs(float(out["answer"]["delta"]["upper"]) - delta) <= 1e-9, (law, scale, eps)
        for law in "laplace", "discrete-laplace":
            pure = told("noise", f"--{law}", str(scale), "--sensitivity", str(sensitivity))["pure"]
            assert pure["lower"] <= fractions.Fraction(sensitivity) / fractions.Fraction(str(scale)) <= pure["upper"]
        assert told("noise", "--discrete-gaussian", str(scale))["pure"] == {"lower": "inf", "upper": "inf"}


@case
def the_smallest_noise_is_the_smallest():
    for target, eps, delta in ("1,0", 1, 0), ("1/2,1e-6", 0.5, 1e-6), ("0.01,1e-9", 0.01, 1e-9):
        for scale in told("noise", "--target", target, "--sensitivity", "3")["scales"]:
            law, enclosure = scale["law"].replace("_", "-"), scale["scale"]
            if enclosure["upper"] == "inf":
                assert delta == 0 and "gaussian" in law
                continue
            assert enclosure["upper"] - enclosure["lower"] <= enclosure["upper"] * fractions.Fraction("1e-6"), (law, target)
            for factor, side in (1.001, -1), (0.999, 1):
                other = str(float(enclosure["upper"]) * factor)
                answer = told("noise", f"--{law}", other, "--sensitivity", "3", "--epsilon", target.split(",")[0])["answer"]["delta"]
                assert (float(answer["upper"]) <= delta) if side < 0 else (float(answer["lower"]) > delta), (law, target, factor)
    assert "1" in privacy("noise", "--laplace", "1", "--target", "1,0").stdout.split("──\n")[1].split()


def design(text, *arguments, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "d.yaml")
        path.write_text(text)
        return privacy("design", path, *arguments, **options)


@case
def designs_agree_with_the_formulas():
    for text, p in ("bernoulli: {rate: 1/10, population: 5000}", 0.1), ("poisson: {probabilities: [1/2, 1/4, 1]}", 0.25):
        out = json.loads(design(text, "--laplace", "10", "--json").stdout)  # Result 1: ln(1 + p (e^(1/(p b)) - 1)), the smallest p is worst
        assert abs(float(out["pure"]["upper"]) - math.log(1 + p * math.expm1(1 / (p * 10)))) < 1e-9, out["pure"]
        assert out["strata"][0]["exact"] is True and out["strata"][0]["theorem"] == "independent"
    out = json.loads(design('{"srs": {"population": 60, "sample": 9}}', "--epsilon", "0.3", "--json").stdout)
    assert out["design"] == {"srs": {"population": "60", "sample": "9"}} and abs(out["answer"]["delta"]["upper"] - 9 / 60) < 1e-9
    assert out["answer"]["exact"] is True


@case
def a_stratum_is_as_private_as_a_survey_of_its_own():
    whole = told("design", HERE / "stratified.yaml", "--laplace", "40", "--epsilon", "1/50")
    names = {"E": (4421, 100), "M": (1018, 50), "H": (755, 50)}
    for stratum, (population, sample) in zip(whole["strata"], names.values()):
        alone = json.loads(design(f"srs: {{population: {population}, sample: {sample}}}", "--laplace", "40", "--epsilon", "1/50", "--json").stdout,
                           parse_float=fractions.Fraction, parse_int=fractions.Fraction)
        assert stratum["units"] == population and same(stratum["delta"], alone["answer"]["delta"])
    assert whole["answer"]["delta"]["upper"] == max(s["delta"]["upper"] for s in whole["strata"])


@case
def with_replacement_says_that_a_unit_counts_once():
    text = "srs_with_replacement: {population: 2, sample: 3}"  # all draws, 2/3 each: three times ln((1 + e^(4/3))/2), which is more
    pure = json.loads(design(text, "--laplace", "1/2", "--json").stdout)["pure"]["upper"]
    assert float(pure) < 3 * math.log((1 + math.exp(4 / 3)) / 2)
    for options in ("--laplace", "1/2"), ("--target", "1,1e-6"):
        assert "A unit counts once, however often it was drawn" in design(text, *options).stdout
        assert "however often" not in design("srs: {population: 4, sample: 3}", *options).stdout


@case
def bad_designs_are_told():
    good = "srs: {population: 9, sample: 3}"
    for text, words in (("", "expected a plan or a design"), ("srs: {population: 9}", "design: "), ("nonsense: 1", "design: "),
                        ("srs: {population: 9, sample: 10}", "design: "), ("poisson: {probability: p}", "write probabilities"),
                        ("stratified: {within: srs, strata: []}", "design: ")):
        done = design(text)
        assert done.returncode == INVALID and done.stdout == "" and words in done.stderr, (text, done)
    assert privacy("design", "no-such-file").returncode == INVALID
    assert design(good, "--column", "x").returncode == INVALID
    for bad in ("1", "1:0", "0:0", ":1", "0:", "x:y", "0:inf"):
        is_usage_error(design(good, "--range", bad), "--range")
    is_usage_error(design(good, "--range", "0:1", "--column", "x"), "give either --range or --column")
    is_usage_error(privacy("design"), "PLAN is missing")


def range_computed(kind, **values):
    question = {"id": "q", "area": "ht_general_enumeration", "kind": kind, "in": values}
    return json.loads(tamis("compute", input=json.dumps(question)).stdout, parse_float=fractions.Fraction, parse_int=fractions.Fraction)


SCORES = "design: {srs: {population: 10, sample: 1}}\ncolumns: {score: {from: 0, to: 10, step: 1}, bare: {from: 0, to: 10}, sex: {values: [f, m]}}\n"


@case
def discrete_noise_needs_the_step_of_the_values():
    noise = ["--discrete-laplace", "0.3448", "--epsilon", "5"]
    for values in (["--column", "score"], ["--range", "0:10:1"]):  # 3 against 7: totals 30 and 70, 0.1 at every epsilon if steps were of 100
        out = json.loads(design(SCORES, *values, *noise, "--json").stdout)
        assert out["step"] == "10" and out["grid"] == "1" and 0.0999 < out["answer"]["delta"]["upper"] <= 0.1, out
    asked = {"design": {"srs": {"population": 10, "sample": 1}}, "from": 0, "to": 10, "noise": "discrete_laplace", "scale": "0.3448", "eps": 5}
    assert range_computed("range_delta", **asked, grid=1)["out"]["delta"]["upper"] > 0.0999
    assert range_computed("range_delta", **asked, step=1)["out"]["step"] == "1"
    assert "grid: discrete noise needs" in range_computed("range_delta", **asked)["error"]["message"]
    assert "grid: fewer than two" in range_computed("range_delta", **asked, step=100)["error"]["message"]
    assert "step: not every value" in range_computed("range_delta", **asked, grid=1, step=100)["error"]["message"]
    done = design(SCORES, "--column", "bare", *noise)
    assert done.returncode == INVALID and done.stdout == "" and "columns.bare: discrete noise needs a step" in done.stderr, done
    is_usage_error(design(SCORES, "--range", "0:10", *noise), "--range: discrete noise needs the step")
    done = design(SCORES, "--range", "0:10", "--target", "1,1e-3", "--json")
    assert [s["scale"] for s in json.loads(done.stdout)["scales"][2:]] == [None, None], done
    for values in ([], ["--range", "0:1"], ["--column", "sex"]):
        assert json.loads(design(SCORES, *values, *noise, "--json").stdout)["step"] == "10"
    for bad in ("0:10:0", "0:10:-1", "0:10:11", "0:10:1:1", "0:10:"):
        assert design(SCORES, "--range", bad, *noise).returncode in (INVALID, USAGE), bad


@case
def targets_that_are_met_exactly_need_no_noise():
    done = design("bernoulli: {population: 1000, rate: 1/1000}", "--target", "1,1/1000")
    assert done.returncode == OK and done.stdout.count("no noise needed") == 4, done
    assert "which is enough" in design("bernoulli: {population: 1000, rate: 1/1000}", "--target", "1,1/1000", "--laplace", "3").stdout
    mixed = {"poisson": {"probabilities": ["1/2", 1, "1/1000000"]}}
    scales = json.loads(design("poisson: {probabilities: [1/2, 1, 1/1000000]}", "--target", "1,1e-6", "--json").stdout,
                        parse_float=fractions.Fraction, parse_int=fractions.Fraction)["scales"]
    for one in scales:
        other = range_computed("range_scale", design=mixed, **{"from": 0, "to": 1}, noise=one["law"], eps=1, delta="1e-6")["out"]["scale"]
        assert one["scale"] == other and 1 < other["lower"], (one, other)
    assert "no noise needed" in privacy("srs", "--population", "8", "--sample", "4", "--ones", "2:6", "--target", "3,1/14").stdout


@case
def nothing_certified_is_no_success():
    done = design("poisson: {probabilities: [1/2, 1]}", "--target", "1e-290,1e-300")
    assert done.returncode == UNABLE and done.stdout == "", done


@case
def what_cannot_be_certified_says_so():
    done = privacy("design", HERE / "stratified.yaml", "--discrete-gaussian", "500", "--target", "1/3,1e-6", preexec_fn=little_time)
    assert done.returncode == UNABLE and done.stdout == "" and "too many steps" in done.stderr, done


@case
def bad_sensitivities_are_told():
    for bad in ("0", "-1"):
        is_usage_error(privacy("noise", "--laplace", "1", "--sensitivity", bad), "--sensitivity must be positive")
    for bad in ("x", "inf", ""):
        is_usage_error(privacy("noise", "--laplace", "1", "--sensitivity", bad), "--sensitivity: ")
    is_usage_error(privacy("noise", "--discrete-laplace", "1", "--sensitivity", "1.5"), "--sensitivity must be a whole number")
    is_usage_error(privacy("noise", "--target", "1,0", "--sensitivity", "1.5"), "--sensitivity must be a whole number")
    is_usage_error(privacy("noise"), "give --laplace B")
    is_usage_error(privacy("noise", "--laplace", "1e-99"), "--laplace")
    is_usage_error(privacy("noise", "--gaussian", "0"), "--gaussian must be positive")


@case
def a_target_may_need_no_noise_or_more_than_there_is():
    assert "no noise needed" in privacy("srs", *API_SURVEY, "--target", "0.5,1e-6").stdout
    all_scales = told("srs", *API_SURVEY, "--target", "0.5,1e-6")["scales"]
    assert [s["law"] for s in all_scales] == ["laplace", "gaussian", "discrete_laplace", "discrete_gaussian"]
    assert all(s["scale"] == {"lower": 0, "upper": 0} for s in all_scales)
    assert "none suffices" in privacy("srs", *SMALL, "--ones", "0:60", "--gaussian", "1", "--target", "1,0").stdout


SVG = "{http://www.w3.org/2000/svg}"


@case
def the_picture_is_well_formed_and_names_itself():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "curve.svg")
        path.write_text("an old picture " * 10000)
        assert privacy("srs", *API_SURVEY, "--epsilon", "0.05", "--svg", path).returncode == OK
        root = xml.parse(path).getroot()
        assert root.tag == SVG + "svg" and root.get("role") == "img"
        assert "200 out of 6,194" in root.find(SVG + "title").text
        assert "delta (logarithmic) against epsilon" in root.find(SVG + "desc").text
        assert "prefers-color-scheme:dark" in root.find(SVG + "style").text
        words = [text.text for text in root.iter(SVG + "text")]
        assert "n/N" in words and "epsilon 0.05, delta 8.866e-9" in words, words
        assert len(root.findall(SVG + "circle")) == 1
        first = path.read_text()
        assert privacy("srs", *API_SURVEY, "--epsilon", "0.05", "--svg", path, "--json").returncode == OK
        assert path.read_text() == first
        assert shell("tamis privacy srs --population 60 --sample 9 --ones 5:55 --json --svg /dev/stderr").stderr.startswith("<svg")


@case
def a_picture_that_is_not_drawn_leaves_no_file():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "curve.svg")
        is_usage_error(privacy("srs", *API_SURVEY, "--epsilon", "-1", "--svg", path), "--epsilon must not be negative")
        assert not path.exists()
        path.write_text("old")
        is_usage_error(privacy("srs", *API_SURVEY, "--epsilon", "-1", "--svg", path), "--epsilon")
        assert path.read_text() == "old"
        for bad in folder, folder + "/no/such/folder.svg", "", folder + "/" + "x" * 300:
            is_usage_error(privacy("srs", *API_SURVEY, "--svg", bad), "--svg: cannot write")


@case
def without_utf8_the_plot_is_plain():
    done = privacy(*TEXTS["srs"], env={"LC_ALL": "C"})
    assert done.returncode == OK and done.stdout.isascii() and "****" in done.stdout
    assert done.stdout == privacy(*TEXTS["srs"], "--ascii").stdout


@case
def bad_sizes_and_windows_are_told_by_their_option():
    def srs(*more, population="6194", sample="200", ones="400:5794"):
        return privacy("srs", "--population", population, "--sample", sample, "--ones", ones, *more)
    for ones in ("400-5794", "400", "many:few", ":", "400:", ":5794", "1.5:7", "400:5794:6000", "-1:5", "1e99:2e99", "9" * 99 + ":1"):
        is_usage_error(srs(ones=ones), "--ones needs two whole numbers", "400:5794")
    is_usage_error(srs(ones="5794:400"), "--ones", "LOW below HIGH")
    is_usage_error(srs(ones="400:400"), "--ones", "LOW below HIGH")
    is_usage_error(srs(ones="400:6195"), "--ones cannot be more than the --population")
    is_usage_error(srs(sample="6195"), "--sample cannot be more than the --population")
    for bad in ("0", "-3", "abc", "", "1e99", "inf", "2.5", "1/0"):
        is_usage_error(srs(population=bad), "--population needs a whole number")
        is_usage_error(srs(sample=bad), "--sample needs a whole number")
    is_usage_error(privacy("srs", "--population", "9", "--sample", "3"), "--ones LOW:HIGH is missing")


@case
def bad_noise_and_targets_are_told_by_their_option():
    def srs(*more):
        return privacy("srs", *API_SURVEY, *more)
    is_usage_error(srs("--laplace", "1", "--gaussian", "1"), "give either --laplace or --gaussian, not both")
    is_usage_error(srs("--laplace", "0"), "--laplace must be positive")
    is_usage_error(srs("--discrete-gaussian", "-2"), "--discrete-gaussian must be positive")
    for bad in ("inf", "nan", "much", "", "1,5", "1e999999999"):
        is_usage_error(srs("--gaussian", bad), "--gaussian: ")
        is_usage_error(srs("--epsilon", bad), "--epsilon: ")
        is_usage_error(srs("--delta", bad), "--delta: ")
    is_usage_error(srs("--epsilon", "-0.1"), "--epsilon must not be negative")
    is_usage_error(srs("--epsilon", "1e7"), "--epsilon must not exceed")
    is_usage_error(srs("--delta", "1.5"), "--delta must be between 0 and 1")
    is_usage_error(srs("--epsilon", "1", "--delta", "0.1"), "give either --epsilon or --delta")
    for bad in ("1", ",", ",1", "1e-6,"):
        assert srs("--target", bad).returncode == USAGE, bad
    is_usage_error(srs("--target", "1;2"), "--target needs an epsilon and a delta")
    is_usage_error(srs("--target", "x,1"), "--target: ")
    is_usage_error(srs("--target", "1,2"), "--target: delta must be between 0 and 1")
    is_usage_error(srs("--target", "1,0.1", "--delta", "1"), "give either --target")
    is_usage_error(srs("--target", "1,0.1", "--svg", "x.svg"), "--svg")


@case
def a_long_curve_shows_how_far_it_is_and_can_be_stopped():
    def interrupt(process, text):
        if "%" in text and not sent:
            sent.append(process.send_signal(signal.SIGINT))
    sent = []
    code, text = on_terminal(["privacy", "srs", "--population", "33e7", "--sample", "1e6", "--ones", "1e6:32e7"], act=interrupt)
    if not sent:
        raise Skip("it was over before it could be stopped")
    assert code == SYSTEM and "stopped before the end" in text and "epsilon" not in text, (code, text)


@case
def a_design_that_cannot_be_certified_leaves_nothing_behind():
    done = privacy("design", HERE / "stratified.yaml", "--discrete-gaussian", "1e7", "--epsilon", "0.1")
    assert done.returncode == UNABLE and done.stdout == "" and done.stderr.count("\n") == 1, done


main()
