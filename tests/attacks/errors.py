"""What is read before the charge, and what an error may depend on: a case for each sentence of "Errors" in docs/plan.md. With an
engine whose every step can be made to fail: tests/release/charged.c; the ledger alone: tests/ledger/crash.c."""
import random
import signal
import sqlite3

from attack import *

PLAN = """tamis: 1
survey: attack
source: {file: data.csv}
design: {srs: {population: 300, sample: 30}}
privacy: {unit: person, epsilon: 2}
budget: {epsilon: 2}
columns:
  x: {from: 0, to: 100, step: 1}
  g: {values: [a, b]}
statistics:
  - {total: x, by: g}
  - {mean: x}
"""
ROWS = ["x,g,id,c", *(f"{i % 90},{'ab'[i % 2]},u{i},c{i % 6}" for i in range(30))]
SECRET = "SECRET7391"


def run(plan, rows, *more, command="release"):
    """What happened, the files that are new, the charges of the ledger."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, plan, rows)
        out = ["--out", "out"] if command == "release" else []
        done = tamis(command, "plan.yaml", *out, *more, cwd=folder)
        return done, set(os.listdir(folder)) - {"plan.yaml", "data.csv"}, charges(folder)


def charges(folder):
    path = pathlib.Path(folder, "tamis.ledger")
    if not path.exists():
        return 0
    done = tamis("ledger", "show", path, "--json")
    assert done.returncode == OK, done.stderr
    return sum(len(account["entries"]) for account in json.loads(done.stdout)["accounts"])


def costs_nothing(plan, rows, code, words):
    done, new, spent = run(plan, rows)
    assert done.returncode == code and new == set() and spent == 0 and done.stdout == "", (done, new)
    assert words in done.stderr, (words, done.stderr)
    return done.stderr


# ---- the plan ----

@case
def plan_errors_name_file_line_column_and_key_what_was_expected_and_an_example_all_at_once():
    wrong = PLAN.replace("sample: 30", "sample: many").replace("step: 1", "step: 0").replace("- {mean: x}", "- {mean: nobody}")
    for command in ("check", "release", "estimate"):
        done, new, _ = run(wrong, ROWS, command=command)
        assert done.returncode == INVALID and new == set() and done.stdout == "", done
        places = re.findall(r"^plan\.yaml:(\d+):(\d+): (.*)$", done.stderr, re.M)
        assert [line for line, _, _ in places] == ["4", "8", "12"], done.stderr
        for (_, column, words), key in zip(places, ("sample", "step", "mean")):
            assert int(column) > 1 and key in words, words
        assert "expected" in done.stderr and re.search(r"e\.g\.|for example|such as|as in|: \d", done.stderr), done.stderr


@case
def yes_no_true_and_false_are_all_booleans():
    seen = {}
    for word in ("yes", "no", "true", "false"):
        plan = PLAN.replace("unit: person,", f"unit: person, protect: frame, given: population, secret_sample: {word},")
        done, _, _ = run(plan, ROWS, "--json", command="check")
        assert done.returncode == OK, done.stderr
        seen[word] = json.loads(done.stdout)["guarantee"]["outsider"] is not None
    assert seen == {"yes": True, "no": False, "true": True, "false": False}, seen
    assert run(PLAN.replace("unit: person,", "unit: person, secret_sample: maybe,"), ROWS, command="check")[0].returncode == INVALID


# ---- before the charge ----

STRATA = PLAN.replace("srs: {population: 300, sample: 30}", "stratified: {by: g, within: srs, strata: {a: {population: 200, sample: %d}, "
                      "b: {population: 100, sample: %d}}}")
CLUSTERS = PLAN.replace("srs: {population: 300, sample: 30}", "cluster: {by: c, population: 60, sample: %d, smallest: 1, largest: 9}")
IDS = PLAN.replace("sample: 30", "sample: %d").replace("unit: person,", "unit: person, id: id, rows_per_unit: 1,")

CONTRADICTIONS = {
    "rows": (PLAN.replace("sample: 30", "sample: 29"), "30 rows"),
    "distinct ids": (IDS % 29, "30 units"),
    "rows of a stratum": (STRATA % (14, 16), "15 rows in the stratum a"),
    "clusters": (CLUSTERS % 5, "6 clusters"),
    "a missing column": (PLAN.replace("  x:", "  salary:").replace(": x", ": salary"), "there is no column salary"),
}


@case
def before_the_charge_only_what_all_neighbours_share_is_read():
    """Whatever the values are: the same words. Ids, strata and clusters are counted, and are the same."""
    for what, (plan, words) in CONTRADICTIONS.items():
        said = {costs_nothing(plan, ROWS, INVALID, words)}
        for value in ("", SECRET):
            said.add(costs_nothing(plan, [ROWS[0], *(f"{value},{row.split(',', 1)[1]}" for row in ROWS[1:])], INVALID, words))
        assert len(said) == 1, (what, said)
    assert run(STRATA % (15, 15), ROWS)[0].returncode == run(CLUSTERS % 6, ROWS)[0].returncode == run(IDS % 30, ROWS)[0].returncode == OK


@case
def a_missing_column_a_file_that_is_no_csv_a_count_that_contradicts_the_design_cost_nothing():
    for plan, words in CONTRADICTIONS.values():
        costs_nothing(plan, ROWS, INVALID, words)
    for rows in (b"", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), b"\0" * 1000, [ROWS[0] + ',"'], [*ROWS, "1,a"]):
        costs_nothing(PLAN, rows, INVALID, "data.csv")
    with tempfile.TemporaryDirectory() as folder:  # and no file at all
        write(folder, PLAN, ROWS)
        pathlib.Path(folder, "data.csv").unlink()
        done = tamis("release", "plan.yaml", cwd=folder)
        assert done.returncode == INVALID and os.listdir(folder) == ["plan.yaml"], done


PROTECTED_COUNTS = {
    "nonresponse": PLAN.replace("sample: 30}}", "sample: 30}, nonresponse: yes}").replace("  - {total: x, by: g}\n", ""),
    "respondents": PLAN.replace("unit: person,", "unit: person, protect: respondents, given: frame,"),
    "bernoulli": PLAN.replace("srs: {population: 300, sample: 30}", "bernoulli: {rate: 1/10}"),
    "poisson": PLAN.replace("srs: {population: 300, sample: 30}", "poisson: {probability: p}, max_weight: 10"),
    "design variables": (CLUSTERS % 6).replace("unit: person,", "unit: person, protect: frame, given: population, "
                                               "design_variables: protected,"),
}
# df is null where the noise leaves no interval: it is compared by itself.
NOISY = {"estimate", "se", "df", "sampling_se", "noise_sd", "cv", "lower", "upper", "interval", "reason", "notes", "outside_range", "time", "hash",
         "files"}


def without_noise(value):
    if isinstance(value, dict):
        return {k: without_noise(v) for k, v in value.items() if k not in NOISY}
    return [without_noise(v) for v in value] if isinstance(value, list) else value


@case
def where_counts_are_protected_they_are_never_checked_shown_or_used():
    """Files of 29, 30 and 31 rows, in 5, 6 and 7 clusters: the same exit code and words, the same degrees of freedom, the same certificate."""
    for what, plan in PROTECTED_COUNTS.items():
        seen, degrees = set(), {}
        for count in (29, 30, 31):
            rows = ["x,g,p,c", *(f"{i % 90},{'ab'[i % 2]},0.1,c{i % (count - 24)}" for i in range(count))]
            with tempfile.TemporaryDirectory() as folder:
                write(folder, plan, rows)
                done = tamis("release", "plan.yaml", "--json", "--quiet", "--out", "out", cwd=folder)
                if done.returncode != OK:
                    seen.add((done.returncode, done.stderr))
                    continue
                told = [json.loads(pathlib.Path(folder, "out", name).read_text()) for name in ("release.json", "certificate.json")]
                seen.add((done.returncode, done.stderr, json.dumps(without_noise(told))))
                for i, result in enumerate(told[0]["results"]):
                    if result["df"] is not None:
                        degrees.setdefault(i, set()).add(result["df"])
        assert all(len(found) == 1 for found in degrees.values()), (what, degrees)
        assert len(seen) == 1 and next(iter(seen))[0] == OK, (what, len(seen), [s[:2] for s in seen])


# ---- after the charge ----

@case
def after_the_charge_no_exit_code_and_no_message_depends_on_a_value():
    for plan in (PLAN, PROTECTED_COUNTS["bernoulli"], STRATA % (15, 15), CLUSTERS % 6):
        seen = set()
        for value in ("5", "", "nan", "-inf", "1e308", SECRET, "9" * 400) if plan is PLAN else ("5", SECRET):
            keeps = [f"{value},{row.split(',', 1)[1]}" for row in ROWS[1:]]
            for rows in ([*ROWS[:-1], keeps[-1]], [ROWS[0], *keeps]):  # one record, and all of them
                done, new, spent = run(plan, rows, "--quiet")
                seen.add((done.returncode, done.stderr, tuple(sorted(new)), spent))
        assert seen == {(OK, "", ("out", "tamis.ledger"), 1)}, seen


@case
def a_file_that_breaks_after_the_charge_is_exit_1_and_stays_charged():
    """The file is cut while the release is stopped at the charge: a lock on the ledger holds it there."""
    rows = [ROWS[0], *(ROWS[1 + i % 30] for i in range(20000))]
    plan = PLAN.replace("population: 300, sample: 30", "population: 30000, sample: 20000")
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as folder:
            write(folder, plan.replace("budget: {epsilon: 2}", "budget: {epsilon: 20}"), rows)
            path = pathlib.Path(folder, "tamis.ledger")
            line = [TAMIS, "release", "plan.yaml", "--again", "--engine", engine, "--out"]
            assert tamis(*line[1:], "first", cwd=folder).returncode == OK
            lock = sqlite3.connect(path, isolation_level=None)
            lock.execute("BEGIN IMMEDIATE")
            process = subprocess.Popen([*line, "second"], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(2)  # by then it waits for the lock; else it finds the cut file before the charge, below
            pathlib.Path(folder, "data.csv").write_text("\n".join(rows[:50]) + f'\n"{SECRET}')
            lock.execute("ROLLBACK")
            lock.close()
            said = process.communicate(timeout=120)
            assert process.returncode in (SYSTEM, INVALID) and said[0] == "" and SECRET not in said[1], (engine, said)
            assert not pathlib.Path(folder, "second").exists()
            assert charges(folder) == (2 if process.returncode == SYSTEM else 1), (engine, process.returncode, said)


@case
def no_message_ever_quotes_a_value():
    """Each cell in turn is a secret, in each command that reads the file."""
    for column in range(4):
        cells = ROWS[30].split(",")
        cells[column] = SECRET
        for plan in (IDS % 30, STRATA % (15, 15), CLUSTERS % 6):
            for command in ("release", "estimate"):
                done, _, _ = run(plan, [*ROWS[:30], ",".join(cells)], command=command)
                assert SECRET not in done.stdout + done.stderr, (column, plan, done)


@case
def budget_exhausted_or_setting_refused_is_exit_4_with_nothing_read_and_nothing_spent():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, PLAN, ROWS)
        assert tamis("release", "plan.yaml", "--out", "first", cwd=folder).returncode == OK
        ledger = pathlib.Path(folder, "tamis.ledger").read_bytes()
        pathlib.Path(folder, "data.csv").unlink()  # what is read would be missed
        refused = {
            "budget": PLAN,
            "frozen": PLAN.replace("unit: person", "unit: household"),
            "setting": PLAN.replace("unit: person,", "unit: person, protect: frame, given: sample,").replace("survey: attack", "survey: b"),
        }
        for what, plan in refused.items():
            pathlib.Path(folder, "plan.yaml").write_text(plan)
            done = tamis("release", "plan.yaml", "--again", "--out", "out", cwd=folder)
            wanted = (REFUSED, INVALID) if what == "setting" else (REFUSED,)
            assert done.returncode in wanted and done.stdout == "" and done.stderr, (what, done)
            assert not pathlib.Path(folder, "out").exists() and pathlib.Path(folder, "tamis.ledger").read_bytes() == ledger, what


@case
def a_crash_at_any_moment_publishes_no_number_that_is_not_charged():
    """Killed 20 times, from the start to the end of a release; whatever the moment, what is there is whole and in the ledger."""
    dice, published = random.Random(7391), 0
    with tempfile.TemporaryDirectory() as folder:
        write(folder, PLAN.replace("person, epsilon: 2", "person, epsilon: 1/100"), ROWS)
        start = time.monotonic()
        assert tamis("release", "plan.yaml", "--again", "--out", "out", cwd=folder).returncode == OK
        usual = time.monotonic() - start
        for k in range(20):
            process = subprocess.Popen([TAMIS, "release", "plan.yaml", "--again", "--out", f"out{k}"], cwd=folder, env=environment(),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(dice.random() * usual * 1.2)
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=60)
            out = pathlib.Path(folder, f"out{k}")
            done = tamis("ledger", "verify", "tamis.ledger", *(["--against", out / "certificate.json"] if out.exists() else []), cwd=folder)
            assert done.returncode == OK, (k, done.stdout, done.stderr)
            if out.exists():
                published += 1
                assert len(os.listdir(out)) == 8 and tamis("verify", out / "certificate.json").returncode == OK
        assert charges(folder) >= published + 1


main()
