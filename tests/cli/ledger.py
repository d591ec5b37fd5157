"""tamis ledger: show, verify, export, on ledgers that were written by other means."""
import csv
import io
import json
import math
import sqlite3
from fractions import Fraction

from book import NOISY, SRS, TABLE, Book, schools, sha256
from kit import *

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402


class ledger(tempfile.TemporaryDirectory):
    """A folder with schools.ledger; gives the path."""

    def __init__(self, write=schools):
        super().__init__()
        self.write = write

    def __enter__(self):
        path = pathlib.Path(super().__enter__()) / "schools.ledger"
        self.book = self.write(path)
        return path


def json_of(*arguments):
    done = tamis("ledger", *arguments, "--json")
    assert done.returncode == OK and done.stderr == "", (done.returncode, done.stderr)
    return json.loads(done.stdout)


def exactly(x):
    return {"lower": x, "upper": x}


@case
def another_ledger_than_the_plans():
    """--ledger, relative to the current folder; `existing: yes` holds for it too, and the plan's own is not touched."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "plans")
        place.mkdir()
        shutil.copy(API / "apisrs.csv", place)
        (place / "plan.yaml").write_text((API / "plan.yaml").read_text())
        done = with_memory("release", "plans/plan.yaml", "--ledger", "other.ledger", cwd=folder)
        assert done.returncode == OK and sorted(p.name for p in pathlib.Path(folder).rglob("*.ledger")) == ["other.ledger"], done
        left = lambda *more: json.loads(tamis("check", "plans/plan.yaml", "--json", *more, cwd=folder).stdout)["left"]
        assert left() != left("--ledger", "other.ledger")
        (place / "plan.yaml").write_text((API / "plan.yaml").read_text() + "ledger: {file: gone.ledger, existing: yes}\n")
        refused = tamis("check", "plans/plan.yaml", "--ledger", "none.ledger", cwd=folder)
        assert refused.returncode == REFUSED and "existing: yes" in refused.stderr and "none.ledger" in refused.stderr, refused
        assert tamis("check", "plans/plan.yaml", "--ledger", "other.ledger", cwd=folder).returncode == OK
        is_usage_error(tamis("check", "plans/plan.yaml", "--ledger", cwd=folder), "--ledger")


@case
def show_gives_what_the_contract_says():
    with ledger() as path:
        shown = json_of("show", path)
    assert set(shown) == {"accounts"} and len(shown["accounts"]) == 1
    a = shown["accounts"][0]
    assert a["survey"] == "california-schools-2000"
    assert a["budget"] == {"epsilon": exactly(4), "delta": exactly(0)}
    assert a["spent"] == {"epsilon": exactly(1.5), "delta": exactly(0)}
    assert a["left"] == {"epsilon": exactly(2.5), "delta": exactly(0)}
    assert a["sample"] == a["spent"]
    eps = math.log1p(200 / 6194 * math.expm1(1.5))  # composed first, amplified once
    assert a["outsider"]["epsilon"]["lower"] <= eps * (1 + 1e-12) and a["outsider"]["epsilon"]["upper"] >= eps * (1 - 1e-12)
    assert a["outsider"]["epsilon"]["upper"] - a["outsider"]["epsilon"]["lower"] < 1e-9
    assert [set(e) for e in a["entries"]] == [{"number", "time", "release", "state", "charge", "shown", "hash"}] * 2
    assert [e["shown"]["charge"] for e in a["entries"]] == ["epsilon 1", "epsilon 0.5"]
    assert a["shown"] == {"budget": "epsilon 4", "spent": "epsilon 1.5", "left": "epsilon 2.5", "sample": "epsilon 1.5", "outsider": "epsilon 0.107"}
    assert [(e["number"], e["time"], e["release"], e["state"]) for e in a["entries"]] == \
        [(2, "2026-11-16T10:00:02Z", "plan.yaml", "released"), (4, "2026-11-16T10:00:04Z", "second.yaml", "charged")]
    assert a["entries"][1]["charge"] == {"epsilon": exactly(0.5), "delta": exactly(0)}
    assert len(a["entries"][0]["hash"]) == 64


@case
def show_for_people():
    with ledger() as path:
        done = tamis("ledger", "show", path)
    assert done.returncode == OK and done.stderr == ""
    for words in ("california-schools-2000", "budget          epsilon 4", "spent           epsilon 1.5", "left            epsilon 2.5",
                  "sampled school  epsilon 1.5", "outsider        epsilon 0.106", "second.yaml", "charged", "epsilon 0.5"):
        assert words in done.stdout, (words, done.stdout)


@case
def the_unit_is_that_of_the_plan():
    def write(path):
        book = Book(path)
        book.account("a", {"epsilon": "1"}, unit="agricultural holding")
        book.account("b", {"epsilon": "1"}, unit=4)
        book.account("c", {"epsilon": "1"}, unit="\u4e16\u5e2f\u4e16\u5e2f\u4e16")  # each takes two columns
        book.account("d", {"epsilon": "1"}, unit="long " * 8 + "unit")
        book.close()
    with ledger(write) as path:
        shown = tamis("ledger", "show", path).stdout
    assert "  budget                       epsilon 1\n" in shown, shown
    assert "  sampled agricultural holding epsilon 0\n" in shown, shown
    assert "  sampled unit    epsilon 0\n" in shown, shown
    assert "  sampled \u4e16\u5e2f\u4e16\u5e2f\u4e16 epsilon 0\n  outsider           no number" in shown, shown
    assert f"  budget          epsilon 1\n  spent           epsilon 0\n  left            epsilon 1\n  sampled {'long ' * 8}unit epsilon 0\n" in shown, shown


@case
def no_outsider_number_without_a_design():
    def write(path):
        book = Book(path)
        book.account("a", {"epsilon": "1"}, outsider="the sample is not secret")
        book.account("b", {"epsilon": "1"})
        book.account("c", {"epsilon": "1"}, outsider={"design": {"pps": {"method": "brewer", "probabilities": ["1/2", "1/3", "2/3", "1/2"]}}})
        book.account("d", {"epsilon": "1"}, outsider={"design": {"of a later version": 1}})
        book.close()
    with ledger(write) as path:
        accounts = json_of("show", path)["accounts"]
        text = tamis("ledger", "show", path).stdout
    assert [a["outsider"] for a in accounts] == [None] * 4
    assert accounts[0]["outsider_reason"] == "the sample is not secret" and "no number: the sample is not secret" in text
    assert all(a["outsider_reason"] for a in accounts)


@case
def accounts_of_rho_are_told_in_epsilon_at_a_delta():
    def write(path):
        book = Book(path)
        book.account("a", {"rho": "1/2"}, outsider={"design": SRS})
        book.charge("a", {"rho": "1/10"})
        book.charge("a", {"epsilon": "1/5"})
        book.close()
    with ledger(write) as path:
        usual, other = json_of("show", path)["accounts"][0], json_of("show", path, "--delta", "1e-5")["accounts"][0]
        is_usage_error(tamis("ledger", "show", path, "--delta", "x"), "--delta")
        assert tamis("ledger", "show", path, "--delta", "2").returncode == INVALID
    assert set(usual["spent"]) == {"rho"} == set(usual["left"]) == set(usual["budget"])
    assert usual["spent"]["rho"]["lower"] <= 0.12 <= usual["spent"]["rho"]["upper"]
    assert usual["sample"]["delta"]["upper"] <= 1.0000000000000002e-9 and usual["sample"]["epsilon"]["upper"] > other["sample"]["epsilon"]["upper"] > 1
    assert usual["outsider"]["delta"]["upper"] < usual["sample"]["delta"]["upper"]


@case
def rhos_in_an_account_of_epsilon_and_delta():
    def write(path):
        book = Book(path)
        book.account("a", {"epsilon": "4", "delta": "1/1000000"})
        book.charge("a", {"epsilon": "1", "delta": "1/2000000"})
        book.charge("a", {"rho": "1/20"})
        book.close()
    with ledger(write) as path:
        a = json_of("show", path)["accounts"][0]
        text = tamis("ledger", "show", path).stdout
    assert set(a["spent"]) == {"epsilon", "delta", "rho"} and a["sample"]["epsilon"] == a["spent"]["epsilon"]
    assert 2 < a["spent"]["epsilon"]["upper"] < 3 and a["left"]["delta"] == exactly(0) and a["left"]["rho"]["lower"] > 0.05
    assert "rho 0.05" in text


@case
def what_was_booked_before_counts_as_it_was_booked():
    """An account of rho from before epsilons were booked with the rho of their own measurements: its entry, and the certificate, count
    as epsilon^2/2; the next release counts by its own shifts. One record leaves a cell and enters another, by at most 10,000 steps
    each, at epsilon 1/2: 2 (x + e^-x - 1) with x = 1/4."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("people.ledger", "first.json", "second.yaml", "rows.csv"):
            shutil.copy(TOP / "tests" / "data" / "accounts" / name, folder)
        assert tamis("verify", "first.json", cwd=folder).returncode == OK and verifier.verify(folder / "first.json") == []
        assert tamis("ledger", "verify", "people.ledger", "--against", "first.json", cwd=folder).returncode == OK
        assert json_of("show", folder / "people.ledger")["accounts"][0]["spent"] == {"rho": exactly(0.5)}
        done = with_memory("release", "second.yaml", "--quiet", "--out", "out", cwd=folder)
        assert done.returncode == OK, done.stderr
        own = 2 * (0.25 + math.exp(-0.25) - 1)
        account = json_of("show", folder / "people.ledger")["accounts"][0]
        assert own < account["spent"]["rho"]["upper"] - 0.5 < own * (1 + 1e-6), account["spent"]
        certificate = json.loads((folder / "out" / "certificate.json").read_text())
        assert certificate["account"]["before"]["rho"] == "1/2" and "counted_as_rho" in certificate["account"]
        assert "counted as rho 0.0576015661" in tamis("ledger", "show", folder / "people.ledger").stdout
        entry = json.loads(json_of("export", folder / "people.ledger")["entries"][3]["entry"])
        assert entry["amount"] == {"epsilon": "1/2", "rho": certificate["account"]["counted_as_rho"]}, entry
        for said in ("first.json", "out"):
            assert tamis("ledger", "verify", "people.ledger", "--against", said, cwd=folder).returncode == OK
            assert tamis("verify", said, cwd=folder).returncode == OK and verifier.verify(folder / said) == []
        # a certificate that says another rho is not that of the entry, whatever else adds up
        other = json.loads(json.dumps(certificate))
        rho, more = Fraction(certificate["account"]["counted_as_rho"]), Fraction(1, 10 ** 12)
        other["account"]["counted_as_rho"], other["account"]["after"]["rho"] = str(rho - more), str(Fraction(1, 2) + rho - more)
        (folder / "other.json").write_text(json.dumps(other))
        done = tamis("ledger", "verify", "people.ledger", "--against", "other.json", "--json", cwd=folder)
        assert "account.counted_as_rho" in done.stdout, done.stdout
        assert "account.counted_as_rho" in tamis("verify", "other.json", "--json", cwd=folder).stdout
        version = sqlite3.connect(folder / "people.ledger").execute("PRAGMA user_version").fetchone()
        assert version == (4,), version


