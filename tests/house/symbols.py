"""The public interface, function by function. src/tamis.map lists what the shared library exports, with its version: TAMIS_0 for the
stable headers, which <tamis/tamis.h> includes, and TAMIS_EXPERIMENTAL for those in tamis/experimental. A function that appears,
disappears, changes its name or its promise is a decision, and shows in a commit as a changed line of that list.

    python3 tests/house/symbols.py --write    rewrites the list from the headers
"""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

LIBRARY = TOP / "build" / "release" / "libtamis.so"
LIST = TOP / "src" / "tamis.map"
HEADERS = TOP / "include" / "tamis"


def declared(folder):
    """The functions of the headers in a folder."""
    return sorted(name for header in folder.glob("*.h")
                  for name in re.findall(r"^TAMIS_(?:API|USE) [^;(]*?\b(tamis_\w+)\(", header.read_text(), re.M))


def as_map(stable, experimental):
    return "\n".join([
        "/* What the shared library exports: tests/house/symbols.py writes this list from the headers, and compares it with the library. */",
        "TAMIS_0 {", "global:", *(f"    {name};" for name in stable), "local:", "    *;", "};",
        "TAMIS_EXPERIMENTAL {", "global:", *(f"    {name};" for name in experimental), "};", ""])


def exported():
    lines = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return sorted(line.split()[-1].replace("@@", " ") for line in lines if " A " not in line)


def linked():
    """The libraries that the dynamic linker loads with ours."""
    lines = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line]


stable, experimental = declared(HEADERS), declared(HEADERS / "experimental")
if sys.argv[1:] == ["--write"]:
    LIST.write_text(as_map(stable, experimental))
    sys.exit(0)
case("no function is declared twice", len(set(stable + experimental)) == len(stable + experimental))
case("the list names what the headers declare (--write renews it)", LIST.read_text() == as_map(stable, experimental))
found = exported()
listed = sorted([f"{name} TAMIS_0" for name in stable] + [f"{name} TAMIS_EXPERIMENTAL" for name in experimental])
case("the library exports what the list names, with these versions", found == listed,
     "\n".join([*(f"not in the list: {name}" for name in sorted(set(found) - set(listed))),
                *(f"not in the library: {name}" for name in sorted(set(listed) - set(found)))]))
umbrellas = {HEADERS / "tamis.h": HEADERS, HEADERS / "experimental.h": HEADERS / "experimental"}
for umbrella, folder in umbrellas.items():
    own = {f"tamis/{p.relative_to(HEADERS)}" for p in folder.glob("*.h") if p not in umbrellas}
    named = set(re.findall(r"#include <(.*)>", umbrella.read_text()))
    case(f"{umbrella.name} includes every header of its kind", own <= named and named - own <= {"tamis/tamis.h"}, " ".join(own ^ named))
mixed = [header.name for header in HEADERS.glob("*.h") if header not in umbrellas and "tamis/experimental" in
         "".join(line for line in header.read_text().splitlines(True) if line.startswith("#include"))]
case("no stable header includes an experimental one", not mixed, " ".join(mixed))
case("libraries that are loaded when used are not linked", not [name for name in linked() if re.match(r"lib(pq|readstat|duckdb)\.", name)],
     " ".join(linked()))
needed = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
case("hypot is not called, which would need glibc 2.35: base/hypotenuse.h has another", not re.search(r" U hypot\b", needed))
sys.exit(done())
