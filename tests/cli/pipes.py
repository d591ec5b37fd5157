"""Standard input, named pipes and <(...) wherever a command reads one file, and --out - wherever it writes one text."""
import csv
import threading

from kit import *

REPORTS = "a,b\n" + "0,1\n1,1\n1,0\n" * 20
FRAME = (API / "apisrs.csv").read_text()
DRAW = ["--design", "srs", "--sample", "5"]
REQUESTS = (API / "questions.jsonl").read_text()


def ways(arguments, text, name="pipe", **options):
    """What a command does with the text on standard input, once as - and once as /dev/stdin, through a named pipe, and through the
    /dev/fd of a shell. WHERE in the arguments becomes the place."""
    def run(place, **more):
        return tamis(*(place if a == "WHERE" else a for a in arguments), **options, **more)

    yield run("-", input=text)
    yield run("/dev/stdin", input=text)
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, name)
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pathlib.Path(pipe).write_text(text))
        writer.start()
        yield run(pipe)
        writer.join()
        there, here = os.pipe()
        writer = threading.Thread(target=lambda: (os.write(here, text.encode()), os.close(here)))
        writer.start()
        yield run(f"/dev/fd/{there}", pass_fds=[there])
        writer.join()
        os.close(there)


def at_file(arguments, text, **options):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "file.csv")
        place.write_text(text)
        return tamis(*(place if a == "WHERE" else a for a in arguments), **options)


@case
def reports_are_tallied():
    for more in ([], ["--table"], *(["--engine", engine, "--columns", "a,b"] for engine in ENGINES)):
        arguments = ["tally", "WHERE", "--lie", "1/4", "--json", *more]
        wanted = at_file(arguments, REPORTS)
        assert wanted.returncode == OK, wanted
        for done in ways(arguments, REPORTS):
            assert (done.returncode, done.stdout, done.stderr) == (OK, wanted.stdout, ""), done
    done = shell("tamis randomize - --lie 1/4 --packed --out - | tamis tally -", input=REPORTS)
    assert done.returncode == OK and "ones reported" in done.stdout, done


@case
def answers_are_randomized():
    for done in ways(["randomize", "WHERE", "--lie", "1/4", "--out", "-"], REPORTS):
        assert done.returncode == OK and len(done.stdout.splitlines()) == 61 and done.stdout.startswith("a,b\n"), done
    is_usage_error(tamis("randomize", "--lie", "1/4", "--out", "-", "--json", input=REPORTS), "--json needs --out FILE")


@case
def samples_are_drawn():
    lines = list(csv.reader(FRAME.splitlines()))
    for done in ways(["draw", "WHERE", *DRAW, "--out", "-"], FRAME):
        rows = list(csv.reader(done.stdout.splitlines()))
        assert done.returncode == OK and rows[0] == lines[0] + ["inclusion_probability", "weight"] and len(rows) == 6, done
        assert all(row[:-2] in lines for row in rows[1:]) and done.stderr == "tamis: 5 of 200 units drawn\n", done
    assert tamis("draw", API / "apisrs.csv", *DRAW, "--out", "/dev/stdout", "--quiet").stdout.count("\n") == 6
    is_usage_error(tamis("draw", API / "apisrs.csv", *DRAW, "--out", "-", "--json"), "--json needs --out FILE")


@case
def plans_are_begun():
    """A pipe has no name: the plan goes to standard output, and the file is a place to fill in."""
    named = at_file(["init", "WHERE", "--out", "-"], FRAME).stdout
    for done in ways(["init", "WHERE"], FRAME):
        assert done.returncode == OK and done.stderr == "" and "source:\n  file: FILL_IN\n" in done.stdout, done
        assert done.stdout.split("\nsource:")[1].split("\n", 2)[2] == named.split("\nsource:")[1].split("\n", 2)[2]
    with tempfile.TemporaryDirectory() as folder:
        assert tamis("init", "-", "--out", "new.yaml", input=FRAME, cwd=folder).stdout.startswith("Wrote new.yaml.")
        checked = tamis("check", "new.yaml", cwd=folder)
        assert "source.file: to be filled in" in checked.stderr, checked
    is_usage_error(tamis("init", "-", "--json", input=FRAME), "--json needs --out FILE")


