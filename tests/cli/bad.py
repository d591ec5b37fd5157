"""Ten bad inputs and more for each command of the main job: the exit code, words that say what is wrong and where, nothing on stdout,
and nothing lost: files and ledgers are as they were, and no new ones appear."""

from kit import *

PLAN = (API / "plan.yaml").read_text()
BAD_PLANS = {  # text, exit code of check and release, words
    "empty": ("", INVALID, "empty.yaml:1:1: expected a map"),
    "bytes": (bytes(range(256)), INVALID, "bytes.yaml:1:1: expected text in UTF-8"),
    "list": ("- 1\n- 2\n", INVALID, "list.yaml:1:1: expected a map"),
    "tab": ("tamis: 1\n\tsurvey: x\n", INVALID, "tab.yaml:1:8: not valid YAML"),
    "twice": (PLAN + "survey: again\n", INVALID, "survey: duplicate key; first given on line 4"),
    "version": (PLAN.replace("tamis: 1", "tamis: 2"), INVALID, "version.yaml:3:8: tamis: expected 1, the version"),
    "unknown": (PLAN.replace("statistics:", "statistcs:"), INVALID, "statistcs: unknown key; did you mean statistics?"),
    "anchor": (PLAN.replace("epsilon: 6", "epsilon: &a 6\n  delta: *a"), INVALID, "anchors (&name) are not used"),
    "folder": (PLAN.replace("apisrs.csv", "/etc"), INVALID, "source.file: expected a file that ends in .csv"),
    "password": (PLAN.replace("file: apisrs.csv", "postgres: {connection: 'host=h password=hunter2', table: t}"), INVALID,
                 "expected a connection without a password"),
    "nothing": (PLAN.replace("epsilon: 6", "epsilon: 0"), INVALID, "privacy.epsilon"),
    "endless": (PLAN.replace("epsilon: 6", "epsilon: 1e400"), INVALID, "privacy.epsilon: "),
    "foreign": (PLAN + "ledger: foreign.ledger\n", INVALID, "foreign.ledger: not a ledger of tamis"),
    "proc": (PLAN + "ledger: /proc\n", INVALID, "/proc: not a file"),
}
UNPROTECTED = {"nothing", "endless", "foreign", "proc"}  # an estimate needs neither budget nor ledger

