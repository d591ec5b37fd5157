"""What the tests of the command share: running it, and counting cases in the Test Anything Protocol.

A test file is run as `file.py TAMIS`: the program under test. Each function marked @case is one case; it fails by
an AssertionError, and skips by raising Skip with the reason.
"""
import collections
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

TAMIS = os.path.abspath(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
API = TOP / "examples" / "api"

CANCELLED = f"suppressions={HERE / 'cancelled.supp'}:print_suppressions=0"  # LSAN_OPTIONS of a command that is stopped

# What is started in the background or by nohup ignores these, and would pass that on to the command under test.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

# The same command without sanitizers, which takes a third of the time: scripts/test names it.
PLAIN = os.environ.get("TAMIS_TEST_PLAIN") if os.path.basename(TAMIS) == "tamis" else None
SEEN = collections.Counter()

OK, SYSTEM, USAGE, INVALID, REFUSED, UNABLE = range(6)


class Skip(Exception):
    pass


def environment(**more):
    """Nothing of the caller's terminal; a sanitizer's complaint is no exit code of ours."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "LC_ALL", "LANG")}
    kept.update(ASAN_OPTIONS="exitcode=99", UBSAN_OPTIONS="halt_on_error=1:exitcode=99", LC_ALL="C.UTF-8")
    kept.update(more)
    return kept


HAS_DUCKDB = json.loads(subprocess.run([TAMIS, "--version", "--json"], capture_output=True, text=True).stdout)["DuckDB"] is not None
REMARK = ("tamis: DuckDB is not installed: the engine memory reads the CSV files, with the same results (`make setup` fetches "
          "DuckDB)\n")


def without_remark(done):
    """Most cases look at everything that is said, and a build without DuckDB says it of every file; house/install looks at it."""
    if not HAS_DUCKDB and isinstance(done.stderr, str):
        done.stderr = done.stderr.replace(REMARK, "")
    return done


ENGINES = ("duckdb", "memory") if HAS_DUCKDB else ("memory",)  # that read CSV files


def program(kind):
    """The command under test. Where there are two, the one with sanitizers does a kind of thing the first time and every 24th time
    from then on: the tests in C run with sanitizers, and `make test-long` takes no other."""
    SEEN[kind] += 1
    return TAMIS if not PLAIN or SEEN[kind] % 24 == 1 else PLAIN


def kind_of(arguments):
    """A command with some options; all helps are one kind, and so are studies of one name, which compute what tests/study does."""
    words = [str(word) for word in arguments]
    names = [word for word in words[:2] if re.fullmatch("[a-z]+", word)]
    if names[:1] == ["study"]:
        return (*names,)
    return "help" if {"help", "--help", "-h"} & set(words) else (*names, *sorted(word for word in words if word.startswith("--")))


def tamis(*arguments, env={}, text=True, stdout=subprocess.PIPE, **options):
    """Runs the command; .returncode, .stdout and .stderr tell what happened."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return without_remark(subprocess.run([program(kind_of(arguments)), *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE,
                                         text=text, env=environment(**env), timeout=300, **options))


def with_memory(*arguments, **options):
    """As tamis(), with the engine that starts at once, for tests of what engines do not change; `make test-long` takes the default."""
    if arguments[0] in ("release", "estimate") and "--engine" not in arguments and not os.environ.get("TAMIS_TEST_LONG"):
        arguments = (*arguments, "--engine", "memory")
    return tamis(*arguments, **options)


def budget(loss):
    """The line of a plan that allows what `loss`, the text of its `privacy`, spends, once."""
    return "budget: {%s}\n" % ", ".join(re.findall(r"\b(?:epsilon|delta|rho): [\d./e+-]+", loss))


def shell(line, **options):
    """Runs a line of a shell in which `tamis` is the program under test."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(program("shell"), os.path.join(folder, "tamis"))
        env = environment(PATH=folder + ":/usr/bin:/bin", TMPDIR=folder)
        return without_remark(subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, env=env, timeout=300, **options))


def on_terminal(arguments, columns=80, act=None, cwd=None, **env):
    """Runs the command on a terminal of its own; gives (exit code, everything it wrote). `act(process, text)` is called
    again and again with what was written so far, and may send signals."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env.setdefault("TERM", "xterm")
    process = subprocess.Popen([program(("terminal", arguments[0])), *map(str, arguments)], stdin=follower, stdout=follower, stderr=follower,
                               env=environment(**env), close_fds=True, cwd=cwd)
    os.close(follower)
    text, end = b"", time.monotonic() + 300
    while time.monotonic() < end:
        if select.select([leader], [], [], 0.05)[0]:
            try:
                text += os.read(leader, 65536)
            except OSError:  # the other side closed
                break
        if act:
            act(process, text.decode(errors="replace"))
    os.close(leader)
    return process.wait(timeout=60), text.decode(errors="replace").replace("\r\n", "\n")


