"""The texts that are made from the table of commands: help, manual, completion. Each help is compared with the file of
golden/; `help.py TAMIS --write` writes these files anew."""
import json
import re
import shutil
import subprocess
import sys
import tempfile

from book import Book, schools
from kit import *

GOLDEN = HERE / "golden"
NAMES = commands()
GROUPS = groups()
HELPS = {"tamis": ["--help"], **{name.replace(" ", "-"): [*name.split(), "--help"] for name in GROUPS + NAMES}}

if sys.argv[2:] == ["--write"]:
    for name, arguments in HELPS.items():
        (GOLDEN / f"help-{name}.txt").write_text(tamis(*arguments).stdout)
    sys.exit()


def each_help(name, arguments):
    def text_is_the_golden_one():
        done = tamis(*arguments)
        assert done.returncode == OK and done.stderr == ""
        wanted = (GOLDEN / f"help-{name}.txt").read_text()
        assert done.stdout == wanted, f"differs from golden/help-{name}.txt:\n{done.stdout}"

    def lines_fit_80_columns_of_plain_text():
        for line in tamis(*arguments).stdout.splitlines():
            assert len(line) <= 80 and line.isprintable() and line == line.rstrip(), line

    case(text_is_the_golden_one, f"help of {name} is the golden one")
    case(lines_fit_80_columns_of_plain_text, f"help of {name} fits 80 columns")


def each_example(command, line):
    def runs():
        with folder_with_plan() as folder:
            if command == "verify":
                assert tamis("key", "create", "agency", cwd=folder).returncode == OK
                assert tamis("release", "plan.yaml", "--sign", "agency.key", cwd=folder).returncode == OK
            if command == "ledger raise":
                book = Book(folder / "schools.ledger")
                book.account("pupils", {"epsilon": "4"})
                book.close()
            elif command.startswith("ledger "):
                schools(folder / "schools.ledger")
            # a server ends by a signal
            done = shell(f"timeout --preserve-status -s INT 2 {line}" if command == "serve" else line, cwd=folder)
        assert "tamis " + command in line, command
        assert done.returncode == OK and done.stdout != "", (done.returncode, done.stderr)
        if "--json" in line:
            json.loads(done.stdout)

    case(runs, f"the example runs: {line}")


for name, arguments in HELPS.items():
    each_help(name, arguments)
for name in NAMES:
    for line in examples(name):
        each_example(name, line)


@case
def every_command_has_an_example():
    assert NAMES and all(examples(name) for name in NAMES)


@case
def no_golden_file_is_left_over():
    assert {f"help-{name}.txt" for name in HELPS} == {f.name for f in GOLDEN.iterdir() if f.name.startswith("help-")}


@case
def help_as_a_command_says_the_same():
    assert tamis("help").stdout == tamis("--help").stdout == tamis("-h").stdout
    for name in map(str.split, GROUPS + NAMES):
        assert tamis("help", *name).stdout == tamis(*name, "--help").stdout == tamis(*name, "-h").stdout
    is_usage_error(tamis("help", "privacy", "srss"), "unknown command 'privacy srss'", "did you mean 'srs'?")
    is_usage_error(tamis("help", "nosie"), "did you mean 'noise'?")
    is_usage_error(tamis("help", "noise", "noise"), "unexpected argument")


@case
def colours_only_on_a_terminal_that_wants_them():
    bold = "\033[1m"
    assert bold in on_terminal(["--help"])[1]
    assert "\033" not in on_terminal(["--help"], NO_COLOR="1")[1]
    assert "\033" not in on_terminal(["--help"], TERM="dumb")[1]
    assert bold in on_terminal(["--help"], NO_COLOR="")[1]
    assert "\033" not in tamis("--help", env={"TERM": "xterm"}).stdout
    assert "\033[1;31mtamis:\033[0m" in on_terminal(["nosie"])[1]
    assert "\033" not in on_terminal(["nosie"], NO_COLOR="1")[1]
    assert re.sub("\033\\[[0-9;]*m", "", on_terminal(["noise", "--help"])[1]) == tamis("noise", "--help").stdout


@case
def version_tells_the_parts():
    lines = tamis("--version").stdout.splitlines()
    assert re.fullmatch(r"tamis \d+\.\d+\.\d+", lines[0])
    parts = {line.split()[0] for line in lines}
    assert {"GMP", "MPFR", "FLINT", "OpenSSL", "libfyaml", "DuckDB", "libpq", "ReadStat", "SQLite"} <= parts, parts
    told = json.loads(tamis("--version", "--json").stdout)
    assert set(told) == parts and told["tamis"] == lines[0].split()[1]
    assert tamis("--json", "--version").stdout == tamis("--version", "--json").stdout


@case
def the_manual_tells_everything():
    page = tamis("help", "man").stdout
    for name in NAMES:
        assert f".SS tamis {name}" in page
        for option in re.findall(r"^  --([a-z-]+)", tamis(*name.split(), "--help").stdout, re.M):
            assert "\\-\\-" + option.replace("-", "\\-") in page, (name, option)


@case
def the_manual_renders_without_a_warning():
    if not shutil.which("groff"):
        raise Skip("groff is not installed")
    page = tamis("help", "man").stdout
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-T", "utf8"], input=page, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def completed(*words):
    """What bash offers for the last of the words, in a folder with a few files."""
    script = tamis("help", "bash").stdout + f"""
COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}
compopt() {{ :; }}
_tamis; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a plan.yaml", "b.yml", "c.csv"):
            pathlib.Path(folder, name).write_text("")
        pathlib.Path(folder, "folder").mkdir()
        done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return set(done.stdout.split("\n")) - {""}


@case
def bash_completes_from_the_table():
    first = {name.split()[0] for name in NAMES}
    assert first | {"help", "--json"} <= completed("tamis", "")
    assert completed("tamis", "noi") == {"noise"}
    assert completed("tamis", "noise", "") == {"laplace", "gaussian", "normal"}
    assert completed("tamis", "--json", "noise", "lap") == {"laplace"}
    assert completed("tamis", "noise", "--b") == {"--binary"}
    assert completed("tamis", "noise", "--scale", "") == set()
    assert first <= completed("tamis", "help", "")
    assert {"srs", "--json"} <= completed("tamis", "privacy", "")
    assert completed("tamis", "privacy", "--quiet", "sr") == {"srs"}
    assert completed("tamis", "privacy", "srs", "--pop") == {"--population"}
    assert completed("tamis", "privacy", "srs", "--population", "") == set()
    assert completed("tamis", "check", "") == {"a plan.yaml", "b.yml", "folder"}


@case
def zsh_completes_from_the_table():
    if not shutil.which("zsh"):
        raise Skip("zsh is not installed")
    script = "autoload -Uz compinit && compinit -u -D && source /dev/stdin && whence -w _tamis && print $_comps[tamis]"
    done = subprocess.run(["zsh", "-f", "-c", script], input=tamis("help", "zsh").stdout, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.split() == ["_tamis:", "function", "_tamis"], done.stdout


main()
