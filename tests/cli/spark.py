#!/usr/bin/python3
"""Every plan of golden.py, released from Spark and from DuckDB's own client: the integers are the golden ones, which are those of the engines
inside tamis, and the second verifier (tests/verifier.py) believes the certificates. Run by tests/engine/with_spark, with the command whose
noise is fixed, in `make test-long`; a word after the program names the plans that it is in.

The plans' rows become views of one Spark session, whose statements go through the socket of with_spark: the client that a plan names is this
file, called without the program under test.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys

DOOR = os.environ.get("TAMIS_TEST_SPARK")


def ask(statements):
    """The rows of each statement, one after the other."""
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(DOOR)
        stream = door.makefile("rwb")
        for sql in statements:
            stream.write(struct.pack("<Q", len(sql.encode())) + sql.encode())
            stream.flush()
            good, length = struct.unpack("<cQ", stream.read(9))
            answer = stream.read(length).decode()
            if good != b"a":
                sys.exit(answer[:2000])
            yield json.loads(answer)


if sys.argv[1:] == ["client"]:  # what spark-sql -f /dev/stdin does
    for rows in ask(filter(str.strip, re.split(r";\n", sys.stdin.read()))):
        for row in rows:
            print("\t".join("NULL" if cell is None else str(cell) for cell in row))
    sys.exit()

words = sys.argv[2:]
del sys.argv[2:]
import golden  # noqa: E402
from kit import CASES, TOP, Skip, case, main  # noqa: E402

CASES.clear()  # those of golden.py
SOURCE = re.compile(r"^source:(.*\n(?: +.*\n)*)", re.M)
LONG = os.environ.get("TAMIS_TEST_LONG")


def with_source(folder, put):
    """The plan with its rows elsewhere, where `put` has the path of their file; those that examples/postgres has in a database are in the file
    that it loads."""
    plan = (folder / "plan.yaml").read_text()
    file = re.search(r"file: *\"?([\w.-]+)", SOURCE.search(plan).group(1))
    words, dialect = put(folder / file.group(1) if file else TOP / "examples" / "households" / "eusilc.csv")
    source = {"command": words, "dialect": dialect, "table": "rows", "rows_version": "the test's"}
    (folder / "plan.yaml").write_text(SOURCE.sub(lambda _: f"source: {json.dumps(source)}\n", plan))


def on_spark(folder):
    def put(path):
        list(ask([f"CREATE OR REPLACE TEMPORARY VIEW rows USING csv OPTIONS (path '{path}', header 'true', inferSchema 'true', "
                  "multiLine 'true', escape '\"')"]))
        return [sys.executable, str(pathlib.Path(__file__).resolve()), "client"], "spark"

    if not DOOR:
        raise Skip("scripts/setup spark could not fetch pyspark, or there is no Java")
    with_source(folder, put)


def on_duckdb(folder):
    def put(path):
        subprocess.run([client, folder / "rows.duckdb", "-c", f"CREATE TABLE rows AS SELECT * FROM read_csv('{path}', header = true, "
                        "auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR'])"], check=True, capture_output=True)
        return [client, "-readonly", "-bail", "-csv", str(folder / "rows.duckdb")], "duckdb"

    fetched = TOP / "build" / "client" / "duckdb"
    client = str(fetched) if fetched.exists() else shutil.which("duckdb")
    if not client:
        raise Skip("DuckDB's client is not installed (scripts/setup test fetches it)")
    with_source(folder, put)


def without_source(files):
    """Where the rows are is no number."""
    plan = files["certificate"]["plan"]
    return {**files, "certificate": {**{k: v for k, v in files["certificate"].items() if k not in ("engine", "source")},
                                     "plan": {k: v for k, v in plan.items() if k != "source"}}}


def each(name, where, change):
    def integers_are_the_golden_ones():
        if not LONG and not words:
            raise Skip("only in make test-long")
        got = golden.condensed(golden.released(golden.PLANS[name], "--allow-command", change=change))
        golden.the_same(without_source(json.loads((golden.PLACE / f"{name}.json").read_text())), without_source(got))

    case(integers_are_the_golden_ones, f"{name} on {where}: numbers are the golden ones")


for name in golden.PLANS:
    if all(word in name for word in words):
        each(name, "Spark", on_spark)
        each(name, "DuckDB's client", on_duckdb)
main()
