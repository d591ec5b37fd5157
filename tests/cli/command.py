#!/usr/bin/python3
"""Plans whose rows are behind a command, `source: {command: [...]}`: psql, DuckDB's client and (make test-long) spark-sql, where they are
installed. With fixed noise the released integers are those of the same rows in a file; clients that fail or lie cost nothing.
Run by tests/engine/with_postgres, with the command whose noise is fixed."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

from kit import HERE, INVALID, OK, REFUSED, SYSTEM, TOP, Skip, case, environment, folder_with_plan, main, program, tamis

sys.path.insert(0, str(HERE.parent))
import verifier  # noqa: E402

SCHOOLS = TOP / "examples" / "schools"
LONG = os.environ.get("TAMIS_TEST_LONG")


def plan_of(folder, source, statistics=None):
    """The plan of examples/schools with another source."""
    text = re.sub(r"^source:.*$", lambda _: f"source: {json.dumps(source)}", (SCHOOLS / "plan.yaml").read_text(), flags=re.M)
    if statistics:
        text = re.sub(r"^statistics:\n(  .*\n)+", f"statistics: {json.dumps(statistics)}\n", text, flags=re.M)
    (folder / "plan.yaml").write_text(text)


def release(folder, *options, env={}, patience=None):
    words = ["release", "plan.yaml", "--out", "out", "--json", *options]
    if not patience:
        return tamis(*words, cwd=folder, env=env)
    return subprocess.run([program("patient"), *words], cwd=folder, capture_output=True, text=True, env=environment(**env), timeout=patience)


def integers(folder):
    """The noisy integers of the release, which is then put out of the way, with its ledger."""
    found = json.loads((folder / "out" / "measurements.json").read_text())
    shutil.rmtree(folder / "out")
    (folder / "schools.ledger").unlink()
    return found["measurements"]


def from_file(folder):
    shutil.copy(SCHOOLS / "apistrat.csv", folder)
    plan_of(folder, {"file": "apistrat.csv"})
    done = release(folder)
    assert done.returncode == OK, done.stderr
    return integers(folder)


def expect_same(folder, source, **more):
    right = from_file(folder)
    plan_of(folder, source)
    done = release(folder, "--allow-command", **more)
    assert done.returncode == OK, done.stderr
    place = folder / "out"
    checked = tamis("verify", place, "--json")
    assert checked.returncode == OK and json.loads(checked.stdout)["problems"] == [], checked.stdout
    found = verifier.verify(place / "certificate.json")
    assert found == [], found
    certificate = json.loads((place / "certificate.json").read_text())
    assert "command" not in certificate["plan"]["source"], "the words of the command are nobody's business"
    engine = certificate["engine"]
    assert engine["dialect"] == source["dialect"] and engine["table"] == source["table"] and engine["version"], engine
    assert engine["experimental"] is False, engine
    assert integers(folder) == right


def client(folder, text):
    """A client that is a script; `psql` and its words are in $1 and so on."""
    path = folder / "client"
    path.write_text("#!/bin/sh\n" + text + "\n")
    path.chmod(0o700)
    return str(path)


def psql_source(folder, **more):
    """The rows in the server, and how psql finds them."""
    connection = os.environ.get("TAMIS_TEST_POSTGRES")
    assert connection, "there is no PostgreSQL server to test with: run this by tests/engine/with_postgres"
    (folder / "services").write_text("[survey]\n" + "".join(f"{part}\n" for part in connection.split()))
    env = {"PGSERVICEFILE": str(folder / "services")}
    header = (SCHOOLS / "apistrat.csv").read_text().splitlines()[0].replace('"', "").split(",")
    columns = ", ".join(f"{name} {'int' if name in ('enroll', 'api00') else 'text'}" for name in header)
    script = f"DROP TABLE IF EXISTS schools; CREATE TABLE schools ({columns});\n\\copy schools from '{SCHOOLS / 'apistrat.csv'}' csv header\n"
    done = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "service=survey"], input=script, capture_output=True, text=True,
                          env=environment(**env))
    assert done.returncode == 0, done.stderr
    return {"command": ["psql", "service=survey", "-X", "--csv", "-v", "ON_ERROR_STOP=1"], "dialect": "postgres", "table": "schools", **more}, env


def duckdb_client():
    for name in (TOP / "build" / "client" / "duckdb", shutil.which("duckdb")):
        if name and os.access(name, os.X_OK):
            return str(name)
    raise Skip("DuckDB's client is not installed (scripts/setup test fetches it)")


@case
def psql():
    with folder_with_plan() as folder:
        source, env = psql_source(folder)
        expect_same(folder, source, env=env)


@case
def duckdb():
    name = duckdb_client()
    with folder_with_plan() as folder:
        subprocess.run([name, folder / "rows.duckdb", "-c", f"CREATE TABLE schools AS SELECT * FROM read_csv('{SCHOOLS / 'apistrat.csv'}', "
                        "types={'awards': 'VARCHAR'})"], check=True, capture_output=True)
        expect_same(folder, {"command": [name, "-readonly", "-bail", "-csv", str(folder / "rows.duckdb")], "dialect": "duckdb",
                             "table": "schools"})


@case
def spark():
    if not LONG:
        raise Skip("spark-sql starts anew for each statement: make test-long")
    python = pathlib.Path(TOP / "build" / "setup" / "spark")
    if not python.exists() or not python.read_text().strip():
        raise Skip("Spark is not installed (scripts/setup spark)")
    home = next(pathlib.Path(python.read_text().strip()).parents[1].glob("lib/python3*/site-packages/pyspark"))
    with folder_with_plan() as folder:
        view = client(folder, f"export SPARK_HOME={home}; exec {home}/bin/spark-sql -S --conf spark.sql.variable.substitute=false "
                      "--conf spark.ui.enabled=false --conf spark.sql.catalogImplementation=in-memory -f /dev/stdin")
        # csv.`file` has no header: its columns are _c0 and so on.
        table = ("(SELECT _c1 AS stype, _c4 AS awards, CAST(_c6 AS INT) AS enroll, CAST(_c3 AS INT) AS api00 FROM "
                 f"csv.`{SCHOOLS / 'apistrat.csv'}` WHERE _c1 <> 'stype') t")
        expect_same(folder, {"command": [view], "dialect": "spark", "table": table}, patience=3600)


@case
def what_the_certificate_says_of_the_engine_is_checked():
    with folder_with_plan() as folder:
        source, env = psql_source(folder)
        plan_of(folder, source)
        done = release(folder, "--allow-command", env=env)
        assert done.returncode == OK, done.stderr
        path = folder / "out" / "certificate.json"
        right = json.loads(path.read_text())
        for change in ({"table": "other"}, {"dialect": "spark"}, {"statements": "0"}, {"more": 1}):
            wrong = {**right, "engine": {**right["engine"], **change}}
            body = {key: value for key, value in wrong.items() if key not in ("guarantee", "hash")}
            wrong["hash"] = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
            path.write_text(json.dumps(wrong))
            done = tamis("verify", folder / "out", "--json")
            assert done.returncode == INVALID and "engine" in done.stdout, (change, done.stdout)
            assert any("engine" in problem for problem in verifier.verify(path)), change


@case
def without_the_option_nothing_runs():
    with folder_with_plan() as folder:
        plan_of(folder, {"command": [client(folder, "touch ran")], "dialect": "spark", "table": "t"})
        done = release(folder)
        assert done.returncode == REFUSED and "--allow-command" in done.stderr, done.stderr
        assert tamis("check", "plan.yaml", cwd=folder).returncode == OK
        done = tamis("estimate", "plan.yaml", cwd=folder)
        assert done.returncode == INVALID and "an estimate needs rows" in done.stderr, done.stderr
        assert not (folder / "ran").exists() and not (folder / "schools.ledger").exists()


@case
def a_client_that_fails_costs_nothing():
    for text, word in (("exit 5", "exit code 5"), ("cat", "not complete"), ("echo 'value M' >&2; exit 1", "exit code 1"),
                       ("sleep 100", "within 1 seconds")):
        with folder_with_plan() as folder:
            plan_of(folder, {"command": [client(folder, text)], "dialect": "duckdb", "table": "t", "errors_to": "errors.log", "timeout": 1})
            done = release(folder, "--allow-command")
            assert done.returncode in (SYSTEM, INVALID), done.stderr
            assert "value M" not in done.stderr and not (folder / "out").exists()
            assert word in done.stderr and "column" not in done.stderr, done.stderr
            errors = folder / "errors.log"
            assert stat.S_IMODE(errors.stat().st_mode) == 0o600
            assert ("value M" in errors.read_text()) == ("value M" in text)
            ledger = tamis("ledger", "show", "schools.ledger", "--json", cwd=folder)
            assert not (folder / "schools.ledger").exists() or '"charges": []' in ledger.stdout or "charge" not in ledger.stdout, ledger.stdout


@case
def a_client_that_fails_after_the_charge():
    """The last statement fails: charged, nothing published; the same command again takes the charge over."""
    with folder_with_plan() as folder:
        source, env = psql_source(folder)
        words = source["command"]
        counting = client(folder, 'n=$(cat count 2>/dev/null || echo 0); n=$((n + 1)); echo $n > count; [ "$n" != "$(cat fails 2>/dev/null)" ] || exit 9; '
                          'exec "$@"')
        plan_of(folder, {**source, "command": [counting, *words]})
        done = release(folder, "--allow-command", env=env)
        assert done.returncode == OK, done.stderr
        statements = int((folder / "count").read_text())
        right = integers(folder)
        (folder / "count").unlink()
        (folder / "fails").write_text(str(statements))
        done = release(folder, "--allow-command", env=env)
        assert done.returncode == SYSTEM and "exit code 9" in done.stderr and not (folder / "out").exists(), done.stderr
        (folder / "fails").unlink()
        done = release(folder, "--allow-command", env=env)
        assert done.returncode == OK, done.stderr
        assert integers(folder) == right


@case
def several_statements_need_a_version():
    with folder_with_plan() as folder:
        statistics = [{"total": "enroll"}, {"median": "api00", "method": "mechanism"}]
        source, env = psql_source(folder)
        plan_of(folder, source, statistics)
        done = release(folder, "--allow-command", env=env)
        assert done.returncode == REFUSED and "rows_version" in done.stderr, done.stderr
        plan_of(folder, {**source, "rows_version": "export of 2026-01-31"}, statistics)
        done = release(folder, "--allow-command", env=env)
        assert done.returncode == OK, done.stderr
        assert json.loads((folder / "out" / "certificate.json").read_text())["plan"]["source"]["rows_version"] == "export of 2026-01-31"


main()
