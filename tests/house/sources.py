"""What must not be in the tree: a second copy of the version, printing or exiting in the library, names that others
could clash with, paths of one machine, lines that are too long, names that are defined twice."""
import collections
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

RELEASE = TOP / "build" / "release"


def output(*command):
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout


def tracked(*patterns):
    return output("git", "ls-files", *patterns).split("\n")[:-1] if (TOP / ".git").exists() else \
        [p.relative_to(TOP).as_posix() for folder in ("src", "include", "cli", "client", "tests", "docs", "scripts", "bench")
         for p in (TOP / folder).rglob("*") if p.is_file()]


def lines_with(pattern, files):
    expression = re.compile(pattern)
    for name in files:
        try:
            text = (TOP / name).read_text()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if expression.search(line):
                yield f"{name}:{number}: {line.strip()[:120]}"


def none(name, found):
    found = list(found)
    case(name, not found, "\n".join(found[:20]))


# A design is known by what it can do (tmi_design_kind).
none("no room looks at the name of a design", lines_with(r"strcmp\([^,]*(design->kind->name|tamis_design_name)", tracked("src/*.c", "src/*.h")))

# The libraries, as they were linked.
shared = [line.split()[-1] for line in output("nm", "-D", "--defined-only", "--without-symbol-versions", str(RELEASE / "libtamis.so")).splitlines() if " A " not in line]
case("the shared library exports something", "tamis_version" in shared)
none("the shared library exports only tamis_", (s for s in shared if not s.startswith("tamis_")))
static = [m.group(1) for m in re.finditer(r"^[0-9a-f]+ [A-Z] (\S+)$",
          output("nm", "-g", "--defined-only", str(RELEASE / "libtamis.a")), re.M)]
case("the static library exports something", "tamis_version" in static)
none("the static library exports only tamis_ and tmi_", (s for s in static if not s.startswith(("tamis_", "tmi_"))))
declared = set(re.findall(r"\b(tamis_\w+)\s*\(", "\n".join((TOP / f).read_text() for f in tracked("include/tamis/*.h"))))
none("every exported function is in a public header", (s for s in shared if s not in declared))


def called(files):
    """The private names that occur other than where a function is declared or defined, which begins a line."""
    for name in files:
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", (TOP / name).read_text(), flags=re.S)
        yield from re.findall(r"\btmi_\w+", re.sub(r"^\w[\w *]*?\btmi_\w+\(", "(", code, flags=re.M))


needed = set(called(tracked("src/*.c", "src/*.h")))
none("no function of the library is called by tests alone", (s for s in static if s.startswith("tmi_") and s not in needed))

# What the library may not do: print, end the process, draw numbers by another door, start programs.
forbidden = {"printf", "__printf_chk", "vprintf", "__vprintf_chk", "puts", "putchar", "perror", "stdout", "stderr", "stdin",
             "exit", "_exit", "_Exit", "quick_exit", "abort", "__assert_fail", "raise", "rand", "srand", "random", "srandom",
             "drand48", "srand48", "rand_r", "system", "popen",
             "setlocale"}
wanted = [line.split()[-1] for line in output("nm", "-u", str(RELEASE / "libtamis.a")).splitlines() if line.startswith(" ")]
none("the library does not print, exit, abort, or draw from elsewhere", sorted(forbidden.intersection(wanted)))

# The text of the tree.
version = re.search(r"version: '([^']+)'", (TOP / "meson.build").read_text()).group(1)
code = [f for f in tracked() if re.search(r"(\.[ch]|\.py|\.build|\.md|\.yaml|Makefile)$|^scripts/|^\.ci/|^bench/", f)]
# CHANGELOG.md and bench/results.json are records: they say what a version was, not which one this is. A program that is compiled asks
# tamis/base.h, which must agree.
none("the header has the version of meson.build",
     [] if f'TAMIS_VERSION_TEXT "{version}"' in (TOP / "include/tamis/base.h").read_text() else ["include/tamis/base.h"])
none("the version is in meson.build alone",
     lines_with(re.escape(version).join([r"(?<![\d.])", r"(?![\d.])"]), (f for f in code if f not in ("meson.build", "include/tamis/base.h", "CHANGELOG.md", "bench/results.json"))))
none("no path of one machine", lines_with(r"/(home|root|Users|work)/", (f for f in code if not f.startswith("tests/"))))
none("nothing is left to do later", lines_with(r"\b(TODO|FIXME|XXX)\b", (f for f in code if f != "tests/house/sources.py")))
none("every link between documents leads somewhere",
     (f"{f}: {target}" for f in code if f.endswith(".md")
      for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", (TOP / f).read_text())
      if not (TOP / f).parent.joinpath(target).exists()))
papers = (TOP / "docs" / "papers.md").read_text()
none("the papers' table names files and functions that exist",
     [p for p in sorted(set(re.findall(r"\b(?:src|tests|examples|include)/[\w/.-]*\w", papers))) if not (TOP / p).exists()] +
     [f for f in sorted(set(re.findall(r"`(tamis_\w+)`", papers))) if f not in declared])
none("every claim that is cited is in the papers' table", (f"{f}: {c}" for f in tracked("include/*", "src/*", "tests/*")
     if f.endswith((".c", ".h")) for c in re.findall(r"papers\.md(#[\w-]+)", (TOP / f).read_text())
     if f'id="{c[1:]}"' not in papers and f"\n#{c}\n".replace("##", "## ") not in papers))
none("a NULL argument is reported in the same words everywhere", lines_with(r'"[\w%]+:? is NULL"|got NULL"', tracked("src/*")))

# Lines that fit beside each other. Files and folders are as long as their subjects.
COLUMNS = 130
c_files = [f for f in tracked() if f.endswith((".c", ".h")) and (TOP / f).exists()]
none(f"no line of C has more than {COLUMNS} columns", lines_with(r"^.{%d}" % (COLUMNS + 1), c_files))

# Names: what two headers define, whoever includes both cannot compile.
headers = {f: (TOP / f).read_text() for f in c_files if f.endswith(".h") and f.startswith(("src/", "cli/", "include/"))}
definition = re.compile(r"^#define (\w+)|^(?:typedef )?(?:struct|enum|union) (\w+) \{|^typedef\b[^;{]*?\(?\*?\b(\w+)\)?(?:\([^;]*\))?;|^\} (\w+);",
                        re.M)
places = collections.defaultdict(set)
for f, text in headers.items():
    undefined = set(re.findall(r"^#undef (\w+)", text, re.M))
    for found in definition.findall(text):
        name = next(n for n in found if n)
        if name.startswith(("tmi_", "TMI_", "tamis_", "TAMIS_", "cli_", "CLI_")) and name not in undefined:
            places[name].add(f)
case("names are found in headers", {"tmi_text", "tamis_plan", "TMI_BASE_TEXT_H"} <= set(places))
forward = re.compile(r"^typedef (?:struct|enum|union) (\w+) \1;$", re.M)  # declares, defines nothing
declares = {(f, n) for f, text in headers.items() for n in forward.findall(text)}
none("no type, macro or header guard is defined in two headers",
     (f"{name}: {', '.join(sorted(where))}" for name, all_of in sorted(places.items())
      if len(where := {f for f in all_of if (f, name) not in declares}) > 1))
sys.exit(done())