COVERAGE = ["study", "coverage", "study.yaml", "--population"]
BAD_LINES = [
    (["check"], USAGE, "PLAN.yaml is missing"),
    (["check", "nowhere.yaml"], INVALID, "nowhere.yaml: the plan cannot be opened: No such file"),
    (["check", "."], INVALID, "the plan cannot be read: Is a directory"),
    (["check", "plan.yaml", "extra"], USAGE, "unexpected argument 'extra'"),
    (["release"], USAGE, "PLAN.yaml is missing"),
    (["release", "nowhere.yaml"], INVALID, "nowhere.yaml: the plan cannot be opened: No such file"),
    (["release", "plan.yaml", "--engine", "readstat"], INVALID, "readstat does not read this source; use duckdb or memory"),
    (["release", "plan.yaml", "--out", "good"], USAGE, "--out good already exists"),
    (["release", "plan.yaml", "--again", "--out", "new"], REFUSED, "nothing was spent"),
    (["estimate"], USAGE, "PLAN.yaml is missing"),
    (["estimate", "nowhere.yaml"], INVALID, "nowhere.yaml: the plan cannot be opened: No such file"),
    (["estimate", "plan.yaml", "--engine", "abacus"], USAGE, "abacus"),
    (["estimate", "plan.yaml", "--out", "x"], USAGE, "unknown option --out"),
    (["verify"], USAGE, "FOLDER is missing"),
    (["verify", "nowhere"], INVALID, "nowhere: cannot be read: No such file"),
    (["verify", "."], INVALID, "./certificate.json: cannot be read: No such file"),
    (["verify", "good", "--key", "nowhere.pub"], INVALID, "nowhere.pub: the key cannot be read: No such file"),
    (["verify", "good", "--key", "values.csv"], INVALID, "values.csv: expected an Ed25519 key"),
    (["verify", "good", "--key"], USAGE, "needs a value"),
    (["release", "plan.yaml", "--again", "--out", "new", "--sign", "values.csv"], INVALID, "values.csv: "),
    (["key", "create"], USAGE, "NAME is missing"),
    (["key", "create", ""], INVALID, "must be the name of the key files"),
    (["key", "create", "a.key"], USAGE, "'tamis key create a' makes both files"),
    (["key", "create", "a.pub"], USAGE, "give NAME without its ending"),
    (["key", "create", "nowhere/a"], INVALID, "nowhere/a.pub cannot be written: No such file"),
    (["key", "make", "a"], USAGE, "unknown command 'key make'"),
    (["verify", "/dev/null"], INVALID, "/dev/null: not a certificate"),
    (["verify", "plan.yaml"], INVALID, "plan.yaml: not valid JSON at line 1, column 1"),
    (["verify", "apisrs.csv"], INVALID, "apisrs.csv: not valid JSON at line 1"),
    (["verify", "values.csv"], INVALID, "values.csv: not valid JSON at line 1"),
    (["verify", "good/report.html"], INVALID, "not valid JSON"),
    (["verify", "cut.json"], INVALID, "cut.json: not valid JSON at line 4"),
    (["verify", "deep.json"], INVALID, "deep.json: not valid JSON"),
    (["verify", "good/certificate.json", "x"], USAGE, "unexpected argument 'x'"),
    *((["ledger", command, *rest], code, words) for command in ("show", "verify", "export") for rest, code, words in (
        ([], USAGE, "FILE is missing"), (["nowhere"], INVALID, "nowhere: there is no such file"), (["good"], INVALID, "good: not a file"),
        (["foreign.ledger"], INVALID, "foreign.ledger: not a ledger of tamis"), (["/dev/null"], INVALID, "/dev/null: not a file"),
        (["tamis.ledger", "x"], USAGE, "unexpected argument 'x'"))),
    (["ledger", "delete", "tamis.ledger"], USAGE, "unknown command 'ledger delete'"),
    (["ledger", "show", "tamis.ledger", "--delta", "nan"], USAGE, "--delta: not a number"),
    (["ledger", "verify", "tamis.ledger", "--against", "nowhere"], INVALID, "nowhere: cannot be read"),
    (["ledger", "verify", "tamis.ledger", "--against", "plan.yaml"], INVALID, "plan.yaml: not valid JSON"),
    (["study", "coverage"], USAGE, "PLAN.yaml is missing"),
    (COVERAGE[:-1], USAGE, "--population FILE is missing"),
    ([*COVERAGE, "nowhere"], INVALID, "must end in .csv"),
    ([*COVERAGE, "nowhere.csv"], INVALID, "nowhere.csv"),
    ([*COVERAGE, "apisrs.csv", "--runs", "-1"], USAGE, "--runs must be a whole number from 1"),
    ([*COVERAGE, "apisrs.csv", "--runs", "nan"], USAGE, "--runs must be a whole number from 1"),
    ([*COVERAGE, "apisrs.csv", "--runs", "1.5"], USAGE, "--runs must be a whole number from 1"),
    ([*COVERAGE, "apisrs.csv", "--runs", "1", "--size", "enroll"], USAGE, "size: enroll is declared under columns"),
    ([*COVERAGE, "apisrs.csv", "--runs", "1", "--size", "mobilty"], USAGE,
     "size: the population has no column mobilty; did you mean mobility?"),
    (["study", "coverage", "plan.yaml", "--population", "apisrs.csv"], INVALID, "200 units, but the plan declares 6194"),
    (["study", "coverage", "nowhere.yaml", "--population", "apisrs.csv"], INVALID, "the plan cannot be opened"),
    (["demo", "x"], USAGE, "unexpected argument 'x'"),
    (["demo", "--out"], USAGE, "--out needs a value"),
    (["demo", "--out", ""], USAGE, "must be the name of a folder"),
    (["demo", "--out", "good"], USAGE, "--out good already exists"),
    (["demo", "--out", "no/such"], USAGE, "there is no folder no/"),
    (["demo", "--out", "plan.yaml/x"], USAGE, "Not a directory"),
    (["demo", "--out", "a", "--out", "b"], USAGE, "duplicate option --out"),
    (["demo", "--again"], USAGE, "unknown option --again"),
    (["demo", "--json=1"], USAGE, "--json takes no value"),
    (["demo", "--engine", "abacus"], USAGE, "unknown option --engine"),
]


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


class Place(folder_with_plan):
    """A folder with a release, its ledger, and files that are none."""

    def __enter__(self):
        folder = super().__enter__()
        plan = folder / "plan.yaml"
        plan.write_text(plan.read_text().replace("budget: {epsilon: 12}", "budget: {epsilon: 6}"))
        assert tamis("release", "plan.yaml", "--out", "good", cwd=folder).returncode == OK
        (folder / "foreign.ledger").write_text("hello")
        (folder / "cut.json").write_text((folder / "good" / "certificate.json").read_text()[:900])
        (folder / "values.csv").write_text("hunter2,1\n")
        (folder / "deep.json").write_text("[" * 100_000)
        for name, (text, _, _) in BAD_PLANS.items():
            (folder / f"{name}.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder


def is_told(folder, before, line, code, words):
    done = tamis(*line, cwd=folder)
    assert done.returncode == code and done.stdout == "", (line, done.returncode, done.stdout[:200], done.stderr)
    assert words in done.stderr, (line, words, done.stderr)
    assert "hunter2" not in done.stderr, (line, done.stderr)
    assert contents(folder) == before, line


@case
def bad_plans_are_told_by_every_command_and_cost_nothing():
    with Place() as folder:
        before = contents(folder)
        for name, (_, code, words) in BAD_PLANS.items():
            for command in ("check", "release", "estimate"):
                if command != "estimate" or name not in UNPROTECTED:
                    is_told(folder, before, [command, f"{name}.yaml"], code, words)


@case
def bad_lines_are_told_and_nothing_is_lost():
    with Place() as folder:
        before = contents(folder)
        for line, code, words in BAD_LINES:
            is_told(folder, before, line, code, words)


@case
def each_command_has_ten_of_them():
    for command in ("check", "release", "estimate", "verify", "ledger", "study", "demo"):
        plans = len(BAD_PLANS) - (len(UNPROTECTED) if command == "estimate" else 0) if command in ("check", "release", "estimate") else 0
        assert plans + sum(line[0] == command for line, _, _ in BAD_LINES) >= 10, command


main()
