"""With --json an error is one JSON object on stdout: code, message, file, line and column, and all errors in a list. The text on
stderr and the exit code are those without --json."""
import pty
import signal

from kit import *

PLAN = (API / "plan.yaml").read_text()
FILES = {
    "two.yaml": PLAN.replace("epsilon: 6", "epsilon: -1").replace("population: 6194", "population: many"),
    "tab.yaml": "tamis: 1\n\tsurvey: x\n",
    "median.yaml": PLAN.replace("statistics:\n", "statistics:\n  - {median: enroll, method: prefix}\n"),
    "gone.yaml": PLAN.replace("apisrs.csv", "gone.csv") + "ledger: other.ledger\n",
    "column.yaml": PLAN.replace("enroll", "enrol") + "ledger: other.ledger\n",
    "nobudget.yaml": PLAN.replace("budget: {epsilon: 12}", ""),
    "spent.yaml": PLAN.replace("budget: {epsilon: 12}", "budget: {epsilon: 7}"),
    "ragged.yaml": PLAN.replace("apisrs.csv", "ragged.csv"),
    "ragged.csv": "enroll,api00,stype\n1,2,E\n1,2,E,4\n",
    "totals.yaml": PLAN + "calibrate: {to: counts.yaml}\n",
    "counts.yaml": "- count: units\n  by: stype\n  totals: {E: 4421, M: 1018, X: 755}\n",
    "foreign.ledger": "no ledger\n",
    "cut.json": "{\n  \"tamis\": 1x\n",
    "key.pub": "no key\n",
    "rows.csv": "age\n4\n",
    "laws.yaml": "- {law: laplace, scale: ten}\n",
}


def at(name, words):
    """The file, line and column of some words."""
    before = FILES[name].split(words)[0]
    return name, before.count("\n") + 1, len(before) - before.rfind("\n")


CLUSTERS = '{"cluster": {"population": 40, "sample": 4, "smallest": 2, "largest": 9}}'
SRS = ["privacy", "srs", "--population", "6194", "--sample", "200", "--ones", "400:5794"]
COVERAGE = ["study", "coverage", "plan.yaml", "--population"]

# Arguments, exit code, the file of the first error, its line and column, words of its message.
TABLE = [
    (["check", "nowhere.yaml"], INVALID, "nowhere.yaml", None, None, "the plan cannot be opened: No such file"),
    (["check", "two.yaml"], INVALID, *at("two.yaml", "many"), "design.srs.population: expected a whole number"),
    (["check", "tab.yaml"], INVALID, *at("tab.yaml", "1\n"), "not valid YAML"),
    (["check", "totals.yaml"], INVALID, *at("counts.yaml", "{E"), "there is none for H"),
    (["check", "median.yaml"], REFUSED, *at("median.yaml", "{median"), "needs rho, or epsilon with delta"),
    (["release", "two.yaml"], INVALID, *at("two.yaml", "many"), "design.srs.population: expected a whole number"),
    (["release", "gone.yaml"], INVALID, "gone.csv", None, None, "No such file or directory"),
    (["release", "column.yaml"], INVALID, "apisrs.csv", None, None, "there is no column enrol; did you mean enroll?"),
    (["release", "nobudget.yaml", "--out", "new"], INVALID, "nobudget.yaml", None, None, "a release needs the line"),
    (["release", "plan.yaml", "--out", "good"], USAGE, None, None, None, "--out good already exists"),
    (["release", "spent.yaml", "--again", "--out", "new"], REFUSED, "spent.yaml", None, None, "nothing was spent"),
    (["release", "plan.yaml", "--again", "--out", "new", "--sign", "key.pub"], INVALID, "key.pub", None, None, ""),
    (["estimate", "gone.yaml"], INVALID, "gone.csv", None, None, "No such file or directory"),
    (["estimate", "ragged.yaml", "--engine", "memory"], INVALID, "ragged.csv", 3, None, "fields"),
    (["demo", "--out", "good"], USAGE, None, None, None, "--out good already exists"),
    (["verify", "nowhere"], INVALID, "nowhere", None, None, "cannot be read: No such file"),
    (["verify", "cut.json"], INVALID, "cut.json", 2, 13, "not valid JSON"),
    (["verify", "good", "--key", "key.pub"], INVALID, "key.pub", None, None, "expected an Ed25519 key"),
    *((["ledger", command, "nowhere"], INVALID, "nowhere", None, None, "there is no such file")
      for command in ("show", "verify", "export")),
    (["ledger", "show", "foreign.ledger"], INVALID, "foreign.ledger", None, None, "not a ledger of tamis"),
    (["ledger", "show", "tamis.ledger", "--delta", "x"], USAGE, None, None, None, "--delta: "),
    (["ledger", "verify", "tamis.ledger", "--against", "cut.json"], INVALID, "cut.json", 2, 13, "not valid JSON"),
    (["key", "create", "key"], USAGE, None, None, None, "key.pub already exists"),
    (["key", "create", "nowhere/a"], INVALID, None, None, None, "nowhere/a.pub cannot be written: No such file"),
    (["noise", "laplace", "--scale", "1", "--count", "x"], USAGE, None, None, None, "--count needs a whole number"),
    (["noise", "laplace", "--scale", "1", "--count", "1", "--binary"], USAGE, None, None, None, "give either --json or --binary"),
    (["explain", "stratifed"], USAGE, None, None, None, "did you mean 'stratified'?"),
    (["draw", "nowhere.csv", "--design", "srs", "--sample", "2", "--out", "s.csv"], INVALID, "nowhere.csv", None, None, "No such file"),
    (["draw", "apisrs.csv", "--design", "srs", "--sample", "0", "--out", "s.csv"], USAGE, None, None, None, "--sample must be"),
    (["draw", "apisrs.csv", "--design", "srs", "--sample", "201", "--out", "s.csv"], INVALID, None, None, None, "--sample: "),
    ([*SRS[:-1], "9"], USAGE, None, None, None, "--ones needs two whole numbers"),
    ([*SRS, "--svg", "/dev/full"], SYSTEM, None, None, None, "cannot write the picture: No space left"),
    (["privacy", "design", "nowhere.yaml"], INVALID, "nowhere.yaml", None, None, "the plan cannot be opened"),
    (["privacy", "compose", "laws.yaml"], INVALID, "laws.yaml", None, None, "scale"),
    (["privacy", "amplify", "--design", CLUSTERS, "--epsilon", "1", "--as-srs"], REFUSED, None, None, None, ""),
    (["privacy", "noise", "--laplace", "x"], USAGE, None, None, None, "--laplace: "),
    (["privacy", "meaning", "--epsilon", "x"], USAGE, None, None, None, "--epsilon: must be a number"),
    ([*COVERAGE, "nowhere.csv"], INVALID, "nowhere.csv", None, None, "No such file"),
    ([*COVERAGE, "apisrs.csv", "--runs", "0"], USAGE, None, None, None, "--runs must be a whole number"),
    ([], USAGE, None, None, None, "a command is missing"),
    (["privacy"], USAGE, None, None, None, "'privacy' needs a subcommand"),
    (["nosie"], USAGE, None, None, None, "did you mean 'noise'?"),
    (["help", "nosie"], USAGE, None, None, None, "did you mean 'noise'?"),
]


