"""20 weighted totals of 10^7 rows of Parquet, and one of them by 50 regions: tamis's statement on Spark beside the same sums in doubles on
the same Spark, its statement on DuckDB beside DuckDB's own, and the native engine. Processor seconds; each statement in turns with the
one beside it, and the median of three is taken. Run in an environment that has the package, pyspark and duckdb; bench/run spark makes one.

    bench/spark.py [ROWS]
"""
import json
import os
import pathlib
import re
import resource
import statistics
import sys
import time
import warnings

import duckdb
import tamis
from tamis import _tamis, spark as way

ROWS = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
COLUMNS, REGIONS, RUNS = 20, 50, 3
STEPS = ["1", "0.25", "0.5", "1", "0.1"]
FILE = pathlib.Path(f"spark-{ROWS}.parquet").resolve()


def say(what, **numbers):
    print(json.dumps({"what": f"spark: {what}", "n": ROWS, **numbers}), flush=True)


def most(i):
    return 1000 * (i % 5 + 1)


def make_rows():
    """Uniform, and 2 % of each column missing."""
    if FILE.exists():
        return
    columns = ", ".join(f"CASE WHEN random() < 0.02 THEN NULL ELSE random() * {most(i)} END AS x{i}" for i in range(1, COLUMNS + 1))
    duckdb.sql(f"COPY (SELECT 'r' || lpad(CAST(CAST(floor(random() * {REGIONS}) AS INT) AS VARCHAR), 2, '0') AS region, 1 + random() * 39 AS w, "
               f"{columns} FROM range({ROWS})) TO '{FILE}.part' (FORMAT parquet, ROW_GROUP_SIZE 500000)")
    os.rename(f"{FILE}.part", FILE)


def plan_of(source):
    columns = {f"x{i}": {"from": 0, "to": most(i), "step": STEPS[i % 5], "typical": {"mean": most(i) / 3, "sd": 200}}
               for i in range(1, COLUMNS + 1)}
    return tamis.Plan.from_dict({
        "tamis": 1, "survey": "speed", "source": source, "privacy": {"unit": "person", "epsilon": 1}, "budget": {"epsilon": 100},
        "design": {"weights": {"population": 10 * ROWS}, "weight": "w", "max_weight": 40, "typical": {"sample": ROWS}},
        "columns": {"region": {"values": [f"r{i:02}" for i in range(REGIONS)]}, **columns},
        "statistics": [*({"total": f"x{i}"} for i in range(1, COLUMNS + 1)), {"total": "x1", "by": "region"}]})


def doubles():
    """The sums that the plan needs for its totals and their standard errors, as doubles: without grids, clamps or missing codes."""
    sums = ["count(*)", "sum(w)", "sum(w * x1)"]
    for i in range(1, COLUMNS + 1):
        for weight in ("w", "w * w"):
            sums += [f"sum({weight} * (x{i} - {most(i)}) * (x{i} - {most(i)}))", f"sum({weight} * x{i} * (x{i} - {most(i)}))",
                     f"sum({weight} * x{i} * x{i})"]
    return f"SELECT region, {', '.join(sums)} FROM t GROUP BY region"


def release(plan, source):
    pathlib.Path("speed.ledger").unlink(missing_ok=True)
    return _tamis.release(plan._capsule, source, None, "speed.ledger", 2, None, None, None, None, 2, 0, None)


def in_turns(run, processor, statements):
    """Median processor seconds of each statement, and the last one's answer. The first turn compiles, which a median of three leaves out. Said
    after each turn: of a measurement that is cut off the turns until then are left."""
    found = {name: [] for name in statements}
    for _ in range(RUNS):
        for name, sql in statements.items():
            start = processor()
            answer = run(sql)
            found[name].append(processor() - start)
            say(name, seconds=statistics.median(found[name]), each=[round(s, 1) for s in found[name]], load=round(os.getloadavg()[0], 1))
    return sorted(tuple(row) for row in answer)


def children_of(process):
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and parent(p) == process]


def parent(process):
    try:
        return int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def processor_of(process):
    times = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def own_processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure_spark():
    from pyspark.sql import SparkSession
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    before = set(children_of(os.getpid()))
    session = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
               .config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "2").config("spark.log.level", "ERROR")
               .config("spark.ui.showConsoleProgress", "false").getOrCreate())
    java = next(p for p in children_of(os.getpid()) if p not in before)
    rows = session.read.parquet(str(FILE))
    rows.createOrReplaceTempView("t")
    asked, plain = [], way._Engine.run

    def run(self, sql):
        asked.append(sql)
        return plain(self, sql)
    way._Engine.run = run
    start, used = time.monotonic(), processor_of(java)
    plan_of({"caller": "speed"}).release(rows, ledger="spark.ledger", again=True)
    say("whole release, wall", seconds=time.monotonic() - start)
    say("whole release, processor", seconds=processor_of(java) - used)
    sums = re.sub("tamis_[0-9a-f]{32}", "t", asked[-1])
    answer = in_turns(lambda sql: session.sql(sql).collect(), lambda: processor_of(java), {"doubles": doubles(), "tamis": sums})
    session.stop()
    return answer


def measure_duckdb():
    connection = duckdb.connect()
    connection.sql("SET threads = 2")
    connection.sql(f"CREATE VIEW t AS SELECT * FROM '{FILE}'")
    asked = []

    def run(sql):
        asked.append(sql)
        return json.dumps([[c if c is None or isinstance(c, int) else str(c) for c in row] for row in connection.execute(sql).fetchall()])
    release(plan_of({"caller": "speed"}), _tamis.source_sql("duckdb", "t", run, None))
    return in_turns(lambda sql: connection.execute(sql).fetchall(), own_processor, {"duckdb, doubles": doubles(), "duckdb, tamis": asked[-1]})


def measure_native():
    plan = plan_of({"file": str(FILE)})
    tamis.libraries.files_are_read()
    times = []
    for _ in range(RUNS):
        start = own_processor()
        release(plan, None)
        times.append(own_processor() - start)
    say("native, whole release", seconds=statistics.median(times))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    pathlib.Path("spark.ledger").unlink(missing_ok=True)
    make_rows()
    measure_native()
    if measure_spark() != measure_duckdb():
        sys.exit("Spark and DuckDB do not give the same integers")
