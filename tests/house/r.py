"""The R package, as a user gets it: installed from this clone, and checked as R checks packages, which runs its tests, its examples
and its vignettes; docs/r.md is run, block by block. Then the tests of its C code with sanitizers, where `make test` has built the
library with them. What needs a package of R that is not installed is skipped with the reason."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done, skip  # noqa: E402

PACKAGE = TOP / "bindings" / "r"
PLACE = TOP / "build" / "r"
LIBRARY = PLACE / "library"
# Nothing is asked of the network: an empty list of repositories instead of CRAN's.
ENVIRONMENT = {**os.environ, "R_LIBS": str(LIBRARY), "_R_CHECK_XREFS_REPOSITORIES_": (PLACE / "nothing").as_uri(),
               "_R_CHECK_FORCE_SUGGESTS_": "false", "TAMIS_TEST_DATA": str(TOP / "tests" / "data" / "estimates"),
               "TAMIS_TEST_SCHEMA": str(TOP / "share" / "plan.schema.json"), "OMP_NUM_THREADS": "2"}


def run(*command, **more):
    return subprocess.run([str(c) for c in command], **{"capture_output": True, "text": True, "cwd": PLACE, "env": ENVIRONMENT, **more})


def has(name):
    return run("Rscript", "-e", f"quit(status = !requireNamespace('{name}', quietly = TRUE))").returncode == 0


def cases_of(output, group):
    """The cases that a test file of the package has printed."""
    lines = re.findall(r"^(not )?ok \d+ - (.*)$((?:\n# .*)*)", output, re.M)
    for wrong, name, why in lines:
        if "# SKIP" in name:
            skip(f"{group}: {name.split(' # SKIP ')[0]}", name.split(" # SKIP ")[1])
        else:
            case(f"{group}: {name}", not wrong, why)
    planned = re.search(r"^1\.\.(\d+)$", output, re.M)
    case(f"{group}: all cases ran", planned and int(planned.group(1)) == len(lines), output[-4000:])


def flags(library):
    """How to link the static library, for a package that is unpacked elsewhere."""
    found = run("pkg-config", "--static", "--libs", "tamis", env={**ENVIRONMENT, "PKG_CONFIG_PATH": str(TOP / "build" / "release" / "meson-private")})
    others = [word for word in found.stdout.split() if word != "-ltamis" and not word.startswith("-L")]
    return {"TAMIS_CFLAGS": f"-I{TOP / 'include'}", "TAMIS_LIBS": " ".join([str(library), *others, "-Wl,--exclude-libs,ALL"])}


def install():
    made = run("R", "CMD", "INSTALL", "--clean", "--no-test-load", f"--library={LIBRARY}", PACKAGE)
    case("the package is installed from a clone", made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:])
    if made.returncode == 0:
        symbols = run("nm", "-D", "--defined-only", LIBRARY / "tamis" / "libs" / "tamis.so").stdout
        case("it exports nothing but its door", [line.split()[-1] for line in symbols.splitlines()] == ["R_init_tamis"], symbols)
        loaded = run("Rscript", "-e", "stopifnot(packageVersion('tamis') == tamis::tamis_parts()[['tamis']])")
        case("it has the library's version", loaded.returncode == 0, loaded.stderr)
    return made.returncode == 0


def without_library():
    """configure says what helps where there is no library."""
    copy = PLACE / "alone"
    shutil.copytree(PACKAGE, copy, dirs_exist_ok=True)
    tried = run("sh", "./configure", cwd=copy, env={**ENVIRONMENT, "PKG_CONFIG_LIBDIR": str(PLACE / "nothing"), "PKG_CONFIG_PATH": ""})
    case("without the library configure says what to do", tried.returncode == 1 and "R CMD INSTALL bindings/r" in tried.stderr, tried.stderr)


def check():
    """R CMD check: no error, no warning, no note."""
    vignettes = has("knitr") and has("markdown") and has("survey")
    less = [] if vignettes else ["--no-build-vignettes"]
    environment = {**ENVIRONMENT, **flags(TOP / "build" / "release" / "libtamis.a")}
    built = run("R", "CMD", "build", *less, PACKAGE, env=environment)
    archives = sorted(PLACE.glob("tamis_*.tar.gz"))
    case("R CMD build", built.returncode == 0 and len(archives) == 1, built.stdout[-3000:] + built.stderr[-3000:])
    if not archives:
        return
    less = [] if vignettes else ["--ignore-vignettes"]
    checked = run("R", "CMD", "check", "--no-manual", *less, archives[0], env=environment)
    case("R CMD check: no error, warning or note", "\nStatus: OK\n" in checked.stdout, checked.stdout[-6000:] + checked.stderr[-2000:])
    if not vignettes:
        skip("the vignettes", "knitr, markdown or survey is not installed")
    for name in ("designs", "memory", "package"):
        files = sorted((PLACE / "tamis.Rcheck" / "tests").glob(f"{name}.Rout*"))
        cases_of(files[-1].read_text() if files else "", name)


def document():
    """docs/r.md: its blocks, one after the other."""
    if not has("survey"):
        skip("docs/r.md runs", "survey is not installed")
        return
    blocks = re.findall(r"^```r\n(.*?)^```$", (TOP / "docs" / "r.md").read_text(), re.M | re.S)
    readme = re.findall(r"^```r\n(.*?)^```$", (TOP / "README.md").read_text(), re.M | re.S)
    for name, texts in (("docs/r.md", blocks), ("README.md", readme)):
        folder = PLACE / name.replace("/", "-")
        folder.mkdir()
        (folder / "page.R").write_text("\n".join(texts))
        ran = run("Rscript", "page.R", cwd=folder)
        case(f"the blocks of {name} run", texts and ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-3000:])


def with_sanitizers():
    """The tests that need no other package, with the library and the C code of the package under address and undefined behaviour
    sanitizers. R itself gives back little at its end, so leaks are not looked for here: tests/memory.R does."""
    library = TOP / "build" / "test" / "libtamis.a"
    if not library.exists():
        skip("the tests run with sanitizers", "build/test has no libtamis.a: scripts/build test")
        return
    sanitizers = "-fsanitize=address,undefined"
    (PLACE / "makevars").write_text(f"CFLAGS = -g -O1 {sanitizers}\nLDFLAGS = {sanitizers}\n")
    shutil.copytree(PACKAGE, PLACE / "sanitized", dirs_exist_ok=True)
    environment = {**ENVIRONMENT, **flags(library), "R_MAKEVARS_USER": str(PLACE / "makevars"), "R_LIBS": str(PLACE / "sanitized-library"),
                   "ASAN_OPTIONS": "detect_leaks=0"}
    (PLACE / "sanitized-library").mkdir()
    made = run("R", "CMD", "INSTALL", "--preclean", "--no-docs", "--no-test-load", f"--library={PLACE / 'sanitized-library'}", PLACE / "sanitized",
               env=environment)
    if made.returncode != 0:
        case("the package is built with sanitizers", False, made.stderr[-3000:])
        return
    objects = [subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip() for name in ("libasan.so", "libubsan.so")]
    ran = run("Rscript", "package.R", cwd=PLACE / "sanitized" / "tests", env={**environment, "LD_PRELOAD": " ".join(objects)})
    case("the tests run with sanitizers", ran.returncode == 0 and "runtime error" not in ran.stderr, ran.stdout[-4000:] + ran.stderr[-6000:])


if shutil.which("R") is None:
    skip("the package is installed from a clone", "R is not installed (scripts/setup test)")
    sys.exit(done())
shutil.rmtree(PLACE, ignore_errors=True)
LIBRARY.mkdir(parents=True)
without_library()
if install():
    document()
    check()
    with_sanitizers()
sys.exit(done())