@case
def verify_says_yes():
    with ledger() as path:
        done = tamis("ledger", "verify", path)
        assert done.returncode == OK and done.stdout == "no problem found in the ledger\n" and done.stderr == ""
        assert json_of("verify", path) == {"ok": True, "problems": []}


def tampered(path, sql):
    db = sqlite3.connect(path, isolation_level=None)
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    db.execute(sql)
    for _, statement in triggers:
        db.execute(statement)
    db.close()


@case
def verify_says_what_is_wrong():
    with ledger() as path:
        tampered(path, """UPDATE entries SET entry = replace(entry, '"1"', '"0"') WHERE number = 2""")
        done = tamis("ledger", "verify", path, "--json")
        assert done.returncode == INVALID
        answer = json.loads(done.stdout)
        assert answer["ok"] is False and [p["field"] for p in answer["problems"]] == ["entry 2"]
        assert all(set(p) == {"field", "message"} for p in answer["problems"])
        done = tamis("ledger", "verify", path)
        assert done.returncode == INVALID and done.stdout.startswith("entry 2: ")
        for command in ("show", "export"):  # nothing is told of a ledger that cannot be believed
            done = tamis("ledger", command, path)
            assert done.returncode == INVALID and done.stdout == "" and "damaged or tampered with: entry 2" in done.stderr, done.stderr


