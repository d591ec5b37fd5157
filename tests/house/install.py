"""`make install PREFIX=`: everything is where it belongs, works there, and another program can be built on it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

DUCKDB = (TOP / "build" / "setup" / "duckdb").read_text().strip()
HAS_DUCKDB = bool(DUCKDB)

CONSUMER = r"""
#include <stdio.h>
#include <tamis/tamis.h>

int main(void)
{
    puts(tamis_version());
    return 0;
}
"""


def every_function(headers):
    """A C++ program that needs every public function under its C name: a header without extern "C" does not link."""
    functions = [name for header in sorted(headers)
                 for name in re.findall(r"^TAMIS_(?:API|USE) [^;(]*?\b(tamis_\w+)\(", (TOP / header).read_text(), re.M)]
    return "\n".join([*(f"#include <{header.removeprefix('include/')}>" for header in sorted(headers)), "#include <cstdio>",
                      "typedef void (*function)();",
                      "function volatile functions[] = {",
                      *(f"    reinterpret_cast<function>(&{name})," for name in functions),
                      "};",
                      "int main() { return functions[0] && std::puts(tamis_version()) >= 0 ? 0 : 1; }", ""]), functions


def has_part(page, part):
    """Whether a document is there and has the heading or the anchor that a link names."""
    if not page.exists() or not part:
        return page.exists()
    text = page.read_text()
    headings = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}
    return part in headings or f'id="{part}"' in text


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def install(prefix):
    return run(["make", "-C", TOP, "--no-print-directory", "install", f"PREFIX={prefix}"],
               env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "DESTDIR")})


def uninstall(prefix):
    return run(["make", "-C", TOP, "--no-print-directory", "uninstall", f"PREFIX={prefix}"],
               env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "DESTDIR")})


def words(prefix, *arguments):
    env = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    found = run(["pkg-config", *arguments, "tamis"], env=env)
    return found.stdout.split() if found.returncode == 0 else ["-pkg-config-failed"]


def consumer(name, folder, prefix, libraries, version, compiler=("cc", "-std=c17", "-xc")):
    program = folder / name
    built = run([*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", *words(prefix, "--cflags"), folder / "consumer",
                 "-xnone", *libraries, "-o", program])
    case(f"a program of others is built: {name}", built.returncode == 0, built.stderr)
    ran = run([program], env={"LD_LIBRARY_PATH": str(prefix / "lib")}) if built.returncode == 0 else None
    case(f"and runs: {name}", ran and ran.stdout.strip() == version, ran and ran.stderr)


def main(folder):
    prefix = folder / "prefix"
    installed = install(prefix)
    case("make install", installed.returncode == 0, installed.stdout + installed.stderr)

    (folder / "file").write_text("")  # root may write everywhere, but not into this
    refused = install(folder / "file" / "prefix")
    case("a place that cannot be written to is told in one line, with what to do", refused.returncode != 0 and
         [line for line in refused.stderr.splitlines() if not line.startswith("make")] ==
         [f"install: {folder}/file cannot be written to. As root: 'sudo make install'; elsewhere: "
          "'make install PREFIX=$HOME/.local'"], refused.stderr)

    files = {p.relative_to(prefix).as_posix() for p in prefix.rglob("*") if not p.is_dir()}
    headers = {p.relative_to(TOP).as_posix() for p in (TOP / "include").rglob("*.h")}
    expected = {"bin/tamis", "lib/libtamis.a", "lib/libtamis.so", "lib/pkgconfig/tamis.pc", "share/man/man1/tamis.1",
                "share/bash-completion/completions/tamis.bash", "share/zsh/site-functions/_tamis"} | headers
    expected |= {"share/tamis/" + p.relative_to(TOP).as_posix() for p in (TOP / "examples").rglob("*")
                 if p.is_file() and p.name != "meson.build"}
    expected |= {"share/tamis/" + p.relative_to(TOP).as_posix() for p in (TOP / "client").iterdir() if p.name != "meson.build"}
    expected |= {"share/doc/tamis/" + p.name for p in (TOP / "docs").iterdir()}
    expected |= {"share/doc/tamis/LICENSE", "share/tamis/plan.schema.json", "share/tamis/installed-files"}
    if HAS_DUCKDB:
        expected |= {"lib/tamis/libduckdb.so"}
        ours = DUCKDB == str(TOP / "build" / "duckdb")  # what setup fetched; a folder that was given may lack it, and that is said
        if ours or (pathlib.Path(DUCKDB) / "LICENSE").exists():
            expected |= {"share/doc/tamis/LICENSE.duckdb"}
        else:
            case("a missing licence is reported", "has no LICENSE" in installed.stderr, installed.stderr)
    for name in sorted(expected):
        case(f"installed: {name}", name in files)
    extra = {f for f in files - expected if not f.startswith("lib/libtamis.so.")}
    case("installed: nothing else", not extra, " ".join(sorted(extra)))

    manual = (prefix / "share/man/man1/tamis.1").read_text().replace("\\-", "-")
    named = re.findall(r"^\.I (/.*)$", manual.split(".SH FILES")[1], re.M)
    case("what the manual names is there", len(named) >= 3 and all(pathlib.Path(f).exists() for f in named), " ".join(named))

    documents = sorted((prefix / "share").rglob("*.md"))
    broken = [f"{page.name}: {target}" for page in documents
              for target, part in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", page.read_text())
              if not has_part(page.parent / target if target else page, part)]
    case("every link in the installed documents leads somewhere", len(documents) > 10 and not broken, "\n".join(broken))
    lost = [f"{page.name}: {name}" for page in documents for name in re.findall(r"<(tamis/[\w/]+\.h)>", page.read_text())
            if not (prefix / "include" / name).exists()]
    case("headers that they name are installed", not lost, "\n".join(lost))
    sources = [page.name for page in documents if re.search(r"\bsrc/\w", page.read_text()) and "source tree" not in page.read_text()]
    case("none sends its reader to the sources without saying so", not sources, " ".join(sources))

    inside = [f for f in sorted(files) if f != "lib/tamis/libduckdb.so" and str(TOP).encode() in (prefix / f).read_bytes()]
    case("no installed file names the folder it was built in", not inside, " ".join(inside))

    for header in sorted(headers):
        line = f"#include <{header.removeprefix('include/')}>\n"
        alone = run(["cc", "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", *words(prefix, "--cflags"),
                     "-xc", "-"], input=line)
        case(f"a header needs no other before it: {header}", alone.returncode == 0, alone.stderr)

    version = words(prefix, "--modversion")[0]
    (folder / "consumer").write_text(CONSUMER)
    consumer("shared", folder, prefix, words(prefix, "--libs"), version)
    consumer("static", folder, prefix,
             ["-l:libtamis.a" if w == "-ltamis" else w for w in words(prefix, "--static", "--libs")], version)
    plus = shutil.which("g++") or "clang++"  # make test needs clang anyway
    every, functions = every_function(headers)
    exported = {line.split()[-1] for line in run(["nm", "-D", "--defined-only", "--without-symbol-versions", prefix / "lib" / "libtamis.so"]).stdout.splitlines()
                if " A " not in line}
    case("every exported function is declared with TAMIS_API or TAMIS_USE", set(functions) == exported, " ".join(set(functions) ^ exported))
    (folder / "consumer").write_text(every)
    consumer("every public function from C++", folder, prefix, words(prefix, "--libs"), version, (plus, "-std=c++11", "-xc++"))

    examples = prefix / "share" / "tamis" / "examples"
    for source, compiler, arguments, words_of in (
            ("release.c", ("cc", "-std=c17"), (examples / "api" / "plan.yaml", folder / "c.ledger", folder / "published"), "mean,api00"),
            ("arrays.cpp", (plus, "-std=c++11"), (folder / "cpp.ledger",), "total of turnover")):
        program = folder / source.replace(".", "-")
        built = run([*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", examples / "library" / source, *words(prefix, "--cflags", "--libs"),
                     "-o", program])
        case(f"the example is built: {source}", built.returncode == 0, built.stderr)
        ran = run([program, *arguments], env={"LD_LIBRARY_PATH": str(prefix / "lib")}) if built.returncode == 0 else None
        case(f"and publishes: {source}", ran and ran.returncode == 0 and words_of in ran.stdout, ran and ran.stdout + ran.stderr)
    case("the example in C wrote its folder", (folder / "published" / "release.json").exists())

    # Removed again: all of it, and nothing of others.
    kept = prefix / "share" / "man" / "man1" / "other.1"
    whole = folder / "removed"
    shutil.copytree(prefix, whole, symlinks=True)
    (whole / kept.relative_to(prefix)).write_text("")
    gone = uninstall(whole)
    left = [p.relative_to(whole).as_posix() for p in whole.rglob("*") if not p.is_dir()]
    case("make uninstall removes what was installed, and only that", gone.returncode == 0 and left == ["share/man/man1/other.1"] and
         not (whole / "include").exists(), gone.stderr + " ".join(left))
    case("what is not installed cannot be removed", uninstall(whole).returncode != 0)

    # Nothing of the caller's environment, another folder, the whole of it moved elsewhere.
    moved = prefix.rename(folder / "moved")
    command = moved / "bin" / "tamis"
    told = run([command, "--version"], env={}, cwd=folder)
    case("the installed command tells the version", told.returncode == 0 and version in told.stdout, told.stderr)
    remark = "tamis: DuckDB is not installed, so the engine `memory` reads the CSV files, with the same results (`make setup` fetches DuckDB)\n"
    for what, there in (("", HAS_DUCKDB), (", also without DuckDB", False)):
        if not there:
            (moved / "lib" / "tamis" / "libduckdb.so").unlink(missing_ok=True)
        shown = run([command, "demo"], env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, cwd=folder)
        case(f"the installed demo runs after a move{what}",
             shown.returncode == 0 and "epsilon" in shown.stdout and shown.stderr == ("" if there else remark), shown.stderr)


with tempfile.TemporaryDirectory() as temporary:
    main(pathlib.Path(temporary))
sys.exit(done())
