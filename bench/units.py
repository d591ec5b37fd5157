"""A release of 10^6 rows without ids, and with three rows for each id: time of the processor, and peak memory of the command.

    tests/engine/with_postgres python3 bench/units.py FOLDER

The rows are in a CSV file (read by DuckDB and by the engine `memory`), a Parquet file and a table of PostgreSQL, whose server's time
counts too. A source that cannot be had is left out. Last, 12 times as many rows in a Parquet file, with ids, once: for the memory.
"""
import ctypes
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
TAMIS = TOP / "build" / "release" / "cli" / "tamis"
ROWS = 10**6
TURNS = 5
SERVER = os.environ.get("TAMIS_TEST_POSTGRES")

PLAN = """tamis: 1
survey: {name}
source: {source}
design: {{srs: {{population: 100000000, sample: {sample}}}}}
privacy: {{unit: person, protect: sample, given: frame, epsilon: 1{unit}}}
columns: {{income: {{from: 0, to: 4000, step: 1}}, age: {{from: 0, to: 99, step: 1}}, kind: {{values: [E, M, H]}}}}
statistics: [{{total: income, by: kind}}, {{mean: age}}]
budget: {{epsilon: 1000}}
ledger: {name}.ledger
"""


def write_csv(file):
    with open(file, "w") as csv:
        csv.write("id,income,age,kind\n")
        csv.writelines(f"h{i // 3},{i * 7919 % 4001},{i * 31 % 100},{'EMH'[i % 3]}\n" for i in range(ROWS))


MANY = f"""SELECT 'h' || (i // 3) AS id, i * 7919 % 4001 AS income, i * 31 % 100 AS age, ['E', 'M', 'H'][1 + i % 3] AS kind
FROM range({12 * ROWS}) many(i)"""


def write_parquet(file, rows):
    """By the library that tamis uses itself; False if it is not there."""
    try:
        library = ctypes.CDLL(pathlib.Path((TOP / "build" / "setup" / "duckdb").read_text().strip()) / "libduckdb.so")
    except OSError:
        return False
    database, connection = ctypes.c_void_p(), ctypes.c_void_p()
    return (library.duckdb_open(None, ctypes.byref(database)) == 0 and library.duckdb_connect(database, ctypes.byref(connection)) == 0
            and library.duckdb_query(connection, f"COPY ({rows}) TO '{file}' (FORMAT parquet)".encode(), None) == 0)


def fill_table(csv):
    """The process of the server; None if there is none."""
    if not SERVER:
        return None
    subprocess.run(["psql", "-q", SERVER, "-c", "CREATE UNLOGGED TABLE units (id text, income float8, age float8, kind text)",
                    "-c", f"\\copy units FROM '{csv}' CSV HEADER", "-c", "VACUUM ANALYZE units"], check=True)
    folder = subprocess.run(["psql", "-At", SERVER, "-c", "SHOW data_directory"], check=True, capture_output=True, text=True).stdout.strip()
    return int((pathlib.Path(folder) / "postmaster.pid").read_text().split()[0])


def processor(server):
    """Seconds that commands, and sessions of the server, took until now; those of a session count when it has ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = usage.ru_utime + usage.ru_stime
    if server:
        time.sleep(0.3)
        fields = pathlib.Path(f"/proc/{server}/stat").read_text().rsplit(")", 1)[1].split()
        taken += (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return taken


def release(plan, server, options):
    """Processor time of one release, and the peak memory of the command, which a small Python starts: a process inherits its parent's peak."""
    out = plan.with_suffix(".out")
    shutil.rmtree(out, ignore_errors=True)
    script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, "
              "stderr=subprocess.DEVNULL); u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime, u.ru_maxrss * 1024)")
    before = processor(server)
    done = subprocess.run([sys.executable, "-c", script, TAMIS, "release", plan, "--again", "--out", out, *options],
                          capture_output=True, text=True, check=True).stdout.split()
    return processor(server) - before if server else float(done[0]), int(done[1])


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    csv, parquet = folder / "units.csv", folder / "units.parquet"
    write_csv(csv)
    sources = {"CSV": ("{file: units.csv}", None, []), "CSV in memory": ("{file: units.csv}", None, ["--engine", "memory"])}
    if write_parquet(parquet, f"FROM '{csv}'"):
        sources["Parquet"] = ("{file: units.parquet}", None, [])
    server = fill_table(csv)
    if server:
        sources["PostgreSQL"] = (f"{{postgres: {{connection: '{SERVER}', table: units}}}}", server, ["--threads", "1"])
    for title, (source, server, options) in sources.items():
        for kind, sample, unit in (("rows", ROWS, ""), ("ids", (ROWS + 2) // 3, ", id: id, rows_per_unit: 3")):
            name = f"{title.replace(' ', '-').lower()}-{kind}"
            plan = folder / f"{name}.yaml"
            plan.write_text(PLAN.format(name=name, source=source, sample=sample, unit=unit))
            taken = [release(plan, server, options) for _ in range(TURNS)]
            print(json.dumps({"what": f"units release of {kind}, {title}", "seconds": statistics.median(t for t, _ in taken),
                              "bytes": max(b for _, b in taken)}), flush=True)
    if write_parquet(folder / "many.parquet", MANY):
        plan = folder / "many.yaml"
        plan.write_text(PLAN.format(name="many", source="{file: many.parquet}", sample=4 * ROWS, unit=", id: id, rows_per_unit: 3"))
        taken, most = release(plan, None, [])
        print(json.dumps({"what": "units release of many ids, Parquet", "seconds": taken, "bytes": most}), flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
