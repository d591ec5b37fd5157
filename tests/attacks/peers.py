"""Failures that were found in other libraries, tried here. Those of records (weights, sums, squares) are in data.py, those of the
generator (fork, bits that are never random) in tests/rng/generator.c and tests/rng/discrete_laplace.c."""
import math

from attack import *


def compose(text, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "list")
        path.write_text(text)
        done = tamis("privacy", "compose", path, "--json", *arguments)
        assert done.returncode == OK, done.stderr
        return json.loads(done.stdout)


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-3)


@case
def a_count_is_as_good_as_that_many_entries():
    """dp_accounting lost the count of randomised response: 100 at once cost as much as one."""
    for law in ("randomized_response, eps: 1", "laplace, scale: 5", "gaussian, scale: 5", "discrete_laplace, scale: 5",
                "discrete_gaussian, scale: 5", "zcdp, rho: 0.01", "claim, eps: 0.1, delta: 1e-9"):
        once = compose(f"- {{law: {law}}}\n", "--delta", "1e-6")["sampled"]["epsilon"]
        seven = compose(f"- {{law: {law}, count: 7}}\n", "--delta", "1e-6")["sampled"]["epsilon"]
        calls = compose(f"- {{law: {law}}}\n" * 7, "--delta", "1e-6")["sampled"]["epsilon"]
        assert near(seven["upper"], calls["upper"]) and near(seven["lower"], calls["lower"]), (law, seven, calls)
        assert seven["upper"] > 1.5 * once["upper"], (law, once, seven)


def normal_tail(x):
    return math.erfc(x / math.sqrt(2)) / 2


@case
def deltas_below_every_truncation_are_right():
    """10,000 Gaussian releases of scale 100 are one with mu = 1; libraries stop at their truncation mass, and answer too little."""
    for eps in (1, 5, 7.5, 10):
        exact = normal_tail(eps - 0.5) - math.exp(eps) * normal_tail(eps + 0.5)
        told = compose("- {law: gaussian, scale: 100, count: 10000}\n", "--epsilon", str(eps))["sampled"]["delta"]
        assert told["upper"] >= exact * (1 - 1e-6) and told["upper"] < exact * 1.01, (eps, exact, told)


@case
def tiny_deltas_have_a_finite_epsilon():
    told = compose("- {law: gaussian, scale: 100, count: 10000}\n", "--delta", "1.1e-18")["sampled"]["epsilon"]
    exact = normal_tail(told["upper"] - 0.5) - math.exp(told["upper"]) * normal_tail(told["upper"] + 0.5)
    assert 8 < told["upper"] < 10 and exact <= 1.1e-18 * (1 + 1e-6), (told, exact)


@case
def populations_beyond_32_bits_do_not_wrap():
    """OpenDP took 2^32 + 10,000 for 10,000."""
    for population in (2**31 + 10_000, 2**32 + 10_000, 2**40, 2**53 + 1):
        done = tamis("privacy", "amplify", "--epsilon", "1", "--population", population, "--sample", "100", "--json")
        if done.returncode != OK:
            assert done.returncode in (USAGE, INVALID) and population > 2**40, done.stderr
            continue
        text = done.stdout
        exact = math.log1p(100 / population * math.expm1(1))
        found = [float(x) for x in re.findall(r'"upper": ([\d.e-]+)', text)]
        assert any(math.isclose(x, exact, rel_tol=1e-9) and x >= exact * (1 - 1e-12) for x in found), (population, exact, found)


OUTSIDER = """tamis: 1
survey: attack
source: {file: data.csv}
design: {srs: {population: 10000, sample: 100}}
privacy: {unit: person, protect: frame, given: population, secret_sample: yes, epsilon: 1}
columns:
  g: {values: [a, b]}
statistics:
  - {count: units, by: g}
budget: {epsilon: 5}
"""
ROWS = ["g", *("ab"[i % 2] for i in range(100))]


@case
def amplification_is_once_for_the_whole_account():
    """OpenDP #2933: amplified release by release, ten of epsilon 1 at a rate of 1/100 would claim 0.17 instead of 5.4."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, OUTSIDER, ROWS)
        for k in range(1, 5):
            done = tamis("release", "plan.yaml", "--again", "--json", "--quiet", "--out", f"out{k}", cwd=folder)
            assert done.returncode == OK, done.stderr
            claimed = json.loads(done.stdout)["guarantee"]["outsider"]["epsilon"]["upper"]
            exact = math.log1p(math.expm1(k) / 100)
            assert exact * (1 - 1e-12) <= claimed < exact * 1.001, (k, claimed, exact)


@case
def the_budget_outlives_the_process_and_its_files():
    """A budget kept in memory starts anew with each process. Here it is spent for ever: whatever is deleted of the outputs, however
    the plan is renamed or rewritten, whatever copy of it is taken."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, OUTSIDER.replace("epsilon: 5", "epsilon: 2"), ROWS)
        place = pathlib.Path(folder)
        for k in range(2):
            assert tamis("release", "plan.yaml", "--again", "--out", f"out{k}", cwd=folder).returncode == OK
            shutil.rmtree(place / f"out{k}")
        (place / "other.yaml").write_text((place / "plan.yaml").read_text().replace("count: units, by: g", "total: {g: a}"))
        for plan in ("plan.yaml", "other.yaml"):
            done = tamis("release", plan, "--again", "--out", "out", cwd=folder)
            assert done.returncode == REFUSED and not (place / "out").exists(), done
        (place / "plan.yaml").write_text((place / "plan.yaml").read_text().replace("epsilon: 2", "epsilon: 1000"))
        assert tamis("release", "plan.yaml", "--again", "--out", "out", cwd=folder).returncode == REFUSED


@case
def two_processes_never_draw_the_same_noise():
    """A seed from the clock, or a state that is copied, repeats itself: the difference of two releases is then exact."""
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        plan = OUTSIDER.replace("epsilon: 1}", "epsilon: 1/1000000}")  # one pair of tables alike: less than 10^-13
        for k in range(4):
            write(f"{folder}/{k}", plan, ROWS)
        running = [subprocess.Popen([TAMIS, "release", "plan.yaml", "--quiet", "--out", "out"], cwd=f"{folder}/{k}",
                                    env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                   for k in range(4)]
        assert [process.wait(timeout=300) for process in running] == [OK] * 4
        for k in range(4):
            told = json.loads(pathlib.Path(f"{folder}/{k}/out/measurements.json").read_text())["measurements"]
            seen.append(tuple(v for m in told for v in m["values"]))
    pairs = {tuple(x - y for x, y in zip(a, b)) for i, a in enumerate(seen) for b in seen[:i]}
    assert all(any(abs(d) > 0 for d in pair) for pair in pairs) and len(set(seen)) == 4, seen


@case
def constant_and_heaped_data_are_released():
    """diffprivlib's quantile crashed on ties: data that decide between a number and an error."""
    plan = OUTSIDER.replace("g: {values: [a, b]}", "x: {from: 0, to: 500000, step: 1}")
    plan = plan.replace("{count: units, by: g}", "{mean: x}\n  - {variance: x}\n  - {histogram: x, cuts: [65000]}")
    for values in (["65000"] * 100, ["0"] * 100, ["500000"] * 100, [""] * 100, ["65000"] * 80 + list(map(str, range(20)))):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, plan, ["x,y", *(f"{v},1" for v in values)])
            results, _ = release(folder)
            assert len(results["results"]) == 4


main()
