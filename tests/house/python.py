"""The Python package, as a user gets it: installed by pip from this tree into an environment of its own, and its tests run there.
Where pip, Python's headers or a peer package are not to be had, what needs them is skipped with the reason."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done, skip  # noqa: E402

PLACE = TOP / "build" / "python"
PYTHON = PLACE / "venv" / "bin" / "python"


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


if not PYTHON.exists():
    run(sys.executable, "-m", "venv", PLACE / "venv")
tools = run(PYTHON, "-m", "pip", "install", "-q", "meson-python>=0.17", "meson>=1.3", "ninja")
if tools.returncode != 0:
    skip("the package is installed by pip", "pip cannot install meson-python: " + (tools.stderr.strip().splitlines() or ["no pip"])[-1])
    sys.exit(done())
for peer in ("pandas", "pyarrow", "polars", "mypy"):
    if run(PYTHON, "-m", "pip", "install", "-q", peer).returncode != 0:
        print(f"# {peer} cannot be installed: its cases are skipped")
environment = {**os.environ, "PATH": f"{PYTHON.parent}:{os.environ['PATH']}"}
if shutil.which("ccache"):
    environment["CC"] = "ccache gcc"
made = run(PYTHON, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", "--no-build-isolation",
           f"--config-settings=build-dir={PLACE / 'meson'}", TOP, env=environment)
case("the package is installed by pip", made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:])
if made.returncode == 0:
    tests = run(PYTHON, "-m", "unittest", "discover", "-v", TOP / "bindings" / "python" / "tests", cwd=PLACE)
    for name, result in re.findall(r"^(test_\w+ \(\S+\)).*?\.\.\. (ok|FAIL|ERROR|skipped [^\n]*)$", tests.stderr, re.M | re.S):
        if result.startswith("skipped"):
            skip(name, result[8:].strip("'"))
        else:
            case(name, result == "ok", tests.stderr[-6000:])
    case("all tests of the package ran", tests.returncode == 0, tests.stderr[-6000:])
    symbols = run("nm", "-D", "--defined-only", next((PLACE / "venv").glob("lib/python*/site-packages/tamis/_tamis*.so"))).stdout
    case("the extension exports nothing but its door", [line.split()[-1] for line in symbols.splitlines()] == ["PyInit__tamis"], symbols)
sys.exit(done())
