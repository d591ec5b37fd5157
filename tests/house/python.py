"""The Python package, as a user gets it: installed by pip from this tree into an environment of its own, and its tests run there.
Where pip, Python's headers or a peer package are not to be had, what needs them is skipped with the reason. `make test-long` also runs
the tests with an extension that has sanitizers, and makes the source archive and the wheel."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import LONG, case, done, skip  # noqa: E402

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
for peer in ("pandas", "pyarrow", "polars", "mypy", "duckdb", "matplotlib", "svy"):
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


def squeezed(text):
    """C without comments, marks and blanks."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S).replace("DUCKDB_C_API", "")
    return re.sub(r"\s+", "", text)


real, declared = TOP / "build" / "duckdb" / "duckdb.h", TOP / "src" / "engine" / "duckdb" / "declared" / "duckdb.h"
if real.exists():
    there = squeezed(real.read_text())
    wanted = re.findall(r"^[\w* ]+\bduckdb_\w+\([^;{]*\);", declared.read_text(), re.M | re.S)
    wrong = [p for p in wanted if squeezed(p) not in there]
    case("functions of DuckDB are declared as in its header", len(wanted) > 50 and not wrong, "\n".join(wrong))
else:
    skip("functions of DuckDB are declared as in its header", "DuckDB was not fetched")


def with_sanitizers():
    """The same tests with an extension that has sanitizers; not what other programs do, and not leaks of the interpreter."""
    build, place = PLACE / "asan", PLACE / "sanitized"
    if not (build / "build.ninja").exists():
        prepared = run("meson", "setup", build, "-Dpython=true", "-Dbuildtype=debugoptimized", "-Db_sanitize=address,undefined",
                       "-Db_lundef=false", cwd=TOP, env=environment)
        if prepared.returncode != 0:
            return prepared
    built = run("meson", "compile", "-C", build, env=environment)
    if built.returncode != 0:
        return built
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(TOP / "bindings" / "python" / "tamis", place / "tamis")
    shutil.copy(TOP / "share" / "plan.schema.json", place / "tamis")
    shutil.copy(next(build.glob("bindings/python/*.so")), place / "tamis")
    libraries = " ".join(run("gcc", f"-print-file-name={name}").stdout.strip() for name in ("libasan.so", "libubsan.so"))
    return run(PYTHON, "-m", "unittest", "discover", "-v", TOP / "bindings" / "python" / "tests",
               *(x for name in ("Builders", "Plans", "Releases", "BadInput", "Interrupts", "Beside") for x in ("-k", name)), cwd=PLACE,
               env={**environment, "LD_PRELOAD": libraries, "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1",
                    "PYTHONMALLOC": "malloc", "PYTHONPATH": str(place)})


def make_wheel():
    """The source archive and the wheel: licenses are inside, the tag is the one that docs/python.md states, and it can be imported
    without the libraries of this machine being asked for."""
    made = run(sys.executable, TOP / "scripts" / "wheel", PLACE / "dist")
    case("sdist, wheel, auditwheel", made.returncode == 0, made.stdout + made.stderr)
    if made.returncode != 0:
        return
    sdist, wheel, tag = made.stdout.splitlines()[:3]
    case(f"the tag is {tag}", f"`{tag}`" in (TOP / "docs" / "python.md").read_text(), tag)
    names = zipfile.ZipFile(wheel).namelist()
    inside = {n.split("/licenses/")[1] for n in names if "/licenses/" in n}
    libraries = [n for n in names if n.startswith("tamis.libs/")]
    listed = zipfile.ZipFile(wheel).read(next(n for n in names if n.endswith("licenses/libraries/LIST"))).decode()
    case("licenses are in the wheel", {"LICENSE", "bindings/python/NOTICE"} <= inside and all(n.split("/")[1] in listed for n in libraries)
         and len(libraries) >= 8, "\n".join(sorted(inside)))
    with tarfile.open(sdist) as archive:
        held = {n.split("/", 1)[1] for n in archive.getnames() if "/" in n}
    case("licenses are in the source archive", {"LICENSE", "bindings/python/NOTICE", "pyproject.toml"} <= held)
    run(sys.executable, "-m", "venv", "--clear", PLACE / "clean")
    clean = PLACE / "clean" / "bin" / "python"
    installed = run(clean, "-m", "pip", "install", "-q", "--no-index", wheel)
    used = run(clean, "-c", "import tamis; tamis.noise('laplace', 1, 1); print([line.split()[-1] for line in open('/proc/self/maps') "
                            "if '.so' in line and any(n in line for n in ('gmp', 'mpfr', 'flint', 'fyaml', 'readstat')) and 'tamis.libs' not in line])")
    case("the wheel brings its libraries", installed.returncode == 0 and used.stdout.strip() == "[]", installed.stderr + used.stdout + used.stderr)


if LONG and made.returncode == 0:
    sanitized = with_sanitizers()
    case("the tests with sanitizers", sanitized.returncode == 0 and "ERROR: AddressSanitizer" not in sanitized.stderr,
         sanitized.stdout[-3000:] + sanitized.stderr[-6000:])
    make_wheel()
sys.exit(done())
