#!/usr/bin/python3
"""Charges that were never published, as a user meets them: the process was killed, and the account is charged. What the commands say
then, `tamis ledger void`, and the next run of the same plan, which takes the charge over. And releases that are repeated over data
that have changed."""
import contextlib
import copy
import csv
import hashlib
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

from kit import HERE, INVALID, OK, REFUSED, TAMIS, case, environment, is_usage_error, main, with_memory as tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402
from tap import LONG  # noqa: E402

VALUES = 12  # cells enough for time to be killed


def write_plan(folder, name="plan.yaml", loss="epsilon: 0.1", budget="{epsilon: 0.3}", by="[a, b]"):
    lists = {c: "[" + ", ".join(f"{c}{i}" for i in range(VALUES)) + "]" for c in "ab"}
    (folder / "d.csv").write_text("a,b\n" + "".join(f"a{i % VALUES},b{i * 7 % VALUES}\n" for i in range(200)))
    (folder / name).write_text(
        f"tamis: 1\nsurvey: s\nsource: {{file: d.csv}}\ndesign: {{srs: {{population: 20000, sample: 200}}}}\nprivacy: {{unit: person, {loss}}}\n"
        "columns:\n" + "".join(f"  {c}: {{values: {lists[c]}}}\n" for c in "ab") +
        f"statistics:\n  - {{count: units, by: {by}}}\nledger: s.ledger\nbudget: {budget}\n")


def entries(folder):
    told = json.loads(tamis("ledger", "show", "s.ledger", "--json", cwd=folder).stdout)
    return [entry for account in told["accounts"] for entry in account["entries"]]


class TooLate(Exception):
    """The process had published when it was killed."""


def is_charged(folder, entry):
    if not (folder / f"s.ledger-charge-{entry}").exists():  # made just before
        return False
    with contextlib.closing(sqlite3.connect(f"file:{folder / 's.ledger'}?mode=ro", uri=True)) as ledger:
        return ledger.execute("SELECT count(*) FROM entries WHERE number = ?", (entry,)).fetchone()[0] > 0


