"""Outsiders of clusters and stages: what follows from the profile of the loss, released, verified twice, added up in the ledger;
forged, and as older certificates have it."""
import copy
import hashlib
import math
import sys
from fractions import Fraction

from kit import *

sys.path.insert(0, str(TOP / "tests"))
import verifier  # noqa: E402

tamis = with_memory  # noqa: F405

DESIGNS = {
    "cluster": "cluster: {by: c, population: 1000, sample: 50, smallest: 1, largest: 4}",
    "two_stage": "two_stage: {first: {by: c, population: 1000, sample: 50}, second: {population: N, sample: 4, smallest: 20}}, max_weight: 900",
    "stratified": "stratified: {by: s, within: {cluster: {by: c, smallest: 1, largest: 4}}, "
                  "strata: {p: {population: 400, sample: 30}, q: {population: 600, sample: 20}}}",
}
LOSSES = {"normal": ("epsilon: 1/2, delta: 1/1000", "epsilon: 3, delta: 1/500"), "rho": ("rho: 1/20", "rho: 1/5")}
PLAN = """tamis: 1
survey: s
source: {{file: rows.csv}}
design: {{{design}}}
privacy: {{unit: person, {loss}, protect: frame, given: population, secret_sample: yes}}
columns:
  x: {{from: 0, to: 10, step: 1}}
  g: {{values: [a, b]}}
  s: {{values: [p, q]}}
statistics:
  - {{total: x, by: g}}
  - {{histogram: x, cuts: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}
  - {{mean: x, by: g}}
budget: {{{budget}}}
"""
ROWS = "x,g,s,c,N\n" + "".join(f"{(7 * i) % 11},{'ab'[i % 3 % 2]},{'p' if c < 30 else 'q'},c{c},{20 + c}\n" for c in range(50) for i in range(4))


class place:
    def __init__(self, design, loss, **more):
        self.words = {"design": DESIGNS[design], "loss": LOSSES[loss][0], "budget": LOSSES[loss][1], **more}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        (folder / "rows.csv").write_text(ROWS)
        (folder / "plan.yaml").write_text(PLAN.format(**self.words))
        return folder

    def __exit__(self, *_):
        self.folder.cleanup()


def release(folder, name="one", *options):
    done = tamis("release", folder / "plan.yaml", "--out", folder / name, "--quiet", *options)
    assert done.returncode == OK, done
    return json.loads((folder / name / "certificate.json").read_text())