@case
def verify_finds_a_budget_that_was_passed():
    def write(path):
        book = Book(path)
        book.account("a", {"epsilon": "1"})
        book.charge("a", {"epsilon": "2/3"})
        book.charge("a", {"epsilon": "2/3"})
        book.close()
    with ledger(write) as path:
        done = tamis("ledger", "verify", path)
        assert done.returncode == INVALID and "exceed its budget" in done.stdout, done.stdout


@case
def verify_against_certificates():
    with (place := ledger()) as path:
        names = []
        for number, amount, before, after in ((2, "1", "0", "1"), (4, "1/2", "1", "3/2")):
            names.append(path.parent / f"{number}.json")
            sums = [{"epsilon": e, "delta": "0", "rho": "0"} for e in (before, after)]
            names[-1].write_text(json.dumps({
                "tamis": 1, "plan": {"survey": "california-schools-2000", "budget": {"epsilon": "4"}, "privacy": {"unit": "school"},
                                     "design": SRS},
                "ledger": {"entry": number, "hash": place.book.hashes[number], "time": f"2026-11-16T10:00:{number:02}Z", "repeated": False,
                           "created": number == 2},
                "composition": {"epsilon": amount}, "account": dict(zip(("before", "after"), sums)),
                "measurements": [{**TABLE, "limit": 9}], "files": {"measurements.json": sha256(NOISY)}}))
        assert tamis("ledger", "verify", path, "--against", names[0]).stdout == \
            "no problem found in the ledger, and it has the charges that the certificates name; `tamis verify` checks the certificates themselves\n"
        assert json_of("verify", path, "--against", names[0])["ok"]
        done = tamis("ledger", "verify", path, "--against", *names, "--json")  # entry 4 was interrupted, and measures nothing
        found = [(p["field"].rsplit(": ", 1)[1], p["message"]) for p in json.loads(done.stdout)["problems"]]
        assert done.returncode == INVALID and [f for f, _ in found] == ["measurements", "files.measurements.json"], found
        assert "not released" in found[1][1], found
        tampered(path, "DELETE FROM entries WHERE number = 4")
        assert json_of("verify", path)["ok"]  # the end of a chain can be cut off
        done = tamis("ledger", "verify", path, "--against", *names, "--json")
        answer = json.loads(done.stdout)
        assert done.returncode == INVALID and len(answer["problems"]) == 1 and "4.json" in answer["problems"][0]["field"]
        names[0].write_text("{")
        done = tamis("ledger", "verify", path, "--against", names[0])
        assert done.returncode == INVALID and done.stdout == "" and "not valid JSON" in done.stderr
        done = tamis("ledger", "verify", path, "--against", path.parent / "none.json")
        assert done.returncode == INVALID and "No such file" in done.stderr
        is_usage_error(tamis("ledger", "verify", path, names[0]), "--against")
        is_usage_error(tamis("ledger", "verify", path, "--against"), "needs a value")


