"""What the attacks share: two neighbouring files, and the loss that an attacker can see between them.

The loss is measured, not taken from the program's word. The same plan is run on both files by a program with the same noise in
every run (as tests/cli/golden.py does), so that the noisy integers are as far apart as the sums; in units of the scale of their noise
that is what Laplace noise lets an attacker learn. It may not be above epsilon, whatever the record that was exchanged."""
import functools
import json
import pathlib
import re
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from kit import *  # noqa: E402, F403

LOUD = 10**5  # times epsilon: hardly any noise is left; an account takes no more than 10^6


def write(folder, plan, rows):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    pathlib.Path(folder, "plan.yaml").write_text(plan)
    data = rows if isinstance(rows, bytes) else ("\n".join(rows) + "\n").encode()
    pathlib.Path(folder, "data.csv").write_bytes(data)


FIXED = str(pathlib.Path(TAMIS).parents[1] / "tests" / "cli" / "tamis-with-fixed-noise")


def release(folder, *more, fixed=False):
    """The results, and the table of noisy integers by name."""
    done = subprocess.run([FIXED if fixed else program("release"), "release", "plan.yaml", "--json", "--quiet", "--out", "out", *more], cwd=folder, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, env=environment(), timeout=300)
    assert done.returncode == OK, (done.returncode, done.stderr)
    told = json.loads(pathlib.Path(folder, "out", "measurements.json").read_text())["measurements"]
    return json.loads(done.stdout), {m["name"]: m for m in told}


def epsilon_of(plan):
    return Fraction(re.search(r"epsilon: ([\d./]+)", plan)[1])


def loud(plan):
    return re.sub(r"epsilon: ([\d./]+)", lambda m: f"epsilon: {Fraction(m[1]) * LOUD}", plan)


def scales(measurement):
    """The scale of each number; strata have one each, in the order of the numbers."""
    laws = [Fraction(law["scale"]) for law in measurement["noise"]]
    each = len(measurement["values"]) // len(laws)
    return [scale for scale in laws for _ in range(each)]


@functools.cache
def tables(plan, rows):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, plan, rows)
        return release(folder, fixed=True)[1]


def apart(a, b):
    """Sum over all noisy integers of |difference| / scale: exactly the loss of Laplace noise in the worst output."""
    assert set(a) == set(b) and all(m["noise"] == b[name]["noise"] and len(m["values"]) == len(b[name]["values"]) for name, m in a.items())
    return sum(abs(x - y) / scale for name, m in a.items() for x, y, scale in zip(m["values"], b[name]["values"], scales(m)))


def loss(plan, rows, neighbour):
    return apart(tables(plan, tuple(rows)), tables(plan, tuple(neighbour)))


def within(plan, rows, neighbour):
    seen, allowed = loss(plan, rows, neighbour), epsilon_of(plan)
    assert seen <= allowed, (float(seen), float(allowed))
    return float(seen / allowed)