def verified(folder, c):
    """What both verifiers say of a certificate that was changed and given the hash that it then has."""
    body = {k: v for k, v in c.items() if k not in ("guarantee", "hash")}
    c["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    (folder / "changed.json").write_text(json.dumps(c))
    return tamis("verify", folder / "changed.json"), verifier.verify(folder / "changed.json")


def normal_delta(mu, eps):
    return math.erfc((eps / mu - mu / 2) / math.sqrt(2)) / 2 - math.exp(eps) * math.erfc((eps / mu + mu / 2) / math.sqrt(2)) / 2


def law_delta(weights, mu, eps):
    """Of the law itself: with probability w a sample s steps away, whose answers are normal with mean s mu; the other person's
    record is one step away. The likelihood ratio falls, so that half-lines are best."""
    def tail(x, changed):
        return sum(w * math.erfc((x + (s or changed) * mu) / math.sqrt(2)) / 2 for s, w in weights.items())
    def density(x, changed):
        return sum(w * math.exp(-(x + (s or changed) * mu) ** 2 / 2) for s, w in weights.items())
    low, high = -40.0, 40.0
    for _ in range(200):
        x = (low + high) / 2
        low, high = (low, x) if density(x, 0) > math.exp(eps) * density(x, 1) else (x, high)
    return tail(high, 0) - math.exp(eps) * tail(high, 1)


def one_point(pi, f, k, eps, delta):
    """By eps and delta alone."""
    w, near, far = pi * f, math.exp(-eps), math.exp(-k * eps)
    S = pi * (1 - f) * near + (1 - pi) * far
    return math.log((w + S) / (w * near + S))


@case
def released_and_verified():
    for design in DESIGNS:
        for loss in LOSSES:
            with place(design, loss) as folder:
                shown = tamis("check", folder / "plan.yaml", "--json")
                assert shown.returncode == OK, shown
                c = release(folder)
                outsider, a = c["guarantee"]["outsider"], c["amplification"]
                foreseen = json.loads(shown.stdout)["guarantee"]["outsider"]
                assert foreseen["epsilon"] == outsider["epsilon"] and foreseen["delta"] == outsider["delta"], (foreseen, outsider)
                for done in (tamis("verify", folder / "one"), tamis("ledger", "verify", *folder.glob("*ledger*"), "--against", folder / "one")):
                    assert done.returncode == OK, done
                assert verifier.verify(folder / "one") == [], verifier.verify(folder / "one")
                told = json.loads(tamis("ledger", "show", *folder.glob("*ledger*"), "--json").stdout)["accounts"][0]["outsider"]
                assert told["epsilon"] == outsider["epsilon"] and told["delta"] == outsider["delta"], (told, outsider)
                assert a["profile"] == {"epsilon": "0", **({"rho": "1/20"} if loss == "rho" else {"mu_squared": a["profile"]["mu_squared"]})}
                pi, f = (0.075, 1) if design == "stratified" else (0.05, 0.2 if design == "two_stage" else 1)
                eps, delta = float(Fraction(a["epsilon"])), float(Fraction(a["delta"]))
                upper = outsider["epsilon"]["upper"]
                assert upper < one_point(pi, f, 4, eps, delta), (design, loss, upper)
                if loss == "normal":
                    assert Fraction(a["profile"]["mu_squared"]) == 2 * Fraction(c["composition"]["rho"])
                    exact = law_delta({0: pi * f, 1: pi * (1 - f), 4: 1 - pi}, math.sqrt(Fraction(a["profile"]["mu_squared"])), upper)
                    part = max(outsider.get("by_stratum", [outsider]), key=lambda p: p["epsilon"]["upper"])
                    assert abs(exact / part["delta"]["upper"] - 1) < 1e-6, (design, exact, part)


@case
def two_releases_of_one_sample():
    """A pure epsilon before the first normal noise stays beside mu^2, one after it is counted in mu^2."""
    with place("two_stage", "normal") as folder:
        plan = (folder / "plan.yaml").read_text()
        (folder / "plan.yaml").write_text(plan.replace("epsilon: 1/2, delta: 1/1000", "epsilon: 1/10"))
        assert "profile" not in release(folder, "pure")["amplification"]
        (folder / "plan.yaml").write_text(plan)
        first = release(folder, "normal")
        assert first["amplification"]["profile"]["epsilon"] == "1/10"
        (folder / "plan.yaml").write_text(plan.replace("epsilon: 1/2, delta: 1/1000", "epsilon: 1/5"))
        second = release(folder, "last")
        profile = second["amplification"]["profile"]
        assert profile["epsilon"] == "1/10" and Fraction(profile["mu_squared"]) > Fraction(first["amplification"]["profile"]["mu_squared"])
        for name in ("pure", "normal", "last"):
            assert tamis("verify", folder / name).returncode == OK
            assert verifier.verify(folder / name) == [], (name, verifier.verify(folder / name))
        assert second["guarantee"]["outsider"]["epsilon"]["upper"] > first["guarantee"]["outsider"]["epsilon"]["upper"]


@case
def older_and_forged_certificates():
    for loss, name in (("normal", "mu_squared"), ("rho", "rho")):
        with place("two_stage", loss) as folder:
            c = release(folder)
            a = c["amplification"]
            older = copy.deepcopy(c)
            eps, delta = float(Fraction(a["epsilon"])), float(Fraction(a["delta"]))
            del older["amplification"]["profile"], older["guarantee"]
            for result in verified(folder, copy.deepcopy(older)):  # its guarantee is not stated: it follows
                assert result == [] or getattr(result, "returncode", INVALID) == OK, result
            older["guarantee"] = copy.deepcopy(c["guarantee"])  # a smaller epsilon than one point gives
            theirs, second = verified(folder, older)
            assert theirs.returncode == INVALID and "guarantee.outsider.epsilon" in theirs.stderr + theirs.stdout, theirs
            assert any("guarantee.outsider.epsilon" in p for p in second), second
            point = one_point(0.05, 0.2, 4, eps, delta)
            older["guarantee"]["outsider"]["epsilon"] = {"lower": point * (1 - 1e-12), "upper": point * (1 + 1e-12)}
            assert verified(folder, older)[1] == []
            for key, value in (("epsilon", "-1/10"), (name, "1/100"), (name, "0"), ("extra", "1")):
                lie = copy.deepcopy(c)
                lie["amplification"]["profile"][key] = value
                theirs, second = verified(folder, lie)
                assert theirs.returncode == INVALID and "amplification.profile" in theirs.stdout + theirs.stderr, (key, theirs)
                assert any("amplification.profile" in p for p in second), (key, second)
            lie = copy.deepcopy(c)
            lie["guarantee"]["outsider"]["epsilon"] = {k: 0.99 * v for k, v in lie["guarantee"]["outsider"]["epsilon"].items()}
            theirs, second = verified(folder, lie)
            assert theirs.returncode == INVALID and any("guarantee.outsider.epsilon" in p for p in second), (theirs, second)


@case
def asked_without_a_plan():
    design = '{"two_stage": {"first": {"population": 1000, "sample": 50}, "second": {"population": 20, "sample": 4}}}'
    def amplify(*words, **more):
        return tamis("privacy", "amplify", *words, **more)
    def told(*words):
        done = amplify("--design", design, *words, "--json")
        assert done.returncode == OK, done
        return json.loads(done.stdout)
    squared = told("--mu-squared", "0.09", "--delta", "1e-6")
    point = told("--epsilon", squared["sample"]["epsilon"], "--delta", "1e-6")
    rho = told("--rho", "0.045", "--delta", "1e-6")
    assert squared["outsider"]["delta"] == point["outsider"]["delta"]
    upper = squared["outsider"]["epsilon"]["upper"]
    assert upper < 0.9 * point["outsider"]["epsilon"]["upper"] and upper < rho["outsider"]["epsilon"]["upper"]
    exact = law_delta({0: 0.01, 1: 0.04, 4: 0.95}, 0.3, upper)
    assert abs(exact / squared["outsider"]["delta"]["upper"] - 1) < 1e-6
    eps = float(Fraction(squared["sample"]["epsilon"]))
    assert abs(normal_delta(0.3, eps) / 1e-6 - 1) < 1e-6
    assert amplify("--design", design, "--mu-squared", "0.09", "--delta", "1e-6", "--ascii").returncode == OK
    for words, said in ((["--rho", "1", "--mu-squared", "1", "--delta", "1e-6"], "either --rho or --mu-squared"),
                        (["--rho", "1"], "needs --delta"), (["--rho", "1", "--delta", "0"], "must be above 0"),
                        (["--rho", "1", "--delta", "1e-6", "--epsilon", "1"], "leave out --epsilon"),
                        (["--rho", "1", "--delta", "1e-6", "--releases", "2"], "leave out --releases"),
                        (["--rho", "-1", "--delta", "1e-6"], "negative"), (["--mu-squared", "x", "--delta", "1e-6"], "mu-squared")):
        done = amplify("--design", design, *words)
        assert done.returncode not in (OK, None) and said in " ".join(done.stderr.split()), (words, done)


main()
