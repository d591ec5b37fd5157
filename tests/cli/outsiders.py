"""Targets for outsiders: one epsilon per stratum, from the plan through the ledger to both verifiers; against all samples of small
designs."""
import copy
import hashlib
import itertools
import math
import sys
from fractions import Fraction

from kit import *

sys.path.insert(0, str(TOP / "tests"))
import verifier  # noqa: E402

tamis = with_memory  # noqa: F405

STRATA = {"north": (200, 100), "mid": (2000, 100), "south": (20000, 100), "all": (60, 60)}
PRIVACY = "{unit: person, protect: frame, given: population, secret_sample: yes, outsider: 0.5, insider: 5}"
PLAN = """tamis: 1
survey: three
source: {file: rows.csv}
design:
  stratified:
    by: region
    within: srs
    strata:
""" + "".join(f"      {name}: {{population: {N}, sample: {n}}}\n" for name, (N, n) in STRATA.items()) + """privacy: %s
columns:
  region: {values: [north, mid, south, all]}
  sex: {values: [f, m]}
  x: {from: 0, to: 100, step: 1, typical: {mean: 50, sd: 20}}
statistics:
  - total: x
  - {mean: x, by: region}
budget: {outsider: 1, insider: 8}
""" % PRIVACY
ROWS = "region,sex,x\n" + "".join(f"{name},{'fm'[i % 2]},{(i * 37) % 101}\n" for name, (_, n) in STRATA.items() for i in range(n))


def epsilon_of(f, target, insider):
    return min(insider, math.log1p(math.expm1(target) / f))


class place:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        (folder / "rows.csv").write_text(ROWS)
        (folder / "plan.yaml").write_text(PLAN)
        return folder

    def __exit__(self, *_):
        self.folder.cleanup()


def certificate(folder):
    return json.loads((folder / "certificate.json").read_text())