def killed(folder, *options, entry=2):
    """A release that is killed after its charge, before the ledger has its numbers."""
    process = subprocess.Popen([TAMIS, "release", "plan.yaml", "--out", "killed", "--engine", "memory", *options], cwd=folder,
                               env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not is_charged(folder, entry):
        time.sleep(0.0005)
    process.kill()
    process.wait()
    if (folder / "killed").exists() or [e["state"] for e in entries(folder) if e["number"] == entry] != ["charged"]:
        raise TooLate


def in_a_folder(function):
    """A case that is begun again, in a new folder, if a process was not killed in time."""
    def again_and_again():
        for _ in range(50):
            with tempfile.TemporaryDirectory() as name:
                try:
                    return function(pathlib.Path(name))
                except TooLate:
                    continue
        raise AssertionError("it was never killed in time")
    return again_and_again


def believed(folder, *names, second=None):
    """By `tamis verify`, by the ledger and by the second verifier, which takes seconds for a rho: then only some of them."""
    for name in names:
        done = tamis("verify", name, cwd=folder)
        assert done.returncode == OK, done.stdout
        if LONG or second is None or name in second:
            assert verifier.verify(folder / name) == [], name
    done = tamis("ledger", "verify", "s.ledger", "--against", *names, cwd=folder)
    assert done.returncode == OK, done.stdout


@in_a_folder
def everybody_says_what_can_be_done(folder):
    write_plan(folder)
    killed(folder)
    assert not any(name.startswith(".killed.") for name in os.listdir(folder))  # nothing was written yet
    shown = " ".join(tamis("ledger", "show", "s.ledger", cwd=folder).stdout.split())
    assert "Entry 2 (plan.yaml, epsilon 0.1) was charged on" in shown and "never published" in shown, shown
    assert "tamis ledger void s.ledger 2 --reason TEXT" in shown and "spent epsilon 0.1 left epsilon 0.2" in shown, shown
    check = " ".join(tamis("check", "plan.yaml", cwd=folder).stdout.split())
    assert "charged before (entry 2) and never published: this one would take over that charge and pay nothing" in check, check
    write_plan(folder, "other.yaml", by="a")
    check = " ".join(tamis("check", "other.yaml", cwd=folder).stdout.split())
    assert "never published" in check and "s.ledger 2 --reason" in check, check
    told = json.loads(tamis("check", "other.yaml", "--json", cwd=folder).stdout)
    assert len(told["unpublished"]) == 1 and "Entry 2" in told["unpublished"][0], told["unpublished"]
    done = tamis("release", "other.yaml", "--out", "other", "--json", cwd=folder)
    assert done.returncode == OK and "Entry 2" in done.stderr and "never published" not in done.stdout, done
    for name in os.listdir(folder / "other"):  # the operator's business is in no file
        assert b"never published" not in (folder / "other" / name).read_bytes(), name
    believed(folder, "other")
    write_plan(folder, "much.yaml", loss="epsilon: 0.2", by="b")
    done = tamis("release", "much.yaml", "--out", "much", cwd=folder)
    assert done.returncode == REFUSED and "tamis ledger void s.ledger 2 --reason TEXT" in done.stderr, done
    assert "epsilon 0.2 would exceed the budget of epsilon 0.3, of which epsilon 0.1 is left" in done.stderr, done


@in_a_folder
def voided(folder):
    write_plan(folder)
    is_usage_error(tamis("ledger", "void", "s.ledger", "2", cwd=folder), "--reason")
    is_usage_error(tamis("ledger", "void", "s.ledger", "two", "--reason", "x", cwd=folder), "not the number of an entry")
    done = tamis("ledger", "void", "s.ledger", "2", "--reason", "x", cwd=folder)
    assert done.returncode == INVALID and not (folder / "s.ledger").exists(), done  # no ledger comes of it
    killed(folder)
    for reason in ("", " ", "\u200b"):
        assert tamis("ledger", "void", "s.ledger", "2", "--reason", reason, cwd=folder).returncode == INVALID
    done = tamis("ledger", "void", "s.ledger", "2", "--reason", 'a "storm"', cwd=folder)
    assert done.returncode == OK and "voided" in done.stdout, done
    assert set(os.listdir(folder)) == {"d.csv", "plan.yaml", "s.ledger"}, os.listdir(folder)
    assert [(e["state"], e["reason"]) for e in entries(folder)] == [("voided", 'a "storm"')]
    rows = list(csv.DictReader(io.StringIO(tamis("ledger", "export", "s.ledger", cwd=folder).stdout)))
    assert [(r["state"], r["reason"], r["released"]) for r in rows] == [("voided", 'a "storm"', "")] and rows[0]["voided"], rows
    shown = " ".join(tamis("ledger", "show", "s.ledger", cwd=folder).stdout.split())
    assert "left epsilon 0.3" in shown and "was voided on" in shown, shown
    done = tamis("ledger", "void", "s.ledger", "2", "--reason", "x", "--json", cwd=folder)
    assert done.returncode == REFUSED and "voided already" in done.stderr, done
    write_plan(folder, "other.yaml")
    other = folder / "other.yaml"
    other.write_text(other.read_text().replace("population: 20000", "population: 30000"))
    done = tamis("release", "other.yaml", "--out", "other", cwd=folder)
    assert done.returncode == REFUSED and "'design' differs" in done.stderr and "nothing was ever released from it" in done.stderr, done
    done = tamis("release", "plan.yaml", "--out", "a", "--json", cwd=folder)  # the first that counts
    assert done.returncode == OK and "New ledger: s.ledger; this release is the first in it: every earlier charge was voided" in done.stderr, done
    assert json.loads(done.stdout)["ledger"]["created"] and json.loads((folder / "a" / "certificate.json").read_text())["ledger"]["created"]
    assert "claim" not in json.loads(done.stdout)["ledger"]
    done = tamis("ledger", "void", "s.ledger", "4", "--reason", "x", cwd=folder)
    assert done.returncode == REFUSED and "released" in done.stderr, done
    believed(folder, "a")
    done = tamis("release", "plan.yaml", "--out", "b", "--again", "--json", cwd=folder)
    assert done.returncode == OK and not json.loads(done.stdout)["ledger"]["created"], done
    believed(folder, "b")
    done = tamis("release", "other.yaml", "--out", "other", cwd=folder)
    assert done.returncode == REFUSED and "fixed 'design'" in done.stderr and "ever" not in done.stderr, done
    for name in "ab":  # what the file by itself may say, the ledger knows better
        certificate = json.loads((folder / name / "certificate.json").read_text())
        forge(folder, certificate, created=not certificate["ledger"]["created"])
        done = tamis("ledger", "verify", "s.ledger", "--against", "forged.json", cwd=folder)
        assert done.returncode == INVALID and "ledger.created" in done.stdout, done.stdout


def forge(folder, certificate, **ledger):
    """forged.json: the certificate with other fields under `ledger`, and the hash that it should have."""
    forged = {**certificate, "ledger": {**certificate["ledger"], **ledger}}
    body = {k: v for k, v in forged.items() if k not in ("guarantee", "hash")}
    forged["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    (folder / "forged.json").write_text(json.dumps(forged))


def claimed(folder, loss, budget):
    """Charges before and after the one that is claimed, one of them voided meanwhile: each certificate is believed, then and later."""
    write_plan(folder, loss=loss, budget=budget, by="b")
    killed(folder)
    write_plan(folder, loss=loss, budget=budget)
    write_plan(folder, "before.yaml", loss=loss, budget=budget, by="a")
    assert tamis("release", "before.yaml", "--out", "before", cwd=folder).returncode == OK
    killed(folder, entry=5)
    assert tamis("ledger", "void", "s.ledger", "2", "--reason", "not needed", cwd=folder).returncode == OK
    write_plan(folder, "after.yaml", loss=loss, budget=budget, by="b")
    assert tamis("release", "after.yaml", "--out", "after", cwd=folder).returncode == OK
    done = tamis("release", "plan.yaml", "--out", "claimed", "--json", cwd=folder)
    assert done.returncode == OK and "nothing more was charged" in done.stderr, done
    released = json.loads(done.stdout)
    assert released["ledger"]["entry"] == 5 and released["ledger"]["claim"] == 9 and not released["ledger"]["repeated"], released["ledger"]
    assert any("nothing more was charged" in w for w in released["warnings"])
    assert [e["state"] for e in entries(folder)] == ["voided", "released", "released", "released"]
    assert not [name for name in os.listdir(folder) if "killed" in name or "-charge-" in name], os.listdir(folder)
    done = tamis("release", "plan.yaml", "--out", "repeated", "--json", "--quiet", cwd=folder)
    again = json.loads(done.stdout)
    assert again["ledger"]["repeated"] and again["ledger"]["claim"] == 9 and again["results"] == released["results"]
    pure = "rho" not in loss + budget
    believed(folder, "before", "after", "claimed", "repeated", second=None if pure else ["claimed"])
    report = " ".join((folder / "claimed" / "report.html").read_text().split())
    assert "nothing more was charged" in report
    certificate = json.loads((folder / "claimed" / "certificate.json").read_text())
    for claim in (None, 5, 8, 10):
        other = copy.deepcopy(certificate)
        del other["ledger"]["claim"]
        forge(folder, other, **({"claim": claim} if claim else {}))
        done = tamis("ledger", "verify", "s.ledger", "--against", "forged.json", cwd=folder)
        assert done.returncode == INVALID and "claim" in done.stdout, (claim, done.stdout)
        if claim == 5:
            assert tamis("verify", "forged.json", cwd=folder).returncode == INVALID
        if claim == 5 and (pure or LONG):
            assert verifier.verify(folder / "forged.json") != []


@in_a_folder
def a_new_account_goes_on_with_the_same_command(folder):
    write_plan(folder, "first.yaml")
    assert tamis("release", "first.yaml", "--out", "first", cwd=folder).returncode == OK
    write_plan(folder)
    plan = folder / "plan.yaml"
    plan.write_text(plan.read_text().replace("survey: s", "survey: t"))
    reason = ("--new-account", "the board approved it")
    assert tamis("release", "plan.yaml", "--out", "killed", cwd=folder).returncode == REFUSED
    killed(folder, *reason, entry=5)
    done = tamis("release", "plan.yaml", "--out", "killed", "--new-account", "another reason", cwd=folder)
    assert done.returncode == INVALID and "would not be recorded" in done.stderr, done
    done = tamis("release", "plan.yaml", "--out", "killed", *reason, cwd=folder)
    assert done.returncode == OK and "nothing more was" in " ".join(done.stdout.split()), done
    assert [e["state"] for e in entries(folder)] == ["released", "released"]
    done = tamis("release", "plan.yaml", "--out", "twice", *reason, cwd=folder)
    assert done.returncode == OK and len(entries(folder)) == 2, done
    believed(folder, "first", "killed", "twice")


@in_a_folder
def a_rollback_is_found_by_certificates_alone(folder):
    """The ledger and the file of its open charge, overwritten in place by what they were before the release."""
    write_plan(folder)
    killed(folder)
    then = {p: p.read_bytes() for p in folder.glob("s.ledger*")}
    assert tamis("release", "plan.yaml", "--out", "a", cwd=folder).returncode == OK
    believed(folder, "a")
    for path in set(folder.glob("s.ledger*")) - set(then):
        path.unlink()
    for path, content in then.items():
        path.write_bytes(content)
    assert tamis("ledger", "void", "s.ledger", "2", "--reason", "x", cwd=folder).returncode == OK
    assert tamis("ledger", "verify", "s.ledger", cwd=folder).returncode == OK
    done = tamis("ledger", "verify", "s.ledger", "--against", "a", cwd=folder)
    assert done.returncode == INVALID and "was voided" in done.stdout, done


@in_a_folder
def changed_data_are_said_to_the_operator_alone(folder):
    write_plan(folder, by="a")
    assert tamis("release", "plan.yaml", "--out", "a", cwd=folder).returncode == OK
    old = time.time() - 3600
    os.utime(folder / "d.csv", (old, old))
    files = {}
    for name in ("same", "changed"):
        done = tamis("release", "plan.yaml", "--out", name, cwd=folder)
        assert done.returncode == OK and done.stdout.startswith("The same release was made before"), done
        assert ("d.csv was changed after" in done.stderr and "--again" in done.stderr) == (name == "changed"), done.stderr
        assert "was changed" not in done.stdout
        files[name] = {f: (folder / name / f).read_bytes() for f in os.listdir(folder / name)}
        (folder / "d.csv").write_text("a,b\n" + "a1,b1\n" * 200)
        os.utime(folder / "d.csv", (old + 7200, old + 7200))
    assert files["same"] == files["changed"]  # not a byte depends on it
    assert b"the data were not read again" in files["same"]["report.html"]
    assert any("the data were not read again" in w for w in json.loads(files["same"]["release.json"])["warnings"])
    done = tamis("release", "plan.yaml", "--out", "fresh", "--again", cwd=folder)
    assert done.returncode == OK and "was changed" not in done.stderr and "not read again" not in done.stdout, done
    believed(folder, "a", "same", "fresh")


@in_a_folder
def a_copy_that_keeps_its_date_is_noticed(folder):
    write_plan(folder, by="a")
    assert tamis("release", "plan.yaml", "--out", "a", cwd=folder).returncode == OK
    assert "put in place" not in tamis("release", "plan.yaml", "--out", "b", cwd=folder).stderr
    time.sleep(1.1)  # the ledger's times are in seconds
    (folder / "new.csv").write_text("a,b\n" + "a1,b1\n" * 200)
    old = time.time() - 3600
    os.utime(folder / "new.csv", (old, old))
    os.replace(folder / "new.csv", folder / "d.csv")
    done = tamis("release", "plan.yaml", "--out", "c", cwd=folder)
    assert done.returncode == OK and "d.csv was put in place" in done.stderr and "--again" in done.stderr, done
    assert "was changed after" not in done.stderr and "put in place" not in done.stdout, done


case(everybody_says_what_can_be_done, "everybody says what can be done")
case(voided, "voided")
case(a_new_account_goes_on_with_the_same_command, "a new account goes on with the same command")
case(a_rollback_is_found_by_certificates_alone, "a rollback is found by certificates alone")
ACCOUNTS = [("epsilon: 0.1", "{epsilon: 0.6}"), ("rho: 0.001", "{epsilon: 2, delta: 1e-6}"), ("epsilon: 0.1", "{rho: 1}")]
for LOSS, BUDGET in ACCOUNTS if LONG else ACCOUNTS[:2]:
    case(in_a_folder(lambda folder, l=LOSS, b=BUDGET: claimed(folder, l, b)), f"claimed: {LOSS} in an account of {BUDGET}")
case(changed_data_are_said_to_the_operator_alone, "changed data are said to the operator alone")
case(a_copy_that_keeps_its_date_is_noticed, "a copy that keeps its date is noticed")
main()
