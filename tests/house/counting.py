"""The counting of cases: a program that lies, crashes or stops early never counts as passed; .ci/run ends as it should."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import case, done  # noqa: E402

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("counted", str(TOP / "scripts" / "test"))
counted = importlib.util.module_from_spec(importlib.util.spec_from_loader("counted", loader))
loader.exec_module(counted)

# What a program printed and its exit code; then passed, failed, skipped.
CASES = [
    ("all is well", "1..2\nok 1 - a\nok 2 - b\n", 0, (2, 0, 0)),
    ("the plan comes last", "ok 1 - a\nok 2 - b\n1..2\n", 0, (2, 0, 0)),
    ("one fails", "1..2\nok 1 - a\nnot ok 2 - b\n", 1, (1, 1, 0)),
    ("one fails, the exit code hides it", "1..2\nok 1 - a\nnot ok 2 - b\n", 0, (1, 1, 0)),
    ("one is skipped", "1..2\nok 1 - a\nok 2 - b # SKIP no locale\n", 0, (1, 0, 1)),
    ("one says that it is skipped", "1..2\nok 1 - a\n# SKIP b: no disk\nok 2 - b\n", 0, (1, 0, 1)),
    ("it says so and fails", "1..2\nok 1 - a\n# SKIP b: no disk\nnot ok 2 - b\n", 1, (1, 1, 0)),
    ("one fails and calls it skipped", "1..2\nok 1 - a\nnot ok 2 # SKIP b\n", 0, (1, 1, 0)),
    ("it stops early", "1..3\nok 1 - a\nok 2 - b\n", 0, (2, 1, 0)),
    ("it crashes after the last case", "1..1\nok 1 - a\n", -11, (1, 1, 0)),
    ("it prints nothing", "", 0, (0, 1, 0)),
    ("it has no plan", "ok 1 - a\n", 0, (1, 1, 0)),
    ("it promises nothing", "1..0\n", 0, (0, 1, 0)),
    ("other words are no cases", "1..1\nokay\nnot okay\n# ok\nok 1 - a\n", 0, (1, 0, 0)),
]
for name, printed, code, expected in CASES:
    count = counted.Count()
    good = count.add_tap("program", printed, code)
    got = (count.passed, len(count.failed), len(count.skipped))
    case(name, got == expected and good == (expected[1] == 0), f"{got} instead of {expected}")

# .ci/run, with a make that only says how it went.
for name, make, last, code in [
        ("ci ends with the count", "echo 3 passed, 0 failed", "3 passed, 0 failed", 0),
        ("also if make speaks after it", "echo 2 passed, 1 failed; echo 'make: error' >&2; exit 2", "2 passed, 1 failed", 2),
        ("also if nothing ran", "echo 'make: error' >&2; exit 2", "0 passed, 1 failed", 2)]:
    with tempfile.TemporaryDirectory() as folder:
        fake = pathlib.Path(folder, "make")
        fake.write_text(f"#!/bin/sh\n{make}\n")
        fake.chmod(0o755)
        ran = subprocess.run([TOP / ".ci" / "run"], capture_output=True, text=True, env={"PATH": f"{folder}:/usr/bin:/bin"})
        case(name, ran.stdout.splitlines()[-1:] == [last] and ran.returncode == code, ran.stdout + ran.stderr)
sys.exit(done())
