"""Mutants are about the tree as it is: each planted bug finds its text once; files and tests that tests/mutants/auto names are there, and
so are the lines that auto_equivalent.txt and auto_surviving.txt say something about. Whoever moves a file or changes such a line looks
again."""
import importlib.machinery
import importlib.util
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

sys.dont_write_bytecode = True


def script(name):
    loader = importlib.machinery.SourceFileLoader(f"mutants_{name}", str(TOP / "tests" / "mutants" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


auto, planted = script("auto"), script("run")


def fault(mutant):
    try:
        mutant.text()
    except planted.Broken as reason:
        return str(reason)


faults = list(filter(None, map(fault, planted.read_list())))
case("planted bugs find their text", not faults, "\n".join(faults))

for name, size, files, specs in auto.PATH:
    gone = [f for f in files if not (TOP / f).exists()]
    case(f"the files of {name} are there", not gone, "\n".join(gone))
    programs = [TOP / "tests" / spec.partition(":")[0] for spec in specs]
    gone = [str(p) for p in programs if not p.with_suffix(".c").exists() and not p.with_suffix(".py").exists()]
    case(f"the tests of {name} are there", not gone, "\n".join(gone))
stale = auto.stale_entries({**auto.read_reasons("auto_equivalent.txt"), **auto.read_reasons("auto_surviving.txt")})
case("the lines of the lists are there", not stale, "\n".join(stale))
sys.exit(done())
