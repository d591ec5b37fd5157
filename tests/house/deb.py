"""`make deb`: the packages are built, lintian finds no error, and in a fresh Debian they are installed, used and removed without a trace.
Minutes of building, and packages of Debian from the network: only in `make test-long`. What is missing is skipped with the reason."""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import LONG, case, done, skip  # noqa: E402

PLACE = TOP / "build" / "deb"
PACKAGES = ("libtamis-dev", "libtamis0", "python3-tamis", "r-cran-tamis", "tamis")

# Steps in the fresh system, one after the other, as root: name and commands of sh.
INSTALL = "apt-get install -y --no-install-recommends"
PYTHON = """
import tamis
s = tamis.Survey("people", {"income": [i % 10 for i in range(40)]}, unit="person", ledger="python.ledger", budget=4, design=tamis.srs(400, 40),
                 columns={"income": (0, 10)})
assert len(s.release(tamis.total("income"), epsilon=1)) == 1
"""
R = """
library(tamis)
s <- tamis_survey(list(srs = list(population = 400, sample = 40)), "people", "person", list(income = c(0, 10)), "r.ledger", 4,
                  data = data.frame(income = rep(0:9, 4)))
stopifnot(nrow(tamis_release(s, stat_total(~income), epsilon = 1)) == 1)
"""
STEPS = (
    ("the command is installed", f"{INSTALL} /packages/tamis_*.deb"),
    ("it needs no other package of tamis", "! dpkg -s libtamis0"),
    ("it tells its version", "tamis --version | grep -F VERSION"),
    ("the demo runs", "tamis demo"),
    ("the others are installed beside it", f"{INSTALL} /packages/*.deb gcc libc6-dev pkg-config"),
    ("a program is built with the shared library, and releases",
     "cc /usr/share/tamis/examples/library/release.c $(pkg-config --cflags --libs tamis) -o release && "
     "./release /usr/share/tamis/examples/api/plan.yaml c.ledger published && ldd release | grep libtamis.so.0"),
    ("Python releases", "python3 -c " + shlex.quote(PYTHON)),
    ("R releases", "Rscript -e " + shlex.quote(R)),
    ("what dpkg has noted of the files is true", "dpkg -V " + " ".join(PACKAGES)),
    ("all are removed", "apt-get remove -y " + " ".join(PACKAGES)),
    ("dpkg knows none of them", "! dpkg -l | grep tamis"),
    ("neither the command, the headers nor the module are left", "! command -v tamis && ! pkg-config --exists tamis && ! python3 -c 'import tamis'"),
    ("no file is left", "left=$(find /usr /etc /var /opt -xdev -name '*tamis*') && echo $left && test -z \"$left\""),
    ("a program that needs the library finds none", "! ./release /nothing c.ledger published 2>said; grep libtamis.so.0 said"),
)


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", cwd=TOP, **more)


def build(version):
    """The packages, or nothing where they cannot be built here."""
    needed = run("dpkg-checkbuilddeps", TOP / "packaging" / "debian" / "control")
    if needed.returncode != 0:
        skip("the packages are built", needed.stderr.strip().splitlines()[-1])
        return []
    made = run("make", "deb")
    case("the packages are built", made.returncode == 0, made.stdout[-4000:] + made.stderr[-4000:])
    found = sorted(p for p in PLACE.glob("*.deb") if "-dbgsym_" not in p.name)
    case("they are the five of this version", tuple(p.name.split("_")[0] for p in found) == PACKAGES and
         {p.name.split("_")[1] for p in found} == {version}, " ".join(p.name for p in found))
    if shutil.which("lintian"):
        case("lintian has no error and no warning", not re.search(r"^[EW]: ", made.stdout, re.M), made.stdout)
    else:
        skip("lintian has no error and no warning", "lintian is not installed")
    return found if made.returncode == 0 else []


def suite():
    """The version of Debian that this is: the packages were built with its libraries."""
    told = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return told.get("VERSION_CODENAME", "").strip('"') if told.get("ID") == "debian" else None


def lacking():
    """Why no fresh Debian can be made here, or nothing."""
    if suite() is None:
        return "this is not a Debian"
    if not shutil.which("mmdebstrap"):
        return "mmdebstrap is not installed"
    tried = run("mmdebstrap", "--variant=apt", "--simulate", suite(), "/dev/null")
    return None if tried.returncode == 0 else "mmdebstrap: " + " ".join(tried.stderr.split()[-20:])


def use(packages, version, folder):
    """A fresh Debian, thrown away at the end, in which the steps are taken."""
    given = folder / "packages"
    given.mkdir()
    for package in packages:
        shutil.copy(package, given)
    lines = ["export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root", "mkdir /try && cd /try"]
    for number, (_, commands) in enumerate(STEPS):
        lines.append(f"( {commands.replace('VERSION', version)} ) >/try/said.{number} 2>&1 && echo {number} good >>/try/results "
                     f"|| {{ echo {number} bad && tail -n 20 /try/said.{number}; }} >>/try/results")
    (given / "steps").write_text("\n".join(lines) + "\n")
    for path in (folder, given, *given.iterdir()):  # without root mmdebstrap is another user
        path.chmod(0o755)
    (folder / "results").touch()
    made = run("mmdebstrap", "--variant=apt", "--format=null", f"--customize-hook=copy-in {given} /", '--customize-hook=chroot "$1" sh /packages/steps',
               f"--customize-hook=download /try/results {folder / 'results'}", suite(), "-")
    results = re.findall(r"^(\d+) (good|bad)$((?:\n(?!\d+ (?:good|bad)$).*)*)", (folder / "results").read_text(), re.M)
    case("all steps were taken in a fresh Debian", made.returncode == 0 and len(results) == len(STEPS), made.stderr[-4000:])
    for number, word, why in results:
        case(STEPS[int(number)][0], word == "good", why)


def main():
    version = re.search(r"version: '(.*)'", (TOP / "meson.build").read_text()).group(1)
    noted = re.match(r"tamis \((.*)\)", (TOP / "packaging" / "debian" / "changelog").read_text()).group(1)
    case("the packages have the version of the library", noted == version, noted)
    why = None if LONG else "only in make test-long"
    if why is None and not (TOP / ".git").exists():
        why = "this tree is not a clone"
    if why is None and not shutil.which("dpkg-buildpackage"):
        why = "dpkg-dev is not installed"
    if why:
        skip("the packages are built, installed and removed", why)
        return
    packages = build(version)
    why = lacking() if packages else "there are no packages"
    if why:
        skip("the packages are installed and removed", why)
        return
    with tempfile.TemporaryDirectory() as folder:
        use(packages, version, pathlib.Path(folder))


main()
sys.exit(done())