def serve(folder):
    """Makes the table of examples/postgres, by the example's own script, in the server of tests/engine/with_postgres. Gives
    the variables by which libpq finds it."""
    connection = os.environ.get("TAMIS_TEST_POSTGRES")
    assert connection, "there is no PostgreSQL server to test with: run this by tests/engine/with_postgres"
    services = pathlib.Path(folder, "services")
    services.write_text("[survey]\n" + "".join(f"{part}\n" for part in connection.split()))
    env = {"PGSERVICEFILE": str(services)}
    done = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "service=survey", "-f", "load.sql"],
                          cwd=TOP / "examples" / "postgres", capture_output=True, text=True, env=environment(**env))
    assert done.returncode == 0, done.stderr
    return env


class folder_with_plan(tempfile.TemporaryDirectory):
    """A fresh folder that holds what examples/api holds."""

    def __enter__(self):
        path = pathlib.Path(super().__enter__())
        for file in API.iterdir():
            if file.is_file():
                shutil.copy(file, path)
        return path


def listed(*group):
    """What the help lists under Commands; None if it has no such list."""
    parts = tamis(*group, "--help").stdout.split("\nCommands\n")
    lines = parts[1].split("\n\n")[0].splitlines() if len(parts) > 1 else None
    return lines and [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]


def groups():
    """The groups of commands, such as privacy."""
    return [name for name in listed() if listed(name)]


def commands():
    """The commands, as the help lists them; one of a group is two words: "privacy srs"."""
    return [name if not members else f"{name} {member}" for name in listed() for members in [listed(name)]
            for member in members or [""]]


def examples(command):
    """The lines of the examples, as the help of a command shows them."""
    lines = tamis(*command.split(), "--help").stdout.split("\nExamples\n")[1].splitlines()
    return [line.strip() for line in lines if line.startswith("  ") and not line.startswith(("  #", "    "))]


CASES = []


def case(function, name=None):
    CASES.append((name or function.__name__.replace("_", " "), function))
    return function


def golden(prefix, texts, run):
    """A case for each text: what `run(*arguments)` prints is golden/PREFIX-NAME.txt, in lines of 80 letters. With --write
    after the program under test, the texts are written anew."""
    place = HERE / "golden"
    if sys.argv[2:] == ["--write"]:
        for name, arguments in texts.items():
            (place / f"{prefix}-{name}.txt").write_text(run(*arguments).stdout)
        sys.exit()

    def one(name, arguments):
        def text_is_the_golden_one():
            done = run(*arguments)
            assert done.returncode == OK and done.stderr == "", done.stderr
            wanted = place / f"{prefix}-{name}.txt"
            assert done.stdout == wanted.read_text(), f"differs from golden/{wanted.name}:\n{done.stdout}"
            for line in done.stdout.splitlines():
                assert len(line) <= 80 and line == line.rstrip(), line

        case(text_is_the_golden_one, f"text of {name} is the golden one")

    for name, arguments in texts.items():
        one(name, arguments)

    @case
    def no_golden_text_is_left_over():
        assert {f"{prefix}-{name}.txt" for name in texts} == {f.name for f in place.glob(f"{prefix}-*")}


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, (name, function) in enumerate(CASES, 1):
        name = name.replace("#", "\\#")
        try:
            function()
            print(f"ok {number} - {name}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            for line in traceback.format_exc().splitlines():
                print(f"# {line}", flush=True)
    sys.exit(1 if failed else 0)


CODES = {SYSTEM: "system", USAGE: "usage", INVALID: "invalid", REFUSED: "refused", UNABLE: "unable"}


def json_error(done):
    """The error that a command with --json has printed: one object and nothing else, on one line of stdout."""
    assert done.returncode in CODES and done.stdout.count("\n") == 1 and done.stdout.endswith("}\n"), done
    error = json.loads(done.stdout)
    first = {key: error[key] for key in ("code", "message", "key", "file", "line", "column")}
    assert list(error) == [*first, "reason", "charged", "errors"] and error["errors"][0] == first, error
    assert type(error["reason"]) in (str, type(None)) and type(first["key"]) in (str, type(None)), error
    for one in error["errors"]:
        assert list(one) == list(first) and one["code"] == CODES[done.returncode], (done.returncode, one)
        assert type(one["message"]) is str and one["message"] and type(one["file"]) in (str, type(None)), one
        assert all(one[key] is None or type(one[key]) is int and one[key] > 0 for key in ("line", "column")), one
        assert one["message"] in done.stderr, (one, done.stderr)
    return error


def is_usage_error(done, *words):
    """Exit code 2, nothing on stdout but with --json the error, one message and the way to the help on stderr."""
    assert done.returncode == USAGE, (done.returncode, done.stderr)
    options = done.args[:done.args.index("--")] if "--" in done.args else done.args
    assert done.stdout == "" or "--json" in options and json_error(done), done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 2 and lines[0].startswith("tamis: ") and lines[1].startswith("Try 'tamis"), done.stderr
    for word in words:
        assert word in lines[0], (word, lines[0])
