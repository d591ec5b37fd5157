"""The binary interface of the stable headers: a program that was built with the recorded one runs with this library. libabigail's
abidiff compares tests/house/tamis.abi, an XML file of functions and types, with the headers of now. Functions may be added; a
function that changes or goes, and a struct whose fields move, are found.

    python3 tests/house/abi.py --write    records the interface of now: with each release, and after a change that was decided

The headers say all that a compiler knows of the library. So they are compiled as they are, with a body in the place of each
semicolon, and the library itself need not be built with its types.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

RECORDED = TOP / "tests" / "house" / "tamis.abi"


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def compiled(folder, include):
    """A library that has every function of the stable headers, and does nothing."""
    text = run("gcc", "-E", "-P", "-I", include, "-xc", "-", input="#include <tamis/tamis.h>\n", check=True).stdout
    pieces = re.split(r"(?=__attribute__\(\(visibility)", text)
    bodies = [pieces[0]] + [piece.replace(";", " { __builtin_trap(); }", 1) for piece in pieces[1:]]
    source, library = folder / "stable.c", folder / "libtamis.so.0"
    source.write_text("".join(bodies))
    run("gcc", "-std=gnu17", "-g", "-w", "-shared", "-fPIC", "-Wl,-soname,libtamis.so.0", source, "-o", library, check=True)
    return library


def interface(folder, include):
    """The same as XML, without anything of this machine."""
    folder.mkdir()
    written = folder / "now.abi"
    run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-architecture", "--no-elf-needed", "--out-file", written,
        compiled(folder, include), check=True)
    return written


def compared(folder, before, include):
    return run("abidiff", "--no-added-syms", before, interface(folder, include))


def with_change(folder, old, new, header):
    """The headers with one change."""
    shutil.copytree(TOP / "include", folder)
    path = folder / "tamis" / header
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))
    return folder


def main(folder):
    if not shutil.which("abidiff"):
        print("# SKIP abi: abidiff is not installed (abigail-tools)")
        case("without abidiff nothing is compared", True)
        return
    now = interface(folder / "now", TOP / "include")
    if sys.argv[1:] == ["--write"]:
        shutil.copy(now, RECORDED)
        sys.exit(0)
    found = run("abidiff", "--no-added-syms", RECORDED, now)
    case("programs that were built with the recorded interface run with this one (--write records a change)", found.returncode == 0, found.stdout)
    changes = (("a field that moves", "    const char *ledger; /* NULL: the plan's */\n", "", "release.h"),
               ("a type that changes", "double share, int64_t rows);", "float share, int64_t rows);", "base.h"),
               ("a function that goes", "TAMIS_API int tamis_version_number(void);\n", "", "base.h"))
    for number, (name, old, new, header) in enumerate(changes):
        seen = compared(folder / f"abi{number}", now, with_change(folder / f"include{number}", old, new, header))
        case(f"{name} is found", seen.returncode & 4, seen.stdout + seen.stderr)
    more = with_change(folder / "more", "TAMIS_API int tamis_version_number(void);\n",
                       "TAMIS_API int tamis_version_number(void);\nTAMIS_API int tamis_another(void);\n", "base.h")
    case("a function that is added is none", compared(folder / "abi", now, more).returncode == 0)


with tempfile.TemporaryDirectory() as temporary:
    main(pathlib.Path(temporary))
sys.exit(done())
