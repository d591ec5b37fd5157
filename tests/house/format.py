"""The C sources are as clang-format 14 writes them (.clang-format). Other versions break lines at other places: where that version
is not installed the comparison is skipped."""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done, skip  # noqa: E402


def clang_format():
    for name in ("clang-format-14", "clang-format"):
        try:
            said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
        except OSError:
            continue
        if re.search(r"version 14\.", said):
            return name
    return None


program = clang_format()
name = "the sources are formatted"
if program is None:
    skip(name, "clang-format 14 is not installed (scripts/setup test installs it on Debian 12)")
else:
    files = sorted(str(p.relative_to(TOP)) for folder in ("src", "cli", "client", "include", "tests", "bench", "bindings") for p in (TOP / folder).rglob("*.[ch]"))
    ran = subprocess.run([program, "--dry-run", *files], cwd=TOP, capture_output=True, text=True)
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning", ran.stderr, re.M)))
    said = ran.stderr[-500:] if ran.returncode else ""
    case(name, ran.returncode == 0 and not wrong, "run `make format`:\n" + "\n".join(wrong[:20]) + said)
sys.exit(done())