def verified(folder, c):
    """What both verifiers say of a certificate that was changed and given the hash that it then has."""
    c.pop("guarantee")
    body = {k: v for k, v in c.items() if k not in ("guarantee", "hash")}
    c["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    (folder / "forged.json").write_text(json.dumps(c))
    return tamis("verify", folder / "forged.json"), verifier.verify(folder / "forged.json")


@case
def released_verified_repeated_exhausted():
    with place() as folder:
        shown = tamis("check", folder / "plan.yaml")
        assert shown.returncode == OK and "the epsilon of their stratum" in shown.stdout and "north: known to" in " ".join(shown.stdout.split()), shown
        first = tamis("release", folder / "plan.yaml", "--out", folder / "one")
        assert first.returncode == OK, first
        c = certificate(folder / "one")
        caps = [Fraction(e) for e in c["sampling"]["epsilons"]]
        for (N, n), cap in zip(STRATA.values(), caps):
            assert 0 <= epsilon_of(n / N, 0.5, 5) - float(cap) < 1e-8, (N, n, cap)
        for stratum, cap in zip(c["guarantee"]["outsider"]["by_stratum"], caps):
            assert stratum["epsilon"]["upper"] <= 0.5 and stratum["sampled"]["upper"] <= cap * (1 + 1e-15), stratum
        assert c["guarantee"]["sample"]["epsilon"]["upper"] <= max(caps) * (1 + 1e-15) and c["account"]["cap"]["outsider"] == "1"
        assert c["account"]["statement"] == ("All releases of this survey together may spend outsider 1 and insider 8. It is a target for outsiders, and "
                                             "cannot be raised."), c["account"]
        assert tamis("verify", folder / "one").returncode == OK and verifier.verify(folder / "one") == []
        again = tamis("release", folder / "plan.yaml", "--out", folder / "two")
        assert again.returncode == OK and "nothing was spent" in " ".join(again.stdout.split()), again
        assert tamis("verify", folder / "two").returncode == OK and verifier.verify(folder / "two") == []
        # what outsiders may still lose in a stratum is not what was targeted less what was spent: epsilons of sampled people add up
        (folder / "other.yaml").write_text(PLAN.replace("mean: x", "total: x").replace("outsider: 0.5", "outsider: 0.1"))
        third = tamis("release", folder / "other.yaml", "--out", folder / "three")
        refused = tamis("release", folder / "other.yaml", "--out", folder / "four", "--again")
        for name, sums in ((s["group"], s["after"]) for s in certificate(folder / "one")["account"]["groups"]):
            n, N = STRATA[name][1], STRATA[name][0]
            left = epsilon_of(n / N, 1, 8) - float(Fraction(sums["epsilon"]))
            fits = left >= epsilon_of(n / N, 0.1, 5)
            assert fits or third.returncode == REFUSED, (name, third)
        assert refused.returncode == REFUSED and re.search(r"the stratum \w+ has epsilon [\d.]+ left", " ".join(refused.stderr.split())), refused
        assert tamis("ledger", "verify", folder / "tamis.ledger", "--against", folder / "one", folder / "two").returncode == OK
        raised = tamis("ledger", "raise", folder / "tamis.ledger", "--survey", "three", "--epsilon", "99", "--reason", "why not")
        assert raised.returncode == REFUSED and "cannot be raised" in raised.stderr, raised
        listed = json.loads(tamis("ledger", "show", folder / "tamis.ledger", "--json").stdout)["accounts"][0]
        assert {g["group"] for g in listed["groups"]} == set(STRATA) and listed["outsider"]["epsilon"]["upper"] <= 1


@case
def one_number_across_strata():
    """Its noise is what one stratum needs, and costs the others less than they may spend; so does what is measured of its sampling error."""
    with place() as folder:
        (folder / "plan.yaml").write_text(PLAN.replace("  - total: x\n  - {mean: x, by: region}\n", "  - mean: x\n"))
        done = tamis("release", folder / "plan.yaml", "--out", folder / "one")
        assert done.returncode == OK and tamis("verify", folder / "one").returncode == OK and verifier.verify(folder / "one") == [], done
        c = certificate(folder / "one")
        assert not c["sampling"]["apart"] and {m["weighed_by"] for m in c["measurements"]} == {"weight", "squares"}
        assert all(len(m["noise"]) == 1 for m in c["measurements"])
        spent = [Fraction(g["after"]["epsilon"]) for g in c["account"]["groups"]]
        caps = [Fraction(e) for e in c["sampling"]["epsilons"]]
        assert all(x <= cap for x, cap in zip(spent, caps)) and spent[0] < caps[0] / 2 < caps[2] / 2 < spent[2], (spent, caps)


@case
def a_plan_without_a_target_costs_every_stratum_the_same():
    with place() as folder:
        tamis("release", folder / "plan.yaml", "--out", folder / "one")
        (folder / "same.yaml").write_text(PLAN.replace("outsider: 0.5, insider: 5", "epsilon: 0.1").replace("mean: x", "total: x"))
        done = tamis("release", folder / "same.yaml", "--out", folder / "two")
        assert done.returncode == OK and tamis("verify", folder / "two").returncode == OK and verifier.verify(folder / "two") == [], done
        for group in certificate(folder / "two")["account"]["groups"]:
            assert Fraction(group["after"]["epsilon"]) - Fraction(group["before"]["epsilon"]) == Fraction(1, 10)
        (folder / "rho.yaml").write_text(PLAN.replace("outsider: 0.5, insider: 5", "rho: 0.1"))
        assert tamis("check", folder / "rho.yaml").returncode == INVALID
        (folder / "plain.yaml").write_text(PLAN.replace("outsider: 0.5, insider: 5", "epsilon: 0.1").replace("{outsider: 1, insider: 8}", "{epsilon: 4}"))
        plain = tamis("release", folder / "plain.yaml", "--out", folder / "four")
        assert plain.returncode == REFUSED and "not of the same kind" in plain.stderr, plain
        # without a budget the one of the account is advised
        (folder / "none.yaml").write_text(PLAN.replace("outsider: 0.5, insider: 5", "epsilon: 0.1").replace("budget: {outsider: 1, insider: 8}\n", ""))
        for options in ((), ("--json",)):
            shown = tamis("check", folder / "none.yaml", *options)
            assert shown.returncode == OK and "`budget: {outsider: 1, insider: 8}`" in " ".join(shown.stdout.split()) and "budget: {epsilon" not in shown.stdout, shown


@case
def forged_certificates_fail_in_both():
    def more_left(c):
        c["account"]["groups"][0]["after"]["epsilon"] = c["account"]["groups"][0]["before"]["epsilon"]

    def higher_cap(c):
        c["account"]["cap"]["strata"][0]["epsilon"] = c["account"]["cap"]["epsilon"]

    def less_noise(c):
        noise = c["measurements"][0]["noise"]
        noise[-1]["scale"] = str(Fraction(noise[-1]["scale"]) * Fraction(9, 10))

    def larger_epsilon(c):
        c["sampling"]["epsilons"][0] = c["sampling"]["epsilons"][2]

    def less_lost(c):
        c["amplification"]["strata"][2] = "1"

    def no_secret(c):
        c["plan"]["privacy"]["secret_sample"] = c["setting"]["secret_sample"] = False

    with place() as folder:
        tamis("release", folder / "plan.yaml", "--out", folder / "one")
        true = certificate(folder / "one")
        for forge in (more_left, higher_cap, less_noise, larger_epsilon, less_lost, no_secret):
            c = copy.deepcopy(true)
            forge(c)
            found = verified(folder, c)
            assert found[0].returncode == INVALID and found[1], forge


@case
def a_last_digit_of_a_cap_may_differ():
    """Caps are rounded down to ten digits: how far logarithms are computed may decide the last one, and nothing more."""
    with place() as folder:
        tamis("release", folder / "plan.yaml", "--out", folder / "one")
        true = certificate(folder / "one")
        for off, right in ((0, True), (Fraction(-1, 10**9), True), (Fraction(-1, 10**6), False), (Fraction(1, 10**6), False)):
            c = copy.deepcopy(true)
            cap = c["account"]["cap"]["strata"][1]
            cap["epsilon"] = str(Fraction(cap["epsilon"]) + off)
            found = verified(folder, c)
            assert found[0].returncode == (OK if right else INVALID) and (not found[1]) == right, (off, found)


DESIGNS = {
    "srs": "{srs: {population: 22260, sample: 360}}",
    "census": "{census: {population: 360}}",
    "weights": "{weights: {}, weight: w, max_weight: 20}",
    "pps in strata": "{stratified: {by: region, within: {pps: {method: sampford, probability: w, frame: frame.csv}}, strata: "
                     + "{" + ", ".join(f"{name}: {{sample: {n}}}" for name, (_, n) in STRATA.items()) + "}}}",
}


def a_target_put_into(name, design):
    """The caps of strata, in a certificate of a design that has none, or whose law only a frame knows."""
    def is_refused():
        with place() as folder:
            old = PLAN[PLAN.index("design:"):PLAN.index("columns:")]
            plan = PLAN.replace(old, f"design: {design}\nprivacy: {{unit: person, id: u, epsilon: 1}}\n").replace("{outsider: 1, insider: 8}", "{epsilon: 4}")
            (folder / "plan.yaml").write_text(plan)
            lines = ROWS.splitlines()
            (folder / "rows.csv").write_text(f"u,w,{lines[0]}\n" + "".join(f"{i},2,{line}\n" for i, line in enumerate(lines[1:])))
            rows = [(i, line.split(",")[0]) for i, line in enumerate(lines[1:] * 2)]
            (folder / "frame.csv").write_text("u,region,w\n" + "".join(f"{i},{name},{1 if name == 'all' else 0.5}\n" for i, name in rows
                                                                        if i < 360 or name != "all"))
            done = tamis("release", folder / "plan.yaml", "--out", folder / "one")
            assert done.returncode == OK, done
            for strata in (STRATA, ["north", "mid"], ["x"]):
                c = certificate(folder / "one")
                c["account"]["cap"] = {"epsilon": "1", "outsider": "1", "insider": "8",
                                       "strata": [{"stratum": stratum, "epsilon": "1"} for stratum in strata]}
                found = verified(folder, c)
                assert found[0].returncode == INVALID and "account.cap" in found[0].stdout + found[0].stderr and found[1], (strata, found)

    case(is_refused, f"a target put into the account of: {name}")


for name, design in DESIGNS.items():
    a_target_put_into(name, design)


@case
def an_end_of_an_enclosure_is_the_double_itself():
    """Not its shortest decimal, which may be below: here that of the stratum b is below what its outsiders lose."""
    with place() as folder:
        (folder / "rows.csv").write_text("s,x\n" + "".join(f"{s},{i}\n" for s in "ab" for i in range(10)))
        (folder / "plan.yaml").write_text("""tamis: 1
survey: ends
source: {file: rows.csv}
design: {stratified: {by: s, within: srs, strata: {a: {population: 5000, sample: 10}, b: {population: 20, sample: 10}}}}
privacy: {unit: person, protect: frame, given: population, secret_sample: yes, epsilon: 5}
columns: {x: {from: 0, to: 100, step: 1}}
statistics: [total: x]
budget: {epsilon: 5}
""")
        done = tamis("release", folder / "plan.yaml", "--out", folder / "one")
        assert done.returncode == OK and tamis("verify", folder / "one").returncode == OK and verifier.verify(folder / "one") == [], done


REFUSALS = {
    "not secret": (("secret_sample: yes, ", ""), "secret_sample: yes"),
    "another setting": (("protect: frame, given: population, ", ""), "protect: frame"),
    "strata change": (("secret_sample: yes", "secret_sample: yes, design_variables: protected"), "design_variables: public"),
    "no insider": ((", insider: 5", ""), "expected insider with it"),
    "no outsider": (("outsider: 0.5, ", ""), "expected outsider with it"),
    "both": (("outsider: 0.5", "epsilon: 1, outsider: 0.5"), "expected either outsider and insider"),
    "another budget": (("budget: {outsider: 1, insider: 8}", "budget: {epsilon: 8}"), "expected a budget with a target"),
    "waves": (("survey: three", "survey: three\nwave: w1"), "without waves"),
    "chosen quantiles": (("{mean: x, by: region}", "{median: x, method: inverse}"), "method: distribution"),
    "several rows": (("{unit: person", "{id: pid, rows_per_unit: 3, unit: person"), "units of one row"),
    "clusters": (("within: srs", "within: {cluster: {by: c, smallest: 1, largest: 3}}"), "in which units are drawn"),
}


def each_refusal(name, change, words):
    def is_refused():
        with place() as folder:
            assert change[0] in PLAN, change
            (folder / "plan.yaml").write_text(PLAN.replace(*change))
            done = tamis("check", folder / "plan.yaml")
            assert done.returncode == INVALID and words in " ".join(done.stderr.split()) and re.search(r"plan.yaml:\d+:\d+", done.stderr), done

    case(is_refused, f"refused: {name}")


for name, (change, words) in REFUSALS.items():
    each_refusal(name, change, words)


@case
def without_strata_the_epsilon_is_named():
    with place() as folder:
        design = PLAN[PLAN.index("design:"):PLAN.index("privacy:")]
        (folder / "plan.yaml").write_text(PLAN.replace(design, "design: {srs: {population: 22260, sample: 360}}\n"))
        done = tamis("check", folder / "plan.yaml")
        named = re.search(r"with (\S+) it meets this target", " ".join(done.stderr.split()))
        assert done.returncode == INVALID and 0 <= epsilon_of(360 / 22260, 0.5, 5) - float(Fraction(named[1])) < 1e-8, done


def laws(values, weights, sizes, scale):
    """The law of a noisy weighted total over all strata: exact discrete Laplace noise on the mixture over all samples."""
    totals = {}
    for chosen in itertools.product(*(itertools.combinations(v, n) for v, n in zip(values, sizes))):
        total = sum(w * sum(c) for w, c in zip(weights, chosen))
        totals[total] = totals.get(total, 0) + 1
    all_samples = sum(totals.values())
    return lambda y: sum(k / all_samples * math.exp(-abs(y - t) / scale) for t, k in totals.items())


@case
def all_samples_of_small_designs():
    """The ratio of the laws of one noisy total over all strata, whoever was sampled: an outsider of each stratum loses the target at most,
    and in some design all of it."""
    tight = 0
    for sizes, population in (((1, 1), (2, 4)), ((1, 2), (3, 3)), ((1, 1), (1, 5)), ((2, 1), (3, 6))):
        weights = [N / n for N, n in zip(population, sizes)]
        for target, insider in ((0.5, 5), (1, 3)):
            caps = [epsilon_of(n / N, target, insider) for N, n in zip(population, sizes)]
            scale = max(w / e for w, e in zip(weights, caps))  # values 0 and 1
            worst = 0
            for ones in itertools.product(*(range(N + 1) for N in population)):
                values = [[1] * k + [0] * (N - k) for k, N in zip(ones, population)]
                own = laws(values, weights, sizes, scale)
                for h in range(2):
                    if ones[h] == population[h]:
                        continue
                    other = [v if i != h else [1] * (ones[h] + 1) + [0] * (population[h] - ones[h] - 1) for i, v in enumerate(values)]
                    changed = laws(other, weights, sizes, scale)
                    for y in (-50, 50, *(0.5 * k for k in range(0, 40))):
                        worst = max(worst, abs(math.log(own(y) / changed(y))))
            assert worst <= target * (1 + 1e-9), (sizes, population, worst)
            tight = max(tight, worst / target)
    assert tight > 0.999, tight


main()
