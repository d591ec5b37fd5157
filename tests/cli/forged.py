#!/usr/bin/python3
"""Forgeries: files that are right each by themselves, put together or edited so that they promise more than was kept. Each is
shown to `tamis verify`, to tests/verifier.py and, where the ledger knows better, to `tamis ledger verify --against`."""
import copy
import hashlib
import json
import pathlib
import shutil
import sys
import tempfile

from kit import HERE, INVALID, OK, case, main, tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

PLAN = """tamis: 1
survey: s
source: {{file: sample.csv}}
design: {{srs: {{population: 100, sample: 24}}}}
privacy: {{unit: person, epsilon: {epsilon}}}
columns:
  x: {{from: -2, to: 6, step: 1}}
  g: {{values: [a, b]}}
statistics:
  - total: x
  - {{mean: x, by: g}}
budget: {{epsilon: 3}}
ledger: {ledger}
"""


def hashed(certificate):
    """The certificate with the hash that it should have."""
    body = {k: v for k, v in certificate.items() if k not in ("guarantee", "hash")}
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return {**certificate, "hash": hashlib.sha256(text.encode()).hexdigest()}


def release(folder, name, *options, epsilon="1", ledger="tamis.ledger"):
    (folder / "sample.csv").write_text("x,g\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(24)))
    (folder / f"{name}.yaml").write_text(PLAN.format(epsilon=epsilon, ledger=ledger))
    done = tamis("release", f"{name}.yaml", "--quiet", "--out", name, *options, cwd=folder)
    assert done.returncode == OK, done.stderr
    return folder / name


def read(folder, name="certificate.json"):
    return json.loads((folder / name).read_text())


def write(folder, certificate):
    (folder / "certificate.json").write_text(json.dumps(hashed(certificate)))


def problems(place):
    """What `tamis verify` finds: fields and messages."""
    done = tamis("verify", place, "--json")
    assert done.returncode in (OK, INVALID), done.stderr
    found = json.loads(done.stdout)
    assert found["ok"] == (done.returncode == OK) == (found["problems"] == []), done.stdout
    return found["problems"]


def against(folder, *places):
    done = tamis("ledger", "verify", folder / "tamis.ledger", "--against", *places, "--json")
    assert done.returncode in (OK, INVALID), done.stderr
    return json.loads(done.stdout)["problems"]


class place(tempfile.TemporaryDirectory):
    def __enter__(self):
        return pathlib.Path(super().__enter__())


def cheap(folder):
    """A genuine release at epsilon 1, and its certificate replaced by that of the same plan at epsilon 1/100, with the `ledger` and
    the `files` of the genuine one."""
    genuine = release(folder, "genuine")
    other = release(folder, "other", epsilon="1/100", ledger="other.ledger")
    forged = read(other)
    for key in ("ledger", "files"):
        forged[key] = read(genuine)[key]
    shutil.copytree(genuine, folder / "forged")
    write(folder / "forged", forged)
    return folder / "forged"


@case
def a_cheaper_certificate_over_the_same_numbers_is_found():
    with place() as folder:
        forged = cheap(folder)
        genuine = folder / "genuine"
        assert problems(genuine) == [] and problems(genuine / "certificate.json") == []
        assert verifier.verify(genuine / "certificate.json") == [] and against(folder, genuine / "certificate.json") == []
        for where in (forged, forged / "certificate.json"):
            fields = [p["field"] for p in problems(where)]
            assert any(f.startswith("measurements.json.measurements[0].epsilon") for f in fields), fields
            assert any(f.startswith("measurements.json.measurements[0].noise[0].scale") for f in fields), fields
            assert any("measurements.json" in p for p in verifier.verify(where)), verifier.verify(where)


@case
def the_ledger_does_not_know_a_cheaper_certificate():
    with place() as folder:
        forged = cheap(folder)
        found = against(folder, forged / "certificate.json")
        assert any("charge" in p["message"] for p in found), found
        assert any("measures" in p["message"] for p in found), found
        certificate = read(folder / "genuine")
        certificate["files"]["measurements.json"] = "0" * 64
        write(forged, certificate)
        found = against(folder, forged / "certificate.json")
        assert [p["field"].rsplit(": ", 1)[1] for p in found] == ["files.measurements.json"], found


main()
