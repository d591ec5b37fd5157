#!/usr/bin/python3
"""A certificate of every design: tamis verify and tests/verifier.py both believe it, and both find a number that was changed,
also where the hash was made anew."""
import copy
import hashlib
import json
import pathlib
import sys
import tempfile

from kinds import KINDS, write
from kit import HERE, INVALID, OK, case, main, with_memory as tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402
from tap import LONG  # noqa: E402


def leaves(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path, value
    for key, inner in items or ():
        yield from leaves(inner, path + (key,))


def resigned(certificate, path, value):
    c = copy.deepcopy(certificate)
    at = c
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    body = {k: v for k, v in c.items() if k not in ("guarantee", "hash")}
    c["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return c


def better(certificate, path, value):
    """A change that would promise more than was kept: less sensitivity, less noise, less loss, rarer units; None: no such thing."""
    key = path[-1]
    if path[0] == "measurements":
        if key in ("sensitivity", "groups", "strata") and value > 1:
            return value - 1
        if key == "clamp" and value > 1 and path[-2] != "noise":
            return value - 1
        if key in ("sensitivity_l2_squared", "scale", "row_adds_at_most"):
            return str(verifier.Fraction(value) / 2)
        if key in ("epsilon", "rho"):
            return str(verifier.Fraction(value) * 2)
        if key == "table_moves":
            return value - 1
        if key == "shift":
            return value + 1
        if key == "form":
            return "raw" if value != "raw" else "centred"
    if path[0] == "guarantee" and key == "upper":
        return value * 0.99 if value > 0 else None
    if path[0] == "amplification" and key == "epsilon":
        return str(verifier.Fraction(value) * verifier.Fraction(99, 100))
    if path[0] == "sampling" and key in ("largest_point", "largest_point_in_totals"):
        return value - 1
    if path[0] == "psus" and key != "sha256":
        return value + 1
    if path[0] == "composition" and key in ("epsilon", "rho"):
        return str(verifier.Fraction(value) / 2)
    if path[0] == "frame" and key == "certain" and certificate["guarantee"]["outsider"]:
        return value + 1
    if path[0] == "account" and path[1] == "after" and value != "0":
        return str(verifier.Fraction(value) / 2)
    return None


def each(name, kind, place_of_kind):
    """Thinly: every third promise, of the next kind those beside."""
    def both_verifiers_agree():
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            write(folder, *kind)
            done = tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder)
            assert done.returncode == OK, done.stderr
            file = folder / "out" / "certificate.json"
            certificate = json.loads(file.read_text())
            done = tamis("verify", folder / "out", "--json")
            assert done.returncode == OK and set(json.loads(done.stdout)["files"].values()) == {"match"}, done.stdout
            assert json.loads(done.stdout)["frame"] == ("match" if "frame" in certificate else None), done.stdout
            assert verifier.verify(folder / "out") == [], verifier.verify(folder / "out")
            done = tamis("ledger", "verify", *folder.glob("*.ledger"), "--against", folder / "out")
            assert done.returncode == OK, done.stdout + done.stderr
            measured = any(m["weighed_by"] == "psus" for m in certificate["measurements"])
            assert measured == ("psu_strata" in certificate["sampling"]) and (measured or "cluster" not in name)
            assert (certificate["guarantee"]["outsider"] is None) == ("reason" in certificate["amplification"])
            tried = 0
            for path, value in leaves(certificate):
                wish = better(certificate, path, value)
                if wish is None or wish == value:
                    continue
                turn, tried = tried + place_of_kind, tried + 1
                if turn % 3 and not LONG:
                    continue
                file.write_text(json.dumps(resigned(certificate, path, wish)))
                assert verifier.verify(file) != [], (path, value, wish)
                if turn % 7 == 0:
                    done = tamis("verify", file, "--json")
                    assert done.returncode == INVALID, (path, value, wish, done.stdout)
            assert tried >= 10, tried

    case(both_verifiers_agree, f"{name}: both verifiers believe it, and no better promise")


def no_better_standard_errors():
    """A smaller divisor, a larger shift or other blocks than the noisy tables give would let a record move more than it says. The range
    of coefficients follows from the noisy tables, which the Python verifier does not read."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        write(folder, *KINDS["weights, many clusters"])
        assert tamis("release", "plan.yaml", "--quiet", "--out", "out", cwd=folder).returncode == OK
        file, numbers = folder / "out" / "certificate.json", folder / "out" / "measurements.json"
        certificate, told = json.loads(file.read_text()), json.loads(numbers.read_text())
        for i in range(len(told["standard_errors"])):
            for key, value in (("divisor", lambda t: t["divisor"] - 1), ("shift", lambda t: t["shift"] - 1), ("blocks", lambda t: 3 * t["blocks"]),
                               ("range", lambda t: t["range"] - 1)):
                forged = copy.deepcopy(told)
                forged["standard_errors"][i]["numbers"][0][key] = value(forged["standard_errors"][i]["numbers"][0])
                numbers.write_text(json.dumps(forged))
                hashed = hashlib.sha256(numbers.read_bytes()).hexdigest()
                file.write_text(json.dumps(resigned(certificate, ("files", "measurements.json"), hashed)))
                assert key == "range" or any("standard_errors" in problem for problem in verifier.verify(folder / "out")), (i, key)
                done = tamis("verify", folder / "out", "--json")
                assert done.returncode == INVALID and "standard_errors" in done.stdout, done.stdout


case(no_better_standard_errors)


def errors_of_statistics_with_one_name():
    """Two histograms of a column have one name and other cuts: each has its own standard errors, and so has another plan."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        write(folder, *KINDS["weights, many clusters"])
        plan = (folder / "plan.yaml").read_text().replace("epsilon: 1", "epsilon: 4").replace("{epsilon: 3}", "{epsilon: 100}")
        hashes = []
        for i, second in enumerate(("[2, 4]", "[2, 4]", "[1, 5]")):
            (folder / "plan.yaml").write_text(plan.replace("  - total: x\n", f"  - {{histogram: x, cuts: [1, 3]}}\n  - {{histogram: x, cuts: {second}}}\n"))
            done = tamis("release", "plan.yaml", "--quiet", "--out", f"out{i}", cwd=folder)
            assert done.returncode == OK, done.stderr
            said = json.loads((folder / f"out{i}" / "measurements.json").read_text())["standard_errors"]
            assert sum("histogram" in s["of"] for s in said) == 2, said
            assert tamis("verify", folder / f"out{i}").returncode == OK
            assert verifier.verify(folder / f"out{i}") == []
            hashes.append(hashlib.sha256((folder / f"out{i}" / "measurements.json").read_bytes()).hexdigest())
        assert hashes[0] == hashes[1] != hashes[2], "the second time it is the same release, with other cuts it is not"


case(errors_of_statistics_with_one_name)

for place_of_kind, (name, kind) in enumerate(KINDS.items()):
    each(name, kind, place_of_kind)


main()