class Place(folder_with_plan):
    """The example with a ledger and a release, and files that are wrong."""

    def __enter__(self):
        path = super().__enter__()
        for name, text in FILES.items():
            (path / name).write_text(text)
        assert tamis("release", "plan.yaml", "--out", "good", cwd=path).returncode == OK
        return path


@case
def a_complete_column_has_one_range():
    plan = ("tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign:\n  pps: {method: sampford, probability: p, sample: 3, frame: frame.csv}\n"
            "privacy: {unit: business, id: id, epsilon: 1}\ncolumns:\n  turnover: {from: 0, to: {times: 1.5, of: size}, step: 1, missing: none}\n"
            "statistics: [{total: turnover}]\n")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "plan.yaml").write_text(plan)
        done = tamis("check", "plan.yaml", cwd=folder)
    assert done.returncode == INVALID and done.stderr.startswith("plan.yaml:8:69: columns.turnover.missing: expected leave_out, or the value"), done
    assert "each unit has a range of its own" in done.stderr, done


@case
def what_is_missing_is_named_once():
    """A column that is used as itself, as groups of it and in a condition; of a plan, the column that is not declared."""
    plan = PLAN[:PLAN.index("statistics:")].replace("enroll:", "enrol:") + (
        "statistics: [{total: enrol, by: {enrol: [100, 200]}}, {share: {stype: E}, where: {enrol: {from: 10}}}]\nbudget: {epsilon: 9}\n")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "plan.yaml").write_text(plan)
        pathlib.Path(folder, "wrong.yaml").write_text(plan.replace("total: enrol,", "total: income,"))
        pathlib.Path(folder, "model.yaml").write_text(PLAN.replace("statistics:", "statistics:\n  - regression: enroll"))
        shutil.copy(API / "apisrs.csv", folder)
        for engine in ENGINES:
            done = tamis("release", "plan.yaml", "--engine", engine, cwd=folder)
            assert done.returncode == INVALID and done.stderr.count("there is no column enrol; did you mean enroll?") == 1, done
        undeclared = tamis("check", "wrong.yaml", cwd=folder)
        assert undeclared.returncode == INVALID and "total: income is not declared under `columns`" in undeclared.stderr, undeclared
        model = tamis("check", "model.yaml", cwd=folder)
    assert model.returncode == INVALID and "regression: expected a map, e.g. {of: income, on: [age, sex, region]}" in model.stderr, model