@case
def export_for_a_spreadsheet():
    with ledger(lambda path: Book(path).close()) as path:
        assert tamis("ledger", "export", path).stdout == "number,time,survey,wave,release,state,released,epsilon,delta,rho,mu_squared,hash,voided,reason\n"

    def write(path):
        book = schools(path)
        book = Book.__new__(Book)
        book.db = sqlite3.connect(path, isolation_level=None)
        (book.number, book.hash), book.hashes = book.db.execute("SELECT number, hash FROM entries ORDER BY number DESC").fetchone(), {}
        book.account('a "b", c', {"rho": "1"})
        book.charge('a "b", c', {"rho": "1/3"}, release="x\ny")
        book.close()
    with ledger(write) as path:
        rows = list(csv.DictReader(io.StringIO(tamis("ledger", "export", path).stdout)))
        assert "x<U+000A>y" in tamis("ledger", "show", path).stdout  # a name cannot break the table
    assert [r["number"] for r in rows] == ["2", "4", "6"]
    assert (rows[0]["epsilon"], rows[0]["delta"], rows[0]["rho"], rows[0]["state"], rows[0]["released"]) == \
        ("1", "0", "", "released", "2026-11-16T10:00:03Z")
    assert (rows[2]["survey"], rows[2]["release"], rows[2]["rho"], rows[2]["epsilon"], rows[2]["released"]) == ('a "b", c', "x\ny", "1/3", "", "")


@case
def a_stranger_recomputes_the_chain_from_the_export():
    with ledger() as path:
        entries = json_of("export", path)["entries"]
    before = "0" * 64
    for number, row in enumerate(entries, 1):
        entry = json.loads(row["entry"])
        assert row["hash"] == sha256(before + "\n" + row["entry"]) and entry["number"] == number
        before = row["hash"]
        if entry["kind"] == "released":
            assert sha256(row["measurements"]) == entry["measurements"]
    assert [json.loads(r["entry"])["kind"] for r in entries] == ["account", "charge", "released", "charge"]


@case
def files_that_are_no_ledgers():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "a.csv").write_text("survey,epsilon\n")
        db = sqlite3.connect(folder / "other.db")
        db.execute("CREATE TABLE t(x)")
        db.close()
        Book(folder / "later.ledger").db.execute("PRAGMA user_version = 7")
        for name, words in (("none", "there is no such file"), ("a.csv", "not a ledger"), ("other.db", "another program"),
                            ("later.ledger", "format 7"), ("", "not a file")):
            for command in ("show", "verify", "export"):
                done = tamis("ledger", command, folder / name)
                assert done.returncode == INVALID and done.stdout == "" and words in done.stderr, (name, done.stderr)
                assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("tamis: "), done.stderr
        assert not (folder / "none").exists()


main()
