"""The public interface, function by function: tests/house/symbols.txt lists what the shared library exports. A function that
appears, disappears or changes its name is a decision, and shows in a commit as a changed line of that list.

    python3 tests/house/symbols.py --write    rewrites the list from the library (after scripts/build release)
"""
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

LIBRARY = TOP / "build" / "release" / "libtamis.so"
LIST = TOP / "tests" / "house" / "symbols.txt"


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(line.split()[-1] for line in lines)


if sys.argv[1:] == ["--write"]:
    LIST.write_text("".join(f"{name}\n" for name in exported(LIBRARY)))
    sys.exit(0)
found, listed = exported(LIBRARY), LIST.read_text().split()
case("the list is sorted and names nothing twice", listed == sorted(set(listed)))
case("the library exports what the list names", found == listed,
     "\n".join([*(f"not in tests/house/symbols.txt: {name}" for name in sorted(set(found) - set(listed))),
                *(f"not in the library: {name}" for name in sorted(set(listed) - set(found)))]))
sys.exit(done())
