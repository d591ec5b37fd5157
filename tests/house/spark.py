"""Spark from the Python package, in `make test-long`: the walk of docs/scale.md as it stands, a release while an executor is killed, sessions
that compute something else, and DataFrames that cannot be used. tests/engine/spark.c and tests/cli/spark.py have the integers."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests"))
from tap import LONG, case, done, skip  # noqa: E402

NAMES = "the walk of docs/scale.md", "a killed executor changes no bit", "wrong sessions are refused", "DataFrames that cannot be used", "Connect"
COMMON = """
import os, sys, warnings
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
warnings.simplefilter("ignore")
import tamis
from pyspark.sql import SparkSession
def session(master="local[2]", **settings):
    builder = SparkSession.builder.master(master)
    for key, value in {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2",
                       "spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false", **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
PLAN = tamis.Plan("people", unit="person", epsilon=1, budget=9, ledger="people.ledger",
                  design={"weights": {"population": 9000}, "weight": "w", "max_weight": 9, "typical": {"sample": 3000}},
                  columns={"x": (0, 100), "g": ["a", "b"]}, statistics=[tamis.total("x"), tamis.total("x", by="g")])
def people(spark, count=3000, parts=2):
    return spark.range(0, count, 1, parts).selectExpr("CAST(id % 101 AS DOUBLE) AS x", "CAST(1 + id % 9 AS DOUBLE) AS w",
                                                      "CASE WHEN id % 3 = 0 THEN 'a' ELSE 'b' END AS g")
"""
# The sums are compared before the noise: what Spark answers to the last statement, with and without the loss of an executor.
KILLED = """
import json, re, signal, threading, time
from tamis import spark as way
spark = session("local-cluster[2,1,1024]", **{"spark.speculation": "true", "spark.task.maxFailures": "20", "spark.executor.memory": "512m"})
answers, plain, kills = [], way._Engine.run, []
def executors():
    found = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{p}/cmdline", "rb").read()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in words and str(spark.sparkContext.applicationId).encode() in words:
            found.append(int(p))
    return found
def kill():
    time.sleep(1)
    os.kill(executors()[0], signal.SIGKILL)
    kills.append(len(answers))  # 1: the second one was still computed
def run(self, sql):
    last = re.search("tamis_[0-9a-f]{32}", sql) and " AS a0" in sql and "EXPLAIN" not in sql and "tamis_nothing" not in sql
    if last and answers:
        threading.Thread(target=kill).start()
    answer = plain(self, sql)
    if last:
        answers.append(sorted(json.loads(answer), key=str))
    return answer
way._Engine.run = run
rows = people(spark, 12_000_000, 40)
for turn in range(2):
    PLAN.release(rows, again=True)
print(len(answers), len(answers[0]) > 1, answers[0] == answers[1], kills)
"""
WRONG = """
spark = session(**{"spark.sql.ansi.enabled": "false"})
try:
    PLAN.release(people(spark))
    print("released")
except tamis.TamisError as problem:
    print(type(problem).__name__, problem.charged, problem)
spark.conf.set("spark.sql.ansi.enabled", "true")
collated = people(spark).selectExpr("x", "w", "g COLLATE UTF8_LCASE AS g")
try:
    PLAN.release(collated)
    print("released")
except tamis.TamisError as problem:
    print(type(problem).__name__, problem.charged, problem)
"""
UNUSABLE = """
spark = session()
rows = people(spark)
def refused(call):
    try:
        call()
        print("released")
    except tamis.TamisError as problem:
        print(type(problem).__name__, problem.charged, str(problem).splitlines()[0])
refused(lambda: PLAN.release(rows.withColumnRenamed("x", "X")))
refused(lambda: PLAN.release(rows.limit(10)))
refused(lambda: PLAN.release(rows.selectExpr("x * rand() AS x", "w", "g")))
refused(lambda: PLAN.release(spark.readStream.format("rate").load().selectExpr("CAST(value AS DOUBLE) AS x", "1D AS w", "'a' AS g")))
refused(lambda: PLAN.estimate(rows))
# A cell that cannot be read, and whose text would be in Spark's own error.
refused(lambda: PLAN.release(rows.selectExpr("CAST(concat('secret', x) AS DOUBLE) AS x", "w", "g")))
print([t.name for t in spark.catalog.listTables()])
"""
CONNECT = """
spark = SparkSession.builder.remote(os.environ["SPARK_REMOTE"]).getOrCreate()
print(type(people(spark)).__module__)
release = PLAN.release(people(spark), "out", rows_version="1")
print(bool(tamis.verify("out")), len(release), [t.name for t in spark.catalog.listTables()])
"""


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


def prepare(python):
    """The package, in Spark's environment."""
    environment = {**os.environ, "PATH": f"{pathlib.Path(python).parent}:{os.environ['PATH']}"}
    tools = run(python, "-m", "pip", "install", "-q", "meson-python>=0.17", "meson>=1.3", "ninja")
    made = tools if tools.returncode else run(python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", "--no-build-isolation",
                                              f"--config-settings=build-dir={TOP / 'build' / 'spark-meson'}", TOP, env=environment)
    case("the package is installed beside Spark", made.returncode == 0, made.stdout + made.stderr)
    return made.returncode == 0


def program(python, text, *before):
    """What a program prints, in a folder of its own; and what it says on stderr if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        ran = run(*before, python, "-c", text, cwd=folder, env={**environment, "SPARK_LOCAL_IP": "127.0.0.1"})
        return ran.stdout if ran.returncode == 0 else "", ran.stdout[-2000:] + ran.stderr[-4000:]


def main():
    place = TOP / "build" / "setup" / "spark"
    python = place.read_text().strip() if place.exists() else ""
    wanted = [n for n in NAMES if not sys.argv[1:] or n in sys.argv[1:]]
    if not python or not (LONG or sys.argv[1:]):
        for name in wanted:
            skip(name, "only in make test-long" if python else "scripts/setup spark could not fetch pyspark, or there is no Java")
        return
    if not prepare(python):
        return
    if NAMES[0] in wanted:
        page = (TOP / "docs" / "scale.md").read_text()
        walk = "\n".join(textwrap.dedent(b) for b in re.findall(r"```python\n(.*?)```", page, re.S))
        out, words = program(python, walk)
        case(NAMES[0], walk.count("plan.release") == 1 and "total of income by region" in out and "Verification(ok=True" in out, out + words)
    if NAMES[1] in wanted:
        out, words = program(python, COMMON + KILLED)
        case(NAMES[1], out.strip() == "2 True True [1]", out + words)
    if NAMES[2] in wanted:
        out, words = program(python, COMMON + WRONG)
        lines = out.splitlines()
        case(NAMES[2], len(lines) == 2 and all("Error None" in line for line in lines), out + words)
    if NAMES[3] in wanted:
        out, words = program(python, COMMON + UNUSABLE)
        lines = out.splitlines()
        case(NAMES[3], len(lines) == 7 and "released" not in out and "secret" not in out + words and lines[-1] == "[]" and
             "there is no column x; there is X" in lines[0] and all("Error None" in line for line in lines[:5]), out + words)
    if NAMES[4] in wanted:
        out, words = program(python, COMMON + CONNECT, TOP / "tests" / "engine" / "with_spark")
        case(NAMES[4], out.strip().splitlines()[-2:] == ["pyspark.sql.connect.dataframe", "True 3 []"], out + words)


main()
sys.exit(done())