@case
def every_error_of_the_table_is_json():
    with Place() as folder:
        for arguments, code, file, line, column, words in TABLE:
            done = tamis(*arguments, "--json", cwd=folder)
            assert done.returncode == code, (arguments, done)
            error = json_error(done)
            assert (error["file"], error["line"], error["column"]) == (file, line, column), (arguments, error)
            assert words in error["message"] and not error["message"].startswith(f"{file}:"), (words, error)
            if arguments and "--binary" not in arguments and arguments != ["privacy"]:  # without --json these are none, or other ones
                plain = tamis(*arguments, cwd=folder)
                assert (plain.returncode, plain.stderr) == (code, done.stderr) and "{" not in plain.stdout, (arguments, plain, done.stderr)


@case
def all_errors_of_a_plan_are_listed():
    with Place() as folder:
        errors = json_error(tamis("check", "two.yaml", "--json", cwd=folder))["errors"]
        places = [(one["file"], one["line"], one["column"], one["message"].split(":")[0]) for one in errors]
        assert places == [(*at("two.yaml", "many"), "design.srs.population"), (*at("two.yaml", "-1"), "privacy.epsilon")], places


@case
def wrong_usage_of_every_command_is_json_wherever_the_option_is():
    for command in commands():
        for line in ([*command.split(), "--zzzzzzzz", "--json"], ["--json", *command.split(), "--zzzzzzzz"], [*command.split(), "--js", "--zzzzzzzz"]):
            error = json_error(tamis(*line))
            assert error["code"] == "usage" and error["message"] == "unknown option --zzzzzzzz" and error["file"] is None, (line, error)


@case
def it_is_not_json_where_json_is_no_option():
    for line in (["check", "--", "--json"], ["noise", "laplace", "--scale", "1", "--count=--json"],
                 ["draw", "nowhere.csv", "--design", "srs", "--sample", "1", "--out=--json"]):
        done = tamis(*line)
        assert done.returncode in (USAGE, INVALID) and done.stdout == "" and done.stderr, (line, done)


@case
def bytes_that_are_no_text_are_valid_json():
    for word in (b"\xff\x1b[31m.yaml", b'quo"te\\.yaml', b"new\nline.yaml"):
        done = subprocess.run([TAMIS, "check", word, "--json"], capture_output=True, env=environment())
        error = json.loads(done.stdout.decode())
        assert done.returncode == INVALID and error["message"].startswith("the plan cannot be opened") and error["file"].endswith(".yaml"), error


@case
def verify_keeps_its_own_shape():
    with Place() as folder:
        certificate = folder / "good" / "certificate.json"
        certificate.write_text(certificate.read_text().replace("california", "bavaria"))
        done = tamis("verify", "good", "--json", cwd=folder)
        answer = json.loads(done.stdout)
        assert done.returncode == INVALID and answer["ok"] is False and answer["problems"] and "code" not in answer, done
        done = tamis("ledger", "verify", "tamis.ledger", "--against", "good", "--json", cwd=folder)
        answer = json.loads(done.stdout)
        assert done.returncode == INVALID and answer["ok"] is False and answer["problems"] and "code" not in answer, done


@case
def a_command_that_is_stopped_says_so():
    with Place() as folder:
        line = ["study", "coverage", "plan.yaml", "--population", "population.csv", "--runs", "1000000", "--threads", "1", "--json"]
        row = (folder / "apisrs.csv").read_text().splitlines()
        (folder / "population.csv").write_text("\n".join([row[0], *(row[1:] * 31)[:6194]]) + "\n")
        process = subprocess.Popen([TAMIS, *line], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment(LSAN_OPTIONS=CANCELLED))
        caught = 0
        while not caught & 1 << signal.SIGINT - 1:  # until the command listens
            time.sleep(0.02)
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            caught = int(status.split("SigCgt:")[1].split()[0], 16)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        error = json_error(subprocess.CompletedProcess(line, process.returncode, stdout, stderr))
        assert error["code"] == "system" and error["message"] == "cancelled" and error["file"] is None, error


@case
def stdin_that_cannot_be_read_is_json_unless_an_answer_was_printed():
    folder = os.open("/", os.O_RDONLY)
    error = json_error(tamis("compute", "--json", stdin=folder))
    os.close(folder)
    assert error["code"] == "system" and error["message"] == "standard input: cannot be read", error
    leader, follower = pty.openpty()  # whoever reads the leader gets an error once the follower is closed
    os.write(follower, b"{}\n")
    os.close(follower)
    done = tamis("compute", "--json", stdin=leader)
    os.close(leader)
    assert done.returncode == SYSTEM and "standard input: cannot be read" in done.stderr, done
    lines = done.stdout.splitlines()
    assert len(lines) == 1 and json.loads(lines[0])["error"]["code"] == "invalid", done.stdout


@case
def no_object_follows_a_result_that_could_not_be_written():
    with Place() as folder, open("/dev/full", "w") as full:
        for line in (["check", "plan.yaml"], ["noise", "laplace", "--scale", "1", "--count", "9"], ["check", "two.yaml"]):
            done = tamis(*line, "--json", cwd=folder, stdout=full)
            assert done.returncode == (INVALID if "two.yaml" in line else SYSTEM) and done.stderr, (line, done)


main()