@case
def requests_are_answered():
    wanted = tamis("compute", input=REQUESTS)
    assert wanted.returncode == OK and wanted.stdout, wanted
    for done in (*ways(["compute", "WHERE"], REQUESTS), at_file(["compute", "WHERE"], REQUESTS)):
        assert (done.returncode, done.stdout) == (OK, wanted.stdout), done
    done = tamis("compute", "nowhere.jsonl")
    assert done.returncode == INVALID and "nowhere.jsonl: No such file" in done.stderr, done


@case
def plans_are_read():
    """Files that a plan from a pipe names are relative to the current folder; its release needs a name."""
    plan = (API / "plan.yaml").read_text()
    with tempfile.TemporaryDirectory() as folder:
        for file in ("plan.yaml", "apisrs.csv"):
            shutil.copy(API / file, folder)
        for command in ("check", "estimate"):
            wanted = tamis(command, "plan.yaml", "--json", cwd=folder)
            for done in ways([command, "WHERE", "--json"], plan, cwd=folder):
                assert (done.returncode, done.stdout) == (OK, wanted.stdout), done
        for number, done in enumerate(ways(["release", "WHERE", "--out", "published", "--json"], plan, cwd=folder)):
            assert done.returncode == OK and json.loads(done.stdout)["ledger"].get("repeated", False) == (number > 0), done
            shutil.rmtree(pathlib.Path(folder, "published"))
        is_usage_error(tamis("release", "-", cwd=folder, input=plan), "--out: must name the output folder")
        wrong = tamis("check", "-", cwd=folder, input=plan.replace("epsilon: 6", "epsilon: -6"))
        assert wrong.returncode == INVALID and re.match(r"standard input:\d+:\d+: privacy.epsilon: ", wrong.stderr), wrong


@case
def what_is_wrong_names_what_was_given():
    """Not the copy that was read."""
    done = tamis("tally", "-", "--lie", "1/4", "--json", input="a\n1\n3\n")
    error = json.loads(done.stdout)
    assert done.returncode == INVALID and (error["file"], error["line"]) == ("standard input", 3), done
    assert error["message"].startswith("bit 1 of the report") and "standard input: line 3: bit 1" in done.stderr, done
    for arguments in (["draw", "WHERE", *DRAW, "--strata", "nothing", "--out", "-"], ["init", "WHERE"], ["tally", "WHERE", "--lie", "1/4"]):
        for done in ways(arguments, ""):
            assert done.returncode == INVALID and "tamis-input" not in done.stdout + done.stderr, done


@case
def no_copy_is_left_behind():
    """Neither after an error nor after Ctrl-C while a pipe is read; nobody else may read it meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        for text in (REPORTS, "a\n3\n", ""):
            tamis("tally", "-", "--lie", "1/4", input=text, env={"TMPDIR": folder})
            assert os.listdir(folder) == []
        process = subprocess.Popen([TAMIS, "tally", "-", "--lie", "1/4"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment(TMPDIR=folder, LSAN_OPTIONS=CANCELLED))
        process.stdin.write(REPORTS.encode())
        process.stdin.flush()
        while not [size for size in (p.stat().st_size for p in pathlib.Path(folder).glob("*/*")) if size]:
            time.sleep(0.01)
        copy = next(pathlib.Path(folder).glob("*/*"))
        assert copy.stat().st_mode & 0o077 == 0 and copy.parent.stat().st_mode & 0o077 == 0
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == SYSTEM and b"stopped" in said and os.listdir(folder) == [], said
    done = tamis("tally", "-", "--lie", "1/4", input=REPORTS, env={"TMPDIR": "/nowhere"})
    assert done.returncode == SYSTEM and "TMPDIR" in done.stderr, done


main()
