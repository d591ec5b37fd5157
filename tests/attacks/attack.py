"""What the attacks share: two neighbouring files, and the loss that an attacker can see between them.

The loss is measured, not taken from the program's word. The same plan is run on both files with so large a budget that the
noisy integers are the sums themselves; how far they are apart, in units of the noise that the plan as it stands would add,
is what Laplace noise lets an attacker learn. It may not be above epsilon, whatever the record that was exchanged."""
import functools
import json
import pathlib
import re
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from kit import *  # noqa: E402, F403

LOUD = 10**5  # times epsilon: what is left of the noise is lost below; an account takes no more than 10^6


def write(folder, plan, rows):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    pathlib.Path(folder, "plan.yaml").write_text(plan)
    data = rows if isinstance(rows, bytes) else ("\n".join(rows) + "\n").encode()
    pathlib.Path(folder, "data.csv").write_bytes(data)


def release(folder, *more):
    """The results, and the table of noisy integers by name."""
    done = tamis("release", "plan.yaml", "--json", "--quiet", "--out", "out", *more, cwd=folder)
    assert done.returncode == OK, (done.returncode, done.stderr)
    told = json.loads(pathlib.Path(folder, "out", "measurements.json").read_text())["measurements"]
    return json.loads(done.stdout), {m["name"]: m for m in told}


def epsilon_of(plan):
    return Fraction(re.search(r"epsilon: ([\d./]+)", plan)[1])


def loud(plan):
    return re.sub(r"epsilon: ([\d./]+)", lambda m: f"epsilon: {Fraction(m[1]) * LOUD}", plan)


def scales(measurement):
    """The scale of each cell; strata have one each, in the order of the cells."""
    laws = [Fraction(law["scale"]) for law in measurement["noise"]]
    each = len(measurement["values"]) // len(laws)
    return [scale for scale in laws for _ in range(each)]


@functools.cache
def tables(plan, rows):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, plan, rows)
        return release(folder)[1]


def loss(plan, rows, neighbour):
    """Sum over all noisy integers of |difference| / scale: exactly the loss of Laplace noise in the worst output."""
    quiet, a, b = tables(plan, tuple(rows)), tables(loud(plan), tuple(rows)), tables(loud(plan), tuple(neighbour))
    total = Fraction(0)
    for name, m in quiet.items():
        for i, scale in enumerate(scales(m)):
            total += abs(a[name]["values"][i]["value"] - b[name]["values"][i]["value"]) / scale
    return float(total)


def within(plan, rows, neighbour):
    """The loss is at most epsilon, but for what is left of the noise: 10^-3 of it in less than one of 10^9 runs."""
    seen, allowed = loss(plan, rows, neighbour), float(epsilon_of(plan))
    assert seen <= allowed * (1 + 1e-3), (seen, allowed)
    return seen / allowed
