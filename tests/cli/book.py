"""A ledger written by other means than tamis: from what docs/ledger.md says about the file, with Python's own SQLite."""
import hashlib
import json
import sqlite3

SCHEMA = [
    "CREATE TABLE entries(number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE measurements(number INTEGER PRIMARY KEY, text TEXT NOT NULL)",
] + [f"CREATE TRIGGER {table}_are_not_{done} BEFORE {order} ON {table} BEGIN SELECT RAISE(ABORT, '{table} are only added'); END"
     for table in ("entries", "measurements") for done, order in (("changed", "UPDATE"), ("deleted", "DELETE"))]

TABLE, NOISY = {"name": "counts", "noise": [{"law": "discrete_laplace", "scale": "2"}]}, '{"noisy": [5, -3]}'
SRS = {"srs": {"population": 6194, "sample": 200}}


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Book:
    def __init__(self, path):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.number, self.hash = 0, "0" * 64
        self.hashes = {}
        for statement in SCHEMA:
            self.db.execute(statement)
        self.db.execute("PRAGMA application_id = 1413565769")
        self.db.execute("PRAGMA user_version = 1")

    def add(self, kind, **fields):
        self.number += 1
        time = f"2026-11-16T10:{self.number // 60:02}:{self.number % 60:02}Z"
        entry = json.dumps({"number": self.number, "time": time, "kind": kind, **fields}, ensure_ascii=False)
        self.hash = self.hashes[self.number] = sha256(self.hash + "\n" + entry)
        self.db.execute("INSERT INTO entries VALUES (?, ?, ?)", (self.number, entry, self.hash))
        return self.number

    def account(self, survey, budget, **frozen):
        return self.add("account", survey=survey, budget=budget, frozen=frozen)

    def charge(self, survey, amount, release="plan.yaml", measures="[]"):
        return self.add("charge", survey=survey, release=release, amount=amount, measures=measures)

    def released(self, entry, text):
        number = self.add("released", entry=entry, measurements=sha256(text))
        self.db.execute("INSERT INTO measurements VALUES (?, ?)", (number, text))

    def close(self):
        self.db.close()


def schools(path):
    """Two releases of one sample, the second one interrupted."""
    book = Book(path)
    book.account("california-schools-2000", {"epsilon": "4"}, unit="school", design=SRS, outsider={"design": SRS})
    book.released(book.charge("california-schools-2000", {"epsilon": "1"}, measures=json.dumps([TABLE])), NOISY)
    book.charge("california-schools-2000", {"epsilon": "1/2"}, release="second.yaml")
    book.close()
    return book
